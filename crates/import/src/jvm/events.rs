//! Pauses as events of a recording.

use super::align::{JvmStart, Way};
use super::pause::{JvmLog, JvmPause, ToldBy};
use super::stamp::Stamp;
use super::{JvmError, LOG_WITH};
use crate::RunClocks;
use crate::coverage::{Coverage, Words, trouble};
use crate::examples::numbered;
use record::{Event, EventKind, JvmLogFacts, PauseReach};
use std::path::Path;
use units::{Instant, Nanos, format_counted, format_nanos};

/// Whose log it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum JvmRole {
    /// Of the load generator: its pauses are no property of the database.
    Harness,
    /// Of the database, such as Cassandra.
    #[default]
    Server,
}

impl JvmRole {
    /// The name in flags.
    pub fn name(self) -> &'static str {
        match self {
            JvmRole::Harness => "harness",
            JvmRole::Server => "server",
        }
    }

    /// Takes `harness:` or `server:` off what a flag says; the default is for what has neither.
    pub fn of(text: &str, default: JvmRole) -> (JvmRole, &Path) {
        let named = [JvmRole::Harness, JvmRole::Server]
            .into_iter()
            .find_map(|role| Some((role, text.strip_prefix(role.name())?.strip_prefix(':')?)));
        let (role, path) = named.unwrap_or((default, text));
        (role, Path::new(path))
    }

    /// The subject of its events: `server JVM`; the second log of a role is `server JVM 2`.
    pub fn subject(self, number: usize) -> String {
        match number {
            0 | 1 => format!("{} JVM", self.name()),
            _ => format!("{} JVM {number}", self.name()),
        }
    }
}

/// A log as part of a recording: its pauses, stalls and summaries within the run.
pub type LaidOver = crate::LaidOver<JvmLogFacts>;

/// Lays a log over a run: by clocks, never by constants. `subject` is whose pauses they are (see [`JvmRole::subject`]),
/// `file` the log's name for people.
///
/// # Errors
/// When no clock leads from the log to the run; the message says which decorators to use.
pub fn lay_over(
    log: &JvmLog,
    clocks: &RunClocks,
    subject: &str,
    file: &str,
    start: Option<JvmStart>,
) -> Result<LaidOver, JvmError> {
    let mut laid = LaidOver {
        events: Vec::new(),
        facts: JvmLogFacts {
            subject: subject.to_owned(),
            file: file.to_owned(),
            format: log.first.map_or_else(String::new, |_| log.format.name().to_owned()),
            not_understood: log.not_understood,
            examples: numbered(&log.examples),
            ..JvmLogFacts::default()
        },
    };
    let mut troubles: Vec<String> = tells_nothing(log).into_iter().collect();
    if log.pauses.is_empty() && !troubles.is_empty() {
        laid.facts.trouble = troubles.pop();
        return Ok(laid);
    }
    let way = Way::choose(log, clocks, start, clock::local_zone)?;
    let mut worst = Nanos::ZERO;
    let mut unplaced = 0;
    for pause in &log.pauses {
        let Some((end, off)) = way.place(&pause.stamp, clocks) else {
            unplaced += 1;
            continue;
        };
        let begin = Instant(end.0.saturating_sub(pause.total.0));
        if clocks.is_outside(begin, end) {
            laid.facts.outside += 1;
            continue;
        }
        worst = worst.max(off);
        laid.facts.count(pause);
        let (kind, subject) = (EventKind::JvmPause, subject.to_owned());
        laid.events.push(Event { kind, begin, end, subject, detail: detail(pause) });
    }
    laid.facts.aligned_by = way.words(worst);
    troubles.extend(coverage(log, clocks, &way).lacks(clocks, Words { program: "JVM", entry: "line" }));
    if unplaced > 0 {
        troubles.push(format!(
            "{} no moment: a line lacks a clock, the wall clock stepped there, or this host's clocks showed the time twice or \
             never (--jvm-start tells the zone)",
            format_counted(unplaced, "pause has", "pauses have")
        ));
    }
    laid.facts.trouble = trouble(troubles);
    laid.events.sort_by_key(|event| (event.begin, event.end));
    Ok(laid)
}

/// Why a log without pauses is no evidence that there were none.
fn tells_nothing(log: &JvmLog) -> Option<String> {
    if log.lines == 0 {
        return Some("it is empty: the JVM logs to another file, or had nothing to log yet".to_owned());
    }
    if log.first.is_none() && log.pauses.is_empty() {
        return Some(format!(
            "it has {}, and none that is a JVM's with a clock: is it the right file?",
            format_counted(log.lines, "line", "lines")
        ));
    }
    (!log.tells_pauses).then(|| format!("it has no line of a kind that tells of pauses: log with {LOG_WITH}"))
}

/// What of the run it covers, by the moments of its first and last line.
fn coverage(log: &JvmLog, clocks: &RunClocks, way: &Way) -> Coverage {
    let place = |stamp: &Option<Stamp>| way.place(&stamp.as_ref().copied()?, clocks).map(|(at, _)| at);
    let quiet_before = |first: Instant| Instant(first.0.saturating_sub(log.quiet_before.0));
    Coverage {
        from: place(&log.first).map(quiet_before),
        to: place(&log.last),
        begins_with_program: log.begins_with_jvm,
    }
}

/// The facts of a log that could not be read or laid over a run, so that the run says so.
pub fn failed(subject: &str, file: &str, error: &JvmError) -> JvmLogFacts {
    JvmLogFacts {
        subject: subject.to_owned(),
        file: file.to_owned(),
        trouble: Some(error.to_string()),
        ..JvmLogFacts::default()
    }
}

/// Counting, which belongs to whoever knows what a pause is.
trait Counting {
    fn count(&mut self, pause: &JvmPause);
}

impl Counting for JvmLogFacts {
    fn count(&mut self, pause: &JvmPause) {
        let longer = |so_far: Option<Nanos>, time: Option<Nanos>| so_far.max(time);
        match pause.reach {
            PauseReach::WholeVm => {
                self.pauses += 1;
                self.total = Nanos(self.total.0.saturating_add(pause.total.0));
                self.longest = longer(self.longest, Some(pause.total));
                let stopping = longer(self.longest_time_to_safepoint, pause.time_to_safepoint);
                self.longest_time_to_safepoint = stopping;
            }
            PauseReach::OneThread => {
                self.stalls += 1;
                self.stalled = Nanos(self.stalled.0.saturating_add(pause.total.0));
                self.longest_stall = longer(self.longest_stall, Some(pause.total));
            }
            PauseReach::Within => self.summaries += 1,
        }
    }
}

/// The detail of an event: whom it stopped, what for, and the parts of its time.
fn detail(pause: &JvmPause) -> String {
    let parts = [
        ("time to safepoint", pause.time_to_safepoint),
        ("cleanup", pause.cleanup),
        ("operation", pause.operation.filter(|time| *time != pause.total)),
        ("leaving", pause.leaving),
        ("stopped", pause.stopped),
        ("longest", pause.longest),
    ];
    let known = parts.into_iter().filter_map(|(name, time)| Some(format!("{name} {}", format_nanos(time?))));
    let of_total = match pause.reach {
        PauseReach::Within => format!("of {}", format_nanos(pause.total)),
        _ => format!("total {}", format_nanos(pause.total)),
    };
    let digits = (pause.told_by == ToldBy::Table).then(|| "in whole milliseconds".to_owned());
    let words: Vec<String> = known.chain([of_total]).chain(digits).collect();
    format!("{}{}: {}", pause.reach.prefix(), pause.what, words.join(", "))
}
