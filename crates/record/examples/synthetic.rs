//! Writes a made-up recording: `synthetic DIR COUNT` puts COUNT requests of an open load at 50,000/s into DIR.
//!
//! For trying out what reads recordings, at sizes that would take hours to measure. It also shows all that an importer
//! has to do: a header, samples in the order of their client, an end.

#[path = "../tests/fixture/request.rs"]
mod request;

use record::{EndOfRun, Ending, HostFacts, LoadFacts, LoadModel, PhaseFacts, PhaseKind, Provenance};
use record::{RecordingWriter, RunHeader};
use request::{MIX, SESSIONS, request};
use std::process::ExitCode;
use units::{Instant, PerSecond, Seed};

const RATE: f64 = 50_000.0;

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
        second.push(request(seq, due as u64, &mut rng));
        if second.len() >= RATE as usize {
            writer.write_samples(&second)?;
            second.clear();
        }
    }
    writer.write_samples(&second)?;
    writer.finish(EndOfRun::new(Ending::Completed)).map(drop)
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
            sessions: SESSIONS as u32,
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
            sessions: SESSIONS as u32,
            mix: MIX.to_vec(),
        }],
        operations: ["read", "update", "insert", "scan"].map(str::to_owned).to_vec(),
        statements: None,
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
