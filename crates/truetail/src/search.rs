//! `search`: the highest offered rate that holds a limit on response time.
//!
//! Bracket by doubling, then bisect in the logarithm. A probe decides only when the whole interval of its
//! estimate lies on one side of the limit; otherwise it is made again twice as long, at most twice, and a
//! rate for which the limit is still not *shown* to hold counts as not holding. So does one at which too many
//! requests failed or timed out, or the rate was not reached. Every probe stays on disk.

use crate::cli::SearchArguments;
use crate::output;
use crate::registry;
use crate::run::Manner;
use crate::settings::{DEFAULT_TARGET, RunOptions};
use crate::{Ended, commands, interrupt, run};
use anyhow::{anyhow, bail};
use driver::TargetUrl;
use limit::{Finding, Limit, judge};
use serde_json::json;
use std::path::{Path, PathBuf};
use units::{Estimate, Nanos, PerSecond, format_nanos, parse_rate};

mod find;
mod limit;

/// One run of a rate; a rate whose first run decides nothing has several.
struct Probe {
    rate: PerSecond,
    duration: Nanos,
    finding: Finding,
    /// It decided nothing, and was made again twice as long.
    repeated: bool,
    estimate: Option<Estimate>,
    directory: PathBuf,
}

struct Search {
    base: RunOptions,
    limit: Limit,
    directory: PathBuf,
    probes: Vec<Probe>,
    /// Rates that were tried.
    rates: usize,
    /// A signal cut the last probe short.
    interrupted: bool,
}

/// The options of a search besides those of its runs, with their defaults.
struct Wanted {
    slo: String,
    from: String,
    to: String,
    precision: String,
}

pub(crate) fn run(arguments: SearchArguments, as_json: bool) -> anyhow::Result<Ended> {
    let base = commands::with_file(arguments.options, arguments.config.as_deref())?;
    let wanted = Wanted {
        slo: arguments.slo.ok_or_else(|| {
            anyhow!(
                "search: --slo <LIMIT> is required, such as --slo 'p99 < 10ms'; in a file, `slo` of [search]"
            )
        })?,
        from: arguments.from,
        to: arguments.to,
        precision: arguments.precision,
    };
    let limit = Limit::parse(&wanted.slo)?;
    let rate = |flag: &str, text: &str| parse_rate(text).map_err(|e| anyhow!("{flag}: {e}"));
    let (from, to) = (rate("--from", &wanted.from)?, rate("--to", &wanted.to)?);
    if from >= to {
        bail!("--from {from} --to {to}: the first must be below the second");
    }
    let precision = percentage(&wanted.precision).map_err(|e| anyhow!("--precision {e}"))?;
    refuse_other_rates(&base)?;
    base.check()?;
    if arguments.print_config {
        return print_config(base, &wanted, as_json);
    }
    let stamp = run::timestamp(clock::wall_time_ns());
    let directory =
        base.out.clone().unwrap_or_else(|| PathBuf::from("recordings").join(format!("{stamp}-search")));
    let mut search = Search { base, limit, directory, probes: Vec::new(), rates: 0, interrupted: false };
    let best = find::highest((from.get(), to.get()), precision, |rate| search.probe(rate))?;
    search.show(best, &wanted.slo, as_json)
}

/// Search decides the rate; what decides it otherwise would be ignored.
fn refuse_other_rates(base: &RunOptions) -> anyhow::Result<()> {
    let trace = base.arrivals.as_deref().is_some_and(|a| a.trim().starts_with("trace:"));
    for (flag, given) in [
        ("--rate", base.rate.is_some()),
        ("--phases", base.phases.is_some()),
        ("--closed", base.closed == Some(true)),
        ("--repeat", base.repeat.is_some()),
        ("--arrivals trace", trace),
    ] {
        if given {
            bail!("search with {flag}: search sets the rate of an open loop itself; drop {flag}");
        }
    }
    if base.floor.is_some() {
        bail!("search with --floor: each of its runs would measure one; drop it, and use `truetail floor`");
    }
    Ok(())
}

fn print_config(base: RunOptions, wanted: &Wanted, as_json: bool) -> anyhow::Result<Ended> {
    let mut document = toml::Table::try_from(base.shown()?)?;
    let section =
        [("slo", &wanted.slo), ("from", &wanted.from), ("to", &wanted.to), ("precision", &wanted.precision)];
    let section: toml::Table =
        section.into_iter().map(|(key, text)| (key.to_owned(), text.clone().into())).collect();
    document.insert("search".to_owned(), section.into());
    if as_json {
        output::json(&json!({"schema": "truetail.config/1", "config": document}))?;
    } else {
        output::result(&toml::to_string(&document)?)?;
    }
    Ok(Ended::Well)
}

/// Reads `5%` or `0.05` as a share in (0, 1].
pub(crate) fn percentage(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    let share = number.map(|n| if text.contains('%') { n / 100.0 } else { n });
    share.filter(|s| *s > 0.0 && *s <= 1.0).ok_or_else(|| format!("{text}: expected a share such as `5%`"))
}

