//! An exact model: after a run the database holds what the model holds, to the last cent.

use super::*;
use crate::model::{Database, Table};

fn bank(parameters: &[(&str, &str)]) -> SmallBank {
    let mut all = vec![("customers", "60")];
    all.extend(parameters);
    let all: Vec<_> = all.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    SmallBank::new(SmallBankConfig::new(1.0, Seed(3), &all).unwrap())
}

#[derive(PartialEq)]
struct Model {
    accounts: Table,
    savings: Table,
    checking: Table,
}

impl Model {
    fn read(database: &Database) -> Model {
        let administration = &mut *database.administer();
        let mut table = |name: &str| Table::read(administration, name, &["custid"]);
        Model { accounts: table("accounts"), savings: table("savings"), checking: table("checking") }
    }

    fn savings(&self, customer: &str) -> i64 {
        self.savings.get(&[customer], "bal").unwrap().parse().unwrap()
    }

    fn checking(&self, customer: &str) -> i64 {
        self.checking.get(&[customer], "bal").unwrap().parse().unwrap()
    }

    fn total(&self) -> i64 {
        self.accounts.rows.keys().map(|key| self.savings(&key[0]) + self.checking(&key[0])).sum()
    }

    /// The rule that is broken, if one is; otherwise what the request does is done.
    fn apply(&mut self, plan: &Plan, benchbase: bool) -> Option<Rule> {
        let (first, second) = (plan.customer.to_string(), plan.other.to_string());
        let (first, second) = (first.as_str(), second.as_str());
        match plan.kind {
            Kind::Balance => {}
            Kind::DepositChecking => self.checking.add(&[first], "bal", 130),
            Kind::TransactSavings if self.savings(first) < 2_020 => return Some(Rule::SavingsTooLow),
            Kind::TransactSavings => self.savings.add(&[first], "bal", -2_020),
            Kind::WriteCheck => {
                let covered = self.savings(first) + self.checking(first) >= 500;
                let penalty = if benchbase { -100 } else { 100 };
                self.checking.add(&[first], "bal", if covered { -500 } else { -500 - penalty });
            }
            Kind::SendPayment if self.checking(first) < 500 => return Some(Rule::CheckingTooLow),
            Kind::SendPayment => {
                self.checking.add(&[first], "bal", -500);
                self.checking.add(&[second], "bal", 500);
            }
            Kind::Amalgamate if benchbase => {
                let total = self.savings(first) + self.checking(second);
                self.checking.set(&[first], "bal", 0);
                self.savings.add(&[second], "bal", -total);
            }
            Kind::Amalgamate => {
                let total = self.savings(first) + self.checking(first);
                self.savings.set(&[first], "bal", 0);
                self.checking.set(&[first], "bal", 0);
                self.checking.add(&[second], "bal", total);
            }
        }
        None
    }
}

fn run(bank: &mut SmallBank, spoil: &str) -> (Model, [u64; 2]) {
    let database = Database::loaded(bank);
    database.administer().script(spoil).unwrap();
    let mut model = Model::read(&database);
    let start = model.total();
    bank.observe(&mut *database.administer()).unwrap();
    let mut rules = [0; 2];
    database.run(
        bank,
        12_000,
        |_, _, ticket| ticket,
        |plan, outcome| {
            let broken = model.apply(plan, bank.config.benchbase);
            assert_eq!(outcome, if broken.is_some() { Outcome::Abort } else { Outcome::Ok }, "{plan}");
            if let Some(rule) = broken {
                rules[rule as usize] += 1;
            }
        },
    );
    assert!(model == Model::read(&database), "tables differ");
    for (rule, (name, count)) in bank.counts().into_iter().take(2).enumerate() {
        assert_eq!(count, rules[rule], "{name}");
    }
    if !bank.config.benchbase {
        let (added, taken) = bank.ledger.moved();
        assert_eq!(start.wrapping_add_unsigned(added).wrapping_sub_unsigned(taken), model.total());
        assert_eq!(bank.ledger.unknown(), 0);
    }
    let results = bank.check(&mut *database.administer(), Dialect::Sqlite).unwrap();
    assert!(results.iter().all(|result| result.passed), "{results:?}");
    (model, rules)
}

#[test]
fn the_database_is_what_the_model_says_and_no_cent_is_lost() {
    for roundtrips in ["batched", "single"] {
        // 60 customers give away their savings soon: most of the rules are broken, too.
        let (_, rules) = run(&mut bank(&[("roundtrips", roundtrips)]), "");
        assert!(rules[0] > 500, "{rules:?}");
    }
}

/// With next to nothing in the accounts, checks are not covered and payments are refused.
#[test]
fn the_poor_pay_a_penalty_and_are_refused() {
    let poor = "UPDATE savings SET bal = 0; UPDATE checking SET bal = 400";
    for parameters in [&[][..], &[("hotspot", "5,90%")], &[("compat", "benchbase")]] {
        let mut bank = bank(parameters);
        let (_, rules) = run(&mut bank, poor);
        assert!(rules[1] > 500, "{rules:?}");
    }
}

#[test]
fn who_is_not_there_is_missed_and_nothing_is_changed() {
    let bank = bank(&[]);
    let database = Database::loaded(&bank);
    let gone = "DELETE FROM savings; DELETE FROM checking; DELETE FROM accounts WHERE custid > 20";
    database.administer().script(gone).unwrap();
    database.run(
        &bank,
        3_000,
        |_, _, ticket| ticket,
        |plan, outcome| assert_eq!(outcome, Outcome::Miss, "{plan}"),
    );
    assert_eq!((bank.ledger.moved(), bank.ledger.unknown()), ((0, 0), 0));
}

#[test]
fn shares_of_the_mix_are_those_of_h_store() {
    let weights: Vec<f64> = bank(&[]).operations().iter().map(|operation| operation.weight).collect();
    assert_eq!(weights, [15.0, 15.0, 15.0, 25.0, 15.0, 15.0]);
}
