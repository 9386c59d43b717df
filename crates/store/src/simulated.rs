//! The store's timing behind a simulated load.

use crate::{Model, Operation, Timing};
use load::simulate::{Answer, Server};
use units::{Nanos, Seed};

/// A server for `load::simulate` that keeps the very timing that a live store keeps.
///
/// Each exchange is a read without a key. Hiccups and joins count from the first of them, as they do live.
#[derive(Clone, Debug)]
pub struct SimulatedServer {
    timing: Timing,
}

impl SimulatedServer {
    /// A store with these settings that nobody has asked anything yet.
    pub fn new(model: &Model, seed: Seed) -> SimulatedServer {
        SimulatedServer { timing: Timing::new(model, seed) }
    }
}

impl Server for SimulatedServer {
    fn serve(&mut self, now: Nanos, _session: u16) -> Answer {
        Answer { at: self.timing.admit(now, Operation::Read, b"").due, result: Ok(()) }
    }
}
