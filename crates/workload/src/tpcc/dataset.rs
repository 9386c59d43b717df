//! Making the data set, part by part.

use super::config::DISTRICTS;
use super::population::{self, Push};
use super::{Tpcc, check, schema};
use crate::dataset::{CheckResult, DataSet, Marker};
use driver::{Administration, ConnectError, Dialect};

/// Version of the tables' layout and of what fills them.
const VERSION: u32 = 1;
/// Parts of a warehouse: itself with its stock, and each of its districts.
const PARTS: u32 = 1 + DISTRICTS;
/// Rows between two calls of `progress`.
const PROGRESS: u64 = 1_000;
/// Lines of an order on average, for the number of rows to come.
const LINES: u64 = 10;
/// The most warehouses that are verified after each run without being asked for: a second each, on a laptop's PostgreSQL.
const CHEAP: u32 = 4;

/// What a part holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Items,
    Warehouse(u32),
    District(u32, u32),
}

impl Part {
    fn of(number: u32) -> Part {
        let Some(rest) = number.checked_sub(1) else { return Part::Items };
        match (rest / PARTS + 1, rest % PARTS) {
            (warehouse, 0) => Part::Warehouse(warehouse),
            (warehouse, district) => Part::District(warehouse, district),
        }
    }
}

impl DataSet for Tpcc {
    fn marker(&self) -> Marker {
        let config = &self.config;
        let mut workload = "tpcc".to_owned();
        if config.is_reduced() {
            workload += &format!(" items={} customers={}", config.items, config.customers);
        }
        if config.benchbase {
            workload += " compat=benchbase";
        }
        if !config.foreign_keys {
            workload += " foreign-keys=off";
        }
        Marker {
            workload,
            scale: config.warehouses.into(),
            version: VERSION,
            seed: config.seed.0,
            complete: true,
        }
    }

    fn tables(&self) -> Vec<&'static str> {
        schema::TABLES.to_vec()
    }

    /// Their number is known only when the lines of each order were drawn: these are those to be expected.
    fn rows(&self) -> u64 {
        let (customers, items) = (u64::from(self.config.customers), u64::from(self.config.items));
        let undelivered = u64::from(self.config.customers + 1 - self.config.first_undelivered());
        let district = 1 + customers * (3 + LINES) + undelivered;
        items + u64::from(self.config.warehouses) * (1 + items + u64::from(DISTRICTS) * district)
    }

    fn create(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        if !dialect.is_sql() {
            return Err(ConnectError::permanent("tpcc: its data set needs SQL"));
        }
        administration.script(&schema::create(dialect))
    }

    fn parts(&self) -> u32 {
        1 + self.config.warehouses * PARTS
    }

    fn fill(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        let mut filling = Filling { tpcc: self, administration, progress, rows: 0 };
        match Part::of(part) {
            Part::Items => filling.items(),
            Part::Warehouse(warehouse) => filling.warehouse(warehouse),
            Part::District(warehouse, district) => filling.district(warehouse, district),
        }
    }

    fn empty(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
    ) -> Result<(), ConnectError> {
        match Part::of(part) {
            Part::Items => administration.script("DELETE FROM item"),
            Part::Warehouse(w) => administration.script(&format!(
                "DELETE FROM stock WHERE s_w_id = {w}; DELETE FROM district WHERE d_w_id = {w}; \
                 DELETE FROM warehouse WHERE w_id = {w}"
            )),
            Part::District(w, d) => {
                // Customers are filled first: without them nothing of the part is there, and `history`, which has no
                // key, need not be searched.
                let first = format!("SELECT c_id FROM customer WHERE c_w_id = {w} AND c_d_id = {d} LIMIT 1");
                if administration.query(&first)?.is_empty() {
                    return Ok(());
                }
                administration.script(&format!(
                    "DELETE FROM order_line WHERE ol_w_id = {w} AND ol_d_id = {d}; \
                     DELETE FROM new_order WHERE no_w_id = {w} AND no_d_id = {d}; \
                     DELETE FROM oorder WHERE o_w_id = {w} AND o_d_id = {d}; \
                     DELETE FROM history WHERE h_w_id = {w} AND h_d_id = {d}; \
                     DELETE FROM customer WHERE c_w_id = {w} AND c_d_id = {d}"
                ))
            }
        }
    }

    fn finish(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        schema::finish(administration, dialect, self.config.foreign_keys)
    }

    fn check(
        &self,
        administration: &mut dyn Administration,
        dialect: Dialect,
    ) -> Result<Vec<CheckResult>, ConnectError> {
        check::check(&self.config, administration, dialect)
    }

    fn check_is_cheap(&self) -> bool {
        self.config.warehouses <= CHEAP
    }
}

