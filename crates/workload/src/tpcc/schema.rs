//! The nine tables: names, columns, keys.

use super::config::DISTRICTS;
use driver::{Administration, ConnectError, Dialect};

/// In the order in which they can be dropped: who refers comes before what it refers to.
pub(crate) const TABLES: [&str; 9] =
    ["order_line", "new_order", "oorder", "history", "customer", "stock", "district", "warehouse", "item"];

/// Makes the tables with their primary keys. Everything else comes when they are full.
pub(crate) fn create(dialect: Dialect) -> String {
    let address = |of: &str| {
        format!(
            "{of}_name varchar(10), {of}_street_1 varchar(20), {of}_street_2 varchar(20), {of}_city varchar(20), \
             {of}_state char(2), {of}_zip char(9), {of}_tax {rate}, {of}_ytd {money}",
            rate = dialect.decimal(4, 4),
            money = dialect.decimal(12, 2),
        )
    };
    let information: Vec<String> = (1..=DISTRICTS).map(|d| format!("s_dist_{d:02} char(24)")).collect();
    let (money, rate) = (dialect.decimal(12, 2), dialect.decimal(4, 4));
    let (small, moment) = (dialect.decimal(6, 2), dialect.timestamp());
    let tables = [
        format!("warehouse (w_id int NOT NULL, {}, PRIMARY KEY (w_id))", address("w")),
        format!(
            "district (d_w_id int NOT NULL, d_id int NOT NULL, {}, d_next_o_id int, PRIMARY KEY (d_w_id, d_id))",
            address("d")
        ),
        format!(
            "customer (c_w_id int NOT NULL, c_d_id int NOT NULL, c_id int NOT NULL, c_first varchar(16), \
             c_middle char(2), c_last varchar(16), c_street_1 varchar(20), c_street_2 varchar(20), \
             c_city varchar(20), c_state char(2), c_zip char(9), c_phone char(16), c_since {moment}, \
             c_credit char(2), c_credit_lim {money}, c_discount {rate}, c_balance {money}, c_ytd_payment {money}, \
             c_payment_cnt int, c_delivery_cnt int, c_data varchar(500), PRIMARY KEY (c_w_id, c_d_id, c_id))"
        ),
        format!(
            "history (h_c_id int, h_c_d_id int, h_c_w_id int, h_d_id int, h_w_id int, h_date {moment}, \
             h_amount {small}, h_data varchar(24))"
        ),
        format!(
            "oorder (o_w_id int NOT NULL, o_d_id int NOT NULL, o_id int NOT NULL, o_c_id int, o_entry_d {moment}, \
             o_carrier_id int, o_ol_cnt int, o_all_local int, PRIMARY KEY (o_w_id, o_d_id, o_id))"
        ),
        "new_order (no_w_id int NOT NULL, no_d_id int NOT NULL, no_o_id int NOT NULL, \
         PRIMARY KEY (no_w_id, no_d_id, no_o_id))"
            .to_owned(),
        format!(
            "order_line (ol_w_id int NOT NULL, ol_d_id int NOT NULL, ol_o_id int NOT NULL, ol_number int NOT NULL, \
             ol_i_id int, ol_supply_w_id int, ol_delivery_d {moment}, ol_quantity int, ol_amount {small}, \
             ol_dist_info char(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))"
        ),
        format!(
            "item (i_id int NOT NULL, i_im_id int, i_name varchar(24), i_price {}, i_data varchar(50), \
             PRIMARY KEY (i_id))",
            dialect.decimal(5, 2)
        ),
        format!(
            "stock (s_w_id int NOT NULL, s_i_id int NOT NULL, s_quantity int, {}, s_ytd int, s_order_cnt int, \
             s_remote_cnt int, s_data varchar(50), PRIMARY KEY (s_w_id, s_i_id))",
            information.join(", ")
        ),
    ];
    let made = |table: String| {
        let name = table.split(' ').next().unwrap_or_default();
        let indexes = indexes_within(dialect, name);
        format!("CREATE TABLE {}{indexes})", table.strip_suffix(')').unwrap_or(&table))
    };
    tables.map(made).join("; ")
}

