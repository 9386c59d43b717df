//! Parse, Bind, Describe, Execute, Close, Sync.

use crate::conversation::{Client, Store};
use crate::wire::{bind, bind_texts, close, describe, execute, flush, message, parse, query, sync};

fn shop() -> (Store, Client) {
    let mut store = Store::new();
    let mut client = store.client();
    client
        .rows(&mut store, "CREATE TABLE t (id int PRIMARY KEY, name text, big int8, ratio float8, ok bool)");
    client.rows(&mut store, "INSERT INTO t VALUES (1, 'one', 11, 0.5, true), (2, 'two', 22, 1e20, false), (3, NULL, 33, NULL, NULL)");
    (store, client)
}

#[test]
fn a_batch_is_answered_as_one() {
    let (mut store, mut client) = shop();
    let batch = [
        parse("", "SELECT name FROM t WHERE id = $1", &[]),
        bind_texts("", "", &["2"]),
        describe(b'P', ""),
        execute("", 0),
        sync(),
    ];
    let said = client.ask(&mut store, &batch.concat());
    assert_eq!(said, ["parsed", "bound", "columns name 25", "row two", "done SELECT 1", "ready I"]);
    assert_eq!(client.counts(), (1, 0));
}

#[test]
fn preparing_is_untimed_and_executing_is_not() {
    let (mut store, mut client) = shop();
    let prepare = [parse("s", "UPDATE t SET name = $2 WHERE id = $1", &[]), describe(b'S', "s"), sync()];
    assert_eq!(
        client.ask(&mut store, &prepare.concat()),
        ["parsed", "parameters 23,25", "no data", "ready I"]
    );
    assert_eq!(client.counts(), (0, 1));
    let twice = [
        bind_texts("", "s", &["1", "x"]),
        execute("", 0),
        bind_texts("", "s", &["2", "y"]),
        execute("", 0),
        sync(),
    ];
    let said = client.ask(&mut store, &twice.concat());
    assert_eq!(said, ["bound", "done UPDATE 1", "bound", "done UPDATE 1", "ready I"]);
    assert_eq!(client.counts(), (2, 0));
}

#[test]
fn answers_wait_for_sync_or_flush() {
    let (mut store, mut client) = shop();
    assert!(client.ask(&mut store, &parse("s", "SELECT 1", &[])).is_empty());
    assert_eq!(client.ask(&mut store, &flush()), ["parsed"]);
    assert!(client.ask(&mut store, &bind_texts("", "s", &[])).is_empty());
    assert_eq!(
        client.ask(&mut store, &execute("", 0)),
        ["bound", "row 1", "done SELECT 1"],
        "due at its time"
    );
    assert_eq!(client.ask(&mut store, &sync()), ["ready I"]);
}

#[test]
fn binary_parameters_and_results() {
    let (mut store, mut client) = shop();
    let sql = "SELECT id, name, big, ratio, ok FROM t WHERE id = $1 AND big >= $2";
    let one = 1_i32.to_be_bytes();
    let low = 5_i64.to_be_bytes();
    let batch = [
        parse("", sql, &[23, 20]),
        bind("", "", 1, &[Some(&one), Some(&low)], 1),
        describe(b'P', ""),
        execute("", 0),
        sync(),
    ];
    let said = client.ask(&mut store, &batch.concat());
    assert_eq!(said[2], "columns id 23 binary,name 25 binary,big 20 binary,ratio 701 binary,ok 16 binary");
    assert_eq!(
        said[3],
        "row \\x00\\x00\\x00\\x01|one|\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x0b|?\\xe0\\x00\\x00\\x00\\x00\\x00\\x00|\\x01"
    );
    let wrong = [parse("", sql, &[]), bind("", "", 1, &[Some(&low), Some(&low)], 0), sync()];
    let said = client.ask(&mut store, &wrong.concat());
    assert!(said[1].starts_with("error ERROR 22P03"), "{said:?}");
}

#[test]
fn an_error_skips_to_sync() {
    let (mut store, mut client) = shop();
    let good = [parse("", "SELECT 1", &[]), bind_texts("", "", &[]), execute("", 0)].concat();
    for (wrong, state) in [
        (parse("", "SELECT nothing", &[]), "42703"),
        (parse("", "frobnicate", &[]), "42601"),
        (parse("", "SELECT 1; SELECT 2", &[]), "42601"),
        (parse("", "SELECT $1", &[1700]), "0A000"),
        (bind_texts("", "nowhere", &[]), "26000"),
        (bind_texts("", "s", &["1", "2"]), "08P01"),
        (bind_texts("", "s", &["x"]), "22P02"),
        (bind_texts("", "s", &["a\0"]), "22021"),
        (bind("", "s", 2, &[Some(b"1")], 0), "22023"),
        (describe(b'S', "nowhere"), "26000"),
        (describe(b'P', "nowhere"), "34000"),
        (execute("nowhere", 0), "34000"),
    ] {
        client.ask(&mut store, &[close(b'S', "s"), parse("s", "SELECT $1::int", &[]), sync()].concat());
        let said = client.ask(&mut store, &[wrong, good.clone(), sync()].concat());
        assert!(said[0].starts_with(&format!("error ERROR {state}")), "{said:?}");
        assert_eq!(said[1..], ["ready I"], "what came behind was skipped");
        assert_eq!(client.counts().0, 0, "no request was made");
    }
}

