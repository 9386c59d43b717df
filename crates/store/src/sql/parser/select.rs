//! SELECT.

use super::super::error::SqlError;
use super::super::lexer::Kind;
use super::super::syntax::{Expr, FromTable, Order, Output, Select, Statement};
use super::Parser;

impl Parser<'_> {
    pub(super) fn select_statement(&mut self) -> Result<Statement, SqlError> {
        self.expect_word("select")?;
        self.take_word("all")?;
        let outputs = self.list(Parser::output)?;
        let from = if self.take_word("from")? { Some(self.aliased_table()?) } else { None };
        let condition = self.condition()?;
        let order = self.order()?;
        let (limit, offset) = self.limits()?;
        self.locks()?;
        Ok(Statement::Select(Select { outputs, from, condition, order, limit, offset }))
    }

    fn output(&mut self) -> Result<Output, SqlError> {
        if self.take_sign("*")? {
            return Ok(Output::All(None));
        }
        if self.is_name() && self.behind()? == Kind::Sign(".") {
            let mut ahead = self.lexer.clone();
            ahead.token()?;
            if ahead.token()?.kind == Kind::Sign("*") {
                let table = self.name()?;
                self.advance()?;
                self.advance()?;
                return Ok(Output::All(Some(table)));
            }
        }
        let expr = self.expression()?;
        let alias = if self.take_word("as")? {
            Some(self.any_name()?)
        } else if self.is_name() && !self.is_word("over") {
            Some(self.name()?)
        } else {
            None
        };
        Ok(Output::Value { expr, alias })
    }

    pub(super) fn aliased_table(&mut self) -> Result<FromTable, SqlError> {
        if self.is_sign("(") {
            return Err(SqlError::unsupported("subqueries"));
        }
        self.take_word("only")?;
        let table = self.table_name()?;
        if self.is_sign("(") {
            return Err(SqlError::unsupported("functions as tables"));
        }
        let has_alias = self.take_word("as")? || (self.is_name() && !self.is_word("set"));
        let alias = if has_alias { Some(self.name()?) } else { None };
        if self.is_sign(",") {
            return Err(SqlError::unsupported("more than one table"));
        }
        Ok(FromTable { table, alias })
    }

    pub(super) fn condition(&mut self) -> Result<Option<Expr>, SqlError> {
        if self.take_word("where")? {
            if self.is_word("current")
                && matches!(self.behind()?, Kind::Word(w) if w.eq_ignore_ascii_case("of"))
            {
                return Err(SqlError::unsupported("WHERE CURRENT OF"));
            }
            return self.expression().map(Some);
        }
        Ok(None)
    }

    fn order(&mut self) -> Result<Vec<Order>, SqlError> {
        if !self.take_word("order")? {
            return Ok(Vec::new());
        }
        self.expect_word("by")?;
        self.list(|parser| {
            let expr = parser.expression()?;
            let descending = parser.take_word("desc")?;
            if !descending {
                parser.take_word("asc")?;
            }
            // A primary key has no nulls, so that it does not matter where they go.
            if parser.take_word("nulls")? && !parser.take_word("first")? {
                parser.expect_word("last")?;
            }
            Ok(Order { expr, descending })
        })
    }

    /// LIMIT and OFFSET, in either order and spelling.
    fn limits(&mut self) -> Result<(Option<Expr>, Option<Expr>), SqlError> {
        let (mut limit, mut offset) = (None, None);
        loop {
            if limit.is_none() && self.take_word("limit")? {
                limit = Some(if self.take_word("all")? { Expr::Null } else { self.expression()? });
            } else if limit.is_none() && self.take_word("fetch")? {
                limit = Some(self.fetch()?);
            } else if offset.is_none() && self.take_word("offset")? {
                offset = Some(self.expression()?);
                if !self.take_word("rows")? {
                    self.take_word("row")?;
                }
            } else {
                return Ok((limit, offset));
            }
        }
    }

    /// Behind FETCH: `FIRST 10 ROWS ONLY`.
    fn fetch(&mut self) -> Result<Expr, SqlError> {
        if !self.take_word("first")? {
            self.expect_word("next")?;
        }
        let count = if self.is_word("row") || self.is_word("rows") {
            Expr::Number("1".to_owned())
        } else {
            self.expression()?
        };
        if !self.take_word("rows")? {
            self.expect_word("row")?;
        }
        self.expect_word("only")?;
        Ok(count)
    }

    /// FOR UPDATE and the like: nothing ever waits for a lock here.
    fn locks(&mut self) -> Result<(), SqlError> {
        while self.take_word("for")? {
            if self.take_word("no")? {
                self.expect_words(&["key", "update"])?;
            } else if self.take_word("key")? {
                self.expect_word("share")?;
            } else if !self.take_word("share")? {
                self.expect_word("update")?;
            }
            if self.take_word("of")? {
                self.table_names()?;
            }
            if self.take_word("skip")? {
                self.expect_word("locked")?;
            } else {
                self.take_word("nowait")?;
            }
        }
        Ok(())
    }
}
