//! One set against another: ratios with intervals, differences shown or not, equivalence.

use crate::longrun::{normal_quantile, student_quantile};
use units::{Bound, Estimate};

/// The method name of ratios in `docs/statistics.md`.
pub const METHOD_RATIO: &str = "ratio of estimates";
/// The method name of estimates across repeated runs in `docs/statistics.md`.
pub const METHOD_REPEATS: &str = "spread between runs";

/// What an interval of a ratio new/base says: of times, faster or slower; of spreads, steadier or less steady.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Difference {
    /// Times: the whole interval lies below 1.
    Faster,
    /// Times: the whole interval lies above 1.
    Slower,
    /// Spreads: the whole interval lies below 1.
    Steadier,
    /// Spreads: the whole interval lies above 1.
    LessSteady,
    /// The interval contains 1, or there is none. Not the same as "equal": see [`equivalent`].
    NotShown,
}

impl Difference {
    /// What the interval of this ratio of times says.
    pub fn of(ratio: &Estimate) -> Difference {
        Difference::among(ratio, Difference::Faster, Difference::Slower)
    }

    /// What the interval of this ratio of spreads (a variance, p99/mean, …) says.
    pub fn of_spreads(ratio: &Estimate) -> Difference {
        Difference::among(ratio, Difference::Steadier, Difference::LessSteady)
    }

    fn among(ratio: &Estimate, below: Difference, above: Difference) -> Difference {
        match ratio.interval {
            Some((_, high)) if high < 1.0 => below,
            Some((low, _)) if low > 1.0 => above,
            _ => Difference::NotShown,
        }
    }

    /// The words in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Difference::Faster => "faster",
            Difference::Slower => "slower",
            Difference::Steadier => "steadier",
            Difference::LessSteady => "less steady",
            Difference::NotShown => "no difference shown",
        }
    }
}

/// Whether a ratio's interval lies within 1 ± `margin`; `None` where there is no interval.
///
/// With an interval of level 1 − 2α these are two one-sided tests at α (Schuirmann, *J. Pharmacokinetics and
/// Biopharmaceutics* 1987).
pub fn equivalent(ratio: &Estimate, margin: f64) -> Option<bool> {
    ratio.interval.map(|(low, high)| low > 1.0 - margin && high < 1.0 + margin)
}

/// new / base, of independent estimates; `None` unless both points are above zero.
///
/// The interval recovers the variance of the difference of logarithms from the distances of each limit to its
/// point (Zou & Donner, *Statistics in Medicine* 2008): no shape is assumed beyond that of the two intervals,
/// and skewed ones give a skewed one. It holds, too wide, for positively correlated estimates.
pub fn ratio(base: &Estimate, new: &Estimate) -> Option<Estimate> {
    if base.point <= 0.0 || new.point <= 0.0 {
        return None;
    }
    let point = new.point / base.point;
    // How far, in logarithms, each end lies from its point; an exact estimate has no ends.
    let ends = |e: &Estimate| match (e.interval, e.method) {
        (Some((low, high)), _) => Some(((e.point / low.max(0.0)).ln(), (high / e.point).ln())),
        (None, "observed") => Some((0.0, 0.0)),
        (None, _) => None,
    };
    let interval = ends(base).zip(ends(new)).map(|((base_down, base_up), (new_down, new_up))| {
        (point * (-new_down.hypot(base_up)).exp(), point * new_up.hypot(base_down).exp())
    });
    Some(Estimate {
        point,
        // A lower limit of zero in the base leaves the ratio without an upper one.
        interval: interval.filter(says_something),
        level: base.level.min(new.level),
        n: base.n + new.n,
        n_effective: base.n_effective.min(new.n_effective),
        bound: if new.bound == Bound::AtLeast { Bound::AtLeast } else { Bound::Exact },
        method: METHOD_RATIO,
    })
}

/// One estimate from those of repeated runs: their geometric mean; `None` without any, or when one is not
/// above zero.
///
/// The interval is Student's on the runs' logarithms, and never narrower than what the spread within the runs
/// gives (a run without an interval counts as the least certain of the others): runs differ by more than their samples do, and
/// it is this that decides whether a difference would be seen again. Two runs hardly tell their spread (Student's quantile is 12.7 at 95 %): the hull of both, which
/// is much narrower, holds the truth only every other time. Limits more than a factor of 10,000 apart are not
/// stated. One run is returned as it is.
pub fn across_runs(runs: &[Estimate]) -> Option<Estimate> {
    let [first, rest @ ..] = runs else { return None };
    if runs.iter().any(|r| r.point <= 0.0) {
        return None;
    }
    if rest.is_empty() {
        return Some(first.clone());
    }
    let count = runs.len() as f64;
    let logs: Vec<f64> = runs.iter().map(|r| r.point.ln()).collect();
    let mean = logs.iter().sum::<f64>() / count;
    let point = mean.exp();
    let level = runs.iter().map(|r| r.level).fold(1.0, f64::min);
    let (low, high) = between(runs, &logs, level);
    Some(Estimate {
        point,
        interval: Some((low.min(point), high.max(point))).filter(says_something),
        level,
        n: runs.iter().map(|r| r.n).sum(),
        n_effective: count,
        bound: if runs.iter().any(|r| r.bound == Bound::AtLeast) { Bound::AtLeast } else { Bound::Exact },
        method: METHOD_REPEATS,
    })
}

/// Limits further apart than this factor tell nobody anything: then no interval is stated. Two runs that differ
/// by a factor of 2.1 come to that.
const WIDEST: f64 = 10_000.0;

fn says_something(&(low, high): &(f64, f64)) -> bool {
    high <= low * WIDEST
}

