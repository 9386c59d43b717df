//! Least, greatest, mean and quantiles of times, as BenchBase takes them.

/// The quantiles of BenchBase's files.
const QUANTILES: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/// Of some times, in ns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Distribution {
    /// The least.
    pub least: u64,
    /// 25th percentile, median, 75th, 90th, 95th and 99th percentile.
    pub quantiles: [u64; 6],
    /// The greatest.
    pub greatest: u64,
    /// The mean.
    pub mean: f64,
}

impl Distribution {
    /// Sorts the times; `None` where there are none. A quantile is the time at position `⌊q·n⌋`, counted from 0, which is how
    /// BenchBase has it (`DistributionStatistics`); intervals are in the recording's page.
    pub fn of(times: &mut [u64]) -> Option<Distribution> {
        times.sort_unstable();
        let (least, greatest) = (*times.first()?, *times.last()?);
        let count = times.len();
        let at = |q: f64| times[((q * count as f64) as usize).min(count - 1)];
        let sum: u128 = times.iter().map(|time| u128::from(*time)).sum();
        Some(Distribution { least, greatest, quantiles: QUANTILES.map(at), mean: sum as f64 / count as f64 })
    }
}
