//! Whose the tail is, live: stalls that the test makes and knows the times of, each put down to its cause.
//!
//! What the test makes is not all that happens on a host. So only requests count that spent most of their time in one of the
//! planted windows; and where the server alone is to stand still, only windows in which the host did not. Where the store is to be
//! slow, its truth log knows which requests it was.

#[path = "cli/program.rs"]
#[expect(dead_code, reason = "shared with the tests of the other commands, which need more of it")]
mod program;

use program::{Running, Scratch};
use record::{Recording, ServerTold};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::Nanos;

/// Wall time, ns since 1970.
type Window = (u64, u64);

/// One at a time: they stop processes, and use CPUs of their own.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn signal(pid: u32, signal: libc::c_int) {
    let pid = i32::try_from(pid).expect("a process id");
    // SAFETY: `kill` takes plain numbers; the process is a child of this test that was not waited for.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

/// Stops a process for `length`.
fn stop(pid: u32, length: Nanos) -> Window {
    let begin = clock::wall_time_ns();
    signal(pid, libc::SIGSTOP);
    clock::pause(length);
    signal(pid, libc::SIGCONT);
    (begin, clock::wall_time_ns())
}

/// Does something again and again while a load runs.
fn planted(run: &mut Running, mut plant: impl FnMut(u32) -> Window) -> Vec<Window> {
    run.wait_for_views(2);
    let pid = run.pid();
    (0..8)
        .map(|_| {
            clock::pause(Nanos::from_millis(600));
            plant(pid)
        })
        .collect()
}

/// A store with one server, which takes 0.2 ms, and the load's arguments for it.
fn store(scratch: &Scratch) -> (Running, String) {
    let words =
        ["store", "--json", "--resp", "0", "--postgres", "none", "--service", "exp:200us", "--servers", "1"];
    let mut store = scratch.start(&words);
    let line = store.wait_for_result("listening");
    let listening: Value = serde_json::from_str(&line).expect("a document");
    let address = listening["resp"][0].as_str().expect("an address").to_owned();
    (store, format!("redis://{address}"))
}

fn load<'a>(url: &'a str, cpus: &'a str) -> Vec<&'a str> {
    let head = ["run", url, "-w", "noop", "-p", "mode=ping", "-c", "128", "--cpus", cpus];
    [&head[..], &["-r", "1000/s", "--warmup", "0s", "-d", "9s", "--observers", "hiccup=1ms", "-o", "run"]]
        .concat()
}

fn with_observers<'a>(mut load: Vec<&'a str>, observers: &'a str) -> Vec<&'a str> {
    for argument in load.iter_mut().filter(|argument| **argument == "hiccup=1ms") {
        *argument = observers;
    }
    load
}

fn first_cpu() -> String {
    load::available_cpus().first().expect("a CPU").to_string()
}

/// The document of `truetail attribute`, and when the recording began.
fn attribution(scratch: &Scratch, above: &str) -> (Value, u64) {
    let ended = scratch.truetail(&["attribute", "run", "--above", above, "--json"]).judged();
    (ended.json()["attribution"].take(), scratch.recording("run").header().epoch_wall_ns)
}

/// Whether a request spent most of its time in one of the windows.
fn is_in(one: &Value, epoch: u64, windows: &[Window]) -> bool {
    let number = |name: &str| one[name].as_u64().expect("a number");
    let (begin, took) = (epoch + number("at"), number("took"));
    let shared = |w: &Window| w.1.min(begin + took).saturating_sub(w.0.max(begin));
    windows.iter().any(|window| 2 * shared(window) > took)
}

/// Of the requests in the windows, how many there are and how many are put down to one of `causes`.
fn put_down(scratch: &Scratch, above: &str, windows: &[Window], causes: &[&str]) -> (usize, usize) {
    let (found, epoch) = attribution(scratch, above);
    let worst = found["worst"].as_array().expect("slow requests");
    let affected: Vec<&Value> = worst.iter().filter(|one| is_in(one, epoch, windows)).collect();
    let is_right = |one: &&&Value| one["largest"].as_str().is_some_and(|cause| causes.contains(&cause));
    let right = affected.iter().filter(is_right).count();
    println!("{right} of {} in the windows: {}", affected.len(), found["sentence"]);
    (affected.len(), right)
}

const STALLS: [&str; 2] = ["client-stall", "host-stall"];

