//! Settles which columns an expression means and which types its parts have.
//!
//! PostgreSQL's rules (chapter 10 of its manual), as far as the store's types need them: texts in quotes, NULL and
//! parameters whose type nobody told take the type of what they meet, or are text where they meet nothing.

use super::catalog::{Column, Table};
use super::datum::Datum;
use super::error::{SqlError, state};
use super::expression::{Node, Step, Typed};
use super::functions::Function;
use super::syntax::{Comparison, Expr, Operator};
use super::types::{ColumnType, Family, Type};

/// Which rows an expression may speak of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scope<'a> {
    pub(crate) table: Option<&'a Table>,
    /// What the statement calls the table, if not by its name.
    pub(crate) alias: Option<&'a str>,
    /// Whether `excluded` is a row, too.
    pub(crate) excluded: bool,
}

/// What parameters are, as far as it is known; from 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ParameterTypes(pub(crate) Vec<Option<Type>>);

impl ParameterTypes {
    fn settle(&mut self, index: usize, wanted: Type) -> Type {
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        *self.0[index].get_or_insert(wanted)
    }

    fn known(&self, index: usize) -> Option<Type> {
        self.0.get(index).copied().flatten()
    }
}

/// Binds expressions within a scope.
#[derive(Debug)]
pub(crate) struct Binder<'a> {
    pub(crate) scope: Scope<'a>,
    pub(crate) parameters: &'a mut ParameterTypes,
}

