//! The parameters of both families.

use super::Kind;
use super::choices::{FieldLength, KeyOrder, LengthShape, RequestDistribution, ScanLength};
use super::lengths::LengthHistogram;
use std::sync::Arc;
use units::Seed;

/// Which of the two families.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// BenchBase's mix over integer keys.
    Mix,
    /// YCSB's CoreWorkload over text keys.
    Core,
}

const MIX: [Kind; 6] =
    [Kind::Read, Kind::Insert, Kind::Scan, Kind::Update, Kind::Delete, Kind::ReadModifyWrite];
const CORE: [Kind; 5] = [Kind::Read, Kind::Update, Kind::Insert, Kind::Scan, Kind::ReadModifyWrite];

impl Family {
    /// The names of its operations, in the order of their ids.
    pub fn operation_names(self) -> &'static [&'static str] {
        match self {
            Family::Mix => &[
                "ReadRecord",
                "InsertRecord",
                "ScanRecord",
                "UpdateRecord",
                "DeleteRecord",
                "ReadModifyWriteRecord",
            ],
            Family::Core => &["READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE"],
        }
    }

    pub(crate) fn kinds(self) -> &'static [Kind] {
        match self {
            Family::Mix => &MIX,
            Family::Core => &CORE,
        }
    }
}

/// All parameters; YCSB's names are in [`YcsbConfig::set`].
#[derive(Clone, PartialEq, Debug)]
pub struct YcsbConfig {
    /// `ycsb`, `ycsb-a` … `ycsb-f`, or `ycsb-core`.
    pub name: String,
    /// Which family the name belongs to.
    pub family: Family,
    /// Start of everything random.
    pub seed: Seed,
    /// Records that are loaded, numbered from 0.
    pub records: u64,
    /// The table; a name that needs no quotes in SQL.
    pub table: &'static str,
    /// Of the records, the first that requests are made for, and how many from there on; all without a count. Inserts come
    /// behind the records.
    pub range: (u64, Option<u64>),
    /// Requests insert the records of that range, instead of the mix.
    pub loading: bool,
    /// So often an insert of such a load is tried again, at once, when the database refuses it.
    pub insertion_retries: u32,
    /// Fields of a record.
    pub fields: usize,
    /// How the fields' names begin; numbers follow.
    pub field_prefix: String,
    /// The file of [`LengthShape::Histogram`].
    pub histogram_file: String,
    /// What was read from it.
    pub histogram: Option<Arc<LengthHistogram>>,
    /// Length of each field.
    pub field_length: FieldLength,
    /// Weights of the operations, in the order of [`Family::operation_names`].
    pub weights: Vec<f64>,
    /// How records are drawn.
    pub distribution: RequestDistribution,
    /// Exponent of the Zipf distributions.
    pub theta: f64,
    /// Share of the records that are hot, and share of the requests to them.
    pub hotspot: (f64, f64),
    /// So many per cent of the requests are within that share of the records, counted from the newest.
    pub exponential: (f64, f64),
    /// Records of a scan.
    pub scan: ScanLength,
    /// Whether a read fetches all fields or a drawn one.
    pub read_all_fields: bool,
    /// Whether all fields are asked for by their names, where a store could be asked for all of them.
    pub reads_by_name: bool,
    /// Values are a function of key and field, and reads are verified.
    pub data_integrity: bool,
    /// Whether an update writes all fields or a drawn one.
    pub write_all_fields: bool,
    /// Key text of a record number.
    pub key_order: KeyOrder,
    /// Digits to which key numbers are padded with zeros.
    pub zero_padding: usize,
    /// Keys that this run inserted most recently and that are left alone, as they may still be in flight.
    pub outstanding: u64,
    /// Requests that the run will make, if known; YCSB widens the scrambled range by the inserts among them.
    pub operation_count: u64,
    /// False restores BenchBase's decay.
    pub stable: bool,
    /// Which of the load machines this is, and how many there are that insert into one database; (0, 1) alone.
    /// Each has requests of its own, and inserts only keys whose remainder by their count is its own number.
    pub client: (u16, u16),
}

