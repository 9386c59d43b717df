//! The table `usertable`: making it and checking it.

use super::choices::{FieldLength, KeyOrder, LengthShape};
use super::config::{Family, YcsbConfig};
use super::keys::KeyText;
use super::lengths::LengthDraw;
use super::plan::load_seed;
use super::sql::field_names;
use super::{Kind, Ycsb, integrity, records_dataset};
use crate::dataset::{CheckResult, DataSet, Marker, Status};
use driver::{Administration, ConnectError, Dialect, Records, Value};

/// Rows of one part, which is one bulk call: bounds the transaction, and with it SQLite's log.
const CHUNK: u64 = 100_000;
/// Rows between two calls of `progress`.
const PROGRESS: u64 = 1_000;
/// Keys looked up in one query of a check.
const PROBED: u64 = 1_000;
/// Version of the table's layout and of what fills it.
const VERSION: u32 = 2;

impl DataSet for Ycsb {
    fn marker(&self) -> Marker {
        Marker {
            workload: layout_name(&self.config),
            scale: self.config.scale(),
            version: VERSION,
            seed: self.config.seed.0,
            complete: true,
        }
    }

    fn tables(&self) -> Vec<&'static str> {
        vec![self.config.table]
    }

    fn rows(&self) -> u64 {
        self.config.records
    }

    fn create(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        if dialect == Dialect::KeyValue {
            let fields = field_names(&self.config);
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            // Elsewhere the first record makes it.
            let made = administration.records().map(|records| records.make_table(self.config.table, &fields));
            return made.unwrap_or(Ok(()));
        }
        administration.script(&schema(&self.config, dialect))
    }

    fn parts(&self) -> u32 {
        self.config.records.div_ceil(CHUNK).clamp(1, u32::MAX.into()) as u32
    }

    fn fill(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        let (from, to) = self.range_of(part);
        self.fill_range(administration, from, to, &mut |number| progress(number - from))
    }

    fn empty(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
    ) -> Result<(), ConnectError> {
        let (from, to) = self.range_of(part);
        if let Some(records) = administration.records() {
            return records_dataset::empty(&self.config, records, from, to);
        }
        let table = self.config.table;
        if self.config.family == Family::Mix {
            return administration
                .script(&format!("DELETE FROM {table} WHERE ycsb_key >= {from} AND ycsb_key < {to}"));
        }
        for first in (from..to).step_by(PROBED as usize) {
            let keys = key_list(&self.config, first, (first + PROBED).min(to));
            administration.script(&format!("DELETE FROM {table} WHERE ycsb_key IN ({keys})"))?;
        }
        Ok(())
    }

    fn before_drop(&self, administration: &mut dyn Administration) -> Result<(), ConnectError> {
        match administration.records().filter(|records| !records.lists()) {
            Some(records) => records_dataset::empty_inserted(&self.config, records),
            None => Ok(()),
        }
    }

    fn probe(&self, records: &mut dyn Records) -> Result<Status, ConnectError> {
        self.probe_records(records)
    }

    fn finish(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        match dialect {
            // Statistics and hint bits now, not in the first measured minute.
            Dialect::Postgres => administration.script(&format!("VACUUM (ANALYZE) {}", self.config.table)),
            _ => Ok(()),
        }
    }

    fn check(
        &self,
        administration: &mut dyn Administration,
        _dialect: Dialect,
    ) -> Result<Vec<CheckResult>, ConnectError> {
        let mut results = match administration.records() {
            Some(records) => self.check_records(records)?,
            None => vec![
                self.check_count(administration)?,
                self.check_originals(administration)?,
                self.check_fields(administration)?,
            ],
        };
        results.extend(self.check_reads());
        Ok(results)
    }

    fn check_is_cheap(&self) -> bool {
        self.config.records <= CHEAP
    }
}

/// As many records are verified in some seconds.
const CHEAP: u64 = 1_000_000;

impl Ycsb {
    /// What the requests of this very run have verified.
    fn check_reads(&self) -> Option<CheckResult> {
        let (right, wrong) = self.verified.counts();
        (right + wrong > 0).then(|| CheckResult {
            name: "every read gave what had been written".to_owned(),
            passed: wrong == 0,
            detail: format!("{wrong} of {} reads gave something else", right + wrong),
        })
    }

