//! The schedule as sessions see it: a ring that one thread writes ahead of time and any free session claims
//! from, with one atomic addition and no lock.
//!
//! ```text
//!   oldest being read ──► claimed ──────► published ──────► oldest being read + the ring's size
//!                         (fetch_add)     (written so far)  (how far the writer may go)
//! ```
//!
//! A claimer says which number it is about to read before it takes one, and the writer never passes the
//! oldest of these: so a thread that is suspended between claiming and reading, however long, still finds its
//! request. (Hazard pointers: Michael, TPDS 2004.)

use crate::sequencer::{Planned, Sequencer};
use crate::spec::LONGEST_VISIT;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Nanos;
use workload::OpId;

const NO_TIME: u64 = u64::MAX;

/// A cache line of its own.
#[repr(align(64))]
struct Line(AtomicU64);

#[derive(Default)]
struct Slot {
    /// Offset in ns, or [`NO_TIME`].
    intended: AtomicU64,
    ticket: AtomicU64,
    /// seq (low 32 bits) · op · phase · follow.
    meta: AtomicU64,
}

/// What a claimed number stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Claim {
    /// This request.
    Request(u64, Planned),
    /// The writer has not come that far.
    NotYet,
    /// There is none: the schedule has ended.
    Ended,
}

/// See the module.
pub(crate) struct Schedule {
    slots: Box<[Slot]>,
    mask: u64,
    /// Where visits are: number of a visit → number of its first request. Empty in other loads, where both
    /// are the same.
    heads: Box<[AtomicU64]>,
    claimed: Line,
    published: Line,
    /// Claims from this number on get nothing; `u64::MAX` until it is known.
    end: Line,
    /// For each session a number not above the one that it is reading; `u64::MAX` while it reads none.
    reading: Box<[Line]>,
}

impl Schedule {
    /// A ring of at least `capacity` requests for `sessions` claimers, all of it touched.
    pub(crate) fn new(capacity: usize, visits: bool, sessions: u32) -> Schedule {
        let capacity = capacity.max(4 * LONGEST_VISIT as usize).next_power_of_two();
        let slots: Box<[Slot]> = (0..capacity).map(|_| Slot::default()).collect();
        for slot in &slots {
            slot.meta.store(u64::MAX, Ordering::Relaxed); // touches the page
        }
        let heads = if visits { (0..capacity).map(|_| AtomicU64::new(0)).collect() } else { Box::default() };
        Schedule {
            slots,
            mask: capacity as u64 - 1,
            heads,
            claimed: Line(AtomicU64::new(0)),
            published: Line(AtomicU64::new(0)),
            end: Line(AtomicU64::new(u64::MAX)),
            reading: (0..sessions).map(|_| Line(AtomicU64::new(u64::MAX))).collect(),
        }
    }

    /// Takes the next number for `session`, whose slots stay as they are until [`Schedule::release`].
    /// One uncontended atomic addition, ≈ 5 ns.
    #[inline]
    pub(crate) fn take_number(&self, session: u16) -> u64 {
        let not_above = self.claimed.0.load(Ordering::Relaxed);
        self.reading[usize::from(session)].0.store(not_above, Ordering::Relaxed);
        // AcqRel: a writer that sees this addition (Acquire in `oldest_needed`) also sees the store above;
        // one that does not still counts our number as unclaimed and stays behind it.
        self.claimed.0.fetch_add(1, Ordering::AcqRel)
    }

    /// `session` has read all that it needs of its claim.
    #[inline]
    pub(crate) fn release(&self, session: u16) {
        // Release: our reads are over before the writer may see this and write over the slots.
        self.reading[usize::from(session)].0.store(u64::MAX, Ordering::Release);
    }

    /// The lowest number that is unclaimed or still being read.
    fn oldest_needed(&self) -> u64 {
        let claimed = self.claimed.0.load(Ordering::Acquire);
        self.reading.iter().map(|r| r.0.load(Ordering::Acquire)).fold(claimed, u64::min)
    }

