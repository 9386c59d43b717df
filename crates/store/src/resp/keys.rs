//! Commands on keys, whatever lies behind them.

use super::call::{Call, Outcome, is, number};
use super::instance::CURSORS_MAX;
use super::parse::integer;
use super::pattern::matches;
use super::refusal::{NO_EXPIRY, Refusal, SYNTAX};
use crate::Value;

pub(super) fn del(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let gone = words[1..].iter().filter(|key| call.store.delete(key)).count();
    call.reply.count(gone);
    Ok(())
}

pub(super) fn exists(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let there = words[1..].iter().filter(|key| call.store.read(key).is_some()).count();
    call.reply.count(there);
    Ok(())
}

pub(super) fn kind(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let name = call.store.read(words[1]).map_or("none", name_of);
    call.reply.simple(name);
    Ok(())
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Text(_) => "string",
        Value::Hash(_) => "hash",
        Value::Sorted(_) => "zset",
        Value::List(_) => "list",
        Value::Set(_) => "set",
        // Rows are in other spaces.
        Value::Row(_) => "none",
    }
}

/// Nothing expires here. A key that is not there can't be given a time, and Redis says so with 0.
pub(super) fn expire(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    number(words[2])?;
    if call.store.read(words[1]).is_some() {
        return Err(NO_EXPIRY);
    }
    call.reply.flag(false);
    Ok(())
}

pub(super) fn ttl(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let there = call.store.read(words[1]).is_some();
    call.reply.integer(if there { -1 } else { -2 });
    Ok(())
}

pub(super) fn persist(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    call.store.read(words[1]);
    call.reply.flag(false);
    Ok(())
}

pub(super) fn dbsize(call: &mut Call<'_>, _: &[&[u8]]) -> Outcome {
    let count = call.store.from(b"").count();
    call.reply.count(count);
    Ok(())
}

pub(super) fn flush(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    match words[1..] {
        [] => {}
        [how] if is(how, "async") || is(how, "sync") => {}
        _ => return Err(SYNTAX),
    }
    call.store.flush();
    call.reply.simple("OK");
    Ok(())
}

pub(super) fn keys(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let (mut found, mut bytes) = (Vec::new(), 0);
    for (key, _) in call.store.from(b"") {
        if matches(words[1], key) {
            bytes += key.len() + FRAME;
            if !call.reply.fits(bytes) {
                return Err(call.reply.too_large());
            }
            found.push(key);
        }
    }
    call.reply.array(found.len());
    found.into_iter().for_each(|key| call.reply.bulk(key));
    Ok(())
}

/// What a short bulk string takes beside its bytes, at least.
const FRAME: usize = 6;

/// What `SCAN` is asked for.
struct Scan<'a> {
    count: usize,
    pattern: Option<&'a [u8]>,
    kind: Option<&'a [u8]>,
}

fn scan_options<'a>(mut words: &[&'a [u8]]) -> Result<Scan<'a>, Refusal> {
    let mut scan = Scan { count: 10, pattern: None, kind: None };
    while let [name, value, rest @ ..] = words {
        if is(name, "count") {
            scan.count = usize::try_from(number(value)?).ok().filter(|count| *count > 0).ok_or(SYNTAX)?;
        } else if is(name, "match") {
            scan.pattern = Some(value);
        } else if is(name, "type") {
            scan.kind = Some(value);
        } else {
            return Err(SYNTAX);
        }
        words = rest;
    }
    if words.is_empty() { Ok(scan) } else { Err(SYNTAX) }
}

/// Looks at `COUNT` keys and no more, or fewer where the answer would not fit.
pub(super) fn scan(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let cursor = integer(words[1]).and_then(|cursor| u64::try_from(cursor).ok());
    let cursor = cursor.ok_or(Refusal::new("ERR invalid cursor"))?;
    let scan = scan_options(&words[2..])?;
    let begin = match cursor {
        0 => Box::default(),
        _ => call.connection.instance.cursors().find(cursor).ok_or_else(|| forgotten(cursor))?,
    };
    let (mut found, mut bytes) = (Vec::new(), SCAN_FRAME);
    let mut records = call.store.from(&begin);
    let mut next = None;
    for seen in 0.. {
        let Some((key, value)) = records.next() else { break };
        bytes += key.len() + FRAME + 6;
        if seen == scan.count || (seen > 0 && !call.reply.fits(bytes)) {
            next = Some(key);
            break;
        }
        let of_kind = scan.kind.is_none_or(|kind| is(kind, name_of(value)));
        if of_kind && scan.pattern.is_none_or(|pattern| matches(pattern, key)) {
            found.push(key);
        }
    }
    let next = next.map_or(0, |key| call.connection.instance.cursors().place(key));
    call.reply.array(2);
    call.reply.bulk(next.to_string().as_bytes());
    call.reply.array(found.len());
    found.into_iter().for_each(|key| call.reply.bulk(key));
    Ok(())
}

/// What `SCAN`'s answer takes beside its keys, at most.
const SCAN_FRAME: usize = 64;

fn forgotten(cursor: u64) -> Refusal {
    Refusal::quoting(format!(
        "ERR cursor {cursor} is not known: this store remembers the latest {CURSORS_MAX}; begin again with 0"
    ))
}
