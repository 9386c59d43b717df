//! Files of the kernel that are read again and again.

use crate::Unavailable;
use clock::{Clock, LiveClock};
use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use units::Nanos;

/// More than any of these files has; a table with a column for each CPU grows with the host.
const LONGEST: usize = 8 << 20;

/// A file that stays open: reading it again costs no walk along its path.
pub(crate) struct Text {
    file: File,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Text {
    pub(crate) fn open(path: &Path) -> Result<Text, Unavailable> {
        let file = File::open(path).map_err(|error| unavailable(path, error))?;
        Ok(Text { file, path: path.to_owned(), bytes: vec![0; 4096] })
    }

    /// What it holds now.
    pub(crate) fn read(&mut self) -> Result<&str, Unavailable> {
        let mut length = 0;
        loop {
            if length == self.bytes.len() {
                if length >= LONGEST {
                    return Err(unavailable(&self.path, "longer than it can be"));
                }
                self.bytes.resize(2 * length, 0);
            }
            let read = self.file.read_at(&mut self.bytes[length..], length as u64);
            match read.map_err(|error| unavailable(&self.path, error))? {
                0 => break,
                more => length += more,
            }
        }
        std::str::from_utf8(&self.bytes[..length]).map_err(|_| unavailable(&self.path, "not text"))
    }
}

/// `/proc/x: why`
pub(crate) fn unavailable(path: &Path, why: impl std::fmt::Display) -> Unavailable {
    Unavailable(format!("{}: {why}", path.display()))
}

/// How old a table may be before it is read again: sources that take their values from one table are read within much
/// less. No time at all in tests, which plant what is to be read next.
const FRESH: Nanos = if cfg!(test) { Nanos::ZERO } else { Nanos::from_millis(5) };

thread_local! {
    /// Whether this thread wants tables as they are now, however fresh they are.
    static ALWAYS_READ: Cell<bool> = const { Cell::new(false) };
}

/// Does something with tables that are read each time: what a reading costs is what it costs without the others'.
pub(crate) fn always_read<T>(what: impl FnOnce() -> T) -> T {
    ALWAYS_READ.set(true);
    let done = what();
    ALWAYS_READ.set(false);
    done
}

/// A file from which several sources take a value each, read once for all of them.
pub(crate) struct Table<T> {
    path: PathBuf,
    text: Option<Text>,
    parse: fn(&str) -> Option<T>,
    clock: LiveClock,
    keep: Nanos,
    /// When it was read, and what was in it.
    last: Option<(u64, T)>,
}

/// The sources' handle.
pub(crate) type SharedTable<T> = Arc<Mutex<Table<T>>>;

impl<T> Table<T> {
    pub(crate) fn shared(path: PathBuf, parse: fn(&str) -> Option<T>, clock: LiveClock) -> SharedTable<T> {
        Arc::new(Mutex::new(Table { path, text: None, parse, clock, keep: FRESH, last: None }))
    }

    fn fresh(&mut self) -> Result<&T, Unavailable> {
        let now = self.clock.now().0;
        let age = |at: u64| self.clock.nanos_in(now.saturating_sub(at));
        if ALWAYS_READ.get() || self.last.as_ref().is_none_or(|(at, _)| age(*at) > self.keep) {
            self.last = None;
            let text = match &mut self.text {
                Some(text) => text,
                none => none.insert(Text::open(&self.path)?),
            };
            let parsed = (self.parse)(text.read()?);
            self.last = parsed.map(|table| (now, table));
        }
        let unreadable = || unavailable(&self.path, "not in a form that is known");
        self.last.as_ref().map(|(_, table)| table).ok_or_else(unreadable)
    }
}

/// One value of a shared table.
pub(crate) fn value_of<T, V>(
    table: &SharedTable<T>,
    take: impl FnOnce(&T) -> Option<V>,
    what: &str,
) -> Result<V, Unavailable> {
    let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
    let found = take(table.fresh()?);
    found.ok_or_else(|| unavailable(&table.path, format!("no {what} in it")))
}

/// The number in a file that holds nothing else.
pub(crate) fn number_in(path: &Path) -> Result<u64, Unavailable> {
    let text = std::fs::read_to_string(path).map_err(|error| unavailable(path, error))?;
    text.trim().parse().map_err(|_| unavailable(path, "not a number"))
}

/// As if it were read again only after hours.
#[cfg(test)]
pub(crate) fn keep_for_long<T>(table: &SharedTable<T>) {
    table.lock().expect("no reader has failed").keep = Nanos::from_secs(3_600);
}

/// A directory that stands in for the kernel's files, removed at the end.
#[cfg(test)]
pub(crate) struct Planted(pub(crate) PathBuf);

#[cfg(test)]
impl Planted {
    pub(crate) fn new(name: &str) -> Planted {
        let path = std::env::temp_dir().join(format!("truetail-noise-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a directory for planted files");
        Planted(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        std::fs::write(path, text).expect("a planted file");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.join(path)).expect("a planted file")
    }

    /// A watch that reads here.
    pub(crate) fn watch(&self) -> crate::Watch {
        let places = crate::Places { proc: self.0.join("proc"), sys: self.0.join("sys") };
        crate::Watch { places, ..crate::registry::tests::watch() }
    }
}

#[cfg(test)]
impl Drop for Planted {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_table_is_not_read_again_but_where_its_cost_is_looked_for() {
        let planted = Planted::new("table");
        planted.write("a", "1");
        let clock = crate::registry::tests::watch().clock;
        let table: SharedTable<u64> =
            Table::shared(planted.0.join("a"), |text| text.trim().parse().ok(), clock);
        keep_for_long(&table);
        let value = || value_of(&table, |value| Some(*value), "number").unwrap();
        assert_eq!(value(), 1);
        planted.write("a", "2");
        assert_eq!((value(), always_read(value), value()), (1, 2, 2));
    }

    #[test]
    fn a_file_is_read_again_as_it_is_now() {
        let planted = Planted::new("text");
        planted.write("a", "one\n");
        let mut text = Text::open(&planted.0.join("a")).unwrap();
        assert_eq!(text.read().unwrap(), "one\n");
        let long = "x".repeat(10_000);
        planted.write("a", &long);
        assert_eq!(text.read().unwrap(), long);
        planted.write("a", "");
        assert_eq!(text.read().unwrap(), "");
        let Err(Unavailable(why)) = Text::open(&planted.0.join("b")) else { panic!("there is no b") };
        assert!(why.contains("/b: No such file"), "{why}");
    }
}
