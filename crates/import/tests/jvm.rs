//! Logs of real JVMs, and of damaged ones.

use clock::Anchor;
use import::RunClocks;
use import::jvm::{self, JvmError, JvmLog, JvmPause, JvmRole, JvmStart, ToldBy};
use record::{EventKind, PauseReach};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use testkit::fuzz::Fuzz;
use units::{Instant, Nanos, Ticks};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/jvm")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(directory().join(name)).expect("a log")
}

/// All logs there are, with their names.
fn logs() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(directory()).expect("test data");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".log")).collect();
    names.sort_unstable();
    names.into_iter().map(|name| (name.clone(), text(&name))).collect()
}

/// The totals that lines state, by the plainest of means: what stands behind `Total: `, and the last number of a row's second
/// bracket; of JDK 11 the line's seconds, and of its table the last three.
fn stated(text: &str, told_by: ToldBy) -> Vec<u64> {
    let one = |line: &str| -> Option<u64> {
        match told_by {
            ToldBy::Safepoint => line.split_once(" Total: ")?.1.split_once(" ns")?.0.parse().ok(),
            ToldBy::Statistics => {
                let row = line.split_once("safepoint,stats")?.1.split_once("][")?.1;
                row.split_once(']')?.0.split_whitespace().last()?.parse().ok()
            }
            ToldBy::Stopped => {
                let seconds = line.split_once("were stopped: ")?.1.split_once(" seconds")?.0;
                Some(seconds.replace('.', "").parse::<u64>().ok()? * 100)
            }
            ToldBy::Table => {
                line.trim_start().starts_with(|c: char| c.is_ascii_digit()).then_some(())?;
                let row = line.split_once("][")?.1.split_once(']')?.0;
                let millis: Vec<u64> = row.split_whitespace().map(|n| n.parse().expect("a number")).collect();
                Some((millis[2] + millis[3] + millis[4]) * 1_000_000)
            }
            _ => None,
        }
    };
    text.lines().filter_map(one).collect()
}

fn totals(log: &JvmLog, told_by: ToldBy) -> Vec<u64> {
    log.pauses.iter().filter(|pause| pause.told_by == told_by).map(|pause| pause.total.0).collect()
}

#[test]
fn totals_are_those_of_each_line() {
    let mut lines = 0;
    for (name, text) in logs() {
        let log = jvm::parse(&text);
        let safepoints = stated(&text, ToldBy::Safepoint);
        assert_eq!(totals(&log, ToldBy::Safepoint), safepoints, "{name}");
        let rows = stated(&text, ToldBy::Statistics);
        let kept = totals(&log, ToldBy::Statistics);
        // A row whose safepoint has a line, too, is told by that: each row is kept or is one of the safepoints.
        assert!(kept.iter().all(|total| rows.contains(total)), "{name}");
        let in_lines = rows.iter().filter(|total| safepoints.contains(total)).count();
        assert_eq!(kept.len() + in_lines, rows.len(), "{name}");
        let stopped = stated(&text, ToldBy::Stopped);
        assert_eq!(totals(&log, ToldBy::Stopped), stopped, "{name}");
        let table = match stopped.is_empty() {
            true => stated(&text, ToldBy::Table),
            false => Vec::new(),
        };
        assert_eq!(
            totals(&log, ToldBy::Table),
            table,
            "{name}: a row beside a line of its own is told by that"
        );
        let whole: u64 = [&safepoints, &kept, &stopped, &table].into_iter().flatten().sum();
        let collected: u64 = totals(&log, ToldBy::Collector).iter().sum();
        assert_eq!(log.total().0, whole + collected, "{name}");
        lines += safepoints.len() + rows.len() + stopped.len() + table.len();
    }
    assert!(lines > 180, "{lines}");
}

