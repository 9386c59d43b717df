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
use crate::ImportError;
use crate::format::{Format, Output, STANDARD_OUTPUT, name_of, quoted};
use crate::report::ToolReport;
use crate::ycsb::command::{CommandLine, Target};
use crate::ycsb::names::Name;
use crate::ycsb::{
    COMMAND_LINE, INTENDED, MICRO, MILLI, MOST_NAMES, is_strange_row, raw, take_line, too_many_names,
};
use std::borrow::Cow;
use std::collections::HashMap;
use units::{Nanos, PerSecond, format_counted};

const NAME: &str = "ycsb";
/// Rows of one request lie no further apart, ms: they are written one right after the other.
const APART_MS: u64 = 100;

/// Reading and then writing a record: an operation of two requests, which have rows of their own.
const PAIR: &str = "READ-MODIFY-WRITE";
const INTENDED_PAIR: &str = "Intended-READ-MODIFY-WRITE";

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
#[derive(Default)]
pub(super) struct RawRows {
    base_ms: u64,
    series: Vec<Series>,
    /// Where a series is, by its name.
    places: HashMap<String, usize>,
    stated: ToolReport,
    cut_off: Vec<(String, usize)>,
    /// The command line as YCSB prints it, whole.
    command: Option<String>,
    /// The same as somebody noted it.
    noted: Option<String>,
    /// Lines that look like rows and name no operation: how many, and the first with its place.
    strange: Option<(u64, String)>,
    /// Series whose two rows could not be joined.
    unsound: Vec<String>,
    parts: Vec<Part>,
}

impl RawRows {
    /// `None` where there is no raw row: then there are summaries alone.
    pub(super) fn read(outputs: Outputs<'_>) -> Result<Option<RawRows>, ImportError> {
        let mut rows = RawRows { noted: outputs.command.map(str::to_owned), ..RawRows::default() };
        rows.stated.tool = "YCSB".to_owned();
        if let Some(text) = outputs.printed {
            let output = Output::new(Format::Ycsb, STANDARD_OUTPUT, text);
            for (line, text) in output.lines() {
                rows.take(text, &output.place, line).map_err(|why| output.wrong_line(line, why))?;
            }
        }
        for path in outputs.files {
            let mut lines = Lines::open(path, NAME)?;
            let place = name_of(path);
            while let Some(line) = lines.next()? {
                // A figure that lost its last digits would be another figure.
                if !line.is_ended && raw(line.text).is_some() {
                    rows.cut_off.push((place, line.number));
                    break;
                }
                let number = line.number;
                rows.take(line.text, &place, number).map_err(|why| wrong_line(NAME, path, number, why))?;
            }
        }
        if rows.series.is_empty() {
            return Ok(None);
        }
        crate::ycsb::finish_stated(&mut rows.stated);
        rows.join();
        rows.stated.asked = rows.asked();
        Ok(Some(rows))
    }

