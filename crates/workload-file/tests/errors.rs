//! What is wrong with a file is said in one line, with its place and the nearest valid name.

use workload::Workload;
use workload_file::{Choice, FileWorkload};

const READ: &str = "[[transaction]]\nname = \"read\"\nsql = \"SELECT :key\"\n";
const KEY: &str = "[values]\nkey = { draw = \"uniform\", from = 1, to = 9 }\n";

fn error(text: &str) -> String {
    error_with(text, &Choice::default())
}

fn error_with(text: &str, choice: &Choice) -> String {
    match FileWorkload::from_text("bank.toml", text, choice) {
        Ok(_) => panic!("this file is not wrong: {text}"),
        Err(error) => {
            assert!(!error.is_empty() && !error.contains('\n'), "{error:?}");
            error
        }
    }
}

fn assert_errors(cases: &[(&str, &str)]) {
    let found: Vec<String> = cases.iter().map(|(text, _)| error(text)).collect();
    let expected: Vec<&str> = cases.iter().map(|(_, expected)| *expected).collect();
    for (found, expected) in found.iter().zip(&expected) {
        eprintln!("{found}{}", if found == expected { "" } else { "    ← another is expected" });
    }
    assert_eq!(found, expected);
}

#[test]
fn syntax_has_a_line_and_a_column() {
    assert_errors(&[
        (
            "name = \"bank\"\nvalues = [1,\n= 3",
            "line 3, column 1: unexpected `=` in array, expected value, `]`",
        ),
        ("name = ", "line 1, column 8: string values must be quoted, expected literal string"),
        ("name = \"a\"\nname = \"b\"", "line 2, column 1: duplicate key"),
    ]);
}

#[test]
fn keys_and_draws_that_are_not_there() {
    let key = |written: &str| format!("{READ}[values]\nkey = {written}\n");
    assert_errors(&[
        ("", "there is no [[transaction]]; what is to be asked?"),
        ("nmae = \"x\"", "line 1, column 1: there is no key `nmae`; did you mean `name`?"),
        (
            "[[transaction]]\nname = \"read\"\nsqll = \"SELECT 1\"",
            "line 3, column 1: transaction: there is no key `sqll`; did you mean `sql`?",
        ),
        (
            &key("{ draw = \"uniform\", form = 1, to = 2 }"),
            "line 5, column 27: value `key`: there is no key `form`; did you mean `from`?",
        ),
        (
            &key("{ draw = \"zipfian\", from = 1, to = 2 }"),
            "line 5, column 16: value `key`, `draw`: nothing is drawn by `zipfian`; valid are uniform, zipf, zipf-ycsb, \
             zipf-scrambled, nurand, hotspot, sequence, string, digits, choice, timestamp, now, constant",
        ),
        (
            &key("{ draw = \"unifrom\", from = 1, to = 2 }"),
            "line 5, column 16: value `key`, `draw`: nothing is drawn by `unifrom`; did you mean `uniform`?",
        ),
        (
            &key("{ from = 1, to = 2 }"),
            "line 5, column 1: value `key`: says nothing of how it is drawn; add `draw`, such as `draw = \"uniform\"`",
        ),
        (
            &key("{ draw = \"uniform\", from = 1, to = 2, theta = 0.5 }"),
            "line 5, column 1: value `key`: `theta` does not go with `draw = \"uniform\"`, which takes from, to, type, \
             prefix, width, hash, unlike",
        ),
        (
            &key("{ draw = \"uniform\", from = 1 }"),
            "line 5, column 1: value `key`: `draw = \"uniform\"` needs `to`",
        ),
        (
            &key("{ draw = \"uniform\", from = 1, to = 2, type = \"integer\" }"),
            "line 5, column 52: value `key`, `type`: no type `integer`; valid are int, float, text, timestamp and \
             decimal(N)",
        ),
        (
            &key("true"),
            "line 5, column 1: value `key`: expected a number, text or a date, found a truth value",
        ),
    ]);
}

