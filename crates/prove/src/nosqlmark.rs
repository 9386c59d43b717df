//! The experiment of Friedrich, Wingerath & Ritter (*Coordinated Omission in NoSQL Database Benchmarking*, BTW 2017), on
//! the simulated clock.
//!
//! 90,000 operations at λ = 1,000/s against a store that stands still for 1 s at 30 s, at several capacities μ. Each is
//! measured in the ways of the paper: by an open load; by a closed one of N threads that each keep a schedule as well as
//! they can (YCSB's `target`), as plain service times and from the intended start; and with HdrHistogram's correction of
//! the plain ones.
//!
//! # Closed forms
//!
//! With ρ = λ/μ and n operations, in a fluid (operations without size):
//!
//! - The backlog rises to λH during the stall and falls with μ − λ afterwards; it is gone H/(1 − ρ) after the stall began.
//!   By Little's law the mean wait is the area below it over n: **open: λH²/(2n(1 − ρ))**.
//! - N closed threads hold no more than N operations in the store: the backlog is cut off at N, and what is above is in the
//!   clients, where plain service times don't see it. The area of the trapezoid gives **plain: N·H·(1 − N/(2λH))/((1 − ρ)n)**
//!   for N ≤ λH; more threads than λH cut nothing off.
//! - From the intended start nothing is cut off either: **intended = open**, for every N, as long as the client can catch
//!   up as fast as the store, at μ.

mod correction;
mod published;
mod table;

pub use correction::corrected;
pub use published::{PUBLISHED, Published, remarks};
pub use table::{FourFigures, TableRow};

use crate::scenario::{Hiccups, Scenario, Service, Timing};
use crate::truth::Exact;
use crate::{Figures, Statistic, Timeline, simulated, truth};
use load::arrivals::Process;
use load::{Model, SpecError};
use record::RawSample;
use units::{Nanos, PerSecond, Seed};

/// What to run.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Capacities μ, per second, above the rate of 1,000/s.
    pub capacities: Vec<f64>,
    /// Counts of client threads N, in 1..=65,000.
    pub threads: Vec<u32>,
}

/// The paper's capacities: 95, 90, 80, 75, 70, 60, 50 and 10 % load.
pub const CAPACITIES: [f64; 8] = [1053.0, 1111.0, 1250.0, 1333.3, 1430.0, 1666.0, 2000.0, 10_000.0];
/// Thread counts.
pub const THREADS: [u32; 9] = [1, 4, 16, 64, 100, 128, 256, 512, 1000];
/// λ, per second.
pub const RATE: u64 = 1_000;
/// n.
pub const OPERATIONS: u64 = 90_000;
/// H.
pub const HICCUP: Nanos = Nanos::from_secs(1);
/// When the stall begins.
pub const HICCUP_AT: Nanos = Nanos::from_secs(30);
/// The capacity and the threads of the figure over time, where they are among those that are run.
pub const SHOWN: (f64, u32) = (1250.0, 64);

impl Default for Options {
    fn default() -> Options {
        Options { capacities: CAPACITIES.to_vec(), threads: THREADS.to_vec() }
    }
}

/// N closed threads at one capacity, ns.
#[derive(Clone, PartialEq, Debug)]
pub struct ClosedRow {
    /// N.
    pub threads: u32,
    /// Service times, as a closed loop reports them.
    pub plain: Figures,
    /// The closed form of their mean, of the fluid: 5 % off where the threads catch up in a few steps.
    pub plain_form: f64,
    /// Means of the service and the response times by the recursion, ns: exact, request by request.
    pub recursion: [f64; 2],
    /// The same operations from the intended start.
    pub intended: Figures,
    /// HdrHistogram's correction of the plain ones with the interval at which a thread operates: N ms.
    pub corrected: Figures,
    /// The same with 1 ms, as if one thread made all of the load.
    pub corrected_1ms: Figures,
}

/// One capacity.
#[derive(Clone, PartialEq, Debug)]
pub struct CapacityRow {
    /// μ, per second.
    pub capacity: f64,
    /// The open load, ns.
    pub open: Figures,
    /// Its mean in closed form (of the fluid), ns.
    pub open_form: f64,
    /// Share of the operations that were delayed.
    pub delayed: f64,
    /// That share in closed form.
    pub delayed_form: f64,
    /// For each count of threads.
    pub closed: Vec<ClosedRow>,
}

