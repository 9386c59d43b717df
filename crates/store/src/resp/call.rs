//! One command as it is executed: what it may touch, and its answer.

use super::Instance;
use super::connection::Connection;
use super::parse::integer;
use super::refusal::{NOT_AN_INTEGER, Refusal, WRONG_TYPE};
use super::reply::Reply;
use super::table::Command;
use crate::{Access, Change, Engine, Key, Operation, SortedSet, Staleness, Value, View};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::Nanos;

/// Whether a command could be executed; what it had to say is in the reply.
pub(super) type Outcome = Result<(), Refusal>;

/// A command in execution.
pub(super) struct Call<'a> {
    pub(super) connection: &'a mut Connection,
    pub(super) store: Store<'a>,
    pub(super) reply: Reply<'a>,
}

impl Call<'_> {
    /// Executes a command whose number of words is right. Its answer is a whole one, also if it fails half-way.
    pub(super) fn run(&mut self, command: &Command, words: &[&[u8]]) {
        let mark = self.reply.mark();
        let seen = self.store.seen.get();
        if let Err(refusal) = (command.run)(self, words) {
            self.reply.take_back(mark);
            self.reply.error(&refusal);
        }
        // What is looked at in order to be written is no read; `EXEC` tells what is read inside of it.
        let reads =
            |operation: Operation| operation == Operation::Transaction || operation.access() == Access::Read;
        if !command.operation(words).is_some_and(reads) {
            self.store.seen.set(seen);
        }
    }
}

/// The records, as one command sees and changes them.
pub(super) struct Store<'a> {
    engine: &'a mut Engine,
    instance: &'a Instance,
    view: View,
    /// Over all records that were looked at.
    seen: Cell<Option<Staleness>>,
    has_written: bool,
}

/// What an edit came to, and whether it changed anything. One that changed nothing leaves no version.
pub(super) type Edit<T> = (T, bool);

/// Can't be: an edit is taken where there is a record or where there is none.
const LOST: Refusal = Refusal::new("ERR internal error: an edit was taken twice");

impl<'a> Store<'a> {
    pub(super) fn new(engine: &'a mut Engine, instance: &'a Instance, view: View) -> Store<'a> {
        Store { engine, instance, view, seen: Cell::new(None), has_written: false }
    }

    /// The moment of this command.
    pub(super) fn now(&self) -> Nanos {
        self.view.at
    }

    /// How stale what was read is, at most; `None` where nothing was.
    pub(super) fn seen(&self) -> Option<Staleness> {
        self.seen.get()
    }

    /// Whether anything was written.
    pub(super) fn has_written(&self) -> bool {
        self.has_written
    }

    fn note(&self, staleness: Staleness) {
        self.seen.set(Some(self.seen.get().unwrap_or_default().worst(staleness)));
    }

    /// A record.
    pub(super) fn read(&self, key: &[u8]) -> Option<&Value> {
        let (value, staleness) = self.engine.data().read(self.view, &place(key));
        self.note(staleness);
        value
    }

    /// As [`Store::read`], if it is of this kind.
    pub(super) fn get<K: Kind>(&self, key: &[u8]) -> Result<Option<&K>, Refusal> {
        self.read(key).map(expect).transpose()
    }

    /// Records from `key` on, in order.
    pub(super) fn from(&self, key: &[u8]) -> impl Iterator<Item = (&[u8], &Value)> {
        self.note(Staleness::default());
        self.engine.data().look(self.view, &place(key)).filter_map(|(key, value, staleness)| {
            self.note(staleness);
            Some((&*key.key, value?))
        })
    }

    fn wrote(&mut self, key: &[u8]) {
        self.has_written = true;
        self.instance.touched(key);
    }

    /// Puts a record in the place of whatever there is.
    pub(super) fn put(&mut self, key: &[u8], value: Value) {
        self.engine.data_mut().write(self.view, place(key), Some(value));
        self.wrote(key);
    }

    /// Takes a record away; whether there was one.
    pub(super) fn delete(&mut self, key: &[u8]) -> bool {
        let there = self.read(key).is_some();
        if there {
            self.engine.data_mut().write(self.view, place(key), None);
            self.wrote(key);
        }
        there
    }

    /// Changes a record of one kind; it is made if there is none, and goes when nothing is left in it.
    pub(super) fn edit<K: Kind, T>(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut K) -> Edit<T>,
    ) -> Result<T, Refusal> {
        let place = place(key);
        // Called once: on the record, or where there is none on an empty one.
        let mut change = Some(change);
        let known = self.engine.data_mut().update(self.view, &place, |value| match K::of_mut(value) {
            Some(content) => {
                let edit = change.take().map(|change| change(content));
                let effect = match &edit {
                    Some((_, true)) if content.is_gone() => Change::Deleted,
                    Some((_, true)) => Change::Changed,
                    _ => Change::Unchanged,
                };
                (effect, Ok(edit))
            }
            None => (Change::Unchanged, Err(WRONG_TYPE)),
        });
        let edit = match known.transpose()?.flatten() {
            Some(edit) => edit,
            None => {
                let change = change.take().ok_or(LOST)?;
                let mut content = K::default();
                let edit = change(&mut content);
                if edit.1 && !content.is_gone() {
                    self.engine.data_mut().write(self.view, place, Some(content.into_value()));
                }
                edit
            }
        };
        let (result, changed) = edit;
        if changed {
            self.wrote(key);
        }
        Ok(result)
    }

    /// Forgets all records.
    pub(super) fn flush(&mut self) {
        for key in self.instance.watched() {
            if self.read(&key).is_some() {
                self.instance.touched(&key);
            }
        }
        self.engine.data_mut().drop_space(SPACE);
    }

    /// A command to the engine.
    pub(super) fn control(&mut self, command: &str) -> Result<String, String> {
        self.engine.control(self.view.at, command)
    }
}

