//! What the recording says of itself.

use crate::{MeasureError, failed};
use clock::Calibration;
use driver::{Execution, TargetFacts};
use load::LoadSpec;
use record::{HostFacts, LoadFacts, PhaseFacts, PhaseKind, Provenance, RunHeader};
use units::Instant;
use workload::WorkloadFacts;

pub(crate) fn make(
    spec: &LoadSpec,
    execution: Execution,
    target: &TargetFacts,
    workload: &WorkloadFacts,
    calibration: &Calibration,
) -> Result<RunHeader, MeasureError> {
    let mut workload_facts = vec![("scale".to_owned(), workload.scale.to_string())];
    workload_facts.extend(workload.parameters.clone());
    Ok(RunHeader {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "a program of its own, by the library".to_owned(),
        client: 0,
        epoch_wall_ns: clock::wall_time_ns(),
        provenance: Provenance::Live,
        load: LoadFacts {
            model: spec.model.load_model(),
            arrivals: spec.model.describe(),
            sessions: spec.sessions,
            workers: (load::rings_needed(spec, execution) - 1) as u32,
            timeout: spec.timeout,
            pacing: spec.pacing.name().to_owned(),
            seed: spec.seed.0,
        },
        phases: phases(spec)?,
        operations: spec.operations.clone(),
        statements: None,
        workload: workload.name.clone(),
        workload_facts,
        target: target.address.clone(),
        target_facts: target_facts(target),
        host: host(),
        clock_facts: clock_facts(calibration),
        capabilities: Vec::new(),
        config: String::new(),
    })
}

fn phases(spec: &LoadSpec) -> Result<Vec<PhaseFacts>, MeasureError> {
    let mut begin = Instant::EPOCH + load::LEAD_IN;
    let mut phases = Vec::with_capacity(spec.phases.len());
    for phase in &spec.phases {
        let end = begin + phase.duration;
        phases.push(PhaseFacts {
            name: phase.name.clone(),
            kind: if phase.warm_up { PhaseKind::WarmUp } else { PhaseKind::Measured },
            begin,
            end,
            offered: phase.rate,
            sessions: phase.sessions.unwrap_or(spec.sessions),
            mix: spec.phase_mix(phase).map_err(failed)?,
        });
        begin = end;
    }
    Ok(phases)
}

fn target_facts(facts: &TargetFacts) -> Vec<(String, String)> {
    let driver = if facts.native { "native" } else { "foreign library" };
    let own = [
        ("product", facts.product.clone()),
        ("version", facts.version.clone()),
        ("address", facts.address.clone()),
        ("transport", facts.transport.clone()),
        ("driver", driver.to_owned()),
        ("kernel stamps", facts.kernel_stamps.to_string()),
    ];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    own.chain(facts.settings.iter().cloned()).collect()
}

/// Of the host no more than tells it from others: `truetail run` writes down all that it can find.
fn host() -> HostFacts {
    let line =
        |path: &str| std::fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
    HostFacts {
        name: line("/proc/sys/kernel/hostname"),
        kernel: line("/proc/sys/kernel/osrelease"),
        cpus: load::available_cpus().len() as u32,
        virtualisation: "unknown".to_owned(),
        ..HostFacts::default()
    }
}

fn clock_facts(calibration: &Calibration) -> Vec<(String, String)> {
    let facts = calibration.facts();
    let mut list = vec![
        ("kind".to_owned(), facts.kind.name().to_owned()),
        ("cost of a reading".to_owned(), facts.cost.to_string()),
        ("ticks per ns".to_owned(), format!("{:.6}", facts.ticks_per_nano)),
    ];
    if let Some(reason) = &facts.fallback_reason {
        list.push((analysis::facts::CLOCK_FALLBACK.to_owned(), reason.clone()));
    }
    list
}
