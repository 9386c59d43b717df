//! `--json`: one document on stdout, all else on stderr.

use crate::program::{BRIEF, Scratch};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use testkit::documented::{Schema, schemas};

/// Documents of commands that are tested in programs of their own, where these are looked at.
const ELSEWHERE: [&str; 9] = [
    "truetail.benchbase/1",
    "truetail.store/1",
    "truetail.prove/1",
    "truetail.driver-traps/1",
    "truetail.echo/1",
    "truetail.floor/1",
    "truetail.tell-tale/1",
    "truetail.predictability/1",
    "truetail.elasticity/1",
];

/// Every field that any command prints is described, and none is described that no command prints.
#[test]
fn every_command_speaks_json() {
    let scratch = Scratch::new("json");
    let mut documents: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut schema = |arguments: &[&str]| {
        let ended = scratch.truetail(arguments);
        assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
        let document = ended.json();
        let name = document["schema"].as_str().expect("a schema").to_owned();
        documents.entry(name.clone()).or_default().push(document);
        name
    };
    let run = |more: &[&'static str]| [&["run", "sqlite:data.db", "--json"], &BRIEF[..], more].concat();
    assert_eq!(schema(&["load", "sqlite:data.db", "--json"]), "truetail.dataset/1");
    assert_eq!(schema(&["check", "sqlite:data.db", "--json"]), "truetail.dataset/1");
    let report = schema(&run(&["-o", "a"]));
    schema(&run(&["-o", "b"]));
    assert_eq!(schema(&["report", "a", "--json"]), report);
    assert_eq!(schema(&["--json", "report", "a"]), report, "the flag may stand first");
    assert_eq!(schema(&["export", "a", "--format", "json"]), report);
    assert_eq!(schema(&["export", "a", "--json"]), report);
    assert_eq!(schema(&["attribute", "a", "--json"]), "truetail.attribution/1");
    assert_eq!(schema(&["compare", "a", "b", "--json", "--force"]), "truetail.compare/1");
    let repeat = ["run", "null:", "--json", "-d", "200ms", "--warmup", "0s", "--repeat", "2", "-o", "c"];
    assert_eq!(schema(&repeat), "truetail.repeat/1");
    let search = ["search", "null:", "--json", "--slo", "p50 < 1s", "--from", "200/s", "--to", "300/s"];
    assert_eq!(schema(&[&search[..], &BRIEF[..], &["-o", "s"]].concat()), "truetail.search/1");
    assert_eq!(schema(&["experiment", "--list", "--json"]), "truetail.experiments/1");
    assert_eq!(schema(&["gaps", "--time", "20ms", "--json"]), "truetail.gaps/1");
    assert_eq!(schema(&["run", "--print-config", "--json"]), "truetail.config/1");
    assert_eq!(schema(&["cleanup", "sqlite:data.db", "--json"]), "truetail.dataset/1");

    assert_eq!(schema(&["import", "--list", "--json"]), "truetail.import-formats/1");
    scratch.write("a.txt", crate::imported::SYSBENCH);
    assert_eq!(schema(&["import", "sysbench", "a.txt", "-o", "i", "--json"]), report);
    assert_eq!(schema(&["compare", "i", "i", "--json"]), "truetail.compare-stated/1");

    let listed = schemas().into_iter().filter(|name| !ELSEWHERE.contains(name));
    let listed: BTreeSet<String> = listed.map(str::to_owned).collect();
    assert_eq!(listed, documents.keys().cloned().collect::<BTreeSet<String>>());
    for (name, documents) in &documents {
        let mut differences = Schema::new(name).differences(documents);
        if name == "truetail.run/1" || name == "truetail.attribution/1" {
            // What only a truth log, a probe of staleness or a cause that was met brings; a page with both is checked where pages are made.
            differences.retain(|line| !line.contains("which no "));
        }
        assert_eq!(differences, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_summary_on_disk_is_the_document() {
    let scratch = Scratch::new("summary");
    let run = ["run", "null:", "--json", "-o", "a", "-d", "1s", "--warmup", "0s"];
    let printed = scratch.truetail(&run).json();
    let text = std::fs::read_to_string(scratch.path("a/summary.json")).expect("summary.json");
    let kept: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(kept, printed);
    assert_eq!(scratch.truetail(&["report", "a", "--json"]).json(), printed);
}

#[test]
fn errors_leave_stdout_empty() {
    let scratch = Scratch::new("json-errors");
    scratch.truetail(&["run", "--json", "--rate", "many", "null:"]).refused(&["--rate", "many"]);
    scratch.truetail(&["report", "--json", "nowhere"]).refused(&["nowhere"]);
}