#[test]
fn ranges_weights_and_types_that_make_no_sense() {
    let key = |written: &str| format!("{READ}[values]\nkey = {written}\n");
    assert_errors(&[
        (
            &key("{ draw = \"uniform\", from = 5, to = 3 }"),
            "line 5, column 1: value `key`: `from` = 5 is above `to` = 3",
        ),
        (
            &key("{ draw = \"choice\", of = [1, 2], weights = [0, 0] }"),
            "line 5, column 1: value `key`: the weights are all 0; one must be above 0",
        ),
        (
            &key("{ draw = \"choice\", of = [1, 2], weights = [1, -2] }"),
            "line 5, column 53: value `key`, `weights`: -2 is below 0",
        ),
        (
            &key("{ draw = \"choice\", of = [1, 2], weights = [1] }"),
            "line 5, column 49: value `key`, `weights`: 1 weights for 2 values",
        ),
        (
            &key("{ draw = \"choice\", of = [1, \"a\"] }"),
            "line 5, column 1: value `key`: 1 and `a` are of different types; all must be of one",
        ),
        (
            &key("{ draw = \"zipf-ycsb\", from = 1, to = 9, theta = 1.5 }"),
            "line 5, column 55: value `key`, `theta`: YCSB's method needs a theta between 0 and 1, not 1.5; \
             `draw = \"zipf\"` takes any",
        ),
        (
            &key("{ draw = \"uniform\", from = 1, to = \"acounts\" }"),
            "line 5, column 42: value `key`, `to`: there is no number `acounts`; valid are scale",
        ),
        (
            &key("{ draw = \"uniform\", from = 0.001, to = 1, type = \"decimal(2)\" }"),
            "line 5, column 34: value `key`, `from`: 0.001 does not fit decimal(2)",
        ),
        (
            &key("{ draw = \"string\", length = 5, type = \"int\" }"),
            "line 5, column 1: value `key`: strings can't be of type int",
        ),
        (
            &key("{ draw = \"uniform\", from = 1, to = \"3 / 2\" }"),
            "line 5, column 42: value `key`, `to`: 1.5 is not a whole number; floor(…), ceil(…) and round(…) make one",
        ),
        (
            &key("{ draw = \"uniform\", from = 1, to = 2, unlike = \"kye\" }"),
            "line 5, column 1: value `key`: `unlike`: no value `kye`; did you mean `key`?",
        ),
        (
            &key("{ draw = \"uniform\", from = 1, to = 2, unlike = \"key\" }"),
            "line 5, column 1: value `key`: must differ from a value that must differ from it",
        ),
    ]);
}

#[test]
fn transactions_that_can_not_be_carried_out() {
    let with = |steps: &str| format!("{KEY}[[transaction]]\nname = \"move\"\n{steps}");
    let step = |text: &str| with(&format!("[[transaction.step]]\n{text}\n"));
    assert_errors(&[
        (&format!("{KEY}{READ}{READ}"), "transaction `read` is there twice; name one otherwise"),
        (
            &format!("{KEY}{READ}weight = 0"),
            "line 3, column 1: transaction `read`: its weight is 0 and so are all others; one must be above 0",
        ),
        (
            &format!("{KEY}{READ}weight = -1"),
            "line 6, column 10: transaction `read`, `weight`: -1 is no weight; it must be 0 or more",
        ),
        (
            READ,
            "line 3, column 7: transaction `read`, `sql`: `:key`: there are no [values]; add one, such as \
             `key = { draw = \"uniform\", … }`",
        ),
        (
            &with("sql = \"SELECT :kye\""),
            "line 5, column 7: transaction `move`, `sql`: `:kye` is none of the values; did you mean `key`?",
        ),
        (&with(""), "line 3, column 1: transaction `move`: has neither `sql` nor a [[transaction.step]]"),
        (
            &with("sql = \"SELECT 1; SELECT 2\""),
            "line 5, column 7: transaction `move`, `sql`: these are two statements; make a step of each",
        ),
        (
            &step("sql = \"SELECT :a.b\""),
            "line 6, column 7: transaction `move`, step 1, `sql`: `:a.b` is no kept value; no step keeps a row",
        ),
        (
            &step(
                "sql = \"SELECT :a.b\"\n[[transaction.step]]\nsql = \"SELECT 1\"\nas = \"a\"\nkeep = [\"b int\"]",
            ),
            "line 6, column 7: transaction `move`, step 1, `sql`: `:a.b` is kept by step 2, which does not come before it",
        ),
        (
            &step(
                "sql = \"SELECT 1\"\nas = \"a\"\nkeep = [\"b int\"]\n[[transaction.step]]\nsql = \"SELECT :a.b\"\ntogether = true",
            ),
            "line 9, column 1: transaction `move`, step 2: can't be sent together with step 1: it uses what that step keeps",
        ),
        (
            &step("sql = \"SELECT 1\"\nexpect = \"rwo\""),
            "line 7, column 10: transaction `move`, step 1, `expect`: can't expect `rwo`; did you mean `row`?",
        ),
        (
            &step("sql = \"SELECT 1\"\nkeep = [\"b int\"]"),
            "line 5, column 1: transaction `move`, step 1: `keep` needs a name for the row, such as `as = \"account\"`",
        ),
        (
            &step("sql = \"SELECT 1\"\nas = \"a\"\nkeep = [\"b\"]"),
            "line 8, column 9: transaction `move`, step 1, `keep`: `b`: say its type, too, such as \"balance int\"",
        ),
        (
            &with("sql = \"SELECT 1\"\nisolation = \"serialisable\""),
            "line 6, column 13: transaction `move`, `isolation`: no level `serialisable`; did you mean `serializable`?",
        ),
        (
            &with("sql = \"SELECT 1\"\nisolation = \"serializable\""),
            "line 3, column 1: transaction `move`: `isolation` needs a transaction; say `autocommit = false`",
        ),
        (
            &with("sql = { postgers = \"SELECT 1\" }"),
            "line 5, column 9: transaction `move`, `sql`: there is no key `postgers`; did you mean `postgres`?",
        ),
    ]);
}

