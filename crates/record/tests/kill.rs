//! A run that is killed with SIGKILL keeps every part that was closed. Without the test harness, because this
//! binary is also the child that is killed.

mod fixture;

use clock::{Clock, ClockChoice};
use fixture::{Scratch, all_samples, header, raw};
use record::{EndOfRun, Ending, Provenance, Recorder, RecorderConfig, Recording, ring};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use units::{Nanos, Ticks};

const CHILD_DIR: &str = "RECORD_KILL_TEST_DIR";
const TEST: &str = "a_killed_run_keeps_what_was_closed";
const BURST: u64 = 500;

fn main() {
    match std::env::var_os(CHILD_DIR) {
        Some(dir) => record_until_killed(Path::new(&dir)),
        None if std::env::args().skip(1).any(|arg| !arg.starts_with('-') && !TEST.contains(&arg)) => {}
        None => {
            for rows_before in [1, 4_000] {
                killed_while_recording(rows_before);
            }
            killed_while_finishing();
            println!("test {TEST} ... ok");
        }
    }
}

/// Records for ever and says on stdout how many samples are on disk for certain; ends when a line comes in.
fn record_until_killed(dir: &Path) {
    let clock = clock::calibrate(ClockChoice::Monotonic).expect("a monotonic clock").start();
    let (mut producer, consumer) = ring(1 << 16);
    let config = RecorderConfig {
        part_interval: Nanos::from_millis(20),
        drain_interval: Nanos::from_millis(1),
        anchor_interval: Nanos::from_millis(5),
        ..RecorderConfig::new(dir, header(Provenance::Live))
    };
    let recorder = Recorder::start(config, vec![consumer], clock).expect("a recording");
    std::thread::spawn(|| {
        let mut line = String::new();
        let _ = std::io::stdin().read_line(&mut line);
        FINISH.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let mut seq = 0;
    while !FINISH.load(std::sync::atomic::Ordering::Relaxed) {
        for _ in 0..BURST {
            let now = clock.now();
            producer.push(raw(now, Ticks(now.0 + 100), seq));
            seq += 1;
        }
        clock::pause(Nanos::from_millis(1));
        let rows = Recording::open(dir).map_or(0, |recording| recording.rows());
        println!("{rows}");
    }
    println!("finishing");
    let finished = recorder.finish(EndOfRun::new(Ending::Completed)).expect("an end");
    println!("{}", finished.end.samples);
    loop {
        clock::pause(Nanos::from_secs(1)); // until killed
    }
}

static FINISH: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

fn child(dir: &Path) -> std::process::Child {
    let executable = std::env::current_exe().expect("this test's own path");
    let mut command = Command::new(executable);
    command.env(CHILD_DIR, dir).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().expect("this test can start itself")
}

/// What is there after the kill: the first samples without a gap, at least `certain` of them.
fn check(dir: &Path, certain: u64) -> u64 {
    let recording = Recording::open(dir).expect("the recording can be opened");
    assert_eq!(recording.unreadable(), Vec::new());
    let samples = all_samples(&recording);
    assert!(samples.iter().map(|sample| sample.seq).eq(0..samples.len() as u64), "a gap or a double");
    assert_eq!(recording.rows(), samples.len() as u64);
    assert!(samples.len() as u64 >= certain, "{} samples, {certain} were on disk", samples.len());
    certain
}

fn killed_while_recording(rows_before: u64) {
    let scratch = Scratch::new("killed");
    let mut child = child(scratch.path());
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let rows = lines.map_while(Result::ok).filter_map(|line| line.parse::<u64>().ok());
    let certain = rows.into_iter().find(|&rows| rows >= rows_before).expect("the child goes on until killed");
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    check(scratch.path(), certain);
    assert_eq!(Recording::open(scratch.path()).expect("it opens").end(), None, "cut short");
}

/// Killed at some moment between the stop and the end of the merge; whichever it is, nothing that was on disk
/// is lost or doubled.
fn killed_while_finishing() {
    for extra_lines in [0, 1] {
        let scratch = Scratch::new("finishing");
        let mut child = child(scratch.path());
        let mut lines =
            BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
        let on_disk = |line: String| line.parse::<u64>().ok();
        let certain = lines.by_ref().filter_map(on_disk).find(|&rows| rows >= 2_000).expect("it goes on");
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin.write_all(b"finish\n").expect("it reads");
        assert!(lines.any(|line| line == "finishing"));
        let total = lines.take(extra_lines).filter_map(on_disk).last();
        child.kill().expect("it runs");
        child.wait().expect("it was killed");
        check(scratch.path(), total.unwrap_or(certain));
    }
}
