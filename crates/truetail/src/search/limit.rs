//! What must hold, and whether a probe shows it.

use analysis::{Analysis, Reason, ReasonKind, Severity, Verdict, VerdictState};
use anyhow::anyhow;
use record::Measure;
use units::{Bound, Estimate, Nanos, Quantile, parse_latency_limit, parse_quantile};

/// What must hold.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Limit {
    what: Statistic,
    pub(super) below: Nanos,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Statistic {
    Mean,
    At(Quantile),
}

impl Limit {
    /// Reads `p99 < 10ms`, `mean < 1ms`, `max < 100ms`.
    pub(super) fn parse(text: &str) -> anyhow::Result<Limit> {
        let expected = || anyhow!("--slo '{text}': expected a limit such as 'p99 < 10ms' or 'mean < 1ms'");
        let (what, below) = text.split_once('<').ok_or_else(expected)?;
        let below = parse_latency_limit(below.trim().trim_start_matches('=').trim_start())
            .map_err(|e| anyhow!("--slo '{text}': {e}"))?;
        let what = match what.trim() {
            "mean" => Statistic::Mean,
            name => Statistic::At(parse_quantile(name).map_err(|e| anyhow!("--slo '{text}': {e}"))?),
        };
        Ok(Limit { what, below })
    }

    /// What an analysis must be asked for besides the usual quantiles.
    pub(super) fn quantile(&self) -> Option<Quantile> {
        match self.what {
            Statistic::Mean => None,
            Statistic::At(q) => Some(q),
        }
    }

    /// Requests from which a probe can be expected to decide.
    pub(super) fn samples_needed(&self) -> u64 {
        match self.what {
            Statistic::Mean => 100,
            Statistic::At(q) if q.get() >= 1.0 => 1000,
            // Four times what a quantile needs to be printed at all, so that its interval can be narrow.
            Statistic::At(q) => 4 * q.samples_needed(),
        }
    }

    /// The quantity in an analysis; `None` where the sample count does not carry it.
    pub(super) fn of(&self, analysis: &Analysis) -> Option<Estimate> {
        let summary = analysis.total.measures.iter().find(|m| m.measure == Measure::Response)?;
        match self.what {
            Statistic::Mean => Some(summary.mean.clone()),
            Statistic::At(q) if q.get() >= 1.0 => Some(summary.maximum()),
            Statistic::At(q) => summary
                .quantiles
                .iter()
                .find(|(printed, _)| (printed.get() - q.get()).abs() < 1e-9)
                .map(|(_, estimate)| estimate.clone()),
        }
    }
}

/// What a probe says of the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Finding {
    Holds,
    Broken,
    NotShown,
}

impl Finding {
    pub(super) fn name(self) -> &'static str {
        match self {
            Finding::Holds => "holds",
            Finding::Broken => "broken",
            Finding::NotShown => "not shown to hold",
        }
    }
}

/// The finding of an analysis, and the estimate that it rests on.
pub(super) fn judge(limit: &Limit, analysis: &Analysis) -> (Finding, Option<Estimate>) {
    let estimate = limit.of(analysis);
    (decide(limit.below, estimate.as_ref(), &analysis.verdict), estimate)
}

/// A probe whose requests were not served as asked breaks the limit, however short those that were.
fn decide(below: Nanos, estimate: Option<&Estimate>, verdict: &Verdict) -> Finding {
    if verdict.state == VerdictState::Invalid || verdict.reasons.iter().any(is_failure) {
        return Finding::Broken;
    }
    let below = below.0 as f64;
    match estimate {
        None => Finding::NotShown,
        // A point alone shows nothing, but for an observed one.
        Some(e) if e.interval.is_none() && e.method != "observed" => Finding::NotShown,
        Some(e) if e.high() < below && e.bound == Bound::Exact => Finding::Holds,
        Some(e) if e.low() >= below => Finding::Broken,
        Some(_) => Finding::NotShown,
    }
}

fn is_failure(reason: &Reason) -> bool {
    use ReasonKind::{Aborts, Censored, Errors, Misses, RateNotReached};
    reason.severity >= Severity::Suspect
        && matches!(reason.kind, RateNotReached | Errors | Aborts | Misses | Censored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let limit = Limit::parse("p99.9 < 10ms").expect("a limit");
        assert_eq!(limit.below, Nanos::from_millis(10));
        assert_eq!(limit.samples_needed(), 40_000);
        assert_eq!(Limit::parse("mean<1ms").expect("a limit").what, Statistic::Mean);
        assert_eq!(Limit::parse("p99.5 < 1ms").expect("a limit").samples_needed(), 8_000);
        for bad in
            ["p101 < 1ms", "p99", "p99 > 1ms", "p999x < 1ms", "p99 < soon", "p99 < 10", "mean<=1.5", ""]
        {
            let message = Limit::parse(bad).expect_err(bad).to_string();
            assert!(message.contains("--slo") && !message.contains('\n'), "{message}");
        }
    }

    fn verdict(reasons: &[(Severity, ReasonKind)]) -> Verdict {
        let reason = |(severity, kind): &(Severity, ReasonKind)| Reason {
            severity: *severity,
            kind: *kind,
            text: String::new(),
            hint: String::new(),
        };
        let state = match reasons.iter().map(|(severity, _)| *severity).max() {
            Some(Severity::Invalid) => VerdictState::Invalid,
            Some(Severity::Suspect) => VerdictState::Suspect,
            _ => VerdictState::Valid,
        };
        let reasons = reasons.iter().map(reason).collect();
        Verdict { state, reasons, believable_to: None, bound_reason: String::new() }
    }

    #[test]
    fn a_probe_with_failures_breaks_the_limit() {
        use ReasonKind::*;
        let short = Estimate { interval: Some((1e6, 2e6)), ..Estimate::exact(1.5e6, 1000) };
        let finding = |reasons: &[_]| decide(Nanos::from_millis(10), Some(&short), &verdict(reasons));
        assert_eq!(finding(&[]), Finding::Holds);
        for kind in [RateNotReached, Errors, Aborts, Misses, Censored] {
            assert_eq!(finding(&[(Severity::Suspect, kind)]), Finding::Broken, "{kind:?}");
        }
        assert_eq!(finding(&[(Severity::Note, Censored), (Severity::Suspect, Steal)]), Finding::Holds);
        assert_eq!(finding(&[(Severity::Invalid, SamplesDropped)]), Finding::Broken);
    }

    #[test]
    fn a_maximum_that_may_be_longer_is_not_shown_to_hold() {
        let at_least = |ns: f64| Estimate { bound: Bound::AtLeast, ..Estimate::exact(ns, 1000) };
        let finding = |e: &Estimate| decide(Nanos::from_millis(10), Some(e), &verdict(&[]));
        assert_eq!(finding(&Estimate::exact(5e6, 1000)), Finding::Holds);
        assert_eq!(finding(&at_least(5e6)), Finding::NotShown);
        assert_eq!(finding(&at_least(1e7)), Finding::Broken);
    }
}
