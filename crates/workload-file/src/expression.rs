//! Numbers that are written with parameters: `accounts * scale - 1`.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = factor (("*" | "/") factor)*
//! factor  = number | name | "-" factor | "(" sum ")" | function "(" sum ")" | rows(TABLE) | highest(TABLE.COLUMN)
//! ```
//!
//! Whole numbers stay whole and exact as long as they can; what does not fit is an error.

use crate::document::shown;
use std::collections::BTreeMap;
use workload::names;

/// A number: whole, or not.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Float(x) => x,
        }
    }

    /// Its whole value, if it has one that is exact.
    pub(crate) fn whole(self) -> Option<i64> {
        match self {
            Number::Int(n) => Some(n),
            Number::Float(x) => (x.fract() == 0.0 && x.abs() < 9e15).then_some(x as i64),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Int(n) => n.fmt(f),
            Number::Float(x) => x.fmt(f),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expression {
    Number(Number),
    Name(String),
    Negative(Box<Expression>),
    Binary(char, Box<Expression>, Box<Expression>),
    Rounded(String, Box<Expression>),
    /// What is looked up in the database before a run.
    Found(Found),
}

/// Something that is looked up in the database before a run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Found {
    /// Rows of a table.
    Rows(String),
    /// The highest value of a column of whole numbers.
    Highest(String, String),
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Found::Rows(table) => write!(f, "rows({table})"),
            Found::Highest(table, column) => write!(f, "highest({table}.{column})"),
        }
    }
}

/// What names stand for.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scope {
    pub(crate) names: BTreeMap<String, Number>,
    pub(crate) found: BTreeMap<Found, i64>,
    /// In place of what is not looked up yet.
    pub(crate) stand_in: Option<i64>,
}

impl Expression {
    /// Reads an expression.
    pub(crate) fn parse(text: &str) -> Result<Expression, String> {
        let mut parser = Parser { rest: text, depth: 0 };
        let expression = parser.sum()?;
        match parser.peek() {
            None => Ok(expression),
            Some(_) => Err(format!("`{}`: can't read on from `{}`", shown(text), shown(parser.rest))),
        }
    }

    /// Its value.
    pub(crate) fn value(&self, scope: &Scope) -> Result<Number, String> {
        match self {
            Expression::Number(number) => Ok(*number),
            Expression::Name(name) => scope.names.get(name).copied().ok_or_else(|| {
                let valid: Vec<&str> = scope.names.keys().map(String::as_str).collect();
                format!("there is no number `{}`{}", shown(name), names::suggestion(name, &valid))
            }),
            Expression::Negative(inner) => combine('-', Number::Int(0), inner.value(scope)?),
            Expression::Binary(sign, left, right) => combine(*sign, left.value(scope)?, right.value(scope)?),
            Expression::Rounded(how, inner) => rounded(how, inner.value(scope)?),
            Expression::Found(found) => scope
                .found
                .get(found)
                .copied()
                .or(scope.stand_in)
                .map(Number::Int)
                .ok_or_else(|| format!("`{found}` is looked up in the database, and is not known here")),
        }
    }

    /// Calls `see` with each name.
    pub(crate) fn names(&self, see: &mut dyn FnMut(&str)) {
        self.walk(&mut |part| {
            if let Expression::Name(name) = part {
                see(name);
            }
        });
    }

    /// Calls `see` with each thing that is looked up.
    pub(crate) fn finds(&self, see: &mut dyn FnMut(&Found)) {
        self.walk(&mut |part| {
            if let Expression::Found(found) = part {
                see(found);
            }
        });
    }

    fn walk(&self, see: &mut dyn FnMut(&Expression)) {
        see(self);
        match self {
            Expression::Negative(inner) | Expression::Rounded(_, inner) => inner.walk(see),
            Expression::Binary(_, left, right) => {
                left.walk(see);
                right.walk(see);
            }
            _ => {}
        }
    }
}

fn combine(sign: char, left: Number, right: Number) -> Result<Number, String> {
    let exact = match (left.whole(), right.whole(), sign) {
        (Some(a), Some(b), '+') => a.checked_add(b),
        (Some(a), Some(b), '-') => a.checked_sub(b),
        (Some(a), Some(b), '*') => a.checked_mul(b),
        (Some(a), Some(b), _) if b != 0 && a.checked_rem(b) == Some(0) => a.checked_div(b),
        _ => None,
    };
    if let Some(whole) = exact {
        return Ok(Number::Int(whole));
    }
    let (a, b) = (left.as_f64(), right.as_f64());
    let value = match sign {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        _ => a / b,
    };
    if !value.is_finite() || value.abs() > 9e18 {
        return Err(format!("{left} {sign} {right} is not a number that fits"));
    }
    Ok(Number::Float(value))
}

const ROUNDINGS: [&str; 3] = ["floor", "ceil", "round"];

fn rounded(how: &str, number: Number) -> Result<Number, String> {
    let Number::Float(x) = number else { return Ok(number) };
    let whole = match how {
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        _ => x.round(),
    };
    Number::Float(whole).whole().map(Number::Int).ok_or_else(|| format!("{how}({x}) is not exact any more"))
}

