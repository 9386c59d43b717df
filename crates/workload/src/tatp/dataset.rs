//! The four tables: making them and checking them.

use super::population::{Facility, Rows, STARTS, TYPES};
use super::statements::attributes;
use super::{LAST_HOUR, LOCATIONS, NUMBERS, Tatp};
use crate::dataset::{CheckResult, DataSet, Marker};
use crate::digits::Digits;
use crate::foreign_keys::{self, ForeignKey, counted, none_found, number};
use driver::{Administration, ConnectError, Dialect, Value};
use units::Rng;

const VERSION: u32 = 1;

/// Subscribers of one part.
const CHUNK: u64 = 5_000;
/// Rows between two calls of `progress`.
const PROGRESS: u64 = 1_000;
/// Subscribers whose rows are verified in a second or two.
const CHEAP: u64 = 1_000_000;

const KEYS: [ForeignKey; 3] = {
    const fn key(
        name: &'static str,
        table: &'static str,
        parent: &'static str,
        key: &'static str,
    ) -> ForeignKey {
        ForeignKey { name, table, column: key, parent, key }
    }
    [
        key("access_info_subscriber", "access_info", "subscriber", "s_id"),
        key("special_facility_subscriber", "special_facility", "subscriber", "s_id"),
        key("call_forwarding_facility", "call_forwarding", "special_facility", "s_id, sf_type"),
    ]
};

/// What of a part is being written.
struct Filling<'a> {
    from: u64,
    to: u64,
    administration: &'a mut dyn Administration,
    progress: &'a mut dyn FnMut(u64),
    written: u64,
}

type Push<'a> = dyn FnMut(&[Value<'_>]) + 'a;

impl Filling<'_> {
    /// Loads a table: `rows` pushes all rows of a subscriber, and gives how many they are.
    fn table(
        &mut self,
        table: &str,
        columns: &[&str],
        rows: &dyn Fn(u64, &mut Push<'_>) -> u64,
    ) -> Result<(), ConnectError> {
        let mut subscribers = self.from..self.to;
        let (written, progress) = (&mut self.written, &mut *self.progress);
        self.administration.bulk(table, columns, &mut |push| {
            let Some(subscriber) = subscribers.next() else { return false };
            let before = *written;
            *written += rows(subscriber, push);
            if before / PROGRESS != *written / PROGRESS {
                progress(*written);
            }
            true
        })?;
        (self.progress)(self.written);
        Ok(())
    }
}

impl DataSet for Tatp {
    fn marker(&self) -> Marker {
        let (scale, seed) = (self.config.scale, self.config.seed.0);
        Marker { workload: self.config.data_name(), scale, version: VERSION, seed, complete: true }
    }

