//! The same statements to a real PostgreSQL: the same columns, rows, tags, states and SQLSTATEs.

use crate::conversation::Store;
use crate::wire::{bind, describe, execute, parse, query, shown, split, start, sync};
use std::io::{Read, Write};
use std::net::TcpStream;
use testkit::postgres::{Options, server};

/// A plain connection to a real server.
struct Real(TcpStream);

impl Real {
    fn connect(port: u16) -> Real {
        let mut real = Real(TcpStream::connect(("127.0.0.1", port)).unwrap());
        let said =
            real.ask(&start(&[("user", "postgres"), ("database", "postgres"), ("client_encoding", "UTF8")]));
        assert_eq!(said.last().unwrap(), "ready I");
        real
    }

    /// Sends, and reads up to ReadyForQuery, or to the demand for the data of a COPY.
    fn ask(&mut self, bytes: &[u8]) -> Vec<String> {
        self.0.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let mut piece = [0; 65_536];
        loop {
            let size = self.0.read(&mut piece).unwrap();
            assert!(size > 0, "closed after {:?}", shown(&answer));
            answer.extend_from_slice(&piece[..size]);
            let mut rest = &answer[..];
            let mut last = 0;
            while let Some((tag, _, behind)) = split(rest) {
                (last, rest) = (tag, behind);
            }
            if rest.is_empty() && matches!(last, b'Z' | b'G') {
                return shown(&answer);
            }
        }
    }
}

/// What must agree: of errors and notices severity and SQLSTATE only. PostgreSQL describes a result that then fails, and
/// gives the rows before the failure; what counts is the failure.
fn essence(said: Vec<String>) -> Vec<String> {
    let fails = said.iter().any(|line| line.starts_with("error"));
    said.into_iter()
        .filter(|line| !(fails && (line.starts_with("columns") || line.starts_with("row"))))
        .map(|line| match line.split_once(' ') {
            Some((word @ ("error" | "notice"), rest)) => {
                let words: Vec<&str> = rest.splitn(3, ' ').collect();
                format!("{word} {} {}", words[0], words[1])
            }
            _ => line,
        })
        .collect()
}

