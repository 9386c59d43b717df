//! What text, page and document say of a floor, in the same words.

pub use crate::html::floor_page as html;
pub use crate::json::floor_document as json;
pub use crate::svg::floor_figure as figure;
pub use crate::text::floor_page as text;

use analysis::{Floor, FloorKind, FloorPart, FloorRow, FloorShare, RunFloor, VerdictState};
use units::{Estimate, Quantile};

/// Up to where the sentence goes: quantiles beyond it are the host's.
const HIGHEST: f64 = 0.999;

/// The median and the highest quantile up to p99.9 that the decisive part carries.
pub(crate) fn limits(floor: &Floor) -> Vec<(Quantile, &Estimate)> {
    let Some(times) = floor.decisive().and_then(FloorPart::times) else { return Vec::new() };
    let mut shown: Vec<(Quantile, &Estimate)> =
        times.quantiles.iter().map(|(q, e)| (*q, e)).filter(|(q, _)| q.get() <= HIGHEST).collect();
    if shown.len() > 2 {
        shown.drain(1..shown.len() - 1);
    }
    shown
}

/// In one sentence, what can't be seen below.
pub(crate) fn sentence(floor: &Floor) -> String {
    let limits: Vec<String> =
        limits(floor).iter().map(|(q, e)| format!("{} at {q}", coarse(e.point))).collect();
    let Some(part) = floor.decisive() else { return no_floor(floor) };
    match limits[..] {
        [] => format!("{} has too few requests to say below what truetail can't see on this host", part.name),
        _ => format!(
            "on this host truetail can't see below {} ({} of {})",
            limits.join(" and "),
            floor.measure().map_or("time", |measure| measure.name()),
            answerer(part)
        ),
    }
}

/// Who answered, in words.
fn answerer(part: &FloorPart) -> String {
    let transport = part.info.header.target_facts.iter().find(|(name, _)| name == "transport");
    match (part.kind, transport) {
        (FloorKind::Null, _) => "the harness alone".to_owned(),
        (FloorKind::Echo, Some((_, transport))) => format!("an echo server over {transport}"),
        (FloorKind::Echo, None) => "an echo server".to_owned(),
        (FloorKind::NoOp, _) => part.name.clone(),
    }
}

/// The part that decides if it can.
fn wanted(floor: &Floor) -> Option<&FloorPart> {
    floor.part(FloorKind::Echo).or_else(|| floor.part(FloorKind::Null))
}

fn no_floor(floor: &Floor) -> String {
    match wanted(floor).and_then(|part| Some((part, part.problem()?))) {
        Some((part, problem)) => {
            format!("no floor for this load: {}: {problem}; try a lower rate, or more --threads", part.name)
        }
        None => "no floor: neither the harness alone nor an echo server was measured".to_owned(),
    }
}

/// Between what the measuring side itself lies; `None` where one of its bounds is not known.
pub(crate) fn bounds(floor: &Floor) -> Option<String> {
    let median = |kind| {
        let times = floor.part(kind)?.times()?;
        Some(coarse(times.quantile(Quantile::PRINTED[0])?.point))
    };
    Some(format!(
        "what the measuring side adds to a request lies between {} (null: the harness alone) and {} (echo: harness and \
         kernel) at p50",
        median(FloorKind::Null)?,
        median(FloorKind::Echo)?
    ))
}

/// What is missing where the echo server was on this host and the target is not.
pub(crate) fn network_note(host: &str) -> String {
    format!(
        "the network to {host} is not in it, since the echo server was on this host; start `truetail echo --listen \
         0.0.0.0:7377` there, and say --echo {host}:7377"
    )
}

/// What is said of parts that are no floor, but for the one that the sentence is about.
pub(crate) fn problems(floor: &Floor) -> Vec<String> {
    let told = if floor.decisive().is_none() { wanted(floor).map(|part| &part.name) } else { None };
    floor
        .parts
        .iter()
        .filter(|part| Some(&part.name) != told)
        .filter_map(|part| Some(format!("{} is no floor: {}", part.name, part.problem()?)))
        .collect()
}

/// Why a part's verdict is not valid: its gravest reason, the first of them, once for all parts that have the same.
pub(crate) fn doubts(floor: &Floor) -> Vec<String> {
    let mut groups: Vec<((VerdictState, &str), Vec<&str>)> = Vec::new();
    for part in floor.parts.iter().filter(|part| part.verdict.state != VerdictState::Valid) {
        let reasons = &part.verdict.reasons;
        let gravest = reasons.iter().map(|reason| reason.severity).max();
        let Some(reason) = reasons.iter().find(|reason| Some(reason.severity) == gravest) else { continue };
        // A recording is named by its directory, which differs from part to part.
        let text = reason.text.strip_prefix(&format!("{}: ", part.info.name)).unwrap_or(&reason.text);
        let why = (part.verdict.state, text);
        match groups.iter_mut().find(|(known, _)| *known == why) {
            Some((_, parts)) => parts.push(&part.name),
            None => groups.push((why, vec![&part.name])),
        }
    }
    let said = |((state, text), parts): ((VerdictState, &str), Vec<&str>)| {
        format!("verdict {} of {}: {text}", state.name(), parts.join(", "))
    };
    groups.into_iter().map(said).collect()
}

