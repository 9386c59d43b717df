//! What is logged of statements besides their times: how stale reads were, and when what was written is everywhere.

use crate::conversation::{Client, Store};
use crate::wire::{bind_texts, execute, parse, query, sync};
use store::postgres::Login;
use store::{Decision, Model, Operation, ReadPreference, ReplicationSettings, Settings, Staleness};
use units::{Nanos, PerSecond};

fn millis(value: u64) -> Nanos {
    Nanos::from_millis(value)
}

const DELAY: Nanos = Nanos::from_millis(100);

/// Two nodes, 100 ms from each other, of which the one that does not write is read; each millisecond one request begins.
fn replicated() -> (Store, Client) {
    let mut replication = ReplicationSettings { replicas: 2, ..ReplicationSettings::default() };
    replication.delays = vec!["100ms".parse().unwrap()];
    replication.preference = ReadPreference::Secondary;
    let model = Model { capacity: PerSecond::new(1000.0), ..Model::default() };
    let mut store = Store::with(Settings { model, replication, ..Settings::default() }, Login::Trust);
    let mut client = store.client();
    client.query(&mut store, "CREATE TABLE t (k int PRIMARY KEY, n int)");
    store.now = millis(1_000);
    (store, client)
}

fn timed(client: &Client) -> Vec<(Decision, Option<Staleness>)> {
    client.answers.iter().filter_map(|answer| Some((answer.decision?, answer.staleness))).collect()
}

/// When the log says that each write is everywhere, since the store's epoch.
fn everywhere(client: &Client) -> Vec<Option<Nanos>> {
    timed(client).iter().map(|(decision, staleness)| Some(decision.begun + (*staleness)?.age)).collect()
}

fn insert(key: u64) -> Vec<u8> {
    [bind_texts("", "s", &[&key.to_string()]), execute("", 0)].concat()
}

fn prepare(store: &mut Store, client: &mut Client) {
    client.send(store, &[parse("s", "INSERT INTO t VALUES ($1, 0)", &[]), sync()].concat());
}

/// How many of the ten are seen where they are read, at a moment.
fn seen(store: &mut Store, at: Nanos) -> usize {
    store.now = at;
    let mut reader = store.client();
    reader.rows(store, "SELECT k FROM t").len()
}

/// All of a batch is written at its end: each INSERT waits for those behind it, and is everywhere when they are.
#[test]
fn pipelined_writes_are_everywhere_when_their_sync_is() {
    let (mut store, mut client) = replicated();
    prepare(&mut store, &mut client);
    let batch: Vec<u8> = (0..10).flat_map(insert).chain(sync()).collect();
    client.send(&mut store, &batch);
    let begun: Vec<Nanos> = timed(&client).iter().map(|(decision, _)| decision.begun).collect();
    let expected: Vec<Nanos> = (0..10).map(|n| millis(1_000 + n)).collect();
    assert_eq!(begun, expected, "one each millisecond");
    assert_eq!(everywhere(&client), vec![Some(millis(1_109)); 10]);
    assert_eq!(seen(&mut store, Nanos(millis(1_109).0 - 1)), 0);
    assert_eq!(seen(&mut store, millis(1_110)), 10);
}

#[test]
fn a_write_whose_sync_is_its_own_is_there_at_once() {
    let (mut store, mut client) = replicated();
    prepare(&mut store, &mut client);
    let batch: Vec<u8> = (0..10).flat_map(|key| [insert(key), sync()].concat()).collect();
    client.send(&mut store, &batch);
    let expected: Vec<_> = (0..10).map(|n| Some(millis(1_000 + n) + DELAY)).collect();
    assert_eq!(everywhere(&client), expected);
    assert_eq!(seen(&mut store, millis(1_104)), 5);
}

#[test]
fn statements_of_one_query_are_everywhere_when_its_last_one_is() {
    let (mut store, mut client) = replicated();
    client.send(
        &mut store,
        &query("INSERT INTO t VALUES (1, 0); SELECT 1; UPDATE t SET n = 1 WHERE k = 1; INSERT INTO t VALUES (2, 0); SELECT 2"),
    );
    // What the first one wrote never came to be: the UPDATE took its place.
    let end = Some(millis(1_004) + DELAY);
    assert_eq!(everywhere(&client), [None, None, end, end, None]);
}

#[test]
fn of_a_write_whose_sync_comes_later_nothing_is_known() {
    let (mut store, mut client) = replicated();
    prepare(&mut store, &mut client);
    client.send(&mut store, &insert(1));
    assert_eq!(everywhere(&client), [None]);
    store.now = millis(1_050);
    client.send(&mut store, &[insert(2), sync()].concat());
    assert_eq!(everywhere(&client), [Some(millis(1_150))]);
}

