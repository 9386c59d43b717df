//! Cells of an experiment that never was: recordings on disk, of harnesses whose pauses are known.
#![allow(dead_code, reason = "each test file uses its share")]

use analysis::tell_tale::{Cell, Round, Rounds};
use record::{
    EndOfRun, Ending, Event, EventKind, HostFacts, JvmLogFacts, LoadFacts, LoadModel, PauseReach, PhaseFacts,
    PhaseKind, Provenance, RecordingWriter, RunHeader, Sample,
};
use std::path::{Path, PathBuf};
use units::{Instant, Nanos, Outcome, PerSecond, Rng, Seed, format_nanos};

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000 * US;
pub const S: u64 = 1_000 * MS;

/// Warm-up before the measured time: its requests are ten times as slow, and count nowhere.
const WARM_UP: u64 = S;

/// Where a request lies that is as long as a pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// It begins and ends with the pause.
    Within,
    /// It ends where the pause begins.
    Before,
    /// It begins where the pause ends.
    After,
}

/// What a harness does to the times that it reports.
#[derive(Clone, Debug)]
pub struct Planted {
    pub seed: u64,
    pub rounds: usize,
    /// Measured time, s.
    pub seconds: u64,
    pub rate: f64,
    /// Pauses of the JVM in each round, and their length, ns; time to safepoint is a fifth of it.
    pub pauses: u64,
    pub pause: u64,
    /// Pauses are written to the log and concern no request.
    pub harmless: bool,
    /// Stalls of single threads: they concern one request each.
    pub stalls: u64,
    /// All times are so many times as long.
    pub slower: f64,
    /// By how much rounds differ from each other, as a standard deviation of the logarithm.
    pub between_rounds: f64,
    /// Ends are rounded down to this, ns, as YCSB does it; lengths are exact.
    pub resolution: u64,
    /// The log leads nowhere.
    pub broken_log: bool,
    /// The logs of the first so many rounds lead nowhere.
    pub broken_rounds: usize,
    /// Pauses concern no request but one each, which is as long as it and lies there.
    pub one_at: Option<Place>,
    /// The first so many rounds fail at their end, and all of their times are ten times as long.
    pub failed_rounds: usize,
    /// What is due in the last tenth of the time is answered when the time is over.
    pub falls_behind: bool,
}

impl Planted {
    pub fn new(seed: u64) -> Planted {
        Planted {
            seed,
            rounds: 3,
            seconds: 6,
            rate: 2_500.0,
            pauses: 0,
            pause: 0,
            harmless: false,
            stalls: 0,
            slower: 1.0,
            between_rounds: 0.02,
            resolution: 1,
            broken_log: false,
            broken_rounds: 0,
            one_at: None,
            failed_rounds: 0,
            falls_behind: false,
        }
    }

    /// The same with pauses.
    pub fn pausing(seed: u64, pauses: u64, pause: u64) -> Planted {
        Planted { pauses, pause, ..Planted::new(seed) }
    }
}

pub fn cell(harness: &str, load: LoadModel, jvm_log: Option<bool>) -> Cell {
    Cell {
        workload: "YCSB".to_owned(),
        target: "no-op store".to_owned(),
        harness: harness.to_owned(),
        load,
        jvm_log,
    }
}

/// Writes a cell's rounds below `directory`.
pub fn planted(directory: &Path, cell: Cell, planted: &Planted) -> (Cell, Rounds) {
    let name = |text: &str| text.to_ascii_lowercase().replace([' ', ','], "-");
    let log = cell.jvm_log.map_or("", |log| if log { "-log" } else { "-no-log" });
    let (workload, target, harness) = (name(&cell.workload), name(&cell.target), name(&cell.harness));
    let stem = format!("{workload}-{target}-{}-{harness}{log}", name(cell.load.name()));
    let rounds = (0..planted.rounds).map(|round| {
        let path = directory.join(format!("{stem}-{}", round + 1));
        write(&path, &cell, planted, round);
        Round { number: round + 1, recording: Ok(path) }
    });
    (cell.clone(), Rounds::Ran(rounds.collect()))
}

