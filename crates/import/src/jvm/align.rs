//! From the clocks of a log to instants of a run.

use super::JvmError;
use super::pause::JvmLog;
use super::stamp::{Reading, Stamp, carried, wall_time};
use clock::{Anchor, Anchors};
use record::{RecordError, Recording};
use units::{Instant, Nanos};

/// The clocks of a recording, for laying the logs of other programs over it.
#[derive(Clone, Debug)]
pub struct RunClocks {
    anchors: Option<Anchors>,
    /// The first anchor that has `CLOCK_MONOTONIC`: (that, wall time).
    first: Option<(u64, u64)>,
    epoch_wall_ns: u64,
    end: Instant,
}

impl RunClocks {
    /// Of anchors whose ticks are nanoseconds since the run's epoch, in order, and of the epoch's wall time. Fewer than two
    /// anchors count as none; then wall time alone leads to the run. `end` is when the run ended, or is about to.
    pub fn new(points: &[Anchor], epoch_wall_ns: u64, end: Instant) -> RunClocks {
        let anchors = points.split_first().filter(|(_, others)| !others.is_empty()).map(|(first, others)| {
            let mut anchors = Anchors::new(*first);
            others.iter().for_each(|point| anchors.push(*point));
            anchors
        });
        let first = points.iter().find_map(|point| Some((point.slewed_ns?, point.realtime_ns)));
        RunClocks { first: first.filter(|_| anchors.is_some()), anchors, epoch_wall_ns, end }
    }

    /// Of a recording. One that was cut short ends with its last anchor, or never.
    ///
    /// # Errors
    /// Those of [`Recording::anchors`].
    pub fn of(recording: &Recording) -> Result<RunClocks, RecordError> {
        let points = recording.anchors()?;
        let header = recording.header();
        let ended = recording.end().and_then(|end| end.at.get());
        let phases = header.phases.iter().filter_map(|phase| phase.end.get()).max();
        let anchored = points.last().map(|point| Instant(point.ticks.0));
        let end = ended.into_iter().chain(phases.filter(|_| ended.is_some())).max().or(anchored);
        Ok(RunClocks::new(&points, header.epoch_wall_ns, end.unwrap_or(Instant(u64::MAX - 1))))
    }

    /// When the run ended.
    pub(super) fn end(&self) -> Instant {
        self.end
    }

    fn instant_of_slewed(&self, ns: i128) -> Option<Instant> {
        self.anchors.as_ref()?.instant_of_slewed(u64::try_from(ns).ok()?)
    }

    /// `None` where the wall clock stepped at that moment.
    fn instant_of_wall(&self, ns: i128) -> Option<Instant> {
        match &self.anchors {
            Some(anchors) => anchors.instant_of_realtime(u64::try_from(ns).ok()?),
            None => Some(Instant(u64::try_from((ns - i128::from(self.epoch_wall_ns)).max(0)).ok()?)),
        }
    }
}

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
    /// What to add to local times.
    zone_ns: i128,
    /// In words, but for the exactness.
    words: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Clock {
    Slewed,
    Wall,
}

/// Clocks of two hosts, or of two boots, lie further apart than this; those of one do not.
const OTHER_HOST_NS: i128 = 1_000_000_000;

impl Way {
    /// Chooses: `CLOCK_MONOTONIC` where the log shows it and it is that of the run's host, else wall time.
    ///
    /// # Errors
    /// [`JvmError::NoClock`] and [`JvmError::NoMonotonic`] where nothing leads from one to the other.
    pub(super) fn choose(log: &JvmLog, clocks: &RunClocks, start: Option<JvmStart>) -> Result<Way, JvmError> {
        let stamps = || log.pauses.iter().map(|pause| &pause.stamp);
        let has_slewed = stamps().any(|stamp| stamp.slewed.is_some());
        let slewed_since_start = log.slewed_since_start.get();
        let has_uptime = stamps().any(|stamp| stamp.uptime.is_some());
        let by_slewed = has_slewed || (has_uptime && slewed_since_start.is_some());
        let stepped = Way::is_of_another_boot(log, clocks);
        if by_slewed && clocks.first.is_some() && stepped != Some(true) {
            let words = if has_slewed { "CLOCK_MONOTONIC" } else { "CLOCK_MONOTONIC, by uptime" };
            return Ok(Way {
                by: Clock::Slewed,
                since_start: slewed_since_start,
                zone_ns: 0,
                words: words.to_owned(),
            });
        }
        let has_wall = stamps().any(|stamp| stamp.wall.is_some());
        let from_lines = log.wall_since_start.get();
        let wall_since_start = from_lines.or(start.filter(|_| has_uptime).map(|start| start.wall));
        if !has_wall && wall_since_start.is_none() {
            return Err(if by_slewed { JvmError::NoMonotonic } else { JvmError::NoClock });
        }
        let (zone_ns, zone) = zone(log, start);
        let mut words = match (has_wall, from_lines) {
            (false, None) => "wall time, by uptime and the start that was given".to_owned(),
            (false, Some(_)) => "wall time, by uptime".to_owned(),
            (true, _) => "wall time".to_owned(),
        };
        words += &zone;
        if by_slewed && stepped == Some(true) {
            words += " (its nanoseconds are not this host's CLOCK_MONOTONIC)";
        }
        Ok(Way { by: Clock::Wall, since_start: wall_since_start, zone_ns, words })
    }

    /// Whether the log's two clocks are related otherwise than the run's; `None` where that can't be known.
    fn is_of_another_boot(log: &JvmLog, clocks: &RunClocks) -> Option<bool> {
        let difference = |a: Option<Reading>, b: Option<Reading>| Some(a?.middle_ns() - b?.middle_ns());
        let by_start = difference(log.wall_since_start.get(), log.slewed_since_start.get());
        let logged = log.wall_since_boot.get().map(Reading::middle_ns).or(by_start)?;
        let (slewed, wall) = clocks.first?;
        let ours = i128::from(wall) - i128::from(slewed);
        Some((logged - ours).abs() > OTHER_HOST_NS)
    }

    /// The moment of a stamp on the run's axis, and how far it may be off; `None` if that is not known.
    pub(super) fn place(&self, stamp: &Stamp, clocks: &RunClocks) -> Option<(Instant, Nanos)> {
        let direct = match self.by {
            Clock::Slewed => stamp.slewed,
            Clock::Wall => stamp.wall.map(|wall| wall.moved(self.zone_ns)),
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

/// What turns the log's local times into UTC, and in words.
fn zone(log: &JvmLog, start: Option<JvmStart>) -> (i128, String) {
    if !log.is_local {
        return (0, String::new());
    }
    let (offset_s, whose) = match start {
        Some(start) => (start.offset_s, "as the start that was given"),
        None => {
            let at = log.pauses.first().and_then(|pause| pause.stamp.wall).map_or(0, |wall| wall.from_ns);
            let known = u64::try_from(at).ok().and_then(clock::local_offset_s);
            (known.unwrap_or(0), "this host's zone")
        }
    };
    let (sign, minutes) = (if offset_s < 0 { '-' } else { '+' }, offset_s.abs() / 60);
    let words = format!(
        " (without a zone in the log; taken as UTC{sign}{:02}:{:02}, {whose})",
        minutes / 60,
        minutes % 60
    );
    (-i128::from(offset_s) * 1_000_000_000, words)
}
