//! The first pass: what a recording says before its first sample.

use super::{Gap, Log, Logged, PassFacts, WARM_UP};
use crate::{Format, ImportError, ToolReport};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Nanos, Outcome, format_count, format_counted};

/// Operations of a recording at most: a sample has a byte for them.
const MOST_OPERATIONS: usize = 255;
/// Sessions that are told apart at most: a sample has two bytes, one value of which says that it is not known.
const MOST_SESSIONS: usize = 65_535;
/// Phases at most; a warm-up may come before them.
const MOST_PHASES: usize = 254;

/// One request with what its log tells of it; moments in ns since 1970, or of the log's own clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Index into [`Survey::operations`].
    pub operation: u8,
    /// Counted from 0 in the order in which sessions appear; `None` where the log does not tell.
    pub session: Option<u16>,
    /// When the schedule wanted it.
    pub intended: Option<u64>,
    /// When it was sent.
    pub sent: Option<u64>,
    /// When its answer was there.
    pub completed: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Index into [`Survey::phases`].
    pub phase: u8,
}

impl Request {
    /// The earliest moment that is known of it.
    pub fn begin(&self) -> u64 {
        self.intended.into_iter().chain(self.sent).min().unwrap_or(self.completed).min(self.completed)
    }
}

/// A phase as the tool numbers them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoggedPhase {
    /// The tool's number.
    pub number: u32,
    /// The first begin of a request.
    pub begin: u64,
    /// The last completion.
    pub end: u64,
}

impl LoggedPhase {
    /// Whether its requests do not count.
    pub fn is_warm_up(&self) -> bool {
        self.number == WARM_UP
    }
}

/// What the first pass over a log found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Survey {
    /// The tool's own summary of the run, where there is one; without samples.
    pub stated: ToolReport,
    /// Names of the operations.
    pub operations: Vec<String>,
    /// Phases that requests are of, in the order of their begin; never empty.
    pub phases: Vec<LoggedPhase>,
    /// Requests that become samples.
    pub requests: u64,
    /// Of those, the ones that failed.
    pub failed: u64,
    /// Requests without any moment, which can't become samples.
    pub unplaced: u64,
    /// Requests that the tool says it did not send.
    pub skipped: u64,
    /// Sessions told apart.
    pub sessions: usize,
    /// The earliest moment, ns.
    pub earliest: u64,
    /// The latest moment, ns.
    pub latest: u64,
    /// Whether moments are wall time.
    pub is_wall_time: bool,
    /// Whether there was a schedule, and most of the requests that succeeded have their intended moments.
    pub has_schedule: bool,
    /// The finest step of moments.
    pub moment_resolution: Nanos,
    /// The finest step of lengths of time.
    pub length_resolution: Nanos,
    /// What the log can't tell.
    pub gaps: Vec<Gap>,
    /// Further facts: (name, value).
    pub facts: Vec<(String, String)>,
}

/// What names in a log stand for.
#[derive(Default)]
pub(super) struct Names {
    operations: HashMap<String, u8>,
    /// `None` once there are too many to be told apart.
    sessions: HashMap<String, u16>,
    phases: HashMap<u32, u8>,
}

impl Names {
    /// `None` for a request without a moment.
    ///
    /// # Errors
    /// For a name that the first pass did not meet: the log has changed.
    pub(super) fn request(&self, number: u64, logged: &Logged<'_>) -> Result<Option<Request>, ImportError> {
        let Some(completed) = logged.completed else { return Ok(None) };
        let changed = || ImportError::Changed { number };
        Ok(Some(Request {
            operation: *self.operations.get(logged.operation.as_ref()).ok_or_else(changed)?,
            session: logged.session.as_ref().and_then(|name| self.sessions.get(name.as_ref()).copied()),
            intended: logged.intended,
            sent: logged.sent,
            completed,
            outcome: logged.outcome,
            phase: *self.phases.get(&logged.phase).ok_or_else(changed)?,
        }))
    }
}

struct FirstPass {
    format: Format,
    names: Names,
    survey: Survey,
    /// Requests that succeeded without an intended moment.
    unintended: u64,
    too_many_sessions: bool,
}

impl FirstPass {
    fn take(&mut self, logged: &Logged<'_>) -> Result<(), ImportError> {
        let Some(completed) = logged.completed else {
            self.survey.unplaced += 1;
            return Ok(());
        };
        if !self.names.operations.contains_key(logged.operation.as_ref()) {
            self.name_operation(&logged.operation)?;
        }
        if let Some(session) = &logged.session
            && !self.names.sessions.contains_key(session.as_ref())
        {
            let next = self.names.sessions.len();
            self.too_many_sessions |= next >= MOST_SESSIONS;
            if let Some(number) = u16::try_from(next).ok().filter(|_| next < MOST_SESSIONS) {
                self.names.sessions.insert(session.as_ref().to_owned(), number);
            }
        }
        self.survey.requests += 1;
        self.survey.failed += u64::from(logged.outcome != Outcome::Ok);
        self.unintended += u64::from(logged.intended.is_none() && logged.outcome == Outcome::Ok);
        let begin = logged.intended.into_iter().chain(logged.sent).min().unwrap_or(completed).min(completed);
        self.survey.earliest = self.survey.earliest.min(begin);
        self.survey.latest = self.survey.latest.max(completed);
        self.take_phase(LoggedPhase { number: logged.phase, begin, end: completed })
    }

