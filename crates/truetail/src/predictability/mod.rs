//! `truetail experiment predictability`: the same work at one rate on several databases, as *A Top-Down Approach to Achieving
//! Performance Predictability* (Huang et al., SIGMOD 2017, fig. 6 and app. C.1) did it.
//!
//! ```text
//!  servers × {standard mix, requests alike}, in turn, each on data made for it
//!        └─► a recording each ──► experiment.toml ──► analysis::predictability
//! ```

mod arguments;
mod document;
mod server;
mod size;

pub(crate) use arguments::PredictabilityArguments;

use crate::tell_tale::{order, secret_words};
use crate::{Ended, host, interrupt, output, process, run};
use analysis::{PredictabilityRuns, Work};
use anyhow::{Context, bail};
use clock::Clock;
use document::{CellEntry, Document, RoundEntry};
use driver::TargetUrl;
use server::{Kind, Place};
use size::{ORDER_LINES, Size};
use std::path::{Path, PathBuf};
use units::{Nanos, format_nanos};

/// Carries the experiment out, or looks at one again.
pub(crate) fn run(arguments: &PredictabilityArguments, json: bool) -> anyhow::Result<Ended> {
    if let Some(directory) = &arguments.again {
        let document = Document::open(directory)?;
        if !document.complete {
            output::note(
                "this experiment was interrupted, or is being run; what there is of it is looked at",
            );
        }
        return look(directory, &document, json);
    }
    let size = Size::of(arguments)?;
    let kinds = Kind::asked(&arguments.server)?;
    let given = kinds.iter().map(|kind| kind.given(arguments)).collect::<anyhow::Result<Vec<_>>>()?;
    let each = size.whole() + size.loading();
    let expected = Nanos(each.0 * u64::from(size.rounds) * 2 * kinds.len() as u64);
    if arguments.list {
        output::result(&listed(&kinds, &size, expected))?;
        return Ok(Ended::Well);
    }
    let directory = arguments.out.clone().unwrap_or_else(|| {
        PathBuf::from("experiments").join(format!("{}-predictability", run::timestamp(clock::wall_time_ns())))
    });
    record::require_vacant(&directory)?;
    std::fs::create_dir_all(&directory).with_context(|| {
        format!("can't create {}; name another directory with --out", directory.display())
    })?;
    interrupt::flag();
    output::note(&format!("about {} in all", format_nanos(expected)));
    let places: Vec<anyhow::Result<Place>> =
        kinds.iter().zip(given).map(|(kind, url)| Place::open(*kind, url)).collect();
    if let Some(why) =
        places.iter().find_map(|place| place.as_ref().err()).filter(|_| places.iter().all(Result::is_err))
    {
        bail!("no server can be asked here: {}", output::one_line(why));
    }
    let cells: Vec<(usize, Work)> =
        (0..kinds.len()).flat_map(|server| Work::ALL.map(|work| (server, work))).collect();
    let entry = |&(server, work): &(usize, Work)| {
        let can_not = places[server].as_ref().err().map(output::one_line);
        CellEntry { can_not, ..CellEntry::new(kinds[server], work) }
    };
    let mut document = Document::new(&size, host::described(), cells.iter().map(entry).collect());
    document.write(&directory)?;
    let bench = Bench { size: &size, places: &places, cells: &cells, directory: &directory };
    document.complete = bench.all_rounds(&mut document)?;
    document.write(&directory)?;
    let ended = look(&directory, &document, json)?;
    if !document.complete {
        bail!(
            "interrupted; what was run until then lies in {0}, and `truetail experiment predictability --again {0}` looks at it",
            directory.display()
        );
    }
    Ok(ended)
}

/// What would be run.
fn listed(kinds: &[Kind], size: &Size, expected: Nanos) -> String {
    let mut text = String::new();
    for kind in kinds {
        text += &format!(
            "{}, standard mix: TPC-C of {} warehouses at {}\n",
            kind.name(),
            size.warehouses,
            size.rate
        );
        text += &format!("{}, alike: New-Order alone, {ORDER_LINES} order lines each\n", kind.name());
    }
    text + &format!(
        "{} rounds of {} and {} each; about {} in all\n",
        size.rounds,
        format_nanos(size.warmup),
        format_nanos(size.time),
        format_nanos(expected)
    )
}

/// What rounds are made with.
struct Bench<'a> {
    size: &'a Size,
    places: &'a [anyhow::Result<Place>],
    /// Server and work.
    cells: &'a [(usize, Work)],
    directory: &'a Path,
}