    fn tables(&self) -> Vec<&'static str> {
        vec!["call_forwarding", "special_facility", "access_info", "subscriber"]
    }

    fn rows(&self) -> u64 {
        let totals = self.totals();
        self.config.subscribers + totals.access + totals.facilities + totals.forwards
    }

    fn create(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        if !dialect.is_sql() {
            return Err(ConnectError::permanent("tatp: its data set needs SQL"));
        }
        administration.script(&schema(dialect))
    }

    fn parts(&self) -> u32 {
        self.config.subscribers.div_ceil(CHUNK) as u32
    }

    fn fill(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        let (from, to) = self.part(part);
        let mut filling = Filling { from, to, administration, progress, written: 0 };
        let attributes = attributes();
        let mut columns = vec!["s_id", "sub_nbr"];
        columns.extend(attributes.iter().map(String::as_str));
        columns.extend(["msc_location", "vlr_location"]);
        filling.table("subscriber", &columns, &|subscriber, push| self.subscriber(subscriber, push))?;
        let columns = ["s_id", "ai_type", "data1", "data2", "data3", "data4"];
        filling.table("access_info", &columns, &|subscriber, push| self.access(subscriber, push))?;
        let columns = ["s_id", "sf_type", "is_active", "error_cntrl", "data_a", "data_b"];
        filling.table("special_facility", &columns, &|subscriber, push| self.facilities(subscriber, push))?;
        let columns = ["s_id", "sf_type", "start_time", "end_time", "numberx"];
        filling.table("call_forwarding", &columns, &|subscriber, push| self.forwards(subscriber, push))
    }

    fn empty(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
    ) -> Result<(), ConnectError> {
        let (from, to) = self.part(part);
        for table in self.tables() {
            administration.script(&format!("DELETE FROM {table} WHERE s_id >= {from} AND s_id < {to}"))?;
        }
        Ok(())
    }

    fn finish(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        foreign_keys::add(&KEYS, administration, dialect)?;
        if dialect == Dialect::Postgres {
            for table in self.tables() {
                administration.script(&format!("VACUUM (ANALYZE) {table}"))?;
            }
        }
        Ok(())
    }

    fn check(
        &self,
        administration: &mut dyn Administration,
        dialect: Dialect,
    ) -> Result<Vec<CheckResult>, ConnectError> {
        administration.script(dialect.begin_snapshot())?;
        let checked = self.checks(administration);
        // The first error is the one to tell.
        let ended = administration.script("COMMIT");
        let results = checked?;
        ended.map(|()| results)
    }

    fn check_is_cheap(&self) -> bool {
        self.config.subscribers <= CHEAP
    }
}

impl Tatp {
    /// Subscribers from … to.
    fn part(&self, number: u32) -> (u64, u64) {
        let from = 1 + u64::from(number) * CHUNK;
        (from, (from + CHUNK).min(self.config.subscribers + 1))
    }

    fn values(&self, table: &str, subscriber: u64) -> Rng {
        self.config.seed.derive("tatp").derive(table).at(subscriber)
    }

    fn subscriber(&self, subscriber: u64, push: &mut Push<'_>) -> u64 {
        let mut rng = self.values("subscriber", subscriber);
        let mut row = [Value::Null; 34];
        let number = Digits::<15>::of(subscriber);
        (row[0], row[1]) = (Value::Int(subscriber as i64), Value::Text(number.as_str()));
        for (kind, bound) in [2, 16, 256].into_iter().enumerate() {
            for attribute in &mut row[2 + 10 * kind..12 + 10 * kind] {
                *attribute = Value::Int(rng.below(bound) as i64);
            }
        }
        for location in &mut row[32..] {
            *location = Value::Int(1 + rng.below(LOCATIONS) as i64);
        }
        push(&row);
        1
    }

    fn access(&self, subscriber: u64, push: &mut Push<'_>) -> u64 {
        let mut rng = self.values("access_info", subscriber);
        let types = self.population.rows(subscriber).access;
        for kind_of in (0..TYPES).filter(|n| types >> n & 1 == 1) {
            let (data1, data2) = (rng.below(256) as i64, rng.below(256) as i64);
            let (data3, data4) = (capitals::<3>(&mut rng), capitals::<5>(&mut rng));
            push(&[
                Value::Int(subscriber as i64),
                Value::Int(kind_of as i64 + 1),
                Value::Int(data1),
                Value::Int(data2),
                Value::Text(text(&data3)),
                Value::Text(text(&data4)),
            ]);
        }
        types.count_ones().into()
    }

    fn facilities(&self, subscriber: u64, push: &mut Push<'_>) -> u64 {
        let mut rng = self.values("special_facility", subscriber);
        let rows = self.population.rows(subscriber);
        for (kind_of, facility) in present(&rows) {
            let (error, data_a) = (rng.below(256) as i64, rng.below(256) as i64);
            let data_b = capitals::<5>(&mut rng);
            push(&[
                Value::Int(subscriber as i64),
                Value::Int(kind_of),
                Value::Int(facility.is_active.into()),
                Value::Int(error),
                Value::Int(data_a),
                Value::Text(text(&data_b)),
            ]);
        }
        present(&rows).count() as u64
    }

