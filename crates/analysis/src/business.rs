//! What a workload asks of its own run: a rate that it is counted in, limits of its response times, shares of its mix.
//!
//! A workload states these as facts in the recording's header; nothing here knows which workload it is. TPC-C's, for example:
//!
//! ```text
//! rate tpmC = NewOrder                 its completed requests, those rolled back by design among them, a minute
//! ceiling of tpmC with terminals = 128.6      what users with think times can reach at most, a minute
//! limit p90 NewOrder = 5s              nine in ten of its response times are at most this
//! least share Payment = 43%            of all requests that were answered
//! rolled back by design NewOrder = 1%  these aborts are what was asked for
//! ```
//!
//! A fact that can't be read, or names an operation that there is not, asks for nothing.

use crate::accumulate::Accumulator;
use crate::input::{Input, Options, Plan};
use record::{LoadModel, Measure, RunHeader};
use units::{Bound, Estimate, Instant, Nanos, Outcome, Quantile, parse_duration};

/// Names of facts on the workload begin so.
mod facts {
    pub(super) const RATE: &str = "rate ";
    pub(super) const CEILING: &str = "ceiling of ";
    pub(super) const WITH_TERMINALS: &str = " with terminals";
    pub(super) const LIMIT: &str = "limit p";
    pub(super) const LEAST_SHARE: &str = "least share ";
    pub(super) const ROLLED_BACK: &str = "rolled back by design ";
    /// Of the end's facts: what the workload counted.
    pub(super) const COUNT: &str = "count: ";
}

/// By how many standard deviations a drawn mix can fall short of its shares.
const CHANCE: f64 = 3.0;

/// A workload's own figures, and whether its rules are kept.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Business {
    /// The rates that it is counted in.
    pub rates: Vec<BusinessRate>,
    /// Its rules, in the order in which it states them.
    pub rules: Vec<Rule>,
    /// What it counted itself since the run's begin, warm-up included, of all clients: (name, count).
    pub counts: Vec<(String, u64)>,
}

/// Completed requests of one operation, a minute of the measured time.
#[derive(Clone, PartialEq, Debug)]
pub struct BusinessRate {
    /// Its name, such as `tpmC`.
    pub name: String,
    /// The operation that is counted.
    pub operation: String,
    /// Completed ones, those rolled back by design among them: the rate of this name.
    pub per_minute: f64,
    /// The same without those rolled back.
    pub committed_per_minute: f64,
    /// What users with think times can reach at most; `None` where none is stated.
    pub ceiling: Option<f64>,
    /// Whether the load was one of such users: otherwise the ceiling does not bind.
    pub is_bound: bool,
}

impl BusinessRate {
    /// The rate over its ceiling; `None` where there is none that binds.
    pub fn share_of_ceiling(&self) -> Option<f64> {
        self.ceiling
            .filter(|ceiling| self.is_bound && *ceiling > 0.0)
            .map(|ceiling| self.per_minute / ceiling)
    }
}

/// What is asked, and what was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    /// The operation that it is about.
    pub operation: String,
    /// What is asked of it.
    pub asked: Asked,
    /// Whether it is kept.
    pub state: RuleState,
}

/// What a rule asks.
#[derive(Clone, PartialEq, Debug)]
pub enum Asked {
    /// A quantile of the times is at most this.
    AtMost {
        /// Which.
        quantile: Quantile,
        /// The most that it may be.
        limit: Nanos,
        /// Response time; service time where there is no other.
        measure: Measure,
        /// What it is, ns; `None` where the samples do not carry it.
        found: Option<Estimate>,
    },
    /// A share of all requests that were answered is at least this.
    AtLeast {
        /// The least, in [0, 1].
        limit: f64,
        /// What it is; `None` without requests.
        found: Option<f64>,
    },
}

/// Whether a rule is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleState {
    /// It is.
    Held,
    /// It is not, by no more than chance: the mix was drawn.
    WithinChance,
    /// It is not.
    Broken,
    /// The samples do not tell.
    Unknown,
}

impl RuleState {
    /// The name in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            RuleState::Held => "held",
            RuleState::WithinChance => "within-chance",
            RuleState::Broken => "broken",
            RuleState::Unknown => "unknown",
        }
    }
}

/// The share of an operation's requests that it rolls back by design: the largest of all operations, in [0, 1].
pub(crate) fn rolled_back_by_design(header: &RunHeader) -> f64 {
    let stated = stated(header, facts::ROLLED_BACK).filter_map(|(_, value)| share(value));
    stated.fold(0.0, f64::max)
}

/// The workload's figures; `None` where it states no rules and counts nothing.
pub(crate) fn business(
    inputs: &[Input],
    plan: &Plan,
    all: &Accumulator,
    spans: &[(Instant, Instant)],
    options: &Options,
) -> Option<Business> {
    let header = &inputs.first()?.info.header;
    let run = Run { header, plan, all, spans, options };
    let mut rules = run.limits();
    rules.extend(run.shares());
    let business = Business { rates: run.rates(), rules, counts: counts(inputs) };
    (business != Business::default()).then_some(business)
}

/// (what stands behind the name's beginning, value) of the workload's facts of this kind.
fn stated<'a>(header: &'a RunHeader, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let of_kind = move |(name, value): &'a (String, String)| Some((name.strip_prefix(kind)?, value.as_str()));
    header.workload_facts.iter().filter_map(of_kind)
}

fn share(text: &str) -> Option<f64> {
    let number: f64 = text.strip_suffix('%')?.parse().ok()?;
    (0.0..=100.0).contains(&number).then_some(number / 100.0)
}

