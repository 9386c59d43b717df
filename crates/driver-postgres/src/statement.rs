//! Prepared statements as bytes that are ready to be copied.
//!
//! Everything that does not depend on the arguments is built once, when the session connects: the names, the
//! format codes, the whole Execute message. A command without arguments is one copy.

use crate::codec::{self, Inside, MESSAGE_LIMIT};
use crate::types::{self, Column, Parameter, Unfit};
use driver::{Results, StatementSpec, Value};

/// What the server said about a prepared statement.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Described {
    /// Types of the parameters.
    pub(crate) parameters: Vec<u32>,
    /// Names and types of the columns.
    pub(crate) columns: Vec<(String, u32)>,
}

impl Described {
    /// Reads a ParameterDescription.
    pub(crate) fn parameters(&mut self, body: &[u8]) -> Option<()> {
        let mut inside = Inside(body);
        let count = inside.i16()? as u16; // up to 65 535 parameters, whatever the sign
        self.parameters = (0..count).map(|_| inside.u32()).collect::<Option<_>>()?;
        Some(())
    }

    /// Reads a RowDescription.
    pub(crate) fn columns(&mut self, body: &[u8]) -> Option<()> {
        let mut inside = Inside(body);
        let count = inside.i16()?;
        self.columns = (0..count)
            .map(|_| {
                let name = String::from_utf8_lossy(inside.text()?).into_owned();
                inside.take(6)?; // table and column number
                let oid = inside.u32()?;
                inside.take(8)?; // size, modifier, format
                Some((name, oid))
            })
            .collect::<Option<_>>()?;
        Some(())
    }
}

/// Why a command was not staged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// It has so many parameters and was given so many arguments.
    Count { wanted: usize, given: usize },
    /// This argument, counted from 1, does not fit.
    Argument { position: usize, unfit: Unfit },
    /// The message would be longer than the server accepts.
    Length,
}

pub(crate) struct Statement {
    /// Bind up to the arguments; the whole command when there are none.
    head: Box<[u8]>,
    /// The result formats and Execute.
    tail: Box<[u8]>,
    /// How much of `tail` still belongs to Bind.
    tail_of_bind: usize,
    parameters: Box<[Parameter]>,
    columns: Box<[Column]>,
    keeps: bool,
}

/// A short message, `Execute` of the unnamed portal without a row limit.
const EXECUTE: [u8; 10] = [b'E', 0, 0, 0, 9, 0, 0, 0, 0, 0];

impl Statement {
    /// A statement of this name without parameters whose rows are counted, if it has any.
    pub(crate) fn plain(name: &str) -> Statement {
        Statement::assemble(name, Box::new([]), Box::new([]), 0, false)
    }

    /// A statement as the workload wants it, held against what the server says of it.
    pub(crate) fn new(name: &str, spec: &StatementSpec, described: &Described) -> Result<Statement, String> {
        if spec.parameters.len() != described.parameters.len() {
            let (has, promised) = (described.parameters.len(), spec.parameters.len());
            return Err(format!("it has {has} parameters, the workload gives {promised}"));
        }
        let parameters: Result<Box<[Parameter]>, String> = spec
            .parameters
            .iter()
            .zip(&described.parameters)
            .zip(1..)
            .map(|((promised, oid), position)| {
                Parameter::new(*promised, *oid).ok_or_else(|| {
                    let name = types::name(*oid);
                    format!("parameter ${position} is {name} at the server, the workload gives {promised:?}; cast it")
                })
            })
            .collect();
        let keeps = spec.results == Results::Keep;
        let wanted = if keeps { &spec.columns[..] } else { &[] };
        if wanted.len() > described.columns.len() {
            let (has, wants) = (described.columns.len(), wanted.len());
            return Err(format!("it returns {has} columns, the workload reads {wants}"));
        }
        let columns: Result<Box<[Column]>, String> = wanted
            .iter()
            .zip(&described.columns)
            .map(|(wanted, (column, oid))| {
                Column::new(*wanted, *oid).ok_or_else(|| {
                    let name = types::name(*oid);
                    format!(
                        "column `{column}` is {name} at the server, the workload reads {wanted:?}; cast it"
                    )
                })
            })
            .collect();
        Ok(Statement::assemble(name, parameters?, columns?, described.columns.len(), keeps))
    }