const SCRIPT: &[&str] = &[
    // Constants, types and names of columns.
    "SELECT 1, -2147483648, 2147483648, 'it''s', true, NULL, E'a\\tb', 1 AS one, 2 two, 'x'::text, '5'::int8",
    "SELECT 1 + 2 * 3 - 4 / 3, -7 / 2, -7 % 3, 7::int2 + 1::int2, 2147483648 + 1, 5 || 'x', 'x' || NULL",
    "SELECT 1 = 1, 1 <> 2, 'a' < 'B', NOT false, NULL IS NULL, 1 IS NOT NULL, NULL AND false, NULL OR true, NULL = NULL",
    "SELECT 1 IN (1, 2), 3 NOT IN (1, NULL), 2 BETWEEN 1 AND 3, 2 NOT BETWEEN 3 AND 4, true IS TRUE, NULL IS FALSE",
    "SELECT '1.5'::float8 * 2, 1e20::float8, '1e-5'::float8, 'NaN'::float8, '-inf'::float8, '0.1'::float8 + '0.2'::float8",
    "SELECT 5::text, true::text, 't'::bool, 1::bool, false::int, '2.5'::float8::int, '3.5'::float8::int, 'abc'::varchar(2), 'a'::char(3)",
    "SELECT '2023-11-14 22:13:20.5'::timestamp, timestamptz '2023-11-14 22:13:20+02', 'infinity'::timestamp, '\\x0aff'::bytea",
    "SELECT length('grüße'), octet_length('grüße'), upper('aé'), lower('ÀB'), coalesce(NULL, 2, 3), abs(-5), abs('-2.5'::float8)",
    "SELECT current_database(), current_schema(), current_user, user, pg_is_in_recovery(), current_setting('server_encoding')",
    "SELECT CAST(1 AS bigint), CAST('7' AS smallint) AS s, cast(NULL as int)",
    "SELECT 1 WHERE false",
    "SELECT 1 WHERE 1 = 1 ORDER BY 1 LIMIT 1",
    // Errors.
    "SELECT 1/0",
    "SELECT 2147483647 + 1",
    "SELECT 9223372036854775807 + 1",
    "SELECT 32767::int2 + 1::int2",
    "SELECT 'x'::int",
    "SELECT 70000::int2",
    "SELECT 1 + 'x'",
    "SELECT nothing",
    "SELECT * FROM nowhere",
    "SELECT 1 FROM",
    "SELECT 'unterminated",
    "SELECT frobnicate",
    "FROBNICATE",
    "SELECT true + 1",
    "SELECT 'a'::text = 1",
    "SELECT 1 = true",
    "SELECT *",
    "SELECT 1 AS",
    "SELECT -'abc'",
    "SELECT abs('x')",
    "SELECT 1 WHERE 5",
    "SELECT NOT 1",
    "SELECT '2023-13-01'::timestamp",
    "SELECT 'x'::timestamp",
    "SELECT now()::int",
    "SELECT 'abc'::bytea, '\\xz'::bytea",
    "SELECT $1",
    "SELECT \"\"",
    "SELECT 1x",
    "SELECT 'a' 'b'",
    "SELECT (1",
    "SELECT 1)",
    "SELECT current_setting('nothing.here')",
    "SELECT current_setting('nothing', true)",
    "SHOW nothing",
    "SET nothing = 1",
    "SELECT 1e400::float8",
    "SELECT '1e308'::float8 * 10",
    "SELECT '9223372036854775808'::float8::int8",
    // Tables.
    "CREATE TABLE t (id int PRIMARY KEY, name varchar(5) NOT NULL DEFAULT 'dflt', size int8, ratio float8, ok bool, tag char(3), at timestamp)",
    "CREATE TABLE t (id int)",
    "CREATE TABLE IF NOT EXISTS t (id int)",
    "CREATE TABLE x (a int, a int)",
    "CREATE TABLE x (a int PRIMARY KEY, b int PRIMARY KEY)",
    "CREATE TABLE x (a nosuchtype)",
    "CREATE TABLE x (a int, PRIMARY KEY (b))",
    "CREATE TABLE nowhere.x (a int)",
    "CREATE TABLE x (a varchar(0))",
    "CREATE TABLE x (a int(5))",
    "SELECT * FROM t",
    "INSERT INTO t (id) VALUES (1)",
    "INSERT INTO t VALUES (2, 'two', 22, 0.5, true, 'ab', '2020-02-29 12:00:00')",
    "INSERT INTO t (name, id) VALUES ('a', 10), ('b', -10), (DEFAULT, 7)",
    "INSERT INTO t VALUES (30, 'x', 1 + 2, 5, 'yes', 1, NULL)",
    "INSERT INTO t VALUES (31, 5, '7')",
    "INSERT INTO t (id, id) VALUES (1, 2)",
    "INSERT INTO t (nothing) VALUES (1)",
    "INSERT INTO t (id) VALUES (1, 2)",
    "INSERT INTO t (id, name) VALUES (1)",
    "INSERT INTO t VALUES (1, 'dup')",
    "INSERT INTO t VALUES (50, 'x'), (50, 'y')",
    "INSERT INTO t VALUES (51, NULL)",
    "INSERT INTO t (name) VALUES ('x')",
    "INSERT INTO t VALUES (52, 'too long')",
    "INSERT INTO t VALUES (52, 'abcde   ')",
    "INSERT INTO t VALUES (99999999999, 'x')",
    "INSERT INTO t VALUES ('x', 'x')",
    "INSERT INTO t VALUES (true, 'x')",
    "INSERT INTO t VALUES (60, 'x', 'y'::text)",
    "INSERT INTO nowhere VALUES (1)",
    "INSERT INTO t VALUES (1), (2, 3)",
    "INSERT INTO t DEFAULT VALUES",
    "SELECT * FROM t ORDER BY id",
    "SELECT t.id, x.id FROM t x",
    "SELECT x.id AS i, x.* FROM t AS x WHERE x.id = 2",
    "SELECT name, id FROM public.t WHERE id > 5 ORDER BY t.id DESC LIMIT 2",
    "SELECT tag, length(tag), tag = 'ab', tag || '|', octet_length(tag) FROM t WHERE id = 2",
    "SELECT id FROM t WHERE name = 'dflt' AND (size IS NULL OR ok) ORDER BY id",
    "SELECT id FROM t WHERE ok ORDER BY 1",
    "SELECT id FROM t WHERE ok IS NOT TRUE ORDER BY id",
    "SELECT id * 2 AS d FROM t WHERE id IN (1, 2, 10, 999) ORDER BY id",
    "SELECT id FROM t WHERE id BETWEEN 2 AND 10 ORDER BY id DESC OFFSET 1",
    "SELECT count(*), count(size), min(id), max(id), max(name), min(ratio), max(at), max(size) FROM t",
    "SELECT count(*) FROM t WHERE id < 0",
    "SELECT count(*) AS n FROM t WHERE false",
    "SELECT max(id) FROM t WHERE false",
    "SELECT max(ok) FROM t",
    "SELECT id, count(*) FROM t",
    "SELECT id FROM t ORDER BY 5",
    "SELECT id FROM t LIMIT -1",
    "SELECT id FROM t LIMIT 'x'",
    "SELECT id FROM t WHERE id",
    "SELECT nothing.id FROM t",
    "SELECT t.nothing FROM t",
    "SELECT id FROM t WHERE size > 'x'",
    "SELECT id FROM t ORDER BY id FOR UPDATE",
    "SELECT id FROM t WHERE id = 1 FOR SHARE NOWAIT",
    "SELECT * FROM t ORDER BY id FETCH FIRST 2 ROWS ONLY",
    "SELECT id FROM t WHERE id = '2'",
    "SELECT id FROM t WHERE '2' >= id ORDER BY id",
    "UPDATE t SET size = coalesce(size, 0) + id WHERE id > 0",
    "UPDATE t SET name = upper(name), ok = NOT ok",
    "UPDATE t SET size = DEFAULT, name = DEFAULT WHERE id = 2",
    "UPDATE t SET name = NULL",
    "UPDATE t SET nothing = 1",
    "UPDATE t SET size = 1, size = 2",
    "UPDATE t SET size = 'x'",
    "UPDATE t SET size = true",
    "UPDATE t SET size = 1 WHERE nothing = 1",
    "UPDATE t SET name = 'far too long' WHERE id = 1",
    "UPDATE t SET name = id WHERE id = 1",
    "UPDATE t x SET size = x.size + 1 WHERE x.id = 10",
    "UPDATE t SET size = size / 0 WHERE id = 1",
    "SELECT * FROM t ORDER BY id",
    "INSERT INTO t (id, name) VALUES (1, 'new') ON CONFLICT DO NOTHING",
    "INSERT INTO t (id, name) VALUES (1, 'new'), (80, 'eight') ON CONFLICT (id) DO NOTHING",
    "INSERT INTO t (id, name) VALUES (1, 'new'), (81, 'more') ON CONFLICT (id) DO UPDATE SET name = excluded.name, size = t.size + excluded.id",
    "INSERT INTO t (id, name) VALUES (1, 'newer') ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE t.size > 1000",
    "INSERT INTO t (id, name) VALUES (90, 'a'), (90, 'b') ON CONFLICT (id) DO UPDATE SET name = 'c'",
    "INSERT INTO t (id, name) VALUES (1, 'x') ON CONFLICT (name) DO NOTHING",
    "INSERT INTO t (id, name) VALUES (1, 'x') ON CONFLICT DO UPDATE SET name = 'y'",
    "INSERT INTO t (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET size = id",
    "SELECT * FROM t ORDER BY id",
    "DELETE FROM t WHERE id = 1",
    "DELETE FROM t WHERE id = 1",
    "DELETE FROM t AS x WHERE x.id BETWEEN 80 AND 90",
    "DELETE FROM t WHERE size IS NULL AND ok IS NULL",
    "DELETE FROM nowhere",
    "SELECT id FROM t ORDER BY id",
    // Transactions.
    "BEGIN",
    "BEGIN",
    "INSERT INTO t (id) VALUES (100)",
    "SELECT count(*) FROM t",
    "ROLLBACK",
    "ROLLBACK",
    "COMMIT",
    "SELECT count(*) FROM t",
    "START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SHOW transaction_isolation",
    "SHOW transaction_read_only",
    "DELETE FROM t",
    "SELECT 1",
    "COMMIT",
    "BEGIN; INSERT INTO t (id) VALUES (101); SELECT 1/0; SELECT 2",
    "SELECT 1",
    "COMMIT",
    "SELECT count(*) FROM t",
    "INSERT INTO t (id) VALUES (102); SELECT 1/0",
    "SELECT count(*) FROM t WHERE id = 102",
    "INSERT INTO t (id) VALUES (103); BEGIN; INSERT INTO t (id) VALUES (104); ROLLBACK",
    "SELECT count(*) FROM t WHERE id > 100",
    "INSERT INTO t (id) VALUES (105); COMMIT; SELECT 1/0",
    "SELECT count(*) FROM t WHERE id > 100",
    "BEGIN; ; COMMIT; SELECT 5",
    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "SHOW TRANSACTION ISOLATION LEVEL",
    "RESET default_transaction_isolation",
    "END",
    "BEGIN; SET LOCAL work_mem = '2MB'; SHOW work_mem",
    "COMMIT; SHOW work_mem",
    "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "ABORT",
    "BEGIN; VACUUM",
    "ROLLBACK",
    // Odds and ends.
    "",
    ";;",
    "-- nothing",
    "SET extra_float_digits = 3",
    "SHOW extra_float_digits",
    "SET application_name TO 'me'",
    "SHOW application_name",
    "SET TIME ZONE 'Asia/Tokyo'",
    "SHOW server_encoding",
    "SET DateStyle = ISO",
    "ANALYZE t",
    "VACUUM (ANALYZE) t",
    "VACUUM nowhere",
    "CHECKPOINT",
    "TRUNCATE TABLE t",
    "SELECT count(*) FROM t",
    "TRUNCATE nowhere",
    "CREATE TABLE texts (k text PRIMARY KEY, v text)",
    "INSERT INTO texts VALUES ('b', '1'), ('B', '2'), ('a1', '3'), ('a', NULL), ('é', '5'), ('', '6')",
    "SELECT * FROM texts ORDER BY k",
    "SELECT k FROM texts WHERE k > 'B' ORDER BY k DESC",
    "SELECT k FROM texts WHERE k >= 'a' AND k < 'b' ORDER BY k LIMIT 10",
    "SELECT k FROM texts WHERE k = 5",
    "CREATE TABLE \"Mixed\" (\"A b\" int)",
    "INSERT INTO \"Mixed\" VALUES (1)",
    "SELECT \"A b\" FROM \"Mixed\"",
    "SELECT * FROM Mixed",
    "DROP TABLE \"Mixed\", texts",
    "DROP TABLE t, nowhere",
    "DROP TABLE IF EXISTS nowhere, t",
    "DROP TABLE t",
];

