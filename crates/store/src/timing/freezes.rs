//! Hiccups: the clock of the store, which stands still in them.
//!
//! Store time s and real time t: s = t − (frozen before t). Both are whole nanoseconds where a hiccup begins, so the
//! conversion is exact. A point of store time at which the store freezes belongs, in real time, to the hiccup's end:
//! what would have happened at its first instant happens at its end.

use super::fixed::Fine;
use crate::{Draw, Hiccup, StoreEvent};
use std::collections::VecDeque;
use units::{Nanos, Seed};

/// A hiccup that is known: real time [from + before, from + before + length) is the one point `from` of store time.
#[derive(Clone, Copy, Debug)]
struct Freeze {
    from: u64,
    /// Sum of all earlier lengths.
    before: u64,
    length: u64, // above 0
}

impl Freeze {
    fn begin(self) -> u64 {
        self.from + self.before
    }

    fn end(self) -> u64 {
        self.begin().saturating_add(self.length)
    }
}

/// A time during which the store stood still.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Frozen {
    begin: Nanos,
    end: Nanos,
    /// The number of the stream; `None`: asked for while the store ran.
    stream: Option<usize>,
}

/// One setting's hiccups, one by one.
#[derive(Clone, Debug)]
struct Stream {
    rule: Hiccup,
    lengths: Seed,
    periods: Seed,
    number: u64,
    /// When the next begins; the end of the range if there is none.
    next: u64,
}

/// Periods are no shorter, so that a stream of them always gets on.
const PERIOD_MIN_NS: u64 = 1_000;
/// So many hiccups ahead of the last arrival mean that the settings let the store stand still for ever; there are none from then
/// on, and an event says so. `Model::check` refuses such settings.
pub(crate) const AHEAD_MAX: usize = 1 << 20;
/// Room for so many hiccups is there from the beginning.
const ROOM: usize = 64;
/// So many of the hiccups that have passed since the last arrival are gone through one by one, and told of; where they are
/// more, and constant, those before are skipped.
const STEPS: u64 = 1_000;
/// Happenings that nobody has asked for beyond so many are forgotten.
const HAPPENED_MAX: usize = 1 << 16;

impl Stream {
    /// Begin and length of the next.
    fn ahead(&self) -> (u64, u64) {
        (self.next, self.rule.length.at(self.lengths, self.number).0)
    }

    /// Length and distance of all, begin to begin, where they are always the same.
    fn constant(&self) -> Option<(u64, u64)> {
        let length = self.rule.length.as_constant()?.0;
        let period = self.rule.every.as_ref()?.as_constant()?.0;
        Some((length, period.max(PERIOD_MIN_NS).max(length)))
    }

    fn advance(&mut self) -> (u64, u64) {
        let (begin, length) = self.ahead();
        let period = |every: &Draw| every.at(self.periods, self.number).0.max(PERIOD_MIN_NS);
        self.next = match &self.rule.every {
            // One that lasts longer than its period is followed at once by the next.
            Some(every) => begin.saturating_add(period(every).max(length)),
            None => u64::MAX,
        };
        self.number += 1;
        (begin, length)
    }
}

/// All hiccups. Those that have passed are forgotten, those ahead become known as they are needed.
#[derive(Clone, Debug)]
pub struct Freezes {
    streams: Vec<Stream>,
    /// The least of the streams' `next`; the end of the range before [`Freezes::start`].
    next: u64,
    /// Ascending and disjoint, some of them adjacent.
    known: VecDeque<Freeze>,
    /// Sum of the lengths of those forgotten.
    forgotten: u64,
    /// Sum of all lengths, known or forgotten.
    total: u64,
    /// End of the last one.
    end: u64,
    happened: Vec<Frozen>,
    /// Real times are asked for in order, and none before this one any more.
    reached: u64,
    /// When hiccups were given up for good, until somebody is told.
    given_up: Option<u64>,
}

