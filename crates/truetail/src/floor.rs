//! `truetail floor` and `run --floor`: what the measuring side itself costs, measured and laid under a run.

use crate::chosen::AnyWorkload;
use crate::cli::FloorArguments;
use crate::echo::{Child, EchoArguments};
use crate::registry::{self, Action};
use crate::settings::RunOptions;
use crate::{Ended, commands, interrupt, output, run};
use analysis::{Analysis, Floor};
use anyhow::{Context, bail};
use driver::{Dialect, Execution, Target, TargetUrl};
use load::{parse_cpu_list, show_cpu_list, spare_cpus};
use plan::{Part, Wanted};
use record::Recording;
use std::path::{Path, PathBuf};
use units::{Nanos, Quantile};
use workload::Workload;
use workload::noop::{Mode, NoOp};

mod plan;

/// How long all parts take together unless another time is asked.
const TIME: Nanos = Nanos::from_secs(20);

/// What a floor must know of the target: what it speaks, and over what.
pub(crate) struct Server<'a> {
    /// The URL, as it was given.
    pub(crate) url: &'a str,
    pub(crate) dialect: Dialect,
    /// As [`driver::TargetFacts::transport`].
    pub(crate) transport: &'a str,
}

/// Measures a floor, shows it and writes its pages.
pub(crate) fn run(arguments: FloorArguments, json: bool) -> anyhow::Result<Ended> {
    let options = commands::with_file(arguments.options, arguments.config.as_deref())?;
    options.check()?;
    let time = RunOptions::time("--time", arguments.time.as_deref())?;
    let time = time.or(options.floor()?).unwrap_or(TIME);
    let directory = options.out.clone().unwrap_or_else(|| {
        PathBuf::from("recordings").join(format!("{}-floor", run::timestamp(clock::wall_time_ns())))
    });
    record::require_vacant(&directory)?;
    let floor = match options.target.clone() {
        None => measure(&options.effective(Execution::Polled), None, &directory, time, json)?,
        Some(url) => {
            let found = look_at(&url)?;
            let server = Server { url: &url, dialect: found.dialect, transport: &found.transport };
            measure(&options.effective(found.execution), Some(&server), &directory, time, json)?
        }
    };
    show(&floor, &directory, json)
}

/// The floor of a run, into its directory.
pub(crate) fn before_run(
    options: &RunOptions,
    server: &Server<'_>,
    directory: &Path,
    time: Nanos,
    quiet: bool,
) -> anyhow::Result<()> {
    output::note(&format!("measuring the floor first, for about {time}"));
    measure(options, Some(server), &directory.join(record::FLOOR_DIRECTORY), time, quiet).map(drop)
}

/// What is found out about a target before anything is measured.
struct Found {
    dialect: Dialect,
    execution: Execution,
    transport: String,
}

struct Look;

impl Action for Look {
    type Output = Found;

    fn with<T: Target, W: Workload>(self, target: &T, _workload: W) -> anyhow::Result<Found> {
        let (dialect, execution) = (target.dialect(), target.execution());
        // A database that is compiled in is not asked: that would make its file.
        let transport = match execution {
            Execution::Blocking => "in-process".to_owned(),
            Execution::Polled => target.administer()?.facts()?.transport,
        };
        Ok(Found { dialect, execution, transport })
    }
}

fn look_at(url: &str) -> anyhow::Result<Found> {
    let target = registry::open_target(&TargetUrl::parse(url)?)?;
    registry::with(&target, AnyWorkload::NoOp(NoOp::new(Mode::Ping)), Look)
}

/// Makes all parts, one after the other, and writes the pages.
fn measure(
    options: &RunOptions,
    server: Option<&Server<'_>>,
    directory: &Path,
    time: Nanos,
    quiet: bool,
) -> anyhow::Result<Floor> {
    let echo = Echo::of(options, server)?;
    let target = server.filter(|server| server.dialect != Dialect::Null);
    let target = target.map(|server| (server.url, server.dialect));
    let wanted = Wanted { run: options, target, echo: echo.as_ref().map(Echo::url), time };
    let parts = wanted.parts()?;
    if options.arrivals.as_deref().is_some_and(|arrivals| arrivals.starts_with("trace")) {
        output::note(
            "the floor of a trace has its first seconds alone; where its rate changes, so may the floor",
        );
    }
    let mut made = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        output::note(&format!("floor, part {} of {}: {}", index + 1, parts.len(), part.directory));
        made.push(make(part, directory, quiet)?);
        if interrupt::requested() {
            let (of, place) = (parts.len(), directory.display());
            bail!("interrupted in part {} of {of} of the floor; what there is lies in {place}", index + 1);
        }
    }
    let floor = Floor::of(made).context("no part of the floor was measured")?;
    write(&floor, directory)?;
    Ok(floor)
}

