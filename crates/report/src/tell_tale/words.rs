//! Numbers, findings and the method in words.

use crate::text::time;
use analysis::tell_tale::{Finding, Pauses, Spread, TellTale, TestedRow};
use stats::{RankCorrelation, RoundsRatio};
use units::{Bound, Nanos};

/// The median round's, and in brackets the least and the most of all rounds.
pub(crate) fn spread_words(spread: &Spread, words: impl Fn(f64) -> String) -> String {
    if spread.points.len() < 2 {
        return format!("{} [one round]", words(spread.median));
    }
    let (point, least, most) = (words(spread.median), words(spread.least), words(spread.most));
    // The unit once where it is the same.
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    let bare = |text: &str| match unit(text) == unit(&point) {
        true => text.split(' ').next().unwrap_or(text).to_owned(),
        false => text.to_owned(),
    };
    format!("{point} [{}, {}]", bare(&least), bare(&most))
}

/// What is below the finest step that a tool tells is not known to be zero.
pub(crate) fn time_spread(spread: &Spread, finest: Nanos) -> String {
    let finest = finest.0 as f64;
    let below = || format!("<{}", time(finest));
    match spread.most < finest {
        true => below(),
        false => spread_words(spread, |value| if value < finest { below() } else { time(value) }),
    }
}

/// `0.0001`, `0.034`, `0.41`.
pub(crate) fn p_words(p: f64) -> String {
    match p {
        p if p < 0.000_05 => "< 0.0001".to_owned(),
        p if p < 0.001 => format!("{p:.4}"),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// `p = 0.034`, `p < 0.0001`.
pub(super) fn p_is(p: f64) -> String {
    let words = p_words(p);
    if words.starts_with('<') { format!("p {words}") } else { format!("p = {words}") }
}

/// A few digits: `0.03`, `2.1`, `26`.
pub(crate) fn few(value: f64) -> String {
    match value {
        v if v < 0.995 => format!("{v:.2}"),
        v if v < 9.95 => format!("{v:.1}"),
        v => units::format_count(v.round() as u64),
    }
}

/// What stands before a ratio that timeouts make a bound: `≥`, `≤`.
pub(crate) fn bound_sign(tested: &RoundsRatio) -> &'static str {
    match (tested.at_most, tested.ratio.bound) {
        (true, _) => "≤",
        (false, Bound::AtLeast) => "≥",
        (false, Bound::Exact) => "",
    }
}

/// A ratio and its interval: `1.02 [0.98, 1.06]`.
pub(crate) fn ratio_words(tested: &RoundsRatio) -> String {
    let ratio = &tested.ratio;
    let digits = |value: f64| match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => units::format_count(v.round() as u64),
    };
    let interval =
        ratio.interval.map_or(String::new(), |(low, high)| format!(" [{}, {}]", digits(low), digits(high)));
    format!("{}{}{interval}", bound_sign(tested), digits(ratio.point))
}

/// What a finding is in a table.
pub(crate) fn finding_mark(finding: &Finding) -> &'static str {
    match finding {
        Finding::Equivalent => "=",
        Finding::Higher | Finding::Lower => "≠",
        Finding::CannotTell(_) => "?",
    }
}

/// What a finding is in words.
pub(crate) fn finding_words(finding: &Finding) -> &'static str {
    match finding {
        Finding::Equivalent => "equivalent",
        Finding::Higher => "different: higher",
        Finding::Lower => "different: lower",
        Finding::CannotTell(_) => "can't tell",
    }
}

/// Why nothing is found, where that is so.
pub(super) fn why_not(row: &TestedRow) -> String {
    match &row.finding {
        Finding::CannotTell(why) => why.clone(),
        other => finding_words(other).to_owned(),
    }
}

