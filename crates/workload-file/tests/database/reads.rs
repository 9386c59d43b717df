//! YCSB's workload C from a file, beside truetail's own.

use super::*;
use std::collections::BTreeMap;
use workload::ycsb::{Ycsb, YcsbConfig};

const READS: &str = include_str!("../../../../docs/examples/ycsb-c.toml");

/// How often each of 100,000 requests' keys comes, the most frequent first.
fn keys_of<W: Workload>(workload: &W, key_of: impl Fn(&W::Plan) -> String) -> Vec<(String, u64)> {
    let mut plan = workload.new_plan();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for seq in 0..100_000 {
        workload.plan(Request { seq, op: OpId(0), ticket: 0, user: NOBODY }, &mut plan);
        *counts.entry(key_of(&plan)).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

#[test]
fn the_keys_are_ycsb_s() {
    let file = FileWorkload::from_text("ycsb-c.toml", READS, &Choice::default()).unwrap();
    let ours = keys_of(&file, |plan| file.show(plan).split('=').nth(1).unwrap().to_owned());
    let ycsb = Ycsb::new(YcsbConfig::from_name("ycsb-c", 1.0, Seed(1), &[]).unwrap()).unwrap();
    let theirs = keys_of(&ycsb, |plan| plan.to_string().split(' ').nth(1).unwrap().to_owned());
    // Other draws of the same law: the hot keys are the same, as often within what chance allows (4.9 standard errors).
    for ((key, count), (other, expected)) in ours.iter().zip(&theirs).take(3) {
        assert_eq!(key, other);
        let error = 4.9 * ((count + expected) as f64).sqrt();
        assert!((*count as f64 - *expected as f64).abs() < error, "{key}: {count}, {expected}");
    }
}

#[test]
fn every_read_finds_its_record() {
    let database = Database::new();
    let mut reads =
        FileWorkload::from_text("ycsb-c.toml", READS, &parameters(&[("fieldlength", "10")])).unwrap();
    load(&database.target, &reads);
    reads.observe(&mut *database.target.administer().unwrap()).unwrap();
    assert_eq!(run(&database.target, &reads, 2_000, 2), [(Outcome::Ok, 2_000)]);
    assert_sound(&database.target, &reads);
    let mut administration = database.target.administer().unwrap();
    assert_eq!(number(&mut *administration, "SELECT count(*) FROM record WHERE length(field4) <> 10"), 0);
}