/// Where every safepoint is logged, nothing is told by the collector alone.
#[test]
fn a_safepoint_that_two_lines_tell_of_counts_once() {
    for (name, text) in logs() {
        let log = jvm::parse(&text);
        let told = |by: ToldBy| log.pauses.iter().filter(|pause| pause.told_by == by).count();
        let has_safepoints = told(ToldBy::Safepoint) + told(ToldBy::Stopped) > 0;
        // The last line of a log that was cut is the safepoint of the collection before it.
        let cut = usize::from(name.contains("head"));
        if has_safepoints {
            assert!(told(ToldBy::Collector) <= cut, "{name}: {:?}", log.pauses.last());
            assert!(told(ToldBy::Statistics) <= cut, "{name}: {:?}", log.pauses.last());
        }
    }
    let collectors = "[0.212s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 15M->1M(256M) 6.083ms\n\
                      [0.444s][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 113M->16M(256M) 41.866ms\n";
    assert_eq!(
        jvm::parse(collectors).pauses.len(),
        2,
        "without safepoints the collector's lines are all there is"
    );
    // A young collection that becomes a full one: the inner one is written first.
    let nested = "[1.030s][info][gc] GC(2) Pause Full (Allocation Failure) 20M->9M(64M) 20.000ms\n\
                  [1.031s][info][gc] GC(1) Pause Young (Allocation Failure) 30M->9M(64M) 30.000ms\n";
    let log = jvm::parse(nested);
    assert_eq!((log.pauses.len(), log.total()), (1, Nanos(30_000_000)));
    let apart = nested.replace("30.000ms", "0.400ms");
    assert_eq!(jvm::parse(&apart).pauses.len(), 2);
}

/// The table tells of the same safepoints as the lines beside it: where it begins, and as long but for the digits cut off.
#[test]
fn a_row_of_the_table_is_where_its_safepoint_is() {
    let text = text("j11-G1-table-and-lines.log");
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('[')).collect();
    let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('[')).collect();
    let (lines, rows) = (jvm::parse(&lines.join("\n")), jvm::parse(&rows.join("\n")));
    assert!(rows.pauses.len() >= 5 && rows.pauses.iter().all(|pause| pause.told_by == ToldBy::Table));
    for (row, line) in rows.pauses.iter().zip(&lines.pauses) {
        assert_eq!(row.what, line.what);
        assert!(row.total <= line.total && line.total.0 < row.total.0 + 3_000_000, "{row:?} {line:?}");
        let begin =
            |pause: &JvmPause| pause.stamp.uptime.expect("an uptime").middle_ns() - i128::from(pause.total.0);
        assert!((begin(row) - begin(line)).abs() <= 2_000_000, "{row:?} {line:?}");
    }
}

#[test]
fn parts_add_up_to_the_total() {
    let mut checked = 0;
    for (name, text) in logs() {
        for pause in &jvm::parse(&text).pauses {
            let JvmPause { time_to_safepoint, cleanup, operation, leaving, total, .. } = pause;
            if !matches!(pause.told_by, ToldBy::Safepoint | ToldBy::Statistics) {
                continue;
            }
            let parts = [time_to_safepoint, cleanup, operation, leaving];
            let sum: u64 = parts.into_iter().flatten().map(|time| time.0).sum();
            assert_eq!(sum, total.0, "{name} line {}: {pause:?}", pause.line);
            checked += 1;
        }
    }
    assert!(checked > 140, "{checked}");
}

/// What becomes of each log, in a line or two for each kind of pause.
#[test]
fn logs_of_real_jvms() {
    let mut page = String::new();
    for (name, text) in logs() {
        let log = jvm::parse(&text);
        let _ = writeln!(page, "{name}: {} lines, {} not understood", log.lines, log.not_understood);
        for (line, example) in &log.examples {
            let _ = writeln!(page, "  line {line}: {example}");
        }
        for reach in [PauseReach::WholeVm, PauseReach::OneThread, PauseReach::Within] {
            let of: Vec<&JvmPause> = log.pauses.iter().filter(|pause| pause.reach == reach).collect();
            let Some(longest) = of.iter().max_by_key(|pause| pause.total) else { continue };
            let stopping = of.iter().filter_map(|pause| pause.time_to_safepoint).max();
            let _ = writeln!(
                page,
                "  {} {}, {} ns in all; longest: line {}, {}, {} ns by {:?}; time to safepoint up to {:?} ns",
                of.len(),
                reach.prefix().trim_end_matches(": "),
                of.iter().map(|pause| pause.total.0).sum::<u64>(),
                longest.line,
                longest.what,
                longest.total.0,
                longest.told_by,
                stopping.map(|time| time.0)
            );
        }
    }
    insta::assert_snapshot!(page);
}

