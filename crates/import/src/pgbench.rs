//! pgbench: its summary, and its log of transactions.
//!
//! With `-R`, the log's `time` counts from the scheduled start and holds the lag (`now - st->txn_scheduled` in
//! `processXactStats` of pgbench.c); without, from the transaction's begin. The golden tests hold both against the
//! averages that pgbench printed of the same runs.

pub(crate) mod aggregated;
pub(crate) mod command;
pub(crate) mod held;

use crate::ImportError;
use crate::figures::{elapsed, rate};
use crate::format::{Output, quoted};
use crate::report::{ForeignSample, Reported, StatedFrom, ToolReport};
use units::{Nanos, PerSecond};

pub(crate) const MICRO: Nanos = Nanos::from_micros(1);
const MILLI: Nanos = Nanos::from_millis(1);

/// What the summary says, and what of it decides how to read the log.
#[derive(Clone, Default)]
pub(crate) struct Summary {
    tool: Option<String>,
    processed: Option<u64>,
    failed: Option<u64>,
    skipped: Option<u64>,
    mean: Option<Nanos>,
    achieved: Option<PerSecond>,
    /// The schedule lag's average, printed with `-R` only.
    lag: Option<Nanos>,
    retries: bool,
    /// The rate of `-R`, which the command line alone tells.
    asked: Option<PerSecond>,
    /// The share of `--sampling-rate`, likewise.
    sampled: Option<f64>,
    /// Threads and clients, as the command line says.
    threads: Option<usize>,
    clients: Option<usize>,
    is_noted: bool,
}

/// What a line of the log has behind its moment where there is one field alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SingleField {
    /// How much later than scheduled it began, with `-R`.
    Lag,
    /// How often it was tried again, with `--max-tries`.
    Retries,
}

/// Reads the summary.
pub(crate) fn read(outputs: &[Output]) -> Result<ToolReport, ImportError> {
    let mut summary = Summary::default();
    for output in outputs {
        summary.take_all(output)?;
    }
    if summary.mean.is_none() && summary.processed.is_none() {
        let said = outputs.iter().flat_map(Output::lines).find(|(_, line)| line.contains("error:"));
        let hint = said.map_or_else(
            || "no line `latency average = …`; was the run ended early?".to_owned(),
            |(_, line)| format!("pgbench said {}", quoted(line)),
        );
        return Err(ImportError::Nothing { format: "pgbench", hint });
    }
    Ok(summary.stated())
}

/// Reads logs of transactions; the summary adds what the log does not hold.
pub(crate) fn read_log(printed: &Output, logs: &[Output]) -> Result<ToolReport, ImportError> {
    let mut summary = Summary::default();
    summary.take_all(printed)?;
    let mut row = Reported { measure: "latency".to_owned(), resolution: Some(MICRO), ..Reported::default() };
    let mut skipped = 0;
    let skips = || logs.iter().flat_map(Output::lines).any(|(_, line)| is_skipped(line));
    let single = summary.single_field().or_else(|why| if skips() { Ok(SingleField::Lag) } else { Err(why) });
    for log in logs {
        read_transactions(log, single, &mut row.samples, &mut skipped)?;
    }
    if row.samples.is_empty() {
        let hint = match logs {
            [] => "no log file was given; run it with `--log` and hand over pgbench_log.*",
            _ => "the log files hold no transaction",
        };
        return Err(ImportError::Nothing { format: "pgbench-log", hint: hint.to_owned() });
    }
    let lagged = row.samples.iter().any(|sample| sample.schedule_lag.is_some());
    row.counted_from = if lagged { StatedFrom::Schedule } else { summary.counted_from() };
    row.describe_samples();
    let failed = row.samples.iter().filter(|sample| sample.failed).count() as u64;
    let mut report = summary.report(row);
    // The log names each of them, unless it is a sample of all.
    report.skipped = report.skipped.or(Some(skipped));
    report.errors = report.errors.or(Some(failed - skipped));
    Ok(report)
}

