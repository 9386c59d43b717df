//! DuckDB as its users meet it: every workload from loading to dropping. Needs its library (`cargo xtask install`).

use crate::program::{Scratch, brief};

/// A workload that is small, and one of its transactions.
struct Case {
    arguments: &'static [&'static str],
    transaction: &'static str,
}

const CASES: [Case; 5] = [
    Case { arguments: &["-w", "ycsb"], transaction: "Read" },
    Case { arguments: &["-w", "ycsb-a"], transaction: "update" },
    Case {
        arguments: &["-w", "tpcc", "--scale", "2", "-p", "items=200", "-p", "customers=30"],
        transaction: "NewOrder",
    },
    Case {
        arguments: &["-w", "seats", "-p", "customers=300", "-p", "flightsperday=2"],
        transaction: "FindOpenSeats",
    },
    Case {
        arguments: &["-w", "epinions", "--scale", "0.1", "-p", "pairs=existing"],
        transaction: "UpdateTrustRating",
    },
];

/// What transactions that meet may end in: nobody waits, so that one of them fails.
const BEAR: [&str; 5] = ["ok", "abort", "miss", "serialization-failure", "unfinished"];

#[test]
fn every_workload_loads_runs_and_checks() {
    for (number, case) in CASES.iter().enumerate() {
        let scratch = Scratch::new(&format!("duckdb-{number}"));
        let truetail = |verb: &'static str, more: &[&'static str]| {
            scratch.truetail(&[&[verb, "duckdb:data.db"], case.arguments, more].concat())
        };
        truetail("check", &[]).refused(&["data.db", "truetail load"]);
        assert!(truetail("load", &["--loaders", "3"]).well().stdout.contains("loaded"));
        let checked = truetail("check", &[]).well().stdout;
        assert!(checked.contains("holds ") && !checked.contains("BROKEN"), "{checked}");
        let arguments = [&["duckdb:data.db", "-o", "run"], case.arguments].concat();
        let page = scratch.truetail(&brief(&arguments)).judged().stdout;
        assert!(page.contains(case.transaction), "{page}");
        assert!(!page.contains("not what it should be after the run"), "{page}");
        let rows = scratch.rows("run");
        let ok = rows.iter().filter(|row| row.outcome == "ok").count();
        let wrong = rows.iter().find(|row| !BEAR.contains(&row.outcome.as_str()));
        assert!(wrong.is_none() && ok > 20, "{ok} of {} rows; {wrong:?}: {page}", rows.len());
        let checked = truetail("check", &[]).well().stdout;
        assert!(!checked.contains("BROKEN"), "{checked}");
        assert!(truetail("cleanup", &[]).well().stdout.contains("dropped"));
        truetail("check", &[]).with_code(1);
    }
}

#[test]
fn a_file_is_made_in_the_recording() {
    let scratch = Scratch::new("duckdb-own");
    let page = scratch.truetail(&brief(&["duckdb:", "-w", "ycsb-c", "-o", "a"])).judged();
    assert!(page.first_line().contains("ycsb-c on DuckDB"), "{}", page.stdout);
    assert!(scratch.path("a/data.duckdb").exists());
    assert!(!scratch.path("a/data.duckdb.wal").exists(), "the database was not closed");
    let header = scratch.recording("a").header().clone();
    let threads =
        header.target_facts.iter().find(|(name, _)| name.ends_with("threads") && !name.contains("external"));
    assert_eq!(threads.map(|(_, value)| value.as_str()), Some("1"));
}

#[test]
fn what_it_lacks_is_said_in_one_line() {
    let scratch = Scratch::new("duckdb-lacks");
    scratch
        .truetail(&["run", "duckdb:a.db", "--isolation", "serializable"])
        .refused(&["isolation serializable", "repeatable-read"]);
    scratch
        .truetail(&["run", "duckdb:a.db?library=/nowhere.so"])
        .refused(&["library=/nowhere.so: there is no such file", "cargo xtask install"]);
    scratch.truetail(&["run", "duckdb:a.db?thread=1"]).refused(&["unknown option `thread`", "threads"]);
    scratch.truetail(&["load", "duckdb:"]).refused(&["duckdb:data.db"]);
}
