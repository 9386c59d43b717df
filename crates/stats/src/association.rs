//! Do the intervals of two series meet more often than by chance?
//!
//! Slow requests are intervals, pauses are intervals, and both come in clusters: some of them meet by chance alone, and
//! no textbook test of independent points applies. So chance is measured instead of assumed: one series is shifted
//! against the other by a random time, what leaves the span at its end comes back at its begin, and the overlap is
//! measured again. A shifted series has kept its own clusters, lengths and gaps, and has lost only what tied it to
//! the other one.

use units::{Bound, Estimate, Seed};

/// How the interval of the ratio is made, as `docs/statistics.md` names it.
pub const METHOD_SHIFTS: &str = "circular shifts";

/// Shifts that are tried, unless the series are so long that it would take seconds.
const SHIFTS: usize = 999;
/// The fewest: p-values are then multiples of 1/200.
const FEWEST_SHIFTS: usize = 199;
/// Interval ends looked up in all shifts, which is about a second's work.
const LOOK_UPS: usize = 40_000_000;

/// The intervals of two series over the same time, [begin, end) each, in any order. Those of `first` may overlap each
/// other and count each; those of `second` count as their union.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IntervalSeries<'a> {
    /// Such as slow requests.
    pub first: &'a [(u64, u64)],
    /// Such as pauses.
    pub second: &'a [(u64, u64)],
}

/// How two series of intervals belong together.
#[derive(Clone, PartialEq, Debug)]
pub struct Association {
    /// Time that intervals of the first series share with the second, summed over them.
    pub overlap: f64,
    /// Its mean over all shifts, exact: |first| · |second| / span.
    pub by_chance: f64,
    /// overlap / by chance: 1 when they have nothing to do with each other. The interval divides the overlap by the
    /// quantiles of the shifted ones, to either side; its upper end is infinite where those reach zero.
    pub ratio: Estimate,
    /// Probability of an overlap at least as large if one series knows nothing of the other:
    /// (1 + number of shifts that give as much) / (1 + shifts).
    pub p_value: f64,
    /// Shifts that were tried.
    pub shifts: usize,
}

