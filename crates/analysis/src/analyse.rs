//! From samples to an [`Analysis`].

use crate::accumulate::{Accumulator, ClientCells, SeriesBuilder};
use crate::attribution::{Collected, Hunt, attribute};
use crate::cell::Cell;
use crate::evidence::{Arrivals, Evidence};
use crate::host::HostEvidence;
use crate::input::{AnalysisError, Input, Options, Plan, measured_span};
use crate::observers::watches_a_host;
use crate::statements::statements;
use crate::summary::scope_summary;
use crate::told_once::told_once;
use crate::{
    Analysis, ClientTotals, Counts, HeatMap, LoadPoint, Observers, RecordingInfo, Scope, ScopeSummary,
    Series, limits,
};
use crate::{business, planned, staleness};
use record::{
    Ending, Event, JvmLogFacts, LoadModel, Measure, NoiseSourceFacts, PhaseKind, Recording, RunHeader,
    SampleBatch, ServerLogFacts,
};
use stats::Distribution;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Instant, Nanos, PerSecond, Quantile};

/// Analyses samples that are in memory: `batches` are (index of the input, samples), in any order.
///
/// # Errors
/// When there is no input, or the inputs are not clients of one run.
pub fn analyse_batches<'a>(
    mut inputs: Vec<Input>,
    batches: impl IntoIterator<Item = (usize, &'a SampleBatch)>,
    options: &Options,
) -> Result<Analysis, AnalysisError> {
    told_once(&mut inputs);
    let plan = Plan::new(&inputs)?;
    let batches: Vec<(usize, &SampleBatch)> = batches.into_iter().collect();
    let mut all = Accumulator::new(&plan);
    batches.iter().for_each(|(recording, batch)| all.add(&plan, *recording, batch));
    let host = HostEvidence::of(&inputs, &plan);
    let hunt = Hunt::new(&inputs, &plan, &all, options, &host);
    let mut slow = Collected::new(&hunt);
    batches.iter().for_each(|(recording, batch)| slow.add(&plan, &hunt, *recording, batch));
    Ok(conclude(inputs, &plan, all, options, (host, hunt, slow)))
}

/// Analyses recordings on disk: one, or those that several clients made of one run at the same time.
///
/// Reads the samples twice, with `options.threads` threads: ≈ 0.1 µs a sample and thread to sum them, and half of that
/// to find the slow ones and attribute them. Memory does not grow with the number of samples.
///
/// # Errors
/// When there is no recording, one can't be read at all, or they are not clients of one run. Damaged parts are
/// no error: they are listed in [`crate::RecordingInfo::unreadable`], and the verdict says so.
pub fn analyse(recordings: &[Recording], options: &Options) -> Result<Analysis, AnalysisError> {
    let mut inputs = recordings.iter().map(input_of).collect::<Result<Vec<_>, _>>()?;
    lay_over(&mut inputs, options);
    told_once(&mut inputs);
    let plan = Plan::new(&inputs)?;
    let scan = Scan { recordings, options, done: AtomicU64::new(0) };
    let all = scan.fold(
        || Accumulator::new(&plan),
        |part, i, batch| part.add(&plan, i, batch),
        Accumulator::merge,
    )?;
    let all = all.unwrap_or_else(|| Accumulator::new(&plan));
    let host = HostEvidence::of(&inputs, &plan);
    let hunt = Hunt::new(&inputs, &plan, &all, options, &host);
    let slow = scan.fold(
        || Collected::new(&hunt),
        |part, i, batch| part.add(&plan, &hunt, i, batch),
        Collected::merge,
    )?;
    let slow = slow.unwrap_or_else(|| Collected::new(&hunt));
    let inside = statements(recordings, &inputs, &plan, &all, options)?;
    // Complete only after the scans have met the damage.
    inputs
        .iter_mut()
        .zip(recordings)
        .for_each(|(input, recording)| input.info.unreadable = recording.unreadable());
    Ok(Analysis { statements: inside, ..conclude(inputs, &plan, all, options, (host, hunt, slow)) })
}

/// Scans of all samples of all recordings.
struct Scan<'a> {
    recordings: &'a [Recording],
    options: &'a Options,
    /// Samples read in all scans.
    done: AtomicU64,
}

/// Times that all samples are read.
const SCANS: u64 = 2;