#[test]
fn data_sets_and_checks_that_can_not_be_made() {
    let with = |text: &str| format!("{KEY}{READ}{text}");
    assert_errors(&[
        (
            &with("[[table]]\nname = \"t\"\n"),
            "line 6, column 1: table `t`: nothing makes it; add `create` to [setup]",
        ),
        (
            &with("[setup]\ncreate = \"CREATE TABLE t (a int)\"\n[[table]]\nname = \"u\"\n"),
            "line 7, column 10: setup, `create`: makes the table `t`, which no [[table]] names; add `name = \"t\"`",
        ),
        (
            &with("[setup]\ncreate = \"CREATE TABLE t (a {decimel(2)})\"\n[[table]]\nname = \"t\"\n"),
            "line 7, column 10: setup, `create`: `{decimel(2)}`: there is no function `decimel`; valid are rows, highest, \
             floor, ceil, round",
        ),
        (
            &with("[setup]\ncreate = \"CREATE TABLE t (a int)\"\n[[table]]\nname = \"t\"\nrows = 3\n"),
            "line 8, column 1: table `t`: has `rows` and no `columns` to fill them with",
        ),
        (
            &with("[[check]]\nname = \"sum\"\nsql = \"SELECT :key\"\n"),
            "line 8, column 7: check `sum`, `sql`: `:key`: a check has no values; parameters are written `{key}`",
        ),
        (
            &with("[setup]\ncreate = { file = \"../x.sql\" }\n"),
            "line 7, column 19: setup, `create`, `file`: file `../x.sql` must lie beside the workload's file or below",
        ),
        (
            &with("[setup]\ncreate.file = \"x.sql\"\n"),
            "line 7, column 15: setup, `create`, `file`: file `x.sql`: can't be read here",
        ),
    ]);
}

#[test]
fn parameters_that_are_not_there() {
    let text = format!("[parameters]\naccounts = 10\nshare = 0.5\n{KEY}{READ}");
    let with = |name: &str, value: &str| {
        let parameters = vec![(name.to_owned(), value.to_owned())];
        error_with(&text, &Choice { parameters, ..Choice::default() })
    };
    assert_eq!(with("acounts", "5"), "no parameter `acounts`; did you mean `accounts`?");
    assert_eq!(with("accounts", "many"), "accounts=many: expected a whole number");
    assert_eq!(with("share", "nan"), "share=nan: expected a number");
    assert_eq!(
        error(&format!("[parameters]\nkey = 1\n{KEY}{READ}")),
        "line 4, column 1: value `key`: is a parameter, too; name one of them otherwise"
    );
}

#[test]
fn a_value_that_nothing_uses_is_noted() {
    let text = format!("{KEY}other = 3\n{READ}");
    let workload = FileWorkload::from_text("bank.toml", &text, &Choice::default()).unwrap();
    assert_eq!(workload.notes(), ["line 3, column 1: value `other`: no statement uses it"]);
}

#[test]
fn a_dialect_without_sql_is_named_and_key_value_targets_are_refused() {
    let text = format!(
        "{KEY}[[transaction]]\nname = \"read\"\nsql.postgres = \"SELECT :key::int\"\nsql.mysql = \"SELECT :key\"\n"
    );
    let workload = FileWorkload::from_text("bank.toml", &text, &Choice::default()).unwrap();
    assert_eq!(workload.statements(driver::Dialect::Postgres).unwrap()[0].sql, "SELECT $1::int");
    assert_eq!(workload.statements(driver::Dialect::MySql).unwrap()[0].sql, "SELECT ?");
    assert_eq!(
        workload.statements(driver::Dialect::Sqlite).unwrap_err(),
        "line 5, column 1: transaction `read`, `sql`: there is SQL for `postgres`, `mysql` alone; add `sqlite` or `any`"
    );
    assert_eq!(
        workload.statements(driver::Dialect::KeyValue).unwrap_err(),
        "its transactions are SQL, and this target has key-value commands only"
    );
}
