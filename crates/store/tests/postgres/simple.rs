//! Query messages: transactions, several statements, COPY.

use crate::conversation::{Client, Store};
use crate::wire::{message, query};

fn shop() -> (Store, Client) {
    let mut store = Store::new();
    let mut client = store.client();
    client.rows(&mut store, "CREATE TABLE t (id int PRIMARY KEY, name text NOT NULL, size int DEFAULT 7)");
    (store, client)
}

#[test]
fn messages_of_a_query() {
    let (mut store, mut client) = shop();
    for (sql, said) in [
        ("", &["empty", "ready I"][..]),
        (" ; -- nothing\n;", &["empty", "ready I"]),
        ("SELECT 1", &["columns ?column? 23", "row 1", "done SELECT 1", "ready I"]),
        ("INSERT INTO t VALUES (1, 'a', 7), (2, 'b', NULL)", &["done INSERT 0 2", "ready I"]),
        (
            "SELECT * FROM t",
            &["columns id 23,name 25,size 23", "row 1|a|7", "row 2|b|NULL", "done SELECT 2", "ready I"],
        ),
        ("UPDATE t SET size = id", &["done UPDATE 2", "ready I"]),
        ("DELETE FROM t WHERE id = 3", &["done DELETE 0", "ready I"]),
        ("TRUNCATE t", &["done TRUNCATE TABLE", "ready I"]),
        ("VACUUM (ANALYZE) t", &["done VACUUM", "ready I"]),
        ("ANALYZE", &["done ANALYZE", "ready I"]),
        (
            "SHOW transaction isolation level",
            &["columns transaction_isolation 25", "row read committed", "done SHOW", "ready I"],
        ),
        ("SET application_name = 'x'", &["done SET", "set application_name=x", "ready I"]),
        ("SET work_mem TO '1MB'", &["done SET", "ready I"]),
        ("DROP TABLE t", &["done DROP TABLE", "ready I"]),
        (
            "DROP TABLE IF EXISTS t",
            &["notice NOTICE 00000 table \"t\" does not exist, skipping", "done DROP TABLE", "ready I"],
        ),
        ("DROP TABLE t", &["error ERROR 42P01 table \"t\" does not exist", "ready I"]),
        ("SELECT", &["error ERROR 42601 syntax error at end of input", "ready I"]),
        ("SELECT 1/0", &["error ERROR 22012 division by zero", "ready I"]),
        ("SELECT $1", &["error ERROR 42P02 there is no parameter $1", "ready I"]),
    ] {
        assert_eq!(client.query(&mut store, sql), said, "{sql}");
        assert_eq!(client.counts(), (1, 0), "{sql}: one timed answer");
    }
}

#[test]
fn statements_of_one_query_share_a_transaction_and_not_an_answer() {
    let (mut store, mut client) = shop();
    let said = client
        .query(&mut store, "INSERT INTO t VALUES (1, 'a'); SELECT name FROM t; UPDATE t SET name = 'b'");
    assert_eq!(
        said,
        ["done INSERT 0 1", "columns name 25", "row a", "done SELECT 1", "done UPDATE 1", "ready I"]
    );
    assert_eq!(client.counts(), (3, 0));
    let failed = client.query(&mut store, "DELETE FROM t; SELECT nothing; SELECT 1");
    assert_eq!(failed, ["done DELETE 1", "error ERROR 42703 column \"nothing\" does not exist", "ready I"]);
    assert_eq!(client.rows(&mut store, "SELECT name FROM t"), ["b"], "the DELETE was taken back");
    let said = client.query(&mut store, "INSERT INTO t VALUES (2, 'x'); frobnicate");
    assert_eq!(
        said,
        ["error ERROR 42601 syntax error at or near \"frobnicate\"", "ready I"],
        "nothing is begun"
    );
}

#[test]
fn tables_made_by_a_query_are_there_for_its_next_statement() {
    let (mut store, mut client) = shop();
    let script = "CREATE TABLE u (a int); INSERT INTO u VALUES (1); DROP TABLE u; CREATE TABLE u (b text); SELECT * FROM u";
    let said = client.query(&mut store, script);
    assert_eq!(said[4..], ["columns b 25", "done SELECT 0", "ready I"]);
}