/// A statement that the experiment must bear out.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// The statement.
    pub says: String,
    /// The worst that was found, as a share.
    pub found: f64,
    /// What is allowed, as a share.
    pub limit: f64,
    /// Whether it holds.
    pub passed: bool,
}

/// All that came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct NosqlmarkResult {
    /// One for each capacity.
    pub rows: Vec<CapacityRow>,
    /// The slides' table "The Results".
    pub table: Vec<TableRow>,
    /// What must hold.
    pub checks: Vec<Check>,
    /// The open load and the closed threads of [`SHOWN`] over time; empty where those were not run.
    pub timelines: Vec<(String, Timeline)>,
}

/// Runs the experiment: (1 + thread counts) × capacities × 90,000 operations, ≈ 0.1 s each 90,000.
///
/// # Errors
/// When a count of threads is not in 1..=65,000, or a capacity not above the rate.
pub fn run(options: &Options) -> Result<NosqlmarkResult, SpecError> {
    let mut timelines = Vec::new();
    let mut rows = Vec::new();
    for &capacity in &options.capacities {
        rows.push(capacity_row(capacity, &options.threads, &mut timelines)?);
    }
    let checks = checks(&rows);
    Ok(NosqlmarkResult { rows, table: table::table()?, checks, timelines })
}

/// The mean of an open load, ns: λH²/(2n(1 − ρ)).
pub fn open_mean(capacity: f64) -> f64 {
    let (rate, hiccup) = (RATE as f64, HICCUP.as_secs_f64());
    1e9 * rate * hiccup * hiccup / (2.0 * OPERATIONS as f64 * (1.0 - rate / capacity))
}

/// The mean of N closed threads' service times, ns: N·H·(1 − N/(2λH))/((1 − ρ)n).
pub fn plain_mean(capacity: f64, threads: u32) -> f64 {
    let (rate, hiccup) = (RATE as f64, HICCUP.as_secs_f64());
    let threads = f64::from(threads).min(rate * hiccup);
    let cut_off = 1.0 - threads / (2.0 * rate * hiccup);
    1e9 * threads * hiccup * cut_off / ((1.0 - rate / capacity) * OPERATIONS as f64)
}

/// The paper's set-up at one capacity.
fn scenario(capacity: f64, sessions: u32) -> Result<Scenario, SpecError> {
    let sound = PerSecond::new(capacity).filter(|c| c.get() > RATE as f64);
    let capacity = sound.ok_or_else(|| {
        SpecError(format!(
            "capacity {capacity}/s: must be above the rate of {RATE}/s, or the queue never drains"
        ))
    })?;
    Ok(Scenario {
        name: "nosqlmark",
        asks: "One hiccup of 1 s at 30 s, as in the paper",
        rate: PerSecond::of(RATE, Nanos::from_secs(1)),
        arrivals: Process::Constant,
        sessions,
        duration: Nanos::from_secs(OPERATIONS / RATE),
        timing: Timing {
            capacity: Some(capacity),
            servers: None,
            service: Service::Constant(Nanos::ZERO),
            hiccups: Some(Hiccups { first: HICCUP_AT, length: HICCUP, every: None }),
            delay: Nanos::ZERO,
        },
        seed: Seed(2017),
    })
}

fn capacity_row(
    capacity: f64,
    threads: &[u32],
    timelines: &mut Vec<(String, Timeline)>,
) -> Result<CapacityRow, SpecError> {
    // As many sessions as ever wait: an open load has no threads to run out of.
    let open = scenario(capacity, 2_000)?;
    let samples = simulated::samples(&open, &open.load())?;
    let responses = times(&samples, response);
    let delayed = responses.iter().filter(|ns| **ns > 0.0).count() as f64 / responses.len() as f64;
    if capacity == SHOWN.0 {
        timelines.push(("open load".to_owned(), Timeline::new(&open, &samples)));
    }
    let mut closed = Vec::new();
    for &threads in threads {
        let run = scenario(capacity, threads)?;
        let samples = simulated::samples(&run, &run.load_as(Model::ThrottledClosed))?;
        if (capacity, threads) == SHOWN {
            timelines.push((format!("{threads} closed threads"), Timeline::new(&run, &samples)));
        }
        closed.push(closed_row(&run, capacity, &samples));
    }
    let hiccup = RATE as f64 * HICCUP.as_secs_f64();
    Ok(CapacityRow {
        capacity,
        open: figures(responses),
        open_form: open_mean(capacity),
        delayed,
        delayed_form: hiccup / ((1.0 - RATE as f64 / capacity) * OPERATIONS as f64),
        closed,
    })
}