const S: u64 = 1_000_000_000;
const WALL: u64 = 1_795_242_900 * S;
const BOOT: u64 = 900 * S;

/// A run of a minute whose raw clock is 20 ppm slow against the other two.
fn clocks(has_slewed: bool) -> RunClocks {
    let anchor = |n: u64| {
        let run = n * S / 2;
        let kernel = run + run / 50_000;
        Anchor {
            ticks: Ticks(run),
            monotonic_ns: 5_000 + run,
            realtime_ns: WALL + kernel,
            slewed_ns: has_slewed.then_some(BOOT + kernel),
            width_ticks: 60,
        }
    };
    let points: Vec<Anchor> = (0..=120).map(anchor).collect();
    RunClocks::new(&points, WALL, Instant(60 * S))
}

/// A pause of 5 ms that ended 30 s after the epoch, by the run's own clock.
const MESSAGE: &str = "Safepoint \"G1CollectForAllocation\", Time since last: 94860762 ns, Reaching safepoint: 1000000 ns, \
                       At safepoint: 3990000 ns, Leaving safepoint: 10000 ns, Total: 5000000 ns, Threads: 1 runnable, 13 total";
const PAUSE_END: u64 = 30 * S;
/// The same on the clocks of the kernel.
const KERNEL_END: u64 = PAUSE_END + PAUSE_END / 50_000;
/// The JVM had started four seconds before the run.
const UPTIME: u64 = KERNEL_END + 4 * S;

fn decorated(clocks: &[&str]) -> String {
    let wall = |ns: u64| {
        let millis = (ns - WALL) / 1_000_000;
        format!(
            "2026-11-21T06:{:02}:{:02}.{:03}+0000",
            35 + millis / 60_000,
            millis / 1_000 % 60,
            millis % 1_000
        )
    };
    let one = |clock: &&str| match *clock {
        "time" => format!("[{}]", wall(WALL + KERNEL_END)),
        "timemillis" => format!("[{}ms]", (WALL + KERNEL_END) / 1_000_000),
        "timenanos" => format!("[{}ns]", BOOT + KERNEL_END),
        "uptimenanos" => format!("[{UPTIME}ns]"),
        _ => format!("[{:.3}s]", UPTIME as f64 / 1e9),
    };
    clocks.iter().map(one).collect()
}

/// Where the pause is put, and by what.
fn placed(log: &str, clocks: &RunClocks, start: Option<&str>) -> Result<(u64, u64, String), JvmError> {
    let start = start.map(|text| JvmStart::parse(text).expect("a moment"));
    let laid = jvm::lay_over(&jvm::parse(log), clocks, "server JVM", "gc.log", start)?;
    let [event] = laid.events.as_slice() else { panic!("{laid:?}") };
    assert_eq!((event.kind, event.subject.as_str()), (EventKind::JvmPause, "server JVM"));
    assert_eq!((event.end - event.begin).0, 5_000_000, "the interval is the total");
    Ok((event.end.0, laid.facts.pauses, laid.facts.aligned_by))
}

