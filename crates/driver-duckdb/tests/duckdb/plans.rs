//! Statements that were prepared before the data came.

use crate::support::{Directory, ask, connect, script, statement};
use driver::{Session, StatementSpec, Target, Value, ValueType};

/// What prepared statements say of a table that has grown since: how many rows of a new value, the largest number, and the last
/// text.
fn answers(directory: &Directory, options: &str) -> [Option<Value<'static>>; 3] {
    let target = directory.target(options);
    script(&target, "CREATE TABLE t (n int, words text); INSERT INTO t VALUES (1, 'a')");
    let kept = |sql: &str, of: ValueType| StatementSpec::kept(sql, &[], &[of]);
    let statements = [
        kept("SELECT count(*) FROM t WHERE n = 70000", ValueType::Int),
        kept("SELECT n FROM t ORDER BY n", ValueType::Int),
        kept("SELECT words FROM t ORDER BY n", ValueType::Text),
    ];
    let mut session = connect(&target, &statements);
    script(&target, "INSERT INTO t VALUES (70000, 'a text that is longer than any before')");
    [(0, 0), (1, 1), (2, 1)].map(|(index, row)| {
        // A text that is no text is refused, which is better than what it says.
        ask(&mut session, statement(index)).ok()?;
        match session.value(0, row, 0)? {
            Value::Int(number) => Some(Value::Int(number)),
            Value::Text("a text that is longer than any before") => Some(Value::Text("whole")),
            _ => Some(Value::Null),
        }
    })
}

const RIGHT: [Option<Value<'static>>; 3] =
    [Some(Value::Int(1)), Some(Value::Int(70_000)), Some(Value::Text("whole"))];

#[test]
fn a_plan_does_not_keep_what_the_tables_held() {
    assert_eq!(answers(&Directory::new(), ""), RIGHT);
}

/// With all of its optimiser the version that tests run with gives wrong answers; where this fails, the default may go.
#[test]
fn canary_with_its_whole_optimiser_it_does() {
    let directory = Directory::new();
    let version = directory.target("").administer().unwrap().facts().unwrap().version;
    if version.starts_with("v1.4") || version.starts_with("v1.5") {
        let wrong = answers(&directory, "disabled_optimizers=none");
        assert!(wrong.iter().zip(&RIGHT).all(|(found, right)| found != right), "{version}: {wrong:?}");
    }
}
