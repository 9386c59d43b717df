//! From pairs to figures.

use super::OverlayOptions;
use super::figures::{
    Overlay, OverlayCounts, OverlayDifference, OverlayMeasure, OverlayMoment, OverlayRowCounts,
    OverlayStaleness, OverlayStatistic, OverlayStore, OverlayValue,
};
use super::joining::Joining;
use super::moment::{self, Compared};
use super::pairing::{Paired, sample_of};
use super::window::{Flown, Loaded, NONE, Row, Session};
use record::{Measure, Recording, TruthLog, TruthStaleness};
use stats::{LogHistogram, Ranks};
use units::{Nanos, Quantile};

/// Quantiles that are stated.
const QUANTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];
/// How many of the largest differences are kept.
const LARGEST: usize = 20;

/// All rows of one sample.
#[derive(Clone, Copy, Debug)]
struct Joined {
    arrived: i64,
    /// Of the row that arrived last.
    newest: i64,
    written: i64,
    rules: u16,
}

/// Values that are kept as they are, at 8 bytes each: up to so many quantiles are exact.
const EXACT_MAX: usize = 1 << 20;

/// Times of one side: as they are, and in a histogram for when there are too many. A bucket is 2⁻¹² of its value wide,
/// and 120 µs of a request of half a second are more than a network's delay.
#[derive(Default)]
struct Times {
    exact: Vec<u64>,
    all: LogHistogram,
}

/// A measure on both sides.
#[derive(Default)]
struct Both {
    truth: Times,
    measured: Times,
}

/// Values of both signs.
#[derive(Default)]
struct Signed {
    negative: LogHistogram,
    positive: LogHistogram,
}

/// Sums over windows.
pub(super) struct Sums {
    operations: Vec<Vec<String>>,
    rule_names: Vec<String>,
    has_response: bool,
    counts: OverlayCounts,
    rows: OverlayRowCounts,
    response: Both,
    service: Both,
    difference: Signed,
    pub(super) lateness: LogHistogram,
    pub(super) staleness: Staleness,
    rules: Vec<u64>,
    largest: Vec<OverlayDifference>,
    moment: Option<OverlayMoment>,
    joining: Option<Joining>,
}

/// How stale reads were.
#[derive(Default)]
pub(super) struct Staleness {
    reads: u64,
    stale: u64,
    versions_max: u32,
    time: LogHistogram,
}

impl Sums {
    pub(super) fn new(recordings: &[Recording], truth: &TruthLog, joining: Option<Joining>) -> Sums {
        let rule_names = truth.header().rules.iter().take(16).cloned().collect::<Vec<_>>();
        Sums {
            operations: recordings.iter().map(|r| r.header().operations.clone()).collect(),
            has_response: recordings.iter().any(|r| r.header().load.model.has_response_time()),
            rules: vec![0; rule_names.len()],
            rule_names,
            counts: OverlayCounts::default(),
            rows: OverlayRowCounts { logged: truth.rows(), ..OverlayRowCounts::default() },
            response: Both::default(),
            service: Both::default(),
            difference: Signed::default(),
            lateness: LogHistogram::new(),
            staleness: Staleness::default(),
            largest: Vec::new(),
            moment: None,
            joining,
        }
    }

    /// Adds what a window owns.
    pub(super) fn add(&mut self, loaded: &Loaded, paired: &[Paired], tolerance: i64) {
        let mut joined: Vec<Vec<Option<Joined>>> =
            loaded.sessions.iter().map(|session| vec![None; session.flown.len()]).collect();
        for (connection, paired) in loaded.connections.iter().zip(paired) {
            for row in &connection.rows {
                self.add_row(row, *paired, loaded, tolerance, &mut joined);
            }
        }
        let mut compared = Vec::new();
        for (session, joined) in loaded.sessions.iter().zip(&joined) {
            for (sample, joined) in session.flown.iter().zip(joined).filter(|(sample, _)| sample.own) {
                self.counts.sent += 1;
                compared.extend(joined.and_then(|joined| self.add_pair(session, sample, &joined)));
            }
        }
        self.counts.never_sent += loaded.never_sent;
        if let Some(joining) = &mut self.joining {
            joining.add(&compared);
        }
        self.moment = moment::worse(self.moment.take(), self.measure(), compared);
    }

    /// What is looked at over time.
    fn measure(&self) -> Measure {
        if self.has_response { Measure::Response } else { Measure::Service }
    }

    fn add_row(
        &mut self,
        row: &Row,
        paired: Paired,
        loaded: &Loaded,
        tolerance: i64,
        joined: &mut [Vec<Option<Joined>>],
    ) {
        let in_time = (loaded.span.0..loaded.span.1).contains(&row.arrived);
        if in_time {
            self.rows.in_time += 1;
            self.rows.ambiguous += u64::from(paired == Paired::Ambiguous);
            if row.late != NONE {
                self.lateness.record(row.late.cast_unsigned());
            }
            self.staleness.add(row.staleness);
        }
        let Paired::With(session) = paired else { return };
        let flown = &loaded.sessions[session].flown;
        let Some(index) = sample_of(flown, row, tolerance) else { return };
        self.rows.matched += u64::from(flown[index].own);
        let slot = &mut joined[session][index];
        *slot = Some(slot.map_or(Joined::of(row), |joined| joined.with(row)));
    }

