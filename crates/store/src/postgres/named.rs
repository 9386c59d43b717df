//! Prepared statements and portals by name, as many as a connection may have.

use crate::sql::{SqlError, state};
use std::collections::BTreeMap;

/// A connection may have so many of each, and as much in them, in bytes.
const COUNT_MAX: usize = 10_000;
const BYTES_MAX: usize = 128 << 20;

/// What an item costs besides its bytes and its name.
const ITEM_OVERHEAD: usize = 128;

/// Things by name; the empty name is one, too.
#[derive(Debug)]
pub(super) struct Named<T> {
    what: &'static str,
    items: BTreeMap<Box<[u8]>, (T, usize)>,
    bytes: usize,
}

impl<T> Named<T> {
    pub(super) fn new(what: &'static str) -> Named<T> {
        Named { what, items: BTreeMap::new(), bytes: 0 }
    }

    /// Bytes of memory, about.
    pub(super) fn holds(&self) -> usize {
        self.bytes
    }

    pub(super) fn get(&self, name: &[u8]) -> Option<&T> {
        self.items.get(name).map(|(item, _)| item)
    }

    pub(super) fn get_mut(&mut self, name: &[u8]) -> Option<&mut T> {
        self.items.get_mut(name).map(|(item, _)| item)
    }

    /// Puts an item of about so many bytes in its place.
    pub(super) fn insert(&mut self, name: &[u8], item: T, bytes: usize) -> Result<(), SqlError> {
        self.remove(name);
        let bytes = bytes + name.len() + ITEM_OVERHEAD + size_of::<T>();
        if self.items.len() >= COUNT_MAX || self.bytes + bytes > BYTES_MAX {
            let message =
                format!("a connection may have {COUNT_MAX} {} with {BYTES_MAX} bytes; close some", self.what);
            return Err(SqlError::new(state::CONFIGURATION_LIMIT, message));
        }
        self.bytes += bytes;
        self.items.insert(name.into(), (item, bytes));
        Ok(())
    }

    pub(super) fn remove(&mut self, name: &[u8]) {
        if let Some((_, bytes)) = self.items.remove(name) {
            self.bytes -= bytes;
        }
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.bytes = 0;
    }
}
