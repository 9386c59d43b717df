//! What another tool stated of its run: figures without the requests behind them.

use crate::sealed::ROWS_MAX;
use units::{Instant, Nanos, Quantile};

/// Figures of all statements of a recording, at most; see [`Stated::figures`].
pub const STATED_MAX: usize = ROWS_MAX;

/// The moment that a tool's figures count from, as far as it says it: its claim, which a measurement against known truth may
/// refute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StatedFrom {
    /// The moment at which the schedule wanted the request: the figures are response times.
    Schedule,
    /// The moment at which the request was sent: service times.
    Send,
    /// The tool does not say.
    #[default]
    Unsaid,
}

impl StatedFrom {
    /// All of them.
    pub const ALL: [StatedFrom; 3] = [StatedFrom::Schedule, StatedFrom::Send, StatedFrom::Unsaid];

    /// The name in recordings and JSON.
    pub fn name(self) -> &'static str {
        match self {
            StatedFrom::Schedule => "schedule",
            StatedFrom::Send => "send",
            StatedFrom::Unsaid => "unsaid",
        }
    }
}

/// How a tool's figures lie to the finest step that they can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StatedRounding {
    /// A figure is the lower end of its step: the true value is up to a step larger.
    Down,
    /// The true value may be up to a step smaller or larger.
    #[default]
    Unsaid,
}

/// What a tool stated of one operation, of all of its run or of one interval. What it did not say is absent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stated {
    /// The operation; empty for all together.
    pub operation: String,
    /// The tool's own name of what it measured.
    pub measure: String,
    /// From when the figures count.
    pub counted_from: StatedFrom,
    /// The interval that the figures are of; `None` for the whole run.
    pub interval: Option<(Instant, Instant)>,
    /// How many were measured.
    pub count: Option<u64>,
    /// Mean.
    pub mean: Option<Nanos>,
    /// Smallest.
    pub min: Option<Nanos>,
    /// Largest.
    pub max: Option<Nanos>,
    /// Quantiles that it printed, ascending.
    pub quantiles: Vec<(Quantile, Nanos)>,
    /// Where it counted in buckets: a value, and how many took at most that long; ascending.
    pub cumulative: Vec<(Nanos, u64)>,
    /// The finest step that its figures can show.
    pub resolution: Option<Nanos>,
    /// Width of its buckets relative to the value.
    pub relative_resolution: Option<f64>,
    /// How its figures lie to that step.
    pub rounding: StatedRounding,
}

/// What the statement says of one quantile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatedQuantile {
    /// The tool printed it.
    Told(Nanos),
    /// It lies in a bucket: above the first, and at most the second.
    Within(Nanos, Nanos),
    /// Nothing is told.
    NotTold,
}

impl Stated {
    /// What is said of a quantile; nothing is interpolated.
    pub fn quantile(&self, q: Quantile) -> StatedQuantile {
        let printed = self.quantiles.iter().find(|(printed, _)| (printed.get() - q.get()).abs() < 1e-9);
        if let Some((_, value)) = printed {
            return StatedQuantile::Told(*value);
        }
        if let Some(max) = self.max.filter(|_| q.get() >= 1.0) {
            return StatedQuantile::Told(max);
        }
        let bucket = bucket_of(&self.cumulative, self.min, q);
        bucket.map_or(StatedQuantile::NotTold, |(above, at_most)| StatedQuantile::Within(above, at_most))
    }

    /// Least and most, ns, that a quantile can be; `None` where nothing is said of it.
    pub fn range(&self, q: Quantile) -> Option<(u64, u64)> {
        match self.quantile(q) {
            StatedQuantile::Told(value) => Some(self.true_range(value)),
            StatedQuantile::Within(above, at_most) => Some((above.0, at_most.0)),
            StatedQuantile::NotTold => None,
        }
    }

    /// The same as a reader should see it: the printed value twice where its step is at most a twentieth of it.
    pub fn ends(&self, q: Quantile) -> Option<(u64, u64)> {
        const FINE: f64 = 0.05;
        let (low, high) = self.range(q)?;
        let StatedQuantile::Told(Nanos(value)) = self.quantile(q) else { return Some((low, high)) };
        let is_fine = (high - value).max(value - low) as f64 <= FINE * value as f64;
        Some(if is_fine { (value, value) } else { (low, high) })
    }

    /// Rows that it takes in `stated.parquet`: one for each figure, and one for itself.
    pub fn figures(&self) -> usize {
        let times = [self.mean, self.min, self.max, self.resolution].iter().flatten().count();
        let is_rounded_down = self.rounding == StatedRounding::Down;
        let others =
            [self.count.is_some(), self.relative_resolution.is_some(), is_rounded_down].map(usize::from);
        1 + times + others.iter().sum::<usize>() + self.quantiles.len() + self.cumulative.len()
    }

    /// Least and most, ns, that a figure can stand for which the tool rounded as it rounds all of them. What it does not say
    /// of its steps is taken for exact.
    pub fn true_range(&self, figure: Nanos) -> (u64, u64) {
        let of_value = self.relative_resolution.filter(|width| *width > 0.0).unwrap_or(0.0);
        let of_value = (figure.0 as f64 * of_value).ceil() as u64;
        let step = self.resolution.unwrap_or(Nanos::ZERO).0.saturating_add(of_value);
        let less = match self.rounding {
            StatedRounding::Down => 0,
            StatedRounding::Unsaid => step,
        };
        (figure.0.saturating_sub(less), figure.0.saturating_add(step))
    }
}

/// Between which two counted values a quantile lies, above the first and at most the second; `cumulative` has values and how many
/// took at most that long, ascending in both. The first bucket begins at the smallest value, if that is known, else at zero.
/// `None` where nothing was counted. O(n).
pub fn bucket_of(cumulative: &[(Nanos, u64)], min: Option<Nanos>, q: Quantile) -> Option<(Nanos, Nanos)> {
    let (_, total) = *cumulative.last()?;
    let rank = q.rank(total);
    let at = cumulative.iter().position(|(_, count)| *count >= rank)?;
    let (at_most, _) = cumulative[at];
    let before = at.checked_sub(1).map(|before| cumulative[before].0);
    Some((before.or(min).unwrap_or(Nanos::ZERO).min(at_most), at_most))
}
