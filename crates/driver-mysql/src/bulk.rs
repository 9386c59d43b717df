//! Loading many rows, all or none.
//!
//! Where the server permits it (`local_infile`, which MariaDB has on and MySQL off), LOAD DATA takes them as a file that lies
//! in this process: twice as many rows in a second as INSERT has. It has one trap: with LOCAL the server leaves out rows that
//! break a key and cuts values that do not fit, with no more than a warning. So the rows that it took are counted, and with a
//! single warning nothing stays.
//!
//! Elsewhere they go as prepared INSERTs of many rows.

use crate::client::{Client, Failure};
use crate::codec::{self, Garbage, Inside};
use crate::date::Moment;
use crate::login::can;
use crate::types;
use driver::{BulkRows, Value, ValueType};
use std::io::Write;

/// About as much as is sent at a time.
const CHUNK: usize = 256 * 1024;

/// The most rows of one INSERT, and the most arguments, which are numbered by 16 bits.
const ROWS: usize = 500;
const ARGUMENTS: usize = 60_000;

/// Loads rows in a transaction of its own.
pub(crate) fn load(
    client: &mut Client,
    table: &str,
    columns: &[&str],
    rows: &mut BulkRows<'_>,
) -> Result<u64, Failure> {
    let takes_files = client.server.agreed & can::LOCAL_FILES != 0 && takes_files(client)?;
    client.execute("START TRANSACTION")?;
    let loaded = if takes_files {
        load_file(client, table, columns, rows)
    } else {
        insert(client, table, columns, rows)
    };
    match loaded {
        Ok(count) => client.execute("COMMIT").map(|_| count),
        // The connection may be broken, and then nothing stays anyway.
        Err(failure) => {
            let _ = client.execute("ROLLBACK");
            Err(failure)
        }
    }
}

fn takes_files(client: &mut Client) -> Result<bool, Failure> {
    codec::command(&mut client.out, codec::QUERY, "SELECT @@local_infile");
    client.send()?;
    Ok(client.rows()?.into_iter().flatten().flatten().next().is_some_and(|value| value == "1"))
}

fn wrong_width(given: usize, columns: usize) -> Failure {
    Failure::Unfit(format!("a row has {given} values for {columns} columns"))
}

fn load_file(
    client: &mut Client,
    table: &str,
    columns: &[&str],
    rows: &mut BulkRows<'_>,
) -> Result<u64, Failure> {
    let sql = format!(
        "LOAD DATA LOCAL INFILE 'truetail' INTO TABLE {table} CHARACTER SET utf8mb4 ({})",
        columns.join(", ")
    );
    codec::command(&mut client.out, codec::QUERY, &sql);
    client.send()?;
    let wish = client.accepted()?;
    if wish[0] != codec::LOCAL_FILE {
        return Err(Garbage::Unexpected(wish[0]).into());
    }
    let (count, wrong) = send_lines(client, columns.len(), rows)?;
    let done = client.done()?;
    if let Some(given) = wrong {
        return Err(wrong_width(given, columns.len()));
    }
    if done.warnings > 0 || done.affected != count {
        let words = first_warning(client)?;
        return Err(Failure::Unfit(format!(
            "the server took {} of {count} rows as they were: {words}",
            done.affected
        )));
    }
    Ok(count)
}

/// Sends all rows as a file of lines, and its end. Gives their number, and the width of the first row that has not as many
/// values as there are columns; nothing is sent from there on.
fn send_lines(
    client: &mut Client,
    columns: usize,
    rows: &mut BulkRows<'_>,
) -> Result<(u64, Option<usize>), Failure> {
    let (mut count, mut wrong, mut more) = (0, None, true);
    let mut number = client.number;
    let mut lines = Vec::with_capacity(2 * CHUNK);
    while more && wrong.is_none() {
        lines.clear();
        while more && wrong.is_none() && lines.len() < CHUNK {
            more = rows(&mut |row| {
                if row.len() == columns {
                    push_line(&mut lines, row);
                    count += 1;
                } else if wrong.is_none() {
                    wrong = Some(row.len());
                }
            });
        }
        // A single row may be longer than a packet.
        for piece in lines.chunks(codec::LONGEST - 1) {
            number = number.wrapping_add(1);
            codec::packet_of(&mut client.out, number, |out| out.extend_from_slice(piece));
            client.send()?;
        }
    }
    codec::packet_of(&mut client.out, number.wrapping_add(1), |_| {});
    client.send()?;
    Ok((count, wrong))
}

