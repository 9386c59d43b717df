//! Which rows a subscriber has: a function of his number alone, so that every seed gives as many.

use units::{Rng, Seed};

/// Which rows there are is the same in every data set of a size; their values are the seed's.
const STRUCTURE: Seed = Seed(0x0054_4154_5031);

/// Types of access and of facilities: 1 … 4.
pub(crate) const TYPES: usize = 4;
/// Call forwardings of a facility at most: one for each start.
pub(crate) const STARTS: usize = 3;

/// A facility of a subscriber.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Facility {
    pub(crate) is_active: bool,
    /// Which of the starts have a call forwarding: bits.
    pub(crate) forwards: u8,
}

/// The rows of a subscriber.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Rows {
    /// Which types of access he has: bits, the lowest is type 1.
    pub(crate) access: u8,
    /// By type less 1.
    pub(crate) facilities: [Option<Facility>; TYPES],
}

/// How many rows there are at the start, by table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) access: u64,
    pub(crate) facilities: u64,
    pub(crate) forwards: u64,
}

/// What all subscribers have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Population {
    pub(crate) subscribers: u64,
    pub(crate) benchbase: bool,
}

impl Population {
    /// The rows of the subscriber of this number, from 1 on.
    pub(crate) fn rows(&self, subscriber: u64) -> Rows {
        let mut rng = STRUCTURE.derive("rows").at(subscriber);
        let mut rows = Rows { access: self.access(subscriber), ..Rows::default() };
        let count = 1 + rng.below(TYPES as u64) as usize;
        let types = subset(&mut rng, TYPES, count);
        for facility in
            rows.facilities.iter_mut().enumerate().filter(|(n, _)| types >> n & 1 == 1).map(|(_, f)| f)
        {
            let is_active = self.is_active(&mut rng);
            let forwards = rng.below(STARTS as u64 + 1) as usize;
            *facility = Some(Facility { is_active, forwards: subset(&mut rng, STARTS, forwards) });
        }
        rows
    }

    /// BenchBase draws them once, for all subscribers.
    pub(crate) fn access(&self, subscriber: u64) -> u8 {
        let mut rng = STRUCTURE.derive("access").at(if self.benchbase { 0 } else { subscriber });
        let count = 1 + rng.below(TYPES as u64) as usize;
        subset(&mut rng, TYPES, count)
    }

    /// 85 %; BenchBase compares two draws, which makes 92 %.
    fn is_active(&self, rng: &mut Rng) -> bool {
        let below = if self.benchbase { 86 + rng.below(15) } else { 86 };
        1 + rng.below(100) < below
    }

    /// When call forwardings start; BenchBase's loader has a 6 in place of 16.
    pub(crate) fn starts(&self) -> [i64; STARTS] {
        if self.benchbase { [0, 8, 6] } else { [0, 8, 16] }
    }

    /// Counts all rows: ≈ 50 ms for a million subscribers.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for subscriber in 1..=self.subscribers {
            let rows = self.rows(subscriber);
            totals.access += u64::from(rows.access.count_ones());
            for facility in rows.facilities.iter().flatten() {
                totals.facilities += 1;
                totals.forwards += u64::from(facility.forwards.count_ones());
            }
        }
        totals
    }
}

/// `size` of the numbers 0 … of − 1, each set of that size alike, as bits (Floyd, CACM 30(9), 1987).
fn subset(rng: &mut Rng, of: usize, size: usize) -> u8 {
    let mut bits = 0_u8;
    for last in of - size..of {
        let drawn = rng.below(last as u64 + 1) as usize;
        bits |= 1 << if bits >> drawn & 1 == 1 { last } else { drawn };
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::chi_square::assert_law;

    #[test]
    fn sets_of_a_size_are_alike() {
        let law: Vec<f64> =
            (0..16_u32).map(|bits| if bits.count_ones() == 2 { 1.0 / 6.0 } else { 0.0 }).collect();
        let numbered: Vec<usize> = (0..16).filter(|bits: &usize| bits.count_ones() == 2).collect();
        assert_law("pairs of four", 60_000, &[1.0 / 6.0; 6], |rng| {
            let bits = usize::from(subset(rng, 4, 2));
            assert!(law[bits] > 0.0);
            numbered.iter().position(|known| *known == bits).unwrap() as u64
        });
        assert_eq!((subset(&mut Seed(1).rng(), 4, 4), subset(&mut Seed(1).rng(), 3, 0)), (15, 0));
    }

    #[test]
    fn counts_and_shares_are_the_specification_s() {
        let population = Population { subscribers: 100_000, benchbase: false };
        let totals = population.totals();
        let near = |found: u64, expected: f64, deviation: f64| {
            let most = 5.0 * deviation * (population.subscribers as f64).sqrt();
            assert!((found as f64 - expected * 1e5).abs() < most, "{found}, {expected}");
        };
        // Standard deviations of one subscriber's rows: of 1 … 4 alike; of as many facilities with 0 … 3 each.
        near(totals.access, 2.5, 1.25_f64.sqrt());
        near(totals.facilities, 2.5, 1.25_f64.sqrt());
        near(totals.forwards, 3.75, (2.5 * 1.25 + 1.25 * 2.25_f64).sqrt());
        let active =
            (1..=100_000).flat_map(|s| population.rows(s).facilities).flatten().filter(|f| f.is_active);
        let share = active.count() as f64 / totals.facilities as f64;
        assert!((share - 0.85).abs() < 5.0 * (0.85_f64 * 0.15 / totals.facilities as f64).sqrt(), "{share}");
    }

    #[test]
    fn benchbase_gives_all_the_same_access_and_more_active_facilities() {
        let population = Population { subscribers: 20_000, benchbase: true };
        let first = population.access(1);
        assert!((1..=20_000).all(|subscriber| population.rows(subscriber).access == first));
        let all: Vec<_> = (1..=20_000).flat_map(|s| population.rows(s).facilities).flatten().collect();
        let share = all.iter().filter(|facility| facility.is_active).count() as f64 / all.len() as f64;
        assert!((share - 0.92).abs() < 0.006, "{share}");
        assert_eq!(population.starts(), [0, 8, 6]);
    }
}
