//! One run, from the effective options to a judged recording.

use crate::chosen::AnyWorkload;
use crate::dataset;
use crate::registry::{self, Action, AnyTarget, WorkloadChoice};
use crate::settings::{ClientNumber, DEFAULT_TARGET, RunOptions};
use crate::{Ended, floor, interrupt, output};
use analysis::{Analysis, Verdict};
use anyhow::{Context, bail};
use clock::{Clock, LiveClock};
use driver::{Dialect, Execution, Target, TargetFacts, TargetUrl};
use load::{LoadSpec, LoadTotals, Model, Subject};
use record::{
    EndOfRun, Ending, EventKind, EventSink, Finished, RecordedVerdict, Recorder, RecorderConfig, Recording,
    Sample,
};
use std::path::{Path, PathBuf};
use units::{Instant, Quantile, Ticks};
use workload::Workload;
use workload::dataset::CheckResult;

mod checkpoints;
mod data;
mod header;
mod live;
mod observe;
mod repeat;
mod rings;
mod staleness;

use checkpoints::Checkpoints;
pub(crate) use data::Data;
pub(crate) use repeat::repeat;
use staleness::{Prober, Probing};

/// A finished run.
pub(crate) struct Done {
    pub(crate) analysis: Analysis,
    pub(crate) directory: PathBuf,
    /// What can be made again from the recording, and could not be written: the verdict, the report.
    unwritten: Option<anyhow::Error>,
}

impl Done {
    /// How the command ends, once its page is shown: an invalid verdict outweighs a report that is missing.
    pub(crate) fn end(self, ended: Ended) -> anyhow::Result<Ended> {
        match self.unwritten {
            Some(error) if ended == Ended::Well => Err(error),
            _ => Ok(ended),
        }
    }

    /// For one run among others, which shows no page of its own.
    ///
    /// # Errors
    /// What could not be written.
    pub(crate) fn whole(self) -> anyhow::Result<Done> {
        match self.unwritten {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }
}

/// How a run goes about it, apart from its options.
#[derive(Default)]
pub(crate) struct Manner {
    /// Without a live view where stderr is no terminal.
    pub(crate) quiet: bool,
    /// A quantile in the analysis that is not among the usual ones.
    pub(crate) quantile: Option<Quantile>,
    pub(crate) data: Data,
    /// Without a live view of its own at all: whoever asked has one, and is given the samples.
    pub(crate) tap: Option<std::sync::mpsc::Sender<Sample>>,
    pub(crate) silent: bool,
}

/// Makes one run, writes its recording and report.
pub(crate) fn execute(options: &RunOptions, quiet: bool) -> anyhow::Result<Done> {
    execute_with(options, Manner { quiet, ..Manner::default() })
}

/// The same, in a manner of its own.
pub(crate) fn execute_with(options: &RunOptions, manner: Manner) -> anyhow::Result<Done> {
    options.check()?;
    let mut quantiles = options.quantiles()?;
    quantiles.extend(manner.quantile);
    let text = options.target.clone().unwrap_or_else(|| DEFAULT_TARGET.to_owned());
    let mut url = TargetUrl::parse(&text)?;
    let choice = options.workload_choice()?;
    let workload = registry::make_workload(&choice)?;
    workload.notes(&choice).iter().for_each(|note| output::note(note));
    let name = workload.facts().name;
    let directory = options.out.clone().unwrap_or_else(|| default_directory(&name, &url.scheme));
    record::require_vacant(&directory)?;
    options.logs()?.require()?;
    if registry::driver_of(&url)?.file && url.path.is_empty() {
        create(&directory)?;
        let file = format!("{}{}", record::DATABASE_PREFIX, url.scheme);
        url.path = directory.join(file).to_string_lossy().into_owned();
    }
    let mut target = registry::open_target(&url)?;
    let jvm_log = log_jvm(&mut target, &directory)?;
    require_client_count(&target, &workload, &choice)?;
    let options = options.clone().effective(execution_of(&target));
    let action = RunAction {
        options: &options,
        choice: &choice,
        url: &url,
        directory: &directory,
        jvm_log: jvm_log.as_deref(),
        manner,
        quantiles: &quantiles,
    };
    let done = registry::with(&target, workload, action);
    if done.is_err() && jvm_log.is_some() {
        record::forget_unbegun(&directory);
    }
    done
}

fn create(directory: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("can't create {}; name another directory with --out", directory.display()))
}

