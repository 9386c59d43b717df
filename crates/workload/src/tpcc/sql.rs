//! The statements, written once for all databases, and their places in the list.

use super::config::DISTRICTS;
use driver::ValueType::{Decimal, Int, Text, Timestamp};
use driver::{Dialect, StatementSpec, ValueType};

pub(crate) const WAREHOUSE_TAX: usize = 0;
pub(crate) const DISTRICT_NEXT: usize = 1;
pub(crate) const COUNT_ORDER: usize = 2;
pub(crate) const DISCOUNT: usize = 3;
pub(crate) const ITEM: usize = 4;
pub(crate) const INSERT_ORDER: usize = 5;
pub(crate) const INSERT_NEW_ORDER: usize = 6;
pub(crate) const TAKE_STOCK: usize = 7;
pub(crate) const INSERT_LINE: usize = 8;
pub(crate) const PAY_WAREHOUSE: usize = 9;
pub(crate) const WAREHOUSE: usize = 10;
pub(crate) const PAY_DISTRICT: usize = 11;
pub(crate) const DISTRICT: usize = 12;
pub(crate) const CUSTOMER: usize = 13;
pub(crate) const CUSTOMERS_NAMED: usize = 14;
pub(crate) const PAY_CUSTOMER: usize = 15;
pub(crate) const BALANCE: usize = 16;
pub(crate) const BALANCE_AND_DATA: usize = 17;
pub(crate) const SET_DATA: usize = 18;
pub(crate) const INSERT_HISTORY: usize = 19;
pub(crate) const NAMED: usize = 20;
pub(crate) const LAST_ORDER: usize = 21;
pub(crate) const OLDEST: usize = 22;
pub(crate) const OLDEST_LOCKED: usize = 23;
pub(crate) const CLAIM: usize = 24;
pub(crate) const ORDERED_BY: usize = 25;
pub(crate) const SET_CARRIER: usize = 26;
pub(crate) const SET_DELIVERED: usize = 27;
pub(crate) const AMOUNT: usize = 28;
pub(crate) const CREDIT: usize = 29;
pub(crate) const NEXT_ORDER: usize = 30;
pub(crate) const LOW_STOCK: usize = 31;
/// One for each district, since each reads a column of its own.
const STOCK: usize = 32;

/// The statement that reads and locks stock for an order of this district, in 1 … 10.
pub(crate) fn stock(district: i64) -> usize {
    STOCK + (district.clamp(1, DISTRICTS.into()) - 1) as usize
}

const MONEY: ValueType = Decimal(2);
const RATE: ValueType = Decimal(4);

/// The statements in the order of the indexes above.
pub(crate) fn statements(dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
    if dialect == Dialect::KeyValue {
        return Err("tpcc: needs a target with SQL, and this one has key-value commands only".to_owned());
    }
    let mut list = new_order();
    list.extend(payment());
    list.extend(order_status());
    list.extend(delivery());
    list.extend(stock_level());
    list.extend((1..=DISTRICTS).map(stock_of));
    for statement in &mut list {
        statement.sql = dialect.sql(&statement.sql);
    }
    Ok(list)
}

use StatementSpec as S;

fn new_order() -> Vec<StatementSpec> {
    vec![
        S::kept("SELECT w_tax FROM warehouse WHERE w_id = ?", &[Int], &[RATE]),
        S::kept(
            "SELECT d_tax, d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE",
            &[Int, Int],
            &[RATE, Int],
        ),
        S::counted(
            "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?",
            &[Int, Int],
        ),
        S::kept(
            "SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[Int, Int, Int],
            &[RATE, Text, Text],
        ),
        S::kept("SELECT i_price, i_name, i_data FROM item WHERE i_id = ?", &[Int], &[MONEY, Text, Text]),
        S::counted(
            "INSERT INTO oorder (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) \
             VALUES (?, ?, ?, ?, ?, NULL, ?, ?)",
            &[Int, Int, Int, Int, Timestamp, Int, Int],
        ),
        S::counted("INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (?, ?, ?)", &[Int, Int, Int]),
        S::counted(
            "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, \
             s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?",
            &[Int, Int, Int, Int, Int],
        ),
        S::counted(
            "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, \
             ol_delivery_d, ol_quantity, ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)",
            &[Int, Int, Int, Int, Int, Int, Int, MONEY, Text],
        ),
    ]
}

