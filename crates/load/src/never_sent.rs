//! The samples of what was due and never sent.

use crate::local::Shared;
use crate::schedule::Writer;
use crate::spec::LoadSpec;
use clock::{Clock, LiveClock};
use record::{NO_SESSION, Producer, RawSample};
use std::sync::atomic::Ordering;
use units::{Nanos, Outcome, Ticks};
use workload::OpId;

/// Looks at a full ring, 1 ms apart, after which its recorder counts as dead: five seconds.
const PATIENCE: u32 = 5_000;

/// When a load began and ended.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) started: Ticks,
    pub(crate) ended: Ticks,
}

/// Records what was due and never sent: waiting since its intended start, censored at the run's end. Gives its
/// number, that of samples which the ring had no room for included.
pub(crate) fn record_never_sent(
    spec: &LoadSpec,
    shared: &Shared,
    writer: &mut Writer,
    ring: &mut Producer,
    clock: LiveClock,
    span: Span,
) -> u64 {
    if !spec.model.load_model().has_response_time() {
        return 0;
    }
    let stop_at = shared.stop_at.load(Ordering::Relaxed);
    let stopped = clock.nanos_in(stop_at.min(span.ended.0).saturating_sub(span.started.0));
    let last_due = if shared.stopping() { stopped } else { spec.duration() };
    let mut count = 0;
    let mut patient = Patient::new(ring, || clock::pause(Nanos::from_millis(1)));
    let mut record = |seq: u64, at: u64, op: OpId, phase: Option<u8>| {
        let intended = Ticks(span.started.0 + at);
        count += 1;
        patient.push(RawSample {
            intended,
            ready: Ticks::NONE,
            sent: Ticks::NONE,
            completed: span.ended,
            arrived_realtime_ns: u64::MAX,
            seq,
            session: NO_SESSION,
            op: op.0,
            outcome: Outcome::Unfinished.code(),
            retries: 0,
            phase: phase.unwrap_or_else(|| shared.phase_at(intended)),
            flags: 0,
            reserved: 0,
        });
    };
    match &shared.terminals {
        Some(terminals) => {
            let last_due = clock.ticks_in(last_due);
            terminals.leftovers(last_due).for_each(|asked| record(asked.seq, asked.at, asked.op, None));
        }
        None => writer.leftovers(&shared.schedule, last_due, |seq, planned| {
            if let Some(at) = planned.intended {
                record(seq, clock.ticks_in(at), planned.op, Some(planned.phase));
            }
        }),
    }
    count
}

/// A producer that waits for a recorder that is slow, but not for one that is dead: the ring counts the drops,
/// and the run comes to its end to say so.
struct Patient<'a, P> {
    ring: &'a mut Producer,
    pause: P,
    /// Looks that are left before the recorder counts as dead.
    left: u32,
}

impl<P: FnMut()> Patient<'_, P> {
    fn new(ring: &mut Producer, pause: P) -> Patient<'_, P> {
        Patient { ring, pause, left: PATIENCE }
    }

    fn push(&mut self, sample: RawSample) {
        while self.left > 0 && self.ring.fill() > 0.9 {
            self.left -= 1;
            (self.pause)();
            if self.ring.fill() <= 0.9 {
                self.left = PATIENCE;
            }
        }
        self.ring.push(sample);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(seq: u64) -> RawSample {
        RawSample {
            intended: Ticks(0),
            ready: Ticks::NONE,
            sent: Ticks::NONE,
            completed: Ticks(1),
            arrived_realtime_ns: u64::MAX,
            seq,
            session: NO_SESSION,
            op: 0,
            outcome: Outcome::Unfinished.code(),
            retries: 0,
            phase: 0,
            flags: 0,
            reserved: 0,
        }
    }

    #[test]
    fn a_dead_recorder_is_waited_for_once_and_its_drops_are_counted() {
        let (mut producer, mut consumer) = record::ring(16);
        let mut pauses = 0;
        let mut patient = Patient::new(&mut producer, || pauses += 1);
        (0..40).for_each(|seq| patient.push(numbered(seq)));
        assert_eq!(pauses, PATIENCE, "no more, however many samples there are");
        let written = consumer.drain(|_| ());
        assert_eq!((written, consumer.dropped()), (16, 24));
    }

    #[test]
    fn a_slow_recorder_loses_nothing() {
        let (mut producer, mut consumer) = record::ring(16);
        let (mut pauses, mut seen) = (0, Vec::new());
        let mut patient = Patient::new(&mut producer, || {
            pauses += 1;
            // It comes just before it would be given up, each time.
            if pauses % (PATIENCE - 1) == 0 {
                consumer.drain(|sample| seen.push(sample.seq));
            }
        });
        (0..40).for_each(|seq| patient.push(numbered(seq)));
        assert!(pauses > PATIENCE, "{pauses} pauses");
        consumer.drain(|sample| seen.push(sample.seq));
        assert_eq!((seen, consumer.dropped()), ((0..40).collect(), 0));
    }
}
