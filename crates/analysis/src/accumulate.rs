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
use record::SampleBatch;
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
    /// Of those, the ones with outcome ok.
    pub(crate) ok_in_time: u64,
    /// The newest completion, on the common axis.
    pub(crate) newest: u64,
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
    /// Samples of operations, phases or outcomes that the header does not know.
    pub(crate) unknown: u64,
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
            unknown: 0,
        }
    }

    /// Adds the samples of a batch of the recording with this index.
    pub(crate) fn add(&mut self, plan: &Plan, recording: usize, batch: &SampleBatch) {
        let client = plan.clients[recording].unwrap_or(batch.client);
        let slot = self.client_slot(plan, client);
        let (shift, measured_end) = (plan.shifts[recording], plan.measured_ends[recording]);
        for index in 0..batch.len() {
            let Some((times, intended)) = times_of(batch, index, shift, client, self.has_response) else {
                self.unknown += 1;
                continue;
            };
            let (op, phase) = (usize::from(batch.op[index]), usize::from(batch.phase[index]));
            if op >= plan.operations || phase >= plan.phases.len() {
                self.unknown += 1;
                continue;
            }
            let planned = &plan.phases[phase];
            let cells = &mut self.clients[slot];
            let cell = cells.cells[op * plan.phases.len() + phase]
                .get_or_insert_with(|| Box::new(Cell::new(planned.origin)));
            cell.add(&times, batch.retries[index]);
            cells.newest = cells.newest.max(times.completed);
            self.load.add(intended, times.completed, times.outcome.class());
            if planned.measured {
                let in_time = times.completed <= measured_end && times.outcome != Outcome::Unfinished;
                cells.in_time += u64::from(in_time);
                cells.ok_in_time += u64::from(in_time && times.outcome == Outcome::Ok);
                self.composition.add(&times, self.has_response);
            }
            let hash = PointSampler::hash(times.seq, client);
            self.response.add(&times, times.response, hash);
            self.service.add(&times, times.service, hash);
        }
    }

    fn client_slot(&mut self, plan: &Plan, client: u16) -> usize {
        if let Some(slot) = self.clients.iter().position(|c| c.client == client) {
            return slot;
        }
        let cells = vec![None; plan.operations * plan.phases.len()];
        self.clients.push(ClientCells { client, cells, in_time: 0, ok_in_time: 0, newest: 0 });
        self.clients.len() - 1
    }

    pub(crate) fn merge(&mut self, other: Accumulator) {
        for theirs in other.clients {
            match self.clients.iter_mut().find(|c| c.client == theirs.client) {
                None => self.clients.push(theirs),
                Some(mine) => {
                    mine.in_time += theirs.in_time;
                    mine.ok_in_time += theirs.ok_in_time;
                    mine.newest = mine.newest.max(theirs.newest);
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
fn times_of(
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
    let pool_wait = since(if ready == NONE { completed } else { ready }, intended);
    let begin = [if has_response { intended } else { NONE }, sent, ready, completed];
    let at = begin.into_iter().find(|at| *at != NONE)?.saturating_add(shift);
    let times = Times {
        at,
        completed: completed.saturating_add(shift),
        response: if has_response { since(completed, intended) } else { NONE },
        service: since(completed, sent),
        pool_wait: if has_response { pool_wait } else { NONE },
        lag: since(sent, ready),
        pick_up: since(completed, arrived),
        seq: batch.seq[index],
        client,
        op: batch.op[index],
        outcome,
        was_sent: sent != NONE,
    };
    let intended = if intended == NONE { NONE } else { intended.saturating_add(shift) };
    Some((times, intended))
}
