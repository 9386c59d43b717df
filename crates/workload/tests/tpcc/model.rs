//! The strongest test: the same requests against a slow model in memory, written from the specification and not from the
//! workload's code. After a run the whole database must be what the model has become.

use crate::support::{Database, planned, request, run_one, small};
use driver::Administration;
use std::collections::BTreeMap;
use units::Outcome;
use workload::tpcc::Tpcc;

/// When request 0 is made: a day after the load.
const BEGUN: i64 = 1_767_225_600_000_000 + 86_400_000_000;

/// Tables and how many of their first columns are their key.
const TABLES: [(&str, usize); 8] = [
    ("warehouse", 1),
    ("district", 2),
    ("customer", 3),
    ("oorder", 3),
    ("new_order", 3),
    ("order_line", 4),
    ("item", 1),
    ("stock", 2),
];

/// A row by the names of its columns.
#[derive(Clone, PartialEq, Debug, Default)]
struct Row(BTreeMap<String, Option<String>>);

impl Row {
    fn text(&self, column: &str) -> String {
        self.0[column].clone().unwrap_or_else(|| panic!("{column} is null"))
    }

    fn int(&self, column: &str) -> i64 {
        self.text(column).parse().unwrap_or_else(|_| panic!("{column} is no number"))
    }

    fn set(&mut self, column: &str, value: impl ToString) {
        self.0.insert(column.to_owned(), Some(value.to_string()));
    }

    fn add(&mut self, column: &str, amount: i64) {
        self.set(column, self.int(column) + amount);
    }
}

type Table = BTreeMap<Vec<i64>, Row>;

/// Everything in the database.
#[derive(PartialEq, Debug)]
struct Model {
    tables: BTreeMap<&'static str, Table>,
    history: Vec<Row>,
}

