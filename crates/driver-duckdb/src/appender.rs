//! Loading in bulk: rows go to DuckDB without a statement, within one transaction.

use crate::api::{Handle, Text, bytes, first_line};
use crate::database::Connection;
use driver::Value;
use std::ffi::CString;
use std::fmt::Write;
use std::ptr;

/// Takes rows for some columns of a table; destroyed on drop.
pub(crate) struct Appender<'a> {
    connection: &'a Connection,
    raw: Handle,
    columns: usize,
    digits: String,
}

impl<'a> Appender<'a> {
    /// # Errors
    /// DuckDB's words: no such table or column.
    pub(crate) fn new(
        connection: &'a Connection,
        table: &str,
        columns: &[&str],
    ) -> Result<Appender<'a>, String> {
        let text = |text: &str| CString::new(text).map_err(|_| "a zero in a name".to_owned());
        let mut appender =
            Appender { connection, raw: ptr::null_mut(), columns: columns.len(), digits: String::new() };
        let (api, table) = (connection.api(), text(table)?);
        // SAFETY: all are alive; without a schema it is the current one.
        let state = unsafe {
            (api.appender_create)(connection.raw(), ptr::null(), table.as_ptr(), &mut appender.raw)
        };
        appender.check(state)?;
        for column in columns {
            let column = text(column)?;
            // SAFETY: all are alive.
            let state = unsafe { (api.appender_add_column)(appender.raw, column.as_ptr()) };
            appender.check(state)?;
        }
        Ok(appender)
    }

    /// Adds a row; it may be refused as late as by [`Appender::close`].
    ///
    /// # Errors
    /// DuckDB's words, or that the row is not as long as the list of columns.
    pub(crate) fn row(&mut self, values: &[Value<'_>]) -> Result<(), String> {
        if values.len() != self.columns {
            return Err(format!("{} values for {} columns", values.len(), self.columns));
        }
        for value in values {
            let state = self.value(*value);
            self.check(state)?;
        }
        // SAFETY: alive.
        let state = unsafe { (self.connection.api().appender_end_row)(self.raw) };
        self.check(state)
    }

    fn value(&mut self, value: Value<'_>) -> u32 {
        let (api, raw) = (self.connection.api(), self.raw);
        let text = |text: &str| (text.as_ptr().cast(), text.len() as u64);
        // SAFETY: alive; texts are copied.
        unsafe {
            match value {
                Value::Null => (api.append_null)(raw),
                Value::Int(number) => (api.append_int64)(raw, number),
                Value::Float(number) => (api.append_double)(raw, number),
                Value::Timestamp(moment) => (api.append_timestamp)(raw, moment),
                Value::Text(words) => {
                    let (start, length): (Text, u64) = text(words);
                    (api.append_varchar_length)(raw, start, length)
                }
                // As text, which DuckDB reads exactly.
                Value::Decimal(number) => {
                    self.digits.clear();
                    let _ = write!(self.digits, "{number}"); // into a string: can't fail
                    let (start, length): (Text, u64) = text(&self.digits);
                    (api.append_varchar_length)(raw, start, length)
                }
            }
        }
    }

    /// Hands over what is left.
    ///
    /// # Errors
    /// DuckDB's words: a violated constraint, for instance.
    pub(crate) fn close(mut self) -> Result<(), String> {
        // SAFETY: alive.
        let state = unsafe { (self.connection.api().appender_close)(self.raw) };
        self.check(state)
    }

    fn check(&mut self, state: u32) -> Result<(), String> {
        if state == 0 {
            return Ok(());
        }
        // SAFETY: alive, or null where it could not even be made, which is allowed.
        let words = unsafe { first_line(bytes((self.connection.api().appender_error)(self.raw))) };
        Err(match words {
            [] => "the row is not taken".to_owned(),
            words => String::from_utf8_lossy(words).into_owned(),
        })
    }
}

impl Drop for Appender<'_> {
    fn drop(&mut self) {
        // SAFETY: alive or null; never used again.
        unsafe { (self.connection.api().appender_destroy)(&mut self.raw) };
    }
}
