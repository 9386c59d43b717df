//! Whatever somebody types where a load is described: an answer or one line that names it, never a panic.
//!
//! `cargo xtask soak --fuzz` does the same for as long as it is told.

mod doubles;

use doubles::plain;
use load::arrivals::Process;
use load::{LoadSpec, Model, Sequencer, parse_mix, parse_phases};
use std::path::PathBuf;
use testkit::fuzz::Fuzz;
use units::Nanos;
use workload::Workload;
use workload::noop::NoOp;

/// Numbers at the ends of what numbers can be, and what stands between them.
const WORDS: [&str; 24] = [
    "0",
    "-1",
    "1e309",
    "1e-320",
    "nan",
    "inf",
    "99999999999999999999",
    "0.0000000001",
    "/s",
    "/h",
    "k/s",
    "ns",
    "us",
    "µs",
    "h",
    "..",
    "@",
    ",",
    "=",
    " sessions=",
    " mix=",
    "4294967296",
    "\n",
    "\u{301}",
];

/// A message that says something, in one line if what it quotes is one.
fn is_helpful(message: &str, about: &str) {
    assert!(!message.trim().is_empty(), "{about:?}");
    assert!(about.contains(['\n', '\r']) || !message.contains('\n'), "{message:?} about {about:?}");
}

#[test]
fn fuzz_phases() {
    let known = [
        "30s@1000/s",
        "1m@100..5000/s, 30s@1000/s",
        "10s sessions=4, 10s@5/s mix=ReadRecord=90+UpdateRecord=10 sessions=8",
    ];
    Fuzz::new("phases").from(known).words(WORDS).run(5_000, |input| {
        let text = String::from_utf8_lossy(input);
        match parse_phases(&text) {
            Ok(phases) => {
                assert!(phases.iter().all(|phase| phase.duration > Nanos::ZERO), "{phases:?}");
                first_requests(Process::Poisson, &text);
            }
            Err(error) => is_helpful(&error.to_string(), &text),
        }
    });
}

#[test]
fn fuzz_mixes() {
    let known = ["ReadRecord=90,UpdateRecord=10", "A=0.5, B=0"];
    Fuzz::new("mix").from(known).words(WORDS).run(5_000, |input| {
        let text = String::from_utf8_lossy(input);
        match parse_mix(&text) {
            Ok(mix) => assert!(mix.iter().all(|(_, weight)| weight.is_finite() && *weight >= 0.0), "{mix:?}"),
            Err(error) => is_helpful(&error, &text),
        }
    });
}

#[test]
fn fuzz_arrivals_and_quantities() {
    let known =
        ["poisson", "pareto:1.5", "hyperexp:4", "lognormal:5", "gamma:0.001", "1.5ms", "2k/s", "p99.9"];
    Fuzz::new("arrivals").from(known).words(WORDS).run(5_000, |input| {
        let text = String::from_utf8_lossy(input);
        // The file of a trace is another target's input.
        if !text.starts_with("trace") {
            match Process::parse(&text) {
                Ok(process) => first_requests(process, "1s@1000/s"),
                Err(error) => is_helpful(&error, &text),
            }
        }
        let refusals = [
            units::parse_duration(&text).err(),
            units::parse_rate(&text).err(),
            units::parse_quantile(&text).err(),
        ];
        refusals.into_iter().flatten().for_each(|error| is_helpful(&error.to_string(), &text));
    });
}

/// What can be parsed can be run: some requests, none before the one before it.
fn first_requests(process: Process, phases: &str) {
    let workload = NoOp::from_overrides(&[]).expect("its defaults");
    let spec = LoadSpec { sessions: 4, requests: Some(50), ..plain(Model::Open { process }, phases) };
    // What `--phases` can say and no load can be is refused here, in one line, too.
    let mut sequencer = match Sequencer::new(&spec, workload.tickets()) {
        Ok(sequencer) => sequencer,
        Err(error) => return is_helpful(&error.to_string(), phases),
    };
    let mut before = Nanos::ZERO;
    while let Some(request) = sequencer.next_request() {
        let next = request.intended.expect("an open loop's request is due at some time");
        assert!(next >= before, "{next:?} after {before:?}");
        before = next;
    }
}

/// A file name of this process alone; removed at the end.
struct TraceFile(PathBuf);

impl Drop for TraceFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn fuzz_trace_files() {
    let name = format!("fuzz-{}.trace", std::process::id());
    let file = TraceFile(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name));
    let known = ["0.0\n0.001\n0.5\n", "# offsets\n1\n\n1.5\n2e0\n", "0\n18446744073709551615\n"];
    let words = ["\n", "#", "-0", "1e300", "nan", "inf", "9".repeat(400).leak(), "\u{feff}", "\0", "0x1p3"];
    Fuzz::new("trace").from(known).words(words).run(2_000, |input| {
        std::fs::write(&file.0, input).unwrap();
        match Process::parse(&format!("trace:{}", file.0.display())) {
            Ok(process) => first_requests(process, "1s@1000/s"),
            Err(error) => {
                assert!(error.contains(&file.0.display().to_string()), "{error}");
                is_helpful(&error, &String::from_utf8_lossy(input));
            }
        }
    });
}
