//! SEATS, Epinions, SmallBank and TATP from loading to dropping, on a file, on a server and on nothing.

use crate::program::{Scratch, brief};
use driver::{Target, TargetUrl};
use driver_mysql::MySqlTarget;
use driver_postgres::PostgresTarget;
use driver_sqlite::SqliteTarget;
use testkit::{mariadb, postgres};

/// Runs SQL behind the program's back.
type Meddle<'a> = &'a dyn Fn(&str);

/// A workload with parameters that make it small, and a defect with the check that finds it.
struct Case {
    arguments: &'static [&'static str],
    transaction: &'static str,
    defect: &'static str,
    check: &'static str,
    /// How its requests may end.
    outcomes: &'static [&'static str],
    /// What a run states at its end.
    fact: &'static str,
}

const CASES: [Case; 4] = [
    Case {
        arguments: &["-w", "seats", "-p", "customers=300", "-p", "flightsperday=2"],
        transaction: "FindOpenSeats",
        defect: "UPDATE flight SET f_seats_left = f_seats_left - 1",
        check: "seats left and reservations add up",
        outcomes: &["ok"],
        fact: "invariant: no seat is reserved twice",
    },
    Case {
        arguments: &["-w", "epinions", "--scale", "0.1", "-p", "pairs=existing"],
        transaction: "UpdateTrustRating",
        defect: "UPDATE trust SET trust = 7",
        check: "every trust is 0 or 1",
        outcomes: &["ok"],
        fact: "invariant: no table grew or shrank",
    },
    Case {
        arguments: &["-w", "smallbank", "-p", "customers=30000"],
        transaction: "TransactSavings",
        defect: "UPDATE savings SET bal = -5",
        check: "no savings are negative",
        outcomes: &["ok", "abort"],
        fact: "invariant: money is conserved",
    },
    Case {
        arguments: &["-w", "tatp", "-p", "subscribers=3000"],
        transaction: "InsertCallForwarding",
        defect: "UPDATE subscriber SET hex_7 = 16",
        check: "attributes are in their ranges",
        outcomes: &["ok", "miss", "abort"],
        fact: "invariant: call forwardings are those that were there, inserted and not deleted",
    },
];

