//! HotSpot's unified logging, line by line.
//!
//! One safepoint may be told by several lines, which are written one after the other: the collector's own within it, then the
//! row of statistics, then the safepoint's line. The one with the most detail is kept. They are put together by their order
//! and their times, not by their names: one safepoint may hold two collections, and has a name of its own.

use super::decorators::{Stamper, split};
use super::messages::{self, Message};
use super::pause::{JvmLog, JvmLogFormat, JvmPause, ToldBy};
use super::stamp::{Reading, Stamp};
use super::table::{self, Table};
use crate::log_lines::{Line, Rest, each_line};
use record::PauseReach;
use std::io::{self, BufRead};

/// Reads a log line by line: memory does not grow with it but for what it tells.
///
/// # Errors
/// Those of the reader.
pub(super) fn parse(log: impl BufRead) -> io::Result<JvmLog> {
    let mut parser = Parser::new();
    each_line(log, |line| parser.line(line))?;
    Ok(parser.finish())
}

struct Parser {
    log: JvmLog,
    stamper: Stamper,
    /// JDK 11's name of the safepoint that goes on.
    entered: Option<String>,
    in_pacing: bool,
    table: Table,
    /// Collectors' pauses that no safepoint has told of yet.
    of_collectors: Vec<JvmPause>,
    /// A row of statistics that no safepoint's line has told of yet.
    row: Option<JvmPause>,
}

/// An anchor that a program printed into its log: `truetail-jvm-anchor uptime_ns=… nano_time=… wall_ms=…`.
const ANCHOR: &str = "truetail-jvm-anchor ";

