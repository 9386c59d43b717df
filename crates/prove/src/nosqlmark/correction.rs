//! HdrHistogram's correction of service times, on the values themselves.

use units::Nanos;

/// What `copyCorrectedForCoordinatedOmission` makes of values, ns: for each v above the expected interval I also v − I,
/// v − 2I, … down to I. Without the histogram's buckets, so exact. `values` as they are where I is 0.
pub fn corrected(values: &[f64], interval: Nanos) -> Vec<f64> {
    let interval = interval.0 as f64;
    let mut all = values.to_vec();
    if interval > 0.0 {
        for value in values.iter().filter(|value| **value > interval) {
            let missing = std::iter::successors(Some(value - interval), |next| Some(next - interval));
            all.extend(missing.take_while(|next| *next >= interval));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use units::Seed;

    /// The library that the correction is named after, on values that its buckets hold exactly.
    #[test]
    fn it_is_hdrhistograms_own() {
        let mut rng = Seed(3).rng();
        let values: Vec<u64> = (0..500).map(|_| 1 + rng.below(2_000)).collect();
        for interval in [0, 1, 7, 64, 1_999] {
            let mut plain = Histogram::<u64>::new_with_bounds(1, 10_000, 4).unwrap();
            values.iter().for_each(|value| plain.record(*value).unwrap());
            let theirs = plain.clone_correct(interval);
            let as_ns: Vec<f64> = values.iter().map(|value| *value as f64).collect();
            let mut ours: Vec<u64> = corrected(&as_ns, Nanos(interval)).iter().map(|ns| *ns as u64).collect();
            ours.sort_unstable();
            let counted = theirs.iter_recorded();
            let theirs: Vec<u64> =
                counted.flat_map(|v| (0..v.count_at_value()).map(move |_| v.value_iterated_to())).collect();
            assert_eq!(ours, theirs, "interval {interval}");
        }
    }
}
