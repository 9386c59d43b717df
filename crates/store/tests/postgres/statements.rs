//! What SQL can and can't do.

use crate::conversation::{Client, Store};

fn shop() -> (Store, Client) {
    let mut store = Store::new();
    let mut client = store.client();
    client.rows(&mut store, "CREATE TABLE t (id int PRIMARY KEY, name varchar(5), size int DEFAULT 7)");
    client.rows(&mut store, "INSERT INTO t VALUES (3, 'c', 30), (-1, 'a', NULL), (20, NULL, 10)");
    (store, client)
}

#[test]
fn what_is_outside_of_the_subset_is_refused_by_name() {
    let (mut store, mut client) = shop();
    for (sql, construct) in [
        ("SELECT * FROM t JOIN u ON true", "JOIN"),
        ("SELECT * FROM t, u", "more than one table"),
        ("SELECT name FROM t GROUP BY name", "GROUP"),
        ("SELECT 1 UNION SELECT 2", "UNION"),
        ("SELECT DISTINCT name FROM t", "DISTINCT"),
        ("SELECT (SELECT 1)", "subqueries"),
        ("SELECT * FROM (SELECT 1) x", "subqueries"),
        ("SELECT * FROM t WHERE id IN (SELECT 1)", "subqueries"),
        ("SELECT * FROM generate_series(1, 3)", "functions as tables"),
        ("WITH x AS (SELECT 1) SELECT * FROM x", "WITH"),
        ("SELECT CASE WHEN true THEN 1 END", "CASE"),
        ("SELECT * FROM t WHERE name LIKE 'a%'", "LIKE"),
        ("SELECT sum(size) FROM t", "sum()"),
        ("SELECT count(*) OVER () FROM t", "OVER"),
        ("SELECT * FROM t ORDER BY name", "ORDER BY"),
        ("SELECT random()", "random()"),
        ("SELECT '{1}'::int[]", "arrays"),
        ("SELECT 1.5::numeric", "numeric"),
        ("SELECT name ~ 'a' FROM t", "operator `~`"),
        ("INSERT INTO t SELECT 1", "INSERT … SELECT"),
        ("INSERT INTO t VALUES (9) RETURNING id", "RETURNING"),
        ("UPDATE t SET id = 5", "primary key"),
        ("UPDATE t SET name = 'x' FROM u", "UPDATE … FROM"),
        ("DELETE FROM t USING u", "USING"),
        ("CREATE TABLE x (a int, b int, PRIMARY KEY (a, b))", "several columns"),
        ("CREATE TABLE x (a int UNIQUE)", "UNIQUE"),
        ("CREATE TABLE x (a int REFERENCES t)", "REFERENCES"),
        ("CREATE TABLE x (a serial)", "serial"),
        ("CREATE TABLE x (a float8 PRIMARY KEY)", "double precision"),
        ("CREATE VIEW v AS SELECT 1", "VIEW"),
        ("CREATE UNIQUE INDEX ON t (name)", "UNIQUE"),
        ("ALTER TABLE t ADD COLUMN x int", "ALTER"),
        ("SAVEPOINT a", "SAVEPOINT"),
        ("ROLLBACK TO a", "savepoints"),
        ("PREPARE x AS SELECT 1", "PREPARE"),
        ("EXPLAIN SELECT 1", "EXPLAIN"),
        ("DECLARE c CURSOR FOR SELECT 1", "DECLARE"),
        ("COPY t TO STDOUT", "COPY … TO"),
        ("COPY t FROM STDIN (FORMAT csv)", "format csv"),
        ("LOCK TABLE t", "LOCK"),
        ("SET statement_timeout = '1s'", "statement_timeout"),
        ("SET client_encoding = 'LATIN1'", "LATIN1"),
    ] {
        let said = client.query(&mut store, sql);
        assert!(said[0].starts_with("error ERROR 0A000 ") && said[0].contains(construct), "{sql}: {said:?}");
    }
}

/// Conditions that find records by their key must give the same rows as those that look at all of them.
#[test]
fn keys_find_what_a_walk_finds() {
    let (mut store, mut client) = shop();
    for condition in [
        "id = 3",
        "3 = id",
        "id = 4",
        "id = 3 AND size > 100",
        "id = NULL",
        "id > -1",
        "id >= -1",
        "id < 20",
        "id <= 20",
        "id > -1 AND id < 20",
        "id BETWEEN 3 AND 20",
        "id NOT BETWEEN 3 AND 20",
        "id IN (20, 3, 3, 99)",
        "id IN (3, NULL)",
        "id NOT IN (3, 20)",
        "id > 3 AND id > 10",
        "id = 3 AND id = 20",
        "id < -5 OR id > 5",
        "id <> 3",
        "id > NULL",
        "5 > id",
        "id >= 3 AND id <= 3",
        "id > 9223372036854775807",
        "id = 3.0",
        "id < 3.5",
    ] {
        let by_key = client.rows(&mut store, &format!("SELECT id FROM t WHERE {condition}"));
        // `id + 0` is no key.
        let by_walk =
            client.rows(&mut store, &format!("SELECT id FROM t WHERE {}", condition.replace("id", "id + 0")));
        assert_eq!(by_key, by_walk, "{condition}");
        let mut downwards =
            client.rows(&mut store, &format!("SELECT id FROM t WHERE {condition} ORDER BY id DESC"));
        downwards.reverse();
        assert_eq!(by_key, downwards, "{condition}");
    }
}

