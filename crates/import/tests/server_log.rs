//! Logs of a real PostgreSQL, and of damaged ones.

use clock::Anchor;
use import::RunClocks;
use import::server_log::{self, LogZone, ServerLog, ServerLogError};
use record::{Event, EventKind, ServerTold};
use std::fmt::Write as _;
use std::path::Path;
use testkit::fuzz::Fuzz;
use units::{Instant, Nanos, Ticks};

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
/// 2026-11-22 06:26:00 UTC: when the runs of these tests began.
const WALL: u64 = 1_795_328_760 * S;

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/postgres").join(name);
    std::fs::read_to_string(path).expect("a log")
}

/// The same run of the server in three forms.
const FORMS: [(&str, &str); 3] =
    [("stderr.log", "stderr"), ("csvlog.csv", "csvlog"), ("jsonlog.json", "jsonlog")];

/// Of a run of 20 s.
fn clocks() -> RunClocks {
    let anchor = |n: u64| {
        let ns = n * S / 2;
        let (ticks, realtime_ns) = (Ticks(ns), WALL + ns);
        Anchor { ticks, monotonic_ns: ns, realtime_ns, slewed_ns: None, width_ticks: 60 }
    };
    let points: Vec<Anchor> = (0..=40).map(anchor).collect();
    RunClocks::new(&points, WALL, Instant(20 * S))
}

fn laid(log: &ServerLog, zone: Option<LogZone>) -> server_log::LaidOver {
    server_log::lay_over(log, &clocks(), "pg.log", zone).expect("laid over")
}

fn events_of(log: &str) -> Vec<Event> {
    laid(&server_log::parse(log), None).events
}

/// What becomes of the log, event by event.
#[test]
fn a_log_of_a_real_server() {
    let log = server_log::parse(&text("stderr.log"));
    let laid = laid(&log, None);
    let mut page = format!("{} lines; {:#?}\n", log.lines, laid.facts);
    for event in &laid.events {
        let at = |instant: Instant| instant.0 as f64 / 1e9;
        let _ = writeln!(
            page,
            "{:.4} to {:.4} {}: {}",
            at(event.begin),
            at(event.end),
            event.subject,
            event.detail
        );
    }
    insta::assert_snapshot!(page);
}

/// Each `total=` is the server's own account of what lies between the two lines, rounded like them.
#[test]
fn a_checkpoint_is_as_long_as_its_own_total() {
    let stated: Vec<u64> = text("stderr.log")
        .lines()
        .filter_map(|line| line.split_once(" total=")?.1.split_once(" s;"))
        .map(|(seconds, _)| seconds.replace('.', "").parse::<u64>().expect("a number") * MS)
        .collect();
    let log = server_log::parse(&text("stderr.log"));
    let found: Vec<u64> = (log.happenings.iter())
        .filter(|happening| happening.what == ServerTold::Checkpoint)
        .map(|happening| happening.length().expect("an end").0)
        .collect();
    assert_eq!(stated.len(), found.len());
    assert!(stated.len() >= 8, "{stated:?}");
    for (stated, found) in stated.iter().zip(&found) {
        assert!(stated.abs_diff(*found) <= 2 * MS, "{stated} {found}");
    }
}

#[test]
fn all_forms_of_one_run_tell_the_same() {
    let all: Vec<ServerLog> = FORMS.iter().map(|(file, _)| server_log::parse(&text(file))).collect();
    for (log, (file, form)) in all.iter().zip(FORMS) {
        assert_eq!((log.format, log.not_understood), (form, 0), "{file}: {:?}", log.examples);
        assert_eq!(laid(log, None).events, laid(&all[0], None).events, "{file}");
        assert_eq!((log.durations, log.others), (all[0].durations, all[0].others), "{file}");
    }
}