fn columns(administration: &mut dyn Administration, table: &str) -> Vec<String> {
    let rows = administration.query(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
    rows.into_iter().map(|row| row[0].clone().unwrap()).collect()
}

fn rows(administration: &mut dyn Administration, table: &str) -> Vec<(Vec<i64>, Row)> {
    let names = columns(administration, table);
    let rows =
        administration.query(&format!("SELECT {} FROM {table} ORDER BY rowid", names.join(", "))).unwrap();
    let key_of = |row: &[Option<String>]| {
        row.iter().map_while(|value| value.as_deref().and_then(|v| v.parse().ok())).collect()
    };
    rows.into_iter().map(|row| (key_of(&row), Row(names.iter().cloned().zip(row).collect()))).collect()
}

impl Model {
    fn of(database: &Database) -> Model {
        let mut administration = database.administer();
        let mut tables = BTreeMap::new();
        for (table, key) in TABLES {
            let found = rows(&mut *administration, table);
            let count = found.len();
            let keyed: Table =
                found.into_iter().map(|(mut k, row)| (k.drain(..key).collect(), row)).collect();
            assert_eq!(keyed.len(), count, "{table}: a key is there twice");
            tables.insert(table, keyed);
        }
        let history = rows(&mut *administration, "history").into_iter().map(|(_, row)| row).collect();
        Model { tables, history }
    }

    fn row(&mut self, table: &str, key: &[i64]) -> &mut Row {
        let rows = self.tables.get_mut(table).unwrap();
        rows.get_mut(key).unwrap_or_else(|| panic!("no {table} {key:?}"))
    }

    fn insert(&mut self, table: &str, key: &[i64], values: &[(&str, Option<String>)]) {
        let row = Row(values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect());
        assert!(self.tables.get_mut(table).unwrap().insert(key.to_vec(), row).is_none(), "{table} {key:?}");
    }

    /// The customer that `who` says: a number, or the middle one of a last name by first names.
    fn customer(&self, w: i64, d: i64, who: &str) -> i64 {
        if let Ok(number) = who.parse() {
            return number;
        }
        let mut named: Vec<(String, i64)> = self.tables["customer"]
            .range(vec![w, d]..vec![w, d + 1])
            .filter(|(_, row)| row.text("c_last") == who)
            .map(|(key, row)| (row.text("c_first"), key[2]))
            .collect();
        named.sort();
        named[named.len().div_ceil(2) - 1].1
    }

    /// Carries out a planned request, as its words say.
    fn apply(&mut self, words: &str, seq: u64) -> Outcome {
        let when = BEGUN + seq as i64;
        let words: Vec<&str> = words.split(" locked").next().unwrap().split(' ').collect();
        let (w, d) = words[2].split_once('/').unwrap_or((words[2], "0"));
        let (w, d): (i64, i64) = (w.parse().unwrap(), d.parse().unwrap());
        match words[0] {
            "NewOrder" => return self.new_order((w, d), words[4].parse().unwrap(), &words[5..], when),
            "Payment" => {
                let (cw, cd) = words[6].split_once('/').unwrap();
                let of = (cw.parse().unwrap(), cd.parse().unwrap());
                self.payment((w, d), of, words[4], words[8].parse().unwrap(), when);
            }
            "Delivery" => self.delivery(w, words[4].parse().unwrap(), when),
            "OrderStatus" => assert!(self.customer(w, d, words[4]) > 0),
            "StockLevel" => {}
            other => panic!("{other}"),
        }
        Outcome::Ok
    }

    fn new_order(&mut self, (w, d): (i64, i64), c: i64, lines: &[&str], when: i64) -> Outcome {
        let lines: Vec<(i64, i64, i64)> = lines
            .iter()
            .map(|line| {
                let (quantity, rest) = line.split_once('x').unwrap();
                let (item, supplier) = rest.split_once('@').unwrap();
                (quantity.parse().unwrap(), item.parse().unwrap(), supplier.parse().unwrap())
            })
            .collect();
        if lines.iter().any(|(_, item, _)| !self.tables["item"].contains_key(&vec![*item])) {
            return Outcome::Abort;
        }
        let district = self.row("district", &[w, d]);
        let o = district.int("d_next_o_id");
        district.add("d_next_o_id", 1);
        let number = |number: i64| Some(number.to_string());
        let is_local = lines.iter().all(|(_, _, supplier)| *supplier == w);
        let order = [
            ("o_w_id", number(w)),
            ("o_d_id", number(d)),
            ("o_id", number(o)),
            ("o_c_id", number(c)),
            ("o_entry_d", number(when)),
            ("o_carrier_id", None),
            ("o_ol_cnt", number(lines.len() as i64)),
            ("o_all_local", number(is_local.into())),
        ];
        self.insert("oorder", &[w, d, o], &order);
        let new = [("no_w_id", number(w)), ("no_d_id", number(d)), ("no_o_id", number(o))];
        self.insert("new_order", &[w, d, o], &new);
        for (place, (quantity, item, supplier)) in lines.iter().enumerate() {
            let price = self.row("item", &[*item]).int("i_price");
            let stock = self.row("stock", &[*supplier, *item]);
            let left = stock.int("s_quantity") - quantity;
            stock.set("s_quantity", if left >= 10 { left } else { left + 91 });
            stock.add("s_ytd", *quantity);
            stock.add("s_order_cnt", 1);
            stock.add("s_remote_cnt", (*supplier != w).into());
            let line = [
                ("ol_w_id", number(w)),
                ("ol_d_id", number(d)),
                ("ol_o_id", number(o)),
                ("ol_number", number(place as i64 + 1)),
                ("ol_i_id", number(*item)),
                ("ol_supply_w_id", number(*supplier)),
                ("ol_delivery_d", None),
                ("ol_quantity", number(*quantity)),
                ("ol_amount", number(price * quantity)),
                ("ol_dist_info", Some(stock.text(&format!("s_dist_{d:02}")))),
            ];
            self.insert("order_line", &[w, d, o, place as i64 + 1], &line);
        }
        Outcome::Ok
    }

    fn payment(&mut self, (w, d): (i64, i64), (cw, cd): (i64, i64), who: &str, amount: i64, when: i64) {
        let c = self.customer(cw, cd, who);
        self.row("warehouse", &[w]).add("w_ytd", amount);
        self.row("district", &[w, d]).add("d_ytd", amount);
        let customer = self.row("customer", &[cw, cd, c]);
        customer.add("c_balance", -amount);
        customer.add("c_ytd_payment", amount);
        customer.add("c_payment_cnt", 1);
        if customer.text("c_credit") == "BC" {
            let (whole, cents) = (amount / 100, amount % 100);
            let data = format!("{c} {cd} {cw} {d} {w} {whole}.{cents:02} | {}", customer.text("c_data"));
            customer.set("c_data", &data[..data.len().min(500)]);
        }
        let data = format!(
            "{}    {}",
            self.row("warehouse", &[w]).text("w_name"),
            self.row("district", &[w, d]).text("d_name")
        );
        let mut row = Row::default();
        for (name, value) in [
            ("h_c_id", c),
            ("h_c_d_id", cd),
            ("h_c_w_id", cw),
            ("h_d_id", d),
            ("h_w_id", w),
            ("h_date", when),
        ] {
            row.set(name, value);
        }
        row.set("h_amount", amount);
        row.set("h_data", data);
        self.history.push(row);
    }

    fn delivery(&mut self, w: i64, carrier: i64, when: i64) {
        for d in 1..=10 {
            let oldest = self.tables["new_order"].range(vec![w, d]..vec![w, d + 1]).next();
            let Some((key, _)) = oldest.map(|(key, row)| (key.clone(), row)) else { continue };
            self.tables.get_mut("new_order").unwrap().remove(&key);
            let order = self.row("oorder", &key);
            order.set("o_carrier_id", carrier);
            let c = order.int("o_c_id");
            let mut sum = 0;
            let end = vec![key[0], key[1], key[2] + 1];
            for (_, line) in self.tables.get_mut("order_line").unwrap().range_mut(key..end) {
                line.set("ol_delivery_d", when);
                sum += line.int("ol_amount");
            }
            let customer = self.row("customer", &[w, d, c]);
            customer.add("c_balance", sum);
            customer.add("c_delivery_cnt", 1);
        }
    }
}

/// Runs `count` requests on both sides and compares everything.
fn compare(tpcc: &Tpcc, count: u64) -> Vec<Outcome> {
    let database = Database::loaded(tpcc);
    let mut model = Model::of(&database);
    let mut session = database.session(tpcc);
    let mut outcomes = Vec::new();
    for seq in 0..count {
        let request = request(tpcc, seq);
        let words = planned(tpcc, request);
        let outcome = run_one(tpcc, request, &mut session).unwrap();
        assert_eq!(outcome, model.apply(&words, seq), "request {seq}: {words}");
        outcomes.push(outcome);
    }
    let found = Model::of(&database);
    for (table, rows) in &found.tables {
        let expected = &model.tables[table];
        assert_eq!(rows.len(), expected.len(), "rows of {table}");
        for (key, row) in rows {
            assert_eq!(Some(row), expected.get(key), "{table} {key:?}");
        }
    }
    assert_eq!(found.history, model.history);
    outcomes
}

#[test]
fn the_database_becomes_what_the_specification_says() {
    let outcomes = compare(&small(3, 1, &[("rollback", "5%")]), 3_000);
    let aborted = outcomes.iter().filter(|outcome| **outcome == Outcome::Abort).count();
    assert!((20..=150).contains(&aborted), "{aborted}");
}

#[test]
fn round_trips_do_not_change_what_is_done() {
    compare(&small(2, 2, &[("roundtrips", "single"), ("rollback", "10%")]), 1_500);
}

#[test]
fn remote_lines_payments_and_orders_of_a_fixed_length_are_done_as_well() {
    compare(&small(2, 3, &[("remote", "50%,50%"), ("order-lines", "15")]), 1_000);
    compare(&small(1, 4, &[("remote", "50%,50%"), ("order-lines", "1")]), 1_000);
    compare(&small(2, 5, &[("compat", "benchbase"), ("remote", "none")]), 1_000);
}