    fn forwards(&self, subscriber: u64, push: &mut Push<'_>) -> u64 {
        let mut rng = self.values("call_forwarding", subscriber);
        let rows = self.population.rows(subscriber);
        let starts = self.population.starts();
        let mut written = 0;
        for (kind_of, facility) in present(&rows) {
            for n in (0..STARTS).filter(|n| facility.forwards >> n & 1 == 1) {
                let number = Digits::<15>::of(rng.below(NUMBERS));
                let end = starts[n] + 1 + rng.below(8) as i64;
                let times = [Value::Int(starts[n]), Value::Int(end)];
                let subscriber = Value::Int(subscriber as i64);
                push(&[subscriber, Value::Int(kind_of), times[0], times[1], Value::Text(number.as_str())]);
                written += 1;
            }
        }
        written
    }

    fn checks(&self, administration: &mut dyn Administration) -> Result<Vec<CheckResult>, ConnectError> {
        let totals = self.totals();
        let rows = [
            ("subscriber", self.config.subscribers),
            ("access_info", totals.access),
            ("special_facility", totals.facilities),
        ];
        let starts = self.population.starts();
        let starts = format!("start_time NOT IN (0, 8, 16, {}, {})", starts[1], starts[2]);
        let mut results = vec![
            counted(administration, "no table but call_forwarding grew or shrank", &rows)?,
            foreign_keys::check(&KEYS, administration)?,
            none_found(
                administration,
                "subscribers are numbered from 1 on",
                "subscribers whose number is null, out of range, or not 15 digits that end in s_id",
                &format!(
                    "SELECT count(*) FROM subscriber WHERE s_id < 1 OR s_id > {} OR sub_nbr IS NULL \
                     OR length(sub_nbr) <> 15 OR sub_nbr NOT LIKE concat('%', s_id)",
                    self.config.subscribers
                ),
            )?,
            none_found(
                administration,
                "attributes are in their ranges",
                "subscribers with an attribute that is null or out of its range",
                &attributes_out_of_range(),
            )?,
            none_found(
                administration,
                "access and facilities are of their types and ranges",
                "rows with a value that is null or out of its range",
                &out_of_range(&[
                    ("access_info", "ai_type", "1", "4"),
                    ("access_info", "data1", "0", "255"),
                    ("access_info", "data2", "0", "255"),
                    ("access_info", "length(data3)", "3", "3"),
                    ("access_info", "length(data4)", "5", "5"),
                    ("special_facility", "sf_type", "1", "4"),
                    ("special_facility", "is_active", "0", "1"),
                    ("special_facility", "error_cntrl", "0", "255"),
                    ("special_facility", "data_a", "0", "255"),
                    ("special_facility", "length(data_b)", "5", "5"),
                ]),
            )?,
            none_found(
                administration,
                "every subscriber has access and a facility",
                "subscribers without any access or any facility",
                "SELECT count(*) FROM subscriber s WHERE NOT EXISTS (SELECT 1 FROM access_info a WHERE \
                 a.s_id = s.s_id) OR NOT EXISTS (SELECT 1 FROM special_facility f WHERE f.s_id = s.s_id)",
            )?,
            none_found(
                administration,
                "call forwardings have their times and numbers",
                "call forwardings whose times are null or none of the day's, or whose number has not 15 digits",
                &format!(
                    "SELECT count(*) FROM call_forwarding WHERE start_time IS NULL OR {starts} OR end_time IS NULL \
                     OR end_time < 1 OR end_time > {LAST_HOUR} OR numberx IS NULL OR length(numberx) <> 15"
                ),
            )?,
            none_found(
                administration,
                "no facility forwards twice from one start",
                "facilities with two call forwardings of one start",
                "SELECT count(*) FROM (SELECT s_id FROM call_forwarding GROUP BY s_id, sf_type, start_time \
                 HAVING count(*) > 1) twice",
            )?,
        ];
        let verified = self.start.filter(|_| self.config.client.1 == 1);
        if let Some(start) = verified {
            let found = forwards(administration)? as i64;
            let name = "call forwardings are those that were there, inserted and not deleted";
            results.push(self.ledger.judge(name, start, found, |rows| rows.to_string()));
        }
        Ok(results)
    }
}

