//! Flags and their texts.

use crate::benchbase::BenchbaseArguments;
use crate::echo::EchoArguments;
use crate::gaps::GapsArguments;
use crate::import::ImportArguments;
use crate::logs::LogArguments;
use crate::output;
use crate::predictability::PredictabilityArguments;
use crate::prove::ProveArguments;
use crate::registry::{FILE_SUMMARY, TARGETS, WORKLOADS};
use crate::settings::RunOptions;
use crate::store::StoreArguments;
use crate::tell_tale::TellTaleArguments;
use crate::ycsb::YcsbArguments;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::path::PathBuf;

mod examples;
mod file;
mod refused;

use examples::{
    ATTRIBUTE_EXAMPLES, BENCHBASE_EXAMPLES, CHECK_EXAMPLES, CLEANUP_EXAMPLES, COMPARE_EXAMPLES,
    ECHO_EXAMPLES, EXAMPLES, EXPERIMENT_EXAMPLES, EXPORT_EXAMPLES, FLOOR_EXAMPLES, GAPS_EXAMPLES,
    IMPORT_EXAMPLES, LOAD_EXAMPLES, PREDICTABILITY_EXAMPLES, PROVE_EXAMPLES, REPORT_EXAMPLES, RUN_EXAMPLES,
    SEARCH_EXAMPLES, STORE_EXAMPLES, TELL_TALE_EXAMPLES, YCSB_EXAMPLES,
};

/// Options whose values may begin with a minus: `--rate -5/s` is then refused as the rate that it is. None of
/// them takes free text, which would swallow a flag that follows.
const MAY_BE_NEGATIVE: &[&str] = &[
    "scale",
    "server_log_zone",
    "rate",
    "capacity",
    "think",
    "visit",
    "phases",
    "sessions",
    "threads",
    "duration",
    "warmup",
    "requests",
    "timeout",
    "above",
    "drain",
    "retry",
    "retry_pause",
    "seed",
    "repeat",
    "report_interval",
    "client",
    "from",
    "to",
    "precision",
    "equivalent_within",
    "percentiles",
];

/// Parses the command line; exits with help or a one-line error. The lists of targets and workloads in the
/// help come from the registry.
pub(crate) fn parse() -> Cli {
    let words = crate::benchbase::spelt_out(std::env::args_os().collect());
    let matches = command().try_get_matches_from(&words).unwrap_or_else(|error| refused::end(&error, &words));
    let matches = match file::expanded(&words, &matches, &command()) {
        Ok(None) => matches,
        Ok(Some(all)) => {
            command().try_get_matches_from(&all).unwrap_or_else(|error| refused::end(&error, &words))
        }
        Err(error) => {
            output::error(&error);
            std::process::exit(2)
        }
    };
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| refused::end(&error, &words))
}

fn command() -> clap::Command {
    let lists = lists();
    let with = |name: &'static str, examples: &str| {
        let text = format!("{lists}\n{examples}");
        move |command: clap::Command| command.mut_subcommand(name, |c| c.after_long_help(text))
    };
    let command = with("run", RUN_EXAMPLES)(Cli::command());
    let command = with("search", SEARCH_EXAMPLES)(command);
    // There it is `--time`.
    let command = with("floor", FLOOR_EXAMPLES)(command)
        .mut_subcommand("floor", |floor| floor.mut_arg("floor", |flag| flag.hide(true)));
    let lenient = |arg: clap::Arg| {
        let negative = MAY_BE_NEGATIVE.contains(&arg.get_id().as_str());
        if negative { arg.allow_hyphen_values(true) } else { arg }
    };
    command.mut_subcommands(move |c| c.mut_args(lenient))
}

fn lists() -> String {
    let mut text = String::from("Targets:\n");
    for entry in TARGETS {
        text += &format!("  {}\n", entry.summary);
    }
    text += "Workloads:\n";
    for entry in WORKLOADS {
        text += &format!("  {}\n", entry.summary);
    }
    text += &format!("  {FILE_SUMMARY}\n");
    text
}