impl Freezes {
    /// None yet: the first request must start them.
    pub fn new(rules: &[Hiccup], seed: Seed) -> Freezes {
        let stream = |(number, rule): (usize, &Hiccup)| Stream {
            rule: rule.clone(),
            lengths: seed.derive(&format!("lengths {number}")),
            periods: seed.derive(&format!("periods {number}")),
            number: 0,
            next: rule.first.0,
        };
        Freezes {
            streams: rules.iter().enumerate().map(stream).collect(),
            next: u64::MAX,
            known: VecDeque::with_capacity(ROOM),
            forgotten: 0,
            total: 0,
            end: 0,
            happened: Vec::with_capacity(ROOM),
            reached: 0,
            given_up: None,
        }
    }

    /// The instants of the rules count from `origin`.
    pub fn start(&mut self, origin: Nanos) {
        for stream in &mut self.streams {
            stream.next = stream.next.saturating_add(origin.0);
        }
        self.next = self.soonest();
    }

    fn soonest(&self) -> u64 {
        self.streams.iter().map(|stream| stream.next).min().unwrap_or(u64::MAX)
    }

    /// Makes the next hiccup known. Where nobody met it nobody needs to be told.
    fn learn(&mut self, tell: bool) {
        let next = self.next;
        let soonest = self.streams.iter_mut().enumerate().find(|(_, stream)| stream.next == next);
        if let Some((number, stream)) = soonest {
            let (begin, length) = stream.advance();
            let end = begin.saturating_add(length);
            if let Some(begin) = self.add(begin, end).filter(|_| tell) {
                self.tell(begin, end, Some(number));
            }
        }
        self.next = self.soonest();
    }

    /// Adds the part of [begin, end) that lies behind all that is known; gives its begin, if there is any.
    fn add(&mut self, begin: u64, end: u64) -> Option<u64> {
        let begin = begin.max(self.end);
        let length = end.checked_sub(begin).filter(|length| *length > 0)?;
        self.known.push_back(Freeze { from: begin - self.total, before: self.total, length });
        self.total += length;
        self.end = end;
        Some(begin)
    }

    fn tell(&mut self, begin: u64, end: u64, stream: Option<usize>) {
        if self.happened.len() < HAPPENED_MAX {
            self.happened.push(Frozen { begin: Nanos(begin), end: Nanos(end), stream });
        }
    }

    /// Learns of all hiccups that begin while `is_near` says so of their begin in real and in store time.
    fn look_ahead(&mut self, is_near: impl Fn(u64, u64) -> bool) {
        for _ in self.known.len()..AHEAD_MAX {
            if self.next == u64::MAX || !is_near(self.next, self.next.max(self.end) - self.total) {
                return;
            }
            self.learn(true);
        }
        self.given_up.get_or_insert(self.next);
        self.streams.iter_mut().for_each(|stream| stream.next = u64::MAX);
        self.next = u64::MAX;
    }

    /// The store time of an arrival. Real times asked here ascend, and what has passed is forgotten.
    pub fn store_time_of_arrival(&mut self, real: Nanos) -> Fine {
        let real = Nanos(real.0.max(self.reached));
        if self.next <= real.0 {
            self.skip(real.0);
        }
        while self.next <= real.0 && self.next < u64::MAX {
            self.learn(true);
            self.forget(real.0);
        }
        self.forget(real.0);
        self.known_store_time(real)
    }

    /// Passes all but the latest of the hiccups that were over long before `real` at once, where they are those of one
    /// setting and always the same: what going through millions of them would come to.
    fn skip(&mut self, real: u64) {
        let mut streams = self.streams.iter_mut().filter(|stream| stream.next < u64::MAX);
        let (Some(stream), None) = (streams.next(), streams.next()) else { return };
        let Some((length, distance)) = stream.constant() else { return };
        let passed = real.saturating_sub(stream.next) / distance;
        // Another hiccup, asked for while the store ran, may still reach into them.
        if passed <= STEPS || self.end > stream.next {
            return;
        }
        let skipped = passed - STEPS;
        let (number, begin) = (stream.number + skipped, stream.next + skipped * distance);
        if length > 0 {
            self.end = begin - distance + length;
        }
        (stream.number, stream.next, self.next) = (number, begin, begin);
        self.forget(begin);
        self.forgotten += skipped * length;
        self.total += skipped * length;
    }