impl YcsbConfig {
    /// The workload of this name with `1,000 × scale` records, changed by `overrides` in their order.
    ///
    /// # Errors
    /// One line that names the unknown workload, property or value, and the nearest valid one.
    pub fn from_name(
        name: &str,
        scale: f64,
        seed: Seed,
        overrides: &[(String, String)],
    ) -> Result<YcsbConfig, String> {
        let mut config = match name {
            "ycsb" => YcsbConfig::mix(seed),
            _ => YcsbConfig::core(name, seed)?,
        };
        config.records = records_at(scale)?;
        for (property, value) in overrides {
            config.set(property, value)?;
        }
        if config.field_length.shape == LengthShape::Histogram {
            config.read_histogram()?;
        }
        config.validate()?;
        Ok(config)
    }

    fn mix(seed: Seed) -> YcsbConfig {
        YcsbConfig {
            name: "ycsb".to_owned(),
            family: Family::Mix,
            seed,
            records: 1_000,
            table: "usertable",
            range: (0, None),
            loading: false,
            insertion_retries: 0,
            fields: 10,
            field_prefix: "field".to_owned(),
            histogram_file: "hist.txt".to_owned(),
            histogram: None,
            field_length: FieldLength { least: 1, most: 100, shape: LengthShape::Constant },
            weights: vec![50.0, 5.0, 15.0, 10.0, 10.0, 10.0],
            distribution: RequestDistribution::Zipfian,
            theta: 0.99,
            hotspot: (0.2, 0.8),
            exponential: (95.0, 0.857_142_857_1),
            scan: ScanLength { least: 1, most: 1_000, shape: LengthShape::Uniform },
            read_all_fields: true,
            reads_by_name: false,
            data_integrity: false,
            write_all_fields: true,
            key_order: KeyOrder::Ordered,
            zero_padding: 1,
            outstanding: 128,
            operation_count: 0,
            stable: true,
            client: (0, 1),
        }
    }

    fn core(name: &str, seed: Seed) -> Result<YcsbConfig, String> {
        use RequestDistribution::{Latest, Uniform, Zipfian};
        // read, update, insert, scan, read-modify-write; as the six files say, and what holds without a file.
        let (weights, distribution) = match name {
            "ycsb-core" => ([0.95, 0.05, 0.0, 0.0, 0.0], Uniform),
            "ycsb-a" => ([0.5, 0.5, 0.0, 0.0, 0.0], Zipfian),
            "ycsb-b" => ([0.95, 0.05, 0.0, 0.0, 0.0], Zipfian),
            "ycsb-c" => ([1.0, 0.0, 0.0, 0.0, 0.0], Zipfian),
            "ycsb-d" => ([0.95, 0.0, 0.05, 0.0, 0.0], Latest),
            "ycsb-e" => ([0.0, 0.0, 0.05, 0.95, 0.0], Zipfian),
            "ycsb-f" => ([0.5, 0.0, 0.0, 0.0, 0.5], Zipfian),
            _ => {
                let valid = ["ycsb", "ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f", "ycsb-core"];
                return Err(format!("unknown workload `{name}`; valid are {}", valid.join(", ")));
            }
        };
        Ok(YcsbConfig {
            name: name.to_owned(),
            family: Family::Core,
            weights: weights.to_vec(),
            distribution,
            scan: ScanLength {
                least: 1,
                most: if name == "ycsb-core" { 1_000 } else { 100 },
                shape: LengthShape::Uniform,
            },
            write_all_fields: false,
            key_order: KeyOrder::Hashed,
            ..YcsbConfig::mix(seed)
        })
    }

    /// Records in thousands.
    pub fn scale(&self) -> f64 {
        self.records as f64 / 1_000.0
    }

    /// Share of the operation `kind` among all, in [0, 1].
    pub(crate) fn share(&self, kind: Kind) -> f64 {
        let total: f64 = self.weights.iter().sum();
        let weight: f64 = self
            .family
            .kinds()
            .iter()
            .zip(&self.weights)
            .filter(|(candidate, _)| **candidate == kind)
            .map(|(_, weight)| weight)
            .sum();
        if total > 0.0 { weight / total } else { 0.0 }
    }

    /// Distance between two keys that this client inserts.
    pub(crate) fn stride(&self) -> u64 {
        u64::from(self.client.1.max(1))
    }

    /// Whether this client inserts `key`, if anybody does.
    pub(crate) fn owns(&self, key: u64) -> bool {
        key % self.stride() == u64::from(self.client.0) % self.stride()
    }

