//! Whose tail it is.

use super::{estimate, verdict};
use analysis::attribution::{CauseRow, Held, Piece, Queued, Ran, SlowRequest, Threshold, Watched};
use analysis::{Analysis, Attribution};
use serde_json::{Value, json};

/// Of those who ran during stalls, how many are named; the others are told together.
const MOST_RUNNERS: usize = 50;

/// The document of `truetail attribute`: schema `truetail.attribution/1`.
pub fn attribution_document(analysis: &Analysis) -> Value {
    json!({
        "schema": "truetail.attribution/1",
        "verdict": verdict(analysis),
        "recordings": analysis.recordings.iter().map(|r| r.name.clone()).collect::<Vec<_>>(),
        "attribution": attribution(analysis.attribution.as_ref()),
    })
}

/// The field `attribution`; null where no request is slow.
pub(super) fn attribution(attribution: Option<&Attribution>) -> Value {
    let Some(attribution) = attribution else { return Value::Null };
    let above = match attribution.threshold {
        Threshold::Above(limit) => Some(limit.0),
        Threshold::ByOperation => None,
    };
    let limits = attribution.limits.iter();
    json!({
        "measure": attribution.measure.key(),
        "above": above,
        "limits": limits.map(|l| json!({"operation": l.operation, "limit": l.limit.0, "requests": l.requests}))
            .collect::<Vec<_>>(),
        "slow": attribution.slow,
        "examined": attribution.examined,
        "time": attribution.time.0,
        "sentence": crate::attribution::sentence(attribution),
        "causes": attribution.causes.iter().map(|row| cause(row, attribution)).collect::<Vec<_>>(),
        "notes": attribution.notes,
        "worst": attribution.worst.iter().map(request).collect::<Vec<_>>(),
    })
}

/// What was not watched has no numbers.
fn cause(row: &CauseRow, attribution: &Attribution) -> Value {
    let (watched, why) = match &row.watched {
        Watched::Yes => (true, None),
        Watched::No(why) => (false, Some(why)),
    };
    let known = |value: Value| if watched { value } else { Value::Null };
    let association = row.association.as_ref().map(|a| {
        json!({
            "overlap": a.overlap,
            "by_chance": a.by_chance,
            "overlap_share": a.overlap / attribution.time.0.max(1) as f64,
            "times_chance": estimate(&a.ratio),
            "p_value": a.p_value,
            "shifts": a.shifts,
        })
    });
    json!({
        "cause": row.cause.key(),
        "watched": watched,
        "not_watched_because": why,
        "intervals": known(json!(row.intervals)),
        "shown": known(json!(row.is_shown)),
        "share": known(json!(row.share)),
        "time": known(json!(row.time.0)),
        "behind": known(json!(row.behind.0)),
        "largest_of": known(json!(row.largest)),
        "touches": known(json!(row.touched)),
        "association": association,
        "ran": row.ran.as_ref().map(ran),
    })
}

/// What is nobody's is known only where all was told.
fn ran(ran: &Ran) -> Value {
    let runners = ran.runners.iter().take(MOST_RUNNERS);
    let others = ran.runners.iter().skip(MOST_RUNNERS).map(|runner| runner.time.0);
    json!({
        "stalled": ran.stalled.0,
        "who": runners.map(|runner| json!({"name": runner.name, "time": runner.time.0})).collect::<Vec<_>>(),
        "others": others.sum::<u64>(),
        "nobody": ran.nobody.0,
        "whole": ran.is_whole,
    })
}

fn request(one: &SlowRequest) -> Value {
    let piece = |(piece, held): (&Piece, &Option<Held>)| {
        let (name, nobody) = match held {
            Some(Held::By(name)) => (Some(name.as_str()), Some(false)),
            Some(Held::ByNobody) => (None, Some(true)),
            None => (None, None),
        };
        json!({
            "cause": piece.cause.key(),
            "begin": piece.begin.0,
            "length": piece.length.0,
            "behind": piece.is_behind,
            "held_by": name,
            "held_by_nobody": nobody,
        })
    };
    let queued =
        |q: Queued| json!({"wait": q.wait.0, "begin": q.begin.0, "end": q.end.0, "whole": q.is_whole});
    let marks = one.marks.iter();
    json!({
        "request": one.seq,
        "client": one.client,
        "session": (one.session != record::NO_SESSION).then_some(one.session),
        "operation": one.operation,
        "outcome": one.outcome.name(),
        "at": one.at.0,
        "took": one.whole.0,
        "largest": one.largest.key(),
        "pieces": one.pieces.iter().zip(&one.held).map(piece).collect::<Vec<_>>(),
        "queued": one.queued.map(queued),
        "marks": marks.map(|m| json!({"at": m.at.0, "event": m.kind.name(), "of": m.subject})).collect::<Vec<_>>(),
    })
}