#[test]
fn what_was_not_written_is_not_logged_as_written() {
    let (mut store, mut client) = replicated();
    client.query(&mut store, "INSERT INTO t VALUES (1, 0)");
    store.now = millis(2_000);
    for sql in [
        "INSERT INTO t VALUES (2, 0); SELECT 1/0",
        "INSERT INTO t VALUES (3, 0); DELETE FROM t WHERE k = 3",
        "INSERT INTO t VALUES (1, 0)",
        "INSERT INTO t VALUES (1, 0) ON CONFLICT DO NOTHING",
        "UPDATE t SET n = 1 WHERE k = 9",
        "DELETE FROM t WHERE k = 9",
        "BEGIN; INSERT INTO t VALUES (4, 0); COMMIT",
        "INSERT INTO t VALUES (5, 0); BEGIN; ROLLBACK",
    ] {
        client.send(&mut store, &query(sql));
        let found = everywhere(&client);
        assert!(found.iter().all(Option::is_none), "{sql}: {found:?}");
    }
    // A batch that fails loses what it wrote before.
    prepare(&mut store, &mut client);
    client.send(&mut store, &[insert(6), insert(1), sync()].concat());
    assert_eq!(everywhere(&client), [None, None]);
}

#[test]
fn every_read_of_a_table_says_how_stale_it_was_at_most() {
    for sql in [
        "SELECT n FROM t WHERE k IN (1, 2)",
        "SELECT n FROM t WHERE k IN (2, 1) ORDER BY k DESC",
        "SELECT n FROM t WHERE k BETWEEN 1 AND 2",
        "SELECT n FROM t WHERE k >= 1 ORDER BY k DESC",
        "SELECT count(*) FROM t",
        "SELECT n FROM t WHERE n > 100",
        "SELECT n FROM t WHERE k = 1",
    ] {
        let (mut store, mut client) = replicated();
        client.query(&mut store, "INSERT INTO t VALUES (1, 1)");
        store.now = millis(1_010);
        client.query(&mut store, "UPDATE t SET n = 2 WHERE k = 1");
        store.now = millis(1_020);
        client.query(&mut store, "INSERT INTO t VALUES (2, 1)");
        for (at, versions, time, age) in [(1_050, 2, 50, 0), (1_105, 1, 95, 105), (1_500, 0, 0, 490)] {
            store.now = millis(at);
            client.rows(&mut store, sql);
            let expected = Staleness { versions, time: millis(time), age: millis(age) };
            assert_eq!(client.answers[0].staleness, Some(expected), "{sql} at {at} ms");
        }
    }
}

#[test]
fn a_read_tells_of_the_records_that_it_looked_at_and_no_others() {
    let (mut store, mut client) = replicated();
    client.query(&mut store, "INSERT INTO t VALUES (1, 1), (3, 1)");
    store.now = millis(2_000);
    client.query(&mut store, "UPDATE t SET n = 2 WHERE k = 3");
    store.now = millis(2_050);
    let mut versions = |sql: &str| {
        client.rows(&mut store, sql);
        client.answers[0].staleness.map(|staleness| staleness.versions)
    };
    for (sql, expected) in [
        ("SELECT n FROM t WHERE k < 3", Some(0)),
        ("SELECT n FROM t LIMIT 1", Some(0)),
        ("SELECT n FROM t LIMIT 2", Some(1)),
        ("SELECT n FROM t WHERE k IN (1, 2)", Some(0)),
        ("SELECT n FROM t WHERE k > 5", Some(0)),
        ("SELECT n FROM t LIMIT 0", None),
        ("SELECT 1", None),
        ("SHOW server_version", None),
    ] {
        assert_eq!(versions(sql), expected, "{sql}");
    }
}

/// What clients ask before they measure does not start the instants of the settings.
#[test]
fn questions_about_the_server_are_no_first_request() {
    let (mut store, mut client) = replicated();
    for sql in [
        "SELECT version()",
        "SELECT pg_backend_pid()",
        "SELECT current_setting('server_version_num')::int / 10000",
        "SELECT current_database(), current_user, 1",
        "SELECT pg_is_in_recovery()",
        "SHOW transaction_isolation",
        "SET application_name = 'x'",
        "SELECT setting FROM pg_settings WHERE name = 'jit'",
    ] {
        client.rows(&mut store, sql);
        assert_eq!(timed(&client)[0].0.operation, Operation::Other, "{sql}");
    }
    client.send(&mut store, &query("SELECT 1 + abs(-1), now()"));
    assert_eq!(timed(&client)[0].0.operation, Operation::Ping);
}
