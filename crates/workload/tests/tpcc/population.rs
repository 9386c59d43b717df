//! The fresh data set is the specification's (4.3.3.1): a whole warehouse, counted.

use crate::support::{Database, assert_sound, check, number, one, small, tpcc};
use driver::Administration;

/// Whether a count of n draws of probability p is within five standard deviations.
fn assert_binomial(what: &str, found: i64, n: f64, p: f64) {
    let (mean, deviation) = (n * p, (n * p * (1.0 - p)).sqrt());
    assert!((found as f64 - mean).abs() <= 5.0 * deviation, "{what}: {found} of {n} draws at {p}");
}

/// Least and largest value of a column.
fn range(administration: &mut dyn Administration, table: &str, column: &str) -> (i64, i64) {
    let of = |function: &str| format!("SELECT {function}({column}) FROM {table}");
    (number(administration, &of("min")), number(administration, &of("max")))
}

fn lengths(administration: &mut dyn Administration, table: &str, column: &str) -> (i64, i64) {
    range(administration, table, &format!("length({column})"))
}

#[test]
fn a_warehouse_is_the_specification_s() {
    let tpcc = tpcc(1, 7, &[]);
    let database = Database::loaded(&tpcc);
    let found = &mut *database.administer();
    counts(found);
    ranges(found);
    texts(found);
    shares(found);
    names(found);
    orders(found);
    assert_sound(&database.target, &tpcc);
    let fresh = check(&database.target, &tpcc);
    let eleventh = fresh.iter().find(|result| result.name.starts_with("11:")).unwrap();
    assert!(eleventh.detail.contains("as loaded, 2100 orders"), "{}", eleventh.detail);
}

fn counts(found: &mut dyn Administration) {
    for (table, rows) in [
        ("warehouse", 1),
        ("district", 10),
        ("customer", 30_000),
        ("history", 30_000),
        ("oorder", 30_000),
        ("new_order", 9_000),
        ("item", 100_000),
        ("stock", 100_000),
    ] {
        assert_eq!(number(found, &format!("SELECT count(*) FROM {table}")), rows, "{table}");
    }
    let lines = number(found, "SELECT count(*) FROM order_line");
    // The mean of 5 … 15 is 10, its standard deviation 3.16: five standard errors over 30,000 orders.
    assert!((lines - 300_000).abs() < 2_740, "{lines}");
}

/// Money and rates are whole numbers here: cents, and ten-thousandths.
fn ranges(found: &mut dyn Administration) {
    for (table, column, least, most) in [
        ("warehouse", "w_ytd", 30_000_000, 30_000_000),
        ("district", "d_ytd", 3_000_000, 3_000_000),
        ("district", "d_next_o_id", 3_001, 3_001),
        ("customer", "c_balance", -1_000, -1_000),
        ("customer", "c_ytd_payment", 1_000, 1_000),
        ("customer", "c_payment_cnt", 1, 1),
        ("customer", "c_delivery_cnt", 0, 0),
        ("customer", "c_credit_lim", 5_000_000, 5_000_000),
        ("customer", "c_discount", 0, 5_000),
        ("history", "h_amount", 1_000, 1_000),
        ("oorder", "o_carrier_id", 1, 10),
        ("oorder", "o_ol_cnt", 5, 15),
        ("oorder", "o_all_local", 1, 1),
        ("order_line", "ol_quantity", 5, 5),
        ("order_line", "ol_supply_w_id", 1, 1),
        ("stock", "s_quantity", 10, 100),
        ("stock", "s_ytd", 0, 0),
        ("stock", "s_order_cnt", 0, 0),
        ("stock", "s_remote_cnt", 0, 0),
        ("new_order", "no_o_id", 2_101, 3_000),
        ("item", "i_im_id", 1, 10_000),
        ("item", "i_price", 100, 10_000),
    ] {
        let (low, high) = range(found, table, column);
        assert!(low >= least && high <= most, "{table}.{column}: {low} … {high}");
        // With thousands of draws, the ends of a range are met nearly, or exactly where it is small.
        let slack = (most - least) / 100;
        assert!(low <= least + slack && high >= most - slack, "{table}.{column}: {low} … {high}");
    }
    for table in ["warehouse", "district"] {
        let (low, high) = range(found, table, &format!("{}_tax", &table[..1]));
        assert!(low >= 0 && high <= 2_000, "{table}: {low} … {high}");
    }
}

fn texts(found: &mut dyn Administration) {
    for (table, column, least, most) in [
        ("item", "i_name", 14, 24),
        ("item", "i_data", 26, 50),
        ("stock", "s_data", 26, 50),
        ("stock", "s_dist_01", 24, 24),
        ("stock", "s_dist_10", 24, 24),
        ("order_line", "ol_dist_info", 24, 24),
        ("history", "h_data", 12, 24),
        ("customer", "c_first", 8, 16),
        ("customer", "c_street_1", 10, 20),
        ("customer", "c_street_2", 10, 20),
        ("customer", "c_city", 10, 20),
        ("customer", "c_state", 2, 2),
        ("customer", "c_zip", 9, 9),
        ("customer", "c_phone", 16, 16),
        ("customer", "c_data", 300, 500),
    ] {
        assert_eq!(lengths(found, table, column), (least, most), "{table}.{column}");
    }
    let wrong = "SELECT count(*) FROM customer WHERE c_middle <> 'OE' OR substr(c_zip, 5) <> '11111' \
                 OR c_credit NOT IN ('GC', 'BC') OR c_phone GLOB '*[^0-9]*' OR c_state GLOB '*[^A-Z]*'";
    assert_eq!(number(found, wrong), 0);
}