#[test]
fn what_has_no_begin_or_no_end_is_known_as_far_as_it_is_told() {
    let complete = "2026-11-22 06:26:05.500 UTC [8] LOG:  checkpoint complete: wrote 9 buffers (0.1%); write=0.100 s, \
                    sync=0.010 s, total=0.250 s; sync files=1\n";
    let [event] = &events_of(complete)[..] else { panic!() };
    assert_eq!((event.end - event.begin, event.end.0), (Nanos(250 * MS), 5_500 * MS + MS / 2));
    assert!(event.detail.contains("begin is not in the log"), "{event:?}");
    let starting = "2026-11-22 06:26:01.000 UTC [8] LOG:  checkpoint starting: time\n\
                    2026-11-22 06:26:03.000 UTC [9] LOG:  connection received: host=[local]\n";
    let crashed = format!(
        "{starting}2026-11-22 06:26:04.000 UTC [1] LOG:  all server processes terminated; reinitializing\n\
         2026-11-22 06:26:09.000 UTC [9] LOG:  checkpoint starting: end-of-recovery\n\
         2026-11-22 06:26:09.100 UTC [9] LOG:  checkpoint complete: wrote 9 buffers (0.1%); write=0.1 s, sync=0 s, total=0.1 s;\n"
    );
    let lengths: Vec<Nanos> = events_of(&crashed).iter().map(|event| event.end - event.begin).collect();
    assert_eq!(lengths, [Nanos(3 * S), Nanos(100 * MS)]);
    let given_up = "2026-11-22 06:26:05.000 UTC [7] LOG:  process 7 still waiting for ShareLock on transaction 741 after 1000.000 ms\n\
                    2026-11-22 06:26:06.000 UTC [7] ERROR:  canceling statement due to lock timeout\n";
    let [event] = &events_of(given_up)[..] else { panic!() };
    assert_eq!((event.subject.as_str(), event.end - event.begin), ("lock wait", Nanos(2 * S)));
}

const STARTING: &str = "checkpoint starting: time";

fn entry(at: &str, message: &str) -> String {
    format!("2026-11-22 {at}.000 UTC [8] LOG:  {message}\n")
}

/// Since the load ended nobody has written that a checkpoint ended: it goes on, for all that is known.
#[test]
fn a_checkpoint_that_has_not_ended_reaches_to_the_end_of_the_run() {
    let laid = |log: &str| laid(&server_log::parse(log), None);
    let only = |log: &str| {
        let server_log::LaidOver { mut events, facts } = laid(log);
        assert_eq!((events.len(), facts.checkpoints, facts.outside), (1, 1, 0), "{log}");
        (events.remove(0), facts)
    };
    // The last entry of a quiet server is its begin, or another's a little later.
    let connection = entry("06:26:03", "connection received: host=[local]");
    for log in [entry("06:26:01", STARTING), entry("06:26:01", STARTING) + &connection] {
        let (event, facts) = only(&(entry("06:25:00", "connection received") + &log));
        assert_eq!((event.begin.0, event.end), (S + MS / 2, Instant(20 * S)), "{log}");
        assert!(
            event.detail.ends_with("checkpoint: time; it had not ended when the log was read"),
            "{event:?}"
        );
        assert!(ServerTold::is_unfinished(&event));
        assert_eq!((facts.trouble, facts.longest_checkpoint), (None, Some(event.end - event.begin)));
    }
    // Read long after: as long as the log goes on without its end.
    let (event, _) = only(&(entry("06:26:01", STARTING) + &entry("06:27:00", "connection received")));
    assert_eq!(event.end.0, 60 * S + MS / 2);
    // It began before the run, and all of the run lies in it. That there is no later log is not known.
    let (event, facts) = only(&entry("06:25:30", STARTING));
    assert_eq!((event.begin, event.end), (Instant::EPOCH, Instant(20 * S)));
    let trouble = facts.trouble.expect("what is not known");
    assert!(trouble.contains("a checkpoint that began 30.0 s before it was not over"), "{trouble}");
    let (event, facts) = only(&(entry("06:25:30", STARTING) + &connection));
    assert_eq!((event.begin, event.end, facts.trouble), (Instant::EPOCH, Instant(20 * S), None));
    // None takes days: this is the log of another time.
    let old = entry("06:25:30", STARTING).replace("11-22", "11-20");
    let facts = laid(&old).facts;
    assert_eq!((facts.checkpoints, facts.outside), (0, 1));
    assert!(facts.trouble.is_some_and(|why| why.contains("its last entry is from before the run")));
    let facts = laid(&entry("06:27:00", STARTING)).facts;
    assert_eq!((facts.checkpoints, facts.outside), (0, 1), "it began after the run");
}

