//! From text to [`Statement`]s, by recursive descent.
//!
//! What is not known is told apart: a keyword of SQL that begins something this store does not do is refused with
//! 0A000 and by its name, anything else is a syntax error.

mod change;
mod expression;
mod schema;
mod select;
mod session;

use super::error::{SqlError, state};
use super::lexer::{Kind, Lexer, Token};
use super::syntax::{Statement, TableName};

/// Parentheses and the like may nest so deep; no statement of a load tool comes near.
pub(crate) const DEPTH_MAX: usize = 64;
/// A statement, or several in one Query message, may be so long, in bytes.
pub(crate) const STATEMENT_MAX: usize = 1 << 20;

/// Words that are no names unless in quotes: PostgreSQL's reserved ones.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "group",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "natural",
    "not",
    "notnull",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "outer",
    "overlaps",
    "placing",
    "primary",
    "references",
    "returning",
    "right",
    "select",
    "session_user",
    "similar",
    "some",
    "symmetric",
    "table",
    "tablesample",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
];

/// Words that begin, or join on, what SQL can do and this store can't.
const UNSUPPORTED: &[&str] = &[
    "alter",
    "any",
    "array",
    "as",
    "between",
    "call",
    "case",
    "check",
    "close",
    "cluster",
    "collate",
    "comment",
    "constraint",
    "cross",
    "cube",
    "database",
    "deallocate",
    "declare",
    "discard",
    "distinct",
    "do",
    "escape",
    "except",
    "exclude",
    "execute",
    "exists",
    "explain",
    "fetch",
    "filter",
    "foreign",
    "full",
    "function",
    "generated",
    "grant",
    "group",
    "having",
    "ilike",
    "inherits",
    "inner",
    "intersect",
    "interval",
    "into",
    "isnull",
    "join",
    "lateral",
    "left",
    "like",
    "listen",
    "load",
    "lock",
    "materialized",
    "merge",
    "natural",
    "notify",
    "notnull",
    "only",
    "outer",
    "over",
    "overlaps",
    "partition",
    "prepare",
    "procedure",
    "reassign",
    "references",
    "refresh",
    "reindex",
    "release",
    "returning",
    "revoke",
    "right",
    "rollup",
    "savepoint",
    "security",
    "similar",
    "tablesample",
    "union",
    "using",
    "window",
];

/// The statements in `text`, in order; none for an empty one.
///
/// # Errors
/// A syntax error anywhere, or the first construct that is not supported; nothing has been done then.
pub(crate) fn parse(text: &str) -> Result<Vec<Statement>, SqlError> {
    if text.len() > STATEMENT_MAX {
        return Err(SqlError::new(
            state::PROGRAM_LIMIT,
            format!("the statement has {} bytes; the limit is {STATEMENT_MAX}", text.len()),
        ));
    }
    let mut parser = Parser::new(text)?;
    let mut statements = Vec::new();
    loop {
        while parser.take_sign(";")? {}
        if parser.at_end() {
            return Ok(statements);
        }
        statements.push(parser.statement()?);
        if !parser.at_end() && !parser.is_sign(";") {
            return Err(parser.unexpected());
        }
    }
}

