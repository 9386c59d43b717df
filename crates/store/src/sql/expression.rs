//! Expressions whose names and types are settled, and their values.

use super::catalog::Catalog;
use super::datum::Datum;
use super::error::{SqlError, state};
use super::functions::{self, Function};
use super::settings::Settings;
use super::syntax::{Comparison, Operator, Truth};
use super::types::{ColumnType, Type};
use std::borrow::Cow;

/// The most bytes that a value may have.
pub(crate) const VALUE_MAX: usize = 16 << 20;

/// An expression with the type of its value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Typed {
    pub(crate) node: Node,
    pub(crate) kind: ColumnType,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Node {
    Constant(Datum<'static>),
    /// From 0.
    Parameter(usize),
    /// Of the row; numbers from the table's width on are columns of the row that could not be inserted.
    Column(usize),
    Chain(Box<Typed>, Vec<Step>),
    Compare(Box<Typed>, Comparison, Box<Typed>),
    And(Vec<Typed>),
    Or(Vec<Typed>),
    Not(Box<Typed>),
    Is {
        inner: Box<Typed>,
        what: Truth,
        negated: bool,
    },
    Between {
        inner: Box<Typed>,
        low: Box<Typed>,
        high: Box<Typed>,
        negated: bool,
    },
    In {
        inner: Box<Typed>,
        list: Vec<Typed>,
        negated: bool,
    },
    Negative(Box<Typed>),
    Convert {
        inner: Box<Typed>,
        explicit: bool,
    },
    Call(Function, Vec<Typed>),
}

/// One more operand of a chain, and the type of what has been computed with it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Step {
    pub(crate) operator: Operator,
    pub(crate) operand: Typed,
    pub(crate) result: Type,
}

/// Stored values of a row.
pub(crate) type Stored = [Option<Vec<u8>>];

/// The row that an expression speaks of, and the one that could not be inserted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) current: &'a Stored,
    pub(crate) excluded: &'a Stored,
}

impl<'a> Row<'a> {
    /// No row: constants, parameters.
    pub(crate) const NONE: Row<'static> = Row { current: &[], excluded: &[] };

    pub(crate) fn of(current: &'a Stored) -> Row<'a> {
        Row { current, excluded: &[] }
    }

    pub(crate) fn stored(&self, column: usize) -> Option<&'a [u8]> {
        let cell = match self.current.get(column) {
            Some(cell) => cell,
            None => self.excluded.get(column - self.current.len())?,
        };
        cell.as_deref()
    }
}

/// What expressions may ask for besides their row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) parameters: &'a [Datum<'static>],
    /// Microseconds since 2000.
    pub(crate) now: i64,
    pub(crate) settings: &'a Settings,
    pub(crate) catalog: &'a Catalog,
    pub(crate) user: &'a str,
    pub(crate) database: &'a str,
    pub(crate) backend: u32,
}

impl Typed {
    pub(crate) fn constant(datum: Datum<'static>, kind: Type) -> Typed {
        Typed { node: Node::Constant(datum), kind: kind.into() }
    }

    /// Whether it is the same for all rows.
    pub(crate) fn is_free_of_columns(&self) -> bool {
        !self.any(&|node| matches!(node, Node::Column(_)))
    }

    /// Whether it asks what the server or the session is.
    pub(crate) fn is_about_server(&self) -> bool {
        self.any(&|node| matches!(node, Node::Call(function, _) if function.is_about_server()))
    }

    /// Whether this node or any within it is such a one.
    fn any(&self, is: &dyn Fn(&Node) -> bool) -> bool {
        let within = |typed: &Typed| typed.any(is);
        is(&self.node)
            || match &self.node {
                Node::Constant(_) | Node::Parameter(_) | Node::Column(_) => false,
                Node::Chain(first, steps) => within(first) || steps.iter().any(|step| within(&step.operand)),
                Node::Compare(a, _, b) => within(a) || within(b),
                Node::And(all) | Node::Or(all) | Node::Call(_, all) => all.iter().any(within),
                Node::Between { inner, low, high, .. } => within(inner) || within(low) || within(high),
                Node::In { inner, list, .. } => within(inner) || list.iter().any(within),
                Node::Not(inner)
                | Node::Is { inner, .. }
                | Node::Negative(inner)
                | Node::Convert { inner, .. } => within(inner),
            }
    }