impl Summary {
    pub(crate) fn take_all(&mut self, output: &Output) -> Result<(), ImportError> {
        for (line, text) in output.lines() {
            self.take(text)
                .ok_or_else(|| output.wrong_line(line, format!("{} holds no such figure", quoted(text))))?;
        }
        Ok(())
    }

    /// `None` if the line is one of the summary and its figure can't be read.
    fn take(&mut self, line: &str) -> Option<()> {
        // "pgbench (15.18 (Debian …))"; errors begin with "pgbench:".
        if let Some(version) = line.strip_prefix("pgbench (") {
            let version = version.split([' ', ')']).next()?;
            self.tool = Some(format!("pgbench {version}"));
        } else if let Some(value) = line.strip_prefix("number of transactions actually processed: ") {
            // Old versions print "processed/asked for".
            self.processed = Some(first_number(value)?);
        } else if let Some(value) = line.strip_prefix("number of failed transactions: ") {
            self.failed = Some(first_number(value)?);
        } else if let Some(value) = line.strip_prefix("number of transactions skipped: ") {
            self.skipped = Some(first_number(value)?);
        } else if let Some(value) = line.strip_prefix("maximum number of tries: ") {
            self.retries |= value.trim() != "1";
        } else if line.starts_with("number of transactions retried: ") {
            // With --max-tries=0 there is no maximum to be printed; with 1 there is no such line.
            self.retries = true;
        } else if let Some(value) = line.strip_prefix("latency average = ") {
            self.mean = Some(elapsed(value.split_once(" ms")?.0, MILLI)?);
        } else if let Some(value) = line.strip_prefix("rate limit schedule lag: avg ") {
            self.lag = Some(elapsed(value.split_once(' ')?.0, MILLI)?);
        } else if let Some(value) = line.strip_prefix("tps = ")
            && !line.contains("(including connections establishing)")
        {
            self.achieved = Some(rate(value.split(' ').next()?)?);
        }
        Some(())
    }

    /// Takes what a noted command line states; what it leaves out may have been left out of the note.
    pub(crate) fn take_command(&mut self, command: &str) {
        self.asked = self.asked.or(command::asked(command));
        self.retries |= command::retries(command);
        self.sampled = self.sampled.or(command::sampled(command));
        self.threads = self.threads.or(command::threads(command));
        self.clients = self.clients.or(command::clients(command));
        self.is_noted = true;
    }

    /// Whether it ran with `-R`.
    pub(crate) fn has_rate(&self) -> bool {
        self.lag.is_some() || self.asked.is_some()
    }

    /// What a single field behind the moment is; `Err` says what is missing to tell.
    pub(crate) fn single_field(&self) -> Result<SingleField, &'static str> {
        let is_printed = self.processed.is_some() || self.mean.is_some();
        match (self.has_rate(), self.retries) {
            (true, false) => Ok(SingleField::Lag),
            (false, true) => Ok(SingleField::Retries),
            (true, true) => {
                Err("the run had both, and its lines have eight: hand over what belongs to this log")
            }
            (false, false) => Err(match (is_printed, self.is_noted) {
                (false, false) => {
                    "hand over what pgbench printed of this run, or its command line with --command"
                }
                (false, true) => "--command names neither: hand over what pgbench printed of this run",
                (true, false) => {
                    "what pgbench printed names neither: if it is of this run, hand over its command line with --command"
                }
                (true, true) => {
                    "neither what pgbench printed nor --command names one of them: hand over those of this run"
                }
            }),
        }
    }

    /// Transactions that it says it processed, without those that failed or were skipped.
    pub(crate) fn processed(&self) -> Option<u64> {
        self.processed
    }

    /// What it says, as a report; without rows where it says nothing.
    pub(crate) fn stated(&self) -> ToolReport {
        let row = Reported {
            measure: "latency".to_owned(),
            counted_from: self.counted_from(),
            count: self.processed,
            mean: self.mean,
            resolution: Some(MICRO),
            ..Reported::default()
        };
        let mut report = self.clone().report(row);
        if self.mean.is_none() && self.processed.is_none() {
            report.rows.clear();
        }
        report
    }

    fn counted_from(&self) -> StatedFrom {
        if self.lag.is_some() { StatedFrom::Schedule } else { StatedFrom::Send }
    }

    fn report(self, row: Reported) -> ToolReport {
        ToolReport {
            tool: self.tool.unwrap_or_else(|| "pgbench".to_owned()),
            asked: self.asked,
            achieved: self.achieved,
            errors: self.failed,
            skipped: self.skipped,
            rows: vec![row],
        }
    }
}