#[test]
fn simple_queries_agree_with_postgres() {
    let Some(server) = server(&Options::default()) else { return };
    let mut real = Real::connect(server.port());
    let mut store = Store::new();
    let mut client = store.connect();
    client.send(&mut store, &start(&[("user", "postgres"), ("database", "postgres")]));
    let mut wrong = Vec::new();
    for sql in SCRIPT {
        let (theirs, ours) = (essence(real.ask(&query(sql))), essence(client.query(&mut store, sql)));
        if ours != theirs {
            wrong.push(format!("{sql}\n  PostgreSQL {theirs:?}\n  the store  {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), SCRIPT.len(), wrong.join("\n"));
}

/// SQL, declared types, the format of the parameters, the parameters.
type Case<'a> = (&'a str, &'a [u32], u16, &'a [Option<&'a [u8]>]);

#[test]
fn prepared_statements_agree_with_postgres() {
    let Some(server) = server(&Options::default()) else { return };
    let mut real = Real::connect(server.port());
    let mut store = Store::new();
    let mut client = store.client();
    let table = "CREATE TABLE t (id int PRIMARY KEY, name text, size int8, small int2, ratio float8, ok bool, at timestamp, raw bytea)";
    let row = "INSERT INTO t VALUES (1, 'one', 11, 5, 0.1, true, '2020-02-29 12:00:00', '\\x00ff'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL)";
    for sql in [table, row] {
        real.ask(&query(sql));
        client.query(&mut store, sql);
    }
    let cases: [Case; 18] = [
        ("SELECT * FROM t WHERE id = $1", &[], 0, &[Some(b"1")]),
        ("SELECT * FROM t WHERE id = $1", &[23], 1, &[Some(&[0, 0, 0, 2])]),
        ("SELECT * FROM t WHERE id = $1", &[20], 1, &[Some(&[0, 0, 0, 0, 0, 0, 0, 1])]),
        ("SELECT * FROM t WHERE id = $1", &[23], 1, &[Some(&[0, 2])]),
        ("SELECT * FROM t WHERE id = $1", &[], 0, &[Some(b"x")]),
        ("SELECT * FROM t WHERE id = $1", &[], 0, &[None]),
        ("SELECT * FROM t WHERE id = $1", &[25], 0, &[Some(b"1")]),
        ("SELECT id FROM t WHERE name = $1 AND size > $2", &[], 0, &[Some(b"one"), Some(b"5")]),
        ("SELECT id FROM t WHERE id >= $1 ORDER BY id LIMIT $2", &[], 0, &[Some(b"0"), Some(b"1")]),
        ("SELECT $1::int8 + 1, $2::text, $3::bool", &[], 0, &[Some(b"41"), Some(b"x"), Some(b"yes")]),
        ("SELECT $1", &[], 0, &[Some(b"x")]),
        ("SELECT $1 + 1, $1", &[], 0, &[Some(b"41")]),
        (
            "INSERT INTO t (id, name, at, ok) VALUES ($1, $2, $3, $4)",
            &[],
            0,
            &[Some(b"7"), None, Some(b"2001-01-01"), Some(b"f")],
        ),
        ("INSERT INTO t (id, raw) VALUES ($1, $2)", &[23, 17], 1, &[Some(&[0, 0, 0, 9]), Some(&[1, 2])]),
        (
            "UPDATE t SET ratio = $2, size = size + $3 WHERE id = $1",
            &[],
            0,
            &[Some(b"1"), Some(b"2.5"), Some(b"1")],
        ),
        ("SELECT * FROM t ORDER BY id", &[], 0, &[]),
        ("DELETE FROM t WHERE id IN ($1, $2)", &[], 0, &[Some(b"1"), Some(b"7")]),
        ("SELECT nothing FROM t WHERE id = $1", &[], 0, &[Some(b"1")]),
    ];
    for (sql, types, format, parameters) in cases {
        for results in [0, 1] {
            let batch = [
                parse("", sql, types),
                describe(b'S', ""),
                bind("", "", format, parameters, results),
                describe(b'P', ""),
                execute("", 0),
                sync(),
            ]
            .concat();
            let theirs = essence(real.ask(&batch));
            let ours = essence(client.ask(&mut store, &batch));
            assert_eq!(ours, theirs, "{sql} {types:?} {parameters:?}");
        }
    }
}

#[test]
fn copy_agrees_with_postgres() {
    let Some(server) = server(&Options::default()) else { return };
    let mut real = Real::connect(server.port());
    let mut store = Store::new();
    let mut client = store.client();
    let table = "CREATE TABLE t (id int PRIMARY KEY, name text DEFAULT 'none', ratio float8, at timestamp)";
    real.ask(&query(table));
    client.query(&mut store, table);
    for (sql, data) in [
        ("COPY t FROM STDIN", &b"1\ta\\tb\\\\\\n\t0.5\t2020-01-01 00:00:00+02\n2\t\\N\t1e20\t\\N\n"[..]),
        ("COPY t (id) FROM STDIN", b"3\n4"),
        ("COPY t (id, name) FROM STDIN", b"5\t\n6\t\\N\n\\.\n"),
        ("COPY t (id, name) FROM STDIN", b"7\t\\x41\\101\\q\r\n"),
        ("COPY t (id) FROM STDIN", b"1\n"),
        ("COPY t (id) FROM STDIN", b"x\n"),
        ("COPY t (id, name) FROM STDIN", b"9\n"),
        ("COPY t (id) FROM STDIN", b"9\t9\n"),
        ("COPY t (id) FROM STDIN", b""),
        ("COPY t (name) FROM STDIN", b"x\n"),
    ] {
        let data = crate::wire::message(b'd', data);
        let end = crate::wire::message(b'c', b"");
        assert_eq!(real.ask(&query(sql)), client.query(&mut store, sql), "{sql}");
        let mut theirs = essence(real.ask(&[data.clone(), end.clone()].concat()));
        let mut ours = essence(client.ask(&mut store, &[data, end].concat()));
        assert_eq!((theirs.pop(), ours.pop()), (Some("ready I".to_owned()), Some("ready I".to_owned())));
        assert_eq!(ours, theirs, "{sql}");
    }
    let all = query("SELECT * FROM t ORDER BY id");
    assert_eq!(client.ask(&mut store, &all), real.ask(&all));
}