fn write(path: &PathBuf, cell: &Cell, planted: &Planted, round: usize) {
    let mut rng = Seed(planted.seed).derive(&format!("round {round}")).rng();
    let mut writer =
        RecordingWriter::create(path, &header(cell, planted)).expect("the scratch directory takes it");
    let pauses = pauses(planted, &mut rng);
    let is_harmless = planted.harmless || planted.one_at.is_some();
    let delaying: &[(u64, u64)] = if is_harmless { &[] } else { &pauses };
    let fails = round < planted.failed_rounds;
    let by_failing = if fails { 10.0 } else { 1.0 };
    let factor = by_failing * planted.slower * (planted.between_rounds * rng.normal()).exp();
    let mut samples = match cell.load.has_response_time() {
        true => open(planted, delaying, factor, &mut rng),
        false => closed(planted, delaying, factor, &mut rng),
    };
    let stalls = plant_stalls(planted, &mut samples, &mut rng);
    pauses.iter().for_each(|pause| plant_one(planted, *pause, &mut samples));
    fall_behind(planted, &mut samples);
    round_off(planted, &mut samples);
    samples
        .chunks(10_000)
        .for_each(|chunk| writer.write_samples(chunk).expect("the scratch directory takes it"));
    let mut end = EndOfRun::new(match fails {
        true => Ending::Failed("the made disk is full".to_owned()),
        false => Ending::Completed,
    });
    if cell.jvm_log == Some(true) {
        let stop = |(begin, finish): &(u64, u64), reach: PauseReach, what: &str| Event {
            kind: EventKind::JvmPause,
            begin: Instant(*begin),
            end: Instant(*finish),
            subject: "harness JVM".to_owned(),
            detail: detail(reach, what, finish - begin),
        };
        let is_broken = planted.broken_log || round < planted.broken_rounds;
        if !is_broken {
            pauses
                .iter()
                .for_each(|pause| writer.event(stop(pause, PauseReach::WholeVm, "G1CollectForAllocation")));
            stalls
                .iter()
                .for_each(|stall| writer.event(stop(stall, PauseReach::OneThread, "Allocation Stall")));
        }
        let trouble = is_broken.then(|| "no clock leads from gc.log to the run".to_owned());
        let subject = "harness JVM".to_owned();
        end.jvm_logs =
            vec![JvmLogFacts { subject, file: "gc.log".to_owned(), trouble, ..JvmLogFacts::default() }];
    }
    writer.finish(end).expect("the scratch directory takes it");
}

fn detail(reach: PauseReach, what: &str, length: u64) -> String {
    let total = format_nanos(Nanos(length));
    let stopping = format_nanos(Nanos(length / 5));
    match reach {
        PauseReach::WholeVm => {
            format!("{}{what}: time to safepoint {stopping}, total {total}", reach.prefix())
        }
        _ => format!("{}{what}: total {total}", reach.prefix()),
    }
}

/// Apart from each other, each in its own part of the measured time.
fn pauses(planted: &Planted, rng: &mut Rng) -> Vec<(u64, u64)> {
    let each = planted.seconds * S / planted.pauses.max(1);
    let pause = |index: u64| {
        let length = (planted.pause as f64 * (0.1 * rng.normal()).exp()) as u64;
        let begin = WARM_UP + index * each + rng.below(each.saturating_sub(length).max(1));
        (begin, begin + length)
    };
    (0..planted.pauses).map(pause).collect()
}

/// A database's time: log-normal around 100 µs, and 4 of 1,000 are longer by some hundred µs.
fn service(rng: &mut Rng, factor: f64) -> u64 {
    let usual = 100e3 * (0.3 * rng.normal()).exp();
    let bump = if rng.unit() < 0.004 { 250e3 + 250e3 * rng.exponential().min(3.0) } else { 0.0 };
    (factor * (usual + bump)) as u64
}

/// What begins or ends in a pause goes on when it is over.
fn delayed(at: u64, service: u64, pauses: &[(u64, u64)]) -> u64 {
    let met = pauses.iter().find(|(begin, end)| at < *end && *begin < at + service);
    met.map_or(service, |(_, end)| end - at + service)
}

fn open(planted: &Planted, pauses: &[(u64, u64)], factor: f64, rng: &mut Rng) -> Vec<Sample> {
    let end = WARM_UP + planted.seconds * S;
    let mut due = 0.0;
    let mut samples = Vec::new();
    loop {
        due += rng.exponential() * 1e9 / planted.rate;
        let at = due as u64;
        if at >= end {
            return samples;
        }
        let took = delayed(at, service(rng, factor), pauses);
        samples.push(sample(samples.len() as u64, at, took, rng));
    }
}

fn closed(planted: &Planted, pauses: &[(u64, u64)], factor: f64, rng: &mut Rng) -> Vec<Sample> {
    const SESSIONS: usize = 4;
    let end = WARM_UP + planted.seconds * S;
    let mut free = [0u64; SESSIONS];
    let mut samples = Vec::new();
    loop {
        let session = (0..SESSIONS).min_by_key(|session| free[*session]).unwrap_or(0);
        // A pause that has begun lets nobody send.
        let at = free[session];
        if at >= end {
            return samples;
        }
        let took = delayed(at, service(rng, factor), pauses);
        samples.push(Sample {
            intended: Instant::NONE,
            ready: Instant::NONE,
            ..sample(samples.len() as u64, at, took, rng)
        });
        free[session] = at + took + 500 * US;
    }
}

