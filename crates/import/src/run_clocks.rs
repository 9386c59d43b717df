//! From the clocks that other programs' logs show to instants of a run.

use clock::{Anchor, Anchors};
use record::{RecordError, Recording};
use units::{Instant, Nanos};

/// The clocks of a recording, for laying the logs of other programs over it.
#[derive(Clone, Debug)]
pub struct RunClocks {
    anchors: Option<Anchors>,
    /// The first anchor that has `CLOCK_MONOTONIC`: (that, wall time).
    first: Option<(u64, u64)>,
    epoch_wall_ns: u64,
    /// `None` if nobody knows.
    end: Option<Instant>,
}

impl RunClocks {
    /// Of anchors whose ticks are nanoseconds since the run's epoch, in order, and of the epoch's wall time. Fewer than two
    /// anchors count as none; then wall time alone leads to the run. `end` is when the run ended, or is about to.
    pub fn new(points: &[Anchor], epoch_wall_ns: u64, end: Instant) -> RunClocks {
        let anchors = points.split_first().filter(|(_, others)| !others.is_empty()).map(|(first, others)| {
            let mut anchors = Anchors::new(*first);
            others.iter().for_each(|point| anchors.push(*point));
            anchors
        });
        let first = points.iter().find_map(|point| Some((point.slewed_ns?, point.realtime_ns)));
        RunClocks { first: first.filter(|_| anchors.is_some()), anchors, epoch_wall_ns, end: Some(end) }
    }

    /// Of a recording. One that was cut short ends with its last anchor, or never.
    ///
    /// # Errors
    /// Those of [`Recording::anchors`].
    pub fn of(recording: &Recording) -> Result<RunClocks, RecordError> {
        let points = recording.anchors()?;
        let header = recording.header();
        let ended = recording.end().and_then(|end| end.at.get());
        let phases = header.phases.iter().filter_map(|phase| phase.end.get()).max();
        let anchored = points.last().map(|point| Instant(point.ticks.0));
        let end = ended.into_iter().chain(phases.filter(|_| ended.is_some())).max().or(anchored);
        let clocks = RunClocks::new(&points, header.epoch_wall_ns, Instant::EPOCH);
        Ok(RunClocks { end, ..clocks })
    }

    /// The first anchor that has `CLOCK_MONOTONIC`: (that, wall time).
    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        self.first
    }

    /// When the run ended, if that is known.
    pub(crate) fn end(&self) -> Option<Instant> {
        self.end
    }

    /// Whether a moment is after the run's end; of one whose end is not known none is.
    pub(crate) fn is_after_end(&self, at: Instant) -> bool {
        self.end.is_some_and(|end| at > end)
    }

    /// Whether all of an interval is before the run or after it. Instants begin with the epoch: what ended before it ends with it.
    pub(crate) fn is_outside(&self, begin: Instant, end: Instant) -> bool {
        end == Instant::EPOCH || self.is_after_end(begin)
    }

    /// How long before the run a moment of wall time was; zero from the run's begin on.
    pub(crate) fn before_run(&self, wall_ns: i128) -> Nanos {
        Nanos(u64::try_from(i128::from(self.epoch_wall_ns) - wall_ns).unwrap_or(0))
    }

    /// `None` without anchors of that clock.
    pub(crate) fn instant_of_slewed(&self, ns: i128) -> Option<Instant> {
        self.anchors.as_ref()?.instant_of_slewed(u64::try_from(ns).ok()?)
    }

    /// `None` where the wall clock stepped at that moment.
    pub(crate) fn instant_of_wall(&self, ns: i128) -> Option<Instant> {
        match &self.anchors {
            Some(anchors) => anchors.instant_of_realtime(u64::try_from(ns).ok()?),
            None => Some(Instant(u64::try_from((ns - i128::from(self.epoch_wall_ns)).max(0)).ok()?)),
        }
    }
}
