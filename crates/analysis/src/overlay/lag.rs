//! Probes of the read-after-write lag, graded by what the store knows of their writes and reads.
//!
//! A probe states an interval for the time from the acknowledgement, as the client had it, to when its version was visible
//! where its reads went. The acknowledgement is the client's, since the lag is what a client can see: the store wrote it
//! earlier, by the way back. Two things are held against the log, and a probe is right if both agree:
//!
//! - *Its reads.* The read that gave the lower bound missed the version by the log, too, and looked at the data no earlier than
//!   the bound says; the one that gave the upper bound found it, and looked no later. This holds for any number of nodes.
//! - *Its write.* Where the log tells when the version was visible at the node of the reads, the interval contains
//!   that moment: the node that wrote it, at which it is at once; or the other one of two, since the log has the time until
//!   all nodes show a version. With three nodes and more a read's node may be faster than that, and reads alone decide.

use super::clocks::Clocks;
use super::figures::{OverlayLag, OverlayStatistic};
use super::sums::durations;
use crate::AnalysisError;
use crate::staleness::{SeenProbe, probed_record, probes};
use record::{Recording, TruthLog, TruthRow, key_hash};
use stats::LogHistogram;
use units::{Nanos, Quantile};

/// Names of the store's operations that write a record.
const WRITES: [&str; 3] = ["update", "insert", "delete"];
/// The one that reads one.
const READ: &str = "read";
/// Name of the setting that counts nodes; one where it is not named.
const REPLICAS: &str = "replicas";

/// Which of a log's operations write records, by index.
pub(super) fn writes(truth: &TruthLog) -> Vec<bool> {
    truth.header().operations.iter().map(|name| WRITES.contains(&name.as_str())).collect()
}

/// Hashes of the keys that probes of these recordings used.
pub(super) fn probed_keys(recordings: &[Recording]) -> Vec<u64> {
    recordings.iter().filter_map(hash_of).collect()
}

fn hash_of(recording: &Recording) -> Option<u64> {
    probed_record(recording.header()).map(|record| key_hash(b"", record.as_bytes()))
}

/// A probe, and what the log says of it; instants on the common axis, ns.
#[derive(Clone, Copy, Debug)]
struct Graded {
    acknowledged: i64,
    ended: i64,
    /// Up to when the store may have begun a read of it: half-way from its end to the next one's acknowledgement.
    reads_until: i64,
    at_least: i64,
    at_most: Option<i64>,
    write: Option<Write>,
    /// When the last read looked that missed the version.
    stale: Option<i64>,
    /// When the first read looked that did not, and at which node.
    fresh: Option<(i64, u8)>,
}

/// The row of a probe's write.
#[derive(Clone, Copy, Debug)]
struct Write {
    written: i64,
    begun: i64,
    node: u8,
    /// From `begun` until all nodes show it.
    spread: Option<i64>,
}

/// Grades all probes; `None` where there are none. One scan of the log, ≈ 0.1 µs a row, and ≈ 150 bytes of memory a probe.
///
/// # Errors
/// When the observations of a recording can't be read at all.
pub(super) fn grade(
    recordings: &[Recording],
    truth: &TruthLog,
    clocks: &Clocks,
    tolerance: i64,
) -> Result<Option<OverlayLag>, AnalysisError> {
    let mut series = Vec::new();
    for (index, recording) in recordings.iter().enumerate() {
        let Some(key) = hash_of(recording) else { continue };
        let on_axis = |at: units::Instant| clocks.of_recording(index, at.0);
        let seen = probes(recording.noise_sources(), &recording.noise()?);
        series
            .push((key, in_order(seen.iter().map(|probe| Graded::new(probe, on_axis)).collect(), tolerance)));
    }
    if series.iter().all(|(_, probes)| probes.is_empty()) {
        return Ok(None);
    }
    let writes = writes(truth);
    let read = truth.header().operations.iter().position(|name| name == READ);
    truth.scan(|rows| {
        for row in rows {
            let Some((_, probes)) = series.iter_mut().find(|(key, _)| row.key == Some(*key)) else {
                continue;
            };
            let operation = usize::from(row.operation);
            if writes.get(operation) == Some(&true) {
                take_write(probes, row, clocks, tolerance);
            } else if Some(operation) == read {
                take_read(probes, row, clocks, tolerance);
            }
        }
    });
    let nodes = truth.header().settings.iter().find(|(name, _)| name == REPLICAS);
    let nodes = nodes.map_or(Some(1), |(_, count)| count.parse().ok());
    Ok(Some(figures(series.iter().flat_map(|(_, probes)| probes), nodes, tolerance)))
}

/// Probes that follow each other closely, as after a stall of the host, are parted half-way between what is certainly of the one and
/// what is certainly of the other: clocks may differ by a part of the tolerance.
fn in_order(mut probes: Vec<Graded>, tolerance: i64) -> Vec<Graded> {
    for index in 0..probes.len() {
        let next = probes.get(index + 1).map_or(i64::MAX, |next| next.acknowledged);
        let probe = &mut probes[index];
        probe.reads_until = probe.ended + tolerance.min((next - probe.ended) / 2);
    }
    probes
}

