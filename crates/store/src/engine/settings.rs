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
        self.model.check()?;
        self.replication.check()
    }

    /// Name and text of each setting that is not the default, for headers and pages.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let mut settings = self.model.describe();
        settings.extend(self.replication.describe());
        settings.extend(self.faults.iter().map(|fault| ("fault", fault.to_string())));
        settings
    }
}
