//! What a run was asked to be: flags over `--config` over defaults, in one table.

use crate::registry::WorkloadChoice;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use clock::ClockChoice;
use driver::{Execution, Isolation};
use load::arrivals::Process;
use load::{LoadSpec, Model, Pacing, Phase, Think, UserVisit, mix_weights, parse_mix, parse_phases};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use units::{Nanos, Seed, parse_duration, parse_rate};

/// Everything that decides a run. Each flag is also a key of the configuration file, spelt the same.
#[derive(Args, Serialize, Deserialize, Clone, PartialEq, Debug, Default)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct RunOptions {
    /// Where to send requests: sqlite:, sqlite:PATH, postgres://…, null: [default: sqlite:]
    #[arg(value_name = "TARGET")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,

    /// What to ask: ycsb, ycsb-a … ycsb-f, noop [default: ycsb]
    #[arg(long, short = 'w', value_name = "NAME", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workload: Option<String>,

    /// Size of the data set, as the workload defines it [default: 1]
    #[arg(long, value_name = "FACTOR", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scale: Option<f64>,

    /// A parameter of the workload, such as `-p fieldlength=200`; may be repeated
    #[arg(long = "param", short = 'p', value_name = "NAME=VALUE", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) param: Vec<String>,

    /// Behave as another tool does, faults included: benchbase
    #[arg(long, value_name = "TOOL", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compat: Option<String>,

    /// Shares of the operations, such as `ReadRecord=90,UpdateRecord=10`; those not named get 0
    #[arg(long, value_name = "TYPE=WEIGHT,…", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mix: Option<String>,

    /// Transaction isolation: read-committed, repeatable-read, serializable … [default: the target's]
    #[arg(long, value_name = "LEVEL", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) isolation: Option<String>,

    /// Offered load of an open loop; with --closed the rate that sessions try to keep [default: 2000/s]
    #[arg(long, short = 'r', value_name = "RATE", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rate: Option<String>,

    /// Gaps between arrivals: constant, poisson, pareto[:ALPHA], hyperexp[:CV2], lognormal[:SIGMA],
    /// gamma[:SHAPE], trace:FILE [default: poisson]
    #[arg(long, value_name = "PROCESS", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arrivals: Option<String>,

    /// Closed loop: each session's next request follows its last answer
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL",
          help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) closed: Option<bool>,

    /// Think time of closed and partly open loads: none, constant:T, exp:T, pareto:T[:ALPHA], hyperexp:T[:CV2]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) think: Option<String>,

    /// Partly open: users arrive at --rate, do this many requests on average, and leave
    #[arg(long, value_name = "REQUESTS", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) visit: Option<f64>,

    /// Phases and ramps: '30s@1000/s, 10s@1000..5000/s, 30s@5000/s sessions=16 mix=A=1+B=2'
    #[arg(long, value_name = "PHASES", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phases: Option<String>,

    /// Connections; a phase may have more or fewer [default: 8; 4 for embedded targets]
    #[arg(long, visible_alias = "clients", short = 'c', value_name = "N", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sessions: Option<u32>,

    /// Worker threads for network targets [default: 1]
    #[arg(long, short = 't', value_name = "N", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) threads: Option<u32>,

    /// Measured time [default: 10s]
    #[arg(long, short = 'd', value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration: Option<String>,

    /// Time before that, recorded and marked [default: 2s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warmup: Option<String>,

    /// Stop after this many requests, warm-up included
    #[arg(long, value_name = "N", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requests: Option<u64>,

    /// Give a request up after this time; its sample is censored [default: none]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<String>,

    /// How long to wait for the backlog at the end; the rest is recorded as unfinished [default: 5s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) drain: Option<String>,

    /// Retries of serialization failures, deadlocks and busy databases, inside of the response time [default: 0]
    #[arg(long, value_name = "N", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retries: Option<u8>,

    /// Seed of arrivals, operations, keys and values [default: 1]
    #[arg(long, value_name = "N", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,

    /// CPUs that truetail's workers may use, such as `0,2-3` [default: all]
    #[arg(long, value_name = "LIST", help_heading = "Host")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpus: Option<String>,

    /// CPUs that the server is meant to use; checked where its processes are known, never set
    #[arg(long, value_name = "LIST", help_heading = "Host")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server_cpus: Option<String>,

    /// Clock: auto, tsc, monotonic [default: auto]
    #[arg(long, value_name = "CLOCK", help_heading = "Host")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) clock: Option<String>,

    /// How due times are met: auto, spin (sleep, then spin for the last 80 µs), sleep [default: auto]
    #[arg(long, value_name = "HOW", help_heading = "Host")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pacing: Option<String>,

    /// Directory of the recording [default: recordings/TIME-WORKLOAD-TARGET]
    #[arg(long, short = 'o', value_name = "DIR", help_heading = "Output")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) out: Option<PathBuf>,

    /// Make this many runs, one after the other, and show how they differ [default: 1]
    #[arg(long, value_name = "N", help_heading = "Output")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repeat: Option<u32>,

    /// How often the live view speaks where it can't redraw [default: 1s]
    #[arg(long, value_name = "TIME", help_heading = "Output")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) report_interval: Option<String>,

    /// Number of this load machine, when several make one load at the same time [default: 0]
    #[arg(long, value_name = "N", help_heading = "Output")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<u16>,
}

