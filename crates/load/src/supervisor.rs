//! What the housekeeping thread does during a load: write the schedule ahead, interrupt blocking requests
//! that take too long, notice outages, end the run.

use crate::engine::Journal;
use crate::local::{Shared, Watched};
use crate::schedule::Writer;
use crate::spec::{LoadSpec, Model};
use clock::{Clock, LiveClock};
use record::EventKind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use units::{Nanos, Ticks};

/// How often the supervisor looks at a quiet load.
const INTERVAL: Nanos = Nanos::from_millis(5);

/// How far ahead an interrupted run's end lies: so that every session knows of it before it is there.
pub(crate) const STOP_AHEAD: Nanos = Nanos::from_millis(20);

pub(crate) struct Supervisor<'a> {
    pub(crate) spec: &'a LoadSpec,
    pub(crate) shared: &'a Shared,
    pub(crate) clock: LiveClock,
    pub(crate) lead_in: Ticks,
    /// Set from outside to end the run early.
    pub(crate) stop: &'a AtomicBool,
    /// Workers that still run.
    pub(crate) running: &'a AtomicUsize,
    pub(crate) journal: &'a dyn Journal,
    /// Blocking sessions.
    pub(crate) watched: &'a [Watched],
}

impl Supervisor<'_> {
    /// Works until all workers have ended.
    pub(crate) fn supervise(&self, writer: &mut Writer) {
        let mut ends_at = self.lead_in.0 + self.clock.ticks_in(self.spec.duration());
        let drain = self.clock.ticks_in(self.spec.drain);
        let mut outage_since: Option<Ticks> = None;
        let mut claimed_before = 0;
        while self.running.load(Ordering::Acquire) > 0 {
            // What is written once all is given up could be claimed by nobody and counted by nobody: a session
            // that waits for its number to be written has gone, and the number counts as taken.
            if !self.shared.abandoned() {
                writer.fill(&self.shared.schedule, u64::MAX);
            }
            let now = self.clock.now();
            if self.stop.load(Ordering::Relaxed) && !self.shared.stopping() {
                // An interrupted run ends now: what is in flight and what the ring still holds get a second.
                let stop_at = Ticks(now.0 + self.clock.ticks_in(STOP_AHEAD));
                self.shared.stop_at.store(stop_at.0, Ordering::Relaxed);
                writer.stop_at(&self.shared.schedule, self.offset(stop_at));
                let grace = self.clock.ticks_in(Nanos::from_secs(1)).min(drain);
                // Not abandoned before the moment up to which requests are sent.
                ends_at = (now.0 + grace).max(stop_at.0).saturating_sub(drain);
            }
            if now.0 > ends_at + drain {
                // Release: who sees it sees all that was written of the schedule.
                self.shared.abandon.store(true, Ordering::Release);
            }
            self.interrupt_late(now);
            self.note_outage(now, &mut outage_since);
            let claimed = self.shared.schedule.claimed();
            // A load that eats an eighth of the ring in an interval is written for without a pause.
            if claimed - claimed_before < (1 << RING_BITS) / 8 {
                clock::pause(INTERVAL);
            }
            claimed_before = claimed;
        }
        if let Some(since) = outage_since {
            self.end_outage(since, self.clock.now());
        }
    }

    fn offset(&self, now: Ticks) -> Nanos {
        self.clock.nanos_in(now.0.saturating_sub(self.lead_in.0))
    }

    fn interrupt_late(&self, now: Ticks) {
        let limit = self.spec.timeout.map(|t| self.clock.ticks_in(t));
        let abandoned = self.shared.abandoned();
        for watched in self.watched {
            let since = watched.busy_since.load(Ordering::Relaxed);
            let late = since != u64::MAX && limit.is_some_and(|limit| since.saturating_add(limit) <= now.0);
            if late || (abandoned && since != u64::MAX) {
                watched.interrupt();
            }
        }
    }

    fn note_outage(&self, now: Ticks, since: &mut Option<Ticks>) {
        let alive = self.shared.alive.load(Ordering::Relaxed);
        match (alive, *since) {
            (0, None) => *since = Some(now),
            (1.., Some(begin)) => {
                self.end_outage(begin, now);
                *since = None;
            }
            _ => {}
        }
    }

    fn end_outage(&self, begin: Ticks, end: Ticks) {
        let detail = "no session was connected".to_owned();
        self.journal.event(EventKind::Outage, begin, end, "all sessions".to_owned(), detail);
    }
}

/// Slots of the schedule's ring, as a power of two: 6 MiB, a second at 130,000/s.
pub(crate) const RING_BITS: u32 = 18;

/// Whether a model's schedule hands out visits.
pub(crate) fn has_visits(model: &Model) -> bool {
    matches!(model, Model::PartlyOpen { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::Process;
    use crate::doubles::{Silent, plain};
    use crate::schedule::Claim;
    use crate::sequencer::Sequencer;
    use crate::unit_doubles::shared;
    use clock::ClockChoice;
    use std::sync::Arc;
    use workload::NoTickets;

    /// Supervises a load whose one worker ends when it is interrupted. What the number behind the last one
    /// written stands for afterwards, and that number.
    fn supervise(abandoned: bool) -> (Claim, u64) {
        let spec = plain(Model::Open { process: Process::Constant }, "100s@1000/s");
        let shared = Shared { abandon: AtomicBool::new(abandoned), ..shared(1 << 10, 1) };
        let mut writer = Writer::new(Sequencer::new(&spec, Box::new(NoTickets)).unwrap());
        writer.fill(&shared.schedule, u64::MAX);
        let mut number = shared.schedule.take_number(0);
        while shared.schedule.look_up(number) != Claim::NotYet {
            shared.schedule.release(0);
            number = shared.schedule.take_number(0);
        }
        shared.schedule.release(0);
        let running = Arc::new(AtomicUsize::new(1));
        let worker = Arc::clone(&running);
        let watched = [Watched::new(Some(Box::new(move || worker.store(0, Ordering::Release))))];
        watched[0].busy_since.store(0, Ordering::Relaxed);
        let clock = clock::calibrate(ClockChoice::Auto).unwrap().start();
        let supervisor = Supervisor {
            spec: &LoadSpec { timeout: Some(Nanos(1)), ..spec.clone() },
            shared: &shared,
            clock,
            lead_in: clock.now(),
            stop: &AtomicBool::new(false),
            running: &running,
            journal: &Silent,
            watched: &watched,
        };
        supervisor.supervise(&mut writer);
        (shared.schedule.look_up(number), number)
    }

    #[test]
    fn a_load_that_is_given_up_gets_no_more_arrivals() {
        // A session that waited for this number has gone: written now, it would be neither sent nor left over.
        assert_eq!(supervise(true).0, Claim::NotYet);
        let (claim, number) = supervise(false);
        assert!(matches!(claim, Claim::Request(seq, _) if seq == number), "{claim:?}");
    }
}
