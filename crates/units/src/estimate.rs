//! A number with its uncertainty.

/// Whether the point of an [`Estimate`] is the value itself or only a limit of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The value itself.
    Exact,
    /// The value is at least this: censored samples (timeouts, unfinished requests) hide the rest.
    AtLeast,
}

/// The one form in which a number leaves the statistics: a point with its interval and what carries it.
///
/// Invariant: `low ≤ point ≤ high` whenever the interval is known.
#[derive(Clone, PartialEq, Debug)]
pub struct Estimate {
    /// The point estimate.
    pub point: f64,
    /// Lower and upper limit of the interval; `None` where no interval can be stated (an exact maximum).
    pub interval: Option<(f64, f64)>,
    /// The interval's nominal coverage, in (0, 1).
    pub level: f64,
    /// Number of observations.
    pub n: u64,
    /// Number of independent observations that carry as much information; ≤ `n`.
    pub n_effective: f64,
    /// Whether the point is exact or a lower bound.
    pub bound: Bound,
    /// How the interval was made, as `docs/statistics.md` names it.
    pub method: &'static str,
}

impl Estimate {
    /// A value that was observed and not estimated, such as a maximum; it has no interval.
    pub fn exact(point: f64, n: u64) -> Estimate {
        Estimate {
            point,
            interval: None,
            level: 1.0,
            n,
            n_effective: n as f64,
            bound: Bound::Exact,
            method: "observed",
        }
    }

    /// The lower limit, or the point where there is no interval.
    pub fn low(&self) -> f64 {
        self.interval.map_or(self.point, |(low, _)| low)
    }

    /// The upper limit, or the point where there is no interval.
    pub fn high(&self) -> f64 {
        self.interval.map_or(self.point, |(_, high)| high)
    }
}