/// The columns that a terminal shows of a customer; the first two are what the transaction works with.
const SHOWN: &str = "c_id, c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, \
    c_phone, c_since, c_credit_lim, c_discount, c_balance";
const SHOWN_TYPES: [ValueType; 15] =
    [Int, Text, Text, Text, Text, Text, Text, Text, Text, Text, Text, Timestamp, MONEY, RATE, MONEY];

fn payment() -> Vec<StatementSpec> {
    let customer = format!("SELECT {SHOWN} FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?");
    let named = format!(
        "SELECT {SHOWN} FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first, c_id"
    );
    vec![
        S::counted("UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?", &[MONEY, Int]),
        S::kept(
            "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?",
            &[Int],
            &[Text; 6],
        ),
        S::counted("UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?", &[MONEY, Int, Int]),
        S::kept(
            "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district \
             WHERE d_w_id = ? AND d_id = ?",
            &[Int, Int],
            &[Text; 6],
        ),
        S::kept(customer, &[Int, Int, Int], &SHOWN_TYPES),
        S::kept(named, &[Int, Int, Text], &SHOWN_TYPES),
        S::counted(
            "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
             c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[MONEY, MONEY, Int, Int, Int],
        ),
        S::kept(
            "SELECT c_balance FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[Int, Int, Int],
            &[MONEY],
        ),
        S::kept(
            "SELECT c_balance, c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[Int, Int, Int],
            &[MONEY, Text],
        ),
        S::counted(
            "UPDATE customer SET c_data = ? WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[Text, Int, Int, Int],
        ),
        S::counted(
            "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            &[Int, Int, Int, Int, Int, Timestamp, MONEY, Text],
        ),
    ]
}

fn order_status() -> Vec<StatementSpec> {
    vec![
        S::kept(
            "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first, c_id",
            &[Int, Int, Text],
            &[Int],
        ),
        // One statement, so that balance, order and lines are of one moment at every isolation level.
        S::counted(
            "SELECT c_balance, c_first, c_middle, c_last, o_id, o_entry_d, o_carrier_id, ol_i_id, ol_supply_w_id, \
             ol_quantity, ol_amount, ol_delivery_d FROM customer \
             JOIN oorder ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
             JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? AND o_id = \
             (SELECT max(o_id) FROM oorder WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ?)",
            &[Int, Int, Int, Int, Int, Int],
        ),
    ]
}

fn delivery() -> Vec<StatementSpec> {
    vec![
        // One statement, so that all ten districts are of one moment.
        S::kept(
            "SELECT d_id, (SELECT min(no_o_id) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id) \
             FROM district WHERE d_w_id = ? ORDER BY d_id",
            &[Int],
            &[Int, Int],
        ),
        S::kept(
            "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE",
            &[Int, Int],
            &[Int],
        ),
        S::counted("DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?", &[Int; 3]),
        S::kept("SELECT o_c_id FROM oorder WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?", &[Int; 3], &[Int]),
        S::counted(
            "UPDATE oorder SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
            &[Int; 4],
        ),
        S::counted(
            "UPDATE order_line SET ol_delivery_d = ? WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
            &[Timestamp, Int, Int, Int],
        ),
        S::kept(
            "SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
            &[Int; 3],
            &[MONEY],
        ),
        S::counted(
            "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            &[MONEY, Int, Int, Int],
        ),
    ]
}

fn stock_level() -> Vec<StatementSpec> {
    vec![
        S::kept("SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?", &[Int, Int], &[Int]),
        S::kept(
            "SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id \
             WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_quantity < ?",
            &[Int, Int, Int, Int, Int],
            &[Int],
        ),
    ]
}

