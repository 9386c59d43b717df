//! From Recordings to what is said of them: estimates, series, the verdict, comparisons.
//!
//! Everything that any page, JSON document or figure shows is in an [`Analysis`]; renderers compute nothing.
//!
//! ```text
//!  Recording ──scan──► Accumulator (one per thread) ──merge──► cells, series ──► summaries ─┐
//!     └── header, events, noise ─────────────────────────────► host evidence ──► verdict ──┴─► Analysis
//! ```
//!
//! All outcomes count in all times: a miss, an abort or an error took as long as it took. What that does to
//! the numbers is for the verdict to say (see [`limits`]).
#![deny(missing_docs)]

mod accumulate;
mod analyse;
pub mod attribution;
mod believable;
mod business;
mod carried;
mod cell;
mod compared;
mod comparison;
mod composition;
mod elasticity;
mod evidence;
mod floor;
mod heat;
mod host;
mod input;
pub mod limits;
mod load_series;
mod model;
mod observers;
mod outliers;
pub mod overlay;
mod planned;
mod predictability;
mod pyramid;
mod reasons;
mod repeats;
mod staleness;
mod stalls;
mod stated;
mod stated_pairs;
mod statements;
mod summary;
pub mod tell_tale;
mod told_once;

pub use analyse::{analyse, analyse_batches};
pub use attribution::{Attribution, Cause};
pub use business::{Asked, Business, BusinessRate, Rule, RuleState};
pub use compared::{ComparedRow, Unit};
pub use comparison::{CompareError, CompareOptions, ComparedMeasure, Comparison, compare};
pub use elasticity::{
    Elasticity, ElasticityCurve, ElasticityJoin, ElasticityPoint, ElasticityRun, ElasticitySpan, JoinPhase,
    Reported, elasticity,
};
pub use floor::{Floor, FloorKind, FloorPart, FloorRow, FloorShare, RunFloor};
pub use input::{AnalysisError, Input, LaidOver, Options};
pub use model::{
    Analysis, Anatomy, AnatomyRow, BoxPlot, ClientTotals, Counts, Extreme, HeatMap, LoadPoint,
    MeasureSummary, Observers, Pyramid, PyramidLevel, Reason, ReasonKind, RecordingInfo, SampledPoint, Scope,
    ScopeSummary, Series, Severity, SpectrumPoint, Spreads, Verdict, VerdictState,
};
pub use overlay::{Overlay, OverlayOptions, overlay};
pub use predictability::{
    Predictability, PredictabilityCell, PredictabilityRuns, QUANTITIES as PREDICTABILITY_QUANTITIES, Removal,
    Work, predictability,
};
pub use repeats::{RepeatedMeasure, RepeatedRow, across_repeats};
pub use staleness::{LagBound, Staleness};
pub use stated::facts;
pub use stated_pairs::{STATED_LIMIT, StatedFigure, StatedPair, stated_pairs, stated_quantiles};
pub use statements::{ExchangeSummary, OperationStatements, Part, Slowest, Statements};
