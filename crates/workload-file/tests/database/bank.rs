//! The bank of the documentation: its money stays the same whoever pays whom.

use super::*;
use driver_mysql::MySqlTarget;
use driver_postgres::PostgresTarget;
use testkit::{mariadb, postgres};

const BANK: &str = include_str!("../../../../docs/examples/bank.toml");

fn life_of_a_bank<T: Target>(target: &T) {
    // Few accounts, so that sessions collide; little money, so that some can't pay.
    let choice = parameters(&[("accounts", "20"), ("opening", "100")]);
    let mut bank = FileWorkload::from_text("bank.toml", BANK, &choice).unwrap();
    assert_eq!(load(target, &bank).written, 20);
    assert_sound(target, &bank);
    bank.observe(&mut *target.administer().unwrap()).unwrap();

    let counts = run(target, &bank, 2_000, 4);
    let (done, aborted) = (count_of(&counts, Outcome::Ok), count_of(&counts, Outcome::Abort));
    assert_eq!(done + aborted, 2_000, "{counts:?}");
    assert!(aborted > 0, "somebody must have run out of money: {counts:?}");
    assert_sound(target, &bank);

    // Each transfer that was done is noted once: 40 % of the requests, within 4.9 standard deviations.
    let mut administration = target.administer().unwrap();
    let noted = number(&mut *administration, "SELECT count(*) FROM transfer");
    let asked = noted as f64 + aborted as f64;
    assert!((asked - 800.0).abs() < 4.9 * (2_000.0f64 * 0.4 * 0.6).sqrt(), "{asked} transfers");

    // A second run goes on behind the numbers of the first.
    let highest = number(&mut *administration, "SELECT max(id) FROM transfer");
    bank.observe(&mut *administration).unwrap();
    run(target, &bank, 200, 2);
    assert!(number(&mut *administration, "SELECT max(id) FROM transfer") > highest);
    assert_sound(target, &bank);

    // Planted: money out of nothing is found.
    administration.script("UPDATE account SET balance = balance + 1 WHERE id = 7").unwrap();
    let broken: Vec<String> = check(target, &bank)
        .into_iter()
        .filter(|r| !r.passed)
        .map(|r| format!("{}: {}", r.name, r.detail))
        .collect();
    assert_eq!(broken[0], "no money is made or lost: 1, not 0");
    assert!(
        broken[1].starts_with("each account agrees with its transfers: 1 rows, not none; the first: 7, ")
    );

    // Accounts that are gone are misses.
    administration.script("DELETE FROM account").unwrap();
    let counts = run(target, &bank, 100, 1);
    assert_eq!(counts, [(Outcome::Miss, 100)]);
    workload::dataset::drop_dataset(&mut *administration, bank.dataset().unwrap()).unwrap();
    assert!(!administration.table_exists("transfer").unwrap());
}

#[test]
fn on_sqlite() {
    life_of_a_bank(&Database::new().target);
}

#[test]
fn on_postgres() {
    let Some(server) = postgres::server(&postgres::Options::default()) else { return };
    let url = TargetUrl::parse(&server.unix_url()).unwrap();
    life_of_a_bank(&PostgresTarget::from_url(&url).unwrap());
}

#[test]
fn on_mariadb() {
    let Some(server) = mariadb::server(&mariadb::Options::default()) else { return };
    let url = TargetUrl::parse(&server.unix_url()).unwrap();
    life_of_a_bank(&MySqlTarget::from_url(&url).unwrap());
}
