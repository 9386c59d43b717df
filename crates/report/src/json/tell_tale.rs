//! The document of the tell-tale experiment.

use super::{estimate, number};
use crate::tell_tale::{claim_sentences, log_sentence, sentence};
use analysis::tell_tale::{
    AgainstBase, Cell, CellFigures, CellResult, Finding, Group, Half, LogEffect, PauseTotals, Pauses,
    RoundFigures, SlowestRow, Spread, TellTale, TestedRow, Whose,
};
use serde_json::{Map, Value, json};
use stats::{Meetings, RankCorrelation};

/// The document of `truetail experiment tell-tale`: schema `truetail.tell-tale/1`.
pub fn tell_tale(tell_tale: &TellTale) -> Value {
    let cells = tell_tale.cells.iter().enumerate().map(|(index, result)| cell(tell_tale, index, result));
    json!({
        "schema": "truetail.tell-tale/1",
        "margin": tell_tale.margin,
        "fewest_rounds": tell_tale.rounds,
        "carried_scatter": tell_tale.carried_scatter.and_then(number),
        "cells": cells.collect::<Vec<_>>(),
        "groups": tell_tale.groups.iter().map(|one| group(tell_tale, one)).collect::<Vec<_>>(),
        "log_effects": tell_tale.log_effects.iter().map(|one| log_effect(tell_tale, one)).collect::<Vec<_>>(),
    })
}

fn cell(tell_tale: &TellTale, index: usize, result: &CellResult) -> Value {
    let Cell { workload, target, harness, load, jvm_log } = &result.cell;
    json!({
        "workload": workload,
        "target": target,
        "harness": harness,
        "load_model": load.name(),
        "jvm_log": jvm_log,
        "sentence": sentence(tell_tale, index),
        "not_run": result.figures.as_ref().err(),
        "figures": result.figures.as_ref().ok().map(figures),
    })
}

fn figures(figures: &CellFigures) -> Value {
    let quantiles: Map<String, Value> =
        figures.quantiles.iter().map(|(q, over)| (q.name(), spread(over))).collect();
    let cannot_tell = match &figures.whose {
        Whose::CannotTell(why) => Some(why),
        _ => None,
    };
    json!({
        "measure": figures.measure.key(),
        "offered_per_second": figures.offered.map(units::PerSecond::get),
        "whose_tail": figures.whose.key(),
        "cannot_tell_why": cannot_tell,
        "throughput": spread(&figures.throughput),
        "quantiles": quantiles,
        "max": spread(&figures.max),
        "pauses": pauses(&figures.pauses),
        "slowest": figures.slowest.iter().map(slowest).collect::<Vec<_>>(),
        "correlation": figures.correlation.as_ref().map(correlation),
        "drawn_round": figures.shown,
        "rounds": figures.rounds.iter().map(round).collect::<Vec<_>>(),
        "lost_rounds": figures.lost,
        "untold_rounds": figures.untold,
    })
}

fn spread(spread: &Spread) -> Value {
    json!({
        "median": number(spread.median),
        "least": number(spread.least),
        "most": number(spread.most),
        "points": spread.points.iter().map(|point| number(*point)).collect::<Vec<_>>(),
        "across": estimate(&spread.across),
    })
}

fn pauses(pauses: &Pauses) -> Value {
    let (state, trouble, totals) = match pauses {
        Pauses::NoJvm => ("no-jvm", None, None),
        Pauses::NoLog => ("no-log", None, None),
        Pauses::Trouble(why) => ("log-trouble", Some(why), None),
        Pauses::NoPause(totals) => ("no-pause", None, Some(totals)),
        Pauses::Seen(totals) => ("seen", None, Some(totals)),
    };
    json!({"state": state, "trouble": trouble, "totals": totals.map(pause_totals)})
}

fn pause_totals(totals: &PauseTotals) -> Value {
    json!({
        "rounds_with_log": totals.rounds,
        "pauses": totals.pauses,
        "sum": totals.total.0,
        "longest": totals.longest.map(|time| time.0),
        "longest_time_to_safepoint": totals.longest_to_safepoint.map(|time| time.0),
        "thread_stalls": totals.stalls,
        "longest_thread_stall": totals.longest_stall.map(|time| time.0),
        "summaries": totals.summaries,
    })
}