/// Why a cell has no figures on pauses: never a zero.
pub(crate) fn no_pauses(pauses: &Pauses) -> Option<&'static str> {
    match pauses {
        Pauses::NoJvm => Some("no JVM"),
        Pauses::NoLog => Some("no log"),
        Pauses::Trouble(_) => Some("log tells nothing"),
        Pauses::NoPause(_) => Some("no pause"),
        Pauses::Seen(_) => None,
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(words: &[String]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// What the rounds' maxima and longest pauses show together.
pub(crate) fn correlation_words(correlation: Option<&RankCorrelation>) -> String {
    match correlation {
        Some(found) => format!(
            "the longest {} the longest pause over {} rounds: rank correlation {:.2}, {}",
            if found.p_value <= 0.05 { "rises with" } else { "is not shown to rise with" },
            found.pairs,
            found.rho,
            p_is(found.p_value)
        ),
        None => format!("too few rounds with pauses for a correlation: it takes {}", stats::FEWEST_PAIRS),
    }
}

/// What so many rounds can carry.
pub(crate) fn rounds_words(tell_tale: &TellTale) -> String {
    let margin = 100.0 * tell_tale.margin;
    match (tell_tale.rounds, tell_tale.carried_scatter) {
        (0, _) => "no cell was run".to_owned(),
        (rounds, None) => format!("{rounds} round a cell: nothing can be said of differences between cells"),
        (rounds, Some(scatter)) => format!(
            "at least {rounds} rounds a cell: so many can show equality within ±{margin:.0} % only of what scatters by less than {:.0} % from \
             round to round; brackets hold the least and the most of the rounds, not an interval",
            100.0 * scatter
        ),
    }
}

/// How it was tested, for the foot of all tables.
pub(crate) const METHOD: &str = "overlap: each of the slowest requests counts once; chance is what circular shifts of each round give, p is \
     of all rounds together, corrected for the number of cells (Holm). Against Epsilon: ratio of geometric means with its 90 % \
     interval by Welch's test on the rounds' logarithms; = both ends within the margin (two one-sided tests at 5 %), ≠ different \
     (p at most 0.05 after Holm's correction for all quantiles of the group's cells together, or all their maxima), ? neither. Rounds \
     whose verdict is invalid are left out, unless all that they lack is the rate. Not a word of causes: a third thing may move both.";

#[cfg(test)]
mod tests {
    use super::*;
    use units::Estimate;

    #[test]
    fn a_ratio_that_timeouts_make_a_bound_says_so() {
        let ratio = |bound: Bound, at_most: bool| {
            let ratio = Estimate { bound, interval: Some((1.5, 2.7)), ..Estimate::exact(2.0, 3) };
            ratio_words(&RoundsRatio { ratio, p_value: 0.1, at_most, knows_within: true })
        };
        assert_eq!(ratio(Bound::Exact, false), "2.00 [1.50, 2.70]");
        assert_eq!(ratio(Bound::AtLeast, false), "≥2.00 [1.50, 2.70]");
        assert_eq!(ratio(Bound::Exact, true), "≤2.00 [1.50, 2.70]");
    }

    #[test]
    fn numbers_have_as_many_digits_as_they_carry() {
        assert_eq!(
            [0.00001, 0.0001, 0.0342, 0.41, 1.0].map(p_words),
            ["< 0.0001", "0.0001", "0.034", "0.41", "1.00"]
        );
        assert_eq!([0.034, 2.13, 26.4, 1_234.0].map(few), ["0.03", "2.1", "26", "1,234"]);
        let spread = Spread {
            points: vec![1e6, 2e6, 25.2e6],
            median: 2e6,
            least: 1e6,
            most: 25.2e6,
            across: Estimate::exact(2e6, 3),
            estimates: Vec::new(),
        };
        assert_eq!(time_spread(&spread, Nanos::ZERO), "2.00 ms [1.00, 25.2]");
        assert_eq!(time_spread(&spread, Nanos(1_500_000)), "2.00 ms [<1.50, 25.2]");
        assert_eq!(time_spread(&spread, Nanos(30_000_000)), "<30.0 ms");
        assert_eq!(
            time_spread(&Spread { least: 9e5, ..spread.clone() }, Nanos::ZERO),
            "2.00 ms [900 µs, 25.2]"
        );
        assert_eq!(time_spread(&Spread { points: vec![2e6], ..spread }, Nanos::ZERO), "2.00 ms [one round]");
        assert_eq!(
            [listed(&[]), listed(&["a".into()]), listed(&["a".into(), "b".into()])],
            ["nothing", "a", "a and b"]
        );
    }
}
