//! The rows of a fresh data set (4.3.3.1): each a pure function of the seed and of its place.

use super::config::{Constants, DISTRICTS, TpccConfig};
use super::phases::money;
use super::plan::LOADED;
use super::text::{Text, alphanumeric, between, data, digits, last_name, letters, zip};
use crate::distribution::NuRand;
use driver::{Decimal, Value};
use units::{Rng, Seed};

/// Takes a row's values in the order of its table's columns.
pub(crate) type Push<'a> = dyn FnMut(&[Value<'_>]) + 'a;

/// What a customer paid before the first run, and each district and warehouse got of it: 10.00, in cents.
const PAID: i64 = 1_000;

pub(crate) const ITEM_COLUMNS: [&str; 5] = ["i_id", "i_im_id", "i_name", "i_price", "i_data"];
pub(crate) const WAREHOUSE_COLUMNS: [&str; 9] =
    ["w_id", "w_name", "w_street_1", "w_street_2", "w_city", "w_state", "w_zip", "w_tax", "w_ytd"];
pub(crate) const DISTRICT_COLUMNS: [&str; 11] = [
    "d_w_id",
    "d_id",
    "d_name",
    "d_street_1",
    "d_street_2",
    "d_city",
    "d_state",
    "d_zip",
    "d_tax",
    "d_ytd",
    "d_next_o_id",
];
pub(crate) const STOCK_COLUMNS: [&str; 17] = [
    "s_w_id",
    "s_i_id",
    "s_quantity",
    "s_dist_01",
    "s_dist_02",
    "s_dist_03",
    "s_dist_04",
    "s_dist_05",
    "s_dist_06",
    "s_dist_07",
    "s_dist_08",
    "s_dist_09",
    "s_dist_10",
    "s_ytd",
    "s_order_cnt",
    "s_remote_cnt",
    "s_data",
];
pub(crate) const CUSTOMER_COLUMNS: [&str; 21] = [
    "c_w_id",
    "c_d_id",
    "c_id",
    "c_first",
    "c_middle",
    "c_last",
    "c_street_1",
    "c_street_2",
    "c_city",
    "c_state",
    "c_zip",
    "c_phone",
    "c_since",
    "c_credit",
    "c_credit_lim",
    "c_discount",
    "c_balance",
    "c_ytd_payment",
    "c_payment_cnt",
    "c_delivery_cnt",
    "c_data",
];
pub(crate) const HISTORY_COLUMNS: [&str; 8] =
    ["h_c_id", "h_c_d_id", "h_c_w_id", "h_d_id", "h_w_id", "h_date", "h_amount", "h_data"];
pub(crate) const ORDER_COLUMNS: [&str; 8] =
    ["o_w_id", "o_d_id", "o_id", "o_c_id", "o_entry_d", "o_carrier_id", "o_ol_cnt", "o_all_local"];
pub(crate) const NEW_ORDER_COLUMNS: [&str; 3] = ["no_w_id", "no_d_id", "no_o_id"];
pub(crate) const LINE_COLUMNS: [&str; 10] = [
    "ol_w_id",
    "ol_d_id",
    "ol_o_id",
    "ol_number",
    "ol_i_id",
    "ol_supply_w_id",
    "ol_delivery_d",
    "ol_quantity",
    "ol_amount",
    "ol_dist_info",
];

/// What fills the tables.
#[derive(Debug)]
pub(crate) struct Population {
    seed: Seed,
    items: u32,
    customers: u32,
    first_undelivered: u32,
    last_names: NuRand,
    is_benchbase: bool,
}

/// A rate in [least, most] 10⁻⁴.
fn rate(rng: &mut Rng, least: u64, most: u64) -> Value<'static> {
    Value::Decimal(Decimal { unscaled: between(rng, least, most) as i64, scale: 4 })
}

fn int(number: u32) -> Value<'static> {
    Value::Int(number.into())
}

/// Name, streets, city, state, zip: of a warehouse or a district.
struct Address {
    name: Text<10>,
    streets: [Text<20>; 2],
    city: Text<20>,
    state: Text<2>,
    zip: Text<9>,
}

impl Population {
    pub(crate) fn new(config: &TpccConfig) -> Population {
        let constants = Constants::drawn(config.seed, config.seed, config.benchbase);
        Population {
            seed: config.seed.derive("tpcc/load"),
            items: config.items,
            customers: config.customers,
            first_undelivered: config.first_undelivered(),
            last_names: constants.last_names_of_load(config.last_names()),
            is_benchbase: config.benchbase,
        }
    }