#[test]
fn each_clock_leads_to_the_run_as_exactly_as_it_can() {
    let run = clocks(true);
    let cases: [(&[&str], u64, &str); 7] = [
        (&["timenanos", "uptimenanos"], 100, "CLOCK_MONOTONIC"),
        (&["timenanos"], 100, "CLOCK_MONOTONIC"),
        (&["time", "uptime", "timenanos", "uptimenanos"], 100, "CLOCK_MONOTONIC"),
        (&["time"], 1_000_000, "wall time, ±1 ms"),
        (&["timemillis", "uptime"], 1_000_000, "wall time, ±1 ms"),
        (&["time", "uptime", "uptimenanos"], 1_000_000, "wall time, ±1 ms"),
        (&["uptime", "timenanos"], 100, "CLOCK_MONOTONIC"),
    ];
    for (decorators, within, by) in cases {
        let log = format!("{}[info][safepoint] {MESSAGE}\n", decorated(decorators));
        let (end, pauses, aligned_by) =
            placed(&log, &run, None).unwrap_or_else(|e| panic!("{decorators:?}: {e}"));
        assert!(end.abs_diff(PAUSE_END) <= within, "{decorators:?}: {} off", end.abs_diff(PAUSE_END));
        assert_eq!((pauses, aligned_by.as_str()), (1, by), "{decorators:?}");
    }
    // A log that was rotated begins late: its uptime might be CLOCK_MONOTONIC, but for the time beside it.
    let log = format!("{}[info][safepoint] {MESSAGE}\n", decorated(&["time", "uptimenanos"]));
    let (end, _, by) = placed(&log, &run, None).expect("by wall");
    assert!(
        end.abs_diff(PAUSE_END) <= 1_000_000 && by.starts_with("wall time (its nanoseconds are not"),
        "{end} {by}"
    );
    // A recording without anchors of that clock, and one without any.
    let log = format!("{}[info][safepoint] {MESSAGE}\n", decorated(&["time", "timenanos"]));
    assert_eq!(placed(&log, &clocks(false), None).expect("by wall").2, "wall time, ±1 ms");
    let old = RunClocks::new(&[], WALL, Instant(60 * S));
    let (end, _, _) = placed(&log, &old, None).expect("by the epoch");
    assert!(end.abs_diff(KERNEL_END) <= 1_000_000, "{end}");
}

#[test]
fn an_uptime_alone_needs_another_line_an_anchor_or_the_start() {
    let run = clocks(true);
    let log = format!("{}[info][safepoint] {MESSAGE}\n", decorated(&["uptimenanos", "uptime"]));
    let error = placed(&log, &run, None).expect_err("nowhere").to_string();
    assert!(error.contains("-Xlog:safepoint*:file=F:time,timenanos,uptimenanos,level,tags"), "{error}");
    assert!(error.contains("--jvm-start") && !error.contains('\n'), "{error}");
    let anchor = format!(
        "truetail-jvm-anchor uptime_ns=221000000 nano_time={} wall_ms=1\n",
        BOOT - 4 * S + 221_400_000
    );
    // A wall time of 1970: the anchor is of another host or boot, and so is its CLOCK_MONOTONIC.
    let start = Some(JvmStart::parse("2026-11-21T06:34:56Z").expect("a moment"));
    let laid = jvm::lay_over(&jvm::parse(&(anchor.clone() + &log)), &run, "server JVM", "gc.log", start)
        .expect("1970");
    assert_eq!((laid.events.len(), laid.facts.outside), (0, 1));
    let anchor = anchor.replace("wall_ms=1\n", "\n");
    for log in [anchor.clone() + &log, log.clone() + &anchor] {
        let (end, _, by) = placed(&log, &run, None).expect("anchored");
        assert!(
            end.abs_diff(PAUSE_END) <= 1_000_000 && by.starts_with("CLOCK_MONOTONIC, by uptime"),
            "{end} {by}"
        );
    }
    let other = format!("[0.500s][{}ns][info][gc] Using G1\n", BOOT - 4 * S + 500_200_000);
    let (end, _, by) = placed(&(other + &log), &run, None).expect("by another line");
    assert!(end.abs_diff(PAUSE_END) <= 1_000_000, "{end} {by}");
    let (end, _, by) = placed(&log, &run, Some("2026-11-21T07:34:56+01:00")).expect("by the start");
    assert!(
        end.abs_diff(PAUSE_END) <= S && by.starts_with("wall time, by uptime and the start that was given"),
        "{end} {by}"
    );
}

