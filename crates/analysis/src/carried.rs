//! Judged: whether there are enough samples for what is printed.

use crate::evidence::Evidence;
use crate::limits::FEWEST_REQUESTS;
use crate::reasons::reason;
use crate::{Reason, ReasonKind, Severity};
use units::{Bound, Estimate, Quantile, format_count, format_counted};

pub(crate) fn samples(e: &Evidence<'_>) -> Vec<Reason> {
    let Some(whole) = e.total.whole() else {
        // A tool's summary is what there is; that it is no more is a gap of its own.
        if e.inputs.iter().all(|input| input.is_imported() && !input.stated.is_empty()) {
            return Vec::new();
        }
        let text = "no request was measured".to_owned();
        return vec![reason(Severity::Invalid, ReasonKind::TooFewSamples, text, "run for longer")];
    };
    let mut found = Vec::new();
    if let Some(first) = whole.withheld.first() {
        let requests = format_counted(whole.n, "request is", "requests are");
        let needed = format_count(first.samples_needed());
        let text = format!("{requests} too few for {first}, which needs {needed}");
        let severity = if whole.n < FEWEST_REQUESTS { Severity::Suspect } else { Severity::Note };
        found.push(reason(severity, ReasonKind::TooFewSamples, text, "run for longer"));
    }
    if let Some(text) = without_interval(&whole.quantiles) {
        found.push(reason(Severity::Note, ReasonKind::TooFewSamples, text, "run for longer"));
    }
    found
}

/// Which quantiles have no interval, and why; a later one can have one. Where censoring hides the limit, its own reason says so.
fn without_interval(quantiles: &[(Quantile, Estimate)]) -> Option<String> {
    let is_without = |e: &Estimate| e.interval.is_none() && e.bound == Bound::Exact;
    let found: Vec<&(Quantile, Estimate)> = quantiles.iter().filter(|(_, e)| is_without(e)).collect();
    let names: Vec<String> = found.iter().map(|(q, _)| q.name()).collect();
    let names = match names.split_last()? {
        (last, []) => last.clone(),
        (last, others) => format!("{} and {last}", others.join(", ")),
    };
    let worth = |(_, e): &&(Quantile, Estimate)| e.n_effective.round() as u64;
    let (least, most) = (found.iter().map(worth).min()?, found.iter().map(worth).max()?);
    let from = if least < most { format!("{} to ", format_count(least)) } else { String::new() };
    Some(format!(
        "no interval can be stated for {names}: {} so alike in time that they carry as much as {from}{}",
        format_counted(found.first()?.1.n, "request is", "requests are"),
        format_counted(most, "independent one", "independent ones")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_without_an_interval_are_named_and_no_others() {
        let of = |q: f64, n_effective: f64, interval: Option<(f64, f64)>| {
            let estimate = Estimate { n_effective, interval, ..Estimate::exact(1e6, 12_000) };
            (Quantile::new(q).expect("is in [0, 1]"), estimate)
        };
        let some = Some((0.9e6, 1.1e6));
        let rows = [
            of(0.5, 900.0, some),
            of(0.9, 21.0, None),
            of(0.95, 9.0, None),
            of(0.99, 3_000.0, some),
            of(0.999, 9_000.0, some),
        ];
        let why = "12,000 requests are so alike in time that they carry as much as";
        let expected = format!("no interval can be stated for p90 and p95: {why} 9 to 21 independent ones");
        assert_eq!(without_interval(&rows), Some(expected));
        let expected = format!("no interval can be stated for p95: {why} 9 independent ones");
        assert_eq!(without_interval(&rows[2..]), Some(expected));
        assert_eq!(without_interval(&rows[3..]), None);
        let bounded = Estimate { bound: Bound::AtLeast, ..rows[1].1.clone() };
        assert_eq!(without_interval(&[(rows[1].0, bounded)]), None);
    }
}
