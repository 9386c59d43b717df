//! Response times over a run, thinned for figures so that no extreme is lost.

use crate::scenario::Scenario;
use record::RawSample;
use units::Nanos;

/// Buckets of a timeline.
pub const BUCKETS: usize = 360;

/// Of the requests that are intended in one bucket of time, ns. `None` where there are none.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Bucket {
    /// Requests.
    pub count: u64,
    /// Mean response time (completed − intended, or − sent where nothing was intended).
    pub mean_response: Option<f64>,
    /// Longest of them.
    pub longest_response: Option<f64>,
    /// Longest service time.
    pub longest_service: Option<f64>,
}

/// A run in equal buckets of time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timeline {
    /// Length of a bucket.
    pub width: Nanos,
    /// From the load's start on.
    pub buckets: Vec<Bucket>,
}

/// One request as a timeline sees it, ns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Times {
    /// When it was intended, or sent where nothing was intended; since the load's start.
    pub begin: u64,
    /// From then to its end.
    pub response: f64,
    /// From the sending to its end; `None` if it never was sent.
    pub service: Option<f64>,
}

impl Timeline {
    /// Of a simulated run of the scenario.
    pub fn new(scenario: &Scenario, samples: &[RawSample]) -> Timeline {
        let ended = samples.iter().filter(|s| s.completed.is_some());
        Timeline::of(
            scenario.duration,
            ended.map(|sample| {
                let since = |ticks: units::Ticks| sample.completed.0.saturating_sub(ticks.0) as f64;
                let begin = if sample.intended.is_some() { sample.intended } else { sample.sent };
                let service = sample.sent.is_some().then(|| since(sample.sent));
                Times { begin: begin.0, response: since(begin), service }
            }),
        )
    }

    /// Of any requests, in any order, that begin within `duration`.
    pub fn of(duration: Nanos, requests: impl IntoIterator<Item = Times>) -> Timeline {
        let width = Nanos(duration.0.div_ceil(BUCKETS as u64).max(1));
        let mut buckets = vec![Bucket::default(); BUCKETS];
        for times in requests {
            if let Some(bucket) = buckets.get_mut((times.begin / width.0) as usize) {
                bucket.add(times.response, times.service);
            }
        }
        Timeline { width, buckets }
    }
}

impl Bucket {
    fn add(&mut self, response: f64, service: Option<f64>) {
        self.count += 1;
        let mean = self.mean_response.unwrap_or(0.0);
        self.mean_response = Some(mean + (response - mean) / self.count as f64);
        self.longest_response = Some(self.longest_response.map_or(response, |longest| longest.max(response)));
        self.longest_service = match (self.longest_service, service) {
            (Some(longest), Some(service)) => Some(longest.max(service)),
            (longest, service) => longest.or(service),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_keeps_its_extremes() {
        let times = |begin: u64, response: f64, service: Option<f64>| Times { begin, response, service };
        let all = [
            times(0, 4.0, None),
            times(999, 8.0, Some(1.0)),
            times(1, 3.0, Some(3.0)),
            times(2, 1.0, Some(2.0)),
        ];
        // What begins after the end has no bucket.
        let all = all.into_iter().chain([times(360_000, 9.0, None), times(359_999, 7.0, Some(5.0))]);
        let timeline = Timeline::of(Nanos(360_000), all);
        assert_eq!((timeline.width, timeline.buckets.len()), (Nanos(1_000), BUCKETS));
        let bucket = |count, mean, longest, service| Bucket {
            count,
            mean_response: Some(mean),
            longest_response: Some(longest),
            longest_service: Some(service),
        };
        assert_eq!(timeline.buckets[0], bucket(4, 4.0, 8.0, 3.0));
        assert_eq!(timeline.buckets[1], Bucket::default());
        assert_eq!(timeline.buckets[BUCKETS - 1], bucket(1, 7.0, 7.0, 5.0));
    }
}
