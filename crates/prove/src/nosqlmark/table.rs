//! The slides' table "The Results": no hiccup, a hiccup, a hiccup as YCSB sees it; and the same closed threads from the
//! intended start and with HdrHistogram's correction, which the slides do not have.
//!
//! The slides give no parameters; these reproduce the hiccup row: λ = 1/ms, n = 30,000, H = 900 ms, a server without limit,
//! and 3.93 ms for everything else.

use super::correction::corrected;
use super::{RATE, response, service, times};
use crate::scenario::{Hiccups, Scenario, Service, Timing};
use crate::simulated;
use load::arrivals::Process;
use load::{Model, SpecError};
use units::{Nanos, PerSecond, Seed};

/// Mean, p90, p99 and maximum, ms; `None`: not known.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FourFigures {
    /// Mean.
    pub mean_ms: Option<f64>,
    /// 0.9-quantile.
    pub p90_ms: Option<f64>,
    /// 0.99-quantile.
    pub p99_ms: Option<f64>,
    /// Largest.
    pub max_ms: Option<f64>,
}

impl FourFigures {
    /// With their names, in the order of the table.
    pub fn named(&self) -> [(&'static str, Option<f64>); 4] {
        [("mean", self.mean_ms), ("p90", self.p90_ms), ("p99", self.p99_ms), ("max", self.max_ms)]
    }

    fn of(mut ns: Vec<f64>) -> FourFigures {
        ns.sort_unstable_by(f64::total_cmp);
        let count = ns.len();
        let at = |per_cent: usize| ns.get((count * per_cent).div_ceil(100).max(1) - 1).map(|ns| ns / 1e6);
        let mean_ms = (count > 0).then(|| ns.iter().sum::<f64>() / count as f64 / 1e6);
        FourFigures { mean_ms, p90_ms: at(90), p99_ms: at(99), max_ms: at(100) }
    }
}

/// One row of it.
#[derive(Clone, PartialEq, Debug)]
pub struct TableRow {
    /// `no hiccup`, `hiccup`, `hiccup as YCSB sees it`, `… from the intended start`, `… corrected by HdrHistogram`.
    pub name: &'static str,
    /// As simulated.
    pub simulated: FourFigures,
    /// As published.
    pub published: FourFigures,
}

const OPERATIONS: u64 = 30_000;
const HICCUP: Nanos = Nanos::from_millis(900);
/// Everything else that an operation takes: with the hiccup, and without.
const BASE: Nanos = Nanos::from_micros(3_930);
const BASE_WITHOUT: Nanos = Nanos::from_micros(920);
/// (4.39 − 3.93)·n/H = 15.3.
const THREADS: u32 = 16;

fn scenario(base: Nanos, hiccup: bool, sessions: u32) -> Scenario {
    let hiccups = Hiccups { first: Nanos::from_secs(10), length: HICCUP, every: None };
    Scenario {
        name: "the results",
        asks: "The slides' table",
        rate: PerSecond::of(RATE, Nanos::from_secs(1)),
        arrivals: Process::Constant,
        sessions,
        duration: Nanos::from_secs(OPERATIONS / RATE),
        timing: Timing {
            capacity: None,
            servers: None,
            service: Service::Constant(Nanos::ZERO),
            hiccups: hiccup.then_some(hiccups),
            delay: base,
        },
        seed: Seed(2017),
    }
}

/// All rows.
pub(super) fn table() -> Result<Vec<TableRow>, SpecError> {
    let open = |base, hiccup| -> Result<FourFigures, SpecError> {
        let run = scenario(base, hiccup, 2_000);
        Ok(FourFigures::of(times(&simulated::samples(&run, &run.load())?, response)))
    };
    let run = scenario(BASE, true, THREADS);
    let ycsb = simulated::samples(&run, &run.load_as(Model::ThrottledClosed))?;
    let plain = times(&ycsb, service);
    let figures = |mean, p90, p99, max| FourFigures { mean_ms: mean, p90_ms: p90, p99_ms: p99, max_ms: max };
    Ok(vec![
        TableRow {
            name: "no hiccup",
            simulated: open(BASE_WITHOUT, false)?,
            published: figures(Some(0.92), None, None, None),
        },
        TableRow {
            name: "hiccup",
            simulated: open(BASE, true)?,
            published: figures(Some(17.43), Some(7.539), Some(603.647), Some(903.679)),
        },
        TableRow {
            name: "hiccup as YCSB sees it",
            simulated: FourFigures::of(plain.clone()),
            published: figures(Some(4.39), Some(4.711), None, None),
        },
        TableRow {
            name: "… from the intended start",
            simulated: FourFigures::of(times(&ycsb, response)),
            published: FourFigures::default(),
        },
        TableRow {
            name: "… corrected by HdrHistogram",
            simulated: FourFigures::of(corrected(&plain, Nanos::from_millis(THREADS.into()))),
            published: FourFigures::default(),
        },
    ])
}
