//! What the store holds: versions of records, and what each node has seen of them.

use crate::{NodeId, SortedSet};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::Nanos;

/// A record's place: a namespace (a SQL table; empty for RESP) and a key, ordered by both.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Key {
    /// The table; empty for RESP's one key space.
    pub space: Box<[u8]>,
    /// The key in it, in an encoding whose byte order is the order of scans.
    pub key: Box<[u8]>,
}

/// A record.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// RESP's string.
    Text(Vec<u8>),
    /// RESP's hash.
    Hash(BTreeMap<Vec<u8>, Vec<u8>>),
    /// RESP's sorted set.
    Sorted(SortedSet),
    /// RESP's list.
    List(VecDeque<Vec<u8>>),
    /// RESP's set.
    Set(BTreeSet<Vec<u8>>),
    /// A SQL row, column by column, as text; `None` is NULL.
    Row(Vec<Option<Vec<u8>>>),
}

/// Where and when data is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// The moment; never before that of an earlier view.
    pub at: Nanos,
    /// The node.
    pub node: NodeId,
}

/// How far what was read lies behind what was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Staleness {
    /// Newer versions that existed.
    pub versions: u32,
    /// How long the oldest of them had existed; zero if there was none.
    pub time: Nanos,
    /// Since when the version that was read had existed: the read-after-write lag when it is the newest.
    pub age: Nanos,
}

/// All records.
#[derive(Debug, Default)]
pub struct Data {
    records: BTreeMap<Key, Value>,
}

impl Data {
    /// An empty store.
    pub fn new() -> Data {
        Data::default()
    }

    /// The record as `view` sees it, and how stale that is.
    pub fn read(&self, _view: View, key: &Key) -> (Option<&Value>, Staleness) {
        (self.records.get(key), Staleness::default())
    }

    /// Writes a version; `None` deletes. It is there at once where it is written, and elsewhere when it has been
    /// replicated.
    pub fn write(&mut self, _view: View, key: Key, value: Option<Value>) {
        match value {
            Some(value) => self.records.insert(key, value),
            None => self.records.remove(&key),
        };
    }

    /// Records of one space from `from` on, in order, as `view` sees them.
    pub fn scan<'a>(
        &'a self,
        _view: View,
        from: &Key,
    ) -> impl Iterator<Item = (&'a Key, &'a Value)> + use<'a> {
        let space = from.space.clone();
        self.records.range(from.clone()..).take_while(move |(key, _)| key.space == space)
    }

    /// Forgets a whole space on all nodes at once.
    pub fn drop_space(&mut self, space: &[u8]) {
        self.records.retain(|key, _| &*key.space != space);
    }
}
