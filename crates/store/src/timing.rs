//! When each request begins and when it is answered.
//!
//! ```text
//!  arrival ─► gate: one each 1/μ ─► servers: c places, held for the service time ─► delay ─► due
//!             └──────────────── store time, frozen in hiccups ─────────────────┘   real time
//! ```
//!
//! Store time is real time without the hiccups. The queue is reckoned in store time, where hiccups do not exist, and what
//! comes of it is then put back into real time: so a hiccup may fall anywhere, into a service time or between two turns
//! of the gate, without any rule of its own. Gate and servers are FIFO and decide at admission, which is possible since
//! neither ever takes back what it has promised.
//!
//! The gate is a rate in the sense of an integral: between two turns of a backlog lies ∫μ dt = 1. Where μ changes (a
//! node joins) the part of the wait that is still to come is stretched by the ratio of the rates.
//!
//! Arithmetic is in steps of 2⁻⁶⁴ ns (see `fixed`): after 10⁹ turns of the gate the last is less than a nanosecond from
//! where it belongs. With `f64` nanoseconds, it would be 0.1 ms off.

mod fixed;
mod freezes;
mod gate;
mod places;

use crate::{Draw, Join, Model, Operation, Rules, SlowKey, StoreEvent};
use fixed::Fine;
pub(crate) use freezes::AHEAD_MAX;
use freezes::Freezes;
use gate::Gate;
use places::Places;
use std::ops::Range;
use units::{Nanos, Seed};

/// When a request begins, when it is answered, and what acted on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timed {
    /// Its turn: never before the arrival, never before an earlier request's.
    pub begun: Nanos,
    /// When its answer is to be written; never before `begun`.
    pub due: Nanos,
    /// [`Rules::QUEUED`] where it waited for a nanosecond or more, [`Rules::HICCUP`], [`Rules::SLOW_KEY`],
    /// [`Rules::JOINING`].
    pub rules: Rules,
}

/// The timing of a store: the state of its queue, its hiccups, its random streams.
///
/// A pure function of model, seed and arrivals. One admission costs O(log c) with c servers, and allocates nothing once
/// the list of hiccups ahead has found its length.
#[derive(Clone, Debug)]
pub struct Timing {
    service: [Draw; Operation::ALL.len()],
    slow_keys: Vec<SlowKey>,
    delay: Draw,
    seeds: Seeds,
    join: Option<Join>,
    join_told: bool,
    freezes: Freezes,
    gate: Option<Gate>,
    places: Option<Places>,
    admitted: u64,
    /// How many of them came before a restart.
    before: u64,
    /// The first arrival of a request that is not [`Operation::Other`].
    origin: Option<Nanos>,
    last_arrival: Nanos,
    last_begun: Nanos,
}

#[derive(Clone, Copy, Debug)]
struct Seeds {
    service: Seed,
    slow_key: Seed,
    delay: Seed,
}

impl Timing {
    /// Before the first request. Settings that [`Model::check`] refuses give times that are of no use, and no panic.
    pub fn new(model: &Model, seed: Seed) -> Timing {
        let join = model.join.as_ref();
        Timing {
            service: Operation::ALL.map(|operation| model.service_of(operation).clone()),
            slow_keys: model.slow_keys.clone(),
            delay: model.delay.clone(),
            seeds: Seeds {
                service: seed.derive("store service"),
                slow_key: seed.derive("store slow key"),
                delay: seed.derive("store delay"),
            },
            join: join.cloned(),
            join_told: false,
            freezes: Freezes::new(&model.hiccups, seed.derive("store hiccups")),
            gate: model.capacity.map(|capacity| Gate::new(capacity, join)),
            places: model.servers.map(Places::new),
            admitted: 0,
            before: 0,
            origin: None,
            last_arrival: Nanos::ZERO,
            last_begun: Nanos::ZERO,
        }
    }

