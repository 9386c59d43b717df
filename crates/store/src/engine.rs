//! What decides: timing, faults, data.

use crate::{Access, Arrival, Data, Decision, Operation, Replication, Rules, View};
use units::Nanos;

/// The store behind all connections; one thread owns it.
#[derive(Debug, Default)]
pub struct Engine {
    data: Data,
    replication: Replication,
    admitted: u64,
    last_begun: Nanos,
}

impl Engine {
    /// A store that answers at once.
    pub fn new() -> Engine {
        Engine::default()
    }

    /// An empty store of several nodes; everything else stays.
    pub fn replicated(self, replication: Replication) -> Engine {
        Engine { data: Data::with_delays(replication.delays().clone()), replication, ..self }
    }

    /// Decides when a request begins and when it is answered. Requests must come in the order of their arrivals; one
    /// that is out of order begins no earlier than its predecessor. `key` is the record's key without its table,
    /// empty where there is none.
    pub fn admit(&mut self, arrival: Arrival, operation: Operation, key: &[u8]) -> Decision {
        let _ = key;
        let begun = arrival.at.max(self.last_begun);
        self.last_begun = begun;
        let number = self.admitted;
        self.admitted += 1;
        let node = self.replication.route(operation.access(), arrival.node, number);
        let mut decision = Decision {
            number,
            arrival,
            operation,
            begun,
            due: begun,
            node,
            rules: Rules::default(),
            injection: None,
        };
        self.data.settle(begun);
        self.acknowledge(&mut decision);
        decision
    }

    /// A write's answer is due when it has been acknowledged.
    fn acknowledge(&self, decision: &mut Decision) {
        if decision.operation.access() != Access::Write {
            return;
        }
        let wait = self.replication.acknowledgement(decision.node, decision.number, decision.begun);
        if wait > Nanos::ZERO {
            decision.due = decision.due + wait;
            decision.rules = decision.rules.with(Rules::ACKNOWLEDGED);
        }
    }

    /// Where and when an admitted request looks at data.
    pub fn view(decision: &Decision) -> View {
        View { at: decision.begun, node: decision.node, number: decision.number }
    }

    /// The records.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The records.
    pub fn data_mut(&mut self) -> &mut Data {
        &mut self.data
    }

    /// A command over the wire while the store runs, such as `fault delay:800ms@next`; gives what to answer.
    ///
    /// # Errors
    /// One line: the word that is not understood and what is expected.
    pub fn control(&mut self, now: Nanos, command: &str) -> Result<String, String> {
        let _ = now;
        Err(format!("`{command}`: no such command"))
    }
}
