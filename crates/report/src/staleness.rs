//! What text and page say of probes of the read-after-write lag, in the same words.

use crate::text::{percent, time};
use analysis::overlay::OverlayLag;
use analysis::{LagBound, Staleness};
use units::{Estimate, Quantile, format_count};

/// How many probes there were, what they saw, and what went wrong.
pub(crate) fn probes(staleness: &Staleness) -> String {
    let Staleness { probes, stale, unseen, failed, .. } = staleness;
    let mut words = match probes {
        0 => "no probe was answered".to_owned(),
        _ => format!(
            "{} probes, {} of which ({}) saw a stale read",
            format_count(*probes),
            format_count(*stale),
            percent(*stale, *probes)
        ),
    };
    if *unseen > 0 {
        let unseen = format_count(*unseen);
        words += &format!("; {unseen} ended before their write was seen, and know the lag from below alone");
    }
    if *failed > 0 {
        words += &format!("; besides, {} failed", format_count(*failed));
    }
    words
}

/// Both bounds with their names, as far as there are any.
pub(crate) fn bounds(staleness: &Staleness) -> Vec<(&'static str, &LagBound)> {
    let both = [("at least", &staleness.at_least), ("at most", &staleness.at_most)];
    both.into_iter().filter_map(|(name, bound)| Some((name, bound.as_ref()?))).collect()
}

/// The quantiles that are shown of both, in order.
pub(crate) fn quantiles(staleness: &Staleness) -> Vec<Quantile> {
    let Some(bound) = &staleness.at_least else { return Vec::new() };
    bound.quantiles.iter().map(|(q, _)| *q).chain(bound.withheld.iter().copied()).collect()
}

/// A bound's quantile; `None` where the probes do not carry it.
pub(crate) fn quantile(bound: &LagBound, q: Quantile) -> Option<&Estimate> {
    bound.quantiles.iter().find(|(found, _)| *found == q).map(|(_, estimate)| estimate)
}

/// The grades of the probes.
pub(crate) fn graded(lag: &OverlayLag) -> String {
    let OverlayLag { probes, graded, exact, contained, .. } = lag;
    let mut words = match graded {
        0 => format!("none of {} probes is in the log", format_count(*probes)),
        _ => format!(
            "{} of {} intervals of probes are right by the log",
            format_count(*contained),
            format_count(*graded)
        ),
    };
    if let Some(width) = lag.width_mean {
        words += &format!(", and {} wide on average", time(width));
    }
    let truth: Vec<String> =
        lag.truth.iter().map(|(statistic, ns)| format!("{} {ns}", crate::truth::name(*statistic))).collect();
    if !truth.is_empty() {
        words += &format!("; the true lag: {}", truth.join(", "));
    }
    if exact < graded {
        words += &format!(
            "; {} judged by their reads alone, since the log does not tell their lag",
            format_count(graded - exact)
        );
    }
    if *graded > 0 && graded < probes {
        words += &format!("; {} not judged, since the log lacks their rows", format_count(probes - graded));
    }
    words
}
