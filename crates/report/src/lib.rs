//! Renders analyses: text, JSON, HTML, SVG. Renderers compute nothing; all numbers are in the analysis.
#![deny(missing_docs)]

mod attribution;
mod business;
pub mod elasticity;
pub mod floor;
pub mod gaps;
pub mod html;
pub mod json;
mod jvm;
mod logs;
pub mod predictability;
pub mod prove;
mod server_log;
mod staleness;
mod stated;
mod statements;
pub mod svg;
pub mod tell_tale;
pub mod text;
mod truth;
mod words;