impl Parser {
    fn new() -> Parser {
        Parser {
            log: JvmLog::new(JvmLogFormat::HotSpot),
            stamper: Stamper::default(),
            entered: None,
            in_pacing: false,
            table: Table::default(),
            of_collectors: Vec::new(),
            row: None,
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        self.log.lines += 1;
        let number = usize::try_from(self.log.lines).unwrap_or(usize::MAX);
        let (text, is_cut) = (&*line.text, line.rest != Rest::Ended);
        if text.contains(ANCHOR) {
            if !self.log.add_anchor(text) {
                self.log.misunderstood(number, text);
            }
            return;
        }
        if text.trim().is_empty() {
            return;
        }
        match self.table.read(text) {
            Some(table::Line::Row(pause)) => {
                self.log.saw(&pause.stamp, pause.total);
                self.log.tells_pauses = true;
                return self.take(JvmPause { line: number, ..*pause });
            }
            Some(table::Line::Known) => return,
            Some(table::Line::Broken) => return self.log.misunderstood(number, text),
            None => {}
        }
        let Some(line) = split(text).filter(|line| line.is_decorated()) else {
            self.log.misunderstood(number, text);
            return;
        };
        let stamp = self.stamper.stamp(&line.shown);
        self.log.relate(&stamp);
        self.log.saw(&stamp, messages::quiet_before(line.message));
        let is_detail = matches!(line.level, Some("debug" | "trace"));
        let message = messages::read(line.message, line.tags, self.in_pacing);
        self.log.tells_pauses |= messages::tells_pauses(&message, line.message, line.tags);
        match message {
            Message::Pause(pause) => self.take(JvmPause { stamp, line: number, ..*pause }),
            Message::Entering(name) => self.entered = Some(name),
            Message::PacingBegins => self.in_pacing = true,
            Message::Broken if !is_detail => self.log.misunderstood(number, text),
            Message::Other if is_cut => self.log.misunderstood(number, text),
            Message::Broken | Message::Other => {}
        }
        self.in_pacing &= line.tags.is_none_or(|tags| tags == "gc,stats");
    }

    fn take(&mut self, mut pause: JvmPause) {
        match pause.told_by {
            ToldBy::Collector => self.of_collectors.push(pause),
            ToldBy::Table => {
                self.keep_row();
                self.row = Some(pause);
            }
            ToldBy::Statistics => {
                self.keep_row();
                if self.log.pauses.last().is_some_and(|last| is_same(last, &pause)) {
                    return;
                }
                self.row = Some(pause);
            }
            ToldBy::Stopped => {
                if let Some(name) = self.entered.take() {
                    pause.what = name;
                }
                // The line is exact where the row has whole milliseconds.
                self.row = self.row.take_if(|row| row.told_by != ToldBy::Table || !pause.holds(&row.stamp));
                self.keep_row();
                self.keep(pause);
            }
            ToldBy::Safepoint => {
                // The line has all that the row has.
                if self.row.as_ref().is_some_and(|row| is_same(row, &pause)) {
                    self.row = None;
                }
                self.keep_row();
                self.keep(pause);
            }
            _ => self.log.pauses.push(pause),
        }
    }

    fn keep_row(&mut self) {
        if let Some(row) = self.row.take() {
            self.keep(row);
        }
    }

    /// Keeps a safepoint, without the collections that happened in it.
    fn keep(&mut self, safepoint: JvmPause) {
        for pause in std::mem::take(&mut self.of_collectors) {
            if !safepoint.holds(&pause.stamp) {
                self.keep_collection(pause);
            }
        }
        self.log.pauses.push(safepoint);
    }

    /// A collection outside of all safepoints that were logged. One may hold another: a young one that becomes a full one.
    fn keep_collection(&mut self, pause: JvmPause) {
        let kept = &mut self.log.pauses;
        while kept.last().is_some_and(|last| {
            last.told_by == ToldBy::Collector && last.total <= pause.total && holds_whole(&pause, last)
        }) {
            kept.pop();
        }
        kept.push(pause);
    }

    fn finish(mut self) -> JvmLog {
        self.keep_row();
        for pause in std::mem::take(&mut self.of_collectors) {
            self.keep_collection(pause);
        }
        self.log.pauses.sort_by_key(|pause| pause.line);
        self.log
    }
}

/// Whether a row of statistics and a safepoint's line are of one safepoint: the same name and, to the nanosecond, times.
fn is_same(a: &JvmPause, b: &JvmPause) -> bool {
    let of = |pause: &JvmPause| (pause.total, pause.time_to_safepoint, pause.reach == PauseReach::WholeVm);
    a.what == b.what && of(a) == of(b)
}

/// Whether `inner` began within `outer`, too, whatever the digits leave open: two that follow each other closely are two.
fn holds_whole(outer: &JvmPause, inner: &JvmPause) -> bool {
    let room_ns = i128::from(outer.total.0.saturating_sub(inner.total.0));
    inner.stamp.is_surely_within(&outer.stamp, room_ns)
}

impl JvmLog {
    /// Takes an anchor that the program printed elsewhere, `truetail-jvm-anchor uptime_ns=… nano_time=… wall_ms=…` somewhere in
    /// the line; false if it is none.
    pub fn add_anchor(&mut self, line: &str) -> bool {
        let stamp = line.split_once(ANCHOR).and_then(|(_, fields)| anchor(fields));
        stamp.inspect(|stamp| self.relate(stamp)).is_some()
    }
}

/// The clocks of an anchor. Java tells its uptime in milliseconds, so that one is what its digits say.
fn anchor(fields: &str) -> Option<Stamp> {
    let field =
        |key: &str| fields.split_whitespace().find_map(|field| field.strip_prefix(key)?.strip_prefix('='));
    let uptime: u64 = field("uptime_ns")?.parse().ok()?;
    let millisecond = 1_000_000;
    let reading = |ns: u64| match ns % millisecond {
        0 => Reading::cut(i128::from(ns), i128::from(millisecond)),
        _ => Reading::exact(ns),
    };
    let nano_time = field("nano_time").map(|ns| ns.parse().ok().map(Reading::exact));
    let wall = field("wall_ms").map(|ms| {
        let ms: u64 = ms.parse().ok()?;
        Some(Reading::cut(i128::from(ms) * i128::from(millisecond), i128::from(millisecond)))
    });
    let stamp = Stamp {
        uptime: Some(reading(uptime)),
        slewed: nano_time.unwrap_or(None),
        wall: wall.unwrap_or(None),
    };
    let is_whole = nano_time != Some(None) && wall != Some(None);
    (is_whole && (stamp.slewed.is_some() || stamp.wall.is_some())).then_some(stamp)
}
