//! What a store is started with.

use crate::fault::Faults;
use crate::{Fault, Model, ReplicationSettings};
use units::Seed;

/// All that decides what an [`crate::Engine`] does with its requests.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// The timing.
    pub model: Model,
    /// The nodes.
    pub replication: ReplicationSettings,
    /// Faults, whose numbers and times count from the first request; at most 1,000.
    pub faults: Vec<Fault>,
    /// The start of all that is drawn.
    pub seed: Seed,
}

impl Default for Settings {
    /// One node that answers at once, without faults.
    fn default() -> Settings {
        Settings {
            model: Model::default(),
            replication: ReplicationSettings::default(),
            faults: Vec::new(),
            seed: Seed(1),
        }
    }
}

impl Settings {
    /// Whether the settings make sense together.
    ///
    /// # Errors
    /// One line: the setting, its value, the limit.
    pub fn check(&self) -> Result<(), String> {
        if self.faults.len() > Faults::MOST {
            return Err(format!("{} faults: at most {} are possible", self.faults.len(), Faults::MOST));
        }
        self.replication.check()?;
        self.model.check()
    }
}
