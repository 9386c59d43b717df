//! One pass over the samples: everything that an analysis needs is summed here.
//!
//! Each reading thread has an accumulator of its own, and they are merged afterwards; the result does not
//! depend on how batches were divided among threads. Operation, phase and client are recorded once, in cells
//! of all three, and the coarser scopes are made by merging cells: a sample costs ≈ 0.1 µs and touches its
//! distributions once.

use crate::cell::{Cell, NONE, Times};
use crate::composition::CompositionBuilder;
use crate::heat::HeatBuilder;
use crate::input::Plan;
use crate::load_series::LoadBuilder;
use crate::outliers::{ExtremesBuilder, PointSampler};
use crate::pyramid::PyramidBuilder;
use record::{Measure, SampleBatch};
use units::Outcome;

/// What a figure over time needs of one measure.
#[derive(Clone, Debug)]
pub(crate) struct SeriesBuilder {
    pub(crate) pyramid: PyramidBuilder,
    pub(crate) heat: HeatBuilder,
    pub(crate) extremes: ExtremesBuilder,
    pub(crate) sampler: PointSampler,
}

impl SeriesBuilder {
    fn new() -> SeriesBuilder {
        SeriesBuilder {
            pyramid: PyramidBuilder::new(),
            heat: HeatBuilder::new(),
            extremes: ExtremesBuilder::default(),
            sampler: PointSampler::new(),
        }
    }

    #[inline]
    fn add(&mut self, times: &Times, value: u64, hash: u64) {
        if value == NONE {
            return;
        }
        self.pyramid.add(times.at, value);
        self.heat.add(times.at, value);
        self.extremes.add(times, value);
        self.sampler.add(hash, times.at, value);
    }

    fn merge(&mut self, other: SeriesBuilder) {
        self.pyramid.merge(other.pyramid);
        self.heat.merge(other.heat);
        self.extremes.merge(other.extremes);
        self.sampler.merge(other.sampler);
    }
}

/// The cells of one client, by operation and phase.
#[derive(Clone, Debug)]
pub(crate) struct ClientCells {
    pub(crate) client: u16,
    /// Index: operation · phases + phase.
    pub(crate) cells: Vec<Option<Box<Cell>>>,
    /// Measured samples that completed by the end of the measured time.
    pub(crate) in_time: u64,
    /// Samples that completed within the measured time, whenever they were intended: behind a backlog, requests of the warm-up
    /// are what the target is busy with.
    pub(crate) completed_within: u64,
    /// Of those, the ones with outcome ok.
    pub(crate) ok_within: u64,
    /// Likewise by operation: those with outcome ok, and those that rolled back as they should.
    within_of: Vec<(u64, u64)>,
    /// The newest completion, on the common axis.
    pub(crate) newest: u64,
    /// When the last request was sent, on the common axis; `None` where that is known of none.
    pub(crate) last_sent: Option<u64>,
}

impl ClientCells {
    /// Samples of an operation that ended so within the measured time; of ok and abort alone.
    pub(crate) fn ended_within(&self, operation: usize, outcome: Outcome) -> u64 {
        let (ok, aborted) = self.within_of.get(operation).copied().unwrap_or_default();
        match outcome {
            Outcome::Ok => ok,
            Outcome::Abort => aborted,
            _ => 0,
        }
    }
}

/// All sums of one thread, or of all of them.
#[derive(Clone, Debug)]
pub(crate) struct Accumulator {
    has_response: bool,
    pub(crate) clients: Vec<ClientCells>,
    pub(crate) response: SeriesBuilder,
    pub(crate) service: SeriesBuilder,
    pub(crate) composition: CompositionBuilder,
    pub(crate) load: LoadBuilder,
    /// By operation: the whole of requests that were answered, over time.
    pub(crate) answered: Vec<HeatBuilder>,
    /// Samples of operations, phases or outcomes that the header does not know.
    pub(crate) unknown: u64,
    /// Memory for the samples in work.
    group: Vec<Placed>,
}

/// Samples that are worked on together.
const GROUP: usize = 1024;

/// A sample in work.
#[derive(Clone, Copy, Debug)]
struct Placed {
    times: Times,
    intended: u64,
    cell: usize,
    phase: usize,
    measured: bool,
    retries: u8,
}