impl Bench<'_> {
    /// All rounds, the document written after each. False if the user wanted an end.
    fn all_rounds(&self, document: &mut Document) -> anyhow::Result<bool> {
        let can: Vec<usize> =
            (0..self.cells.len()).filter(|&cell| self.places[self.cells[cell].0].is_ok()).collect();
        let runs: Vec<(u32, usize)> = (1..=self.size.rounds)
            .flat_map(|round| {
                order::shuffled(&can, self.size.seed, round).into_iter().map(move |cell| (round, cell))
            })
            .collect();
        let each = (self.size.whole() + self.size.loading()).as_secs_f64();
        let expected = vec![each; runs.len()];
        let clock = clock::calibrate(clock::ClockChoice::Monotonic)?.start();
        for (index, &(round, cell)) in runs.iter().enumerate() {
            if interrupt::requested() {
                return Ok(false);
            }
            let left = order::left(&expected, index, clock.now().0 as f64 / 1e9);
            let entry = &document.cells[cell];
            let what = format!("round {round}, {}, {}", entry.server, entry.work);
            process::announce(index + 1, runs.len(), &what, Nanos::from_secs_f64(left));
            let made = self.round(cell, round, &document.cells[cell]);
            if interrupt::requested() {
                return Ok(false);
            }
            let (recording, failed) = match made {
                Ok(recording) => (Some(recording), None),
                Err(error) => {
                    let why = output::one_line(&error);
                    output::note(&format!("{what}: {why}"));
                    (None, Some(why))
                }
            };
            document.cells[cell].rounds.push(RoundEntry { number: round, recording, failed });
            document.write(self.directory)?;
        }
        Ok(true)
    }

    /// Data anew, then the run. Gives the recording's place below the experiment's directory.
    fn round(&self, cell: usize, round: u32, entry: &CellEntry) -> anyhow::Result<String> {
        let (server, work) = self.cells[cell];
        let Ok(place) = &self.places[server] else { bail!("there is no server") };
        let url = &place.url;
        let scale = self.size.warehouses.to_string();
        let words = |verb: &str| [verb, &url.to_string(), "-w", "tpcc", "--scale", &scale].map(str::to_owned);
        let limit = Nanos::from_secs(120) + Nanos(self.size.loading().0 * 10);
        for verb in ["cleanup", "load"] {
            truetail(url, &words(verb), limit, Path::new(""))?;
        }
        let name = format!("{}-{}/round-{round}", process::file_name(&entry.server), entry.work);
        let recording = self.directory.join(&name);
        let mut arguments = words("run").to_vec();
        let seconds = |time: Nanos| format!("{}ms", time.0 / 1_000_000);
        let flags = [
            ("--rate", self.size.rate.clone()),
            ("--arrivals", "constant".to_owned()),
            ("--duration", seconds(self.size.time)),
            ("--warmup", seconds(self.size.warmup)),
            ("--sessions", self.size.sessions.to_string()),
            ("--seed", (self.size.seed.0 + u64::from(round)).to_string()),
            ("--retry", "10".to_owned()),
            ("--out", recording.display().to_string()),
        ];
        arguments.extend(flags.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]));
        if work == Work::Alike {
            let alike = ["--mix", "NewOrder=100", "-p", &format!("order-lines={ORDER_LINES}")];
            arguments.extend(alike.map(str::to_owned));
        }
        truetail(url, &arguments, process::limit(self.size.whole()), &recording)?;
        Ok(name)
    }
}

fn truetail(url: &TargetUrl, words: &[String], limit: Nanos, recording: &Path) -> anyhow::Result<()> {
    process::truetail(words, &secret_words(url), limit, recording, || ())
}

/// Reads all recordings, writes the page, the document and the figure, and shows the text.
fn look(directory: &Path, document: &Document, json: bool) -> anyhow::Result<Ended> {
    let runs = document.cells.iter().map(|cell| read(directory, cell)).collect::<anyhow::Result<Vec<_>>>()?;
    let found = analysis::predictability(&runs);
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).with_context(|| format!("can't write {}", path.display()))
    };
    const PAGE: &str = "predictability.html";
    write(PAGE, &report::predictability::html(&found))?;
    write("predictability.json", &format!("{:#}\n", report::predictability::json(&found)))?;
    if let Some(figure) = report::predictability::figure(&found) {
        write("spreads.svg", &figure)?;
    }
    if json {
        output::json(&report::predictability::json(&found))?;
    } else {
        let options = report::text::TextOptions { width: output::width(), colour: output::wants_colour() };
        let page = report::predictability::text(&found, &options);
        output::result(&format!("{page}\nexperiment: {}\n", directory.join(PAGE).display()))?;
    }
    Ok(Ended::Well)
}

/// The runs of a cell, analysed.
fn read(directory: &Path, cell: &CellEntry) -> anyhow::Result<PredictabilityRuns> {
    let work = Work::ALL.into_iter().find(|work| work.name() == cell.work);
    let work = work.with_context(|| format!("{}: work `{}` is not known", directory.display(), cell.work))?;
    let mut missing: Vec<String> = cell.can_not.iter().cloned().collect();
    let mut runs = Vec::new();
    for round in &cell.rounds {
        let why = |why: &str| format!("round {}: {why}", round.number);
        missing.extend(round.failed.iter().map(|failed| why(failed)));
        let Some(name) = &round.recording else { continue };
        let analysed = record::Recording::open(directory.join(name))
            .map_err(anyhow::Error::from)
            .and_then(|recording| Ok(analysis::analyse(&[recording], &output::analysis_options())?));
        match analysed {
            Ok(analysis) => runs.push(analysis),
            Err(error) => missing.push(why(&output::one_line(&error))),
        }
    }
    Ok(PredictabilityRuns { server: cell.server.clone(), work, runs, missing })
}
