//! Truetail's own figures against the truth, with stated limits.

use crate::truth::Truth;
use crate::{Figures, Statistic};
use analysis::ScopeSummary;
use record::Measure;
use units::Nanos;

/// Largest error on the simulated clock, as a share of the true value. The histograms behind the quantiles are 2⁻¹² wide
/// (0.024 %); the rest is room for rounding to nanoseconds.
pub const SIMULATED_SHARE: f64 = 0.001;
/// Largest error of a live mean or quantile, as a share of the true value …
pub const LIVE_SHARE: f64 = 0.02;
/// … or as a time, whichever is more.
pub const LIVE_TIME: Nanos = Nanos::from_micros(300);
/// Largest error of a live maximum, besides what the host itself stood still.
pub const LIVE_MAX: Nanos = Nanos::from_micros(500);

/// What errors are allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limits {
    /// On the simulated clock: [`SIMULATED_SHARE`] of each figure.
    Simulated,
    /// Over the network: mean and quantiles within [`LIVE_SHARE`] or [`LIVE_TIME`], the maximum within [`LIVE_MAX`] and
    /// the longest stall of the measuring host that was recorded during the run.
    Live {
        /// That stall.
        host_hiccup: Nanos,
    },
}

impl Limits {
    /// The largest error allowed of a figure whose true value is `truth`, ns; infinite where there is no limit: a live
    /// service time has the network's way there and back in it, which the store's truth has not.
    pub fn largest_error(self, measure: Measure, statistic: Statistic, truth: f64) -> f64 {
        match self {
            Limits::Simulated => SIMULATED_SHARE * truth,
            Limits::Live { .. } if measure == Measure::Service => f64::INFINITY,
            Limits::Live { host_hiccup } if statistic == Statistic::Max => (LIVE_MAX + host_hiccup).0 as f64,
            Limits::Live { .. } => (LIVE_SHARE * truth).max(LIVE_TIME.0 as f64),
        }
    }
}

/// One figure, graded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Row {
    /// Response or service time.
    pub measure: Measure,
    /// Which figure of it.
    pub statistic: Statistic,
    /// Its true value, ns.
    pub truth: f64,
    /// What was measured, ns; `None`: nothing was.
    pub measured: Option<f64>,
    /// The largest error allowed, ns; infinite: any.
    pub limit: f64,
}

impl Row {
    /// measured − true, ns.
    pub fn error(&self) -> Option<f64> {
        Some(self.measured? - self.truth)
    }

    /// The error as a share of the true value; `None` where that is 0.
    pub fn share(&self) -> Option<f64> {
        let share = self.error()? / self.truth;
        share.is_finite().then_some(share)
    }

    /// Whether it was measured, and within its limit.
    pub fn passed(&self) -> bool {
        self.error().is_some_and(|error| error.abs() <= self.limit)
    }
}

/// All rows of one run.
#[derive(Clone, PartialEq, Debug)]
pub struct Grade {
    /// Response time first.
    pub rows: Vec<Row>,
    /// Requests that there were to measure.
    pub requests: u64,
    /// Requests that were measured.
    pub measured: u64,
}

impl Grade {
    /// Compares what was measured with the truth.
    pub fn new(truth: &Truth, response: &Figures, service: &Figures, limits: Limits) -> Grade {
        let of = |measure, truth: &Figures, measured: &Figures| {
            let row = |statistic| {
                let truth = truth.get(statistic)?;
                let limit = limits.largest_error(measure, statistic, truth);
                Some(Row { measure, statistic, truth, measured: measured.get(statistic), limit })
            };
            Statistic::ALL.into_iter().filter_map(row).collect::<Vec<Row>>()
        };
        let mut rows = of(Measure::Response, &truth.response, response);
        rows.extend(of(Measure::Service, &truth.service, service));
        Grade { rows, requests: truth.response.count, measured: response.count }
    }

