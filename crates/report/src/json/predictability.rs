//! `truetail.predictability/1`.

use super::estimate;
use crate::predictability::{PUBLISHED, found, product, ratios};
use analysis::{PREDICTABILITY_QUANTITIES, Predictability, PredictabilityCell, Removal};
use serde_json::{Map, Value, json};

/// The whole experiment.
pub fn predictability(experiment: &Predictability) -> Value {
    let published = PUBLISHED
        .map(|(server, spread, tail)| json!({"server": server, "coefficient_of_variation": spread, "p99_over_mean": tail}));
    json!({
        "schema": "truetail.predictability/1",
        "cells": experiment.cells.iter().map(cell).collect::<Vec<_>>(),
        "alike_over_standard": experiment.removals.iter().map(removal).collect::<Vec<_>>(),
        "published": published,
    })
}

/// A quantity's name as a key.
fn key(name: &str) -> String {
    name.replace('/', "_over_").replace(' ', "_")
}

fn cell(cell: &PredictabilityCell) -> Value {
    let quantities: Map<String, Value> = PREDICTABILITY_QUANTITIES
        .iter()
        .map(|name| (key(name), found(cell, name).map_or(Value::Null, estimate)))
        .collect();
    json!({
        "server": cell.server,
        "product": cell.header.as_ref().map(|_| product(cell)),
        "work": cell.work.name(),
        "verdicts": cell.verdicts.iter().map(|state| state.name()).collect::<Vec<_>>(),
        "offered_per_second": cell.rates.map(|(offered, _)| offered),
        "achieved_per_second": cell.rates.map(|(_, achieved)| achieved),
        "missing": cell.missing,
        "response_time": quantities,
    })
}

fn removal(removal: &Removal) -> Value {
    let quantities: Map<String, Value> =
        ratios(removal).map(|(row, ratio)| (key(&row.name), estimate(ratio))).collect();
    json!({"server": removal.server, "ratios": quantities})
}