fn slowest(row: &SlowestRow) -> Value {
    json!({
        "which": row.which.name(),
        "overlap": overlap(&row.all),
        "p_corrected": row.p_corrected,
        "with_thread_stalls": row.with_stalls.as_ref().map(overlap),
    })
}

fn overlap(met: &Meetings) -> Value {
    json!({
        "requests": met.of,
        "overlapping": met.met,
        "by_chance": number(met.by_chance),
        "ratio": estimate(&met.ratio),
        "p_value": met.p_value,
        "shifts": met.shifts,
    })
}

fn correlation(found: &RankCorrelation) -> Value {
    json!({"rho": number(found.rho), "p_value": found.p_value, "pairs": found.pairs})
}

fn round(round: &RoundFigures) -> Value {
    let longest = round.pauses.as_ref().and_then(|pauses| pauses.longest());
    let stopping = round.pauses.as_ref().and_then(|pauses| pauses.longest_to_safepoint());
    let slowest: Vec<Value> = (round.slowest.iter())
        .map(|(which, met)| json!({"which": which.name(), "overlap": met.as_ref().map(overlap)}))
        .collect();
    let boxes: Vec<Value> = (round.boxes.iter())
        .map(|(name, n, plot)| {
            json!({
                "operation": name, "samples": n, "min": number(plot.min), "q1": number(plot.q1),
                "median": number(plot.median), "q3": number(plot.q3), "p95": number(plot.p95),
                "p99": number(plot.p99), "max": number(plot.max),
            })
        })
        .collect();
    json!({
        "number": round.number,
        "recording": round.name,
        "verdict": round.verdict.name(),
        "invalid_because": round.invalid,
        "samples": round.requests,
        "max": round.max.0,
        "max_at": round.max_at.0,
        "max_paused_share": round.max_paused.and_then(number),
        "resolution": round.resolution.0,
        "length_resolution": round.length_resolution.0,
        "pauses": round.pauses.as_ref().map(|pauses| pauses.whole.len()),
        "longest_pause": longest.map(|time| time.0),
        "longest_time_to_safepoint": stopping.map(|time| time.0),
        "slowest": slowest,
        "boxes": boxes,
        "extremes": round.series.extremes_total,
        "sampled_share": number(round.series.sampled_share),
    })
}

fn group(tell_tale: &TellTale, group: &Group) -> Value {
    let claim = &group.claim;
    let why = match &claim.quantiles {
        Half::NotTested(why) => Some(why),
        _ => None,
    };
    json!({
        "workload": group.workload,
        "target": group.target,
        "load_model": group.load.name(),
        "cells": group.cells,
        "sentences": claim_sentences(tell_tale, group),
        "claim": {
            "quantiles_do_not_move": claim.quantiles.key(),
            "maxima_move": claim.maxima.key(),
            "equivalent": claim.equivalent.iter().map(|q| q.name()).collect::<Vec<_>>(),
            "p99_9_moves_at_most": claim.bound.and_then(number),
            "not_tested_why": why,
        },
        "correlation": group.correlation.as_ref().map(correlation),
        "against": group.against.iter().map(against).collect::<Vec<_>>(),
    })
}

fn against(one: &AgainstBase) -> Value {
    json!({
        "cell": one.cell,
        "base": one.base,
        "refused": one.refused,
        "rows": one.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn row(row: &TestedRow) -> Value {
    let why = match &row.finding {
        Finding::CannotTell(why) => Some(why),
        _ => None,
    };
    json!({
        "quantity": row.quantity.name(),
        "ratio": row.tested.as_ref().map(|tested| estimate(&tested.ratio)),
        "at_most": row.tested.as_ref().map(|tested| tested.at_most),
        "knows_within": row.tested.as_ref().map(|tested| tested.knows_within),
        "p_value": row.tested.as_ref().and_then(|tested| number(tested.p_value)),
        "p_corrected": row.p_corrected.and_then(number),
        "finding": row.finding.key(),
        "cannot_tell_why": why,
    })
}

fn log_effect(tell_tale: &TellTale, effect: &LogEffect) -> Value {
    json!({
        "with": effect.with,
        "without": effect.without,
        "refused": effect.refused,
        "sentence": log_sentence(tell_tale, effect),
        "rows": effect.rows.iter().map(row).collect::<Vec<_>>(),
    })
}