    fn take(&mut self, text: &str, place: &str, line: usize) -> Result<(), String> {
        if let Some(command) = text.strip_prefix(COMMAND_LINE) {
            self.command.get_or_insert_with(|| command.to_owned());
        }
        match raw(text) {
            Some((name, time, spent)) => self.take_row(name, time, spent),
            None if is_strange_row(text) => {
                let first = || (0, format!("line {line} of {place}: {}", quoted(text)));
                self.strange.get_or_insert_with(first).0 += 1;
                Ok(())
            }
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
        let at = match self.places.get(name) {
            Some(at) => *at,
            None if self.series.len() == MOST_NAMES => return Err(too_many_names()),
            None => {
                self.places.insert(name.to_owned(), self.series.len());
                self.series.push(Series { name: name.to_owned(), rows: Vec::new() });
                self.series.len() - 1
            }
        };
        self.series[at].rows.push((since, spent));
        Ok(())
    }

    fn join(&mut self) {
        let is_intended = self.interval() == Some("intended");
        let mut parts = vec![Part::Sent; self.series.len()];
        for (at, series) in self.series.iter().enumerate() {
            if let Some(plain) = series.name.strip_prefix(INTENDED) {
                match self.places.get(plain) {
                    Some(partner) if are_one(&self.series[*partner].rows, &series.rows) => {
                        (parts[*partner], parts[at]) = (Part::Joined(at), Part::Other);
                    }
                    Some(partner) => {
                        (parts[*partner], parts[at]) = (Part::Other, Part::Scheduled);
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

    fn noted(&self) -> Option<CommandLine<'_>> {
        self.noted.as_deref().map(CommandLine)
    }

    fn printed(&self) -> Option<CommandLine<'_>> {
        self.command.as_deref().map(CommandLine)
    }

    /// What rows without a partner count from, as the command line says.
    fn interval(&self) -> Option<&str> {
        // A noted line that does not say it may be no whole line.
        let noted = || self.noted()?.stated_interval();
        self.printed().and_then(CommandLine::interval).or_else(noted)
    }

    /// Requests per second that were asked of it, as the command line says.
    fn target(&self) -> Target {
        match self.printed().map_or(Target::Unknown, CommandLine::target) {
            Target::Unknown => {}
            known => return known,
        }
        match self.noted().map(CommandLine::target) {
            Some(rate @ Target::Rate(_)) => rate,
            _ => Target::Unknown,
        }
    }

    /// Requests per second that follow from the rate, which counts operations: a pair of reading and writing is one of them.
    fn asked(&self) -> Option<PerSecond> {
        let Target::Rate(rate) = self.target() else { return None };
        let requests: usize = self.of_load().map(|(series, _)| series.rows.len()).sum();
        let plain = self.places.get(PAIR).or_else(|| self.places.get(INTENDED_PAIR));
        let pairs = plain.map_or(0, |at| self.series[*at].rows.len());
        // Each pair is two requests; more pairs than that are of another run, or cut off.
        let operations = requests.saturating_sub(pairs).max(requests.div_ceil(2)).max(1);
        PerSecond::new(rate.get() * requests.max(1) as f64 / operations as f64)
    }

    /// Series whose requests are the load's, with what becomes of them.
    fn of_load(&self) -> impl Iterator<Item = (&Series, Part)> {
        let all = self.series.iter().zip(self.parts.iter().copied());
        all.filter(|(series, part)| *part != Part::Other && Name::of(&series.name).is_of_load())
    }
}

/// Whether n-th and n-th are two rows of one request, for all of them.
fn are_one(sent: &[RawRow], intended: &[RawRow]) -> bool {
    let near = |a: u32, b: u32| u64::from(a.abs_diff(b)) <= APART_MS;
    sent.len() == intended.len()
        && sent.iter().zip(intended).all(|(sent, intended)| intended.1 >= sent.1 && near(sent.0, intended.0))
}

/// What the rows of requests count from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// All from the schedule.
    Schedule,
    /// Some of them.
    Mixed,
    /// None, as far as anybody knows.
    Sending,
}

impl Log for RawRows {
    fn pass(&self, take: Take<'_>) -> Result<PassFacts, ImportError> {
        for (series, part) in self.of_load() {
            let name = Name::of(&series.name);
            let partner = match part {
                Part::Joined(partner) => Some(&self.series[partner].rows),
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
                    operation: Cow::Borrowed(name.operation),
                    session: None,
                    intended,
                    sent,
                    completed: Some(completed),
                    outcome: name.outcome(),
                    phase: 0,
                })?;
            }
        }
        let origin = self.origin();
        Ok(PassFacts {
            stated: self.stated.clone(),
            cut_off: self.cut_off.clone(),
            gaps: self.gaps(origin),
            is_wall_time: true,
            // Without a rate, the schedule is the moment of sending: a closed loop has none.
            has_schedule: origin != Origin::Sending && self.target() != Target::Unlimited,
            resolution: (MILLI, MICRO),
            facts: self.facts(),
            ..PassFacts::default()
        })
    }
}

impl RawRows {
    fn origin(&self) -> Origin {
        let of_load = || self.of_load().map(|(_, part)| matches!(part, Part::Joined(_) | Part::Scheduled));
        match (!of_load().any(|known| known), of_load().all(|known| known)) {
            (_, true) => Origin::Schedule,
            (false, false) => Origin::Mixed,
            (true, false) => Origin::Sending,
        }
    }