/// How deep parentheses may go.
const DEPTH: u32 = 50;

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(sign);
        if found {
            self.rest = &self.rest[sign.len_utf8()..];
        }
        found
    }

    fn expect(&mut self, sign: char) -> Result<(), String> {
        if self.take(sign) { Ok(()) } else { Err(format!("expected `{sign}` before `{}`", shown(self.rest))) }
    }

    fn word(&mut self, accepts: fn(char) -> bool) -> &'a str {
        self.peek();
        let end = self.rest.find(|c| !accepts(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn sum(&mut self) -> Result<Expression, String> {
        self.chain(['+', '-'], Parser::product)
    }

    fn product(&mut self) -> Result<Expression, String> {
        self.chain(['*', '/'], Parser::factor)
    }

    fn chain(
        &mut self,
        signs: [char; 2],
        part: fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut left = part(self)?;
        let mut length = 0;
        while let Some(sign) = self.peek().filter(|c| signs.contains(c)) {
            self.take(sign);
            left = Expression::Binary(sign, Box::new(left), Box::new(part(self)?));
            length += 1;
            if length > DEPTH {
                return Err(format!("more than {DEPTH} terms in one number"));
            }
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("more than {DEPTH} parentheses in one another"));
        }
        let factor = self.inner_factor();
        self.depth -= 1;
        factor
    }

    fn inner_factor(&mut self) -> Result<Expression, String> {
        match self.peek() {
            Some('-') => {
                self.take('-');
                Ok(Expression::Negative(Box::new(self.factor()?)))
            }
            Some('(') => {
                self.take('(');
                let inner = self.sum()?;
                self.expect(')')?;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name(),
            Some(_) => Err(format!("expected a number, a parameter or `(`, found `{}`", shown(self.rest))),
            None => Err("expected a number, a parameter or `(`, found the end".to_owned()),
        }
    }

    fn number(&mut self) -> Result<Expression, String> {
        let word = self.word(|c| c.is_ascii_digit() || c == '.' || c == '_');
        let plain = word.replace('_', "");
        let number = match plain.contains('.') {
            true => plain.parse().ok().filter(|x: &f64| x.is_finite()).map(Number::Float),
            false => plain.parse().ok().map(Number::Int),
        };
        number.map(Expression::Number).ok_or_else(|| format!("`{}` is not a number that fits", shown(word)))
    }

    fn name(&mut self) -> Result<Expression, String> {
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        if !self.take('(') {
            return Ok(Expression::Name(name.to_owned()));
        }
        let expression = match name {
            "rows" => Expression::Found(Found::Rows(self.argument()?.to_owned())),
            "highest" => {
                let argument = self.argument()?;
                let (table, column) = column_of(argument)?;
                Expression::Found(Found::Highest(table, column))
            }
            _ if ROUNDINGS.contains(&name) => Expression::Rounded(name.to_owned(), Box::new(self.sum()?)),
            _ => {
                let valid = ["rows", "highest", ROUNDINGS[0], ROUNDINGS[1], ROUNDINGS[2]];
                let suggestion = names::suggestion(name, &valid);
                return Err(format!("there is no function `{}`{suggestion}", shown(name)));
            }
        };
        self.expect(')')?;
        Ok(expression)
    }

    fn argument(&mut self) -> Result<&'a str, String> {
        let word = self.word(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if word.is_empty() { Err("expected the name of a table".to_owned()) } else { Ok(word) }
    }
}

/// The table and the column of `account.id`.
pub(crate) fn column_of(text: &str) -> Result<(String, String), String> {
    let is_name = |name: &str| {
        let mut characters = name.chars();
        characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    match text.rsplit_once('.') {
        Some((table, column)) if table.split('.').all(is_name) && is_name(column) => {
            Ok((table.to_owned(), column.to_owned()))
        }
        _ => Err(format!("`{}`: expected a table and a column, such as `account.id`", shown(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Number, String> {
        let scope = Scope {
            names: [("accounts".to_owned(), Number::Int(1_000)), ("scale".to_owned(), Number::Float(0.5))]
                .into(),
            found: [(Found::Rows("t".to_owned()), 7)].into(),
            stand_in: None,
        };
        Expression::parse(text)?.value(&scope)
    }

    #[test]
    fn numbers_are_computed() {
        for (text, expected) in [
            ("1_000", Number::Int(1_000)),
            ("1 + 2 * 3 - 4", Number::Int(3)),
            ("(1 + 2) * -3", Number::Int(-9)),
            ("accounts * scale - 1", Number::Int(499)),
            ("accounts / 3", Number::Float(1_000.0 / 3.0)),
            ("floor(accounts / 3)", Number::Int(333)),
            ("ceil(accounts / 3)", Number::Int(334)),
            ("10 / 2 / 5", Number::Int(1)),
            ("2.5 * 2", Number::Int(5)),
            ("rows(t) + 1", Number::Int(8)),
        ] {
            assert_eq!(value(text).unwrap().whole(), expected.whole(), "{text}");
            assert_eq!(value(text).unwrap().as_f64(), expected.as_f64(), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, words) in [
            ("acounts", "no number `acounts`; did you mean `accounts`?"),
            ("1 +", "found the end"),
            ("(1", "expected `)`"),
            ("1 2", "can't read on from `2`"),
            ("9223372036854775808", "not a number that fits"),
            ("9223372036854775807 * 9223372036854775807", "not a number that fits"),
            ("1 / 0", "not a number that fits"),
            ("flor(1)", "no function `flor`; did you mean `floor`?"),
            ("highest(t)", "such as `account.id`"),
            ("highest(t.id)", "looked up in the database"),
            ("#", "found `#`"),
        ] {
            let error = value(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(value(&"(".repeat(100_000)).unwrap_err().contains("50 parentheses"));
        assert!(value(&"-".repeat(100_000)).unwrap_err().contains("50 parentheses"));
        assert!(value(&"1+".repeat(100_000)).unwrap_err().contains("50 terms"));
    }
}
