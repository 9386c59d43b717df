//! Figures as standalone SVG files.
//!
//! Each one has its title, the load model and the verdict, and a caption that says what it shows, names the units at its axes, and uses no
//! script, style sheet or foreign font: it can be opened, printed and embedded as it is. Colours are told
//! apart by colour-blind readers (Okabe & Ito 2008) and never carry a meaning alone.

mod anatomy;
mod attribution;
mod axis;
mod boxes;
mod canvas;
mod elasticity;
mod floor;
mod heat;
mod joining;
mod league;
mod load;
mod nosqlmark;
mod palette;
mod predictability;
mod series;
mod spectrum;
mod statements;
mod tell_tale;
mod timeline;
mod truth;

pub(crate) use attribution::colour as cause_colour;
pub use elasticity::elasticity_figure;
pub use floor::floor_figure;
pub use predictability::predictability_figure;
pub use tell_tale::tell_tale_figures;

use analysis::{Analysis, MeasureSummary, ScopeSummary};
use record::Measure;

/// All figures that the analysis has data for: (name, SVG text). The name is fit for a file or an anchor.
///
/// In this order, which is that of `report.html`: `truth`, `node-joins`, `attribution`, `statements`, `anatomy`, `response-time-series`, `service-time-series`,
/// `spectrum`, `operations`, `response-time-heat-map`, `service-time-heat-map`, `load`. Each is at most 300 KB however long the run was. Cost ≈ 1 ms each.
pub fn figures(analysis: &Analysis) -> Vec<(&'static str, String)> {
    let series = |measure| series::figure(analysis, measure);
    let heat = |measure| heat::figure(analysis, measure);
    let all = [
        ("truth", truth::figure(analysis)),
        ("node-joins", joining::of_run(analysis)),
        ("attribution", attribution::figure(analysis)),
        ("statements", statements::figure(analysis)),
        ("anatomy", anatomy::figure(analysis)),
        ("response-time-series", series(Measure::Response)),
        ("service-time-series", series(Measure::Service)),
        ("spectrum", spectrum::figure(analysis)),
        ("operations", boxes::figure(analysis)),
        ("response-time-heat-map", heat(Measure::Response)),
        ("service-time-heat-map", heat(Measure::Service)),
        ("load", load::figure(analysis)),
    ];
    all.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect()
}

/// All figures of a proof: (name, SVG text). The name is fit for a file or an anchor.
///
/// In this order, which is that of the page: `league`, `mean-over-capacity`, `around-the-hiccup`, `node-joins`. Those that the
/// proof has no data for are left out.
pub fn proof_figures(proof: &prove::Proof) -> Vec<(&'static str, String)> {
    let nosqlmark = proof.nosqlmark.as_ref();
    let all = [
        ("league", league::figure(&proof.tools)),
        ("mean-over-capacity", nosqlmark.and_then(nosqlmark::means)),
        ("around-the-hiccup", nosqlmark.and_then(nosqlmark::around_the_hiccup)),
        ("node-joins", proof.elasticity.as_ref().and_then(joining::figure)),
    ];
    all.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect()
}

/// The figure of the slow requests and their causes; `None` where no request is slow.
pub(crate) fn attribution_figure(analysis: &Analysis) -> Option<String> {
    attribution::figure(analysis)
}

/// The figure of what is inside of requests; `None` where the run did not time it.
pub(crate) fn statements_figure(analysis: &Analysis) -> Option<String> {
    statements::figure(analysis)
}

/// The figure of a node that joined while a run went on; `None` where none did.
pub(crate) fn node_joins(analysis: &Analysis) -> Option<String> {
    joining::of_run(analysis)
}

/// Whether there is more than one part of a request's time to tell apart: a closed loop without kernel stamps
/// has the service time alone.
pub(crate) fn has_anatomy(analysis: &Analysis) -> bool {
    let rows = &analysis.anatomy.rows;
    let has_parts = analysis.offered.is_some() || rows.iter().any(|r| r.pick_up_ns.is_some());
    has_parts && rows.iter().any(|r| r.whole_ns.is_finite())
}

/// What a user of the system waits for: the response time, or the service time where there is no response
/// time.
fn main_measure(analysis: &Analysis) -> Option<&MeasureSummary> {
    measured(&analysis.total, Measure::Response).or_else(|| measured(&analysis.total, Measure::Service))
}

fn measured(scope: &ScopeSummary, measure: Measure) -> Option<&MeasureSummary> {
    scope.measures.iter().find(|m| m.measure == measure && m.n > 0)
}

/// What a caption adds where some times are lower bounds.
fn censored_note(summary: &MeasureSummary) -> String {
    match summary.censored {
        0 => String::new(),
        n => format!(" {} requests were given up: their times are lower bounds.", axis::plain(n as f64)),
    }
}
