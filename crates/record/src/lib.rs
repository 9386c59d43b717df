//! Samples, the buffers that workers append them to, and the Recording on disk.
//!
//! Every producer writes the same [`Recording`], every consumer reads nothing else.
//!
//! ```text
//!  worker ──push──► Ring ──drain──► Recorder's thread ──► samples/*.parquet, noise/*.parquet,
//!  (RawSample, ticks)               (Sample, instants)     events.parquet, run.toml
//! ```
//!
//! The hot half ([`RawSample`], [`Ring`]) allocates nothing after its start and never waits: a full ring
//! counts a drop. The cold half converts ticks to instants with the anchors taken since, and closes a part
//! file each second, so that a killed run loses at most that.
#![deny(missing_docs)]

mod header;
mod ring;
mod sample;

pub use header::{
    Event, EventKind, HostFacts, LoadFacts, LoadModel, NoiseObservation, NoiseSourceFacts, PhaseFacts,
    PhaseKind, Provenance, RunHeader,
};
pub use ring::{Consumer, Producer, ring};
pub use sample::{Measure, NO_SESSION, RawSample, Sample, SampleBatch, flags};
