//! The store over TCP with clients that others wrote, psql and pgbench (both on libpq) and sysbench, and with truetail's
//! own driver and data sets.
//!
//! They fail where those are missing; `TRUETAIL_SKIP_SERVERS=1` skips them, loudly. There is no client library of Rust's
//! here: those for PostgreSQL stand on tokio, which the workspace does without.

mod live;

use driver::conformance::{self, Fixture};
use driver::{Dialect, Target, TargetUrl};
use driver_postgres::PostgresTarget;
use live::Live;
use std::io::Write;
use std::process::{Command, Stdio};
use store::Operation;
use store::postgres::{Login, Options, Service};
use testkit::alloc::{CountingAlloc, Counts};
use units::Seed;
use workload::dataset::{CheckResult, Loader, check_dataset, drop_dataset};
use workload::ycsb::{Ycsb, YcsbConfig};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

/// A store that answers at once, and how to get in.
struct Shop {
    live: Live,
    password: Option<&'static str>,
}

impl Shop {
    fn start(password: Option<&'static str>) -> Shop {
        let login = password.map_or(Login::Trust, |password| Login::Password(password.to_owned()));
        let options = Options { login, seed: Seed(1), epoch_wall_ns: clock::wall_time_ns() };
        let service = Service::new(options);
        Shop { live: Live::start(|_| Box::new(move || Box::new(service.connection()))), password }
    }

    fn url(&self) -> String {
        let password = self.password.map_or_else(String::new, |password| format!(":{password}"));
        format!("postgres://ann{password}@127.0.0.1:{}/shop?sslmode=prefer", self.live.port)
    }

    fn target(&self) -> PostgresTarget {
        PostgresTarget::from_url(&TargetUrl::parse(&self.url()).unwrap()).unwrap()
    }

    /// Runs a client of libpq's against it; what it printed, and whether it succeeded.
    fn run(&self, mut command: Command, input: &str) -> (String, bool) {
        command.env("PGHOST", "127.0.0.1").env("PGPORT", self.live.port.to_string()).env("PGUSER", "ann");
        command.env("PGDATABASE", "shop").env("PGPASSWORD", self.password.unwrap_or_default());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("`timeout` can be run");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).expect("what is written fits into the pipe");
        drop(stdin);
        let output = child.wait_with_output().expect("its end");
        let text =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        (text, output.status.success())
    }

    /// How many requests there were of each operation.
    fn end(self) -> Vec<(Operation, usize)> {
        let (_, log) = self.live.end();
        let count = |operation| log.iter().filter(|served| served.decision.operation == operation).count();
        Operation::ALL.into_iter().map(|o| (o, count(o))).filter(|(_, count)| *count > 0).collect()
    }
}

fn psql(shop: &Shop, script: &str) -> Option<String> {
    let mut command = testkit::postgres::client("psql")?;
    command.args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only"]);
    let (said, success) = shop.run(command, script);
    assert!(success, "{said}");
    Some(said)
}

const ACCOUNTS: &str = "CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84));\n\
    INSERT INTO pgbench_accounts VALUES (1, 1, 10, ''), (2, 1, 20, ''), (3, 1, 30, '');\n";

#[test]
fn psql_is_answered() {
    for password in [None, Some("corr3ct-h0rse")] {
        let shop = Shop::start(password);
        let script = format!(
            "{ACCOUNTS}COPY pgbench_accounts (aid, filler) FROM STDIN;\n4\tfour\n5\t\\N\n\\.\n\
             SELECT aid, abalance, length(filler) FROM pgbench_accounts ORDER BY aid DESC LIMIT 3;\n\
             \\set aid 2\nUPDATE pgbench_accounts SET abalance = abalance + 5 WHERE aid = :aid RETURNING 1;\n\
             UPDATE pgbench_accounts SET abalance = abalance + 5 WHERE aid = :aid;\n\
             BEGIN;\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\nSELECT 1/0;\nROLLBACK;\n\
             SELECT truetail('fault error:deadlock@next');\nSELECT 1;\n"
        );
        let Some(said) = psql(&shop, &script) else { return };
        let lines: Vec<&str> = said.lines().collect();
        let (answers, errors) = lines.split_at(lines.iter().position(|l| l.contains("ERROR")).unwrap());
        assert_eq!((&answers[..4], answers.len()), (&["5||", "4||4", "3|30|0", "25"][..], 5), "{said}");
        let errors: Vec<&str> =
            errors.iter().filter_map(|line| line.split_once("ERROR:  ")).map(|e| e.1).collect();
        assert_eq!(
            errors,
            ["the simulated store does not support RETURNING", "division by zero", "deadlock detected"]
        );
    }
}

#[test]
fn psql_hears_that_the_password_is_wrong() {
    let mut shop = Shop::start(Some("corr3ct-h0rse"));
    shop.password = Some("wrong");
    let Some(mut command) = testkit::postgres::client("psql") else { return };
    command.args(["--no-psqlrc", "-c", "SELECT 1"]);
    let (said, success) = shop.run(command, "");
    assert!(!success && said.contains("password authentication failed for user \"ann\""), "{said}");
}