fn assert_right((affected, right): (usize, usize)) {
    assert!(affected >= 40, "{affected} requests in the windows");
    assert!(right * 100 >= affected * 95, "{right} of {affected}");
}

#[test]
fn a_harness_that_is_stopped_is_the_clients_stall() {
    let _alone = alone();
    let scratch = Scratch::new("attribution-harness");
    let (store, url) = store(&scratch);
    let cpu = first_cpu();
    let mut run = scratch.start(&load(&url, &cpu));
    let windows = planted(&mut run, |pid| stop(pid, Nanos::from_millis(50)));
    run.wait().judged();
    store.signal(libc::SIGTERM);
    store.wait().well();
    assert_right(put_down(&scratch, "20ms", &windows, &STALLS));
}

/// Where the host stood still as well, nobody can say whose the time is.
fn quiet(recording: &Recording, windows: &[Window]) -> Vec<Window> {
    let epoch = recording.header().epoch_wall_ns;
    let names: Vec<bool> =
        recording.noise_sources().iter().map(|source| source.name.starts_with("hiccup cpu ")).collect();
    let noise = recording.noise().expect("its noise");
    let stalls: Vec<Window> = noise
        .iter()
        .filter(|one| names[usize::from(one.source)])
        .map(|one| (epoch + one.begin.0, epoch + one.end.0))
        .collect();
    let disturbed = |window: &Window| -> u64 {
        stalls.iter().map(|s| s.1.min(window.1).saturating_sub(s.0.max(window.0))).sum()
    };
    windows.iter().copied().filter(|window| 10 * disturbed(window) < window.1 - window.0).collect()
}

#[test]
fn a_server_that_is_stopped_is_the_database() {
    let _alone = alone();
    for attempt in 1..=4 {
        let scratch = Scratch::new("attribution-server");
        let (store, url) = store(&scratch);
        let cpu = first_cpu();
        let mut run = scratch.start(&load(&url, &cpu));
        let server = store.pid();
        let windows = planted(&mut run, |_| stop(server, Nanos::from_millis(50)));
        run.wait().judged();
        store.signal(libc::SIGTERM);
        store.wait().well();
        let windows = quiet(&scratch.recording("run"), &windows);
        if windows.len() >= 3 {
            return assert_right(put_down(&scratch, "20ms", &windows, &["database"]));
        }
        println!("attempt {attempt}: the host stood still in all but {} windows", windows.len());
    }
    panic!("in four runs the host never stood on its own feet: nothing can be said of a server on it");
}

/// Burns a CPU with a priority that nobody else has; `None` where that is not permitted.
fn burn(cpu: usize, length: Nanos) -> Option<Window> {
    let burn = move || {
        load::pin_to_set(&[cpu]).ok()?;
        let priority = libc::sched_param { sched_priority: 50 };
        // SAFETY: the call reads one valid structure; 0 is the calling thread alone.
        if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &priority) } != 0 {
            return None;
        }
        let begin = clock::wall_time_ns();
        while clock::wall_time_ns() < begin + length.0 {
            std::hint::spin_loop();
        }
        Some((begin, clock::wall_time_ns()))
    };
    std::thread::spawn(burn).join().expect("it burns")
}

#[test]
fn a_cpu_that_is_burnt_is_the_clients_stall() {
    let _alone = alone();
    let cpu = first_cpu();
    let number: usize = cpu.parse().expect("a number");
    if burn(number, Nanos::from_millis(1)).is_none() {
        eprintln!("\n*** SKIPPED: a test that needs a real-time priority (CAP_SYS_NICE) ***\n");
        return;
    }
    let scratch = Scratch::new("attribution-burnt");
    let (store, url) = store(&scratch);
    let mut run = scratch.start(&with_observers(load(&url, &cpu), "hiccup=1ms,threads"));
    let windows =
        planted(&mut run, |_| burn(number, Nanos::from_millis(20)).expect("it was permitted a moment ago"));
    run.wait().judged();
    store.signal(libc::SIGTERM);
    store.wait().well();
    assert_right(put_down(&scratch, "6ms", &windows, &STALLS));
    // The worker wanted the CPU meanwhile, as the scheduler says.
    let (found, epoch) = attribution(&scratch, "6ms");
    let worst = found["worst"].as_array().expect("slow requests");
    let affected: Vec<&Value> = worst.iter().filter(|one| is_in(one, epoch, &windows)).collect();
    let waited = |one: &&&Value| one["queued"]["wait"].as_u64() > Some(10_000_000);
    assert_right((affected.len(), affected.iter().filter(waited).count()));
}

