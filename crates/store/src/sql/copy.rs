//! COPY FROM STDIN in the text format: tabs between values, a line for each row.
//!
//! Rows are understood as they come and kept until the end of the data, which is when the request is made: until then
//! nobody knows at which moment it will be served. What is wrong is said at the end, too.

use super::access::key_of_row;
use super::catalog::Table;
use super::datum::Datum;
use super::error::{SqlError, state};
use super::expression::{Context, Row, VALUE_MAX};
use super::modify::{Cells, Target, cell_of, insert_row};
use super::transaction::{WRITES_MAX, size_of_row};
use super::types::{ColumnType, text_of};
use std::sync::Arc;

/// A line may have so many bytes.
const LINE_MAX: usize = VALUE_MAX;
/// What a kept row costs beyond its cells: the list of rows may have twice the room that it needs.
const ROW_OVERHEAD: usize = 2 * size_of::<Waiting>() + 16;

/// A row that waits for the end of the data; its key, if the data has it.
type Waiting = (Option<Box<[u8]>>, Cells);

/// A COPY that is under way.
#[derive(Debug)]
pub(crate) struct CopyIn {
    table: Arc<Table>,
    columns: Vec<usize>,
    /// The beginning of a line whose end has not come yet.
    rest: Vec<u8>,
    /// Whether `\.` has come: what is behind it does not count.
    ended: bool,
    rows: Vec<Waiting>,
    /// Memory of the rows.
    bytes: usize,
    /// [`WRITES_MAX`], but in tests.
    most: usize,
    wrong: Option<SqlError>,
    value: Vec<u8>,
}

impl CopyIn {
    pub(crate) fn new(table: Arc<Table>, columns: Vec<usize>) -> CopyIn {
        CopyIn {
            table,
            columns,
            rest: Vec::new(),
            ended: false,
            rows: Vec::new(),
            bytes: 0,
            most: WRITES_MAX,
            wrong: None,
            value: Vec::new(),
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Bytes of memory.
    pub(crate) fn holds(&self) -> usize {
        self.bytes + self.rest.capacity() + self.value.capacity() + size_of_val(&self.columns[..])
    }

    /// Takes a piece of the data, cut anywhere.
    pub(crate) fn take(&mut self, data: &[u8]) {
        if let Err(error) = self.lines(data) {
            self.fail(error);
        }
    }

    /// What the data is refused for; the rest of it does not matter then.
    pub(crate) fn fail(&mut self, error: SqlError) {
        let place = format!("COPY {}, line {}", self.table.name, self.rows.len() + 1);
        self.wrong.get_or_insert_with(|| match error.detail.clone() {
            Some(detail) => error.with_detail(format!("{detail} ({place})")),
            None => error.with_detail(place),
        });
        (self.rows, self.rest, self.bytes) = (Vec::new(), Vec::new(), 0);
    }

    /// The data has ended, perhaps without a last line end. Gives the number of rows.
    pub(crate) fn finish(&mut self, target: &mut Target<'_>, context: &Context<'_>) -> Result<u64, SqlError> {
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty()
            && let Err(error) = self.line(&rest)
        {
            self.fail(error);
        }
        if let Some(error) = self.wrong.take() {
            return Err(error);
        }
        let mut count = 0;
        for (mut key, mut row) in std::mem::take(&mut self.rows) {
            self.complete(&mut key, &mut row, context)?;
            insert_row(&self.table, key, row, target)?;
            count += 1;
        }
        Ok(count)
    }

    fn lines(&mut self, mut data: &[u8]) -> Result<(), SqlError> {
        if self.wrong.is_some() {
            return Ok(());
        }
        while let Some(end) = data.iter().position(|byte| *byte == b'\n') {
            let (line, behind) = data.split_at(end);
            data = &behind[1..];
            if self.rest.is_empty() {
                self.line(line)?;
            } else {
                let mut whole = std::mem::take(&mut self.rest);
                whole.extend_from_slice(line);
                self.line(&whole)?;
            }
        }
        if self.rest.len() + data.len() > LINE_MAX {
            let message = format!("a line of COPY has more than {LINE_MAX} bytes");
            return Err(SqlError::new(state::PROGRAM_LIMIT, message));
        }
        self.rest.extend_from_slice(data);
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> Result<(), SqlError> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.ended || line == b"\\." {
            self.ended = true;
            return Ok(());
        }
        let row = self.row(line)?;
        self.bytes += size_of_row(&row.1) + row.0.as_ref().map_or(0, |key| key.len()) + ROW_OVERHEAD;
        if self.bytes > self.most {
            let message = format!("a COPY has more than {} bytes; load in several", self.most);
            return Err(SqlError::new(state::PROGRAM_LIMIT, message));
        }
        self.rows.push(row);
        Ok(())
    }

    fn row(&mut self, line: &[u8]) -> Result<Waiting, SqlError> {
        let table = &self.table;
        let mut row: Cells = vec![None; table.columns.len()];
        let mut key = None;
        let mut fields = Fields(if self.columns.is_empty() && line.is_empty() { None } else { Some(line) });
        for place in &self.columns {
            let column = &table.columns[*place];
            let Some(field) = fields.next() else {
                let message = format!("missing data for column \"{}\"", column.name);
                return Err(SqlError::new(state::BAD_COPY_FORMAT, message));
            };
            let value = if field == b"\\N" {
                Datum::Null
            } else {
                self.value.clear();
                unescape(field, &mut self.value);
                parsed(&self.value, column.column_type)?
            };
            row[*place] = cell_of(table, *place, &value)?;
            if table.key == Some(*place) {
                key = key_of_row(table, &value);
            }
        }
        if fields.next().is_some() {
            return Err(SqlError::new(state::BAD_COPY_FORMAT, "extra data after last expected column"));
        }
        Ok((key, row))
    }

    /// Gives the columns that the data does not have their defaults.
    fn complete(
        &self,
        key: &mut Option<Box<[u8]>>,
        row: &mut Cells,
        context: &Context<'_>,
    ) -> Result<(), SqlError> {
        if self.columns.len() == row.len() {
            return Ok(());
        }
        for place in (0..row.len()).filter(|place| !self.columns.contains(place)) {
            let value = match &self.table.columns[place].default {
                Some(default) => default.value(Row::NONE, context)?,
                None => Datum::Null,
            };
            row[place] = cell_of(&self.table, place, &value)?;
            if self.table.key == Some(place) {
                *key = key_of_row(&self.table, &value);
            }
        }
        Ok(())
    }
}

fn parsed(bytes: &[u8], column: ColumnType) -> Result<Datum<'static>, SqlError> {
    let value = column.kind.parse(text_of(bytes)?)?;
    value.convert(column.kind, column, false)
}

/// The values of a line, with their escapes.
struct Fields<'a>(Option<&'a [u8]>);

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.0?;
        match line.iter().position(|byte| *byte == b'\t') {
            Some(end) => {
                self.0 = Some(&line[end + 1..]);
                Some(&line[..end])
            }
            None => {
                self.0 = None;
                Some(line)
            }
        }
    }
}

