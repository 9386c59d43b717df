//! What a run was asked to be: flags over `--config` over defaults, in one table.

use crate::registry::{self, WorkloadChoice};
use ::load::parse_mix;
use anyhow::{anyhow, bail};
use clap::Args;
use driver::{Execution, Isolation, TargetUrl};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use units::{Nanos, Seed, parse_duration, parse_latency_limit};
use workload::Workload;

mod beside;
mod client;
mod file;
mod floor;
mod host;
mod load;
mod percentiles;

pub(crate) use client::ClientNumber;
pub(crate) use percentiles::parse_percentiles;

/// Everything that decides a run. Each flag is also a key of the configuration file, spelt the same.
#[derive(Args, Serialize, Deserialize, Clone, PartialEq, Debug, Default)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct RunOptions {
    /// Where to send requests: sqlite:, sqlite:PATH, postgres://…, redis://…, echo://…, null: [default: sqlite:]
    #[arg(value_name = "TARGET")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,

    /// What to ask: ycsb, ycsb-a … ycsb-f, tpcc, noop, or a file of your own such as bank.toml [default: ycsb]
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

    /// Connections that load a data set side by side [default: one for each CPU]
    #[arg(long, value_name = "N", help_heading = "Workload")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) loaders: Option<u16>,

    /// Transaction isolation: read-committed, repeatable-read, serializable …
    /// [default: what the workload needs, else the target's]
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

    /// TPC-C's terminals: `spec` is ten a warehouse with keying and think times, on any number of sessions;
    /// `unlimited` has none, and --rate or --closed decide [default: unlimited]
    #[arg(long, value_name = "HOW", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tpcc_terminals: Option<String>,

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

    /// Give a request up after this time, such as `500ms`; its sample is censored [default: none]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<String>,

    /// How long to wait for the backlog at the end; the rest is recorded as unfinished [default: 5s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) drain: Option<String>,

    /// Try a failed request again inside of its response time: none, N (conflicts: serialization failures, deadlocks, busy
    /// databases), or CLASS[+CLASS]:N of conflicts, refused, serialization, deadlock, busy, unavailable, redirected, lost
    /// [default: none]
    #[arg(long, alias = "retries", value_name = "POLICY", help_heading = "Load")]
    #[serde(
        alias = "retries",
        deserialize_with = "file::words_or_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) retry: Option<String>,

    /// Pause before that: a time, or exp:FIRST[..MOST], doubled each time, with seeded jitter [default: 0s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_pause: Option<String>,

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

    /// What watches the host during the run: default, off, all, or a list such as `hiccup=1ms,steal`
    /// (see docs/observers.md) [default: default]
    #[arg(long, value_name = "LIST", help_heading = "Host")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observers: Option<String>,

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

    /// Quantiles to show besides the usual ones, such as `98,99.5` or `p99.5`
    #[arg(long, value_name = "LIST", help_heading = "Output")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) percentiles: Option<String>,

    /// Number of this load machine from 0, and how many there are, such as `0/2`, when several make one load
    /// at the same time [default: 0]
    #[arg(long, value_name = "N/M", help_heading = "Output")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<ClientNumber>,

    /// Time what is inside of requests, too: each exchange with the database, by its first statement (see
    /// docs/statements.md)
    #[arg(
        long,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true,
        help_heading = "Load"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) statements: Option<bool>,

    /// Measure beside the load: `staleness`, how long it takes until a write is read (see docs/load.md)
    #[arg(long, value_name = "WHAT", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) check: Option<String>,

    /// Measure the floor first, with the run's own configuration, in this time: what truetail, the kernel and the
    /// protocol take of each quantile (see docs/floor.md) [default: none; 20s without a time]
    #[arg(long, num_args = 0..=1, default_missing_value = "20s", value_name = "TIME", help_heading = "Output")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) floor: Option<String>,

    /// Where the floor's echo server is, such as `db1:7377` for `truetail echo` on the server's host
    /// [default: one is started on this host]
    #[arg(long, value_name = "HOST:PORT", help_heading = "Output")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) echo: Option<String>,

    /// Lay the pauses of a JVM over the run, from its log; `harness:` before the file if it is not the server's; may be
    /// repeated, such as `--jvm-log gc.log` for Cassandra (see docs/jvm.md)
    #[arg(long, value_name = "[harness:|server:]FILE", help_heading = "Host")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) jvm_log: Vec<String>,

    /// When that JVM started, such as 2026-11-21T06:35:37.116Z; for logs whose lines have an uptime alone
    #[arg(long, value_name = "TIME", help_heading = "Host")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jvm_start: Option<String>,

    /// Lay checkpoints, vacuums and waits for locks over the run, from PostgreSQL's own log; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Host")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) server_log: Vec<PathBuf>,

    /// What that log's times are in where it names a zone such as CET: `+01:00`, or `host` for this host's zone
    #[arg(long, value_name = "ZONE", help_heading = "Host", allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server_log_zone: Option<String>,

    /// In a file: print JSON, as `--json` does.
    #[arg(skip)]
    #[serde(skip_serializing)]
    pub(crate) json: Option<bool>,

    /// In a file: what `truetail search` takes besides.
    #[arg(skip)]
    #[serde(skip_serializing)]
    pub(crate) search: Option<toml::Table>,

    /// In a file: what `truetail report` takes.
    #[arg(skip)]
    #[serde(skip_serializing)]
    pub(crate) report: Option<toml::Table>,

    /// In a file: what `truetail attribute` takes.
    #[arg(skip)]
    #[serde(skip_serializing)]
    pub(crate) attribute: Option<toml::Table>,
    /// In a file: what `truetail compare` takes.
    #[arg(skip)]
    #[serde(skip_serializing)]
    pub(crate) compare: Option<toml::Table>,

    /// In a file: what `truetail export` takes.
    #[arg(skip)]
    #[serde(skip_serializing)]
    pub(crate) export: Option<toml::Table>,
    /// In a file: what `truetail store` takes.
    #[arg(skip)]
    #[serde(skip_serializing)]
    pub(crate) store: Option<toml::Table>,
    /// In a file: what `truetail prove` takes.
    #[arg(skip)]
    #[serde(skip_serializing)]
    pub(crate) prove: Option<toml::Table>,
}

