//! A prepared statement, whose arguments are bound in the very types that DuckDB planned with: any other type would make
//! it plan anew at each execution.

use crate::api::{Handle, HugeInt, Kind, RawDecimal, bytes, first_line, kind, returns};
use crate::database::{Answer, Connection};
use driver::{Decimal, Value};
use std::ffi::CString;
use std::sync::Arc;

/// A prepared statement.
pub(crate) struct Statement {
    raw: Handle,
    kinds: Vec<Kind>,
    columns: usize,
    /// Whether rows that it returns are rows that it changed.
    changes: bool,
    // Last, so that it outlives what was prepared on it.
    connection: Arc<Connection>,
}

// SAFETY: a statement belongs to its connection, moves with it, and one thread uses both at a time.
unsafe impl Send for Statement {}

impl Statement {
    /// Prepares the one statement of `sql`.
    ///
    /// # Errors
    /// The first line of DuckDB's words.
    pub(crate) fn prepare(connection: &Arc<Connection>, sql: &str) -> Result<Statement, String> {
        let api = connection.api();
        let text = CString::new(sql).map_err(|_| "a zero in the statement".to_owned())?;
        let mut statement = Statement {
            raw: std::ptr::null_mut(),
            kinds: Vec::new(),
            columns: 0,
            changes: false,
            connection: connection.clone(),
        };
        // SAFETY: all are alive; the statement is destroyed also after a failure.
        unsafe {
            if (api.prepare)(connection.raw(), text.as_ptr(), &mut statement.raw) != 0 {
                let words = first_line(bytes((api.prepare_error)(statement.raw)));
                return Err(String::from_utf8_lossy(words).into_owned());
            }
            for index in 1..=(api.nparams)(statement.raw) {
                let kind = match (api.param_type)(statement.raw, index) {
                    0 => Kind { id: 0, width: 0, scale: 0, held_as: 0 },
                    _ => Kind::take(api, (api.param_logical_type)(statement.raw, index)),
                };
                statement.kinds.push(kind);
            }
            statement.columns = (api.prepared_statement_column_count)(statement.raw) as usize;
            let class = (api.prepared_statement_type)(statement.raw);
            statement.changes = matches!(class, returns::OF_INSERT | returns::OF_UPDATE | returns::OF_DELETE);
        }
        Ok(statement)
    }

    /// Parameters that it has.
    pub(crate) fn parameters(&self) -> usize {
        self.kinds.len()
    }

    /// Columns of its rows.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Whether it inserts, updates or deletes.
    pub(crate) fn changes(&self) -> bool {
        self.changes
    }

    /// Whether an argument fits the parameter's type.
    #[inline]
    pub(crate) fn takes(&self, index: usize, value: Value<'_>) -> bool {
        let Some(kind) = self.kinds.get(index) else { return false };
        match (value, kind.id) {
            (Value::Int(number), kind::TINYINT) => i8::try_from(number).is_ok(),
            (Value::Int(number), kind::SMALLINT) => i16::try_from(number).is_ok(),
            (Value::Int(number), kind::INTEGER) => i32::try_from(number).is_ok(),
            _ => true,
        }
    }

    /// Binds by value.
    #[inline]
    pub(crate) fn bind(&mut self, index: usize, value: Value<'_>) -> bool {
        let Some(kind) = self.kinds.get(index) else { return false };
        let (api, raw, place) = (self.connection.api(), self.raw, index as u64 + 1);
        // SAFETY: the statement is alive, and DuckDB copies what it is given.
        let state = unsafe {
            match value {
                Value::Null => (api.bind_null)(raw, place),
                Value::Int(number) => match kind.id {
                    kind::TINYINT => (api.bind_int8)(raw, place, number as i8),
                    kind::SMALLINT => (api.bind_int16)(raw, place, number as i16),
                    kind::INTEGER => (api.bind_int32)(raw, place, number as i32),
                    _ => (api.bind_int64)(raw, place, number),
                },
                Value::Float(number) => (api.bind_double)(raw, place, number),
                Value::Text(text) => {
                    (api.bind_varchar_length)(raw, place, text.as_ptr().cast(), text.len() as u64)
                }
                Value::Timestamp(moment) if kind.id == kind::TIMESTAMP_TZ => {
                    (api.bind_timestamp_tz)(raw, place, moment)
                }
                Value::Timestamp(moment) => (api.bind_timestamp)(raw, place, moment),
                Value::Decimal(number) => (api.bind_decimal)(raw, place, decimal(number, kind)),
            }
        };
        state == 0
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// The answer that tells of the failure.
    #[inline]
    pub(crate) fn run(&mut self) -> Result<Answer, Answer> {
        let mut answer = Answer::new(self.connection.api());
        // SAFETY: all are alive.
        match unsafe { (self.connection.api().execute_prepared)(self.raw, &mut answer.raw) } {
            0 => Ok(answer),
            _ => Err(answer),
        }
    }
}

/// In the parameter's own width and scale where it fits without loss, else in one that holds every such number.
fn decimal(number: Decimal, kind: &Kind) -> RawDecimal {
    const MOST: u8 = 19; // digits of a 64-bit number
    let wide = RawDecimal { width: MOST, scale: number.scale, value: huge(number.unscaled) };
    if kind.id != kind::DECIMAL {
        return wide;
    }
    let Some(same) = number.with_scale(kind.scale) else { return wide };
    let fits = 10_u64.checked_pow(kind.width.into()).is_none_or(|limit| same.unscaled.unsigned_abs() < limit);
    if fits { RawDecimal { width: kind.width, scale: kind.scale, value: huge(same.unscaled) } } else { wide }
}

fn huge(number: i64) -> HugeInt {
    HugeInt { lower: number as u64, upper: if number < 0 { -1 } else { 0 } }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: alive, or null, which is allowed; never used again.
        unsafe { (self.connection.api().destroy_prepare)(&mut self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_take_the_type_of_the_parameter_where_they_fit() {
        let kind = Kind { id: kind::DECIMAL, width: 6, scale: 4, held_as: kind::INTEGER };
        let shape = |unscaled, scale| {
            let raw = decimal(Decimal { unscaled, scale }, &kind);
            (raw.width, raw.scale, raw.value.lower as i64, raw.value.upper)
        };
        assert_eq!(shape(15, 1), (6, 4, 15_000, 0));
        assert_eq!(shape(-15, 1), (6, 4, -15_000, -1));
        assert_eq!(shape(1_000_000, 4), (19, 4, 1_000_000, 0));
        assert_eq!(shape(1, 5), (19, 5, 1, 0));
        assert_eq!(shape(i64::MIN, 4), (19, 4, i64::MIN, -1));
    }
}
