//! What a tool said, in one shape for all tools.

use units::{Nanos, PerSecond, Quantile};

pub use record::{StatedFrom, StatedRounding};

/// What a tool says of one operation, or of all together.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reported {
    /// The operation's name as the tool prints it; empty for all operations together.
    pub operation: String,
    /// The tool's own name for what it measured, such as `Intended-READ` or `latency`.
    pub measure: String,
    /// From when the figures count.
    pub counted_from: StatedFrom,
    /// The interval that the figures are of, ns since 1970 or since the log began; `None` for the whole run.
    pub interval: Option<(u64, u64)>,
    /// How many were measured.
    pub count: Option<u64>,
    /// Mean.
    pub mean: Option<Nanos>,
    /// Smallest.
    pub min: Option<Nanos>,
    /// Largest.
    pub max: Option<Nanos>,
    /// Quantiles that the tool printed, ascending.
    pub quantiles: Vec<(Quantile, Nanos)>,
    /// Where the tool gives counts: a value, and how many requests took at most that long; ascending in both.
    pub cumulative: Vec<(Nanos, u64)>,
    /// The finest step that the printed figures can show.
    pub resolution: Option<Nanos>,
    /// Width of the tool's buckets relative to the value, where it counts in buckets; above 0.
    pub relative_resolution: Option<f64>,
    /// How the printed quantiles, mean and extremes were rounded to that step.
    pub rounding: StatedRounding,
    /// Whether they are of failures, or of something else than requests, by the tool's own name for them.
    pub is_apart: bool,
    /// How requests ended, in the tool's words, and how many of each.
    pub returns: Vec<(String, u64)>,
    /// Single requests, where the tool logs them, in the order of the log.
    pub samples: Vec<ForeignSample>,
}

/// One request as a foreign tool logged it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForeignSample {
    /// Wall time at which it ended, ns since 1970; `None` where the log has no times.
    pub completed_wall_ns: Option<u64>,
    /// What the tool calls its latency; `None` where it logs none, as for a transaction that it skipped.
    pub elapsed: Option<Nanos>,
    /// How much later than scheduled it was sent, where the tool says so; part of `elapsed` or not as the format has it.
    pub schedule_lag: Option<Nanos>,
    /// The tool's session or thread.
    pub session: Option<u32>,
    /// Whether it failed or was skipped by the tool.
    pub failed: bool,
}

/// What a report says of one quantile: it lies above `above` and is at most `at_most`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuantileReading {
    /// Equal to `at_most` where the report states the quantile itself.
    pub above: Nanos,
    /// The stated value, or the upper end of the bucket that holds the quantile.
    pub at_most: Nanos,
}

impl QuantileReading {
    fn stated(value: Nanos) -> QuantileReading {
        QuantileReading { above: value, at_most: value }
    }
}

/// All that a tool reported of one run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ToolReport {
    /// The tool and, where it prints it, its version.
    pub tool: String,
    /// Requests per second that it was asked to make, where its output says so.
    pub asked: Option<PerSecond>,
    /// Completed requests per second as the tool prints it.
    pub achieved: Option<PerSecond>,
    /// Errors that it counted.
    pub errors: Option<u64>,
    /// Requests that it left out because they were too late to be worth sending.
    pub skipped: Option<u64>,
    /// One for each operation and measure, in the tool's order.
    pub rows: Vec<Reported>,
}

impl ForeignSample {
    /// The elapsed time, if the request did what it was meant to do.
    fn succeeded(&self) -> Option<Nanos> {
        self.elapsed.filter(|_| !self.failed)
    }
}

impl Reported {
    /// What the report says of a quantile; `None` where it says nothing.
    ///
    /// In this order: the order statistic ⌈q·n⌉ of the logged samples that did not fail, a quantile that the tool
    /// printed, the bucket of its counts. Nothing is interpolated. O(n log n) with samples.
    pub fn quantile(&self, q: Quantile) -> Option<QuantileReading> {
        if !self.samples.is_empty() {
            return self.order_statistic(q).map(QuantileReading::stated);
        }
        let printed = self.quantiles.iter().find(|(printed, _)| (printed.get() - q.get()).abs() < 1e-9);
        if let Some((_, value)) = printed {
            return Some(QuantileReading::stated(*value));
        }
        if q.get() >= 1.0
            && let Some(max) = self.max
        {
            return Some(QuantileReading::stated(max));
        }
        let (above, at_most) = record::bucket_of(&self.cumulative, self.min, q)?;
        Some(QuantileReading { above, at_most })
    }

    fn order_statistic(&self, q: Quantile) -> Option<Nanos> {
        let mut elapsed: Vec<Nanos> = self.samples.iter().filter_map(ForeignSample::succeeded).collect();
        elapsed.sort_unstable();
        let rank = usize::try_from(q.rank(elapsed.len() as u64)).ok()?;
        elapsed.get(rank.checked_sub(1)?).copied()
    }

    /// Whether these are requests that the load consists of. YCSB also measures its clean-up, its own checks of
    /// data, failures, its JVM, and pairs of requests that it has counted already.
    pub fn is_of_requests(&self) -> bool {
        !self.is_apart
    }

    /// Fills count, mean, smallest and largest from the samples that did not fail.
    pub(crate) fn describe_samples(&mut self) {
        let elapsed = || self.samples.iter().filter_map(ForeignSample::succeeded);
        let count = elapsed().count() as u64;
        let sum: u128 = elapsed().map(|nanos| u128::from(nanos.0)).sum();
        let mean = sum.checked_div(u128::from(count)).and_then(|mean| u64::try_from(mean).ok());
        (self.min, self.max) = (elapsed().min(), elapsed().max());
        (self.count, self.mean) = (Some(count), mean.map(Nanos));
    }
}

impl ToolReport {
    /// The row of all requests that are counted from `counted_from`.
    ///
    /// One row is that row. Several are put together only where all have samples: quantiles of parts do not make a
    /// quantile of the whole, so that there is `None` for them.
    pub fn overall(&self, counted_from: StatedFrom) -> Option<Reported> {
        let wanted = |row: &&Reported| {
            row.interval.is_none() && row.counted_from == counted_from && row.is_of_requests()
        };
        let rows: Vec<&Reported> = self.rows.iter().filter(wanted).collect();
        let whole = rows.iter().find(|row| row.operation.is_empty());
        match (whole, &rows[..]) {
            (Some(row), _) | (None, [row]) => Some((*row).clone()),
            (None, [first, ..]) if rows.iter().all(|row| !row.samples.is_empty()) => {
                let samples = rows.iter().flat_map(|row| row.samples.iter().copied()).collect();
                let mut all =
                    Reported { counted_from, resolution: first.resolution, samples, ..Reported::default() };
                all.describe_samples();
                Some(all)
            }
            _ => None,
        }
    }
}