    /// Counts a sample that has rows; gives its times if they are to be compared.
    fn add_pair(&mut self, session: &Session, sample: &Flown, joined: &Joined) -> Option<Compared> {
        self.counts.matched += 1;
        for (bit, count) in self.rules.iter_mut().enumerate() {
            *count += u64::from(joined.rules >> bit & 1);
        }
        let reason = if sample.outcome.is_censored() {
            &mut self.counts.given_up
        } else if joined.written == NONE {
            &mut self.counts.unanswered
        } else if !sample.measured {
            &mut self.counts.warm_up
        } else {
            &mut self.counts.compared
        };
        *reason += 1;
        if sample.outcome.is_censored() || joined.written == NONE || !sample.measured {
            return None;
        }
        let truth = nanos(joined.written - joined.arrived);
        let measured = nanos(sample.completed - sample.sent);
        self.service.record(truth, measured);
        self.difference.record(measured.cast_signed() - truth.cast_signed());
        self.keep_if_large(session, sample, joined, (truth, measured));
        if sample.intended == NONE {
            return Some(Compared { at: sample.sent, truth, measured });
        }
        let truth = nanos(joined.written - sample.intended);
        let measured = nanos(sample.completed - sample.intended);
        self.response.record(truth, measured);
        Some(Compared { at: sample.intended, truth, measured })
    }

    fn keep_if_large(&mut self, session: &Session, sample: &Flown, joined: &Joined, service: (u64, u64)) {
        let distance = |one: &OverlayDifference| one.truth.0.abs_diff(one.measured.0);
        let own = service.0.abs_diff(service.1);
        if self.largest.len() == LARGEST && self.largest.last().is_some_and(|least| distance(least) >= own) {
            return;
        }
        let place = self.largest.partition_point(|other| distance(other) >= own);
        let operation = self.operations[session.recording].get(usize::from(sample.op));
        let acted = self.rule_names.iter().enumerate().filter(|(bit, _)| joined.rules >> bit & 1 == 1);
        self.largest.insert(
            place,
            OverlayDifference {
                at: moment::instant(if sample.intended == NONE { sample.sent } else { sample.intended }),
                seq: sample.seq,
                client: session.client,
                session: session.number,
                operation: operation.map_or("?", String::as_str).to_owned(),
                outcome: sample.outcome,
                truth: Nanos(service.0),
                measured: Nanos(service.1),
                rules: acted.map(|(_, name)| name.clone()).collect(),
            },
        );
        self.largest.truncate(LARGEST);
    }

    /// Everything that follows from the sums.
    pub(super) fn overlay(self, truth: &TruthLog, options: &OverlayOptions) -> Overlay {
        let end = truth.end();
        let header = truth.header();
        let counts = OverlayCounts { unmatched: self.counts.sent - self.counts.matched, ..self.counts };
        let told = self.rows.matched + self.rows.ambiguous;
        let measure = self.measure();
        let measures = [(Measure::Response, self.response), (Measure::Service, self.service)];
        Overlay {
            store: OverlayStore {
                name: truth.path().display().to_string(),
                command: header.command.clone(),
                tool_version: header.tool_version.clone(),
                settings: header.settings.clone(),
                complete: end.is_some(),
                lost: end.map_or(0, |end| end.dropped + end.unwritable),
                // Complete only after the scans have met the damage.
                unreadable: truth.unreadable(),
            },
            tolerance: options.tolerance,
            requests: counts,
            rows: OverlayRowCounts { outside: self.rows.in_time.saturating_sub(told), ..self.rows },
            measures: measures.into_iter().filter_map(|(measure, both)| both.figures(measure)).collect(),
            difference: self.difference.figures(),
            lateness: durations(&self.lateness),
            rules: self.rule_names.into_iter().zip(self.rules).collect(),
            largest: self.largest,
            staleness: self.staleness.figures(),
            lag: None,
            join: self.joining.and_then(|joining| joining.figures(measure)),
            moment: self.moment,
        }
    }
}

fn nanos(difference: i64) -> u64 {
    difference.max(0).cast_unsigned()
}

impl Joined {
    fn of(row: &Row) -> Joined {
        Joined { arrived: row.arrived, newest: row.arrived, written: row.written, rules: row.rules }
    }

    /// With one row more: a request ends with the answer to the row that arrived last.
    fn with(self, row: &Row) -> Joined {
        let later = row.arrived >= self.newest;
        Joined {
            arrived: self.arrived.min(row.arrived),
            newest: self.newest.max(row.arrived),
            written: if later { row.written } else { self.written },
            rules: self.rules | row.rules,
        }
    }
}

