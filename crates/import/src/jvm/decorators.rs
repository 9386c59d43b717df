//! The brackets before each line of HotSpot's unified logging.
//!
//! Any subset may be selected, and each is told by its shape. JDKs write them in one order, whatever order was asked for:
//! time, utctime, uptime, timemillis, uptimemillis, timenanos, uptimenanos, hostname, pid, tid, level, tags. Nothing here
//! depends on it.

use super::stamp::{Reading, Stamp};
use crate::moment::{decimal, wall_time};

/// What stands before a message, and the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Line<'a> {
    pub(super) shown: Shown,
    pub(super) level: Option<&'a str>,
    pub(super) tags: Option<&'a str>,
    pub(super) message: &'a str,
}

/// The clocks of a line as they are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Shown {
    wall: Option<Reading>,
    uptime: Option<Reading>,
    /// `timenanos`, `uptimenanos`, or both: they look the same.
    nanos: [Option<u64>; 2],
}

const LEVELS: [&str; 5] = ["trace", "debug", "info", "warning", "error"];
/// First tags of lines that are of interest here: they tell the bracket where the level was not selected.
const TAGS: [&str; 3] = ["gc", "safepoint", "handshake"];
/// From here on milliseconds are those since 1970: as an uptime it would be three years, as a date it is 1973.
const WALL_MILLIS: u64 = 100_000_000_000;

/// Takes the decorators off. `None` if a bracket is not closed, as at the end of a log that was cut.
pub(super) fn split(text: &str) -> Option<Line<'_>> {
    let mut line = Line { message: text, ..Line::default() };
    while line.tags.is_none() && line.message.starts_with('[') {
        let (content, rest) = line.message[1..].split_once(']')?;
        line.take(content.trim());
        line.message = rest;
    }
    line.message = line.message.strip_prefix(' ').unwrap_or(line.message);
    Some(line)
}

impl<'a> Line<'a> {
    fn take(&mut self, content: &'a str) {
        if self.shown.take(content).is_some() {
            return;
        }
        let is_tags = !content.is_empty()
            && content.split(',').all(|tag| !tag.is_empty() && tag.bytes().all(|b| b.is_ascii_lowercase()));
        if LEVELS.contains(&content) {
            self.level = Some(content);
        } else if is_tags && (self.level.is_some() || content.split(',').any(|tag| TAGS.contains(&tag))) {
            self.tags = Some(content);
        }
        // Else a host name, a process or a thread.
    }

    /// Whether anything at all stands before the message.
    pub(super) fn is_decorated(&self) -> bool {
        self.shown != Shown::default() || self.level.is_some() || self.tags.is_some()
    }
}

impl Shown {
    /// `None` if this is no clock.
    fn take(&mut self, content: &str) -> Option<()> {
        if let Some((wall, zone)) = wall_time(content) {
            // Of time and utctime, which show the same moment, either will do.
            self.wall = zone.map(|_| Reading::cut(wall, 1_000_000)).or(self.wall);
            return Some(());
        }
        if let Some(nanos) = content.strip_suffix("ns").and_then(|digits| digits.parse().ok()) {
            let slot = self.nanos.iter_mut().find(|slot| slot.is_none())?;
            *slot = Some(nanos);
            return Some(());
        }
        if let Some(millis) = content.strip_suffix("ms").and_then(|digits| digits.parse::<u64>().ok()) {
            let reading = Reading::cut(i128::from(millis) * 1_000_000, 1_000_000);
            let slot = if millis >= WALL_MILLIS { &mut self.wall } else { &mut self.uptime };
            slot.get_or_insert(reading);
            return Some(());
        }
        let seconds = content.strip_suffix('s').filter(|digits| digits.contains('.'))?;
        self.uptime = Some(Reading::rounded(i128::from(decimal(seconds, 9)?), 1_000_000));
        Some(())
    }
}

/// Which clock a single column of nanoseconds shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Nanos {
    Slewed,
    Uptime,
}

/// Makes stamps of a log's lines.
#[derive(Default)]
pub(super) struct Stamper {
    /// Settled by the first line that has one column of nanoseconds and no uptime beside it.
    lone: Option<Nanos>,
}

/// A host has been up for longer than this when a JVM starts, and a JVM has logged its first line by then.
const FIRST_LINE_NS: u64 = 10_000_000_000;
/// How far two decorators of one line may lie apart: rounding, and the readings themselves.
const SAME_NS: i128 = 3_000_000;

