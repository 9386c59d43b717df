//! From Recordings to what is said of them: estimates, series, the verdict, comparisons.
//!
//! Everything that any page, JSON document or figure shows is in an [`Analysis`]; renderers compute nothing.
#![deny(missing_docs)]

mod model;

pub use model::{
    Analysis, Anatomy, AnatomyRow, BoxPlot, ClientTotals, Counts, Extreme, HeatMap, LoadPoint,
    MeasureSummary, Pyramid, PyramidLevel, Reason, ReasonKind, RecordingInfo, SampledPoint, Scope,
    ScopeSummary, Series, Severity, SpectrumPoint, Spreads, Verdict, VerdictState,
};