/// What the decisive part explains of the run's median and of its highest quantile up to p99.9; `None` without any.
pub(crate) fn explained(run: &RunFloor) -> Option<String> {
    let name = &run.floor.decisive()?.name;
    let mut rows: Vec<&FloorRow> = run.rows.iter().filter(|row| row.quantile.get() <= HIGHEST).collect();
    rows.retain(|row| decisive_share(run, row).is_some());
    if rows.len() > 2 {
        rows.drain(1..rows.len() - 1);
    }
    let shown: Vec<String> = rows
        .iter()
        .filter_map(|row| Some(format!("{} at {}", plain(decisive_share(run, row)?), row.quantile)))
        .collect();
    (!shown.is_empty()).then(|| format!("of this run {name} explains {}", shown.join(" and ")))
}

fn decisive_share<'a>(run: &RunFloor, row: &'a FloorRow) -> Option<&'a FloorShare> {
    let decisive = run.floor.decisive()?;
    let index = run.floor.parts.iter().position(|part| std::ptr::eq(part, decisive))?;
    row.shares.get(index)?.as_ref()
}

/// The parts in the order in which a run's page shows them, as indexes: the decisive one first.
pub(crate) fn order(floor: &Floor) -> Vec<usize> {
    let decisive = floor.decisive().map(|part| part as *const FloorPart);
    let mut order: Vec<usize> = (0..floor.parts.len()).collect();
    order.sort_by_key(|&index| decisive != Some(&floor.parts[index] as *const FloorPart));
    order
}

/// A share without its interval.
fn plain(share: &FloorShare) -> String {
    let most = if share.at_most { "at most " } else { "" };
    match (share.all, share.ratio.interval) {
        (true, _) => "all of it".to_owned(),
        // Without an interval one digit is more than is known for certain.
        (false, None) => format!("{most}{}", one_digit(share.ratio.point)),
        (false, Some(_)) => format!("{most}{}", percent(share.ratio.point)),
    }
}

/// A share with its interval, as a table's cell: `12 % [9 %, 16 %]`, `all of it`.
pub(crate) fn share_words(share: &FloorShare) -> String {
    match share.ratio.interval.filter(|_| !share.all) {
        Some((low, high)) => format!("{} [{}, {}]", plain(share), percent(low), percent(high)),
        None => plain(share),
    }
}

/// About how many per cent, with one digit.
fn one_digit(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        p if p >= 0.95 => {
            let decade = 10f64.powf(p.log10().floor());
            format!("about {:.0} %", (p / decade).round() * decade)
        }
        _ => "1 % or less".to_owned(),
    }
}

/// Whole per cents; below ten with one decimal, and of what is less than a thousandth no more than that.
fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p < 0.1 => "< 0.1 %".to_owned(),
        p if p < 9.95 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// A time with two digits.
pub(crate) fn coarse(ns: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
    let ns = two_digits(ns);
    let (size, unit) = UNITS.iter().find(|(size, _)| ns < 999.5 * size).unwrap_or(&UNITS[3]);
    let value = ns / size;
    if value < 9.95 && *size > 1.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

fn two_digits(value: f64) -> f64 {
    if !(value > 0.0 && value.is_finite()) {
        return 0.0;
    }
    let decade = 10f64.powf(value.log10().floor() - 1.0);
    (value / decade).round() * decade
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_digits() {
        let shown = [0.0, 7.0, 41.0, 412.0, 999.0, 1_234.0, 41_234.0, 412_345.0, 1.234e6, 2.5e10].map(coarse);
        assert_eq!(
            shown,
            ["0 ns", "7 ns", "41 ns", "410 ns", "1.0 µs", "1.2 µs", "41 µs", "410 µs", "1.2 ms", "25 s"]
        );
    }

    #[test]
    fn shares_have_no_false_precision() {
        let share = |point: f64, interval, all, at_most| {
            share_words(&FloorShare {
                ratio: Estimate { interval, ..Estimate::exact(point, 9) },
                all,
                at_most,
            })
        };
        assert_eq!(share(0.1234, Some((0.0912, 0.1567)), false, false), "12 % [9.1 %, 16 %]");
        assert_eq!(share(0.0001, Some((0.00005, 0.002)), false, false), "< 0.1 % [< 0.1 %, 0.2 %]");
        assert_eq!(share(0.1234, None, false, false), "about 10 %");
        assert_eq!(share(0.0372, None, false, true), "at most about 4 %");
        assert_eq!(share(0.003, None, false, false), "1 % or less");
        assert_eq!(share(0.97, Some((0.8, 1.2)), true, false), "all of it");
        assert_eq!(share(0.5, Some((0.4, 0.6)), false, true), "at most 50 % [40 %, 60 %]");
    }
}
