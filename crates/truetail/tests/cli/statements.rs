//! `--statements`: what is inside of requests, of servers whose statements take as long as they are told to.

use crate::program::{Ended, Scratch, brief};
use record::{Recording, Sample, SampleBatch, Statement};
use serde_json::Value;
use testkit::postgres::{Options, server};

/// A transaction that sleeps in its second statement, 30 ms in one of fifty requests and else not at all.
const SLEEPY: &str = r#"
[values]
nap = { draw = "choice", of = [0.0, 0.03], weights = [98, 2] }

[[transaction]]
name = "nap"
[[transaction.step]]
sql = "SELECT count(*) FROM pg_namespace"
expect = "row"
[[transaction.step]]
sql = "SELECT 1 FROM pg_sleep(CAST(:nap AS double precision))"
expect = "row"
"#;

fn all_statements(recording: &Recording) -> Vec<Statement> {
    let mut all = Vec::new();
    recording.statements(|part| all.extend_from_slice(part)).expect("a directory that can be listed");
    all
}

fn all_samples(recording: &Recording) -> Vec<Sample> {
    let push = |all: &mut Vec<Sample>, batch: &SampleBatch| {
        all.extend((0..batch.len()).filter_map(|i| batch.get(i)))
    };
    recording.scan(1, Vec::new, push).expect("readable").concat()
}

fn summary(scratch: &Scratch, name: &str) -> Value {
    let text = std::fs::read_to_string(scratch.path(&format!("{name}/summary.json"))).expect("a summary");
    serde_json::from_str(&text).expect("JSON")
}

fn names(operation: &Value) -> Vec<&str> {
    let exchanges = operation["exchanges"].as_array().expect("a list");
    exchanges.iter().filter_map(|one| one["name"].as_str()).collect()
}

#[test]
fn the_statement_that_sleeps_is_found() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("statements-postgres");
    scratch.write("sleepy.toml", SLEEPY);
    let more =
        [&server.tcp_url(), "-w", "sleepy.toml", "-r", "1000/s", "-c", "8", "-d", "3s", "--warmup", "0.5s"];
    let ended: Ended =
        scratch.truetail(&[&["run"], &more[..], &["--statements", "-o", "run"]].concat()).judged();
    assert!(ended.stdout.contains("inside of the requests: nap takes "), "{ended:?}");

    let document = summary(&scratch, "run");
    let operation = &document["statements"]["operations"][0];
    assert_eq!(names(operation), ["BEGIN, SELECT pg_namespace", "SELECT pg_sleep", "COMMIT"]);
    assert_eq!(document["statements"]["dropped"], 0);
    let part = |index: usize| &operation["exchanges"][index]["part"];
    let tail = part(1)["share_of_excess"].as_f64().expect("enough requests");
    assert!(tail > 0.5, "the sleep is what slow requests have more of: {operation}");
    assert!(part(1)["slow_mean"].as_f64().is_some_and(|ns| ns >= 3e7), "{operation}");
    let sum: f64 = (0..3).filter_map(|index| part(index)["mean"].as_f64()).sum();
    let between = operation["between"]["mean"].as_f64().expect("known");
    let mean = operation["mean"].as_f64().expect("known");
    assert!((sum + between - mean).abs() < 1.0, "{sum} + {between} is not {mean}");

    // Row by row: within its request, one after the other, each with a stamp of the kernel.
    let recording = scratch.recording("run");
    let header = recording.header();
    let texts: Vec<&str> =
        header.statements.iter().flatten().map(|statement| statement.text.as_str()).collect();
    assert!(texts[0].contains("pg_namespace") && texts[1].contains("pg_sleep"), "{texts:?}");
    let mut rows = all_statements(&recording);
    rows.sort_by_key(|row| (row.seq, row.position));
    let samples = all_samples(&recording);
    let finished = samples.iter().filter(|sample| sample.outcome == units::Outcome::Ok).count();
    assert!(finished > 1_000 && rows.len() >= 3 * finished, "{} rows of {finished} requests", rows.len());
    for of_one in rows.chunk_by(|a, b| a.seq == b.seq) {
        let sample = samples.iter().find(|sample| sample.seq == of_one[0].seq).expect("its request");
        assert_eq!((of_one[0].sent, of_one[0].op, of_one[0].phase), (sample.sent, sample.op, sample.phase));
        assert_eq!(of_one[of_one.len() - 1].completed, sample.completed);
        assert!(of_one.windows(2).all(|pair| pair[0].completed <= pair[1].sent), "{of_one:?}");
        assert!(of_one.iter().all(|row| row.arrived.is_some() && row.sent <= row.completed), "{of_one:?}");
    }

    // Made again from the recording, with the same result; and absent where nobody asked.
    let again = scratch.truetail(&["report", "run"]).judged();
    assert!(again.stdout.contains("inside of the requests: nap takes "), "{again:?}");
    scratch.truetail(&[&["run"], &more[..], &["-o", "without"]].concat()).judged();
    assert_eq!(summary(&scratch, "without")["statements"], Value::Null);
    assert!(!scratch.path("without/statements").exists());
}

#[test]
fn transactions_of_an_embedded_database_and_operations_of_a_store_have_names() {
    let scratch = Scratch::new("statements-embedded");
    let more =
        ["-w", "tpcc", "-p", "items=500", "-p", "customers=60", "-c", "1", "-r", "200/s", "--statements"];
    scratch
        .truetail(&brief(&[&["sqlite:tpcc.db?synchronous=off"], &more[..], &["-o", "tpcc"]].concat()))
        .judged();
    let document = summary(&scratch, "tpcc");
    let operations = document["statements"]["operations"].as_array().expect("a list");
    let new_order = operations.iter().find(|one| one["name"] == "NewOrder").expect("it is the most frequent");
    let names = names(new_order);
    // What need not wait is sent together: all that a new order reads, and all that it writes.
    assert_eq!(names[0], "BEGIN, SELECT warehouse");
    assert!(names.contains(&"INSERT oorder, COMMIT"), "{names:?}");
    let commands = |index: usize| new_order["exchanges"][index]["commands"].as_f64().expect("known");
    assert!(commands(0) > 10.0 && commands(1) > 10.0, "{new_order}");

    let Some(server) = testkit::redis::server(&testkit::redis::Options::default()) else { return };
    let more = [
        &server.tcp_url(),
        "-w",
        "ycsb",
        "--mix",
        "ReadModifyWriteRecord=100",
        "--statements",
        "-o",
        "redis",
    ];
    scratch.truetail(&brief(&more)).judged();
    let document = summary(&scratch, "redis");
    let operation = &document["statements"]["operations"][0];
    assert_eq!(self::names(operation), ["read", "update"]);
    assert_eq!(operation["exchanges"][0]["count"], operation["exchanges"][1]["count"]);
}
