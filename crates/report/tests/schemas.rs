//! `docs/json.md` names every field of the documents, and no field that they do not have.

mod fixture;

use analysis::Analysis;
use serde_json::Value;
use testkit::documented::{Schema, schemas};

fn check(name: &str, documents: &[Value]) {
    assert_eq!(Schema::new(name).differences(documents), Vec::<String>::new());
}

#[test]
fn every_field_is_described_and_every_described_field_exists() {
    let runs = [
        fixture::open_loop(),
        fixture::closed_loop(),
        fixture::tiny(),
        fixture::censored(),
        fixture::with_truth(),
        fixture::with_probes(),
        fixture::with_join(),
        fixture::with_floor(),
        fixture::with_statements_timed(),
        fixture::with_pauses(),
        fixture::with_stalls(),
        fixture::with_runners(),
        fixture::with_server_log(),
        fixture::with_statements(),
        fixture::with_rules(),
        fixture::with_rules_of_terminals(),
    ];
    let mut documents: Vec<Value> = runs.iter().map(report::json::document).collect();
    documents.push(report::json::document(&statements_alone()));
    check("truetail.run/1", &documents);
    let attributions: Vec<Value> = runs.iter().map(report::json::attribution_document).collect();
    check("truetail.attribution/1", &attributions);
    let comparison = report::json::comparison(&fixture::comparison(), &["p99 > +5%".to_owned()]);
    check("truetail.compare/1", std::slice::from_ref(&comparison));
    let all: Vec<&Analysis> = runs[..1].iter().collect();
    let repeats = report::json::repeats(&all, &analysis::across_repeats(&all));
    check("truetail.repeat/1", std::slice::from_ref(&repeats));
    let floors = [fixture::floor(), fixture::floor_without_the_network(), fixture::overloaded()];
    let floors: Vec<Value> = floors.iter().map(report::floor::json).collect();
    check("truetail.floor/1", &floors);
    let gaps = report::gaps::json(&fixture::gaps());
    check("truetail.gaps/1", std::slice::from_ref(&gaps));
    let stated = fixture::with_statements();
    let pairs = analysis::stated_pairs(&stated, &stated, &[]);
    let stated = report::json::stated_comparison(&pairs);
    check("truetail.compare-stated/1", std::slice::from_ref(&stated));
    documents.extend([comparison, repeats, gaps, stated]);
    documents.extend(floors);
    assert_eq!(Schema::unused_shared(&documents), Vec::<&str>::new());
}

/// The other documents are held to the page by the tests of the program that prints them.
#[test]
fn each_schema_has_its_section() {
    let listed = schemas();
    listed.iter().for_each(|name| drop(Schema::new(name)));
    assert_eq!(listed.len(), 20, "{listed:?}");
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

/// What a tool states, without one request and without a time that it would be of.
fn statements_alone() -> Analysis {
    let mut alone = fixture::with_statements();
    alone.total.counts.total = 0;
    alone.measured.1 = alone.measured.0;
    alone
}

#[test]
fn of_statements_alone_no_rate_is_known() {
    let load = report::json::document(&statements_alone())["load"].clone();
    for unknown in ["offered_per_second", "achieved_per_second", "goodput_per_second", "measured_seconds"] {
        assert_eq!(load.get(unknown), Some(&Value::Null), "{unknown}");
    }
}