    /// The record numbers of a part: one bulk call.
    fn range_of(&self, part: u32) -> (u64, u64) {
        let from = u64::from(part) * CHUNK;
        (from, (from + CHUNK).min(self.config.records))
    }

    fn fill_range(
        &self,
        administration: &mut dyn Administration,
        from: u64,
        to: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        let fields = field_names(&self.config);
        let mut columns = vec!["ycsb_key"];
        columns.extend(fields.iter().map(String::as_str));
        let seed = load_seed(&self.config);
        let lengths = LengthDraw::of_fields(&self.config);
        let mut text = String::new();
        let has_records = administration.records().is_some();
        let mut number = from;
        administration.bulk(self.config.table, &columns, &mut |push| {
            if number == to {
                progress(to);
                return false;
            }
            let mut rng = seed.at(number);
            let key_text = records_dataset::key(&self.config, number);
            let mut row = Vec::with_capacity(columns.len());
            row.push(match self.config.family {
                Family::Mix if !has_records => Value::Int(number as i64),
                Family::Mix | Family::Core => Value::Text(key_text.as_str()),
            });
            if self.config.data_integrity {
                integrity::values(&self.config, key_text.as_str(), &mut text);
                let value = |field| Value::Text(integrity::value_of(&self.config, &text, field));
                row.extend((0..self.config.fields).map(value));
            }
            while row.len() < columns.len() {
                let length = lengths.draw(&mut rng);
                row.push(Value::Text(self.pool.text(self.pool.draw(&mut rng, length))));
            }
            push(&row);
            number += 1;
            if number.is_multiple_of(PROGRESS) {
                progress(number);
            }
            true
        })?;
        Ok(())
    }

    fn check_count(&self, administration: &mut dyn Administration) -> Result<CheckResult, ConnectError> {
        let found = number(administration, &format!("SELECT count(*) FROM {}", self.config.table))?;
        Ok(self.judge_count(found))
    }

    pub(super) fn judge_count(&self, found: u64) -> CheckResult {
        let loaded = self.config.records;
        let growth = self.growth();
        let least = if self.decays() { 0 } else { loaded };
        let passed = found >= least && growth.is_none_or(|most| found <= loaded + most);
        let limit = match growth {
            Some(most) => format!("at most {most} more expected"),
            None => "growth is what the mix asks for".to_owned(),
        };
        CheckResult {
            name: format!("{} has its rows", self.config.table),
            passed,
            detail: format!("{found} rows, {loaded} loaded, {limit}"),
        }
    }

    /// How many inserted rows may be left: none of the mix's deletes waits longer; `None` when inserts prevail.
    ///
    /// Beyond the keys that each client holds back, this allows for those in flight or failed at the ends of some runs.
    fn growth(&self) -> Option<u64> {
        let (inserts, deletes) = (self.config.share(Kind::Insert), self.config.share(Kind::Delete));
        (inserts == 0.0 || (self.config.stable && deletes > inserts))
            .then(|| self.config.outstanding * self.config.stride() + 1_024.max(self.config.records / 10))
    }

    fn decays(&self) -> bool {
        self.config.family == Family::Mix && !self.config.stable
    }

    fn check_originals(&self, administration: &mut dyn Administration) -> Result<CheckResult, ConnectError> {
        let loaded = self.config.records;
        let found = match self.config.family {
            Family::Mix => {
                let table = self.config.table;
                let sql = format!("SELECT count(*) FROM {table} WHERE ycsb_key >= 0 AND ycsb_key < {loaded}");
                number(administration, &sql)?
            }
            Family::Core => self.count_text_keys(administration)?,
        };
        Ok(self.judge_originals(found))
    }

    pub(super) fn judge_originals(&self, found: u64) -> CheckResult {
        let loaded = self.config.records;
        let note = if self.decays() { "; compat=benchbase deletes them by design" } else { "" };
        CheckResult {
            name: "no loaded key is missing".to_owned(),
            passed: found == loaded || (self.decays() && found < loaded),
            detail: format!("{found} of {loaded} keys{note}"),
        }
    }