#[test]
fn all_up_to_sync_is_one_transaction() {
    let (mut store, mut client) = shop();
    let mut other = store.client();
    let delete =
        [parse("", "DELETE FROM t WHERE id = $1", &[]), bind_texts("", "", &["1"]), execute("", 0)].concat();
    client.send(&mut store, &delete);
    assert_eq!(other.rows(&mut store, "SELECT count(*) FROM t"), ["3"], "not before Sync");
    client.send(&mut store, &sync());
    assert_eq!(other.rows(&mut store, "SELECT count(*) FROM t"), ["2"]);
    let failing = [
        parse("", "INSERT INTO t (id) VALUES ($1)", &[]),
        bind_texts("", "", &["7"]),
        execute("", 0),
        bind_texts("", "", &["2"]),
        execute("", 0),
        sync(),
    ]
    .concat();
    let said = client.ask(&mut store, &failing);
    assert!(said[4].starts_with("error ERROR 23505"), "{said:?}");
    assert_eq!(other.rows(&mut store, "SELECT count(*) FROM t"), ["2"], "the first insert was taken back");
}

#[test]
fn rows_come_in_portions() {
    let (mut store, mut client) = shop();
    let open =
        [parse("", "SELECT id FROM t", &[]), bind_texts("p", "", &[]), execute("p", 2), flush()].concat();
    client.ask(&mut store, &query("BEGIN"));
    assert_eq!(client.ask(&mut store, &open), ["parsed", "bound", "row 1", "row 2", "suspended"]);
    assert_eq!(client.counts(), (1, 0));
    assert_eq!(client.ask(&mut store, &[execute("p", 2), flush()].concat()), ["row 3", "done SELECT 1"]);
    assert_eq!(client.counts(), (1, 0), "each portion is a request");
    assert_eq!(client.ask(&mut store, &[execute("p", 2), sync()].concat()), ["done SELECT 0", "ready T"]);
    client.ask(&mut store, &query("COMMIT"));
    let said = client.ask(&mut store, &[execute("p", 2), sync()].concat());
    assert!(said[0].starts_with("error ERROR 34000"), "portals end with their transaction: {said:?}");
    let exactly = [bind_texts("", "", &[]), execute("", 3), sync()].concat();
    assert!(client.ask(&mut store, &parse("", "SELECT id FROM t", &[])).is_empty());
    assert_eq!(client.ask(&mut store, &exactly)[5..], ["done SELECT 3", "ready I"]);
}

#[test]
fn names_are_taken_until_they_are_closed() {
    let (mut store, mut client) = shop();
    let twice = [parse("s", "SELECT 1", &[]), parse("s", "SELECT 2", &[]), sync()].concat();
    assert!(client.ask(&mut store, &twice)[1].starts_with("error ERROR 42P05"));
    let again = [close(b'S', "s"), close(b'S', "never"), parse("s", "SELECT 2", &[]), sync()].concat();
    assert_eq!(client.ask(&mut store, &again), ["closed", "closed", "parsed", "ready I"]);
    let portals = [bind_texts("p", "s", &[]), bind_texts("p", "s", &[]), sync()].concat();
    assert!(client.ask(&mut store, &portals)[1].starts_with("error ERROR 42P03"));
    let run =
        [bind_texts("p", "s", &[]), execute("p", 0), close(b'P', "p"), bind_texts("p", "s", &[]), sync()]
            .concat();
    assert_eq!(
        client.ask(&mut store, &run),
        ["bound", "row 2", "done SELECT 1", "closed", "bound", "ready I"]
    );
}

#[test]
fn the_unnamed_ones_are_replaced_and_end_with_a_query() {
    let (mut store, mut client) = shop();
    let batch = [
        parse("", "SELECT 1", &[]),
        parse("", "SELECT 2", &[]),
        bind_texts("", "", &[]),
        execute("", 0),
        sync(),
    ];
    assert_eq!(client.ask(&mut store, &batch.concat())[3], "row 2");
    client.query(&mut store, "SELECT 3");
    let said = client.ask(&mut store, &[bind_texts("", "", &[]), sync()].concat());
    assert!(said[0].starts_with("error ERROR 26000"), "{said:?}");
}