fn first_number(text: &str) -> Option<u64> {
    text.split([' ', '/']).next()?.parse().ok()
}

fn read_transactions(
    log: &Output,
    single: Result<SingleField, &'static str>,
    samples: &mut Vec<ForeignSample>,
    skipped: &mut u64,
) -> Result<(), ImportError> {
    if let Some((line, text)) = log.lines().last().filter(|(_, text)| !text.is_empty()) {
        let why = format!("{} is cut off; delete the line, or run it again", quoted(text));
        return Err(log.wrong_line(line, why));
    }
    for (line, text) in log.lines().filter(|(_, text)| !text.is_empty()) {
        let sample = transaction(text, single).map_err(|why| log.wrong_line(line, why))?;
        *skipped += u64::from(is_skipped(text));
        samples.push(sample);
    }
    Ok(())
}

/// Whether a line is of a whole interval, and not of one transaction.
pub(crate) fn is_aggregated(line: &str) -> bool {
    let fields = line.split_ascii_whitespace();
    fields.clone().count() > 8
        || (fields.clone().count() >= 6 && fields.take(1).all(|first| first.len() >= 10))
}

/// Whether a line is of a transaction that was too late to be sent, which needs a rate and `--latency-limit`.
pub(crate) fn is_skipped(line: &str) -> bool {
    line.split_ascii_whitespace().nth(2) == Some("skipped")
}

/// `client_id transaction_no time script_no time_epoch time_us [schedule_lag] [retries]`.
/// `single` says what a single field behind the moment is, or what is missing to tell.
pub(crate) fn transaction(
    line: &str,
    single: Result<SingleField, &'static str>,
) -> Result<ForeignSample, String> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    if is_aggregated(line) {
        return Err(format!(
            "{} fields: an aggregated log holds no transactions; run it without --aggregate-interval",
            fields.len()
        ));
    }
    let bad = || format!("{} is not `client transaction time script epoch µs [lag] [retries]`", quoted(line));
    let [client, _, time, _, epoch, micros, rest @ ..] = &fields[..] else { return Err(bad()) };
    let word = time.starts_with(|c: char| c.is_ascii_alphabetic());
    let seconds: u64 = epoch.parse().map_err(|_| bad())?;
    let micros: u64 = micros.parse().ok().filter(|micros| *micros < 1_000_000).ok_or_else(bad)?;
    let completed = seconds.checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(micros * 1_000));
    let lag = match (rest, single) {
        ([], _) | ([_], Ok(SingleField::Retries)) => None,
        ([lag], Ok(SingleField::Lag)) | ([lag, _], _) => Some(lag),
        ([_], Err(missing)) => {
            return Err(format!(
                "{} has seven fields, and nothing tells whether the last is the schedule lag (-R) or the retries (--max-tries): \
                 {missing}",
                quoted(line)
            ));
        }
        _ => return Err(bad()),
    };
    Ok(ForeignSample {
        completed_wall_ns: Some(completed.ok_or_else(bad)?),
        elapsed: if word { None } else { Some(elapsed(time, MICRO).ok_or_else(bad)?) },
        schedule_lag: match lag {
            Some(lag) => Some(elapsed(lag, MICRO).ok_or_else(bad)?),
            None => None,
        },
        session: Some(client.parse().map_err(|_| bad())?),
        failed: word,
    })
}