    /// What the number stands for.
    #[inline(always)]
    pub(crate) fn look_up(&self, number: u64) -> Claim {
        // Acquire pairs with the writer's Release in `fill`: slots below `published` are visible.
        if number >= self.published.0.load(Ordering::Acquire) || number >= self.end.0.load(Ordering::Relaxed)
        {
            return if number >= self.end.0.load(Ordering::Acquire) { Claim::Ended } else { Claim::NotYet };
        }
        let seq = self.first_request(number);
        Claim::Request(seq, self.request(seq))
    }

    /// Request `seq` of a visit that was claimed with its first request just now.
    #[inline(always)]
    pub(crate) fn request(&self, seq: u64) -> Planned {
        let slot = &self.slots[(seq & self.mask) as usize];
        let meta = slot.meta.load(Ordering::Relaxed);
        // Only a bug can bring another number here; going on would send a request that another session has.
        assert_eq!(meta as u32, seq as u32, "the schedule's ring overtook a claimed request");
        let intended = slot.intended.load(Ordering::Relaxed);
        Planned {
            intended: (intended != NO_TIME).then_some(Nanos(intended)),
            ticket: slot.ticket.load(Ordering::Relaxed),
            op: OpId((meta >> 32) as u8),
            phase: (meta >> 40) as u8,
            follow: (meta >> 48) as u16,
        }
    }

    /// The phase of the request that the next claim will get; `None` when it is not written yet, or was
    /// claimed and written over while this looked.
    pub(crate) fn next_phase(&self) -> Option<u8> {
        let number = self.claimed.0.load(Ordering::Relaxed);
        if number >= self.published.0.load(Ordering::Acquire) || number >= self.end.0.load(Ordering::Relaxed)
        {
            return None;
        }
        let seq = self.first_request(number);
        let meta = self.slots[(seq & self.mask) as usize].meta.load(Ordering::Relaxed);
        (meta as u32 == seq as u32).then_some((meta >> 40) as u8)
    }

    /// Claims from `number` on get nothing.
    pub(crate) fn end_at(&self, number: u64) {
        self.end.0.fetch_min(number, Ordering::Release);
    }

    /// Numbers claimed so far (may be past the end).
    pub(crate) fn claimed(&self) -> u64 {
        self.claimed.0.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn first_request(&self, number: u64) -> u64 {
        if self.heads.is_empty() {
            number
        } else {
            self.heads[(number & self.mask) as usize].load(Ordering::Relaxed)
        }
    }

    fn write(&self, seq: u64, planned: Planned) {
        let slot = &self.slots[(seq & self.mask) as usize];
        slot.intended.store(planned.intended.map_or(NO_TIME, |n| n.0), Ordering::Relaxed);
        slot.ticket.store(planned.ticket, Ordering::Relaxed);
        let meta = u64::from(seq as u32)
            | u64::from(planned.op.0) << 32
            | u64::from(planned.phase) << 40
            | u64::from(planned.follow) << 48;
        slot.meta.store(meta, Ordering::Relaxed);
    }
}

/// The one that writes the schedule.
pub(crate) struct Writer {
    sequencer: Sequencer,
    /// Numbers (visits, or requests) published.
    numbers: u64,
    ended: bool,
}

impl Writer {
    pub(crate) fn new(sequencer: Sequencer) -> Writer {
        Writer { sequencer, numbers: 0, ended: false }
    }

    /// Writes as far ahead as the ring allows, or until `limit` more numbers are written. True when the
    /// sequence has ended.
    pub(crate) fn fill(&mut self, schedule: &Schedule, limit: u64) -> bool {
        // Nobody may claim behind a known end; what is not written yet stays for `leftovers`.
        if schedule.end.0.load(Ordering::Relaxed) != u64::MAX {
            return self.ended;
        }
        let visits = !schedule.heads.is_empty();
        let last = self.numbers.saturating_add(limit);
        let mut room = self.room(schedule);
        while !self.ended && self.numbers < last {
            if self.sequencer.position() + LONGEST_VISIT > room {
                room = self.room(schedule);
                if self.sequencer.position() + LONGEST_VISIT > room {
                    break;
                }
            }
            let seq = self.sequencer.position();
            let Some(first) = self.sequencer.next_request() else {
                self.ended = true;
                schedule.end_at(self.numbers);
                break;
            };
            schedule.write(seq, first);
            for _ in 0..first.follow {
                let seq = self.sequencer.position();
                if let Some(next) = self.sequencer.next_request() {
                    schedule.write(seq, next);
                }
            }
            if visits {
                schedule.heads[(self.numbers & schedule.mask) as usize].store(seq, Ordering::Relaxed);
            }
            self.numbers += 1;
            // Release pairs with the Acquire in `look_up`.
            schedule.published.0.store(self.numbers, Ordering::Release);
        }
        self.ended
    }

