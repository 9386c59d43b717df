//! A table of requests.

use super::lines::{Lines, wrong_line};
use super::{Gap, Log, Logged, Outputs, PassFacts, Take, WARM_UP, YEAR_2000};
use crate::ImportError;
use crate::csv::{ColumnMap, Columns, Role, Row, Steps, other_separator};
use crate::format::{name_of, quoted};
use crate::report::{StatedFrom, ToolReport};
use std::path::{Path, PathBuf};
use units::{Nanos, Outcome};

const NAME: &str = "csv";

pub(super) struct Table {
    files: Vec<PathBuf>,
    map: Option<ColumnMap>,
}

/// What the tables of a pass are like.
#[derive(Default)]
struct Seen {
    cut_off: Vec<(String, usize)>,
    /// Whether the first moment lies before the year 2000, and where it stands.
    side: Option<(bool, String, usize)>,
    is_unsaid: bool,
    lacks_outcomes: bool,
    has_intended: bool,
    lacks_sent: bool,
    lag_is_unsaid: bool,
    steps: Steps,
}

impl Table {
    pub(super) fn new(outputs: Outputs<'_>) -> Table {
        Table { files: outputs.files.to_vec(), map: outputs.columns.cloned() }
    }

    fn columns(&self, path: &Path, header: &str) -> Result<Columns, ImportError> {
        let wrong = |why: String| wrong_line(NAME, path, 1, why);
        if let Some(separator) = other_separator(header) {
            return Err(wrong(format!(
                "{} has {separator} and no comma: fields are parted by commas, and decimals by a point; write the table so",
                quoted(header)
            )));
        }
        let columns = match &self.map {
            Some(map) => Columns::mapped(header, map).map_err(wrong)?,
            None => {
                let found = Columns::of(header).ok_or_else(|| {
                    wrong(format!(
                        "{} names no column with a length of time, such as service_us; say which is what with --map, such \
                         as --map 'sent=begin:s,service=lat:ms'",
                        quoted(header)
                    ))
                })?;
                found.map_err(wrong)?
            }
        };
        let moments = [Role::Intended, Role::Start, Role::Sent, Role::Completed];
        if !moments.into_iter().any(|role| columns.has(role)) {
            let why = "no column tells when a request was; a recording needs intended, sent, start or completed, such as \
                       start_us";
            return Err(wrong(why.to_owned()));
        }
        if !places(&columns) {
            let why = "the columns do not tell when requests ended: besides intended there must be response, completed, sent or \
                       lag";
            return Err(wrong(why.to_owned()));
        }
        Ok(columns)
    }

    fn file(&self, path: &Path, take: Take<'_>, seen: &mut Seen) -> Result<(), ImportError> {
        let mut lines = Lines::open(path, NAME)?;
        let Some(header) = lines.next()?.map(|line| line.text.to_owned()) else { return Ok(()) };
        let columns = self.columns(path, &header)?;
        seen.describe(&columns);
        while let Some(line) = lines.next()? {
            if !line.is_ended {
                seen.cut_off.push((name_of(path), line.number));
                break;
            }
            let number = line.number;
            let wrong = |why: String| wrong_line(NAME, path, number, why);
            let row = columns.row(line.text).map_err(wrong)?;
            seen.steps.add(row.steps);
            let logged = logged(&columns, row, line.text).map_err(wrong)?;
            seen.check_side(&logged, path, number)
                .map_err(|why| wrong(format!("{}: {why}", quoted(line.text))))?;
            take(&logged)?;
        }
        Ok(())
    }
}

/// Whether the end of a request follows from the columns.
fn places(columns: &Columns) -> bool {
    let has = |role| columns.has(role);
    let from_sending = has(Role::Service) || has(Role::Elapsed);
    has(Role::Completed)
        || (has(Role::Start) && columns.measure().is_some())
        || (has(Role::Sent) && from_sending)
        || (has(Role::Intended) && (has(Role::Response) || (has(Role::Lag) && from_sending)))
}

