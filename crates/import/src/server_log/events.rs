//! What a server told, as events of a recording.

use super::ServerLogError;
use super::log::{Happening, ServerLog};
use super::zone::{Explained, LogZone, Moment};
use crate::RunClocks;
use crate::coverage::{Coverage, Words, trouble};
use crate::examples::numbered;
use record::{Event, EventKind, ServerLogFacts, ServerTold};
use units::{Instant, Nanos, format_counted, format_nanos};

/// A log as part of a recording: what happened within the run.
pub type LaidOver = crate::LaidOver<ServerLogFacts>;

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
    let ends = |happening: &Happening| happening.end.into_iter().chain([happening.begin]);
    let covers = log.covers.filter(|_| !log.happenings.is_empty());
    let moments =
        log.happenings.iter().flat_map(ends).chain(covers.into_iter().flat_map(<[Moment; 2]>::from));
    let explained = Explained::new(moments, &log.zones, zone, clock::local_zone)?;
    let mut laid = LaidOver {
        events: Vec::new(),
        facts: ServerLogFacts {
            file: file.to_owned(),
            format: log.format.to_owned(),
            checkpoints_in_all: log.count(ServerTold::Checkpoint),
            durations: log.durations,
            others: log.others,
            not_understood: log.not_understood,
            examples: numbered(&log.examples),
            ..ServerLogFacts::default()
        },
    };
    laid.facts.trouble = is_none(log);
    if !log.happenings.is_empty() {
        laid.facts.aligned_by = aligned_by(log, &explained);
        laid.facts.trouble = trouble(Placing { log, clocks, explained }.place_all(&mut laid));
    }
    laid.events.sort_by_key(|event| (event.begin, event.end));
    Ok(laid)
}

/// Why a file is no log of PostgreSQL's, as far as it shows.
fn is_none(log: &ServerLog) -> Option<String> {
    if log.covers.is_some() {
        return None;
    }
    Some(match log.lines {
        0 => "it is empty: the server logs to another file, or had nothing to log yet".to_owned(),
        _ => "not one line is an entry of a PostgreSQL log: is it the right file?".to_owned(),
    })
}

/// A checkpoint that is older than this has ended, though the log does not say so: the longest `checkpoint_timeout` there is, after
/// which the next one is due.
const LONGEST_OPEN: Nanos = Nanos::from_secs(86_400);

/// Why something has no moment.
enum Unplaced {
    /// What its zone was ahead of UTC is not known.
    Zone,
    /// No instant of the run belongs to its wall time.
    Clock,
}

/// From moments of a log to a run.
struct Placing<'a> {
    log: &'a ServerLog,
    clocks: &'a RunClocks,
    explained: Explained<'a>,
}

impl Placing<'_> {
    /// Makes events of all that happened; gives what there is to complain of.
    fn place_all(&self, laid: &mut LaidOver) -> Vec<String> {
        let (mut of_zone, mut of_clock) = (0_u64, 0_u64);
        let mut goes_on = None;
        for happening in &self.log.happenings {
            let (begin, end) = match self.interval(happening) {
                Ok(interval) => interval,
                Err(Unplaced::Zone) => {
                    of_zone += 1;
                    continue;
                }
                Err(Unplaced::Clock) => {
                    of_clock += 1;
                    continue;
                }
            };
            if self.clocks.is_outside(begin, end) {
                laid.facts.outside += 1;
                continue;
            }
            if happening.end.is_none() {
                goes_on = Some(happening.begin);
            }
            let event = event(happening, begin.min(end), end);
            count(&mut laid.facts, happening.what, end - event.begin);
            laid.events.push(event);
        }
        let mut troubles: Vec<String> = self.not_covered(goes_on).into_iter().collect();
        if of_zone > 0 {
            troubles.push(format!(
                "{} of an hour that this host's clocks showed twice or never, and the abbreviation of the zone does not tell when: \
                 log with log_timezone = 'UTC'",
                format_counted(of_zone, "entry is", "entries are")
            ));
        }
        if of_clock > 0 {
            troubles.push(format!(
                "{} no moment: the wall clock stepped there, or it is a time before 1970",
                format_counted(of_clock, "entry has", "entries have")
            ));
        }
        troubles
    }

    fn place(&self, moment: &Moment) -> Result<Instant, Unplaced> {
        let wall_ns = self.explained.wall_ns(moment).ok_or(Unplaced::Zone)?;
        self.clocks.instant_of_wall(wall_ns).ok_or(Unplaced::Clock)
    }

    fn interval(&self, happening: &Happening) -> Result<(Instant, Instant), Unplaced> {
        let begin = self.place(&happening.begin)?;
        let end = match &happening.end {
            Some(end) => self.place(end)?,
            None => self.end_of_open(&happening.begin)?,
        };
        Ok((begin, end))
    }

    /// Until when a checkpoint went on that has no end in the log: the log's last entry at least, and the run's end, since the log was
    /// read after it. Not so where it would be too old by then: that is another time's log.
    fn end_of_open(&self, begin: &Moment) -> Result<Instant, Unplaced> {
        let (_, last) = self.log.covers.unwrap_or((*begin, *begin));
        let told = self.place(&last);
        match self.clocks.end().filter(|_| self.age(begin).is_some_and(|age| age <= LONGEST_OPEN)) {
            Some(end) => Ok(told.unwrap_or(end).max(end)),
            None => told,
        }
    }

    /// How long before the run it was.
    fn age(&self, moment: &Moment) -> Option<Nanos> {
        Some(self.clocks.before_run(self.explained.wall_ns(moment)?))
    }

    /// `goes_on` is the begin of a checkpoint that is taken to reach to the run's end.
    fn not_covered(&self, goes_on: Option<Moment>) -> Option<String> {
        let (first, last) = self.log.covers?;
        let words = Words { program: "server", entry: "entry" };
        // Its digits were cut off: as early as it may have been.
        let earliest = || self.clocks.instant_of_wall(self.explained.wall_ns(&first)? - first.unit_ns);
        let to = self.place(&last).ok();
        if let Some(age) = goes_on.filter(|_| to == Some(Instant::EPOCH)).and_then(|begin| self.age(&begin)) {
            return Some(format!(
                "it does not tell of the run itself: a checkpoint that began {} before it was not over, and is taken to go on to \
                 the run's end; if the server has begun another log since, name that one",
                format_nanos(age)
            ));
        }
        let coverage = Coverage { from: earliest(), to, begins_with_program: self.log.begins_with_server };
        coverage.lacks(self.clocks, words)
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
    let moments = log.happenings.iter().map(|happening| happening.end.unwrap_or(happening.begin));
    let units = moments.map(|moment| moment.unit_ns).max().unwrap_or(1);
    let off = Nanos(u64::try_from(units).unwrap_or(u64::MAX));
    format!("wall time{}, ±{off}", explained.words)
}

/// The facts of a log that could not be read or laid over a run, so that the run says so.
pub fn failed(file: &str, error: &ServerLogError) -> ServerLogFacts {
    ServerLogFacts { file: file.to_owned(), trouble: Some(error.to_string()), ..ServerLogFacts::default() }
}