impl Stamper {
    pub(super) fn stamp(&mut self, shown: &Shown) -> Stamp {
        let stamp = Stamp { wall: shown.wall, uptime: shown.uptime, slewed: None };
        match shown.nanos {
            [Some(a), Some(b)] => Stamp {
                // The host was there before the JVM.
                slewed: Some(Reading::exact(a.max(b))),
                uptime: Some(Reading::exact(a.min(b))),
                ..stamp
            },
            [Some(nanos), _] => match self.meaning(nanos, shown.uptime) {
                Nanos::Slewed => Stamp { slewed: Some(Reading::exact(nanos)), ..stamp },
                Nanos::Uptime => Stamp { uptime: Some(Reading::exact(nanos)), ..stamp },
            },
            _ => stamp,
        }
    }

    fn meaning(&mut self, nanos: u64, uptime: Option<Reading>) -> Nanos {
        if let Some(uptime) = uptime {
            let apart = (i128::from(nanos) - uptime.middle_ns()).abs();
            return if apart <= SAME_NS { Nanos::Uptime } else { Nanos::Slewed };
        }
        *self.lone.get_or_insert(if nanos < FIRST_LINE_NS { Nanos::Uptime } else { Nanos::Slewed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Stamp, Line<'_>) {
        let line = split(text).expect("closed brackets");
        (Stamper::default().stamp(&line.shown), line)
    }

    const WALL: i128 = 1_795_242_937_116_000_000;

    #[test]
    fn every_decorator_in_any_order() {
        let all = "[2026-11-21T06:35:37.116+0000][2026-11-21T06:35:37.116+0000][0.242s][1795242937116ms][242ms]\
                   [900000242123ns][242123456ns][db-1.example][4711][4712][info   ][gc,phases    ] GC(0) x";
        let mut brackets: Vec<&str> = all.split_inclusive(']').collect();
        let message = brackets.pop().expect("a message");
        let expected = parsed(all);
        assert_eq!(expected.0.slewed, Some(Reading::exact(900_000_242_123)));
        assert_eq!(expected.0.uptime, Some(Reading::exact(242_123_456)));
        assert_eq!(expected.0.wall, Some(Reading::cut(WALL, 1_000_000)));
        assert_eq!(
            (expected.1.level, expected.1.tags, expected.1.message),
            (Some("info"), Some("gc,phases"), "GC(0) x")
        );
        // The tags end the decorators, so they stay last; all else may be turned round.
        let tags = brackets.pop().expect("tags");
        brackets.reverse();
        let turned = format!("{}{tags}{message}", brackets.concat());
        assert_eq!(parsed(&turned).0, expected.0);
        assert_eq!(parsed(&turned).1.tags, Some("gc,phases"));
    }

    #[test]
    fn every_subset_leaves_the_rest_alone() {
        let brackets = [
            "[2026-11-21T06:35:37.116+0000]",
            "[0.242s]",
            "[900000242123ns]",
            "[242123456ns]",
            "[host]",
            "[4711]",
            "[info ]",
            "[safepoint     ]",
        ];
        for subset in 0..1_u32 << brackets.len() {
            let has = |index: usize| subset & 1 << index != 0;
            let text: String = (0..brackets.len()).filter(|i| has(*i)).map(|i| brackets[i]).collect();
            let text = text + " Leaving safepoint region";
            let (stamp, line) = parsed(&text);
            assert_eq!(line.message.trim(), "Leaving safepoint region", "{text}");
            assert_eq!(
                (stamp.wall.is_some(), line.level.is_some(), line.tags.is_some()),
                (has(0), has(6), has(7))
            );
            assert_eq!(stamp.uptime.is_some(), has(1) || has(3), "{text}");
            let slewed = has(2).then_some(Reading::exact(900_000_242_123));
            assert_eq!(stamp.slewed, slewed, "{text}");
        }
    }

    #[test]
    fn one_column_of_nanoseconds_is_told_by_what_it_is_beside() {
        let of = |text: &str| parsed(text).0;
        assert!(of("[0.242s][242123456ns] x").slewed.is_none());
        assert!(of("[9.526s][95264511610ns] x").slewed.is_some());
        assert!(of("[3407435ns] x").uptime.is_some());
        assert!(of("[86400000000000ns] x").slewed.is_some());
        assert_eq!(split("[0.784s][784300804ns][16937][i"), None);
    }
}