/// Who watches sees this process in the stalls that it makes, and says so.
#[test]
fn whoever_burns_a_cpu_is_named() {
    let _alone = alone();
    let cpu = first_cpu();
    let number: usize = cpu.parse().expect("a number");
    // SAFETY: it takes nothing.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root || burn(number, Nanos::from_millis(1)).is_none() {
        eprintln!("\n*** SKIPPED: a test that needs root, for bpf(2) and a real-time priority ***\n");
        return;
    }
    let scratch = Scratch::new("attribution-who");
    let (store, url) = store(&scratch);
    let mut run = scratch.start(&with_observers(load(&url, &cpu), "hiccup=1ms,who"));
    let windows =
        planted(&mut run, |_| burn(number, Nanos::from_millis(20)).expect("it was permitted a moment ago"));
    run.wait().judged();
    store.signal(libc::SIGTERM);
    store.wait().well();
    let (found, epoch) = attribution(&scratch, "6ms");
    let us = format!(" (pid {})", std::process::id());
    let causes = found["causes"].as_array().expect("causes");
    let stalls =
        causes.iter().filter(|row| row["cause"].as_str().is_some_and(|cause| STALLS.contains(&cause)));
    let named = stalls.flat_map(|row| row["ran"]["who"].as_array().cloned().unwrap_or_default());
    let ours = named.filter(|who| who["name"].as_str().is_some_and(|name| name.ends_with(&us)));
    let (burnt, all) =
        (ours.filter_map(|who| who["time"].as_u64()).sum::<u64>(), 8 * Nanos::from_millis(20).0);
    assert!(burnt > all * 3 / 4 && burnt < all * 5 / 4, "{burnt} ns of {all}: {}", found["causes"]);
    let worst = found["worst"].as_array().expect("slow requests");
    let affected = worst.iter().filter(|one| is_in(one, epoch, &windows));
    let pieces = affected.flat_map(|one| one["pieces"].as_array().expect("pieces"));
    let held: Vec<bool> = pieces
        .filter(|piece| piece["length"].as_u64().is_some_and(|length| length > 5_000_000))
        .filter_map(|piece| Some(piece["held_by"].as_str()?.ends_with(&us)))
        .collect();
    let right = held.iter().filter(|right| **right).count();
    assert!(held.len() >= 40 && right * 100 >= held.len() * 95, "{right} of {}", held.len());
}

fn psql(server: &testkit::postgres::Server, sql: &str) {
    let mut psql: Command = testkit::postgres::client("psql").expect("the server is there, too");
    psql.args(["-q", "-X", "-v", "ON_ERROR_STOP=1", "-d"]).arg(server.tcp_url()).args(["-c", sql]);
    let output = psql.output().expect("psql starts");
    assert!(output.status.success(), "{sql}: {output:?}");
}

/// Three checkpoints of many dirty pages, and how long each command took.
fn checkpoints_by_hand(server: &testkit::postgres::Server) -> Vec<Window> {
    psql(server, "CREATE TABLE filler (id int, words text)");
    let one = |_| {
        psql(server, "INSERT INTO filler SELECT g, repeat('x', 500) FROM generate_series(1, 40000) g");
        let begin = clock::wall_time_ns();
        psql(server, "CHECKPOINT");
        (begin, clock::wall_time_ns())
    };
    (0..3).map(one).collect()
}

