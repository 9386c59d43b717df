//! From the clocks of a log to instants of a run.

use super::JvmError;
use super::pause::JvmLog;
use super::stamp::{Reading, Stamp, carried};
use crate::RunClocks;
use crate::local_time::{ZoneRules, ahead_of_utc_s, shown};
use crate::moment::wall_time;
use units::{Instant, Nanos};

/// When a JVM started, as its user says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JvmStart {
    wall: Reading,
    /// Seconds by which its zone is ahead of UTC.
    offset_s: i64,
}

impl JvmStart {
    /// Reads RFC 3339, such as `2026-11-21T06:35:37.116Z` or `2026-11-21T07:35:37+01:00`. The moment is known as exactly as it
    /// has digits.
    ///
    /// # Errors
    /// [`JvmError::Start`]
    pub fn parse(text: &str) -> Result<JvmStart, JvmError> {
        let digits =
            text.split_once('.').map_or(0, |(_, rest)| rest.bytes().take_while(u8::is_ascii_digit).count());
        let unit = 10_i128.pow(9 - digits.min(9) as u32);
        match wall_time(text.trim()) {
            Some((wall, Some(offset_s))) => Ok(JvmStart { wall: Reading::cut(wall, unit), offset_s }),
            _ => Err(JvmError::Start { text: text.to_owned() }),
        }
    }
}

/// By which way the stamps of a log lead to the run.
#[derive(Clone, Debug)]
pub(super) struct Way {
    by: Clock,
    /// From uptime to that clock.
    since_start: Option<Reading>,
    zone: Zone,
    /// In words, but for the exactness.
    words: String,
}

/// What turns the log's wall times into UTC.
#[derive(Clone, Copy, Debug)]
enum Zone {
    /// They are.
    Utc,
    /// So many seconds ahead, as was given.
    Ahead(i64),
    /// This host's: stamp by stamp, since a JVM may be up for longer than summer time.
    Host(ZoneRules),
}

