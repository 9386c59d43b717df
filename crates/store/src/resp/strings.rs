//! Commands on strings.

use super::WORD_MAX;
use super::call::{Call, Outcome, Text, is, number};
use super::parse::integer;
use super::refusal::{NO_EXPIRY, NOT_AN_INTEGER, OVERFLOW, Refusal, STRING_TOO_LONG, SYNTAX};
use crate::Value;

pub(super) fn get(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let text = call.store.get::<Text>(words[1])?;
    call.reply.bulk_or_null(text.map(Vec::as_slice));
    Ok(())
}

pub(super) fn strlen(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let length = call.store.get::<Text>(words[1])?.map_or(0, Vec::len);
    call.reply.count(length);
    Ok(())
}

/// When `SET` writes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Condition {
    #[default]
    Always,
    IfAbsent,
    IfPresent,
}

/// What stands behind key and value in `SET`.
#[derive(Default)]
struct SetOptions<'a> {
    condition: Condition,
    returns_old: bool,
    keeps_expiry: bool,
    expiry: Option<&'a [u8]>,
}

fn set_options<'a>(mut words: &[&'a [u8]]) -> Result<SetOptions<'a>, Refusal> {
    let mut options = SetOptions::default();
    while let [word, rest @ ..] = words {
        words = rest;
        let expires = ["ex", "px", "exat", "pxat"].iter().any(|name| is(word, name));
        match rest {
            _ if is(word, "nx") && options.condition != Condition::IfPresent => {
                options.condition = Condition::IfAbsent;
            }
            _ if is(word, "xx") && options.condition != Condition::IfAbsent => {
                options.condition = Condition::IfPresent;
            }
            _ if is(word, "get") => options.returns_old = true,
            _ if is(word, "keepttl") && options.expiry.is_none() => options.keeps_expiry = true,
            [time, rest @ ..] if expires && options.expiry.is_none() && !options.keeps_expiry => {
                options.expiry = Some(*time);
                words = rest;
            }
            _ => return Err(SYNTAX),
        }
    }
    Ok(options)
}

pub(super) fn set(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let (key, value) = (words[1], words[2]);
    let options = set_options(&words[3..])?;
    if let Some(time) = options.expiry {
        return refuse_expiry(time, "set");
    }
    let there = if options.returns_old {
        let old = call.store.get::<Text>(key)?;
        call.reply.bulk_or_null(old.map(Vec::as_slice));
        old.is_some()
    } else {
        call.store.read(key).is_some()
    };
    let writes = match options.condition {
        Condition::Always => true,
        Condition::IfAbsent => !there,
        Condition::IfPresent => there,
    };
    if writes {
        call.store.put(key, Value::Text(value.to_vec()));
    }
    match (options.returns_old, writes) {
        (true, _) => {}
        (false, true) => call.reply.simple("OK"),
        (false, false) => call.reply.null(),
    }
    Ok(())
}

/// Nothing expires here: a time that Redis would take is refused, and so is one that it would not.
fn refuse_expiry(time: &[u8], name: &str) -> Outcome {
    if number(time)? <= 0 {
        return Err(Refusal::quoting(format!("ERR invalid expire time in '{name}' command")));
    }
    Err(NO_EXPIRY)
}

pub(super) fn setex(_: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    refuse_expiry(words[2], if is(words[0], "setex") { "setex" } else { "psetex" })
}

pub(super) fn setnx(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let absent = call.store.read(words[1]).is_none();
    if absent {
        call.store.put(words[1], Value::Text(words[2].to_vec()));
    }
    call.reply.flag(absent);
    Ok(())
}

pub(super) fn getset(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let old = call.store.get::<Text>(words[1])?;
    call.reply.bulk_or_null(old.map(Vec::as_slice));
    call.store.put(words[1], Value::Text(words[2].to_vec()));
    Ok(())
}

pub(super) fn getdel(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let old = call.store.get::<Text>(words[1])?;
    call.reply.bulk_or_null(old.map(Vec::as_slice));
    call.store.delete(words[1]);
    Ok(())
}

/// What is no string is as if it were not there.
pub(super) fn mget(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    call.reply.array(words.len() - 1);
    for key in &words[1..] {
        let text = call.store.read(key).and_then(|value| match value {
            Value::Text(text) => Some(text.as_slice()),
            _ => None,
        });
        call.reply.bulk_or_null(text);
    }
    Ok(())
}

/// Keys and values behind the name.
fn pairs<'a, 'b>(words: &'b [&'a [u8]], name: &str) -> Result<&'b [[&'a [u8]; 2]], Refusal> {
    let (pairs, rest) = words[1..].as_chunks::<2>();
    if rest.is_empty() { Ok(pairs) } else { Err(Refusal::arity(name)) }
}

pub(super) fn mset(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    for [key, value] in pairs(words, "mset")? {
        call.store.put(key, Value::Text(value.to_vec()));
    }
    call.reply.simple("OK");
    Ok(())
}

pub(super) fn msetnx(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let pairs = pairs(words, "msetnx")?;
    let free = pairs.iter().all(|[key, _]| call.store.read(key).is_none());
    if free {
        for [key, value] in pairs {
            call.store.put(key, Value::Text(value.to_vec()));
        }
    }
    call.reply.flag(free);
    Ok(())
}

pub(super) fn append(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let old = call.store.get::<Text>(words[1])?.map_or(0, Vec::len);
    if old + words[2].len() > WORD_MAX {
        return Err(STRING_TOO_LONG);
    }
    let length = call.store.edit::<Text, _>(words[1], |text| {
        text.extend_from_slice(words[2]);
        (text.len(), true)
    })?;
    call.reply.count(length);
    Ok(())
}

pub(super) fn incr(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    add(call, words[1], 1)
}

pub(super) fn decr(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    add(call, words[1], -1)
}

pub(super) fn incrby(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    add(call, words[1], number(words[2])?)
}

pub(super) fn decrby(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let by = number(words[2])?.checked_neg().ok_or(Refusal::new("ERR decrement would overflow"))?;
    add(call, words[1], by)
}

fn add(call: &mut Call<'_>, key: &[u8], by: i64) -> Outcome {
    let old = match call.store.get::<Text>(key)? {
        Some(text) => integer(text).ok_or(NOT_AN_INTEGER)?,
        None => 0,
    };
    let sum = old.checked_add(by).ok_or(OVERFLOW)?;
    call.store.put(key, Value::Text(sum.to_string().into_bytes()));
    call.reply.integer(sum);
    Ok(())
}
