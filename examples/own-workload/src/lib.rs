//! A workload of one's own: visitors who look at pages, and now and then vote for one.
//!
//! Everything that a [`Workload`] is made of is here once: what is drawn (`plan`), what is asked (`run`), a transaction
//! that can be tried again, a data set, and a check that no run may break. `docs/own-workloads.md` explains it.

mod pages;

use driver::{Administration, Command, Conversation, Dialect, OpError, StatementSpec, Value, ValueType};
use units::{Outcome, Seed};
use workload::dataset::DataSet;
use workload::distribution::Zipf;
use workload::transaction::settled;
use workload::{NoTickets, OpId, Operation, Request, Tickets, Workload, WorkloadFacts};

/// Places in the list of statements.
const LOOK: usize = 0;
const NOTE_VOTE: usize = 1;
const COUNT_VOTE: usize = 2;

/// The workload.
pub struct Votes {
    pages: u64,
    popularity: Zipf,
    seed: Seed,
}

/// A request made concrete: reused, so that planning allocates nothing.
pub struct Plan {
    op: OpId,
    page: i64,
    visitor: i64,
}

impl Votes {
    /// So many pages, of which the first is the most popular.
    pub fn new(pages: u64, seed: Seed) -> Votes {
        Votes { pages, popularity: Zipf::new(pages, 0.99), seed }
    }

    /// Two statements and the commit in one exchange: the second does not need the first one's answer.
    async fn vote<C: Conversation>(&self, plan: &Plan, conversation: &mut C) -> Result<Outcome, OpError> {
        conversation.stage(Command::Begin)?;
        let vote = [Value::Int(plan.page), Value::Int(plan.visitor)];
        conversation.stage(Command::Statement { index: NOTE_VOTE, arguments: &vote })?;
        conversation.stage(Command::Statement { index: COUNT_VOTE, arguments: &vote[..1] })?;
        conversation.stage(Command::Commit)?;
        conversation.exchange().await?;
        // Replies are counted as commands were staged: the third is the count's.
        Ok(if conversation.reply(2).affected == 1 { Outcome::Ok } else { Outcome::Miss })
    }
}

impl Workload for Votes {
    type Plan = Plan;

    fn facts(&self) -> WorkloadFacts {
        let parameters = vec![("pages".to_owned(), self.pages.to_string())];
        WorkloadFacts { name: "votes".to_owned(), scale: 1.0, parameters }
    }

    fn operations(&self) -> Vec<Operation> {
        vec![Operation { name: "Look", weight: 90.0 }, Operation { name: "Vote", weight: 10.0 }]
    }

    fn statements(&self, dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
        if dialect == Dialect::KeyValue {
            return Err("votes: needs a target with SQL".to_owned());
        }
        let one = |template: &str, parameters: &[ValueType]| {
            StatementSpec::counted(dialect.sql(template), parameters)
        };
        Ok(vec![
            one("SELECT title, votes FROM page WHERE id = ?", &[ValueType::Int]),
            one("INSERT INTO vote (page, visitor) VALUES (?, ?)", &[ValueType::Int, ValueType::Int]),
            one("UPDATE page SET votes = votes + 1 WHERE id = ?", &[ValueType::Int]),
        ])
    }

    fn tickets(&self) -> Box<dyn Tickets> {
        Box::new(NoTickets)
    }

    fn new_plan(&self) -> Plan {
        Plan { op: OpId(0), page: 0, visitor: 0 }
    }

    /// A function of the seed and the request's number alone: the same run can be made again, by any number of threads.
    fn plan(&self, request: Request, plan: &mut Plan) {
        let mut rng = self.seed.derive("votes/requests").at(request.seq);
        plan.op = request.op;
        plan.page = self.popularity.draw(&mut rng) as i64;
        plan.visitor = rng.below(1_000_000) as i64;
    }

    async fn run<C: Conversation>(&self, plan: &Plan, conversation: &mut C) -> Result<Outcome, OpError> {
        if plan.op == OpId(1) {
            let steps = self.vote(plan, conversation).await;
            return settled(conversation, steps).await;
        }
        conversation.stage(Command::Statement { index: LOOK, arguments: &[Value::Int(plan.page)] })?;
        conversation.exchange().await?;
        Ok(if conversation.reply(0).rows == 1 { Outcome::Ok } else { Outcome::Miss })
    }

    fn dataset(&self) -> Option<&dyn DataSet> {
        Some(self)
    }

    fn observe(&mut self, _administration: &mut dyn Administration) -> Result<(), String> {
        Ok(())
    }
}
