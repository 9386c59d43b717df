//! Flags of `truetail import`.

use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct ImportArguments {
    /// The format, unless the files' content tells it, and the files of one run: all threads', printed summary too
    #[arg(value_name = "[FORMAT] FILE", required_unless_present = "list")]
    pub(crate) files: Vec<PathBuf>,

    /// List the formats
    #[arg(long)]
    pub(crate) list: bool,

    /// The recording's directory, which must not be there yet, or be empty
    #[arg(long, short = 'o', value_name = "DIR", required_unless_present = "list")]
    pub(crate) out: Option<PathBuf>,

    /// Of csv: which column is what, such as `intended=begin_s,response=lat:ms,operation=op,session=thread,ok=success`
    #[arg(long, value_name = "ROLE=COLUMN[:UNIT],…")]
    pub(crate) map: Option<String>,

    /// The first part of the run does not count
    #[arg(long, value_name = "TIME")]
    pub(crate) warmup: Option<String>,

    /// Lay the pauses of a JVM over the run, from its log; whose it is before the file [default: harness for ycsb and
    /// benchbase, else server]; may be repeated
    #[arg(long, value_name = "[harness:|server:]FILE")]
    pub(crate) jvm_log: Vec<String>,

    /// When that JVM started, such as 2026-11-21T06:35:37.116Z; for logs whose lines have an uptime alone
    #[arg(long, value_name = "TIME")]
    pub(crate) jvm_start: Option<String>,

    /// Lay checkpoints, vacuums and waits for locks over the run, from PostgreSQL's own log; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) server_log: Vec<PathBuf>,

    /// What that log's times are in where it names a zone such as CET: `+01:00`, or `host` for this host's zone
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    pub(crate) server_log_zone: Option<String>,

    /// What was measured, for the pages
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,

    /// What it was asked, for the pages
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,

    /// The tool's command line, for the recording
    #[arg(long, value_name = "TEXT")]
    pub(crate) command: Option<String>,

    /// How many sessions the load had, where the files don't tell
    #[arg(long, value_name = "N")]
    pub(crate) sessions: Option<u32>,

    /// Quantiles to show besides the usual ones, such as `98,99.5` or `p99.5`
    #[arg(long, value_name = "LIST")]
    pub(crate) percentiles: Option<String>,
}
