//! Ctrl-C ends in order; a killed run loses about a second.

use crate::program::{Scratch, assert_contiguous};
use record::Ending;

const LONG: [&str; 10] =
    ["run", "sqlite:data.db", "-r", "500/s", "-d", "300s", "--warmup", "0s", "--report-interval", "500ms"];

#[test]
fn a_signal_ends_the_run_with_its_page() {
    for (signal, name) in [(libc::SIGINT, "interrupted-int"), (libc::SIGTERM, "interrupted-term")] {
        let scratch = Scratch::new(name);
        let mut running = scratch.start(&[&LONG[..], &["-o", "a"]].concat());
        running.wait_for_views(4);
        running.signal(signal);
        let ended = running.wait().judged();
        assert!(ended.first_line().starts_with("open loop"), "{ended:?}");
        assert!(ended.stdout.contains("the run was stopped early: by a signal"), "{}", ended.stdout);
        assert!(ended.stdout.contains("report: a/report.html"), "{}", ended.stdout);

        let recording = scratch.recording("a");
        let end = recording.end().expect("an end");
        assert!(matches!(end.ending, Ending::Interrupted(_)), "{:?}", end.ending);
        // Of the 300 s that were asked for, most were not run.
        assert!(end.at.0 < 100_000_000_000, "{:?}", end.at);
        assert!(recording.verdict().is_some() && scratch.path("a/summary.json").exists());
        let rows = scratch.rows("a");
        assert_contiguous(&rows);
        assert!(rows.len() >= 500, "{} rows", rows.len());
    }
}

#[test]
fn a_killed_run_is_shown_as_cut_short() {
    let scratch = Scratch::new("killed");
    let mut running = scratch.start(&[&LONG[..], &["-o", "a"]].concat());
    let line = running.wait_for_views(8);
    running.signal(libc::SIGKILL);
    let ended = running.wait();
    assert_eq!(ended.code, None, "{ended:?}");
    // `   4 s  300s@500/s  …`: the newest completion that the view had seen, rounded.
    let seen: f64 = line.split_whitespace().next().expect("seconds").parse().expect("a number");

    let report = scratch.truetail(&["report", "a"]).judged();
    assert!(report.stdout.contains("cut short"), "{}", report.stdout);
    assert!(report.first_line().starts_with("open loop"), "{}", report.stdout);
    let rows = scratch.rows("a");
    let newest = rows.iter().filter_map(|r| r.completed).max().expect("rows") as f64 / 1e9;
    // One second of samples, half of one by the view's rounding, and half of one for a slow disk.
    assert!(newest >= seen - 2.0, "the view saw {seen} s, the recording ends at {newest} s");
    assert!(scratch.path("a/report.html").exists());
}

#[test]
fn an_interrupted_series_shows_what_was_run() {
    let scratch = Scratch::new("interrupted-series");
    let mut running = scratch.start(&["run", "null:", "-d", "300s", "--repeat", "5", "-o", "a"]);
    running.wait_for("run 1 of 5");
    running.wait_for_views(2);
    running.signal(libc::SIGINT);
    let ended = running.wait();
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    assert!(!ended.stderr.contains("run 2 of 5"), "{ended:?}");
    assert!(ended.stdout.contains("recordings: a"), "{ended:?}");
}