    /// The first key from `from` on that this client inserts.
    pub(crate) fn first_owned(&self, from: u64) -> u64 {
        (from..from + self.stride()).find(|key| self.owns(*key)).unwrap_or(from)
    }

    /// Whether the run inserts records for good.
    pub fn inserts(&self) -> bool {
        self.loading || self.share(Kind::Insert) > 0.0
    }

    /// How many of the records requests are made for.
    pub(crate) fn population(&self) -> u64 {
        self.range.1.unwrap_or(self.records.saturating_sub(self.range.0))
    }

    /// Numbers that the zipfian distributions range over: the records, and twice the inserts to be expected. YCSB's
    /// scrambled one has one number more, which decides which keys are hot.
    pub(crate) fn drawn_range(&self) -> u64 {
        if self.family == Family::Mix {
            return self.records;
        }
        let inserts = self.operation_count as f64 * self.share(Kind::Insert) * 2.0;
        let one_more = u64::from(self.distribution == RequestDistribution::Zipfian);
        self.population() + inserts as u64 + one_more
    }

    /// Reads the histogram of field lengths.
    fn read_histogram(&mut self) -> Result<(), String> {
        let file = &self.histogram_file;
        let read = std::fs::read_to_string(file).map_err(|error| error.to_string());
        let histogram = read
            .and_then(|text| LengthHistogram::parse(&text))
            .map_err(|problem| format!("{}: fieldlengthhistogram={file}: {problem}", self.name))?;
        self.field_length =
            FieldLength { least: histogram.least(), most: histogram.most(), shape: LengthShape::Histogram };
        self.histogram = Some(Arc::new(histogram));
        Ok(())
    }

    /// What must hold between parameters.
    ///
    /// # Errors
    /// One line that names both.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let name = &self.name;
        if self.weights.len() != self.family.kinds().len() {
            return Err(format!(
                "{name}: {} weights for {} operations",
                self.weights.len(),
                self.family.kinds().len()
            ));
        }
        if self.weights.iter().any(|w| !w.is_finite() || *w < 0.0) || self.weights.iter().sum::<f64>() <= 0.0
        {
            return Err(format!("{name}: the proportions must be at least 0 and not all 0"));
        }
        if self.field_length.least > self.field_length.most {
            let FieldLength { least, most, .. } = self.field_length;
            return Err(format!("{name}: minfieldlength={least} is more than fieldlength={most}"));
        }
        if self.scan.least > self.scan.most {
            let ScanLength { least, most, .. } = self.scan;
            return Err(format!("{name}: minscanlength={least} is more than maxscanlength={most}"));
        }
        let (start, count) = (self.range.0, self.population());
        if count == 0 || start.checked_add(count).is_none_or(|end| end > self.records) {
            return Err(format!(
                "{name}: insertstart={start} and insertcount={count}: their sum must be within recordcount={}",
                self.records
            ));
        }
        if self.data_integrity && self.field_length.shape != LengthShape::Constant {
            return Err(format!(
                "{name}: dataintegrity=true with fieldlengthdistribution={}: values that can be verified have constant lengths",
                self.field_length.shape.name()
            ));
        }
        let gray = matches!(self.distribution, RequestDistribution::Zipfian | RequestDistribution::Latest);
        if gray && self.theta >= 1.0 {
            return Err(format!(
                "{name}: zipfianconstant={} must be below 1 for `{}`; use requestdistribution=zipfian-exact",
                self.theta,
                self.distribution.name()
            ));
        }
        if self.family == Family::Mix && self.records > MIX_RECORDS {
            return Err(format!(
                "{name}: {} records are more than {MIX_RECORDS}: its keys are 32-bit",
                self.records
            ));
        }
        Ok(())
    }
}

/// Half of the 32-bit range; the other half is left to inserts.
const MIX_RECORDS: u64 = 1 << 30;

/// Records of a scale factor.
fn records_at(scale: f64) -> Result<u64, String> {
    let records = (scale * 1_000.0).round();
    if (1.0..=1e12).contains(&records) {
        Ok(records as u64)
    } else {
        Err(format!("ycsb: scale {scale} must be in [0.001, 1000000000]: 1 is 1,000 records"))
    }
}