/// Where the driver runs in a JVM, that JVM writes its log into the recording.
fn log_jvm(target: &mut AnyTarget, directory: &Path) -> anyhow::Result<Option<PathBuf>> {
    let AnyTarget::Ycsb(target) = target else { return Ok(None) };
    create(directory)?;
    let log = directory.join(record::DRIVER_JVM_LOG);
    target.log_to(&log);
    Ok(Some(log))
}

/// Clients that insert into one database must know how many they are, or they insert the same keys.
fn require_client_count(
    target: &AnyTarget,
    workload: &AnyWorkload,
    choice: &WorkloadChoice,
) -> anyhow::Result<()> {
    let ClientNumber { number, of } = choice.client;
    let none = matches!(target, AnyTarget::Null(_) | AnyTarget::Echo(_));
    if number > 0 && of.is_none() && !none && workload.clients_collide() {
        bail!(
            "--client {number} with --workload {}: clients that insert must know how many they are, or they \
             insert the same keys; say --client {number}/{} if there are {}",
            choice.name,
            number.saturating_add(1),
            number.saturating_add(1)
        );
    }
    Ok(())
}

/// Writes `report.html` and the figures.
pub(crate) fn write_report(analysis: &Analysis, directory: &Path) -> anyhow::Result<()> {
    let write = |path: PathBuf, text: &str| {
        std::fs::write(&path, text).with_context(|| format!("can't write {}", path.display()))
    };
    std::fs::create_dir_all(directory).with_context(|| format!("can't create {}", directory.display()))?;
    write(directory.join("report.html"), &report::html::page(analysis))?;
    let figures = directory.join("figures");
    std::fs::create_dir_all(&figures).with_context(|| format!("can't create {}", figures.display()))?;
    for (name, svg) in report::svg::figures(analysis) {
        write(figures.join(format!("{name}.svg")), &svg)?;
    }
    Ok(())
}

fn execution_of(target: &AnyTarget) -> Execution {
    match target {
        AnyTarget::Null(target) => target.execution(),
        AnyTarget::Echo(target) => target.execution(),
        AnyTarget::Sqlite(target) => target.execution(),
        AnyTarget::Postgres(target) => target.execution(),
        AnyTarget::MySql(target) => target.execution(),
        AnyTarget::Redis(target) => target.execution(),
        AnyTarget::Ycsb(target) => target.execution(),
        #[cfg(feature = "duckdb")]
        AnyTarget::DuckDb(target) => target.execution(),
        #[cfg(feature = "cql")]
        AnyTarget::Cql(target) => target.execution(),
        #[cfg(feature = "mongodb")]
        AnyTarget::Mongo(target) => target.execution(),
    }
}

/// `recordings/20261121-093000-ycsb-sqlite`, with a number behind it when two start in one second.
fn default_directory(workload: &str, scheme: &str) -> PathBuf {
    let stem = format!("{}-{workload}-{scheme}", timestamp(clock::wall_time_ns()));
    let first = Path::new("recordings").join(&stem);
    let numbered = (2..1000).map(|n| Path::new("recordings").join(format!("{stem}-{n}")));
    std::iter::once(first.clone()).chain(numbered).find(|p| !p.exists()).unwrap_or(first)
}

/// UTC as `YYYYMMDD-HHMMSS` (days to civil date: Hinnant, *chrono-Compatible Low-Level Date Algorithms*).
pub(crate) fn timestamp(wall_ns: u64) -> String {
    let seconds = wall_ns / 1_000_000_000;
    let (days, rest) = ((seconds / 86_400) as i64, seconds % 86_400);
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}{month:02}{day:02}-{:02}{:02}{:02}", rest / 3600, rest / 60 % 60, rest % 60)
}

struct RunAction<'a> {
    options: &'a RunOptions,
    choice: &'a WorkloadChoice,
    url: &'a TargetUrl,
    directory: &'a Path,
    /// Of a JVM that the driver starts.
    jvm_log: Option<&'a Path>,
    manner: Manner,
    quantiles: &'a [Quantile],
}