impl Binder<'_> {
    /// Binds; `wanted` is the type for what has none of its own.
    pub(crate) fn bind(&mut self, expr: &Expr, wanted: Option<Type>) -> Result<Typed, SqlError> {
        match expr {
            Expr::Null => Ok(Typed::constant(Datum::Null, wanted.unwrap_or(Type::Text))),
            Expr::Bool(value) => Ok(Typed::constant(Datum::Bool(*value), Type::Bool)),
            Expr::Number(digits) => number(digits),
            Expr::Text(text) => {
                let kind = wanted.unwrap_or(Type::Text);
                Ok(Typed::constant(kind.parse(text)?, kind))
            }
            Expr::Parameter(n) => {
                let kind = self.parameters.settle(n - 1, wanted.unwrap_or(Type::Text));
                Ok(Typed { node: Node::Parameter(n - 1), kind: kind.into() })
            }
            Expr::Column { table, name } => self.column(table.as_deref(), name),
            Expr::Chain(first, rest) => self.chain(first, rest),
            Expr::Compare(left, comparison, right) => self.compare(left, *comparison, right),
            Expr::And(all) => self.conditions(all).map(|all| truth(Node::And(all))),
            Expr::Or(all) => self.conditions(all).map(|all| truth(Node::Or(all))),
            Expr::Not(inner) => Ok(truth(Node::Not(Box::new(self.condition(inner, "NOT")?)))),
            Expr::Is { expr, what, negated } => {
                let inner = match what {
                    super::syntax::Truth::Null => self.bind(expr, None)?,
                    _ => self.condition(expr, "IS")?,
                };
                Ok(truth(Node::Is { inner: Box::new(inner), what: *what, negated: *negated }))
            }
            Expr::Between { expr, low, high, negated } => self.between(expr, low, high, *negated),
            Expr::In { expr, list, negated } => self.is_in(expr, list, *negated),
            Expr::Negative(inner) => {
                if self.is_open(inner) {
                    return Err(SqlError::new(
                        state::AMBIGUOUS_FUNCTION,
                        "operator is not unique: - unknown",
                    ));
                }
                let inner = self.bind(inner, wanted)?;
                if inner.kind.kind.family() != Family::Number {
                    return Err(no_operator("-", None, inner.kind.kind));
                }
                let kind = inner.kind;
                Ok(Typed { node: Node::Negative(Box::new(inner)), kind })
            }
            Expr::Cast(inner, to) => self.cast(inner, *to),
            Expr::Call { name, arguments, star } => self.call(name, arguments, *star),
        }
    }

    /// Binds what must be true or false.
    pub(crate) fn condition(&mut self, expr: &Expr, what: &str) -> Result<Typed, SqlError> {
        let typed = self.bind(expr, Some(Type::Bool))?;
        if typed.kind.kind != Type::Bool {
            let message =
                format!("argument of {what} must be type boolean, not type {}", typed.kind.kind.name());
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
        }
        Ok(typed)
    }

    fn conditions(&mut self, all: &[Expr]) -> Result<Vec<Typed>, SqlError> {
        all.iter().map(|expr| self.condition(expr, "AND and OR")).collect()
    }

    /// Binds what is stored in a column.
    pub(crate) fn assigned(&mut self, expr: &Expr, column: &Column) -> Result<Typed, SqlError> {
        let to = column.column_type;
        let typed = self.bind(expr, Some(to.kind))?;
        let (from, into) = (typed.kind.kind, to.kind);
        if from.family() != into.family() && into.family() != Family::Text {
            let message = format!(
                "column \"{}\" is of type {} but expression is of type {}",
                column.name,
                into.name(),
                from.name()
            );
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
        }
        Ok(converted(typed, to, false))
    }

    fn column(&self, table: Option<&str>, name: &str) -> Result<Typed, SqlError> {
        let missing = || {
            let message = match table {
                Some(table) => format!("column {table}.{name} does not exist"),
                None => format!("column \"{name}\" does not exist"),
            };
            SqlError::new(state::UNDEFINED_COLUMN, message)
        };
        let Some(found) = self.scope.table else { return Err(missing()) };
        let own_name = self.scope.alias.unwrap_or(&found.name);
        let offset = match table {
            None if self.scope.excluded => {
                let message = format!("column reference \"{name}\" is ambiguous");
                return Err(SqlError::new(state::AMBIGUOUS_COLUMN, message));
            }
            None => 0,
            Some(table) if table == own_name => 0,
            Some("excluded") if self.scope.excluded => found.columns.len(),
            Some(table) => {
                let message = format!("missing FROM-clause entry for table \"{table}\"");
                return Err(SqlError::new(state::UNDEFINED_TABLE, message));
            }
        };
        let index = found.column(name).ok_or_else(missing)?;
        Ok(Typed { node: Node::Column(offset + index), kind: found.columns[index].column_type })
    }

    /// Whether the expression takes its type from what it meets.
    fn is_open(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Null | Expr::Text(_) => true,
            Expr::Parameter(n) => self.parameters.known(n - 1).is_none(),
            _ => false,
        }
    }

    /// Binds two that meet.
    fn pair(&mut self, left: &Expr, right: &Expr) -> Result<(Typed, Typed), SqlError> {
        if self.is_open(left) && !self.is_open(right) {
            let right = self.bind(right, None)?;
            return Ok((self.bind(left, Some(right.kind.kind))?, right));
        }
        let left = self.bind(left, None)?;
        let right = self.bind(right, Some(left.kind.kind))?;
        Ok((left, right))
    }

    fn compare(&mut self, left: &Expr, comparison: Comparison, right: &Expr) -> Result<Typed, SqlError> {
        let (left, right) = self.pair(left, right)?;
        let (a, b) = (left.kind.kind, right.kind.kind);
        if a.family() != b.family() {
            return Err(no_operator(comparison.sign(), Some(a), b));
        }
        Ok(truth(Node::Compare(Box::new(left), comparison, Box::new(right))))
    }

    fn between(&mut self, expr: &Expr, low: &Expr, high: &Expr, negated: bool) -> Result<Typed, SqlError> {
        let (inner, low) = self.pair(expr, low)?;
        let kind = inner.kind.kind;
        let high = self.bind(high, Some(kind))?;
        for (sign, bound) in [(">=", &low), ("<=", &high)] {
            if bound.kind.kind.family() != kind.family() {
                return Err(no_operator(sign, Some(kind), bound.kind.kind));
            }
        }
        let (inner, low, high) = (Box::new(inner), Box::new(low), Box::new(high));
        Ok(truth(Node::Between { inner, low, high, negated }))
    }

    fn is_in(&mut self, expr: &Expr, list: &[Expr], negated: bool) -> Result<Typed, SqlError> {
        let Some((first, rest)) = list.split_first() else { return Err(no_function("IN", 0)) };
        let (inner, first) = self.pair(expr, first)?;
        let kind = inner.kind.kind;
        let mut items = vec![first];
        for item in rest {
            items.push(self.bind(item, Some(kind))?);
        }
        if let Some(other) = items.iter().find(|item| item.kind.kind.family() != kind.family()) {
            return Err(no_operator("=", Some(kind), other.kind.kind));
        }
        Ok(truth(Node::In { inner: Box::new(inner), list: items, negated }))
    }

    fn chain(&mut self, first: &Expr, rest: &[(Operator, Expr)]) -> Result<Typed, SqlError> {
        let Some(((operator, second), rest)) = rest.split_first() else { return self.bind(first, None) };
        let concatenates = *operator == Operator::Concatenate;
        let (first, second) = if concatenates {
            (self.bind(first, Some(Type::Text))?, self.bind(second, Some(Type::Text))?)
        } else {
            self.pair(first, second)?
        };
        let mut kind = result_of(first.kind.kind, *operator, second.kind.kind)?;
        let mut steps = vec![Step { operator: *operator, operand: second, result: kind }];
        for (operator, operand) in rest {
            let operand = self.bind(operand, Some(if concatenates { Type::Text } else { kind }))?;
            let result = result_of(kind, *operator, operand.kind.kind)?;
            steps.push(Step { operator: *operator, operand, result });
            kind = result;
        }
        Ok(Typed { node: Node::Chain(Box::new(first), steps), kind: kind.into() })
    }

    fn cast(&mut self, inner: &Expr, to: ColumnType) -> Result<Typed, SqlError> {
        let typed = self.bind(inner, Some(to.kind))?;
        let from = typed.kind.kind;
        let allowed = match (from.family(), to.kind.family()) {
            (a, b) if a == b => true,
            (Family::Text, _) | (_, Family::Text) => true,
            (Family::Number, Family::Bool) => from == Type::Int4,
            (Family::Bool, Family::Number) => to.kind == Type::Int4,
            _ => false,
        };
        if !allowed {
            let message = format!("cannot cast type {} to {}", from.name(), to.kind.name());
            return Err(SqlError::new(state::CANNOT_COERCE, message));
        }
        Ok(converted(typed, to, true))
    }

    fn call(&mut self, name: &str, arguments: &[Expr], star: bool) -> Result<Typed, SqlError> {
        let Some(function) = Function::named(name).filter(|_| !star) else {
            return Err(no_function(name, arguments.len()));
        };
        // What has a type of its own comes first: the others may take it over.
        let mut bound: Vec<Option<Typed>> = vec![None; arguments.len()];
        for open in [false, true] {
            for (n, argument) in arguments.iter().enumerate() {
                if bound[n].is_none() && (open || !self.is_open(argument)) {
                    let other = bound.iter().flatten().next().map(|other| other.kind.kind);
                    bound[n] = Some(self.bind(argument, function.expected(name, n).or(other))?);
                }
            }
        }
        let bound: Vec<Typed> = bound.into_iter().flatten().collect();
        let kinds: Vec<Type> = bound.iter().map(|argument| argument.kind.kind).collect();
        let result = function.result(name, &kinds).ok_or_else(|| {
            let kinds: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            let message = format!("function {name}({}) does not exist", kinds.join(", "));
            SqlError::new(state::UNDEFINED_FUNCTION, message)
        })?;
        Ok(Typed { node: Node::Call(function, bound), kind: result.into() })
    }
}

