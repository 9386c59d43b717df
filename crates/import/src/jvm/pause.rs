//! What a log told of one pause.

use super::stamp::{Offset, Stamp};
use crate::examples::keep_example;
use record::PauseReach;
use units::Nanos;

/// A kind of line that tells of pauses, by how much it tells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ToldBy {
    /// `Pause … 4.636ms` of a collector, without the time to safepoint.
    Collector,
    /// JDK 11's `Total time for which application threads were stopped`.
    Stopped,
    /// A row of JDK 11's table on standard output, in whole milliseconds.
    Table,
    /// A row of `safepoint+stats`.
    Statistics,
    /// `Safepoint "…"` of JDK 13 and later.
    Safepoint,
    /// OpenJ9's `exclusive-start` to `exclusive-end`.
    Exclusive,
    /// OpenJ9's synchronous collection of metronome.
    Synchronous,
    /// OpenJ9's `quanta`, which sums up.
    Quanta,
    /// `Allocation Stall` and `Relocation Stall` of ZGC.
    Stall,
    /// Shenandoah's table of pacing after each cycle.
    Pacing,
    /// `Handshake "…"`.
    Handshake,
}

/// A pause, a stall of one thread, or a summary of such, as a line told it.
///
/// The line is written at the end: the interval is `[stamp − total, stamp]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JvmPause {
    /// Whom it stopped, and whether `total` is the stop itself or a time within which it was.
    pub reach: PauseReach,
    /// The VM operation, the collector's own name for it, or the thread.
    pub what: String,
    /// When it ended.
    pub stamp: Stamp,
    /// What a thread can have lost: the line's own total, to the last digit.
    pub total: Nanos,
    /// Until all threads had stopped; not part of the operation.
    pub time_to_safepoint: Option<Nanos>,
    /// JDK 17 and earlier: what the VM tidies up before the operation.
    pub cleanup: Option<Nanos>,
    /// The operation itself. Rows of statistics in JDK 21 and later count leaving in.
    pub operation: Option<Nanos>,
    /// JDK 21 and later: until all threads were told to go on.
    pub leaving: Option<Nanos>,
    /// Of a summary: how long something stopped within `total`.
    pub stopped: Option<Nanos>,
    /// Of a summary: the longest stop.
    pub longest: Option<Nanos>,
    /// What kind of line it was.
    pub told_by: ToldBy,
    /// The line's number, from 1.
    pub line: usize,
}

impl JvmPause {
    /// A pause of all threads of which no more is known.
    pub(super) fn of_all(told_by: ToldBy, what: &str, total: Nanos) -> JvmPause {
        JvmPause {
            reach: PauseReach::WholeVm,
            what: what.to_owned(),
            stamp: Stamp::default(),
            total,
            time_to_safepoint: None,
            cleanup: None,
            operation: None,
            leaving: None,
            stopped: None,
            longest: None,
            told_by,
            line: 0,
        }
    }

    /// Whether a line's moment lies in this pause, as far as digits and the log's own delay let one say.
    pub(super) fn holds(&self, stamp: &Stamp) -> bool {
        stamp.is_within(&self.stamp, i128::from(self.total.0) + LOG_DELAY_NS)
    }
}

/// From the end of a pause until its line is stamped, at most, ordinarily.
const LOG_DELAY_NS: i128 = 1_000_000;

/// A JVM has logged its first line by then, and no file was rotated.
const FIRST_LINE_NS: i128 = 10_000_000_000;

/// What wrote a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JvmLogFormat {
    /// HotSpot's unified logging (`-Xlog`), JDK 11 and later.
    HotSpot,
    /// OpenJ9's verbose:gc XML.
    OpenJ9,
}

impl JvmLogFormat {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            JvmLogFormat::HotSpot => "HotSpot",
            JvmLogFormat::OpenJ9 => "OpenJ9",
        }
    }
}

/// All that a log tells of pauses. Never fails: what is not understood is counted.
#[derive(Clone, PartialEq, Debug)]
pub struct JvmLog {
    /// What wrote it.
    pub format: JvmLogFormat,
    /// Pauses, stalls and summaries; by line, more or less. A safepoint that several lines tell of is here once.
    pub pauses: Vec<JvmPause>,
    /// Lines in all.
    pub lines: u64,
    /// Lines that seem to tell of a pause, or that are nothing known, and were not understood.
    pub not_understood: u64,
    /// The first of them, cut to 120 characters, with their numbers.
    pub examples: Vec<(usize, String)>,
    /// Whether wall times are local ones, without a zone; then they stand here as if they were UTC.
    pub is_local: bool,
    /// Stamp of the first line that has one, …
    pub first: Option<Stamp>,
    /// … and how long before it the log would have told of a pause: a safepoint's line says when the last one was.
    pub quiet_before: Nanos,
    /// Stamp of the last line that has one.
    pub last: Option<Stamp>,
    /// Whether it begins with its JVM: nothing was before it.
    pub begins_with_jvm: bool,
    /// Whether it has lines of a kind that tells of pauses of all threads.
    pub tells_pauses: bool,
    /// From uptime to `CLOCK_MONOTONIC`.
    pub slewed_since_start: Offset,
    /// From uptime to wall time.
    pub wall_since_start: Offset,
    /// From `CLOCK_MONOTONIC` to wall time.
    pub wall_since_boot: Offset,
}

impl JvmLog {
    pub(super) fn new(format: JvmLogFormat) -> JvmLog {
        JvmLog {
            format,
            pauses: Vec::new(),
            lines: 0,
            not_understood: 0,
            examples: Vec::new(),
            is_local: false,
            first: None,
            quiet_before: Nanos::ZERO,
            last: None,
            begins_with_jvm: false,
            tells_pauses: false,
            slewed_since_start: Offset::default(),
            wall_since_start: Offset::default(),
            wall_since_boot: Offset::default(),
        }
    }

    pub(super) fn misunderstood(&mut self, line: usize, text: &str) {
        self.not_understood += 1;
        keep_example(&mut self.examples, line, text);
    }

    /// A line was stamped; `quiet` before it, a pause would have been told. Of lines that show less than others none is the
    /// first or the last: it may be torn.
    pub(super) fn saw(&mut self, stamp: &Stamp, quiet: Nanos) {
        if !stamp.is_some() {
            return;
        }
        if self.first.is_none_or(|first| first.clocks() < stamp.clocks()) {
            (self.first, self.quiet_before) = (Some(*stamp), quiet);
            self.begins_with_jvm |= stamp.uptime.is_some_and(|uptime| uptime.to_ns < FIRST_LINE_NS);
        }
        if self.last.is_none_or(|last| last.clocks() <= stamp.clocks()) {
            self.last = Some(*stamp);
        }
    }

    pub(super) fn relate(&mut self, stamp: &Stamp) {
        self.slewed_since_start.add(stamp.uptime, stamp.slewed);
        self.wall_since_start.add(stamp.uptime, stamp.wall);
        self.wall_since_boot.add(stamp.slewed, stamp.wall);
    }

    /// The sum of all pauses of all threads.
    pub fn total(&self) -> Nanos {
        let whole = self.pauses.iter().filter(|pause| pause.reach == PauseReach::WholeVm);
        Nanos(whole.fold(0_u64, |sum, pause| sum.saturating_add(pause.total.0)))
    }
}
