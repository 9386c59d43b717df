//! What a transaction has written and nobody else sees yet.

use super::error::{SqlError, state};
use super::expression::Stored;
use crate::{Data, Key, Staleness, Value, View};
use std::collections::BTreeMap;
use units::Nanos;

/// As much may be waiting for a COMMIT, in bytes of memory: half of what all connections may hold together.
pub(crate) const WRITES_MAX: usize = 512 << 20;
/// What a record costs beyond its key and cells: its place in a map, and what the allocator adds.
const RECORD_OVERHEAD: usize = 192;
/// What an allocation costs besides its bytes.
const ALLOCATION: usize = 16;

/// What is written, and by which request: `at` is settled by the commit.
type Write = (Option<Value>, View);

/// Writes by key; the last one of a key counts.
#[derive(Debug)]
pub(crate) struct Transaction {
    writes: BTreeMap<Key, Write>,
    bytes: usize,
    /// [`WRITES_MAX`], but in tests.
    pub(super) most: usize,
}

impl Default for Transaction {
    fn default() -> Transaction {
        Transaction { writes: BTreeMap::new(), bytes: 0, most: WRITES_MAX }
    }
}

/// Memory of a row, its nulls too.
pub(crate) fn size_of_row(row: &[Option<Vec<u8>>]) -> usize {
    let cells: usize = row.iter().flatten().map(|cell| cell.capacity() + ALLOCATION).sum();
    cells + size_of_val(row)
}

/// Memory of a write that waits.
pub(crate) fn size_of_write(key: &Key, row: Option<&Vec<Option<Vec<u8>>>>) -> usize {
    RECORD_OVERHEAD + key.space.len() + key.key.len() + row.map_or(0, |row| size_of_row(row))
}

impl Transaction {
    /// Bytes that wait, about.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes a row, or deletes it.
    pub(crate) fn write(&mut self, view: View, key: Key, row: Option<Vec<Option<Vec<u8>>>>) {
        let size = size_of_write(&key, row.as_ref());
        let content = row.as_ref().map_or(0, |row| size_of_row(row));
        let before = self.writes.insert(key, (row.map(Value::Row), view));
        // Of a key that was written before, only the rows differ.
        self.bytes = match before {
            Some((before, _)) => {
                self.bytes + content - before.as_ref().and_then(row_of).map_or(0, size_of_row)
            }
            None => self.bytes + size,
        };
    }

    /// Whether `more` bytes may be written besides what waits.
    ///
    /// # Errors
    /// They would be too many.
    pub(crate) fn check_room(&self, more: usize) -> Result<(), SqlError> {
        if self.bytes + more <= self.most {
            return Ok(());
        }
        let message = format!("a transaction has more than {} bytes to write; commit more often", self.most);
        Err(SqlError::new(state::PROGRAM_LIMIT, message))
    }

    /// The row of this key, own writes first, and how stale what was read is.
    pub(crate) fn read<'a>(
        &'a self,
        data: &'a Data,
        view: View,
        key: &Key,
    ) -> (Option<&'a Stored>, Staleness) {
        if let Some((value, _)) = self.writes.get(key) {
            return (value.as_ref().and_then(row_of), Staleness::default());
        }
        let (value, staleness) = data.read(view, key);
        (value.and_then(row_of), staleness)
    }

    /// Records of one table from `from` on, in order, own writes in their places, with how stale each is; also those of
    /// which the view sees nothing.
    pub(crate) fn scan<'a>(
        &'a self,
        data: &'a Data,
        view: View,
        from: &Key,
    ) -> impl Iterator<Item = (&'a Key, Option<&'a Stored>, Staleness)> {
        let space = from.space.clone();
        let own = self.writes.range(from.clone()..).take_while(move |(key, _)| key.space == space);
        let mut own = own.map(|(key, (value, _))| (key, value.as_ref(), Staleness::default())).peekable();
        let mut others = data.look(view, from).peekable();
        let merged = std::iter::from_fn(move || {
            let Some((key, ..)) = own.peek() else { return others.next() };
            match others.peek() {
                Some((other, ..)) if other < key => others.next(),
                Some((other, ..)) if other == key => {
                    others.next();
                    own.next()
                }
                _ => own.next(),
            }
        });
        merged.map(|(key, value, staleness)| (key, value.and_then(row_of), staleness))
    }

    /// Forgets what was written to a table.
    pub(crate) fn forget(&mut self, space: &[u8]) {
        let bytes = &mut self.bytes;
        self.writes.retain(|key, (value, _)| {
            let stays = &*key.space != space;
            if !stays {
                *bytes -= size_of_write(key, None) + value.as_ref().and_then(row_of).map_or(0, size_of_row);
            }
            stays
        });
    }

    /// Writes everything where all can see it; `made` is told the number of the request behind each version.
    pub(crate) fn commit(&mut self, data: &mut Data, at: Nanos, mut made: impl FnMut(u64)) {
        for (key, (value, view)) in std::mem::take(&mut self.writes) {
            let view = View { at, ..view };
            // A row that the transaction itself wrote and deleted was never there.
            if value.is_some() || data.read(view, &key).0.is_some() {
                made(view.number);
            }
            data.write(view, key, value);
        }
        self.bytes = 0;
    }

    /// Forgets everything.
    pub(crate) fn roll_back(&mut self) {
        self.writes.clear();
        self.bytes = 0;
    }
}

fn row_of(value: &Value) -> Option<&Stored> {
    match value {
        Value::Row(row) => Some(row),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use proptest::prelude::*;

    fn key(number: u8) -> Key {
        Key { space: (*b"t").into(), key: Box::new([number]) }
    }

    fn view() -> View {
        View { at: Nanos(0), node: NodeId(0), number: 0 }
    }

    proptest! {
        /// The merged view is the data as it will be after the commit.
        #[test]
        fn own_writes_are_seen_as_if_committed(
            there in prop::collection::vec((0_u8..20, any::<bool>()), 0..40),
            written in prop::collection::vec((0_u8..20, any::<bool>()), 0..40),
            from in 0_u8..20,
        ) {
            let row = |n: u8, tag: &[u8]| Some(vec![Some(vec![n]), Some(tag.to_vec())]);
            let mut data = Data::new();
            let mut transaction = Transaction::default();
            for (n, lives) in there {
                transaction.write(view(), key(n), row(n, b"old").filter(|_| lives));
            }
            transaction.commit(&mut data, Nanos(0), |_| {});
            for (n, lives) in written {
                transaction.write(view(), key(n), row(n, b"new").filter(|_| lives));
            }
            let own = |(key, row, _): (&Key, Option<&Stored>, Staleness)| Some((key.clone(), row?.to_vec()));
            let before: Vec<_> = transaction.scan(&data, view(), &key(from)).filter_map(own).collect();
            let points: Vec<_> =
                (0..20).map(|n| transaction.read(&data, view(), &key(n)).0.map(<[_]>::to_vec)).collect();
            transaction.commit(&mut data, Nanos(0), |_| {});
            let after: Vec<_> = transaction.scan(&data, view(), &key(from)).filter_map(own).collect();
            prop_assert_eq!(before, after);
            let later: Vec<_> =
                (0..20).map(|n| transaction.read(&data, view(), &key(n)).0.map(<[_]>::to_vec)).collect();
            prop_assert_eq!(points, later);
        }
    }
}