/// Tests whether intervals of the two series meet more often than by chance, by circular shifts over `span`. Several
/// pairs, such as those of several hosts, are shifted together and their overlaps summed.
///
/// `None` when either series has nothing within the span. The test assumes that chance is the same over the whole
/// span; a second series that covers all of it is never associated with anything. Cost: n log n in the intervals, and about a
/// second at most for the shifts: from some 100,000 intervals on (of whichever series has fewer), a random part of them is
/// shifted and compared with itself where it is. p stays what it says; the ratio's interval is that much wider.
pub fn association(
    pairs: &[IntervalSeries<'_>],
    span: (u64, u64),
    level: f64,
    seed: Seed,
) -> Option<Association> {
    let length = span.1.saturating_sub(span.0);
    let pairs: Vec<Pair> = pairs.iter().map(|series| Pair::new(series, span)).collect();
    let expected: f64 =
        pairs.iter().map(|p| p.first.total() as f64 * p.second.total() as f64 / length.max(1) as f64).sum();
    if length == 0 || expected == 0.0 {
        return None;
    }
    let overlap_at = |pairs: &[Pair], shift: u64| pairs.iter().map(|pair| pair.overlap(shift)).sum::<u128>();
    let overlap = overlap_at(&pairs, 0);
    let (pairs, shifts) = bounded(pairs, seed);
    // A part of the intervals is tested against the same part.
    let tested = overlap_at(&pairs, 0);
    let of_tested = pairs.iter().map(|pair| pair.expected()).sum::<f64>();
    let mut rng = seed.derive("circular shifts").rng();
    let mut shifted: Vec<u128> = (0..shifts).map(|_| overlap_at(&pairs, rng.below(length))).collect();
    shifted.sort_unstable();
    let as_much = shifted.len() - shifted.partition_point(|other| *other < tested);
    let scale = if of_tested > 0.0 { expected / of_tested } else { 1.0 };
    let n = pairs.iter().map(|p| p.requests).sum::<usize>() as u64;
    let causes = pairs.iter().map(|p| p.causes).sum::<usize>() as u64;
    let ratio = Estimate {
        point: overlap as f64 / expected,
        interval: Some(interval(overlap as f64, expected, (&shifted, scale), level)),
        level,
        n,
        n_effective: n.min(causes) as f64,
        bound: Bound::Exact,
        method: METHOD_SHIFTS,
    };
    Some(Association {
        overlap: overlap as f64,
        by_chance: expected,
        ratio,
        p_value: (1 + as_much) as f64 / (1 + shifts) as f64,
        shifts,
    })
}

/// Of too many intervals a random part of those that move, so that the fewest shifts stay within [`LOOK_UPS`]; and how many
/// shifts are tried. Which ones are left out depends on the seed alone, and on nothing that they meet.
fn bounded(mut pairs: Vec<Pair>, seed: Seed) -> (Vec<Pair>, usize) {
    let work = |pairs: &[Pair]| pairs.iter().map(Pair::look_ups).sum::<usize>().max(1);
    let all = work(&pairs);
    let most = LOOK_UPS / FEWEST_SHIFTS;
    if all > most {
        let mut rng = seed.derive("part of the intervals").rng();
        for pair in &mut pairs {
            pair.moving.retain(|_| rng.below(all as u64) < most as u64);
        }
    }
    let shifts = (LOOK_UPS / work(&pairs)).clamp(FEWEST_SHIFTS, SHIFTS);
    (pairs, shifts)
}

/// What `overlap` is of the shifted overlaps' quantiles; `shifted` ascends, and is to be scaled.
pub(crate) fn interval(
    overlap: f64,
    expected: f64,
    (shifted, scale): (&[u128], f64),
    level: f64,
) -> (f64, f64) {
    let tail = (1.0 - level) / 2.0;
    let ranks = (shifted.len() + 1) as f64;
    // Of K shifts and the observed one, each rank is equally likely: rank r lies below with probability r/(K + 1).
    let at = |rank: f64| scale * shifted[(rank.max(1.0) as usize).min(shifted.len()) - 1] as f64;
    let (low, high) = (at((ranks * tail).floor()), at((ranks * (1.0 - tail)).ceil()));
    let most = if low > 0.0 { overlap / low.min(expected) } else { f64::INFINITY };
    (overlap / high.max(expected), most)
}

/// Two series over one span that begins at 0.
struct Pair {
    first: Coverage,
    second: Coverage,
    /// Whichever has fewer intervals, to be looked up in the other; `true` when it is the second.
    second_moves: bool,
    /// The moving one's intervals.
    moving: Vec<(u64, u64)>,
    span: u64,
    requests: usize,
    causes: usize,
}

impl Pair {
    fn new(series: &IntervalSeries<'_>, span: (u64, u64)) -> Pair {
        let first = clipped(series.first, span);
        let second = united(clipped(series.second, span));
        let (requests, causes) = (first.len(), second.len());
        let length = span.1.saturating_sub(span.0);
        let (a, b) = (Coverage::new(&first), Coverage::new(&second));
        let second_moves = second.len() < first.len();
        let moving = if second_moves { second } else { first };
        Pair { first: a, second: b, second_moves, moving, span: length, requests, causes }
    }

    fn look_ups(&self) -> usize {
        2 * self.moving.len()
    }

    /// The mean overlap of the moving intervals over all shifts.
    fn expected(&self) -> f64 {
        let fixed = if self.second_moves { &self.first } else { &self.second };
        let moving: u128 = self.moving.iter().map(|(begin, end)| u128::from(end - begin)).sum();
        moving as f64 * fixed.total() as f64 / self.span.max(1) as f64
    }

    /// The overlap when the second series is moved to later times by `shift` < span.
    fn overlap(&self, shift: u64) -> u128 {
        // Moving the second one forwards is moving the first one backwards.
        let (fixed, shift) = match self.second_moves {
            true => (&self.first, shift),
            false => (&self.second, self.span - shift),
        };
        let until = |at: u64| fixed.until_around(u128::from(at) + u128::from(shift), self.span);
        self.moving.iter().map(|(begin, end)| until(*end) - until(*begin)).sum()
    }
}

/// The parts within the span, from its begin on.
pub(crate) fn clipped(intervals: &[(u64, u64)], span: (u64, u64)) -> Vec<(u64, u64)> {
    let clip = |&(begin, end): &(u64, u64)| {
        let (begin, end) = (begin.clamp(span.0, span.1), end.clamp(span.0, span.1));
        (begin < end).then(|| (begin - span.0, end - span.0))
    };
    intervals.iter().filter_map(clip).collect()
}

/// Their union: in order, apart from each other.
pub(crate) fn united(mut intervals: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    intervals.sort_unstable();
    let mut union: Vec<(u64, u64)> = Vec::with_capacity(intervals.len());
    for (begin, end) in intervals {
        match union.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => union.push((begin, end)),
        }
    }
    union
}

/// How much of a series' intervals, each counted, lies before a time: piecewise linear.
struct Coverage {
    /// Where the slope changes: (time, covered until then, intervals that go on from there).
    knots: Vec<(u64, u128, u64)>,
}

impl Coverage {
    fn new(intervals: &[(u64, u64)]) -> Coverage {
        let mut begins: Vec<u64> = intervals.iter().map(|i| i.0).collect();
        let mut ends: Vec<u64> = intervals.iter().map(|i| i.1).collect();
        begins.sort_unstable();
        ends.sort_unstable();
        let mut knots: Vec<(u64, u128, u64)> = Vec::with_capacity(2 * intervals.len());
        let (mut begins, mut ends) = (begins.into_iter().peekable(), ends.into_iter().peekable());
        let (mut at, mut covered, mut depth) = (0u64, 0u128, 0u64);
        while let Some(next) = [begins.peek(), ends.peek()].into_iter().flatten().min().copied() {
            covered += u128::from(next - at) * u128::from(depth);
            at = next;
            while begins.next_if_eq(&at).is_some() {
                depth += 1;
            }
            while ends.next_if_eq(&at).is_some() {
                depth -= 1;
            }
            knots.push((at, covered, depth));
        }
        Coverage { knots }
    }

