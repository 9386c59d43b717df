//! Faults that are waiting for their occasion.

use super::{ConnectionFault, Fault, FaultKind, When};
use crate::{Injection, Operation, StoreEvent};
use units::{Nanos, Seed};

/// A fault and what it has seen so far.
#[derive(Clone, Debug)]
struct Armed {
    fault: Fault,
    /// From when it counts; `None`: from the first request.
    given: Option<Nanos>,
    seed: Seed,
    /// Requests or connections that fitted.
    seen: u64,
    /// Those that it acted on.
    acted: u64,
}

impl Armed {
    fn fits(&self, operation: Operation, key: &[u8]) -> bool {
        self.fault.operation.is_none_or(|own| own == operation)
            && self.fault.key.as_ref().is_none_or(|prefix| key.starts_with(prefix.as_bytes()))
    }

    /// Whether the occasion has come, with one more that fits; `after` tells whether so much time has passed.
    fn is_due(&mut self, after: impl Fn(Nanos) -> bool) -> bool {
        self.seen += 1;
        match self.fault.when {
            When::Next | When::Always => true,
            // More than n only where it had to stand back.
            When::Request(number) | When::Connection(number) => self.seen >= number,
            When::Every(number) => self.seen.is_multiple_of(number.max(1)),
            When::Probability(p) => self.seed.at(self.seen).unit() < p,
            When::Time(time) => after(time),
        }
    }
}

/// What faults do to one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Acts {
    /// So much later is the answer due.
    pub delay: Nanos,
    /// For so long the store stands still, from the arrival on.
    pub freeze: Nanos,
    /// What becomes of the answer.
    pub injection: Option<Injection>,
    /// How many faults acted.
    pub count: u32,
}

/// All faults that may still act, in the order in which they were given.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    requests: Vec<Armed>,
    connections: Vec<Armed>,
    seed: Seed,
    given: u64,
    /// Faults that acted on connections.
    pub connections_met: u64,
}

/// A fault's actions beyond so many are no events of their own any more: the truth log marks each request anyhow.
const TOLD_MAX: u64 = 1_000;
/// Events that nobody takes beyond so many are forgotten.
const EVENTS_MAX: usize = 1 << 16;

impl Faults {
    /// The most that may wait at a time.
    pub const MOST: usize = 1_000;

    /// None yet.
    pub fn new(seed: Seed) -> Faults {
        Faults { requests: Vec::new(), connections: Vec::new(), seed, given: 0, connections_met: 0 }
    }

    /// Arms one more, whose time counts from `given`, or from the first request.
    ///
    /// # Errors
    /// One line, when too many wait.
    pub fn add(&mut self, fault: Fault, given: Option<Nanos>) -> Result<(), String> {
        if self.waiting() >= Faults::MOST {
            return Err(format!(
                "`{fault}`: {} faults wait already, the most; `clear` forgets them",
                Faults::MOST
            ));
        }
        let seed = self.seed.derive(&format!("fault {}", self.given));
        self.given += 1;
        let list = match fault.kind {
            FaultKind::Connection(_) => &mut self.connections,
            _ => &mut self.requests,
        };
        list.push(Armed { fault, given, seed, seen: 0, acted: 0 });
        Ok(())
    }

    /// Forgets all; gives how many there were.
    pub fn clear(&mut self) -> usize {
        let waiting = self.waiting();
        self.requests.clear();
        self.connections.clear();
        waiting
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.requests.len() + self.connections.len()
    }

    /// Each that waits: its text, and how often it has acted.
    pub fn list(&self) -> impl Iterator<Item = (&Fault, u64)> {
        self.requests.iter().chain(&self.connections).map(|armed| (&armed.fault, armed.acted))
    }

    /// What they do to a request that came at `arrival`; `origin` is the arrival of the first request from which
    /// instants count, `None` before it: until then those that count from there see nothing. Costs nothing where there
    /// are none. What acts is added to `events`, with the arrival as its end.
    pub fn act(
        &mut self,
        arrival: Nanos,
        origin: Option<Nanos>,
        (operation, key): (Operation, &[u8]),
        events: &mut Vec<StoreEvent>,
    ) -> Acts {
        let mut acts = Acts::default();
        self.requests.retain_mut(|armed| {
            let counts = armed.given.or(origin);
            // What acts on each request counts nothing.
            if counts.is_none() && armed.fault.when != When::Always || !armed.fits(operation, key) {
                return true;
            }
            if !armed.is_due(|time| counts.is_some_and(|from| arrival >= from + time)) {
                return true;
            }
            match armed.fault.kind {
                FaultKind::Delay(time) => acts.delay = acts.delay + time,
                FaultKind::Freeze(time) => acts.freeze = acts.freeze + time,
                FaultKind::Inject(_) if acts.injection.is_some() => return true,
                FaultKind::Inject(injection) => acts.injection = Some(injection),
                FaultKind::Connection(_) => return false,
            }
            acts.count += 1;
            armed.acted += 1;
            if armed.acted <= TOLD_MAX && events.len() < EVENTS_MAX {
                events.push(StoreEvent::fault(arrival, &armed.fault));
            }
            !armed.fault.when.is_once()
        });
        acts
    }

    /// What a new connection meets: the first fault whose occasion has come.
    pub fn connect(&mut self) -> Option<ConnectionFault> {
        let mut met = None;
        self.connections.retain_mut(|armed| {
            let FaultKind::Connection(fault) = armed.fault.kind else { return false };
            if !armed.is_due(|_| false) || met.is_some() {
                return true;
            }
            met = Some(fault);
            armed.acted += 1;
            !armed.fault.when.is_once()
        });
        self.connections_met += u64::from(met.is_some());
        met
    }
}
