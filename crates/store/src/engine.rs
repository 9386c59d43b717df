//! What decides: timing, faults, data.

mod control;
mod events;
mod settings;

pub use events::StoreEvent;
pub use settings::Settings;

use crate::fault::{Acts, Faults};
use crate::{
    Access, Arrival, ConnectionFault, Data, Decision, Injection, Model, Operation, Replication, Rules,
    Staleness, Timing, View,
};
use units::{Nanos, Seed};

/// The store behind all connections; one thread owns it.
#[derive(Debug)]
pub struct Engine {
    data: Data,
    replication: Replication,
    timing: Timing,
    /// What the timing was made of, to make it anew.
    model: Model,
    seed: Seed,
    faults: Faults,
    events: Vec<StoreEvent>,
    /// How many requests each of [`Rules::NAMES`] acted on.
    acted: [u64; Rules::NAMES.len()],
}

impl Default for Engine {
    /// A store that answers at once.
    fn default() -> Engine {
        Engine::new(Settings::default())
    }
}

impl Engine {
    /// A store that nobody has asked anything yet. Settings that [`Settings::check`] refuses give times that are of no
    /// use, and no panic; nodes that do not fit are one node, and faults beyond the most are left out.
    pub fn new(settings: Settings) -> Engine {
        let replication = Replication::new(settings.replication, settings.seed).unwrap_or_default();
        let mut faults = Faults::new(settings.seed.derive("store faults"));
        for fault in settings.faults {
            // Refused by `Settings::check`.
            let _ = faults.add(fault, None);
        }
        Engine {
            data: Data::with_delays(replication.delays().clone()),
            replication,
            timing: Timing::new(&settings.model, settings.seed),
            model: settings.model,
            seed: settings.seed,
            faults,
            events: Vec::new(),
            acted: [0; Rules::NAMES.len()],
        }
    }

    /// Decides when a request begins and when it is answered. Requests must come in the order of their arrivals; one
    /// that is out of order begins no earlier than its predecessor. `key` is the record's key without its table,
    /// empty where there is none.
    pub fn admit(&mut self, arrival: Arrival, operation: Operation, key: &[u8]) -> Decision {
        let number = self.timing.admitted();
        let starts = || Timing::starts_with(operation).then_some(arrival.at);
        let origin = self.timing.origin().or_else(starts);
        let told = self.events.len();
        let acts = self.faults.act(arrival.at, origin, (operation, key), &mut self.events);
        if acts.freeze > Nanos::ZERO {
            self.timing.freeze(arrival.at, acts.freeze);
        }
        let timed = self.timing.admit(arrival.at, operation, key);
        let node = self.replication.route(operation.access(), arrival.node, number);
        let mut decision = Decision {
            number,
            arrival,
            operation,
            begun: timed.begun,
            due: timed.due,
            node,
            rules: timed.rules,
            injection: None,
            key: (!key.is_empty()).then(|| record::key_hash(b"", key)),
        };
        self.data.settle(decision.begun);
        inject(&mut decision, acts);
        self.acknowledge(&mut decision);
        self.events[told..].iter_mut().for_each(|event| event.end = decision.due);
        self.count(decision.rules);
        decision
    }

    /// A write's answer is due when it has been acknowledged; where a fault keeps it from being made there is nothing to
    /// acknowledge.
    fn acknowledge(&self, decision: &mut Decision) {
        let executed = decision.injection.is_none_or(Injection::executes);
        if decision.operation.access() != Access::Write || !executed {
            return;
        }
        let wait = self.replication.acknowledgement(decision.node, decision.number, decision.begun);
        if wait > Nanos::ZERO {
            decision.due = decision.due + wait;
            decision.rules = decision.rules.with(Rules::ACKNOWLEDGED);
        }
    }

    fn count(&mut self, rules: Rules) {
        if rules == Rules::default() {
            return;
        }
        for (count, (rule, _)) in self.acted.iter_mut().zip(Rules::NAMES) {
            *count += u64::from(rules.has(rule));
        }
    }

    /// Nothing arrives before `at` any more, a time without requests: what would have to be caught up with is so in good
    /// time. Changes no decision. Costs as much as the hiccups that have passed since the last call.
    pub fn rest(&mut self, at: Nanos) {
        self.timing.rest(at);
    }

    /// What the next connection meets; to be asked once for each, in the order in which they are accepted. Such faults
    /// are counted by `status` and are no events: the caller knows the time.
    pub fn connection_fault(&mut self, number: u32) -> Option<ConnectionFault> {
        let _ = number;
        self.faults.connect()
    }

    /// Where and when an admitted request looks at data.
    pub fn view(decision: &Decision) -> View {
        View { at: decision.begun, node: decision.node, number: decision.number }
    }

    /// The latest turn of a request: nothing may look at data as of an earlier moment any more.
    pub fn last_begun(&self) -> Nanos {
        self.timing.last_begun()
    }

    /// What the truth log says of a write that was made at `written`, by its own turn or by a later commit: no version is
    /// missed, and its age is the time from [`Decision::begun`] until every node shows it. Costs a draw for each node.
    pub fn spread(&self, decision: &Decision, written: Nanos) -> Staleness {
        let travels = self.replication.delays().to_all(decision.node, decision.number);
        let age = written.saturating_sub(decision.begun) + travels;
        Staleness { age, ..Staleness::default() }
    }

    /// The records.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The records.
    pub fn data_mut(&mut self) -> &mut Data {
        &mut self.data
    }
}

fn inject(decision: &mut Decision, acts: Acts) {
    if acts.count > 0 {
        decision.due = decision.due + acts.delay;
        decision.injection = acts.injection;
        decision.rules = decision.rules.with(Rules::FAULT);
    }
}