fn between(runs: &[Estimate], logs: &[f64], level: f64) -> (f64, f64) {
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let spread = logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let p = 0.5 + level / 2.0;
    let half = student_quantile(p, count - 1.0) * (spread / count).sqrt();
    let z = normal_quantile(p);
    let known: Vec<f64> = runs
        .iter()
        .filter_map(|r| r.interval.map(|(low, high)| (high / low.max(f64::MIN_POSITIVE)).ln() / (2.0 * z)))
        .map(|sd| sd * sd)
        .collect();
    // A run without an interval is no more certain than the least certain of the others.
    let largest = known.iter().copied().fold(0.0, f64::max);
    let within = known.iter().sum::<f64>() + (runs.len() - known.len()) as f64 * largest;
    let half = half.max(z * within.sqrt() / count);
    ((mean - half).exp(), (mean + half).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    fn estimate(point: f64, low: f64, high: f64) -> Estimate {
        Estimate { interval: Some((low, high)), level: 0.95, method: "test", ..Estimate::exact(point, 100) }
    }

    #[test]
    fn ratios_of_lognormal_estimates_are_exact() {
        // Symmetric in logarithms, MOVER is the textbook interval: ± 1.96 √(s² + s²).
        let side = |point: f64| estimate(point, point * (-0.3f64).exp(), point * 0.3f64.exp());
        let found = ratio(&side(2.0), &side(3.0)).unwrap();
        let half = (0.3f64 * 0.3 * 2.0).sqrt();
        let (low, high) = found.interval.unwrap();
        assert!((low - 1.5 * (-half).exp()).abs() < 1e-12 && (high - 1.5 * half.exp()).abs() < 1e-12);
        assert_eq!(Difference::of(&found), Difference::NotShown);
        assert_eq!(Difference::of(&ratio(&side(1.0), &side(2.0)).unwrap()), Difference::Slower);
        assert_eq!(Difference::of(&ratio(&side(2.0), &side(1.0)).unwrap()), Difference::Faster);
    }

    #[test]
    fn an_unknown_side_shows_nothing() {
        let mut unknown = estimate(5.0, 1.0, 9.0);
        unknown.interval = None;
        let found = ratio(&estimate(1.0, 0.9, 1.1), &unknown).unwrap();
        assert_eq!((found.interval, Difference::of(&found)), (None, Difference::NotShown));
        assert_eq!(equivalent(&found, 0.5), None);
        assert_eq!(ratio(&estimate(0.0, 0.0, 0.0), &unknown), None);
        assert!(ratio(&Estimate::exact(2.0, 1), &estimate(1.0, 0.9, 1.1)).unwrap().interval.is_some());
    }

    #[test]
    fn an_interval_that_says_nothing_is_not_stated() {
        let run = |point: f64| estimate(point, point * 0.9, point * 1.1);
        let near = across_runs(&[run(1.0), run(1.1)]).unwrap();
        let far = across_runs(&[run(1.0), run(10.0)]).unwrap();
        assert!(near.interval.is_some());
        assert_eq!(far.interval, None);
        let found = ratio(&estimate(1.0, 0.001, 2.0), &estimate(1.0, 0.5, 900.0)).unwrap();
        assert_eq!((found.interval, Difference::of(&found)), (None, Difference::NotShown));
    }

    #[test]
    fn equivalence_needs_the_whole_interval() {
        assert_eq!(equivalent(&estimate(1.0, 0.97, 1.03), 0.05), Some(true));
        assert_eq!(equivalent(&estimate(1.0, 0.97, 1.06), 0.05), Some(false));
    }

    /// Runs that differ by 10 % while each claims ± 1 %: 95 % of the intervals must still hold the truth.
    #[test]
    fn the_spread_between_runs_decides() {
        let mut rng = Seed(11).rng();
        let mut hits = 0;
        for _ in 0..1000 {
            let run = |point: f64| estimate(point, point * 0.99, point * 1.01);
            let runs: Vec<Estimate> = (0..5).map(|_| run((0.1 * rng.normal()).exp())).collect();
            let (low, high) = across_runs(&runs).unwrap().interval.unwrap();
            hits += u32::from(low <= 1.0 && 1.0 <= high);
        }
        // 950 expected, standard deviation 6.9.
        assert!((925..=975).contains(&hits), "{hits} of 1000");
    }

    #[test]
    fn two_runs_hardly_tell_and_identical_ones_give_their_own_width() {
        // Student's with one degree of freedom, on logarithms: 12.706 · ln(2) / 2 to either side.
        let two = across_runs(&[estimate(1.0, 0.9, 1.1), estimate(2.0, 1.8, 2.2)]).unwrap();
        let (low, high) = two.interval.unwrap();
        let half = 12.706 * 2f64.ln() / 2.0;
        assert!((high / two.point).ln() / half - 1.0 < 1e-3 && (two.point / low).ln() / half - 1.0 < 1e-3);
        assert!(low < 0.9 && high > 2.2, "never inside of the hull of both");
        let same = across_runs(&vec![estimate(1.0, 0.9, 1.1); 4]).unwrap();
        let (low, high) = same.interval.unwrap();
        assert!((high / low).ln() > (1.1f64 / 0.9).ln() / 2.0 * 0.999);
        // Of four, three state no interval: they are no more certain than the one that does.
        let mut gaps = vec![estimate(1.0, 0.9, 1.1); 4];
        gaps[1..].iter_mut().for_each(|run| run.interval = None);
        let (gap_low, gap_high) = across_runs(&gaps).unwrap().interval.unwrap();
        assert!((gap_low - low).abs() < 1e-12 && (gap_high - high).abs() < 1e-12, "{gap_low} {gap_high}");
    }
}
