//! Pauses of a JVM, laid over a run from its log.

use crate::program::{Scratch, events};
use clock::{Anchor, ClockChoice};
use record::{Event, EventKind, PauseReach, Recording};
use std::fmt::Write as _;

/// All clocks of this host, now.
fn now() -> Anchor {
    clock::calibrate(ClockChoice::Monotonic).expect("a clock").start().anchor()
}

const MS: u64 = 1_000_000;
/// Twenty seconds, a pause of 3 ms each 10 ms, of which a run of a second takes what is its own.
const PAUSES: u64 = 2_000;

/// A log of the seconds to come, as `decorators` shows them: (CLOCK_MONOTONIC, wall time) to the brackets of a line.
fn planted(from: &Anchor, decorators: impl Fn(u64, u64) -> String) -> String {
    let slewed = from.slewed_ns.expect("a clock");
    let mut log = String::new();
    for n in 0..PAUSES {
        let brackets = decorators(slewed + n * 10 * MS, from.realtime_ns + n * 10 * MS);
        let _ = writeln!(
            log,
            "{brackets}[info][safepoint] Safepoint \"Planted{n}\", Time since last: 7000000 ns, Reaching safepoint: 1000000 ns, \
             At safepoint: 1990000 ns, Leaving safepoint: 10000 ns, Total: 3000000 ns, Threads: 1 runnable, 13 total"
        );
    }
    log + "[0.1s][info][safepoint] Safepoint \"Cut\", Time since la\n"
}

/// How far pauses are from where they were planted, at most: their end on the wall clock, by the epoch and by the log.
fn furthest(pauses: &[Event], from: &Anchor, epoch_wall_ns: u64) -> u64 {
    let off = |pause: &Event| {
        let number = pause.detail.split_once("Planted").expect("its name").1;
        let number: u64 = number.split_once(':').expect("its parts").0.parse().expect("a number");
        let planted = from.realtime_ns + number * 10 * MS;
        (epoch_wall_ns + pause.end.0).abs_diff(planted)
    };
    pauses.iter().map(off).max().expect("some pauses")
}

fn pauses(recording: &Recording) -> Vec<Event> {
    events(recording, EventKind::JvmPause)
}

#[test]
fn pauses_are_where_they_were_planted_by_either_clock() {
    let scratch = Scratch::new("jvm-planted");
    let from = now();
    scratch.write(
        "by-nanos.log",
        &planted(&from, |slewed, _| format!("[{slewed}ns][{}ns]", slewed % 1_000_000_007)),
    );
    scratch.write("by-wall.log", &planted(&from, |_, wall| format!("[{}ms]", wall / MS)));
    let run = ["run", "null:", "-d", "1s", "--warmup", "0s", "-o", "a", "--jvm-log", "by-nanos.log"];
    let run = [&run[..], &["--jvm-log", "harness:by-wall.log"]].concat();
    let page = scratch.truetail(&run).judged().stdout;
    // Lines are broken where the terminal ends.
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "server JVM: ",
        "longest time to safepoint 1.00 ms",
        "1 line not understood: line 2001: ",
        "harness JVM: ",
    ] {
        assert!(page.contains(said), "no {said} in\n{page}");
    }
    assert!(page.contains("by-nanos.log, HotSpot, placed by CLOCK_MONOTONIC harness"), "{page}");
    assert!(page.contains("by-wall.log, HotSpot, placed by wall time, ±1 ms"), "{page}");
    let recording = scratch.recording("a");
    let epoch = recording.header().epoch_wall_ns;
    let all = pauses(&recording);
    assert!(all.iter().all(|pause| PauseReach::of(pause) == Some(PauseReach::WholeVm)));
    assert!(all.iter().all(|pause| pause.begin.0 == 0 || (pause.end - pause.begin).0 == 3 * MS));
    let (server, harness): (Vec<Event>, Vec<Event>) =
        all.into_iter().partition(|pause| pause.subject == "server JVM");
    // At least the second of the run, less one at each end.
    assert!(server.len() > 98 && harness.len() > 98, "{} and {}", server.len(), harness.len());
    assert!(furthest(&server, &from, epoch) < MS / 2, "{} ns off", furthest(&server, &from, epoch));
    assert!(furthest(&harness, &from, epoch) < 2 * MS, "{} ns off", furthest(&harness, &from, epoch));
    let logs = &recording.end().expect("an end").jvm_logs;
    assert_eq!((logs[0].pauses, logs[0].not_understood), (server.len() as u64, 1));
    assert!(logs[0].outside > PAUSES / 2, "{logs:?}");
}