/// Takes each field from the first that has it.
macro_rules! first_of {
    ($flags:ident, $file:ident, $($field:ident),+) => {
        RunOptions {
            param: if $flags.param.is_empty() { $file.param } else { $flags.param },
            jvm_log: if $flags.jvm_log.is_empty() { $file.jvm_log } else { $flags.jvm_log },
            server_log: if $flags.server_log.is_empty() { $file.server_log } else { $flags.server_log },
            $($field: $flags.$field.or($file.$field)),+,
            ..RunOptions::default()
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
            loaders,
            isolation,
            rate,
            arrivals,
            closed,
            think,
            visit,
            tpcc_terminals,
            phases,
            sessions,
            threads,
            duration,
            warmup,
            requests,
            timeout,
            drain,
            retry,
            retry_pause,
            seed,
            cpus,
            server_cpus,
            observers,
            clock,
            pacing,
            out,
            repeat,
            report_interval,
            percentiles,
            client,
            statements,
            check,
            floor,
            echo,
            jvm_start,
            server_log_zone
        )
    }

    /// With every default filled in, as `--print-config` shows it and a recording keeps it.
    pub(crate) fn effective(mut self, execution: Execution) -> RunOptions {
        fn fill<T>(slot: &mut Option<T>, value: T) {
            slot.get_or_insert(value);
        }
        fill(&mut self.target, DEFAULT_TARGET.to_owned());
        let workload = self.default_workload().to_owned();
        fill(&mut self.workload, workload);
        fill(&mut self.scale, 1.0);
        fill(&mut self.closed, false);
        fill(&mut self.statements, false);
        let trace = self.arrivals.as_deref().is_some_and(|a| a.starts_with("trace:"));
        let has_rate = self.closed == Some(false) && !self.has_terminals();
        if has_rate && self.phases.is_none() && !trace {
            fill(&mut self.rate, "2000/s".to_owned());
        }
        if has_rate {
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
        fill(&mut self.retry, "none".to_owned());
        fill(&mut self.seed, 1);
        fill(&mut self.observers, "default".to_owned());
        fill(&mut self.clock, "auto".to_owned());
        fill(&mut self.pacing, "auto".to_owned());
        fill(&mut self.repeat, 1);
        fill(&mut self.report_interval, "1s".to_owned());
        fill(&mut self.client, ClientNumber::default());
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

    /// What is asked of a target when nothing is said.
    pub(crate) fn default_workload(&self) -> &'static str {
        let echoes = self.target.as_deref().is_some_and(|text| text.starts_with("echo:"));
        if self.has_key_value_target() || echoes { "noop" } else { "ycsb" }
    }

    fn has_key_value_target(&self) -> bool {
        let url = self.target.as_deref().and_then(|text| driver::TargetUrl::parse(text).ok());
        url.and_then(|url| registry::driver_of(&url).ok()).is_some_and(|entry| entry.key_value)
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
        let name = self.workload.clone().unwrap_or_else(|| self.default_workload().to_owned());
        if name == "noop" && self.has_key_value_target() && !parameters.iter().any(|(name, _)| name == "mode")
        {
            // The other modes are statements.
            parameters.push(("mode".to_owned(), "ping".to_owned()));
        }
        Ok(WorkloadChoice {
            name,
            scale,
            seed: self.seed(),
            parameters,
            mix: self.mix.as_deref().map(parse_mix).transpose().map_err(|e| anyhow!("--mix: {e}"))?,
            client: self.client(),
        })
    }

    pub(crate) fn seed(&self) -> Seed {
        Seed(self.seed.unwrap_or(1))
    }

    /// The seed of arrivals and operations. Clients that make one load together must not send in step, so
    /// each has its own.
    fn load_seed(&self) -> Seed {
        match self.client().number {
            0 => self.seed(),
            client => self.seed().derive(&format!("client {client}")),
        }
    }

    /// Which load machine this is.
    pub(crate) fn client(&self) -> ClientNumber {
        self.client.unwrap_or_default()
    }

    pub(crate) fn isolation(&self) -> anyhow::Result<Option<Isolation>> {
        let Some(name) = &self.isolation else { return Ok(None) };
        let found = Isolation::ALL.into_iter().find(|level| level.name() == name);
        let names: Vec<&str> = Isolation::ALL.iter().map(|level| level.name()).collect();
        found.map(Some).ok_or_else(|| anyhow!("--isolation {name}: there are {}", names.join(", ")))
    }

    /// Connections that load a data set; as many as there are CPUs where nobody says.
    pub(crate) fn loaders(&self) -> anyhow::Result<usize> {
        const MOST: u16 = 256;
        match self.loaders {
            None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
            Some(count @ 1..=MOST) => Ok(count.into()),
            Some(count) => bail!("--loaders {count}: must be in 1..{MOST}"),
        }
    }

    /// Checks all that can be known without a connection, so that nothing wrong is kept silent: not by
    /// `--print-config`, nor by a command that has no use for the option.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let url = TargetUrl::parse(self.target.as_deref().unwrap_or(DEFAULT_TARGET))?;
        let execution = match registry::driver_of(&url)?.file {
            true => Execution::Blocking,
            false => Execution::Polled,
        };
        let effective = self.clone().effective(execution);
        let workload = registry::make_workload(&effective.workload_choice()?)?;
        effective.load_spec(&workload.operations())?;
        effective.isolation()?;
        effective.loaders()?;
        effective.report_interval()?;
        effective.clock()?;
        effective.server_cpus()?;
        effective.observers()?;
        effective.quantiles()?;
        effective.probe(&url)?;
        effective.floor()?;
        effective.logs()?;
        let repeats = effective.repeat.unwrap_or(1);
        if !(1..=1000).contains(&repeats) {
            bail!("--repeat {repeats}: must be in 1..1000");
        }
        Ok(())
    }

    /// A duration flag.
    pub(crate) fn time(flag: &str, text: Option<&str>) -> anyhow::Result<Option<Nanos>> {
        text.map(|t| parse_duration(t).map_err(|e| anyhow!("{flag}: {e}"))).transpose()
    }

    /// A flag that limits how long requests take: never without a unit.
    pub(crate) fn latency_limit(flag: &str, text: Option<&str>) -> anyhow::Result<Option<Nanos>> {
        text.map(|t| parse_latency_limit(t).map_err(|e| anyhow!("{flag}: {e}"))).transpose()
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
}

#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod tests;

/// A file in the recording's directory.
pub(crate) const DEFAULT_TARGET: &str = "sqlite:";
