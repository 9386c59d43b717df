//! Writes a made-up recording: `synthetic DIR COUNT` puts COUNT requests of an open load at 50,000/s into DIR.
//!
//! For trying out what reads recordings, at sizes that would take hours to measure. It also shows all that an importer
//! has to do: a header, samples in the order of their client, an end.

use record::{EndOfRun, Ending, HostFacts, LoadFacts, LoadModel, PhaseFacts, PhaseKind, Provenance};
use record::{RecordingWriter, RunHeader, Sample};
use std::process::ExitCode;
use units::{Instant, Outcome, PerSecond, Rng, Seed};

const RATE: f64 = 50_000.0;
const SESSIONS: u16 = 16;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, count] = &arguments[..] else {
        eprintln!("usage: synthetic DIR COUNT");
        return ExitCode::from(2);
    };
    let Ok(count) = count.parse::<u64>() else {
        eprintln!("COUNT `{count}`: must be a whole number");
        return ExitCode::from(2);
    };
    match write(directory, count) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn write(directory: &str, count: u64) -> Result<(), record::RecordError> {
    let mut writer = RecordingWriter::create(directory, &header(count))?;
    let mut rng = Seed(1).derive("synthetic").rng();
    let mut due = 0.0;
    let mut second = Vec::with_capacity(RATE as usize + 1);
    for seq in 0..count {
        due += rng.exponential() * 1e9 / RATE;
        second.push(sample(seq, due as u64, &mut rng));
        if second.len() >= RATE as usize {
            writer.write_samples(&second)?;
            second.clear();
        }
    }
    writer.write_samples(&second)?;
    writer.finish(EndOfRun::new(Ending::Completed)).map(drop)
}

/// A request whose service time is lognormal around 200 µs, with a lag and a pick-up of 1 µs, and now and then a wait
/// for a session.
fn sample(seq: u64, intended: u64, rng: &mut Rng) -> Sample {
    let waits = rng.unit() < 0.02;
    let ready = intended + if waits { (rng.exponential() * 100e3) as u64 } else { 0 };
    let sent = ready + 150 + (rng.exponential() * 300.0) as u64;
    let arrived = sent + (200e3 * (0.5 * rng.normal()).exp()) as u64;
    let completed = arrived + 300 + (rng.exponential() * 700.0) as u64;
    Sample {
        intended: Instant(intended),
        ready: Instant(ready),
        sent: Instant(sent),
        arrived: Instant(arrived),
        completed: Instant(completed),
        seq,
        client: 0,
        session: (rng.below(u64::from(SESSIONS))) as u16,
        op: u8::from(rng.unit() < 0.2),
        phase: 0,
        outcome: if rng.unit() < 0.001 { Outcome::Miss } else { Outcome::Ok },
        retries: 0,
        flags: 0,
    }
}

fn header(count: u64) -> RunHeader {
    let rate = PerSecond::new(RATE);
    let seconds = count as f64 / RATE;
    RunHeader {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: format!("synthetic DIR {count}"),
        client: 0,
        epoch_wall_ns: 1_700_000_000_000_000_000,
        provenance: Provenance::Imported { tool: "synthetic".to_owned() },
        load: LoadFacts {
            model: LoadModel::Open,
            arrivals: "poisson".to_owned(),
            sessions: u32::from(SESSIONS),
            workers: 1,
            timeout: None,
            pacing: "none: made up".to_owned(),
            seed: 1,
        },
        phases: vec![PhaseFacts {
            name: format!("{seconds:.0}s@{RATE:.0}/s"),
            kind: PhaseKind::Measured,
            begin: Instant::EPOCH,
            end: Instant((seconds * 1e9) as u64),
            offered: rate.zip(rate),
            sessions: u32::from(SESSIONS),
            mix: vec![0.8, 0.2],
        }],
        operations: ["read", "update"].map(str::to_owned).to_vec(),
        workload: "made up".to_owned(),
        workload_facts: vec![],
        target: "nothing".to_owned(),
        target_facts: vec![],
        host: HostFacts { name: "nowhere".to_owned(), cpus: 2, ..HostFacts::default() },
        clock_facts: vec![],
        capabilities: vec![],
        config: String::new(),
    }
}
