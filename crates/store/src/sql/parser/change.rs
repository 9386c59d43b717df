//! INSERT, UPDATE, DELETE and COPY.

use super::super::error::SqlError;
use super::super::lexer::Kind;
use super::super::syntax::{Cell, Conflict, Insert, Statement};
use super::Parser;

impl Parser<'_> {
    pub(super) fn insert(&mut self) -> Result<Statement, SqlError> {
        self.expect_words(&["insert", "into"])?;
        let table = self.table_name()?;
        if self.is_word("as") {
            return Err(SqlError::unsupported("INSERT INTO … AS"));
        }
        let columns = if self.is_sign("(") { self.names_in_parentheses()? } else { Vec::new() };
        if self.is_word("select") || self.is_word("with") || self.is_word("table") {
            return Err(SqlError::unsupported("INSERT … SELECT"));
        }
        if self.is_word("overriding") {
            return Err(self.refused());
        }
        let rows = if self.take_word("default")? {
            self.expect_word("values")?;
            vec![Vec::new()]
        } else {
            self.expect_word("values")?;
            self.list(|parser| {
                parser.expect_sign("(")?;
                let row = parser.list(Parser::cell)?;
                parser.expect_sign(")")?;
                Ok(row)
            })?
        };
        let conflict = if self.take_word("on")? { Some(self.conflict()?) } else { None };
        Ok(Statement::Insert(Insert { table, columns, rows, conflict }))
    }

    fn cell(&mut self) -> Result<Cell, SqlError> {
        if self.take_word("default")? { Ok(Cell::Default) } else { self.expression().map(Cell::Value) }
    }

    /// Behind ON.
    fn conflict(&mut self) -> Result<Conflict, SqlError> {
        self.expect_word("conflict")?;
        if self.is_word("on") {
            return Err(SqlError::unsupported("ON CONFLICT ON CONSTRAINT"));
        }
        let target = if self.is_sign("(") { self.names_in_parentheses()? } else { Vec::new() };
        if self.is_word("where") {
            return Err(SqlError::unsupported("partial indexes"));
        }
        self.expect_word("do")?;
        if self.take_word("nothing")? {
            return Ok(Conflict { target, assignments: Vec::new(), condition: None });
        }
        self.expect_words(&["update", "set"])?;
        let assignments = self.list(Parser::assignment)?;
        let condition = self.condition()?;
        Ok(Conflict { target, assignments, condition })
    }

    fn assignment(&mut self) -> Result<(String, Cell), SqlError> {
        if self.is_sign("(") {
            return Err(SqlError::unsupported("assignments to several columns at once"));
        }
        let column = self.name()?;
        self.expect_sign("=")?;
        Ok((column, self.cell()?))
    }

    pub(super) fn update(&mut self) -> Result<Statement, SqlError> {
        self.expect_word("update")?;
        let table = self.aliased_table()?;
        self.expect_word("set")?;
        let assignments = self.list(Parser::assignment)?;
        if self.is_word("from") {
            return Err(SqlError::unsupported("UPDATE … FROM"));
        }
        let condition = self.condition()?;
        Ok(Statement::Update { table, assignments, condition })
    }

    pub(super) fn delete(&mut self) -> Result<Statement, SqlError> {
        self.expect_words(&["delete", "from"])?;
        let table = self.aliased_table()?;
        let condition = self.condition()?;
        Ok(Statement::Delete { table, condition })
    }

    /// `COPY t (a, b) FROM STDIN`, in the text format.
    pub(super) fn copy(&mut self) -> Result<Statement, SqlError> {
        self.expect_word("copy")?;
        if self.is_sign("(") {
            return Err(SqlError::unsupported("COPY of a query"));
        }
        let table = self.table_name()?;
        let columns = if self.is_sign("(") { self.names_in_parentheses()? } else { Vec::new() };
        if self.is_word("to") {
            return Err(SqlError::unsupported("COPY … TO"));
        }
        self.expect_word("from")?;
        if !self.take_word("stdin")? {
            return Err(SqlError::unsupported("COPY from a file or program"));
        }
        if !self.at_end() && !self.is_sign(";") {
            self.copy_options()?;
        }
        Ok(Statement::Copy { table, columns })
    }

    /// What asks for the text format, or makes no difference, is taken.
    fn copy_options(&mut self) -> Result<(), SqlError> {
        self.take_word("with")?;
        if !self.take_sign("(")? {
            return Err(SqlError::unsupported("COPY options without parentheses"));
        }
        self.list(|parser| {
            let name = parser.any_name()?;
            let value = match &parser.token.kind {
                Kind::Word(word) => word.to_lowercase(),
                Kind::Text(text) => text.to_lowercase(),
                _ => String::new(),
            };
            match (name.as_str(), value.as_str()) {
                ("format", "text") | ("freeze", "on" | "off" | "true" | "false") => {
                    parser.advance().map(drop)
                }
                ("freeze", "") => Ok(()),
                _ => Err(SqlError::unsupported(format_args!("the COPY option {name} {value}"))),
            }
        })?;
        self.expect_sign(")")
    }
}