    fn assemble(
        name: &str,
        parameters: Box<[Parameter]>,
        columns: Box<[Column]>,
        returned: usize,
        keeps: bool,
    ) -> Statement {
        let mut head = vec![b'B', 0, 0, 0, 0, 0]; // the length comes later; the portal has no name
        codec::push_text(&mut head, name);
        push_count(&mut head, parameters.len());
        for parameter in &parameters {
            head.extend_from_slice(&parameter.format().to_be_bytes());
        }
        push_count(&mut head, parameters.len());
        let mut tail = Vec::new();
        if keeps {
            push_count(&mut tail, returned);
            for column in 0..returned {
                let format = columns.get(column).map_or(0, |c| c.format());
                tail.extend_from_slice(&format.to_be_bytes());
            }
        } else {
            push_count(&mut tail, 0); // all columns as text, the default of other clients
        }
        let tail_of_bind = tail.len();
        tail.extend_from_slice(&EXECUTE);
        if parameters.is_empty() {
            head.extend_from_slice(&tail[..tail_of_bind]);
            codec::patch_length(&mut head, 1);
            head.extend_from_slice(&EXECUTE);
            tail.clear();
        }
        Statement { head: head.into(), tail: tail.into(), tail_of_bind, parameters, columns, keeps }
    }

    /// Appends Bind and Execute. On refusal, `out` is left with half a command: the caller truncates it.
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
        for (index, (parameter, argument)) in self.parameters.iter().zip(arguments).enumerate() {
            parameter
                .encode(out, *argument)
                .map_err(|unfit| Refusal::Argument { position: index + 1, unfit })?;
        }
        let length = out.len() + self.tail_of_bind - at - 1;
        if length > MESSAGE_LIMIT {
            return Err(Refusal::Length);
        }
        out[at + 1..at + 5].copy_from_slice(&(length as u32).to_be_bytes());
        out.extend_from_slice(&self.tail);
        Ok(())
    }

    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// How a kept column is read; `None` past the columns that the workload named.
    pub(crate) fn column(&self, index: usize) -> Option<Column> {
        self.columns.get(index).copied()
    }
}

fn push_count(out: &mut Vec<u8>, count: usize) {
    // Both protocol and server limit the numbers of parameters and columns to 16 bits.
    out.extend_from_slice(&(count as u16).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::ValueType;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_description_is_understood_or_not(body in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut described = Described::default();
            if described.parameters(&body).is_some() {
                prop_assert_eq!(described.parameters.len(), usize::from(u16::from_be_bytes([body[0], body[1]])));
            }
            if described.columns(&body).is_some() {
                prop_assert!(described.columns.len() * 19 <= body.len());
            }
        }
    }

    #[test]
    fn a_statement_without_parameters_is_one_template() {
        let statement = Statement::plain("p");
        let mut out = Vec::new();
        statement.encode(&mut out, &[]).unwrap();
        assert_eq!(out, b"B\0\0\0\x0d\0p\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0");
        assert_eq!(statement.encode(&mut out, &[Value::Null]), Err(Refusal::Count { wanted: 0, given: 1 }));
    }

    #[test]
    fn arguments_and_formats_are_where_the_protocol_wants_them() {
        let spec = StatementSpec::kept("…", &[ValueType::Int, ValueType::Text], &[ValueType::Int]);
        let described = Described {
            parameters: vec![types::INT4, 25],
            columns: vec![("a".to_owned(), types::INT8), ("b".to_owned(), 25)],
        };
        let statement = Statement::new("0", &spec, &described).unwrap();
        let mut out = Vec::new();
        statement.encode(&mut out, &[Value::Int(5), Value::Text("hi")]).unwrap();
        let bind =
            b"B\0\0\0\x23\x000\0\0\x02\0\x01\0\0\0\x02\0\0\0\x04\0\0\0\x05\0\0\0\x02hi\0\x02\0\x01\0\0";
        assert_eq!(out[..bind.len()], bind[..]);
        assert_eq!(out[bind.len()..], EXECUTE);
        let first = codec::frame(&out).unwrap().unwrap();
        assert_eq!((first.tag, first.size), (b'B', bind.len()));
    }

    #[test]
    fn disagreements_with_the_server_are_told() {
        let described =
            Described { parameters: vec![types::TIMESTAMP], columns: vec![("n".to_owned(), types::NUMERIC)] };
        let problem = |spec: StatementSpec| Statement::new("0", &spec, &described).err().unwrap();
        assert!(problem(StatementSpec::counted("", &[])).contains("1 parameters"));
        assert!(problem(StatementSpec::counted("", &[ValueType::Int])).contains("$1 is timestamp"));
        let kept = StatementSpec::kept("", &[ValueType::Timestamp], &[ValueType::Int]);
        assert!(problem(kept).contains("`n` is numeric"));
        let wide = StatementSpec::kept("", &[ValueType::Timestamp], &[ValueType::Text, ValueType::Text]);
        assert!(problem(wide).contains("1 columns"));
    }
}
