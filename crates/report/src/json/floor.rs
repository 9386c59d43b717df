//! What the measuring side itself costs.

use super::{estimate, number};
use crate::floor::limits;
use analysis::{Floor, FloorPart, FloorRow, FloorShare, RunFloor};
use serde_json::{Map, Value, json};
use units::{PerSecond, Quantile};

/// The document of `truetail floor`: schema `truetail.floor/1`.
pub fn floor_document(floor: &Floor) -> Value {
    let load = floor.parts.first().map(|part| &part.info.header.load);
    let offered = floor.parts.first().and_then(|part| part.offered);
    let mut document = json!({
        "schema": "truetail.floor/1",
        "load": {
            "model": load.map(|load| load.model.name()),
            "arrivals": load.map(|load| load.arrivals.clone()),
            "sessions": load.map(|load| load.sessions),
            "offered_per_second": offered.map(PerSecond::get),
        },
    });
    if let (Value::Object(document), Value::Object(fields)) =
        (&mut document, fields(floor, floor.network_left_out(None)))
    {
        document.extend(fields);
    }
    document
}

/// The field `floor` of a run; null where none was measured.
pub(super) fn run_floor(run: Option<&RunFloor>) -> Value {
    let Some(run) = run else { return Value::Null };
    let mut field = fields(&run.floor, run.network_left_out.clone());
    field["explained"] = run.rows.iter().map(|row| explained(&run.floor, row)).collect();
    field
}

/// What both have.
fn fields(floor: &Floor, network_left_out: Option<String>) -> Value {
    let below = limits(floor);
    json!({
        "measure": floor.measure().map(|measure| measure.key()),
        "decisive": floor.decisive().map(|part| part.name.clone()),
        "network_left_out": network_left_out,
        "can_not_see_below": below.iter().map(|(q, e)| json!({"quantile": q.name(), "time": estimate(e)})).collect::<Vec<_>>(),
        "parts": floor.parts.iter().map(|one| part(one, &floor.quantiles())).collect::<Vec<_>>(),
    })
}

fn part(part: &FloorPart, quantiles: &[Quantile]) -> Value {
    let header = &part.info.header;
    let fact =
        |wanted: &str| header.target_facts.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
    let times = part.times();
    let quantile =
        |q: &Quantile| (q.name(), times.and_then(|times| times.quantile(*q)).map_or(Value::Null, estimate));
    json!({
        "name": part.name,
        "kind": part.kind.name(),
        "recording": part.info.name,
        "target": header.target,
        "transport": fact("transport"),
        "problem": part.problem(),
        "verdict": part.verdict.state.name(),
        "offered_per_second": part.offered.map(PerSecond::get),
        "achieved_per_second": number(part.achieved.get()),
        "samples": part.summary.as_ref().map_or(0, |summary| summary.n),
        "quantiles": quantiles.iter().map(quantile).collect::<Map<String, Value>>(),
        "max": times.map(|times| times.max.0),
    })
}

fn explained(floor: &Floor, row: &FloorRow) -> Value {
    let shares = floor.parts.iter().zip(&row.shares).map(|(part, share)| {
        json!({
            "part": part.name,
            "share": share.as_ref().map(|share| estimate(&share.ratio)),
            "all_of_it": share.as_ref().map(|share: &FloorShare| share.all),
            "at_most": share.as_ref().map(|share| share.at_most),
        })
    });
    json!({"quantile": row.quantile.name(), "run": estimate(&row.run), "shares": shares.collect::<Vec<_>>()})
}