    /// With how late requests were sent on average, ns. A request that is sent late is answered late, in truth as well:
    /// of all rows this alone shows a harness that is slow to send.
    #[must_use]
    pub fn with_lag(mut self, mean: f64) -> Grade {
        let (measure, statistic) = (Measure::Lag, Statistic::Mean);
        let limit = LIVE_TIME.0 as f64;
        self.rows.push(Row { measure, statistic, truth: 0.0, measured: Some(mean), limit });
        self
    }

    /// Whether every request was measured and every figure is within its limit.
    pub fn passed(&self) -> bool {
        !self.rows.is_empty() && self.measured == self.requests && self.rows.iter().all(Row::passed)
    }

    /// What broke a limit.
    pub fn broken(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.passed())
    }
}

/// The figures of one time as an analysis states them: those that truetail prints. All absent where the load has no such
/// time.
pub fn stated(scope: &ScopeSummary, measure: Measure) -> Figures {
    let Some(summary) = scope.measure(measure) else { return Figures::default() };
    let mut figures = Figures::counted(summary.n);
    for statistic in Statistic::ALL {
        let value = match statistic {
            Statistic::Mean => Some(summary.mean.point),
            Statistic::Max => Some(summary.max.0 as f64),
            _ => statistic.quantile().and_then(|q| summary.quantile(q)).map(|estimate| estimate.point),
        };
        if let Some(value) = value {
            figures = figures.with(statistic, value);
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth() -> Truth {
        let figures = Figures::from_ranks(1000, 10e6, |rank| rank as f64 * 20e3);
        Truth { response: figures, service: figures }
    }

    #[test]
    fn a_harness_that_sends_late_does_not_pass() {
        let truth = truth();
        let limits = Limits::Live { host_hiccup: Nanos::ZERO };
        let grade = || Grade::new(&truth, &truth.response, &truth.service, limits);
        assert!(grade().with_lag(0.29e6).passed());
        let late = grade().with_lag(5e6);
        assert!(!late.passed());
        assert_eq!(late.broken().map(|row| row.measure).collect::<Vec<_>>(), [Measure::Lag]);
    }

    #[test]
    fn limits_are_those_that_are_stated() {
        let truth = truth();
        let grade = |change: f64, limits| {
            let off = truth.response.merged(&truth.response, |value, _| value + change);
            Grade::new(&truth, &off, &off, limits)
        };
        assert!(grade(0.0, Limits::Simulated).passed());
        // The least true value is the mean's and the median's 10 ms: 0.1 % of it is 10 µs.
        assert!(grade(9_999.0, Limits::Simulated).passed());
        let broken = grade(10_001.0, Limits::Simulated);
        assert_eq!(broken.broken().count(), 4, "mean and median, of both times");
        let live = Limits::Live { host_hiccup: Nanos::ZERO };
        assert!(grade(-299_999.0, live).passed());
        // Live, response times alone have limits: mean and median.
        assert_eq!(grade(300_001.0, live).broken().count(), 2);
        // 2 % of 19.98 ms are 399.6 µs; the maximum may be 500 µs off.
        assert_eq!(grade(399_700.0, live).broken().count(), 5);
        assert_eq!(grade(500_001.0, live).broken().count(), 6);
        assert!(
            grade(500_001.0, live).rows.iter().all(|row| row.measure == Measure::Response || row.passed())
        );
        let host = Limits::Live { host_hiccup: Nanos::from_millis(1) };
        assert!(grade(1_499_999.0, host).broken().all(|row| row.statistic != Statistic::Max));
    }

    #[test]
    fn what_is_missing_does_not_pass() {
        let truth = truth();
        let missing = truth.response.without(Statistic::P999);
        let grade = Grade::new(&truth, &missing, &truth.service, Limits::Simulated);
        assert_eq!(grade.broken().map(|row| row.statistic).collect::<Vec<_>>(), [Statistic::P999]);
        let mut fewer = truth.response;
        fewer.count = 999;
        let grade = Grade::new(&truth, &fewer, &truth.service, Limits::Simulated);
        assert!(!grade.passed() && grade.broken().count() == 0, "a dropped request fails by itself");
        let none = Grade::new(&truth, &Figures::default(), &Figures::default(), Limits::Simulated);
        assert_eq!(none.broken().count(), 12);
    }
}
