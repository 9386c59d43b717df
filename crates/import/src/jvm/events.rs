//! Pauses as events of a recording.

use super::JvmError;
use super::align::{JvmStart, RunClocks, Way};
use super::pause::{JvmLog, JvmPause};
use record::{Event, EventKind, JvmLogFacts, PauseReach};
use std::path::Path;
use units::{Instant, Nanos, format_nanos};

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

/// A log as part of a recording.
#[derive(Clone, PartialEq, Debug)]
pub struct LaidOver {
    /// Its pauses, stalls and summaries within the run, ordered by begin.
    pub events: Vec<Event>,
    /// What is known of it.
    pub facts: JvmLogFacts,
}

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
            format: log.format.name().to_owned(),
            not_understood: log.not_understood,
            examples: log.examples.iter().map(|(line, text)| format!("line {line}: {text}")).collect(),
            ..JvmLogFacts::default()
        },
    };
    if log.pauses.is_empty() {
        return Ok(laid);
    }
    let way = Way::choose(log, clocks, start)?;
    let mut worst = Nanos::ZERO;
    let mut unplaced = 0;
    for pause in &log.pauses {
        let Some((end, off)) = way.place(&pause.stamp, clocks) else {
            unplaced += 1;
            continue;
        };
        let begin = Instant(end.0.saturating_sub(pause.total.0));
        // Instants begin with the epoch: what ended before it ends with it.
        if end == Instant::EPOCH || begin > clocks.end() {
            laid.facts.outside += 1;
            continue;
        }
        worst = worst.max(off);
        laid.facts.count(pause);
        let (kind, subject) = (EventKind::JvmPause, subject.to_owned());
        laid.events.push(Event { kind, begin, end, subject, detail: detail(pause) });
    }
    laid.facts.aligned_by = way.words(worst);
    if unplaced > 0 {
        laid.facts.trouble = Some(format!(
            "{unplaced} pauses have no moment: their lines lack a clock, or the wall clock stepped there"
        ));
    }
    laid.events.sort_by_key(|event| (event.begin, event.end));
    Ok(laid)
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
    let words: Vec<String> = known.chain([of_total]).collect();
    format!("{}{}: {}", pause.reach.prefix(), pause.what, words.join(", "))
}
