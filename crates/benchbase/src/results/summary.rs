//! `summary.json`.

use super::{Distribution, Results, csv::micros};
use crate::Configuration;
use serde_json::{Map, Value, json};

/// What is told of a run besides its requests.
#[derive(Clone, PartialEq, Debug)]
pub struct Described<'a> {
    /// What was asked for.
    pub configuration: &'a Configuration,
    /// The database's version; `None` where it is not known.
    pub version: Option<String>,
    /// When the first run began, ms since 1970.
    pub started_ms: u64,
    /// When this is written, ms since 1970.
    pub now_ms: u64,
    /// `valid`, `suspect` or `invalid`.
    pub verdict: String,
    /// Why.
    pub reasons: Vec<String>,
    /// The load model in words.
    pub load_model: String,
    /// Whether the workload behaves as BenchBase's, or correctly.
    pub compat: String,
    /// The recordings' directories.
    pub recordings: Vec<String>,
    /// Whether a signal ended it early.
    pub interrupted: bool,
}

impl Results {
    /// The document. Keys of truetail's own begin with its name.
    pub fn summary(&self, described: &Described<'_>) -> Value {
        let totals = self.totals();
        let configuration = described.configuration;
        let service = Distribution::of(&mut self.rows.iter().map(|row| row.service_ns).collect::<Vec<_>>());
        let response =
            Distribution::of(&mut self.rows.iter().filter_map(|row| row.response_ns()).collect::<Vec<_>>());
        json!({
            "Start timestamp (milliseconds)": described.started_ms,
            "Current Timestamp (milliseconds)": described.now_ms,
            "Elapsed Time (nanoseconds)": totals.elapsed_ns,
            "DBMS Type": configuration.dbms.name(),
            "DBMS Version": described.version.as_deref().unwrap_or("unknown"),
            "Benchmark Type": configuration.benchmark.name,
            "Final State": if described.interrupted { "ERROR" } else { "EXIT" },
            "Measured Requests": totals.measured,
            "isolation": configuration.isolation_text,
            "scalefactor": configuration.scale_text,
            "terminals": configuration.terminals.to_string(),
            "Latency Distribution": times(service, "Latency"),
            "Throughput (requests/second)": totals.throughput(),
            "Goodput (requests/second)": totals.goodput(),
            "truetail verdict": described.verdict,
            "truetail reasons": described.reasons,
            "truetail load model": described.load_model,
            "truetail behaviour": described.compat,
            "truetail isolation": configuration.isolation,
            "truetail recordings": described.recordings,
            "truetail Response Time Distribution": response.map(|found| times(Some(found), "Response Time")),
            "truetail answered late": totals.late,
            "truetail never answered": totals.unanswered,
            "truetail never sent": totals.never_sent,
        })
    }
}

/// In µs; −1 where there was no request, as BenchBase has it.
fn times(of: Option<Distribution>, what: &str) -> Value {
    let time = |value: Option<u64>| value.map_or(json!(-1), |nanos| json!(micros(nanos)));
    let mut map = Map::new();
    let mut put = |name: &str, value: Option<u64>| {
        map.insert(format!("{name} {what} (microseconds)"), time(value));
    };
    put("Minimum", of.map(|d| d.least));
    let names = [
        "25th Percentile",
        "Median",
        "75th Percentile",
        "90th Percentile",
        "95th Percentile",
        "99th Percentile",
    ];
    for (index, name) in names.into_iter().enumerate() {
        put(name, of.map(|d| d.quantiles[index]));
    }
    put("Average", of.map(|d| d.mean.round() as u64));
    put("Maximum", of.map(|d| d.greatest));
    Value::Object(map)
}