#[test]
fn a_log_is_laid_over_a_recording_that_is_there_already() {
    let scratch = Scratch::new("jvm-report");
    let from = now();
    scratch.truetail(&["run", "null:", "-d", "1s", "--warmup", "0s", "-o", "a"]).judged();
    scratch.write("gc.log", &planted(&from, |slewed, _| format!("[{slewed}ns]")));
    let without = scratch.truetail(&["report", "a", "--json"]).json();
    assert_eq!(without["jvm_logs"], serde_json::json!([]));
    let with = scratch.truetail(&["report", "a", "--jvm-log", "server:gc.log", "--json"]).json();
    let log = &with["jvm_logs"][0];
    assert!(log["trouble"].is_null(), "{log}");
    assert_eq!((log["subject"].as_str(), log["longest"].as_u64()), (Some("server JVM"), Some(3 * MS)));
    assert!(log["pauses"].as_u64().is_some_and(|count| count > 98), "{log}");
    assert_eq!(with["measures"], without["measures"]);
    assert!(std::fs::read_to_string(scratch.path("a/report.html")).expect("a page").contains("id=\"jvm\""));
    assert_eq!(pauses(&scratch.recording("a")), [], "the recording itself stays as it is");
    scratch
        .truetail(&["run", "null:", "-d", "1s", "--warmup", "0s", "-o", "b", "--jvm-log", "gc.log"])
        .judged();
    scratch.truetail(&["report", "b", "--jvm-log", "gc.log"]).refused(&["gc.log", "already"]);
    scratch.write("other.log", &planted(&from, |slewed, _| format!("[{slewed}ns]")));
    let both = scratch.truetail(&["report", "b", "--jvm-log", "other.log", "--json"]).json();
    assert_eq!(both["jvm_logs"][1]["subject"].as_str(), Some("server JVM 2"), "one is in the recording");
    // Each ends with the load, whenever it was read.
    let [run, report] = [0, 1].map(|n| both["jvm_logs"][n]["pauses"].as_u64().expect("a count"));
    assert!(run.abs_diff(report) <= 1, "{run} by the run, {report} by the report");
}

#[test]
fn a_log_that_leads_nowhere_is_refused_with_the_decorators_to_use() {
    let scratch = Scratch::new("jvm-nowhere");
    scratch.write("gc.log", &planted(&now(), |_, _| "[3.141s]".to_owned()));
    let run = ["run", "null:", "-d", "200ms", "--warmup", "0s", "-o", "a", "--jvm-log", "gc.log"];
    let ended = scratch.truetail(&run);
    assert!(
        ended.stdout.contains("timenanos,uptimenanos,level,tags"),
        "the run is kept, and says so: {ended:?}"
    );
    assert!(ended.stderr.contains("--jvm-log gc.log: "), "{ended:?}");
    scratch.truetail(&["report", "a", "--jvm-log", "gc.log"]).refused(&[
        "--jvm-log gc.log",
        "timenanos,uptimenanos,level,tags",
        "--jvm-start",
    ]);
    let given = ["report", "a", "--jvm-log", "gc.log", "--jvm-start", "2026-11-21T06:35:37.116Z", "--json"];
    let logs = scratch.truetail(&given).json()["jvm_logs"].clone();
    assert_eq!(logs[0]["outside"].as_u64(), Some(PAUSES), "the run's own failure is made good: {logs}");
    assert_eq!(logs.as_array().map(Vec::len), Some(1));
    scratch.truetail(&["report", "a", "--jvm-log", "none.log"]).refused(&["none.log"]);
    scratch
        .truetail(&["run", "null:", "--jvm-log", "none.log", "-o", "b"])
        .refused(&["--jvm-log none.log", "check the path"]);
    scratch.truetail(&["run", "null:", "--jvm-log", "harness:", "-o", "b"]).refused(&["--jvm-log harness:"]);
    scratch
        .truetail(&["run", "null:", "--jvm-start", "2026-11-21T06:35:37Z"])
        .refused(&["--jvm-start", "--jvm-log"]);
    scratch
        .truetail(&["run", "null:", "--jvm-log", "gc.log", "--jvm-start", "noon"])
        .refused(&["--jvm-start noon", "2026-11-21T06:35:37.116Z"]);
}