#[test]
fn transactions_are_seen_when_they_are_committed() {
    let (mut store, mut writer) = shop();
    let mut reader = store.client();
    let count = "SELECT count(*) FROM t";
    assert_eq!(
        writer.query(&mut store, "BEGIN ISOLATION LEVEL SERIALIZABLE, READ WRITE"),
        ["done BEGIN", "ready T"]
    );
    assert_eq!(writer.rows(&mut store, "SHOW transaction_isolation"), ["serializable"]);
    writer.rows(&mut store, "INSERT INTO t VALUES (1, 'a')");
    assert_eq!(writer.rows(&mut store, count), ["1"], "own writes are seen");
    assert_eq!(reader.rows(&mut store, count), ["0"]);
    assert_eq!(writer.query(&mut store, "COMMIT"), ["done COMMIT", "ready I"]);
    assert_eq!(reader.rows(&mut store, count), ["1"]);
    assert_eq!(writer.rows(&mut store, "SHOW transaction_isolation"), ["read committed"]);

    writer.rows(&mut store, "START TRANSACTION; DELETE FROM t; ROLLBACK");
    assert_eq!(writer.rows(&mut store, count), ["1"]);
}

#[test]
fn a_failed_transaction_does_nothing_more() {
    let (mut store, mut client) = shop();
    client.rows(&mut store, "BEGIN; INSERT INTO t VALUES (1, 'a')");
    let said = client.query(&mut store, "INSERT INTO t VALUES (1, 'b')");
    assert!(said[0].starts_with("error ERROR 23505 duplicate key"), "{said:?}");
    assert_eq!(said[1], "ready E");
    for sql in
        ["SELECT 1", "BEGIN", "SET work_mem = '1MB'", "INSERT INTO t VALUES (2, 'b')", "COPY t FROM STDIN"]
    {
        let said = client.query(&mut store, sql);
        assert!(said[0].starts_with("error ERROR 25P02"), "{sql}: {said:?}");
        assert_eq!(said[1..], ["ready E"]);
    }
    assert_eq!(client.query(&mut store, "COMMIT"), ["done ROLLBACK", "ready I"]);
    assert_eq!(client.rows(&mut store, "SELECT count(*) FROM t"), ["0"]);
}

#[test]
fn begin_and_commit_out_of_place_are_warned_of() {
    let (mut store, mut client) = shop();
    assert!(client.query(&mut store, "COMMIT")[0].starts_with("notice WARNING 25P01"));
    assert!(client.query(&mut store, "ROLLBACK")[0].starts_with("notice WARNING 25P01"));
    client.rows(&mut store, "BEGIN");
    assert!(client.query(&mut store, "BEGIN")[0].starts_with("notice WARNING 25001"));
    assert_eq!(client.refused(&mut store, "VACUUM"), "25001");
}

