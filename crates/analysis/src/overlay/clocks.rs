//! One axis for instants of the client and of the store: nanoseconds since the earliest recording's epoch.
//!
//! Recordings follow the kernel's raw monotonic clock, and so do the log's anchors. The wall clock is slewed against it,
//! by 600 µs a minute on an ordinary host; so it is used at one moment alone, the epoch of each recording, at which the
//! anchors say what the raw clock showed.

use crate::AnalysisError;
use clock::Anchors;
use record::{Recording, TruthLog};
use units::{Instant, Ticks};

/// How to get to the common axis.
pub(super) struct Clocks {
    store: StoreClock,
    /// Per recording: its epoch on the axis, ns.
    epochs: Vec<i64>,
}

enum StoreClock {
    /// By anchors; what to subtract from their instants, ns.
    Anchored { anchors: Anchors, axis_begin: i64 },
    /// A simulated clock: what to add, ns.
    Plain { shift: i64 },
}

impl Clocks {
    /// # Errors
    /// When there is no recording, the log's anchors can't be read, or the wall clock stepped at a recording's epoch.
    pub(super) fn new(recordings: &[Recording], truth: &TruthLog) -> Result<Clocks, AnalysisError> {
        let walls: Vec<u64> = recordings.iter().map(|r| r.header().epoch_wall_ns).collect();
        let earliest = walls.iter().copied().min().ok_or(AnalysisError::Nothing)?;
        let points = truth.anchors()?;
        let Some((first, others)) = points.split_first().filter(|(_, others)| !others.is_empty()) else {
            let shift = difference(truth.header().epoch_wall_ns, earliest);
            let epochs = walls.iter().map(|wall| difference(*wall, earliest)).collect();
            return Ok(Clocks { store: StoreClock::Plain { shift }, epochs });
        };
        let mut anchors = Anchors::new(*first);
        others.iter().for_each(|anchor| anchors.push(*anchor));
        let raw = walls
            .iter()
            .map(|wall| instant_of_wall(&anchors, *wall, truth))
            .collect::<Result<Vec<_>, _>>()?;
        let axis_begin = raw.iter().copied().min().unwrap_or(0);
        let epochs = raw.iter().map(|at| at - axis_begin).collect();
        Ok(Clocks { store: StoreClock::Anchored { anchors, axis_begin }, epochs })
    }

    /// An instant of the store on the axis.
    pub(super) fn of_store(&self, at: Instant) -> i64 {
        match &self.store {
            StoreClock::Plain { shift } => at.0.cast_signed().saturating_add(*shift),
            StoreClock::Anchored { anchors, axis_begin } => {
                let instant = anchors.instant(Ticks(at.0)).unwrap_or(at);
                instant.0.cast_signed().saturating_sub(*axis_begin)
            }
        }
    }

    /// An instant of a recording on the axis.
    pub(super) fn of_recording(&self, recording: usize, at: u64) -> i64 {
        at.cast_signed().saturating_add(self.epochs[recording])
    }
}

fn difference(later: u64, earlier: u64) -> i64 {
    (i128::from(later) - i128::from(earlier)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// On the anchors' own axis, ns; negative before the store's epoch.
fn instant_of_wall(anchors: &Anchors, wall: u64, truth: &TruthLog) -> Result<i64, AnalysisError> {
    let first = anchors.points()[0];
    if wall < first.realtime_ns {
        let at = anchors.instant(first.ticks).unwrap_or(Instant::EPOCH);
        return Ok(at.0.cast_signed() - difference(first.realtime_ns, wall));
    }
    let at = anchors.instant_of_realtime(wall);
    at.map(|at| at.0.cast_signed())
        .ok_or_else(|| AnalysisError::Clocks { truth: truth.path().display().to_string() })
}
