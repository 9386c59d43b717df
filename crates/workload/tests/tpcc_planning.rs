//! Planning TPC-C's requests is pure, keeps the specification's shares, and allocates nothing; nor does running them.

use driver::{Dialect, Direct, Target};
use driver_null::{NullSession, NullTarget};
use std::collections::BTreeMap;
use testkit::alloc::{CountingAlloc, counted};
use units::{Outcome, Seed};
use workload::tpcc::{Tpcc, TpccConfig};
use workload::users::NOBODY;
use workload::{OpId, Request, Workload};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

fn tpcc(warehouses: u32, overrides: &[(&str, &str)]) -> Tpcc {
    let overrides: Vec<_> = overrides.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    Tpcc::new(TpccConfig::new(warehouses.into(), Seed(1), &overrides).unwrap())
}

fn request(seq: u64, op: u8) -> Request {
    Request { seq, op: OpId(op), ticket: 0, user: NOBODY }
}

fn planned(tpcc: &Tpcc, request: Request) -> String {
    let mut plan = tpcc.new_plan();
    tpcc.plan(request, &mut plan);
    plan.to_string()
}

#[test]
fn no_request_allocates_when_planned_or_run() {
    let users = |seq: u64| if seq.is_multiple_of(2) { NOBODY } else { (seq % 50) as u32 };
    for overrides in [&[][..], &[("roundtrips", "single")], &[("compat", "benchbase"), ("order-lines", "15")]]
    {
        let tpcc = tpcc(5, overrides);
        let statements = tpcc.statements(Dialect::Null).unwrap();
        let mut session = NullTarget::new().connect(&statements, None).unwrap();
        let mut plan = tpcc.new_plan();
        let (failed, counts) = counted(|| {
            let mut failed = 0;
            for seq in 0..5_000 {
                tpcc.plan(Request { user: users(seq), ..request(seq, (seq % 5) as u8) }, &mut plan);
                let mut direct = Direct::new(&mut session);
                let outcome = Direct::<NullSession>::run(tpcc.run(&plan, &mut direct));
                failed += u64::from(outcome != Ok(Outcome::Ok));
            }
            failed
        });
        assert_eq!((failed, counts.total()), (0, 0), "{:?}", tpcc.facts());
        assert_eq!(tpcc.counts()[1].1, 0, "what answers nothing skips no district");
    }
}

#[test]
fn terminals_take_their_turns_without_allocating() {
    let tpcc = tpcc(10, &[]);
    let mut users = tpcc.users().unwrap();
    let ((), counts) =
        counted(|| (0..1_000).for_each(|turn| _ = std::hint::black_box(users.next(turn % 100))));
    assert_eq!((users.count(), counts.total()), (100, 0));
}

#[test]
fn a_plan_does_not_depend_on_what_was_planned_before() {
    let tpcc = tpcc(3, &[("remote", "20%,20%")]);
    let mut plan = tpcc.new_plan();
    for seq in (0..500).rev() {
        tpcc.plan(request(seq, (seq * 7 % 5) as u8), &mut plan);
        assert_eq!(plan.to_string(), planned(&tpcc, request(seq, (seq * 7 % 5) as u8)));
    }
}

#[test]
fn clients_ask_differently() {
    let mut config = TpccConfig::new(3.0, Seed(1), &[]).unwrap();
    config.client = 1;
    let (second, first) = (Tpcc::new(config), tpcc(3, &[]));
    let same = (0..200).filter(|seq| planned(&first, request(*seq, 0)) == planned(&second, request(*seq, 0)));
    assert_eq!(same.count(), 0);
}

/// A recording names its seed; a change here would silently change every load.
#[test]
fn plans_are_golden() {
    let tpcc = tpcc(10, &[]);
    let shown: Vec<String> = (0..5).map(|op| planned(&tpcc, request(40 + u64::from(op), op))).collect();
    assert_eq!(shown.join("\n"), GOLDEN);
}

const GOLDEN: &str = "\
NewOrder at 3/7 customer 1995 2x30865@3 1x3342@3 2x14781@3 4x18570@3 8x35202@3 1x41422@3 9x38866@3 8x88466@3 \
5x67914@3 1x68009@3 4x35018@3 1x67024@3 2x92624@3 3x48796@3 locked [1, 2, 3, 0, 10, 4, 6, 5, 13, 11, 8, 9, 7, 12]
Payment at 2/6 customer 1173 of 2/6 pays 421291
OrderStatus at 3/1 customer 1557
Delivery at 3 carrier 3
StockLevel at 8/10 below 12";

/// Whether `found` of `n` draws of probability p is within five standard deviations.
fn assert_binomial(what: &str, found: u64, n: f64, p: f64) {
    let (mean, deviation) = (n * p, (n * p * (1.0 - p)).sqrt());
    assert!((found as f64 - mean).abs() <= 5.0 * deviation, "{what}: {found} of {n} draws at {p}");
}