    /// Its value for this row.
    ///
    /// # Errors
    /// What PostgreSQL refuses to compute: out of range, division by zero, texts that are no numbers.
    pub(crate) fn value<'a>(&'a self, row: Row<'a>, context: &Context<'a>) -> Result<Datum<'a>, SqlError> {
        match &self.node {
            Node::Constant(datum) => Ok(borrowed(datum)),
            Node::Parameter(index) => Ok(context.parameters.get(*index).map_or(Datum::Null, borrowed)),
            Node::Column(index) => {
                row.stored(*index).map_or(Ok(Datum::Null), |bytes| self.kind.kind.stored(bytes))
            }
            Node::Chain(first, steps) => {
                let mut value = first.value(row, context)?;
                let mut kind = first.kind.kind;
                for step in steps {
                    let operand = step.operand.value(row, context)?;
                    value = compute(value, kind, step, operand)?;
                    kind = step.result;
                }
                Ok(value)
            }
            Node::Compare(left, comparison, right) => {
                let value = left.value(row, context)?;
                let holds = compared(&value, left, *comparison, right, row, context)?;
                Ok(holds.map_or(Datum::Null, Datum::Bool))
            }
            Node::And(all) => all_of(all, false, row, context),
            Node::Or(all) => all_of(all, true, row, context),
            Node::Not(inner) => Ok(match inner.value(row, context)? {
                Datum::Bool(value) => Datum::Bool(!value),
                _ => Datum::Null,
            }),
            Node::Is { inner, what, negated } => {
                let value = inner.value(row, context)?;
                let holds = match what {
                    Truth::Null => value.is_null(),
                    Truth::True => value == Datum::Bool(true),
                    Truth::False => value == Datum::Bool(false),
                };
                Ok(Datum::Bool(holds != *negated))
            }
            Node::Between { inner, low, high, negated } => {
                let value = inner.value(row, context)?;
                let above = compared(&value, inner, Comparison::GreaterOrEqual, low, row, context)?;
                let below = compared(&value, inner, Comparison::LessOrEqual, high, row, context)?;
                Ok(match (above, below) {
                    (Some(false), _) | (_, Some(false)) => Datum::Bool(*negated),
                    (Some(true), Some(true)) => Datum::Bool(!negated),
                    _ => Datum::Null,
                })
            }
            Node::In { inner, list, negated } => is_in(inner, list, *negated, row, context),
            Node::Negative(inner) => match inner.value(row, context)? {
                Datum::Int(value) => {
                    let kind = self.kind.kind;
                    let negative = value.checked_neg().ok_or_else(|| kind.out_of_range())?;
                    kind.checked(negative).map(Datum::Int)
                }
                Datum::Float(value) => Ok(Datum::Float(-value)),
                other => Ok(other),
            },
            Node::Convert { inner, explicit } => {
                inner.value(row, context)?.convert(inner.kind.kind, self.kind, *explicit)
            }
            Node::Call(function, arguments) => functions::call(*function, arguments, row, context),
        }
    }

    /// Whether the condition holds; unknown is no.
    pub(crate) fn holds(&self, row: Row<'_>, context: &Context<'_>) -> Result<bool, SqlError> {
        Ok(self.value(row, context)? == Datum::Bool(true))
    }
}

/// The same value without a copy.
pub(crate) fn borrowed<'a>(datum: &'a Datum<'static>) -> Datum<'a> {
    match datum {
        Datum::Text(text) => Datum::Text(Cow::Borrowed(text)),
        Datum::Bytes(bytes) => Datum::Bytes(Cow::Borrowed(bytes)),
        Datum::Null => Datum::Null,
        Datum::Bool(value) => Datum::Bool(*value),
        Datum::Int(value) => Datum::Int(*value),
        Datum::Float(value) => Datum::Float(*value),
        Datum::Moment(value) => Datum::Moment(*value),
    }
}

/// Three-valued AND (`stop` is false) or OR (`stop` is true).
fn all_of<'a>(
    all: &'a [Typed],
    stop: bool,
    row: Row<'a>,
    context: &Context<'a>,
) -> Result<Datum<'a>, SqlError> {
    let mut unknown = false;
    for condition in all {
        match condition.value(row, context)? {
            Datum::Bool(value) if value == stop => return Ok(Datum::Bool(stop)),
            Datum::Bool(_) => {}
            _ => unknown = true,
        }
    }
    Ok(if unknown { Datum::Null } else { Datum::Bool(!stop) })
}

