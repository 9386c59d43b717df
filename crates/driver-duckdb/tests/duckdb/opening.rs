//! What can't be opened says why, in one line.

use crate::support::{Directory, connect, plain, script, target};
use driver::{StatementSpec, Target, ValueType};
use driver_duckdb::DuckDbTarget;

fn problem(target: &DuckDbTarget) -> String {
    let (connect, administer) =
        (target.connect(&[], None).err().unwrap(), target.administer().err().unwrap());
    assert_eq!(connect, administer);
    assert!(!connect.transient && !connect.message.contains('\n'), "{connect:?}");
    connect.message
}

#[test]
fn unusable_paths_are_told_apart() {
    let directory = Directory::new();
    let path = directory.path.display();
    assert_eq!(
        problem(&target(&format!("{path}/no/test.db"))),
        format!("duckdb:{path}/no/test.db: the directory `{path}/no` does not exist; create it first")
    );
    assert_eq!(
        problem(&target(&format!("{path}"))),
        format!("duckdb:{path}: this is a directory; name a file in it")
    );
    std::fs::write(directory.path.join("text.db"), "This is plain text and no database. ".repeat(40))
        .unwrap();
    let message = problem(&target(&format!("{path}/text.db")));
    assert!(message.contains("not a valid DuckDB database file"), "{message}");
    let message = problem(&target(&format!("{path}/new.db?access_mode=read_only")));
    assert!(message.contains("new.db"), "{message}");
    let message = problem(&target(&format!("{path}/new.db?library={path}/none.so")));
    assert!(message.contains("none.so: there is no such file; `cargo xtask install`"), "{message}");
}

#[test]
fn all_who_open_a_file_share_one_database_with_one_set_of_settings() {
    let directory = Directory::new();
    let one = directory.target("");
    script(&one, "CREATE TABLE t (a int)");
    let session = connect(&one, &[plain("SELECT * FROM t")]);
    let message = problem(&directory.target("threads=2"));
    assert!(message.contains("open in this process with other settings"), "{message}");
    // The same file by another name.
    std::os::unix::fs::symlink(&directory.path, directory.path.join("again")).unwrap();
    let again = target(&format!("{}/again/test.db", directory.path.display()));
    script(&again, "INSERT INTO t VALUES (1)");
    let rows = one.administer().unwrap().query("SELECT count(*) FROM t").unwrap();
    assert_eq!(rows, [[Some("1".to_owned())]]);
    drop(session);
    // Closed by all, it can be opened in another way.
    drop(connect(&directory.target("threads=2"), &[]));
}

#[test]
fn a_canceller_keeps_no_file_open() {
    use driver::Session;
    let directory = Directory::new();
    let session = connect(&directory.target(""), &[]);
    let cancel = session.canceller().unwrap();
    drop(session);
    drop(connect(&directory.target("threads=2"), &[]));
    cancel();
}

#[test]
fn statements_that_do_not_fit_are_refused_when_connecting() {
    let directory = Directory::new();
    let target = directory.target("");
    let fail = |spec: StatementSpec| target.connect(&[spec], None).err().unwrap().message;
    assert!(fail(plain("SELEC 1")).ends_with("syntax error at or near \"SELEC\" in `SELEC 1`"));
    assert!(fail(plain("SELECT 1; SELECT 2")).contains("multiple statements"));
    assert!(fail(plain("  ")).contains("No statement"));
    assert!(fail(plain("SELECT $1")).contains("1 parameters, 0 stated"));
    assert!(fail(StatementSpec::kept("SELECT 1, 2", &[], &[ValueType::Int])).contains("2 columns, 1 stated"));
}
