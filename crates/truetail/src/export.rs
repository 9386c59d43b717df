//! `export`: a recording or a truth log in another format.

mod truth;

use crate::cli::ExportArguments;
use crate::{Ended, output};
use anyhow::{Context, anyhow, bail};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use record::{LoadModel, Measure, NO_SESSION, Recording, Sample, SampleBatch, TruthLog};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};
use units::Instant;

pub(crate) fn run(arguments: ExportArguments, json: bool) -> anyhow::Result<Ended> {
    let arguments = &arguments;
    let format = format(arguments, json)?;
    let source = Source::open(&arguments.recording, format)?;
    require_requests(&source, format)?;
    if let Some(path) = arguments.out.as_ref().filter(|path| path.is_file() && !arguments.force) {
        bail!("{} is there already; name another file, or replace it with --force", path.display());
    }
    let mut out: Box<dyn Write + Send> = match &arguments.out {
        Some(path) => {
            Box::new(std::fs::File::create(path).with_context(|| format!("can't create {}", path.display()))?)
        }
        None => Box::new(io::stdout()),
    };
    match (source, format) {
        (Source::Truth(log), _) => truth::csv(&log, &mut out)?,
        (Source::Recording(recording), Format::Csv) => csv(&recording, out)?,
        (Source::Recording(recording), Format::Hdr) => {
            hdr(&recording, measure(arguments, recording.header().load.model)?, &mut out)?;
        }
        (Source::Recording(recording), Format::Json) => {
            let mut analysis = analysis::analyse(&[recording], &crate::output::analysis_options())?;
            crate::floor::attach(&mut analysis, &[&arguments.recording], &[]);
            let text = serde_json::to_string_pretty(&report::json::document(&analysis))?;
            writeln!(out, "{text}")?;
        }
    }
    if let Some(path) = &arguments.out {
        output::note(&format!("wrote {}", path.display()));
    }
    Ok(Ended::Well)
}

/// A table or histograms without one request would look like a run without any.
///
/// # Errors
/// Where a tool's statements are all that there is.
fn require_requests(source: &Source, format: Format) -> anyhow::Result<()> {
    let Source::Recording(recording) = source else { return Ok(()) };
    if format == Format::Json || recording.rows() > 0 || recording.stated()?.is_empty() {
        return Ok(());
    }
    let (name, path) = (format.name(), recording.path().display());
    bail!(
        "--format {name}: {path} holds a tool's statements and no request, so there is nothing to export; `truetail report {path} \
         --json` has them"
    )
}

/// What is exported.
#[expect(clippy::large_enum_variant, reason = "there is one in a process")]
enum Source {
    Recording(Recording),
    Truth(TruthLog),
}

impl Source {
    fn open(path: &Path, format: Format) -> anyhow::Result<Source> {
        match (TruthLog::is_at(path), format) {
            (false, _) => Ok(Source::Recording(Recording::open(path)?)),
            (true, Format::Csv) => Ok(Source::Truth(TruthLog::open(path)?)),
            (true, Format::Hdr | Format::Json) => bail!(
                "--format {}: {} is a truth log, which can be exported as csv; `truetail report RUN --truth {}` \
                 lays it over a run",
                format.name(),
                path.display(),
                path.display()
            ),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Csv,
    Hdr,
    Json,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Hdr => "hdr",
            Format::Json => "json",
        }
    }
}

/// What is wanted; refused before anything is opened for writing.
fn format(arguments: &ExportArguments, json: bool) -> anyhow::Result<Format> {
    let name = arguments.format.as_deref().unwrap_or(if json { "json" } else { "csv" });
    let format = match name {
        "csv" => Format::Csv,
        "hdr" => Format::Hdr,
        "json" => Format::Json,
        other => bail!("--format {other}: there are csv, hdr, json"),
    };
    if json && format != Format::Json && arguments.out.is_none() {
        bail!(
            "--format {name} with --json: stdout can't hold both; drop --json, or write to a file with --out"
        );
    }
    match &arguments.measure {
        Some(measure) if format != Format::Hdr => {
            bail!("--measure {measure} with --format {name}: only hdr holds one measure; drop --measure")
        }
        _ => Ok(format),
    }
}

fn measure(arguments: &ExportArguments, model: LoadModel) -> anyhow::Result<Measure> {
    match (arguments.measure.as_deref(), model.has_response_time()) {
        (None, true) | (Some("response"), true) => Ok(Measure::Response),
        (None, false) | (Some("service"), _) => Ok(Measure::Service),
        (Some("response"), false) => {
            bail!("--measure response: a {} has no response time; use --measure service", model.name())
        }
        (Some(other), _) => bail!("--measure {other}: there are response, service"),
    }
}

