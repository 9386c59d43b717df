//! pgbench's log of transactions.

use super::lines::{Lines, wrong_line};
use super::{Gap, Log, Logged, Outputs, PassFacts, Take};
use crate::ImportError;
use crate::format::{Format, Output, STANDARD_OUTPUT};
use crate::pgbench::held::{Found, Held};
use crate::pgbench::{MICRO, SingleField, Summary, is_skipped, transaction};
use crate::report::ToolReport;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use units::{Outcome, format_count};

const NAME: &str = "pgbench-log";

pub(super) struct PgbenchLog {
    files: Vec<PathBuf>,
    summary: Summary,
    /// What a single field behind the moment is, or what is missing to tell.
    single: Result<SingleField, &'static str>,
}

/// Whether the log has a line for each interval, and not for each transaction.
pub(super) fn is_aggregated(files: &[PathBuf]) -> Result<bool, ImportError> {
    let Some(first) = files.first() else { return Ok(false) };
    let mut lines = Lines::open(first, NAME)?;
    Ok(lines.next()?.is_some_and(|line| crate::pgbench::is_aggregated(line.text)))
}

/// Whether the log names a transaction that was skipped; reads up to the first.
fn skips(files: &[PathBuf]) -> Result<bool, ImportError> {
    for path in files {
        let mut lines = Lines::open(path, NAME)?;
        while let Some(line) = lines.next()? {
            if is_skipped(line.text) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

impl PgbenchLog {
    pub(super) fn new(outputs: Outputs<'_>) -> Result<PgbenchLog, ImportError> {
        if outputs.files.is_empty() {
            let hint = "no log file was given; run it with `--log` and hand over pgbench_log.*".to_owned();
            return Err(ImportError::Nothing { format: NAME, hint });
        }
        let mut summary = Summary::default();
        if let Some(printed) = outputs.printed {
            summary.take_all(&Output::new(Format::PgbenchLog, STANDARD_OUTPUT, printed))?;
        }
        if let Some(command) = outputs.command {
            summary.take_command(command);
        }
        let single = match summary.single_field() {
            Err(_) if skips(outputs.files)? => Ok(SingleField::Lag),
            known => known,
        };
        Ok(PgbenchLog { files: outputs.files.to_vec(), summary, single })
    }

    fn line(&self, text: &str, seen: &mut Seen, take: Take<'_>) -> Result<Result<(), ImportError>, String> {
        let found = transaction(text, self.single)?;
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let (client, word, script) = (fields[0], fields[2], fields[3]);
        seen.clients.extend(found.session);
        if word == "skipped" {
            seen.skipped += 1;
            return Ok(Ok(()));
        }
        seen.logged += 1;
        seen.is_scheduled |= found.schedule_lag.is_some();
        let completed = found.completed_wall_ns;
        let begin = completed.zip(found.elapsed).map(|(completed, spent)| completed.saturating_sub(spent.0));
        let (intended, sent) = match found.schedule_lag {
            Some(lag) => (begin, begin.map(|intended| intended.saturating_add(lag.0))),
            None => (None, begin),
        };
        let outcome = match word {
            _ if !found.failed => Outcome::Ok,
            "serialization" => Outcome::Serialization,
            "deadlock" => Outcome::Deadlock,
            _ => Outcome::Server,
        };
        seen.failed += u64::from(found.failed);
        let operation =
            if script == "0" { "script 0".into() } else { Cow::Owned(format!("script {script}")) };
        let session = Some(Cow::Borrowed(client));
        Ok(take(&Logged { operation, session, intended, sent, completed, outcome, phase: 0 }))
    }
}

#[derive(Default)]
struct Seen {
    logged: u64,
    skipped: u64,
    failed: u64,
    is_scheduled: bool,
    clients: HashSet<u32>,
}

impl Log for PgbenchLog {
    fn pass(&self, take: Take<'_>) -> Result<PassFacts, ImportError> {
        let mut seen = Seen::default();
        let mut cut_off = Vec::new();
        for path in &self.files {
            let mut lines = Lines::open(path, NAME)?;
            while let Some(line) = lines.next()? {
                if !line.is_ended {
                    cut_off.push((crate::format::name_of(path), line.number));
                    break;
                }
                let number = line.number;
                self.line(line.text, &mut seen, take)
                    .map_err(|why| wrong_line(NAME, path, number, why))??;
            }
        }
        let held = self.summary.held(Found {
            succeeded: seen.logged - seen.failed,
            files: self.files.len(),
            clients: seen.clients.len(),
        });
        Ok(PassFacts {
            stated: ToolReport { asked: self.summary.asked_of(held), ..self.summary.stated() },
            skipped: seen.skipped,
            cut_off,
            gaps: self.gaps(&seen, held),
            is_wall_time: true,
            has_schedule: seen.is_scheduled,
            resolution: (MICRO, MICRO),
            facts: Vec::new(),
        })
    }
}

impl PgbenchLog {
    fn gaps(&self, seen: &Seen, held: Held) -> Vec<Gap> {
        let mut gaps = Vec::new();
        if self.summary.has_rate() && !seen.is_scheduled {
            let text = "pgbench had a rate, and its log has no schedule lag: when transactions were intended is not known, \
                        and the figures are service times";
            gaps.push(Gap::suspect(text, ""));
        }
        if seen.skipped > 0 {
            let of_sample = if matches!(held, Held::Sample(_)) { " of the sample" } else { "" };
            let text = format!(
                "pgbench skipped {} of {} transactions{of_sample} that were later than --latency-limit and never sent: how long they \
                 would have taken is in no figure, and they would have been the longest",
                format_count(seen.skipped),
                format_count(seen.skipped + seen.logged)
            );
            gaps.push(Gap::suspect(text, "run it without --latency-limit"));
        }
        gaps.extend(self.gap_of_held(seen, held));
        if let Some(processed) = self.summary.processed()
            && processed < seen.logged - seen.failed
        {
            let text = format!(
                "the log holds {} transactions that succeeded, and pgbench processed {}: it is not of this run alone",
                format_count(seen.logged - seen.failed),
                format_count(processed)
            );
            gaps.push(Gap::suspect(text, "hand over the logs of one run, with what that run printed"));
        }
        if seen.failed > 0 {
            gaps.push(Gap::note(
                "pgbench logs no time of transactions that failed: they count, and are in no quantile",
            ));
        }
        let text = if seen.is_scheduled {
            "transactions that were due and not yet begun when pgbench ended are not in its log: how long they would have \
             waited is in no figure"
        } else {
            "transactions that were not finished when pgbench ended are not in its log"
        };
        gaps.push(Gap::note(text));
        gaps
    }
    /// What follows where the log does not hold all transactions.
    fn gap_of_held(&self, seen: &Seen, held: Held) -> Option<Gap> {
        const ALL: &str = "hand over the files of all threads, and log all transactions";
        let succeeded = format_count(seen.logged - seen.failed);
        let (text, hint) = match held {
            Held::Whole => return None,
            Held::Sample(share) => {
                let of_all = match self.summary.processed() {
                    Some(processed) => format!("{succeeded} of the {}", format_count(processed)),
                    None => succeeded,
                };
                let text = format!(
                    "the log holds a sample of the transactions alone, {of_all} (--sampling-rate={share}): rates are those of \
                     the sample, and the longest transaction may not be in it"
                );
                (text, "run it without --sampling-rate")
            }
            Held::Other(processed, None) => {
                let text = format!(
                    "the log holds {succeeded} of the {} transactions that pgbench processed: with --sampling-rate it is a \
                     sample, else files are missing",
                    format_count(processed)
                );
                (text, ALL)
            }
            Held::Other(processed, Some(share)) => {
                let text = format!(
                    "the log holds {succeeded} of the {} transactions that pgbench processed, which --sampling-rate={share} \
                     does not explain: files are missing, or the command line is another run's",
                    format_count(processed)
                );
                (text, "hand over the files of all threads, and the command line of this run")
            }
            Held::Threads(threads) => {
                let text = format!(
                    "the command line has {threads} threads (-j), each of which writes a log, and there {}: transactions are \
                     missing, and no rate is held against the others",
                    match self.files.len() {
                        1 => "is 1 file".to_owned(),
                        files => format!("are {files} files"),
                    }
                );
                (text, ALL)
            }
        };
        Some(Gap::suspect(text, hint))
    }
}
