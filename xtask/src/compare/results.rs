//! Figures of all rounds.

use super::contender::Tool;
use super::effort::{Kind, Step};
use super::server::System;
use super::told::Told;
use crate::bench::figures::{Figures, plain};
use crate::bench::glances::Used;
use std::collections::BTreeMap;

/// What a figure is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Figure {
    /// Requests per second.
    Rate,
    /// CPU time of the client, µs a request.
    User,
    System,
    /// ms.
    P50,
    P99,
    Max,
    /// Requests above the limit.
    Slow,
}

/// From when a figure counts; empty for what counts from nowhere.
type From = &'static str;

/// Whose figures they are.
type Whose = (System, Kind, Tool);

/// All that was measured.
#[derive(Default)]
pub(crate) struct Results {
    /// By round: what failed in a round has no figure of it.
    figures: BTreeMap<(Whose, From, Figure), BTreeMap<u32, f64>>,
    /// How long servers stood still, s.
    pub(crate) stalls: Vec<f64>,
    /// What failed, in words.
    pub(crate) failures: Vec<String>,
    /// Command lines, of the first round.
    pub(crate) commands: BTreeMap<Whose, String>,
}

impl Results {
    pub(crate) fn add(&mut self, step: &Step, from: From, figure: Figure, value: f64) {
        let whose = (step.system, step.kind, step.tool);
        self.figures.entry((whose, from, figure)).or_default().insert(step.round, value);
    }

    /// Takes what a tool said, and CPU time per second of its steady part.
    pub(crate) fn take(&mut self, step: &Step, told: &Told, used: Option<Used>) {
        self.add(step, "", Figure::Rate, told.achieved);
        if let Some(used) = used.filter(|_| told.achieved > 0.0) {
            self.add(step, "", Figure::User, used.user * 1e6 / told.achieved);
            self.add(step, "", Figure::System, used.system * 1e6 / told.achieved);
        }
        for measure in &told.measures {
            let slow = measure.slow.map(|count| count as f64);
            let all = [
                (Figure::P50, measure.p50),
                (Figure::P99, measure.p99),
                (Figure::Max, measure.max),
                (Figure::Slow, slow),
            ];
            for (figure, value) in all {
                if let Some(value) = value {
                    self.add(step, measure.from, figure, value);
                }
            }
        }
    }

    /// From when this tool's times count; several where it measures several.
    pub(crate) fn measures(&self, whose: Whose) -> Vec<From> {
        let mut found: Vec<From> = self
            .figures
            .keys()
            .filter(|(of, from, _)| *of == whose && !from.is_empty())
            .map(|(_, from, _)| *from)
            .collect();
        found.dedup();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The median of a figure.
    pub(crate) fn median(&self, whose: Whose, from: From, figure: Figure) -> Option<f64> {
        let rounds = self.figures.get(&(whose, from, figure))?;
        gathered(rounds.values().copied()).median(NAME)
    }

    /// Median and spread, as a cell of a table.
    pub(crate) fn cell(&self, whose: Whose, from: From, figure: Figure) -> String {
        let Some(rounds) = self.figures.get(&(whose, from, figure)) else { return "–".to_owned() };
        let middle = gathered(rounds.values().copied()).median(NAME).map_or_else(String::new, plain);
        if rounds.len() < 2 {
            return middle;
        }
        let smallest = rounds.values().copied().fold(f64::INFINITY, f64::min);
        let largest = rounds.values().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{middle} [{} … {}]", plain(smallest), plain(largest))
    }

    /// A figure of the other's over truetail's, round by round.
    pub(crate) fn ratio(&self, system: System, kind: Kind, other: Tool, figure: Figure) -> Option<Ratio> {
        let of = |tool| self.figures.get(&((system, kind, tool), "", figure));
        let (ours, theirs) = (of(Tool::Truetail)?, of(other)?);
        let pairs = theirs.iter().filter_map(|(round, theirs)| Some(theirs / ours.get(round)?));
        let ratios = gathered(pairs);
        let interval = ratios.interval(NAME).map(|(low, high, level)| Interval { low, high, level });
        Some(Ratio { median: ratios.median(NAME)?, interval })
    }
}

const NAME: &str = "figure";

fn gathered(values: impl Iterator<Item = f64>) -> Figures {
    let mut figures = Figures::default();
    values.for_each(|value| figures.add(NAME, "", value));
    figures
}

/// An interval for a median, from the sign test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) level: f64,
}

/// How one contender's figure compares with truetail's: above 1 it is the larger one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    /// `None` for a single round.
    pub(crate) interval: Option<Interval>,
}

impl Ratio {
    /// Whether truetail's is no larger, as far as the rounds can tell.
    pub(crate) fn verdict(&self) -> &'static str {
        match self.interval {
            Some(Interval { low, .. }) if low >= 1.0 => "met",
            Some(Interval { high, .. }) if high < 1.0 => "not met",
            _ => "undecided",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(ours: &[f64], theirs: &[f64]) -> Results {
        let mut results = Results::default();
        for (tool, values) in [(Tool::Truetail, ours), (Tool::Sysbench, theirs)] {
            for (round, value) in (0..).zip(values) {
                let step = Step { round, system: System::MariaDb, tool, kind: Kind::Closed };
                results.add(&step, "", Figure::User, *value);
            }
        }
        results
    }

    fn ratio(ours: &[f64], theirs: &[f64]) -> Ratio {
        results(ours, theirs).ratio(System::MariaDb, Kind::Closed, Tool::Sysbench, Figure::User).unwrap()
    }

    #[test]
    fn ratios_are_those_of_the_same_round() {
        // A machine that gets slower hits both alike.
        let ours = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        let same = ratio(&ours, &ours.map(|value| 1.5 * value));
        assert_eq!((same.median, same.verdict()), (1.5, "met"));
        assert_eq!(same.interval.map(|interval| (interval.low, interval.high)), Some((1.5, 1.5)));
        assert_eq!(ratio(&ours, &ours.map(|value| 0.5 * value)).verdict(), "not met");
        assert_eq!(ratio(&[1.0; 6], &[0.8, 1.2, 0.9, 1.1, 1.0, 1.3]).verdict(), "undecided");
        assert_eq!(ratio(&[1.0], &[2.0]).verdict(), "undecided", "one round shows no spread");
        // What failed in one round is left out of it.
        let mut results = results(&[1.0, 2.0, 4.0], &[3.0]);
        let step = Step { round: 2, system: System::MariaDb, tool: Tool::Sysbench, kind: Kind::Closed };
        results.add(&step, "", Figure::User, 20.0);
        let ratio = results.ratio(System::MariaDb, Kind::Closed, Tool::Sysbench, Figure::User).unwrap();
        assert_eq!(ratio.median, 4.0);
    }

    #[test]
    fn cells_show_the_spread() {
        let results = results(&[1.0, 3.0, 2.0], &[1.0]);
        let cell = |tool, figure| results.cell((System::MariaDb, Kind::Closed, tool), "", figure);
        assert_eq!(cell(Tool::Truetail, Figure::User), "2 [1 … 3]");
        assert_eq!(cell(Tool::Sysbench, Figure::User), "1");
        assert_eq!(cell(Tool::Sysbench, Figure::P99), "–");
    }
}
