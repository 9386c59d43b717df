//! The schedule that each session of a throttled closed loop keeps for itself: YCSB's `target`.
//!
//! The starts of all sessions together are numbered, and start *n* is due when the rate has added up to *n*. A
//! session's own are those that leave its number as the remainder by the count of sessions that take part: so the
//! sessions are staggered, and the rate is met however it changes.

use crate::phases::RateProfile;
use crate::spec::{LoadSpec, Model};
use units::Nanos;

pub(crate) struct OwnSchedule {
    session: u64,
    /// The next start to look at.
    position: u64,
    /// Index of the phase that `position` was counted for.
    phase: usize,
    profile: RateProfile,
    /// For each phase when it ends and how many sessions take part.
    phases: Vec<(Nanos, u64)>,
}

impl OwnSchedule {
    /// The schedule of one session; `None` where the model has none.
    pub(crate) fn new(spec: &LoadSpec, session: u16) -> Option<OwnSchedule> {
        if !matches!(spec.model, Model::ThrottledClosed) {
            return None;
        }
        let mut end = Nanos::ZERO;
        let phases = spec.phases.iter().map(|phase| {
            end = end + phase.duration;
            (end, u64::from(phase.sessions.unwrap_or(spec.sessions)))
        });
        let phases = phases.collect();
        let session = u64::from(session);
        let mut own = OwnSchedule { session, position: session, phase: 0, profile: spec.profile()?, phases };
        own.enter(0, 0);
        Some(own)
    }

    /// When the session's next request is due, as an offset from the load's start; `None` past the end.
    #[inline(never)]
    pub(crate) fn next_due(&mut self) -> Option<Nanos> {
        let due = self.profile.invert(self.position as f64)?;
        if self.phase_at(due) <= self.phase {
            self.position += self.phases[self.phase].1;
            return Some(due);
        }
        // Another number of sessions may share the starts of the next phase. Counted from its begin, since the
        // first of them may be this session's, whichever it would have come to.
        let begin = self.phases[self.phase].0;
        self.enter(self.phase + 1, self.first_from(begin));
        self.next_due()
    }

    /// Leaves out what was due before `now`.
    pub(crate) fn skip_to(&mut self, now: Nanos) {
        self.enter(self.phase_at(now), self.position.max(self.first_from(now)));
    }

    /// The next start is the session's first one, in this phase, that is not below `from`. A session that the
    /// phase leaves out has none, and keeps to the one that it had come to.
    fn enter(&mut self, phase: usize, from: u64) {
        let sessions = self.phases[phase].1;
        self.phase = phase;
        self.position = if self.session < sessions {
            from + (self.session + sessions - from % sessions) % sessions
        } else {
            self.position.max(from)
        };
    }

    /// The first start of all sessions that is due at `at` or later.
    fn first_from(&self, at: Nanos) -> u64 {
        // Less what rounding may have added: a whole number must stay what it is.
        (self.profile.expected(at) - 1e-6).ceil() as u64
    }

    fn phase_at(&self, at: Nanos) -> usize {
        self.phases.partition_point(|&(end, _)| end <= at).min(self.phases.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubles::plain;

    fn spec(phases: &str, sessions: u32) -> LoadSpec {
        LoadSpec { sessions, ..plain(Model::ThrottledClosed, phases) }
    }

    /// The due times of all sessions, in ascending order.
    fn dues(phases: &str, sessions: u32) -> Vec<Nanos> {
        let spec = spec(phases, sessions);
        let mut all: Vec<Nanos> = (0..sessions as u16)
            .flat_map(|session| {
                let mut own = OwnSchedule::new(&spec, session).unwrap();
                std::iter::from_fn(move || own.next_due())
            })
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn at_a_constant_rate_sessions_are_staggered_evenly() {
        let dues = dues("2s@1000/s", 64);
        assert_eq!(dues.len(), 2000);
        assert!(dues.iter().enumerate().all(|(i, due)| due.0.abs_diff(i as u64 * 1_000_000) <= 1));
    }

    #[test]
    fn a_ramp_is_followed() {
        // The rate adds up to 10·(1 + 1000)/2 = 5,005, and in the first half to 5·(1 + 500.5)/2 = 1,253.75.
        let dues = dues("10s@1..1000/s", 64);
        assert_eq!(dues.len(), 5005);
        assert_eq!(dues.iter().filter(|d| **d < Nanos::from_secs(5)).count(), 1254);
    }

    #[test]
    fn a_step_is_taken_by_all_sessions_at_once() {
        let dues = dues("10s@1/s, 10s@1000/s", 64);
        let second = dues.iter().filter(|d| **d >= Nanos::from_secs(10)).count();
        assert_eq!((dues.len() - second, second), (10, 10_000));
    }

    /// Those that join take their places among the others, as if all had begun together.
    #[test]
    fn sessions_that_join_are_staggered_with_the_others() {
        let spec = spec("1s@1000/s sessions=3, 1s@1000/s sessions=8", 8);
        let mut own: Vec<OwnSchedule> =
            (0..8).map(|session| OwnSchedule::new(&spec, session).unwrap()).collect();
        let begin = Nanos::from_secs(1);
        let mut first: Vec<u64> = Vec::new();
        for (session, own) in own.iter_mut().enumerate() {
            if session < 3 {
                // These were there all the time: their first start in the second phase.
                first
                    .extend(std::iter::from_fn(|| own.next_due()).find(|due| *due >= begin).map(|due| due.0));
            } else {
                own.skip_to(begin);
                first.extend(own.next_due().map(|due| due.0));
            }
        }
        first.sort_unstable();
        let expected: Vec<u64> = (0..8).map(|i| begin.0 + i * 1_000_000).collect();
        assert_eq!(first, expected);
    }

    #[test]
    fn no_start_is_left_out_or_taken_twice_where_phases_change() {
        // The third phase is shorter than the step of a session, and the rates leave no whole numbers.
        let dues = dues("333ms@1000/s, 777ms@1..1234/s, 3ms@999/s, 1s@5000..10/s, 1s@700/s", 64);
        // 333 + 479.7975 + 2.997 + 2505 + 700
        assert_eq!(dues.len(), 4021);
        assert!(dues.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
