//! What exact models of workloads are made of: the tables as text, and requests that run one after the other.

use crate::dataset::{DataSet, Loader};
use crate::{OpId, Request, Workload, users::NOBODY};
use driver::{Administration, Dialect, Direct, Target, TargetUrl};
use driver_sqlite::{SqliteSession, SqliteTarget};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Outcome, Seed};

/// A loaded database of a test's own, removed when it ends.
pub(crate) struct Database {
    directory: PathBuf,
    pub(crate) target: SqliteTarget,
}

impl Database {
    pub(crate) fn loaded(dataset: &dyn DataSet) -> Database {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("truetail-model-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let url = format!("sqlite:{}/test.db?synchronous=off", directory.display());
        let target = SqliteTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap();
        let connect = || target.administer();
        let loader =
            Loader { connect: &connect, dialect: Dialect::Sqlite, connections: 1, progress: &|_| () };
        let loading = loader.load(dataset).unwrap();
        assert_eq!(loading.written, dataset.rows(), "what is announced is written");
        Database { directory, target }
    }

    pub(crate) fn administer(&self) -> Box<dyn Administration> {
        self.target.administer().unwrap()
    }

    /// Runs requests 0 … n − 1; `ticket` may replace the workload's own, `done` gets each plan and how it ended.
    pub(crate) fn run<W: Workload>(
        &self,
        workload: &W,
        requests: u64,
        mut ticket: impl FnMut(u64, OpId, u64) -> u64,
        mut done: impl FnMut(&W::Plan, Outcome),
    ) {
        let statements = workload.statements(Dialect::Sqlite).unwrap();
        let mut session = self.target.connect(&statements, None).unwrap();
        let (mut tickets, mut plan) = (workload.tickets(), workload.new_plan());
        for seq in 0..requests {
            let op = draw_operation(workload, seq);
            let ticket = ticket(seq, op, tickets.next(seq, op));
            workload.plan(Request { seq, op, ticket, user: NOBODY }, &mut plan);
            let mut direct = Direct::new(&mut session);
            match Direct::<SqliteSession>::run(workload.run(&plan, &mut direct)) {
                Ok(outcome) => done(&plan, outcome),
                Err(error) => panic!("request {seq}: {error:?}: {:?}", driver::Session::last_error(&session)),
            }
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn draw_operation<W: Workload>(workload: &W, seq: u64) -> OpId {
    let operations = workload.operations();
    let mut left = Seed(99).at(seq).unit() * operations.iter().map(|operation| operation.weight).sum::<f64>();
    let at = operations.iter().position(|operation| {
        left -= operation.weight;
        left < 0.0
    });
    OpId(at.unwrap_or(0) as u8)
}

/// A table as a database shows it: rows by the values of their key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Table {
    columns: Vec<String>,
    pub(crate) rows: BTreeMap<Vec<String>, Vec<String>>,
}

impl Table {
    pub(crate) fn read(administration: &mut dyn Administration, table: &str, key: &[&str]) -> Table {
        let info = format!("SELECT name FROM pragma_table_info('{table}')");
        let columns: Vec<String> =
            administration.query(&info).unwrap().into_iter().map(|row| row[0].clone().unwrap()).collect();
        let at: Vec<usize> =
            key.iter().map(|key| columns.iter().position(|column| column == key).unwrap()).collect();
        let mut rows = BTreeMap::new();
        for row in administration.query(&format!("SELECT * FROM {table}")).unwrap() {
            let row: Vec<String> =
                row.into_iter().map(|value| value.unwrap_or_else(|| "null".to_owned())).collect();
            let key = at.iter().map(|at| row[*at].clone()).collect();
            assert_eq!(rows.insert(key, row), None, "{table}: the key is one");
        }
        Table { columns, rows }
    }

    fn at(&self, column: &str) -> usize {
        self.columns.iter().position(|name| name == column).unwrap()
    }

    pub(crate) fn get(&self, key: &[&str], column: &str) -> Option<&str> {
        let key: Vec<String> = key.iter().map(|key| (*key).to_owned()).collect();
        self.rows.get(&key).map(|row| row[self.at(column)].as_str())
    }

    pub(crate) fn set(&mut self, key: &[&str], column: &str, value: impl ToString) -> bool {
        let key: Vec<String> = key.iter().map(|key| (*key).to_owned()).collect();
        let at = self.at(column);
        match self.rows.get_mut(&key) {
            Some(row) => row[at] = value.to_string(),
            None => return false,
        }
        true
    }

    pub(crate) fn add(&mut self, key: &[&str], column: &str, number: i64) {
        if let Some(value) = self.get(key, column) {
            let sum = value.parse::<i64>().unwrap() + number;
            self.set(key, column, sum);
        }
    }
}
