//! `import`: other tools' results become recordings.
//!
//! ```text
//!  files, printed text ─┬─ import::requests ──► samples ─────┐
//!                       └─ import::read ──────► statements ──┼──► a Recording, with a reason for each gap
//!  logs of JVMs, of PostgreSQL ────────────────► events ─────┘
//! ```

mod arguments;
mod command;
mod guess;
mod header;
mod place;
mod statements;

pub(crate) use arguments::ImportArguments;
pub(crate) use command::run;

use crate::jvm::JvmLogs;
use crate::server_log::ServerLogs;
use ::import::RunClocks;
use ::import::jvm::{JvmRole, JvmStart};
use ::import::{
    ColumnMap, Format, Gap, ImportError, Outputs, Request as ForeignRequest, Requests, Survey, Weight,
};
use analysis::facts;
use anyhow::Context;
use record::{
    EndOfRun, Ending, Event, JvmLogFacts, NO_SESSION, RecordingWriter, RunHeader, Sample, ServerLogFacts,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Instant, Nanos};

/// What is to be imported, and where to.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// What wrote it.
    pub(crate) format: Format,
    /// What the tool printed, where that was kept apart from its files.
    pub(crate) printed: Option<String>,
    /// The files that it wrote; printed text may be among them, but for `pgbench-log`.
    pub(crate) files: Vec<PathBuf>,
    /// Logs of JVMs, and whose they are.
    pub(crate) jvm_logs: Vec<(JvmRole, PathBuf)>,
    /// The first part of the run that does not count.
    pub(crate) warm_up: Option<Nanos>,
    /// What was measured, for people: a URL without secrets, or a name.
    pub(crate) target: String,
    /// What it was asked, for people.
    pub(crate) workload: String,
    /// The command that made it.
    pub(crate) command: String,
    /// Sessions of the load, where that is known.
    pub(crate) sessions: Option<u32>,
    /// The recording's directory, which must not be there yet, or be empty.
    pub(crate) directory: PathBuf,
}

/// What only the command line can say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Further {
    /// Which column is what, for `csv`.
    pub(crate) columns: Option<ColumnMap>,
    /// When the JVM started whose log has no clock.
    pub(crate) jvm_start: Option<JvmStart>,
    /// Logs of the database server.
    pub(crate) server_logs: ServerLogs,
    /// Set when the user wants an end, and nothing is to be kept; `None` where the import is a short part of something longer.
    pub(crate) stop: Option<&'static AtomicBool>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub(crate) struct Imported {
    /// The recording.
    pub(crate) directory: PathBuf,
    /// The tool, with its version where it tells it.
    pub(crate) tool: String,
    /// Requests that became samples; 0 where there are the tool's statements alone.
    pub(crate) samples: u64,
    /// Of those, the ones that failed.
    pub(crate) failed: u64,
    /// Requests that the tool says it did not send.
    pub(crate) skipped: u64,
    /// The tool's own statements that were kept.
    pub(crate) statements: usize,
    /// Of what its output does not tell, how much makes the numbers suspect.
    pub(crate) grave_gaps: usize,
}

/// Makes a recording of a tool's results. Nothing is written before all of it has been read once.
///
/// # Errors
/// What can't be read or makes no sense, with file and line; a directory that is taken; a warm-up as long as the run.
#[allow(
    dead_code,
    reason = "for commands that run a tool themselves; `import` also takes what only flags can say"
)]
pub(crate) fn into_recording(request: &Request) -> anyhow::Result<Imported> {
    into_recording_with(request, &Further::default())
}

/// The same, with what only the command line can say.
pub(crate) fn into_recording_with(request: &Request, further: &Further) -> anyhow::Result<Imported> {
    record::require_vacant(&request.directory)?;
    let outputs = Outputs {
        printed: request.printed.as_deref(),
        files: &request.files,
        columns: further.columns.as_ref(),
        command: Some(request.command.as_str()).filter(|command| !command.is_empty()),
        stop: further.stop,
    };
    match ::import::requests(request.format, outputs)? {
        Some(requests) => of_requests(request, further, &requests),
        None => statements::of_summaries(request, further),
    }
}

/// A recording of single requests.
fn of_requests(request: &Request, further: &Further, requests: &Requests) -> anyhow::Result<Imported> {
    let survey = requests.survey();
    let header = header::of_requests(request, survey)?;
    let end = Instant(survey.latest - survey.earliest);
    let logs = laid_over(request, further, &header, survey, end)?;
    let stated = statements::of_report(&survey.stated, survey.earliest);
    let (stated, left_out) = statements::fitted(stated, &survey.stated.tool)?;
    let gaps: Vec<Gap> = survey.gaps.iter().cloned().chain(left_out).collect();
    let mut writer = RecordingWriter::create(&request.directory, &header)?;
    if !stated.is_empty() {
        writer.set_stated(&stated)?;
    }
    let placing = Placing { survey, warm_up: request.warm_up, number: 0 };
    write_samples(requests, placing, &mut writer, further.stop)?;
    logs.events.into_iter().for_each(|event| writer.event(event));
    let mut of_end = EndOfRun::new(Ending::Completed);
    of_end.at = end;
    of_end.facts = gap_facts(&gaps);
    of_end.facts.extend(survey.facts.clone());
    (of_end.jvm_logs, of_end.server_logs) = (logs.jvm, logs.server);
    let written = writer.finish(of_end)?;
    if let Some(trouble) = written.trouble {
        anyhow::bail!("{}: {trouble}", request.directory.display());
    }
    Ok(Imported {
        directory: request.directory.clone(),
        tool: survey.stated.tool.clone(),
        samples: written.samples,
        failed: survey.failed,
        skipped: survey.skipped,
        statements: stated.len(),
        grave_gaps: grave(&gaps),
    })
}

