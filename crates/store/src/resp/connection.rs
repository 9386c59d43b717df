//! What the store remembers of one connection.

use super::parse::Trust;
use super::refusal::{ABORTED, Refusal};
use super::reply::Version;
use super::transaction::Queue;
use super::{Instance, WATCHED_BYTES_MAX, WATCHED_MAX};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a watched key costs besides its bytes: a place in two maps, and a flag in a list.
const WATCHED_OVERHEAD: usize = 256;

/// One client.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) instance: Arc<Instance>,
    /// From 1.
    pub(super) id: u64,
    /// What the client called itself.
    pub(super) name: Vec<u8>,
    pub(super) version: Version,
    pub(super) trust: Trust,
    /// Between `MULTI` and `EXEC`.
    pub(super) queue: Option<Queue>,
    /// It asked to be closed; nothing that follows counts.
    pub(super) closing: bool,
    watched: BTreeSet<Box<[u8]>>,
    /// The sum of their lengths.
    watched_bytes: usize,
    /// One of the watched keys was changed.
    changed: Arc<AtomicBool>,
}

impl Connection {
    pub(super) fn new(instance: &Arc<Instance>) -> Connection {
        let id = instance.enter();
        Connection {
            instance: instance.clone(),
            id,
            name: Vec::new(),
            version: Version::default(),
            trust: trust_of_strangers(instance),
            queue: None,
            closing: false,
            watched: BTreeSet::new(),
            watched_bytes: 0,
            changed: Arc::new(AtomicBool::new(false)),
        }
    }

    /// As it was when it was new, but for its number.
    pub(super) fn reset(&mut self) {
        self.queue = None;
        self.unwatch();
        self.name.clear();
        self.version = Version::default();
        self.trust = trust_of_strangers(&self.instance);
    }

    /// Bytes that its transaction, what it watches and its name take, about. A watched key is in its own list and in that
    /// of the instance.
    pub(super) fn holds(&self) -> usize {
        let watched = 2 * self.watched_bytes + self.watched.len() * WATCHED_OVERHEAD;
        self.queue.as_ref().map_or(0, Queue::holds) + watched + self.name.capacity()
    }

    /// Watches one key more.
    pub(super) fn watch(&mut self, key: &[u8]) -> Result<(), Refusal> {
        if self.watched.contains(key) {
            return Ok(());
        }
        if self.watched.len() >= WATCHED_MAX || self.watched_bytes + key.len() > WATCHED_BYTES_MAX {
            return Err(Refusal::quoting(format!(
                "ERR this store watches at most {WATCHED_MAX} keys of {WATCHED_BYTES_MAX} bytes together"
            )));
        }
        self.instance.watch(key, &self.changed);
        self.watched.insert(key.into());
        self.watched_bytes += key.len();
        Ok(())
    }

    /// Watches nothing any more.
    pub(super) fn unwatch(&mut self) {
        for key in std::mem::take(&mut self.watched) {
            self.instance.unwatch(&key, &self.changed);
        }
        self.watched_bytes = 0;
        self.changed.store(false, Ordering::Relaxed);
    }

    /// Whether a watched key was changed since.
    pub(super) fn watched_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// Ends the transaction, if there is one, without executing anything.
    pub(super) fn abort(&mut self) {
        self.queue = None;
        self.unwatch();
    }

    /// Ends the transaction: what was queued, `None` where a watched key was changed.
    pub(super) fn commit(&mut self) -> Result<Option<Queue>, Refusal> {
        let Some(queue) = self.queue.take() else { return Err(Refusal::new("ERR EXEC without MULTI")) };
        let changed = self.watched_changed();
        self.unwatch();
        match (queue.is_spoiled(), changed) {
            (true, _) => Err(ABORTED),
            (false, true) => Ok(None),
            (false, false) => Ok(Some(queue)),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.unwatch();
        self.instance.leave();
    }
}

/// Where no password is set, everybody is known.
fn trust_of_strangers(instance: &Instance) -> Trust {
    if instance.settings().password.is_some() { Trust::Stranger } else { Trust::Known }
}
