//! Ctrl-C ends in order; a killed run loses at most a second.

use crate::program::{Scratch, assert_contiguous, files};
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
    running.wait_for_views(8);
    running.signal(libc::SIGKILL);
    let ended = running.wait();
    assert_eq!(ended.code, None, "{ended:?}");

    let report = scratch.truetail(&["report", "a"]).judged();
    assert!(report.stdout.contains("cut short"), "{}", report.stdout);
    assert!(report.first_line().starts_with("open loop"), "{}", report.stdout);
    assert!(scratch.path("a/report.html").exists());
}

/// A kill loses what completed since the newest part. It may come at any moment, and the worst is the one just
/// before the next part appears; the files say when each did, so one run shows the loss of all moments.
#[test]
fn a_kill_at_any_moment_loses_at_most_a_second() {
    let scratch = Scratch::new("killed-any-time");
    let run = ["run", "null:", "-r", "1000/s", "-d", "300s", "--warmup", "0s", "--report-interval", "500ms"];
    let mut running = scratch.start(&[&run[..], &["-o", "a"]].concat());
    running.wait_for_views(8);
    // A request completes each millisecond, so the newest completion is no older than that.
    let killed_at = clock::wall_time_ns();
    running.signal(libc::SIGKILL);
    running.wait();

    let mut parts = files(&scratch.path("a/samples"));
    parts.retain(|path| path.extension().is_some_and(|e| e == "parquet"));
    parts.sort();
    assert!(parts.len() >= 3, "{parts:?}");
    let epoch = scratch.recording("a").header().epoch_wall_ns;
    let newest = || {
        let newest = scratch.rows("a").iter().filter_map(|row| row.completed).max();
        epoch + newest.unwrap_or(0)
    };
    let mut gone_at = killed_at;
    let mut losses = Vec::new();
    while let Some(part) = parts.pop() {
        losses.push(gone_at.saturating_sub(newest()) as f64 / 1e9);
        gone_at = appeared_at(&part);
        std::fs::remove_file(&part).expect("a part");
    }
    // Before the first part there is nothing; the first request is due when the run's lead-in is over.
    losses.push(gone_at.saturating_sub(epoch) as f64 / 1e9);
    println!("a kill would have lost {losses:.3?} s");
    assert!(losses.iter().all(|&seconds| seconds <= 1.0), "{losses:?} s");
    assert!(losses.iter().any(|&seconds| seconds > 0.1), "{losses:?} s are too good to be true");
}

/// When a file got its name; renaming changes the inode.
fn appeared_at(path: &std::path::Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let facts = std::fs::metadata(path).expect("a part");
    u64::try_from(facts.ctime() * 1_000_000_000 + facts.ctime_nsec()).expect("a time after 1970")
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
