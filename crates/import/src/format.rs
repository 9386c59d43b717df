//! The formats, and where their text comes from.

use crate::figures::ascending;
use crate::{ImportError, ToolReport, csv, hdr, memtier, pgbench, redis_benchmark, sysbench, ycsb};
use std::path::{Path, PathBuf};
use units::Nanos;

/// The unit of figures in a file that does not state it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeUnit {
    /// 10⁻⁹ s
    Nanos,
    /// 10⁻⁶ s
    Micros,
    /// 10⁻³ s
    Millis,
    /// 1 s
    Seconds,
}

impl TimeUnit {
    /// As names of formats and of columns end: `ns`, `us`, `ms`, `s`.
    pub fn parse(text: &str) -> Option<TimeUnit> {
        match text {
            "ns" => Some(TimeUnit::Nanos),
            "us" => Some(TimeUnit::Micros),
            "ms" => Some(TimeUnit::Millis),
            "s" => Some(TimeUnit::Seconds),
            _ => None,
        }
    }

    /// The same name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            TimeUnit::Nanos => "ns",
            TimeUnit::Micros => "us",
            TimeUnit::Millis => "ms",
            TimeUnit::Seconds => "s",
        }
    }

    /// One of it.
    pub fn one(self) -> Nanos {
        match self {
            TimeUnit::Nanos => Nanos(1),
            TimeUnit::Micros => Nanos::from_micros(1),
            TimeUnit::Millis => Nanos::from_millis(1),
            TimeUnit::Seconds => Nanos::from_secs(1),
        }
    }
}

/// What wrote the output, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// YCSB's measurements: text, either JSON exporter, raw rows.
    Ycsb,
    /// pgbench's log of transactions (`-l`), with its summary if there is one.
    PgbenchLog,
    /// pgbench's summary.
    Pgbench,
    /// BenchBase's and OLTPBench's `raw.csv`.
    BenchBase,
    /// sysbench's report, with `--histogram` or without.
    Sysbench,
    /// memtier_benchmark's table or its JSON file.
    Memtier,
    /// redis-benchmark's text, `--csv` or `-q`.
    RedisBenchmark,
    /// HdrHistogram logs and percentile files. They do not state their unit; without one, logs are in nanoseconds,
    /// YCSB's in microseconds, and percentile files can't be read.
    Hdr(Option<TimeUnit>),
    /// One line for each request, under a header that names columns and units.
    Csv,
}

impl Format {
    /// All names, and what they stand for.
    pub const NAMED: [(&str, Format); 13] = [
        ("ycsb", Format::Ycsb),
        ("pgbench-log", Format::PgbenchLog),
        ("pgbench", Format::Pgbench),
        ("benchbase", Format::BenchBase),
        ("sysbench", Format::Sysbench),
        ("memtier", Format::Memtier),
        ("redis-benchmark", Format::RedisBenchmark),
        ("hdr", Format::Hdr(None)),
        ("hdr-ns", Format::Hdr(Some(TimeUnit::Nanos))),
        ("hdr-us", Format::Hdr(Some(TimeUnit::Micros))),
        ("hdr-ms", Format::Hdr(Some(TimeUnit::Millis))),
        ("hdr-s", Format::Hdr(Some(TimeUnit::Seconds))),
        ("csv", Format::Csv),
    ];

    /// By its name in [`Format::NAMED`].
    ///
    /// # Errors
    /// [`ImportError::UnknownFormat`] lists the names there are.
    pub fn parse(name: &str) -> Result<Format, ImportError> {
        let found = Format::NAMED.iter().find(|(known, _)| *known == name);
        found.map(|(_, format)| *format).ok_or_else(|| ImportError::UnknownFormat {
            name: name.to_owned(),
            known: Format::NAMED.map(|(known, _)| known).join(", "),
        })
    }

    /// The tool that writes it, where that is one.
    pub fn tool(self) -> &'static str {
        match self {
            Format::Ycsb => "YCSB",
            Format::PgbenchLog | Format::Pgbench => "pgbench",
            Format::BenchBase => "BenchBase",
            Format::Sysbench => "sysbench",
            Format::Memtier => "memtier_benchmark",
            Format::RedisBenchmark => "redis-benchmark",
            Format::Hdr(_) => "HdrHistogram",
            Format::Csv => "a csv file",
        }
    }

    /// What there is to hand over, in a line.
    pub fn reads(self) -> &'static str {
        match self {
            Format::Ycsb => "what YCSB printed or exported; the file of measurementtype=raw",
            Format::PgbenchLog => "pgbench_log.* of all threads, and what pgbench printed",
            Format::Pgbench => "what pgbench printed",
            Format::BenchBase => "BenchBase's or OLTPBench's ….raw.csv",
            Format::Sysbench => "what sysbench printed",
            Format::Memtier => "what memtier_benchmark printed, or its --json-out-file",
            Format::RedisBenchmark => "what redis-benchmark printed, --csv and -q too",
            Format::Hdr(None) => "HdrHistogram logs: ns, those of YCSB µs",
            Format::Hdr(Some(TimeUnit::Nanos)) => "HdrHistogram logs and percentile files, in ns",
            Format::Hdr(Some(TimeUnit::Micros)) => "HdrHistogram logs and percentile files, in µs",
            Format::Hdr(Some(TimeUnit::Millis)) => {
                "HdrHistogram logs and percentile files, in ms; what wrk2 printed"
            }
            Format::Hdr(Some(TimeUnit::Seconds)) => "HdrHistogram logs and percentile files, in s",
            Format::Csv => "a table with a line for each request; --map says which column is what",
        }
    }

    /// Whether it can hold single requests.
    pub fn has_requests(self) -> bool {
        matches!(self, Format::Ycsb | Format::PgbenchLog | Format::BenchBase | Format::Csv)
    }

    /// Whether the tool is a program of a JVM.
    pub fn is_of_jvm(self) -> bool {
        matches!(self, Format::Ycsb | Format::BenchBase)
    }

    /// Its name, which [`Format::parse`] reads.
    pub fn name(self) -> &'static str {
        let found = Format::NAMED.iter().find(|(_, format)| *format == self);
        // Every variant is in the table; a test holds that.
        found.map_or("", |(name, _)| name)
    }
}