    /// Nobody asks for the store time of a moment before `real` any more: hiccups that are over by then are passed, and
    /// nobody is told of them. So the next arrival has no million of them to go through, however long it lets wait.
    pub fn rest(&mut self, real: Nanos) {
        self.reached = self.reached.max(real.0);
        while self.next < self.reached {
            let soonest = self.streams.iter().find(|stream| stream.next == self.next);
            let Some((begin, length)) = soonest.map(Stream::ahead) else { return };
            if begin.saturating_add(length) > self.reached {
                return;
            }
            self.learn(false);
            self.forget(self.reached);
        }
    }

    fn forget(&mut self, real: u64) {
        while let Some(passed) = self.known.front().filter(|freeze| freeze.end() <= real) {
            self.forgotten += passed.length;
            self.known.pop_front();
        }
    }

    /// The store time of a moment that is not before the last arrival.
    pub fn store_time_ahead(&mut self, real: Nanos) -> Fine {
        self.look_ahead(|begin, _| begin <= real.0);
        self.known_store_time(real)
    }

    fn known_store_time(&self, real: Nanos) -> Fine {
        let begun = self.known.partition_point(|freeze| freeze.begin() <= real.0);
        let store = match begun.checked_sub(1).and_then(|last| self.known.get(last)) {
            Some(freeze) if real.0 < freeze.end() => freeze.from,
            Some(freeze) => real.0 - freeze.before - freeze.length,
            None => real.0 - self.forgotten,
        };
        Fine::from(Nanos(store))
    }

    /// The real time of a moment of store time that is not before the last arrival's.
    pub fn real_time(&mut self, store: Fine) -> Fine {
        let whole = store.floor().0;
        if self.next < u64::MAX {
            self.look_ahead(|_, from| from <= whole);
        }
        let begun = self.known.partition_point(|freeze| freeze.from <= whole);
        let frozen = match begun.checked_sub(1).and_then(|last| self.known.get(last)) {
            Some(freeze) => freeze.before + freeze.length,
            None => self.forgotten,
        };
        store.after(Nanos(frozen))
    }

    /// One more hiccup, which begins at `at`, not before the last arrival.
    pub fn freeze(&mut self, at: Nanos, length: Nanos) {
        self.look_ahead(|begin, _| begin <= at.0);
        let known: Vec<Freeze> = self.known.drain(..).collect();
        (self.total, self.end) = (self.forgotten, 0);
        let (earlier, later) = known.split_at(known.partition_point(|freeze| freeze.begin() <= at.0));
        for freeze in earlier {
            self.add(freeze.begin(), freeze.end());
        }
        let end = at.0.saturating_add(length.0);
        if let Some(begin) = self.add(at.0, end) {
            self.tell(begin, end, None);
        }
        for freeze in later {
            self.add(freeze.begin(), freeze.end());
        }
    }

    /// Moves what has begun by `now` to the end of `into`, and that hiccups were given up, if they were.
    pub fn drain_events(&mut self, now: Nanos, into: &mut Vec<StoreEvent>) {
        let streams = &self.streams;
        let event = |frozen: Frozen| {
            let rule = frozen.stream.and_then(|number| streams.get(number));
            let detail = rule.map_or_else(|| "while it ran".to_owned(), |stream| stream.rule.to_string());
            StoreEvent { kind: "hiccup", begin: frozen.begin, end: frozen.end, detail }
        };
        into.extend(self.happened.extract_if(.., |frozen| frozen.begin <= now).map(event));
        into.extend(self.given_up.take().map(|at| StoreEvent {
            kind: "no more hiccups",
            begin: Nanos(at),
            end: Nanos(at),
            detail: format!("{AHEAD_MAX} of them lay ahead of one request; there are none from here on"),
        }));
    }
}

#[cfg(test)]
#[path = "freezes_tests.rs"]
mod tests;