/// A request of a line. What begins after it ended makes no sense.
fn logged<'a>(columns: &Columns, row: Row<'a>, line: &'a str) -> Result<Logged<'a>, String> {
    let before = |at: Option<u64>, length: Option<Nanos>| {
        at.zip(length).and_then(|(at, length)| at.checked_sub(length.0))
    };
    let after = |at: Option<u64>, length: Option<Nanos>| {
        at.zip(length).and_then(|(at, length)| at.checked_add(length.0))
    };
    // `start` is where the length of time begins, whatever that is.
    let (measure, from) = columns.measure().unwrap_or_default();
    let is_response = from == StatedFrom::Schedule;
    let mut intended = row.intended.or(row.start.filter(|_| is_response));
    let mut sent = row.sent.or(row.start.filter(|_| !is_response));
    let service = row.service.or(row.elapsed.filter(|_| measure == "elapsed"));
    let completed =
        row.completed.or_else(|| after(sent, service)).or_else(|| after(intended, row.response)).or_else(
            || {
                // From the schedule, by way of the lag.
                after(after(intended, row.lag), service)
            },
        );
    intended = intended.or_else(|| before(completed, row.response));
    sent = sent.or_else(|| before(completed, service));
    if from != StatedFrom::Unsaid || row.intended.is_some() || row.sent.is_some() {
        sent = sent.or_else(|| after(intended, row.lag));
        intended = intended.or_else(|| before(sent, row.lag));
    }
    let outcome = row.outcome.unwrap_or(Outcome::Ok);
    // A request that failed may have no time; then it counts at its begin.
    let completed = completed.or(sent.or(intended).filter(|_| outcome != Outcome::Ok));
    if let Some(ended) = completed
        && [intended, sent].into_iter().flatten().any(|begin| begin > ended)
    {
        return Err(format!("{}: it begins after its end; are the units right?", quoted(line)));
    }
    let is_ended =
        outcome == Outcome::Ok || row.completed.is_some() || row.response.is_some() || service.is_some();
    Ok(Logged {
        operation: if row.operation.is_empty() { "request".into() } else { row.operation },
        session: row.session,
        // What has no end has no length either: a time of zero would be made up.
        intended: intended.filter(|_| is_ended),
        sent: sent.filter(|_| is_ended),
        completed,
        outcome,
        phase: if row.is_of_warm_up { WARM_UP } else { 0 },
    })
}

impl Seen {
    fn describe(&mut self, columns: &Columns) {
        let (_, from) = columns.measure().unwrap_or_default();
        let has_sent = columns.has(Role::Sent) || columns.has(Role::Service);
        self.has_intended |= columns.has(Role::Intended)
            || from == StatedFrom::Schedule
            || (columns.has(Role::Lag) && has_sent);
        let says_from = from != StatedFrom::Unsaid || columns.has(Role::Sent);
        let lengths = columns.measure().is_some();
        self.is_unsaid |= lengths && !says_from;
        self.lag_is_unsaid |= columns.has(Role::Lag) && !says_from && !columns.has(Role::Intended);
        self.lacks_outcomes |= !columns.has(Role::Ok);
        self.lacks_sent |=
            !has_sent && !columns.has(Role::Start) && !columns.has(Role::Elapsed) && !columns.has(Role::Lag);
    }

    /// Refuses a moment of another clock than those before it: with it, the run would last since 1970.
    fn check_side(&mut self, logged: &Logged<'_>, path: &Path, line: usize) -> Result<(), String> {
        for at in [logged.intended, logged.sent, logged.completed].into_iter().flatten() {
            let is_before = at < YEAR_2000;
            let (first, file, first_line) = self.side.get_or_insert_with(|| (is_before, name_of(path), line));
            if *first != is_before {
                let (here, there) = if is_before { ("before", "after") } else { ("after", "before") };
                return Err(format!(
                    "it lies {here} the year 2000 and line {first_line} of {file} {there} it; leave the field of a moment that is \
                     not known empty, or is the unit another one?"
                ));
            }
        }
        Ok(())
    }

    fn is_before_2000(&self) -> bool {
        self.side.as_ref().is_some_and(|(is_before, ..)| *is_before)
    }

    fn gaps(&self) -> Vec<Gap> {
        let mut gaps = Vec::new();
        if self.is_unsaid {
            gaps.push(Gap::suspect(
                "the file does not say what its times count from: they are taken to count from sending, and the time that \
                 requests were late is in no figure",
                "name the column `service` or `response`, or say it with --map",
            ));
        }
        if self.lag_is_unsaid {
            gaps.push(Gap::note("the column of the lag is not used: whether the times hold it is not said"));
        }
        if self.lacks_outcomes {
            gaps.push(Gap::note("the file does not tell which requests failed: all count as ok"));
        }
        if self.is_before_2000() {
            gaps.push(Gap::note(
                "its moments do not count from 1970: when the run was is not known, and logs of other programs can't be laid \
                 over it",
            ));
        }
        gaps.push(Gap::note(
            "requests that were not finished when the tool ended are not in its file, as far as it says",
        ));
        gaps
    }
}

impl Log for Table {
    fn pass(&self, take: Take<'_>) -> Result<PassFacts, ImportError> {
        if self.files.is_empty() {
            let hint = "no file was given".to_owned();
            return Err(ImportError::Nothing { format: NAME, hint });
        }
        let mut seen = Seen::default();
        for path in &self.files {
            self.file(path, take, &mut seen)?;
        }
        let moments = seen.steps.of_moments().unwrap_or(Nanos::ZERO);
        Ok(PassFacts {
            stated: ToolReport { tool: "a csv file".to_owned(), ..ToolReport::default() },
            gaps: seen.gaps(),
            is_wall_time: !seen.is_before_2000(),
            cut_off: seen.cut_off,
            has_schedule: seen.has_intended,
            resolution: (moments, seen.steps.of_lengths().unwrap_or(moments)),
            ..PassFacts::default()
        })
    }
}
