//! From options to the load that they ask for.

use super::RunOptions;
use ::load::arrivals::Process;
use ::load::{LoadSpec, Model, Pause, Phase, Retry, Think, UserVisit, mix_weights, parse_mix, parse_phases};
use anyhow::{anyhow, bail};
use units::{Nanos, parse_rate};
use workload::Operation;

impl RunOptions {
    fn model(&self) -> anyhow::Result<Model> {
        let think = match &self.think {
            Some(text) => Think::parse(text).map_err(|e| anyhow!("--think: {e}"))?,
            None => Think::None,
        };
        if self.terminals()? {
            return self.model_of_terminals();
        }
        if self.closed == Some(true) {
            if self.visit.is_some() {
                bail!("--visit with --closed: a partly open load is not closed; drop one of them");
            }
            if self.arrivals.is_some() {
                bail!("--arrivals with --closed: a closed loop has no arrivals; drop one of them");
            }
            let throttled = self.rate.is_some() || self.phases.as_deref().is_some_and(|p| p.contains('@'));
            if throttled && think != Think::None {
                bail!(
                    "--think with --closed --rate: a throttled loop keeps its rate instead; drop one of them"
                );
            }
            return Ok(if throttled { Model::ThrottledClosed } else { Model::Closed { think } });
        }
        let arrivals = self.arrivals.as_deref().unwrap_or("poisson");
        let process = Process::parse(arrivals).map_err(|e| anyhow!("--arrivals: {e}"))?;
        match self.visit {
            Some(mean_requests) => {
                Ok(Model::PartlyOpen { process, visit: UserVisit { mean_requests, think } })
            }
            None if think != Think::None => {
                bail!("--think: an open loop has none; add --closed, or --visit for a partly open load")
            }
            None => Ok(Model::Open { process }),
        }
    }

    /// Whether the workload's terminals decide when requests are made. For defaults, which are filled in before anything is
    /// checked.
    pub(super) fn has_terminals(&self) -> bool {
        self.terminals().unwrap_or(false)
    }

    fn terminals(&self) -> anyhow::Result<bool> {
        match self.tpcc_terminals.as_deref() {
            None | Some("unlimited") => Ok(false),
            Some("spec") => Ok(true),
            Some(other) => bail!("--tpcc-terminals {other}: there are `spec` and `unlimited`"),
        }
    }

    fn model_of_terminals(&self) -> anyhow::Result<Model> {
        let surplus = [
            (self.closed == Some(true), "--closed"),
            (self.visit.is_some(), "--visit"),
            (self.arrivals.is_some(), "--arrivals"),
            (self.rate.is_some(), "--rate"),
            (self.think.is_some(), "--think"),
            (self.mix.is_some(), "--mix"),
        ];
        match surplus.iter().find(|(has, _)| *has) {
            Some((_, flag)) => bail!(
                "{flag} with --tpcc-terminals spec: what terminals ask, and when, is in the specification; drop one of them"
            ),
            None => Ok(Model::Terminals),
        }
    }

    fn phases(&self, model: &Model) -> anyhow::Result<Vec<Phase>> {
        let trace = of_trace(model).is_some();
        if let (Some(rate), true) = (&self.rate, trace) {
            bail!("--rate {rate} with --arrivals trace: a trace brings its own rate; drop one of them");
        }
        if let (Some(phases), true) = (&self.phases, trace) {
            bail!(
                "--phases '{phases}' with --arrivals trace: a trace brings its own rates; drop one of them"
            );
        }
        let mut phases = match &self.phases {
            Some(text) => {
                if let Some(rate) = &self.rate {
                    bail!("--phases with --rate {rate}: phases have rates of their own; drop one of them");
                }
                if let Some(duration) = &self.duration {
                    bail!("--phases with --duration {duration}: phases have their own; drop one of them");
                }
                parse_phases(text).map_err(|e| anyhow!("--phases: {e}"))?
            }
            None => vec![self.single_phase(model)?],
        };
        let warmup = RunOptions::time("--warmup", self.warmup.as_deref())?.unwrap_or(Nanos::ZERO);
        if warmup > Nanos::ZERO {
            let first = phases[0].clone();
            let rate = first.rate.map(|(from, _)| (from, from));
            let name = "warm-up".to_owned();
            phases.insert(0, Phase { name, duration: warmup, rate, warm_up: true, ..first });
        }
        Ok(phases)
    }

