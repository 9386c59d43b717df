//! Where the time of a request goes: into which of its exchanges with the database, and into what lies between them.
//!
//! A request of one operation takes the sum of its exchanges' service times, plus what lies between: the client's own work
//! and the pauses before retries. Means are additive, so that the parts of a mean request add up to it; the parts of its
//! slowest hundredth likewise. The difference of the two says which exchange makes the tail: quantiles could not be added,
//! since the slow exchanges of a transaction need not be those of the slow transactions.

use crate::MeasureSummary;
use crate::accumulate::Accumulator;
use crate::input::{AnalysisError, Input, Options, Plan};
use crate::limits::{SLOW_STATEMENTS, SLOW_STATEMENTS_REQUESTS};
use crate::summary::measure_summary;
use record::{Columns, Measure, Recording, STATEMENTS_DROPPED, SampleBatch, Statement, statement_name};
use stats::Distribution;
use std::collections::{BTreeMap, HashSet};
use units::{Instant, Nanos, Outcome, Quantile};

/// What is inside of the measured requests; of a run that timed it.
#[derive(Clone, PartialEq, Debug)]
pub struct Statements {
    /// Of each operation that was asked, in the header's order.
    pub operations: Vec<OperationStatements>,
    /// Exchanges that found their buffer full: they are in no figure here, while the requests themselves are complete.
    pub dropped: u64,
}

/// What is inside of the requests of one operation.
#[derive(Clone, PartialEq, Debug)]
pub struct OperationStatements {
    /// Its name.
    pub operation: String,
    /// Its requests that were sent.
    pub requests: u64,
    /// Their mean service time, ns.
    pub mean_ns: f64,
    /// Its slowest requests; `None` where they are too few to say anything of.
    pub slowest: Option<Slowest>,
    /// Its kinds of exchanges, in the order in which a request first has them.
    pub exchanges: Vec<ExchangeSummary>,
    /// What lies between them.
    pub between: Part,
}

/// The slowest hundredth of an operation's requests.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slowest {
    /// How many.
    pub requests: u64,
    /// They took at least this long, as service time.
    pub from: Nanos,
    /// Their mean service time, ns.
    pub mean_ns: f64,
}

/// A part of a mean request, and of a mean slow one.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Part {
    /// Of a request, ns.
    pub mean_ns: f64,
    /// Of one of the slowest, ns; `None` where [`OperationStatements::slowest`] is.
    pub slow_mean_ns: Option<f64>,
}

/// Exchanges of one operation that carry the same first statement and begin or end the transaction alike.
#[derive(Clone, PartialEq, Debug)]
pub struct ExchangeSummary {
    /// What they are called: `BEGIN, SELECT customer`.
    pub name: String,
    /// The first statement's text; `None` where it has none, as in `COMMIT`.
    pub text: Option<String>,
    /// How many.
    pub count: u64,
    /// Of those, the ones that ended as an error, a timeout or unfinished.
    pub failed: u64,
    /// Commands in one, on average.
    pub commands: f64,
    /// What they add to a request: all of this kind, whether it has none or several.
    pub part: Part,
    /// Their service time.
    pub times: MeasureSummary,
}

impl OperationStatements {
    /// How much of what makes the slowest requests longer than the mean one lies in this part: in [0, 1] as a rule; less
    /// than 0 for a part that is shorter in them. `None` where there is no such difference.
    pub fn share_of_excess(&self, part: &Part) -> Option<f64> {
        let excess = self.slowest?.mean_ns - self.mean_ns;
        (excess > 0.0).then_some((part.slow_mean_ns? - part.mean_ns) / excess)
    }
}

/// What tells kinds of exchanges of an operation apart: the first statement, and what it begins or ends.
type Kind = (u16, u8);

/// One kind, as it is summed.
struct Sum {
    /// The smallest place in a request.
    place: u16,
    failed: u64,
    commands: u64,
    total_ns: u128,
    slow_ns: u128,
    times: Distribution,
}