/// The server says when it has written: the event covers each checkpoint, and is hardly longer.
#[test]
fn checkpoints_of_postgresql_are_events() {
    let Some(server) = testkit::postgres::server(&testkit::postgres::Options::default()) else { return };
    let _alone = alone();
    let scratch = Scratch::new("attribution-checkpoint");
    let url = server.tcp_url();
    scratch.truetail(&["load", &url]).well();
    let rest =
        ["-r", "300/s", "--warmup", "0s", "-d", "9s", "-c", "8", "--observers", "hiccup=1ms", "-o", "run"];
    let mut run = scratch.start(&[&["run", url.as_str()], &rest[..]].concat());
    run.wait_for_views(1);
    let windows = checkpoints_by_hand(&server);
    run.wait().judged();
    let recording = scratch.recording("run");
    let epoch = recording.header().epoch_wall_ns;
    let source = recording.noise_sources().iter().find(|source| source.name == "checkpoints");
    assert!(source.is_some_and(|source| source.available.is_ok()), "{source:?}");
    let events = program::events(&recording, record::EventKind::Other);
    let told: Vec<Window> = events.iter().map(|e| (epoch + e.begin.0, epoch + e.end.0)).collect();
    assert!(events.iter().all(|e| e.subject == "checkpoint" && e.detail.contains("synced")), "{events:?}");
    // Asked each 200 ms: two that follow each other at once may be one event.
    for window in &windows {
        let middle = window.0 + (window.1 - window.0) / 2;
        assert!(told.iter().any(|t| t.0 <= middle && middle <= t.1), "{window:?} in {told:?}");
    }
    let slack = Nanos::from_millis(700).0;
    for event in &told {
        let near = |w: &Window| w.0 <= event.1 + slack && event.0 <= w.1 + slack;
        assert!(windows.iter().any(near), "{event:?} near {windows:?}");
    }
    let (found, _) = attribution(&scratch, "1ns");
    let causes = found["causes"].as_array().expect("causes");
    let row = causes.iter().find(|row| row["cause"] == "checkpoint").expect("its row");
    assert!(row["watched"] == true && row["intervals"].as_u64().is_some_and(|n| n >= 1), "{row}");
    assert!(row["touches"].as_u64().is_some_and(|n| n > 0), "{row}");
}

/// Speaks to the store itself.
fn tell(address: &str, words: &str) {
    let mut stream = TcpStream::connect(address).expect("the store is there");
    write!(stream, "TRUETAIL {words}\r\n").expect("it listens");
    let mut answer = [0; 64];
    let length = stream.read(&mut answer).expect("it answers");
    assert!(length > 0 && answer[0] != b'-', "{words}: {}", String::from_utf8_lossy(&answer[..length]));
}

/// The server's log of checkpoints in these windows, with `log_line_prefix = '%n [%p] '`.
fn log_of(windows: &[Window]) -> String {
    let mut log = String::new();
    let stamp = |ns: u64| format!("{}.{:03} [7]", ns / 1_000_000_000, ns / 1_000_000 % 1_000);
    for (begin, end) in windows {
        let total = (end - begin) as f64 / 1e9;
        let _ = writeln!(log, "{} LOG:  checkpoint starting: time", stamp(*begin));
        let _ = writeln!(
            log,
            "{} LOG:  checkpoint complete: wrote 9 buffers (0.1%); write={total:.3} s, sync=0.001 s, total={total:.3} s;",
            stamp(*end)
        );
    }
    log
}

/// All requests that come during a planted checkpoint take 20 ms longer: the store's truth log counts them, and at least 95 %
/// of them are put down to the checkpoint.
#[test]
fn a_checkpoint_of_the_servers_log_explains_the_requests_that_it_slowed() {
    const SLOWER: u64 = 20_000_000;
    let _alone = alone();
    let scratch = Scratch::new("attribution-server-log");
    let words =
        ["store", "--json", "--resp", "0", "--postgres", "none", "--service", "200us", "--truth", "truth"];
    let mut store = scratch.start(&words);
    let line = store.wait_for_result("listening");
    let listening: Value = serde_json::from_str(&line).expect("a document");
    let address = listening["resp"][0].as_str().expect("an address").to_owned();
    let url = format!("redis://{address}");
    let cpu = first_cpu();
    let run = ["run", &url, "-w", "noop", "-p", "mode=ping", "-c", "64", "--cpus", &cpu, "-r", "400/s"];
    let rest = ["--warmup", "0s", "-d", "12s", "--observers", "hiccup=1ms", "-o", "run"];
    let mut run = scratch.start(&[&run[..], &rest[..]].concat());
    run.wait_for_views(2);
    let windows: Vec<Window> = (0..5)
        .map(|_| {
            clock::pause(Nanos::from_millis(700));
            let begin = clock::wall_time_ns();
            tell(&address, "fault delay:20ms@always");
            clock::pause(Nanos::from_millis(800));
            tell(&address, "clear");
            (begin, clock::wall_time_ns() + SLOWER)
        })
        .collect();
    run.wait().judged();
    store.signal(libc::SIGINT);
    store.wait().well();
    scratch.write("pg.log", &log_of(&windows));
    let truth = scratch.truetail(&["export", "truth"]).well().stdout;
    let slowed = truth.lines().filter(|line| line.contains("fault")).count();
    let arguments = ["attribute", "run", "--server-log", "pg.log", "--above", "19ms", "--json"];
    let document = scratch.truetail(&arguments).judged().json();
    let epoch = scratch.recording("run").header().epoch_wall_ns;
    let worst = document["attribution"]["worst"].as_array().expect("slow requests");
    let affected: Vec<&Value> = worst.iter().filter(|one| is_in(one, epoch, &windows)).collect();
    let right = affected.iter().filter(|one| one["largest"] == "checkpoint").count();
    println!(
        "{right} of {} in the windows, {slowed} slowed: {}",
        affected.len(),
        document["attribution"]["sentence"]
    );
    assert!(slowed >= 1_000, "{slowed}");
    // Each slowed request is there; one that the host alone made slow may be, too.
    assert!(
        affected.len() >= slowed * 99 / 100 && affected.len() <= slowed * 102 / 100,
        "{} {slowed}",
        affected.len()
    );
    assert!(right * 100 >= affected.len() * 95, "{right} of {}", affected.len());
}

