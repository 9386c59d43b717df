//! YCSB's raw rows.
//!
//! `measurementtype=raw` writes one series of rows after the other: all of READ, all of UPDATE, and with
//! `measurement.interval=both` all of Intended-READ, and so on. A row has when it was written, to the millisecond, and how
//! long its request took. The two rows of a request are the n-th of `READ` and the n-th of `Intended-READ`, as YCSB takes both
//! right after one another. Threads that come between can exchange neighbours: the order then differs, and with it a row may
//! count from the schedule less than its partner counts from sending, which no request does, or be far from it in time. A
//! series in which that happens is not joined; its requests then have their response times, and their service times are left
//! out. Where neighbours of like times were exchanged unseen, response and service times are still those of the series, and
//! lie at most as far apart as their stamps.

use super::lines::{Lines, wrong_line};
use super::{Gap, Log, Logged, Outputs, PassFacts, Take};
use crate::format::{Format, Output, name_of};
use crate::report::ToolReport;
use crate::ycsb::{INTENDED, MICRO, MILLI, raw, take_line};
use crate::{ImportError, Reported};
use std::borrow::Cow;
use units::{Nanos, Outcome, format_counted};

const NAME: &str = "ycsb";
/// Rows of one request lie no further apart, ms: they are written one right after the other.
const APART_MS: u64 = 100;

/// When a row was written, ms since the first of all, and how long its request took, µs.
type RawRow = (u32, u32);

/// One series of rows.
struct Series {
    /// `READ`, `Intended-READ`, `READ-FAILED`.
    name: String,
    rows: Vec<RawRow>,
}

/// What becomes of a series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// From sending, and its partner from the schedule.
    Joined(usize),
    /// From the schedule alone.
    Scheduled,
    /// From sending, or nobody knows.
    Sent,
    /// Another series holds its requests.
    Other,
}

/// All raw rows of a run.
pub(super) struct RawRows {
    base_ms: u64,
    series: Vec<Series>,
    stated: ToolReport,
    cut_off: Vec<(String, usize)>,
    /// The command line as YCSB prints it.
    command: Option<String>,
    /// Series whose two rows could not be joined.
    unsound: Vec<String>,
    parts: Vec<Part>,
}

impl RawRows {
    /// `None` where there is no raw row: then there are summaries alone.
    pub(super) fn read(outputs: Outputs<'_>) -> Result<Option<RawRows>, ImportError> {
        let mut rows = RawRows {
            base_ms: 0,
            series: Vec::new(),
            stated: ToolReport { tool: "YCSB".to_owned(), ..ToolReport::default() },
            cut_off: Vec::new(),
            command: None,
            unsound: Vec::new(),
            parts: Vec::new(),
        };
        if let Some(text) = outputs.printed {
            let output = Output { format: Format::Ycsb, place: "standard output".to_owned(), text };
            for (line, text) in output.lines() {
                rows.take(text).map_err(|why| output.wrong_line(line, why))?;
            }
        }
        for path in outputs.files {
            let mut lines = Lines::open(path, NAME)?;
            while let Some(line) = lines.next()? {
                // A figure that lost its last digits would be another figure.
                if !line.is_ended && raw(line.text).is_some() {
                    rows.cut_off.push((name_of(path), line.number));
                    break;
                }
                let number = line.number;
                rows.take(line.text).map_err(|why| wrong_line(NAME, path, number, why))?;
            }
        }
        if rows.series.is_empty() {
            return Ok(None);
        }
        crate::ycsb::finish_stated(&mut rows.stated);
        rows.join();
        Ok(Some(rows))
    }

    fn take(&mut self, text: &str) -> Result<(), String> {
        if let Some(command) = text.strip_prefix("Command line: ") {
            self.command.get_or_insert_with(|| command.to_owned());
        }
        match raw(text) {
            Some((name, time, spent)) => self.take_row(name, time, spent),
            None => take_line(&mut self.stated, text),
        }
    }

    fn take_row(&mut self, name: &str, time: &str, spent: &str) -> Result<(), String> {
        let bad = |what: &str| format!("`{name},{time},{spent}`: {what}");
        let time: u64 = time.parse().map_err(|_| bad("no time in ms"))?;
        let spent: u64 = spent.parse().map_err(|_| bad("no elapsed time in µs"))?;
        if self.base_ms == 0 {
            // A day is room for rows that were written before the first of the file.
            self.base_ms = time.saturating_sub(86_400_000);
        }
        let since = time.checked_sub(self.base_ms).and_then(|ms| u32::try_from(ms).ok());
        let since = since.ok_or_else(|| bad("more than a day before the first row, or a month after it"))?;
        let spent = u32::try_from(spent).map_err(|_| bad("longer than an hour"))?;
        let at = self.series.iter().position(|series| series.name == name).unwrap_or_else(|| {
            self.series.push(Series { name: name.to_owned(), rows: Vec::new() });
            self.series.len() - 1
        });
        self.series[at].rows.push((since, spent));
        Ok(())
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.series.iter().position(|series| series.name == name)
    }

    fn join(&mut self) {
        let is_intended = self.says("measurement.interval=intended");
        let mut parts = vec![Part::Sent; self.series.len()];
        for (at, series) in self.series.iter().enumerate() {
            if let Some(plain) = series.name.strip_prefix(INTENDED) {
                match self.find(plain) {
                    Some(partner) if are_one(&self.series[partner].rows, &series.rows) => {
                        (parts[partner], parts[at]) = (Part::Joined(at), Part::Other);
                    }
                    Some(partner) => {
                        (parts[partner], parts[at]) = (Part::Other, Part::Scheduled);
                        self.unsound.push(plain.to_owned());
                    }
                    None => parts[at] = Part::Scheduled,
                }
            } else if is_intended {
                parts[at] = Part::Scheduled;
            }
        }
        self.parts = parts;
    }