/// Backslash sequences of COPY's text format.
fn unescape(field: &[u8], out: &mut Vec<u8>) {
    let mut rest = field;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let Some((&escaped, behind)) = rest.split_first() else {
            out.push(b'\\');
            return;
        };
        let digits = |bytes: &[u8], most: usize, is_digit: fn(&u8) -> bool| {
            bytes.iter().take(most).take_while(|byte| is_digit(byte)).count()
        };
        let number = |digits: &[u8], radix: u32| {
            let value = std::str::from_utf8(digits).ok().and_then(|d| u32::from_str_radix(d, radix).ok());
            (value.unwrap_or(0) & 0xff) as u8
        };
        rest = behind;
        match escaped {
            b'b' => out.push(b'\x08'),
            b'f' => out.push(b'\x0c'),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(b'\x0b'),
            b'0'..=b'7' => {
                let length = 1 + digits(behind, 2, |b| matches!(b, b'0'..=b'7'));
                let start = field.len() - behind.len() - 1;
                out.push(number(&field[start..start + length], 8));
                rest = &behind[length - 1..];
            }
            b'x' => match digits(behind, 2, u8::is_ascii_hexdigit) {
                0 => out.push(b'x'),
                length => {
                    out.push(number(&behind[..length], 16));
                    rest = &behind[length..];
                }
            },
            other => out.push(other),
        }
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_copy() {
        for (field, expected) in [
            (&b"plain"[..], &b"plain"[..]),
            (b"a\\tb\\nc\\\\d", b"a\tb\nc\\d"),
            (b"\\101\\x41\\x4g\\xg", b"AA\x04gxg"),
            (b"\\q\\", b"q\\"),
            (b"\\1018", b"A8"),
        ] {
            let mut out = Vec::new();
            unescape(field, &mut out);
            assert_eq!(out, expected, "{}", field.escape_ascii());
        }
    }

    #[test]
    fn a_copy_ends_where_its_cells_are_too_many() {
        let mut catalog = super::super::Catalog::new();
        let column = |n: usize| super::super::catalog::Column {
            name: format!("c{n}"),
            column_type: super::super::Type::Text.into(),
            not_null: false,
            default: None,
        };
        catalog.create("t", (0..100).map(column).collect(), None).unwrap();
        let name = super::super::syntax::TableName { schema: None, name: "t".to_owned() };
        let mut copy = CopyIn::new(Arc::clone(catalog.table(&name).unwrap()), vec![0]);
        copy.most = 100 * 1024;
        // Two bytes each, and 2,400 of cells.
        copy.take(&b"x\n".repeat(30));
        assert!((30 * 2_400..copy.most).contains(&copy.holds()), "{}", copy.holds());
        assert!(copy.wrong.is_none());
        copy.take(&b"x\n".repeat(30));
        assert_eq!(copy.wrong.as_ref().map(|wrong| wrong.state), Some(state::PROGRAM_LIMIT));
        assert!(copy.holds() < 1024, "{}", copy.holds());
    }
}
