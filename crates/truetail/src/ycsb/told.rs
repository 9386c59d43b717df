//! Which figures are printed, where to, and in which form: YCSB's measurement properties.

use super::exporter::Exporter;
use super::words::Properties;
use anyhow::{anyhow, bail};
use std::path::PathBuf;
use units::Nanos;
use workload::names::suggestion;

/// What a request's time counts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Interval {
    /// From when it was sent.
    Op,
    /// From when it was intended.
    Intended,
    /// Both, in sections of their own.
    Both,
}

/// How times are kept and shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Hdr,
    Histogram,
    HdrAndHistogram,
    HdrAndRaw,
    TimeSeries,
    Raw,
}

const KINDS: [(&str, Kind); 6] = [
    ("hdrhistogram", Kind::Hdr),
    ("histogram", Kind::Histogram),
    ("hdrhistogram+histogram", Kind::HdrAndHistogram),
    ("hdrhistogram+raw", Kind::HdrAndRaw),
    ("timeseries", Kind::TimeSeries),
    ("raw", Kind::Raw),
];

/// Properties of measurements and of what is printed.
pub(super) const NAMES: [&str; 21] = [
    "measurementtype",
    "measurement.interval",
    "measurement.trackjvm",
    "measurement.histogram.verbose",
    "measurement.raw.output_file",
    "measurement.raw.no_summary",
    "hdrhistogram.percentiles",
    "hdrhistogram.fileoutput",
    "hdrhistogram.output.path",
    "histogram.buckets",
    "timeseries.granularity",
    "reportlatencyforeacherror",
    "latencytrackederrors",
    "exporter",
    "exportfile",
    "label",
    "status",
    "status.interval",
    "truetail.out",
    "truetail.page",
    "truetail.percentiles",
];

/// All of it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Told {
    pub(super) kind: Kind,
    pub(super) interval: Interval,
    /// In per cent.
    pub(super) percentiles: Vec<f64>,
    /// The beginning of the names of files with histograms.
    pub(super) hdr_files: Option<String>,
    /// Buckets of a millisecond, of the old histogram.
    pub(super) buckets: u64,
    pub(super) is_verbose: bool,
    pub(super) granularity: Nanos,
    /// Where the rows of `raw` go, if not to stdout.
    pub(super) raw_file: Option<PathBuf>,
    pub(super) has_summary: bool,
    /// Failures of a section of their own by status; all, or these.
    pub(super) every_error: bool,
    pub(super) tracked_errors: Vec<String>,
    pub(super) exporter: Exporter,
    /// Where figures go, if not to stdout.
    pub(super) file: Option<PathBuf>,
    pub(super) label: String,
    /// How often there is a line on stderr.
    pub(super) status: Option<Nanos>,
}

impl Told {
    pub(super) fn of(properties: &Properties) -> anyhow::Result<Told> {
        if properties.flag("measurement.trackjvm", false)? {
            bail!("measurement.trackjvm=true: there is no JVM here; leave it out");
        }
        let path = |name: &str| properties.text(name).map(PathBuf::from);
        let hdr_files = properties.flag("hdrhistogram.fileoutput", false)?;
        let status = properties.flag("status", false)?;
        let seconds = properties.whole("status.interval", 10, 1, 86_400)?;
        Ok(Told {
            kind: choice(properties, "measurementtype", &KINDS)?,
            interval: choice(
                properties,
                "measurement.interval",
                &[("op", Interval::Op), ("intended", Interval::Intended), ("both", Interval::Both)],
            )?,
            percentiles: percentiles(properties.text("hdrhistogram.percentiles").unwrap_or("50,95,99"))?,
            hdr_files: hdr_files.then(|| properties.get("hdrhistogram.output.path").unwrap_or("").to_owned()),
            buckets: properties.whole("histogram.buckets", 1000, 1, 1_000_000)?,
            is_verbose: properties.flag("measurement.histogram.verbose", false)?,
            granularity: Nanos::from_millis(properties.whole(
                "timeseries.granularity",
                1000,
                1,
                3_600_000,
            )?),
            raw_file: path("measurement.raw.output_file"),
            has_summary: !properties.flag("measurement.raw.no_summary", false)?,
            every_error: properties.flag("reportlatencyforeacherror", false)?,
            tracked_errors: properties
                .text("latencytrackederrors")
                .map(|list| list.split(',').map(|name| name.trim().to_owned()).collect())
                .unwrap_or_default(),
            exporter: properties.text("exporter").map_or(Ok(Exporter::Text), Exporter::of)?,
            file: path("exportfile"),
            label: properties.text("label").unwrap_or_default().to_owned(),
            status: status.then(|| Nanos::from_secs(seconds)),
        })
    }

    pub(super) fn has_raw(&self) -> bool {
        matches!(self.kind, Kind::Raw | Kind::HdrAndRaw)
    }
}

/// One of several values, of which the first is the default.
fn choice<T: Copy>(properties: &Properties, name: &str, all: &[(&str, T)]) -> anyhow::Result<T> {
    let given = properties.text(name).unwrap_or(all[0].0).to_ascii_lowercase();
    let found = all.iter().find(|(value, _)| *value == given);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let valid: Vec<&str> = all.iter().map(|(value, _)| *value).collect();
        anyhow!("{name}={given}: not offered{}", suggestion(&given, &valid))
    })
}

fn percentiles(list: &str) -> anyhow::Result<Vec<f64>> {
    list.split(',')
        .map(|text| {
            let percentile = text.trim().parse().ok().filter(|p: &f64| (0.0..=100.0).contains(p));
            percentile.ok_or_else(|| {
                anyhow!("hdrhistogram.percentiles={list}: `{text}` is not a number in [0, 100]")
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(list: &[(&str, &str)]) -> anyhow::Result<Told> {
        Told::of(&Properties(list.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()))
    }

    #[test]
    fn defaults_are_ycsb_s() {
        let plain = told(&[]).unwrap();
        assert_eq!((plain.kind, plain.interval, plain.exporter), (Kind::Hdr, Interval::Op, Exporter::Text));
        assert_eq!(plain.percentiles, [50.0, 95.0, 99.0]);
        assert_eq!((plain.status, plain.file, plain.hdr_files), (None, None, None));
        let asked = told(&[
            ("hdrhistogram.percentiles", "50, 99.9"),
            ("status", "true"),
            ("status.interval", "2"),
            ("hdrhistogram.fileoutput", "true"),
            ("measurementtype", "HdrHistogram+Raw"),
        ])
        .unwrap();
        assert_eq!(asked.percentiles, [50.0, 99.9]);
        assert_eq!(asked.status, Some(Nanos::from_secs(2)));
        assert_eq!((asked.hdr_files.as_deref(), asked.has_raw()), (Some(""), true));
    }

    #[test]
    fn what_is_not_offered_is_refused_by_name() {
        let refused = |name: &str, value: &str| told(&[(name, value)]).unwrap_err().to_string();
        assert!(refused("measurementtype", "timseries").contains("did you mean `timeseries`?"));
        assert!(refused("measurement.interval", "service").contains("valid are op, intended, both"));
        assert!(refused("hdrhistogram.percentiles", "50,101").contains("`101` is not a number in [0, 100]"));
        assert!(refused("status.interval", "0").contains("status.interval=0"));
        assert!(refused("measurement.trackjvm", "true").contains("no JVM"));
        assert!(refused("status", "yes").contains("expected `true` or `false`"));
    }
}