impl Accumulator {
    pub(crate) fn new(plan: &Plan) -> Accumulator {
        Accumulator {
            has_response: plan.model.has_response_time(),
            clients: Vec::new(),
            response: SeriesBuilder::new(),
            service: SeriesBuilder::new(),
            composition: CompositionBuilder::new(),
            load: LoadBuilder::default(),
            answered: vec![HeatBuilder::new(); plan.operations],
            unknown: 0,
            group: Vec::with_capacity(GROUP),
        }
    }

    /// Adds the samples of a batch of the recording with this index.
    pub(crate) fn add(&mut self, plan: &Plan, recording: usize, batch: &SampleBatch) {
        let client = plan.clients[recording].unwrap_or(batch.client);
        let slot = self.client_slot(plan, client);
        let mut group = std::mem::take(&mut self.group);
        for begin in (0..batch.len()).step_by(GROUP) {
            group.clear();
            for index in begin..batch.len().min(begin + GROUP) {
                match self.place(plan, plan.shifts[recording], client, batch, index) {
                    Some(placed) => group.push(placed),
                    None => self.unknown += 1,
                }
            }
            self.add_group(plan, slot, plan.measured_spans[recording], &group);
        }
        self.group = group;
    }

    /// A sample's times and its cell; `None` for an operation, phase or outcome that the header does not know.
    #[inline]
    fn place(
        &self,
        plan: &Plan,
        shift: u64,
        client: u16,
        batch: &SampleBatch,
        index: usize,
    ) -> Option<Placed> {
        let (op, phase) = (usize::from(batch.op[index]), usize::from(batch.phase[index]));
        if op >= plan.operations || phase >= plan.phases.len() {
            return None;
        }
        let (times, intended) = times_of(batch, index, shift, client, self.has_response)?;
        let cell = op * plan.phases.len() + phase;
        let measured = plan.phases[phase].measured;
        Some(Placed { times, intended, cell, phase, measured, retries: batch.retries[index] })
    }

    /// One structure after the other: each fits into a cache that all of them together would not.
    fn add_group(&mut self, plan: &Plan, slot: usize, span: (u64, u64), group: &[Placed]) {
        let (measured_begin, measured_end) = span;
        let client = &mut self.clients[slot];
        for placed in group {
            let origin = plan.phases[placed.phase].origin;
            let cell = client.cells[placed.cell].get_or_insert_with(|| Box::new(Cell::new(origin)));
            cell.count(placed.times.outcome, placed.retries);
            client.newest = client.newest.max(placed.times.completed);
            client.last_sent = client.last_sent.max(placed.times.sent());
            let outcome = placed.times.outcome;
            let by_end = placed.times.completed <= measured_end && outcome != Outcome::Unfinished;
            let within = by_end && placed.times.completed >= measured_begin;
            client.in_time += u64::from(by_end && placed.measured);
            client.completed_within += u64::from(within);
            client.ok_within += u64::from(within && outcome == Outcome::Ok);
            let (ok, aborted) = &mut client.within_of[usize::from(placed.times.op)];
            *ok += u64::from(within && outcome == Outcome::Ok);
            *aborted += u64::from(within && outcome == Outcome::Abort);
        }
        for measure in 0..Measure::ALL.len() {
            for placed in group {
                if let Some(cell) = &mut client.cells[placed.cell] {
                    cell.record(measure, &placed.times);
                }
            }
        }
        for placed in group {
            self.load.add(placed.intended, placed.times.completed, placed.times.outcome.class());
        }
        for placed in group.iter().filter(|p| p.measured) {
            self.composition.add(&placed.times, self.has_response);
        }
        for Placed { times, .. } in group.iter().filter(|p| p.times.outcome == Outcome::Ok) {
            let whole = times.whole(self.has_response);
            if whole != NONE {
                self.answered[usize::from(times.op)].add(times.at, whole);
            }
        }
        for Placed { times, .. } in group {
            self.response.add(times, times.response(), PointSampler::hash(times.seq, times.client));
        }
        for Placed { times, .. } in group {
            self.service.add(times, times.service(), PointSampler::hash(times.seq, times.client));
        }
    }

