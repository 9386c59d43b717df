//! Format 1 of `run.toml`.

use super::RunFile;
use super::jvm_v1::JvmLog;
use super::last_line::{self, LAST_LINE};
use super::server_log_v1::ServerLog;
use super::whole::Whole;
use crate::{
    EndOfRun, Ending, HostFacts, LoadFacts, LoadModel, NoiseSourceFacts, PhaseFacts, PhaseKind, Provenance,
    RecordedVerdict, RunHeader, StatementFacts,
};
use serde::{Deserialize, Serialize};
use units::{Instant, Nanos, Outcome, PerSecond};

type Pairs = Vec<(String, String)>;

#[derive(Serialize, Deserialize)]
pub(super) struct Run {
    format: i64,
    run_id: String,
    /// False until the run has ended in an orderly way: a killed run keeps it.
    complete: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_line: Option<String>,
    #[serde(default)]
    tool_version: String,
    #[serde(default)]
    command: String,
    #[serde(default)]
    client: u16,
    #[serde(default)]
    epoch_wall_ns: Whole,
    #[serde(default)]
    workload: String,
    #[serde(default)]
    target: String,
    #[serde(default)]
    operations: Vec<String>,
    /// (name, text); absent where the run did not time its statements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    statements: Option<Pairs>,
    #[serde(default)]
    config: String,
    #[serde(default)]
    workload_facts: Pairs,
    #[serde(default)]
    target_facts: Pairs,
    #[serde(default)]
    clock_facts: Pairs,
    #[serde(default)]
    capabilities: Pairs,
    provenance: Origin,
    load: Load,
    #[serde(default)]
    host: Host,
    #[serde(default)]
    phases: Vec<Phase>,
    #[serde(default)]
    noise_sources: Vec<NoiseSource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<End>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
}

#[derive(Serialize, Deserialize)]
struct Origin {
    /// `live`, `simulated` or `imported`.
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Load {
    model: String,
    #[serde(default)]
    arrivals: String,
    #[serde(default)]
    sessions: u32,
    #[serde(default)]
    workers: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout_ns: Option<Whole>,
    #[serde(default)]
    pacing: String,
    #[serde(default)]
    seed: Whole,
}

#[derive(Serialize, Deserialize, Default)]
struct Host {
    #[serde(default)]
    name: String,
    #[serde(default)]
    cpu: String,
    #[serde(default)]
    cpus: u32,
    #[serde(default)]
    memory_bytes: Whole,
    #[serde(default)]
    kernel: String,
    #[serde(default)]
    system: String,
    #[serde(default)]
    virtualisation: String,
    #[serde(default)]
    more: Pairs,
}

#[derive(Serialize, Deserialize)]
struct Phase {
    name: String,
    /// `warm-up` or `measured`.
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    begin_ns: Option<Whole>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end_ns: Option<Whole>,
    /// Requests per second at begin and end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offered: Option<(f64, f64)>,
    #[serde(default)]
    sessions: u32,
    #[serde(default)]
    mix: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct NoiseSource {
    name: String,
    #[serde(default)]
    unit: String,
    /// Cost of a reading; absent when the source is not available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost_ns: Option<Whole>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unavailable: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct End {
    /// `completed`, `interrupted` or `failed`.
    how: String,
    #[serde(default)]
    reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_ns: Option<Whole>,
    #[serde(default)]
    samples: Whole,
    #[serde(default)]
    dropped: Whole,
    #[serde(default)]
    unwritable: Whole,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
    /// (name, count)
    #[serde(default)]
    outcomes: Vec<(String, Whole)>,
    /// (client, number of sample parts)
    #[serde(default)]
    parts: Vec<(u16, u32)>,
    #[serde(default)]
    facts: Pairs,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    jvm_logs: Vec<JvmLog>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    server_logs: Vec<ServerLog>,
}

#[derive(Serialize, Deserialize)]
struct Verdict {
    state: String,
    #[serde(default)]
    reasons: Vec<String>,
}

impl Run {
    pub(super) fn from_domain(run: &RunFile) -> Run {
        let header = &run.header;
        Run {
            format: super::FORMAT,
            run_id: run.run_id.clone(),
            complete: run.end.is_some(),
            last_line: Some(LAST_LINE.to_owned()),
            tool_version: header.tool_version.clone(),
            command: header.command.clone(),
            client: header.client,
            epoch_wall_ns: Whole(header.epoch_wall_ns),
            workload: header.workload.clone(),
            target: header.target.clone(),
            operations: header.operations.clone(),
            statements: header
                .statements
                .as_ref()
                .map(|all| all.iter().map(|one| (one.name.clone(), one.text.clone())).collect()),
            config: header.config.clone(),
            workload_facts: header.workload_facts.clone(),
            target_facts: header.target_facts.clone(),
            clock_facts: header.clock_facts.clone(),
            capabilities: header.capabilities.clone(),
            provenance: Origin::from_domain(&header.provenance),
            load: Load::from_domain(&header.load),
            host: Host::from_domain(&header.host),
            phases: header.phases.iter().map(Phase::from_domain).collect(),
            noise_sources: run.noise_sources.iter().map(NoiseSource::from_domain).collect(),
            end: run.end.as_ref().map(|end| End::from_domain(end, &run.parts)),
            verdict: run
                .verdict
                .as_ref()
                .map(|v| Verdict { state: v.state.clone(), reasons: v.reasons.clone() }),
        }
    }

