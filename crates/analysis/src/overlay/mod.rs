//! What a store knows of its requests laid over what a client measured of them, request by request.
//!
//! Nothing in a request names itself to the other side, so they are paired by time. A client hands a request over
//! before it arrives and sees the answer after it was due: each row of a truth log lies inside of a sample of the session
//! whose connection it came over. One request may lie in many samples of other sessions by chance; a whole connection
//! hardly ever does. So connections are paired with sessions (`pairing`), and only where no other session is
//! left; what can't be decided is counted and left out.

mod clocks;
mod figures;
mod joining;
mod lag;
mod moment;
mod pairing;
#[cfg(test)]
mod pairing_tests;
mod sums;
mod window;

pub use figures::{
    Overlay, OverlayCounts, OverlayDifference, OverlayJoin, OverlayLag, OverlayMeasure, OverlayMoment,
    OverlayPoint, OverlayRowCounts, OverlayStaleness, OverlayStatistic, OverlayStore, OverlayValue,
};

use crate::AnalysisError;
use clocks::Clocks;
use joining::Joining;
use record::{Recording, TruthLog};
use sums::Sums;
use units::Nanos;
use window::Windows;

/// How to lay them over each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OverlayOptions {
    /// How far the clocks of store and client may disagree: a row may begin so much before its sample, and end so much
    /// behind it. A second at most.
    pub tolerance: Nanos,
    /// Samples that are worked on at once: bounds memory, at ≈ 250 bytes each. Windows overlap by the longest
    /// request.
    pub window: usize,
}

impl Default for OverlayOptions {
    /// 50 µs, of which anchors take a hundredth; a million samples.
    fn default() -> OverlayOptions {
        OverlayOptions { tolerance: Nanos::from_micros(50), window: 1 << 20 }
    }
}

/// Lays a truth log over the recordings of a run (one for each client).
///
/// Reads both once and, where there are more samples than [`OverlayOptions::window`], once more for each window:
/// ≈ 1 µs a request, and where a node joined 24 bytes of memory for each request after that. With many busy sessions each connection is held against all of them, ≈ 50 ns each.
///
/// # Errors
/// When there is no recording, or one of them or the log can't be read at all, or their clocks can't be related.
/// Damaged parts are no error: their requests are counted as unmatched.
pub fn overlay(
    recordings: &[Recording],
    truth: &TruthLog,
    options: &OverlayOptions,
) -> Result<Overlay, AnalysisError> {
    let clocks = Clocks::new(recordings, truth)?;
    let tolerance = i64::try_from(options.tolerance.0.min(Nanos::from_secs(1).0)).unwrap_or(0);
    let windows = Windows::plan(recordings, &clocks, tolerance, options.window)?;
    let mut sums = Sums::new(recordings, truth, Joining::of(truth, &clocks)?);
    let mut known = pairing::Known::default();
    for window in windows.list() {
        let loaded = window.load(recordings, truth, &clocks)?;
        let paired = pairing::pair(&loaded, tolerance, &mut known);
        sums.add(&loaded, &paired, tolerance);
    }
    let lag = lag::grade(recordings, truth, &clocks, tolerance)?;
    Ok(Overlay { lag, ..sums.overlay(truth, options) })
}
