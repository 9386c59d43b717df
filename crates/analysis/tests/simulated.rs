//! The frozen server, all the way: the real session loop on the simulated clock, a recording on disk, its analysis.
//!
//! 90,000 requests at λ = 1/ms, a stall of H = 1 s at 30 s, service of 0.8 ms, so ρ = 0.8. The wait falls from H by
//! (1 − ρ)/λ = 0.2 ms with each request until the queue has drained after H·λ/(1 − ρ) = 5,000 of them. So the k-th
//! longest response is H − 0.2 ms·(k − 1) and 0.8 ms of service, and the mean wait λH²/(2n(1 − ρ)) = 27.78 ms.

mod made;

use analysis::{Analysis, MeasureSummary, Options, analyse};
use load::arrivals::Process;
use load::simulate::{FifoServer, simulate};
use load::{LoadSpec, Model, Pacing, parse_phases};
use made::Scratch;
use record::{EndOfRun, Ending, Measure, RawSample, Recording, RecordingWriter, Sample};
use units::{Instant, Nanos, Outcome, Quantile, Seed, Ticks};
use workload::noop::{Mode, NoOp};

const REQUESTS: u64 = 90_000;
const SERVICE_MS: f64 = 0.8;
const OPEN: Model = Model::Open { process: Process::Constant };

fn spec(model: Model, sessions: u32) -> LoadSpec {
    LoadSpec {
        model,
        phases: parse_phases("90s@1000/s").expect("a phase"),
        operations: vec!["Ping".to_owned()],
        mix: vec![1.0],
        sessions,
        workers: 1,
        requests: Some(REQUESTS),
        timeout: None,
        drain: Nanos::from_secs(100),
        retry: load::Retry::NONE,
        pacing: Pacing::SleepThenSpin,
        cpus: vec![],
        seed: Seed(11),
    }
}

/// Answers when service begins: its times are waits and nothing else.
fn frozen() -> FifoServer {
    let stall = (Nanos::from_secs(30), Nanos::from_secs(31));
    FifoServer::new(Nanos::from_micros(800), vec![stall])
}

/// One tick of the simulated clock is one nanosecond, and its epoch is the load's.
fn sample_of(raw: &RawSample) -> Sample {
    let at = |ticks: Ticks| if ticks.is_some() { Instant(ticks.0) } else { Instant::NONE };
    Sample {
        intended: at(raw.intended),
        ready: at(raw.ready),
        sent: at(raw.sent),
        arrived: Instant::NONE,
        completed: at(raw.completed),
        seq: raw.seq,
        client: 0,
        session: raw.session,
        op: raw.op,
        phase: raw.phase,
        outcome: Outcome::from_code(raw.outcome).expect("an outcome"),
        retries: raw.retries,
        flags: raw.flags,
    }
}

/// Simulates, writes a recording, reads it from disk and analyses it.
fn measured(name: &str, model: Model, sessions: u32, server: FifoServer) -> Analysis {
    let spec = spec(model, sessions);
    let raw = simulate(&spec, &NoOp::new(Mode::Ping), Box::new(server)).expect("a sound load");
    let samples: Vec<Sample> = raw.iter().map(sample_of).collect();

    let scratch = Scratch::new(name);
    let mut header = made::Run::new(spec.model.load_model(), 90).input.info.header;
    header.operations.clone_from(&spec.operations);
    header.load.sessions = sessions;
    header.phases[0].offered = spec.phases[0].rate;
    let mut writer = RecordingWriter::create(&scratch.0, &header).expect("a new directory");
    for part in samples.chunks(20_000) {
        writer.write_samples(part).expect("written");
        writer.close_part().expect("closed");
    }
    writer.finish(EndOfRun::new(Ending::Completed)).expect("finished");
    let recording = Recording::open(&scratch.0).expect("readable");
    analyse(&[recording], &Options::default()).expect("analysed")
}

fn close(found_ns: f64, expected_ms: f64, what: &str) {
    let found = found_ns / 1e6;
    assert!(
        (found / expected_ms - 1.0).abs() < 0.001,
        "{what}: {found} ms, the closed form says {expected_ms}"
    );
}

/// The closed form of a response time's quantile, ms.
fn response(q: f64) -> f64 {
    let longer = ((1.0 - q) * REQUESTS as f64).round();
    SERVICE_MS + (1_000.0 - 0.2 * longer).max(0.0)
}

fn point(summary: &MeasureSummary, q: f64) -> f64 {
    let q = Quantile::new(q).expect("in [0, 1]");
    summary.quantile(q).expect("90,000 samples carry it").point
}

const CHECKED: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

#[test]
fn an_open_loop_measures_the_closed_form() {
    for sessions in [2_000, 4] {
        let found = measured("open", OPEN, sessions, frozen().answer_after_service());
        assert_eq!(found.total.counts.total, REQUESTS);
        let times = found.total.measure(Measure::Response).expect("an open loop has response times");
        for q in CHECKED {
            close(point(times, q), response(q), &format!("quantile {q} with {sessions} sessions"));
        }
        close(times.mean.point, SERVICE_MS + 27.777_8, "mean");
        close(times.max.0 as f64, 1_000.0 + SERVICE_MS, "max");
    }
    // Where the time went: with few sessions it was waiting for one, and no lag of the harness in either.
    let found = measured("anatomy", OPEN, 4, frozen().answer_after_service());
    let row = found.anatomy.rows.iter().find(|r| Some(r.quantile) == Quantile::new(0.99)).expect("carried");
    assert!(row.pool_wait_ns > 0.99 * (row.whole_ns - 4e6) && row.lag_ns == 0.0, "{row:?}");
}

#[test]
fn a_closed_loop_omits_what_its_own_waiting_hid() {
    let found = measured("closed", Model::ThrottledClosed, 4, frozen());
    assert!(found.total.measure(Measure::Response).is_none(), "a closed loop has no response time");
    let times = found.total.measure(Measure::Service).expect("service times");
    // Four requests met the stall; while the four sessions catch up, each waits for the three before it.
    for q in CHECKED {
        assert!(point(times, q) < 3.3e6, "quantile {q}: {}", point(times, q));
    }
    assert!(response(0.99) > 820.0);
    // The waits of N sessions in the mean: N·H·(1 − N/2λH)/((1 − ρ)n).
    let omitted = 4.0 * 1_000.0 * (1.0 - 4.0 / 2_000.0) / (0.2 * REQUESTS as f64);
    let mean_ms = times.mean.point / 1e6;
    assert!((mean_ms / omitted - 1.0).abs() < 0.02, "{mean_ms} ms, the closed form says {omitted}");
    assert!(mean_ms * 100.0 < 27.777_8);
}