#[test]
fn a_checkpoint_that_the_server_abandoned_reaches_to_where_it_did() {
    let ended = "checkpoint complete: in words of another version";
    let abandoned = [
        ("06:26:04", entry("06:26:04", "checkpoint starting: wal") + &entry("06:26:05", ended)),
        ("06:26:04", entry("06:26:04", "starting PostgreSQL 17.6 on x86_64")),
        ("06:26:04", entry("06:26:04", "database system is shut down")),
        ("06:26:04", entry("06:26:04", "x").replace("LOG:", "ERROR:")),
        ("06:26:04", entry("06:26:04", ended)),
    ];
    for (at, rest) in abandoned {
        let events = events_of(&(entry("06:26:01", STARTING) + &rest));
        assert_eq!(events[0].end.0, at[6..].parse::<u64>().expect("seconds") * S + MS / 2, "{rest}");
        assert!(events[0].detail.contains("its end is not in the log"), "{events:?}");
        assert!(events.iter().all(|event| !ServerTold::is_unfinished(event)), "{events:?}");
    }
    // The error of another process is none of the checkpoint's.
    let other = entry("06:26:04", "x").replace("[8] LOG:", "[9] ERROR:");
    assert_eq!(events_of(&(entry("06:26:01", STARTING) + &other))[0].end, Instant(20 * S));
}

#[test]
fn what_lies_outside_of_the_run_is_counted_and_left_out() {
    let at = |second: u64| {
        format!(
            "2026-11-22 06:{:02}:{:02}.000 UTC [8] LOG:  checkpoint complete: wrote 9 buffers (0.1%); write=0.1 s, sync=0 s, total=0.1 s;\n",
            25 + second / 60,
            second % 60
        )
    };
    let laid = laid(&server_log::parse(&[at(10), at(70), at(75), at(100)].concat()), None);
    assert_eq!((laid.facts.checkpoints, laid.facts.outside, laid.facts.checkpoints_in_all), (2, 2, 4));
    assert_eq!(laid.facts.longest_checkpoint, Some(Nanos(100 * MS)));
    assert_eq!(laid.facts.aligned_by, "wall time, ±1.00 ms");
}

#[test]
fn zones_without_one_meaning_are_refused_until_somebody_says_which() {
    let line = |time: &str| {
        format!(
            "2026-11-22 {time} [8] LOG:  checkpoint complete: wrote 9 buffers (0.1%); write=0.1 s, sync=0 s, total=0.1 s;\n"
        )
    };
    let over = |log: &str, zone: Option<&str>| {
        let zone = zone.map(|zone| LogZone::parse(zone).expect("a zone"));
        server_log::lay_over(&server_log::parse(log), &clocks(), "pg.log", zone)
    };
    let end = |log: &str, zone: Option<&str>| over(log, zone).map(|laid| laid.events[0].end.0).ok();
    let expected = Some(5 * S + MS / 2);
    assert_eq!(end(&line("06:26:05.000 UTC"), None), expected);
    assert_eq!(end(&line("11:56:05.000 +0530"), None), expected);
    assert_eq!(end(&line("03:26:05.000 -03"), None), expected);
    assert_eq!(end(&line("07:26:05.000 CET"), Some("+01:00")), expected);
    assert_eq!(
        end(&line("06:26:05.000 UTC"), Some("+01:00")),
        expected,
        "UTC means UTC whatever is said of others"
    );
    let why = |log: &str, zone| over(log, zone).expect_err("refused").to_string();
    let unknown = why(&line("07:26:05.000 CET"), None);
    assert!(
        unknown.contains("`CET`") && unknown.contains("--server-log-zone") && !unknown.contains('\n'),
        "{unknown}"
    );
    let both = line("07:26:05.000 CET") + &line("08:26:05.000 CEST");
    assert!(matches!(over(&both, Some("+01:00")), Err(ServerLogError::Zones { .. })));
    assert!(why(&both, Some("+1")).contains("CEST and CET"));
    let words = over(&line("07:26:05.000 CET"), Some("+1")).expect("laid over").facts.aligned_by;
    assert_eq!(words, "wall time (CET taken as UTC+01:00, as given), ±1.00 ms");
}

