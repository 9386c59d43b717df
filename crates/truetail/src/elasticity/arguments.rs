//! Flags of `truetail experiment elasticity`.

use clap::Args;
use std::path::PathBuf;

#[derive(Args, Clone, PartialEq, Debug, Default)]
pub(crate) struct ElasticityArguments {
    /// Say what would be run, and how long it takes, and stop
    #[arg(long, help_heading = "What")]
    pub(crate) list: bool,

    /// quick (20,000 records, 500/s, some 7 minutes) or slides (10 million records, 10,000/s, the join at 5 min of 15)
    /// [default: quick]
    #[arg(long, value_name = "NAME", help_heading = "What")]
    pub(crate) preset: Option<String>,

    /// Only one of the loops: open or closed [default: both, each on a cluster of its own]
    #[arg(long, value_name = "LOOP", help_heading = "What")]
    pub(crate) only: Option<String>,

    /// Records that are loaded on one node [default: the preset's]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) records: Option<u64>,

    /// Offered rate of both runs [default: the preset's]
    #[arg(long, value_name = "RATE", help_heading = "Load")]
    pub(crate) rate: Option<String>,

    /// Length of each run [default: the preset's]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub(crate) time: Option<String>,

    /// When the second node is started, from the begin of a run [default: the preset's]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub(crate) join_at: Option<String>,

    /// Connections [default: the preset's]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) sessions: Option<u32>,

    /// YCSB's workload [default: ycsb-a]
    #[arg(long, short = 'w', value_name = "NAME", help_heading = "Load")]
    pub(crate) workload: Option<String>,

    /// Seed of the loads [default: 1]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) seed: Option<u64>,

    /// A cluster of one node, without a password, to ask instead of a Cassandra that is started for each run; what it has of the
    /// same workload is dropped
    #[arg(long, value_name = "URL", requires = "join", help_heading = "Servers")]
    pub(crate) url: Option<String>,

    /// The command, for a shell, that starts the second node; ended with the run if it still runs then
    #[arg(long, value_name = "COMMAND", requires = "url", help_heading = "Servers")]
    pub(crate) join: Option<String>,

    /// The command, for a shell, that makes the cluster one fresh node again; before each run. Needed where both loops are run
    #[arg(long, value_name = "COMMAND", requires = "url", help_heading = "Servers")]
    pub(crate) reset: Option<String>,

    /// Look again at the runs of an experiment, and run nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "preset", "only", "records", "rate", "time", "join_at",
          "sessions", "workload", "seed", "url", "join", "reset", "out"], help_heading = "What")]
    pub(crate) again: Option<PathBuf>,

    /// Directory for recordings and pages [default: experiments/TIME-elasticity]
    #[arg(long, short = 'o', value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
}