    fn client_slot(&mut self, plan: &Plan, client: u16) -> usize {
        if let Some(slot) = self.clients.iter().position(|c| c.client == client) {
            return slot;
        }
        let cells = vec![None; plan.operations * plan.phases.len()];
        let empty = ClientCells {
            client,
            cells,
            in_time: 0,
            completed_within: 0,
            ok_within: 0,
            within_of: vec![(0, 0); plan.operations],
            newest: 0,
            last_sent: None,
        };
        self.clients.push(empty);
        self.clients.len() - 1
    }

    pub(crate) fn merge(&mut self, other: Accumulator) {
        for theirs in other.clients {
            match self.clients.iter_mut().find(|c| c.client == theirs.client) {
                None => self.clients.push(theirs),
                Some(mine) => {
                    mine.in_time += theirs.in_time;
                    mine.completed_within += theirs.completed_within;
                    mine.ok_within += theirs.ok_within;
                    for (a, b) in mine.within_of.iter_mut().zip(theirs.within_of) {
                        (a.0, a.1) = (a.0 + b.0, a.1 + b.1);
                    }
                    mine.newest = mine.newest.max(theirs.newest);
                    mine.last_sent = mine.last_sent.max(theirs.last_sent);
                    for (a, b) in mine.cells.iter_mut().zip(theirs.cells) {
                        match (a, b) {
                            (_, None) => {}
                            (a @ None, b) => *a = b,
                            (Some(a), Some(b)) => a.merge(&b),
                        }
                    }
                }
            }
        }
        self.clients.sort_by_key(|c| c.client);
        self.response.merge(other.response);
        self.service.merge(other.service);
        self.composition.merge(other.composition);
        self.load.merge(&other.load);
        self.answered.iter_mut().zip(other.answered).for_each(|(mine, theirs)| mine.merge(theirs));
        self.unknown += other.unknown;
    }

    /// All cells that `keep` wants, as one: (client, operation, phase).
    pub(crate) fn gather(&self, plan: &Plan, keep: impl Fn(u16, usize, usize) -> bool) -> Option<Cell> {
        let phases = plan.phases.len();
        let mut sum: Option<Cell> = None;
        for cells in &self.clients {
            for (index, cell) in cells.cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                if keep(cells.client, index / phases, index % phases) {
                    match &mut sum {
                        None => sum = Some((**cell).clone()),
                        Some(sum) => sum.merge(cell),
                    }
                }
            }
        }
        sum
    }
}

/// `later − earlier`, zero when it is negative, [`NONE`] when either is absent.
#[inline(always)]
fn since(later: u64, earlier: u64) -> u64 {
    if later == NONE || earlier == NONE { NONE } else { later.saturating_sub(earlier) }
}

/// The times of a sample, and when it was intended. `None` for an outcome that is not known, and for a sample
/// without a completion.
#[inline(always)]
pub(crate) fn times_of(
    batch: &SampleBatch,
    index: usize,
    shift: u64,
    client: u16,
    has_response: bool,
) -> Option<(Times, u64)> {
    let outcome = Outcome::from_code(batch.outcome[index])?;
    let completed = batch.completed[index];
    if completed == NONE {
        return None;
    }
    let (intended, ready, sent, arrived) =
        (batch.intended[index], batch.ready[index], batch.sent[index], batch.arrived[index]);
    // Whoever was never sent has waited to the end; of an import, nobody knows.
    let never_sent = sent == NONE && outcome.is_censored();
    let pool_wait = since(if ready == NONE && never_sent { completed } else { ready }, intended);
    let begin = [if has_response { intended } else { NONE }, sent, ready, completed];
    let at = begin.into_iter().find(|at| *at != NONE)?.saturating_add(shift);
    let times = Times {
        at,
        completed: completed.saturating_add(shift),
        values: [
            if has_response { since(completed, intended) } else { NONE },
            since(completed, sent),
            if has_response { pool_wait } else { NONE },
            since(sent, ready),
            since(completed, arrived),
        ],
        seq: batch.seq[index],
        client,
        op: batch.op[index],
        outcome,
        was_sent: sent != NONE,
        late_stamp: arrived != NONE && batch.flags[index] & record::flags::ARRIVED_UPPER_BOUND != 0,
    };
    let intended = if intended == NONE { NONE } else { intended.saturating_add(shift) };
    Some((times, intended))
}
