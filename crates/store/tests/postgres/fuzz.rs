//! Inputs that nobody wrote: no panic, no deep recursion, memory in proportion.

use crate::conversation::Store;
use crate::wire::{bind_texts, close, describe, execute, message, parse, query, start, sync};
use store::Settings;
use store::postgres::Login;
use testkit::fuzz::Fuzz;

/// Test threads have 2 MiB of stack: what nests without a limit overflows it.
const STATEMENTS: [&str; 24] = [
    "SELECT 1, 'it''s', E'\\n', $$x$$, -1.5e3, true AND NOT NULL IS NULL",
    "SELECT a.*, count(*) FROM t AS a WHERE id = 1 AND name <> 'x' OR size BETWEEN 1 AND 2 AND id IN (1, 2, 3)",
    "SELECT name || id, (size + 1) * 2 / 3 % 4 - 5 FROM t ORDER BY id DESC LIMIT 10 OFFSET 1 FOR UPDATE",
    "SELECT now(), version(), current_setting('jit', true), coalesce(NULL, 1), length('é'), '5'::int8::text",
    "SELECT CAST('2023-11-14 22:13:20.5+01' AS timestamptz), timestamp 'infinity', '\\x00'::bytea, 1e308 * 10",
    "INSERT INTO t (id, name) VALUES (1, DEFAULT), (2, 'b') ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE t.id > 0",
    "INSERT INTO t VALUES (9223372036854775807, 'x')",
    "UPDATE t SET size = size * 2 + 1, name = upper(name) WHERE id >= 1 AND id < 100",
    "DELETE FROM t WHERE id IN (1, 2) AND name IS NOT NULL",
    "CREATE TABLE u (a bigint, b char(3) DEFAULT 'x', c varchar(2) NOT NULL, d timestamp, e bytea, PRIMARY KEY (a))",
    "CREATE TABLE IF NOT EXISTS \"U\" (\"é\" double precision) WITH (fillfactor = 90)",
    "DROP TABLE IF EXISTS u, v CASCADE; TRUNCATE TABLE t; CREATE INDEX ON t (name)",
    "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY; SAVEPOINT a; COMMIT AND NO CHAIN",
    "SET SESSION work_mem TO '1MB'; SET LOCAL TIME ZONE 'UTC'; RESET ALL; SHOW ALL; SET a.b = c, d",
    "VACUUM (ANALYZE, VERBOSE) t; ANALYZE t (id); CHECKPOINT",
    "COPY t (id, name) FROM STDIN WITH (FORMAT text, FREEZE)",
    "SELECT truetail('fault delay:800ms@next')",
    "SELECT * FROM pg_class WHERE oid = to_regclass('t') /* a /* b */ */ -- end",
    "SELECT ((((((((1))))))))",
    "SELECT 1 + 1 + 1 + 1 || 'a' || 'b'",
    "SELECT id FROM t WHERE NOT NOT NOT - - - id = + 1",
    "SELECT 9223372036854775807 + 1, -2147483648 / -1, 1 % 0",
    "SELECT * FROM t a WHERE a.id = 1 GROUP BY x HAVING y UNION SELECT 2",
    "START TRANSACTION; ROLLBACK WORK",
];

const WORDS: [&str; 30] = [
    "SELECT ",
    "FROM t ",
    "WHERE ",
    " AND ",
    " OR ",
    "NOT ",
    "(",
    ")",
    "((((((((((((((((",
    "- - - - - - - - ",
    "::int",
    "::text::int",
    " || ",
    "'",
    "''",
    "E'\\",
    "$$",
    "$1",
    "$65535",
    "--",
    "/*",
    "*/",
    "IS NULL ",
    " IN (",
    " BETWEEN ",
    "NULL",
    "9223372036854775808",
    ",",
    ";",
    "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1",
];

fn shop() -> Store {
    let mut store = Store::new();
    let mut client = store.client();
    client.rows(&mut store, "CREATE TABLE t (id int PRIMARY KEY, name text, size int8)");
    client.rows(&mut store, "INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, NULL, NULL)");
    store
}

#[test]
fn fuzz_sql() {
    Fuzz::new("postgres sql").from(STATEMENTS).words(WORDS).run(20_000, |input| {
        let mut store = shop();
        let mut client = store.client();
        let text: Vec<u8> = input.iter().copied().filter(|byte| *byte != 0).collect();
        client.send(&mut store, &message(b'Q', &[&text[..], b"\0"].concat()));
        let said = client.said();
        let last = said.last().expect("an answer");
        assert!(last.starts_with("ready") || last.starts_with("copy"), "{said:?}");
        client.send(&mut store, &[message(b'P', &[b"\0", &text[..], b"\0\0\0"].concat()), sync()].concat());
        if !last.starts_with("copy") {
            assert!(client.said().last().is_some_and(|last| last.starts_with("ready")));
        }
        assert!(!client.broken || last.starts_with("copy"));
    });
}

