//! The three tables: making them and checking them.

use super::SmallBank;
use crate::dataset::{CheckResult, DataSet, Marker};
use crate::digits::Digits;
use crate::foreign_keys::{self, ForeignKey, counted, none_found};
use driver::{Administration, ConnectError, Dialect, Value};
use units::Rng;

const VERSION: u32 = 1;

/// Customers of one part.
const CHUNK: u64 = 10_000;
/// Rows between two calls of `progress`.
const PROGRESS: u64 = 1_000;
/// Customers whose balances are summed in a second or two.
const CHEAP: u64 = 10_000_000;

/// Balances to begin with, in whole units of money.
const LEAST: i64 = 10_000;
const MOST: i64 = 50_000;

/// Every movement of money is a multiple of so many cents.
const GRAIN: i64 = 10;

pub(crate) const KEYS: [ForeignKey; 2] = [
    ForeignKey {
        name: "savings_custid",
        table: "savings",
        column: "custid",
        parent: "accounts",
        key: "custid",
    },
    ForeignKey {
        name: "checking_custid",
        table: "checking",
        column: "custid",
        parent: "accounts",
        key: "custid",
    },
];

/// Cents of a new account: whole units, normal around the middle with a quarter of the range as standard deviation, drawn
/// again where they are out of range.
pub(crate) fn opening_balance(rng: &mut Rng) -> i64 {
    let middle = (LEAST + MOST) as f64 / 2.0;
    let deviation = (MOST - LEAST) as f64 / 4.0;
    loop {
        let units = (middle + deviation * rng.normal()).round() as i64;
        if (LEAST..=MOST).contains(&units) {
            return units * 100;
        }
    }
}

impl DataSet for SmallBank {
    fn marker(&self) -> Marker {
        let (scale, seed) = (self.config.scale, self.config.seed.0);
        Marker { workload: self.config.data_name(), scale, version: VERSION, seed, complete: true }
    }

    fn tables(&self) -> Vec<&'static str> {
        vec!["checking", "savings", "accounts"]
    }

    fn rows(&self) -> u64 {
        3 * self.config.customers
    }

    fn create(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        if !dialect.is_sql() {
            return Err(ConnectError::permanent("smallbank: its data set needs SQL"));
        }
        // SQLite: only this spelling makes it the row's own number instead of a second index.
        let key = if dialect == Dialect::Sqlite { "INTEGER PRIMARY KEY" } else { "bigint PRIMARY KEY" };
        let balances = |table: &str| {
            let keys = foreign_keys::inline(&KEYS, table, dialect);
            format!("CREATE TABLE {table} (custid {key}, bal bigint NOT NULL{keys})")
        };
        administration.script(&format!(
            "CREATE TABLE accounts (custid {key}, name varchar(64) NOT NULL); \
             CREATE INDEX accounts_name ON accounts (name); {}; {}",
            balances("savings"),
            balances("checking")
        ))
    }

    fn parts(&self) -> u32 {
        self.config.customers.div_ceil(CHUNK) as u32
    }

    fn fill(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        let (from, to) = self.part(part);
        let mut written = 0;
        let mut report = |progress: &mut dyn FnMut(u64)| {
            written += 1;
            if written % PROGRESS == 0 || written == 3 * (to - from) {
                progress(written);
            }
        };
        let mut customers = from..to;
        administration.bulk("accounts", &["custid", "name"], &mut |push| {
            let Some(customer) = customers.next() else { return false };
            push(&[Value::Int(customer as i64), Value::Text(Digits::<64>::of(customer).as_str())]);
            report(progress);
            true
        })?;
        for table in ["savings", "checking"] {
            let seed = self.config.seed.derive("smallbank").derive(table);
            let mut customers = from..to;
            administration.bulk(table, &["custid", "bal"], &mut |push| {
                let Some(customer) = customers.next() else { return false };
                push(&[Value::Int(customer as i64), Value::Int(opening_balance(&mut seed.at(customer)))]);
                report(progress);
                true
            })?;
        }
        Ok(())
    }

    fn empty(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
    ) -> Result<(), ConnectError> {
        let (from, to) = self.part(part);
        for table in self.tables() {
            administration
                .script(&format!("DELETE FROM {table} WHERE custid >= {from} AND custid < {to}"))?;
        }
        Ok(())
    }

    fn finish(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        foreign_keys::add(&KEYS, administration, dialect)?;
        if dialect == Dialect::Postgres {
            for table in self.tables() {
                administration.script(&format!("VACUUM (ANALYZE) {table}"))?;
            }
        }
        Ok(())
    }

    fn check(
        &self,
        administration: &mut dyn Administration,
        dialect: Dialect,
    ) -> Result<Vec<CheckResult>, ConnectError> {
        administration.script(dialect.begin_snapshot())?;
        let checked = self.checks(administration);
        // The first error is the one to tell.
        let ended = administration.script("COMMIT");
        let results = checked?;
        ended.map(|()| results)
    }

    fn check_is_cheap(&self) -> bool {
        self.config.customers <= CHEAP
    }
}