    fn total(&self) -> u128 {
        self.knots.last().map_or(0, |knot| knot.1)
    }

    /// Covered before a time.
    fn until(&self, at: u64) -> u128 {
        let next = self.knots.partition_point(|knot| knot.0 <= at);
        let Some(&(from, covered, depth)) = next.checked_sub(1).and_then(|i| self.knots.get(i)) else {
            return 0;
        };
        covered + u128::from(at - from) * u128::from(depth)
    }

    /// The same where the span begins again at its end.
    fn until_around(&self, at: u128, span: u64) -> u128 {
        let (rounds, at) = (at / u128::from(span), at % u128::from(span));
        rounds * self.total() + self.until(at as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_of_what_chance_gives() {
        // 10 % of the time is paused; requests take 20 ms in all, and lie in pauses for 10 ms of them.
        let pauses: Vec<(u64, u64)> = (0..10).map(|i| (i * 100, i * 100 + 10)).collect();
        let requests = [(105, 115), (300, 305), (405, 410)];
        let series = IntervalSeries { first: &requests, second: &pauses };
        let found = association(&[series], (0, 1_000), 0.95, Seed(1)).expect("both have intervals");
        assert_eq!((found.overlap, found.by_chance), (15.0, 2.0));
        assert_eq!((found.ratio.point, found.shifts), (7.5, 999));
        // Two hosts alike: twice of each, the same ratio.
        let both = association(&[series, series], (0, 1_000), 0.95, Seed(1)).expect("the same");
        assert_eq!((both.overlap, both.by_chance, both.p_value), (30.0, 4.0, found.p_value));
    }

    /// By look-ups, and not by time.
    #[test]
    fn however_many_intervals_there_are_the_work_is_bounded() {
        let mut rng = Seed(7).rng();
        let span = 1_000_000_000_000;
        let mut some = |count: usize, length: u64| -> Vec<(u64, u64)> {
            (0..count).map(|_| rng.below(span - length)).map(|begin| (begin, begin + length)).collect()
        };
        let work = |first: &[(u64, u64)], second: &[(u64, u64)]| {
            let pair = Pair::new(&IntervalSeries { first, second }, (0, span));
            let (pairs, shifts) = bounded(vec![pair], Seed(1));
            (shifts, shifts * pairs.iter().map(Pair::look_ups).sum::<usize>())
        };
        let (requests, stalls) = (some(1_000_000, 50_000), some(1_000_000, 1_000));
        for count in [100, 10_000, 100_000, 1_000_000] {
            let (shifts, look_ups) = work(&requests, &stalls[..count]);
            assert!(shifts >= FEWEST_SHIFTS && look_ups <= LOOK_UPS + LOOK_UPS / 20, "{count}: {look_ups}");
        }
        // What a part of them shows is what all show: a tenth more requests within stalls than by chance.
        let mut tied: Vec<(u64, u64)> = requests[..300_000].to_vec();
        tied.extend(stalls[..300_000].iter().step_by(10).map(|(begin, end)| (*begin, *end)));
        let found = |first: &[(u64, u64)]| {
            let series = IntervalSeries { first, second: &stalls[..300_000] };
            association(&[series], (0, span), 0.95, Seed(1)).expect("both have intervals")
        };
        let tied = found(&tied);
        assert!(tied.p_value <= 0.005 && tied.shifts == FEWEST_SHIFTS, "{tied:?}");
        let (low, high) = tied.ratio.interval.expect("an interval");
        assert!(low > 1.0 && low < tied.ratio.point && tied.ratio.point < high, "{tied:?}");
        assert!(found(&requests[..300_000]).p_value > 0.01);
    }

    #[test]
    fn nothing_is_associated_with_nothing() {
        let some = [(5, 10)];
        let of = |first, second, span| {
            association(&[IntervalSeries { first, second }], span, 0.95, Seed(1)).is_some()
        };
        assert!(of(&some, &some, (0, 20)));
        assert!(!of(&some, &[], (0, 20)) && !of(&[], &some, (0, 20)) && !of(&some, &some, (0, 0)));
        // Beyond the span, and without length.
        assert!(!of(&some, &[(20, 30)], (0, 20)) && !of(&some, &[(7, 7)], (0, 20)));
        assert!(association(&[], (0, 20), 0.95, Seed(1)).is_none());
    }

    #[test]
    fn a_cause_that_is_always_there_explains_nothing() {
        let requests = [(5, 10), (50, 60)];
        let series = IntervalSeries { first: &requests, second: &[(0, 100)] };
        let found = association(&[series], (0, 100), 0.95, Seed(1)).expect("both have intervals");
        assert_eq!((found.ratio.point, found.ratio.interval, found.p_value), (1.0, Some((1.0, 1.0)), 1.0));
    }
}
