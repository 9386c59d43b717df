//! The conformance suite against a class that keeps records in the JVM, over both transports.

use driver::conformance::{self, Fixture};
use driver::{
    Administration, BulkRows, Command, ConnectError, Dialect, Direct, Execution, Isolation, KeyValue,
    Records, StatementSpec, Target, TargetFacts, TargetUrl,
};
use driver_ycsb::{YcsbSession, YcsbTarget};
use testkit::alloc::{CountingAlloc, Counts};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

/// The target, which says of itself that a foreign library is behind it, held to what is promised of this side of the bridge
/// all the same: that nothing is allocated.
struct Promising(YcsbTarget);

impl Target for Promising {
    type Session = YcsbSession;

    fn execution(&self) -> Execution {
        self.0.execution()
    }

    fn dialect(&self) -> Dialect {
        self.0.dialect()
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        isolation: Option<Isolation>,
    ) -> Result<YcsbSession, ConnectError> {
        self.0.connect(statements, isolation)
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Ok(Box::new(PromisingAdministration(self.0.administer()?)))
    }
}

struct PromisingAdministration(Box<dyn Administration>);

impl Administration for PromisingAdministration {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        let facts = self.0.facts()?;
        assert!(!facts.native && facts.version == "YCSB 0.17.0", "{facts:?}");
        assert!(facts.settings.iter().any(|(name, value)| name == "property shown" && value == "yes"));
        assert!(!format!("{facts:?}").contains("c0nceal"), "{facts:?}");
        Ok(TargetFacts { native: true, ..facts })
    }

    fn script(&mut self, sql: &str) -> Result<(), ConnectError> {
        self.0.script(sql)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        self.0.query(sql)
    }

    fn table_exists(&mut self, table: &str) -> Result<bool, ConnectError> {
        self.0.table_exists(table)
    }

    fn bulk(&mut self, table: &str, columns: &[&str], rows: &mut BulkRows<'_>) -> Result<u64, ConnectError> {
        self.0.bulk(table, columns, rows)
    }

    fn records(&mut self) -> Option<&mut dyn Records> {
        self.0.records()
    }
}

impl Fixture for Promising {
    type Target = Promising;

    fn target(&self) -> &Promising {
        self
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn wall_time_ns(&self) -> Option<u64> {
        Some(clock::wall_time_ns())
    }

    fn spoil(&self, key: &str) -> Result<(), String> {
        let mut session = self.connect(&[], None).map_err(|error| error.to_string())?;
        let insert = KeyValue::Insert { table: "truetail_conformance", key, fields: &[("fault", "error")] };
        let spoilt = Direct::new(&mut session).ask(Command::KeyValue(insert));
        spoilt.map(drop).map_err(|error| format!("{error:?}"))
    }
}

#[test]
fn conforms_over_unix_and_tcp() {
    let Some(jars) = testkit::ycsb::class_path() else { return };
    for transport in ["unix", "tcp"] {
        let text = format!(
            "ycsb-db:truetail.ycsb.MemoryClient?jar={jars}&transport={transport}&p.shown=yes&p.db.passwd=c0nceal"
        );
        println!("{transport}");
        let target = YcsbTarget::from_url(&TargetUrl::parse(&text).unwrap()).unwrap();
        conformance::run_all(&Promising(target));
    }
}
