//! Workloads out of files: `load`, `run`, `check`, `cleanup`, what a recording keeps of them, and what is refused.

use crate::program::{Scratch, brief};
use driver::{Target, TargetUrl};
use driver_postgres::PostgresTarget;
use driver_sqlite::SqliteTarget;
use testkit::postgres::{Options, server};

const BANK: &str = include_str!("../../../../docs/examples/bank.toml");
const READS: &str = include_str!("../../../../docs/examples/ycsb-c.toml");

fn life_of_a_bank(scratch: &Scratch, url: &str, sql: &dyn Fn(&str)) {
    scratch.write("bank.toml", BANK);
    let options = ["-w", "bank.toml", "-p", "accounts=200", "-p", "opening=10000"];
    let truetail = |verb: &str| scratch.truetail(&[&[verb, url][..], &options].concat());
    assert!(truetail("check").with_code(1).stdout.contains("load it first"));
    assert!(truetail("load").well().stderr.contains("loaded bank (scale 1): 200 rows"));
    assert!(truetail("load").well().stdout.contains("already there"));
    truetail("check").well();

    let more = ["-r", "300/s", "--retry", "20", "-o", "run"];
    let ended = scratch.truetail(&brief(&[&[url], &options[..], &more].concat())).judged();
    assert!(ended.first_line().contains("bank"), "{ended:?}");
    let checked = truetail("check").well();
    assert!(
        checked.stdout.contains("holds   each account agrees with its transfers: no rows"),
        "{checked:?}"
    );
    let operations: Vec<String> = scratch.rows("run").into_iter().map(|row| row.operation).collect();
    assert!(operations.iter().any(|o| o == "balance") && operations.iter().any(|o| o == "transfer"));

    // What is slow is left to `check`; what is cheap was verified after the run.
    let recording = scratch.recording("run");
    let header = recording.header();
    assert_eq!(header.workload, "bank");
    let facts: Vec<&str> = header.workload_facts.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["file", "SHA-256 of bank.toml", "accounts", "opening", "rows(account)"] {
        assert!(facts.contains(&name), "no {name} in {facts:?}");
    }
    assert_eq!(
        std::fs::read_to_string(scratch.path("run/workload/bank.toml")).expect("the file's text"),
        BANK
    );

    // From the recording itself the load can be made again.
    let kept = ["-w", "run/workload/bank.toml", "-p", "accounts=200", "-p", "opening=10000"];
    let more = ["-r", "100/s", "--retry", "20", "-o", "again"];
    scratch.truetail(&brief(&[&[url], &kept[..], &more].concat())).judged();
    let again = scratch.recording("again");
    let highest = again.header().workload_facts.iter().find(|(name, _)| name == "highest(transfer.id)");
    assert!(highest.is_some(), "the second run goes on behind the transfers of the first");

    sql("UPDATE account SET balance = balance + 1 WHERE id = 7");
    let broken = truetail("check").with_code(1);
    assert!(broken.stdout.contains("BROKEN  no money is made or lost: 1, not 0"), "{broken:?}");
    assert!(truetail("cleanup").well().stdout.contains("dropped"));
    truetail("check").with_code(1);
}

#[test]
fn a_bank_on_sqlite() {
    let scratch = Scratch::new("custom-sqlite");
    scratch.write("bank.db", ""); // an empty file is an empty database
    let path = scratch.path("bank.db");
    let sql = |text: &str| {
        let url = TargetUrl::parse(&format!("sqlite:{}", path.display())).expect("a URL");
        let target = SqliteTarget::from_url(&url).expect("a target");
        target.administer().expect("a connection").script(text).expect("the statement");
    };
    life_of_a_bank(&scratch, "sqlite:bank.db", &sql);
}

#[test]
fn a_bank_on_postgres() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("custom-postgres");
    let url = server.unix_url();
    let sql = |text: &str| {
        let target = PostgresTarget::from_url(&TargetUrl::parse(&url).expect("a URL")).expect("a target");
        target.administer().expect("a connection").script(text).expect("the statement");
    };
    life_of_a_bank(&scratch, &url, &sql);
}

