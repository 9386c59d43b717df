//! The statements, written once for all SQL databases.

use driver::{Dialect, StatementSpec, ValueType};

/// Indexes into the list of [`statements`].
pub(crate) const NAMED: usize = 0;
pub(crate) const ACCOUNT: usize = 1;
pub(crate) const BALANCE: usize = 2;
pub(crate) const SAVINGS: usize = 3;
pub(crate) const CHECKING: usize = 4;
pub(crate) const SAVINGS_LOCKED: usize = 5;
pub(crate) const CHECKING_LOCKED: usize = 6;
pub(crate) const ADD_TO_SAVINGS: usize = 7;
pub(crate) const ADD_TO_CHECKING: usize = 8;
pub(crate) const CLEAR_SAVINGS: usize = 9;
pub(crate) const CLEAR_CHECKING: usize = 10;

/// The cents that are asked of a savings account, and of a checking account.
pub(crate) const SAVINGS_ASKED: i64 = 2_020;
pub(crate) const CHECKING_ASKED: i64 = 500;

/// A balance is read as what is missing in it to what is asked of its account, so that 0, which is what a target that holds
/// nothing answers, means that nothing is missing.
fn missing(table: &str, asked: i64, lock: &str) -> String {
    format!("SELECT {asked} - bal FROM {table} WHERE custid = ?{lock}")
}

/// All of them.
pub(crate) fn statements(dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
    use ValueType::{Int, Text};
    if dialect == Dialect::KeyValue {
        return Err("smallbank: needs SQL; this target has only key-value operations".to_owned());
    }
    let kept = |template: &str, parameters: &[ValueType], columns: &[ValueType]| {
        StatementSpec::kept(dialect.sql(template), parameters, columns)
    };
    let counted =
        |template: &str, parameters: &[ValueType]| StatementSpec::counted(dialect.sql(template), parameters);
    Ok(vec![
        kept("SELECT custid FROM accounts WHERE name = ?", &[Text], &[Int]),
        kept("SELECT custid FROM accounts WHERE custid = ?", &[Int], &[Int]),
        // One statement, so that both balances are of one moment at every isolation level.
        kept(
            "SELECT s.bal, c.bal FROM savings s, checking c WHERE c.custid = s.custid AND s.custid = ?",
            &[Int],
            &[Int, Int],
        ),
        kept(&missing("savings", SAVINGS_ASKED, ""), &[Int], &[Int]),
        kept(&missing("checking", CHECKING_ASKED, ""), &[Int], &[Int]),
        kept(&missing("savings", SAVINGS_ASKED, " FOR UPDATE"), &[Int], &[Int]),
        kept(&missing("checking", CHECKING_ASKED, " FOR UPDATE"), &[Int], &[Int]),
        counted("UPDATE savings SET bal = bal + ? WHERE custid = ?", &[Int, Int]),
        counted("UPDATE checking SET bal = bal + ? WHERE custid = ?", &[Int, Int]),
        counted("UPDATE savings SET bal = 0 WHERE custid = ?", &[Int]),
        counted("UPDATE checking SET bal = 0 WHERE custid = ?", &[Int]),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_name_their_statements() {
        let all = statements(Dialect::Postgres).unwrap();
        for (index, words) in [
            (NAMED, "WHERE name = $1"),
            (ACCOUNT, "FROM accounts WHERE custid = $1"),
            (BALANCE, "s.custid = $1"),
            (SAVINGS, "bal FROM savings WHERE custid = $1"),
            (CHECKING, "bal FROM checking WHERE custid = $1"),
            (SAVINGS_LOCKED, "FROM savings WHERE custid = $1 FOR UPDATE"),
            (CHECKING_LOCKED, "FROM checking WHERE custid = $1 FOR UPDATE"),
            (ADD_TO_SAVINGS, "UPDATE savings SET bal = bal + $1"),
            (ADD_TO_CHECKING, "UPDATE checking SET bal = bal + $1"),
            (CLEAR_SAVINGS, "UPDATE savings SET bal = 0"),
            (CLEAR_CHECKING, "UPDATE checking SET bal = 0"),
        ] {
            assert!(all[index].sql.contains(words), "{index}: {}", all[index].sql);
        }
        assert_eq!(all.len(), CLEAR_CHECKING + 1);
        assert!(statements(Dialect::KeyValue).unwrap_err().contains("needs SQL"));
    }
}