/// Takes each field from the first that has it.
macro_rules! first_of {
    ($flags:ident, $file:ident, $($field:ident),+) => {
        RunOptions {
            param: if $flags.param.is_empty() { $file.param } else { $flags.param },
            $($field: $flags.$field.or($file.$field)),+
        }
    };
}

impl RunOptions {
    /// Flags over the file.
    pub(crate) fn over(self, file: RunOptions) -> RunOptions {
        let flags = self;
        first_of!(
            flags,
            file,
            target,
            workload,
            scale,
            compat,
            mix,
            isolation,
            rate,
            arrivals,
            closed,
            think,
            visit,
            phases,
            sessions,
            threads,
            duration,
            warmup,
            requests,
            timeout,
            drain,
            retries,
            seed,
            cpus,
            server_cpus,
            clock,
            pacing,
            out,
            repeat,
            report_interval,
            client
        )
    }

    /// Reads a configuration file.
    pub(crate) fn from_file(path: &Path) -> anyhow::Result<RunOptions> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("--config {}: can't be read; check the path", path.display()))?;
        RunOptions::from_toml(&text).map_err(|reason| anyhow!("--config {}: {reason}", path.display()))
    }

    /// Reads configuration text; the error is one line.
    pub(crate) fn from_toml(text: &str) -> Result<RunOptions, String> {
        toml::from_str(text).map_err(|error| {
            let reason = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return reason };
            let number = 1 + before.matches('\n').count();
            // The key alone: a value may be a URL with a password.
            let key =
                text.lines().nth(number - 1).and_then(|line| line.split_once('=')).map(|(key, _)| key.trim());
            let of = key.filter(|k| !k.is_empty()).map_or(String::new(), |key| format!(", `{key}`"));
            format!("line {number}{of}: {reason}")
        })
    }

    /// With every default filled in, as `--print-config` shows it and a recording keeps it.
    pub(crate) fn effective(mut self, execution: Execution) -> RunOptions {
        fn fill<T>(slot: &mut Option<T>, value: T) {
            slot.get_or_insert(value);
        }
        fill(&mut self.target, DEFAULT_TARGET.to_owned());
        fill(&mut self.workload, "ycsb".to_owned());
        fill(&mut self.scale, 1.0);
        fill(&mut self.closed, false);
        let trace = self.arrivals.as_deref().is_some_and(|a| a.starts_with("trace:"));
        if self.closed == Some(false) && self.phases.is_none() && !trace {
            fill(&mut self.rate, "2000/s".to_owned());
        }
        if self.closed == Some(false) {
            fill(&mut self.arrivals, "poisson".to_owned());
        }
        if self.closed == Some(true) || self.visit.is_some() {
            fill(&mut self.think, "none".to_owned());
        }
        fill(&mut self.sessions, if execution == Execution::Blocking { 4 } else { 8 });
        fill(&mut self.threads, 1);
        if self.phases.is_none() {
            fill(&mut self.duration, "10s".to_owned());
        }
        fill(&mut self.warmup, if trace { "0s".to_owned() } else { "2s".to_owned() });
        fill(&mut self.drain, "5s".to_owned());
        fill(&mut self.retries, 0);
        fill(&mut self.seed, 1);
        fill(&mut self.clock, "auto".to_owned());
        fill(&mut self.pacing, "auto".to_owned());
        fill(&mut self.repeat, 1);
        fill(&mut self.report_interval, "1s".to_owned());
        fill(&mut self.client, 0);
        self
    }

    /// Without secrets.
    pub(crate) fn shown(&self) -> anyhow::Result<RunOptions> {
        let mut shown = self.clone();
        if let Some(target) = &self.target {
            shown.target = Some(driver::TargetUrl::parse(target)?.to_string());
        }
        Ok(shown)
    }

    /// As TOML, without secrets.
    pub(crate) fn to_toml(&self) -> anyhow::Result<String> {
        Ok(toml::to_string(&self.shown()?)?)
    }

    /// The wanted workload.
    pub(crate) fn workload_choice(&self) -> anyhow::Result<WorkloadChoice> {
        let mut parameters = Vec::new();
        for pair in &self.param {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| anyhow!("-p {pair}: expected NAME=VALUE, such as `-p fieldlength=200`"))?;
            parameters.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        if let Some(compat) = &self.compat {
            if compat != "benchbase" {
                bail!("--compat {compat}: there is only `benchbase`");
            }
            parameters.push(("compat".to_owned(), compat.clone()));
        }
        let scale = self.scale.unwrap_or(1.0);
        if !(scale.is_finite() && scale > 0.0) {
            bail!("--scale {scale}: must be above 0");
        }
        Ok(WorkloadChoice {
            name: self.workload.clone().unwrap_or_else(|| "ycsb".to_owned()),
            scale,
            seed: self.seed(),
            parameters,
            mix: self.mix.as_deref().map(parse_mix).transpose().map_err(|e| anyhow!("--mix: {e}"))?,
        })
    }

    pub(crate) fn seed(&self) -> Seed {
        Seed(self.seed.unwrap_or(1))
    }

    /// The seed of arrivals and operations. Clients that make one load together must not send in step, so
    /// each has its own.
    fn load_seed(&self) -> Seed {
        match self.client {
            None | Some(0) => self.seed(),
            Some(client) => self.seed().derive(&format!("client {client}")),
        }
    }

    pub(crate) fn isolation(&self) -> anyhow::Result<Option<Isolation>> {
        let Some(name) = &self.isolation else { return Ok(None) };
        let found = Isolation::ALL.into_iter().find(|level| level.name() == name);
        let names: Vec<&str> = Isolation::ALL.iter().map(|level| level.name()).collect();
        found.map(Some).ok_or_else(|| anyhow!("--isolation {name}: there are {}", names.join(", ")))
    }

    pub(crate) fn clock(&self) -> anyhow::Result<ClockChoice> {
        match self.clock.as_deref() {
            None | Some("auto") => Ok(ClockChoice::Auto),
            Some("tsc") => Ok(ClockChoice::Tsc),
            Some("monotonic") => Ok(ClockChoice::Monotonic),
            Some(other) => bail!("--clock {other}: there are auto, tsc, monotonic"),
        }
    }

    fn pacing(&self) -> anyhow::Result<Pacing> {
        match self.pacing.as_deref() {
            Some("spin") => Ok(Pacing::SleepThenSpin),
            Some("sleep") => Ok(Pacing::Sleep),
            // With one CPU a spinning client would take the server's time away.
            None | Some("auto") if load::available_cpus().len() >= 2 => Ok(Pacing::SleepThenSpin),
            None | Some("auto") => Ok(Pacing::Sleep),
            Some(other) => bail!("--pacing {other}: there are auto, spin, sleep"),
        }
    }

    pub(crate) fn cpus(&self) -> anyhow::Result<Vec<usize>> {
        let Some(list) = &self.cpus else { return Ok(Vec::new()) };
        let cpus = load::parse_cpu_list(list).map_err(|e| anyhow!("--cpus: {e}"))?;
        let available = load::available_cpus();
        if let Some(missing) = cpus.iter().find(|c| !available.is_empty() && !available.contains(c)) {
            bail!("--cpus {list}: this process may not use CPU {missing}; it may use {available:?}");
        }
        Ok(cpus)
    }

    /// The CPUs that the server is meant to use; any that its host may have.
    pub(crate) fn server_cpus(&self) -> anyhow::Result<Option<Vec<usize>>> {
        let list = self.server_cpus.as_deref();
        list.map(|l| load::parse_cpu_list(l).map_err(|e| anyhow!("--server-cpus: {e}"))).transpose()
    }

    /// A duration flag.
    pub(crate) fn time(flag: &str, text: Option<&str>) -> anyhow::Result<Option<Nanos>> {
        text.map(|t| parse_duration(t).map_err(|e| anyhow!("{flag}: {e}"))).transpose()
    }

    /// How often the live view speaks where it can't redraw.
    pub(crate) fn report_interval(&self) -> anyhow::Result<Nanos> {
        let least = Nanos::from_millis(50);
        let asked = RunOptions::time("--report-interval", self.report_interval.as_deref())?;
        let interval = asked.unwrap_or(Nanos::from_secs(1));
        if interval < least {
            bail!("--report-interval {interval}: must be at least {least}");
        }
        Ok(interval)
    }

    fn model(&self) -> anyhow::Result<Model> {
        let think = match &self.think {
            Some(text) => Think::parse(text).map_err(|e| anyhow!("--think: {e}"))?,
            None => Think::None,
        };
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

    fn phases(&self, model: &Model) -> anyhow::Result<Vec<Phase>> {
        let mut phases = match &self.phases {
            Some(text) => {
                if self.duration.is_some()
                    || (self.rate.is_some() && !matches!(model, Model::ThrottledClosed))
                {
                    bail!("--phases with --duration or --rate: phases have their own; drop one of them");
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
        if let Model::Open { process: Process::Trace { offsets, .. } } = model {
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

    /// The load, for a workload with these operations and default weights.
    pub(crate) fn load_spec(&self, operations: &[(String, f64)]) -> anyhow::Result<LoadSpec> {
        let names: Vec<String> = operations.iter().map(|(name, _)| name.clone()).collect();
        let mix = match &self.mix {
            Some(text) => {
                let pairs = parse_mix(text).map_err(|e| anyhow!("--mix: {e}"))?;
                mix_weights(&pairs, &names)?
            }
            None => operations.iter().map(|(_, weight)| *weight).collect(),
        };
        let model = self.model()?;
        let mut phases = self.phases(&model)?;
        let sessions = load::sessions_to_connect(&mut phases, self.sessions.unwrap_or(8));
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
            timeout: RunOptions::time("--timeout", self.timeout.as_deref())?.filter(|t| *t > Nanos::ZERO),
            drain: RunOptions::time("--drain", self.drain.as_deref())?.unwrap_or(Nanos::from_secs(5)),
            retries: self.retries.unwrap_or(0),
            pacing: self.pacing()?,
            cpus: self.cpus()?,
            seed: self.load_seed(),
        };
        spec.check()?;
        self.server_cpus()?; // refused before anything is connected
        Ok(spec)
    }
}

#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod tests;

/// A file in the recording's directory.
pub(crate) const DEFAULT_TARGET: &str = "sqlite:";
