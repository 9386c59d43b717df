//! What is admitted as what, and when answers are due.

use crate::conversation::{Client, Store};
use crate::wire::{bind_texts, execute, message, parse, query, sync};
use store::postgres::Login;
use store::{Decision, Model, Operation, ReadPreference, ReplicationSettings, Settings};
use units::Nanos;

fn timed(client: &Client) -> Vec<Decision> {
    client.answers.iter().filter_map(|answer| answer.decision).collect()
}

fn millis(value: u64) -> Nanos {
    Nanos::from_millis(value)
}

/// A store whose requests take 10 ms, one after the other; tables are there already.
fn slow() -> (Store, Client) {
    let model = Model { servers: Some(1), service: vec!["10ms".parse().unwrap()], ..Model::default() };
    let mut store = Store::with(Settings { model, ..Settings::default() }, Login::Trust);
    let mut client = store.client();
    client.query(&mut store, "CREATE TABLE t (k text PRIMARY KEY, n int); CREATE TABLE bare (n int)");
    client.query(&mut store, "INSERT INTO t VALUES ('a', 1), ('b', 2)");
    store.now = millis(1_000);
    (store, client)
}

#[test]
fn each_statement_is_admitted_as_what_it_is() {
    let (mut store, mut client) = slow();
    for (sql, operation, key) in [
        ("SELECT 1", Operation::Ping, ""),
        ("", Operation::Ping, ""),
        ("SELECT * FROM t WHERE k = 'a'", Operation::Read, "a"),
        ("SELECT n FROM t WHERE 'a' = k AND n > 0 FOR UPDATE", Operation::Read, "a"),
        ("SELECT * FROM t WHERE k >= 'a' ORDER BY k LIMIT 10", Operation::Scan, "a"),
        ("SELECT * FROM t WHERE k BETWEEN 'a' AND 'b'", Operation::Scan, "a"),
        ("SELECT * FROM t WHERE k IN ('b', 'a')", Operation::Scan, "b"),
        ("SELECT count(*) FROM t", Operation::Scan, ""),
        ("INSERT INTO t VALUES ('c', 3)", Operation::Insert, "c"),
        ("INSERT INTO bare VALUES (1)", Operation::Insert, ""),
        ("UPDATE t SET n = 4 WHERE k = 'c'", Operation::Update, "c"),
        ("UPDATE t SET n = 4", Operation::Update, ""),
        ("DELETE FROM t WHERE k = 'c'", Operation::Delete, "c"),
        ("BEGIN", Operation::Transaction, ""),
        ("COMMIT", Operation::Transaction, ""),
        ("SHOW server_version", Operation::Other, ""),
        ("SELECT * FROM pg_settings WHERE name = 'jit'", Operation::Other, ""),
        ("CREATE TABLE IF NOT EXISTS t (a int)", Operation::Other, ""),
        ("frobnicate", Operation::Other, ""),
        ("SELECT nothing", Operation::Other, ""),
    ] {
        client.send(&mut store, &query(sql));
        let decisions = timed(&client);
        assert_eq!(decisions.len(), 1, "{sql}");
        assert_eq!(decisions[0].operation, operation, "{sql}");
        let mut other = Store::new();
        let arrival = decisions[0].arrival;
        let expected = other.engine.admit(arrival, operation, key.as_bytes()).key;
        assert_eq!(decisions[0].key, expected, "{sql}: its key is `{key}`");
    }
}

#[test]
fn integer_keys_are_known_by_their_digits() {
    let (mut store, mut client) = slow();
    client.query(&mut store, "CREATE TABLE i (id int PRIMARY KEY)");
    let batch = [
        parse("", "SELECT * FROM i WHERE id = $1", &[]),
        bind_texts("", "", &["-42"]),
        execute("", 0),
        sync(),
    ];
    client.send(&mut store, &batch.concat());
    let decision = timed(&client)[0];
    let expected = store.engine.admit(decision.arrival, Operation::Read, b"-42").key;
    assert_eq!(decision.key, expected);
}

#[test]
fn answers_are_due_one_service_time_after_the_other() {
    let (mut store, mut client) = slow();
    client.send(&mut store, &query("SELECT 1; SELECT 2; SELECT 3"));
    let due: Vec<Nanos> = timed(&client).iter().map(|decision| decision.due).collect();
    assert_eq!(due, [millis(1_010), millis(1_020), millis(1_030)]);
    let ends: Vec<usize> = client.answers.iter().map(|answer| answer.end).collect();
    let whole = client.bytes.len();
    assert_eq!(ends, [(whole - 6) / 3, (whole - 6) / 3 * 2, whole], "ReadyForQuery goes with the last one");
}

