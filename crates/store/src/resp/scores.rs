//! Commands on sorted sets that change them or ask for one member.

use super::call::{Call, Outcome, is};
use super::lists::positive;
use super::numbers::score;
use super::refusal::{NOT_A_FLOAT, NOT_A_NUMBER, Refusal, SYNTAX};
use super::reply::Version;
use crate::SortedSet;

/// What stands between key and scores in `ZADD`.
#[derive(Clone, Copy, Default)]
struct AddOptions {
    only_new: bool,
    only_known: bool,
    only_greater: bool,
    only_less: bool,
    counts_changed: bool,
    increments: bool,
}

/// The options, and what follows them.
fn add_options<'a, 'b>(mut words: &'b [&'a [u8]]) -> (AddOptions, &'b [&'a [u8]]) {
    let mut options = AddOptions::default();
    while let [word, rest @ ..] = words {
        let option = match () {
            () if is(word, "nx") => &mut options.only_new,
            () if is(word, "xx") => &mut options.only_known,
            () if is(word, "gt") => &mut options.only_greater,
            () if is(word, "lt") => &mut options.only_less,
            () if is(word, "ch") => &mut options.counts_changed,
            () if is(word, "incr") => &mut options.increments,
            () => break,
        };
        *option = true;
        words = rest;
    }
    (options, words)
}

impl AddOptions {
    fn check(&self, pairs: usize) -> Outcome {
        if self.only_new && self.only_known {
            return Err(Refusal::new("ERR XX and NX options at the same time are not compatible"));
        }
        let compares = u8::from(self.only_greater) + u8::from(self.only_less);
        if compares + u8::from(self.only_new) > 1 {
            return Err(Refusal::new("ERR GT, LT, and/or NX options at the same time are not compatible"));
        }
        if self.increments && pairs > 1 {
            return Err(Refusal::new("ERR INCR option supports a single increment-element pair"));
        }
        Ok(())
    }

    /// The score that a member gets, `None` where the options leave it as it is.
    fn decide(&self, old: Option<f64>, given: f64) -> Result<Option<f64>, Refusal> {
        let Some(old) = old else { return Ok((!self.only_known).then_some(given)) };
        if self.only_new {
            return Ok(None);
        }
        let new = if self.increments { old + given } else { given };
        if new.is_nan() {
            return Err(NOT_A_NUMBER);
        }
        let held_back = (self.only_greater && new <= old) || (self.only_less && new >= old);
        Ok((!held_back).then_some(new))
    }
}

/// What `ZADD` did.
#[derive(Default)]
struct Added {
    fresh: usize,
    changed: usize,
    /// Of the last pair: its score, if the options let it be set.
    score: Option<f64>,
}

pub(super) fn zadd(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let (options, rest) = add_options(&words[2..]);
    add_pairs(call, words[1], options, rest)
}

/// `ZADD INCR` by another name: options are understood here, too.
pub(super) fn zincrby(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let (options, rest) = add_options(&words[2..]);
    add_pairs(call, words[1], AddOptions { increments: true, ..options }, rest)
}

fn add_pairs(call: &mut Call<'_>, key: &[u8], options: AddOptions, rest: &[&[u8]]) -> Outcome {
    let (pairs, odd) = rest.as_chunks::<2>();
    if !odd.is_empty() || pairs.is_empty() {
        return Err(SYNTAX);
    }
    options.check(pairs.len())?;
    let read = |[text, member]: &[&'_ [u8]; 2]| Ok((score(text).ok_or(NOT_A_FLOAT)?, member.to_vec()));
    let pairs: Vec<(f64, Vec<u8>)> = pairs.iter().map(read).collect::<Result<_, Refusal>>()?;
    let added = add(call, key, options, &pairs)?;
    match (options.increments, options.counts_changed) {
        (true, _) => match added.score {
            Some(score) => call.reply.double(score),
            None => call.reply.null(),
        },
        (false, true) => call.reply.count(added.fresh + added.changed),
        (false, false) => call.reply.count(added.fresh),
    }
    Ok(())
}

fn add(
    call: &mut Call<'_>,
    key: &[u8],
    options: AddOptions,
    pairs: &[(f64, Vec<u8>)],
) -> Result<Added, Refusal> {
    call.store.edit::<SortedSet, _>(key, |set| {
        let mut added = Added::default();
        for (given, member) in pairs {
            let old = set.score(member);
            added.score = match options.decide(old, *given) {
                Ok(score) => score,
                Err(refusal) => return (Err(refusal), false),
            };
            let Some(new) = added.score else { continue };
            match old {
                None => added.fresh += 1,
                Some(old) if old != new => added.changed += 1,
                Some(_) => continue,
            }
            set.insert(member, new);
        }
        let changed = added.fresh + added.changed > 0;
        (Ok(added), changed)
    })?
}

pub(super) fn zrem(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let gone = match call.store.get::<SortedSet>(words[1])? {
        None => 0,
        Some(_) => call.store.edit::<SortedSet, _>(words[1], |set| {
            let gone = words[2..].iter().filter(|member| set.remove(member)).count();
            (gone, gone > 0)
        })?,
    };
    call.reply.count(gone);
    Ok(())
}

pub(super) fn zcard(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let count = call.store.get::<SortedSet>(words[1])?.map_or(0, SortedSet::len);
    call.reply.count(count);
    Ok(())
}

pub(super) fn zscore(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    match call.store.get::<SortedSet>(words[1])?.and_then(|set| set.score(words[2])) {
        Some(score) => call.reply.double(score),
        None => call.reply.null(),
    }
    Ok(())
}

/// Which end of a sorted set.
#[derive(Clone, Copy)]
enum End {
    Lowest,
    Highest,
}

pub(super) fn zpopmin(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    pop(call, words, End::Lowest)
}

pub(super) fn zpopmax(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    pop(call, words, End::Highest)
}

fn pop(call: &mut Call<'_>, words: &[&[u8]], end: End) -> Outcome {
    let wanted = match words[2..] {
        [] => None,
        [count] => Some(positive(count)?),
        _ => return Err(SYNTAX),
    };
    let count = wanted.unwrap_or(1);
    let popped: Vec<(Vec<u8>, f64)> = match call.store.get::<SortedSet>(words[1])? {
        None => Vec::new(),
        Some(set) => match end {
            End::Lowest => set.iter().take(count).map(owned).collect(),
            End::Highest => set.iter().rev().take(count).map(owned).collect(),
        },
    };
    if !popped.is_empty() {
        call.store.edit::<SortedSet, _>(words[1], |set| {
            let gone = popped.iter().filter(|(member, _)| set.remove(member)).count();
            ((), gone > 0)
        })?;
    }
    let nested = wanted.is_some() && call.reply.version() == Version::Three;
    call.reply.array(if nested { popped.len() } else { 2 * popped.len() });
    for (member, score) in &popped {
        if nested {
            call.reply.array(2);
        }
        call.reply.bulk(member);
        call.reply.double(*score);
    }
    Ok(())
}

fn owned((member, score): (&[u8], f64)) -> (Vec<u8>, f64) {
    (member.to_vec(), score)
}
