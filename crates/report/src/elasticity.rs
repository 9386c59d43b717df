//! What text, page, document and figure say of the elasticity experiment, in the same words.

use analysis::{Elasticity, ElasticityCurve, ElasticityJoin, ElasticitySpan, JoinPhase, Reported};
use record::LoadModel;
use units::{Estimate, Instant};

pub use crate::html::elasticity_page as html;
pub use crate::json::elasticity as json;
pub use crate::svg::elasticity_figure as figure;
pub use crate::text::elasticity_page as text;

pub(crate) const METHOD: &str = "Two runs at the same rate, each on a cluster that began as one node with the records loaded. “open” is an open \
    loop: response times from the intended start, which is what users wait. “plain” and “intended” are one closed loop, whose \
    sessions each keep their share of the rate as YCSB’s threads do: from when the request was sent, and from when the session’s \
    schedule said. Each request counts where it began. The join’s phases are what the first node told of the second, looked at four \
    times a second, and “starting” begins with the command that started it. Intervals are within a run, of which there is one";

/// `open loop`.
pub(crate) fn run_name(join: &ElasticityJoin) -> String {
    match join.header.load.model {
        LoadModel::Open => "open loop".to_owned(),
        other => other.name().to_owned(),
    }
}

/// What a curve is, in a few words.
pub(crate) fn curve_words(reported: Reported) -> &'static str {
    match reported {
        Reported::Plain => "plain (closed loop, from sent)",
        Reported::Intended => "intended (closed loop, from its schedule)",
        Reported::Open => "open (open loop, response time)",
    }
}

/// `joining from 30.2 s, normal from 65.0 s`.
pub(crate) fn phase_words(phases: &[JoinPhase]) -> String {
    if phases.is_empty() {
        return "no join was seen".to_owned();
    }
    let seconds = |at: Instant| at.0 as f64 / 1e9;
    let said: Vec<String> =
        phases.iter().map(|phase| format!("{} from {:.1} s", phase.name, seconds(phase.begin))).collect();
    said.join(", ")
}

/// A span of a curve.
pub(crate) fn span<'a>(curve: &'a ElasticityCurve, name: &str) -> Option<&'a ElasticitySpan> {
    curve.spans.iter().find(|span| span.name == name)
}

/// The mean of the open loop while the node joins, and that of a closed curve.
fn means(found: &Elasticity, reported: Reported) -> Option<(Estimate, Estimate)> {
    let mean = |wanted: Reported| -> Option<Estimate> {
        let curve = found.curves.iter().find(|curve| curve.reported == wanted)?;
        span(curve, "during")?.mean.clone()
    };
    Some((mean(Reported::Open)?, mean(reported)?))
}

/// Whether no value lies in both intervals; not where one has none.
fn are_apart(a: &Estimate, b: &Estimate) -> bool {
    let apart = |a: (f64, f64), b: (f64, f64)| a.0 > b.1 || b.0 > a.1;
    a.interval.zip(b.interval).is_some_and(|(a, b)| apart(a, b))
}

/// One sentence for each closed curve. How many times is said only of means that differ by more than their intervals.
pub(crate) fn sentences(found: &Elasticity) -> Vec<String> {
    let said = |reported: Reported| {
        let (open, closed) = means(found, reported)?;
        let difference = match are_apart(&open, &closed) && closed.point > 0.0 {
            true => format!("{:.1} times, in one run of each", open.point / closed.point),
            false => "their intervals do not lie apart, so no difference is shown".to_owned(),
        };
        Some(format!(
            "while the node joins, the open loop’s mean response time is {} and the closed loop’s {} mean {}: {difference}",
            crate::text::time(open.point),
            reported.name(),
            crate::text::time(closed.point),
        ))
    };
    [Reported::Plain, Reported::Intended].into_iter().filter_map(said).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_whose_intervals_meet_are_not_told_apart() {
        let mean =
            |low: f64, high: f64| Estimate { interval: Some((low, high)), ..Estimate::exact(1.0, 100) };
        assert!(are_apart(&mean(5.0, 9.0), &mean(1.0, 2.0)) && are_apart(&mean(1.0, 2.0), &mean(5.0, 9.0)));
        assert!(!are_apart(&mean(0.0, 39.0), &mean(1.0, 2.0)));
        assert!(!are_apart(&mean(2.0, 3.0), &mean(1.0, 2.0)));
        let unknown = Estimate { interval: None, ..Estimate::exact(1.0, 100) };
        assert!(!are_apart(&unknown, &mean(1.0, 2.0)));
    }
}