/// Indexes besides the primary keys: (kind, name, table, columns).
const INDEXES: [(&str, &str, &str, &str); 2] = [
    ("INDEX", "customer_name", "customer", "c_w_id, c_d_id, c_last, c_first"),
    ("UNIQUE INDEX", "oorder_customer", "oorder", "o_w_id, o_d_id, o_c_id, o_id"),
];

/// Indexes that a table is made with: where one can't be made later without failing if it is there (MySQL).
fn indexes_within(dialect: Dialect, table: &str) -> String {
    let within = INDEXES.iter().filter(|index| dialect == Dialect::MySql && index.2 == table);
    within.map(|(kind, name, _, columns)| format!(", {kind} {name} ({columns})")).collect()
}

/// Who refers to what: (table, its columns, the other table, that one's primary key).
const REFERENCES: [(&str, &str, &str, &str); 10] = [
    ("district", "d_w_id", "warehouse", "w_id"),
    ("customer", "c_w_id, c_d_id", "district", "d_w_id, d_id"),
    ("history", "h_c_w_id, h_c_d_id, h_c_id", "customer", "c_w_id, c_d_id, c_id"),
    ("history", "h_w_id, h_d_id", "district", "d_w_id, d_id"),
    ("oorder", "o_w_id, o_d_id, o_c_id", "customer", "c_w_id, c_d_id, c_id"),
    ("new_order", "no_w_id, no_d_id, no_o_id", "oorder", "o_w_id, o_d_id, o_id"),
    ("order_line", "ol_w_id, ol_d_id, ol_o_id", "oorder", "o_w_id, o_d_id, o_id"),
    ("order_line", "ol_supply_w_id, ol_i_id", "stock", "s_w_id, s_i_id"),
    ("stock", "s_w_id", "warehouse", "w_id"),
    ("stock", "s_i_id", "item", "i_id"),
];

/// Indexes, foreign keys and statistics, once all parts are there. It may have been cut short before: what is there is
/// not made again.
pub(crate) fn finish(
    administration: &mut dyn Administration,
    dialect: Dialect,
    has_foreign_keys: bool,
) -> Result<(), ConnectError> {
    if dialect != Dialect::MySql {
        for (kind, name, table, columns) in INDEXES {
            administration.script(&format!("CREATE {kind} IF NOT EXISTS {name} ON {table} ({columns})"))?;
        }
    }
    // SQLite and DuckDB can't add them later; the one would not enforce them unasked, the other takes an update for a delete.
    if has_foreign_keys && !matches!(dialect, Dialect::Sqlite | Dialect::DuckDb) {
        for (number, reference) in REFERENCES.into_iter().enumerate() {
            add_reference(administration, dialect, number, reference)?;
        }
    }
    // Statistics and hint bits now, not in the first measured minute.
    for table in TABLES {
        match dialect {
            Dialect::Postgres => administration.script(&format!("VACUUM (ANALYZE) {table}"))?,
            Dialect::MySql => administration.script(&format!("ANALYZE TABLE {table}"))?,
            _ => administration.script(&format!("ANALYZE {table}"))?,
        }
    }
    Ok(())
}

fn add_reference(
    administration: &mut dyn Administration,
    dialect: Dialect,
    number: usize,
    (table, columns, other, key): (&str, &str, &str, &str),
) -> Result<(), ConnectError> {
    let name = format!("tpcc_reference_{number}");
    let schema = if dialect == Dialect::MySql { "database()" } else { "current_schema()" };
    let present = administration.query(&format!(
        "SELECT constraint_name FROM information_schema.table_constraints \
         WHERE constraint_schema = {schema} AND table_name = '{table}' AND constraint_name = '{name}'"
    ))?;
    if !present.is_empty() {
        return Ok(());
    }
    administration.script(&format!(
        "ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({columns}) REFERENCES {other} ({key})"
    ))
}