struct Csv {
    out: BufWriter<Box<dyn Write + Send>>,
    failed: Option<io::Error>,
}

fn csv(recording: &Recording, out: Box<dyn Write + Send>) -> anyhow::Result<()> {
    let header = recording.header();
    let slot = std::sync::Mutex::new(Some(out));
    let take = || slot.lock().ok().and_then(|mut s| s.take()).unwrap_or_else(|| Box::new(io::sink()));
    // One thread, so one accumulator: the rows keep the order of the parts.
    let done = recording.scan(
        1,
        || {
            let mut csv = Csv { out: BufWriter::with_capacity(1 << 20, take()), failed: None };
            csv.failed = writeln!(
                csv.out,
                "seq,client,session,phase,operation,outcome,retries,intended_ns,ready_ns,sent_ns,arrived_ns,\
                 completed_ns,response_time_ns,service_time_ns"
            )
            .err();
            csv
        },
        |csv, batch| {
            for sample in batch.iter() {
                if csv.failed.is_some() {
                    return;
                }
                csv.failed = row(&mut csv.out, &sample, header).err();
            }
        },
    )?;
    for mut csv in done {
        if let Some(error) = csv.failed {
            return Err(anyhow!(error));
        }
        csv.out.flush()?;
    }
    Ok(())
}

fn row(out: &mut impl Write, s: &Sample, header: &record::RunHeader) -> io::Result<()> {
    let at = |i: Instant| i.get().map_or_else(String::new, |i| i.0.to_string());
    let time = |n: Option<units::Nanos>| n.map_or_else(String::new, |n| n.0.to_string());
    let op = header.operations.get(usize::from(s.op)).map_or("?", String::as_str);
    let phase = header.phases.get(usize::from(s.phase)).map_or("?", |p| p.name.as_str());
    let session = if s.session == NO_SESSION { String::new() } else { s.session.to_string() };
    writeln!(
        out,
        "{},{},{session},{},{},{},{},{},{},{},{},{},{},{}",
        s.seq,
        s.client,
        quoted(phase),
        quoted(op),
        s.outcome.name(),
        s.retries,
        at(s.intended),
        at(s.ready),
        at(s.sent),
        at(s.arrived),
        at(s.completed),
        time(s.response(header.load.model)),
        time(s.service()),
    )
}

/// As RFC 4180 has it.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// An hour, in ns: the range of the histograms. Longer values are counted and reported.
const HIGHEST: u64 = 3_600_000_000_000;

/// Histograms of one-second intervals, by second of completion and operation.
#[derive(Default)]
struct Intervals {
    by_second: BTreeMap<(u64, u8), Histogram<u64>>,
    out_of_range: u64,
}

impl Intervals {
    fn add(&mut self, batch: &SampleBatch, measure: Measure, model: LoadModel) {
        for sample in batch.iter() {
            let Some(value) = sample.measure(measure, model) else { continue };
            let key = (sample.completed.0 / 1_000_000_000, sample.op);
            // Three digits and fixed bounds, as every HdrHistogram tool reads them.
            let new = || Histogram::new_with_bounds(1, HIGHEST, 3).expect("bounds are valid");
            let histogram = self.by_second.entry(key).or_insert_with(new);
            if histogram.record(value.0.max(1)).is_err() {
                self.out_of_range += 1;
            }
        }
    }
}

fn hdr(recording: &Recording, measure: Measure, out: &mut dyn Write) -> anyhow::Result<()> {
    let header = recording.header();
    let model = header.load.model;
    let mut parts =
        recording.scan(1, Intervals::default, |a: &mut Intervals, batch| a.add(batch, measure, model))?;
    let intervals = parts.pop().unwrap_or_default();
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let epoch = UNIX_EPOCH + Duration::from_nanos(header.epoch_wall_ns);
    let comment = format!("truetail {}: {} in ns, {}", header.tool_version, measure.name(), model.name());
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment(&comment)
        .with_start_time(epoch)
        .with_base_time(epoch)
        .begin_log_with(&mut bytes, &mut serializer)?;
    for ((second, op), histogram) in &intervals.by_second {
        let name = header.operations.get(usize::from(*op)).map_or("other", String::as_str);
        let name = name.replace([',', ' ', '\r', '\n'], "_");
        let start = Duration::from_secs(*second);
        log.write_histogram(histogram, start, Duration::from_secs(1), Tag::new(&name))
            .map_err(|e| anyhow!("can't encode a histogram: {e:?}"))?;
    }
    drop(log);
    out.write_all(&bytes)?;
    out.flush()?;
    if intervals.out_of_range > 0 {
        output::note(&format!("{} values above one hour are not in the histograms", intervals.out_of_range));
    }
    Ok(())
}
