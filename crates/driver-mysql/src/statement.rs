//! Statements as bytes that are ready to be copied.
//!
//! Everything that does not depend on the arguments is built once, when the session connects: the command, the statement's
//! number, the types of its parameters. A command without arguments is one copy.

use crate::codec::{self, HEADER, LONGEST};
use crate::types::{self, Unfit};
use driver::{StatementSpec, Value, ValueType};

/// Why a command was not staged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// It has so many parameters and was given so many arguments.
    Count { wanted: usize, given: usize },
    /// This argument, counted from 1, does not fit.
    Argument { position: usize, unfit: Unfit },
    /// The packet would be longer than this driver sends.
    Length,
}

/// How a command goes out.
pub(crate) struct Statement {
    /// Up to the NULL bitmap; the whole command when there are no parameters.
    head: Box<[u8]>,
    /// From the bitmap's end to the first argument.
    types: Box<[u8]>,
    parameters: Box<[ValueType]>,
    /// Whether it may run although a command before it in the batch has failed.
    pub(crate) harmless: bool,
}

impl Statement {
    /// A command that is SQL, or nothing but its name.
    pub(crate) fn plain(command: u8, sql: &str) -> Statement {
        let mut head = Vec::new();
        codec::command(&mut head, command, sql);
        Statement { head: head.into(), types: Box::new([]), parameters: Box::new([]), harmless: true }
    }

    /// A command that must not run where one before it in the batch has failed.
    pub(crate) fn control(sql: &str) -> Statement {
        Statement { harmless: false, ..Statement::plain(codec::QUERY, sql) }
    }

    /// A prepared statement of this number.
    pub(crate) fn prepared(id: u32, spec: &StatementSpec, returns_rows: bool) -> Statement {
        let mut head = vec![0, 0, 0, 0, codec::EXECUTE];
        head.extend_from_slice(&id.to_le_bytes());
        head.extend_from_slice(&[0, 1, 0, 0, 0]); // no cursor; once
        let mut types = Vec::new();
        if spec.parameters.is_empty() {
            codec::patch_length(&mut head, 0);
        } else {
            // Types come with every execution: the server need not be in the state that this session thinks.
            types.push(1);
            types.extend(spec.parameters.iter().flat_map(|promised| [types::parameter(*promised), 0]));
        }
        Statement {
            head: head.into(),
            types: types.into(),
            parameters: spec.parameters.clone().into(),
            harmless: returns_rows && only_reads(&spec.sql),
        }
    }

    /// Appends the command. On refusal, `out` is left with half of it: the caller truncates it.
    #[inline]
    pub(crate) fn encode(&self, out: &mut Vec<u8>, arguments: &[Value<'_>]) -> Result<(), Refusal> {
        if arguments.len() != self.parameters.len() {
            return Err(Refusal::Count { wanted: self.parameters.len(), given: arguments.len() });
        }
        let at = out.len();
        out.extend_from_slice(&self.head);
        if self.parameters.is_empty() {
            return Ok(());
        }
        let nulls = out.len();
        out.resize(nulls + self.parameters.len().div_ceil(8), 0);
        out.extend_from_slice(&self.types);
        for (index, (promised, argument)) in self.parameters.iter().zip(arguments).enumerate() {
            if *argument == Value::Null {
                out[nulls + index / 8] |= 1 << (index % 8);
                continue;
            }
            types::encode(*promised, out, *argument)
                .map_err(|unfit| Refusal::Argument { position: index + 1, unfit })?;
        }
        if out.len() - at - HEADER >= LONGEST {
            return Err(Refusal::Length);
        }
        codec::patch_length(out, at);
        Ok(())
    }
}

/// Whether a statement begins as those that change nothing.
fn only_reads(sql: &str) -> bool {
    let sql = sql.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    let word = sql.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    ["SELECT", "WITH", "VALUES", "SHOW"].iter().any(|reads| word.eq_ignore_ascii_case(reads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_without_parameters_is_one_template() {
        let mut out = Vec::new();
        Statement::plain(codec::QUERY, "COMMIT").encode(&mut out, &[]).unwrap();
        assert_eq!(out, b"\x07\0\0\0\x03COMMIT");
        out.clear();
        let statement = Statement::prepared(7, &StatementSpec::counted("SELECT 1", &[]), true);
        statement.encode(&mut out, &[]).unwrap();
        assert_eq!(out, b"\x0A\0\0\0\x17\x07\0\0\0\0\x01\0\0\0");
        assert_eq!(statement.encode(&mut out, &[Value::Null]), Err(Refusal::Count { wanted: 0, given: 1 }));
    }

    #[test]
    fn arguments_and_types_are_where_the_protocol_wants_them() {
        let spec = StatementSpec::counted("…", &[ValueType::Int, ValueType::Text, ValueType::Float]);
        let statement = Statement::prepared(0x0102, &spec, false);
        let mut out = Vec::new();
        statement.encode(&mut out, &[Value::Int(5), Value::Text("hi"), Value::Null]).unwrap();
        let expected =
            b"\x1D\0\0\0\x17\x02\x01\0\0\0\x01\0\0\0\x04\x01\x08\0\xFD\0\x05\0\x05\0\0\0\0\0\0\0\x02hi";
        assert_eq!(out, expected);
        let wrong = statement.encode(&mut out, &[Value::Int(5), Value::Int(1), Value::Null]);
        assert_eq!(wrong, Err(Refusal::Argument { position: 2, unfit: Unfit::Kind }));
    }

    #[test]
    fn what_one_packet_does_not_hold_is_refused() {
        let statement = Statement::prepared(1, &StatementSpec::counted("…", &[ValueType::Text]), false);
        let text = "x".repeat(LONGEST);
        let mut out = Vec::new();
        assert_eq!(statement.encode(&mut out, &[Value::Text(&text)]), Err(Refusal::Length));
        out.clear();
        let around = 10 + 1 + 1 + 2 + 4;
        assert_eq!(statement.encode(&mut out, &[Value::Text(&text[around + 1..])]), Ok(()));
        assert_eq!(out.len(), HEADER + LONGEST - 1);
    }

    #[test]
    fn only_reads_are_harmless() {
        let harmless =
            |sql: &str, rows| Statement::prepared(1, &StatementSpec::counted(sql, &[]), rows).harmless;
        assert!(harmless(" (select 1)", true) && harmless("WITH a AS (SELECT 1) SELECT * FROM a", true));
        assert!(!harmless("INSERT INTO t VALUES (1) RETURNING a", true));
        assert!(!harmless("SELECT 1 INTO @a", false));
        assert!(!harmless("UPDATE t SET a = 1", false) && !harmless("CALL p()", true));
    }
}
