//! `truetail prove` as its users meet it: the simulated clock, the paper's experiment, the drivers.

#[path = "cli/program.rs"]
#[expect(dead_code, reason = "shared with the tests of the other commands, which need more of it")]
mod program;

use program::Scratch;
use record::TruthLog;
use serde_json::Value;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use testkit::documented::Schema;

/// The machine, for one proof at a time: a driver that waits for a processor would look late.
fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The document on disk is the printed one.
fn kept(scratch: &Scratch, directory: &str) -> Value {
    let text = std::fs::read_to_string(scratch.path(directory).join("proof.json")).expect("proof.json");
    serde_json::from_str(&text).expect("JSON")
}

/// What the page on JSON does not say of this document; others may have what it lacks.
fn undescribed(proof: &Value) -> Vec<String> {
    let mut differences = Schema::new("truetail.prove/1").differences(std::slice::from_ref(proof));
    differences.retain(|line| !line.contains("which no "));
    differences
}

fn names<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let list = list.as_array().expect("a list");
    list.iter().map(|item| item[field].as_str().expect("a name")).collect()
}

#[test]
fn truetail_passes_every_scenario_on_the_simulated_clock() {
    let _alone = alone();
    let scratch = Scratch::new("prove-simulated");
    let ended = scratch.truetail(&["prove", "--simulated", "--json", "-o", "a"]).well();
    let proof = ended.json();
    assert_eq!(proof["passed"], true);
    let listed = scratch.truetail(&["prove", "--list"]).well().stdout;
    let scenarios = names(&proof["scenarios"], "scenario");
    assert!(scenarios.len() >= 11, "{scenarios:?}");
    let told = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    assert!(
        scenarios.iter().copied().eq(told.take(scenarios.len())),
        "{scenarios:?} are not those of {listed}"
    );
    for scenario in proof["scenarios"].as_array().expect("scenarios") {
        assert_eq!(scenario["passed"], true, "{scenario:#}");
        assert_eq!(scenario["requests"], scenario["measured_requests"], "{scenario:#}");
        assert_eq!(scenario["rows"].as_array().map(Vec::len), Some(12), "{scenario:#}");
        for row in scenario["rows"].as_array().expect("rows") {
            let (error, limit) = (row["error"].as_f64(), row["limit"].as_f64());
            assert!(error.expect("an error").abs() <= limit.expect("a limit"), "{row:#}");
        }
    }
    assert_eq!(undescribed(&proof), Vec::<String>::new());
    assert_eq!(kept(&scratch, "a"), proof);
    let page = std::fs::read_to_string(scratch.path("a/proof.html")).expect("proof.html");
    for scenario in scenarios {
        assert!(page.contains(scenario), "no {scenario} on the page");
    }
}

#[test]
fn the_paper_is_run_again() {
    let _alone = alone();
    let scratch = Scratch::new("prove-nosqlmark");
    let proof = scratch.truetail(&["prove", "--experiment", "nosqlmark", "--json", "-o", "a"]).well().json();
    let checks = proof["nosqlmark"]["checks"].as_array().expect("checks");
    assert!(!checks.is_empty());
    assert_eq!(proof["passed"], true);
    assert_eq!(undescribed(&proof), Vec::<String>::new());
    assert_eq!(kept(&scratch, "a"), proof);
    for file in ["proof.html", "mean-over-capacity.svg", "around-the-hiccup.svg"] {
        let text = std::fs::read_to_string(scratch.path("a").join(file)).expect(file);
        assert!(text.contains("<svg"), "no figure in {file}");
    }
}

#[test]
fn a_node_joins() {
    let _alone = alone();
    let scratch = Scratch::new("prove-elasticity");
    let proof = scratch.truetail(&["prove", "--experiment", "elasticity", "--json", "-o", "a"]).well().json();
    assert!(proof["elasticity"].is_object(), "{proof:#}");
    assert_eq!(undescribed(&proof), Vec::<String>::new());
    assert!(scratch.path("a/node-joins.svg").exists());
}

/// None is described that no proof prints; what a proof prints and the page does not say, the other tests look for.
#[test]
fn every_field_of_the_page_is_printed_by_one_of_the_proofs() {
    let _alone = alone();
    let scratch = Scratch::new("prove-documents");
    let kinds: [&[&str]; 4] = [
        &["--simulated", "--scenario", "steady", "-o", "a"],
        &["--experiment", "nosqlmark", "-o", "b"],
        &["--experiment", "elasticity", "-o", "c"],
        &["--tool", "redis-benchmark", "--scenario", "hiccup-80", "-o", "d"],
    ];
    let proof = |flags: &[&str]| scratch.truetail(&[&["prove", "--json"], flags].concat()).well().json();
    let proofs = kinds.map(proof);
    assert_eq!(Schema::new("truetail.prove/1").differences(&proofs), Vec::<String>::new());
}

#[test]
fn no_driver_does_anything_unasked() {
    let _alone = alone();
    let scratch = Scratch::new("prove-traps");
    let document = scratch.truetail(&["prove", "--driver-traps", "--json", "-o", "a"]).well().json();
    let mut drivers = names(&document["drivers"], "driver");
    drivers.sort_unstable();
    assert_eq!(drivers, ["postgres", "redis"]);
    for driver in document["drivers"].as_array().expect("drivers") {
        let checks = driver["checks"].as_array().expect("checks");
        assert_eq!(checks.len(), 8, "{driver:#}");
        assert!(checks.iter().all(|check| check["passed"] == true), "{driver:#}");
    }
    assert_eq!(Schema::new("truetail.driver-traps/1").differences(&[document]), Vec::<String>::new());
}

