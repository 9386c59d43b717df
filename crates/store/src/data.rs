//! What the store holds: versions of records, and what each node has seen of them.
//!
//! There is one list of versions for each key, in the order in which they were written, and no copy for each node: what a
//! node sees follows from when and where each version was written and from the delays ([`Delays`]). **A read at node n
//! at time t finds the newest written version that has reached n by t.** Where delays are drawn a version may overtake
//! an earlier one; the earlier one is then never seen at that node, since the order of writing decides and not that of
//! arrival: the last writer wins, as in stores that order versions by time stamps. Writers at different nodes do not
//! see each other's latest versions and do not merge: of two, the later one wins.
//!
//! A version is forgotten as soon as a later one is visible on every node, for then nobody can read it. So with one node,
//! or without delays, there is exactly one version of each key; else as many more as are written within the largest delay.

mod record;

use crate::{Delays, NodeId, SortedSet};
use record::{Record, Version};
use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
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
    /// The request's number: draws of its delays are addressed by it. Irrelevant to reads.
    pub number: u64,
}

/// How far what was read lies behind what was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Staleness {
    /// Versions (deletes too) that were written after the one that was read, and before the read.
    pub versions: u32,
    /// How long the oldest of them had existed; zero if there was none.
    pub time: Nanos,
    /// Since when the version that was read had existed: the read-after-write lag when it is the newest. Zero where no
    /// record was found, also when that is because of a delete.
    pub age: Nanos,
}

impl Staleness {
    /// Of two records that were looked at: the largest of each.
    pub fn worst(self, other: Staleness) -> Staleness {
        Staleness {
            versions: self.versions.max(other.versions),
            time: self.time.max(other.time),
            age: self.age.max(other.age),
        }
    }
}

/// What [`Data::update`] did to the value it was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Nothing: the value is as it was, and no version is made.
    Unchanged,
    /// It is another value now.
    Changed,
    /// The record goes.
    Deleted,
}

/// All records.
#[derive(Debug, Default)]
pub struct Data {
    delays: Delays,
    records: BTreeMap<Key, Record>,
    /// Versions ever written.
    written: u64,
    /// For each version that has older ones: when it is visible everywhere, its place in the order of writing, its key.
    settling: BinaryHeap<Reverse<(Nanos, u64, Key)>>,
}

impl Data {
    /// An empty store of one node.
    pub fn new() -> Data {
        Data::default()
    }

    /// An empty store of as many nodes as `delays` has.
    pub fn with_delays(delays: Delays) -> Data {
        Data { delays, ..Data::default() }
    }

    /// The record as `view` sees it, and how stale that is. Costs O(log records), and where delays are drawn O(versions
    /// that have not reached the node) besides.
    pub fn read(&self, view: View, key: &Key) -> (Option<&Value>, Staleness) {
        match self.records.get(key) {
            Some(record) => record.read(view, &self.delays),
            None => (None, Staleness::default()),
        }
    }

    /// Writes a version; `None` deletes. It is there at once where it is written, and elsewhere when it has been
    /// replicated. Deleting what no node has, or will have, makes no version.
    pub fn write(&mut self, view: View, key: Key, value: Option<Value>) {
        self.settle(view.at);
        let version = self.version(view, value);
        match self.records.entry(key) {
            Entry::Vacant(place) if version.value.is_some() => {
                place.insert(Record::new(version));
            }
            Entry::Vacant(_) => {}
            Entry::Occupied(mut place) => {
                let (everywhere, order) = (version.everywhere, version.order);
                place.get_mut().push(version, view.at);
                if place.get().is_nothing(view.at) {
                    place.remove();
                } else if place.get().has_older() {
                    self.settling.push(Reverse((everywhere, order, place.key().clone())));
                }
            }
        }
    }

    /// Reads the record as `view` sees it, lets `change` alter it, and writes the result; `None`, without a call, where
    /// the view sees no record. The value is copied only if another node may still read the old version: never with one
    /// node or without delays, where this costs O(log records) and the change itself. A change that says
    /// [`Change::Unchanged`] must have left the value alone.
    pub fn update<T>(
        &mut self,
        view: View,
        key: &Key,
        change: impl FnOnce(&mut Value) -> (Change, T),
    ) -> Option<T> {
        self.settle(view.at);
        let mut version = self.version(view, None);
        let record = self.records.get_mut(key)?;
        let index = record.seen(view, &self.delays)?;
        if version.everywhere <= view.at {
            let (change, answer) = change(record.value_mut(index)?);
            match change {
                Change::Unchanged => {}
                Change::Changed => record.replace_all_by(index, version),
                Change::Deleted => drop(self.records.remove(key)),
            }
            return Some(answer);
        }
        let mut value = record.value(index)?.clone();
        let (change, answer) = change(&mut value);
        if change != Change::Unchanged {
            version.value = (change == Change::Changed).then_some(value);
            self.settling.push(Reverse((version.everywhere, version.order, key.clone())));
            record.push(version, view.at);
        }
        Some(answer)
    }

    /// Records of one space from `from` on, in order, as `view` sees them. Costs O(log records) to begin, and then as
    /// [`Data::read`] without the search for each record that any node may still see.
    pub fn scan<'a>(
        &'a self,
        view: View,
        from: &Key,
    ) -> impl Iterator<Item = (&'a Key, &'a Value)> + use<'a> {
        self.look(view, from).filter_map(|(key, value, _)| Some((key, value?)))
    }

    /// The same with how stale each is, and with those records, too, of which the view sees nothing: they are deleted, or
    /// have not arrived, which is missed as well.
    pub fn look<'a>(
        &'a self,
        view: View,
        from: &Key,
    ) -> impl Iterator<Item = (&'a Key, Option<&'a Value>, Staleness)> + use<'a> {
        let space = from.space.clone();
        self.records.range(from.clone()..).take_while(move |(key, _)| key.space == space).map(
            move |(key, record)| {
                let (value, staleness) = record.read(view, &self.delays);
                (key, value, staleness)
            },
        )
    }

    /// Forgets a whole space on all nodes at once.
    pub fn drop_space(&mut self, space: &[u8]) {
        self.records.retain(|key, _| &*key.space != space);
    }

    /// Forgets the versions that no node sees any more from `at` on; views of earlier moments are wrong from then on.
    /// Writes do so too: this is for a store that is only read. Costs O(log versions) for each version that goes.
    pub fn settle(&mut self, at: Nanos) {
        while let Some(Reverse((everywhere, ..))) = self.settling.peek()
            && *everywhere <= at
        {
            let Some(Reverse((_, order, key))) = self.settling.pop() else { return };
            if let Some(record) = self.records.get_mut(&key) {
                record.forget_before(order);
                if record.is_nothing(at) {
                    self.records.remove(&key);
                }
            }
        }
    }

    /// How many versions are kept, of all records.
    pub fn versions(&self) -> usize {
        self.records.values().map(Record::len).sum()
    }

    fn version(&mut self, view: View, value: Option<Value>) -> Version {
        self.written += 1;
        let View { at, node, number } = view;
        let everywhere = at + self.delays.to_all(node, number);
        Version { at, order: self.written, number, writer: node, everywhere, value }
    }
}