    /// Admits the next request. Arrivals ascend; one that does not is taken to arrive together with its predecessor.
    pub fn admit(&mut self, arrival: Nanos, operation: Operation, key: &[u8]) -> Timed {
        let number = self.admitted - self.before;
        self.admitted += 1;
        let arrival = self.arrive(arrival, operation);
        let came = self.freezes.store_time_of_arrival(arrival);
        let turn = match &mut self.gate {
            Some(gate) => gate.pass(came, &mut self.freezes),
            None => came,
        };
        let extra = self.slow_keys.iter().find(|slow| slow.fits(key));
        let service = self.service[operation as usize].at(self.seeds.service, number)
            + extra.map_or(Nanos::ZERO, |slow| slow.extra.at(self.seeds.slow_key, number));
        let begin = match &mut self.places {
            Some(places) => places.take(turn, service),
            None => turn,
        };
        let end = begin.after(service);
        let begun = self.freezes.real_time(begin).floor().max(self.last_begun);
        self.last_begun = begun;
        let answered = self.freezes.real_time(end);
        let rules = [
            (Rules::QUEUED, begin.since(came).floor() > Nanos::ZERO),
            (Rules::HICCUP, answered.since(Fine::from(arrival)) > end.since(came)),
            (Rules::SLOW_KEY, extra.is_some()),
            (Rules::JOINING, self.streaming().is_some_and(|streaming| streaming.contains(&arrival))),
        ];
        let acted = rules.into_iter().filter(|(_, acts)| *acts);
        Timed {
            begun,
            due: answered.floor().max(begun) + self.delay.at(self.seeds.delay, number),
            rules: acted.fold(Rules::default(), |all, (rule, _)| all.with(rule)),
        }
    }

    /// As if nothing had been admitted yet, but for the order of requests and their count, which go on. What is drawn is
    /// the same as at first.
    pub fn restarted(&self, model: &Model, seed: Seed) -> Timing {
        Timing {
            admitted: self.admitted,
            before: self.admitted,
            last_arrival: self.last_arrival,
            last_begun: self.last_begun,
            ..Timing::new(model, seed)
        }
    }

    /// Whether such a request can be the first one, from which instants count: not one of [`Operation::Other`], since
    /// what a client asks about the server before its load begins is no part of it.
    pub(crate) fn starts_with(operation: Operation) -> bool {
        operation != Operation::Other
    }

    /// Keeps arrivals in order, and lets the first of them start the instants of all settings.
    fn arrive(&mut self, arrival: Nanos, operation: Operation) -> Nanos {
        let arrival = arrival.max(self.last_arrival);
        self.last_arrival = arrival;
        if self.origin.is_none() && Timing::starts_with(operation) {
            self.origin = Some(arrival);
            self.freezes.start(arrival);
            if let Some(gate) = &mut self.gate {
                gate.start(arrival);
            }
        }
        arrival
    }

    /// When the new node is sent its data.
    fn streaming(&self) -> Option<Range<Nanos>> {
        let (join, origin) = (self.join.as_ref()?, self.origin?);
        Some(origin + join.at..origin + join.at + join.streaming)
    }

    /// Lets the store stand still from `now` on for `length`. What was admitted before keeps its times: it has been
    /// promised to whoever waits for it.
    pub fn freeze(&mut self, now: Nanos, length: Nanos) {
        self.freezes.freeze(now.max(self.last_arrival), length.min(Draw::LONGEST));
    }

    /// Nothing arrives before `at` any more. To be called now and then while nobody asks anything, so that the next request
    /// does not have to catch up with all hiccups since the last.
    pub(crate) fn rest(&mut self, at: Nanos) {
        self.freezes.rest(at);
    }

    /// When the last request's turn came; the store's epoch before the first.
    pub(crate) fn last_begun(&self) -> Nanos {
        self.last_begun
    }

    /// How many requests were admitted.
    pub fn admitted(&self) -> u64 {
        self.admitted
    }

    /// The arrival of the first request that is not [`Operation::Other`], from which the settings' instants count.
    pub fn origin(&self) -> Option<Nanos> {
        self.origin
    }

    /// The last request's arrival.
    pub fn last_arrival(&self) -> Nanos {
        self.last_arrival
    }

    /// Moves the hiccups that were met or looked ahead at, and the join, to the end of `into`: what has begun by `now` and
    /// was not moved before.
    pub(crate) fn drain_events(&mut self, now: Nanos, into: &mut Vec<StoreEvent>) {
        self.freezes.drain_events(now, into);
        let begun =
            self.streaming().filter(|streaming| !self.join_told && self.last_arrival >= streaming.start);
        if let (Some(streaming), Some(join)) = (begun, &self.join) {
            let detail = join.to_string();
            into.push(StoreEvent { kind: "join", begin: streaming.start, end: streaming.end, detail });
            self.join_told = true;
        }
    }
}