impl Scan<'_> {
    /// Folds all samples, with the index of their recording; `None` without recordings.
    fn fold<A: Send>(
        &self,
        init: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, usize, &SampleBatch) + Sync,
        merge: impl Fn(&mut A, A),
    ) -> Result<Option<A>, AnalysisError> {
        let total = SCANS * self.recordings.iter().map(Recording::rows).sum::<u64>();
        let mut all: Option<A> = None;
        for (index, recording) in self.recordings.iter().enumerate() {
            let parts = recording.scan(self.options.threads.max(1), &init, |part, batch| {
                add(part, index, batch);
                let rows = batch.len() as u64;
                let before = self.done.fetch_add(rows, Ordering::Relaxed); // a count for people, guards nothing
                if let Some(tell) = self.options.progress {
                    tell(before + rows, total);
                }
            })?;
            for part in parts {
                match &mut all {
                    None => all = Some(part),
                    Some(all) => merge(all, part),
                }
            }
        }
        Ok(all)
    }
}

fn lay_over(inputs: &mut [Input], options: &Options) {
    for laid in &options.laid_over {
        let Some(input) = inputs.get_mut(laid.recording) else { continue };
        input.events.extend_from_slice(&laid.events);
        input.repeated.extend_from_slice(&laid.repeated);
        // What led nowhere while it was recorded, and does now, is not shown twice.
        let is_new = |known: &JvmLogFacts| laid.jvm_logs.iter().any(|log| log.file == known.file);
        input.jvm_logs.retain(|known| known.trouble.is_none() || !is_new(known));
        input.jvm_logs.extend_from_slice(&laid.jvm_logs);
        let is_new = |known: &ServerLogFacts| laid.server_logs.iter().any(|log| log.file == known.file);
        input.server_logs.retain(|known| known.trouble.is_none() || !is_new(known));
        input.server_logs.extend_from_slice(&laid.server_logs);
    }
}

pub(crate) fn input_of(recording: &Recording) -> Result<Input, AnalysisError> {
    let end = recording.end();
    Ok(Input {
        info: RecordingInfo {
            name: recording.path().display().to_string(),
            header: recording.header().clone(),
            complete: end.is_some(),
            unreadable: Vec::new(),
            dropped: end.map_or(0, |e| e.dropped),
        },
        ending: end.map(|e| e.ending.clone()),
        unwritable: end.map_or(0, |e| e.unwritable),
        facts: end.map(|e| e.facts.clone()).unwrap_or_default(),
        events: recording.events()?,
        repeated: Vec::new(),
        jvm_logs: end.map(|e| e.jvm_logs.clone()).unwrap_or_default(),
        server_logs: end.map(|e| e.server_logs.clone()).unwrap_or_default(),
        noise_sources: recording.noise_sources().to_vec(),
        noise: recording.noise()?,
        stated: recording.stated()?,
    })
}