    fn single_phase(&self, model: &Model) -> anyhow::Result<Phase> {
        let asked = RunOptions::time("--duration", self.duration.as_deref())?;
        let mut duration = asked.unwrap_or(Nanos::from_secs(10));
        let mut rate =
            self.rate.as_deref().map(parse_rate).transpose().map_err(|e| anyhow!("--rate: {e}"))?;
        if let Some(offsets) = of_trace(model) {
            // A trace brings its own time and rate.
            let last = offsets.last().copied().unwrap_or(Nanos::ZERO);
            if self.duration.is_none() {
                duration = last + Nanos(1);
            }
            let count = offsets.iter().filter(|&&o| o < duration).count() as u64;
            rate = Some(units::PerSecond::of(count, duration));
        }
        if duration == Nanos::ZERO {
            bail!("--duration 0: must be longer than 0");
        }
        let text = format!("{duration}").replace(' ', "");
        let name = rate.map_or(text.clone(), |r| format!("{text}@{r}"));
        Ok(Phase { name, duration, rate: rate.map(|r| (r, r)), sessions: None, mix: None, warm_up: false })
    }

    fn retry(&self) -> anyhow::Result<Retry> {
        let policy = self.retry.as_deref().unwrap_or("none");
        let retry = Retry::parse(policy).map_err(|e| anyhow!("--retry {e}"))?;
        let Some(pause) = self.retry_pause.as_deref() else { return Ok(retry) };
        let pause = Pause::parse(pause).map_err(|e| anyhow!("--retry-pause {e}"))?;
        if retry == Retry::NONE && pause != Pause::None {
            bail!("--retry-pause {pause}: nothing is tried again; add --retry 3, or drop it");
        }
        Ok(Retry { pause, ..retry })
    }

    /// The load, for a workload with these operations and default weights.
    pub(crate) fn load_spec(&self, operations: &[Operation]) -> anyhow::Result<LoadSpec> {
        let names: Vec<String> = operations.iter().map(|operation| operation.name.to_owned()).collect();
        let mix = match &self.mix {
            Some(text) => {
                let pairs = parse_mix(text).map_err(|e| anyhow!("--mix: {e}"))?;
                mix_weights(&pairs, &names)?
            }
            None => operations.iter().map(|operation| operation.weight).collect(),
        };
        let model = self.model()?;
        let mut phases = self.phases(&model)?;
        let sessions = ::load::sessions_to_connect(&mut phases, self.sessions.unwrap_or(8));
        if self.requests == Some(0) {
            bail!("--requests 0: must be at least 1; leave it out for no limit");
        }
        let spec = LoadSpec {
            model,
            phases,
            operations: names,
            mix,
            sessions,
            workers: self.threads.unwrap_or(1),
            requests: self.requests,
            timeout: RunOptions::latency_limit("--timeout", self.timeout.as_deref())?
                .filter(|t| *t > Nanos::ZERO),
            drain: RunOptions::time("--drain", self.drain.as_deref())?.unwrap_or(Nanos::from_secs(5)),
            retry: self.retry()?,
            pacing: self.pacing()?,
            cpus: self.cpus()?,
            seed: self.load_seed(),
        };
        spec.check()?;
        Ok(spec)
    }
}

/// The offsets of a trace, where the arrivals are one.
fn of_trace(model: &Model) -> Option<&[Nanos]> {
    match model {
        Model::Open { process: Process::Trace { offsets, .. } }
        | Model::PartlyOpen { process: Process::Trace { offsets, .. }, .. } => Some(offsets),
        _ => None,
    }
}