/// Runs a test of this file with another zone of the host, on which the zone of a program depends.
fn in_zone(name: &str, rules: &str, test: impl FnOnce()) {
    const INNER: &str = "TRUETAIL_TEST_ZONE";
    if std::env::var_os(INNER).is_some() {
        return test();
    }
    let this = std::env::current_exe().expect("this test");
    let mut inner = std::process::Command::new(this);
    let inner = inner.args(["--exact", name]).env(INNER, "1").env("TZ", rules).output().expect("starts");
    let said = String::from_utf8_lossy(&inner.stdout);
    assert!(inner.status.success() && said.contains("1 passed"), "{said}");
}

/// West of Greenwich, whatever the zone of the host that runs the tests: an hour of a night in autumn comes twice.
#[test]
fn the_zone_of_the_host_is_that_of_each_entrys_own_date_and_abbreviation() {
    let name = "the_zone_of_the_host_is_that_of_each_entrys_own_date_and_abbreviation";
    in_zone(name, "EST5EDT,M3.2.0,M11.1.0", || {
        let line = |time: &str| {
            format!(
                "{time} [8] LOG:  checkpoint complete: wrote 9 buffers (0.1%); write=0.1 s, sync=0 s, total=0.1 s;\n"
            )
        };
        let over = |times: &[&str], clocks: &RunClocks| {
            let log: String = times.iter().map(|time| line(time)).collect();
            let laid = server_log::lay_over(&server_log::parse(&log), clocks, "pg.log", Some(LogZone::Host));
            laid.expect("laid over")
        };
        let ends = |laid: &server_log::LaidOver| -> Vec<u64> {
            laid.events.iter().map(|event| event.end.0 - MS / 2).collect()
        };
        let laid = over(&["2026-11-22 01:26:05.000 EST", "2026-07-22 02:26:05.000 EDT"], &clocks());
        assert_eq!((ends(&laid), laid.facts.outside), (vec![5 * S], 1));
        assert_eq!(laid.facts.aligned_by, "wall time (EDT and EST taken as this host's zone), ±1.00 ms");
        // From 2026-11-01 05:00 UTC on, an hour before clocks are set back from two o'clock to one.
        let night = RunClocks::new(&[], 1_793_509_200 * S, Instant(7_200 * S));
        let before = "2026-11-01 00:30:00.000 EDT";
        let laid = over(&[before, "2026-11-01 01:30:00.000 EDT", "2026-11-01 01:30:00.000 EST"], &night);
        assert_eq!((ends(&laid), laid.facts.trouble.as_deref()), (vec![1_800 * S, 5_400 * S], None));
        let laid = over(&[before, "2026-11-01 01:30:00.000 XYZ", "2026-11-01 02:30:00.000 EST"], &night);
        assert_eq!((laid.events.len(), laid.facts.outside), (0, 2));
        let trouble = laid.facts.trouble.expect("one has no moment");
        assert!(
            trouble.contains("1 entry is of an hour that this host's clocks showed twice or never"),
            "{trouble}"
        );
        assert!(trouble.contains("log_timezone = 'UTC'"), "{trouble}");
    });
}

