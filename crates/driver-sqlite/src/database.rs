//! An open connection with its settings applied.

use crate::busy::Waiting;
use crate::options::Options;
use driver::ConnectError;
use rusqlite::{Connection, OpenFlags, ffi};
use std::path::Path;
use units::{Nanos, Outcome};

/// A connection, and what must live exactly as long.
pub(crate) struct Database {
    // First, so that it closes while the handler's state still exists.
    connection: Connection,
    waiting: Box<Waiting>,
}

// SAFETY: the pointer in `Waiting` is the connection's own; both move together and one thread uses them at a time.
unsafe impl Send for Database {}

impl Database {
    /// Opens or creates the file and applies the settings, each read back.
    pub(crate) fn open(options: &Options) -> Result<Database, ConnectError> {
        let path = &options.path;
        // One thread at a time uses a connection, so SQLite's own mutex would only cost time.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(path, flags).map_err(|error| cannot_open(path, &error))?;
        let limit = Nanos::from_millis(u64::from(options.busy_timeout_ms));
        // SAFETY: just opened; the two are dropped in the order that `install` asks for.
        let waiting = unsafe { Waiting::install(connection.handle(), limit) };
        let database = Database { connection, waiting };
        if database.connection.is_readonly("main").unwrap_or(false) {
            return Err(failure(path, "the file can't be written; check its permissions"));
        }
        database.apply(options)?;
        Ok(database)
    }

    fn apply(&self, options: &Options) -> Result<(), ConnectError> {
        let path = &options.path;
        let journal = self.pragma(path, &format!("journal_mode={}", options.journal))?;
        if journal != options.journal {
            let problem = format!("journal={} was refused, it stays `{journal}`", options.journal);
            return Err(failure(path, &problem));
        }
        self.pragma(path, &format!("synchronous={}", options.synchronous))?;
        if let Some(kib) = options.cache_kib {
            self.pragma(path, &format!("cache_size=-{kib}"))?;
        }
        if let Some(kib) = options.mmap_kib {
            self.pragma(path, &format!("mmap_size={}", u64::from(kib) * 1024))?;
        }
        if let Some(pages) = options.wal_autocheckpoint {
            self.pragma(path, &format!("wal_autocheckpoint={pages}"))?;
        }
        Ok(())
    }

    /// Sets or reads a pragma; its first value as text, empty when it gives none.
    pub(crate) fn pragma(&self, path: &Path, pragma: &str) -> Result<String, ConnectError> {
        let words = |error: rusqlite::Error| sqlite_failure(path, &error);
        let mut statement = self.connection.prepare(&format!("PRAGMA {pragma}")).map_err(words)?;
        let mut rows = statement.query([]).map_err(words)?;
        let Some(row) = rows.next().map_err(words)? else { return Ok(String::new()) };
        Ok(match row.get_ref(0).map_err(words)? {
            rusqlite::types::ValueRef::Integer(number) => number.to_string(),
            rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        })
    }

    /// SQLite's handle of the connection.
    pub(crate) fn raw(&self) -> *mut ffi::sqlite3 {
        // SAFETY: nobody closes it but the connection's own drop.
        unsafe { self.connection.handle() }
    }

    /// What interrupts this connection from any thread, at any time.
    pub(crate) fn interrupter(&self) -> rusqlite::InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    /// The words of the last error, until the connection's next call.
    pub(crate) fn words(&self) -> &[u8] {
        // SAFETY: the connection is open and its text ends with a zero; callers copy it at once.
        unsafe { std::ffi::CStr::from_ptr(ffi::sqlite3_errmsg(self.raw())) }.to_bytes()
    }

    /// As [`Database::words`], for messages.
    pub(crate) fn words_text(&self) -> String {
        String::from_utf8_lossy(self.words()).into_owned()
    }

    /// What becomes of a sample whose statement ended with result code `code`.
    pub(crate) fn outcome(&mut self, code: std::ffi::c_int) -> Outcome {
        let interrupted = self.waiting.take_interrupted();
        match code & 0xFF {
            ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED if interrupted => Outcome::Timeout,
            ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => Outcome::Busy,
            ffi::SQLITE_INTERRUPT => Outcome::Timeout,
            ffi::SQLITE_CONSTRAINT => Outcome::Constraint,
            ffi::SQLITE_MISUSE | ffi::SQLITE_RANGE | ffi::SQLITE_TOOBIG => Outcome::Protocol,
            _ => Outcome::Server,
        }
    }
}

/// One line about a file.
pub(crate) fn failure(path: &Path, problem: &str) -> ConnectError {
    ConnectError::permanent(format!("sqlite:{}: {problem}", path.display()))
}

/// SQLite's words about a file; a lock may go away, all else stays.
pub(crate) fn sqlite_failure(path: &Path, error: &rusqlite::Error) -> ConnectError {
    let transient = matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
    );
    ConnectError { transient, ..failure(path, &error.to_string()) }
}

/// SQLite says "unable to open database file" for all of these.
fn cannot_open(path: &Path, error: &rusqlite::Error) -> ConnectError {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let problem = if path.is_dir() {
        "this is a directory; name a file in it".to_owned()
    } else if !directory.is_dir() {
        format!("the directory `{}` does not exist; create it first", directory.display())
    } else if path.exists() {
        format!("the file can't be opened ({error}); check its permissions")
    } else {
        format!("no file can be created in `{}`; check its permissions", directory.display())
    };
    failure(path, &problem)
}