/// Measures how long databases take to answer, says how much of the tail is the database's own, and whether
/// to believe the number.
#[derive(Parser, Debug)]
#[command(name = "truetail", version = crate::VERSION, after_help = EXAMPLES, propagate_version = true)]
pub(crate) struct Cli {
    /// Print the result on stdout as one JSON document (schemas: docs/json.md); all else goes to stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Make a load, record every request, judge and show the result
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArguments),
    /// Prepare a data set
    #[command(visible_alias = "prepare", after_help = LOAD_EXAMPLES)]
    Load(DataSetArguments),
    /// Verify a data set's invariants
    #[command(after_help = CHECK_EXAMPLES)]
    Check(DataSetArguments),
    /// Drop a data set
    #[command(after_help = CLEANUP_EXAMPLES)]
    Cleanup(DataSetArguments),
    /// Show recordings; several that were made at the same time are merged from their samples
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArguments),
    /// Say whose the tail is: what each slow request's time was spent on
    #[command(after_help = ATTRIBUTE_EXAMPLES)]
    Attribute(AttributeArguments),
    /// Compare two recordings, or two commands run in turn
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArguments),
    /// Write a recording or a truth log in another format
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArguments),
    /// Make a recording of another tool's results
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(ImportArguments),
    /// Find the highest offered rate that holds a limit on response time
    #[command(after_help = SEARCH_EXAMPLES)]
    Search(SearchArguments),
    /// Run a server that answers at once, for the target echo:
    #[command(after_help = ECHO_EXAMPLES)]
    Echo(EchoArguments),
    /// Measure what truetail, the kernel and the protocol cost on this host, for the load of a run
    #[command(after_help = FLOOR_EXAMPLES)]
    Floor(FloorArguments),
    /// Look at each CPU with a thread that never sleeps: when it does not run, from 1 µs on
    #[command(after_help = GAPS_EXAMPLES)]
    Gaps(GapsArguments),
    /// Run a simulated store whose latencies are known, for RESP and PostgreSQL clients
    #[command(after_help = STORE_EXAMPLES)]
    Store(StoreArguments),
    /// Grade truetail, or another load tool, against known truth
    #[command(after_help = PROVE_EXAMPLES)]
    Prove(ProveArguments),
    /// Do what BenchBase's command line says, from its XML, with its result files (see docs/benchbase.md)
    #[command(after_help = BENCHBASE_EXAMPLES)]
    Benchbase(BenchbaseArguments),
    /// YCSB's command line, answered in YCSB's text: `load` and `run` of its CoreWorkload
    #[command(after_help = YCSB_EXAMPLES)]
    Ycsb(YcsbArguments),
    /// The papers' claims: what was published, what comes out here
    #[command(after_help = EXPERIMENT_EXAMPLES)]
    Experiment(ExperimentArguments),
}

#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) options: RunOptions,

    /// Take options from this TOML file; flags win
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) config: Option<PathBuf>,

    /// Print the effective configuration as TOML, and stop
    #[arg(long, help_heading = "Output")]
    pub(crate) print_config: bool,
}

#[derive(Args, Debug)]
pub(crate) struct FloorArguments {
    #[command(flatten)]
    pub(crate) options: RunOptions,

    /// All parts together [default: 20s, or `floor` of the file]
    #[arg(long, value_name = "TIME", help_heading = "Output")]
    pub(crate) time: Option<String>,

    /// Take options from this TOML file; flags win
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct DataSetArguments {
    #[command(flatten)]
    pub(crate) options: RunOptions,

    /// Take options from this TOML file; flags win
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// Recordings, as `--out` named them
    #[arg(required = true, value_name = "DIR")]
    pub(crate) recordings: Vec<PathBuf>,

    /// Lay the truth log of `truetail store` over the run: what the store knows of each request beside what was measured
    #[arg(long, value_name = "DIR")]
    pub(crate) truth: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) logs: LogArguments,

    /// Where to write report.html and the figures [default: into the first recording]
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Quantiles to show besides the usual ones, such as `98,99.5` or `p99.5`
    #[arg(long, value_name = "LIST")]
    pub(crate) percentiles: Option<String>,

