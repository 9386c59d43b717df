//! PostgreSQL's own log, and logs of JVMs, laid over one recording and over those of several clients.

use crate::program::{Scratch, events};
use clock::wall_time_ns;
use record::{Event, EventKind, ServerTold};
use std::fmt::Write as _;

const MS: u64 = 1_000_000;

/// Twenty seconds with a checkpoint of 100 ms each 250 ms from now on, as `log_line_prefix = '%n [%p] '` shows it; a wait for a lock
/// and a line that is none.
fn planted(from: u64) -> String {
    let stamp = |ns: u64| format!("{}.{:03} [7]", ns / 1_000_000_000, ns / MS % 1_000);
    let mut log = "cp: cannot stat `archive`\n".to_owned();
    for n in 0..80 {
        let begin = from + n * 250 * MS;
        let _ = writeln!(log, "{} LOG:  checkpoint starting: wal", stamp(begin));
        let _ = writeln!(
            log,
            "{} LOG:  checkpoint complete: wrote {n} buffers (0.1%); write=0.090 s, sync=0.010 s, total=0.100 s;",
            stamp(begin + 100 * MS)
        );
        let waited = "process 9 acquired ShareLock on transaction 7 after 3.000 ms";
        let _ = writeln!(log, "{} LOG:  {waited}", stamp(begin + 120 * MS));
    }
    log
}

fn checkpoints(all: &[Event]) -> Vec<&Event> {
    all.iter().filter(|event| ServerTold::of(event) == Some(ServerTold::Checkpoint)).collect()
}

const RUN: [&str; 8] = ["run", "null:", "-d", "1s", "--warmup", "0s", "--observers", "off"];

#[test]
fn checkpoints_are_where_they_were_planted() {
    let scratch = Scratch::new("server-log-planted");
    let from = wall_time_ns();
    scratch.write("pg.log", &planted(from));
    let page = scratch.truetail(&[&RUN[..], &["-o", "a", "--server-log", "pg.log"]].concat()).judged().stdout;
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "the server's log",
        "checkpoints, the longest 100 ms",
        "waits for locks",
        "pg.log, stderr, placed by wall time, ±1.00 ms",
        "1 line not understood: line 1: cp:",
    ] {
        assert!(page.contains(said), "no {said} in\n{page}");
    }
    let recording = scratch.recording("a");
    let epoch = recording.header().epoch_wall_ns;
    let all = events(&recording, EventKind::Other);
    let found = checkpoints(&all);
    assert!((3..=6).contains(&found.len()), "{found:?}");
    for event in found {
        assert!(ServerTold::is_from_log(event) && event.detail.contains("wal; "), "{event:?}");
        let begin = epoch + event.begin.0;
        let off = |at: u64| (at + 125 * MS - from).rem_euclid(250 * MS).abs_diff(125 * MS);
        assert!(event.begin.0 == 0 || off(begin) <= 2 * MS, "{} off: {event:?}", off(begin));
        assert!(event.begin.0 == 0 || (event.end - event.begin).0.abs_diff(100 * MS) <= 2 * MS, "{event:?}");
    }
    let facts = &recording.end().expect("an end").server_logs[0];
    assert_eq!((facts.checkpoints_in_all, facts.not_understood), (80, 1));
    assert!(facts.outside > 100 && facts.lock_waits >= 3, "{facts:?}");
}

