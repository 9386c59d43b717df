//! Offered and achieved load over time.

use crate::LoadPoint;
use crate::limits::LOAD_POINTS;
use record::LoadModel;
use units::{Instant, OutcomeClass};

/// Steps while counting: 0.1 s.
const STEP_NS: u64 = 100_000_000;
/// Steps per second.
const PER_SECOND: usize = 10;
/// Instants after ten days are a broken clock's, not a run's.
const MOST_STEPS: usize = 10 * 86_400 * PER_SECOND;

#[derive(Clone, Copy, Debug, Default)]
struct Step {
    intended: u64,
    completed: u64,
    failed: u64,
}

/// Counts per tenth of a second.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadBuilder {
    steps: Vec<Step>,
}

impl LoadBuilder {
    fn step(&mut self, at: u64) -> Option<&mut Step> {
        let index = (at / STEP_NS) as usize;
        if index >= MOST_STEPS {
            return None;
        }
        if index >= self.steps.len() {
            self.steps.resize(index + 1, Step::default());
        }
        Some(&mut self.steps[index])
    }

    #[inline]
    pub(crate) fn add(&mut self, intended: u64, completed: u64, class: OutcomeClass) {
        if let Some(step) = self.step(intended) {
            step.intended += 1;
        }
        let failed = matches!(class, OutcomeClass::Error | OutcomeClass::Timeout | OutcomeClass::Unfinished);
        if let Some(step) = self.step(completed) {
            step.completed += u64::from(class != OutcomeClass::Unfinished);
            step.failed += u64::from(failed);
        }
    }

    pub(crate) fn merge(&mut self, other: &LoadBuilder) {
        if self.steps.len() < other.steps.len() {
            self.steps.resize(other.steps.len(), Step::default());
        }
        for (a, b) in self.steps.iter_mut().zip(&other.steps) {
            a.intended += b.intended;
            a.completed += b.completed;
            a.failed += b.failed;
        }
    }

    /// Arrivals up to a moment that had not completed by then; to a tenth of a second.
    pub(crate) fn backlog_at(&self, at: Instant) -> u64 {
        let until = ((at.0 / STEP_NS) as usize).min(self.steps.len());
        let sum = |of: fn(&Step) -> u64| self.steps[..until].iter().map(of).sum::<u64>();
        sum(|s| s.intended).saturating_sub(sum(|s| s.completed))
    }

    /// Second by second, or in as many whole seconds as keep the points few. The last step is as long as the run
    /// lasted in it, `end` being when it ended; not shorter than what is counted apart.
    pub(crate) fn points(&self, model: LoadModel, end: Instant) -> Vec<LoadPoint> {
        let seconds = self.steps.len().div_ceil(PER_SECOND);
        let size = seconds.div_ceil(LOAD_POINTS).max(1);
        let whole = (size * PER_SECOND) as u64 * STEP_NS;
        let point = |(index, steps): (usize, &[Step])| {
            let at = index as u64 * whole;
            let length = end.0.saturating_sub(at).clamp(STEP_NS, whole) as f64 / 1e9;
            let rate = |of: fn(&Step) -> u64| steps.iter().map(of).sum::<u64>() as f64 / length;
            LoadPoint {
                at: Instant(at),
                offered: model.has_response_time().then(|| rate(|s| s.intended)),
                achieved: rate(|s| s.completed),
                failed: rate(|s| s.failed),
            }
        };
        self.steps.chunks(size * PER_SECOND).enumerate().map(point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_is_as_long_as_the_run_lasted_in_it() {
        let rates = |every: u64, count: u64, end: u64| -> Vec<f64> {
            let mut load = LoadBuilder::default();
            (0..count).for_each(|i| load.add(i * every, i * every, OutcomeClass::Ok));
            load.points(LoadModel::Open, Instant(end)).iter().map(|p| p.achieved).collect()
        };
        let second = 1_000_000_000;
        // One request at the begin of each second: its tenth is not all that the last second lasted.
        assert_eq!(rates(second, 3, 3 * second), [1.0, 1.0, 1.0]);
        // 100/s for 2.25 s: three tenths are counted, a quarter of a second was run.
        assert_eq!(rates(second / 100, 225, 2 * second + second / 4), [100.0, 100.0, 100.0]);
        // An answer just after the end: no more than its tenth can tell.
        assert_eq!(rates(second, 2, second + 1), [1.0, 10.0]);
    }

    #[test]
    fn rates_and_backlog_are_counted() {
        let mut load = LoadBuilder::default();
        // 100/s for 4 s; those of the third second complete a second late, the last one never.
        for i in 0..400u64 {
            let at = i * 10_000_000 + 1;
            let late = if (200..300).contains(&i) { 1_000_000_000 } else { 1_000_000 };
            let class = if i == 399 { OutcomeClass::Unfinished } else { OutcomeClass::Ok };
            load.add(at, at + late, class);
        }
        let points = load.points(LoadModel::Open, Instant(4_000_000_000));
        assert_eq!(points.iter().map(|p| p.offered).collect::<Vec<_>>(), [Some(100.0); 4]);
        assert_eq!(points.iter().map(|p| p.achieved).collect::<Vec<_>>(), [100.0, 100.0, 0.0, 199.0]);
        assert_eq!(points[3].failed, 1.0);
        assert_eq!(load.backlog_at(Instant(3_000_000_000)), 100);
        assert_eq!(load.backlog_at(Instant(2_000_000_000)), 0);
        assert_eq!(load.points(LoadModel::Closed, Instant(4_000_000_000))[0].offered, None);
        load.add(u64::MAX, u64::MAX - 1, OutcomeClass::Ok);
        assert_eq!(
            load.points(LoadModel::Open, Instant(4_000_000_000)).len(),
            4,
            "an absent instant has no step"
        );
    }
}