impl Search {
    /// Whether the limit is shown to hold at this rate; `None` when the user wants an end.
    fn probe(&mut self, rate: f64) -> anyhow::Result<Option<bool>> {
        if interrupt::requested() {
            self.interrupted = true;
            return Ok(None);
        }
        let rate = PerSecond::new(rate).ok_or_else(|| anyhow!("a rate left its range"))?;
        let asked = RunOptions::time("--duration", self.base.duration.as_deref())?;
        let requests = rate.get() * self.base.visit.unwrap_or(1.0);
        let needed = Nanos::from_secs_f64(self.limit.samples_needed() as f64 / requests);
        let mut duration = asked.unwrap_or(Nanos::from_secs(5)).max(needed);
        self.rates += 1;
        for attempt in 1..=3 {
            let (finding, estimate, directory) = self.attempt(rate, duration, attempt)?;
            if interrupt::requested() {
                // It was cut short, and shows nothing of what it was long enough for.
                self.interrupted = true;
                return Ok(None);
            }
            let repeated = attempt < 3 && finding == Finding::NotShown;
            let probe = Probe { rate, duration, finding, repeated, estimate, directory };
            output::note(&describe(&probe));
            self.probes.push(probe);
            if !repeated {
                return Ok(Some(finding == Finding::Holds));
            }
            duration = duration + duration;
        }
        Ok(Some(false))
    }

    fn attempt(
        &self,
        rate: PerSecond,
        duration: Nanos,
        attempt: u32,
    ) -> anyhow::Result<(Finding, Option<Estimate>, PathBuf)> {
        let mut options = self.base.clone();
        options.rate = Some(format!("{}/s", rate.get()));
        options.duration = Some(format!("{}ms", duration.0.div_ceil(1_000_000)));
        if options.warmup.is_none() {
            options.warmup = Some("1s".to_owned());
        }
        let mut url = TargetUrl::parse(options.target.as_deref().unwrap_or(DEFAULT_TARGET))?;
        if registry::driver_of(&url)?.file && url.path.is_empty() {
            // One database for all probes.
            std::fs::create_dir_all(&self.directory)?;
            let file = format!("{}{}", record::DATABASE_PREFIX, url.scheme);
            url.path = self.directory.join(file).to_string_lossy().into_owned();
            options.target = Some(url.to_string());
        }
        let stem = format!("probe-{:03}-{}", self.rates, rate.get());
        let again = if attempt == 1 { String::new() } else { format!("-{attempt}") };
        let directory = self.directory.join(stem + &again);
        options.out = Some(directory.clone());
        let done = run::execute_with(
            &options,
            Manner { quiet: true, quantile: self.limit.quantile(), ..Manner::default() },
        )?
        .whole()?;
        let (finding, estimate) = judge(&self.limit, &done.analysis);
        Ok((finding, estimate, directory))
    }

    fn show(&self, best: Option<f64>, slo: &str, as_json: bool) -> anyhow::Result<Ended> {
        if as_json {
            let probes: Vec<_> = self.probes.iter().map(probe_json).collect();
            output::json(&json!({
                "schema": "truetail.search/1",
                "slo": slo,
                "rate_per_second": best,
                "interrupted": self.interrupted,
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
            text += &match best.and_then(PerSecond::new) {
                Some(rate) => format!("highest rate at which `{slo}` is shown to hold: {rate}\n"),
                None => format!("`{slo}` was not shown to hold at any rate tried\n"),
            };
            text += &format!("evidence: {}\n", self.directory.display());
            output::result(&text)?;
        }
        if self.interrupted {
            bail!("search: interrupted before it was done; what is shown is what had been tried by then");
        }
        Ok(if best.is_some() { Ended::Well } else { Ended::LimitBroken })
    }
}

fn range(estimate: Option<&Estimate>) -> String {
    let time = |v: f64| format_nanos(Nanos(v as u64));
    estimate.map_or_else(
        || "too few samples".to_owned(),
        |e| match e.interval {
            Some((low, high)) => format!("{} [{}, {}]", time(e.point), time(low), time(high)),
            None => format!("{} [no interval]", time(e.point)),
        },
    )
}

fn describe(p: &Probe) -> String {
    let longer = if p.repeated { "; again, twice as long" } else { "" };
    format!("{} for {}: {}, {}{longer}", p.rate, p.duration, range(p.estimate.as_ref()), p.finding.name())
}

fn probe_json(p: &Probe) -> serde_json::Value {
    let path: &Path = &p.directory;
    json!({
        "rate_per_second": p.rate.get(),
        "seconds": p.duration.as_secs_f64(),
        "finding": p.finding.name(),
        "repeated": p.repeated,
        "point_ns": p.estimate.as_ref().map(|e| e.point),
        "low_ns": p.estimate.as_ref().and_then(|e| e.interval).map(|(low, _)| low),
        "high_ns": p.estimate.as_ref().and_then(|e| e.interval).map(|(_, high)| high),
        "recording": path.display().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::percentage;

    #[test]
    fn shares_are_read() {
        assert_eq!(percentage("5%"), Ok(0.05));
        assert!(percentage("-5%").is_err() && percentage("x").is_err());
    }
}
