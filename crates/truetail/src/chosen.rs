//! The workload that was chosen by name, as one type.
//!
//! A load is compiled once for each target. Were it compiled for each pair of target and workload, the program would take
//! as many times longer to build as there are workloads; a branch that always goes the same way costs less than a
//! nanosecond of a request. To add a workload: a line at the end of this file.

use crate::registry::WorkloadChoice;
use driver::{Administration, Conversation, Dialect, Isolation, OpError, StatementSpec};
use units::Outcome;
use workload::dataset::DataSet;
use workload::epinions::Epinions;
use workload::noop::NoOp;
use workload::seats::Seats;
use workload::smallbank::SmallBank;
use workload::tatp::Tatp;
use workload::tpcc::Tpcc;
use workload::users::Users;
use workload::ycsb::Ycsb;
use workload::{Operation, Request, Tickets, Workload, WorkloadFacts};
use workload_file::FileWorkload;

macro_rules! any_workload {
    ($($variant:ident($type:ty)),+ $(,)?) => {
        /// One of the workloads.
        #[expect(clippy::large_enum_variant, reason = "there is one in a process")]
        pub(crate) enum AnyWorkload { $($variant($type)),+ }

        /// A request of the workload that made it.
        #[expect(clippy::large_enum_variant, reason = "each session has one, made once")]
        pub(crate) enum AnyPlan { $($variant(<$type as Workload>::Plan)),+ }

        $(impl From<$type> for AnyWorkload {
            fn from(workload: $type) -> AnyWorkload {
                AnyWorkload::$variant(workload)
            }
        })+

        impl Workload for AnyWorkload {
            type Plan = AnyPlan;

            fn facts(&self) -> WorkloadFacts {
                match self { $(AnyWorkload::$variant(workload) => workload.facts()),+ }
            }

            fn operations(&self) -> Vec<Operation> {
                match self { $(AnyWorkload::$variant(workload) => workload.operations()),+ }
            }

            fn statements(&self, dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
                match self { $(AnyWorkload::$variant(workload) => workload.statements(dialect)),+ }
            }

            fn tickets(&self) -> Box<dyn Tickets> {
                match self { $(AnyWorkload::$variant(workload) => workload.tickets()),+ }
            }

            fn new_plan(&self) -> AnyPlan {
                match self { $(AnyWorkload::$variant(workload) => AnyPlan::$variant(workload.new_plan())),+ }
            }

            fn plan(&self, request: Request, plan: &mut AnyPlan) {
                match (self, plan) {
                    $((AnyWorkload::$variant(workload), AnyPlan::$variant(plan)) => workload.plan(request, plan),)+
                    #[allow(unreachable_patterns, reason = "with one workload there is no other plan")]
                    _ => panic!("{FOREIGN}"),
                }
            }

            async fn run<C: Conversation>(
                &self,
                plan: &AnyPlan,
                conversation: &mut C,
            ) -> Result<Outcome, OpError> {
                match (self, plan) {
                    $((AnyWorkload::$variant(workload), AnyPlan::$variant(plan)) => {
                        workload.run(plan, conversation).await
                    })+
                    #[allow(unreachable_patterns, reason = "with one workload there is no other plan")]
                    _ => panic!("{FOREIGN}"),
                }
            }

            fn isolation(&self, dialect: Dialect) -> Option<Isolation> {
                match self { $(AnyWorkload::$variant(workload) => workload.isolation(dialect)),+ }
            }

            fn users(&self) -> Option<Box<dyn Users>> {
                match self { $(AnyWorkload::$variant(workload) => workload.users()),+ }
            }

            fn counts(&self) -> Vec<(&'static str, u64)> {
                match self { $(AnyWorkload::$variant(workload) => workload.counts()),+ }
            }

            fn files(&self) -> Vec<(String, String)> {
                match self { $(AnyWorkload::$variant(workload) => workload.files()),+ }
            }

            fn dataset(&self) -> Option<&dyn DataSet> {
                match self { $(AnyWorkload::$variant(workload) => workload.dataset()),+ }
            }

            fn observe(&mut self, administration: &mut dyn Administration) -> Result<(), String> {
                match self { $(AnyWorkload::$variant(workload) => workload.observe(administration)),+ }
            }
        }
    };
}

/// YCSB takes proportions that make more or less than 1 for shares of what they make, without a word.
fn unusual_whole(operations: &[Operation]) -> Option<String> {
    let sum: f64 = operations.iter().map(|operation| operation.weight).sum();
    if [1.0, 100.0].iter().any(|whole| (sum / whole - 1.0).abs() < 0.001) {
        return None;
    }
    let used = operations.iter().filter(|operation| operation.weight > 0.0);
    let shares = used.map(|operation| format!("{} {:.0} %", operation.name, 100.0 * operation.weight / sum));
    let (shares, sum) = (shares.collect::<Vec<_>>().join(", "), (sum * 1e6).round() / 1e6);
    Some(format!("the proportions make {sum} and not 1; as in YCSB they are shares of that: {shares}"))
}

const FOREIGN: &str = "a plan is carried out by the workload that made it";

impl AnyWorkload {
    /// Whether several clients on one database would insert the same keys unless they know how many they are.
    pub(crate) fn clients_collide(&self) -> bool {
        match self {
            AnyWorkload::Ycsb(workload) => workload.config().inserts(),
            AnyWorkload::Seats(_) => true,
            AnyWorkload::File(workload) => workload.has_sequences(),
            AnyWorkload::NoOp(_)
            | AnyWorkload::Epinions(_)
            | AnyWorkload::Tpcc(_)
            | AnyWorkload::SmallBank(_)
            | AnyWorkload::Tatp(_) => false,
        }
    }

    /// What may be meant otherwise, in a line each.
    pub(crate) fn notes(&self, choice: &WorkloadChoice) -> Vec<String> {
        match self {
            AnyWorkload::File(workload) => workload.notes(),
            AnyWorkload::Ycsb(workload) if choice.mix.is_none() => {
                let is_given = choice.parameters.iter().any(|(name, _)| name.ends_with("proportion"));
                unusual_whole(&workload.operations()).filter(|_| is_given).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

any_workload!(
    NoOp(NoOp),
    Ycsb(Ycsb),
    Tpcc(Tpcc),
    Epinions(Epinions),
    Seats(Seats),
    SmallBank(SmallBank),
    Tatp(Tatp),
    File(FileWorkload),
);
