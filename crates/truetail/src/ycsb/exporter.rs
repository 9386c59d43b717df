//! Figures as lines: YCSB's text, and its two forms of JSON.

use super::numbers::double;
use serde_json::{Value as Json, json};

/// One figure.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Figure {
    pub(super) section: String,
    pub(super) name: String,
    pub(super) value: Value,
}

/// What a figure says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    Count(u64),
    /// A number that may be below zero.
    Number(i64),
    Real(f64),
}

impl From<u64> for Value {
    fn from(count: u64) -> Value {
        Value::Count(count)
    }
}

impl From<f64> for Value {
    fn from(real: f64) -> Value {
        Value::Real(real)
    }
}

impl Figure {
    pub(super) fn new(section: &str, name: impl Into<String>, value: impl Into<Value>) -> Figure {
        Figure { section: section.to_owned(), name: name.into(), value: value.into() }
    }
}

/// How figures are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exporter {
    Text,
    /// Objects one after the other.
    Json,
    /// One array.
    JsonArray,
}

/// The classes, by the last part of their names.
const CLASSES: [(&str, Exporter); 3] = [
    ("TextMeasurementsExporter", Exporter::Text),
    ("JSONMeasurementsExporter", Exporter::Json),
    ("JSONArrayMeasurementsExporter", Exporter::JsonArray),
];

impl Exporter {
    /// The exporter of a class.
    ///
    /// # Errors
    /// One line with the nearest class.
    pub(super) fn of(class: &str) -> anyhow::Result<Exporter> {
        let name = class.rsplit('.').next().unwrap_or(class);
        let found = CLASSES.iter().find(|(class, _)| *class == name);
        found.map(|(_, exporter)| *exporter).ok_or_else(|| {
            let valid = CLASSES.map(|(class, _)| class);
            anyhow::anyhow!("exporter={class}: not offered{}", workload::names::suggestion(name, &valid))
        })
    }

    /// All figures, with a line's end behind them.
    pub(super) fn write(self, figures: &[Figure]) -> String {
        match self {
            Exporter::Text => figures.iter().map(line).collect(),
            Exporter::Json => {
                let objects: Vec<String> = figures.iter().map(object).collect();
                objects.join(" ") + "\n"
            }
            Exporter::JsonArray => {
                let objects: Vec<String> = figures.iter().map(object).collect();
                format!("[ {} ]\n", objects.join(", "))
            }
        }
    }
}

fn line(figure: &Figure) -> String {
    let value = match figure.value {
        Value::Count(count) => count.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Real(real) => double(real),
    };
    format!("[{}], {}, {value}\n", figure.section, figure.name)
}

fn object(figure: &Figure) -> String {
    let quoted = |text: &str| Json::from(text).to_string();
    let value = match figure.value {
        Value::Count(count) => json!(count).to_string(),
        Value::Number(number) => json!(number).to_string(),
        Value::Real(real) if real.is_finite() => double(real),
        Value::Real(real) => quoted(&double(real)),
    };
    format!(
        "{{\n  \"metric\" : {},\n  \"measurement\" : {},\n  \"value\" : {value}\n}}",
        quoted(&figure.section),
        quoted(&figure.name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> [Figure; 3] {
        [
            Figure::new("OVERALL", "RunTime(ms)", 1291),
            Figure::new("OVERALL", "Throughput(ops/sec)", 15491.866769945778),
            Figure::new("READ", "Below is a summary of latency in microseconds:", Value::Number(-1)),
        ]
    }

    #[test]
    fn text_is_ycsb_s() {
        assert_eq!(
            Exporter::Text.write(&figures()),
            "[OVERALL], RunTime(ms), 1291\n[OVERALL], Throughput(ops/sec), 15491.866769945778\n\
             [READ], Below is a summary of latency in microseconds:, -1\n"
        );
    }

    /// The beginning of what a real client wrote.
    #[test]
    fn arrays_are_ycsb_s() {
        let text = Exporter::JsonArray.write(&figures());
        assert!(text.starts_with(
            "[ {\n  \"metric\" : \"OVERALL\",\n  \"measurement\" : \"RunTime(ms)\",\n  \"value\" : 1291\n}, {\n  \"metric\" : \"OVERALL\",\n  \
             \"measurement\" : \"Throughput(ops/sec)\",\n  \"value\" : 15491.866769945778\n}, {"
        ), "{text}");
        let parsed: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed[2]["value"], -1);
        let objects = Exporter::Json.write(&figures());
        let parsed: Vec<Json> =
            serde_json::Deserializer::from_str(&objects).into_iter().map(Result::unwrap).collect();
        assert_eq!(parsed.len(), 3);
    }

    #[test]
    fn exporters_go_by_their_class() {
        let package = "site.ycsb.measurements.exporter";
        assert_eq!(
            Exporter::of(&format!("{package}.JSONArrayMeasurementsExporter")).unwrap(),
            Exporter::JsonArray
        );
        let refused = Exporter::of(&format!("{package}.JSONMeasurementExporter")).unwrap_err().to_string();
        assert!(refused.contains("did you mean `JSONMeasurementsExporter`?"), "{refused}");
    }
}
