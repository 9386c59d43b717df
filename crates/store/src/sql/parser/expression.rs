//! Expressions, by PostgreSQL's precedence of operators (chapter 4.1.6 of its manual).

use super::super::error::{SqlError, state};
use super::super::lexer::Kind;
use super::super::syntax::{Comparison, Expr, Operator, Truth};
use super::super::types::{ColumnType, Type};
use super::Parser;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Expr, SqlError> {
        self.deeper(Parser::disjunction)
    }

    fn disjunction(&mut self) -> Result<Expr, SqlError> {
        let first = self.conjunction()?;
        let mut all = vec![first];
        while self.take_word("or")? {
            all.push(self.conjunction()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expr::Or(all) })
    }

    fn conjunction(&mut self) -> Result<Expr, SqlError> {
        let first = self.negation()?;
        let mut all = vec![first];
        while self.take_word("and")? {
            all.push(self.negation()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expr::And(all) })
    }

    fn negation(&mut self) -> Result<Expr, SqlError> {
        if self.take_word("not")? {
            return self.deeper(|parser| Ok(Expr::Not(Box::new(parser.negation()?))));
        }
        self.truth()
    }

    fn truth(&mut self) -> Result<Expr, SqlError> {
        let expr = self.comparison()?;
        if !self.take_word("is")? {
            return Ok(expr);
        }
        let negated = self.take_word("not")?;
        let what = if self.take_word("null")? {
            Truth::Null
        } else if self.take_word("true")? {
            Truth::True
        } else if self.take_word("false")? {
            Truth::False
        } else {
            return Err(self.unexpected());
        };
        Ok(Expr::Is { expr: Box::new(expr), what, negated })
    }

    fn comparison(&mut self) -> Result<Expr, SqlError> {
        let left = self.range()?;
        let Kind::Sign(sign) = self.token.kind else { return Ok(left) };
        let comparison = match sign {
            "=" => Comparison::Equal,
            "<>" | "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return Ok(left),
        };
        self.advance()?;
        if self.is_word("any") || self.is_word("all") {
            return Err(self.refused());
        }
        let right = self.range()?;
        Ok(Expr::Compare(Box::new(left), comparison, Box::new(right)))
    }

    fn range(&mut self) -> Result<Expr, SqlError> {
        let expr = self.concatenation()?;
        let negated = self.is_word("not") && matches!(self.behind()?, Kind::Word(w) if is_range_word(w));
        if negated {
            self.advance()?;
        }
        if self.take_word("between")? {
            let low = Box::new(self.concatenation()?);
            self.expect_word("and")?;
            let high = Box::new(self.concatenation()?);
            return Ok(Expr::Between { expr: Box::new(expr), low, high, negated });
        }
        if self.take_word("in")? {
            self.expect_sign("(")?;
            if self.is_word("select") {
                return Err(SqlError::unsupported("subqueries"));
            }
            let list = self.list(Parser::expression)?;
            self.expect_sign(")")?;
            return Ok(Expr::In { expr: Box::new(expr), list, negated });
        }
        if negated { Err(self.unexpected()) } else { Ok(expr) }
    }

    /// `||`, and the operators that this store does not have: they bind alike.
    fn concatenation(&mut self) -> Result<Expr, SqlError> {
        let expr = self.chain(Parser::sum, |sign| (sign == "||").then_some(Operator::Concatenate))?;
        match self.token.kind {
            Kind::Sign(sign) if !KNOWN_SIGNS.contains(&sign) => {
                let text = self.lexer.text();
                Err(SqlError::unsupported(format_args!("the operator `{sign}`")).at(text, self.token.start))
            }
            _ => Ok(expr),
        }
    }

    fn sum(&mut self) -> Result<Expr, SqlError> {
        self.chain(Parser::product, |sign| match sign {
            "+" => Some(Operator::Add),
            "-" => Some(Operator::Subtract),
            _ => None,
        })
    }

    fn product(&mut self) -> Result<Expr, SqlError> {
        self.chain(Parser::signed, |sign| match sign {
            "*" => Some(Operator::Multiply),
            "/" => Some(Operator::Divide),
            "%" => Some(Operator::Remainder),
            _ => None,
        })
    }

    fn chain(
        &mut self,
        operand: fn(&mut Self) -> Result<Expr, SqlError>,
        operator: fn(&str) -> Option<Operator>,
    ) -> Result<Expr, SqlError> {
        let first = operand(self)?;
        let mut rest = Vec::new();
        while let Kind::Sign(sign) = self.token.kind {
            let Some(operator) = operator(sign) else { break };
            self.advance()?;
            rest.push((operator, operand(self)?));
        }
        Ok(if rest.is_empty() { first } else { Expr::Chain(Box::new(first), rest) })
    }

    fn signed(&mut self) -> Result<Expr, SqlError> {
        if self.take_sign("-")? {
            return self.deeper(|parser| {
                let expr = parser.signed()?;
                // A number with its sign is one constant: -2147483648 is an int4, 2147483648 is not.
                Ok(match expr {
                    Expr::Number(digits) if !digits.starts_with('-') => Expr::Number(format!("-{digits}")),
                    other => Expr::Negative(Box::new(other)),
                })
            });
        }
        if self.take_sign("+")? {
            return self.deeper(Parser::signed);
        }
        self.cast()
    }

    fn cast(&mut self) -> Result<Expr, SqlError> {
        let mut expr = self.primary()?;
        let mut casts = 0;
        while self.take_sign("::")? {
            casts += 1;
            if casts > 8 {
                return Err(SqlError::new(state::TOO_COMPLEX, "more than 8 casts of one value"));
            }
            expr = Expr::Cast(Box::new(expr), self.column_type()?);
        }
        if self.is_sign("[") {
            return Err(SqlError::unsupported("arrays"));
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Result<Expr, SqlError> {
        match &self.token.kind {
            Kind::Number(digits) => {
                let expr = Expr::Number((*digits).to_owned());
                self.advance()?;
                Ok(expr)
            }
            Kind::Text(_) => match self.advance()?.kind {
                Kind::Text(text) => Ok(Expr::Text(text)),
                _ => Err(self.unexpected()),
            },
            Kind::Parameter(number) => {
                let expr = Expr::Parameter(*number);
                self.advance()?;
                Ok(expr)
            }
            Kind::Sign("(") => {
                self.advance()?;
                if self.is_word("select") {
                    return Err(SqlError::unsupported("subqueries"));
                }
                let expr = self.expression()?;
                if self.is_sign(",") {
                    return Err(SqlError::unsupported("row values"));
                }
                self.expect_sign(")")?;
                Ok(expr)
            }
            Kind::Quoted(_) => self.reference(),
            Kind::Word(word) => {
                let lower = word.to_ascii_lowercase();
                self.word_expression(&lower)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn word_expression(&mut self, word: &str) -> Result<Expr, SqlError> {
        let constant = match word {
            "null" => Some(Expr::Null),
            "true" => Some(Expr::Bool(true)),
            "false" => Some(Expr::Bool(false)),
            "current_timestamp" | "current_user" | "session_user" | "user" | "current_catalog" => {
                Some(Expr::Call { name: word.to_owned(), arguments: Vec::new(), star: false })
            }
            _ => None,
        };
        if let Some(expr) = constant {
            self.advance()?;
            return Ok(expr);
        }
        match word {
            "cast" => self.cast_call(),
            "case" | "exists" | "array" | "interval" | "row" | "current_date" | "current_time" => {
                Err(self.refused())
            }
            _ => {
                if matches!(self.behind()?, Kind::Text(_)) && type_of_word(word).is_some() {
                    let column_type = self.column_type()?;
                    let text = self.primary()?;
                    return Ok(Expr::Cast(Box::new(text), column_type));
                }
                self.reference()
            }
        }
    }

    /// `CAST(a AS t)`
    fn cast_call(&mut self) -> Result<Expr, SqlError> {
        self.advance()?;
        self.expect_sign("(")?;
        let expr = self.expression()?;
        self.expect_word("as")?;
        let column_type = self.column_type()?;
        self.expect_sign(")")?;
        Ok(Expr::Cast(Box::new(expr), column_type))
    }

    /// A column or a call, with what it belongs to.
    fn reference(&mut self) -> Result<Expr, SqlError> {
        let first = self.name()?;
        let (table, name) =
            if self.take_sign(".")? { (Some(first), self.any_name()?) } else { (None, first) };
        if self.is_sign("(") {
            match table.as_deref() {
                None | Some("pg_catalog") => return self.call(name),
                Some(schema) => {
                    return Err(SqlError::new(
                        state::INVALID_SCHEMA_NAME,
                        format!("schema \"{schema}\" does not exist"),
                    ));
                }
            }
        }
        if self.is_sign(".") {
            return Err(SqlError::unsupported("names of three parts"));
        }
        Ok(Expr::Column { table, name })
    }

    fn call(&mut self, name: String) -> Result<Expr, SqlError> {
        self.expect_sign("(")?;
        if self.take_sign("*")? {
            self.expect_sign(")")?;
            self.no_window()?;
            return Ok(Expr::Call { name, arguments: Vec::new(), star: true });
        }
        let arguments = if self.is_sign(")") { Vec::new() } else { self.list(Parser::expression)? };
        self.expect_sign(")")?;
        self.no_window()?;
        Ok(Expr::Call { name, arguments, star: false })
    }

    fn no_window(&self) -> Result<(), SqlError> {
        if self.is_word("over") || self.is_word("filter") || self.is_word("within") {
            return Err(self.refused());
        }
        Ok(())
    }

    /// A type with its length, if it has one.
    pub(super) fn column_type(&mut self) -> Result<ColumnType, SqlError> {
        let start = self.token.start;
        let mut name = self.any_name()?;
        if name == "pg_catalog" && self.take_sign(".")? {
            name = self.any_name()?;
        }
        let known = match name.as_str() {
            "double" => {
                self.expect_word("precision")?;
                Some(Type::Float8)
            }
            "character" | "char" if self.take_word("varying")? => Some(Type::Varchar),
            other => type_of_word(other),
        };
        let Some(mut kind) = known else {
            let error = if UNSUPPORTED_TYPES.contains(&name.as_str()) {
                SqlError::unsupported(format_args!("the type {name}"))
            } else {
                SqlError::new(state::UNDEFINED_OBJECT, format!("type \"{name}\" does not exist"))
            };
            return Err(error.at(self.lexer.text(), start));
        };
        let length = self.type_length(kind)?;
        if matches!(kind, Type::Timestamp) {
            kind = self.time_zone()?;
        }
        if self.is_sign("[") {
            return Err(SqlError::unsupported("arrays"));
        }
        // CHARACTER alone is one character.
        let length =
            if kind == Type::Bpchar && length.is_none() && name != "bpchar" { Some(1) } else { length };
        Ok(ColumnType { kind, length })
    }

    fn type_length(&mut self, kind: Type) -> Result<Option<u32>, SqlError> {
        if !self.is_sign("(") {
            return Ok(None);
        }
        self.advance()?;
        let Kind::Number(digits) = self.token.kind else { return Err(self.unexpected()) };
        let length: u32 = digits.parse().map_err(|_| self.unexpected())?;
        self.advance()?;
        self.expect_sign(")")?;
        match kind {
            Type::Varchar | Type::Bpchar if length == 0 || length > 10_485_760 => Err(SqlError::new(
                state::INVALID_PARAMETER,
                format!("length for type {} must be from 1 to 10485760, not {length}", kind.name()),
            )),
            Type::Varchar | Type::Bpchar => Ok(Some(length)),
            Type::Timestamp | Type::Timestamptz if length == 6 => Ok(None),
            Type::Timestamp | Type::Timestamptz => {
                Err(SqlError::unsupported("timestamps of another precision than 6"))
            }
            _ => Err(SqlError::new(
                state::SYNTAX,
                format!("type modifier is not allowed for type \"{}\"", kind.name()),
            )),
        }
    }

    fn time_zone(&mut self) -> Result<Type, SqlError> {
        if self.is_word("with") && matches!(self.behind()?, Kind::Word(w) if w.eq_ignore_ascii_case("time")) {
            self.expect_words(&["with", "time", "zone"])?;
            return Ok(Type::Timestamptz);
        }
        if self.take_word("without")? {
            self.expect_words(&["time", "zone"])?;
        }
        Ok(Type::Timestamp)
    }
}

/// What may stand behind an expression without being an operator of it, and the operators that are known.
const KNOWN_SIGNS: [&str; 22] = [
    "+", "-", "*", "/", "%", "||", "=", "<>", "!=", "<", "<=", ">", ">=", "(", ")", ",", ";", ".", "::", ":",
    "[", "]",
];

/// Types that PostgreSQL has, so that they are not taken for misspelt ones.
const UNSUPPORTED_TYPES: [&str; 26] = [
    "bigserial",
    "bit",
    "box",
    "cidr",
    "circle",
    "date",
    "decimal",
    "float",
    "float4",
    "inet",
    "interval",
    "json",
    "jsonb",
    "macaddr",
    "money",
    "numeric",
    "point",
    "real",
    "regclass",
    "serial",
    "serial8",
    "smallserial",
    "time",
    "tsvector",
    "uuid",
    "xml",
];

fn is_range_word(word: &str) -> bool {
    ["between", "in", "like", "ilike", "similar"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn type_of_word(word: &str) -> Option<Type> {
    Some(match word {
        "bool" | "boolean" => Type::Bool,
        "bytea" => Type::Bytea,
        "int2" | "smallint" => Type::Int2,
        "int" | "int4" | "integer" => Type::Int4,
        "int8" | "bigint" => Type::Int8,
        "oid" => Type::Oid,
        "float8" => Type::Float8,
        "text" => Type::Text,
        "name" => Type::Name,
        "varchar" => Type::Varchar,
        "bpchar" | "char" | "character" => Type::Bpchar,
        "timestamp" => Type::Timestamp,
        "timestamptz" => Type::Timestamptz,
        _ => return None,
    })
}