fn from_loading_to_dropping(scratch: &Scratch, url: &str, sql: Meddle<'_>) {
    for (number, case) in CASES.iter().enumerate() {
        let with = |first: &[&'static str]| -> Vec<String> {
            let all = first.iter().copied().chain([url]).chain(case.arguments.iter().copied());
            all.map(str::to_owned).collect()
        };
        let truetail = |verb: &'static str| {
            let arguments = with(&[verb]);
            scratch.truetail(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert!(truetail("check").with_code(1).stdout.contains("load it first"));
        assert!(truetail("load").well().stdout.contains("loaded"));
        let checked = truetail("check").well().stdout;
        assert!(checked.contains("holds ") && !checked.contains("BROKEN"), "{checked}");
        let recording = format!("run{number}");
        let mut arguments = vec![url, "-o", &recording];
        arguments.extend(case.arguments);
        let page = scratch.truetail(&brief(&arguments)).judged().stdout;
        assert!(page.contains(case.transaction), "{page}");
        // On a busy machine the rate may not be reached; the data must be sound all the same.
        assert!(!page.contains("not what it should be after the run"), "{page}");
        let rows = scratch.rows(&recording);
        let ok = rows.iter().filter(|row| row.outcome == "ok").count();
        // A busy machine gives requests up at the end, and servers one of two transactions that meet.
        let bear = ["deadlock", "serialization-failure", "unfinished"];
        let is_borne = |outcome: &str| bear.contains(&outcome) || case.outcomes.contains(&outcome);
        let strange = rows.iter().find(|row| !is_borne(&row.outcome));
        assert!(strange.is_none() && ok > 100, "{ok} of {} rows, {strange:?}", rows.len());
        let end = scratch.recording(&recording).end().expect("an end").clone();
        let fact = end.facts.iter().find(|(name, _)| name == case.fact);
        assert!(fact.is_some_and(|(_, value)| value.starts_with("holds")), "{}: {:?}", case.fact, end.facts);
        truetail("check").well();
        sql(case.defect);
        let broken = truetail("check").with_code(1).stdout;
        assert!(broken.contains(&format!("BROKEN  {}", case.check)), "{broken}");
        assert!(truetail("cleanup").well().stdout.contains("dropped"));
        truetail("check").with_code(1);
        std::fs::remove_dir_all(scratch.path(&recording)).expect("a recording");
    }
}

#[test]
fn on_sqlite() {
    let scratch = Scratch::new("booking-sqlite");
    let path = scratch.path("data.db");
    scratch.write("data.db", ""); // an empty file is an empty database
    let sql = |text: &str| {
        let url = TargetUrl::parse(&format!("sqlite:{}", path.display())).expect("a URL");
        let target = SqliteTarget::from_url(&url).expect("a target");
        target.administer().expect("a connection").script(text).expect("the statement");
    };
    from_loading_to_dropping(&scratch, "sqlite:data.db", &sql);
}

#[test]
fn on_postgres() {
    let Some(server) = postgres::server(&postgres::Options::default()) else { return };
    let scratch = Scratch::new("booking-postgres");
    let url = server.unix_url();
    let sql = |text: &str| {
        let target = PostgresTarget::from_url(&TargetUrl::parse(&url).expect("a URL")).expect("a target");
        target.administer().expect("a connection").script(text).expect("the statement");
    };
    from_loading_to_dropping(&scratch, &url, &sql);
}

#[test]
fn on_mariadb() {
    let Some(server) = mariadb::server(&mariadb::Options::default()) else { return };
    let scratch = Scratch::new("booking-mariadb");
    let url = server.unix_url();
    let sql = |text: &str| {
        let target = MySqlTarget::from_url(&TargetUrl::parse(&url).expect("a URL")).expect("a target");
        target.administer().expect("a connection").script(text).expect("the statement");
    };
    from_loading_to_dropping(&scratch, &url, &sql);
}

#[test]
fn on_nothing_and_by_mistake() {
    let scratch = Scratch::new("booking-null");
    for (number, case) in CASES.iter().enumerate() {
        let recording = format!("run{number}");
        let mut arguments = vec!["null:", "-o", &recording];
        arguments.extend(case.arguments);
        scratch.truetail(&brief(&arguments)).judged();
        assert!(scratch.rows(&recording).iter().all(|row| row.outcome == "ok"));
    }
    let refused = |arguments: &[&str], words: &[&str]| {
        scratch.truetail(&brief(arguments)).refused(words);
    };
    refused(
        &["null:", "-w", "seats", "-p", "customer=3"],
        &["--workload seats", "did you mean `customers`?"],
    );
    refused(&["null:", "-w", "epinions", "-p", "pairs=all"], &["--workload epinions", "random, existing"]);
    refused(&["null:", "-w", "epinions", "--scale", "0.0001"], &["scale 0.0001 must be in"]);
    refused(&["null:", "-w", "seats", "--mix", "FindSeats=1"], &["FindSeats"]);
    refused(
        &["null:", "-w", "smallbank", "-p", "hotspots=1%,9%"],
        &["--workload smallbank", "did you mean `hotspot`?"],
    );
    refused(&["null:", "-w", "smallbank", "-p", "hotspot=1%"], &["hotspot=1%", "such as `100,90%`"]);
    refused(&["null:", "-w", "tatp", "-p", "keys=zipf"], &["--workload tatp", "`nurand` or `uniform`"]);
    refused(&["null:", "-w", "tatp", "--mix", "GetAcessData=1"], &["did you mean `GetAccessData`?"]);
    refused(&["null:", "-w", "tatp", "--compat", "benchmark"], &["there is only `benchbase`"]);
}