    fn count_text_keys(&self, administration: &mut dyn Administration) -> Result<u64, ConnectError> {
        let mut found = 0;
        let mut from = 0;
        while from < self.config.records {
            let to = (from + PROBED).min(self.config.records);
            let keys = key_list(&self.config, from, to);
            let sql = format!("SELECT count(*) FROM {} WHERE ycsb_key IN ({keys})", self.config.table);
            found += number(administration, &sql)?;
            from = to;
        }
        Ok(found)
    }

    fn check_fields(&self, administration: &mut dyn Administration) -> Result<CheckResult, ConnectError> {
        let (least, most) = field_lengths(&self.config);
        let wrong: Vec<String> = field_names(&self.config)
            .iter()
            .map(|field| format!("{field} IS NULL OR length({field}) < {least} OR length({field}) > {most}"))
            .collect();
        let sql = format!("SELECT count(*) FROM {} WHERE {}", self.config.table, wrong.join(" OR "));
        let found = number(administration, &sql)?;
        Ok(self.judge_fields(found))
    }

    pub(super) fn judge_fields(&self, found: u64) -> CheckResult {
        let (least, most) = field_lengths(&self.config);
        let length = if least == most { most.to_string() } else { format!("{least} to {most}") };
        CheckResult {
            name: "every field has a value of its length".to_owned(),
            passed: found == 0,
            detail: format!("{found} rows with a field that is null or not {length} characters long"),
        }
    }
}

/// Key texts of the records `from..to`, quoted, with commas between.
fn key_list(config: &YcsbConfig, from: u64, to: u64) -> String {
    let keys: Vec<String> = (from..to).map(|n| format!("'{}'", KeyText::of(config, n).as_str())).collect();
    keys.join(",")
}

/// The least and the most characters of a field.
pub(super) fn field_lengths(config: &YcsbConfig) -> (u32, u32) {
    let FieldLength { least, most, shape } = config.field_length;
    (if shape == LengthShape::Constant { most } else { least }, most)
}

fn schema(config: &YcsbConfig, dialect: Dialect) -> String {
    let key = match (config.family, dialect) {
        // SQLite: only this spelling makes it the row's own number instead of a second index.
        (Family::Mix, Dialect::Sqlite) => "INTEGER PRIMARY KEY",
        (Family::Mix, _) => "int PRIMARY KEY",
        (Family::Core, _) => "varchar(255) PRIMARY KEY",
    };
    let fields: Vec<String> =
        field_names(config).iter().map(|field| format!("{field} {}", dialect.text())).collect();
    format!("CREATE TABLE {} (ycsb_key {key}, {})", config.table, fields.join(", "))
}

/// Names the table's layout: workloads of one family with the same layout share the data. What differs from the default
/// stands behind the family's name, as properties.
fn layout_name(config: &YcsbConfig) -> String {
    let FieldLength { least, most, shape } = config.field_length;
    let is_core = config.family == Family::Core;
    let mut name = if is_core { "ycsb-core".to_owned() } else { "ycsb".to_owned() };
    let mut say = |differs: bool, property: &str, value: &dyn std::fmt::Display| {
        if differs {
            name += &format!(" {property}={value}");
        }
    };
    let varies = shape != LengthShape::Constant;
    let in_file = shape == LengthShape::Histogram;
    say(config.table != "usertable", "table", &config.table);
    say(config.fields != 10, "fieldcount", &config.fields);
    say(config.field_prefix != "field", "fieldnameprefix", &config.field_prefix);
    say(most != 100 && !in_file, "fieldlength", &most);
    say(varies, "fieldlengthdistribution", &shape.name());
    say(varies && least != 1 && !in_file, "minfieldlength", &least);
    say(in_file, "fieldlengthhistogram", &config.histogram_file);
    say(is_core && config.key_order == KeyOrder::Ordered, "insertorder", &"ordered");
    say(is_core && config.zero_padding > 1, "zeropadding", &config.zero_padding);
    say(config.data_integrity, "dataintegrity", &true);
    name
}

fn number(administration: &mut dyn Administration, sql: &str) -> Result<u64, ConnectError> {
    let rows = administration.query(sql)?;
    let text = rows.first().and_then(|row| row.first()?.as_deref());
    text.and_then(|text| text.parse().ok())
        .ok_or_else(|| ConnectError::permanent(format!("expected a count from `{sql}`, got {text:?}")))
}