/// Checkpoints that have nothing to do with the tail take no hundredth of it: forty logs over one run, whose server takes 20 ms for
/// each hundredth request. Each log has one chance in twenty to be met more often than chance allows.
#[test]
fn checkpoints_that_slow_nobody_explain_nothing() {
    const LOGS: u64 = 40;
    let _alone = alone();
    let scratch = Scratch::new("attribution-no-checkpoint");
    let words = ["store", "--json", "--resp", "0", "--postgres", "none", "--service", "99% 200us + 1% 20ms"];
    let mut store = scratch.start(&words);
    let line = store.wait_for_result("listening");
    let listening: Value = serde_json::from_str(&line).expect("a document");
    let url = format!("redis://{}", listening["resp"][0].as_str().expect("an address"));
    let run = ["run", &url, "-w", "noop", "-p", "mode=ping", "-c", "64", "-r", "500/s", "--warmup", "0s"];
    scratch.truetail(&[&run[..], &["-d", "8s", "--observers", "hiccup=1ms", "-o", "run"]].concat()).judged();
    store.signal(libc::SIGTERM);
    store.wait().well();
    let epoch = scratch.recording("run").header().epoch_wall_ns;
    let (mut share, mut shown) = (0.0, 0);
    for log in 0..LOGS {
        let mut rng = units::Seed(log).derive("checkpoints").rng();
        let mut begins: Vec<u64> = (0..2).map(|_| epoch + rng.below(7_900_000_000)).collect();
        begins.sort_unstable();
        let windows: Vec<Window> = begins.iter().map(|begin| (*begin, begin + 60_000_000)).collect();
        scratch.write("pg.log", &log_of(&windows));
        let arguments = ["attribute", "run", "--server-log", "pg.log", "--above", "10ms", "--json"];
        let found = scratch.truetail(&arguments).judged().json()["attribution"].take();
        let row =
            found["causes"].as_array().and_then(|rows| rows.iter().find(|row| row["cause"] == "checkpoint"));
        let row = row.expect("it was watched");
        assert!(row["watched"] == true, "{row}");
        share += row["share"].as_f64().expect("a share");
        shown += u64::from(row["share"].as_f64() > Some(0.0));
    }
    println!(
        "{shown} of {LOGS} logs explained anything, {} of the tail's time on average",
        share / LOGS as f64
    );
    assert!(share / LOGS as f64 <= 0.01, "{share} {shown}");
}

/// The wall time of each `checkpoint complete` of the log, ms, and its total, by the plainest of means.
fn completed(log: &str) -> Vec<(u64, u64)> {
    let one = |line: &str| {
        let (stamp, rest) = line.split_once(" [")?;
        rest.contains("checkpoint complete").then_some(())?;
        let millis = |text: &str| text.replace('.', "").parse::<u64>().ok();
        Some((millis(stamp)?, millis(rest.split_once("total=")?.1.split_once(" s")?.0)?))
    };
    log.lines().filter_map(one).collect()
}

