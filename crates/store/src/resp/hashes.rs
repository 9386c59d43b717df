//! Commands on hashes.

use super::call::{Call, Hash, Outcome, number};
use super::parse::integer;
use super::refusal::{OVERFLOW, Refusal};

pub(super) fn hset(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let added = put_fields(call, words, "hset")?;
    call.reply.count(added);
    Ok(())
}

pub(super) fn hmset(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    put_fields(call, words, "hmset")?;
    call.reply.simple("OK");
    Ok(())
}

/// How many fields are new.
fn put_fields(call: &mut Call<'_>, words: &[&[u8]], name: &str) -> Result<usize, Refusal> {
    let (pairs, rest) = words[2..].as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Refusal::arity(name));
    }
    call.store.edit::<Hash, _>(words[1], |hash| {
        let fresh =
            pairs.iter().filter(|[field, value]| hash.insert(field.to_vec(), value.to_vec()).is_none());
        (fresh.count(), true)
    })
}

pub(super) fn hsetnx(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let there = call.store.get::<Hash>(words[1])?.is_some_and(|hash| hash.contains_key(words[2]));
    if !there {
        call.store
            .edit::<Hash, _>(words[1], |hash| (hash.insert(words[2].to_vec(), words[3].to_vec()), true))?;
    }
    call.reply.flag(!there);
    Ok(())
}

pub(super) fn hget(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let hash = call.store.get::<Hash>(words[1])?;
    call.reply.bulk_or_null(hash.and_then(|hash| hash.get(words[2])).map(Vec::as_slice));
    Ok(())
}

pub(super) fn hmget(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let hash = call.store.get::<Hash>(words[1])?;
    call.reply.array(words.len() - 2);
    for field in &words[2..] {
        call.reply.bulk_or_null(hash.and_then(|hash| hash.get(*field)).map(Vec::as_slice));
    }
    Ok(())
}

pub(super) fn hgetall(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let hash = call.store.get::<Hash>(words[1])?;
    call.reply.map(hash.map_or(0, Hash::len));
    for (field, value) in hash.into_iter().flatten() {
        call.reply.bulk(field);
        call.reply.bulk(value);
    }
    Ok(())
}

pub(super) fn hkeys(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let hash = call.store.get::<Hash>(words[1])?;
    call.reply.array(hash.map_or(0, Hash::len));
    hash.into_iter().flatten().for_each(|(field, _)| call.reply.bulk(field));
    Ok(())
}

pub(super) fn hvals(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let hash = call.store.get::<Hash>(words[1])?;
    call.reply.array(hash.map_or(0, Hash::len));
    hash.into_iter().flatten().for_each(|(_, value)| call.reply.bulk(value));
    Ok(())
}

pub(super) fn hlen(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let count = call.store.get::<Hash>(words[1])?.map_or(0, Hash::len);
    call.reply.count(count);
    Ok(())
}

pub(super) fn hexists(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let there = call.store.get::<Hash>(words[1])?.is_some_and(|hash| hash.contains_key(words[2]));
    call.reply.flag(there);
    Ok(())
}

pub(super) fn hdel(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let gone = match call.store.get::<Hash>(words[1])? {
        None => 0,
        Some(_) => call.store.edit::<Hash, _>(words[1], |hash| {
            let gone = words[2..].iter().filter(|field| hash.remove(**field).is_some()).count();
            (gone, gone > 0)
        })?,
    };
    call.reply.count(gone);
    Ok(())
}

pub(super) fn hincrby(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let by = number(words[3])?;
    let field = call.store.get::<Hash>(words[1])?.and_then(|hash| hash.get(words[2]));
    let old = match field {
        Some(text) => integer(text).ok_or(Refusal::new("ERR hash value is not an integer"))?,
        None => 0,
    };
    let sum = old.checked_add(by).ok_or(OVERFLOW)?;
    let text = sum.to_string().into_bytes();
    call.store.edit::<Hash, _>(words[1], |hash| (hash.insert(words[2].to_vec(), text), true))?;
    call.reply.integer(sum);
    Ok(())
}
