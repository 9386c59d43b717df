//! Figures over rounds, and the table that shows them.

use std::fmt;

/// All rounds of one figure.
struct Figure {
    name: String,
    unit: &'static str,
    rounds: Vec<f64>,
}

/// On which side of a limit a figure should be.
#[derive(Clone, Copy)]
enum Side {
    AtMost,
    AtLeast,
}

impl Side {
    fn words(self) -> &'static str {
        match self {
            Side::AtMost => "at most",
            Side::AtLeast => "at least",
        }
    }

    fn is_met(self, value: f64, limit: f64) -> bool {
        match self {
            Side::AtMost => value <= limit,
            Side::AtLeast => value >= limit,
        }
    }
}

/// What is hoped of the median of a figure.
struct Target {
    name: String,
    side: Side,
    limit: f64,
    /// What the limit is, in words.
    words: String,
}

/// Figures in the order in which they first came.
#[derive(Default)]
pub(crate) struct Figures {
    figures: Vec<Figure>,
    targets: Vec<Target>,
    notes: Vec<String>,
}

impl Figures {
    /// Adds a round to the figure of this name.
    pub(crate) fn add(&mut self, name: &str, unit: &'static str, value: f64) {
        match self.figures.iter_mut().find(|figure| figure.name == name) {
            Some(figure) => figure.rounds.push(value),
            None => self.figures.push(Figure { name: name.to_owned(), unit, rounds: vec![value] }),
        }
    }

    /// The median of a figure should be at most `limit`.
    pub(crate) fn at_most(&mut self, name: &str, limit: f64) {
        self.target(name, Side::AtMost, limit, plain(limit));
    }

    /// The median of a figure should be at least `limit`.
    pub(crate) fn at_least(&mut self, name: &str, limit: f64) {
        self.target(name, Side::AtLeast, limit, plain(limit));
    }

    /// The median of a figure should be at most this share of another's.
    pub(crate) fn at_most_of(&mut self, name: &str, share: f64, other: &str) {
        self.target_of(name, Side::AtMost, share, other);
    }

    /// The median of a figure should be at least this share of another's.
    pub(crate) fn at_least_of(&mut self, name: &str, share: f64, other: &str) {
        self.target_of(name, Side::AtLeast, share, other);
    }

    fn target_of(&mut self, name: &str, side: Side, share: f64, other: &str) {
        if let Some(theirs) = self.median(other) {
            let of = if share == 1.0 { String::new() } else { format!("{} of ", plain(share)) };
            self.target(name, side, share * theirs, format!("{of}`{other}`"));
        }
    }

    fn target(&mut self, name: &str, side: Side, limit: f64, limit_words: String) {
        let words = format!("{} {limit_words}", side.words());
        self.targets.push(Target { name: name.to_owned(), side, limit, words });
    }

    /// A line under the table.
    pub(crate) fn note(&mut self, words: impl Into<String>) {
        self.notes.push(words.into());
    }

    /// An interval for the median that the rounds of a figure are draws of, and its level: the narrowest pair of ranks from
    /// both ends with a level of 0.95, or smallest and largest where there are too few. It asks nothing of their distribution:
    /// each is above the median with probability one half. `None` for fewer than two rounds.
    pub(crate) fn interval(&self, name: &str) -> Option<(f64, f64, f64)> {
        let figure = self.figures.iter().find(|figure| figure.name == name)?;
        let mut sorted = figure.rounds.clone();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let level = |rank: usize| 1.0 - 2.0 * at_most_heads(rank, count);
        let rank = (0..count / 2).rev().find(|rank| level(*rank) >= 0.95).unwrap_or(0);
        (count >= 2).then(|| (sorted[rank], sorted[count - 1 - rank], level(rank)))
    }

    /// The median of a figure, if there is one of that name.
    pub(crate) fn median(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|figure| figure.name == name).map(|figure| median(&figure.rounds))
    }
}