impl SmallBank {
    /// Customers from … to.
    fn part(&self, number: u32) -> (u64, u64) {
        let from = u64::from(number) * CHUNK;
        (from, (from + CHUNK).min(self.config.customers))
    }

    fn checks(&self, administration: &mut dyn Administration) -> Result<Vec<CheckResult>, ConnectError> {
        let customers = self.config.customers;
        let rows = self.tables().into_iter().rev().map(|table| (table, customers)).collect::<Vec<_>>();
        let mut results = vec![
            counted(administration, "no table grew or shrank", &rows)?,
            foreign_keys::check(&KEYS, administration)?,
            none_found(
                administration,
                "every account has its name",
                "accounts whose name is null or not of 64 digits that end in the number",
                "SELECT count(*) FROM accounts WHERE name IS NULL OR length(name) <> 64 \
                 OR name NOT LIKE concat('%', custid)",
            )?,
        ];
        results.push(none_found(
            administration,
            "every balance is a number",
            "accounts whose balance is null",
            "SELECT (SELECT count(*) FROM savings WHERE bal IS NULL) + \
             (SELECT count(*) FROM checking WHERE bal IS NULL)",
        )?);
        // BenchBase's `Amalgamate` takes money from savings without looking, and where it goes nobody knows.
        if !self.config.benchbase {
            results.push(none_found(
                administration,
                "no savings are negative",
                "savings accounts below zero",
                "SELECT count(*) FROM savings WHERE bal < 0",
            )?);
        }
        results.push(self.money(administration)?);
        Ok(results)
    }

    fn money(&self, administration: &mut dyn Administration) -> Result<CheckResult, ConnectError> {
        let total = total(administration)?;
        let verified = self.start.filter(|_| !self.config.benchbase && self.config.client.1 == 1);
        Ok(match verified {
            Some(start) => self.ledger.judge("money is conserved", start, total, shown),
            None => CheckResult {
                name: "money moves in steps of 10 cents".to_owned(),
                passed: total % GRAIN == 0,
                detail: format!(
                    "{} in all; that none is lost, a run verifies for what it moved",
                    shown(total)
                ),
            },
        })
    }
}

/// Cents of all accounts.
pub(crate) fn total(administration: &mut dyn Administration) -> Result<i64, ConnectError> {
    let sql =
        "SELECT (SELECT coalesce(sum(bal), 0) FROM savings) + (SELECT coalesce(sum(bal), 0) FROM checking)";
    let rows = administration.query(sql)?;
    let text = rows.first().and_then(|row| row.first()).and_then(|value| value.as_deref());
    text.and_then(|text| text.parse().ok()).ok_or_else(|| {
        ConnectError::permanent(format!("`{}` is not a sum of cents: {sql}", text.unwrap_or("nothing")))
    })
}

/// Cents as an amount of money.
fn shown(cents: i64) -> String {
    driver::Decimal { unscaled: cents, scale: 2 }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn opening_balances_are_bell_shaped() {
        let n = 100_000;
        let balances: Vec<i64> = (0..n).map(|n| opening_balance(&mut Seed(5).at(n))).collect();
        assert!(balances.iter().all(|cents| (1_000_000..=5_000_000).contains(cents) && cents % 100 == 0));
        let n = n as f64;
        let mean = balances.iter().sum::<i64>() as f64 / n / 100.0;
        let variance = balances.iter().map(|cents| (*cents as f64 / 100.0 - mean).powi(2)).sum::<f64>() / n;
        // A normal law cut at two standard deviations keeps 0.8796 of its own.
        let deviation = 0.8796 * 10_000.0;
        assert!((mean - 30_000.0).abs() < 5.0 * deviation / n.sqrt(), "{mean}");
        assert!((variance.sqrt() / deviation - 1.0).abs() < 0.01, "{}", variance.sqrt());
    }
}
