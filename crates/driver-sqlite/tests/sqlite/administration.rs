//! Settings are applied and read back; scripts and loads do all or nothing.

use crate::support::{Directory, script};
use driver::{Target, Value};

#[test]
fn facts_are_what_sqlite_itself_says() {
    let directory = Directory::new();
    let setting = |options: &str, name: &str| {
        let facts = directory.target(options).administer().unwrap().facts().unwrap();
        assert_eq!((facts.product.as_str(), facts.transport.as_str()), ("SQLite", "in-process"));
        assert!(facts.native && !facts.kernel_stamps && facts.address.ends_with("/test.db"));
        facts.settings.iter().find(|(setting, _)| setting == name).map(|(_, value)| value.clone()).unwrap()
    };
    assert_eq!(setting("", "journal_mode"), "wal");
    assert_eq!(setting("", "synchronous"), "1");
    assert_eq!(setting("synchronous=full", "synchronous"), "2");
    assert_eq!(setting("journal=truncate", "journal_mode"), "truncate");
    assert_eq!(setting("cache_kib=4321", "cache_size"), "-4321");
    assert_eq!(setting("mmap_kib=64", "mmap_size"), "65536");
    assert_eq!(setting("wal_autocheckpoint=77", "wal_autocheckpoint"), "77");
    assert_eq!(setting("busy_timeout_ms=12", "busy_timeout_ms"), "12");
    assert_eq!(setting("begin=deferred", "begin"), "deferred");
    assert_eq!(setting("", "isolation"), "serializable");
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
        fail.message.ends_with("UNIQUE constraint failed: t.a in `INSERT INTO t VALUES (1), (1)`"),
        "{fail}"
    );
    let long = format!("SELECT nothing FROM t WHERE {}", "a = 1 AND ".repeat(50));
    let fail = administration.query(&long).unwrap_err();
    assert!(fail.message.ends_with("…`") && fail.message.chars().count() < 300, "{fail}");
    administration.script("-- only a remark\n;;").unwrap();
    assert_eq!(administration.query("SELECT 1; SELECT 2, NULL").unwrap().len(), 2);
}

#[test]
fn a_load_leaves_all_rows_or_none() {
    let directory = Directory::new();
    let target = directory.target("");
    script(&target, "CREATE TABLE t (a int PRIMARY KEY, b text)");
    let load = |rows: &[(i64, &str)]| {
        let mut rest = rows.iter();
        target.administer().unwrap().bulk("t", &["a", "b"], &mut |push| {
            let Some((a, b)) = rest.next() else { return false };
            push(&[Value::Int(*a), Value::Text(b)]);
            true
        })
    };
    assert_eq!(load(&[(1, "x"), (2, "it's")]), Ok(2));
    let fail = load(&[(3, "y"), (1, "again"), (4, "z")]).unwrap_err();
    assert!(fail.message.contains("UNIQUE constraint failed: t.a"), "{fail}");
    assert_eq!(load(&[]), Ok(0));
    let mut administration = target.administer().unwrap();
    let rows = administration.query("SELECT a, b FROM t ORDER BY a").unwrap();
    assert_eq!(rows, [["1", "x"], ["2", "it's"]].map(|row| row.map(|text| Some(text.to_owned())).to_vec()));
    let short = administration.bulk("t", &["a", "b"], &mut |push| {
        push(&[Value::Int(9)]);
        false
    });
    assert!(short.unwrap_err().message.contains("1 values for 2 columns"));
    // The load left no log behind that the first reader would have to search.
    drop(administration);
    let log = std::fs::metadata(directory.path.join("test.db-wal"));
    assert!(log.map_or(0, |file| file.len()) == 0);
}
