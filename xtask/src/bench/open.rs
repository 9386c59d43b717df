//! An open loop on PostgreSQL: how late each client sends what is due.

use super::Effort;
use super::builds::Builds;
use super::figures::Figures;
use super::peers::{Ground, Transport, number_at};
use anyhow::{Context, bail};
use std::path::Path;

const RATES: [u32; 2] = [2_000, 5_000];
const SESSIONS: &str = "8";
/// Shares of pgbench's lag that truetail's should stay below.
const TARGETS: [(&str, f64); 2] = [("p50", 1.0 / 3.0), ("p99.9", 0.5)];

pub(crate) fn run(builds: &Builds, effort: &Effort, figures: &mut Figures) -> anyhow::Result<()> {
    let ground = Ground::new(builds)?;
    // p99.9 needs 10,000 requests.
    let seconds = effort.seconds.max(6);
    for _ in 0..effort.rounds {
        for rate in RATES {
            for transport in Transport::ALL {
                truetail(&ground, transport, rate, seconds, figures)?;
                pgbench(&ground, transport, rate, seconds, figures)?;
            }
        }
    }
    for rate in RATES {
        for transport in Transport::ALL {
            for (quantile, share) in TARGETS {
                let ours = name(transport, rate, "truetail", quantile);
                figures.at_most_of(&ours, share, &name(transport, rate, "pgbench", quantile));
            }
        }
    }
    figures.note("lag: from when a session is free and the request is due until it is sent (truetail), from the schedule");
    figures.note("until the transaction starts (pgbench, which has a wait for a session in it, too)");
    Ok(())
}

fn name(transport: Transport, rate: u32, who: &str, quantile: &str) -> String {
    format!("{} {rate}/s  {who}, lag {quantile}", transport.name())
}

fn truetail(
    ground: &Ground<'_>,
    transport: Transport,
    rate: u32,
    seconds: u32,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let (rate_flag, duration) = (format!("{rate}/s"), format!("{seconds}s"));
    let words = ["-r", &rate_flag, "-c", SESSIONS, "-d", &duration, "--warmup", "1s"];
    let (cost, document) = ground.truetail(transport, &words)?;
    for quantile in ["p50", "p99", "p99.9"] {
        let nanos = number_at(&document, &format!("/measures/lag/quantiles/{quantile}/point"))?;
        figures.add(&name(transport, rate, "truetail", quantile), "µs", nanos / 1e3);
    }
    let response = number_at(&document, "/measures/response_time/quantiles/p50/point")?;
    figures.add(&format!("{} {rate}/s  truetail, response time p50", transport.name()), "µs", response / 1e3);
    let cpu = cost.cpu_s() / cost.wall_s;
    figures.add(&format!("{} {rate}/s  truetail, CPU", transport.name()), "cores", cpu);
    Ok(())
}

fn pgbench(
    ground: &Ground<'_>,
    transport: Transport,
    rate: u32,
    seconds: u32,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let logs = ground.scratch().free("pgbench");
    std::fs::create_dir_all(&logs).with_context(|| format!("{}", logs.display()))?;
    let prefix = logs.join("log");
    let (rate_flag, duration) = (rate.to_string(), seconds.to_string());
    let log = format!("--log-prefix={}", prefix.display());
    let words = ["-c", SESSIONS, "-T", &duration, "-R", &rate_flag, "-l", &log];
    let cost = ground.pgbench(transport, &words)?;
    let transactions = read_logs(&logs)?;
    let lags: Vec<f64> = sorted(transactions.iter().map(|t| t.lag_us));
    for (quantile, q) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        let lag = at(&lags, q).context("pgbench logged no transaction")?;
        figures.add(&name(transport, rate, "pgbench", quantile), "µs", lag);
    }
    let times = sorted(transactions.iter().map(|t| t.time_us));
    let response = at(&times, 0.5).context("pgbench logged no transaction")?;
    figures.add(&format!("{} {rate}/s  pgbench, response time p50", transport.name()), "µs", response);
    let cpu = cost.cpu_s() / cost.wall_s;
    figures.add(&format!("{} {rate}/s  pgbench, CPU", transport.name()), "cores", cpu);
    Ok(())
}

/// A line of `pgbench -l -R`.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Transaction {
    /// From its scheduled time on.
    time_us: f64,
    /// From its scheduled time until it started.
    lag_us: f64,
}

fn read_logs(directory: &Path) -> anyhow::Result<Vec<Transaction>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).with_context(|| format!("{}", directory.display()))? {
        let path = entry?.path();
        let text = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
        for line in text.lines() {
            match transaction(line) {
                Some(found) => all.push(found),
                None => bail!("{}: not a line of `pgbench -l -R`: {line}", path.display()),
            }
        }
    }
    Ok(all)
}

/// `client number time script epoch_s epoch_us lag`, times in µs.
fn transaction(line: &str) -> Option<Transaction> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, _, time, _, _, _, lag] = words[..] else { return None };
    Some(Transaction { time_us: time.parse().ok()?, lag_us: lag.parse().ok()? })
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all
}

/// The smallest value that at least this share of all do not exceed.
fn at(sorted: &[f64], quantile: f64) -> Option<f64> {
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lags_are_read_from_pgbenchs_log() {
        let line = "3 17 171 0 1763721234 512345 61";
        assert_eq!(transaction(line), Some(Transaction { time_us: 171.0, lag_us: 61.0 }));
        assert_eq!(transaction("3 17 171 0 1763721234 512345"), None);
        assert_eq!(transaction("3 17 skipped 0 1763721234 512345 61"), None);
    }

    #[test]
    fn quantiles_are_of_ranks() {
        let values = sorted((1..=1000).rev().map(f64::from));
        assert_eq!(at(&values, 0.5), Some(500.0));
        assert_eq!(at(&values, 0.999), Some(999.0));
        assert_eq!(at(&values, 0.0), Some(1.0));
        assert_eq!(at(&[], 0.5), None);
    }
}