/// A place in a text, with the token there.
struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Parser<'a>, SqlError> {
        let mut lexer = Lexer::new(text);
        let token = lexer.token()?;
        Ok(Parser { lexer, token, depth: 0 })
    }

    fn statement(&mut self) -> Result<Statement, SqlError> {
        let Kind::Word(word) = self.token.kind else { return Err(self.unexpected()) };
        match word.to_ascii_lowercase().as_str() {
            "select" => self.select_statement(),
            "insert" => self.insert(),
            "update" => self.update(),
            "delete" => self.delete(),
            "copy" => self.copy(),
            "create" => self.create(),
            "drop" => self.drop_tables(),
            "truncate" => self.truncate(),
            "begin" | "start" => self.begin(),
            "commit" | "end" | "rollback" | "abort" => self.end_of_transaction(),
            "set" => self.set(),
            "reset" => self.reset(),
            "show" => self.show(),
            "vacuum" | "analyze" | "checkpoint" => self.maintenance(),
            "with" | "values" | "table" => Err(self.refused()),
            _ => Err(self.unexpected()),
        }
    }

    /// Goes on to the next token and gives the one that was here.
    fn advance(&mut self) -> Result<Token<'a>, SqlError> {
        let next = self.lexer.token()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// The token behind the present one.
    fn behind(&self) -> Result<Kind<'a>, SqlError> {
        Ok(self.lexer.clone().token()?.kind)
    }

    fn at_end(&self) -> bool {
        self.token.kind == Kind::End
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token.kind, Kind::Sign(found) if found == sign)
    }

    fn take_sign(&mut self, sign: &str) -> Result<bool, SqlError> {
        let here = self.is_sign(sign);
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    fn expect_sign(&mut self, sign: &str) -> Result<(), SqlError> {
        if self.take_sign(sign)? { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Whether the keyword, in lower case, is here.
    fn is_word(&self, word: &str) -> bool {
        matches!(self.token.kind, Kind::Word(found) if found.eq_ignore_ascii_case(word))
    }

    fn take_word(&mut self, word: &str) -> Result<bool, SqlError> {
        let here = self.is_word(word);
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    fn expect_word(&mut self, word: &str) -> Result<(), SqlError> {
        if self.take_word(word)? { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect_words(&mut self, words: &[&str]) -> Result<(), SqlError> {
        words.iter().try_for_each(|word| self.expect_word(word))
    }

    /// Takes `IF EXISTS` or `IF NOT EXISTS`.
    fn take_if(&mut self, words: &[&str]) -> Result<bool, SqlError> {
        let here = self.take_word("if")?;
        if here {
            self.expect_words(words)?;
        }
        Ok(here)
    }

    /// The token that is here can't be.
    fn unexpected(&self) -> SqlError {
        let text = self.lexer.text();
        match self.token.kind {
            Kind::End => SqlError::new(state::SYNTAX, "syntax error at end of input").at(text, text.len()),
            Kind::Word(word) if UNSUPPORTED.contains(&word.to_ascii_lowercase().as_str()) => self.refused(),
            _ => {
                let near = &text[self.token.start..self.token.end];
                SqlError::new(state::SYNTAX, format!("syntax error at or near \"{near}\""))
                    .at(text, self.token.start)
            }
        }
    }

    /// The token that is here begins something that is not supported.
    fn refused(&self) -> SqlError {
        let text = self.lexer.text();
        let word = text[self.token.start..self.token.end].to_uppercase();
        SqlError::unsupported(word).at(text, self.token.start)
    }

    /// Whether a name that needs no quotes is here.
    fn is_name(&self) -> bool {
        match &self.token.kind {
            Kind::Word(word) => !RESERVED.contains(&word.to_ascii_lowercase().as_str()),
            Kind::Quoted(_) => true,
            _ => false,
        }
    }

    /// A name in the case in which it is looked up.
    fn name(&mut self) -> Result<String, SqlError> {
        if !self.is_name() {
            return Err(self.unexpected());
        }
        self.any_name()
    }

    /// A name that may be a reserved word: behind AS, for one.
    fn any_name(&mut self) -> Result<String, SqlError> {
        match &self.token.kind {
            Kind::Word(_) | Kind::Quoted(_) => {}
            _ => return Err(self.unexpected()),
        }
        Ok(match self.advance()?.kind {
            Kind::Word(word) => cut(word.to_lowercase()),
            Kind::Quoted(name) => cut(name),
            _ => String::new(),
        })
    }

    fn table_name(&mut self) -> Result<TableName, SqlError> {
        let first = self.name()?;
        if !self.take_sign(".")? {
            return Ok(TableName { schema: None, name: first });
        }
        let second = self.any_name()?;
        if self.is_sign(".") {
            return Err(SqlError::unsupported("names of three parts"));
        }
        Ok(TableName { schema: Some(first), name: second })
    }

    fn table_names(&mut self) -> Result<Vec<TableName>, SqlError> {
        self.list(Parser::table_name)
    }

    /// `(a, b)`
    fn names_in_parentheses(&mut self) -> Result<Vec<String>, SqlError> {
        self.expect_sign("(")?;
        let names = self.list(Parser::name)?;
        self.expect_sign(")")?;
        Ok(names)
    }

    /// One or more, with commas between them.
    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, SqlError>) -> Result<Vec<T>, SqlError> {
        let mut all = vec![item(self)?];
        while self.take_sign(",")? {
            all.push(item(self)?);
        }
        Ok(all)
    }

    /// Runs `inner` one level deeper.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, SqlError>) -> Result<T, SqlError> {
        if self.depth == DEPTH_MAX {
            return Err(SqlError::new(
                state::TOO_COMPLEX,
                format!("the statement nests deeper than the limit of {DEPTH_MAX} levels"),
            ));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }
}

/// Names have at most 63 bytes, as in PostgreSQL; the rest is cut off.
fn cut(mut name: String) -> String {
    let mut end = name.len().min(63);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    name
}

#[cfg(test)]
mod tests;
