//! Flags of `truetail experiment tell-tale`.

use clap::Args;
use std::path::PathBuf;

#[derive(Args, Clone, PartialEq, Debug, Default)]
pub(crate) struct TellTaleArguments {
    /// Name the cells, those that can't be run here with the reason, and how long all would take, and stop
    #[arg(long, help_heading = "What")]
    pub(crate) list: bool,

    /// quick (small heaps, some 25 minutes on two cores) or paper (10 s + 60 s for each run, heaps of 8 GiB) [default: quick]
    #[arg(long, value_name = "NAME", help_heading = "What")]
    pub(crate) preset: Option<String>,

    /// Run each cell so many times, all cells in turn [default: 3]
    #[arg(long, value_name = "N", help_heading = "What")]
    pub(crate) rounds: Option<u32>,

    /// Only these cells, such as `workload=noop,target=postgresql,harness=g1|truetail,load=open`; may be repeated
    #[arg(long, value_name = "KEY=NAME,…", help_heading = "What")]
    pub(crate) only: Vec<String>,

    /// Offered rate of all open loops [default: half of the slowest closed loop of a short probe, up to a limit of the preset]
    #[arg(long, value_name = "RATE", help_heading = "Load")]
    pub(crate) rate: Option<String>,

    /// Measured time of each run [default: the preset's]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub(crate) time: Option<String>,

    /// Time before that, recorded and marked [default: the preset's]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub(crate) warmup: Option<String>,

    /// Seed of the order of the runs and of truetail's loads [default: 1]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(crate) seed: Option<u64>,

    /// A JVM to run load tools in, as `NAME=JAVA_HOME[,FLAGS]`; without JAVA_HOME it is `java`; may be repeated
    /// [default: `java` of JAVA_HOME or the path, with G1, ZGC, Shenandoah, Epsilon, Parallel, Serial]
    #[arg(long, value_name = "NAME=HOME[,FLAGS]", help_heading = "Harnesses")]
    pub(crate) jvm: Vec<String>,

    /// Where a load tool is: `ycsb=PATH`, a class path or the directory with truetail-ycsb.jar and lib/; `benchbase=PATH`, its
    /// benchbase.jar; may be repeated [default: ycsb=bindings/ycsb/target, no BenchBase]
    #[arg(long, value_name = "TOOL=PATH", help_heading = "Harnesses")]
    pub(crate) harness: Vec<String>,

    /// Class path of YCSB with the bindings of bindings/ycsb, as `--harness ycsb=`
    #[arg(long, value_name = "PATH", env = "TRUETAIL_YCSB_CLASS_PATH", hide = true)]
    pub(crate) class_path: Option<String>,

    /// The PostgreSQL to ask; its user must be allowed to create databases [default: a server of its own is started from
    /// installed programs and thrown away]
    #[arg(long, value_name = "URL", help_heading = "Harnesses")]
    pub(crate) postgres: Option<String>,

    /// The MariaDB to ask; its user must be allowed to create databases [default: a server of its own, as above]
    #[arg(long, value_name = "URL", help_heading = "Harnesses")]
    pub(crate) mariadb: Option<String>,

    /// Look again at the rounds of an experiment that was run, and run nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "preset", "rounds", "only", "rate", "time", "warmup", "seed",
          "jvm", "harness", "postgres", "mariadb", "out"], help_heading = "What")]
    pub(crate) again: Option<PathBuf>,

    /// Directory for recordings, logs and pages [default: experiments/TIME-tell-tale]
    #[arg(long, short = 'o', value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
}
