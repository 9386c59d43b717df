//! Commands on sets.

use super::call::{Call, Members, Outcome};
use super::lists::positive;
use super::refusal::SYNTAX;

pub(super) fn sadd(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let added = call.store.edit::<Members, _>(words[1], |set| {
        let added = words[2..].iter().filter(|member| set.insert(member.to_vec())).count();
        (added, added > 0)
    })?;
    call.reply.count(added);
    Ok(())
}

pub(super) fn srem(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let gone = match call.store.get::<Members>(words[1])? {
        None => 0,
        Some(_) => call.store.edit::<Members, _>(words[1], |set| {
            let gone = words[2..].iter().filter(|member| set.remove(**member)).count();
            (gone, gone > 0)
        })?,
    };
    call.reply.count(gone);
    Ok(())
}

pub(super) fn scard(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let count = call.store.get::<Members>(words[1])?.map_or(0, Members::len);
    call.reply.count(count);
    Ok(())
}

pub(super) fn sismember(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let there = call.store.get::<Members>(words[1])?.is_some_and(|set| set.contains(words[2]));
    call.reply.flag(there);
    Ok(())
}

pub(super) fn smembers(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let set = call.store.get::<Members>(words[1])?;
    call.reply.set(set.map_or(0, Members::len));
    set.into_iter().flatten().for_each(|member| call.reply.bulk(member));
    Ok(())
}

/// Takes the first, where Redis takes any.
pub(super) fn spop(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    let wanted = match words[2..] {
        [] => None,
        [count] => Some(positive(count)?),
        _ => return Err(SYNTAX),
    };
    let popped = match call.store.get::<Members>(words[1])? {
        None => Vec::new(),
        Some(_) => call.store.edit::<Members, _>(words[1], |set| {
            let count = wanted.unwrap_or(1).min(set.len());
            let popped: Vec<Vec<u8>> = (0..count).filter_map(|_| set.pop_first()).collect();
            let changed = !popped.is_empty();
            (popped, changed)
        })?,
    };
    match (wanted, popped.first()) {
        (None, None) => call.reply.null(),
        (None, Some(_)) => {}
        (Some(_), _) => call.reply.set(popped.len()),
    }
    popped.iter().for_each(|member| call.reply.bulk(member));
    Ok(())
}