#[test]
fn order_limit_and_offset() {
    let (mut store, mut client) = shop();
    for (tail, expected) in [
        ("", "-1 3 20"),
        ("ORDER BY id", "-1 3 20"),
        ("ORDER BY id DESC", "20 3 -1"),
        ("ORDER BY 1 DESC LIMIT 1", "20"),
        ("ORDER BY t.id ASC, name LIMIT 2 OFFSET 1", "3 20"),
        ("OFFSET 1 LIMIT 1", "3"),
        ("FETCH FIRST 2 ROWS ONLY", "-1 3"),
        ("LIMIT ALL", "-1 3 20"),
        ("LIMIT 0", ""),
        ("LIMIT 1 + 1", "-1 3"),
        ("OFFSET 9", ""),
        ("WHERE size > 5 ORDER BY id DESC LIMIT 1 OFFSET 1", "3"),
    ] {
        assert_eq!(
            client.rows(&mut store, &format!("SELECT id FROM t {tail}")).join(" "),
            expected,
            "{tail}"
        );
    }
    assert_eq!(client.refused(&mut store, "SELECT id FROM t LIMIT -1"), "2201W");
    assert_eq!(client.refused(&mut store, "SELECT id FROM t OFFSET -1"), "2201X");
}

#[test]
fn rows_of_tables_without_a_key_are_kept_apart() {
    let (mut store, mut client) = shop();
    client.rows(&mut store, "CREATE TABLE bare (a int); INSERT INTO bare VALUES (1), (1), (2)");
    assert_eq!(client.rows(&mut store, "SELECT a FROM bare"), ["1", "1", "2"]);
    client.rows(
        &mut store,
        "UPDATE bare SET a = 5 WHERE a = 1; DELETE FROM bare WHERE a = 2; INSERT INTO bare VALUES (5)",
    );
    assert_eq!(client.rows(&mut store, "SELECT count(*) FROM bare WHERE a = 5"), ["3"]);
}

#[test]
fn truetails_own_questions_are_answered() {
    let (mut store, mut client) = shop();
    let exists = |table: &str| {
        format!(
            "SELECT count(*) FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass('{table}') \
             AND relkind IN ('r', 'p', 'f', 'v', 'm')"
        )
    };
    client.rows(&mut store, "CREATE TABLE u (a int)");
    assert_eq!(client.rows(&mut store, &exists("t")), ["1"]);
    assert_eq!(client.rows(&mut store, &exists("public.u")), ["1"]);
    assert_eq!(client.rows(&mut store, &exists("nowhere")), ["0"]);
    let settings = "SELECT name, current_setting(name) FROM pg_catalog.pg_settings WHERE name IN ('jit', 'fsync', 'x') ORDER BY name";
    assert_eq!(client.rows(&mut store, settings), ["fsync|off", "jit|off"]);
    let backend: u32 = client.rows(&mut store, "SELECT pg_backend_pid()")[0].parse().unwrap();
    assert!(backend > 1 << 22, "no process has this number: {backend}");
    let check = "SELECT count(*) FROM t WHERE name IS NULL OR length(name) < 1 OR length(name) > 5";
    assert_eq!(client.rows(&mut store, check), ["1"]);
    assert_eq!(client.rows(&mut store, "SELECT max(id) FROM t"), ["20"]);
}

#[test]
fn limits_are_refused_before_they_hurt() {
    let (mut store, mut client) = shop();
    client.rows(&mut store, "CREATE TABLE big (k int PRIMARY KEY, v text)");
    client.rows(&mut store, &format!("INSERT INTO big VALUES (1, '{}')", "x".repeat(1_000_000)));
    for _ in 0..4 {
        client.rows(&mut store, "UPDATE big SET v = v || v");
    }
    assert_eq!(client.refused(&mut store, "UPDATE big SET v = v || v"), "54000", "16 MB and no more");
    let many = vec!["v"; 100].join(", ");
    assert_eq!(client.refused(&mut store, &format!("SELECT {many} FROM big")), "54000", "1.6 GB of result");
    let columns = (0..1_601).map(|n| format!("c{n} int")).collect::<Vec<_>>().join(", ");
    assert_eq!(client.refused(&mut store, &format!("CREATE TABLE wide ({columns})")), "54011");
    assert_eq!(client.rows(&mut store, "SELECT length(v) FROM big"), ["16000000"]);
}