/// The probability of at most `most` heads in `count` tosses of a coin.
fn at_most_heads(most: usize, count: usize) -> f64 {
    let mut term = 0.5f64.powi(count as i32);
    let mut sum = term;
    for heads in 1..=most {
        term *= (count + 1 - heads) as f64 / heads as f64;
        sum += term;
    }
    sum
}

/// The middle, or the mean of the two middle ones.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

/// Three significant digits, or all digits of whole numbers.
pub(crate) fn plain(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        s if s >= 99.95 || s == 0.0 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.9995 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.figures.iter().map(|figure| figure.name.chars().count()).max().unwrap_or(0);
        for Figure { name, unit, rounds } in &self.figures {
            let smallest = rounds.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = rounds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let middle = median(rounds);
            let spread = format!("[{} … {}]", plain(smallest), plain(largest));
            write!(f, "  {name:<width$}  {:>9} {unit:<9} {spread:<20}", plain(middle))?;
            for target in self.targets.iter().filter(|target| target.name == *name) {
                let met = if target.side.is_met(middle, target.limit) { "met" } else { "MISSED" };
                write!(f, "  {met}: {}", target.words)?;
            }
            writeln!(f)?;
        }
        for note in &self.notes {
            writeln!(f, "  {note}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_medians_spreads_and_targets() {
        let mut figures = Figures::default();
        for (ours, theirs) in [(10.0, 100.0), (30.0, 300.0), (20.0, 200.0)] {
            figures.add("ours", "µs", ours);
            figures.add("theirs, longer", "µs", theirs);
        }
        figures.at_most("ours", 15.0);
        figures.at_most_of("ours", 0.5, "theirs, longer");
        figures.at_least_of("theirs, longer", 1.0, "ours");
        figures.note("that was all");
        let text = figures.to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(
            lines[0],
            "ours                   20 µs        [10 … 30]             \
             MISSED: at most 15  met: at most 0.5 of `theirs, longer`"
        );
        assert_eq!(
            lines[1],
            "theirs, longer        200 µs        [100 … 300]           met: at least `ours`"
        );
        assert_eq!(lines[2], "that was all");
    }

    #[test]
    fn a_target_is_met_on_its_own_side_alone() {
        let shown = |limit_of: fn(&mut Figures)| {
            let mut figures = Figures::default();
            figures.add("two", "", 2.0);
            figures.add("three", "", 3.0);
            limit_of(&mut figures);
            figures.to_string()
        };
        assert!(shown(|f| f.at_most("two", 2.0)).contains("met: at most 2"));
        assert!(shown(|f| f.at_most("three", 2.0)).contains("MISSED: at most 2"));
        assert!(shown(|f| f.at_least_of("three", 1.0, "two")).contains("met: at least `two`"));
        assert!(shown(|f| f.at_least_of("two", 1.0, "three")).contains("MISSED: at least `three`"));
        assert!(shown(|f| f.at_least_of("two", 0.5, "three")).contains("met: at least 0.5 of `three`"));
        assert!(!shown(|f| f.at_least_of("two", 1.0, "nobody")).contains("met"));
    }

    #[test]
    fn medians_are_medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn intervals_are_those_of_the_sign_test() {
        let interval = |count: u32| {
            let mut figures = Figures::default();
            (1..=count).for_each(|value| figures.add("x", "", f64::from(value)));
            figures.interval("x")
        };
        assert_eq!(interval(1), None);
        assert_eq!(interval(5), Some((1.0, 5.0, 0.9375)));
        assert_eq!(interval(6), Some((1.0, 6.0, 0.96875)));
        // Tables of the sign test have ranks 2 and 9 of 10, and 6 and 15 of 20.
        assert_eq!(interval(10).map(|found| (found.0, found.1)), Some((2.0, 9.0)));
        assert_eq!(interval(20).map(|found| (found.0, found.1)), Some((6.0, 15.0)));
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(0.0, "0"), (0.333_33, "0.333"), (1.5, "1.5"), (20.04, "20"), (61_234.5, "61234")]
        {
            assert_eq!(plain(value), text);
        }
    }
}