fn stock_of(district: u32) -> StatementSpec {
    S::kept(
        format!(
            "SELECT s_quantity, s_dist_{district:02}, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE"
        ),
        &[Int, Int],
        &[Int, Text, Text],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_is_the_place_of_its_statement() {
        let list = statements(Dialect::Postgres).unwrap();
        let begins = [
            (WAREHOUSE_TAX, "SELECT w_tax"),
            (DISTRICT_NEXT, "SELECT d_tax, d_next_o_id"),
            (COUNT_ORDER, "UPDATE district SET d_next_o_id"),
            (DISCOUNT, "SELECT c_discount"),
            (ITEM, "SELECT i_price"),
            (INSERT_ORDER, "INSERT INTO oorder"),
            (INSERT_NEW_ORDER, "INSERT INTO new_order"),
            (TAKE_STOCK, "UPDATE stock"),
            (INSERT_LINE, "INSERT INTO order_line"),
            (PAY_WAREHOUSE, "UPDATE warehouse"),
            (WAREHOUSE, "SELECT w_name"),
            (PAY_DISTRICT, "UPDATE district SET d_ytd"),
            (DISTRICT, "SELECT d_name"),
            (CUSTOMER, "SELECT c_id, c_credit"),
            (CUSTOMERS_NAMED, "SELECT c_id, c_credit"),
            (PAY_CUSTOMER, "UPDATE customer SET c_balance = c_balance - $1"),
            (BALANCE, "SELECT c_balance FROM"),
            (BALANCE_AND_DATA, "SELECT c_balance, c_data"),
            (SET_DATA, "UPDATE customer SET c_data"),
            (INSERT_HISTORY, "INSERT INTO history"),
            (NAMED, "SELECT c_id FROM customer"),
            (LAST_ORDER, "SELECT c_balance, c_first"),
            (OLDEST, "SELECT d_id, (SELECT min"),
            (OLDEST_LOCKED, "SELECT no_o_id FROM new_order"),
            (CLAIM, "DELETE FROM new_order"),
            (ORDERED_BY, "SELECT o_c_id"),
            (SET_CARRIER, "UPDATE oorder"),
            (SET_DELIVERED, "UPDATE order_line"),
            (AMOUNT, "SELECT sum(ol_amount)"),
            (CREDIT, "UPDATE customer SET c_balance = c_balance + $1"),
            (NEXT_ORDER, "SELECT d_next_o_id"),
            (LOW_STOCK, "SELECT count(DISTINCT s_i_id)"),
            (stock(1), "SELECT s_quantity, s_dist_01"),
            (stock(10), "SELECT s_quantity, s_dist_10"),
        ];
        for (index, begin) in begins {
            assert!(list[index].sql.starts_with(begin), "{index}: {}", list[index].sql);
        }
        assert_eq!(list.len(), stock(10) + 1);
        assert!(list[CUSTOMERS_NAMED].sql.contains("c_last = $3"));
    }

    #[test]
    fn dialects_differ_in_places_and_locks() {
        let of = |dialect: Dialect, index: usize| statements(dialect).unwrap()[index].sql.clone();
        let next = "SELECT d_tax, d_next_o_id FROM district WHERE d_w_id = ";
        assert_eq!(of(Dialect::Postgres, DISTRICT_NEXT), format!("{next}$1 AND d_id = $2 FOR UPDATE"));
        assert_eq!(of(Dialect::MySql, DISTRICT_NEXT), format!("{next}? AND d_id = ? FOR UPDATE"));
        assert_eq!(of(Dialect::Sqlite, DISTRICT_NEXT), format!("{next}?1 AND d_id = ?2"));
        assert!(statements(Dialect::KeyValue).unwrap_err().contains("needs a target with SQL"));
    }

    #[test]
    fn parameters_and_columns_are_as_many_as_stated() {
        for spec in statements(Dialect::MySql).unwrap() {
            assert_eq!(spec.sql.matches('?').count(), spec.parameters.len(), "{}", spec.sql);
        }
    }
}