/// Everything that follows from the sums.
fn conclude(
    inputs: Vec<Input>,
    plan: &Plan,
    all: Accumulator,
    options: &Options,
    (mut host, hunt, mut slow): (HostEvidence, Hunt, Collected),
) -> Analysis {
    let header = &inputs[0].info.header;
    let is_measured = |phase: usize| plan.phases[phase].measured;
    let empty = || Cell::new(0);
    let total_cell = all.gather(plan, |_, _, phase| is_measured(phase)).unwrap_or_else(empty);
    let whole_cell = all.gather(plan, |_, _, _| true).unwrap_or_else(empty);
    let total = scope_summary(Scope::Total, "all".to_owned(), &total_cell, options);
    let scopes = scopes(header, plan, &all, options);
    let whole = if plan.model.has_response_time() { Measure::Response } else { Measure::Service };
    let anatomy = match inputs.iter().any(Input::is_imported) {
        // Where a foreign tool's requests spent their time is not known: zeros would claim that it is.
        true => crate::Anatomy::default(),
        false => all.composition.anatomy(&total_cell.measure(whole).view(), &options.quantiles),
    };
    slow.finish();
    host.add_backlogs(total.counts.total, &hunt, &slow);
    let spans: Vec<(Instant, Instant)> =
        inputs.iter().enumerate().map(|(i, input)| effective_span(i, input, plan, &all)).collect();
    let measured = (
        spans.iter().map(|s| s.0).min().unwrap_or(Instant::EPOCH),
        spans.iter().map(|s| s.1).max().unwrap_or(Instant::EPOCH),
    );
    let largest = match whole {
        Measure::Response => all.response.extremes.largest(),
        _ => all.service.extremes.largest(),
    };
    let business = business::business(&inputs, plan, &all, &spans, options);
    let verdict = Evidence {
        inputs: &inputs,
        business: business.as_ref(),
        total: &total,
        anatomy: &anatomy,
        host: &host,
        arrivals: arrivals(&inputs, plan, &all, &total.counts, measured),
        drifts: drifts(header, plan, &all, whole),
        largest: largest.copied(),
        unknown: all.unknown,
    }
    .verdict();
    let rates = Rates::of(plan, &all, &spans);
    let (series, heat_maps) = series(&all, &whole_cell);
    Analysis {
        verdict,
        measured,
        offered: planned::of_imports(&inputs, plan.model)
            .or_else(|| planned::of_lossy(&inputs, plan.model))
            .or(plan.model.has_response_time().then_some(rates.offered))
            .and_then(PerSecond::new),
        achieved: PerSecond::new(rates.achieved).unwrap_or(PerSecond::of(0, Nanos::ZERO)),
        goodput: PerSecond::new(rates.goodput).unwrap_or(PerSecond::of(0, Nanos::ZERO)),
        load: load_points(&inputs, plan, &all),
        clients: clients(&inputs, plan, &all),
        events: events(&inputs, plan),
        jvm_logs: inputs.iter().flat_map(|input| input.jvm_logs.clone()).collect(),
        server_logs: inputs.iter().flat_map(|input| input.server_logs.clone()).collect(),
        noise_sources: noise_sources(&inputs),
        attribution: attribute(&hunt, &slow, measured, options),
        observers: Observers::of(&inputs),
        staleness: staleness::staleness(&inputs, plan, options),
        business,
        statements: None,
        stated: inputs.iter().flat_map(|input| input.stated.clone()).collect(),
        total,
        scopes,
        anatomy,
        series,
        heat_maps,
        recordings: inputs.into_iter().map(|i| i.info).collect(),
        overlay: None,
        floor: None,
    }
}

fn noise_sources(inputs: &[Input]) -> Vec<NoiseSourceFacts> {
    let all = inputs.iter().flat_map(|input| &input.noise_sources);
    all.filter(watches_a_host).cloned().collect()
}

/// Rates of all clients together, 1/s: each client's counts in its own measured time.
#[derive(Default)]
struct Rates {
    offered: f64,
    achieved: f64,
    goodput: f64,
}

impl Rates {
    fn of(plan: &Plan, all: &Accumulator, spans: &[(Instant, Instant)]) -> Rates {
        let mut sum = Rates::default();
        for client in &all.clients {
            let recording = plan.clients.iter().position(|c| c.is_none_or(|id| id == client.client));
            let Some((begin, end)) = recording.map(|r| spans[r]) else { continue };
            let per_second = |count: u64| PerSecond::of(count, Nanos(end.0.saturating_sub(begin.0))).get();
            let counts = all
                .gather(plan, |c, _, phase| c == client.client && plan.phases[phase].measured)
                .map(|cell| cell.counts())
                .unwrap_or_default();
            sum.offered += per_second(counts.total);
            sum.achieved += per_second(client.completed_within);
            sum.goodput += per_second(client.ok_within);
        }
        sum
    }
}

/// Measured time on the common axis; a run that ended early ends with its newest completion.
fn effective_span(index: usize, input: &Input, plan: &Plan, all: &Accumulator) -> (Instant, Instant) {
    let (begin, end) = measured_span(input);
    let (begin, end) = (plan.on_axis(index, begin), plan.on_axis(index, end));
    let newest = newest(index, plan, all).unwrap_or(end.0);
    let early = !matches!(input.ending, Some(Ending::Completed));
    let end = if end == begin || (early && newest < end.0) { Instant(newest) } else { end };
    (begin, end.max(begin))
}

