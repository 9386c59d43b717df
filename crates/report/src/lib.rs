//! Renders analyses: text, JSON, HTML, SVG. Renderers compute nothing; all numbers are in the analysis.
#![deny(missing_docs)]

mod attribution;
pub mod html;
pub mod json;
mod jvm;
pub mod prove;
mod staleness;
pub mod svg;
pub mod text;
mod truth;
mod words;
