//! What happened when, for the truth log.

use super::Engine;
use crate::Fault;
use units::Nanos;

/// Something that the store did to many requests, or on purpose to one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreEvent {
    /// `hiccup`, `join` or `fault`; `no more hiccups` where so many lay ahead that they were given up.
    pub kind: &'static str,
    /// Since the store's epoch: of a hiccup; of the streaming; the arrival of the request that a fault acts on.
    pub begin: Nanos,
    /// The end of the same; when the answer that a fault acts on is due.
    pub end: Nanos,
    /// The setting's text.
    pub detail: String,
}

impl StoreEvent {
    pub(crate) fn fault(arrival: Nanos, fault: &Fault) -> StoreEvent {
        StoreEvent { kind: "fault", begin: arrival, end: arrival, detail: fault.to_string() }
    }
}

impl Engine {
    /// Moves what has begun since the last call, up to and with `now`, to the end of `into`, in no particular order. To
    /// be called now and then: what nobody takes is kept up to some ten thousand events.
    ///
    /// A hiccup is told of when it has begun, and a request has met it or looked past it; its end may lie in the future. One
    /// that no request came to need not be told of, nor is one that a `restart` came before. Of a fault that acts again
    /// and again, the first 1,000 times are.
    pub fn drain_events(&mut self, now: Nanos, into: &mut Vec<StoreEvent>) {
        self.timing.drain_events(now, into);
        into.append(&mut self.events);
    }
}
