//! What the figures are drawn from: a description in JSON, and the arrays that it refers to by number.

use super::blob::{Blob, code};
use analysis::{Analysis, Extreme, HeatMap, MeasureSummary, Scope, ScopeSummary, Series};
use record::{EventKind, PhaseKind};
use serde_json::{Value, json};
use units::{Bound, Instant, Outcome};

/// The description of all figures, with the arrays' directory in it, and the arrays in base64.
pub(super) fn describe(analysis: &Analysis) -> (Value, String) {
    let mut blob = Blob::default();
    let mut description = json!({
        "span": span(analysis),
        "measured": [analysis.measured.0.0, analysis.measured.1.0],
        "phases": phases(analysis),
        "events": events(analysis),
        "operations": analysis.recordings.first().map(|r| r.header.operations.clone()),
        "outcomes": Outcome::ALL.map(Outcome::name),
        "series": analysis.series.iter().map(|s| series(s, &mut blob)).collect::<Vec<_>>(),
        "heatMaps": analysis.heat_maps.iter().map(|h| heat_map(h, &mut blob)).collect::<Vec<_>>(),
        "load": load(analysis, &mut blob),
        "spectra": spectra(analysis),
        "floors": super::floor::curves(analysis.floor.as_ref()),
        "believable": analysis.verdict.believable_to.map(units::Quantile::get),
        "boundReason": analysis.verdict.bound_reason,
        "boxes": boxes(analysis),
        "anatomy": anatomy(analysis),
        "truth": super::truth::figure(analysis.overlay.as_ref(), &mut blob),
    });
    let (numbers, directory) = blob.finish();
    description["arrays"] = directory;
    (description, numbers)
}

/// Phases are on the first recording's own axis; all else is on the common one.
fn first_shift(analysis: &Analysis) -> u64 {
    let epochs = || analysis.recordings.iter().map(|r| r.header.epoch_wall_ns);
    epochs().next().unwrap_or(0) - epochs().min().unwrap_or(0)
}

fn phases(analysis: &Analysis) -> Vec<Value> {
    let shift = first_shift(analysis);
    let Some(first) = analysis.recordings.first() else { return Vec::new() };
    let on_axis = |at: Instant| at.get().map(|at| at.0.saturating_add(shift));
    let phases = first.header.phases.iter().map(|p| {
        json!({"name": p.name, "warmUp": p.kind == PhaseKind::WarmUp,
               "begin": on_axis(p.begin), "end": on_axis(p.end)})
    });
    phases.collect()
}

/// Phases are shown as phases.
fn events(analysis: &Analysis) -> Vec<Value> {
    let shown = analysis.events.iter().filter(|e| e.kind != EventKind::Phase && e.begin.is_some());
    shown
        .map(|e| {
            let end = e.end.get().unwrap_or(e.begin);
            json!([e.kind.name(), e.begin.0, end.0, e.subject, e.detail])
        })
        .collect()
}

/// From the epoch to the end of the last thing that a figure over time shows.
fn span(analysis: &Analysis) -> [u64; 2] {
    let last_bucket = |s: &Series| {
        let finest = s.pyramid.levels.first()?;
        let last = finest.max.iter().rposition(|v| *v != u64::MAX)?;
        Some(s.pyramid.begin.0 + (last as u64 + 1) * finest.width.0)
    };
    let ends = analysis.series.iter().filter_map(last_bucket);
    let end = ends.chain([analysis.measured.1.0]).max().unwrap_or(0);
    [0, end.max(1)]
}

fn series(series: &Series, blob: &mut Blob) -> Value {
    let codes = |values: &[u64]| values.iter().map(|v| code(*v)).collect::<Vec<u16>>();
    let mut levels = Vec::new();
    for level in &series.pyramid.levels {
        let max = codes(&level.max);
        // Most buckets of a fine level hold one request: their range is zero, and costs nothing.
        let range: Vec<u16> = codes(&level.min).iter().zip(&max).map(|(low, high)| high - low).collect();
        let (max, range) = (blob.u16s(&max), blob.u16s(&range));
        levels.push(json!({"width": level.width.0, "max": max, "range": range}));
    }
    let times = |at: &mut dyn Iterator<Item = Instant>| at.map(|at| at.0 as f64).collect::<Vec<f64>>();
    let sampled_at = times(&mut series.sampled.iter().map(|p| p.at));
    let sampled: Vec<u16> = series.sampled.iter().map(|p| code(p.value.0)).collect();
    let mean_at = times(&mut series.sliding_mean.iter().map(|p| p.0));
    let mean: Vec<f64> = series.sliding_mean.iter().map(|p| p.1).collect();
    json!({
        "measure": series.measure.name(),
        "key": series.measure.key(),
        "begin": series.pyramid.begin.0,
        "levels": levels,
        "sampled": {"at": blob.f64s(&sampled_at), "value": blob.u16s(&sampled)},
        "share": series.sampled_share,
        "mean": {"at": blob.f64s(&mean_at), "value": blob.f64s(&mean)},
        "extremes": extremes(&series.extremes, blob),
        "limits": [series.extreme_limits.0, series.extreme_limits.1],
        "extremesTotal": series.extremes_total,
        "least": outermost(series, |a, b| a < b),
        "most": outermost(series, |a, b| a > b),
    })
}

