//! A prepared statement, without the copies and allocations of a convenient one.

use driver::Value;
use rusqlite::ffi;
use std::ffi::{c_char, c_int};
use std::ptr;

/// A prepared statement; finalized on drop, which must come before its connection closes.
pub(crate) struct Statement {
    raw: *mut ffi::sqlite3_stmt,
    reads_only: bool,
}

// SAFETY: a statement belongs to its connection, moves with it, and one thread uses both at a time.
unsafe impl Send for Statement {}

/// What one step gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Row,
    Done,
    Failed(c_int),
}

impl Statement {
    /// Prepares the first statement of `sql`; also gives the bytes it took. `None` when there is only white space.
    ///
    /// # Errors
    /// SQLite's result code.
    ///
    /// # Safety
    /// `database` is open and outlives the statement.
    pub(crate) unsafe fn prepare(
        database: *mut ffi::sqlite3,
        sql: &str,
    ) -> Result<(Option<Statement>, usize), c_int> {
        let mut raw = ptr::null_mut();
        let mut tail: *const c_char = ptr::null();
        let length = c_int::try_from(sql.len()).map_err(|_| ffi::SQLITE_TOOBIG)?;
        let flags = ffi::SQLITE_PREPARE_PERSISTENT;
        // SAFETY: the text is given with its length; the out pointers are valid.
        let code = unsafe {
            ffi::sqlite3_prepare_v3(database, sql.as_ptr().cast(), length, flags, &mut raw, &mut tail)
        };
        if code != ffi::SQLITE_OK {
            return Err(code);
        }
        // SAFETY: the tail points into the text or to its end.
        let taken = if tail.is_null() {
            sql.len()
        } else {
            unsafe { tail.offset_from(sql.as_ptr().cast()) as usize }
        };
        if raw.is_null() {
            return Ok((None, taken));
        }
        // SAFETY: just prepared.
        let reads_only = unsafe { ffi::sqlite3_stmt_readonly(raw) != 0 };
        Ok((Some(Statement { raw, reads_only }), taken))
    }

    /// Whether it can change nothing.
    pub(crate) fn reads_only(&self) -> bool {
        self.reads_only
    }

    /// Parameters that it has.
    pub(crate) fn parameters(&self) -> usize {
        // SAFETY: `raw` is a live statement; so in all calls below.
        unsafe { ffi::sqlite3_bind_parameter_count(self.raw) as usize }
    }

    /// Columns of its rows.
    pub(crate) fn columns(&self) -> usize {
        // SAFETY: see `parameters`.
        unsafe { ffi::sqlite3_column_count(self.raw) as usize }
    }

    /// Binds by reference.
    ///
    /// # Safety
    /// Text must stay where it is until the statement has been reset.
    pub(crate) unsafe fn bind(&mut self, index: usize, value: Value<'_>) -> c_int {
        let place = index as c_int + 1;
        // SAFETY: `raw` is live; text is given with its length and stays, as the caller promises.
        unsafe {
            match value {
                Value::Null => ffi::sqlite3_bind_null(self.raw, place),
                Value::Int(number) | Value::Timestamp(number) => {
                    ffi::sqlite3_bind_int64(self.raw, place, number)
                }
                Value::Decimal(number) => ffi::sqlite3_bind_int64(self.raw, place, number.unscaled),
                Value::Float(number) => ffi::sqlite3_bind_double(self.raw, place, number),
                Value::Text(text) => ffi::sqlite3_bind_text64(
                    self.raw,
                    place,
                    text.as_ptr().cast(),
                    text.len() as u64,
                    ffi::SQLITE_STATIC(),
                    ffi::SQLITE_UTF8 as u8,
                ),
            }
        }
    }

    /// Runs to the next row.
    pub(crate) fn step(&mut self) -> Step {
        // SAFETY: see `parameters`.
        match unsafe { ffi::sqlite3_step(self.raw) } {
            ffi::SQLITE_ROW => Step::Row,
            ffi::SQLITE_DONE => Step::Done,
            code => Step::Failed(code),
        }
    }

    /// Makes it ready for the next use; ends its read or write.
    pub(crate) fn reset(&mut self) {
        // SAFETY: see `parameters`. The code repeats that of the last step.
        unsafe { ffi::sqlite3_reset(self.raw) };
    }

    /// The storage class of a column of the present row.
    pub(crate) fn class(&self, column: usize) -> c_int {
        // SAFETY: see `parameters`.
        unsafe { ffi::sqlite3_column_type(self.raw, column as c_int) }
    }

    /// An integer column.
    pub(crate) fn int(&self, column: usize) -> i64 {
        // SAFETY: see `parameters`.
        unsafe { ffi::sqlite3_column_int64(self.raw, column as c_int) }
    }

    /// A floating-point column, or an integer one as such.
    pub(crate) fn float(&self, column: usize) -> f64 {
        // SAFETY: see `parameters`.
        unsafe { ffi::sqlite3_column_double(self.raw, column as c_int) }
    }

    /// The bytes of a column, as text when `as_text`; other classes are converted by SQLite.
    pub(crate) fn bytes(&self, column: usize, as_text: bool) -> &[u8] {
        let column = column as c_int;
        // SAFETY: the pointer holds until the next step or reset, which need `&mut self`; its length is asked for
        // after it, as SQLite's documentation demands.
        unsafe {
            let start: *const u8 = if as_text {
                ffi::sqlite3_column_text(self.raw, column)
            } else {
                ffi::sqlite3_column_blob(self.raw, column).cast()
            };
            let length = ffi::sqlite3_column_bytes(self.raw, column) as usize;
            if start.is_null() { &[] } else { std::slice::from_raw_parts(start, length) }
        }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: live, and never used again.
        unsafe { ffi::sqlite3_finalize(self.raw) };
    }
}
