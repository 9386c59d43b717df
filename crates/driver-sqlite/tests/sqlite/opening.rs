//! What can't be opened says why, in one line.

use crate::support::{Directory, plain, target};
use driver::{StatementSpec, Target, ValueType};
use driver_sqlite::SqliteTarget;

fn problem(target: &SqliteTarget) -> String {
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
        format!("sqlite:{path}/no/test.db: the directory `{path}/no` does not exist; create it first")
    );
    assert_eq!(
        problem(&target(&format!("{path}"))),
        format!("sqlite:{path}: this is a directory; name a file in it")
    );
    std::fs::write(directory.path.join("text.db"), "This is plain text and no database. ".repeat(40))
        .unwrap();
    let message = problem(&target(&format!("{path}/text.db")));
    assert_eq!(message, format!("sqlite:{path}/text.db: file is not a database"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_directory_in_which_nothing_can_be_created_is_named() {
    // Not even root creates files there.
    let message = problem(&target("/proc/truetail.db"));
    assert_eq!(message, "sqlite:/proc/truetail.db: no file can be created in `/proc`; check its permissions");
}

#[test]
fn statements_that_do_not_fit_are_refused_when_connecting() {
    let directory = Directory::new();
    let target = directory.target("");
    let fail = |spec: StatementSpec| target.connect(&[spec], None).err().unwrap().message;
    assert!(fail(plain("SELEC 1")).ends_with("near \"SELEC\": syntax error in `SELEC 1`"));
    assert!(fail(plain("SELECT 1; SELECT 2")).contains("more than one statement"));
    assert!(fail(plain("  ")).contains("no statement"));
    assert!(fail(plain("SELECT ?1")).contains("1 parameters, 0 stated"));
    assert!(fail(StatementSpec::kept("SELECT 1, 2", &[], &[ValueType::Int])).contains("2 columns, 1 stated"));
}
