//! Commands on ranges of sorted sets.

use super::call::{Call, Outcome, indexes, is, number};
use super::refusal::{RANGE_NOT_A_FLOAT, Refusal, SYNTAX};
use super::reply::{Reply, Version};
use crate::SortedSet;

/// Which members are asked for, and how.
struct Range {
    by: By,
    reversed: bool,
    with_scores: bool,
    /// How many to pass over, and how many to give; negative: all.
    limit: Option<(i64, i64)>,
}

/// What the two bounds are.
enum By {
    /// Places in the order, from either end.
    Index(i64, i64),
    /// Lowest and highest score.
    Score(f64, f64),
}

/// What a command's name says already, and options then can't say again.
#[derive(Default)]
struct Named {
    by_score: Option<bool>,
    reversed: Option<bool>,
}

pub(super) fn zrange(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let range = range(words, Named::default())?;
    give(call, words[1], &range)
}

pub(super) fn zrevrange(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let range = range(words, Named { by_score: Some(false), reversed: Some(true) })?;
    give(call, words[1], &range)
}

pub(super) fn zrangebyscore(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let range = range(words, Named { by_score: Some(true), reversed: Some(false) })?;
    give(call, words[1], &range)
}

pub(super) fn zrevrangebyscore(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let range = range(words, Named { by_score: Some(true), reversed: Some(true) })?;
    give(call, words[1], &range)
}

/// Options first, then the bounds: the order in which Redis complains.
fn range(words: &[&[u8]], mut named: Named) -> Result<Range, Refusal> {
    let (mut with_scores, mut limit) = (false, None);
    let mut rest = &words[4..];
    while let [word, tail @ ..] = rest {
        rest = tail;
        match tail {
            _ if is(word, "withscores") => with_scores = true,
            _ if is(word, "rev") && named.reversed.is_none() => named.reversed = Some(true),
            _ if is(word, "byscore") && named.by_score.is_none() => named.by_score = Some(true),
            _ if is(word, "bylex") && named.by_score.is_none() => return Err(NO_BYLEX),
            [offset, count, tail @ ..] if is(word, "limit") => {
                limit = Some((number(offset)?, number(count)?));
                rest = tail;
            }
            _ => return Err(SYNTAX),
        }
    }
    let (by_score, reversed) = (named.by_score.unwrap_or(false), named.reversed.unwrap_or(false));
    if limit.is_some() && !by_score {
        return Err(LIMIT_WITHOUT_BOUNDS);
    }
    let by = match (by_score, reversed) {
        (false, _) => By::Index(number(words[2])?, number(words[3])?),
        (true, false) => scores(words[2], words[3])?,
        // The highest comes first, also in the request.
        (true, true) => scores(words[3], words[2])?,
    };
    Ok(Range { by, reversed, with_scores, limit })
}

const NO_BYLEX: Refusal = Refusal::new("ERR this store simulates no BYLEX: use BYSCORE or indexes");
const LIMIT_WITHOUT_BOUNDS: Refusal =
    Refusal::new("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");

pub(super) fn zcount(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let By::Score(lowest, highest) = scores(words[2], words[3])? else { return Err(SYNTAX) };
    let set = call.store.get::<SortedSet>(words[1])?;
    call.reply.count(set.map_or(0, |set| set.between(lowest, highest).count()));
    Ok(())
}

fn scores(lowest: &[u8], highest: &[u8]) -> Result<By, Refusal> {
    Ok(By::Score(bound(lowest, f64::next_up)?, bound(highest, f64::next_down)?))
}

/// A bound; `(` leaves it out, which its neighbour says as well.
fn bound(word: &[u8], neighbour: fn(f64) -> f64) -> Result<f64, Refusal> {
    let (text, excluded) = match word {
        [b'(', rest @ ..] => (rest, true),
        _ => (word, false),
    };
    let text = std::str::from_utf8(text).map_err(|_| RANGE_NOT_A_FLOAT)?;
    // C's `strtod` passes over blanks, and nothing is 0 to it.
    let score: f64 = match text.trim_ascii_start() {
        "" if text.is_empty() => 0.0,
        number => number.parse().map_err(|_| RANGE_NOT_A_FLOAT)?,
    };
    if score.is_nan() {
        return Err(RANGE_NOT_A_FLOAT);
    }
    Ok(if excluded { neighbour(score) } else { score })
}

fn give(call: &mut Call<'_>, key: &[u8], range: &Range) -> Outcome {
    let empty = SortedSet::new();
    let set = call.store.get::<SortedSet>(key)?.unwrap_or(&empty);
    // A member takes some bytes of the answer, so that more than the limit has bytes are never needed.
    let most = super::ANSWER_MAX;
    let found: Vec<(&[u8], f64)> = match range.by {
        By::Index(begin, end) => {
            let places = indexes(begin, end, set.len());
            let count = places.len().min(most);
            let skip = places.start;
            match range.reversed {
                false => set.iter().skip(skip).take(count).collect(),
                true => set.iter().rev().skip(skip).take(count).collect(),
            }
        }
        By::Score(lowest, highest) => {
            let (skip, take) = window(range.limit);
            let take = take.min(most);
            let between = set.between(lowest, highest);
            match range.reversed {
                false => between.skip(skip).take(take).collect(),
                true => between.rev().skip(skip).take(take).collect(),
            }
        }
    };
    write(&mut call.reply, &found, range.with_scores);
    Ok(())
}

/// How many to pass over and how many to take. With a negative offset there is nothing; with a negative count, all.
fn window(limit: Option<(i64, i64)>) -> (usize, usize) {
    let Some((offset, count)) = limit else { return (0, usize::MAX) };
    let take = usize::try_from(count).unwrap_or(usize::MAX);
    usize::try_from(offset).map_or((0, 0), |skip| (skip, take))
}

fn write(reply: &mut Reply<'_>, found: &[(&[u8], f64)], with_scores: bool) {
    let nested = with_scores && reply.version() == Version::Three;
    let flat_pairs = with_scores && !nested;
    reply.array(if flat_pairs { 2 * found.len() } else { found.len() });
    for (member, score) in found {
        if reply.has_overflowed() {
            break;
        }
        if nested {
            reply.array(2);
        }
        reply.bulk(member);
        if with_scores {
            reply.double(*score);
        }
    }
}
