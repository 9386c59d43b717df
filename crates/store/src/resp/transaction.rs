//! MULTI, EXEC, DISCARD, WATCH, UNWATCH.

use super::call::{Call, Outcome};
use super::refusal::Refusal;
use super::{QUEUED_MAX, QUEUED_WORD, table};

/// What a queued request costs besides its words: two lists, which may have twice the room that they need.
const REQUEST_OVERHEAD: usize = 96;

/// The requests between `MULTI` and `EXEC`.
#[derive(Debug, Default)]
pub(super) struct Queue {
    requests: Vec<Vec<Box<[u8]>>>,
    bytes: usize,
    spoiled: bool,
}

impl Queue {
    /// Queues a request that is known to be a command with enough words.
    pub(super) fn push(&mut self, words: &[&[u8]]) -> Result<(), Refusal> {
        let bytes: usize = words.iter().map(|word| word.len() + QUEUED_WORD).sum();
        if self.bytes + bytes > QUEUED_MAX {
            let limit =
                format!("ERR this store queues at most {QUEUED_MAX} bytes: execute the transaction in parts");
            return Err(Refusal::quoting(limit));
        }
        self.bytes += bytes;
        // Once it can't be executed any more, it is only counted.
        if !self.spoiled {
            self.requests.push(words.iter().map(|word| Box::from(*word)).collect());
        }
        Ok(())
    }

    /// Bytes of memory, about.
    pub(super) fn holds(&self) -> usize {
        if self.requests.is_empty() { 0 } else { self.bytes + self.requests.len() * REQUEST_OVERHEAD }
    }

    /// A request could not be queued: none will be executed.
    pub(super) fn spoil(&mut self) {
        self.spoiled = true;
        self.requests = Vec::new();
    }

    pub(super) fn is_spoiled(&self) -> bool {
        self.spoiled
    }
}

pub(super) fn multi(call: &mut Call<'_>, _: &[&[u8]]) -> Outcome {
    if call.connection.queue.is_some() {
        return Err(Refusal::new("ERR MULTI calls can not be nested"));
    }
    call.connection.queue = Some(Queue::default());
    call.reply.simple("OK");
    Ok(())
}

pub(super) fn discard(call: &mut Call<'_>, _: &[&[u8]]) -> Outcome {
    if call.connection.queue.take().is_none() {
        return Err(Refusal::new("ERR DISCARD without MULTI"));
    }
    call.connection.unwatch();
    call.reply.simple("OK");
    Ok(())
}

pub(super) fn watch(call: &mut Call<'_>, words: &[&[u8]]) -> Outcome {
    if call.connection.queue.is_some() {
        return Err(Refusal::new("ERR WATCH inside MULTI is not allowed"));
    }
    for key in &words[1..] {
        call.connection.watch(key)?;
    }
    call.reply.simple("OK");
    Ok(())
}

pub(super) fn unwatch(call: &mut Call<'_>, _: &[&[u8]]) -> Outcome {
    call.connection.unwatch();
    call.reply.simple("OK");
    Ok(())
}

/// Executes everything at one moment; an error of one request is its answer and stops no other.
pub(super) fn exec(call: &mut Call<'_>, _: &[&[u8]]) -> Outcome {
    let Some(queue) = call.connection.commit()? else {
        call.reply.null_array();
        return Ok(());
    };
    call.reply.array(queue.requests.len());
    for request in &queue.requests {
        let words: Vec<&[u8]> = request.iter().map(|word| &**word).collect();
        // Only commands that were found are queued.
        if let Some(command) = table::find(words[0]) {
            call.run(command, &words);
        }
    }
    Ok(())
}