/// Whoever follows the advice must not be told something else then, whatever recording the log is laid over.
#[test]
fn what_is_advised_works_over_runs_and_over_imports_and_is_on_the_page() {
    let decorators = jvm::LOG_WITH.rsplit_once(':').expect("decorators").1;
    let clocks_of: Vec<&str> = decorators.split(',').filter(|d| !["level", "tags"].contains(d)).collect();
    let log = format!("{}[info][safepoint] {MESSAGE}\n", decorated(&clocks_of));
    let (end, _, by) = placed(&log, &clocks(true), None).expect("over a run");
    assert!(end.abs_diff(PAUSE_END) <= 100 && by == "CLOCK_MONOTONIC", "{end} {by}");
    let imported = RunClocks::new(&[], WALL, Instant(60 * S));
    let (end, _, by) = placed(&log, &imported, None).expect("over an import");
    assert!(end.abs_diff(KERNEL_END) <= 1_000_000 && by.starts_with("wall time"), "{end} {by}");
    for page in [include_str!("../../../docs/jvm.md"), include_str!("../../../bindings/ycsb/README.md")] {
        assert!(page.contains(&format!("-Xlog:safepoint*:file=gc.log:{decorators}")), "{decorators}");
    }
}

#[test]
fn another_hosts_monotonic_clock_is_not_taken_for_ours() {
    let log = format!("{}[info][safepoint] {MESSAGE}\n", decorated(&["time", "timenanos", "uptimenanos"]));
    let elsewhere = log.replace(&format!("{}ns", BOOT + KERNEL_END), &format!("{}ns", 5 * BOOT + KERNEL_END));
    let (end, _, by) = placed(&elsewhere, &clocks(true), None).expect("by wall");
    assert!(end.abs_diff(PAUSE_END) <= 1_000_000, "{end}");
    assert!(by.starts_with("wall time (its nanoseconds are not this host's CLOCK_MONOTONIC)"), "{by}");
    let error =
        placed(&format!("{}[info][safepoint] {MESSAGE}\n", decorated(&["timenanos"])), &clocks(false), None);
    assert!(error.expect_err("no anchor").to_string().contains("time,timenanos,uptimenanos"));
}

#[test]
fn what_lies_outside_of_the_run_is_counted_and_left_out() {
    let line =
        |run_ns: u64| format!("[{}ns][1ns][info][safepoint] {MESSAGE}\n", BOOT + run_ns + run_ns / 50_000);
    let before = format!("[{}ns][1ns][info][safepoint] {MESSAGE}\n", BOOT - S);
    let log = [before, line(2_000_000), line(10 * S), line(61 * S)].concat();
    let laid =
        jvm::lay_over(&jvm::parse(&log), &clocks(true), "harness JVM", "gc.log", None).expect("laid over");
    assert_eq!((laid.facts.pauses, laid.facts.outside), (2, 2));
    assert_eq!(laid.events[0].begin, Instant::EPOCH, "it began before");
    assert_eq!((laid.facts.total, laid.facts.longest), (Nanos(10_000_000), Some(Nanos(5_000_000))));
    assert_eq!(laid.facts.longest_time_to_safepoint, Some(Nanos(1_000_000)));
    let detail = "all threads: G1CollectForAllocation: time to safepoint 1.00 ms, operation 3.99 ms, leaving 10.0 µs, total 5.00 ms";
    assert_eq!(laid.events[1].detail, detail);
}

