//! memtier_benchmark: the table `ALL STATS`, and the JSON file of `--json-out-file`.
//!
//! Figures count from the moment at which a request is sent, with `--rate-limiting`, too. Written from the documented
//! formats and from `run_stats.cpp`; Debian has no package of it, so that it was not run here.

use crate::ImportError;
use crate::figures::{elapsed, percentile, rate, scaled};
use crate::format::{Output, quoted};
use crate::hdr;
use crate::report::{Reported, StatedFrom, ToolReport};
use serde_json::Value;
use units::{Nanos, PerSecond};

const MICRO: Nanos = Nanos::from_micros(1);
const MILLI: Nanos = Nanos::from_millis(1);
const ALL: &str = "ALL STATS";

/// Reads JSON where an output begins with it, else the table.
pub(crate) fn read(outputs: &[Output]) -> Result<ToolReport, ImportError> {
    let mut tables = ToolReport::default();
    let mut documents = ToolReport::default();
    for output in outputs {
        if output.text.trim_start().starts_with('{') {
            read_document(output, &mut documents)?;
        } else {
            read_table(output, &mut tables)?;
        }
    }
    // The same run in both: the document says more.
    let mut report = if documents.rows.is_empty() { tables } else { documents };
    if report.rows.is_empty() {
        let hint =
            format!("no table `{ALL}` and no JSON with `{ALL}`; with --run-count, hand over a single run");
        return Err(ImportError::Nothing { format: "memtier", hint });
    }
    report.tool = "memtier_benchmark".to_owned();
    Ok(report)
}

fn row(name: &str) -> Reported {
    Reported {
        operation: if name == "Totals" { String::new() } else { name.to_owned() },
        measure: "Latency".to_owned(),
        counted_from: StatedFrom::Send,
        resolution: Some(MICRO),
        ..Reported::default()
    }
}

fn read_table(output: &Output, report: &mut ToolReport) -> Result<(), ImportError> {
    let mut columns: Option<Vec<String>> = None;
    let mut inside = false;
    for (line, text) in output.lines() {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        if text.trim() == ALL {
            inside = true;
        } else if inside && words.starts_with(&["Type", "Ops/sec"]) {
            columns = Some(names(&words));
        } else if let Some(known) = &columns {
            let rule = text.starts_with("---");
            if words.is_empty() {
                // Best and worst of several runs, and the distribution, come after it.
                return Ok(());
            } else if !rule {
                let read = take_line(report, known, &words);
                read.ok_or_else(|| {
                    output.wrong_line(line, format!("{} does not fit its columns", quoted(text)))
                })?;
            }
        }
    }
    Ok(())
}

/// `Avg. Latency` and `p50 Latency` are one column each; `Latency` alone is the average of old versions.
fn names(words: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in words {
        match names.last_mut() {
            Some(last) if *word == "Latency" && (last == "Avg." || last.starts_with('p')) => {
                last.push_str(" Latency")
            }
            _ => names.push((*word).to_owned()),
        }
    }
    names
}

/// `None` if the line does not fit.
fn take_line(report: &mut ToolReport, columns: &[String], words: &[&str]) -> Option<()> {
    if words.len() != columns.len() {
        return None;
    }
    let mut row = row(words[0]);
    for (column, value) in columns.iter().zip(words).skip(1) {
        if *value == "---" {
            continue;
        }
        match column.as_str() {
            "Ops/sec" if row.operation.is_empty() => report.achieved = Some(rate(value)?),
            "Avg. Latency" | "Latency" => row.mean = Some(elapsed(value, MILLI)?),
            name => {
                let q = name
                    .strip_prefix('p')
                    .and_then(|name| name.strip_suffix(" Latency"))
                    .and_then(percentile);
                if let Some(q) = q {
                    row.quantiles.push((q, elapsed(value, MILLI)?));
                }
            }
        }
    }
    // An operation that the run did not use has no figures.
    if row.mean.is_some() || !row.quantiles.is_empty() {
        report.rows.push(row);
    }
    Some(())
}

fn read_document(output: &Output, report: &mut ToolReport) -> Result<(), ImportError> {
    let document: Value = serde_json::from_str(output.text)
        .map_err(|error| output.wrong(format!("its JSON is damaged: {error}")))?;
    let Some(Value::Object(all)) = document.get(ALL) else { return Ok(()) };
    for (name, entry) in all {
        // Run times and processors are there, too.
        let Some(ops) = entry.get("Ops/sec").and_then(Value::as_f64) else { continue };
        let row = take_entry(name, entry).map_err(|why| output.wrong(format!("{}: {why}", quoted(name))))?;
        if row.operation.is_empty() {
            report.achieved = PerSecond::new(ops);
            report.errors = entry.get("Connection Errors").and_then(Value::as_u64);
        }
        if row.count != Some(0) {
            report.rows.push(row);
        }
    }
    Ok(())
}

fn take_entry(name: &str, entry: &Value) -> Result<Reported, String> {
    let time = |value: &Value| -> Result<Nanos, String> {
        let read = value.as_f64().and_then(|ms| scaled(ms, MILLI));
        read.ok_or_else(|| format!("{} is no time in ms", quoted(&value.to_string())))
    };
    let maybe = |key: &str| entry.get(key).map(time).transpose();
    let mut row = row(name);
    row.count = entry.get("Count").and_then(Value::as_u64);
    row.mean = maybe("Average Latency")?.or(maybe("Latency")?);
    row.min = maybe("Min Latency")?;
    row.max = maybe("Max Latency")?;
    let Some(Value::Object(figures)) = entry.get("Percentile Latencies") else { return Ok(row) };
    for (key, value) in figures {
        if let Some(q) = key.strip_prefix('p').and_then(percentile) {
            row.quantiles.push((q, time(value)?));
        }
    }
    let histogram = figures.get("Histogram log format").and_then(|log| log.get("Compressed Histogram"));
    if let Some(encoded) = histogram.and_then(Value::as_str) {
        let counted =
            hdr::described(&hdr::decode(encoded)?, MICRO).ok_or("its histogram holds values of centuries")?;
        (row.cumulative, row.relative_resolution) = (counted.cumulative, counted.relative_resolution);
    }
    Ok(row)
}