fn sample(seq: u64, at: u64, took: u64, rng: &mut Rng) -> Sample {
    let is_measured = at >= WARM_UP;
    let took = if is_measured { took } else { 10 * took };
    Sample {
        intended: Instant(at),
        ready: Instant(at),
        sent: Instant(at),
        arrived: Instant::NONE,
        completed: Instant(at + took),
        seq,
        client: 0,
        session: 0,
        op: u8::from(rng.unit() < 0.3),
        phase: u8::from(is_measured),
        outcome: Outcome::Ok,
        retries: 0,
        flags: 0,
    }
}

/// One request of each stall takes as long as it.
fn plant_stalls(planted: &Planted, samples: &mut [Sample], rng: &mut Rng) -> Vec<(u64, u64)> {
    let mut stalls = Vec::new();
    for _ in 0..planted.stalls {
        let index = rng.below(samples.len() as u64) as usize;
        let sample = &mut samples[index];
        if sample.phase == 1 {
            let begin = sample.sent.0;
            let length = 8 * MS + rng.below(8 * MS);
            sample.completed = Instant(begin + length);
            stalls.push((begin, begin + length));
        }
    }
    stalls.sort_unstable();
    stalls
}

/// One request as long as the pause.
fn plant_one(planted: &Planted, (begin, end): (u64, u64), samples: &mut [Sample]) {
    let length = end - begin;
    let at = match planted.one_at {
        None => return,
        Some(Place::Within) => begin,
        Some(Place::Before) => begin - length,
        Some(Place::After) => end,
    };
    let next = samples.partition_point(|sample| sample.sent.0 < at);
    if let Some(sample) = samples.get_mut(next) {
        (sample.intended, sample.ready, sample.sent) = (Instant(at), Instant(at), Instant(at));
        sample.completed = Instant(at + length);
    }
}

fn fall_behind(planted: &Planted, samples: &mut [Sample]) {
    let end = WARM_UP + planted.seconds * S;
    let from = end - planted.seconds * S / 10;
    for sample in samples.iter_mut().filter(|sample| planted.falls_behind && sample.sent.0 >= from) {
        sample.completed = sample.completed.max(Instant(end + MS));
    }
}

fn round_off(planted: &Planted, samples: &mut [Sample]) {
    for sample in samples {
        let over = sample.completed.0 % planted.resolution;
        for at in [&mut sample.intended, &mut sample.ready, &mut sample.sent, &mut sample.completed] {
            if at.is_some() {
                at.0 = at.0.saturating_sub(over);
            }
        }
    }
}

fn header(cell: &Cell, planted: &Planted) -> RunHeader {
    let rate = PerSecond::new(planted.rate).filter(|_| cell.load.has_response_time());
    let phase = |name: &str, kind, begin, end| PhaseFacts {
        name: name.to_owned(),
        kind,
        begin: Instant(begin),
        end: Instant(end),
        offered: rate.map(|rate| (rate, rate)),
        sessions: 4,
        mix: vec![0.7, 0.3],
    };
    let end = WARM_UP + planted.seconds * S;
    let provenance = match cell.collector() {
        Some(_) => Provenance::Imported { tool: cell.tool().to_owned() },
        None => Provenance::Simulated,
    };
    RunHeader {
        tool_version: "0.1.0".to_owned(),
        command: "made".to_owned(),
        client: 0,
        epoch_wall_ns: 1_750_000_000 * S,
        provenance,
        load: LoadFacts {
            model: cell.load,
            arrivals: "poisson".to_owned(),
            sessions: 4,
            workers: 1,
            timeout: None,
            pacing: "none: made".to_owned(),
            seed: planted.seed,
        },
        phases: vec![
            phase("warm-up", PhaseKind::WarmUp, 0, WARM_UP),
            phase("measured", PhaseKind::Measured, WARM_UP, end),
        ],
        operations: vec!["Read".to_owned(), "Update".to_owned()],
        statements: None,
        workload: cell.workload.clone(),
        workload_facts: Vec::new(),
        target: cell.target.clone(),
        target_facts: Vec::new(),
        host: HostFacts { cpus: 2, name: "nowhere".to_owned(), ..HostFacts::default() },
        clock_facts: vec![(
            analysis::facts::MOMENTS_TOLD_TO.to_owned(),
            format!("{} ns", planted.resolution),
        )],
        capabilities: Vec::new(),
        config: String::new(),
    }
}
