//! Parameters as text: YCSB's property names, with their limits.

use super::choices::{KeyOrder, LengthShape, RequestDistribution};
use super::config::{Family, YcsbConfig};
use crate::names::suggestion;

const COMMON: [&str; 19] = [
    "recordcount",
    "table",
    "fieldnameprefix",
    "fieldlengthhistogram",
    "fieldcount",
    "fieldlength",
    "minfieldlength",
    "fieldlengthdistribution",
    "readproportion",
    "updateproportion",
    "insertproportion",
    "scanproportion",
    "readmodifywriteproportion",
    "requestdistribution",
    "zipfianconstant",
    "hotspotdatafraction",
    "hotspotopnfraction",
    "maxscanlength",
    "minscanlength",
];
const MIX: [&str; 3] = ["deleteproportion", "compat", "outstanding"];
const CORE: [&str; 16] = [
    "insertstart",
    "insertcount",
    "dotransactions",
    "readallfieldsbyname",
    "dataintegrity",
    "core_workload_insertion_retry_limit",
    "core_workload_insertion_retry_interval",
    "scanlengthdistribution",
    "exponential.percentile",
    "exponential.frac",
    "readallfields",
    "writeallfields",
    "insertorder",
    "zeropadding",
    "operationcount",
    "outstanding",
];

impl Family {
    /// The properties that [`YcsbConfig::set`] takes for this family.
    pub fn properties(self) -> Vec<&'static str> {
        let own: &[&str] = match self {
            Family::Mix => &MIX,
            Family::Core => &CORE,
        };
        COMMON.iter().chain(own).copied().collect()
    }
}

/// One assignment that is being read; makes the error lines.
struct Property<'a> {
    workload: &'a str,
    name: &'a str,
    value: &'a str,
}

impl Property<'_> {
    fn error(&self, expected: &str) -> String {
        format!("{}: {}={}: expected {expected}", self.workload, self.name, self.value)
    }

    fn whole(&self, least: u64, most: u64) -> Result<u64, String> {
        let number = self.value.replace('_', "").parse().ok().filter(|n| (least..=most).contains(n));
        number.ok_or_else(|| self.error(&format!("a whole number in [{least}, {most}]")))
    }

    fn real(&self, least: f64, most: f64) -> Result<f64, String> {
        let number = self.value.parse().ok().filter(|n| (least..=most).contains(n));
        number.ok_or_else(|| self.error(&format!("a number in [{least}, {most}]")))
    }

    fn truth(&self) -> Result<bool, String> {
        self.value.parse().map_err(|_| self.error("`true` or `false`"))
    }

    /// A name that needs no quotes in any dialect.
    fn identifier(&self) -> Result<String, String> {
        let starts = self.value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let rest = self.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if starts
            && rest
            && self.value.len() <= 48
            && !self.value.to_ascii_lowercase().starts_with("truetail_")
        {
            return Ok(self.value.to_owned());
        }
        Err(self
            .error("a name of at most 48 letters, digits and `_`, not beginning with a digit or `truetail_`"))
    }

    fn choice<T: Copy>(&self, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
        all.iter().copied().find(|choice| name(*choice) == self.value).ok_or_else(|| {
            let valid: Vec<&str> = all.iter().map(|choice| name(*choice)).collect();
            format!(
                "{}: {}: unknown value `{}`{}",
                self.workload,
                self.name,
                self.value,
                suggestion(self.value, &valid)
            )
        })
    }
}

