//! What waits for its COMMIT is counted while it is collected, and not when it is there.

use super::expression::Context;
use super::modify::Target;
use super::settings::Settings;
use super::transaction::Transaction;
use super::*;
use crate::{Data, NodeId, View};
use units::Nanos;

/// A table with as many rows as asked for, of 100 bytes each and 50 nulls.
struct Shop {
    catalog: Catalog,
    plans: PlanCache,
    settings: Settings,
    data: Data,
    transaction: Transaction,
}

impl Shop {
    fn new(rows: usize) -> Shop {
        let (catalog, plans) = (Catalog::new(), PlanCache::default());
        let (settings, data) = (Settings::default(), Data::new());
        let mut shop = Shop { catalog, plans, settings, data, transaction: Transaction::default() };
        let nulls: Vec<String> = (0..50).map(|n| format!("n{n} int")).collect();
        let create = format!("CREATE TABLE t (id int PRIMARY KEY, v text, {})", nulls.join(", "));
        let prepared = shop.prepare(&create);
        let Plan::CreateTable { name, columns, key, .. } = prepared.plan.clone() else { panic!() };
        shop.catalog.create(&name, columns, key).unwrap();
        for id in 0..rows {
            shop.run(&format!("INSERT INTO t (id, v) VALUES ({id}, '{}')", "x".repeat(100))).unwrap();
        }
        shop.transaction.commit(&mut shop.data, Nanos(0), |_| {});
        shop
    }

    fn prepare(&mut self, text: &str) -> std::sync::Arc<Prepared> {
        prepare_text(text, Vec::new(), &self.catalog, &mut self.plans).unwrap().unwrap()
    }

    fn run(&mut self, text: &str) -> Result<u64, SqlError> {
        let prepared = self.prepare(text);
        let context = Context {
            parameters: &[],
            now: 0,
            settings: &self.settings,
            catalog: &self.catalog,
            user: "ann",
            database: "shop",
            backend: 1,
        };
        let view = View { at: Nanos(0), node: NodeId(0), number: 0 };
        let mut target = Target { data: &self.data, transaction: &mut self.transaction, view };
        match &prepared.plan {
            Plan::Insert(insert) => insert.run(&mut target, &context),
            Plan::Update(update) => update.run(&mut target, &context),
            Plan::Delete(delete) => delete.run(&mut target, &context),
            _ => panic!("{text}"),
        }
    }
}

/// A row: 100 bytes, 52 cells of 24 bytes, and what a record costs.
const ROW: std::ops::Range<usize> = 1_400..2_000;

#[test]
fn a_row_is_charged_with_its_nulls_and_once() {
    let mut shop = Shop::new(10);
    assert_eq!(shop.transaction.bytes(), 0);
    assert_eq!(shop.run("UPDATE t SET n1 = 1").unwrap(), 10);
    let once = shop.transaction.bytes();
    assert!(ROW.contains(&(once / 10)), "{once}");
    assert_eq!(shop.run("UPDATE t SET n2 = 1").unwrap(), 10);
    assert!(shop.transaction.bytes() < once + 10 * 64, "{once}, then {}", shop.transaction.bytes());
    assert_eq!(shop.run("DELETE FROM t").unwrap(), 10);
    assert!(shop.transaction.bytes() < once / 4, "a delete has no row");
    shop.transaction.forget(b"t");
    assert_eq!(shop.transaction.bytes(), 0);
}

#[test]
fn an_update_is_refused_before_it_has_collected_too_much() {
    let mut shop = Shop::new(100);
    shop.transaction.most = 50 * ROW.start;
    let refused = shop.run("UPDATE t SET n1 = 1").unwrap_err();
    assert_eq!(refused.state, state::PROGRAM_LIMIT);
    // Not after the fact: none of it has been written.
    assert_eq!(shop.transaction.bytes(), 0);
    assert_eq!(shop.run("UPDATE t SET n1 = 1 WHERE id < 10").unwrap(), 10);
}

#[test]
fn the_values_of_one_row_have_a_limit() {
    let mut shop = Shop::new(0);
    let columns: Vec<String> = (0..8).map(|n| format!("c{n} text")).collect();
    let prepared = shop.prepare(&format!("CREATE TABLE big (id int PRIMARY KEY, {})", columns.join(", ")));
    let Plan::CreateTable { name, columns, key, .. } = prepared.plan.clone() else { panic!() };
    shop.catalog.create(&name, columns, key).unwrap();
    let half = format!("'{}'", "x".repeat(500_000));
    shop.run(&format!("INSERT INTO big VALUES (1, {half})")).unwrap();
    for _ in 0..4 {
        shop.run("UPDATE big SET c0 = c0 || c0").unwrap();
    }
    // 8 MB, eight and more times.
    let each: Vec<String> = (1..8).map(|n| format!("c{n} = c0 || c0")).collect();
    let refused = shop.run(&format!("UPDATE big SET {}", each.join(", "))).unwrap_err();
    assert_eq!(refused.state, state::PROGRAM_LIMIT);
    assert!(refused.message.contains("row"), "{}", refused.message);
}
