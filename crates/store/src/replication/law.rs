//! Constant delays behind the shape of drawn ones.

use std::fmt;
use std::str::FromStr;
use units::{Nanos, Seed};

/// A duration that is always the same.
#[derive(Clone, PartialEq, Debug)]
pub struct Draw(Nanos);

impl Draw {
    /// No time at all.
    pub const ZERO: Draw = Draw(Nanos::ZERO);

    /// Always `nanos`.
    pub fn constant(nanos: Nanos) -> Draw {
        Draw(nanos)
    }

    /// The value if it is always the same.
    pub fn as_constant(&self) -> Option<Nanos> {
        Some(self.0)
    }

    /// The mean.
    pub fn mean(&self) -> Nanos {
        self.0
    }

    /// The value that `index` addresses.
    pub fn at(&self, _seed: Seed, _index: u64) -> Nanos {
        self.0
    }
}

impl FromStr for Draw {
    type Err = String;
    fn from_str(text: &str) -> Result<Draw, String> {
        units::parse_duration(text).map(Draw).map_err(|error| error.to_string())
    }
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ns", self.0.0)
    }
}