/// No pause is told of a time that the log covers, and only of that: else the log says why it is no evidence.
#[test]
fn a_log_is_evidence_only_of_the_time_that_it_covers() {
    let at = |run_s: f64, uptime_s: f64, rest: &str| {
        let slewed = BOOT as f64 + run_s * 1.00002 * S as f64;
        format!("[{slewed:.0}ns][{:.0}ns]{rest}\n", uptime_s * S as f64)
    };
    let pause = |run_s: f64, uptime_s: f64| at(run_s, uptime_s, &format!("[info][safepoint] {MESSAGE}"));
    let using = |run_s: f64, uptime_s: f64| at(run_s, uptime_s, "[info][gc,init] Using G1");
    let trouble = |log: &str| {
        let laid =
            jvm::lay_over(&jvm::parse(log), &clocks(true), "server JVM", "gc.log", None).expect("laid");
        laid.facts.trouble
    };
    let quiet = MESSAGE.replace("94860762 ns", "9000000000 ns");
    let evidence = [
        ("begins before, and has no pause in the last seconds", pause(-5.0, 60.0) + &pause(1.0, 66.0)),
        ("started within the run", using(20.0, 0.1) + &pause(30.0, 10.1)),
        ("never paused in the run", using(-2.0, 60.0) + &using(3.0, 65.0)),
        (
            "its first safepoint says that there was none before",
            at(8.0, 80.0, &format!("[info][safepoint] {quiet}")),
        ),
    ];
    for (what, log) in evidence {
        assert_eq!(trouble(&log), None, "{what}");
    }
    let concurrent = at(-9.0, 1.0, "[info][gc] Using The Z Garbage Collector")
        + &at(3.0, 13.0, "[info][gc] GC(0) Garbage Collection (Warmup) 10M(4%)->8M(3%)");
    let none = [
        ("it is empty", String::new()),
        ("it has 1 line, and none that is a JVM's", "hello\n".to_owned()),
        ("it has 2 lines, and none", "hello\nagain\n".to_owned()),
        (
            "no line of a kind that tells of pauses",
            at(-9.0, 1.0, "[info][os] x") + &at(9.0, 19.0, "[info][os] x"),
        ),
        ("no line of a kind that tells of pauses", concurrent),
        ("its last line is from before the run", pause(-80.0, 5.0) + &pause(-20.0, 65.0)),
        ("its first line is from after the run", pause(61.0, 65.0) + &pause(62.0, 66.0)),
        ("it begins 19.9 s after the run did", pause(20.0, 65.0) + &pause(30.0, 75.0)),
    ];
    for (why, log) in none {
        let said = trouble(&log).unwrap_or_else(|| panic!("{why}"));
        assert!(said.contains(why) && !said.contains('\n'), "{said}");
    }
    let xml = |at: &str| {
        let begin = "<verbosegc>\n<initialized id=\"1\" timestamp=\"2026-11-21T08:35:";
        format!("{begin}{at}.500\">\n</initialized>\n")
    };
    let start = JvmStart::parse("2026-11-21T08:34:00+02:00").ok();
    for (log, is_evidence) in [(xml("10"), true), (xml("10").replace("initialized", "cycle-end"), false)] {
        let laid =
            jvm::lay_over(&jvm::parse(&log), &clocks(true), "server JVM", "gc.log", start).expect("laid");
        assert_eq!(laid.facts.trouble.is_none(), is_evidence, "{:?}", laid.facts);
    }
}

