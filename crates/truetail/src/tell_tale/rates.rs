//! The rate of the open loops of a workload and target: one that all harnesses keep, found in a short probe.

use super::document::RateEntry;
use super::matrix::{Harness, Planned, Row};
use super::preset::{Length, Size};
use super::round::Bench;
use crate::{interrupt, output};
use units::Nanos;

/// As long as a JVM takes to be warm enough: in its first second it makes a tenth of what it makes later.
const LENGTH: Length = Length { warmup: Nanos::ZERO, time: Nanos::from_secs(3) };

/// How long all probes take together for so many rows, each with a load tool of a JVM, seconds.
pub(super) fn expected_seconds(rows: usize) -> f64 {
    rows as f64 * 2.0 * (LENGTH.whole().0 as f64 / 1e9 + 2.0)
}

/// Finds a rate for each row with an open loop. Where none is found the cells of the row get the reason.
pub(super) fn find(planned: &mut [Planned], size: &Size, bench: &Bench<'_>) -> Vec<RateEntry> {
    let mut rows: Vec<Row> = Vec::new();
    for one in planned.iter().filter(|one| one.row.is_open && one.how.is_ok()) {
        if !rows.contains(&one.row) {
            rows.push(one.row);
        }
    }
    let mut rates = Vec::new();
    for row in rows {
        let entry = |per_second, from| RateEntry {
            workload: row.workload.name().to_owned(),
            target: row.target.name().to_owned(),
            per_second,
            from,
        };
        if let Some(rate) = size.rate {
            rates.push(entry(rate, "--rate".to_owned()));
            continue;
        }
        if interrupt::requested() {
            break;
        }
        output::note(&format!("looking for a rate: {} on {}", row.workload.name(), row.target.name()));
        match of_row(row, planned, size, bench) {
            Ok((rate, from)) => rates.push(entry(rate, from)),
            Err(why) => planned.iter_mut().filter(|one| one.row == row).for_each(|one| {
                if one.how.is_ok() {
                    one.how = Err(why.clone());
                }
            }),
        }
    }
    rates
}

/// What the probes of a row came to, each with its harness.
#[derive(Default)]
struct Probes {
    /// Requests a second.
    made: Vec<(f64, String)>,
    /// Why there are none.
    failed: Vec<(String, String)>,
}

/// Of truetail, and of each load tool in its first JVM.
fn of_row(row: Row, planned: &[Planned], size: &Size, bench: &Bench<'_>) -> Result<(u64, String), String> {
    let mut tools: Vec<&str> = Vec::new();
    let mut probes = Probes::default();
    for one in planned.iter().filter(|one| one.row == row) {
        let Ok(harness) = &one.how else { continue };
        if tools.contains(&one.cell.tool()) || matches!(harness, Harness::BenchBase(_)) {
            continue;
        }
        tools.push(one.cell.tool());
        let name = one.cell.harness.clone();
        match bench.probe(row, harness, LENGTH) {
            Ok(rate) => probes.made.push((rate, name)),
            Err(error) => {
                let why = output::one_line(&error);
                output::note(&format!("  the probe of {name} failed: {why}; the rate is that of the others"));
                probes.failed.push((name, why));
            }
        }
    }
    probes.rate(size.of_row(row).highest_rate)
}

impl Probes {
    /// Half of the slowest, and where it comes from: a harness whose probe failed may well be slower than that.
    fn rate(&self, highest: u64) -> Result<(u64, String), String> {
        let failed = |(name, why): &(String, String)| format!("; the probe of {name} failed: {why}");
        let failed: String = self.failed.iter().map(failed).collect();
        let Some((slowest, harness)) = self.made.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else {
            return Err(format!("no rate for an open loop{failed}"));
        };
        let rate = round_down(slowest / 2.0);
        let whose = if self.failed.is_empty() { "" } else { " that did not fail" };
        let from = match rate >= highest {
            true => format!("the preset's limit; a probe of {harness} made {slowest:.0}/s"),
            false => {
                format!("half of the slowest closed loop of a probe{whose}, {slowest:.0}/s of {harness}")
            }
        };
        Ok((rate.min(highest), from + &failed))
    }
}

/// To two digits, and no less than one request a second for each of ten sessions.
fn round_down(rate: f64) -> u64 {
    let rate = (rate as u64).max(10);
    let unit = 10_u64.pow(rate.ilog10() - 1);
    rate / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_rounded_down_to_two_digits() {
        assert_eq!([0.0, 10.4, 99.0, 1_999.0, 53_210.0].map(round_down), [10, 10, 99, 1_900, 53_000]);
    }

    /// The rate is not half of the slowest where the slowest was not measured.
    #[test]
    fn a_probe_that_failed_is_named_beside_the_rate() {
        let truetail = || (9_000.0, "truetail".to_owned());
        let of = |made: Vec<(f64, String)>, failed: &[&str]| {
            let failed = failed.iter().map(|name| ((*name).to_owned(), "it was killed".to_owned())).collect();
            Probes { made, failed }.rate(20_000)
        };
        let all = of(vec![truetail(), (800.0, "YCSB, G1".to_owned())], &[]).expect("a rate");
        assert_eq!(all, (400, "half of the slowest closed loop of a probe, 800/s of YCSB, G1".to_owned()));
        let (rate, from) = of(vec![truetail()], &["YCSB, G1"]).expect("a rate");
        assert_eq!(rate, 4_500);
        assert_eq!(
            from,
            "half of the slowest closed loop of a probe that did not fail, 9000/s of truetail; the probe of YCSB, G1 failed: it was killed"
        );
        let (rate, from) = of(vec![(90_000.0, "truetail".to_owned())], &["YCSB, G1"]).expect("a rate");
        assert!(rate == 20_000 && from.ends_with("the probe of YCSB, G1 failed: it was killed"), "{from}");
        let none = of(Vec::new(), &["truetail", "YCSB, G1"]).expect_err("no rate");
        assert!(none.contains("truetail failed") && none.contains("YCSB, G1 failed"), "{none}");
    }
}