#[test]
fn empty_statements_and_second_executions() {
    let (mut store, mut client) = shop();
    let empty =
        [parse("", " ", &[]), bind_texts("", "", &[]), describe(b'P', ""), execute("", 0), sync()].concat();
    assert_eq!(client.ask(&mut store, &empty), ["parsed", "bound", "no data", "empty", "ready I"]);
    let twice =
        [parse("", "DELETE FROM t", &[]), bind_texts("", "", &[]), execute("", 0), execute("", 0), sync()]
            .concat();
    let said = client.ask(&mut store, &twice);
    assert_eq!(said[2], "done DELETE 3");
    assert!(said[3].starts_with("error ERROR 55000"), "{said:?}");
    let said = client.ask(
        &mut store,
        &[parse("", "COPY t FROM STDIN", &[]), bind_texts("", "", &[]), execute("", 0), sync()].concat(),
    );
    assert!(said[2].starts_with("error ERROR 0A000"), "{said:?}");
}

#[test]
fn a_prepared_statement_outlives_its_table() {
    let (mut store, mut client) = shop();
    client.ask(&mut store, &[parse("s", "SELECT * FROM t WHERE id = $1", &[]), sync()].concat());
    let run = [bind_texts("", "s", &["1"]), execute("", 0), sync()].concat();
    assert_eq!(client.ask(&mut store, &run)[1], "row 1|one|11|0.5|t");
    client.query(
        &mut store,
        "DROP TABLE t; CREATE TABLE t (x text, id int PRIMARY KEY); INSERT INTO t VALUES ('new', 1)",
    );
    assert_eq!(client.ask(&mut store, &run)[1], "row new|1");
    client.query(&mut store, "DROP TABLE t");
    assert!(client.ask(&mut store, &run)[0].starts_with("error ERROR 42P01"));
}

#[test]
fn types_of_parameters_are_what_they_meet() {
    let (mut store, mut client) = shop();
    for (sql, types) in [
        ("SELECT * FROM t WHERE id = $1 AND name > $2", "23,25"),
        ("SELECT * FROM t WHERE $1 < big LIMIT $2", "20,20"),
        ("SELECT * FROM t WHERE id IN ($1, $2)", "23,23"),
        ("SELECT * FROM t WHERE id BETWEEN $1 AND $2", "23,23"),
        ("INSERT INTO t (name, ratio) VALUES ($2, $1)", "701,25"),
        ("UPDATE t SET ok = $1, big = big + $2 WHERE id = $3", "16,20,23"),
        ("SELECT $1", "25"),
        ("SELECT $1::int8, $2::text", "20,25"),
        ("SELECT $2 + 1", "25,23"),
        ("SELECT length($1)", "25"),
    ] {
        let said = client.ask(&mut store, &[parse("", sql, &[]), describe(b'S', ""), sync()].concat());
        assert_eq!(said[1], format!("parameters {types}"), "{sql}: {said:?}");
    }
}

#[test]
fn malformed_bodies_are_fatal() {
    for bytes in [
        message(b'P', b"name\0SELECT 1\0"),
        message(b'P', b"\0SELECT 1\0\0\x01\0\0"),
        message(b'P', b"\0SELECT 1\0\0\0x"),
        message(b'B', b"\0\0\0\0\0"),
        message(b'B', b"\0\0\0\0\0\x01\0\0\0\x09abc\0\0"),
        message(b'D', b"Xname\0"),
        message(b'C', b"S"),
        message(b'E', b"\0\0\0\0"),
    ] {
        let (mut store, mut client) = shop();
        client.ask(&mut store, &[parse("", "SELECT $1", &[]), sync()].concat());
        let said = client.ask(&mut store, &bytes);
        assert!(said.last().unwrap().starts_with("error FATAL 08P01"), "{} {said:?}", bytes.escape_ascii());
        assert!(client.broken);
    }
}

#[test]
fn a_failed_transaction_prepares_nothing_but_its_end() {
    let (mut store, mut client) = shop();
    client.query(&mut store, "BEGIN; SELECT 1/0");
    let run = |sql| [parse("", sql, &[]), bind_texts("", "", &[]), execute("", 0), sync()].concat();
    let said = client.ask(&mut store, &run("SELECT 1"));
    assert!(said[0].starts_with("error ERROR 25P02") && said[1] == "ready E", "{said:?}");
    assert_eq!(client.ask(&mut store, &run("ROLLBACK")), ["parsed", "bound", "done ROLLBACK", "ready I"]);
}
