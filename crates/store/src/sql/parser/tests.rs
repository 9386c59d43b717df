use super::super::syntax::{Expr, Operator, Output, Select, Truth};
use super::*;

fn select(sql: &str) -> Select {
    match parse(sql).unwrap().remove(0) {
        Statement::Select(select) => select,
        other => panic!("{sql}: {other:?}"),
    }
}

fn value(sql: &str) -> Expr {
    match select(&format!("SELECT {sql}")).outputs.remove(0) {
        Output::Value { expr, .. } => expr,
        other @ Output::All(_) => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn operators_bind_as_in_postgres() {
    let number = |digits: &str| Expr::Number(digits.to_owned());
    let product = Expr::Chain(Box::new(number("2")), vec![(Operator::Multiply, number("3"))]);
    let sum = Expr::Chain(Box::new(number("1")), vec![(Operator::Add, product)]);
    assert_eq!(value("1 + 2 * 3"), sum);
    assert_eq!(value("(((1))) + (2 * 3)"), sum);
    assert!(matches!(value("NOT a = 1 AND b OR c"), Expr::Or(all) if matches!(&all[0], Expr::And(both)
        if matches!(both[0], Expr::Not(_)))));
    assert!(matches!(value("a = 1 IS NOT TRUE"), Expr::Is { what: Truth::True, negated: true, .. }));
    assert!(matches!(value("a || b = c || d"), Expr::Compare(..)));
    assert!(matches!(value("a BETWEEN 1 AND 2 AND b"), Expr::And(both) if both.len() == 2));
    assert!(matches!(value("-a::int8"), Expr::Negative(inner) if matches!(*inner, Expr::Cast(..))));
    assert_eq!(value("-9223372036854775808"), number("-9223372036854775808"));
}

#[test]
fn long_chains_are_lists() {
    let Expr::Chain(_, rest) = value(&format!("1{}", " + 1".repeat(10_000))) else { panic!("a chain") };
    assert_eq!(rest.len(), 10_000);
}

#[test]
fn names_are_folded_cut_and_kept() {
    let found =
        select("SELECT YCSB_KEY AS \"From\", \"Mixed\" FROM Public.UserTable AS u WHERE U.Field0 = 1");
    assert!(
        matches!(&found.outputs[0], Output::Value { expr: Expr::Column { name, .. }, alias: Some(alias) }
        if name == "ycsb_key" && alias == "From")
    );
    assert!(
        matches!(&found.outputs[1], Output::Value { expr: Expr::Column { name, .. }, .. } if name == "Mixed")
    );
    let from = found.from.unwrap();
    assert_eq!((from.table.schema.as_deref(), from.table.name.as_str()), (Some("public"), "usertable"));
    let long = "é".repeat(40);
    assert!(matches!(value(&long), Expr::Column { name, .. } if name == "é".repeat(31)));
}

#[test]
fn errors_point_to_their_place() {
    for (sql, state, position) in [
        ("SELECT 1 FROM", "42601", 14),
        ("SELECT é FROM t WHERE ORDER", "42601", 23),
        ("SELECT 1 UNION SELECT 2", "0A000", 10),
        ("SELECT a ~ 'x'", "0A000", 10),
        ("INSERT INTO t VALUES (1,)", "42601", 25),
        ("SELECT 1; frobnicate", "42601", 11),
    ] {
        let error = parse(sql).unwrap_err();
        assert_eq!((error.state, error.position), (state, Some(position)), "{sql}: {}", error.message);
    }
}

#[test]
fn statements_are_split_at_semicolons() {
    assert_eq!(parse("; ;SELECT ';' ; -- ;\nBEGIN;;").unwrap().len(), 2);
    assert!(parse(" \n").unwrap().is_empty());
    assert!(parse("SELECT 1 SELECT 2").is_err());
}

#[test]
fn words_are_sorted_and_reserved_ones_are_no_names() {
    assert!(RESERVED.is_sorted() && UNSUPPORTED.is_sorted());
    for word in RESERVED {
        assert!(parse(&format!("SELECT 1 FROM {word}")).is_err(), "{word}");
        assert!(parse(&format!("SELECT 1 FROM \"{word}\"")).is_ok(), "{word}");
    }
}
