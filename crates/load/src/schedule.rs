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
//! request. (Hazard pointers: Michael, TPDS 2004.) A claimer whose number is not written yet names that one
//! exactly: the number that it named before may be so old that the writer would wait for it without end.

use crate::sequencer::{Planned, Sequencer};
use crate::spec::LONGEST_VISIT;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Mutex, PoisonError};
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
    /// Numbers that were claimed and given up before they were written.
    given_back: Mutex<Vec<u64>>,
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
            given_back: Mutex::new(Vec::new()),
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

    /// What the number stands for that `session` claimed and found unwritten.
    pub(crate) fn look_up_again(&self, number: u64, session: u16) -> Claim {
        // What was named in `take_number` is older if the session was suspended before its addition, and the
        // writer, which stays behind it, might never come to this number. Release: as in `release`.
        self.reading[usize::from(session)].0.store(number, Ordering::Release);
        self.look_up(number)
    }

    /// A session will not wait for its number to be written. Its slots stay as they are from now on.
    pub(crate) fn give_back(&self, number: u64) {
        self.given_back.lock().unwrap_or_else(PoisonError::into_inner).push(number);
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
    /// claimed while this looked.
    pub(crate) fn next_phase(&self) -> Option<u8> {
        self.phase_of(self.claimed.0.load(Ordering::Relaxed))
    }

    /// The phase of a number that nobody has claimed.
    fn phase_of(&self, number: u64) -> Option<u8> {
        if number >= self.published.0.load(Ordering::Acquire) || number >= self.end.0.load(Ordering::Relaxed)
        {
            return None;
        }
        let seq = self.first_request(number);
        let meta = self.slots[(seq & self.mask) as usize].meta.load(Ordering::Relaxed);
        // The slots are this number's until it is claimed. The fence pairs with the one in `Writer::room`: if
        // what was read is newer, then so is the count.
        fence(Ordering::Acquire);
        (self.claimed.0.load(Ordering::Relaxed) == number).then_some((meta >> 40) as u8)
    }

    /// Whether all numbers that stand for a request are claimed: who holds none will get none.
    pub(crate) fn exhausted(&self) -> bool {
        self.claimed.0.load(Ordering::Relaxed) >= self.end.0.load(Ordering::Acquire)
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

    /// Fills the ring, before the load starts. True when the sequence has ended.
    pub(crate) fn prefill(&mut self, schedule: &Schedule) -> bool {
        self.write_up_to(schedule, u64::MAX);
        self.ended
    }

    /// Writes on where sessions have claimed: at most `limit` numbers and an eighth of the ring, so that it
    /// returns whatever they do meanwhile. True when the sequence has ended.
    pub(crate) fn fill(&mut self, schedule: &Schedule, limit: u64) -> bool {
        // Nobody may claim behind a known end; what is not written yet stays for `leftovers`.
        let ended = schedule.end.0.load(Ordering::Relaxed) != u64::MAX;
        let eighth = (schedule.mask + 1) / 8;
        // Each session's line is wanted back by its worker: they are not looked at for little.
        if !ended && self.unclaimed(schedule) <= 7 * eighth {
            self.write_up_to(schedule, self.numbers.saturating_add(limit.min(eighth)));
        }
        self.ended
    }

    /// Requests that are written and that nobody has claimed.
    fn unclaimed(&self, schedule: &Schedule) -> u64 {
        let claimed = schedule.claimed();
        if claimed < self.numbers { self.sequencer.position() - schedule.first_request(claimed) } else { 0 }
    }

    /// Writes until `last` numbers are written, the sequence ends, or there is too little room to go on.
    fn write_up_to(&mut self, schedule: &Schedule, last: u64) {
        let worthwhile = ((schedule.mask + 1) / 8).clamp(LONGEST_VISIT, 1024);
        let mut room = self.room(schedule);
        while !self.ended && self.numbers < last {
            if self.sequencer.position() + LONGEST_VISIT > room {
                room = self.room(schedule);
                if self.sequencer.position() + worthwhile > room {
                    break;
                }
            }
            let seq = self.sequencer.position();
            let Some(first) = self.sequencer.next_request() else {
                self.ended = true;
                schedule.end_at(self.numbers);
                break;
            };
            self.write_visit(schedule, seq, first);
        }
    }

    /// Writes and publishes request `seq` with all that follow it.
    fn write_visit(&mut self, schedule: &Schedule, seq: u64, first: Planned) {
        schedule.write(seq, first);
        for _ in 0..first.follow {
            let seq = self.sequencer.position();
            if let Some(next) = self.sequencer.next_request() {
                schedule.write(seq, next);
            }
        }
        if !schedule.heads.is_empty() {
            schedule.heads[(self.numbers & schedule.mask) as usize].store(seq, Ordering::Relaxed);
        }
        self.numbers += 1;
        // Release pairs with the Acquire in `look_up`.
        schedule.published.0.store(self.numbers, Ordering::Release);
    }

    /// The first request that there is no room for at present.
    fn room(&self, schedule: &Schedule) -> u64 {
        let oldest = schedule.oldest_needed();
        fence(Ordering::Release); // pairs with the one in `Schedule::phase_of`
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
        // What was given back may have been written since; if not, the sequence below has it.
        let given_back =
            std::mem::take(&mut *schedule.given_back.lock().unwrap_or_else(PoisonError::into_inner));
        let given_back = given_back.into_iter().filter(|&number| number < limit);
        for number in given_back.chain(schedule.claimed().min(limit)..limit) {
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
mod tests;