#[test]
fn pgbench_runs_in_all_its_modes() {
    let directory = std::env::temp_dir().join(format!("truetail-pgbench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let script = directory.join("script.sql");
    std::fs::write(
        &script,
        "\\set aid random(1, 3)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
         BEGIN;\nUPDATE pgbench_accounts SET abalance = abalance + :aid WHERE aid = :aid;\nEND;\n",
    )
    .unwrap();
    for mode in ["simple", "extended", "prepared"] {
        let shop = Shop::start(None);
        if psql(&shop, ACCOUNTS).is_none() {
            break;
        }
        let Some(mut command) = testkit::postgres::client("pgbench") else { break };
        command.args(["-n", "-c", "2", "-t", "50", "-M", mode, "-f"]).arg(&script);
        let (said, success) = shop.run(command, "");
        assert!(success && said.contains("number of transactions actually processed: 100/100"), "{said}");
        // Preparing is no request, whatever the mode.
        let expected = [
            (Operation::Read, 100),
            (Operation::Update, 100),
            (Operation::Insert, 1),
            (Operation::Transaction, 200),
            (Operation::Other, 1),
        ];
        assert_eq!(shop.end(), expected, "{mode}");
    }
    let _ = std::fs::remove_dir_all(directory);
}

/// pgbench's own script, on tables that were made by hand.
#[test]
fn pgbench_selects() {
    let shop = Shop::start(None);
    let script = format!(
        "{ACCOUNTS}CREATE TABLE pgbench_branches (bid int);\nINSERT INTO pgbench_branches VALUES (1);"
    );
    if psql(&shop, &script).is_none() {
        return;
    }
    let Some(mut command) = testkit::postgres::client("pgbench") else { return };
    command.args(["-n", "-S", "-t", "20"]);
    let (said, success) = shop.run(command, "");
    assert!(success && said.contains("actually processed: 20/20"), "{said}");
}

#[test]
fn sysbench_runs_a_script() {
    if testkit::postgres::client("psql").is_none() {
        return;
    }
    let directory = std::env::temp_dir().join(format!("truetail-sysbench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let script = directory.join("select1.lua");
    std::fs::write(
        &script,
        "function thread_init() con = sysbench.sql.driver():connect() end\n\
         function event() con:query(\"SELECT 1\") end\nfunction thread_done() con:disconnect() end\n",
    )
    .unwrap();
    let shop = Shop::start(None);
    let mut command = Command::new("timeout");
    let port = format!("--pgsql-port={}", shop.live.port);
    command.args([
        "60",
        "sysbench",
        "--db-driver=pgsql",
        "--pgsql-host=127.0.0.1",
        "--pgsql-user=ann",
        &port,
    ]);
    command.args(["--pgsql-db=shop", "--threads=2", "--events=100", "--time=0"]).arg(&script).arg("run");
    let (said, success) = shop.run(command, "");
    assert!(success && said.contains("total number of events:              100"), "{said}");
    assert_eq!(shop.end(), [(Operation::Ping, 100)]);
    let _ = std::fs::remove_dir_all(directory);
}

struct Driver(PostgresTarget);

impl Fixture for Driver {
    type Target = PostgresTarget;

    fn target(&self) -> &PostgresTarget {
        &self.0
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn has_decimals(&self) -> bool {
        false // the store's SQL is what YCSB needs
    }

    fn isolates(&self) -> bool {
        false // docs/store.md says so
    }

    fn wall_time_ns(&self) -> Option<u64> {
        Some(clock::wall_time_ns())
    }
}

#[test]
fn truetails_driver_conforms_here_as_on_postgres() {
    for password in [None, Some("corr3ct-h0rse")] {
        let shop = Shop::start(password);
        conformance::run_all(&Driver(shop.target()));
    }
}

#[test]
fn data_sets_are_loaded_checked_and_dropped() {
    let shop = Shop::start(None);
    let target = shop.target();
    let mut administration = target.administer().unwrap();
    for name in ["ycsb", "ycsb-a"] {
        let ycsb = Ycsb::new(YcsbConfig::from_name(name, 2.5, Seed(1), &[]).unwrap()).unwrap();
        let (connect, dialect) = (|| target.administer(), Dialect::Postgres);
        Loader { connect: &connect, dialect, connections: 2, progress: &|_| {} }.load(&ycsb).unwrap();
        let results = check_dataset(&mut *administration, &ycsb, Dialect::Postgres).unwrap();
        let broken: Vec<&CheckResult> = results.iter().filter(|result| !result.passed).collect();
        assert!(results.len() == 4 && broken.is_empty(), "{broken:?}");
        // The checks see what is wrong.
        administration.script("DELETE FROM usertable").unwrap();
        let results = check_dataset(&mut *administration, &ycsb, Dialect::Postgres).unwrap();
        assert!(results.iter().any(|result| !result.passed));
        drop_dataset(&mut *administration, &ycsb).unwrap();
        assert!(!administration.table_exists("usertable").unwrap());
        assert!(!administration.table_exists("truetail_dataset").unwrap());
    }
    let facts = administration.facts().unwrap();
    assert!(facts.version.contains("simulated store") && facts.server_pids.is_empty(), "{facts:?}");
}
