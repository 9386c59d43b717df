//! `search`: the highest offered rate that holds a limit on response time.
//!
//! Bracket by doubling, then bisect in the logarithm. A probe decides only when the whole interval of its
//! estimate lies on one side of the limit; otherwise it is made again twice as long, at most twice, and a
//! rate for which the limit is still not *shown* to hold counts as not holding. So does one at which too many
//! requests failed or timed out, or the rate was not reached. Every probe stays on disk.

use crate::cli::SearchArguments;
use crate::output;
use crate::settings::RunOptions;
use crate::{Ended, commands, interrupt, run};
use analysis::{Analysis, Reason, ReasonKind, Severity, Verdict, VerdictState};
use anyhow::{anyhow, bail};
use record::Measure;
use serde_json::json;
use std::path::{Path, PathBuf};
use units::{
    Bound, Estimate, Nanos, PerSecond, Quantile, format_nanos, parse_duration, parse_quantile, parse_rate,
};

/// What must hold.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Limit {
    what: Statistic,
    below: Nanos,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Statistic {
    Mean,
    At(Quantile),
}

impl Limit {
    /// Reads `p99 < 10ms`, `mean < 1ms`, `max < 100ms`.
    fn parse(text: &str) -> anyhow::Result<Limit> {
        let expected = || anyhow!("--slo '{text}': expected a limit such as 'p99 < 10ms' or 'mean < 1ms'");
        let (what, below) = text.split_once('<').ok_or_else(expected)?;
        let below = parse_duration(below.trim().trim_start_matches('='))
            .map_err(|e| anyhow!("--slo '{text}': {e}"))?;
        let what = match what.trim() {
            "mean" => Statistic::Mean,
            name => Statistic::At(printed(name).map_err(|e| anyhow!("--slo '{text}': {e}"))?),
        };
        Ok(Limit { what, below })
    }

    fn samples_needed(&self) -> u64 {
        match self.what {
            Statistic::Mean => 100,
            Statistic::At(q) if q.get() >= 1.0 => 1000,
            // Four times what a quantile needs to be printed at all, so that its interval can be narrow.
            Statistic::At(q) => 4 * q.samples_needed(),
        }
    }

