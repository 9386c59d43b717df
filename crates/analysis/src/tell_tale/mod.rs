//! Harness against harness, cell by cell: whose pauses are in the tail that a harness reports.
//!
//! The experiment of *Tell-Tale Tail Latencies* (Fruth et al., TPCTC 2021): the same load by several harnesses, of which
//! some run in a JVM with one garbage collector or another, each with that JVM's log. A cell is one combination; it is run
//! several times, and each round is a recording whose events hold the pauses of the harness's JVM.
//!
//! ```text
//!  rounds ──read──► times, slowest requests, pauses, a thin series ──► cells: spreads, what overlaps, whose tail
//!                                                                └──► groups: collectors against Epsilon, the log's effect
//! ```
//!
//! [`look`] reads; nothing is measured here. Cells of one workload, target and load are a group: only within it are cells
//! compared. `docs/tell-tale-figures.md` says how to read what comes of it.

mod against;
mod cells;
mod claim;
mod groups;
mod model;
mod pauses;
mod read;
mod series;
mod whose;

pub use groups::{AgainstBase, Claim, Finding, Group, Half, LogEffect, Quantity, TestedRow};
pub use model::{
    CellFigures, CellResult, PauseTotals, Pauses, RoundFigures, RoundPauses, Slowest, SlowestRow, Spread,
    StopInterval, TellTale, Whose,
};
pub use series::RoundSeries;

use crate::{AnalysisError, Options};
use record::LoadModel;
use std::path::PathBuf;

/// What is run in one cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// The workload: `NoOp`, `YCSB`.
    pub workload: String,
    /// What answers: `PostgreSQL`, `no-op store`.
    pub target: String,
    /// What asks: `truetail`, or a load tool and its JVM, as `YCSB, G1`.
    pub harness: String,
    /// How the load is made: a closed loop, or an open one.
    pub load: LoadModel,
    /// Whether the harness's JVM writes its log; `None` for a harness without a JVM.
    pub jvm_log: Option<bool>,
}

/// One round of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    /// From 1 on.
    pub number: usize,
    /// Its recording, or why there is none: one line.
    pub recording: Result<PathBuf, String>,
}

/// What came of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rounds {
    /// Rounds, in their order; one that failed is part of what there is to know: those that are left may be the easy ones.
    Ran(Vec<Round>),
    /// It can't be run here, and why: one line.
    CanNot(String),
}

impl Cell {
    /// The load tool: what stands before the comma of the harness.
    pub fn tool(&self) -> &str {
        self.harness.split(',').next().unwrap_or(&self.harness).trim()
    }

    /// The collector of the tool's JVM: what stands after the comma; `None` for a harness without one.
    pub fn collector(&self) -> Option<&str> {
        self.harness.split_once(',').map(|(_, collector)| collector.trim())
    }

    /// Whether it is run under the collector that collects nothing, against which the others are held.
    pub fn is_base(&self) -> bool {
        self.collector().is_some_and(|collector| collector.eq_ignore_ascii_case(BASE))
    }

    /// Whether two cells differ in the harness alone.
    pub fn same_load(&self, other: &Cell) -> bool {
        (&self.workload, &self.target, self.load) == (&other.workload, &other.target, other.load)
    }
}

/// The collector without pauses of its own.
pub const BASE: &str = "Epsilon";

/// How to look.
#[derive(Clone, Debug)]
pub struct LookOptions {
    /// How the rounds are read.
    pub analysis: Options,
    /// Quantities whose ratio certainly lies between 1/(1 + margin) and 1 + margin are equivalent.
    pub margin: f64,
}

/// The margin unless another is asked: 0.8 to 1.25, as bioequivalence has it. Runs of one harness that are repeated differ by
/// less; what sets collectors' maxima apart is factors.
pub const MARGIN: f64 = 0.25;

impl Default for LookOptions {
    fn default() -> LookOptions {
        LookOptions { analysis: Options::default(), margin: MARGIN }
    }
}

/// Looks at all cells: reads each round (three times), one after the other. Memory grows with the number of rounds by what
/// their figures draw, some 200 KB each, and not with that of requests.
///
/// A round that can't be read is left out, and so is one whose verdict is invalid unless what makes it so is a rate that was not
/// reached: then its times are what the load met. Its cell says so.
///
/// # Errors
/// When there is no cell.
pub fn look(cells: &[(Cell, Rounds)], options: &LookOptions) -> Result<TellTale, AnalysisError> {
    if cells.is_empty() {
        return Err(AnalysisError::Nothing);
    }
    let mut results: Vec<CellResult> =
        cells.iter().map(|(cell, rounds)| cells::result(cell, rounds, options)).collect();
    whose::judge(&mut results);
    let groups = against::groups(&results, options);
    let log_effects = against::log_effects(&results, options);
    let ran = results.iter().filter_map(|result| result.figures.as_ref().ok());
    let rounds = ran.map(|figures| figures.rounds.len()).min().unwrap_or(0);
    let (margin, level) = (options.margin, against::LEVEL);
    let carried_scatter = stats::carried_scatter(rounds, margin, level);
    Ok(TellTale { cells: results, groups, log_effects, margin, level, rounds, carried_scatter })
}
