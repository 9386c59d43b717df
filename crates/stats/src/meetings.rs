//! How many of one series' intervals meet another series, and how many would by chance?
//!
//! [`association()`](crate::association()) sums the time that two series share. Here each interval counts once, so that one
//! can say "98 of the 100 slowest requests overlap a pause, 2.1 would by chance". Chance is the same: one series is
//! shifted around the span by a random time. Rounds of an experiment are shifted apart from each other, each around its own
//! span, and their counts summed: what ties the rounds to each other plays no part.

use crate::METHOD_SHIFTS;
use crate::association::{clipped, interval, united};
use units::{Bound, Estimate, Rng, Seed};

/// Shifts that are tried, unless the series are so long that it would take seconds.
const SHIFTS: usize = 9_999;
/// The fewest.
const FEWEST_SHIFTS: usize = 499;
/// Intervals looked up in all, which is about a second's work.
const LOOK_UPS: usize = 20_000_000;

/// The two series of one round, [begin, end) each, in any order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Round<'a> {
    /// Such as the slowest requests: each counts once, those within the span alone.
    pub first: &'a [(u64, u64)],
    /// Such as pauses; their union counts.
    pub second: &'a [(u64, u64)],
    /// Begin and end of the time looked at.
    pub span: (u64, u64),
}

/// How many intervals of a first series meet a second one.
#[derive(Clone, PartialEq, Debug)]
pub struct Meetings {
    /// Intervals of the first series.
    pub of: u64,
    /// Those of them that meet one of the second.
    pub met: u64,
    /// The mean of that over all shifts, exact: for each interval the share of shifts at which it meets any.
    pub by_chance: f64,
    /// met / by chance: 1 when they have nothing to do with each other. The interval divides the count by the quantiles
    /// of the shifted ones; its upper end is infinite where those reach zero. Zero where nothing of the second series is
    /// in the span.
    pub ratio: Estimate,
    /// Probability of a count at least as large if one series knows nothing of the other:
    /// (1 + shifts that give as many) / (1 + shifts).
    pub p_value: f64,
    /// Shifts that were tried.
    pub shifts: usize,
}