/// Counters of all recordings, added up by name.
fn counts(inputs: &[Input]) -> Vec<(String, u64)> {
    let mut sums: Vec<(String, u64)> = Vec::new();
    for (name, value) in inputs.iter().flat_map(|input| &input.facts) {
        let Some(name) = name.strip_prefix(facts::COUNT) else { continue };
        let Ok(count) = value.parse::<u64>() else { continue };
        match sums.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += count,
            None => sums.push((name.to_owned(), count)),
        }
    }
    sums
}

/// What the rules are held against.
struct Run<'a> {
    header: &'a RunHeader,
    plan: &'a Plan,
    all: &'a Accumulator,
    spans: &'a [(Instant, Instant)],
    options: &'a Options,
}

impl Run<'_> {
    fn operation(&self, name: &str) -> Option<usize> {
        self.header.operations.iter().position(|known| known == name)
    }

    fn rates(&self) -> Vec<BusinessRate> {
        let rate = |(name, operation): (&str, &str)| {
            let index = self.operation(operation)?;
            let ceiling_of = format!("{}{name}{}", facts::CEILING, facts::WITH_TERMINALS);
            let ceiling = stated(self.header, &ceiling_of)
                .find_map(|(rest, value)| if rest.is_empty() { value.parse().ok() } else { None });
            Some(BusinessRate {
                name: name.to_owned(),
                operation: operation.to_owned(),
                per_minute: self.per_minute(index, &[Outcome::Ok, Outcome::Abort]),
                committed_per_minute: self.per_minute(index, &[Outcome::Ok]),
                ceiling,
                is_bound: self.plan.model == LoadModel::Terminals,
            })
        };
        stated(self.header, facts::RATE).filter_map(rate).collect()
    }

    /// Requests that ended so within the measured time, a minute: of all clients, each in its own measured time.
    fn per_minute(&self, operation: usize, outcomes: &[Outcome]) -> f64 {
        let of_client = |client: &crate::accumulate::ClientCells| {
            let recording = self.plan.clients.iter().position(|c| c.is_none_or(|id| id == client.client))?;
            let (begin, end) = self.spans[recording];
            let minutes = (end - begin).as_secs_f64() / 60.0;
            let count: u64 = outcomes.iter().map(|outcome| client.ended_within(operation, *outcome)).sum();
            (minutes > 0.0).then(|| count as f64 / minutes)
        };
        self.all.clients.iter().filter_map(of_client).sum()
    }

    fn limits(&self) -> Vec<Rule> {
        let rule = |(name, value): (&str, &str)| {
            let (percent, operation) = name.split_once(' ')?;
            let quantile = Quantile::new(percent.parse::<f64>().ok()? / 100.0)?;
            let limit = parse_duration(value).ok()?;
            let index = self.operation(operation)?;
            let has_response = self.plan.model.has_response_time();
            let measure = if has_response { Measure::Response } else { Measure::Service };
            let cell =
                self.all.gather(self.plan, |_, op, phase| op == index && self.plan.phases[phase].measured);
            let found =
                cell.and_then(|cell| cell.measure(measure).view().quantile(quantile, self.options.level));
            let state = found.as_ref().map_or(RuleState::Unknown, |found| judged(found, limit));
            let asked = Asked::AtMost { quantile, limit, measure, found };
            Some(Rule { operation: operation.to_owned(), asked, state })
        };
        stated(self.header, facts::LIMIT).filter_map(rule).collect()
    }

    /// Measured requests of an operation that were answered, however they ended.
    fn answered(&self, operation: usize) -> u64 {
        let phases = self.plan.phases.len();
        let measured = (0..phases).filter(|phase| self.plan.phases[*phase].measured);
        let cells = measured.flat_map(|phase| {
            self.all
                .clients
                .iter()
                .filter_map(move |client| client.cells[operation * phases + phase].as_ref())
        });
        let of_cell = |cell: &crate::cell::Cell| -> u64 {
            let outcomes = cell.counts().outcomes;
            outcomes.iter().filter(|(outcome, _)| !outcome.is_censored()).map(|(_, n)| n).sum()
        };
        cells.map(|cell| of_cell(cell)).sum()
    }

    fn shares(&self) -> Vec<Rule> {
        if stated(self.header, facts::LEAST_SHARE).next().is_none() {
            return Vec::new();
        }
        let total: u64 = (0..self.plan.operations).map(|operation| self.answered(operation)).sum();
        let total = total as f64;
        let rule = |(operation, value): (&str, &str)| {
            let limit = share(value)?;
            let index = self.operation(operation)?;
            let found = (total > 0.0).then(|| self.answered(index) as f64 / total);
            // A mix that is drawn falls short of its shares half of the time.
            let slack = CHANCE * (limit * (1.0 - limit) / total.max(1.0)).sqrt();
            let state = match found {
                None => RuleState::Unknown,
                Some(found) if found >= limit => RuleState::Held,
                Some(found) if found >= limit - slack => RuleState::WithinChance,
                Some(_) => RuleState::Broken,
            };
            Some(Rule { operation: operation.to_owned(), asked: Asked::AtLeast { limit, found }, state })
        };
        stated(self.header, facts::LEAST_SHARE).filter_map(rule).collect()
    }
}

/// A quantile of which only a lower bound is known tells nothing unless that is too much already.
fn judged(found: &Estimate, limit: Nanos) -> RuleState {
    match found.point > limit.0 as f64 {
        true => RuleState::Broken,
        false if found.bound == Bound::AtLeast => RuleState::Unknown,
        false => RuleState::Held,
    }
}