fn first_warning(client: &mut Client) -> Result<String, Failure> {
    codec::command(&mut client.out, codec::QUERY, "SHOW WARNINGS LIMIT 1");
    client.send()?;
    let row = client.rows()?.into_iter().next().unwrap_or_default();
    Ok(row.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// Appends one row in the format that LOAD DATA expects if not told otherwise.
fn push_line(lines: &mut Vec<u8>, row: &[Value<'_>]) {
    for (index, value) in row.iter().enumerate() {
        if index > 0 {
            lines.push(b'\t');
        }
        push_field(lines, *value);
    }
    lines.push(b'\n');
}

fn push_field(lines: &mut Vec<u8>, value: Value<'_>) {
    // Writing into a Vec cannot fail.
    let _ = match value {
        Value::Null => lines.write_all(b"\\N"),
        Value::Int(v) => write!(lines, "{v}"),
        Value::Float(v) => write!(lines, "{v:e}"),
        Value::Decimal(v) => write!(lines, "{v}"),
        Value::Timestamp(micros) => match Moment::new(micros) {
            Some(moment) => write!(lines, "{moment}"),
            // Not a date to the server: a warning, so that nothing stays.
            None => write!(lines, "{micros} us"),
        },
        Value::Text(text) => {
            for byte in text.bytes() {
                match byte {
                    b'\\' => lines.extend_from_slice(b"\\\\"),
                    b'\t' => lines.extend_from_slice(b"\\t"),
                    b'\n' => lines.extend_from_slice(b"\\n"),
                    0 => lines.extend_from_slice(b"\\0"),
                    _ => lines.push(byte),
                }
            }
            Ok(())
        }
    };
}

/// Rows of one INSERT.
#[derive(Default)]
struct Batch {
    nulls: Vec<bool>,
    types: Vec<u8>,
    values: Vec<u8>,
    rows: usize,
}

impl Batch {
    fn push(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        for value in row {
            let kind = match value {
                // Any will do.
                Value::Null | Value::Int(_) => ValueType::Int,
                Value::Float(_) => ValueType::Float,
                Value::Text(_) => ValueType::Text,
                Value::Timestamp(_) => ValueType::Timestamp,
                Value::Decimal(number) => ValueType::Decimal(number.scale),
            };
            self.nulls.push(*value == Value::Null);
            self.types.push(types::parameter(kind));
            if *value != Value::Null {
                types::encode(kind, &mut self.values, *value)
                    .map_err(|unfit| Failure::Unfit(format!("{value:?}: {unfit}")))?;
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn encode(&self, out: &mut Vec<u8>, statement: u32) {
        codec::packet_of(out, 0, |out| {
            out.push(codec::EXECUTE);
            out.extend_from_slice(&statement.to_le_bytes());
            out.extend_from_slice(&[0, 1, 0, 0, 0]);
            let at = out.len();
            out.resize(at + self.nulls.len().div_ceil(8), 0);
            for (index, _) in self.nulls.iter().enumerate().filter(|(_, null)| **null) {
                out[at + index / 8] |= 1 << (index % 8);
            }
            out.push(1);
            out.extend(self.types.iter().flat_map(|kind| [*kind, 0]));
            out.extend_from_slice(&self.values);
        });
    }

    fn clear(&mut self) {
        self.nulls.clear();
        self.types.clear();
        self.values.clear();
        self.rows = 0;
    }
}

fn insert(
    client: &mut Client,
    table: &str,
    columns: &[&str],
    rows: &mut BulkRows<'_>,
) -> Result<u64, Failure> {
    let most = (ARGUMENTS / columns.len().max(1)).clamp(1, ROWS);
    let mut prepared = None;
    let (mut count, mut more, mut problem) = (0, true, None);
    let mut batch = Batch::default();
    while more {
        while more && problem.is_none() && batch.rows < most && batch.values.len() < CHUNK {
            more = rows(&mut |row| {
                let pushed = if row.len() == columns.len() {
                    batch.push(row)
                } else {
                    Err(wrong_width(row.len(), columns.len()))
                };
                if let (Err(failure), None) = (pushed, &problem) {
                    problem = Some(failure);
                }
            });
        }
        if let Some(failure) = problem {
            return Err(failure);
        }
        if batch.rows > 0 {
            let statement = prepare_rows(client, table, columns, batch.rows, &mut prepared)?;
            batch.encode(&mut client.out, statement);
            client.send()?;
            count += client.done()?.affected;
            batch.clear();
        }
    }
    Ok(count)
}

/// The statement for so many rows; the last one is kept, since most are for the same number.
fn prepare_rows(
    client: &mut Client,
    table: &str,
    columns: &[&str],
    rows: usize,
    kept: &mut Option<(usize, u32)>,
) -> Result<u32, Failure> {
    if let Some((_, id)) = kept.filter(|(of, _)| *of == rows) {
        return Ok(id);
    }
    const CLOSE: u8 = 0x19;
    if let Some((_, id)) = kept.take() {
        // It is not answered.
        codec::packet_of(&mut client.out, 0, |out| {
            out.push(CLOSE);
            out.extend_from_slice(&id.to_le_bytes());
        });
    }
    let row = format!("({})", vec!["?"; columns.len()].join(", "));
    let sql = format!("INSERT INTO {table} ({}) VALUES {}", columns.join(", "), vec![row; rows].join(", "));
    codec::command(&mut client.out, codec::PREPARE, &sql);
    client.send()?;
    let body = client.accepted()?;
    let mut inside = Inside(&body[1..]);
    let mut read = || Some((inside.u32()?, inside.u16()?, inside.u16()?));
    let (id, of, parameters) = read().ok_or(Garbage::Malformed("prepared statement"))?;
    for _ in 0..u32::from(of) + u32::from(parameters) {
        client.accepted()?;
    }
    *kept = Some((rows, id));
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_escaped() {
        let mut lines = Vec::new();
        push_line(
            &mut lines,
            &[Value::Int(-1), Value::Null, Value::Text("a\tb\\N\r\n\0"), Value::Float(0.5)],
        );
        push_line(&mut lines, &[Value::Timestamp(-1)]);
        let expected = b"-1\t\\N\ta\\tb\\\\N\r\\n\\0\t5e-1\n1969-12-31 23:59:59.999999\n";
        assert_eq!(lines, expected, "{}", lines.escape_ascii());
    }
}
