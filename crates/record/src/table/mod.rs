//! The tables of a recording as Parquet columns.

pub(crate) mod anchors;
pub(crate) mod column;
pub(crate) mod sample;
mod sample_read;
pub(crate) mod small;
pub(crate) mod stated;
pub(crate) mod statement;

pub(crate) use sample_read::SampleReader;
