//! The conformance suite against a real Cassandra, where everybody is let in and where one must log in.
#![cfg(feature = "fetched-servers")]

use driver::conformance::{self, Fixture};
use driver::{Command, Direct, KeyValue, Target, TargetUrl};
use driver_cql::CqlTarget;
use testkit::alloc::{CountingAlloc, Counts};
use testkit::cassandra::{Node, Options, cassandra_server};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

const TABLE: &str = "truetail_conformance";
const FIELDS: [&str; 8] = ["name", "words", "number", "more", "than", "nothing", "none", "long"];

struct Cluster<'a> {
    target: CqlTarget,
    node: &'a Node,
    password: bool,
}

fn target(url: &str) -> CqlTarget {
    CqlTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap()
}

impl Fixture for Cluster<'_> {
    type Target = CqlTarget;

    fn target(&self) -> &CqlTarget {
        &self.target
    }

    fn deletes_blindly(&self) -> bool {
        true
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn wall_time_ns(&self) -> Option<u64> {
        Some(clock::wall_time_ns())
    }

    fn spoil(&self, key: &str) -> Result<(), String> {
        // More than the node may read at once.
        let text = "x".repeat(3 << 20);
        let mut session = self.target.connect(&[], None).map_err(|error| error.to_string())?;
        let insert = KeyValue::Insert { table: TABLE, key, fields: &[("long", &text)] };
        let spoilt = Direct::new(&mut session).ask(Command::KeyValue(insert));
        spoilt.map(drop).map_err(|error| format!("{error:?}"))
    }

    fn with_wrong_password(&self) -> Option<(CqlTarget, &'static str)> {
        const WRONG: &str = "wr0ng-h0rse";
        let url = self.node.url("truetail").replace(":cassandra@", &format!(":{WRONG}@"));
        self.password.then(|| (target(&url), WRONG))
    }

    fn stop(&self) -> Option<Result<(), String>> {
        Some(self.node.stop())
    }

    fn launch(&self) -> Result<(), String> {
        self.node.launch()
    }
}

/// Records may be read up to 2 MiB, and a crash loses nothing.
fn options(authenticates: bool) -> Options {
    let settings = [
        ("read_thresholds_enabled", "true"),
        ("local_read_size_fail_threshold", "2MiB"),
        ("commitlog_sync_period", "100ms"),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Options { authenticates, settings, ..Options::default() }
}

fn conforms(authenticates: bool) {
    let Some(node) = cassandra_server(&options(authenticates)) else { return };
    // Made by somebody else than the driver, so that it is emptied and not dropped.
    let keyspace = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    let made = target(&node.url("truetail")).administer().unwrap().script(&format!(
        "CREATE KEYSPACE truetail WITH replication = {keyspace}; \
         CREATE TABLE truetail.{TABLE} (y_id varchar PRIMARY KEY, {} varchar)",
        FIELDS.join(" varchar, ")
    ));
    made.unwrap();
    conformance::run_all(&Cluster {
        target: target(&node.url("truetail")),
        node: &node,
        password: authenticates,
    });
}

#[test]
fn where_everybody_is_let_in() {
    conforms(false);
}

#[test]
fn where_one_must_log_in() {
    conforms(true);
}
