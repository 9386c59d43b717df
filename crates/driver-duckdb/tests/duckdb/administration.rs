//! Settings are applied and read back; scripts and loads do all or nothing.

use crate::support::{Directory, script};
use driver::{Decimal, Target, Value};

#[test]
fn facts_are_what_duckdb_itself_says() {
    let setting = |options: &str, name: &str| {
        let directory = Directory::new();
        let facts = directory.target(options).administer().unwrap().facts().unwrap();
        assert_eq!((facts.product.as_str(), facts.transport.as_str()), ("DuckDB", "in-process"));
        assert!(facts.version.starts_with('v') && facts.native && !facts.kernel_stamps);
        assert!(facts.address.ends_with("/test.db"));
        facts.settings.iter().find(|(setting, _)| setting == name).map(|(_, value)| value.clone()).unwrap()
    };
    assert_eq!(setting("", "threads"), "1");
    assert_eq!(setting("threads=2", "threads"), "2");
    assert_eq!(setting("memory_limit=512MiB", "memory_limit"), "512.0 MiB");
    assert_eq!(setting("checkpoint_threshold=1MiB", "checkpoint_threshold"), "1.0 MiB");
    assert_eq!(setting("preserve_insertion_order=false", "preserve_insertion_order"), "false");
    assert_eq!(setting("", "autoload_known_extensions"), "false");
    assert_eq!(setting("", "isolation"), "snapshot");
    assert!(setting("", "library").ends_with(".so"));
}

#[test]
fn errors_show_the_statement_that_failed() {
    let directory = Directory::new();
    let target = directory.target("");
    let mut administration = target.administer().unwrap();
    let fail = administration
        .script("CREATE TABLE t (a int UNIQUE);\n INSERT INTO t\n VALUES (1), (1)")
        .unwrap_err();
    assert!(
        fail.message.contains("Constraint Error")
            && fail.message.ends_with(" in `INSERT INTO t VALUES (1), (1)`"),
        "{fail}"
    );
    let long = format!("SELECT nothing FROM t WHERE {}", "a = 1 AND ".repeat(50));
    let fail = administration.query(&long).unwrap_err();
    assert!(fail.message.ends_with("…`") && !fail.message.contains('\n'), "{fail}");
    administration.script("-- only a remark\n;;").unwrap();
    assert_eq!(administration.query("SELECT 1; SELECT 2").unwrap().len(), 2);
}

#[test]
fn rows_are_told_as_text() {
    let directory = Directory::new();
    let mut administration = directory.target("").administer().unwrap();
    let rows = administration.query(
        "SELECT 1::tinyint, 300::usmallint, -5::hugeint, 1.50::decimal(4,2), 0.5::double, true, 'x', NULL, \
         DATE '2024-02-29', TIMESTAMP '2024-02-29 01:02:03.5', sum(n) FROM range(10) numbers(n)",
    );
    let expected =
        ["1", "300", "-5", "1.50", "0.5", "true", "x", "", "2024-02-29", "2024-02-29 01:02:03.5", "45"];
    let expected = expected.map(|text| (!text.is_empty()).then(|| text.to_owned()));
    assert_eq!(rows.unwrap(), [expected]);
    let many = administration.query("SELECT n FROM range(5000) numbers(n) ORDER BY n").unwrap();
    assert_eq!((many.len(), many[4999][0].as_deref()), (5000, Some("4999")));
    let refused = administration.query("SELECT [1, 2]").unwrap_err();
    assert!(refused.message.contains("cast it to varchar"), "{refused}");
}

#[test]
fn a_load_leaves_all_rows_or_none() {
    let directory = Directory::new();
    let target = directory.target("");
    script(&target, "CREATE TABLE t (a int PRIMARY KEY, b text, c decimal(18,2), d timestamp)");
    let load = |rows: &[(i64, &str)]| {
        let mut rest = rows.iter();
        target.administer().unwrap().bulk("t", &["c", "a", "b"], &mut |push| {
            let Some((a, b)) = rest.next() else { return false };
            push(&[Value::Decimal(Decimal { unscaled: -5, scale: 2 }), Value::Int(*a), Value::Text(b)]);
            true
        })
    };
    assert_eq!(load(&[(1, "x"), (2, "it's")]), Ok(2));
    let fail = load(&[(3, "y"), (1, "again"), (4, "z")]).unwrap_err();
    assert!(fail.message.contains("duplicate key") || fail.message.contains("Duplicate key"), "{fail}");
    let fail = load(&[(3, "y"), (1 << 40, "too large")]).unwrap_err();
    assert!(!fail.message.contains('\n'), "{fail}");
    assert_eq!(load(&[]), Ok(0));
    let mut administration = target.administer().unwrap();
    let rows = administration.query("SELECT a, b, c, d FROM t ORDER BY a").unwrap();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        rows,
        [[some("1"), some("x"), some("-0.05"), None], [some("2"), some("it's"), some("-0.05"), None]]
    );
    let short = administration.bulk("t", &["a", "b"], &mut |push| {
        push(&[Value::Int(9)]);
        false
    });
    assert!(short.unwrap_err().message.contains("1 values for 2 columns"));
    let unknown = administration.bulk("t", &["a", "nothing"], &mut |_| false).unwrap_err();
    assert!(unknown.message.contains("nothing"), "{unknown}");
    let unknown = administration.bulk("nowhere", &["a"], &mut |_| false).unwrap_err();
    assert!(unknown.message.contains("nowhere"), "{unknown}");
}