    /// Whole texts are a character shorter in BenchBase: its upper limits are exclusive.
    fn whole<const N: usize>(&self, rng: &mut Rng) -> Text<N> {
        let length = N as u64 - u64::from(self.is_benchbase);
        alphanumeric(rng, length, length)
    }

    fn zip(&self, rng: &mut Rng) -> Text<9> {
        if self.is_benchbase { Text::of("123456789") } else { zip(rng) }
    }

    fn address(&self, rng: &mut Rng) -> Address {
        Address {
            name: alphanumeric(rng, 6, 10),
            streets: [alphanumeric(rng, 10, 20), alphanumeric(rng, 10, 20)],
            city: alphanumeric(rng, 10, 20),
            state: letters(rng, 2, 2),
            zip: self.zip(rng),
        }
    }

    /// Item `number`, from 1.
    pub(crate) fn item(&self, number: u32, push: &mut Push<'_>) {
        let mut rng = self.seed.derive("item").at(number.into());
        let name: Text<24> = alphanumeric(&mut rng, 14, 24);
        let price = between(&mut rng, 100, 10_000) as i64;
        let image = Value::Int(between(&mut rng, 1, 10_000) as i64);
        let data = data(&mut rng, 26, 50);
        push(&[int(number), image, Value::Text(name.as_str()), money(price), Value::Text(data.as_str())]);
    }

    pub(crate) fn warehouse(&self, warehouse: u32, push: &mut Push<'_>) {
        let mut rng = self.seed.derive("warehouse").at(warehouse.into());
        let address = self.address(&mut rng);
        let ytd = PAID * i64::from(self.customers) * i64::from(DISTRICTS);
        push(&[
            int(warehouse),
            Value::Text(address.name.as_str()),
            Value::Text(address.streets[0].as_str()),
            Value::Text(address.streets[1].as_str()),
            Value::Text(address.city.as_str()),
            Value::Text(address.state.as_str()),
            Value::Text(address.zip.as_str()),
            rate(&mut rng, 0, 2_000),
            money(ytd),
        ]);
    }

    pub(crate) fn district(&self, warehouse: u32, district: u32, push: &mut Push<'_>) {
        let mut rng = self.seed.derive("district").at(self.district_number(warehouse, district));
        let address = self.address(&mut rng);
        push(&[
            int(warehouse),
            int(district),
            Value::Text(address.name.as_str()),
            Value::Text(address.streets[0].as_str()),
            Value::Text(address.streets[1].as_str()),
            Value::Text(address.city.as_str()),
            Value::Text(address.state.as_str()),
            Value::Text(address.zip.as_str()),
            rate(&mut rng, 0, 2_000),
            money(PAID * i64::from(self.customers)),
            int(self.customers + 1),
        ]);
    }

    pub(crate) fn stock(&self, warehouse: u32, item: u32, push: &mut Push<'_>) {
        let number = u64::from(warehouse) * u64::from(self.items) + u64::from(item);
        let mut rng = self.seed.derive("stock").at(number);
        let quantity = Value::Int(between(&mut rng, 10, 100) as i64);
        let information: [Text<24>; DISTRICTS as usize] = std::array::from_fn(|_| self.whole(&mut rng));
        let data = data(&mut rng, 26, 50);
        let mut row = [Value::Int(0); STOCK_COLUMNS.len()];
        (row[0], row[1], row[2]) = (int(warehouse), int(item), quantity);
        for (value, text) in row[3..].iter_mut().zip(&information) {
            *value = Value::Text(text.as_str());
        }
        row[STOCK_COLUMNS.len() - 1] = Value::Text(data.as_str());
        push(&row);
    }

