//! Samples, the buffers that workers append them to, and the Recording on disk.
//!
//! Every producer writes the same [`Recording`], every consumer reads nothing else.
//!
//! ```text
//!  worker ──push──► Ring ──drain──► Recorder's thread ──► samples/*.parquet, noise/*.parquet,
//!  (RawSample, ticks)               (Sample, instants)     events.parquet, run.toml
//! ```
//!
//! The hot half ([`RawSample`], the [`ring`]) allocates nothing after its start and never waits: a full ring
//! counts a drop. The cold half converts ticks to instants with the anchors taken since, and closes a part
//! file each half second, so that a killed run loses less than a second. `docs/recording.md` describes the files.
//!
//! | to | use |
//! |---|---|
//! | record a live run | [`Recorder`], with a [`ring`] for each worker |
//! | write a simulation or an import | [`RecordingWriter`] |
//! | time what is inside of requests | [`statement_ring`] for each worker besides, [`Recording::statements`] |
//! | read | [`Recording`], its [`scan`](Recording::scan) for the samples |
//! | add what was computed from it | [`conclude`] |
//! | log what a simulated store knows of its requests | [`TruthRecorder`], [`TruthWriter`]; read it with [`TruthLog`] |
#![deny(missing_docs)]

mod columns;
mod directory;
mod end;
mod error;
mod guard;
mod header;
mod jvm;
mod live;
mod parts;
mod reader;
mod recorder;
mod reserve;
mod ring;
mod sample;
mod scan;
mod sealed;
mod server_log;
mod stated;
mod statement;
mod table;
mod thrift;
mod truth;
mod wire;
mod writer;

pub use columns::Columns;
pub use directory::{
    DATABASE_PREFIX, DRIVER_JVM_LOG, FLOOR_DIRECTORY, WORKLOAD_DIRECTORY, forget_unbegun, is_of_recording,
    keep_texts, require_vacant,
};
pub use end::{EndOfRun, Ending, RecordedVerdict};
pub use error::RecordError;
pub use guard::is_guarding;
pub use header::{
    Event, EventKind, HostFacts, LoadFacts, LoadModel, NoiseObservation, NoiseSourceFacts, PhaseFacts,
    PhaseKind, Provenance, RunHeader, StatementFacts,
};
pub use jvm::{JvmLogFacts, PauseReach};
pub use live::{Live, LiveSnapshot};
pub use reader::{Recording, conclude};
pub use recorder::{
    Consumers, EventSink, Finished, NoiseSink, Recorder, RecorderConfig, STATEMENTS_DROPPED, lower_priority,
};
pub use ring::{Consumer, Producer, ring};
pub use sample::{Measure, NO_SESSION, RawSample, Sample, SampleBatch, flags};
pub use server_log::{ServerLogFacts, ServerTold};
pub use stated::{STATED_MAX, Stated, StatedFrom, StatedQuantile, StatedRounding, bucket_of};
pub use statement::{
    KEY_DELETE, KEY_INSERT, KEY_READ, KEY_SCAN, KEY_UPDATE, NO_STATEMENT, PING, RawStatement, Statement,
    statement_name, statement_ring, with,
};
pub use truth::{
    CLIENT_RULE, TruthEnd, TruthEvents, TruthFinished, TruthHeader, TruthLog, TruthProducer, TruthRecorder,
    TruthRecorderConfig, TruthRow, TruthStaleness, TruthWriter, key_hash,
};
pub use writer::RecordingWriter;