fn is_in<'a>(
    inner: &'a Typed,
    list: &'a [Typed],
    negated: bool,
    row: Row<'a>,
    context: &Context<'a>,
) -> Result<Datum<'a>, SqlError> {
    let value = inner.value(row, context)?;
    if value.is_null() {
        return Ok(Datum::Null);
    }
    let mut unknown = false;
    for item in list {
        let other = item.value(row, context)?;
        if other.is_null() {
            unknown = true;
        } else if compare(inner, &value, item, &other).is_eq() {
            return Ok(Datum::Bool(!negated));
        }
    }
    Ok(if unknown { Datum::Null } else { Datum::Bool(negated) })
}

/// Whether the comparison holds; `None` with a null on either side.
fn compared<'a>(
    value: &Datum<'a>,
    left: &Typed,
    comparison: Comparison,
    right: &'a Typed,
    row: Row<'a>,
    context: &Context<'a>,
) -> Result<Option<bool>, SqlError> {
    let other = right.value(row, context)?;
    if value.is_null() || other.is_null() {
        return Ok(None);
    }
    Ok(Some(comparison.holds(compare(left, value, right, &other))))
}

fn compare(left: &Typed, a: &Datum<'_>, right: &Typed, b: &Datum<'_>) -> std::cmp::Ordering {
    if let (Datum::Text(a), Datum::Text(b)) = (a, b) {
        // Blanks at the end of a char(n) do not count.
        if left.kind.kind == Type::Bpchar || right.kind.kind == Type::Bpchar {
            return a.trim_end_matches(' ').as_bytes().cmp(b.trim_end_matches(' ').as_bytes());
        }
    }
    a.compare(b)
}

fn compute<'a>(
    left: Datum<'a>,
    left_kind: Type,
    step: &Step,
    right: Datum<'a>,
) -> Result<Datum<'a>, SqlError> {
    if left.is_null() || right.is_null() {
        return Ok(Datum::Null);
    }
    if step.operator == Operator::Concatenate {
        let mut text = operand_text(left, left_kind);
        text.push_str(&operand_text(right, step.operand.kind.kind));
        if text.len() > VALUE_MAX {
            let message = format!("a value of {} bytes; the limit is {VALUE_MAX}", text.len());
            return Err(SqlError::new(state::PROGRAM_LIMIT, message));
        }
        return Ok(Datum::Text(Cow::Owned(text)));
    }
    match (&left, &right) {
        (Datum::Int(a), Datum::Int(b)) => integer(*a, step, *b).map(Datum::Int),
        _ => float(left.as_float(), step.operator, right.as_float()).map(Datum::Float),
    }
}

fn operand_text(value: Datum<'_>, kind: Type) -> String {
    if kind == Type::Bpchar { value.trimmed().to_text(kind) } else { value.to_text(kind) }
}

fn integer(a: i64, step: &Step, b: i64) -> Result<i64, SqlError> {
    let divides = matches!(step.operator, Operator::Divide | Operator::Remainder);
    if divides && b == 0 {
        return Err(division_by_zero());
    }
    let result = match step.operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide => a.checked_div(b),
        Operator::Remainder => Some(a.wrapping_rem(b)),
        Operator::Concatenate => None, // done by the caller
    };
    step.result.checked(result.ok_or_else(|| step.result.out_of_range())?)
}

fn float(a: f64, operator: Operator, b: f64) -> Result<f64, SqlError> {
    let result = match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide if b == 0.0 => return Err(division_by_zero()),
        Operator::Divide => a / b,
        Operator::Remainder | Operator::Concatenate => f64::NAN, // not planned for floats
    };
    if result.is_infinite() && a.is_finite() && b.is_finite() {
        return Err(SqlError::new(state::NUMBER_OUT_OF_RANGE, "value out of range: overflow"));
    }
    Ok(result)
}

fn division_by_zero() -> SqlError {
    SqlError::new(state::DIVISION_BY_ZERO, "division by zero")
}