#[test]
fn a_log_is_laid_over_a_recording_that_is_there_already_and_refused_where_it_means_nothing() {
    let scratch = Scratch::new("server-log-report");
    let from = wall_time_ns();
    scratch.write("pg.log", &planted(from));
    scratch.write(
        "cet.log",
        "2026-11-22 07:26:05.475 CET [7] LOG:  checkpoint complete: wrote 9 buffers (0.1%); write=0.1 s, sync=0.0 s, total=0.1 s;\n",
    );
    let page = scratch.truetail(&[&RUN[..], &["-o", "a", "--server-log", "cet.log"]].concat());
    assert!(page.stdout.contains("--server-log-zone"), "the run is kept, and says so: {page:?}");
    assert!(page.stderr.contains("--server-log cet.log: "), "{page:?}");
    let with = scratch.truetail(&["report", "a", "--server-log", "pg.log", "--json"]).json();
    let log = &with["server_logs"][1];
    assert!(log["checkpoints"].as_u64().is_some_and(|count| count >= 3), "{log}");
    assert_eq!(checkpoints(&events(&scratch.recording("a"), EventKind::Other)).len(), 0, "it stays as it is");
    let found = scratch.truetail(&["attribute", "a", "--server-log", "pg.log", "--json"]).json();
    let rows = found["attribution"]["causes"].as_array().expect("causes").clone();
    let row = rows.iter().find(|row| row["cause"] == "checkpoint").expect("a row");
    assert!(row["watched"] == true && row["intervals"].as_u64() > Some(0), "{row}");
    let cet = ["report", "a", "--server-log", "cet.log"];
    scratch.truetail(&cet).refused(&["--server-log cet.log", "`CET`", "--server-log-zone"]);
    let given = scratch.truetail(&[&cet[..], &["--server-log-zone", "+01:00", "--json"]].concat()).json();
    assert_eq!(given["server_logs"].as_array().map(Vec::len), Some(1), "the run's own failure is made good");
    assert_eq!(given["server_logs"][0]["outside"].as_u64(), Some(1));
    let west = scratch.truetail(&[&cet[..], &["--server-log-zone", "-06:00", "--json"]].concat()).json();
    assert_eq!(west["server_logs"].as_array().map(Vec::len), Some(1), "a zone may begin with a minus");
    scratch
        .truetail(&[&cet[..], &["--server-log-zone", "CET"]].concat())
        .refused(&["--server-log-zone CET", "host"]);
    scratch
        .truetail(&["report", "a", "--server-log-zone", "UTC"])
        .refused(&["--server-log-zone", "--server-log FILE"]);
    scratch.truetail(&["report", "a", "--server-log", "none.log"]).refused(&["none.log"]);
    scratch
        .truetail(&[&RUN[..], &["-o", "b", "--server-log", "none.log"]].concat())
        .refused(&["--server-log none.log", "check the path"]);
    scratch.truetail(&[&RUN[..], &["-o", "c", "--server-log", "pg.log"]].concat()).judged();
    scratch.truetail(&["report", "c", "--server-log", "pg.log"]).refused(&["pg.log", "already"]);
}

/// A spread checkpoint lasts minutes, and the log is read when the load has ended: its begin is then all that there is.
#[test]
fn a_checkpoint_that_goes_on_when_the_run_ends_counts_up_to_there() {
    let scratch = Scratch::new("server-log-unfinished");
    let stamp = |ns: u64| format!("{}.{:03} [7]", ns / 1_000_000_000, ns / MS % 1_000);
    for before_ms in [0, 30_000] {
        let name = format!("{before_ms}");
        let from = wall_time_ns() - before_ms * MS;
        let log = format!(
            "{} LOG:  connection received: host=[local]\n{} LOG:  checkpoint starting: time\n",
            stamp(from - 1_000 * MS),
            stamp(from)
        );
        scratch.write("pg.log", &log);
        scratch.truetail(&[&RUN[..], &["-o", &name, "--server-log", "pg.log"]].concat()).judged();
        let recording = scratch.recording(&name);
        let all = events(&recording, EventKind::Other);
        let [event] = &checkpoints(&all)[..] else { panic!("{all:?}") };
        assert!(ServerTold::is_unfinished(event), "{event:?}");
        assert!(event.begin.0 < 500 * MS && event.end.0 >= 1_000 * MS, "{event:?}");
        let facts = &recording.end().expect("an end").server_logs[0];
        assert_eq!((facts.checkpoints, facts.outside), (1, 0), "{facts:?}");
        let found = scratch.truetail(&["attribute", &name, "--json"]).judged().json();
        let rows = found["attribution"]["causes"].as_array().expect("causes").clone();
        let row = rows.iter().find(|row| row["cause"] == "checkpoint").expect("a row");
        assert!(row["watched"] == true && row["intervals"] == 1, "{row}");
    }
}