/// A part that is being filled.
struct Filling<'a> {
    tpcc: &'a Tpcc,
    administration: &'a mut dyn Administration,
    progress: &'a mut dyn FnMut(u64),
    /// Rows written so far, of all its tables.
    rows: u64,
}

impl Filling<'_> {
    /// Loads a table in one transaction: `push_row` is asked for row after row until it says that there is none.
    fn table(
        &mut self,
        table: &str,
        columns: &[&str],
        push_row: &mut dyn FnMut(&mut Push<'_>) -> bool,
    ) -> Result<(), ConnectError> {
        let before = self.rows;
        let mut rows = 0_u64;
        let progress = &mut *self.progress;
        self.administration.bulk(table, columns, &mut |push| {
            if !push_row(push) {
                return false;
            }
            rows += 1;
            if rows.is_multiple_of(PROGRESS) {
                progress(before + rows);
            }
            true
        })?;
        self.rows += rows;
        (self.progress)(self.rows);
        Ok(())
    }

    /// Loads a table of rows that are numbered from `first` to `last`.
    fn numbered(
        &mut self,
        table: &str,
        columns: &[&str],
        (first, last): (u32, u32),
        row: &dyn Fn(u32, &mut Push<'_>),
    ) -> Result<(), ConnectError> {
        let mut numbers = first..=last;
        self.table(table, columns, &mut |push| numbers.next().map(|number| row(number, push)).is_some())
    }

    fn items(&mut self) -> Result<(), ConnectError> {
        let rows = &self.tpcc.population;
        self.numbered("item", &population::ITEM_COLUMNS, (1, self.tpcc.config.items), &|i, push| {
            rows.item(i, push);
        })
    }

    fn warehouse(&mut self, w: u32) -> Result<(), ConnectError> {
        let rows = &self.tpcc.population;
        let items = self.tpcc.config.items;
        self.numbered("warehouse", &population::WAREHOUSE_COLUMNS, (w, w), &|w, push| {
            rows.warehouse(w, push);
        })?;
        self.numbered("district", &population::DISTRICT_COLUMNS, (1, DISTRICTS), &|d, push| {
            rows.district(w, d, push);
        })?;
        self.numbered("stock", &population::STOCK_COLUMNS, (1, items), &|i, push| rows.stock(w, i, push))
    }

    fn district(&mut self, w: u32, d: u32) -> Result<(), ConnectError> {
        let rows = &self.tpcc.population;
        let customers = (1, self.tpcc.config.customers);
        let undelivered = (self.tpcc.config.first_undelivered(), self.tpcc.config.customers);
        self.numbered("customer", &population::CUSTOMER_COLUMNS, customers, &|c, push| {
            rows.customer(w, d, c, push);
        })?;
        self.numbered("history", &population::HISTORY_COLUMNS, customers, &|c, push| {
            rows.history(w, d, c, push);
        })?;
        let permutation = rows.permutation(w, d);
        self.numbered("oorder", &population::ORDER_COLUMNS, customers, &|o, push| {
            rows.order(w, d, o, permutation[o as usize - 1], push);
        })?;
        self.numbered("new_order", &population::NEW_ORDER_COLUMNS, undelivered, &|o, push| {
            rows.new_order(w, d, o, push);
        })?;
        let mut lines =
            (1..=customers.1).flat_map(|o| (1..=rows.line_count(w, d, o)).map(move |number| (o, number)));
        self.table("order_line", &population::LINE_COLUMNS, &mut |push| {
            lines.next().map(|(o, number)| rows.line(w, d, o, number, push)).is_some()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_items_then_warehouses_with_their_districts() {
        assert_eq!(Part::of(0), Part::Items);
        assert_eq!((Part::of(1), Part::of(2)), (Part::Warehouse(1), Part::District(1, 1)));
        assert_eq!((Part::of(11), Part::of(12)), (Part::District(1, 10), Part::Warehouse(2)));
        assert_eq!(Part::of(22), Part::District(2, 10));
    }
}
