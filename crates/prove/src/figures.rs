//! The six statistics that are compared everywhere.

use units::Quantile;

/// One of the statistics that a tool is graded by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Statistic {
    /// Arithmetic mean.
    Mean,
    /// Median.
    P50,
    /// 0.95-quantile.
    P95,
    /// 0.99-quantile.
    P99,
    /// 0.999-quantile.
    P999,
    /// Largest.
    Max,
}

impl Statistic {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Statistic; 6] =
        [Statistic::Mean, Statistic::P50, Statistic::P95, Statistic::P99, Statistic::P999, Statistic::Max];

    /// The quantile that it is; `None` for the mean.
    pub fn quantile(self) -> Option<Quantile> {
        Quantile::new(match self {
            Statistic::Mean => return None,
            Statistic::P50 => 0.5,
            Statistic::P95 => 0.95,
            Statistic::P99 => 0.99,
            Statistic::P999 => 0.999,
            Statistic::Max => 1.0,
        })
    }

    /// `mean`, `p50`, …, `p99.9`, `max`: in text and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Statistic::Mean => "mean",
            Statistic::P50 => "p50",
            Statistic::P95 => "p95",
            Statistic::P99 => "p99",
            Statistic::P999 => "p99.9",
            Statistic::Max => "max",
        }
    }
}

/// The statistics of one time of a set of requests, ns. One that nobody stated is `None`, never zero.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Figures {
    /// How many requests they are of; 0 where that is not known.
    pub count: u64,
    values: [Option<f64>; Statistic::ALL.len()],
}

impl Figures {
    /// Of so many requests; nothing is stated yet.
    pub fn counted(count: u64) -> Figures {
        Figures { count, ..Figures::default() }
    }

    /// Of these values, ns: the mean, and quantiles by nearest rank (the least value that at least the share q of all
    /// does not exceed). Sorts `values`. All are `None` where there are no values.
    pub fn of(values: &mut [f64]) -> Figures {
        values.sort_unstable_by(f64::total_cmp);
        let mut figures = Figures::counted(values.len() as u64);
        if values.is_empty() {
            return figures;
        }
        for statistic in Statistic::ALL {
            figures.values[statistic as usize] = Some(match statistic.quantile() {
                None => values.iter().sum::<f64>() / values.len() as f64,
                Some(q) => values[q.rank(figures.count) as usize - 1],
            });
        }
        figures
    }

    /// The same from a rule: `value_at(rank)` is the value of this rank, 1 being the least of `count`.
    pub fn from_ranks(count: u64, mean: f64, value_at: impl Fn(u64) -> f64) -> Figures {
        let mut figures = Figures::counted(count);
        for statistic in Statistic::ALL {
            let value = statistic.quantile().map_or(mean, |q| value_at(q.rank(count)));
            figures.values[statistic as usize] = Some(value);
        }
        figures
    }

    /// With one of them set.
    #[must_use]
    pub fn with(mut self, statistic: Statistic, ns: f64) -> Figures {
        self.values[statistic as usize] = Some(ns);
        self
    }

    /// Without one of them.
    #[must_use]
    pub fn without(mut self, statistic: Statistic) -> Figures {
        self.values[statistic as usize] = None;
        self
    }

    /// One of them, ns.
    pub fn get(&self, statistic: Statistic) -> Option<f64> {
        self.values[statistic as usize]
    }

    /// Each with `other`'s, where both are known, as `merge` makes one of two.
    #[must_use]
    pub fn merged(&self, other: &Figures, merge: impl Fn(f64, f64) -> f64) -> Figures {
        let mut merged = *self;
        for (mine, theirs) in merged.values.iter_mut().zip(other.values) {
            *mine = mine.zip(theirs).map(|(a, b)| merge(a, b));
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let mut values: Vec<f64> = (1..=1000).rev().map(f64::from).collect();
        let figures = Figures::of(&mut values);
        let found: Vec<f64> = Statistic::ALL.iter().filter_map(|s| figures.get(*s)).collect();
        assert_eq!(found, [500.5, 500.0, 950.0, 990.0, 999.0, 1000.0]);
        assert_eq!(figures, Figures::from_ranks(1000, 500.5, |rank| rank as f64));
    }

    #[test]
    fn what_nobody_stated_is_absent() {
        let none = Figures::of(&mut []);
        assert!(Statistic::ALL.iter().all(|s| none.get(*s).is_none()) && none.count == 0);
        let one = none.with(Statistic::P99, 5.0);
        assert_eq!(one.merged(&none, f64::max).get(Statistic::P99), None);
        assert_eq!(one.merged(&one, |a, b| a + b).get(Statistic::P99), Some(10.0));
    }
}