fn make(part: &Part, directory: &Path, quiet: bool) -> anyhow::Result<Analysis> {
    let mut options = part.options.clone();
    options.out = Some(directory.join(&part.directory));
    let done = run::execute(&options, quiet).with_context(|| format!("floor, {}", part.directory))?;
    Ok(done.whole()?.analysis)
}

/// The echo server of a floor.
enum Echo {
    /// Somebody started it.
    ByHand(String),
    /// A process of this one, on this host.
    Own(Child),
}

impl Echo {
    /// Over the same kind of socket as the target; `None` where that has none.
    fn of(options: &RunOptions, server: Option<&Server<'_>>) -> anyhow::Result<Option<Echo>> {
        if let Some(url) = options.echo()? {
            return Ok(Some(Echo::ByHand(url.to_string())));
        }
        let mut arguments = EchoArguments { cpus: cpus(options)?, ..EchoArguments::default() };
        match server {
            Some(server) if server.url.starts_with("echo:") => {
                return Ok(Some(Echo::ByHand(server.url.to_owned())));
            }
            Some(server) if server.transport == "in-process" => return Ok(None),
            Some(server) if server.transport == "unix" => {
                let name = format!("truetail-echo-{}.sock", std::process::id());
                arguments.unix = Some(std::env::temp_dir().join(name));
            }
            _ => arguments.listen = Some("127.0.0.1:0".to_owned()),
        }
        Ok(Some(Echo::Own(Child::start(&arguments)?)))
    }

    fn url(&self) -> &str {
        match self {
            Echo::ByHand(url) => url,
            Echo::Own(child) => child.url(),
        }
    }
}

/// Where an echo server of ours belongs: where the server is meant to be, or at least off the workers' CPUs.
fn cpus(options: &RunOptions) -> anyhow::Result<Option<String>> {
    if let Some(list) = &options.server_cpus {
        return Ok(Some(list.clone()));
    }
    let Some(workers) = &options.cpus else { return Ok(None) };
    let workers = parse_cpu_list(workers).map_err(|reason| anyhow::anyhow!("--cpus: {reason}"))?;
    let spare = spare_cpus(&workers);
    Ok((!spare.is_empty()).then(|| show_cpu_list(&spare)))
}

/// Writes the page, the document and the figure.
fn write(floor: &Floor, directory: &Path) -> anyhow::Result<()> {
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).with_context(|| format!("can't write {}", path.display()))
    };
    write("floor.html", &report::floor::html(floor))?;
    write("floor.json", &format!("{:#}\n", report::floor::json(floor)))?;
    report::floor::figure(floor).map_or(Ok(()), |svg| write("floor.svg", &svg))
}

fn show(floor: &Floor, directory: &Path, json: bool) -> anyhow::Result<Ended> {
    if json {
        output::json(&report::floor::json(floor))?;
    } else {
        let options = report::text::TextOptions { width: output::width(), colour: output::wants_colour() };
        let mut page = report::floor::text(floor, &options);
        page += &format!("\nfloor: {}\n", directory.join("floor.html").display());
        output::result(&page)?;
    }
    Ok(if floor.decisive().is_some() { Ended::Well } else { Ended::Invalid })
}

/// The recordings of the parts in a directory; none where it holds no floor.
fn recordings(directory: &Path) -> anyhow::Result<Vec<Recording>> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Ok(Vec::new()) };
    let mut parts: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    parts.retain(|part| part.join("run.toml").exists());
    parts.sort();
    parts.iter().map(|part| Ok(Recording::open(part)?)).collect()
}

/// The floor that lies in a directory, read from its samples.
fn read(directory: &Path, quantiles: &[Quantile]) -> anyhow::Result<Option<Floor>> {
    let options = output::analysis_options_with(quantiles);
    let parts = recordings(directory)?.into_iter().map(|one| Ok(analysis::analyse(&[one], &options)?));
    Ok(Floor::of(parts.collect::<anyhow::Result<Vec<Analysis>>>()?))
}

/// Lays the floor that was measured right before a run under its analysis. A run without one stays as it is; so does one of
/// several clients, each of which has a floor of its own. What can't be read is told, and is no reason to keep a report back.
pub(crate) fn attach(analysis: &mut Analysis, recordings: &[&Path], quantiles: &[Quantile]) {
    let [recording] = recordings else { return };
    match read(&recording.join(record::FLOOR_DIRECTORY), quantiles) {
        Ok(floor) => analysis.floor = floor.map(|floor| floor.under(analysis)),
        Err(error) => output::error(&error.context("the floor of this run can't be shown")),
    }
}

/// Shows a floor again; `None` where the directory holds none of its own.
pub(crate) fn show_again(
    directory: &Path,
    quantiles: &[Quantile],
    json: bool,
) -> anyhow::Result<Option<Ended>> {
    if directory.join("run.toml").exists() || !directory.join("null").join("run.toml").exists() {
        return Ok(None);
    }
    let Some(floor) = read(directory, quantiles)? else { return Ok(None) };
    write(&floor, directory)?;
    show(&floor, directory, json).map(Some)
}