/// Many dirty pages, each written whole to the log after a checkpoint: begin and end are those of the server's log, and what
/// was asked for beside the load counts no second time.
#[test]
fn checkpoints_of_a_real_servers_log_are_found_to_the_millisecond() {
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let settings = vec![
        setting("log_line_prefix", "%n [%p] "),
        setting("log_checkpoints", "on"),
        setting("full_page_writes", "on"),
        setting("max_wal_size", "4GB"),
    ];
    let options = testkit::postgres::Options { settings, ..testkit::postgres::Options::default() };
    let Some(server) = testkit::postgres::server(&options) else { return };
    let _alone = alone();
    let scratch = Scratch::new("attribution-real-log");
    let url = server.tcp_url();
    scratch.truetail(&["load", &url]).well();
    let log = server.log();
    let log = log.to_string_lossy();
    let rest =
        ["-r", "300/s", "--warmup", "0s", "-d", "9s", "-c", "8", "--observers", "hiccup=1ms", "-o", "run"];
    let mut run = scratch.start(&[&["run", url.as_str(), "--server-log", &log], &rest[..]].concat());
    run.wait_for_views(1);
    let windows = checkpoints_by_hand(&server);
    run.wait().judged();
    let recording = scratch.recording("run");
    let epoch = recording.header().epoch_wall_ns;
    let events = program::events(&recording, record::EventKind::Other);
    let told: Vec<Window> = (events.iter())
        .filter(|event| {
            ServerTold::is_from_log(event) && ServerTold::of(event) == Some(ServerTold::Checkpoint)
        })
        .map(|event| (epoch + event.begin.0, epoch + event.end.0))
        .collect();
    assert!(events.len() > told.len(), "it was asked, too: {events:?}");
    // Those of the log within the run, one for one.
    let near = 2_000_000;
    let stated = completed(&std::fs::read_to_string(&*log).expect("the server's log"));
    for (begin, end) in &told {
        let is_it = |(at, total): &&(u64, u64)| {
            (at * 1_000_000).abs_diff(*end) <= near && (end - begin).abs_diff(total * 1_000_000) <= near
        };
        assert_eq!(stated.iter().filter(is_it).count(), 1, "{begin} to {end} in {stated:?}");
    }
    for window in &windows {
        let is_within = |t: &&Window| window.0 <= t.0 + near && t.1 <= window.1 + near;
        assert!(told.iter().any(|t| is_within(&t)), "{window:?} in {told:?}");
    }
    let document = scratch.truetail(&["attribute", "run", "--above", "1ns", "--json"]).judged().json();
    let facts = &scratch.truetail(&["report", "run", "--json"]).judged().json()["server_logs"][0];
    assert_eq!(
        (facts["checkpoints"].as_u64(), facts["not_understood"].as_u64()),
        (Some(told.len() as u64), Some(0)),
        "{facts}"
    );
    let rows = document["attribution"]["causes"].as_array().expect("causes");
    let row = rows.iter().find(|row| row["cause"] == "checkpoint").expect("its row");
    assert_eq!(row["intervals"].as_u64(), Some(told.len() as u64), "each counts once: {row}");
}

/// The driver's JVM stands still, as the program that makes it do so knows, and its own log tells without being asked for.
#[test]
fn a_drivers_jvm_that_pauses_is_the_harnesss_pause() {
    let Some(jars) = testkit::ycsb::class_path() else { return };
    let _alone = alone();
    let scratch = Scratch::new("attribution-driver-jvm");
    let times = scratch.path("times");
    let url = format!(
        "ycsb-db:truetail.ycsb.MemoryClient?jar={jars}&jvm=-XX:+UseSerialGC%20-Xms1g%20-Xmx1g&p.memory.live_mib=64&\
         p.memory.gc_every_ms=700&p.memory.gc_times={}",
        times.display()
    );
    let cpu = first_cpu();
    scratch.start(&load(&url, &cpu)).wait().judged();
    let text = std::fs::read_to_string(times).expect("the times of the pauses");
    let whole: Vec<Window> = text.lines().filter_map(window).collect();
    // The times are whole milliseconds; a request is in a window if it is for the most part.
    assert!(whole.len() >= 5, "{text}");
    assert_right(put_down(&scratch, "20ms", &quiet(&scratch.recording("run"), &whole), &["harness-jvm"]));
}

fn window(line: &str) -> Option<Window> {
    let (begin, end) = line.split_once(' ')?;
    Some((begin.parse::<u64>().ok()? * 1_000_000, end.parse::<u64>().ok()? * 1_000_000))
}
