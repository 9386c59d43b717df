//! Which share of each transaction's requests succeeds.
//!
//! They follow from the population and the parameters' laws. A type is one of four of which a subscriber has 2.5 in the
//! mean: 62.5 %. A start is one of three of which a facility has 1.5: half of those 62.5 % can be inserted, half deleted, and
//! what that changes it changes back, as long as both are asked as often.
//!
//! `GetNewDestination` succeeds with 14.8 % just after loading, when each call forwarding ends 1 … 8 hours after its start, and
//! with 20.4 % when each has been replaced by one that ends anywhere in 1 … 24, as requests insert them. The
//! 23.9 % that are quoted for the specification do not follow from what it draws.

use super::config::Subscribers;
use super::{Kind, OPERATIONS, Tatp};

/// In per cent: (just after loading, when all call forwardings have been replaced).
const DESTINATION: (f64, f64) = (14.787_688, 20.424_982);

/// Variance of a subscriber's share of types: 1 … 4 of four, all alike.
const TYPES_VARIANCE: f64 = 1.25 / 16.0;

/// The facts by which reports judge them.
pub(crate) fn facts(tatp: &Tatp) -> Vec<(String, String)> {
    let concentration = Subscribers::new(tatp.config.keys, tatp.config.subscribers).concentration();
    let fact = |name: &str, share: Share| {
        let deviation = 100.0 * (share.variance * concentration).sqrt();
        let spread = if deviation > 0.0 { format!(" ± {deviation:.4}%") } else { String::new() };
        let value = match share.percent {
            (low, high) if low == high => format!("{low}%{spread}"),
            (low, high) => format!("{low}%..{high}%{spread}"),
        };
        (format!("success share {name}"), value)
    };
    OPERATIONS.iter().map(|(name, _, kind)| fact(name, expected(tatp, *kind))).collect()
}

/// A share, and how much it varies between subscribers.
struct Share {
    /// At least, at most.
    percent: (f64, f64),
    variance: f64,
}

fn expected(tatp: &Tatp, kind: Kind) -> Share {
    let of = |percent: f64, variance: f64| Share { percent: (percent, percent), variance };
    let any = Share { percent: (0.0, 100.0), variance: 0.0 };
    let benchbase = tatp.config.benchbase;
    match kind {
        Kind::GetSubscriberData | Kind::UpdateLocation => of(100.0, 0.0),
        // All subscribers have the same types there.
        Kind::GetAccessData if benchbase => of(25.0 * f64::from(tatp.population.access(1).count_ones()), 0.0),
        // It rolls back what succeeded.
        Kind::UpdateSubscriberData if benchbase => of(37.5, TYPES_VARIANCE),
        Kind::GetAccessData | Kind::UpdateSubscriberData => of(62.5, TYPES_VARIANCE),
        // Start 6 is never asked for, and start 16 not loaded; and an unbalanced mix fills or empties the table.
        _ if benchbase || !tatp.config.balanced => any,
        // What varies between facilities adds to it: at most as much as that of a coin of this share.
        Kind::GetNewDestination => Share { percent: DESTINATION, variance: 0.204 * 0.796 },
        Kind::InsertCallForwarding | Kind::DeleteCallForwarding => of(31.25, 0.3125 * 0.6875),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of requests that find a call forwarding, by all starts, ends and sets of call forwardings.
    fn destination(sets: &[f64; 8], ends: impl Fn(i64) -> std::ops::RangeInclusive<i64>) -> f64 {
        let starts = [0_i64, 8, 16];
        let mut found = 0.0;
        for asked in starts {
            for end in 1..=24_i64 {
                for (set, probability) in sets.iter().enumerate() {
                    let misses = |(_, start): (usize, &i64)| {
                        let ends = ends(*start);
                        let all = (ends.end() - ends.start() + 1) as f64;
                        1.0 - ends.filter(|last| end < *last).count() as f64 / all
                    };
                    let has = |(n, start): &(usize, &i64)| set >> n & 1 == 1 && **start <= asked;
                    let missed: f64 = starts.iter().enumerate().filter(has).map(misses).product();
                    found += probability * (1.0 - missed) / 72.0;
                }
            }
        }
        found * 0.625 * 0.85 * 100.0
    }

    #[test]
    fn new_destinations_are_found_as_often_as_the_population_has_it() {
        let loaded: [f64; 8] = std::array::from_fn(|set| match (set as u32).count_ones() {
            0 | 3 => 0.25,
            _ => 0.25 / 3.0,
        });
        let (least, most) = DESTINATION;
        assert!((destination(&loaded, |start| start + 1..=start + 8) - least).abs() < 1e-5);
        assert!((destination(&[0.125; 8], |_| 1..=24) - most).abs() < 1e-5);
    }
}