#[test]
fn pauses_without_a_moment_are_counted_in_words() {
    let whole = format!("{}[info][safepoint] {MESSAGE}\n", decorated(&["timenanos"]));
    let without = format!("[info][safepoint] {MESSAGE}\n");
    for (count, words) in [(1, "1 pause has no moment"), (2, "2 pauses have no moment")] {
        let log = jvm::parse(&(whole.clone() + &without.repeat(count)));
        let laid = jvm::lay_over(&log, &clocks(true), "server JVM", "gc.log", None).expect("laid");
        let said = laid.facts.trouble.expect("trouble");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn local_times_without_a_zone_are_those_of_the_start() {
    let log = "<verbosegc>\n<exclusive-end timestamp=\"2026-11-21T08:35:10.500\" durationms=\"5.000\" />\n";
    let (end, _, by) = placed(log, &clocks(true), Some("2026-11-21T08:34:00+02:00")).expect("laid over");
    assert!(end.abs_diff(10_500_000_000) < 1_000_000, "{end}");
    assert!(by.contains("taken as UTC+02:00") && by.ends_with("±1 ms"), "{by}");
}

/// A JVM that has been up since summer, read in winter.
#[test]
fn each_local_time_has_the_offset_of_its_own_date() {
    const INNER: &str = "TRUETAIL_TEST_ZONE";
    if std::env::var_os(INNER).is_none() {
        let this = std::env::current_exe().expect("this test");
        let inner = std::process::Command::new(this)
            .args(["--exact", "each_local_time_has_the_offset_of_its_own_date"])
            .env(INNER, "1")
            .env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
            .output()
            .expect("starts");
        assert!(inner.status.success(), "{}", String::from_utf8_lossy(&inner.stdout));
        return;
    }
    let pause = |at: &str| format!("<exclusive-end timestamp=\"{at}\" durationms=\"5.000\" />\n");
    let log =
        ["<verbosegc>\n", &pause("2026-07-01T12:00:00.000"), &pause("2026-11-21T07:35:10.500")].concat();
    let laid =
        jvm::lay_over(&jvm::parse(&log), &clocks(true), "server JVM", "gc.log", None).expect("laid over");
    assert_eq!((laid.events.len(), laid.facts.outside), (1, 1), "{:?}", laid.facts);
    assert!(laid.events[0].end.0.abs_diff(10_500_000_000) < 1_000_000, "{:?}", laid.events);
    let by = laid.facts.aligned_by;
    assert!(by.contains("taken as UTC+02:00, later UTC+01:00, this host's zone"), "{by}");
}

#[test]
fn roles_are_named_before_the_file() {
    let of = |text| JvmRole::of(text, JvmRole::Server);
    assert_eq!(of("gc.log"), (JvmRole::Server, Path::new("gc.log")));
    assert_eq!(of("harness:gc.log"), (JvmRole::Harness, Path::new("gc.log")));
    assert_eq!(of("server:a:b"), (JvmRole::Server, Path::new("a:b")));
    assert_eq!(of("C:gc.log"), (JvmRole::Server, Path::new("C:gc.log")));
    assert_eq!(JvmRole::Harness.subject(2), "harness JVM 2");
    for bad in ["", "now", "2026-11-21T06:35:37", "2026-11-21"] {
        assert!(JvmStart::parse(bad).is_err(), "{bad}");
    }
}

/// Whatever the bytes: no panic, every line counted, and what is kept holds what the types promise.
fn holds(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let log = jvm::parse(&text);
    assert!(log.examples.len() as u64 <= log.not_understood && log.examples.len() <= 5);
    assert!(
        log.examples
            .iter()
            .all(|(line, text)| *line > 0 && !text.contains('\n') && text.chars().count() <= 121)
    );
    assert!(log.pauses.is_sorted_by_key(|pause| pause.line) || log.is_local);
    for start in [None, JvmStart::parse("2026-11-21T06:35:00Z").ok()] {
        match jvm::lay_over(&log, &clocks(true), "server JVM", "gc.log", start) {
            Ok(laid) => {
                let facts = &laid.facts;
                assert_eq!(laid.events.len() as u64, facts.pauses + facts.stalls + facts.summaries);
                assert!(
                    laid.events
                        .iter()
                        .all(|event| event.begin <= event.end && event.begin <= Instant(60 * S))
                );
            }
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }
}

#[test]
fn fuzz_hotspot_logs() {
    let corpus: Vec<String> =
        logs().into_iter().map(|(_, text)| text.lines().take(12).collect::<Vec<_>>().join("\n")).collect();
    let words = [
        "Safepoint \"",
        "Total: ",
        " ns",
        "][",
        "[info]",
        "[safepoint,stats]",
        "GC(0) Pause ",
        "ms",
        "Allocation Stall (",
        "ns]",
        "truetail-jvm-anchor uptime_ns=",
        "18446744073709551615",
        "+2400",
        "9999-12-31T23:59:59.999+0000",
        "\n",
        "é",
    ];
    Fuzz::new("jvm-hotspot").from(corpus).words(words).run(3_000, holds);
}

#[test]
fn fuzz_openj9_logs() {
    let log = "<?xml version=\"1.0\" ?>\n<verbosegc>\n<exclusive-start id=\"1\" timestamp=\"2026-11-21T06:35:10.000\">\n\
               <response-info timems=\"0.070\" /></exclusive-start>\n<gc-start type=\"scavenge\"/>\n<gc-end durationms=\"1.5\"/>\n\
               <exclusive-end timestamp=\"2026-11-21T06:35:10.012\" durationms=\"12.319\" />\n<gc-op type=\"heartbeat\" \
               timestamp=\"2026-11-21T06:35:11.012\">\n<quanta quantumCount=\"3\" meanTimeMs=\"0.5\" maxTimeMs=\"0.8\"/></gc-op>";
    let words = [
        "<exclusive-end ",
        "<quanta ",
        "/>",
        "</gc-op>",
        "\"",
        "<!--",
        "-->",
        "durationms=",
        "99999999999999999999",
        "timestamp=\"",
        "é",
    ];
    Fuzz::new("jvm-openj9").from([log]).words(words).run(3_000, holds);
}