#[test]
fn executes_of_a_batch_are_due_one_after_the_other() {
    let (mut store, mut client) = slow();
    let one = [bind_texts("", "s", &[]), execute("", 0)].concat();
    client.send(&mut store, &[parse("s", "SELECT 1", &[]), one.clone(), one, sync()].concat());
    let due: Vec<Nanos> = timed(&client).iter().map(|decision| decision.due).collect();
    assert_eq!(due, [millis(1_010), millis(1_020)]);
    assert_eq!(client.counts(), (2, 0));
}

#[test]
fn a_copy_takes_its_time_from_the_end_of_its_data() {
    let (mut store, mut client) = slow();
    client.send(&mut store, &query("COPY t FROM STDIN"));
    store.now = millis(5_000);
    client.send(&mut store, &message(b'd', b"x\t1\n"));
    store.now = millis(7_000);
    client.send(&mut store, &message(b'c', b""));
    let decisions = timed(&client);
    assert_eq!((decisions.len(), decisions[0].due), (1, millis(7_010)));
}

#[test]
fn now_is_the_moment_at_which_the_statement_is_served() {
    let (mut store, mut client) = slow();
    // 10 ms of service before it, so that it begins at 1.01 s after the epoch, which is at 1.7e9 s.
    let said = client.query(&mut store, "SELECT 1; SELECT now()");
    assert_eq!(said[4], "row 2023-11-14 22:13:21.01+00", "{said:?}");
}

/// Three nodes, 100 ms from each other, whose secondaries are read.
fn replicated() -> (Store, Client) {
    let mut replication = ReplicationSettings { replicas: 2, ..ReplicationSettings::default() };
    replication.delays = vec!["100ms".parse().unwrap()];
    replication.preference = ReadPreference::Secondary;
    let settings = Settings { replication, ..Settings::default() };
    settings.check().unwrap();
    let mut store = Store::with(settings, Login::Trust);
    let mut client = store.client();
    client.query(&mut store, "CREATE TABLE t (k int PRIMARY KEY, n int)");
    (store, client)
}

#[test]
fn reads_of_one_record_say_how_stale_they_are() {
    let (mut store, mut client) = replicated();
    let read = "SELECT n FROM t WHERE k = 1";
    client.query(&mut store, "INSERT INTO t VALUES (1, 1)");
    store.now = millis(50);
    assert_eq!(client.rows(&mut store, read), Vec::<String>::new(), "it has not arrived");
    let staleness = client.answers[0].staleness.unwrap();
    assert_eq!((staleness.versions, staleness.time), (1, millis(50)));
    store.now = millis(150);
    assert_eq!(client.rows(&mut store, read), ["1"]);
    let staleness = client.answers[0].staleness.unwrap();
    assert_eq!((staleness.versions, staleness.age), (0, millis(150)));
    client.rows(&mut store, "SELECT count(*) FROM t");
    assert_eq!(client.answers[0].staleness, Some(staleness), "a scan of the one record");
}

#[test]
fn what_a_transaction_writes_is_as_old_as_its_commit() {
    let (mut store, mut client) = replicated();
    client.query(&mut store, "BEGIN; INSERT INTO t VALUES (1, 1)");
    store.now = millis(1_000);
    client.query(&mut store, "COMMIT");
    store.now = millis(1_050);
    let mut reader = store.client();
    assert!(
        reader.rows(&mut store, "SELECT n FROM t WHERE k = 1").is_empty(),
        "it travels from the COMMIT on"
    );
    assert_eq!(reader.answers[0].staleness.unwrap().time, millis(50));
    store.now = millis(1_100);
    assert_eq!(reader.rows(&mut store, "SELECT n FROM t WHERE k = 1"), ["1"]);
}

#[test]
fn a_sync_that_comes_late_writes_late() {
    let (mut store, mut client) = replicated();
    let insert = [parse("", "INSERT INTO t VALUES (1, 1)", &[]), bind_texts("", "", &[]), execute("", 0)];
    client.send(&mut store, &insert.concat());
    store.now = millis(500);
    client.send(&mut store, &sync());
    store.now = millis(550);
    let mut reader = store.client();
    reader.rows(&mut store, "SELECT n FROM t WHERE k = 1");
    assert_eq!(reader.answers[0].staleness.unwrap().time, millis(50));
}
