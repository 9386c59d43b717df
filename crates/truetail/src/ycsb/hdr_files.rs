//! `hdrhistogram.fileoutput`: an interval log for each section.

use super::measured::{Measured, Series};
use super::numbers::in_map_order;
use super::told::{Interval, Told};
use anyhow::{Context, anyhow};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

/// Writes `prefix` + section + `.hdr` for each section, in microseconds, an interval a second. Gives the files.
pub(super) fn write(
    prefix: &str,
    measured: &Measured,
    told: &Told,
    is_open: bool,
    epoch_wall_ns: u64,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut sections = |all: &BTreeMap<String, Series>, of: &str| -> anyhow::Result<()> {
        for name in in_map_order(all.keys().cloned().collect()) {
            let path = PathBuf::from(format!("{prefix}{of}{name}.hdr"));
            let bytes = log(&format!("{of}{name}"), &all[&name], epoch_wall_ns)?;
            std::fs::write(&path, bytes)
                .with_context(|| format!("hdrhistogram.output.path: can't write {}", path.display()))?;
            files.push(path);
        }
        Ok(())
    };
    if told.interval != Interval::Intended {
        sections(&measured.of_op, "")?;
    }
    match told.interval {
        Interval::Intended => sections(&measured.of_intended, "")?,
        Interval::Op if !is_open => {}
        Interval::Op | Interval::Both => sections(&measured.of_intended, "Intended-")?,
    }
    Ok(files)
}

fn log(name: &str, series: &Series, epoch_wall_ns: u64) -> anyhow::Result<Vec<u8>> {
    let epoch_ms = epoch_wall_ns / 1_000_000;
    let mut seconds: BTreeMap<u64, Histogram<u64>> = BTreeMap::new();
    for point in &series.points {
        let second = point.at_ms.saturating_sub(epoch_ms) / 1_000;
        // Three digits, as the original's; it grows with what it is given, and so saturates at nothing.
        let histogram = match seconds.entry(second) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(Histogram::new(3).map_err(|error| anyhow!("{error:?}"))?)
            }
        };
        histogram.record(point.us.max(1)).map_err(|error| anyhow!("{name}: {error:?}"))?;
    }
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let epoch = UNIX_EPOCH + Duration::from_millis(epoch_ms);
    let comment = format!("[Logging for: {name}]");
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment(&comment)
        .with_start_time(epoch)
        .with_base_time(epoch)
        .begin_log_with(&mut bytes, &mut serializer)?;
    for (second, histogram) in &seconds {
        log.write_histogram(histogram, Duration::from_secs(*second), Duration::from_secs(1), None)
            .map_err(|error| anyhow!("can't encode a histogram: {error:?}"))?;
    }
    drop(log);
    Ok(bytes)
}