/// What is not among the functions, and those that SQL has over many rows.
fn no_function(name: &str, arguments: usize) -> SqlError {
    match name {
        "count" | "min" | "max" => SqlError::unsupported(format_args!("{name}() inside of an expression")),
        "truetail" => SqlError::unsupported("truetail() but as SELECT truetail('command')"),
        _ => SqlError::unsupported(format_args!(
            "the function {name}() with {}",
            units::format_counted(arguments as u64, "argument", "arguments")
        )),
    }
}

fn truth(node: Node) -> Typed {
    Typed { node, kind: Type::Bool.into() }
}

fn converted(typed: Typed, to: ColumnType, explicit: bool) -> Typed {
    if typed.kind == to {
        return typed;
    }
    Typed { node: Node::Convert { inner: Box::new(typed), explicit }, kind: to }
}

/// The smallest of int4 and int8 that has the number; what has a fraction, or fits neither, is a float8 here, where
/// PostgreSQL has numeric.
fn number(digits: &str) -> Result<Typed, SqlError> {
    if let Ok(value) = digits.parse::<i64>() {
        let kind = if i32::try_from(value).is_ok() { Type::Int4 } else { Type::Int8 };
        return Ok(Typed::constant(Datum::Int(value), kind));
    }
    Ok(Typed::constant(Type::Float8.parse(digits)?, Type::Float8))
}

fn result_of(a: Type, operator: Operator, b: Type) -> Result<Type, SqlError> {
    let missing = || no_operator(operator.sign(), Some(a), b);
    if operator == Operator::Concatenate {
        let texts = a.family() == Family::Text || b.family() == Family::Text;
        return if texts { Ok(Type::Text) } else { Err(missing()) };
    }
    if a.family() != Family::Number || b.family() != Family::Number {
        return Err(missing());
    }
    if a == Type::Float8 || b == Type::Float8 {
        return if operator == Operator::Remainder { Err(missing()) } else { Ok(Type::Float8) };
    }
    let width = |kind: Type| if kind == Type::Oid { 8 } else { kind.size() };
    Ok(match width(a).max(width(b)) {
        2 => Type::Int2,
        4 => Type::Int4,
        _ => Type::Int8,
    })
}

fn no_operator(sign: &str, left: Option<Type>, right: Type) -> SqlError {
    let left = left.map_or_else(String::new, |kind| format!("{} ", kind.name()));
    let message = format!("operator does not exist: {left}{sign} {}", right.name());
    SqlError::new(state::UNDEFINED_FUNCTION, message)
}