/// Requests of one operation, as they are summed.
#[derive(Clone, Default)]
struct Requests {
    /// Slow from here on, ns.
    limit: Option<u64>,
    count: u64,
    total_ns: u128,
    slow: u64,
    slow_ns: u128,
}

/// Looks into recordings whose statements were timed; `None` where none was. Reads the samples once more and all
/// exchanges; memory grows with a hundredth of the requests.
pub(crate) fn statements(
    recordings: &[Recording],
    inputs: &[Input],
    plan: &Plan,
    all: &Accumulator,
    options: &Options,
) -> Result<Option<Statements>, AnalysisError> {
    let header = &inputs[0].info.header;
    if inputs.iter().all(|input| input.info.header.statements.is_none()) {
        return Ok(None);
    }
    let mut requests: Vec<Requests> = (0..plan.operations)
        .map(|operation| Requests { limit: limit(plan, all, operation), ..Requests::default() })
        .collect();
    let mut sums: Vec<BTreeMap<Kind, Sum>> = (0..plan.operations).map(|_| BTreeMap::new()).collect();
    for (index, recording) in recordings.iter().enumerate() {
        let slow = slow_requests(recording, plan, &mut requests, options)?;
        let origin = Instant(plan.measured_spans[index].0);
        recording.statements(|rows| {
            for row in rows {
                let measured = plan.phases.get(usize::from(row.phase)).is_some_and(|phase| phase.measured);
                if let (true, Some(kinds)) = (measured, sums.get_mut(usize::from(row.op))) {
                    let at = plan.on_axis(index, row.sent);
                    add(kinds, row, at, slow.contains(&row.seq), origin);
                }
            }
        })?;
    }
    let names: Vec<String> = header.statements.iter().flatten().map(|one| one.name.clone()).collect();
    let text = |label: u16| header.statements.as_ref()?.get(usize::from(label)).map(|one| one.text.clone());
    let operations = requests.iter().zip(sums).enumerate().filter(|(_, (requests, _))| requests.count > 0);
    let operations = operations.map(|(op, (requests, kinds))| {
        let exchange = |(&(label, with), sum): (&Kind, &Sum)| {
            Some(ExchangeSummary {
                name: statement_name(&names, label, with),
                text: text(label),
                count: sum.times.count(),
                failed: sum.failed,
                commands: sum.commands as f64 / sum.times.count() as f64,
                part: requests.part(sum.total_ns, sum.slow_ns),
                times: measure_summary(Measure::Service, &sum.times, options)?,
            })
        };
        let mut in_order: Vec<_> = kinds.iter().collect();
        in_order.sort_by_key(|(kind, sum)| (sum.place, **kind));
        let exchanges: Vec<ExchangeSummary> = in_order.into_iter().filter_map(exchange).collect();
        requests.summary(header.operations[op].clone(), exchanges)
    });
    Ok(Some(Statements { operations: operations.collect(), dropped: dropped(inputs) }))
}

fn dropped(inputs: &[Input]) -> u64 {
    let facts = inputs.iter().flat_map(|input| &input.facts).filter(|(name, _)| name == STATEMENTS_DROPPED);
    facts.filter_map(|(_, count)| count.parse::<u64>().ok()).sum()
}

/// From which service time on a request of the operation is among its slowest; `None` where it has too few.
fn limit(plan: &Plan, all: &Accumulator, operation: usize) -> Option<u64> {
    let cell = all.gather(plan, |_, op, phase| op == operation && plan.phases[phase].measured)?;
    let service = &cell.measures[1];
    let view = service.view();
    let limit = view.value(Quantile::new(1.0 - SLOW_STATEMENTS)?)?;
    (service.count() >= SLOW_STATEMENTS_REQUESTS).then_some(limit as u64)
}

