//! OpenJ9's verbose:gc XML: gencon and the other policies that stop the world, and metronome.
//!
//! A pause is what lies between `exclusive-start` and `exclusive-end`; the latter is written at the end and tells the
//! duration, which is longer than that of the collection in it. `response-info` tells how long threads took to stop.
//! Metronome sums up the quanta of about a second (`-Xgc:verboseGCCycleTime`): how many, how long in the mean and at most,
//! not when. Times are local ones in milliseconds, without a zone.

use super::pause::{JvmLog, JvmLogFormat, JvmPause, ToldBy};
use super::stamp::{Reading, Stamp};
use super::xml::{Tag, Tags};
use crate::moment::{decimal, wall_time};
use record::PauseReach;
use units::Nanos;

/// Whether a text is of this format, by its begin.
pub(super) fn is_xml(text: &str) -> bool {
    text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('<')
}

/// Reads a log of any number of documents.
pub(super) fn parse(text: &str) -> JvmLog {
    let mut log = JvmLog::new(JvmLogFormat::OpenJ9);
    log.lines = text.lines().count() as u64;
    log.is_local = true;
    let mut parser = Parser { log, exclusive: None, heartbeat: None, last: None };
    for tag in Tags::new(text) {
        if tag.is_whole {
            parser.tag(&tag);
        } else {
            parser.log.misunderstood(tag.line, tag.text);
        }
    }
    if let Some(open) = parser.exclusive.take() {
        parser.log.misunderstood(open.line, "exclusive-start without its end");
    }
    parser.log
}

/// What is known of the exclusive access that goes on.
struct Exclusive {
    line: usize,
    stopping: Option<Nanos>,
    /// Sum of the collections in it.
    collecting: Option<Nanos>,
    what: Option<String>,
}

struct Parser {
    log: JvmLog,
    exclusive: Option<Exclusive>,
    /// The stamp of the `gc-op` that goes on, and of the one before.
    heartbeat: Option<(Stamp, Option<Stamp>)>,
    /// Metronome's last stamp.
    last: Option<Stamp>,
}

impl Parser {
    fn tag(&mut self, tag: &Tag) {
        if tag.is_close {
            if tag.name == "gc-op" {
                self.heartbeat = None;
            }
            return;
        }
        if let Some(stamp) = stamp(tag) {
            self.log.begins_with_jvm |= self.log.first.is_none() && tag.name == "initialized";
            self.log.saw(&stamp, Nanos::ZERO);
            self.log.tells_pauses = true;
        }
        let understood = match tag.name {
            "exclusive-start" => self.exclusive_start(tag),
            "response-info" => self.response_info(tag),
            "cycle-start" | "gc-start" => self.collection(tag),
            "gc-end" => self.gc_end(tag),
            "exclusive-end" => self.exclusive_end(tag),
            "trigger-start" => self.trigger(tag),
            "gc-op" => self.operation(tag),
            "quanta" => self.quanta(tag),
            _ => Some(()),
        };
        if understood.is_none() {
            self.log.misunderstood(tag.line, tag.text);
        }
    }

    fn exclusive_start(&mut self, tag: &Tag) -> Option<()> {
        if let Some(open) = self.exclusive.take() {
            self.log.misunderstood(open.line, "exclusive-start without its end");
        }
        self.exclusive = Some(Exclusive { line: tag.line, stopping: None, collecting: None, what: None });
        stamp(tag).map(drop)
    }

    fn response_info(&mut self, tag: &Tag) -> Option<()> {
        let stopping = millis(tag.get("timems")?)?;
        if let Some(exclusive) = &mut self.exclusive {
            exclusive.stopping.get_or_insert(stopping);
        }
        Some(())
    }

    fn collection(&mut self, tag: &Tag) -> Option<()> {
        let kind = tag.get("type")?;
        if let Some(exclusive) = &mut self.exclusive {
            exclusive.what.get_or_insert(kind.to_owned());
        } else if tag.name == "cycle-start" {
            self.last = Some(stamp(tag)?);
        }
        Some(())
    }

    fn gc_end(&mut self, tag: &Tag) -> Option<()> {
        let time = millis(tag.get("durationms")?)?;
        if let Some(exclusive) = &mut self.exclusive {
            let so_far = exclusive.collecting.map_or(0, |time| time.0);
            exclusive.collecting = Some(Nanos(so_far.saturating_add(time.0)));
        }
        Some(())
    }

    fn exclusive_end(&mut self, tag: &Tag) -> Option<()> {
        let known = self.exclusive.take();
        let (stamp, total) = (stamp(tag)?, millis(tag.get("durationms")?)?);
        let known = known.unwrap_or(Exclusive { line: 0, stopping: None, collecting: None, what: None });
        let what = known.what.unwrap_or_else(|| "exclusive access".to_owned());
        self.log.pauses.push(JvmPause {
            stamp,
            line: tag.line,
            time_to_safepoint: known.stopping,
            operation: known.collecting,
            ..JvmPause::of_all(ToldBy::Exclusive, &what, total)
        });
        Some(())
    }

    fn trigger(&mut self, tag: &Tag) -> Option<()> {
        self.last = Some(stamp(tag)?);
        Some(())
    }

    fn operation(&mut self, tag: &Tag) -> Option<()> {
        let is_closed = tag.text.ends_with("/>");
        match tag.get("type")? {
            "heartbeat" => {
                let stamp = stamp(tag)?;
                self.heartbeat = Some((stamp, self.last.replace(stamp))).filter(|_| !is_closed);
            }
            "syncgc" if self.exclusive.is_none() => {
                let (stamp, total) = (stamp(tag)?, millis(tag.get("timems")?)?);
                self.last = Some(stamp);
                let pause = JvmPause::of_all(ToldBy::Synchronous, "syncgc", total);
                self.log.pauses.push(JvmPause { stamp, line: tag.line, operation: Some(total), ..pause });
            }
            _ => {}
        }
        Some(())
    }

    /// A summary of the quanta since the last heartbeat, or since the collection was triggered.
    fn quanta(&mut self, tag: &Tag) -> Option<()> {
        let (stamp, before) = self.heartbeat?;
        let count: u64 = tag.get("quantumCount")?.parse().ok()?;
        let (mean, longest) = (millis(tag.get("meanTimeMs")?)?, millis(tag.get("maxTimeMs")?)?);
        let stopped = Nanos(mean.0.checked_mul(count)?);
        let since = before.and_then(|before| Some(stamp.wall?.from_ns - before.wall?.from_ns));
        let since = since.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0);
        let what = format!("{count} quanta of metronome ({})", tag.get("quantumType").unwrap_or("any kind"));
        let pause = JvmPause::of_all(ToldBy::Quanta, &what, Nanos(since.max(stopped.0)));
        let (stopped, longest) = (Some(stopped), Some(longest));
        let reach = PauseReach::Within;
        self.log.pauses.push(JvmPause { reach, stamp, line: tag.line, stopped, longest, ..pause });
        Some(())
    }
}

fn millis(text: &str) -> Option<Nanos> {
    decimal(text, 6).map(Nanos)
}

fn stamp(tag: &Tag) -> Option<Stamp> {
    let (wall, zone) = wall_time(tag.get("timestamp")?)?;
    // A zone would have been subtracted: put back, so that all stamps of a log are alike.
    let local = wall + i128::from(zone.unwrap_or(0)) * 1_000_000_000;
    Some(Stamp { wall: Some(Reading::cut(local, 1_000_000)), ..Stamp::default() })
}

#[cfg(test)]
mod tests;