fn arrivals(
    inputs: &[Input],
    plan: &Plan,
    all: &Accumulator,
    counts: &Counts,
    measured: (Instant, Instant),
) -> Option<Arrivals> {
    let length = measured.1.0.saturating_sub(measured.0.0);
    let backlog = |quarters: u64| all.load.backlog_at(Instant(measured.0.0 + length / 4 * quarters));
    let is_foreign = inputs.iter().any(Input::is_imported);
    let (intended, backlogs) = match plan.model {
        LoadModel::Open | LoadModel::PartlyOpen => {
            let asked = if is_foreign { asked(inputs, plan, all) } else { None };
            let intended = asked.map_or(counts.total, |asked| asked.max(counts.total));
            (intended, Some([backlog(2), backlog(3), backlog(4)]))
        }
        LoadModel::ThrottledClosed => (asked(inputs, plan, all)?, None),
        LoadModel::Closed | LoadModel::Terminals => return None,
    };
    Some(Arrivals {
        intended,
        in_time: all.clients.iter().map(|c| c.in_time).sum(),
        backlogs,
        chance: if is_foreign { (limits::ARRIVALS_CHANCE * (intended as f64).sqrt()) as u64 } else { 0 },
        sessions: inputs.iter().map(|i| i.info.header.load.sessions).sum(),
    })
}

/// The requests that the rates of the measured phases ask for, up to each client's newest completion: a run may
/// end before its phases do. Another tool may have sent all that it was to send before the last answer came: of an import it is
/// the last that was sent. `None` where no phase has a rate.
fn asked(inputs: &[Input], plan: &Plan, all: &Accumulator) -> Option<u64> {
    let client = |(index, input): (usize, &Input)| -> Option<f64> {
        let sent = last_sent(index, plan, all).filter(|_| input.is_imported());
        let until = sent.or(newest(index, plan, all))?.saturating_sub(plan.shifts[index]);
        let phases = input.info.header.phases.iter().filter(|p| p.kind == PhaseKind::Measured);
        phases.map(|p| planned::until(p, until)).sum()
    };
    inputs.iter().enumerate().map(client).sum::<Option<f64>>().map(|count| count as u64)
}

/// The newest completion of a recording's clients, on the common axis.
fn newest(index: usize, plan: &Plan, all: &Accumulator) -> Option<u64> {
    clients_of(index, plan, all).map(|c| c.newest).max()
}

/// When the last of a recording's requests was sent, on the common axis; `None` where that is not known of any.
fn last_sent(index: usize, plan: &Plan, all: &Accumulator) -> Option<u64> {
    clients_of(index, plan, all).filter_map(|c| c.last_sent).max()
}

fn clients_of<'a>(
    index: usize,
    plan: &Plan,
    all: &'a Accumulator,
) -> impl Iterator<Item = &'a ClientCells> + use<'a> {
    let wanted = plan.clients[index];
    all.clients.iter().filter(move |c| wanted.is_none_or(|id| id == c.client))
}

/// The load over time. What another tool was to send and did not is in its rate alone.
fn load_points(inputs: &[Input], plan: &Plan, all: &Accumulator) -> Vec<LoadPoint> {
    let end = run_end(inputs, plan, all);
    let mut points = all.load.points(plan.model, end);
    if planned::of_imports(inputs, plan.model).is_some() {
        let ends: Vec<u64> = points.iter().skip(1).map(|next| next.at.0).chain([end.0]).collect();
        for (point, end) in points.iter_mut().zip(ends) {
            let length = end.saturating_sub(point.at.0) as f64 / 1e9;
            if length > 0.0 {
                point.offered = Some(planned::between(inputs, plan, point.at.0, end) / length);
            }
        }
    }
    points
}

/// When the last run ended: with its last phase or, when that was not reached or requests were still to be
/// answered, with its newest completion.
fn run_end(inputs: &[Input], plan: &Plan, all: &Accumulator) -> Instant {
    let end = |(index, input): (usize, &Input)| {
        let planned = input.info.header.phases.iter().map(|p| p.end).filter(|e| e.is_some()).max();
        let newest = newest(index, plan, all).unwrap_or(0);
        let reached = matches!(input.ending, Some(Ending::Completed));
        let planned = planned.filter(|_| reached).map_or(0, |end| plan.on_axis(index, end).0);
        Instant(planned.max(newest))
    };
    inputs.iter().enumerate().map(end).max().unwrap_or(Instant::EPOCH)
}