impl Zone {
    /// `None` where clocks showed the time twice, or never: no abbreviation stands beside it.
    fn utc(self, local: Reading) -> Option<Reading> {
        let ahead_s = match self {
            Zone::Utc => 0,
            Zone::Ahead(ahead_s) => ahead_s,
            Zone::Host(rules) => ahead_of_utc_s(local.from_ns, "", rules)?,
        };
        Some(local.moved(-i128::from(ahead_s) * 1_000_000_000))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Clock {
    Slewed,
    Wall,
}

/// Clocks of two hosts, or of two boots, lie further apart than this; those of one do not.
const OTHER_HOST_NS: i128 = 1_000_000_000;

impl Way {
    /// Chooses: `CLOCK_MONOTONIC` where the log shows it and it is that of the run's host, else wall time. `rules` are those of
    /// this host's zone.
    ///
    /// # Errors
    /// [`JvmError::NoClock`] and [`JvmError::NoMonotonic`] where nothing leads from one to the other.
    pub(super) fn choose(
        log: &JvmLog,
        clocks: &RunClocks,
        start: Option<JvmStart>,
        rules: ZoneRules,
    ) -> Result<Way, JvmError> {
        let stamps = || log.pauses.iter().map(|pause| &pause.stamp).chain(&log.first).chain(&log.last);
        let has_slewed = stamps().any(|stamp| stamp.slewed.is_some());
        let slewed_since_start = log.slewed_since_start.get();
        let has_uptime = stamps().any(|stamp| stamp.uptime.is_some());
        let by_slewed = has_slewed || (has_uptime && slewed_since_start.is_some());
        let stepped = Way::is_of_another_boot(log, clocks);
        if by_slewed && clocks.first().is_some() && stepped != Some(true) {
            let words = if has_slewed { "CLOCK_MONOTONIC" } else { "CLOCK_MONOTONIC, by uptime" };
            return Ok(Way {
                by: Clock::Slewed,
                since_start: slewed_since_start,
                zone: Zone::Utc,
                words: words.to_owned(),
            });
        }
        let has_wall = stamps().any(|stamp| stamp.wall.is_some());
        let from_lines = log.wall_since_start.get();
        let wall_since_start = from_lines.or(start.filter(|_| has_uptime).map(|start| start.wall));
        if !has_wall && wall_since_start.is_none() {
            return Err(if by_slewed { JvmError::NoMonotonic } else { JvmError::NoClock });
        }
        let (zone, zone_words) = zone(log, start, rules);
        let mut words = match (has_wall, from_lines) {
            (false, None) => "wall time, by uptime and the start that was given".to_owned(),
            (false, Some(_)) => "wall time, by uptime".to_owned(),
            (true, _) => "wall time".to_owned(),
        };
        words += &zone_words;
        if by_slewed && stepped == Some(true) {
            words += " (its nanoseconds are not this host's CLOCK_MONOTONIC)";
        }
        Ok(Way { by: Clock::Wall, since_start: wall_since_start, zone, words })
    }

    /// Whether the log's two clocks are related otherwise than the run's; `None` where that can't be known.
    fn is_of_another_boot(log: &JvmLog, clocks: &RunClocks) -> Option<bool> {
        let difference = |a: Option<Reading>, b: Option<Reading>| Some(a?.middle_ns() - b?.middle_ns());
        let by_start = difference(log.wall_since_start.get(), log.slewed_since_start.get());
        let logged = log.wall_since_boot.get().map(Reading::middle_ns).or(by_start)?;
        let (slewed, wall) = clocks.first()?;
        let ours = i128::from(wall) - i128::from(slewed);
        Some((logged - ours).abs() > OTHER_HOST_NS)
    }

    /// The moment of a stamp on the run's axis, and how far it may be off; `None` if that is not known.
    pub(super) fn place(&self, stamp: &Stamp, clocks: &RunClocks) -> Option<(Instant, Nanos)> {
        let direct = match self.by {
            Clock::Slewed => stamp.slewed,
            Clock::Wall => stamp.wall.and_then(|wall| self.zone.utc(wall)),
        };
        let reading = carried(stamp.uptime, self.since_start, direct)?;
        let at = match self.by {
            Clock::Slewed => clocks.instant_of_slewed(reading.middle_ns()),
            Clock::Wall => clocks.instant_of_wall(reading.middle_ns()),
        }?;
        Some((at, Nanos(u64::try_from(reading.half_width_ns()).unwrap_or(u64::MAX))))
    }

    /// In words, with how exact it is at worst.
    pub(super) fn words(&self, worst: Nanos) -> String {
        match worst {
            Nanos(0..1_000) => self.words.clone(),
            // A reading of milliseconds is called what its digits are.
            Nanos(499_000..=500_000) => format!("{}, ±1 ms", self.words),
            worst => format!("{}, ±{worst}", self.words),
        }
    }
}

/// What turns the log's local times into UTC, and in words: of this host's zone those of the log's first and last line, as far as
/// they are clear.
fn zone(log: &JvmLog, start: Option<JvmStart>, rules: ZoneRules) -> (Zone, String) {
    if !log.is_local {
        return (Zone::Utc, String::new());
    }
    let (zone, taken) = match start {
        Some(start) => {
            (Zone::Ahead(start.offset_s), format!("{}, as the start that was given", shown(start.offset_s)))
        }
        None => {
            let ahead = |stamp: Option<Stamp>| ahead_of_utc_s(stamp?.wall?.from_ns, "", rules);
            let taken = match (ahead(log.first), ahead(log.last)) {
                (Some(first), Some(last)) if first != last => {
                    format!("{}, later {}, this host's zone", shown(first), shown(last))
                }
                (Some(one), _) | (None, Some(one)) => format!("{}, this host's zone", shown(one)),
                (None, None) => "this host's zone".to_owned(),
            };
            (Zone::Host(rules), taken)
        }
    };
    (zone, format!(" (without a zone in the log; taken as {taken})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_time::planted::{berlin, new_york};

    /// OpenJ9 writes local times without any name beside them: of two moments neither is chosen.
    #[test]
    fn a_local_time_that_clocks_showed_twice_has_no_moment() {
        let placed = |at: &str, rules: ZoneRules, start: Option<&str>| {
            let line = format!("<exclusive-end timestamp=\"{at}\" durationms=\"5.000\" />\n");
            let log = crate::jvm::parse(&format!("<verbosegc>\n{line}"));
            let clocks = RunClocks::new(&[], 1_767_225_600_000_000_000, Instant(u64::MAX - 1)); // the begin of 2026
            let start = start.map(|text| JvmStart::parse(text).expect("a moment"));
            let way = Way::choose(&log, &clocks, start, rules).expect("a way");
            let [pause] = log.pauses.as_slice() else { panic!("{log:?}") };
            way.place(&pause.stamp, &clocks).map(|(at, _)| at.0 / 1_000_000_000)
        };
        let since_new_year = |days: u64, hours: u64| Some((days * 24 + hours) * 3_600 + 1_800);
        // 2026-10-25 and 2026-11-01 are the days 297 and 304 after the first of January.
        assert_eq!(placed("2026-10-25T01:30:00.000", berlin, None), since_new_year(296, 23));
        assert_eq!(placed("2026-10-25T02:30:00.000", berlin, None), None);
        assert_eq!(placed("2026-10-25T03:30:00.000", berlin, None), since_new_year(297, 2));
        assert_eq!(placed("2026-11-01T00:30:00.000", new_york, None), since_new_year(304, 4));
        assert_eq!(placed("2026-11-01T01:30:00.000", new_york, None), None);
        assert_eq!(placed("2026-11-01T02:30:00.000", new_york, None), since_new_year(304, 7));
        let start = Some("2026-11-01T01:00:00-05:00");
        assert_eq!(placed("2026-11-01T01:30:00.000", new_york, start), since_new_year(304, 6));
    }
}