fn shares(found: &mut dyn Administration) {
    for (table, column, rows) in [("item", "i_data", 1e5), ("stock", "s_data", 1e5)] {
        let sql = format!("SELECT count(*) FROM {table} WHERE instr({column}, 'ORIGINAL') > 0");
        assert_binomial(column, number(found, &sql), rows, 0.1);
    }
    let bad = number(found, "SELECT count(*) FROM customer WHERE c_credit = 'BC'");
    assert_binomial("bad credit", bad, 30_000.0, 0.1);
    // Lines name items evenly: a tenth of the items have a tenth of the lines.
    let lines = number(found, "SELECT count(*) FROM order_line") as f64;
    let first = number(found, "SELECT count(*) FROM order_line WHERE ol_i_id <= 10000");
    assert_binomial("items of lines", first, lines, 0.1);
}

fn names(found: &mut dyn Administration) {
    // Every district has each of the thousand names, its first thousand customers in their order.
    let distinct = "SELECT min(n) FROM (SELECT count(DISTINCT c_last) AS n FROM customer GROUP BY c_d_id)";
    assert_eq!(number(found, distinct), 1_000);
    let last = |found: &mut dyn Administration, c: u32| {
        one(found, &format!("SELECT c_last FROM customer WHERE c_w_id = 1 AND c_d_id = 3 AND c_id = {c}"))
    };
    assert_eq!(
        (last(found, 1), last(found, 2), last(found, 372), last(found, 1_000)),
        ("BARBARBAR".into(), "BARBAROUGHT".into(), "PRICALLYOUGHT".into(), "EINGEINGEING".into())
    );
    // The others are drawn unevenly: of 1,000 names over 20,000 draws the commonest has far more than 20 + 5 × 4.5.
    let commonest =
        "SELECT max(n) FROM (SELECT count(*) AS n FROM customer WHERE c_id > 1000 GROUP BY c_last)";
    assert!(number(found, commonest) > 50);
}

fn orders(found: &mut dyn Administration) {
    // In each district every customer has one order, in an order of its own.
    let customers = "SELECT min(n) FROM (SELECT count(DISTINCT o_c_id) AS n FROM oorder GROUP BY o_d_id)";
    assert_eq!(number(found, customers), 3_000);
    let in_place = number(found, "SELECT count(*) FROM oorder WHERE o_c_id = o_id");
    assert!(in_place < 40, "a permutation leaves one in its place on average, ten leave {in_place}");
    let same = "SELECT count(*) FROM oorder a JOIN oorder b ON a.o_id = b.o_id AND a.o_d_id = 1 AND b.o_d_id = 2 \
                WHERE a.o_c_id = b.o_c_id";
    assert!(number(found, same) < 10);
    let wrong = "SELECT count(*) FROM oorder WHERE (o_id < 2101) <> (o_carrier_id IS NOT NULL)";
    assert_eq!(number(found, wrong), 0);
    let wrong = "SELECT count(*) FROM order_line JOIN oorder ON o_d_id = ol_d_id AND o_id = ol_o_id WHERE CASE \
                 WHEN o_id < 2101 THEN ol_amount <> 0 OR ol_delivery_d <> o_entry_d OR ol_delivery_d IS NULL \
                 ELSE ol_amount < 1 OR ol_amount > 999999 OR ol_delivery_d IS NOT NULL END";
    assert_eq!(number(found, wrong), 0);
}

#[test]
fn a_seed_decides_every_value_and_another_one_others() {
    let contents = |seed| {
        let tpcc = small(2, seed, &[]);
        let database = Database::loaded(&tpcc);
        assert_sound(&database.target, &tpcc);
        let mut found = database.administer();
        tpcc_tables().map(|table| found.query(&format!("SELECT * FROM {table}")).unwrap())
    };
    let (first, again, other) = (contents(1), contents(1), contents(2));
    assert!(first == again && first.iter().zip(&other).filter(|(a, b)| a != b).count() == 8);
}

/// `new_order` holds numbers alone, which no seed changes.
fn tpcc_tables() -> [&'static str; 9] {
    ["warehouse", "district", "customer", "history", "oorder", "new_order", "order_line", "item", "stock"]
}

#[test]
fn benchbase_s_data_set_is_told_apart() {
    let tpcc = small(1, 1, &[("compat", "benchbase")]);
    let database = Database::loaded(&tpcc);
    let found = &mut *database.administer();
    assert_eq!(lengths(found, "stock", "s_dist_05"), (23, 23));
    assert_eq!(one(found, "SELECT w_zip FROM warehouse"), "123456789");
    assert!(number(found, "SELECT min(c_discount) FROM customer") > 0);
    assert_eq!(
        one(found, "SELECT workload FROM truetail_dataset"),
        "tpcc items=60 customers=20 compat=benchbase"
    );
    assert_sound(&database.target, &tpcc);
}
