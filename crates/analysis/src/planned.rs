//! The load that was planned, as headers say it.
//!
//! Of truetail's own runs each request that was due has a sample, so that samples are counted, unless some were lost. Another
//! tool does not tell of the requests that it did not send: only the rate that it was asked for does.

use crate::input::{Input, Plan};
use record::{LoadModel, PhaseFacts, PhaseKind, RunHeader};

/// The rate of the measured phases in their mean, 1/s; `None` where one of them has none.
pub(crate) fn rate(header: &RunHeader) -> Option<f64> {
    let measured = || header.phases.iter().filter(|phase| phase.kind == PhaseKind::Measured);
    let length = |phase: &PhaseFacts| phase.end.0.saturating_sub(phase.begin.0) as f64;
    let time: f64 = measured().map(length).sum();
    let mean = |phase: &PhaseFacts| phase.offered.map(|(begin, end)| (begin.get() + end.get()) / 2.0);
    let arrivals = measured().map(|phase| Some(mean(phase)? * length(phase))).sum::<Option<f64>>()?;
    (time > 0.0).then(|| arrivals / time)
}

/// Requests that a phase asks for up to an instant: the integral of its rate.
pub(crate) fn until(phase: &PhaseFacts, instant: u64) -> Option<f64> {
    let (begin, end) = phase.offered?;
    let length = phase.end.0.saturating_sub(phase.begin.0) as f64;
    let part = instant.min(phase.end.0).saturating_sub(phase.begin.0) as f64;
    let slope = if length > 0.0 { (end.get() - begin.get()) / length } else { 0.0 };
    Some((begin.get() + slope * part / 2.0) * part / 1e9)
}

/// Whether all of it is other tools' and says at which rate it was to go.
pub(crate) fn is_told(inputs: &[Input]) -> bool {
    let has_rates = |input: &Input| input.info.header.phases.iter().all(|phase| phase.offered.is_some());
    inputs.iter().all(|input| input.is_imported() && has_rates(input))
}

/// The rates of all of these imports together; `None` where it is not told, or the load has no schedule.
pub(crate) fn of_imports(inputs: &[Input], model: LoadModel) -> Option<f64> {
    if !is_told(inputs) || !model.has_response_time() {
        return None;
    }
    inputs.iter().map(|input| rate(&input.info.header)).sum()
}

/// The rates of all clients' own schedules together, where samples were lost: those that are there do not count what was offered.
/// `None` where none was lost, or the load has no schedule.
pub(crate) fn of_lossy(inputs: &[Input], model: LoadModel) -> Option<f64> {
    let is_lossy = inputs.iter().any(|input| input.info.dropped + input.unwritable > 0);
    if !is_lossy || !model.has_response_time() {
        return None;
    }
    inputs.iter().map(|input| rate(&input.info.header)).sum()
}

/// Requests that the phases of all inputs ask for from one instant to another, on the common axis.
pub(crate) fn between(inputs: &[Input], plan: &Plan, begin: u64, end: u64) -> f64 {
    let of_phase = |phase: &PhaseFacts, at: u64| until(phase, at).unwrap_or(0.0);
    let of_input = |(input, shift): (&Input, &u64)| -> f64 {
        let (begin, end) = (begin.saturating_sub(*shift), end.saturating_sub(*shift));
        input.info.header.phases.iter().map(|phase| of_phase(phase, end) - of_phase(phase, begin)).sum()
    };
    inputs.iter().zip(&plan.shifts).map(of_input).sum()
}