#[test]
fn a_file_is_read_line_by_line_and_a_missing_one_is_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/postgres/stderr.log");
    assert_eq!(server_log::read(&path).expect("read"), server_log::parse(&text("stderr.log")));
    let error = server_log::read(Path::new("none.log")).expect_err("missing").to_string();
    assert!(error.contains("none.log") && !error.contains('\n'), "{error}");
}

#[test]
fn lines_that_are_no_entries_are_counted_and_shown() {
    let log = "cp: cannot stat 'x'\n2026-11-22 06:26:05.000 UTC [8] LOG:  checkpoint complete: wrote 9 buf\n\tmore\n\n\
               2026-11-22 06:26:05.000 UTC [8] LOG:  duration: 3.1 ms  statement: x\n{\"timestamp\": \"torn\n";
    let log = server_log::parse(log);
    assert_eq!((log.lines, log.not_understood, log.durations, log.happenings.len()), (6, 3, 1, 0));
    let lines: Vec<usize> = log.examples.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 2, 6]);
}

/// That a file tells of nothing is no evidence where it is no log.
#[test]
fn what_is_no_log_at_all_is_said() {
    let trouble = |text: &str| laid(&server_log::parse(text), None).facts.trouble;
    assert!(trouble("").is_some_and(|why| why.starts_with("it is empty")));
    for other in
        ["SELECT 1;\nSELECT 2;\n", "\u{0}\u{1}\u{fffd}\n\u{7f}ELF\n", "root:x:0:0:root:/root:/bin/bash\n"]
    {
        let why = trouble(other).expect("no entry");
        assert_eq!(why, "not one line is an entry of a PostgreSQL log: is it the right file?");
    }
    assert_eq!(trouble(&entry("06:26:01", "database system is ready to accept connections")), None);
}

/// Rows whose quote never closes, of short lines: 64 MiB that are looked through once. Looked through again for each line they
/// would be 16 TiB.
#[test]
fn rows_that_never_end_are_given_up_and_all_their_lines_counted() {
    let columns = "2026-11-22 06:26:05.000 UTC,\"app\",\"shop\",77,\"[local]\",65,1,\"idle\",2026-11-22 06:26:04 UTC,,0,LOG,00000,";
    let begun = format!("{columns}\"never\n");
    let row = begun + &"x\n".repeat(1 << 19);
    let lines = row.lines().count() as u64;
    let whole = columns.to_owned()
        + "\"checkpoint complete: wrote 9 buffers (0.1%); write=0.1 s, sync=0 s, total=0.1 s;\",,,,,,,,,\"\",\"client backend\",,0\n";
    let log = server_log::parse(&(row.repeat(64) + &whole));
    assert_eq!((log.lines, log.not_understood), (64 * lines + 1, 64 * lines));
    assert_eq!((log.happenings.len(), log.format), (1, "csvlog"), "a row that is whole is read");
    let (first, shown) = &log.examples[0];
    assert!(*first == 1 && shown.starts_with("2026-11-22"), "{first}: {shown}");
    // The log ends within one.
    let log = server_log::parse(&format!("{columns}\"torn\nand more\n"));
    assert_eq!((log.lines, log.not_understood), (2, 2));
}

