//! What all connections of one store have in common.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the store claims to be where clients ask for a version: the Redis whose answers it gives.
pub(super) const VERSION: &str = "7.0.15";

/// How the store presents itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// What `AUTH` must bring for the user `default`; `None`: nobody needs to say who they are.
    pub password: Option<String>,
    /// Wall time of the store's epoch in nanoseconds since 1970, for `TIME`.
    pub epoch_wall_ns: u64,
    /// The port, for `INFO`; 0 where there is none.
    pub port: u16,
}

/// One store, as its connections see it together. One thread serves them all, so that the locks here are never waited
/// for; they are there because a connection may be handed to another thread.
#[derive(Debug)]
pub struct Instance {
    settings: Settings,
    connections: AtomicU64,
    clients: AtomicU64,
    commands: AtomicU64,
    cursors: Mutex<Cursors>,
    watches: Mutex<Watches>,
}

impl Instance {
    /// A store that nobody has connected to yet.
    pub fn new(settings: Settings) -> Arc<Instance> {
        Arc::new(Instance {
            settings,
            connections: AtomicU64::new(0),
            clients: AtomicU64::new(0),
            commands: AtomicU64::new(0),
            cursors: Mutex::default(),
            watches: Mutex::default(),
        })
    }

    /// How it was set up.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    // The counters order nothing else: relaxed.

    /// A new client's number, from 1.
    pub(super) fn enter(&self) -> u64 {
        self.clients.fetch_add(1, Ordering::Relaxed);
        self.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A client has gone.
    pub(super) fn leave(&self) {
        self.clients.fetch_sub(1, Ordering::Relaxed);
    }

    /// Clients now.
    pub(super) fn clients(&self) -> u64 {
        self.clients.load(Ordering::Relaxed)
    }

    /// Clients ever.
    pub(super) fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// One more command.
    pub(super) fn count_command(&self) {
        self.commands.fetch_add(1, Ordering::Relaxed);
    }

    /// Commands ever.
    pub(super) fn commands(&self) -> u64 {
        self.commands.load(Ordering::Relaxed)
    }

    /// Places where `SCAN` may go on.
    pub(super) fn cursors(&self) -> MutexGuard<'_, Cursors> {
        lock(&self.cursors)
    }

    /// From now on, a change of `key` raises `flag`.
    pub(super) fn watch(&self, key: &[u8], flag: &Arc<AtomicBool>) {
        lock(&self.watches).entry(key.into()).or_default().push(flag.clone());
    }

    /// No change of `key` raises `flag` any more.
    pub(super) fn unwatch(&self, key: &[u8], flag: &Arc<AtomicBool>) {
        let mut watches = lock(&self.watches);
        if let Some(flags) = watches.get_mut(key) {
            flags.retain(|other| !Arc::ptr_eq(other, flag));
            if flags.is_empty() {
                watches.remove(key);
            }
        }
    }

    /// `key` was changed.
    pub(super) fn touched(&self, key: &[u8]) {
        let watches = lock(&self.watches);
        if !watches.is_empty()
            && let Some(flags) = watches.get(key)
        {
            flags.iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
        }
    }

    /// Watched keys.
    pub(super) fn watched(&self) -> Vec<Box<[u8]>> {
        lock(&self.watches).keys().cloned().collect()
    }
}

/// For each watched key, what is raised when it is changed.
type Watches = HashMap<Box<[u8]>, Vec<Arc<AtomicBool>>>;

/// A lock whose holder panicked guards nothing that could be half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where scans may go on: numbers, as RESP wants them, for keys. A client may carry a cursor to another connection, so
/// that they belong to the store. The latest are kept: [`CURSORS_MAX`], and [`CURSOR_BYTES_MAX`] of keys.
#[derive(Debug, Default)]
pub(super) struct Cursors {
    last: u64,
    places: BTreeMap<u64, Box<[u8]>>,
    by_age: VecDeque<u64>,
    bytes: usize,
}

/// The most cursors that are remembered.
pub(super) const CURSORS_MAX: usize = 4_096;
/// The most bytes of keys that they stand for.
const CURSOR_BYTES_MAX: usize = 4 << 20;

impl Cursors {
    /// A cursor for the keys from `key` on; never 0.
    pub(super) fn place(&mut self, key: &[u8]) -> u64 {
        self.last += 1;
        self.places.insert(self.last, key.into());
        self.by_age.push_back(self.last);
        self.bytes += key.len();
        while self.by_age.len() > CURSORS_MAX || self.bytes > CURSOR_BYTES_MAX {
            let Some(oldest) = self.by_age.pop_front() else { break };
            self.bytes -= self.places.remove(&oldest).map_or(0, |key| key.len());
        }
        self.last
    }

    /// Where to go on, if it is still known.
    pub(super) fn find(&self, cursor: u64) -> Option<Box<[u8]>> {
        self.places.get(&cursor).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_cursors_are_kept() {
        let mut cursors = Cursors::default();
        for number in 0..CURSORS_MAX + 1 {
            cursors.place(&number.to_be_bytes());
        }
        assert_eq!(cursors.find(1), None);
        assert_eq!(cursors.find(2).as_deref(), Some(&1usize.to_be_bytes()[..]));
        let large = vec![b'x'; CURSOR_BYTES_MAX / 2];
        for _ in 0..3 {
            cursors.place(&large);
        }
        assert!(cursors.bytes <= CURSOR_BYTES_MAX && cursors.places.len() == 2);
    }

    #[test]
    fn watches_are_raised_and_forgotten() {
        let (instance, flag) = (Instance::new(Settings::default()), Arc::new(AtomicBool::new(false)));
        instance.watch(b"k", &flag);
        instance.touched(b"other");
        assert!(!flag.load(Ordering::Relaxed));
        instance.touched(b"k");
        assert!(flag.swap(false, Ordering::Relaxed));
        instance.unwatch(b"k", &flag);
        instance.touched(b"k");
        assert!(!flag.load(Ordering::Relaxed) && instance.watched().is_empty());
    }
}