/// A run loads what is missing by itself, and every read finds its record.
#[test]
fn reads_on_sqlite() {
    let scratch = Scratch::new("custom-reads");
    scratch.write("ycsb-c.toml", READS);
    let ended = scratch.truetail(&brief(&["-w", "./ycsb-c.toml", "-r", "300/s", "-o", "run"])).judged();
    assert!(ended.stderr.contains("loaded reads (scale 1): 1000 rows"), "{ended:?}");
    let rows = scratch.rows("run");
    assert!(rows.len() > 200 && rows.iter().all(|row| row.outcome == "ok"), "{rows:?}");
}

#[test]
fn what_is_wrong_is_refused_and_changes_nothing() {
    let scratch = Scratch::new("custom-bad");
    scratch.write("bank.toml", BANK);
    scratch.write("bad.toml", &BANK.replace("draw = \"zipf\"", "draw = \"zifp\""));
    scratch.write("ycsb.toml", READS.replace("name = \"reads\"", "").as_str());
    scratch.write("data.db", "");
    let refused = |arguments: &[&str], named: &[&str]| scratch.truetail(arguments).refused(named);
    refused(
        &["run", "sqlite:data.db", "-w", "bad.toml"],
        &["--workload bad.toml: line ", "`zifp`", "did you mean `zipf`?"],
    );
    refused(&["load", "sqlite:data.db", "-w", "bad.toml"], &["--workload bad.toml: line "]);
    refused(&["run", "null:", "-w", "nowhere.toml"], &["--workload nowhere.toml", "can't be read"]);
    refused(&["run", "null:", "-w", "ycsb.toml"], &["can't be called `ycsb`", "change its `name`"]);
    refused(
        &["run", "null:", "-w", "bank.toml", "-p", "acounts=5"],
        &["`acounts`", "did you mean `accounts`?"],
    );
    refused(
        &["run", "null:", "-w", "bank.toml", "--mix", "transfr=1"],
        &["`transfr`", "did you mean `transfer`?"],
    );
    refused(&["run", "null:", "-w", "bank"], &["--workload bank", "./mine.toml"]);
    let data = std::fs::metadata(scratch.path("data.db")).expect("the database").len();
    assert_eq!(data, 0, "a bad file changed the database");
}

#[test]
fn a_value_that_nothing_uses_is_noted_once() {
    let scratch = Scratch::new("custom-note");
    scratch.write("w.toml", "[values]\nunused = 1\n[[transaction]]\nname = \"one\"\nsql = \"SELECT 1\"\n");
    let ended = scratch.truetail(&brief(&["null:", "-w", "w.toml", "-r", "100/s", "-o", "run"])).judged();
    assert_eq!(ended.stderr.matches("value `unused`: no statement uses it").count(), 1, "{ended:?}");
}

#[test]
fn the_help_mentions_files() {
    let scratch = Scratch::new("custom-help");
    let help = scratch.truetail(&["run", "--help"]).well().stdout;
    assert!(help.contains("FILE.toml") && help.contains("docs/custom-workloads.md"), "{help}");
}

/// A recording that a program of its own made by the library is read like any other.
#[test]
fn a_recording_of_the_example_crate_is_reported() {
    let scratch = Scratch::new("custom-rust");
    let url = format!("sqlite:{}?synchronous=off", scratch.path("votes.db").display());
    let target = SqliteTarget::from_url(&TargetUrl::parse(&url).expect("a URL")).expect("a target");
    let votes = own_workload::Votes::new(50, units::Seed(1));
    let operations = workload::Workload::operations(&votes);
    let mut spec = measure::open_loop("1s@300/s", 2, &operations).expect("a load");
    spec.retry = measure::Retry::conflicts(10);
    measure::measure(&target, votes, &spec, &scratch.path("votes")).expect("a recording");
    let ended = scratch.truetail(&["report", "votes"]).judged();
    assert!(ended.stdout.contains("votes") && ended.stdout.contains("Look"), "{ended:?}");
    assert!(scratch.rows("votes").len() > 200);
}
