//! Whose the tail is, live: stalls that the test makes and knows the times of, each put down to its cause.
//!
//! What the test makes is not all that happens on a host. So only requests count that spent most of their time in one of the
//! planted windows; and where the server alone is to stand still, only windows in which the host did not.

#[path = "cli/program.rs"]
#[expect(dead_code, reason = "shared with the tests of the other commands, which need more of it")]
mod program;

use program::{Running, Scratch};
use record::Recording;
use serde_json::Value;
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
    let mut run = scratch.start(&load(&url, &cpu));
    let windows =
        planted(&mut run, |_| burn(number, Nanos::from_millis(20)).expect("it was permitted a moment ago"));
    run.wait().judged();
    store.signal(libc::SIGTERM);
    store.wait().well();
    assert_right(put_down(&scratch, "6ms", &windows, &STALLS));
}

fn psql(server: &testkit::postgres::Server, sql: &str) {
    let mut psql: Command = testkit::postgres::client("psql").expect("the server is there, too");
    psql.args(["-q", "-X", "-v", "ON_ERROR_STOP=1", "-d"]).arg(server.tcp_url()).args(["-c", sql]);
    let output = psql.output().expect("psql starts");
    assert!(output.status.success(), "{sql}: {output:?}");
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
    psql(&server, "CREATE TABLE filler (id int, words text)");
    let windows: Vec<Window> = (0..3)
        .map(|_| {
            psql(&server, "INSERT INTO filler SELECT g, repeat('x', 500) FROM generate_series(1, 40000) g");
            let begin = clock::wall_time_ns();
            psql(&server, "CHECKPOINT");
            (begin, clock::wall_time_ns())
        })
        .collect();
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
