//! What a server told, as events of a recording.

use super::ServerLogError;
use super::log::{Happening, ServerLog};
use super::zone::{Explained, LogZone};
use crate::RunClocks;
use crate::examples::numbered;
use record::{Event, EventKind, ServerLogFacts, ServerTold};
use units::{Instant, Nanos, format_nanos};

/// A log as part of a recording.
#[derive(Clone, PartialEq, Debug)]
pub struct LaidOver {
    /// What happened within the run, ordered by begin.
    pub events: Vec<Event>,
    /// What is known of the log.
    pub facts: ServerLogFacts,
}

/// Lays a log over a run by wall time. `file` is its name for people; `zone` explains what abbreviations of zones mean.
///
/// # Errors
/// When a zone has no one meaning; the message says what to do.
pub fn lay_over(
    log: &ServerLog,
    clocks: &RunClocks,
    file: &str,
    zone: Option<LogZone>,
) -> Result<LaidOver, ServerLogError> {
    let moments = log.happenings.iter().flat_map(|happening| [happening.begin, happening.end]);
    let explained = Explained::new(moments, &log.zones, zone, clock::local_zone)?;
    let mut facts = ServerLogFacts {
        file: file.to_owned(),
        format: log.format.to_owned(),
        checkpoints_in_all: log.count(ServerTold::Checkpoint),
        durations: log.durations,
        others: log.others,
        not_understood: log.not_understood,
        examples: numbered(&log.examples),
        ..ServerLogFacts::default()
    };
    let mut events = Vec::new();
    let (mut of_zone, mut unplaced) = (0, 0);
    for happening in &log.happenings {
        let walls = (explained.wall_ns(&happening.begin), explained.wall_ns(&happening.end));
        let (Some(begin), Some(end)) = walls else {
            of_zone += 1;
            continue;
        };
        let (Some(begin), Some(end)) = (clocks.instant_of_wall(begin), clocks.instant_of_wall(end)) else {
            unplaced += 1;
            continue;
        };
        // Instants begin with the epoch: what ended before it ends with it.
        if end == Instant::EPOCH || begin > clocks.end() {
            facts.outside += 1;
            continue;
        }
        let event = event(happening, begin.min(end), end);
        count(&mut facts, happening.what, end - event.begin);
        events.push(event);
    }
    if !log.happenings.is_empty() {
        facts.aligned_by = aligned_by(log, &explained);
    }
    let mut troubles: Vec<String> = not_covered(log, clocks, &explained).into_iter().collect();
    if of_zone > 0 {
        troubles.push(format!(
            "{of_zone} entries are of an hour that this host's clocks showed twice or never, and their abbreviation does not \
             tell when: log with log_timezone = 'UTC'"
        ));
    }
    if unplaced > 0 {
        troubles.push(format!(
            "{unplaced} entries have no moment: the wall clock stepped there, or they are before 1970"
        ));
    }
    facts.trouble = (!troubles.is_empty()).then(|| troubles.join("; "));
    events.sort_by_key(|event| (event.begin, event.end));
    Ok(LaidOver { events, facts })
}

/// Why a log that tells of something says nothing of the run, or not of all of it. A server that does nothing writes nothing, so
/// that a log which reaches into the run counts to its end.
fn not_covered(log: &ServerLog, clocks: &RunClocks, explained: &Explained) -> Option<String> {
    let (first, last) = log.covers.filter(|_| !log.happenings.is_empty())?;
    let place = |ns: i128| clocks.instant_of_wall(ns);
    // Its digits were cut off: as early as it may have been.
    let (first, last) = (place(explained.wall_ns(&first)? - first.unit_ns)?, place(explained.wall_ns(&last)?)?);
    let other = "name the log that the server wrote during it";
    if last == Instant::EPOCH {
        Some(format!("its last entry is from before the run: {other}"))
    } else if first > clocks.end() {
        Some(format!("its first entry is from after the run: {other}"))
    } else {
        let late =
            Some(first - Instant::EPOCH).filter(|late| *late > Nanos::ZERO && !log.begins_with_server)?;
        Some(format!("it begins {} after the run did: what was before is not in it", format_nanos(late)))
    }
}

fn event(happening: &Happening, begin: Instant, end: Instant) -> Event {
    Event {
        kind: EventKind::Other,
        begin,
        end,
        subject: happening.what.subject().to_owned(),
        detail: format!("{}{}", ServerTold::FROM_LOG, happening.detail),
    }
}

fn count(facts: &mut ServerLogFacts, what: ServerTold, length: Nanos) {
    match what {
        ServerTold::Checkpoint => {
            facts.checkpoints += 1;
            facts.longest_checkpoint = facts.longest_checkpoint.max(Some(length));
        }
        ServerTold::Vacuum => facts.vacuums += 1,
        ServerTold::LockWait => facts.lock_waits += 1,
    }
}

fn aligned_by(log: &ServerLog, explained: &Explained) -> String {
    let units = log.happenings.iter().map(|happening| happening.end.unit_ns).max().unwrap_or(1);
    let off = Nanos(u64::try_from(units).unwrap_or(u64::MAX));
    format!("wall time{}, ±{off}", explained.words)
}

/// The facts of a log that could not be read or laid over a run, so that the run says so.
pub fn failed(file: &str, error: &ServerLogError) -> ServerLogFacts {
    ServerLogFacts { file: file.to_owned(), trouble: Some(error.to_string()), ..ServerLogFacts::default() }
}