/// What was planned in `n` requests of an operation: how often each word was counted.
fn counts_of(
    tpcc: &Tpcc,
    op: u8,
    n: u64,
    words: impl Fn(&str, &mut dyn FnMut(String)),
) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for seq in 0..n {
        words(&planned(tpcc, request(seq, op)), &mut |word| *counts.entry(word).or_default() += 1);
    }
    counts
}

#[test]
fn new_orders_have_the_specification_s_shares() {
    let tpcc = tpcc(10, &[]);
    let n = 20_000;
    let counts = counts_of(&tpcc, 0, n, |words, count| {
        let home = words.split(' ').nth(2).unwrap().split_once('/').unwrap();
        count(format!("warehouse {}", home.0));
        count(format!("district {}", home.1));
        let lines: Vec<&str> = words.split(" locked").next().unwrap().split(' ').skip(5).collect();
        count(format!("lines {}", lines.len()));
        if lines.last().unwrap().contains("x100001@") {
            count("rolled back".to_owned());
        }
        for line in &lines {
            let (quantity, rest) = line.split_once('x').unwrap();
            let (item, supplier) = rest.split_once('@').unwrap();
            count(format!("quantity {quantity}"));
            count(if supplier == home.0 { "home" } else { "remote" }.to_owned());
            count("any line".to_owned());
            assert!((1..=100_001).contains(&item.parse::<u32>().unwrap()));
        }
    });
    let requests = n as f64;
    for number in 1..=10 {
        assert_binomial("warehouse", counts[&format!("warehouse {number}")], requests, 0.1);
        assert_binomial("district", counts[&format!("district {number}")], requests, 0.1);
        assert_binomial("quantity", counts[&format!("quantity {number}")], counts["any line"] as f64, 0.1);
    }
    for lines in 5..=15 {
        assert_binomial("lines", counts[&format!("lines {lines}")], requests, 1.0 / 11.0);
    }
    assert_binomial("rolled back", counts["rolled back"], requests, 0.01);
    assert_binomial("remote", counts["remote"], counts["any line"] as f64, 0.01);
}

#[test]
fn payments_order_statuses_and_the_rest_have_theirs() {
    let tpcc = tpcc(10, &[]);
    let n = 20_000;
    let by_name = |words: &str| words.split(' ').nth(4).unwrap().parse::<u32>().is_err();
    let payments = counts_of(&tpcc, 1, n, |words, count| {
        let words: Vec<&str> = words.split(' ').collect();
        count(if words[2] == words[6] { "home" } else { "away" }.to_owned());
        let warehouse = |place: &str| place.split_once('/').unwrap().0.to_owned();
        count(if warehouse(words[2]) == warehouse(words[6]) { "near" } else { "remote" }.to_owned());
        count(if by_name(&words.join(" ")) { "named" } else { "numbered" }.to_owned());
        assert!((100..=500_000).contains(&words[8].parse::<u32>().unwrap()));
    });
    assert_binomial("remote payments", payments["remote"], n as f64, 0.15);
    assert_eq!(
        payments["near"], payments["home"],
        "a customer of the home warehouse is of the home district"
    );
    assert_binomial("payments by name", payments["named"], n as f64, 0.6);
    let statuses = counts_of(&tpcc, 2, n, |words, count| {
        count(if by_name(words) { "named" } else { "numbered" }.to_owned());
    });
    assert_binomial("order statuses by name", statuses["named"], n as f64, 0.6);
    let carriers = counts_of(&tpcc, 3, n, |words, count| count(words.split(' ').nth(4).unwrap().to_owned()));
    let thresholds =
        counts_of(&tpcc, 4, n, |words, count| count(words.split(' ').nth(4).unwrap().to_owned()));
    assert_eq!((carriers.len(), thresholds.len()), (10, 11));
    assert!((1..=10).all(|carrier| carriers.contains_key(&carrier.to_string())));
    assert!((10..=20).all(|threshold| thresholds.contains_key(&threshold.to_string())));
}

/// Lines are locked by supplier and item, whatever the order in which they are named; an item that is not there is not.
#[test]
fn stock_is_locked_in_one_order_by_all() {
    let tpcc = tpcc(5, &[("remote", "50%,0%"), ("rollback", "30%")]);
    for seq in 0..500 {
        let words = planned(&tpcc, request(seq, 0));
        let (named, locked) = words.split_once(" locked ").unwrap();
        let lines: Vec<(u32, u32)> = named
            .split(' ')
            .skip(5)
            .map(|line| {
                let (item, supplier) = line.split_once('x').unwrap().1.split_once('@').unwrap();
                (supplier.parse().unwrap(), item.parse().unwrap())
            })
            .collect();
        let order: Vec<usize> =
            locked.trim_matches(['[', ']']).split(", ").map(|index| index.parse().unwrap()).collect();
        let there = lines.iter().filter(|(_, item)| *item <= 100_000).count();
        assert_eq!(order.len(), there);
        assert!(
            order.windows(2).all(|pair| (lines[pair[0]], pair[0]) < (lines[pair[1]], pair[1])),
            "{words}"
        );
    }
}