fn extremes(extremes: &[Extreme], blob: &mut Blob) -> Value {
    let floats = |of: fn(&Extreme) -> u64| extremes.iter().map(|e| of(e) as f64).collect::<Vec<f64>>();
    let shorts = |of: fn(&Extreme) -> u16| extremes.iter().map(of).collect::<Vec<u16>>();
    json!({
        "at": blob.f64s(&floats(|e| e.at.0)),
        "value": blob.f64s(&floats(|e| e.value.0)),
        "seq": blob.f64s(&floats(|e| e.seq)),
        "client": blob.u16s(&shorts(|e| e.client)),
        "op": blob.u16s(&shorts(|e| u16::from(e.op))),
        "outcome": blob.u16s(&shorts(|e| u16::from(e.outcome.code()))),
    })
}

/// [at, value] of the overall minimum or maximum: of the extreme where it is one, else of its bucket's middle.
fn outermost(series: &Series, beats: fn(u64, u64) -> bool) -> Value {
    let Some(finest) = series.pyramid.levels.first() else { return Value::Null };
    let values = if beats(0, 1) { &finest.min } else { &finest.max };
    let mut best: Option<(usize, u64)> = None;
    for (index, value) in values.iter().enumerate().filter(|(_, v)| **v != u64::MAX) {
        if best.is_none_or(|(_, b)| beats(*value, b)) {
            best = Some((index, *value));
        }
    }
    let Some((index, value)) = best else { return Value::Null };
    let exact = series.extremes.iter().find(|e| e.value.0 == value).map(|e| e.at.0);
    let middle = series.pyramid.begin.0 + index as u64 * finest.width.0 + finest.width.0 / 2;
    json!([exact.unwrap_or(middle), value])
}

fn heat_map(map: &HeatMap, blob: &mut Blob) -> Value {
    let rows = map.row_limits.len().saturating_sub(1);
    let counts: Vec<u32> = map.columns.iter().flat_map(|c| c.iter().copied()).collect();
    json!({
        "measure": map.measure.name(),
        "key": map.measure.key(),
        "begin": map.begin.0,
        "width": map.column_width.0,
        "limits": map.row_limits,
        "rows": rows,
        "columns": map.columns.len(),
        "counts": blob.u32s(&counts),
    })
}

/// An offered load that does not exist is no array.
fn load(analysis: &Analysis, blob: &mut Blob) -> Value {
    let points = &analysis.load;
    let offered: Option<Vec<f64>> = points.iter().map(|p| p.offered).collect();
    let numbers = |of: fn(&analysis::LoadPoint) -> f64| points.iter().map(of).collect::<Vec<f64>>();
    json!({
        "at": blob.f64s(&numbers(|p| p.at.0 as f64)),
        "offered": offered.map(|rates| blob.f64s(&rates)),
        "achieved": blob.f64s(&numbers(|p| p.achieved)),
        "failed": blob.f64s(&numbers(|p| p.failed)),
    })
}

/// Response time and service time: what the database did and what a user felt, in one figure.
fn spectra(analysis: &Analysis) -> Vec<Value> {
    let shown = analysis
        .total
        .measures
        .iter()
        .filter(|m| matches!(m.measure, record::Measure::Response | record::Measure::Service) && m.n > 0);
    shown
        .map(|m| {
            let points: Vec<[f64; 2]> = m.spectrum.iter().map(|p| [p.quantile.get(), p.value_ns]).collect();
            let quantiles: Vec<Value> = m
                .quantiles
                .iter()
                .map(|(q, e)| json!([q.name(), q.get(), e.point, e.interval, e.bound == Bound::AtLeast]))
                .collect();
            json!({"measure": m.measure.name(), "key": m.measure.key(), "n": m.n, "points": points, "quantiles": quantiles})
        })
        .collect()
}

/// All requests first, then operation by operation.
fn boxes(analysis: &Analysis) -> Vec<Value> {
    let operations = analysis.scopes.iter().filter(|s| matches!(s.scope, Scope::Operation(_)));
    let one = |s: &ScopeSummary| {
        let m: &MeasureSummary = s.whole()?;
        let b = &m.box_plot;
        // A quantile that the samples don't carry has no mark either.
        let carried = |q: f64, value: f64| {
            let known = m.quantiles.iter().any(|(p, _)| (p.get() - q).abs() < 1e-9);
            known.then_some(value)
        };
        Some(
            json!({"name": s.name, "measure": m.measure.name(), "n": m.n, "min": b.min, "low": b.whisker_low,
                    "q1": b.q1, "median": b.median, "q3": b.q3, "high": b.whisker_high,
                    "p95": carried(0.95, b.p95), "p99": carried(0.99, b.p99), "max": b.max}),
        )
    };
    std::iter::once(&analysis.total).chain(operations).filter_map(one).collect()
}

fn anatomy(analysis: &Analysis) -> Vec<Value> {
    let rows = analysis.anatomy.rows.iter().map(|r| {
        json!({"quantile": r.quantile.name(), "whole": r.whole_ns, "poolWait": r.pool_wait_ns, "lag": r.lag_ns,
               "service": r.service_ns, "pickUp": r.pick_up_ns, "requests": r.requests})
    });
    rows.collect()
}
