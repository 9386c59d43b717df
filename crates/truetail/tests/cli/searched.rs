//! The highest rate that holds a limit.

use crate::program::Scratch;

#[test]
fn a_generous_limit_holds_over_the_whole_range() {
    let scratch = Scratch::new("search-holds");
    let ended = scratch.truetail(&[
        "search", "null:", "--slo", "p50 < 5s", "--from", "200/s", "--to", "400/s", "-d", "1s", "--warmup",
        "200ms", "-o", "s",
    ]);
    let ended = ended.well();
    assert!(ended.stdout.contains("highest rate at which `p50 < 5s` is shown to hold: 400/s"), "{ended:?}");
    assert!(ended.stdout.contains("evidence: s"), "{ended:?}");
    // The evidence is there: one recording for each probe.
    for probe in ["s/probe-001-200", "s/probe-002-400"] {
        let rate = scratch.recording(probe).header().phases[1].offered.expect("a rate").0;
        assert!(probe.ends_with(&format!("{:.0}", rate.get())), "{probe}: {rate}");
    }
}

#[test]
fn an_impossible_limit_holds_nowhere() {
    let scratch = Scratch::new("search-fails");
    let ended = scratch.truetail(&[
        "search",
        "--slo",
        "p50 < 1ns",
        "--from",
        "200/s",
        "--to",
        "400/s",
        "-d",
        "1s",
        "--warmup",
        "0s",
        "-o",
        "s",
    ]);
    let ended = ended.with_code(1);
    assert!(ended.stdout.contains("`p50 < 1ns` was not shown to hold"), "{ended:?}");
    assert!(scratch.path("s/data.sqlite").exists(), "one database for all probes");
}

/// A planted capacity: a user holds a session for two thinks of 10 ms, so two sessions serve 100 users a second.
#[test]
fn a_planted_capacity_is_found_by_bisection() {
    let scratch = Scratch::new("search-bisects");
    let ended = scratch.truetail(&[
        "search",
        "null:",
        "--visit",
        "3",
        "--think",
        "constant:10ms",
        "-c",
        "2",
        "--slo",
        "p50 < 50ms",
        "--from",
        "20/s",
        "--to",
        "640/s",
        "--precision",
        "25%",
        "-d",
        "2s",
        "--warmup",
        "0s",
        "--drain",
        "200ms",
        "-o",
        "s",
        "--json",
    ]);
    let document = ended.well().json();
    let probes = document["probes"].as_array().expect("probes");
    let rate = |probe: &serde_json::Value| probe["rate_per_second"].as_f64().expect("a rate");
    let holds = |probe: &&serde_json::Value| probe["finding"] == "holds";
    let decided = |probe: &&serde_json::Value| probe["repeated"] == false;
    let best = document["rate_per_second"].as_f64().expect("a rate");
    // Visits are of three requests on average, and by chance: the queue is long before 100/s.
    assert!((35.0..=130.0).contains(&best), "{document}");
    let low = probes.iter().filter(holds).map(rate).fold(0.0, f64::max);
    let high = probes.iter().filter(decided).filter(|p| !holds(p)).map(rate).fold(f64::INFINITY, f64::min);
    assert!(best == low && high / low <= 1.25 && high > low, "{document}");
    // Bracketed by doubling, then bisected in the logarithm.
    let rates: Vec<f64> = probes.iter().filter(decided).map(rate).collect();
    let doubled = rates.windows(2).take_while(|pair| pair[1] == 2.0 * pair[0]).count();
    assert!(doubled >= 1 && rates.len() > doubled + 1 && rates.len() <= 10, "{rates:?}");
    let between = (rates[doubled] * rates[doubled - 1]).sqrt();
    assert!((rates[doubled + 1] / between - 1.0).abs() < 1e-3, "{rates:?}");
    // The evidence of every run is there, those that decided nothing and were made again too.
    for probe in probes {
        let recording = scratch.recording(probe["recording"].as_str().expect("a path"));
        let phase = recording.header().phases[0].clone();
        assert_eq!(phase.offered.map(|(from, _)| from.get()), Some(rate(probe)), "{probe}");
        let length = (phase.end.0 - phase.begin.0) as f64 / 1e9;
        // A phase's ends went through the ticks of the clock.
        assert!(probe["seconds"].as_f64().is_some_and(|s| (s / length - 1.0).abs() < 1e-3), "{probe}");
    }
    let made = std::fs::read_dir(scratch.path("s")).expect("s").count();
    assert_eq!(made, probes.len(), "{document}");
}

#[test]
fn a_rate_that_decides_nothing_is_tried_again_and_all_is_listed() {
    let scratch = Scratch::new("search-undecided");
    // The longest time is a single request's: no interval, and under a timeout it may be longer.
    let ended = scratch.truetail(&[
        "search",
        "null:",
        "--slo",
        "p99.9 < 1us",
        "--from",
        "200/s",
        "--to",
        "400/s",
        "-d",
        "100ms",
        "--warmup",
        "0s",
        "--requests",
        "50",
        "-o",
        "s",
        "--json",
    ]);
    let document = ended.with_code(1).json();
    let probes = document["probes"].as_array().expect("probes");
    let column = |name: &str| probes.iter().map(|p| p[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("rate_per_second"), [200.0, 200.0, 200.0]);
    assert_eq!(column("repeated"), [true, true, false]);
    assert_eq!(column("finding"), vec!["not shown to hold"; 3]);
    let seconds: Vec<f64> = probes.iter().filter_map(|p| p["seconds"].as_f64()).collect();
    assert!(seconds[1] == 2.0 * seconds[0] && seconds[2] == 4.0 * seconds[0], "{seconds:?}");
    for (probe, name) in probes.iter().zip(["", "-2", "-3"]) {
        let directory = format!("s/probe-001-200{name}");
        assert_eq!(probe["recording"], directory.as_str());
        assert!(scratch.recording(&directory).rows() > 0);
    }
}

#[test]
fn an_interrupted_probe_is_no_evidence() {
    let scratch = Scratch::new("search-interrupted");
    let running = scratch.start(&[
        "search", "null:", "--slo", "p50 < 5s", "--from", "200/s", "--to", "400/s", "-d", "300s", "--warmup",
        "0s", "-o", "s", "--json",
    ]);
    // The load has begun when its first part is there.
    let parts = scratch.path("s/probe-001-200/samples");
    while std::fs::read_dir(&parts).map_or(0, Iterator::count) == 0 {
        clock::pause(units::Nanos::from_millis(20));
    }
    running.signal(libc::SIGINT);
    let ended = running.wait().with_code(2);
    assert!(ended.stderr.contains("search: interrupted before it was done"), "{ended:?}");
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).expect("a document");
    assert_eq!((&found["interrupted"], found["rate_per_second"].is_null()), (&true.into(), true));
    assert_eq!(found["probes"].as_array().map(Vec::len), Some(0));
}