/// `2026-11-22 06:26:05.475` of nanoseconds since 1970. Hinnant, *chrono-Compatible Low-Level Date Algorithms*, `civil_from_days`.
fn date_and_time(ns: u64) -> String {
    let (days, rest_ms) = (ns / MS / 86_400_000, ns / MS % 86_400_000);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (minutes, ms) = (rest_ms / 60_000, rest_ms % 60_000);
    let (hour, minute, second) = (minutes / 60, minutes % 60, ms / 1_000);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:03}", ms % 1_000)
}

/// A zone that is that of no host which runs tests: five hours and forty-five minutes west of Greenwich.
#[test]
fn the_zone_of_the_host_is_what_its_clocks_show() {
    assert_eq!(date_and_time(1_795_328_765_475 * MS), "2026-11-22 06:26:05.475");
    let scratch = Scratch::new("server-log-host");
    let from = wall_time_ns();
    scratch.truetail(&[&RUN[..], &["-o", "a"]].concat()).judged();
    let mut log = String::new();
    for n in 0..80_u64 {
        let at = date_and_time(from + n * 100 * MS - (5 * 60 + 45) * 60_000 * MS);
        let done = "wrote 9 buffers (0.1%); write=0.010 s, sync=0.0 s, total=0.010 s;";
        let _ = writeln!(log, "{at} XST [7] LOG:  checkpoint complete: {done}");
    }
    scratch.write("local.log", &log);
    let report = |zone: &str| {
        let report = ["report", "a", "--server-log", "local.log", "--server-log-zone", zone, "--json"];
        let page = scratch.run(scratch.command(&report).env("TZ", "XST5:45")).judged().json();
        let facts = page["server_logs"][0].clone();
        (facts["checkpoints"].as_u64().expect("a count"), facts["aligned_by"].as_str().map(str::to_owned))
    };
    let (count, words) = report("host");
    assert!((5..=15).contains(&count), "{count}");
    assert_eq!(words.as_deref(), Some("wall time (XST taken as this host's zone), ±1.00 ms"));
    assert_eq!(report("-05:45").0, count, "the same as when it is said");
    assert_eq!(report("UTC").0, 0);
}

/// A server's logs concern both clients and are shown once; a harness's log concerns the client that it is said to be of.
#[test]
fn of_several_recordings_each_log_concerns_those_that_it_should() {
    let scratch = Scratch::new("server-log-clients");
    let from = wall_time_ns();
    scratch.write("pg.log", &planted(from));
    let mut gc = String::new();
    for n in 0..80 {
        let _ = writeln!(
            gc,
            "[{}ms][info][safepoint] Safepoint \"Planted\", Time since last: 7000000 ns, Reaching safepoint: 1000000 ns, \
             At safepoint: 1990000 ns, Leaving safepoint: 10000 ns, Total: 3000000 ns",
            from / MS + n * 250
        );
    }
    scratch.write("gc.log", &gc);
    let mut clients: Vec<_> = ["0/2", "1/2"]
        .iter()
        .zip(["a", "b"])
        .map(|(client, out)| scratch.start(&[&RUN[..], &["--client", client, "-o", out]].concat()))
        .collect();
    clients.drain(..).for_each(|client| drop(client.wait().judged()));
    let over = |logs: &[&str]| {
        scratch.truetail(&[&["report", "a", "b", "-o", "merged", "--json"][..], logs].concat())
    };
    let shown =
        over(&["--server-log", "pg.log", "--jvm-log", "server:gc.log", "--jvm-log", "harness@1:gc.log"])
            .json();
    assert_eq!(shown["server_logs"].as_array().map(Vec::len), Some(1), "{}", shown["server_logs"]);
    let subjects: Vec<&str> = shown["jvm_logs"]
        .as_array()
        .expect("logs")
        .iter()
        .filter_map(|log| log["subject"].as_str())
        .collect();
    assert_eq!(subjects, ["server JVM", "harness JVM"]);
    let causes = shown["attribution"]["causes"].as_array().expect("causes");
    for cause in ["checkpoint", "server-jvm", "harness-jvm"] {
        let row = causes.iter().find(|row| row["cause"] == cause).expect(cause);
        assert!(row["intervals"].as_u64().is_some_and(|count| (3..=8).contains(&count)), "{row}");
    }
    over(&["--jvm-log", "harness:gc.log"]).refused(&["of which client", "harness@N:gc.log", "0, 1"]);
    over(&["--jvm-log", "harness@7:gc.log"]).refused(&["no recording of client 7", "0, 1"]);
    over(&["--jvm-log", "harness@x:gc.log"]).refused(&["`x` is no client's number"]);
    scratch.truetail(&["report", "a", "--jvm-log", "harness:gc.log"]).judged();
    let run = [&RUN[..], &["-o", "c", "--jvm-log", "harness@1:gc.log"]].concat();
    scratch.truetail(&run).refused(&["a run is of one client"]);
}