#[test]
fn what_can_not_be_proved_is_refused_and_leaves_nothing_behind() {
    let scratch = Scratch::new("prove-refused");
    let cases: [(&[&str], &[&str]); 6] = [
        (&["--scenario", "nope"], &["--scenario nope", "steady", "hiccup-80", "many-sessions"]),
        (&["--experiment", "nope"], &["--experiment nope", "nosqlmark", "elasticity"]),
        (&["--protocol", "nope"], &["--protocol nope", "resp", "postgres", "both"]),
        (&["--tool", "nope"], &["--tool nope", "prove --list"]),
        (&["--tool", "redis-benchmark", "--scenario", "nope"], &["--scenario nope", "steady"]),
        (&["--tool", "x {port}", "--format", "nope", "--protocol", "resp"], &["--format", "nope", "csv"]),
    ];
    for (flags, named) in cases {
        let words = [&["prove", "--simulated", "--json", "-o", "a"], flags].concat();
        let conflicts = flags[0] == "--experiment" || flags[0] == "--tool";
        let words: Vec<&str> =
            words.into_iter().filter(|word| !(conflicts && *word == "--simulated")).collect();
        scratch.truetail(&words).refused(named);
        assert!(!scratch.path("a").exists(), "{flags:?} left a directory behind");
    }
}

#[test]
fn an_occupied_directory_is_left_as_it_is() {
    let scratch = Scratch::new("prove-occupied");
    std::fs::create_dir(scratch.path("a")).expect("a directory");
    scratch.write("a/thing", "mine");
    for flags in [&["--simulated"][..], &["--driver-traps"], &["--experiment", "nosqlmark"]] {
        let words = [&["prove", "--json", "-o", "a"], flags].concat();
        scratch.truetail(&words).refused(&["a is not empty", "another directory"]);
    }
    let left: Vec<_> = std::fs::read_dir(scratch.path("a")).expect("the directory").collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// Over TCP, in both protocols: how near its figures are depends on this machine, what is compared with what does not.
#[test]
fn a_live_run_is_graded_by_the_truth_of_the_same_run() {
    let _alone = alone();
    let scratch = Scratch::new("prove-live");
    let proof = scratch.truetail(&["prove", "--live", "--scenario", "hiccup-80", "--json", "-o", "a"]);
    let code = proof.code;
    let proof = proof.json();
    assert_eq!(code, Some(if proof["passed"] == true { 0 } else { 1 }));
    assert_eq!(undescribed(&proof), Vec::<String>::new());
    let runs = proof["scenarios"].as_array().expect("scenarios");
    assert_eq!(names(&proof["scenarios"], "protocol"), ["resp", "postgres"]);
    assert_eq!(proof["passed"], runs.iter().all(|run| run["passed"] == true));
    for run in runs {
        assert_eq!(run["requests"], 16_000);
        assert_eq!(run["measured_requests"], run["requests"], "{run:#}");
        assert!(run["host_standstill"].as_f64().is_some_and(|share| (0.0..1.0).contains(&share)), "{run:#}");
        let rows = run["rows"].as_array().expect("rows");
        let row = |measure: &str, statistic: &str| {
            let found = rows.iter().find(|row| row["measure"] == measure && row["statistic"] == statistic);
            found.unwrap_or_else(|| panic!("no {statistic} of the {measure} in {run:#}"))
        };
        assert_eq!(row("lag", "mean")["limit"], 300_000.0);
        assert!(row("service_time", "p99")["limit"].is_null());
        for row in rows {
            let within = row["limit"]
                .as_f64()
                .is_none_or(|limit| row["error"].as_f64().is_some_and(|error| error.abs() <= limit));
            assert!(within || run["passed"] == false, "{row:#}");
        }
        // The stall of 300 ms and the queue behind it, on both sides; a busy machine adds to it.
        let p99 = row("response_time", "p99");
        let (truth, measured) = (p99["true"].as_f64().unwrap(), p99["measured"].as_f64().unwrap());
        assert!(truth > 280e6 && (0.98..1.5).contains(&(measured / truth)), "{p99:#}");
        for directory in ["run", "truth"] {
            let place =
                scratch.path("a").join(run["protocol"].as_str().unwrap()).join("hiccup-80").join(directory);
            assert!(place.exists(), "{}", place.display());
        }
        let protocol = run["protocol"].as_str().expect("a protocol");
        let truth = scratch.path("a").join(protocol).join("hiccup-80/truth");
        assert!(
            clock_of_hiccups(&truth) >= arrival_of_load(&truth, 16_000),
            "{protocol}: it began before the load"
        );
    }
}

/// The moment from which the store counted its only hiccup's begin, ns.
fn clock_of_hiccups(truth: &Path) -> u64 {
    let log = TruthLog::open(truth).expect("a truth log");
    let settings = &log.header().settings;
    let (_, hiccup) = settings.iter().find(|(name, _)| name == "hiccup").expect("a hiccup");
    let hiccup: store::Hiccup = hiccup.parse().expect("its text");
    let events = log.events().expect("events");
    let begun: Vec<_> = events.iter().filter(|event| event.subject == "hiccup").collect();
    assert_eq!(begun.len(), 1, "{events:?}");
    begun[0].begin.0 - hiccup.first.0
}

/// When the first of the last so many requests arrived, ns.
fn arrival_of_load(truth: &Path, requests: usize) -> u64 {
    let log = TruthLog::open(truth).expect("a truth log");
    let mut rows = Vec::new();
    log.scan(|part| rows.extend(part.iter().map(|row| (row.seq, row.arrived.0))));
    rows.sort_unstable();
    rows[rows.len() - requests].1
}