/// Counts the requests of a recording, and gives the numbers of the slow ones.
fn slow_requests(
    recording: &Recording,
    plan: &Plan,
    requests: &mut [Requests],
    options: &Options,
) -> Result<HashSet<u64>, AnalysisError> {
    let columns = Columns::SEQ | Columns::SENT | Columns::OP | Columns::PHASE;
    let start: Vec<Requests> =
        requests.iter().map(|one| Requests { limit: one.limit, ..Requests::default() }).collect();
    let parts = recording.scan_columns(
        columns,
        options.threads.max(1),
        || (start.clone(), HashSet::new()),
        |(counts, slow), batch| count(plan, counts, slow, batch),
    )?;
    let mut all = HashSet::new();
    for (counts, slow) in parts {
        all.extend(slow);
        for (mine, theirs) in requests.iter_mut().zip(counts) {
            mine.count += theirs.count;
            mine.total_ns += theirs.total_ns;
            mine.slow += theirs.slow;
            mine.slow_ns += theirs.slow_ns;
        }
    }
    Ok(all)
}

fn count(plan: &Plan, counts: &mut [Requests], slow: &mut HashSet<u64>, batch: &SampleBatch) {
    for index in 0..batch.len() {
        let phase = plan.phases.get(usize::from(batch.phase[index]));
        let (Some(of), true) =
            (counts.get_mut(usize::from(batch.op[index])), phase.is_some_and(|phase| phase.measured))
        else {
            continue;
        };
        let (sent, completed) = (Instant(batch.sent[index]), Instant(batch.completed[index]));
        let Some(service) = completed.since(sent) else { continue };
        of.count += 1;
        of.total_ns += u128::from(service.0);
        if of.limit.is_some_and(|limit| service.0 >= limit) {
            of.slow += 1;
            of.slow_ns += u128::from(service.0);
            slow.insert(batch.seq[index]);
        }
    }
}

fn add(kinds: &mut BTreeMap<Kind, Sum>, row: &Statement, at: Instant, is_slow: bool, origin: Instant) {
    let Some(service) = row.service() else { return };
    let sum = kinds.entry((row.label, row.with)).or_insert_with(|| Sum {
        place: u16::MAX,
        failed: 0,
        commands: 0,
        total_ns: 0,
        slow_ns: 0,
        times: Distribution::new(origin),
    });
    sum.place = sum.place.min(row.position);
    sum.failed += u64::from(row.outcome != Outcome::Ok);
    sum.commands += u64::from(row.commands);
    sum.total_ns += u128::from(service.0);
    if is_slow {
        sum.slow_ns += u128::from(service.0);
    }
    if row.outcome.is_censored() {
        sum.times.record_censored(at, service);
    } else {
        sum.times.record(at, service);
    }
}

impl Requests {
    fn part(&self, total_ns: u128, slow_ns: u128) -> Part {
        Part {
            mean_ns: total_ns as f64 / self.count as f64,
            slow_mean_ns: (self.slow > 0).then(|| slow_ns as f64 / self.slow as f64),
        }
    }

    fn summary(&self, operation: String, exchanges: Vec<ExchangeSummary>) -> OperationStatements {
        let whole = self.part(self.total_ns, self.slow_ns);
        let inside = |of: fn(&Part) -> f64| exchanges.iter().map(|one| of(&one.part)).sum::<f64>();
        let between = Part {
            mean_ns: whole.mean_ns - inside(|part| part.mean_ns),
            slow_mean_ns: whole
                .slow_mean_ns
                .map(|slow| slow - inside(|part| part.slow_mean_ns.unwrap_or(0.0))),
        };
        let slowest = self.limit.zip(whole.slow_mean_ns);
        let slowest =
            slowest.map(|(limit, mean_ns)| Slowest { requests: self.slow, from: Nanos(limit), mean_ns });
        OperationStatements {
            operation,
            requests: self.count,
            mean_ns: whole.mean_ns,
            slowest,
            exchanges,
            between,
        }
    }
}
