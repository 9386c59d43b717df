//! The versions of one record.

use super::{Staleness, Value, View};
use crate::{Delays, NodeId};
use std::collections::VecDeque;
use std::mem;
use units::Nanos;

/// What one write left.
#[derive(Debug)]
pub(super) struct Version {
    /// When it was written.
    pub at: Nanos,
    /// Its place in the order of all writes.
    pub order: u64,
    /// The request's number, which addresses the draws of its delays.
    pub number: u64,
    /// Where it was written.
    pub writer: NodeId,
    /// From when on every node has it.
    pub everywhere: Nanos,
    /// `None` for a delete.
    pub value: Option<Value>,
}

impl Version {
    fn visible(&self, view: View, delays: &Delays) -> bool {
        self.everywhere <= view.at || self.at + delays.between(self.writer, view.node, self.number) <= view.at
    }
}

/// All versions that some node can still see.
#[derive(Debug)]
pub(super) struct Record {
    newest: Version,
    /// Oldest first; no memory where there are none.
    older: VecDeque<Version>,
    /// Whether all versions come from one node: under constant delays they then arrive in the order of writing.
    one_writer: bool,
}

impl Record {
    pub fn new(version: Version) -> Record {
        Record { newest: version, older: VecDeque::new(), one_writer: true }
    }

    /// Adds the newest version, written at `at`.
    pub fn push(&mut self, version: Version, at: Nanos) {
        let same_writer = version.writer == self.newest.writer;
        if version.everywhere <= at {
            self.older.clear();
            self.newest = version;
            self.one_writer = true;
        } else {
            self.one_writer = same_writer && (self.one_writer || self.older.is_empty());
            self.older.push_back(mem::replace(&mut self.newest, version));
        }
    }

    /// Makes the value of version `index` that of `version`, which takes the place of all versions.
    pub fn replace_all_by(&mut self, index: usize, version: Version) {
        let value = self.version_mut(index).and_then(|v| v.value.take());
        self.older.clear();
        self.newest = Version { value, ..version };
        self.one_writer = true;
    }

    /// Forgets what was written before version `order`, which is visible everywhere; that one too if it is a delete
    /// and a later one is left: nothing and a delete are the same to a reader.
    pub fn forget_before(&mut self, order: u64) {
        while self.older.front().is_some_and(|v| v.order < order || (v.order == order && v.value.is_none())) {
            self.older.pop_front();
        }
        if self.older.is_empty() {
            self.older.shrink_to_fit();
        }
    }

    /// Whether all that is left at `at` is a delete of which every node knows.
    pub fn is_nothing(&self, at: Nanos) -> bool {
        self.older.is_empty() && self.newest.value.is_none() && self.newest.everywhere <= at
    }

    pub fn has_older(&self) -> bool {
        !self.older.is_empty()
    }

    pub fn len(&self) -> usize {
        self.older.len() + 1
    }

    fn version(&self, index: usize) -> Option<&Version> {
        if index == self.older.len() { Some(&self.newest) } else { self.older.get(index) }
    }

    fn version_mut(&mut self, index: usize) -> Option<&mut Version> {
        if index == self.older.len() { Some(&mut self.newest) } else { self.older.get_mut(index) }
    }

    pub fn value(&self, index: usize) -> Option<&Value> {
        self.version(index)?.value.as_ref()
    }

    pub fn value_mut(&mut self, index: usize) -> Option<&mut Value> {
        self.version_mut(index)?.value.as_mut()
    }

    /// Which version `view` sees: the newest that has reached its node.
    pub fn seen(&self, view: View, delays: &Delays) -> Option<usize> {
        let visible = |version: &Version| version.visible(view, delays);
        if visible(&self.newest) {
            Some(self.older.len())
        } else if self.one_writer && delays.are_constant() {
            self.older.partition_point(visible).checked_sub(1)
        } else {
            self.older.iter().rposition(visible)
        }
    }

    /// What `view` sees, and how stale that is.
    pub fn read(&self, view: View, delays: &Delays) -> (Option<&Value>, Staleness) {
        let seen = self.seen(view, delays);
        let missed = seen.map_or(0, |index| index + 1);
        let value = seen.and_then(|index| self.value(index));
        let since = |at: Nanos| view.at.saturating_sub(at);
        let staleness = Staleness {
            versions: u32::try_from(self.len() - missed).unwrap_or(u32::MAX),
            time: self.version(missed).map_or(Nanos::ZERO, |v| since(v.at)),
            age: match (value, seen.and_then(|index| self.version(index))) {
                (Some(_), Some(version)) => since(version.at),
                _ => Nanos::ZERO,
            },
        };
        (value, staleness)
    }
}
