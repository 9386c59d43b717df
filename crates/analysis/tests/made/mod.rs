//! Recordings made by hand, as scenarios.
#![allow(dead_code, reason = "each test file uses its share")]

use analysis::{Analysis, Input, Options, Reason, ReasonKind, RecordingInfo, analyse_batches};
use record::{
    Ending, HostFacts, LoadFacts, LoadModel, PhaseFacts, PhaseKind, Provenance, RunHeader, Sample,
    SampleBatch,
};
use std::path::PathBuf;
use units::{Instant, Nanos, Outcome, PerSecond};

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000 * MS;

/// One client's run: phases, and samples that its closures make.
#[derive(Clone)]
pub struct Run {
    pub input: Input,
    pub samples: Vec<Sample>,
}

pub fn phase(name: &str, kind: PhaseKind, begin: u64, end: u64, rate: Option<f64>) -> PhaseFacts {
    let rate = rate.and_then(PerSecond::new);
    PhaseFacts {
        name: name.to_owned(),
        kind,
        begin: Instant(begin),
        end: Instant(end),
        offered: rate.map(|r| (r, r)),
        sessions: 1,
        mix: vec![1.0],
    }
}

fn header(model: LoadModel, phases: Vec<PhaseFacts>) -> RunHeader {
    RunHeader {
        tool_version: "0.1.0".to_owned(),
        command: "truetail run".to_owned(),
        client: 0,
        epoch_wall_ns: 1_000 * S,
        provenance: Provenance::Simulated,
        load: LoadFacts {
            model,
            arrivals: "constant".to_owned(),
            sessions: 1,
            workers: 1,
            timeout: None,
            pacing: "simulated".to_owned(),
            seed: 1,
        },
        phases,
        operations: vec!["Read".to_owned(), "Update".to_owned()],
        statements: None,
        workload: "test".to_owned(),
        workload_facts: Vec::new(),
        target: "null:".to_owned(),
        target_facts: Vec::new(),
        host: HostFacts { cpus: 2, name: "a".to_owned(), ..HostFacts::default() },
        clock_facts: Vec::new(),
        capabilities: Vec::new(),
        config: String::new(),
    }
}

impl Run {
    /// A run of one measured phase of `seconds`.
    pub fn new(model: LoadModel, seconds: u64) -> Run {
        let rate = model.has_response_time().then_some(1000.0);
        Run::with_phases(model, vec![phase("measured", PhaseKind::Measured, 0, seconds * S, rate)])
    }

    pub fn with_phases(model: LoadModel, phases: Vec<PhaseFacts>) -> Run {
        let input = Input {
            info: RecordingInfo {
                name: "made".to_owned(),
                header: header(model, phases),
                complete: true,
                unreadable: Vec::new(),
                dropped: 0,
            },
            ending: Some(Ending::Completed),
            unwritable: 0,
            facts: Vec::new(),
            events: Vec::new(),
            repeated: Vec::new(),
            jvm_logs: Vec::new(),
            server_logs: Vec::new(),
            noise_sources: Vec::new(),
            noise: Vec::new(),
            stated: Vec::new(),
        };
        Run { input, samples: Vec::new() }
    }

    /// `count` requests, one each millisecond, as `make` completes them.
    pub fn each_ms(mut self, count: u64, make: impl Fn(u64, Sample) -> Sample) -> Run {
        self.samples.extend((0..count).map(|i| make(i, request(i * MS, i))));
        self
    }

    /// Batches of at most 10,000 samples.
    pub fn batches(&self) -> Vec<SampleBatch> {
        let batch = |samples: &[Sample]| {
            let mut batch = SampleBatch { client: self.input.info.header.client, ..SampleBatch::default() };
            samples.iter().for_each(|s| batch.push(s));
            batch
        };
        self.samples.chunks(10_000).map(batch).collect()
    }

    pub fn analyse(&self) -> Analysis {
        analyse_all(std::slice::from_ref(self)).expect("one run is a run")
    }
}

pub fn analyse_all(runs: &[Run]) -> Result<Analysis, analysis::AnalysisError> {
    let batches: Vec<Vec<SampleBatch>> = runs.iter().map(Run::batches).collect();
    let pairs = batches.iter().enumerate().flat_map(|(i, list)| list.iter().map(move |b| (i, b)));
    analyse_batches(runs.iter().map(|r| r.input.clone()).collect(), pairs, &Options::default())
}

/// A request that is sent when it is intended and done at once.
pub fn request(at: u64, seq: u64) -> Sample {
    Sample {
        intended: Instant(at),
        ready: Instant(at),
        sent: Instant(at),
        arrived: Instant::NONE,
        completed: Instant(at),
        seq,
        client: 0,
        session: 0,
        op: 0,
        phase: 0,
        outcome: Outcome::Ok,
        retries: 0,
        flags: 0,
    }
}

/// The request took this long, all of it service.
pub fn took(sample: Sample, ns: u64) -> Sample {
    Sample { completed: sample.sent + Nanos(ns), ..sample }
}

/// Changes samples for whose number `which` holds.
pub fn changed(mut run: Run, which: impl Fn(u64) -> bool, change: impl Fn(Sample) -> Sample) -> Run {
    for sample in &mut run.samples {
        if which(sample.seq) {
            *sample = change(*sample);
        }
    }
    run
}

/// The reason of this kind, if there is one.
pub fn reason(analysis: &Analysis, kind: ReasonKind) -> Option<&Reason> {
    analysis.verdict.reasons.iter().find(|r| r.kind == kind)
}

/// A directory of this test's own, removed at its end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("truetail-analysis-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        Scratch(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
