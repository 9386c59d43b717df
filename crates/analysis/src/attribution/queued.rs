//! How long the load's own threads waited for a CPU around a request.

use super::Queued;
use super::names::RUN_QUEUE_WAIT;
use crate::input::Input;
use units::{Instant, Nanos};

/// Of one recording: each window that was read, and what the threads waited in it. Empty where nobody read.
#[derive(Clone, Debug, Default)]
pub(super) struct RunQueue {
    /// (begin, end, ns waited), in order; windows of one reader do not overlap.
    windows: Vec<(u64, u64, u64)>,
}

impl RunQueue {
    pub(super) fn of(input: &Input, on_axis: impl Fn(Instant) -> Option<u64>) -> RunQueue {
        let source = input.noise_sources.iter().position(|source| source.name == RUN_QUEUE_WAIT);
        let of_source = input.noise.iter().filter(|one| Some(usize::from(one.source)) == source);
        let mut windows: Vec<(u64, u64, u64)> = of_source
            .filter_map(|one| Some((on_axis(one.begin)?, on_axis(one.end)?, one.value.max(0.0) as u64)))
            .filter(|window| window.0 < window.1)
            .collect();
        windows.sort_unstable();
        RunQueue { windows }
    }

    /// What was read in the windows that overlap [from, to); `None` where there is none.
    pub(super) fn around(&self, from: u64, to: u64) -> Option<Queued> {
        let first = self.windows.partition_point(|window| window.1 <= from);
        let last = self.windows.partition_point(|window| window.0 < to);
        let met = self.windows.get(first..last).filter(|met| !met.is_empty())?;
        let (begin, end) = (met[0].0, met[met.len() - 1].1);
        let read: u64 = met.iter().map(|window| window.1 - window.0).sum();
        let wait = met.iter().fold(0u64, |sum, window| sum.saturating_add(window.2));
        let is_whole = begin <= from && to <= end && read >= end - begin;
        Some(Queued { wait: Nanos(wait), begin: Instant(begin), end: Instant(end), is_whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(wait: u64, begin: u64, end: u64, is_whole: bool) -> Option<Queued> {
        Some(Queued { wait: Nanos(wait), begin: Instant(begin), end: Instant(end), is_whole })
    }

    #[test]
    fn windows_around_a_request_are_added_and_a_lost_one_is_told() {
        // The window from 300 to 400 could not be read.
        let queue = RunQueue { windows: vec![(100, 200, 7), (200, 300, 0), (400, 500, 20)] };
        assert_eq!(queue.around(120, 130), queued(7, 100, 200, true));
        assert_eq!(queue.around(200, 300), queued(0, 200, 300, true), "nothing is a reading, too");
        assert_eq!(queue.around(150, 300), queued(7, 100, 300, true));
        assert_eq!(queue.around(250, 450), queued(20, 200, 500, false));
        assert_eq!(queue.around(450, 510), queued(20, 400, 500, false), "nobody read its end");
        assert_eq!(queue.around(50, 101), queued(7, 100, 200, false), "nor its begin");
        assert_eq!(queue.around(310, 390), None);
        assert_eq!(RunQueue::default().around(0, 10), None);
    }
}