    /// The first request that there is no room for at present.
    fn room(&self, schedule: &Schedule) -> u64 {
        let oldest = schedule.oldest_needed();
        if oldest + schedule.mask < self.numbers {
            // A claimer was suspended between reading the count and naming its number: wait for it.
            return 0;
        }
        let first =
            if oldest < self.numbers { schedule.first_request(oldest) } else { self.sequencer.position() };
        first + schedule.mask + 1
    }

    /// Ends the schedule before its first unclaimed request that is due after `now` (an offset).
    pub(crate) fn stop_at(&mut self, schedule: &Schedule, now: Nanos) {
        let claimed = schedule.claimed().min(self.numbers);
        let due = |n: u64| schedule.request(schedule.first_request(n)).intended.is_none_or(|at| at <= now);
        match (claimed..self.numbers).find(|&n| !due(n)) {
            Some(first_not_due) => {
                schedule.end_at(first_not_due);
                self.ended = true;
            }
            None => schedule.end_at(self.numbers),
        }
    }

    /// Hands out all requests that were due by `end` and that no session took: (seq, request).
    pub(crate) fn leftovers(&mut self, schedule: &Schedule, end: Nanos, mut take: impl FnMut(u64, Planned)) {
        let limit = schedule.end.0.load(Ordering::Relaxed).min(self.numbers);
        for number in schedule.claimed().min(limit)..limit {
            let seq = schedule.first_request(number);
            take(seq, schedule.request(seq));
        }
        while !self.ended {
            let seq = self.sequencer.position();
            match self.sequencer.next_request() {
                Some(planned) if planned.intended.is_some_and(|at| at <= end) => take(seq, planned),
                Some(planned) if planned.intended.is_none() => {}
                _ => self.ended = true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::Process;
    use crate::spec::{LoadSpec, Model, Pacing, Think, UserVisit};
    use units::Seed;
    use workload::NoTickets;

    fn sequencer(model: Model, phases: &str) -> Sequencer {
        let spec = LoadSpec {
            model,
            phases: crate::phases::parse_phases(phases).unwrap(),
            operations: vec!["A".into()],
            mix: vec![1.0],
            sessions: 1,
            workers: 1,
            requests: None,
            timeout: None,
            drain: Nanos::ZERO,
            retries: 0,
            pacing: Pacing::Sleep,
            cpus: vec![],
            seed: Seed(3),
        };
        Sequencer::new(&spec, Box::new(NoTickets)).unwrap()
    }

    fn open(phases: &str) -> Sequencer {
        sequencer(Model::Open { process: Process::Poisson }, phases)
    }

    /// Several threads claim while one writes through a small ring: everything is handed out once.
    #[test]
    fn splitting_over_threads_does_not_change_the_sequence() {
        let mut reference = open("10s@5000/s");
        let expected: Vec<Planned> = std::iter::from_fn(|| reference.next_request()).collect();
        for threads in [1, 2, 5] {
            let schedule = Schedule::new(1 << 12, false, threads);
            let mut writer = Writer::new(open("10s@5000/s"));
            let mut seen: Vec<(u64, Planned)> = std::thread::scope(|scope| {
                let claimers: Vec<_> = (0..threads)
                    .map(|session| {
                        let schedule = &schedule;
                        scope.spawn(move || {
                            let mut mine = Vec::new();
                            loop {
                                let number = schedule.take_number(session as u16);
                                loop {
                                    match schedule.look_up(number) {
                                        Claim::Request(seq, planned) => {
                                            schedule.release(session as u16);
                                            break mine.push((seq, planned));
                                        }
                                        Claim::NotYet => std::thread::yield_now(),
                                        Claim::Ended => return mine,
                                    }
                                }
                            }
                        })
                    })
                    .collect();
                while !writer.fill(&schedule, 100) {
                    std::thread::yield_now();
                }
                claimers.into_iter().flat_map(|c| c.join().unwrap()).collect()
            });
            seen.sort_by_key(|&(seq, _)| seq);
            assert!(seen.iter().enumerate().all(|(i, &(seq, _))| seq == i as u64));
            assert!(seen.iter().map(|s| s.1).eq(expected.iter().copied()), "{threads} threads");
        }
    }

    #[test]
    fn visits_are_claimed_as_a_whole() {
        let visit = UserVisit { mean_requests: 3.0, think: Think::None };
        let model = Model::PartlyOpen { process: Process::Poisson, visit };
        let schedule = Schedule::new(1 << 12, true, 1);
        let mut writer = Writer::new(sequencer(model, "1s@500/s"));
        let mut next = 0;
        loop {
            writer.fill(&schedule, 10);
            match schedule.look_up(schedule.take_number(0)) {
                Claim::Request(seq, planned) => {
                    assert_eq!(seq, next);
                    assert!(planned.intended.is_some());
                    for later in 1..=u64::from(planned.follow) {
                        assert!(schedule.request(seq + later).intended.is_none());
                    }
                    schedule.release(0);
                    next = seq + 1 + u64::from(planned.follow);
                }
                Claim::Ended => break,
                Claim::NotYet => unreachable!("the writer was asked for ten more"),
            }
        }
        assert!(next > 500);
    }

    #[test]
    fn what_nobody_took_is_handed_out_at_the_end() {
        let mut reference = open("1s@20000/s");
        let total = std::iter::from_fn(|| reference.next_request()).count() as u64;
        let schedule = Schedule::new(1 << 12, false, 1);
        let mut writer = Writer::new(open("1s@20000/s"));
        writer.fill(&schedule, u64::MAX);
        for _ in 0..1000 {
            schedule.take_number(0);
        }
        let mut left = Vec::new();
        writer.leftovers(&schedule, Nanos::from_secs(1), |seq, _| left.push(seq));
        assert_eq!(left, (1000..total).collect::<Vec<_>>());
    }

    /// The ring is full of requests that are due, and the writer is called again after the stop.
    #[test]
    fn a_stop_of_an_overloaded_run_loses_nothing() {
        let schedule = Schedule::new(1 << 12, false, 1);
        let mut writer = Writer::new(open("10s@10000/s"));
        writer.fill(&schedule, u64::MAX);
        let stop = Nanos::from_secs(5);
        writer.stop_at(&schedule, stop);
        for _ in 0..1000 {
            schedule.take_number(0);
            schedule.release(0);
            writer.fill(&schedule, u64::MAX);
        }
        let mut left = Vec::new();
        writer.leftovers(&schedule, stop, |seq, _| left.push(seq));
        let mut reference = open("10s@10000/s");
        let due =
            std::iter::from_fn(|| reference.next_request()).filter(|p| p.intended.unwrap() <= stop).count();
        assert_eq!(left, (1000..due as u64).collect::<Vec<_>>());
    }

    #[test]
    fn a_stop_ends_the_schedule_at_the_present() {
        let schedule = Schedule::new(1 << 16, false, 1);
        let mut writer = Writer::new(open("10s@1000/s"));
        writer.fill(&schedule, u64::MAX);
        let half = Nanos::from_secs(5);
        writer.stop_at(&schedule, half);
        let mut reference = open("10s@1000/s");
        let due =
            std::iter::from_fn(|| reference.next_request()).filter(|p| p.intended.unwrap() <= half).count();
        let mut left = 0;
        writer.leftovers(&schedule, half, |_, _| left += 1);
        assert_eq!(left, due);
        assert_eq!(schedule.look_up(due as u64), Claim::Ended);
    }
}
