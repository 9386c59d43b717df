//! Flags of `truetail experiment predictability`.

use clap::Args;
use std::path::PathBuf;

#[derive(Args, Clone, PartialEq, Debug, Default)]
pub(crate) struct PredictabilityArguments {
    /// Name the cells, those that can't be run here with the reason, and how long all would take, and stop
    #[arg(long, help_heading = "What")]
    pub(crate) list: bool,

    /// quick (2 warehouses, some 15 minutes) or paper (32 warehouses at 500/s) [default: quick]
    #[arg(long, value_name = "NAME", help_heading = "What")]
    pub(crate) preset: Option<String>,

    /// Run each cell so many times, all cells in turn [default: 3]
    #[arg(long, value_name = "N", help_heading = "What")]
    pub(crate) rounds: Option<u32>,

    /// Only these servers: postgresql, mariadb; may be repeated [default: both]
    #[arg(long, value_name = "NAME", help_heading = "What")]
    pub(crate) server: Vec<String>,

    /// Offered rate of all runs [default: the preset's]
    #[arg(long, value_name = "RATE", help_heading = "Load")]
    pub(crate) rate: Option<String>,

    /// Measured time of each run [default: the preset's]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub(crate) time: Option<String>,

    /// Time before that, recorded and marked [default: the preset's]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub(crate) warmup: Option<String>,

    /// Warehouses of TPC-C's data [default: the preset's]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) warehouses: Option<u32>,

    /// Connections [default: 16]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) sessions: Option<u32>,

    /// Seed of the order of the runs and of the loads [default: 1]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) seed: Option<u64>,

    /// The PostgreSQL to ask, in a database that TPC-C's tables may be made in and dropped from [default: a server of its own
    /// is started from installed programs, flushes at each commit, and is thrown away]
    #[arg(long, value_name = "URL", help_heading = "Servers")]
    pub(crate) postgres: Option<String>,

    /// The MariaDB or MySQL to ask, likewise [default: likewise]
    #[arg(long, value_name = "URL", help_heading = "Servers")]
    pub(crate) mariadb: Option<String>,

    /// Look again at the runs of an experiment, and run nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "preset", "rounds", "server", "rate", "time", "warmup",
          "warehouses", "sessions", "seed", "postgres", "mariadb", "out"], help_heading = "What")]
    pub(crate) again: Option<PathBuf>,

    /// Directory for recordings and pages [default: experiments/TIME-predictability]
    #[arg(long, short = 'o', value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
}