impl Action for RunAction<'_> {
    type Output = Done;

    fn with<T: Target, W: Workload>(self, target: &T, mut workload: W) -> anyhow::Result<Done> {
        let spec = with_terminals(self.options.load_spec(&workload.operations())?, &workload)?;
        let isolation = self.options.isolation()?.or(workload.isolation(target.dialect()));
        let interval = self.options.report_interval()?;
        let calibration = clock::calibrate(self.options.clock()?)?;
        let statements = registry::statements(&workload, target.dialect(), self.url)?;
        let loading =
            dataset::Loading { connections: self.options.loaders()?, url: self.url, choice: self.choice };
        let (target_facts, after) = data::prepare(target, &mut workload, &self.manner.data, &loading)?;
        self.measure_floor(target.dialect(), &target_facts)?;
        let sessions = load::connect_all(target, &statements, isolation, spec.sessions)?;
        let prober = self.prober(target)?;
        let is_watched = !self.options.observers()?.is_off();
        let checkpoints = is_watched.then(|| Checkpoints::prepare(target)).flatten();
        let mut header = header::make(&header::Parts {
            options: self.options,
            url: self.url,
            spec: &spec,
            workload: workload.facts(),
            isolation,
            target: &target_facts,
            execution: target.execution(),
            calibration: &calibration,
            statements: self.times_statements().then_some(&*statements),
        })?;

        // Before this thread gives CPUs up: those of the process count.
        let workers = load::rings_needed(&spec, target.execution()) - 1;
        let watching = observe::Watching::plan(self.options, &spec, &target_facts, &calibration, workers)?;
        let off_workers = load::OffWorkers::of(&spec.cpus);
        header.capabilities.extend(header::helpers(&spec, &off_workers));
        header.capabilities.extend(watching.capabilities());
        header.capabilities.extend(prober.as_ref().map(Prober::capability));

        // Not before: a signal while connecting or loading the data set ends the program at once.
        let stop = interrupt::flag();
        let (rings, consumers) = rings::rings(&spec, target.execution(), self.times_statements());
        let clock = calibration.start();
        let mut config = RecorderConfig::new(self.directory, header);
        // Nobody wants a load that nothing is learnt from.
        config.on_trouble = Some(stop);
        config.tap = self.manner.tap.clone();
        let recorder = Recorder::start(config, consumers, clock)?;
        record::keep_texts(self.directory, &workload.files())?;
        let observer = watching.start(&recorder, clock);
        let is_viewed = !self.manner.silent && (!self.manner.quiet || output::is_live());
        let view = is_viewed.then(|| live::View::start(&recorder, &spec, interval, clock));
        let journal = Events { sink: recorder.events() };
        let subject = Subject { target, sessions, statements: &statements, isolation, workload: &workload };
        let (totals, probes) = std::thread::scope(|scope| {
            let probing = prober.map(|prober| prober.start(scope, &recorder, clock)).transpose()?;
            let checkpoints = checkpoints.and_then(|ready| ready.start(scope, &recorder, clock));
            let totals = load::run(subject, &spec, clock, rings, &journal, stop)?;
            if let Some(checkpoints) = checkpoints {
                checkpoints.stop();
            }
            anyhow::Ok((totals, probing.map(Probing::stop)))
        })?;
        if let Some(view) = view {
            view.stop();
        }
        let observed = observer.and_then(noise::Observer::stop);
        let ended = set_phase_spans(&recorder, &spec, clock, totals);
        let checks = data::check_after(target, &workload, after);
        let trouble = recorder.trouble();
        let mut end = end_of_run(totals, trouble.clone(), &checks);
        end.facts
            .extend(workload.counts().into_iter().map(|(name, n)| (format!("count: {name}"), n.to_string())));
        end.facts.extend(probes);
        // Verifying may have taken long: what is logged meanwhile is not of the run.
        let logs = self.options.logs()?.and_drivers(self.jvm_log);
        logs.record(&recorder, Instant(clock.nanos_in(ended.0).0), &mut end);
        end.facts.extend(target.remarks());
        end.facts.extend(observed.map(observe::cost));
        let finished = recorder.finish(end).with_context(|| {
            format!("the recording has no end; `truetail report {}` shows it", self.directory.display())
        })?;
        let trouble = trouble.or(finished.end.trouble.clone());
        if let Some(trouble) = &trouble {
            tell_trouble(trouble, &finished);
        }
        drop(off_workers); // the analysis may have all CPUs
        conclude(self.directory, trouble.is_some(), self.quantiles)
    }
}