    pub(crate) fn customer(&self, warehouse: u32, district: u32, customer: u32, push: &mut Push<'_>) {
        let mut rng = self.seed.derive("customer").at(self.row_number(warehouse, district, customer));
        let rng = &mut rng;
        let first: Text<16> = alphanumeric(rng, 8, 16);
        let streets: [Text<20>; 2] = [alphanumeric(rng, 10, 20), alphanumeric(rng, 10, 20)];
        let city: Text<20> = alphanumeric(rng, 10, 20);
        let state: Text<2> = letters(rng, 2, 2);
        let zip = self.zip(rng);
        let phone: Text<16> = digits(rng, 16, 16);
        let credit = if rng.below(10) == 0 { "BC" } else { "GC" };
        let discount = rate(rng, self.is_benchbase.into(), 5_000);
        let data: Text<500> = alphanumeric(rng, 300, 500);
        let name = if customer <= 1_000 { u64::from(customer) - 1 } else { self.last_names.draw(rng) };
        let last = last_name(name);
        push(&[
            int(warehouse),
            int(district),
            int(customer),
            Value::Text(first.as_str()),
            Value::Text("OE"),
            Value::Text(last.as_str()),
            Value::Text(streets[0].as_str()),
            Value::Text(streets[1].as_str()),
            Value::Text(city.as_str()),
            Value::Text(state.as_str()),
            Value::Text(zip.as_str()),
            Value::Text(phone.as_str()),
            Value::Timestamp(LOADED),
            Value::Text(credit),
            money(5_000_000),
            discount,
            money(-PAID),
            money(PAID),
            Value::Int(1),
            Value::Int(0),
            Value::Text(data.as_str()),
        ]);
    }

    pub(crate) fn history(&self, warehouse: u32, district: u32, customer: u32, push: &mut Push<'_>) {
        let mut rng = self.seed.derive("history").at(self.row_number(warehouse, district, customer));
        let (least, most) = if self.is_benchbase { (10, 24) } else { (12, 24) };
        let data: Text<24> = alphanumeric(&mut rng, least, most);
        let (w, d) = (int(warehouse), int(district));
        let (date, data) = (Value::Timestamp(LOADED), Value::Text(data.as_str()));
        push(&[int(customer), d, w, d, w, date, money(PAID), data]);
    }

    /// The customers of a district in the order of its orders: a permutation (Fisher & Yates).
    pub(crate) fn permutation(&self, warehouse: u32, district: u32) -> Vec<u32> {
        let mut rng = self.seed.derive("permutation").at(self.district_number(warehouse, district));
        let mut customers: Vec<u32> = (1..=self.customers).collect();
        for last in (1..customers.len()).rev() {
            customers.swap(last, rng.below(last as u64 + 1) as usize);
        }
        customers
    }

    /// Lines of an order, in 5 … 15.
    pub(crate) fn line_count(&self, warehouse: u32, district: u32, order: u32) -> u32 {
        let mut rng = self.seed.derive("order").at(self.row_number(warehouse, district, order));
        between(&mut rng, 5, 15) as u32
    }

    pub(crate) fn order(
        &self,
        warehouse: u32,
        district: u32,
        order: u32,
        customer: u32,
        push: &mut Push<'_>,
    ) {
        let mut rng = self.seed.derive("carrier").at(self.row_number(warehouse, district, order));
        let carrier = Value::Int(between(&mut rng, 1, 10) as i64);
        push(&[
            int(warehouse),
            int(district),
            int(order),
            int(customer),
            Value::Timestamp(LOADED),
            if order < self.first_undelivered { carrier } else { Value::Null },
            int(self.line_count(warehouse, district, order)),
            Value::Int(1),
        ]);
    }

    pub(crate) fn new_order(&self, warehouse: u32, district: u32, order: u32, push: &mut Push<'_>) {
        push(&[int(warehouse), int(district), int(order)]);
    }

    /// Line `number` of an order, from 1.
    pub(crate) fn line(&self, warehouse: u32, district: u32, order: u32, number: u32, push: &mut Push<'_>) {
        let place = self.row_number(warehouse, district, order) * 16 + u64::from(number);
        let mut rng = self.seed.derive("order line").at(place);
        let item = Value::Int(between(&mut rng, 1, self.items.into()) as i64);
        let amount = between(&mut rng, 1, 999_999) as i64;
        let information: Text<24> = self.whole(&mut rng);
        let is_delivered = order < self.first_undelivered;
        push(&[
            int(warehouse),
            int(district),
            int(order),
            int(number),
            item,
            int(warehouse),
            if is_delivered { Value::Timestamp(LOADED) } else { Value::Null },
            Value::Int(5),
            money(if is_delivered { 0 } else { amount }),
            Value::Text(information.as_str()),
        ]);
    }

    fn district_number(&self, warehouse: u32, district: u32) -> u64 {
        u64::from(warehouse) * u64::from(DISTRICTS) + u64::from(district)
    }

    fn row_number(&self, warehouse: u32, district: u32, row: u32) -> u64 {
        self.district_number(warehouse, district) * u64::from(self.customers + 1) + u64::from(row)
    }
}
