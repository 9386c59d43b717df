//! What decides: timing, faults, data.

use crate::{Arrival, Data, Decision, NodeId, Operation, Rules, View};
use units::Nanos;

/// The store behind all connections; one thread owns it.
#[derive(Debug, Default)]
pub struct Engine {
    data: Data,
    last_begun: Nanos,
}

impl Engine {
    /// A store that answers at once.
    pub fn new() -> Engine {
        Engine::default()
    }

    /// Decides when a request begins and when it is answered. Requests must come in the order of their arrivals; one
    /// that is out of order begins no earlier than its predecessor. `key` is the record's key without its table,
    /// empty where there is none.
    pub fn admit(&mut self, arrival: Arrival, operation: Operation, key: &[u8]) -> Decision {
        let _ = key;
        let begun = arrival.at.max(self.last_begun);
        self.last_begun = begun;
        Decision {
            arrival,
            operation,
            begun,
            due: begun,
            node: NodeId::default(),
            rules: Rules::default(),
            injection: None,
        }
    }

    /// Where and when an admitted request looks at data.
    pub fn view(decision: &Decision) -> View {
        View { at: decision.begun, node: decision.node }
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