impl YcsbConfig {
    /// Sets one property by its YCSB name.
    ///
    /// # Errors
    /// One line: the unknown name with the nearest valid one, or the value with its limits.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let valid = self.family.properties();
        if !valid.contains(&name) {
            return Err(format!("{}: unknown property `{name}`{}", self.name, suggestion(name, &valid)));
        }
        let workload = self.name.clone();
        let property = Property { workload: &workload, name, value };
        match name {
            "recordcount" => self.records = property.whole(1, 1_000_000_000_000)?,
            "operationcount" => self.operation_count = property.whole(0, 1_000_000_000_000_000)?,
            "outstanding" => self.outstanding = property.whole(0, 1_000_000)?,
            "table" => self.table = crate::kept_text(&property.identifier()?),
            "fieldnameprefix" => self.field_prefix = property.identifier()?,
            "fieldlengthhistogram" => self.histogram_file = value.to_owned(),
            "insertstart" => self.range.0 = property.whole(0, 1_000_000_000_000)?,
            "insertcount" => self.range.1 = Some(property.whole(1, 1_000_000_000_000)?),
            "dotransactions" => self.loading = !property.truth()?,
            "readallfieldsbyname" => self.reads_by_name = property.truth()?,
            "dataintegrity" => self.data_integrity = property.truth()?,
            "core_workload_insertion_retry_limit" => {
                self.insertion_retries = property.whole(0, 1_000_000)? as u32;
            }
            // Refused inserts are tried again at once: to wait would be no part of the request.
            "core_workload_insertion_retry_interval" => drop(property.real(0.0, 86_400.0)?),
            _ if name.starts_with("field") || name.starts_with("minfield") => self.set_field(&property)?,
            _ if name.ends_with("proportion") => self.set_proportion(&property)?,
            _ if name.contains("scan") => self.set_scan(&property)?,
            _ => self.set_request(&property)?,
        }
        Ok(())
    }

    fn set_field(&mut self, property: &Property<'_>) -> Result<(), String> {
        let length = &mut self.field_length;
        match property.name {
            "fieldcount" => self.fields = property.whole(1, super::plan::FIELDS_MOST as u64)? as usize,
            "fieldlength" => length.most = property.whole(1, 65_536)? as u32,
            "minfieldlength" => length.least = property.whole(1, 65_536)? as u32,
            _ => length.shape = property.choice(&LengthShape::ALL, LengthShape::name)?,
        }
        Ok(())
    }

    fn set_proportion(&mut self, property: &Property<'_>) -> Result<(), String> {
        use super::Kind;
        let kind = match property.name {
            "readproportion" => Kind::Read,
            "updateproportion" => Kind::Update,
            "insertproportion" => Kind::Insert,
            "scanproportion" => Kind::Scan,
            "deleteproportion" => Kind::Delete,
            _ => Kind::ReadModifyWrite,
        };
        let weight = property.real(0.0, 1e9)?;
        for (candidate, slot) in self.family.kinds().iter().zip(&mut self.weights) {
            if *candidate == kind {
                *slot = weight;
            }
        }
        Ok(())
    }

    fn set_scan(&mut self, property: &Property<'_>) -> Result<(), String> {
        match property.name {
            "minscanlength" => self.scan.least = property.whole(1, 1_000_000)? as u32,
            "maxscanlength" => self.scan.most = property.whole(1, 1_000_000)? as u32,
            _ => self.scan.shape = property.choice(&LengthShape::ALL[1..3], LengthShape::name)?,
        }
        Ok(())
    }

    fn set_request(&mut self, property: &Property<'_>) -> Result<(), String> {
        match property.name {
            "requestdistribution" => {
                self.distribution = property.choice(&RequestDistribution::ALL, RequestDistribution::name)?;
            }
            "zipfianconstant" => self.theta = property.real(0.01, 10.0)?,
            "hotspotdatafraction" => self.hotspot.0 = property.real(0.0, 1.0)?,
            "hotspotopnfraction" => self.hotspot.1 = property.real(0.0, 1.0)?,
            "exponential.percentile" => self.exponential.0 = property.real(1.0, 99.999)?,
            "exponential.frac" => self.exponential.1 = property.real(0.0001, 1.0)?,
            "readallfields" => self.read_all_fields = property.truth()?,
            "writeallfields" => self.write_all_fields = property.truth()?,
            "insertorder" => self.key_order = property.choice(&KeyOrder::ALL, KeyOrder::name)?,
            "zeropadding" => self.zero_padding = property.whole(0, 32)? as usize,
            _ => self.stable = property.choice(&[true, false], compat_name)?,
        }
        Ok(())
    }

    /// What a recording states: every parameter that shapes the requests.
    pub(crate) fn parameters(&self) -> Vec<(String, String)> {
        let mut all = vec![
            ("recordcount", self.records.to_string()),
            ("table", self.table.to_owned()),
            ("fieldnameprefix", self.field_prefix.clone()),
            ("fieldcount", self.fields.to_string()),
            ("fieldlength", self.field_length.most.to_string()),
            ("fieldlengthdistribution", self.field_length.shape.name().to_owned()),
            ("requestdistribution", self.distribution.name().to_owned()),
            ("minscanlength", self.scan.least.to_string()),
            ("maxscanlength", self.scan.most.to_string()),
            ("outstanding", self.outstanding.to_string()),
        ];
        if self.field_length.shape != LengthShape::Constant {
            all.push(("minfieldlength", self.field_length.least.to_string()));
        }
        if self.field_length.shape == LengthShape::Histogram {
            all.push(("fieldlengthhistogram", self.histogram_file.clone()));
        }
        match self.distribution {
            RequestDistribution::Hotspot => {
                all.push(("hotspotdatafraction", self.hotspot.0.to_string()));
                all.push(("hotspotopnfraction", self.hotspot.1.to_string()));
            }
            RequestDistribution::Exponential => {
                all.push(("exponential.percentile", self.exponential.0.to_string()));
                all.push(("exponential.frac", self.exponential.1.to_string()));
            }
            RequestDistribution::Uniform | RequestDistribution::Sequential => {}
            _ => all.push(("zipfianconstant", self.theta.to_string())),
        }
        match self.family {
            Family::Mix => all.push(("compat", compat_name(self.stable).to_owned())),
            Family::Core => {
                all.push(("insertstart", self.range.0.to_string()));
                all.push(("insertcount", self.population().to_string()));
                all.push(("dotransactions", (!self.loading).to_string()));
                all.push(("dataintegrity", self.data_integrity.to_string()));
                all.push(("readallfieldsbyname", self.reads_by_name.to_string()));
                all.push(("readallfields", self.read_all_fields.to_string()));
                all.push(("writeallfields", self.write_all_fields.to_string()));
                all.push(("scanlengthdistribution", self.scan.shape.name().to_owned()));
                all.push(("insertorder", self.key_order.name().to_owned()));
                all.push(("zeropadding", self.zero_padding.to_string()));
                all.push(("operationcount", self.operation_count.to_string()));
            }
        }
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn compat_name(stable: bool) -> &'static str {
    if stable { "none" } else { "benchbase" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    fn config(name: &str, overrides: &[(&str, &str)]) -> Result<YcsbConfig, String> {
        let overrides: Vec<_> = overrides.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        YcsbConfig::from_name(name, 1.0, Seed(1), &overrides)
    }

    #[test]
    fn every_property_can_be_set_and_is_stated() {
        for name in ["ycsb", "ycsb-d"] {
            let family = config(name, &[]).unwrap().family;
            for property in family.properties() {
                let value = match property {
                    "fieldlengthdistribution" | "scanlengthdistribution" => "zipfian",
                    "requestdistribution" => "hotspot",
                    "readallfields" | "dotransactions" => "false",
                    "writeallfields" | "readallfieldsbyname" | "dataintegrity" => "true",
                    "table" | "fieldnameprefix" | "fieldlengthhistogram" => "other",
                    // Accepted, and without meaning.
                    "core_workload_insertion_retry_interval" => continue,
                    "insertorder" => "ordered",
                    "compat" => "benchbase",
                    "zipfianconstant" | "hotspotdatafraction" | "hotspotopnfraction" => "0.5",
                    "exponential.frac" => "0.25",
                    _ => "7",
                };
                let changed = config(name, &[(property, value)]).unwrap();
                let plain = config(name, &[]).unwrap();
                assert_ne!(changed, plain, "{name} {property}={value}");
            }
        }
    }

    #[test]
    fn errors_name_the_property_the_value_and_the_next_step() {
        let fail = |name: &str, property: &str, value: &str| config(name, &[(property, value)]).unwrap_err();
        assert_eq!(
            fail("ycsb-a", "feildcount", "5"),
            "ycsb-a: unknown property `feildcount`; did you mean `fieldcount`?"
        );
        assert_eq!(
            fail("ycsb", "fieldlength", "0"),
            "ycsb: fieldlength=0: expected a whole number in [1, 65536]"
        );
        assert_eq!(
            fail("ycsb-a", "requestdistribution", "zipfain"),
            "ycsb-a: requestdistribution: unknown value `zipfain`; did you mean `zipfian`?"
        );
        assert!(fail("ycsb", "insertorder", "hashed").contains("unknown property `insertorder`"));
        assert!(fail("ycsb-c", "readproportion", "0").contains("not all 0"));
        assert!(fail("ycsb", "readallfields", "yes").contains("unknown property"));
        assert!(fail("ycsb-b", "readallfields", "yes").contains("expected `true` or `false`"));
        assert!(fail("ycsb", "zipfianconstant", "1.2").contains("zipfian-exact"));
        assert!(fail("ycsb-e", "minscanlength", "101").contains("more than maxscanlength=100"));
        assert!(fail("ycsb-e", "minfieldlength", "101").contains("more than fieldlength=100"));
        assert!(fail("ycsb-a", "insertstart", "1000").contains("within recordcount=1000"));
        assert!(fail("ycsb-a", "insertcount", "1001").contains("within recordcount=1000"));
        assert!(fail("ycsb-a", "table", "user table").contains("a name of at most 48"));
        assert!(fail("ycsb-a", "table", "truetail_dataset").contains("a name of at most 48"));
        assert!(
            fail("ycsb-a", "fieldlengthdistribution", "histogram")
                .contains("fieldlengthhistogram=hist.txt: ")
        );
        let uniform = [("fieldlengthdistribution", "uniform"), ("dataintegrity", "true")];
        assert!(config("ycsb-a", &uniform).unwrap_err().contains("constant lengths"));
        assert!(config("ycsb-x", &[]).unwrap_err().contains("valid are ycsb, ycsb-a"));
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(YcsbConfig::from_name("ycsb", scale, Seed(1), &[]).unwrap_err().contains("scale"));
        }
        assert!(YcsbConfig::from_name("ycsb", 1e8, Seed(1), &[]).unwrap_err().contains("32-bit"));
    }
}
