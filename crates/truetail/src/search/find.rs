//! The search itself: bracket by doubling, then bisect in the logarithm.

use anyhow::bail;

/// The highest rate in `range` for which `probe` holds, to within `precision` (the bracket's ends differ by at
/// most this share), or less where it was stopped; `None` where not even the lowest rate holds.
///
/// `probe` says whether a rate holds, or `None` to stop. A rate is a number of four significant digits, so
/// that what is printed is what was probed; none is probed twice. At most log₂(to/from) + 2 probes bracket,
/// and log₂(log 2 / log(1 + precision)) + 1 bisect.
///
/// # Errors
/// Those of `probe`.
pub(super) fn highest(
    range: (f64, f64),
    precision: f64,
    mut probe: impl FnMut(f64) -> anyhow::Result<Option<bool>>,
) -> anyhow::Result<Option<f64>> {
    let (from, to) = range;
    if !(from > 0.0 && from <= to && to.is_finite() && precision > 0.0) {
        bail!("can't search from {from}/s to {to}/s to within {precision}");
    }
    let mut holds: Option<f64> = None;
    let mut rate = from;
    let mut high = loop {
        match probe(rate)? {
            None => return Ok(holds),
            Some(false) => break rate,
            Some(true) if rate >= to => return Ok(Some(rate)),
            Some(true) => {
                holds = Some(rate);
                rate = rounded(rate * 2.0).min(to);
            }
        }
    };
    let Some(mut low) = holds else { return Ok(None) };
    while high / low > 1.0 + precision {
        let middle = rounded((low * high).sqrt());
        if middle <= low || middle >= high {
            break; // closer than the digits of a rate
        }
        match probe(middle)? {
            None => break,
            Some(true) => low = middle,
            Some(false) => high = middle,
        }
    }
    Ok(Some(low))
}

/// Four significant digits, and whole from 1,000 on.
fn rounded(rate: f64) -> f64 {
    if rate >= 1_000.0 {
        return rate.round();
    }
    format!("{rate:.3e}").parse().unwrap_or(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::Seed;

    /// Probes that are made against a planted capacity, and what was found.
    fn search(
        range: (f64, f64),
        precision: f64,
        mut holds: impl FnMut(f64) -> bool,
    ) -> (Option<f64>, Vec<(f64, bool)>) {
        let mut probes = Vec::new();
        let best = highest(range, precision, |rate| {
            let found = holds(rate);
            probes.push((rate, found));
            Ok(Some(found))
        });
        (best.expect("no probe fails"), probes)
    }

    fn probes_at_most(range: (f64, f64), precision: f64) -> f64 {
        let bracket = (range.1 / range.0).log2() + 2.0;
        let bisect = (2_f64.ln() / precision.ln_1p()).log2().max(0.0) + 1.0;
        bracket + bisect + 2.0 // each term is of whole probes, and rates are rounded
    }

    prop_compose! {
        fn a_search()(from in 1.0..1e5_f64, octaves in 0.1..14.0_f64, precision in 0.002..1.0_f64,
                      place in -0.2..1.2_f64, seed in any::<u64>())
            -> ((f64, f64), f64, f64, Seed) {
            let to = from * octaves.exp2();
            ((from, to), precision, from * (octaves * place).exp2(), Seed(seed))
        }
    }

    proptest! {
        #[test]
        fn a_planted_capacity_is_found((range, precision, capacity, _) in a_search()) {
            let (best, probes) = search(range, precision, |rate| rate <= capacity);
            prop_assert!(probes.len() as f64 <= probes_at_most(range, precision), "{:?}", probes);
            prop_assert!(probes.iter().all(|(rate, _)| (range.0..=range.1).contains(rate)), "{:?}", probes);
            match best {
                None => prop_assert!(capacity < range.0),
                Some(best) if best >= range.1 => prop_assert!(capacity >= range.1),
                Some(best) => {
                    // A rate has four digits: one in the last of them is the finest that can be told.
                    let fine = precision.max(2e-3);
                    prop_assert!(best <= capacity && capacity < best * (1.0 + fine), "{} {}", best, capacity);
                }
            }
        }

        /// Near the capacity a probe says this or that by chance. The result is then one that was shown to
        /// hold, and a rate above it within the precision was not.
        #[test]
        fn a_noisy_limit_is_found_where_it_is_noisy((range, precision, capacity, seed) in a_search()) {
            let mut rng = seed.rng();
            let noise = 0.2;
            let (best, probes) = search(range, precision, |rate| {
                rate <= capacity * (1.0 + noise * (2.0 * rng.unit() - 1.0))
            });
            prop_assert!(probes.len() as f64 <= probes_at_most(range, precision), "{:?}", probes);
            let mut rates: Vec<f64> = probes.iter().map(|(rate, _)| *rate).collect();
            rates.sort_by(f64::total_cmp);
            prop_assert!(rates.windows(2).all(|pair| pair[0] < pair[1]), "a rate was probed twice: {:?}", rates);
            let Some(best) = best else {
                prop_assert!(capacity * (1.0 - noise) < range.0);
                return Ok(());
            };
            prop_assert!(probes.contains(&(best, true)));
            prop_assert!(best <= capacity * (1.0 + noise));
            if best < range.1 {
                let fine = 1.0 + precision.max(2e-3);
                prop_assert!(probes.iter().any(|&(rate, held)| !held && rate > best && rate <= best * fine));
                prop_assert!(capacity * (1.0 - noise) < best * fine);
            }
        }
    }

    #[test]
    fn a_search_that_is_stopped_tells_what_it_knows() {
        let stopped_after = |probes: usize| {
            let mut left = probes;
            highest((100.0, 10_000.0), 0.01, |rate| {
                left = left.wrapping_sub(1);
                Ok((left < probes).then_some(rate <= 777.0))
            })
        };
        assert_eq!(stopped_after(0).expect("no error"), None);
        assert_eq!(stopped_after(2).expect("no error"), Some(200.0));
        assert_eq!(stopped_after(4).expect("no error"), Some(400.0));
        assert_eq!(stopped_after(5).expect("no error"), Some(565.7));
        let error = highest((1.0, 2.0), 0.1, |_| bail!("the disk is full")).expect_err("an error");
        assert_eq!(error.to_string(), "the disk is full");
    }
}
