//! Commands on lists.

use super::call::{Call, List, Outcome, indexes, number};
use super::refusal::{NEGATIVE, Refusal};

/// Which end of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Front,
    Back,
}

pub(super) fn lpush(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    push(call, words, End::Front)
}

pub(super) fn rpush(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    push(call, words, End::Back)
}

fn push(call: &mut Call<'_>, words: &[&[u8]], end: End) -> Outcome {
    let length = call.store.edit::<List, _>(words[1], |list| {
        for element in &words[2..] {
            match end {
                End::Front => list.push_front(element.to_vec()),
                End::Back => list.push_back(element.to_vec()),
            }
        }
        (list.len(), true)
    })?;
    call.reply.count(length);
    Ok(())
}

pub(super) fn lpop(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    pop(call, words, "lpop", End::Front)
}

pub(super) fn rpop(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    pop(call, words, "rpop", End::Back)
}

fn pop(call: &mut Call<'_>, words: &[&[u8]], name: &str, end: End) -> Outcome {
    let wanted = match words[2..] {
        [] => None,
        [count] => Some(positive(count)?),
        _ => return Err(Refusal::arity(name)),
    };
    if call.store.get::<List>(words[1])?.is_none() {
        match wanted {
            None => call.reply.null(),
            Some(_) => call.reply.null_array(),
        }
        return Ok(());
    }
    let popped = call.store.edit::<List, _>(words[1], |list| {
        let count = wanted.unwrap_or(1).min(list.len());
        let popped: Vec<Vec<u8>> = match end {
            End::Front => list.drain(..count).collect(),
            End::Back => list.drain(list.len() - count..).rev().collect(),
        };
        let changed = !popped.is_empty();
        (popped, changed)
    })?;
    if wanted.is_some() {
        call.reply.array(popped.len());
    }
    popped.iter().for_each(|element| call.reply.bulk(element));
    Ok(())
}

/// How many to pop; negative ones have an error of their own.
pub(super) fn positive(word: &[u8]) -> Result<usize, Refusal> {
    match super::parse::integer(word).map(usize::try_from) {
        Some(Ok(count)) => Ok(count),
        _ => Err(NEGATIVE),
    }
}

pub(super) fn llen(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let count = call.store.get::<List>(words[1])?.map_or(0, List::len);
    call.reply.count(count);
    Ok(())
}

pub(super) fn lindex(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let Some(list) = call.store.get::<List>(words[1])? else {
        call.reply.null();
        return Ok(());
    };
    let index = number(words[2])?;
    let place = usize::try_from(index.unsigned_abs()).ok();
    let place = place.and_then(|place| if index < 0 { list.len().checked_sub(place) } else { Some(place) });
    call.reply.bulk_or_null(place.and_then(|place| list.get(place)).map(Vec::as_slice));
    Ok(())
}

pub(super) fn lrange(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let (begin, end) = (number(words[2])?, number(words[3])?);
    let list = call.store.get::<List>(words[1])?;
    let range = indexes(begin, end, list.map_or(0, List::len));
    call.reply.array(range.len());
    for element in list.into_iter().flat_map(|list| list.range(range.clone())) {
        call.reply.bulk(element);
        if call.reply.has_overflowed() {
            break;
        }
    }
    Ok(())
}