#[test]
fn read_only_transactions_do_not_write() {
    let (mut store, mut client) = shop();
    client.rows(&mut store, "BEGIN READ ONLY");
    assert_eq!(client.refused(&mut store, "INSERT INTO t VALUES (1, 'a')"), "25006");
    client.rows(&mut store, "ROLLBACK; SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
    assert_eq!(client.refused(&mut store, "DELETE FROM t"), "25006");
    client.rows(&mut store, "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; DELETE FROM t");
}

#[test]
fn copy_is_one_request_made_by_its_end() {
    let (mut store, mut client) = shop();
    assert_eq!(
        client.query(&mut store, "COPY t (id, name) FROM STDIN; SELECT count(*) FROM t"),
        ["copy 0 of 2"]
    );
    assert_eq!(client.counts(), (0, 1));
    for piece in [&b"1\ta\\tb\n2\t"[..], b"c", b"\\\\\n3\td\n\\.\n4\tnot this\n"] {
        client.send(&mut store, &message(b'd', piece));
        assert!(client.answers.is_empty());
    }
    let said = client.ask(&mut store, &message(b'c', b""));
    assert_eq!(said, ["done COPY 3", "columns count 20", "row 3", "done SELECT 1", "ready I"]);
    assert_eq!(client.counts(), (2, 0));
    assert_eq!(client.rows(&mut store, "SELECT * FROM t"), ["1|a\\tb|7", "2|c\\\\|7", "3|d|7"]);
}

#[test]
fn a_copy_that_is_wrong_leaves_nothing() {
    let (mut store, mut client) = shop();
    for (data, state) in [
        (&b"1\ta\n1\tb\n"[..], "23505"),
        (b"1\ta\nx\tb\n", "22P02"),
        (b"1\ta\n2\n", "22P04"),
        (b"1\ta\n2\tb\tc\n", "22P04"),
        (b"1\ta\n2\t\\N\n", "23502"),
        (b"1\ta\n\\N\tb\n", "23502"),
        (b"1\ta\n2\t\xff\n", "22021"),
        (b"1\ta\n99999999999\tb", "22003"),
    ] {
        client.query(&mut store, "COPY t (id, name) FROM STDIN (FORMAT text)");
        client.send(&mut store, &message(b'd', data));
        let said = client.ask(&mut store, &message(b'c', b""));
        assert!(said[0].starts_with(&format!("error ERROR {state}")), "{said:?} for {}", data.escape_ascii());
        assert_eq!(said[1..], ["ready I"]);
        assert_eq!(client.rows(&mut store, "SELECT count(*) FROM t"), ["0"]);
    }
    client.query(&mut store, "COPY t FROM STDIN");
    let said = client.ask(&mut store, &message(b'f', b"changed my mind\0"));
    assert_eq!(said, ["error ERROR 57014 COPY from stdin failed: changed my mind", "ready I"]);
    // What a client sent before it saw an error is ignored.
    assert!(client.ask(&mut store, &[message(b'd', b"x"), message(b'c', b"")].concat()).is_empty());
    assert_eq!(client.refused(&mut store, "COPY nowhere FROM STDIN"), "42P01");
    assert_eq!(client.refused(&mut store, "COPY t (nothing) FROM STDIN"), "42703");
    client.query(&mut store, "COPY t FROM STDIN");
    let said = client.ask(&mut store, &query("SELECT 1"));
    assert!(said[0].starts_with("error FATAL 08P01"), "{said:?}");
}

#[test]
fn the_store_is_spoken_to_at_once_and_without_a_trace() {
    let (mut store, mut client) = shop();
    let said = client.query(&mut store, "SELECT truetail('fault error:busy@next')");
    assert_eq!((&said[0][..], &said[2][..]), ("columns truetail 25", "done SELECT 1"), "{said:?}");
    assert_eq!(client.counts(), (0, 1));
    assert_eq!(client.refused(&mut store, "SELECT 1"), "55P03");
    assert_eq!(client.refused(&mut store, "SELECT truetail('nonsense')"), "22023");
    assert_eq!(client.refused(&mut store, "SELECT 1 + truetail('status')"), "0A000");
}

#[test]
fn messages_that_do_not_belong_here_are_fatal() {
    for bytes in [
        message(b'z', b""),
        message(b'p', b"password\0"),
        message(b'Q', b"no end"),
        message(b'Q', b"SELECT 1\0more"),
        message(b'E', b"\0"),
        b"Q\0\0\0\x03".to_vec(),
        b"Q\x7f\xff\xff\xff".to_vec(),
        b"\0\0\0\0\0".to_vec(),
    ] {
        let (mut store, mut client) = shop();
        let said = client.ask(&mut store, &bytes);
        assert!(said.len() == 1 && said[0].starts_with("error FATAL 08P01"), "{said:?}");
        assert!(client.broken);
    }
    let (mut store, mut client) = shop();
    assert!(client.ask(&mut store, &message(b'X', b"")).is_empty());
    assert!(client.broken);
    let (mut store, mut client) = shop();
    let said = client.ask(&mut store, &message(b'F', &[0; 10]));
    assert!(said[0].starts_with("error ERROR 0A000") && said[1] == "ready I", "{said:?}");
}

#[test]
fn text_that_is_no_text_is_refused() {
    let (mut store, mut client) = shop();
    let said = client.ask(&mut store, &message(b'Q', b"SELECT '\xff'\0"));
    assert!(said[0].starts_with("error ERROR 22021"), "{said:?}");
    let long = format!("SELECT '{}'", "x".repeat(1 << 20));
    assert_eq!(client.refused(&mut store, &long), "54000");
}
