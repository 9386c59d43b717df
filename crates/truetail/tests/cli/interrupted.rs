//! Ctrl-C ends in order; a killed run loses at most a second; an import is kept whole or not at all.

use crate::program::{Scratch, assert_contiguous, files};
use record::Ending;
use std::fs::File;
use std::io::Write;

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

/// A pipe with a name, in the place of a log: an import reads as far as a test has written.
fn pipe(scratch: &Scratch, name: &str) {
    let path =
        std::ffi::CString::new(scratch.path(name).into_os_string().into_encoded_bytes()).expect("a path");
    // SAFETY: the path is a C string that lives until the call is over.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

/// Lets the first pass read all of it, and makes another pipe for the second.
fn first_pass(scratch: &Scratch, name: &str) {
    let mut log = opened(scratch, name);
    log.write_all(table().as_bytes()).expect("the first pass reads it");
    pipe(scratch, "next");
    std::fs::rename(scratch.path("next"), scratch.path(name)).expect("a pipe of the same name");
}

/// Opens it; returns when the import has opened it, too.
fn opened(scratch: &Scratch, name: &str) -> File {
    File::options().write(true).open(scratch.path(name)).expect("a pipe")
}

/// A table of 20,000 requests, a millisecond each.
fn table() -> String {
    let row = |n: u64| format!("{},1000\n", 1_795_247_165_000_000_u64 + n * 1_000);
    "start_us,service_us\n".to_owned() + &(0..20_000).map(row).collect::<String>()
}

#[test]
fn an_interrupted_import_keeps_nothing() {
    for (pass, signal) in [(1, libc::SIGINT), (2, libc::SIGINT), (2, libc::SIGTERM)] {
        let scratch = Scratch::new(&format!("interrupted-import-{pass}-{signal}"));
        pipe(&scratch, "t.csv");
        // What was there before stays.
        std::fs::create_dir(scratch.path("a")).expect("a directory");
        scratch.write("a/data.db", "a database");
        for out in ["a", "b"] {
            let running = scratch.start(&["import", "csv", "t.csv", "-o", out]);
            for _ in 1..pass {
                first_pass(&scratch, "t.csv");
            }
            let mut log = opened(&scratch, "t.csv");
            assert_eq!(scratch.path(out).join("run.toml").exists(), pass == 2);
            log.write_all(&table().as_bytes()[..table().len() / 2]).expect("half of it");
            running.signal(signal);
            // It may have gone by now.
            let _ = log.write_all(&table().as_bytes()[table().len() / 2..]);
            drop(log);
            let ended = running.wait().with_code(130);
            assert_eq!(
                (ended.stdout.as_str(), ended.stderr.as_str()),
                ("", "truetail: interrupted: nothing was kept\n")
            );
        }
        assert_eq!(files(&scratch.path("a")), [scratch.path("a/data.db")]);
        assert!(!scratch.path("b").exists());
    }
}

#[test]
fn an_import_that_was_killed_is_invalid_and_not_the_run() {
    let scratch = Scratch::new("killed-import");
    pipe(&scratch, "t.csv");
    let running = scratch.start(&["import", "csv", "t.csv", "-o", "a"]);
    first_pass(&scratch, "t.csv");
    let log = opened(&scratch, "t.csv");
    running.signal(libc::SIGKILL);
    assert_eq!(running.wait().code, None);
    drop(log);
    let report = scratch.truetail(&["report", "a", "--json"]).with_code(3).json();
    let reasons = report["verdict"]["reasons"].as_array().expect("reasons");
    let cut = reasons.iter().find(|reason| reason["kind"] == "incomplete").expect("it is said");
    assert_eq!(cut["text"], "a: the import was cut short: what is missing is not known");
    assert!(cut["hint"].as_str().is_some_and(|hint| hint.contains("import again")), "{cut}");
}