/// Operations, phases, and clients where there are several; those without samples are left out.
fn scopes(header: &RunHeader, plan: &Plan, all: &Accumulator, options: &Options) -> Vec<ScopeSummary> {
    let is_measured = |phase: usize| plan.phases[phase].measured;
    let mut found = Vec::new();
    let mut push = |scope: Scope, name: &str, cell: Option<Cell>| {
        found.extend(cell.map(|cell| scope_summary(scope, name.to_owned(), &cell, options)));
    };
    for (op, name) in header.operations.iter().enumerate() {
        let cell = all.gather(plan, |_, o, phase| o == op && is_measured(phase));
        push(Scope::Operation(op as u8), name, cell);
    }
    for (index, phase) in header.phases.iter().enumerate() {
        push(Scope::Phase(index as u8), &phase.name, all.gather(plan, |_, _, p| p == index));
    }
    if all.clients.len() > 1 {
        for client in &all.clients {
            let cell = all.gather(plan, |c, _, phase| c == client.client && is_measured(phase));
            push(Scope::Client(client.client), &format!("client {}", client.client), cell);
        }
    }
    found
}

/// Drift within each measured phase whose load was meant to be steady.
fn drifts(header: &RunHeader, plan: &Plan, all: &Accumulator, whole: Measure) -> Vec<(String, stats::Drift)> {
    let steady =
        header.phases.iter().enumerate().filter(|(_, p)| {
            p.kind == PhaseKind::Measured && p.offered.is_none_or(|(begin, end)| begin == end)
        });
    let drift = |(index, phase): (usize, &record::PhaseFacts)| {
        let cell = all.gather(plan, |_, _, p| p == index)?;
        Some((phase.name.clone(), cell.measure(whole).view().drift()?))
    };
    steady.filter_map(drift).collect()
}

fn clients(inputs: &[Input], plan: &Plan, all: &Accumulator) -> Vec<ClientTotals> {
    let host = |client: u16| {
        let index = plan.clients.iter().position(|c| c.is_none_or(|c| c == client)).unwrap_or(0);
        inputs[index].info.header.host.name.clone()
    };
    let totals = all.clients.iter().map(|c| ClientTotals {
        client: c.client,
        host: host(c.client),
        counts: all
            .gather(plan, |client, _, _| client == c.client)
            .map(|cell| cell.counts())
            .unwrap_or_default(),
    });
    totals.collect()
}

fn events(inputs: &[Input], plan: &Plan) -> Vec<Event> {
    let moved = |(index, input): (usize, &Input)| {
        let on_axis = move |at| plan.on_axis(index, at);
        let shift = |e: &Event| Event { begin: on_axis(e.begin), end: on_axis(e.end), ..e.clone() };
        input.events.iter().map(shift).collect::<Vec<_>>()
    };
    let mut all: Vec<Event> = inputs.iter().enumerate().flat_map(moved).collect();
    all.sort_by_key(|e| e.begin);
    all.truncate(limits::MOST_EVENTS);
    all
}

fn series(all: &Accumulator, whole: &Cell) -> (Vec<Series>, Vec<HeatMap>) {
    let measures = [(Measure::Response, &all.response), (Measure::Service, &all.service)];
    let present = measures.iter().filter(|(m, _)| whole.measure(*m).count() > 0);
    present
        .map(|(measure, builder)| {
            (one_series(*measure, builder, whole.measure(*measure)), builder.heat.heat_map(*measure))
        })
        .unzip()
}

fn one_series(measure: Measure, builder: &SeriesBuilder, distribution: &Distribution) -> Series {
    let view = distribution.view();
    let limit = |q: f64| Quantile::new(q).and_then(|q| view.value(q)).unwrap_or(0.0);
    let (low, high) = (limit(limits::EXTREMES.0), limit(limits::EXTREMES.1));
    let extremes = builder.extremes.clone().beyond(low, high);
    let (sampled, sampled_share) = builder.sampler.clone().within(low, high);
    // The builder holds all candidates unless there are more than it keeps; then the histogram counts them.
    let counted = view.ranks().above(high as u64) + view.ranks().up_to((low as u64).saturating_sub(1));
    let all_kept = extremes.len() < limits::MOST_POINTS;
    let extremes_total = if all_kept { extremes.len() as u64 } else { counted.max(extremes.len() as u64) };
    Series {
        measure,
        pyramid: builder.pyramid.pyramid(),
        sampled,
        sampled_share,
        sliding_mean: builder.pyramid.sliding_mean(),
        extreme_limits: (low, high),
        extremes,
        extremes_total,
    }
}