impl Times {
    fn record(&mut self, value: u64) {
        self.all.record(value);
        if self.exact.len() < EXACT_MAX {
            self.exact.push(value);
        }
    }

    /// Mean, quantiles, maximum; nothing of nothing.
    fn numbers(mut self) -> Vec<(OverlayStatistic, f64)> {
        let mut numbers = numbers(&self.all);
        let n = self.exact.len();
        if n as u64 == self.all.count() {
            self.exact.sort_unstable();
            for (statistic, number) in &mut numbers {
                if let OverlayStatistic::Quantile(q) = statistic {
                    *number = self.exact[(q.rank(n as u64) as usize - 1).min(n - 1)] as f64;
                }
            }
        }
        numbers
    }
}

impl Both {
    fn record(&mut self, truth: u64, measured: u64) {
        self.truth.record(truth);
        self.measured.record(measured);
    }

    fn figures(self, measure: Measure) -> Option<OverlayMeasure> {
        let n = self.truth.all.count();
        let (truth, measured) = (self.truth.numbers(), self.measured.numbers());
        let values = truth
            .into_iter()
            .zip(measured)
            .map(|((statistic, truth), (_, measured))| OverlayValue { statistic, truth, measured });
        (n > 0).then(|| OverlayMeasure { measure, n, values: values.collect() })
    }
}

impl Signed {
    fn record(&mut self, value: i64) {
        let side = if value < 0 { &mut self.negative } else { &mut self.positive };
        side.record(value.unsigned_abs());
    }

    /// Smallest, mean, quantiles, largest; nothing of nothing.
    fn figures(&self) -> Vec<(OverlayStatistic, f64)> {
        let (below, above) = (Ranks::new(&self.negative), Ranks::new(&self.positive));
        let n = below.count() + above.count();
        let at = |rank: u64| match below.count().checked_sub(rank) {
            Some(from_the_largest) => below.at(from_the_largest + 1).map(|(low, high)| -middle(low, high)),
            None => above.at(rank - below.count()).map(|(low, high)| middle(low, high)),
        };
        let sum = self.positive.sum() as f64 - self.negative.sum() as f64;
        let extreme = |near: Option<u64>, far: Option<u64>| {
            near.map(|value| -(value as f64)).or(far.map(|value| value as f64))
        };
        let min = extreme(self.negative.max(), self.positive.min());
        let max = self.positive.max().map(|value| value as f64).or(extreme(self.negative.min(), None));
        let quantiles = quantiles().filter_map(|q| Some((OverlayStatistic::Quantile(q), at(q.rank(n))?)));
        let mean = (n > 0).then(|| (OverlayStatistic::Mean, sum / n as f64));
        let mut figures: Vec<_> =
            min.map(|min| (OverlayStatistic::Min, min)).into_iter().chain(mean).collect();
        figures.extend(quantiles);
        figures.extend(max.map(|max| (OverlayStatistic::Max, max)));
        figures
    }
}

impl Staleness {
    fn add(&mut self, staleness: Option<TruthStaleness>) {
        let Some(staleness) = staleness else { return };
        self.reads += 1;
        self.versions_max = self.versions_max.max(staleness.versions);
        if staleness.versions > 0 {
            self.stale += 1;
            self.time.record(staleness.time.0);
        }
    }

    fn figures(&self) -> Option<OverlayStaleness> {
        (self.reads > 0).then(|| OverlayStaleness {
            reads: self.reads,
            stale: self.stale,
            versions_max: self.versions_max,
            time: durations(&self.time),
        })
    }
}

fn quantiles() -> impl Iterator<Item = Quantile> {
    QUANTILES.into_iter().filter_map(Quantile::new)
}

fn middle(low: u64, high: u64) -> f64 {
    low as f64 + (high - low) as f64 / 2.0
}

/// Mean, quantiles, maximum; nothing of nothing.
fn numbers(histogram: &LogHistogram) -> Vec<(OverlayStatistic, f64)> {
    let n = histogram.count();
    let Some(max) = histogram.max() else { return Vec::new() };
    let ranks = Ranks::new(histogram);
    let at = |q: Quantile| {
        ranks.at(q.rank(n)).map(|(low, high)| (OverlayStatistic::Quantile(q), middle(low, high)))
    };
    let mut numbers = vec![(OverlayStatistic::Mean, histogram.sum() as f64 / n as f64)];
    numbers.extend(quantiles().filter_map(at));
    numbers.push((OverlayStatistic::Max, max as f64));
    numbers
}

/// The same without the mean, as durations.
pub(super) fn durations(histogram: &LogHistogram) -> Vec<(OverlayStatistic, Nanos)> {
    let numbers =
        numbers(histogram).into_iter().filter(|(statistic, _)| *statistic != OverlayStatistic::Mean);
    numbers.map(|(statistic, value)| (statistic, Nanos(value.round() as u64))).collect()
}