    fn gaps(&self, origin: Origin) -> Vec<Gap> {
        let mut gaps = Vec::new();
        if !self.unsound.is_empty() {
            let text = format!(
                "the rows of {} from sending and from the schedule are not in one order: response times are known, service \
                 times are left out",
                self.unsound.join(", ")
            );
            gaps.push(Gap::note(text));
        }
        gaps.extend(self.gap_of_rate(origin));
        gaps.extend(self.gap_of_names());
        if let Some((count, first)) = &self.strange {
            let lines = format_counted(*count, "line has", "lines have");
            let text = format!(
                "{lines} the figures of a row and no name of an operation, the first is {first}: what they are of is not known, \
                 and they are left out"
            );
            gaps.push(Gap::suspect(
                text,
                "look at these lines; if they are requests, give them the name of an operation",
            ));
        }
        gaps.push(Gap::note("requests that were not finished when YCSB ended have no row"));
        gaps
    }

    /// What is not known of the rate, and what follows for the rows.
    fn gap_of_rate(&self, origin: Origin) -> Option<Gap> {
        const BOTH: &str = "run it with -p measurement.interval=both, and hand over what it printed";
        let why = match self.printed() {
            Some(_) => "its property file (-P) may set it",
            None => "what it printed on stderr, which begins with the command line, was not handed over",
        };
        match (origin, self.target()) {
            (Origin::Sending, Target::Unlimited) | (Origin::Schedule | Origin::Mixed, Target::Rate(_)) => {
                None
            }
            (Origin::Schedule | Origin::Mixed, Target::Unlimited) => Some(Gap::note(
                "YCSB ran without -target: it had no schedule, and the figures are service times of a closed loop",
            )),
            (Origin::Schedule | Origin::Mixed, Target::Unknown) => Some(Gap::note(format!(
                "whether YCSB had a rate is not told, as {why}: without one, its intended start is when it sent the request"
            ))),
            (Origin::Sending, Target::Rate(rate)) if self.interval() == Some("op") => Some(Gap::suspect(
                format!(
                    "YCSB was to make {:.0} requests per second, and its rows count from sending: how late they were sent is in no \
                     figure (coordinated omission)",
                    self.asked().unwrap_or(rate).get()
                ),
                BOTH,
            )),
            (Origin::Sending, Target::Rate(rate)) => Some(Gap::suspect(
                format!(
                    "YCSB was to make {:.0} requests per second, and its rows do not say whether they count from the schedule or \
                     from sending: they are taken to count from sending, and how late they were sent is in no figure \
                     (coordinated omission)",
                    self.asked().unwrap_or(rate).get()
                ),
                BOTH,
            )),
            (Origin::Sending, Target::Unknown) if self.interval() == Some("op") => Some(Gap::suspect(
                format!(
                    "YCSB's rows count from sending, and whether it had a rate is not told, as {why}: if it had one, how late \
                     requests were sent is in no figure (coordinated omission)"
                ),
                "say the rate with -target, 0 for none; with one, -p measurement.interval=both tells how late requests were",
            )),
            (Origin::Sending, Target::Unknown) => Some(Gap::suspect(
                format!(
                    "the rows do not say whether they count from the schedule or from sending, and whether YCSB had a rate is not \
                     told, as {why}: they are taken to count from sending, and the time that requests were late is in no figure \
                     (coordinated omission)"
                ),
                BOTH,
            )),
        }
    }

    /// Of names that a binding made up, nobody can tell what stands behind the sign.
    fn gap_of_names(&self) -> Option<Gap> {
        let ambiguous = |(series, _): &(&Series, Part)| Name::of(&series.name).is_ambiguous();
        let mut found = self.of_load().filter(ambiguous).map(|(series, _)| series);
        let (first, others) = (found.next()?, found.count());
        let more = if others > 0 { format!(" and of {others} other names") } else { String::new() };
        let text = format!(
            "whether the rows of {}{more} are of an operation or of failures of one, its name does not tell: they count as ok",
            quoted(&first.name)
        );
        Some(Gap::suspect(text, ""))
    }

    fn facts(&self) -> Vec<(String, String)> {
        let mut facts: Vec<(String, String)> =
            self.command.iter().map(|c| ("command".to_owned(), c.clone())).collect();
        let left_out = self
            .series
            .iter()
            .filter(|series| !series.name.starts_with(INTENDED) && !Name::of(&series.name).is_of_load());
        facts.extend(left_out.map(|series| {
            let rows = format_counted(series.rows.len() as u64, "row", "rows");
            (format!("not requests of the load: {}", series.name), format!("{rows}, left out"))
        }));
        facts
    }
}