    fn of(&self, analysis: &Analysis) -> Option<Estimate> {
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

/// A quantile that an analysis has.
fn printed(name: &str) -> Result<Quantile, String> {
    let asked = parse_quantile(name).map_err(|e| e.to_string())?;
    let same = |q: &Quantile| (q.get() - asked.get()).abs() < 1e-9;
    let names = || Quantile::PRINTED.map(|q| q.name()).join(", ");
    let found = Quantile::PRINTED.into_iter().find(same).or((asked.get() >= 1.0).then_some(asked));
    found.ok_or_else(|| format!("{name} is not computed; there are {}, max, mean", names()))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Finding {
    Holds,
    Broken,
    NotShown,
}

impl Finding {
    fn name(self) -> &'static str {
        match self {
            Finding::Holds => "holds",
            Finding::Broken => "broken",
            Finding::NotShown => "not shown to hold",
        }
    }
}

struct Probe {
    rate: PerSecond,
    finding: Finding,
    estimate: Option<Estimate>,
    directory: PathBuf,
}

struct Search {
    base: RunOptions,
    limit: Limit,
    directory: PathBuf,
    probes: Vec<Probe>,
    precision: f64,
}

pub(crate) fn run(arguments: SearchArguments, as_json: bool) -> anyhow::Result<Ended> {
    let limit = Limit::parse(&arguments.slo)?;
    let rate = |flag: &str, text: &str| parse_rate(text).map_err(|e| anyhow!("{flag}: {e}"));
    let (from, to) = (rate("--from", &arguments.from)?, rate("--to", &arguments.to)?);
    if from >= to {
        bail!("--from {from} --to {to}: the first must be below the second");
    }
    let precision = percentage(&arguments.precision).map_err(|e| anyhow!("--precision {e}"))?;
    let base = commands::with_file(arguments.options, arguments.config.as_deref())?;
    for (flag, given) in [
        ("--rate", base.rate.is_some()),
        ("--phases", base.phases.is_some()),
        ("--closed", base.closed == Some(true)),
        ("--repeat", base.repeat.is_some()),
    ] {
        if given {
            bail!("search with {flag}: search sets the rate of an open loop itself; drop {flag}");
        }
    }
    let stamp = run::timestamp(clock::wall_time_ns());
    let directory =
        base.out.clone().unwrap_or_else(|| PathBuf::from("recordings").join(format!("{stamp}-search")));
    let mut search = Search { base, limit, directory, probes: Vec::new(), precision };
    let best = search.find(from.get(), to.get())?;
    search.show(best, &arguments.slo, as_json)
}

/// Reads `5%` or `0.05` as a share in (0, 1].
pub(crate) fn percentage(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    let share = number.map(|n| if text.contains('%') { n / 100.0 } else { n });
    share.filter(|s| *s > 0.0 && *s <= 1.0).ok_or_else(|| format!("{text}: expected a share such as `5%`"))
}

impl Search {
    fn find(&mut self, from: f64, to: f64) -> anyhow::Result<Option<f64>> {
        let mut holds: Option<f64> = None;
        let mut fails: Option<f64> = None;
        let mut rate = from;
        while fails.is_none() && !interrupt::requested() {
            match self.probe(rate)? {
                Finding::Holds if rate >= to => return Ok(Some(rate)),
                Finding::Holds => {
                    holds = Some(rate);
                    rate = (rate * 2.0).min(to);
                }
                _ => fails = Some(rate),
            }
        }
        let (Some(mut low), Some(mut high)) = (holds, fails) else { return Ok(holds) };
        while high / low > 1.0 + self.precision && !interrupt::requested() {
            let middle = (low * high).sqrt();
            if self.probe(middle)? == Finding::Holds {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(Some(low))
    }

    fn probe(&mut self, rate: f64) -> anyhow::Result<Finding> {
        let rate = PerSecond::new(rate.round().max(1.0)).ok_or_else(|| anyhow!("a rate left its range"))?;
        let asked = RunOptions::time("--duration", self.base.duration.as_deref())?;
        let needed = Nanos::from_secs_f64(self.limit.samples_needed() as f64 / rate.get());
        let mut duration = asked.unwrap_or(Nanos::from_secs(5)).max(needed);
        for attempt in 0..3 {
            let (finding, estimate, directory) = self.attempt(rate, duration)?;
            let last = attempt == 2 || finding != Finding::NotShown || interrupt::requested();
            output::note(&describe(rate, duration, finding, estimate.as_ref(), !last));
            if last {
                self.probes.push(Probe { rate, finding, estimate, directory });
                return Ok(finding);
            }
            duration = duration + duration;
        }
        Ok(Finding::NotShown)
    }

    fn attempt(
        &self,
        rate: PerSecond,
        duration: Nanos,
    ) -> anyhow::Result<(Finding, Option<Estimate>, PathBuf)> {
        let mut options = self.base.clone();
        options.rate = Some(format!("{}/s", rate.get()));
        options.duration = Some(format!("{}ms", duration.0.div_ceil(1_000_000)));
        if options.warmup.is_none() {
            options.warmup = Some("1s".to_owned());
        }
        if options.target.as_deref().is_none_or(|t| t == "sqlite:") {
            // One database for all probes.
            std::fs::create_dir_all(&self.directory)?;
            options.target = Some(format!("sqlite:{}", self.directory.join("data.sqlite").display()));
        }
        let stem = format!("probe-{:03}-{:.0}", self.probes.len() + 1, rate.get());
        let mut directory = self.directory.join(&stem);
        let mut again = 2;
        while directory.exists() {
            directory = self.directory.join(format!("{stem}-{again}"));
            again += 1;
        }
        options.out = Some(directory.clone());
        let done = run::execute(&options, true)?;
        let (finding, estimate) = judge(&self.limit, &done.analysis);
        Ok((finding, estimate, directory))
    }

    fn show(&self, best: Option<f64>, slo: &str, as_json: bool) -> anyhow::Result<Ended> {
        if as_json {
            let probes: Vec<_> = self.probes.iter().map(probe_json).collect();
            output::json(&json!({
                "schema": "truetail.search/1",
                "slo": slo,
                "rate_per_second": best.map(f64::round),
                "probes": probes,
            }))?;
        } else {
            let mut text = String::new();
            for p in &self.probes {
                text += &format!(
                    "{:>12}  {:<18} {}\n",
                    p.rate.to_string(),
                    p.finding.name(),
                    range(p.estimate.as_ref())
                );
            }
            text += &match best.and_then(|rate| PerSecond::new(rate.round())) {
                Some(rate) => format!("highest rate at which `{slo}` is shown to hold: {rate}\n"),
                None => format!("`{slo}` was not shown to hold at any rate tried\n"),
            };
            text += &format!("evidence: {}\n", self.directory.display());
            output::result(&text)?;
        }
        Ok(if best.is_some() { Ended::Well } else { Ended::LimitBroken })
    }
}

fn judge(limit: &Limit, analysis: &Analysis) -> (Finding, Option<Estimate>) {
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

fn range(estimate: Option<&Estimate>) -> String {
    let time = |v: f64| format_nanos(Nanos(v as u64));
    estimate.map_or_else(
        || "too few samples".to_owned(),
        |e| format!("{} [{}, {}]", time(e.point), time(e.low()), time(e.high())),
    )
}

fn describe(
    rate: PerSecond,
    duration: Nanos,
    finding: Finding,
    estimate: Option<&Estimate>,
    again: bool,
) -> String {
    let longer = if again { "; again, twice as long" } else { "" };
    format!("{rate} for {duration}: {}, {}{longer}", range(estimate), finding.name())
}

fn probe_json(p: &Probe) -> serde_json::Value {
    let path: &Path = &p.directory;
    json!({
        "rate_per_second": p.rate.get(),
        "finding": p.finding.name(),
        "point_ns": p.estimate.as_ref().map(|e| e.point),
        "low_ns": p.estimate.as_ref().map(Estimate::low),
        "high_ns": p.estimate.as_ref().map(Estimate::high),
        "recording": path.display().to_string(),
    })
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
        for bad in ["p98 < 1ms", "p99", "p99 > 1ms", "p999x < 1ms", "p99 < soon", ""] {
            let message = Limit::parse(bad).expect_err(bad).to_string();
            assert!(message.contains("--slo") && !message.contains('\n'), "{message}");
        }
        assert_eq!(percentage("5%"), Ok(0.05));
        assert!(percentage("-5%").is_err() && percentage("x").is_err());
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
