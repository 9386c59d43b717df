//! YCSB: one table of records with a key and some text fields.
//!
//! Two families share this module.
//!
//! **`ycsb`**, the default workload of truetail, is BenchBase's mix: integer keys, ten fields of 100 characters,
//! 1,000 × scale records; `ReadRecord` 50, `InsertRecord` 5, `ScanRecord` 15, `UpdateRecord` 10, `DeleteRecord`
//! 10, `ReadModifyWriteRecord` 10. As shipped there, its data decays: deletes take the hot keys and inserts make
//! keys that nobody reads, so that after a minute at 10,000/s nothing of the table is left to hit, and the times
//! are those of searching for what is gone. Here the population is stable: a delete takes the oldest key that was
//! inserted, once more than `outstanding` (128) such keys are in the table, and until then it deletes a drawn key
//! and inserts it again in the same transaction. `compat=benchbase` brings the decay back, for comparing with
//! published numbers.
//!
//! **`ycsb-a` … `ycsb-f`** are YCSB's own CoreWorkload files: text keys (`user…`), fields from `field0` on. Its
//! read-modify-write is, as there, a read and an update without a transaction around them.
//!
//! | request | on PostgreSQL |
//! |---|---|
//! | read, insert, scan, update, delete of an inserted key | one autocommit statement, 1 exchange |
//! | delete of a drawn key | begin, delete, insert, commit, pipelined: 1 exchange |
//! | `ReadModifyWriteRecord` | begin + select for update; update + commit: 2 exchanges |
//! | `READ-MODIFY-WRITE` | select; update: 2 exchanges |
//!
//! On a store without SQL each of them is one key-value command, or two after each other; see `records.rs`.
//!
//! A read, update, delete or read-modify-write that touches no row is a miss. A scan of the mix is not: it covers the
//! keys strictly between two bounds, and that interval may be empty by its draw. A scan of the CoreWorkload starts at
//! a key that must exist, so there no row is a miss.
//!
//! Field values are slices of a pool of random printable characters, made once from the seed, at drawn offsets:
//! planning a request generates no bytes.

mod choices;
mod config;
mod dataset;
mod integrity;
mod keys;
mod lengths;
mod plan;
mod pool;
mod property;
mod records;
mod records_dataset;
mod run;
mod sql;
mod tickets;

#[cfg(test)]
mod population;

pub use choices::{FieldLength, KeyOrder, LengthShape, RequestDistribution, ScanLength};
pub use config::{Family, YcsbConfig};
pub use lengths::LengthHistogram;
pub use plan::Plan;

use crate::dataset::DataSet;
use crate::{Operation, Request, Tickets, Workload, WorkloadFacts};
use driver::{Administration, Conversation, Dialect, OpError, StatementSpec};
use sql::Layout;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Outcome;

/// A kind of request, across both families.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Read,
    Insert,
    Scan,
    Update,
    Delete,
    ReadModifyWrite,
}

/// The workloads `ycsb` and `ycsb-a` … `ycsb-f`.
pub struct Ycsb {
    config: YcsbConfig,
    layout: Layout,
    fields: Vec<&'static str>,
    verified: integrity::Verified,
    /// The target has records instead of SQL: decided by whoever asks for the statements, before there are sessions.
    records: AtomicBool,
    draws: plan::Draws,
    pool: pool::Pool,
    observed: tickets::Observed,
}

impl Ycsb {
    /// Builds the distributions and the pool of text (1 MiB, ≈ 1 ms).
    ///
    /// # Errors
    /// One line, when the parameters contradict each other.
    pub fn new(config: YcsbConfig) -> Result<Ycsb, String> {
        config.validate()?;
        Ok(Ycsb {
            layout: Layout::of(&config),
            fields: sql::field_names(&config).iter().map(|name| crate::kept_text(name)).collect(),
            verified: integrity::Verified::default(),
            records: AtomicBool::new(false),
            draws: plan::Draws::of(&config),
            pool: pool::Pool::new(config.seed, config.field_length.most),
            observed: tickets::Observed::fresh(&config),
            config,
        })
    }

    /// The parameters.
    pub fn config(&self) -> &YcsbConfig {
        &self.config
    }

    /// Whether requests are made of key-value commands.
    #[inline]
    pub(crate) fn has_records(&self) -> bool {
        // Relaxed: sessions that are started later see it, and it orders nothing else.
        self.records.load(Ordering::Relaxed)
    }
}

impl Workload for Ycsb {
    type Plan = Plan;

    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: self.config.name.clone(),
            scale: self.config.scale(),
            parameters: self.config.parameters(),
        }
    }

    fn operations(&self) -> Vec<Operation> {
        let names = self.config.family.operation_names();
        let all = names.iter().zip(self.config.family.kinds()).zip(&self.config.weights);
        all.map(|((&name, kind), &weight)| match self.config.loading {
            true => Operation { name, weight: f64::from(u8::from(*kind == Kind::Insert)) },
            false => Operation { name, weight },
        })
        .collect()
    }

    fn statements(&self, dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
        self.records.store(dialect == Dialect::KeyValue, Ordering::Relaxed);
        sql::statements(&self.config, dialect)
    }

    fn tickets(&self) -> Box<dyn Tickets> {
        tickets::tickets(&self.config, &self.observed)
    }

    fn new_plan(&self) -> Plan {
        Plan::new(&self.config)
    }

    fn plan(&self, request: Request, plan: &mut Plan) {
        self.draws.plan(&self.config, &self.observed, &self.pool, request, plan);
    }

    fn run<C: Conversation>(
        &self,
        plan: &Plan,
        conversation: &mut C,
    ) -> impl Future<Output = Result<Outcome, OpError>> {
        run::run(self, plan, conversation)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let (right, wrong) = self.verified.counts();
        match self.config.data_integrity {
            true => vec![("reads verified", right), ("reads of something else than was written", wrong)],
            false => Vec::new(),
        }
    }

    fn dataset(&self) -> Option<&dyn DataSet> {
        Some(self)
    }

    fn observe(&mut self, administration: &mut dyn Administration) -> Result<(), String> {
        self.observed = tickets::observe(&self.config, administration)?;
        Ok(())
    }
}