impl RunAction<'_> {
    /// What `--floor` asks for.
    fn measure_floor(&self, dialect: Dialect, facts: &TargetFacts) -> anyhow::Result<()> {
        let Some(time) = self.options.floor()? else { return Ok(()) };
        let given = self.options.target.as_deref().unwrap_or(DEFAULT_TARGET);
        let server = floor::Server { url: given, dialect, transport: &facts.transport };
        floor::before_run(self.options, &server, self.directory, time, self.manner.quiet)
    }

    /// What `--statements` asks for.
    fn times_statements(&self) -> bool {
        self.options.statements == Some(true)
    }

    /// What `--check staleness` asks for.
    fn prober<'a, T: Target>(&self, target: &'a T) -> anyhow::Result<Option<Prober<'a, T>>> {
        let client = self.options.client().number;
        let prober = || Prober::prepare(target, client, self.options.seed());
        self.options.probe(self.url)?.then(prober).transpose()
    }
}

struct Events {
    sink: EventSink,
}

impl load::Journal for Events {
    fn event(&self, kind: EventKind, begin: Ticks, end: Ticks, subject: String, detail: String) {
        self.sink.push(kind, begin, end, subject, detail);
    }
}

/// Tells the recording when each phase really was: a run that was interrupted ended early. Gives the load's end: that of its
/// last phase or, if it is later, of its last request.
fn set_phase_spans(recorder: &Recorder, spec: &LoadSpec, clock: LiveClock, totals: LoadTotals) -> Ticks {
    let mut last = totals.ended;
    let mut begin = totals.started;
    for (index, phase) in spec.phases.iter().enumerate() {
        let planned = Ticks(begin.0 + clock.ticks_in(phase.duration));
        let end = if totals.interrupted || spec.requests.is_some() {
            Ticks(planned.0.min(totals.ended.0.max(begin.0)))
        } else {
            planned
        };
        recorder.phase_span(index as u8, begin, end);
        (begin, last) = (planned, Ticks(last.0.max(end.0)));
    }
    last
}

/// A session more than there are terminals would carry nothing: no more are connected.
fn with_terminals<W: Workload>(spec: LoadSpec, workload: &W) -> anyhow::Result<LoadSpec> {
    if spec.model != Model::Terminals {
        return Ok(spec);
    }
    let Some(users) = workload.users() else {
        bail!(
            "--tpcc-terminals spec: workload {} has no terminals; `--workload tpcc` has",
            workload.facts().name
        );
    };
    Ok(LoadSpec { sessions: spec.sessions.min(users.count()), ..spec })
}

/// One line for whoever waits; the page and its verdict come after it.
fn tell_trouble(trouble: &str, finished: &Finished) {
    let (kept, path) = (finished.end.samples, finished.path.display());
    output::error(&anyhow::anyhow!(
        "{trouble}: the run was ended; {kept} samples are kept in {path}; make room, or name another disk with --out"
    ));
}

fn end_of_run(totals: LoadTotals, trouble: Option<String>, checks: &[CheckResult]) -> EndOfRun {
    let ending = match trouble {
        Some(trouble) => Ending::Failed(trouble),
        None if totals.interrupted => Ending::Interrupted("by a signal".to_owned()),
        None => Ending::Completed,
    };
    let mut end = EndOfRun::new(ending);
    for check in checks {
        let state = if check.passed { "holds" } else { "broken" };
        end.facts.push((format!("invariant: {}", check.name), format!("{state}: {}", check.detail)));
    }
    end.facts.push(("requests never sent".to_owned(), totals.never_sent.to_string()));
    end
}

/// Analyses the finished recording, writes verdict, summary and report. What can't be written is no reason to
/// keep the page back; where the disk has refused before, it was told.
pub(crate) fn conclude(directory: &Path, told: bool, quantiles: &[Quantile]) -> anyhow::Result<Done> {
    let recording = Recording::open(directory)?;
    let mut analysis = analysis::analyse(&[recording], &output::analysis_options_with(quantiles))?;
    floor::attach(&mut analysis, &[directory], quantiles);
    let document = report::json::document(&analysis);
    let written = record::conclude(directory, &recorded_verdict(&analysis.verdict), &document.to_string())
        .map_err(anyhow::Error::from)
        .and_then(|()| write_report(&analysis, directory));
    let unwritten = written.err().filter(|_| !told);
    Ok(Done { analysis, directory: directory.to_owned(), unwritten })
}

fn recorded_verdict(verdict: &Verdict) -> RecordedVerdict {
    RecordedVerdict {
        state: verdict.state.name().to_owned(),
        reasons: verdict.reasons.iter().map(|r| r.text.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn timestamps_are_utc() {
        assert_eq!(timestamp(0), "19700101-000000");
        assert_eq!(timestamp(951_782_400_000_000_000), "20000229-000000");
        assert_eq!(timestamp(1_795_253_405_999_999_999), "20261121-093005");
    }
}
