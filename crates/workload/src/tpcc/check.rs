//! The twelve consistency conditions (3.3.2), and what they silently rely on, in one snapshot.
//!
//! Each is a query that gives the groups that offend. Most are ledgers: what one side has counts up, what the other side
//! has counts down, and each group must come to nothing. A group that one side lacks altogether is a group like any other
//! that way, and a null, which a sum would drop, is counted.

use super::config::{DISTRICTS, TpccConfig};
use crate::dataset::CheckResult;
use driver::{Administration, ConnectError, Dialect};

/// A condition and the query for the groups that offend it.
struct Condition {
    name: &'static str,
    /// What the columns of a group say, as in `warehouse 1, district 2`.
    group: &'static [&'static str],
    sql: String,
    /// What is to be known of a condition that holds.
    note: String,
}

/// Groups that are named when a condition is broken.
const NAMED: usize = 3;

/// Verifies all conditions; each is a result.
pub(crate) fn check(
    config: &TpccConfig,
    administration: &mut dyn Administration,
    dialect: Dialect,
) -> Result<Vec<CheckResult>, ConnectError> {
    administration.script(dialect.begin_snapshot())?;
    let checked = check_all(config, administration);
    // The first error is the one to tell.
    let ended = administration.script("COMMIT");
    let results = checked?;
    ended.map(|()| results)
}

fn check_all(
    config: &TpccConfig,
    administration: &mut dyn Administration,
) -> Result<Vec<CheckResult>, ConnectError> {
    let is_fresh = administration.query(&has_run(config))?.is_empty();
    let mut results = Vec::new();
    for condition in conditions(config, is_fresh) {
        let rows = administration.query(&format!("{} LIMIT {}", condition.sql, NAMED + 1))?;
        results.push(judged(&condition, &rows));
    }
    Ok(results)
}

fn judged(condition: &Condition, rows: &[Vec<Option<String>>]) -> CheckResult {
    let of_group = |row: &Vec<Option<String>>| {
        let columns = condition.group.iter().zip(row);
        let words: Vec<String> =
            columns.map(|(name, value)| format!("{name} {}", value.as_deref().unwrap_or("null"))).collect();
        words.join(", ")
    };
    let named: Vec<String> = rows.iter().take(NAMED).map(of_group).collect();
    let detail = match rows.len() {
        0 if condition.note.is_empty() => "no group offends".to_owned(),
        0 => format!("no group offends{}", condition.note),
        found if found > NAMED => format!("offended by {}, and more", named.join("; ")),
        _ => format!("offended by {}", named.join("; ")),
    };
    CheckResult { name: condition.name.to_owned(), passed: rows.is_empty(), detail }
}

/// A row if any transaction has been run since the load.
fn has_run(config: &TpccConfig) -> String {
    format!(
        "SELECT d_id FROM district WHERE d_next_o_id <> {} \
         UNION ALL SELECT c_id FROM customer WHERE c_delivery_cnt <> 0 OR c_payment_cnt <> 1 LIMIT 1",
        config.customers + 1
    )
}

/// Groups of `keys` whose amounts `x` do not come to nothing, or of which one is null, or that offend otherwise.
fn ledger(keys: &str, sides: &[&str], otherwise: &str) -> String {
    format!(
        "SELECT {keys} FROM ({}) ledger GROUP BY {keys} HAVING sum(x) <> 0 OR count(x) <> count(*){otherwise}",
        sides.join(" UNION ALL ")
    )
}

const WAREHOUSE: &[&str] = &["warehouse"];
const DISTRICT: &[&str] = &["warehouse", "district"];
const ORDER: &[&str] = &["warehouse", "district", "order"];
const CUSTOMER: &[&str] = &["warehouse", "district", "customer"];

/// Amounts of delivered lines, counted down for who ordered them.
const DELIVERED: &str = "SELECT o_w_id, o_d_id, o_c_id, -ol_amount, 0 FROM order_line \
    JOIN oorder ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE ol_delivery_d IS NOT NULL";

fn conditions(config: &TpccConfig, is_fresh: bool) -> Vec<Condition> {
    let mut list = structure(config);
    list.extend(accounts());
    list.extend(orders());
    list.extend(customers());
    list.push(undelivered(config, is_fresh));
    list.push(stock(config));
    // By their numbers, behind what they rely on.
    list.sort_by_key(|condition| {
        let number = condition.name.split_once(':').and_then(|(number, _)| number.parse::<u32>().ok());
        number.unwrap_or_default()
    });
    list
}

