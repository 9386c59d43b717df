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

/// Half of the slowest closed loop of truetail and of each load tool in its first JVM.
fn of_row(row: Row, planned: &[Planned], size: &Size, bench: &Bench<'_>) -> Result<(u64, String), String> {
    let mut tools: Vec<&str> = Vec::new();
    let mut found: Vec<(f64, &str)> = Vec::new();
    let mut failed = String::new();
    for one in planned.iter().filter(|one| one.row == row) {
        let Ok(harness) = &one.how else { continue };
        if tools.contains(&one.cell.tool()) || matches!(harness, Harness::BenchBase(_)) {
            continue;
        }
        tools.push(one.cell.tool());
        match bench.probe(row, harness, LENGTH) {
            Ok(rate) => found.push((rate, &one.cell.harness)),
            Err(error) => failed = output::one_line(&error),
        }
    }
    let slowest = found.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((slowest, harness)) = slowest else { return Err(format!("no rate for an open loop: {failed}")) };
    let rate = round_down(slowest / 2.0);
    let highest = size.of_row(row).highest_rate;
    if rate >= highest {
        return Ok((highest, format!("the preset's limit; a probe of {harness} made {slowest:.0}/s")));
    }
    Ok((rate, format!("half of the slowest closed loop of a probe, {slowest:.0}/s of {harness}")))
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
}
