//! Flags of `truetail prove`.

use anyhow::{anyhow, bail};
use clap::Args;
use prove::invocations::Protocol;
use prove::scenario::{self, Scenario, Size};
use std::path::PathBuf;

#[derive(Args, Clone, PartialEq, Debug, Default)]
pub(crate) struct ProveArguments {
    /// Only these scenarios, with commas between them or repeated; `--list` names them
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "What")]
    pub(crate) scenario: Vec<String>,

    /// Only on the simulated clock: exact, and done in seconds
    #[arg(long, conflicts_with_all = ["live", "tool"], help_heading = "What")]
    pub(crate) simulated: bool,

    /// Only over TCP against the simulated store
    #[arg(long, help_heading = "What")]
    pub(crate) live: bool,

    /// Protocol of live runs: resp, postgres, both; of a command: the one it speaks [default: both]
    #[arg(long, value_name = "NAME", help_heading = "What")]
    pub(crate) protocol: Option<String>,

    /// Grade this tool instead of truetail: a ready-made one (`--list` names them), `all` that are installed, or a command with
    /// {host} {port} {rate} {seconds} {sessions} {dir} in it, with --format and --protocol; it starts in the directory {dir};
    /// may be repeated
    #[arg(long, value_name = "TOOL", help_heading = "Other tools")]
    pub(crate) tool: Vec<String>,

    /// What the command prints or writes: ycsb, pgbench-log, pgbench, sysbench, memtier, redis-benchmark, hdr, csv
    #[arg(long, value_name = "FORMAT", help_heading = "Other tools")]
    pub(crate) format: Option<String>,

    /// Files that the command writes, with {dir} in their names; may be repeated [default: what it prints is read]
    #[arg(long, value_name = "PATH", requires = "format", help_heading = "Other tools")]
    pub(crate) read: Vec<String>,

    /// How the command draws its intended starts: constant, poisson [default: constant]
    #[arg(long, value_name = "PROCESS", requires = "format", help_heading = "Other tools")]
    pub(crate) arrivals: Option<String>,

    /// Class path of YCSB with the bindings of bindings/ycsb
    #[arg(long, value_name = "PATH", env = "TRUETAIL_YCSB_CLASS_PATH", help_heading = "Other tools")]
    pub(crate) class_path: Option<String>,

    /// Re-run an experiment: nosqlmark (the paper's), elasticity (a node joins)
    #[arg(long, value_name = "NAME", conflicts_with_all = ["tool", "live", "simulated"], help_heading = "What")]
    pub(crate) experiment: Option<String>,

    /// What drivers do unasked: one answer late by 800 ms, one retryable error, one closed connection
    #[arg(long, conflicts_with_all = ["tool", "live", "simulated", "experiment"], help_heading = "What")]
    pub(crate) driver_traps: bool,

    /// Name scenarios and ready-made tools, and stop
    #[arg(long, help_heading = "What")]
    pub(crate) list: bool,

    /// Directory for pages, recordings and truth logs [default: proofs/TIME]
    #[arg(long, short = 'o', value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    /// Take options from this TOML file, section [prove]; flags win
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) config: Option<PathBuf>,
}

impl ProveArguments {
    /// The protocols asked for.
    ///
    /// # Errors
    /// One line: the name, and those that there are.
    pub(crate) fn protocols(&self) -> anyhow::Result<Vec<Protocol>> {
        match self.protocol.as_deref() {
            None | Some("both") => Ok(vec![Protocol::Resp, Protocol::Postgres]),
            Some(name) => {
                match [Protocol::Resp, Protocol::Postgres].into_iter().find(|spoken| spoken.name() == name) {
                    Some(spoken) => Ok(vec![spoken]),
                    None => bail!("--protocol {name}: there are resp, postgres and both"),
                }
            }
        }
    }

    /// The scenarios asked for, in their order.
    ///
    /// # Errors
    /// One line: the name that is none, and those that there are.
    pub(crate) fn scenarios(&self, size: Size) -> anyhow::Result<Vec<Scenario>> {
        if self.scenario.is_empty() {
            return Ok(scenario::all(size));
        }
        let find = |name: &String| {
            scenario::by_name(name, size)
                .ok_or_else(|| anyhow!("--scenario {name}: there are {}", scenario::NAMES.join(", ")))
        };
        self.scenario.iter().map(find).collect()
    }
}
