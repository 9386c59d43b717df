//! The table of times: quantiles, maximum, mean and spreads of the response and the service time, and the
//! harness's own delays beside them.

use super::table::Table;
use super::{count, estimate_point, estimate_squared, estimate_time, longest, ratio};
use analysis::{MeasureSummary, ScopeSummary};
use record::Measure;
use units::{Bound, Estimate, Quantile};

const MAIN: [Measure; 2] = [Measure::Response, Measure::Service];
const HARNESS: [Measure; 3] = [Measure::PoolWait, Measure::Lag, Measure::PickUp];

/// What there is of the measures asked, in their order.
fn present<'a>(scope: &'a ScopeSummary, measures: &[Measure]) -> Vec<&'a MeasureSummary> {
    let find = |m: &Measure| scope.measures.iter().find(|s| s.measure == *m && s.n > 0);
    measures.iter().filter_map(find).collect()
}

/// One table, or, where that is wider than the page, the harness's delays in a table of their own below.
pub(super) fn tables(scope: &ScopeSummary, width: usize) -> Vec<Table> {
    let (main, harness) = (present(scope, &MAIN), present(scope, &HARNESS));
    let whole = table(&main, &harness);
    if whole.fits(width) || harness.is_empty() {
        return vec![whole];
    }
    vec![table(&main, &[]), delays(&main, &harness)]
}

fn table(main: &[&MeasureSummary], harness: &[&MeasureSummary]) -> Table {
    let mut head = vec![String::new()];
    head.extend(main.iter().map(|s| format!("{} (n = {})", s.measure.name(), count(s.n))));
    head.extend(harness.iter().map(|s| s.measure.name().to_owned()));
    let mut table = Table::new(head);
    let mut row = |name: String, of_main: &dyn Fn(&MeasureSummary) -> String, of_harness: Harness<'_>| {
        let cells = main.iter().map(|s| of_main(s));
        let mut row: Vec<String> = std::iter::once(name).chain(cells).collect();
        row.extend(of_harness.into_iter().flat_map(|of| harness.iter().map(move |s| of(s))));
        table.row(row);
    };
    for q in shown(main) {
        row(q.name(), &|s| quantile_cell(s, q), Some(&|s| harness_cell(s, q)));
    }
    row("max".to_owned(), &|s| format!("{} observed", longest(s)), Some(&|s| longest(s)));
    row("mean".to_owned(), &|s| with_interval(&s.mean), Some(&|s| estimate_point(&s.mean)));
    row("sd".to_owned(), &|s| with_interval(&s.sd), None);
    row("variance".to_owned(), &|s| variance_cell(&s.variance), None);
    row("sd/mean".to_owned(), &|s| ratio_cell(s.spreads.coefficient_of_variation.as_ref()), None);
    row("p99/mean".to_owned(), &|s| ratio_cell(s.spreads.p99_over_mean.as_ref()), None);
    row("max/median".to_owned(), &|s| extreme_cell(s.spreads.max_over_median.as_ref()), None);
    row("median/min".to_owned(), &|s| extreme_cell(s.spreads.median_over_min.as_ref()), None);
    table
}

/// The harness's delays alone.
fn delays(main: &[&MeasureSummary], harness: &[&MeasureSummary]) -> Table {
    let mut head = vec![String::new()];
    head.extend(harness.iter().map(|s| s.measure.name().to_owned()));
    let mut table = Table::new(head);
    let mut row = |name: String, cell: &dyn Fn(&MeasureSummary) -> String| {
        table.row(std::iter::once(name).chain(harness.iter().map(|s| cell(s))).collect());
    };
    let carried = |q: &Quantile| harness.iter().any(|s| s.quantiles.iter().any(|(p, _)| p == q));
    for q in shown(main).into_iter().filter(carried) {
        row(q.name(), &|s| harness_cell(s, q));
    }
    row("max".to_owned(), &longest);
    row("mean".to_owned(), &|s| estimate_point(&s.mean));
    table
}

/// Stands where an interval would.
pub(super) const NOT_KNOWN: &str = "[no interval]";

type Harness<'a> = Option<&'a dyn Fn(&MeasureSummary) -> String>;

/// All quantiles that one of the measures carries, and the first beyond, so that it can say what it needs.
fn shown(main: &[&MeasureSummary]) -> Vec<Quantile> {
    let is_carried = |q: &Quantile| main.iter().any(|s| s.quantiles.iter().any(|(p, _)| p == q));
    let mut all: Vec<Quantile> = main
        .iter()
        .flat_map(|s| s.quantiles.iter().map(|(q, _)| *q).chain(s.withheld.iter().copied()))
        .collect();
    all.retain(|q| q.get() < 1.0);
    all.sort_by(|a, b| a.get().total_cmp(&b.get()));
    all.dedup();
    let end = all.iter().position(|q| !is_carried(q)).map_or(all.len(), |first| first + 1);
    all.truncate(end);
    all
}

fn quantile_cell(s: &MeasureSummary, q: Quantile) -> String {
    match s.quantiles.iter().find(|(printed, _)| *printed == q) {
        Some((_, e)) => with_interval(e),
        None => format!("– (needs {} samples)", count(q.samples_needed())),
    }
}

fn harness_cell(s: &MeasureSummary, q: Quantile) -> String {
    let found = s.quantiles.iter().find(|(printed, _)| *printed == q);
    found.map_or_else(|| "–".to_owned(), |(_, e)| estimate_point(e))
}

/// A lower bound needs no interval: it says by itself what is not known.
pub(super) fn with_interval(e: &Estimate) -> String {
    let none = e.interval.is_none() && e.bound != Bound::AtLeast;
    if none { format!("{} {NOT_KNOWN}", estimate_time(e)) } else { estimate_time(e) }
}

fn ratio_cell(e: Option<&Estimate>) -> String {
    match e {
        None => "–".to_owned(),
        Some(e) if e.interval.is_none() => format!("{} {NOT_KNOWN}", ratio(e.point)),
        Some(e) => super::estimate_ratio(e),
    }
}

fn variance_cell(e: &Estimate) -> String {
    let none = e.interval.is_none() && e.bound != Bound::AtLeast;
    if none { format!("{} {NOT_KNOWN}", estimate_squared(e)) } else { estimate_squared(e) }
}

/// One run has one maximum and one minimum: where its next ones would lie, nothing in it says.
fn extreme_cell(e: Option<&Estimate>) -> String {
    let Some(e) = e else { return "–".to_owned() };
    match e.interval {
        None => format!("{}{} observed", if e.bound == Bound::AtLeast { "≥ " } else { "" }, ratio(e.point)),
        Some(_) => super::estimate_ratio(e),
    }
}