/// The last write that was begun before a probe's reads is its own: it was begun before the acknowledgement, and the next
/// probe's after its end.
fn take_write(probes: &mut [Graded], row: &TruthRow, clocks: &Clocks, tolerance: i64) {
    if !row.written.is_some() {
        return;
    }
    let (begun, written) = (clocks.of_store(row.begun), clocks.of_store(row.written));
    let after = probes.partition_point(|probe| {
        let reads = (probe.ended - probe.acknowledged) / 2;
        probe.acknowledged + reads.min(tolerance) < begun
    });
    let Some(probe) = probes.get_mut(after) else { return };
    if probe.write.is_none_or(|known| known.written < written) {
        probe.write = Some(Write {
            written,
            begun,
            node: row.node,
            spread: row.staleness.map(|staleness| staleness.age.0.cast_signed()),
        });
    }
}

/// Reads of a probe look at the data between its acknowledgement and its end.
fn take_read(probes: &mut [Graded], row: &TruthRow, clocks: &Clocks, tolerance: i64) {
    let Some(staleness) = row.staleness else { return };
    let begun = clocks.of_store(row.begun);
    let at = probes.partition_point(|probe| probe.reads_until < begun);
    let Some(probe) = probes.get_mut(at).filter(|probe| probe.acknowledged - tolerance <= begun) else {
        return;
    };
    if staleness.versions > 0 {
        probe.stale = Some(probe.stale.map_or(begun, |known| known.max(begun)));
    } else if probe.fresh.is_none_or(|(known, _)| begun < known) {
        probe.fresh = Some((begun, row.node));
    }
}

impl Graded {
    fn new(probe: &SeenProbe, on_axis: impl Fn(units::Instant) -> i64) -> Graded {
        Graded {
            acknowledged: on_axis(probe.acknowledged),
            ended: on_axis(probe.ended),
            reads_until: i64::MAX,
            at_least: probe.at_least.0.cast_signed(),
            at_most: probe.at_most.map(|most| most.0.cast_signed()),
            write: None,
            stale: None,
            fresh: None,
        }
    }

    /// Whether the log has its write and what its bounds need: it was made by this store, and nothing was lost.
    fn is_in_log(&self) -> bool {
        let has_read = self.at_least > 0 || self.at_most.is_some();
        self.write.is_some() && (!has_read || self.stale.is_some() || self.fresh.is_some())
    }

    /// Whether the store agrees that reads were stale and fresh, and looked when the bounds say.
    fn agrees_with_reads(&self, tolerance: i64) -> bool {
        let lower = match (self.at_least, self.stale) {
            (0, stale) => stale.is_none(),
            (least, Some(stale)) => stale >= self.acknowledged + least - tolerance,
            (_, None) => false,
        };
        let upper = match (self.at_most, self.fresh) {
            (Some(most), Some((fresh, _))) => fresh <= self.acknowledged + most + tolerance,
            (Some(_), None) => false,
            (None, fresh) => fresh.is_none(),
        };
        lower && upper
    }

    /// The true lag, where the log tells it.
    fn lag(&self, nodes: Option<u8>) -> Option<i64> {
        let write = self.write?;
        let own = self.fresh.map(|(_, node)| node == write.node);
        let visible = match (nodes, own) {
            (Some(1), _) | (_, Some(true)) => write.begun,
            (Some(2), Some(false)) => write.begun + write.spread?,
            _ => return None,
        };
        Some((visible - self.acknowledged).max(0))
    }

    fn contains(&self, lag: i64, tolerance: i64) -> bool {
        let most = self.at_most.map_or(i64::MAX, |most| most.saturating_add(tolerance));
        (self.at_least - tolerance..=most).contains(&lag)
    }
}

fn figures<'a>(probes: impl Iterator<Item = &'a Graded>, nodes: Option<u8>, tolerance: i64) -> OverlayLag {
    let (mut truth, mut least, mut most) = (LogHistogram::new(), LogHistogram::new(), LogHistogram::new());
    let mut lag = OverlayLag::default();
    let (mut width, mut bounded) = (0.0, 0_u64);
    for probe in probes {
        lag.probes += 1;
        if !probe.is_in_log() {
            continue;
        }
        lag.graded += 1;
        let mut right = probe.agrees_with_reads(tolerance);
        if let Some(true_lag) = probe.lag(nodes) {
            lag.exact += 1;
            right &= probe.contains(true_lag, tolerance);
            truth.record(true_lag.cast_unsigned());
            least.record(probe.at_least.cast_unsigned());
            if let Some(at_most) = probe.at_most {
                most.record(at_most.cast_unsigned());
            }
        }
        lag.contained += u64::from(right);
        if let Some(at_most) = probe.at_most {
            bounded += 1;
            width += (at_most - probe.at_least) as f64;
        }
    }
    lag.width_mean = (bounded > 0).then(|| width / bounded as f64);
    (lag.truth, lag.at_least, lag.at_most) = (shown(&truth), shown(&least), shown(&most));
    lag
}

/// p50, p95, p99 and the maximum.
fn shown(histogram: &LogHistogram) -> Vec<(OverlayStatistic, Nanos)> {
    let last = Quantile::new(0.999).map(OverlayStatistic::Quantile);
    durations(histogram).into_iter().filter(|(statistic, _)| Some(*statistic) != last).collect()
}