/// RESP has one key space.
const SPACE: &[u8] = b"";

fn place(key: &[u8]) -> Key {
    Key { space: SPACE.into(), key: key.into() }
}

fn expect<K: Kind>(value: &Value) -> Result<&K, Refusal> {
    K::of(value).ok_or(WRONG_TYPE)
}

/// RESP's kinds of records.
pub(super) trait Kind: Clone + Default {
    /// What is in the record, if it is of this kind.
    fn of(value: &Value) -> Option<&Self>;
    /// The same, to change it.
    fn of_mut(value: &mut Value) -> Option<&mut Self>;
    /// The record.
    fn into_value(self) -> Value;
    /// Whether the record goes: there are no empty collections.
    fn is_gone(&self) -> bool;
}

pub(super) type Text = Vec<u8>;
pub(super) type Hash = BTreeMap<Vec<u8>, Vec<u8>>;
pub(super) type List = VecDeque<Vec<u8>>;
pub(super) type Members = BTreeSet<Vec<u8>>;

macro_rules! kind {
    ($kind:ty, $variant:ident, $is_gone:expr) => {
        impl Kind for $kind {
            fn of(value: &Value) -> Option<&Self> {
                match value {
                    Value::$variant(content) => Some(content),
                    _ => None,
                }
            }

            fn of_mut(value: &mut Value) -> Option<&mut Self> {
                match value {
                    Value::$variant(content) => Some(content),
                    _ => None,
                }
            }

            fn into_value(self) -> Value {
                Value::$variant(self)
            }

            fn is_gone(&self) -> bool {
                let is_gone: fn(&$kind) -> bool = $is_gone;
                is_gone(self)
            }
        }
    };
}

kind!(Text, Text, |_| false);
kind!(Hash, Hash, |hash| hash.is_empty());
kind!(SortedSet, Sorted, |set| set.is_empty());
kind!(List, List, |list| list.is_empty());
kind!(Members, Set, |set| set.is_empty());

/// A word that must be a whole number.
pub(super) fn number(word: &[u8]) -> Result<i64, Refusal> {
    integer(word).ok_or(NOT_AN_INTEGER)
}

/// Whether a word is this one, in whatever case.
pub(super) fn is(word: &[u8], name: &str) -> bool {
    word.eq_ignore_ascii_case(name.as_bytes())
}

/// Begin and end in a list of so many, of indexes of which negative ones count from the end; both included, as RESP
/// has it, and nothing if they cross.
pub(super) fn indexes(begin: i64, end: i64, count: usize) -> std::ops::Range<usize> {
    let all = i64::try_from(count).unwrap_or(i64::MAX);
    let absolute = |index: i64| if index < 0 { index.saturating_add(all) } else { index };
    let begin = absolute(begin).max(0);
    let end = absolute(end).min(all - 1);
    if begin > end {
        return 0..0;
    }
    // Both are between 0 and `count`.
    usize::try_from(begin).unwrap_or(0)..usize::try_from(end + 1).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_count_from_both_ends() {
        for (begin, end, count, expected) in [
            (0, -1, 3, 0..3),
            (-2, -1, 3, 1..3),
            (0, 0, 3, 0..1),
            (1, 100, 3, 1..3),
            (-100, 1, 3, 0..2),
            (2, 1, 3, 0..0),
            (3, 5, 3, 0..0),
            (0, -4, 3, 0..0),
            (0, -1, 0, 0..0),
            (i64::MIN, i64::MAX, 2, 0..2),
            (i64::MAX, i64::MIN, 2, 0..0),
        ] {
            assert_eq!(indexes(begin, end, count), expected, "{begin} {end} of {count}");
        }
    }
}
