//! Until when response times are unstable after a node has begun to join, as the client measured them and as the store knows.
//!
//! The store's log says when a node began to join. What [`stats::recovery`] makes of the times around that moment is the
//! figure of elasticity: how long until capacity that was added is of use.

use super::clocks::Clocks;
use super::figures::OverlayJoin;
use super::moment::{Compared, instant};
use crate::AnalysisError;
use record::{Event, Measure, TruthLog};
use stats::{Settling, recovery};
use units::Nanos;

/// What the store calls a node's joining in its log.
const JOIN: &str = "join";

/// The first join of a log, and the requests around and after it: 24 bytes each.
pub(super) struct Joining {
    begin: i64,
    streaming: Nanos,
    detail: String,
    requests: Vec<Compared>,
}

impl Joining {
    /// `None` where no node joined.
    ///
    /// # Errors
    /// When the log's events can't be read.
    pub(super) fn of(truth: &TruthLog, clocks: &Clocks) -> Result<Option<Joining>, AnalysisError> {
        let joins = |event: &Event| event.subject == JOIN;
        Ok(truth.events()?.into_iter().find(joins).map(|event| Joining {
            begin: clocks.of_store(event.begin),
            streaming: event.end - event.begin,
            detail: event.detail,
            requests: Vec::new(),
        }))
    }

    /// Takes those requests that count.
    pub(super) fn add(&mut self, compared: &[Compared]) {
        self.requests.extend(compared.iter().filter(|request| request.at >= self.begin));
    }

    /// `None` when no request was compared after the node began to join: the log is then of another time.
    pub(super) fn figures(self, measure: Measure) -> Option<OverlayJoin> {
        let end = instant(self.requests.iter().map(|request| request.at).max()?);
        let begin = instant(self.begin);
        let of = |time: fn(&Compared) -> u64| {
            let times = self.requests.iter().map(|request| (instant(request.at), Nanos(time(request))));
            recovery(times, begin, end + Nanos(1), &Settling::new())
        };
        let (truth, measured) = (of(|request| request.truth), of(|request| request.measured));
        let Joining { streaming, detail, .. } = self;
        Some(OverlayJoin { begin, streaming, detail, measure, truth, measured })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Settled;
    use units::Instant;

    /// 100 requests a second of 1 ms, a backlog of up to 2 s from the join at 10 s on that is gone at 30 s.
    fn requests(at: i64) -> Compared {
        let since = (at - 10_000_000_000) as f64 / 1e9;
        let backlog = if since < 10.0 { 0.2 * since } else { 2.0 - 0.2 * (since - 10.0) };
        let truth = 1_000_000 + (backlog.max(0.0) * 1e9) as u64;
        Compared { at, truth, measured: truth + 20_000 }
    }

    fn joining() -> Joining {
        let streaming = Nanos::from_secs(10);
        Joining { begin: 10_000_000_000, streaming, detail: "dip".to_owned(), requests: Vec::new() }
    }

    #[test]
    fn the_planted_backlog_is_found_by_both_sides() {
        let mut planted = joining();
        for window in 0..6 {
            let of_window: Vec<Compared> =
                (0..1_000).map(|n| requests((window * 1_000 + n) * 10_000_000)).collect();
            planted.add(&of_window);
        }
        let found = planted.figures(Measure::Response).expect("requests after the join");
        assert_eq!(found.begin, Instant(10_000_000_000));
        for recovery in [&found.truth, &found.measured] {
            assert_eq!(recovery.settled, Settled::After(Nanos::from_secs(20)), "{recovery:?}");
            assert_eq!(recovery.windows.len(), 49, "whole windows alone: the last request came at 59.99 s");
        }
        assert_eq!(found.measured.level, found.truth.level.map(|level| level + 20_000.0));
    }

    #[test]
    fn a_log_of_another_time_tells_nothing() {
        let mut planted = joining();
        planted.add(&(0..999).map(|n| requests(n * 10_000_000)).collect::<Vec<_>>());
        assert!(planted.figures(Measure::Response).is_none());
    }
}