#[test]
fn fuzz_messages() {
    let conversations = [
        [query("SELECT 1"), query("BEGIN; SELECT * FROM t; COMMIT")].concat(),
        [
            parse("s", "SELECT * FROM t WHERE id = $1", &[23]),
            describe(b'S', "s"),
            bind_texts("p", "s", &["1"]),
        ]
        .concat(),
        [parse("", "SELECT * FROM t", &[]), bind_texts("", "", &[]), execute("", 1), execute("", 1), sync()]
            .concat(),
        [close(b'S', "s"), close(b'P', "p"), sync(), message(b'H', b""), message(b'F', b"\0\0\0\0")].concat(),
        [
            query("COPY t FROM STDIN"),
            message(b'd', b"9\tx\t\\N\n\\."),
            message(b'c', b""),
            message(b'f', b"no\0"),
        ]
        .concat(),
        message(b'X', b""),
    ];
    let words = [
        b"\0\0\0\x04".to_vec(),
        b"\xff\xff\xff\xff".to_vec(),
        sync(),
        b"Q\0\0\0\x05\0".to_vec(),
        b"d".to_vec(),
    ];
    Fuzz::new("postgres messages").from(conversations).words(words).run(20_000, |input| {
        let mut store = shop();
        let mut client = store.client();
        let mut other = store.client();
        for piece in input.chunks(97) {
            if !client.broken {
                client.send(&mut store, piece);
            }
        }
        // Whatever one client did, the others are served.
        assert_eq!(other.query(&mut store, "SELECT 7")[1], "row 7");
    });
}

#[test]
fn fuzz_startup() {
    let packets = [
        start(&[
            ("user", "ann"),
            ("database", "d"),
            ("options", "-c jit=off --work_mem=1MB"),
            ("TimeZone", "UTC"),
        ]),
        [vec![0, 0, 0, 8, 4, 210, 22, 47], start(&[("user", "ann")])].concat(),
        vec![0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2],
        [start(&[("user", "ann")]), message(b'p', b"SCRAM-SHA-256\0\0\0\0\x0bn,,n=,r=abc")].concat(),
        [
            start(&[("user", "ann")]),
            message(b'p', b"SCRAM-SHA-256\0\0\0\0\x0bn,,n=,r=abc"),
            message(b'p', b"c=biws,r=abc,p=AAAA"),
        ]
        .concat(),
    ];
    let words = [&b"user\0"[..], b"\0\0", b"\\ ", b"-c ", b",r=", b",p=", b"\x04\xd2\x16\x2f"];
    // The verifier is derived once: it takes milliseconds.
    let mut guarded = Store::with(Settings::default(), Login::Password("x".to_owned()));
    Fuzz::new("postgres startup").from(packets).words(words).run(20_000, |input| {
        let mut store = Store::new();
        let mut client = store.connect();
        client.send(&mut store, input);
        let mut stranger = guarded.connect();
        stranger.send(&mut guarded, input);
        assert!(!stranger.said().iter().any(|line| line == "authentication 0"), "nobody knows the password");
    });
}

#[test]
fn depth_has_a_limit_and_length_none_but_its_own() {
    let mut store = shop();
    let mut client = store.client();
    let nested = |open: &str, n: usize, close: &str| format!("SELECT {}1{}", open.repeat(n), close.repeat(n));
    for (sql, state) in [
        (nested("(", 60_000, ")"), "54001"),
        (nested("- ", 60_000, ""), "54001"),
        (nested("NOT ", 60_000, ""), "54001"),
        (nested("abs(", 60_000, ")"), "54001"),
        (nested("CAST(", 60_000, " AS int)"), "54001"),
        (nested("1 IN (", 60_000, ")"), "54001"),
        (nested("", 1, &"::int".repeat(60_000)), "54001"),
        (nested("$1+(", 60, ")"), "42P02"),
        (nested("(", 60, " BETWEEN 1 AND 2)"), "42883"),
    ] {
        let start = &sql[..30];
        assert_eq!(client.refused(&mut store, &sql), state, "{start}…");
    }
    for long in ["+1", "*1", "||'x'", " AND true", " OR true", ",1"] {
        let first = if long.contains("true") { "true" } else { "1" };
        let sql = format!("SELECT {first}{}", long.repeat(if long == ",1" { 1_600 } else { 60_000 }));
        assert_eq!(client.rows(&mut store, &sql).len(), 1, "{long}…");
    }
    let list = (0..60_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    assert_eq!(client.rows(&mut store, &format!("SELECT id FROM t WHERE id IN ({list})")).len(), 3);
}
