//! One command as it is executed: what it may touch, and its answer.

use super::Instance;
use super::connection::Connection;
use super::parse::integer;
use super::refusal::{NOT_AN_INTEGER, Refusal, WRONG_TYPE};
use super::reply::Reply;
use super::table::Command;
use crate::{Change, Engine, Key, SortedSet, Staleness, Value, View};
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
        if let Err(refusal) = (command.run)(self, words) {
            self.reply.take_back(mark);
            self.reply.error(&refusal);
        }
    }
}

/// The records, as one command sees and changes them.
pub(super) struct Store<'a> {
    engine: &'a mut Engine,
    instance: &'a Instance,
    view: View,
    staleness: Option<Staleness>,
}

/// What an edit came to, and whether it changed anything. One that changed nothing leaves no version.
pub(super) type Edit<T> = (T, bool);

/// Can't be: an edit is taken where there is a record or where there is none.
const LOST: Refusal = Refusal::new("ERR internal error: an edit was taken twice");

impl<'a> Store<'a> {
    pub(super) fn new(engine: &'a mut Engine, instance: &'a Instance, view: View) -> Store<'a> {
        Store { engine, instance, view, staleness: None }
    }

    /// The moment of this command.
    pub(super) fn now(&self) -> Nanos {
        self.view.at
    }

    /// How stale what was read with [`Store::read`] is.
    pub(super) fn staleness(&self) -> Option<Staleness> {
        self.staleness
    }

    /// The one record that the command asks for.
    pub(super) fn read(&mut self, key: &[u8]) -> Option<&Value> {
        let (value, staleness) = self.engine.data().read(self.view, &place(key));
        self.staleness = Some(staleness);
        value
    }

    /// One of several records, or one that is read to be written.
    pub(super) fn peek(&self, key: &[u8]) -> Option<&Value> {
        self.engine.data().read(self.view, &place(key)).0
    }

    /// As [`Store::read`], if it is of this kind.
    pub(super) fn get<K: Kind>(&mut self, key: &[u8]) -> Result<Option<&K>, Refusal> {
        self.read(key).map(expect).transpose()
    }

    /// As [`Store::peek`], if it is of this kind.
    pub(super) fn look<K: Kind>(&self, key: &[u8]) -> Result<Option<&K>, Refusal> {
        self.peek(key).map(expect).transpose()
    }

    /// Records from `key` on, in order.
    pub(super) fn from(&self, key: &[u8]) -> impl Iterator<Item = (&[u8], &Value)> {
        self.engine.data().scan(self.view, &place(key)).map(|(key, value)| (&*key.key, value))
    }

    /// Puts a record in the place of whatever there is.
    pub(super) fn put(&mut self, key: &[u8], value: Value) {
        self.engine.data_mut().write(self.view, place(key), Some(value));
        self.instance.touched(key);
    }

    /// Takes a record away; whether there was one.
    pub(super) fn delete(&mut self, key: &[u8]) -> bool {
        let there = self.peek(key).is_some();
        if there {
            self.engine.data_mut().write(self.view, place(key), None);
            self.instance.touched(key);
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
            self.instance.touched(key);
        }
        Ok(result)
    }

    /// Forgets all records.
    pub(super) fn flush(&mut self) {
        for key in self.instance.watched() {
            if self.peek(&key).is_some() {
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
