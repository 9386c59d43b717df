//! Reads what other load tools print and write.
//!
//! A foreign tool's report is kept as the tool made it: quantiles that it printed stay quantiles, samples that it logged
//! stay samples, and what it did not say is absent. Nothing is interpolated, and nothing is turned into a response time
//! that the tool did not measure as one. `docs/import.md` says, format by format, what becomes what and what is lost.
//!
//! ```
//! use import::{Format, read};
//! use units::Quantile;
//!
//! let printed = "\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\",\
//!     \"p99_latency_ms\",\"max_latency_ms\"\n\"GET\",\"74019.25\",\"0.038\",\"0.008\",\"0.039\",\"0.055\",\"0.087\",\"3.631\"\n";
//! let report = read(Format::RedisBenchmark, printed, &[])?;
//! let p99 = Quantile::new(0.99).and_then(|q| report.rows[0].quantile(q)).expect("printed");
//! assert_eq!(p99.at_most.0, 87_000);
//! # Ok::<(), import::ImportError>(())
//! ```
//!
//! [`jvm`] and [`server_log`] are apart from these: they read the logs of JVMs and of PostgreSQL, of which pauses and
//! checkpoints become events of a recording.
#![deny(missing_docs)]

mod coverage;
mod csv;
mod error;
mod examples;
mod figures;
mod format;
mod guess;
mod hdr;
pub mod jvm;
mod local_time;
mod log_lines;
mod memtier;
mod moment;
mod pgbench;
mod redis_benchmark;
mod report;
mod requests;
mod run_clocks;
pub mod server_log;
mod summaries;
mod sysbench;
mod ycsb;

pub use coverage::LaidOver;
pub use csv::ColumnMap;
pub use error::ImportError;
pub use format::{Format, TimeUnit, read};
pub use guess::{FormatGuess, guess};
pub use report::{ForeignSample, QuantileReading, Reported, StatedFrom, StatedRounding, ToolReport};
pub use requests::{Gap, LoggedPhase, Outputs, Request, Requests, Survey, Weight, requests};
pub use run_clocks::RunClocks;
pub use summaries::{asked_rate, statements, summary_gaps};