fn write_samples(
    requests: &Requests,
    mut placing: Placing<'_>,
    writer: &mut RecordingWriter,
    stop: Option<&AtomicBool>,
) -> anyhow::Result<()> {
    const TOGETHER: usize = 4096;
    let mut batch = Vec::with_capacity(TOGETHER);
    requests.each::<anyhow::Error>(|request| {
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(ImportError::Stopped.into());
        }
        batch.push(placing.sample(request));
        if batch.len() == TOGETHER {
            writer.write_samples(&batch)?;
            batch.clear();
        }
        Ok(())
    })?;
    Ok(writer.write_samples(&batch)?)
}

/// From a tool's moments to those of a recording.
struct Placing<'a> {
    survey: &'a Survey,
    warm_up: Option<Nanos>,
    number: u64,
}

impl Placing<'_> {
    fn sample(&mut self, request: &ForeignRequest) -> Sample {
        let earliest = self.survey.earliest;
        let instant = |at: Option<u64>| at.map_or(Instant::NONE, |at| Instant(at.saturating_sub(earliest)));
        let begin = request.begin().saturating_sub(earliest);
        let phase = match self.warm_up {
            Some(warm_up) if begin < warm_up.0 => 0,
            Some(_) => request.phase + 1,
            None => request.phase,
        };
        let seq = self.number;
        self.number += 1;
        Sample {
            // Without a schedule, a moment that is called intended would make a response time of a closed loop.
            intended: if self.survey.has_schedule { instant(request.intended) } else { Instant::NONE },
            ready: Instant::NONE,
            sent: instant(request.sent),
            arrived: Instant::NONE,
            completed: instant(Some(request.completed)),
            seq,
            client: 0,
            session: request.session.unwrap_or(NO_SESSION),
            op: request.operation,
            phase,
            outcome: request.outcome,
            retries: 0,
            flags: 0,
        }
    }
}

/// What logs of other programs tell of the requests' time.
#[derive(Default)]
struct OfLogs {
    events: Vec<Event>,
    jvm: Vec<JvmLogFacts>,
    server: Vec<ServerLogFacts>,
}

/// Pauses of JVMs and checkpoints as events; the logs' clock and the requests' have wall time in common, and no more.
fn laid_over(
    request: &Request,
    further: &Further,
    header: &RunHeader,
    survey: &Survey,
    end: Instant,
) -> anyhow::Result<OfLogs> {
    let logs = JvmLogs::of(request.jvm_logs.clone(), further.jvm_start);
    if logs.is_empty() && further.server_logs.first().is_none() {
        return Ok(OfLogs::default());
    }
    if !survey.is_wall_time {
        let flag = if logs.is_empty() { "--server-log" } else { "--jvm-log" };
        anyhow::bail!(
            "{flag}: the moments of these requests do not count from 1970, so that no log can be laid over them; give the \
             file wall times"
        );
    }
    let clocks = RunClocks::new(&[], header.epoch_wall_ns, end);
    let (mut events, mut jvm) = logs.all(&clocks).context("import")?;
    let (of_server, mut server) = further.server_logs.all(&clocks).context("import")?;
    events.extend(of_server);
    let aligned = jvm.iter_mut().map(|log| &mut log.aligned_by);
    let aligned = aligned.chain(server.iter_mut().map(|log| &mut log.aligned_by));
    for words in aligned.filter(|words| !words.is_empty()) {
        *words += &format!(
            "; the requests by {}’s own wall times, of {}, and both clocks as far apart as the hosts’ were",
            survey.stated.tool, survey.moment_resolution
        );
    }
    Ok(OfLogs { events, jvm, server })
}

/// Gaps as facts of the end, from which the verdict makes reasons.
fn gap_facts(gaps: &[Gap]) -> Vec<(String, String)> {
    let fact = |gap: &Gap| {
        let name = match gap.weight {
            Weight::Suspect => facts::IMPORT_GAP,
            Weight::Note => facts::IMPORT_GAP_NOTE,
        };
        let hint =
            if gap.hint.is_empty() { String::new() } else { format!("{}{}", facts::GAP_HINT, gap.hint) };
        (name.to_owned(), gap.text.clone() + &hint)
    };
    gaps.iter().map(fact).collect()
}

fn grave(gaps: &[Gap]) -> usize {
    gaps.iter().filter(|gap| gap.weight == Weight::Suspect).count()
}