    /// `Err` when `text`, which this was read from, lacks its end.
    pub(super) fn is_whole(&self, text: &str) -> Result<(), String> {
        last_line::check(text, self.last_line.as_deref(), self.complete, self.end.is_some())
    }

    pub(super) fn into_domain(self) -> Result<RunFile, String> {
        let header = RunHeader {
            tool_version: self.tool_version,
            command: self.command,
            client: self.client,
            epoch_wall_ns: self.epoch_wall_ns.0,
            provenance: self.provenance.into_domain()?,
            load: self.load.into_domain()?,
            phases: self.phases.into_iter().map(Phase::into_domain).collect::<Result<_, _>>()?,
            operations: self.operations,
            statements: self
                .statements
                .map(|all| all.into_iter().map(|(name, text)| StatementFacts { name, text }).collect()),
            workload: self.workload,
            workload_facts: self.workload_facts,
            target: self.target,
            target_facts: self.target_facts,
            host: self.host.into_domain(),
            clock_facts: self.clock_facts,
            capabilities: self.capabilities,
            config: self.config,
        };
        let (end, parts) = match self.end.filter(|_| self.complete) {
            Some(end) => end.into_domain().map(|(end, parts)| (Some(end), parts))?,
            None => (None, Vec::new()),
        };
        Ok(RunFile {
            run_id: self.run_id,
            header,
            noise_sources: self.noise_sources.into_iter().map(NoiseSource::into_domain).collect(),
            end,
            parts,
            verdict: self.verdict.map(|v| RecordedVerdict { state: v.state, reasons: v.reasons }),
        })
    }
}

fn unknown(what: &str, text: &str) -> String {
    format!("{what} `{text}` is not known to this truetail")
}

fn some_instant(instant: Instant) -> Option<Whole> {
    instant.get().map(|i| Whole(i.0))
}

fn instant(whole: Option<Whole>) -> Instant {
    whole.map_or(Instant::NONE, |w| Instant(w.0))
}

impl Origin {
    fn from_domain(provenance: &Provenance) -> Origin {
        let (kind, tool) = match provenance {
            Provenance::Live => ("live", None),
            Provenance::Simulated => ("simulated", None),
            Provenance::Imported { tool } => ("imported", Some(tool.clone())),
        };
        Origin { kind: kind.to_owned(), tool }
    }

    fn into_domain(self) -> Result<Provenance, String> {
        match self.kind.as_str() {
            "live" => Ok(Provenance::Live),
            "simulated" => Ok(Provenance::Simulated),
            "imported" => Ok(Provenance::Imported { tool: self.tool.unwrap_or_default() }),
            other => Err(unknown("provenance", other)),
        }
    }
}

impl Load {
    fn from_domain(load: &LoadFacts) -> Load {
        Load {
            model: load.model.name().to_owned(),
            arrivals: load.arrivals.clone(),
            sessions: load.sessions,
            workers: load.workers,
            timeout_ns: load.timeout.map(|t| Whole(t.0)),
            pacing: load.pacing.clone(),
            seed: Whole(load.seed),
        }
    }

    fn into_domain(self) -> Result<LoadFacts, String> {
        let model = LoadModel::ALL.into_iter().find(|m| m.name() == self.model);
        Ok(LoadFacts {
            model: model.ok_or_else(|| unknown("load model", &self.model))?,
            arrivals: self.arrivals,
            sessions: self.sessions,
            workers: self.workers,
            timeout: self.timeout_ns.map(|t| Nanos(t.0)),
            pacing: self.pacing,
            seed: self.seed.0,
        })
    }
}

impl Host {
    fn from_domain(host: &HostFacts) -> Host {
        Host {
            name: host.name.clone(),
            cpu: host.cpu.clone(),
            cpus: host.cpus,
            memory_bytes: Whole(host.memory_bytes),
            kernel: host.kernel.clone(),
            system: host.system.clone(),
            virtualisation: host.virtualisation.clone(),
            more: host.more.clone(),
        }
    }

