//! Quantities that carry their unit.
//!
//! A tool that measures time must not add milliseconds to ticks, or compare a quantile in [0, 1] with a
//! percentile in [0, 100]. Each quantity is a type of its own here and nothing converts silently:
//!
//! | type | what | unit |
//! |---|---|---|
//! | [`Nanos`] | elapsed time | nanoseconds |
//! | [`Instant`] | a point in time of a run | nanoseconds since the run's epoch |
//! | [`Ticks`] | a raw reading of the run's clock | clock ticks since the run's epoch |
//! | [`PerSecond`] | a rate | 1/s |
//! | [`Quantile`] | a position in a distribution | in [0, 1] |
//! | [`Estimate`] | a number with its uncertainty | of whatever it estimates |
//! | [`Outcome`] | how a request ended | – |
//! | [`Seed`], [`Rng`] | the start of every random stream | – |
//!
//! Conversions between [`Ticks`] and [`Instant`] need the anchors of the `clock` crate.
#![deny(missing_docs)]

mod estimate;
mod outcome;
mod quantity;
mod random;
mod text;

pub use estimate::{Bound, Estimate};
pub use outcome::{Outcome, OutcomeClass};
pub use quantity::{Instant, Nanos, PerSecond, Quantile, Ticks};
pub use random::{Rng, Seed};
pub use text::{
    ParseQuantityError, format_count, format_counted, format_nanos, format_rate, parse_duration,
    parse_latency_limit, parse_quantile, parse_rate,
};