/// Yesterday's log tells of checkpoints, and not of the run's.
#[test]
fn a_log_is_evidence_only_of_the_time_that_it_covers() {
    let clocks = |begin: &str, seconds: u64| {
        let (_, second) = begin.rsplit_once(':').expect("seconds");
        let minute: u64 = begin[14..16].parse().expect("minutes");
        let second: u64 = second.trim_end_matches('Z').parse().expect("seconds");
        // 2026-11-22T06:00:00Z
        RunClocks::new(&[], (1_795_327_200 + 60 * minute + second) * S, Instant(seconds * S))
    };
    let total = "checkpoint complete: wrote 9 buffers (0.1%); 0 WAL file(s) added, 0 removed, 0 recycled; write=0.1 s, sync=0.1 s, \
                 total=0.2 s; sync files=1, longest=0.1 s, average=0.1 s; distance=1 kB, estimate=1 kB";
    let log = entry("06:26:05", STARTING) + &entry("06:26:06", total);
    let trouble = |log: &str, begin: &str| {
        let log = server_log::parse(log);
        assert_eq!(log.happenings.len(), 1);
        server_log::lay_over(&log, &clocks(begin, 20), "pg.log", None).expect("laid over").facts.trouble
    };
    let evidence = |log: &str, begin: &str| assert_eq!(trouble(log, begin), None);
    evidence(&log, "2026-11-22T06:26:05Z");
    evidence(&(entry("06:20:00", "connection received") + &log), "2026-11-22T06:26:00Z");
    evidence(&(entry("06:26:03", "starting PostgreSQL 17.6 on x86_64") + &log), "2026-11-22T06:26:00Z");
    for (begin, why) in [
        ("2026-11-22T06:27:00Z", "its last entry is from before the run"),
        ("2026-11-22T06:20:00Z", "its first entry is from after the run"),
        ("2026-11-22T06:26:00Z", "it begins 5.00 s after the run did"),
    ] {
        let said = trouble(&log, begin).unwrap_or_else(|| panic!("{why}"));
        assert!(said.contains(why), "{said}");
    }
}

/// Whatever the bytes: no panic, and what is kept holds what the types promise.
fn holds(input: &[u8]) {
    let log = server_log::parse(&String::from_utf8_lossy(input));
    assert!(log.examples.len() as u64 <= log.not_understood && log.examples.len() <= 5);
    assert!(log.happenings.is_sorted_by_key(|happening| happening.line));
    assert!(log.happenings.iter().all(|happening| happening.line as u64 <= log.lines));
    assert!(log.happenings.len() as u64 + log.durations + log.others <= 2 * log.lines);
    for zone in [None, Some(LogZone::Host), Some(LogZone::Ahead(-3_600))] {
        match server_log::lay_over(&log, &clocks(), "pg.log", zone) {
            Ok(laid) => {
                let facts = &laid.facts;
                assert_eq!(laid.events.len() as u64, facts.checkpoints + facts.vacuums + facts.lock_waits);
                assert!(laid.events.len() as u64 + facts.outside <= log.happenings.len() as u64);
                for event in &laid.events {
                    assert!(event.begin <= event.end && event.begin <= Instant(20 * S), "{event:?}");
                    assert!(event.kind == EventKind::Other && ServerTold::is_from_log(event), "{event:?}");
                }
            }
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }
}

#[test]
fn fuzz_server_logs() {
    let piece = |name: &str| -> Vec<String> {
        let lines: Vec<String> = text(name).lines().map(str::to_owned).collect();
        lines.chunks(9).map(|chunk| chunk.join("\n")).collect()
    };
    let corpus: Vec<String> = FORMS.iter().flat_map(|(file, _)| piece(file)).collect();
    let words = [
        "2026-11-22 06:26:05.475 UTC ",
        "9999-12-31 23:59:59.999 CET ",
        "0000-01-01 00:00:00 +14:59",
        "1795328765.475",
        " [8] LOG:  ",
        "STATEMENT:  ",
        "checkpoint starting: ",
        "checkpoint complete: wrote ",
        "total=18446744073709551615 s",
        "automatic vacuum of table \"",
        "elapsed: ",
        "process 7 still waiting for x after ",
        "process 7 acquired x after 99999999999.999 ms",
        "\"timestamp\":",
        "\"\"",
        "\",",
        "\t",
        "\n",
        "é",
    ];
    Fuzz::new("server-log").from(corpus).words(words).run(3_000, holds);
}