    fn into_domain(self) -> HostFacts {
        HostFacts {
            name: self.name,
            cpu: self.cpu,
            cpus: self.cpus,
            memory_bytes: self.memory_bytes.0,
            kernel: self.kernel,
            system: self.system,
            virtualisation: self.virtualisation,
            more: self.more,
        }
    }
}

impl Phase {
    fn from_domain(phase: &PhaseFacts) -> Phase {
        let kind = match phase.kind {
            PhaseKind::WarmUp => "warm-up",
            PhaseKind::Measured => "measured",
        };
        Phase {
            name: phase.name.clone(),
            kind: kind.to_owned(),
            begin_ns: some_instant(phase.begin),
            end_ns: some_instant(phase.end),
            offered: phase.offered.map(|(begin, end)| (begin.get(), end.get())),
            sessions: phase.sessions,
            mix: phase.mix.clone(),
        }
    }

    fn into_domain(self) -> Result<PhaseFacts, String> {
        let rate = |r| PerSecond::new(r).ok_or_else(|| format!("{r} is not a rate: it must be 0 or more"));
        Ok(PhaseFacts {
            kind: match self.kind.as_str() {
                "warm-up" => PhaseKind::WarmUp,
                "measured" => PhaseKind::Measured,
                other => return Err(unknown("phase kind", other)),
            },
            name: self.name,
            begin: instant(self.begin_ns),
            end: instant(self.end_ns),
            offered: match self.offered {
                Some((begin, end)) => Some((rate(begin)?, rate(end)?)),
                None => None,
            },
            sessions: self.sessions,
            mix: self.mix,
        })
    }
}

impl NoiseSource {
    fn from_domain(source: &NoiseSourceFacts) -> NoiseSource {
        NoiseSource {
            name: source.name.clone(),
            unit: source.unit.clone(),
            cost_ns: source.available.as_ref().ok().map(|&cost| Whole(cost)),
            unavailable: source.available.as_ref().err().cloned(),
        }
    }

    fn into_domain(self) -> NoiseSourceFacts {
        let available = match (self.cost_ns, self.unavailable) {
            (_, Some(reason)) => Err(reason),
            (cost, None) => Ok(cost.unwrap_or_default().0),
        };
        NoiseSourceFacts { name: self.name, unit: self.unit, available }
    }
}

impl End {
    fn from_domain(end: &EndOfRun, parts: &[(u16, u32)]) -> End {
        let (how, reason) = match &end.ending {
            Ending::Completed => ("completed", ""),
            Ending::Interrupted(reason) => ("interrupted", reason.as_str()),
            Ending::Failed(reason) => ("failed", reason.as_str()),
        };
        End {
            how: how.to_owned(),
            reason: reason.to_owned(),
            at_ns: some_instant(end.at),
            samples: Whole(end.samples),
            dropped: Whole(end.dropped),
            unwritable: Whole(end.unwritable),
            trouble: end.trouble.clone(),
            outcomes: end.outcomes.iter().map(|&(o, n)| (o.name().to_owned(), Whole(n))).collect(),
            parts: parts.to_vec(),
            facts: end.facts.clone(),
            jvm_logs: end.jvm_logs.iter().map(JvmLog::from_domain).collect(),
            server_logs: end.server_logs.iter().map(ServerLog::from_domain).collect(),
        }
    }

    fn into_domain(self) -> Result<(EndOfRun, Vec<(u16, u32)>), String> {
        let ending = match self.how.as_str() {
            "completed" => Ending::Completed,
            "interrupted" => Ending::Interrupted(self.reason),
            "failed" => Ending::Failed(self.reason),
            other => return Err(unknown("ending", other)),
        };
        // An outcome of a later version is counted in `samples` and left out here.
        let outcome = |name: &str| Outcome::ALL.into_iter().find(|o| o.name() == name);
        let outcomes = self.outcomes.iter().filter_map(|(name, n)| Some((outcome(name)?, n.0))).collect();
        let end = EndOfRun {
            ending,
            at: instant(self.at_ns),
            samples: self.samples.0,
            outcomes,
            dropped: self.dropped.0,
            unwritable: self.unwritable.0,
            trouble: self.trouble,
            facts: self.facts,
            jvm_logs: self.jvm_logs.into_iter().map(JvmLog::into_domain).collect(),
            server_logs: self.server_logs.into_iter().map(ServerLog::into_domain).collect(),
        };
        Ok((end, self.parts))
    }
}