/// How messages name what a tool printed.
pub(crate) const STANDARD_OUTPUT: &str = "standard output";

/// Text that a tool printed or wrote.
pub(crate) struct Output<'a> {
    pub(crate) format: Format,
    /// The file's name, or `standard output`.
    pub(crate) place: String,
    pub(crate) text: &'a str,
}

impl<'a> Output<'a> {
    /// A mark of the encoding before the text is no part of it.
    pub(crate) fn new(format: Format, place: impl Into<String>, text: &'a str) -> Output<'a> {
        Output { format, place: place.into(), text: without_mark(text) }
    }

    /// The lines with their numbers, from 1. A carriage return begins a line anew, as on a terminal: what stood there
    /// before it was progress.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        let last = |line: &'a str| line.trim_end_matches('\r').rsplit('\r').next().unwrap_or(line);
        self.text.split('\n').enumerate().map(move |(index, line)| (index + 1, last(line)))
    }

    pub(crate) fn wrong_line(&self, line: usize, why: impl Into<String>) -> ImportError {
        let (format, place) = (self.format.name(), self.place.clone());
        ImportError::Line { format, place, line, why: why.into() }
    }

    pub(crate) fn wrong(&self, why: impl Into<String>) -> ImportError {
        ImportError::Document { format: self.format.name(), place: self.place.clone(), why: why.into() }
    }
}

/// Text without the mark U+FEFF that spreadsheets and some shells put before it: it would be part of the first word.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Cuts what a message quotes from foreign text: one line, not endless, nothing that moves a terminal's cursor.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut short: String = text.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    if text.chars().count() > LONGEST {
        short.push('…');
    }
    format!("`{short}`")
}

/// Reads what a tool printed, and the files that it wrote.
///
/// Most formats take figures from both; a log of single requests (`pgbench-log`) takes requests from the files alone.
/// Lines that the format does not know are passed over, since tools and databases print whatever they want; a line that
/// it knows and that makes no sense is an error.
///
/// # Errors
/// A file that can't be read, a damaged line, or nothing of this format at all. Memory and time are proportional to
/// the text.
pub fn read(format: Format, stdout: &str, files: &[PathBuf]) -> Result<ToolReport, ImportError> {
    let texts = files.iter().map(|path| file(path)).collect::<Result<Vec<_>, _>>()?;
    let printed = Output::new(format, STANDARD_OUTPUT, stdout);
    let outputs: Vec<Output> =
        texts.iter().zip(files).map(|(text, path)| Output::new(format, name_of(path), text)).collect();
    let mut report = match format {
        Format::PgbenchLog => pgbench::read_log(&printed, &outputs),
        Format::Hdr(unit) => hdr::read(&chained(printed, outputs), unit),
        Format::Ycsb => ycsb::read(&chained(printed, outputs)),
        Format::BenchBase => crate::requests::collected(files),
        Format::Pgbench => pgbench::read(&chained(printed, outputs)),
        Format::Sysbench => sysbench::read(&chained(printed, outputs)),
        Format::Memtier => memtier::read(&chained(printed, outputs)),
        Format::RedisBenchmark => redis_benchmark::read(&chained(printed, outputs)),
        Format::Csv => csv::read(&chained(printed, outputs)),
    }?;
    report.rows.iter_mut().for_each(|row| ascending(&mut row.quantiles));
    Ok(report)
}

fn chained<'a>(printed: Output<'a>, files: Vec<Output<'a>>) -> Vec<Output<'a>> {
    std::iter::once(printed).chain(files).collect()
}

pub(crate) fn file(path: &Path) -> Result<String, ImportError> {
    let bytes =
        std::fs::read(path).map_err(|source| ImportError::Unreadable { path: path.to_owned(), source })?;
    // A damaged byte must not hide the figures around it.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_formats_belong_together() {
        for (name, format) in Format::NAMED {
            assert_eq!(Format::parse(name).expect("a name"), format);
            assert_eq!(format.name(), name);
        }
        let error = Format::parse("wrk").expect_err("unknown").to_string();
        assert!(error.contains("`wrk`") && error.contains("pgbench-log, pgbench, benchbase"), "{error}");
    }

    #[test]
    fn progress_that_was_written_over_is_not_read() {
        let output = Output::new(Format::Csv, "", "a\rb\r\nc\r\n");
        assert_eq!(output.lines().collect::<Vec<_>>(), [(1, "b"), (2, "c"), (3, "")]);
    }

    #[test]
    fn quotes_are_short_and_harmless() {
        assert_eq!(quoted("a\u{1b}[2Jb\n"), "`a[2Jb`");
        assert!(quoted(&"x".repeat(1_000)).chars().count() < 90);
    }
}
