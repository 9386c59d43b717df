//! What `truetail prove` found, as text, page and document.
//!
//! ```text
//!  prove::Proof ──► text   tables for a terminal
//!             ├───► html   one page with a league table and figures, nothing from the network
//!             ├───► json   the document `truetail.prove/1`
//!             └───► figures, as SVG files
//! ```

pub use crate::html::prove_page as html;
pub use crate::json::proof as json;
pub use crate::svg::proof_figures as figures;
pub use crate::text::prove_page as text;

use prove::verdict::{Placed, Verdict};
use prove::{Proof, Statistic, ToolResult};

/// In one line: how many scenarios truetail passed.
pub(crate) fn headline(proof: &Proof) -> String {
    let passed = proof.scenarios.iter().filter(|s| s.grade.passed()).count();
    let of = proof.scenarios.len();
    match (passed, proof.verdict()) {
        (_, None) => "truetail itself; the verdicts are those of the tools".to_owned(),
        (_, Some(true)) if of == 0 => "every check of the experiment holds".to_owned(),
        (1, Some(true)) => "truetail's one run is within its limits".to_owned(),
        (_, Some(true)) => format!("all of truetail's {of} runs are within their limits"),
        (_, Some(false)) if passed == of => "a check of the experiment does not hold".to_owned(),
        (_, Some(false)) => {
            let broken = of - passed;
            let are = if broken == 1 { "is not within its limits" } else { "are not within their limits" };
            format!("{broken} of truetail's {of} runs {are}")
        }
    }
}

/// How far a figure is off, in words: `24× too short`, `right`.
pub(crate) fn factor_words(factor: Option<f64>) -> String {
    let many = |times: f64| if times < 9.95 { format!("{times:.1}×") } else { format!("{times:.0}×") };
    match factor {
        None => "–".to_owned(),
        Some(factor) if (0.95..=1.05).contains(&factor) => "right".to_owned(),
        Some(factor) if factor < 1.0 => format!("{} too short", many(1.0 / factor)),
        Some(factor) => format!("{} too long", many(factor)),
    }
}

/// The worst factor of a tool over all scenarios that were judged and whose figure can tell, by distance from 1.
pub(crate) fn worst_factor(tool: &ToolResult, statistic: Statistic) -> Option<f64> {
    let judged = tool.scenarios.iter().map(|s| &s.judgement).filter(|j| j.verdict != Verdict::CannotTell);
    let placed = judged.flat_map(|judgement| &judgement.placed);
    let tells = |p: &&Placed| p.statistic == statistic && p.place != prove::verdict::Place::CannotTell;
    let factors = placed.filter(tells).filter_map(Placed::factor);
    factors.max_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs()))
}

/// What the verdicts mean, for the foot of a table.
pub(crate) const VERDICTS: &str = "A tool measures from the intended start when its mean, p99, p99.9 and maximum are the \
     response time at the offered rate, and omits when they are the service time of what it sent; a scenario in which \
     the two are alike can't tell.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_words() {
        let words = [None, Some(1.0), Some(1.04), Some(0.5), Some(1.0 / 24.0), Some(3.0)].map(factor_words);
        assert_eq!(words, ["–", "right", "right", "2.0× too short", "24× too short", "3.0× too long"]);
    }
}