fn closed_row(run: &Scenario, capacity: f64, samples: &[RawSample]) -> ClosedRow {
    let threads = run.sessions;
    let exact = truth::recursion(run);
    let recursion = [Exact::service, Exact::response].map(|time| mean(&truth::figures_of(&exact, time)));
    let plain = times(samples, service);
    let correct = |interval: Nanos| Figures::of(&mut corrected(&plain, interval));
    let corrected = correct(Nanos::from_millis(u64::from(threads)));
    let corrected_1ms = correct(Nanos::from_millis(1));
    ClosedRow {
        threads,
        plain_form: plain_mean(capacity, threads),
        recursion,
        intended: figures(times(samples, response)),
        corrected,
        corrected_1ms,
        plain: figures(plain),
    }
}

fn response(sample: &RawSample) -> f64 {
    sample.completed.0.saturating_sub(sample.intended.0) as f64
}

fn service(sample: &RawSample) -> f64 {
    sample.completed.0.saturating_sub(sample.sent.0) as f64
}

fn times(samples: &[RawSample], time: fn(&RawSample) -> f64) -> Vec<f64> {
    samples.iter().map(time).collect()
}

fn figures(mut times: Vec<f64>) -> Figures {
    Figures::of(&mut times)
}

fn mean(figures: &Figures) -> f64 {
    figures.get(Statistic::Mean).unwrap_or(f64::NAN)
}

/// The most threads, and the least load, for which the correction is held to fall short. With many threads most of the queue
/// is in the store, where plain service times see it; at little load there is hardly a queue besides the stall, which is
/// what the correction restores.
const FEW_THREADS: u32 = 100;
const HIGH_LOAD: f64 = 0.6;

fn checks(rows: &[CapacityRow]) -> Vec<Check> {
    let off = |found: f64, expected: f64| (found / expected - 1.0).abs();
    let closed = || rows.iter().flat_map(|row| row.closed.iter().map(move |closed| (row, closed)));
    let is_loaded = |row: &CapacityRow| RATE as f64 / row.capacity >= HIGH_LOAD;
    let few = || closed().filter(move |(row, c)| c.threads <= FEW_THREADS && is_loaded(row));
    let share = |statistic: Statistic| {
        few().map(move |(row, c)| {
            let of = |figures: &Figures| figures.get(statistic).unwrap_or(f64::NAN);
            of(&c.corrected) / of(&row.open)
        })
    };
    let open_forms = rows.iter().map(|row| {
        let form = scenario(row.capacity, 2_000).ok().and_then(|s| truth::closed_form(&s));
        form.map_or(f64::NAN, |form| off(mean(&row.open), mean(&form)))
    });
    vec![
        check("the open mean is the closed form (the series, summed)", open_forms, 0.001),
        check(
            "the open mean is that of the fluid",
            rows.iter().map(|r| off(mean(&r.open), r.open_form)),
            0.02,
        ),
        check(
            "the plain mean is that of the fluid",
            closed().map(|(_, c)| off(mean(&c.plain), c.plain_form)),
            0.05,
        ),
        check("intended = open", closed().map(|(r, c)| off(mean(&c.intended), mean(&r.open))), 0.02),
        check(
            "plain and intended means are those of the recursion, request by request",
            closed().flat_map(|(_, c)| {
                let [plain, intended] = c.recursion;
                [off(mean(&c.plain), plain), off(mean(&c.intended), intended)]
            }),
            0.001,
        ),
        check(
            "corrected means fall short of the truth (up to 100 threads, 60 % load and more)",
            share(Statistic::Mean),
            0.6,
        ),
        check("corrected p99 fall short of the truth (the same)", share(Statistic::P99), 0.6),
    ]
}

fn check(says: &str, found: impl Iterator<Item = f64>, limit: f64) -> Check {
    let found = found.fold(0.0, |worst: f64, next| if next.is_nan() { next } else { worst.max(next) });
    Check { says: says.to_owned(), found, limit, passed: found <= limit }
}