    fn take_phase(&mut self, of_request: LoggedPhase) -> Result<(), ImportError> {
        let phases = &mut self.survey.phases;
        if let Some(phase) = phases.iter_mut().find(|phase| phase.number == of_request.number) {
            phase.begin = phase.begin.min(of_request.begin);
            phase.end = phase.end.max(of_request.end);
        } else if phases.len() < MOST_PHASES {
            phases.push(of_request);
        } else {
            return Err(self.too_many("phases", MOST_PHASES));
        }
        Ok(())
    }

    fn name_operation(&mut self, name: &str) -> Result<(), ImportError> {
        let next = self.names.operations.len();
        let number = u8::try_from(next).ok().filter(|_| next < MOST_OPERATIONS);
        let number = number.ok_or_else(|| self.too_many("operations", MOST_OPERATIONS))?;
        self.names.operations.insert(name.to_owned(), number);
        self.survey.operations.push(name.to_owned());
        Ok(())
    }

    fn too_many(&self, what: &str, most: usize) -> ImportError {
        let hint =
            format!("more than {most} {what}, and a recording has no room for more; is it the right column?");
        ImportError::Nothing { format: self.format.name(), hint }
    }
}

/// Reads a log for the first time.
pub(super) fn first_pass(
    log: &dyn Log,
    format: Format,
    stop: Option<&AtomicBool>,
) -> Result<(Names, Survey), ImportError> {
    let survey = Survey { earliest: u64::MAX, ..Survey::default() };
    let mut first =
        FirstPass { format, names: Names::default(), survey, unintended: 0, too_many_sessions: false };
    let is_wanted = || !stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
    let facts = log.pass(&mut |logged| match is_wanted() {
        true => first.take(logged),
        false => Err(ImportError::Stopped),
    })?;
    let FirstPass { mut names, mut survey, unintended, too_many_sessions, .. } = first;
    if survey.requests == 0 {
        let hint = "the files hold no request with a moment".to_owned();
        return Err(ImportError::Nothing { format: format.name(), hint });
    }
    survey.phases.sort_by_key(|phase| (phase.begin, phase.number));
    let numbered = survey.phases.iter().enumerate();
    names.phases = numbered.map(|(at, phase)| (phase.number, u8::try_from(at).unwrap_or(u8::MAX))).collect();
    survey.sessions = names.sessions.len();
    let succeeded = survey.requests - survey.failed;
    survey.has_schedule = facts.has_schedule && unintended * 2 <= succeeded;
    let of_schedule =
        gap_of_schedule(unintended, succeeded, survey.has_schedule).filter(|_| facts.has_schedule);
    describe(&mut survey, facts, too_many_sessions);
    survey.gaps.extend(of_schedule);
    Ok((names, survey))
}

/// Where the tool had a schedule: what follows of requests whose intended moment is missing.
fn gap_of_schedule(unintended: u64, succeeded: u64, is_open: bool) -> Option<Gap> {
    const HINT: &str = "fill in when they were intended, or leave them out knowingly";
    let has = if unintended == 1 { "has" } else { "have" };
    let few = format!(
        "{} of {} requests that succeeded {has} no intended moment",
        format_count(unintended),
        format_count(succeeded)
    );
    let text = match (unintended, is_open) {
        (0, _) => return None,
        (_, true) => {
            format!("{few}: they are in no response time, and nothing tells whether they were the longest")
        }
        (_, false) if unintended == succeeded => {
            format!("{few}: how late they were sent is in no figure, and the load is taken for a closed loop")
        }
        (_, false) => format!(
            "{few}: the load is taken for a closed loop, and the response times of the others are left out"
        ),
    };
    Some(Gap::suspect(text, HINT))
}

fn describe(survey: &mut Survey, facts: PassFacts, too_many_sessions: bool) {
    let PassFacts { stated, skipped, cut_off, gaps, is_wall_time, resolution, facts, .. } = facts;
    (survey.stated, survey.skipped, survey.is_wall_time) = (stated, skipped, is_wall_time);
    (survey.moment_resolution, survey.length_resolution) = resolution;
    survey.facts = facts;
    survey.gaps = gaps;
    for (file, line) in cut_off {
        let text = format!(
            "{file} ends within line {line}: this line is left out, and whatever came after it is missing"
        );
        survey.gaps.push(Gap::suspect(text, "copy the file again, or let the tool end in order"));
    }
    if survey.unplaced > survey.skipped {
        let without = survey.unplaced - survey.skipped;
        let text = format!(
            "{} no moment and no length of time, and {} no part of any figure",
            format_counted(without, "request has", "requests have"),
            if without == 1 { "is" } else { "are" }
        );
        survey.gaps.push(Gap::suspect(text, ""));
    }
    if survey.moment_resolution >= Nanos::from_millis(1) {
        let text = format!(
            "when a request was is told to {} alone: what lies nearer together, or to a pause, can't be told apart",
            survey.moment_resolution
        );
        survey.gaps.push(Gap::note(text));
    }
    if survey.length_resolution > Nanos::from_micros(1) {
        let text = format!("lengths of time are told to {}, and no finer", survey.length_resolution);
        survey.gaps.push(Gap::note(text));
    }
    if too_many_sessions {
        let text = format!("more than {MOST_SESSIONS} sessions: later ones are not told apart");
        survey.gaps.push(Gap::note(text));
    }
}