    /// Take options from this TOML file, section [report]; flags win
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct AttributeArguments {
    /// Recordings, as `--out` named them; several must be clients of one run
    #[arg(required = true, value_name = "DIR")]
    pub(crate) recordings: Vec<PathBuf>,

    /// Requests that took longer are slow, such as `10ms` [default: the slowest thousandth of each operation]
    #[arg(long, value_name = "TIME")]
    pub(crate) above: Option<String>,

    #[command(flatten)]
    pub(crate) logs: LogArguments,

    /// Take options from this TOML file, section [attribute]; flags win
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// The recordings to compare with: one directory, or a directory of repeats and of their clients
    #[arg(value_name = "BASE", required_unless_present = "run")]
    pub(crate) base: Option<PathBuf>,

    /// The recordings to compare: one directory, or a directory of repeats and of their clients
    #[arg(value_name = "NEW", required_unless_present = "run")]
    pub(crate) new: Option<PathBuf>,

    /// Flags of `truetail run` for the base; runs in turn with --vs, each in a fresh process
    #[arg(long, value_name = "FLAGS", requires = "vs", conflicts_with_all = ["base", "new"])]
    pub(crate) run: Option<String>,

    /// Flags of `truetail run` for the new
    #[arg(long, value_name = "FLAGS", requires = "run")]
    pub(crate) vs: Option<String>,

    /// Runs of each, with --run and --vs
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) repeat: u32,

    /// Exit with 1 if this holds beyond doubt (the whole interval), such as `p99 > +5%`; may be repeated
    #[arg(long, value_name = "LIMIT")]
    pub(crate) fail_if: Vec<String>,

    /// Also test for equivalence within this margin, such as `5%`
    #[arg(long, value_name = "MARGIN")]
    pub(crate) equivalent_within: Option<String>,

    /// Compare although load models or offered rates differ, or the verdict of a run is invalid
    #[arg(long)]
    pub(crate) force: bool,

    /// Directory for the recordings of --run and --vs [default: recordings/TIME-compare]
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Take options from this TOML file, section [compare]; flags win
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ExportArguments {
    /// A recording, or a truth log of `truetail store` (csv alone)
    #[arg(value_name = "DIR")]
    pub(crate) recording: PathBuf,

    /// csv (one row per request), hdr (an HdrHistogram interval log), json (the summary)
    /// [default: csv, or json with --json]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,

    /// Which measure the hdr format holds: response, service
    #[arg(long, value_name = "MEASURE")]
    pub(crate) measure: Option<String>,

    /// Write to this file instead of stdout; one that is there is refused
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Replace the file of --out
    #[arg(long)]
    pub(crate) force: bool,

    /// Take options from this TOML file, section [export]; flags win
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct SearchArguments {
    #[command(flatten)]
    pub(crate) options: RunOptions,

    /// Take options from this TOML file, its section [search] too; flags win
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Print the effective configuration as TOML, and stop
    #[arg(long)]
    pub(crate) print_config: bool,

    /// The limit on response time that must hold, such as `p99 < 10ms`
    #[arg(long, value_name = "LIMIT", required_unless_present = "config")]
    pub(crate) slo: Option<String>,

    /// The lowest rate to try
    #[arg(long, value_name = "RATE", default_value = "100/s")]
    pub(crate) from: String,

    /// The highest rate to try
    #[arg(long, value_name = "RATE", default_value = "100000/s")]
    pub(crate) to: String,

    /// Stop when the bracket is this narrow
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub(crate) precision: String,
}

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ExperimentArguments {
    /// List the experiments with published and own values
    #[arg(long)]
    pub(crate) list: bool,

    #[command(subcommand)]
    pub(crate) experiment: Option<Experiment>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Experiment {
    /// Harness against harness: whose pauses are in the tail that a harness reports (see docs/tell-tale.md)
    #[command(after_help = TELL_TALE_EXAMPLES)]
    TellTale(TellTaleArguments),

    /// TPC-C at one constant rate on PostgreSQL and MariaDB: how far times spread around their mean, with all requests of the
    /// mix and with requests that all ask for the same
    #[command(after_help = PREDICTABILITY_EXAMPLES)]
    Predictability(PredictabilityArguments),

    /// A node joins a Cassandra under load: plain, intended and open times beside each other (see docs/cql.md)
    #[cfg(feature = "cql")]
    #[command(after_help = examples::ELASTICITY_EXAMPLES)]
    Elasticity(crate::elasticity::ElasticityArguments),
}