fn condition(name: &'static str, group: &'static [&'static str], sql: String) -> Condition {
    Condition { name, group, sql, note: String::new() }
}

/// What the conditions rely on: that nothing is missing or too much on which no sum depends, and that what is referred to
/// is there.
fn structure(config: &TpccConfig) -> Vec<Condition> {
    let TpccConfig { warehouses, items, customers, .. } = config;
    let districts = u64::from(*warehouses) * u64::from(DISTRICTS);
    let counts = [
        ("item", u64::from(*items)),
        ("warehouse", u64::from(*warehouses)),
        ("district", districts),
        ("customer", districts * u64::from(*customers)),
        ("stock", u64::from(*warehouses) * u64::from(*items)),
    ];
    let wrong: Vec<String> = counts
        .iter()
        .map(|(table, rows)| format!("SELECT '{table}', count(*) FROM {table} HAVING count(*) <> {rows}"))
        .collect();
    vec![
        condition("every table has its rows", &["table", "rows"], wrong.join(" UNION ALL ")),
        condition(
            "every warehouse has its ten districts",
            DISTRICT,
            format!(
                "SELECT d_w_id, d_id FROM district LEFT JOIN warehouse ON w_id = d_w_id \
                 WHERE w_id IS NULL OR d_id < 1 OR d_id > {DISTRICTS}"
            ),
        ),
        condition(
            "every order has its customer",
            ORDER,
            "SELECT o_w_id, o_d_id, o_id FROM oorder LEFT JOIN customer \
             ON c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id WHERE c_id IS NULL"
                .to_owned(),
        ),
        condition(
            "every order line has its stock",
            ORDER,
            "SELECT ol_w_id, ol_d_id, ol_o_id FROM order_line LEFT JOIN stock \
             ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id WHERE s_i_id IS NULL"
                .to_owned(),
        ),
    ]
}

/// 1, 8, 9: the accounts of warehouses and districts.
fn accounts() -> [Condition; 3] {
    let warehouse = "SELECT w_id AS w, w_ytd AS x, 1 AS one FROM warehouse";
    let district = "SELECT d_w_id AS w, d_id AS d, d_ytd AS x, 1 AS one FROM district";
    let one = " OR sum(one) <> 1";
    [
        condition(
            "1: W_YTD is the sum of D_YTD",
            WAREHOUSE,
            ledger("w", &[warehouse, "SELECT d_w_id, -d_ytd, 0 FROM district"], one),
        ),
        condition(
            "8: W_YTD is the sum of H_AMOUNT",
            WAREHOUSE,
            ledger("w", &[warehouse, "SELECT h_w_id, -h_amount, 0 FROM history"], one),
        ),
        condition(
            "9: D_YTD is the sum of H_AMOUNT",
            DISTRICT,
            ledger("w, d", &[district, "SELECT h_w_id, h_d_id, -h_amount, 0 FROM history"], one),
        ),
    ]
}

/// 2 … 7: orders, their lines, and which of them are delivered.
fn orders() -> [Condition; 6] {
    let order = "SELECT o_w_id AS w, o_d_id AS d, o_id AS o, o_ol_cnt AS x, 1 AS one FROM oorder";
    let is_undelivered = "SELECT o_w_id AS w, o_d_id AS d, o_id AS o, \
        CASE WHEN o_carrier_id IS NULL THEN 1 ELSE 0 END AS x FROM oorder";
    [
        condition(
            "2: D_NEXT_O_ID - 1 is the largest O_ID and NO_O_ID",
            DISTRICT,
            // Orders begin with 1, so 0 is none. A district without new orders has delivered all.
            "SELECT w, d FROM (SELECT d_w_id AS w, d_id AS d, d_next_o_id AS n, 0 AS o, 0 AS no FROM district \
             UNION ALL SELECT o_w_id, o_d_id, 0, max(o_id), 0 FROM oorder GROUP BY o_w_id, o_d_id \
             UNION ALL SELECT no_w_id, no_d_id, 0, 0, max(no_o_id) FROM new_order GROUP BY no_w_id, no_d_id) ids \
             GROUP BY w, d HAVING count(n) <> count(*) OR max(n) - 1 <> max(o) \
             OR (max(no) > 0 AND max(no) <> max(o))"
                .to_owned(),
        ),
        condition(
            "3: no NO_O_ID is left out between the least and the largest",
            DISTRICT,
            "SELECT no_w_id, no_d_id FROM new_order GROUP BY no_w_id, no_d_id \
             HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)"
                .to_owned(),
        ),
        condition(
            "4: the sum of O_OL_CNT is the number of order lines",
            DISTRICT,
            ledger(
                "w, d",
                &[
                    "SELECT o_w_id AS w, o_d_id AS d, o_ol_cnt AS x FROM oorder",
                    "SELECT ol_w_id, ol_d_id, -1 FROM order_line",
                ],
                "",
            ),
        ),
        condition(
            "5: O_CARRIER_ID is null where there is a row of new_order, and nowhere else",
            ORDER,
            ledger("w, d, o", &[is_undelivered, "SELECT no_w_id, no_d_id, no_o_id, -1 FROM new_order"], ""),
        ),
        condition(
            "6: O_OL_CNT is the number of the order's lines",
            ORDER,
            ledger(
                "w, d, o",
                &[order, "SELECT ol_w_id, ol_d_id, ol_o_id, -1, 0 FROM order_line"],
                " OR sum(one) <> 1",
            ),
        ),
        condition(
            "7: OL_DELIVERY_D is null where the order's O_CARRIER_ID is, and nowhere else",
            ORDER,
            "SELECT ol_w_id, ol_d_id, ol_o_id FROM order_line LEFT JOIN oorder \
             ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE o_id IS NULL \
             OR (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL) \
             OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL)"
                .to_owned(),
        ),
    ]
}

/// 10, 12: the accounts of customers.
fn customers() -> [Condition; 2] {
    let keys = "SELECT c_w_id AS w, c_d_id AS d, c_id AS c";
    let balance = format!("{keys}, c_balance AS x, 1 AS one FROM customer");
    let both = format!("{keys}, c_balance + c_ytd_payment AS x, 1 AS one FROM customer");
    let paid = "SELECT h_c_w_id, h_c_d_id, h_c_id, h_amount, 0 FROM history";
    // A customer whose order is not delivered has nothing on the other side, and would not be missed.
    let ordered = "SELECT o_w_id, o_d_id, o_c_id, 0, 0 FROM oorder";
    let one = " OR sum(one) <> 1";
    [
        condition(
            "10: C_BALANCE is the sum of delivered OL_AMOUNT less that of H_AMOUNT",
            CUSTOMER,
            ledger("w, d, c", &[&balance, DELIVERED, paid], one),
        ),
        condition(
            "12: C_BALANCE + C_YTD_PAYMENT is the sum of delivered OL_AMOUNT",
            CUSTOMER,
            ledger("w, d, c", &[&both, DELIVERED, ordered], one),
        ),
    ]
}

/// The 11th. The specification's holds right after the load alone; with the orders that were delivered since, which customers
/// count, it holds always, and right after the load it is the same.
fn undelivered(config: &TpccConfig, is_fresh: bool) -> Condition {
    let delivered = config.first_undelivered() - 1;
    let sql = ledger(
        "w, d",
        &[
            &format!("SELECT d_w_id AS w, d_id AS d, {delivered} AS x FROM district"),
            "SELECT o_w_id, o_d_id, -1 FROM oorder",
            "SELECT no_w_id, no_d_id, 1 FROM new_order",
            "SELECT c_w_id, c_d_id, c_delivery_cnt FROM customer",
        ],
        "",
    );
    let note = if is_fresh {
        format!("; as loaded, {delivered} orders of each district are delivered")
    } else {
        "; skipped as the specification has it, which is for data as loaded: what was delivered since is allowed for \
         by C_DELIVERY_CNT"
            .to_owned()
    };
    let name = "11: orders less new orders are those delivered";
    Condition { name, group: DISTRICT, sql, note }
}

/// Not the specification's: what was ordered since the load was taken from stock, once.
fn stock(config: &TpccConfig) -> Condition {
    let since = config.customers;
    let sql = format!(
        "SELECT w FROM (SELECT s_w_id AS w, s_ytd AS x, s_order_cnt AS n FROM stock \
         UNION ALL SELECT ol_supply_w_id, -ol_quantity, -1 FROM order_line WHERE ol_o_id > {since}) ledger \
         GROUP BY w HAVING sum(x) <> 0 OR sum(n) <> 0 OR count(x) <> count(*) OR count(n) <> count(*)"
    );
    condition("S_YTD and S_ORDER_CNT are what was ordered since the load", WAREHOUSE, sql)
}
