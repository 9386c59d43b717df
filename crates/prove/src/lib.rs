//! Grades load tools against known truth.
//!
//! ```text
//!  Scenario ──► truth: closed form, exact recursion ────────────┐
//!     ├──► load::simulate + store's timing model ─► analysis ───┼──► Grade: true, measured, error, limit, pass
//!     ├──► truetail, live against the store ─► truth log ───────┤
//!     └──► a foreign tool ─► import::Reported ──────────────────┴──► Verdict: from where does it measure?
//! ```
//!
//! A scenario is data: what is offered, how the store behaves, how long. Its truth is computed by code that shares
//! nothing with the harness and nothing with the store, so that a fault in either shows as a difference. Nothing here
//! prints, reads a clock or starts a process: live runs hand in what they found.
//!
//! `docs/prove.md` says in plain words what each scenario asks, how the verdicts are made, and where the closed forms
//! come from.
#![deny(missing_docs)]

pub mod elasticity;
mod figures;
pub mod grade;
pub mod invocations;
pub mod nosqlmark;
pub mod offered;
mod result;
pub mod scenario;
pub mod simulated;
mod timeline;
pub mod truth;
pub mod verdict;

pub use figures::{Figures, Statistic};
pub use result::{Clock, Host, Proof, ScenarioResult, ToolResult, ToolScenario};
pub use timeline::{Bucket, Timeline, Times};