/// Counts what meets, for each round and for all of them together; `None` for a round in which either series has
/// nothing, and for all when that is so of each.
///
/// The test of all rounds sums their counts, and each shift of all of them moves each round by a time of its own: the same
/// hypothesis as that of each round, with more to go by. A round without either series takes no part. Cost: n log n in the
/// intervals, at most about a second.
pub fn meetings(rounds: &[Round<'_>], level: f64, seed: Seed) -> (Vec<Option<Meetings>>, Option<Meetings>) {
    let made: Vec<Option<Made>> = rounds.iter().map(Made::new).collect();
    let work = made.iter().flatten().map(|round| round.first.len()).sum::<usize>().max(1);
    let shifts = (LOOK_UPS / work).clamp(FEWEST_SHIFTS, SHIFTS);
    let counted: Vec<Option<Counted>> = (made.iter().enumerate())
        .map(|(index, round)| {
            let mut rng = seed.derive(&format!("meetings of round {index}")).rng();
            round.as_ref().map(|round| round.counted(shifts, &mut rng))
        })
        .collect();
    let mut all: Option<Counted> = None;
    for one in counted.iter().flatten() {
        match &mut all {
            None => all = Some(one.clone()),
            Some(all) => all.add(one),
        }
    }
    let each = counted.into_iter().map(|one| one.map(|one| one.judged(level))).collect();
    (each, all.map(|all| all.judged(level)))
}

/// One round from 0 on.
struct Made {
    first: Vec<(u64, u64)>,
    /// In order and apart.
    second: Vec<(u64, u64)>,
    span: u64,
}

impl Made {
    fn new(round: &Round<'_>) -> Option<Made> {
        let (first, second) = (clipped(round.first, round.span), united(clipped(round.second, round.span)));
        let span = round.span.1.saturating_sub(round.span.0);
        (!first.is_empty() && !second.is_empty()).then_some(Made { first, second, span })
    }

    /// Of [begin, end) with begin < span, whether it meets the second series on the circle.
    fn meets(&self, begin: u64, end: u64) -> bool {
        let within = |from: u64, to: u64| {
            let next = self.second.partition_point(|interval| interval.1 <= from);
            self.second.get(next).is_some_and(|interval| interval.0 < to)
        };
        within(begin, end.min(self.span)) || (end > self.span && within(0, (end - self.span).min(begin)))
    }

    fn met_at(&self, shift: u64) -> u64 {
        let moved = |&(begin, end): &(u64, u64)| {
            let at = ((u128::from(begin) + u128::from(shift)) % u128::from(self.span)) as u64;
            self.meets(at, at.saturating_add(end - begin))
        };
        self.first.iter().filter(|one| moved(one)).count() as u64
    }

    /// Of all shifts, the share at which an interval of this length meets the second series: it does not while it fits
    /// into one of the gaps.
    fn chance(&self, length: u64) -> f64 {
        let between = self.second.windows(2).map(|pair| pair[1].0 - pair[0].1);
        let (first, last) = (self.second[0].0, self.second[self.second.len() - 1].1);
        let gaps = between.chain([first + (self.span - last)]);
        let free: u64 = gaps.map(|gap| gap.saturating_sub(length)).sum();
        1.0 - free as f64 / self.span as f64
    }

    fn counted(&self, shifts: usize, rng: &mut Rng) -> Counted {
        // Lengths of equal value come often where times are coarse.
        let mut lengths: Vec<u64> = self.first.iter().map(|(begin, end)| end - begin).collect();
        lengths.sort_unstable();
        let alike = lengths.chunk_by(|a, b| a == b);
        Counted {
            of: self.first.len() as u64,
            causes: self.second.len() as u64,
            met: self.met_at(0),
            by_chance: alike.map(|same| same.len() as f64 * self.chance(same[0])).sum(),
            shifted: (0..shifts).map(|_| self.met_at(rng.below(self.span))).collect(),
        }
    }
}

/// What was counted, of one round or of several.
#[derive(Clone)]
struct Counted {
    of: u64,
    causes: u64,
    met: u64,
    by_chance: f64,
    shifted: Vec<u64>,
}

impl Counted {
    fn add(&mut self, other: &Counted) {
        self.of += other.of;
        self.causes += other.causes;
        self.met += other.met;
        self.by_chance += other.by_chance;
        self.shifted.iter_mut().zip(&other.shifted).for_each(|(a, b)| *a += b);
    }

    fn judged(mut self, level: f64) -> Meetings {
        self.shifted.sort_unstable();
        let as_many = self.shifted.len() - self.shifted.partition_point(|other| *other < self.met);
        let shifted: Vec<u128> = self.shifted.iter().map(|count| u128::from(*count)).collect();
        let ratio = Estimate {
            point: self.met as f64 / self.by_chance,
            interval: Some(interval(self.met as f64, self.by_chance, (&shifted, 1.0), level)),
            level,
            n: self.of,
            n_effective: self.of.min(self.causes) as f64,
            bound: Bound::Exact,
            method: METHOD_SHIFTS,
        };
        Meetings {
            of: self.of,
            met: self.met,
            by_chance: self.by_chance,
            ratio,
            p_value: (1 + as_many) as f64 / (1 + self.shifted.len()) as f64,
            shifts: self.shifted.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: u64 = 1_000_000;

    /// Requests, and pauses.
    type Series = (Vec<(u64, u64)>, Vec<(u64, u64)>);

    /// Pauses, and requests of which a share begins within one; all else lies anywhere.
    fn planted(seed: u64, requests: usize, share: f64) -> Series {
        let mut rng = Seed(seed).rng();
        let pauses: Vec<(u64, u64)> =
            (0..10).map(|_| rng.below(SPAN - 3_000)).map(|at| (at, at + 3_000)).collect();
        let request = |rng: &mut Rng| {
            let at = match rng.unit() < share {
                true => pauses[rng.below(10) as usize].0 + rng.below(2_000),
                false => rng.below(SPAN - 2_000),
            };
            (at, at + 500 + rng.below(1_000))
        };
        ((0..requests).map(|_| request(&mut rng)).collect(), pauses)
    }

    fn of(planted: &[Series], seed: u64) -> (Vec<Option<Meetings>>, Option<Meetings>) {
        let rounds: Vec<Round<'_>> =
            planted.iter().map(|(first, second)| Round { first, second, span: (0, SPAN) }).collect();
        meetings(&rounds, 0.95, Seed(seed))
    }

    #[test]
    fn chance_is_what_all_shifts_give() {
        let rounds = [planted(1, 40, 0.0)];
        let (_, all) = of(&rounds, 1);
        let made =
            Made::new(&Round { first: &rounds[0].0, second: &rounds[0].1, span: (0, SPAN) }).expect("both");
        // Every hundredth shift: the slow and plain way.
        let every: Vec<u64> = (0..SPAN).step_by(100).map(|shift| made.met_at(shift)).collect();
        let mean = every.iter().sum::<u64>() as f64 / every.len() as f64;
        let by_chance = all.expect("both have intervals").by_chance;
        assert!((by_chance - mean).abs() < 0.01 * mean, "{by_chance}, by all shifts {mean}");
    }

    #[test]
    fn what_was_planted_is_found_and_its_share_is_right() {
        let rounds: Vec<_> = (0..3).map(|round| planted(round, 100, 0.8)).collect();
        let (each, all) = of(&rounds, 3);
        let all = all.expect("pauses and requests");
        // 80 of 100 were planted, and of the others 4 % meet one by chance.
        assert_eq!(all.of, 300);
        assert!((230..=265).contains(&all.met) && all.p_value <= 0.0002, "{all:?}");
        assert!((8.0..18.0).contains(&all.by_chance) && all.ratio.point > 12.0, "{all:?}");
        // One round alone can't do better: at shifts by less than a pause all still lies where it lay.
        assert!(each.iter().flatten().all(|one| one.of == 100 && one.p_value <= 0.005), "{each:?}");
        assert_eq!(each.iter().flatten().map(|one| one.met).sum::<u64>(), all.met);
    }

    /// Under the null hypothesis a p-value is at most α with probability α, for rounds and for all together.
    #[test]
    fn without_anything_planted_p_values_are_uniform() {
        let (mut of_one, mut of_all) = ([0u32; 2], [0u32; 2]);
        for run in 0..200 {
            let rounds: Vec<_> = (0..3).map(|round| planted(1_000 + 3 * run + round, 60, 0.0)).collect();
            let (each, all) = of(&rounds, run);
            for (index, alpha) in [0.05, 0.25].into_iter().enumerate() {
                of_one[index] += u32::from(each[0].as_ref().is_some_and(|one| one.p_value <= alpha));
                of_all[index] += u32::from(all.as_ref().is_some_and(|all| all.p_value <= alpha));
            }
        }
        // 10 and 50 of 200 expected, standard deviations 3.1 and 6.1; ties make it fewer.
        for found in [of_one, of_all] {
            assert!(found[0] <= 20 && (25..=68).contains(&found[1]), "{of_one:?} {of_all:?}");
        }
    }

    /// What no round shows for itself, all of them show together.
    #[test]
    fn rounds_add_up() {
        let weak: Vec<_> = (0..12).map(|round| planted(50 + round, 40, 0.06)).collect();
        let (each, all) = of(&weak, 9);
        let shown = each.iter().flatten().filter(|one| one.p_value <= 0.01).count();
        assert!(shown <= 6, "{shown} of 12 rounds");
        assert!(all.expect("pauses").p_value <= 0.01);
    }

    #[test]
    fn a_round_without_either_takes_no_part() {
        let (requests, pauses) = planted(7, 20, 0.5);
        let nothing: Series = (requests.clone(), Vec::new());
        let (each, all) = of(&[(requests.clone(), pauses.clone()), nothing.clone()], 1);
        assert!(each[0].is_some() && each[1].is_none());
        assert_eq!(all.map(|all| all.of), Some(20));
        assert_eq!(of(&[nothing], 1).1, None);
        // What is always there is met by all, at each shift.
        let (_, all) = of(&[(requests, vec![(0, SPAN)])], 1);
        assert_eq!(all.map(|all| (all.met, all.p_value, all.ratio.point)), Some((20, 1.0, 1.0)));
    }
}