/// Five seconds of requests of another tool, a millisecond each from now on.
fn requests(from: u64) -> String {
    let row = |n: u64| format!("{},{}\n", from + n * MS, 300_000 + n % 100 * 1_000);
    "start_ns,service_ns\n".to_owned() + &(0..5_000).map(row).collect::<String>()
}

#[test]
fn the_log_is_laid_over_what_another_tool_measured() {
    let scratch = Scratch::new("server-log-import");
    let from = wall_time_ns() / MS * MS;
    scratch.write("r.csv", &requests(from));
    scratch.write("pg.log", &planted(from));
    let page = scratch
        .truetail(&["import", "csv", "r.csv", "-o", "a", "--server-log", "pg.log", "--json"])
        .judged()
        .json();
    let log = &page["server_logs"][0];
    assert_eq!((log["checkpoints"].as_u64(), log["file"].as_str()), (Some(20), Some("pg.log")), "{log}");
    assert!(log["aligned_by"].as_str().is_some_and(|by| by.contains("the requests by a csv file")), "{log}");
    // They are kept: who reads the recording later needs no log.
    let recording = scratch.recording("a");
    let all = events(&recording, EventKind::Other);
    assert_eq!(checkpoints(&all).len(), 20);
    assert!(checkpoints(&all).iter().all(|event| event.begin.0 % (250 * MS) <= MS), "{all:?}");
    assert_eq!(recording.end().expect("an end").server_logs[0].checkpoints, 20);
    scratch.truetail(&["report", "a", "--server-log", "pg.log"]).refused(&["pg.log", "already"]);
    let none = |more: &[&str]| scratch.truetail(&[&["import", "csv", "r.csv", "-o", "b"][..], more].concat());
    none(&["--server-log", "none.log"]).refused(&["none.log"]);
    none(&["--server-log-zone", "UTC"]).refused(&["--server-log-zone", "--server-log FILE"]);
    scratch.write("own.csv", "start_ns,service_ns\n1000,10\n2000,10\n");
    scratch
        .truetail(&["import", "csv", "own.csv", "-o", "b", "--server-log", "pg.log"])
        .refused(&["--server-log", "do not count from 1970"]);
    scratch.write("sysbench.txt", crate::imported::SYSBENCH);
    scratch
        .truetail(&["import", "sysbench", "sysbench.txt", "-o", "b", "--server-log", "pg.log"])
        .refused(&["--server-log pg.log", "no requests"]);
}

/// A log that tells nothing of the run must not pass for one that tells of no checkpoint.
#[test]
fn a_wrong_log_is_named_where_the_tail_is_put_down_to_causes() {
    let scratch = Scratch::new("server-log-wrong");
    scratch.truetail(&[&RUN[..], &["-o", "a"]].concat()).judged();
    scratch.write("old.log", &planted(wall_time_ns() - 86_400_000 * MS));
    scratch.write("s.sql", "SELECT 1;\n");
    scratch.write("empty.log", "");
    for (log, why) in [
        ("old.log", "its last entry is from before the run"),
        ("s.sql", "not one line is an entry of a PostgreSQL log: is it the right file?"),
        ("empty.log", "it is empty"),
    ] {
        let found = scratch.truetail(&["attribute", "a", "--server-log", log]).judged().stdout;
        let found = found.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(found.contains(&format!("checkpoint: not watched (the log {log}: {why}")), "{found}");
        let shown = scratch.truetail(&["report", "a", "--server-log", log]).judged().stdout;
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            shown.contains(why) && shown.contains("not told apart: ") && shown.contains("checkpoint"),
            "{shown}"
        );
    }
}
