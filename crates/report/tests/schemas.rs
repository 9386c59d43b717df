//! `docs/json.md` names every field of the documents, and no field that they do not have.

mod fixture;

use serde_json::Value;
use std::collections::BTreeSet;

const DOCS: &str = include_str!("../../../docs/json.md");

/// Objects whose keys are data and not fields.
const MAPS: [&str; 7] =
    ["quantiles", "by_class", "by_outcome", "workload_facts", "target_facts", "clock_facts", "capabilities"];

/// The text below a heading of the second level.
fn section(heading: &str) -> &'static str {
    let start = DOCS.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    let body = &DOCS[start + 4..];
    &body[..body.find("\n## ").unwrap_or(body.len())]
}

/// The last parts of the paths in the tables' first columns: `verdict.reasons[].kind` names `kind`.
fn named(section: &str) -> BTreeSet<&str> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(path, _)| path.rsplit('.').next().unwrap_or(path)).collect()
}

fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                found.insert(name.clone());
                if !MAPS.contains(&name.as_str()) {
                    keys(field, found);
                } else if let Value::Object(entries) = field {
                    // What the map holds has fields again.
                    entries.values().for_each(|entry| keys(entry, found));
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|entry| keys(entry, found)),
        _ => {}
    }
}

fn check(heading: &str, documents: &[Value], shared: &BTreeSet<&'static str>) -> BTreeSet<String> {
    let own = named(section(heading));
    let mut used = BTreeSet::new();
    documents.iter().for_each(|d| keys(d, &mut used));
    let unnamed: Vec<&String> =
        used.iter().filter(|k| !own.contains(k.as_str()) && !shared.contains(k.as_str())).collect();
    assert!(unnamed.is_empty(), "docs/json.md does not name in {heading}: {unnamed:?}");
    let unused: Vec<&&str> = own.iter().filter(|k| !used.contains(**k)).collect();
    assert!(unused.is_empty(), "docs/json.md names in {heading} what no document has: {unused:?}");
    used
}

#[test]
fn every_field_is_described_and_every_described_field_exists() {
    let shared = named(section("Shared objects"));
    let runs = [fixture::open_loop(), fixture::closed_loop(), fixture::tiny(), fixture::censored()];
    let runs: Vec<Value> = runs.iter().map(report::json::document).collect();
    let comparison = [report::json::comparison(&fixture::comparison())];
    let mut used = check("`truetail.run/1`", &runs, &shared);
    used.extend(check("`truetail.compare/1`", &comparison, &shared));
    let unused: Vec<&&str> = shared.iter().filter(|k| !used.contains(**k)).collect();
    assert!(unused.is_empty(), "docs/json.md names shared fields that no document has: {unused:?}");
}

#[test]
fn each_schema_has_its_section() {
    let listed = DOCS.lines().filter_map(|l| l.strip_prefix("| `truetail.")?.split_once('`'));
    let mut count = 0;
    for (name, _) in listed {
        assert!(named(section(&format!("`truetail.{name}`"))).contains("schema"), "{name}");
        count += 1;
    }
    assert_eq!(count, 7);
}

#[test]
fn withheld_quantiles_are_null() {
    let document = report::json::document(&fixture::tiny());
    let quantiles = &document["measures"]["response_time"]["quantiles"];
    assert!(quantiles["p50"]["point"].is_f64());
    for name in ["p75", "p90", "p95", "p99", "p99.9", "p99.99"] {
        assert_eq!(quantiles.get(name), Some(&Value::Null), "{name}");
    }
}

#[test]
fn a_closed_loop_has_no_response_time() {
    let document = report::json::document(&fixture::closed_loop());
    assert_eq!(document["load"]["offered_per_second"], Value::Null);
    assert_eq!(document["measures"].get("response_time"), Some(&Value::Null));
    assert!(document["measures"]["service_time"].is_object());
}