/// How many call forwardings there are.
pub(crate) fn forwards(administration: &mut dyn Administration) -> Result<u64, ConnectError> {
    number(administration, "SELECT count(*) FROM call_forwarding")
}

/// (type, facility) of those that a subscriber has.
fn present(rows: &Rows) -> impl Iterator<Item = (i64, Facility)> {
    (1..).zip(rows.facilities).filter_map(|(kind_of, facility)| Some((kind_of, facility?)))
}

fn capitals<const N: usize>(rng: &mut Rng) -> [u8; N] {
    std::array::from_fn(|_| b'A' + rng.below(26) as u8)
}

fn text(letters: &[u8]) -> &str {
    std::str::from_utf8(letters).unwrap_or_default()
}

fn attributes_out_of_range() -> String {
    let most = |attribute: &str| match attribute.split('_').next() {
        Some("bit") => "1",
        Some("hex") => "15",
        _ => "255",
    };
    let outside = |column: &str, least: &str, most: &str| {
        format!("{column} IS NULL OR {column} < {least} OR {column} > {most}")
    };
    let mut all: Vec<String> =
        attributes().iter().map(|attribute| outside(attribute, "0", most(attribute))).collect();
    let locations = ["msc_location", "vlr_location"];
    all.extend(locations.map(|location| outside(location, "1", &LOCATIONS.to_string())));
    format!("SELECT count(*) FROM subscriber WHERE {}", all.join(" OR "))
}

/// Counts values that are null or out of (table, expression, least, most).
fn out_of_range(values: &[(&str, &str, &str, &str)]) -> String {
    let counts: Vec<String> = values
        .iter()
        .map(|(table, value, least, most)| {
            format!("(SELECT count(*) FROM {table} WHERE {value} IS NULL OR {value} < {least} OR {value} > {most})")
        })
        .collect();
    format!("SELECT {}", counts.join(" + "))
}

fn schema(dialect: Dialect) -> String {
    // SQLite: only this spelling makes it the row's own number instead of a second index.
    let key = if dialect == Dialect::Sqlite { "INTEGER PRIMARY KEY" } else { "int PRIMARY KEY" };
    let of = |table: &str| foreign_keys::inline(&KEYS, table, dialect);
    let attributes: Vec<String> =
        attributes().iter().map(|attribute| format!("{attribute} smallint NOT NULL")).collect();
    format!(
        "CREATE TABLE subscriber (s_id {key}, sub_nbr varchar(15) NOT NULL UNIQUE, {}, msc_location int NOT NULL, \
         vlr_location int NOT NULL); \
         CREATE TABLE access_info (s_id int NOT NULL, ai_type smallint NOT NULL, data1 smallint NOT NULL, \
         data2 smallint NOT NULL, data3 varchar(3) NOT NULL, data4 varchar(5) NOT NULL, \
         PRIMARY KEY (s_id, ai_type){}); \
         CREATE TABLE special_facility (s_id int NOT NULL, sf_type smallint NOT NULL, is_active smallint NOT NULL, \
         error_cntrl smallint NOT NULL, data_a smallint NOT NULL, data_b varchar(5) NOT NULL, \
         PRIMARY KEY (s_id, sf_type){}); \
         CREATE TABLE call_forwarding (s_id int NOT NULL, sf_type smallint NOT NULL, \
         start_time smallint NOT NULL, end_time smallint NOT NULL, numberx varchar(15) NOT NULL, \
         PRIMARY KEY (s_id, sf_type, start_time){}); \
         CREATE INDEX call_forwarding_subscriber ON call_forwarding (s_id)",
        attributes.join(", "),
        of("access_info"),
        of("special_facility"),
        of("call_forwarding")
    )
}