    fn says(&self, word: &str) -> bool {
        self.command.as_deref().is_some_and(|command| command.split_whitespace().any(|said| said == word))
    }

    /// Requests per second that were asked of it, as the command line says; `Some(None)` for none at all.
    fn target(&self) -> Option<Option<&str>> {
        let words: Vec<&str> = self.command.as_deref()?.split_whitespace().collect();
        let flag = words.iter().position(|word| *word == "-target").and_then(|at| words.get(at + 1)).copied();
        Some(flag.or_else(|| words.iter().find_map(|word| word.strip_prefix("target="))))
    }
}

/// Whether n-th and n-th are two rows of one request, for all of them.
fn are_one(sent: &[RawRow], intended: &[RawRow]) -> bool {
    let near = |a: u32, b: u32| u64::from(a.abs_diff(b)) <= APART_MS;
    sent.len() == intended.len()
        && sent.iter().zip(intended).all(|(sent, intended)| intended.1 >= sent.1 && near(sent.0, intended.0))
}

/// The operation whose requests a series is of, and how they ended.
fn operation(name: &str) -> (&str, Outcome) {
    let name = name.strip_prefix(INTENDED).unwrap_or(name);
    match name.strip_suffix("-FAILED") {
        Some(operation) => (operation, Outcome::Server),
        None => (name, Outcome::Ok),
    }
}

/// Whether a series is of requests of the load; the load's own clean-up is not, nor are pairs that are counted already.
fn is_of_load(name: &str) -> bool {
    let (operation, _) = operation(name);
    Reported { operation: operation.to_owned(), ..Reported::default() }.is_of_requests()
}

impl Log for RawRows {
    fn pass(&self, take: Take<'_>) -> Result<PassFacts, ImportError> {
        for (series, part) in self.series.iter().zip(&self.parts) {
            if *part == Part::Other || !is_of_load(&series.name) {
                continue;
            }
            let (operation, outcome) = operation(&series.name);
            let partner = match part {
                Part::Joined(partner) => Some(&self.series[*partner].rows),
                _ => None,
            };
            for (at, (ms, spent)) in series.rows.iter().enumerate() {
                let completed = (self.base_ms + u64::from(*ms)).saturating_mul(MILLI.0);
                let before = |spent: u32| completed.saturating_sub(Nanos::from_micros(u64::from(spent)).0);
                let begin = before(*spent);
                let (intended, sent) = match (part, partner) {
                    (Part::Scheduled, _) => (Some(begin), None),
                    (_, Some(partner)) => (partner.get(at).map(|row| before(row.1)), Some(begin)),
                    _ => (None, Some(begin)),
                };
                take(&Logged {
                    operation: Cow::Borrowed(operation),
                    session: None,
                    intended,
                    sent,
                    completed: Some(completed),
                    outcome,
                    phase: 0,
                })?;
            }
        }
        let known = |part: &Part| matches!(part, Part::Joined(_) | Part::Scheduled);
        let mut of_load = self.series.iter().zip(&self.parts).filter(|(series, part)| {
            **part != Part::Other && is_of_load(&series.name) && operation(&series.name).1 == Outcome::Ok
        });
        let all_known = of_load.all(|(_, part)| known(part));
        // Without a rate, the schedule is the moment of sending: a closed loop has none.
        let has_schedule = all_known && self.target() != Some(None);
        Ok(PassFacts {
            stated: self.stated.clone(),
            cut_off: self.cut_off.clone(),
            gaps: self.gaps(all_known),
            is_wall_time: true,
            has_schedule,
            resolution: (MILLI, MICRO),
            facts: self.facts(),
            ..PassFacts::default()
        })
    }
}

impl RawRows {
    fn gaps(&self, all_known: bool) -> Vec<Gap> {
        let mut gaps = Vec::new();
        if !self.unsound.is_empty() {
            let text = format!(
                "the rows of {} from sending and from the schedule are not in one order: response times are known, service \
                 times are left out",
                self.unsound.join(", ")
            );
            gaps.push(Gap::note(text));
        }
        const HINT: &str = "run it with -p measurement.interval=both, and hand over what it printed";
        match (all_known, self.target()) {
            (true, Some(None)) => gaps.push(Gap::note(
                "YCSB ran without -target: it had no schedule, and the figures are service times of a closed loop",
            )),
            (true, None) => gaps.push(Gap::note(
                "whether YCSB had a rate is not told, as its output was not handed over: without one, its intended start is \
                 when it sent the request",
            )),
            (false, Some(Some(target))) => gaps.push(Gap::suspect(
                format!(
                    "YCSB was to make {target} requests per second, and its rows count from sending: how late they were sent \
                     is in no figure (coordinated omission)"
                ),
                HINT,
            )),
            (false, None) => gaps.push(Gap::suspect(
                "the rows do not say whether they count from the schedule or from sending: they are taken to count from \
                 sending, and the time that requests were late is in no figure",
                HINT,
            )),
            (true, Some(Some(_))) | (false, Some(None)) => {}
        }
        gaps.push(Gap::note("requests that were not finished when YCSB ended have no row"));
        gaps
    }

    fn facts(&self) -> Vec<(String, String)> {
        let mut facts: Vec<(String, String)> =
            self.command.iter().map(|c| ("command".to_owned(), c.clone())).collect();
        let left_out = self
            .series
            .iter()
            .filter(|series| !series.name.starts_with(INTENDED) && !is_of_load(&series.name));
        facts.extend(left_out.map(|series| {
            let rows = format_counted(series.rows.len() as u64, "row", "rows");
            (format!("not requests of the load: {}", series.name), format!("{rows}, left out"))
        }));
        facts
    }
}
