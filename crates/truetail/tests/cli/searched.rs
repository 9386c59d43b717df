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
