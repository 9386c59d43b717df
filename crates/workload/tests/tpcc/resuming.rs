//! A load that was cut short goes on where it was, and leaves what an undisturbed one leaves.

use crate::support::{Database, assert_sound, load, small};
use driver::{Administration, BulkRows, ConnectError, Dialect, Target, TargetFacts};
use std::sync::atomic::{AtomicU64, Ordering};
use workload::Workload;
use workload::dataset::{Loader, Status, status};

/// Fails at the n-th bulk call, as a server does that stops.
struct Failing<'a> {
    inner: Box<dyn Administration>,
    left: &'a AtomicU64,
}

impl Administration for Failing<'_> {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        self.inner.facts()
    }

    fn script(&mut self, sql: &str) -> Result<(), ConnectError> {
        self.inner.script(sql)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        self.inner.query(sql)
    }

    fn table_exists(&mut self, table: &str) -> Result<bool, ConnectError> {
        self.inner.table_exists(table)
    }

    fn bulk(&mut self, table: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(ConnectError::transient("the server went away"));
        }
        self.inner.bulk(table, columns, rows)
    }
}

fn contents(database: &Database) -> Vec<Vec<Vec<Option<String>>>> {
    let mut found = database.administer();
    [
        "warehouse ORDER BY w_id",
        "district ORDER BY d_w_id, d_id",
        "customer ORDER BY c_w_id, c_d_id, c_id",
        "history ORDER BY h_w_id, h_d_id, h_c_id",
        "oorder ORDER BY o_w_id, o_d_id, o_id",
        "new_order ORDER BY no_w_id, no_d_id, no_o_id",
        "order_line ORDER BY ol_w_id, ol_d_id, ol_o_id, ol_number",
        "item ORDER BY i_id",
        "stock ORDER BY s_w_id, s_i_id",
    ]
    .map(|table| found.query(&format!("SELECT * FROM {table}")).unwrap())
    .into()
}

#[test]
fn a_load_that_was_cut_short_goes_on() {
    let tpcc = small(2, 1, &[]);
    let expected = contents(&Database::loaded(&tpcc));
    // Within items, a warehouse, and each table of a district.
    for cut in [0, 2, 4, 5, 6, 7, 8, 60] {
        let database = Database::new();
        let left: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(cut)));
        let connect = || -> Result<Box<dyn Administration>, ConnectError> {
            Ok(Box::new(Failing { inner: database.target.administer()?, left }))
        };
        let loader =
            Loader { connect: &connect, dialect: Dialect::Sqlite, connections: 2, progress: &|_| () };
        let dataset = tpcc.dataset().unwrap();
        let message = loader.load(dataset).unwrap_err().to_string();
        assert_eq!(message, "the server went away");
        assert_eq!(status(&mut *database.administer(), dataset).unwrap(), Status::Incomplete);
        let loading = load(&database.target, &tpcc, 2).unwrap();
        assert!(cut < 2 || loading.found > 0, "{cut}: {loading:?}");
        assert!(contents(&database) == expected, "cut at {cut}");
        assert_sound(&database.target, &tpcc);
    }
}
