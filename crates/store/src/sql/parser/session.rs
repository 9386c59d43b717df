//! Transactions, settings and maintenance.

use super::super::error::{SqlError, state};
use super::super::lexer::Kind;
use super::super::syntax::{Modes, Statement};
use super::Parser;

impl Parser<'_> {
    pub(super) fn begin(&mut self) -> Result<Statement, SqlError> {
        let start = self.is_word("start");
        self.advance()?;
        if start {
            self.expect_word("transaction")?;
        } else {
            self.take_work()?;
        }
        Ok(Statement::Begin { start, modes: self.modes()? })
    }

    fn take_work(&mut self) -> Result<(), SqlError> {
        if !self.take_word("work")? {
            self.take_word("transaction")?;
        }
        Ok(())
    }

    pub(super) fn end_of_transaction(&mut self) -> Result<Statement, SqlError> {
        let commits = self.is_word("commit") || self.is_word("end");
        self.advance()?;
        if self.is_word("prepared") {
            return Err(SqlError::unsupported("two-phase commit"));
        }
        self.take_work()?;
        if self.is_word("to") {
            return Err(SqlError::unsupported("savepoints"));
        }
        if self.take_word("and")? {
            if !self.take_word("no")? {
                return Err(SqlError::unsupported("AND CHAIN"));
            }
            self.expect_word("chain")?;
        }
        Ok(if commits { Statement::Commit } else { Statement::Rollback })
    }

    fn modes(&mut self) -> Result<Modes, SqlError> {
        let mut modes = Modes::default();
        loop {
            if self.take_word("isolation")? {
                self.expect_word("level")?;
                modes.isolation = Some(self.isolation()?);
            } else if self.take_word("read")? {
                let only = self.take_word("only")?;
                if !only {
                    self.expect_word("write")?;
                }
                modes.read_only = Some(only);
            } else if self.take_word("not")? {
                self.expect_word("deferrable")?;
            } else if !self.take_word("deferrable")? && !self.take_sign(",")? {
                return Ok(modes);
            }
        }
    }

    fn isolation(&mut self) -> Result<&'static str, SqlError> {
        if self.take_word("serializable")? {
            return Ok("serializable");
        }
        if self.take_word("repeatable")? {
            self.expect_word("read")?;
            return Ok("repeatable read");
        }
        self.expect_word("read")?;
        if self.take_word("uncommitted")? {
            return Ok("read uncommitted");
        }
        self.expect_word("committed")?;
        Ok("read committed")
    }

    pub(super) fn set(&mut self) -> Result<Statement, SqlError> {
        self.expect_word("set")?;
        let followed_by = |parser: &Self, word: &str| -> Result<bool, SqlError> {
            Ok(matches!(parser.behind()?, Kind::Word(w) if w.eq_ignore_ascii_case(word)))
        };
        if self.is_word("session") && followed_by(self, "characteristics")? {
            self.expect_words(&["session", "characteristics", "as", "transaction"])?;
            return Ok(Statement::SetTransaction { session: true, modes: self.modes()? });
        }
        if self.is_word("transaction") {
            self.advance()?;
            if self.is_word("snapshot") {
                return Err(self.refused());
            }
            return Ok(Statement::SetTransaction { session: false, modes: self.modes()? });
        }
        let local = self.take_word("local")?;
        if !local && self.is_word("session") && !matches!(self.behind()?, Kind::Sign("=" | ".")) {
            self.advance()?;
            if self.is_word("authorization") {
                return Err(SqlError::unsupported("SET SESSION AUTHORIZATION"));
            }
        }
        if self.is_word("role") || self.is_word("constraints") {
            return Err(SqlError::unsupported("SET ROLE and SET CONSTRAINTS"));
        }
        self.set_value(local)
    }

    fn set_value(&mut self, local: bool) -> Result<Statement, SqlError> {
        if self.take_word("time")? {
            self.expect_word("zone")?;
            let value = self.setting_value()?.filter(|zone| !zone.eq_ignore_ascii_case("local"));
            return Ok(Statement::Set { name: "timezone".to_owned(), value, local, tag: "SET" });
        }
        if self.take_word("names")? {
            let value = self.setting_value()?;
            return Ok(Statement::Set { name: "client_encoding".to_owned(), value, local, tag: "SET" });
        }
        let name = self.setting_name()?;
        if !self.take_sign("=")? {
            self.expect_word("to")?;
        }
        let mut value = self.setting_value()?;
        while self.take_sign(",")? {
            let next = self.setting_value()?.unwrap_or_default();
            value = value.map(|first| format!("{first}, {next}"));
        }
        Ok(Statement::Set { name, value, local, tag: "SET" })
    }

    /// Settings are found in any case, and those of extensions have a dot.
    fn setting_name(&mut self) -> Result<String, SqlError> {
        let mut name = self.any_name()?.to_lowercase();
        while self.take_sign(".")? {
            name.push('.');
            name.push_str(&self.any_name()?.to_lowercase());
        }
        Ok(name)
    }

    /// `None` for DEFAULT.
    fn setting_value(&mut self) -> Result<Option<String>, SqlError> {
        if self.take_word("default")? {
            return Ok(None);
        }
        let sign = if self.take_sign("-")? { "-" } else { "" };
        let numeric = matches!(self.token.kind, Kind::Number(_));
        if !sign.is_empty() && !numeric {
            return Err(self.unexpected());
        }
        match &self.token.kind {
            Kind::Word(_) | Kind::Number(_) | Kind::Text(_) | Kind::Quoted(_) => {}
            _ => return Err(self.unexpected()),
        }
        Ok(match self.advance()?.kind {
            Kind::Word(word) => Some(word.to_owned()),
            Kind::Number(digits) => Some(format!("{sign}{digits}")),
            Kind::Text(text) | Kind::Quoted(text) => Some(text),
            _ => None,
        })
    }

    pub(super) fn reset(&mut self) -> Result<Statement, SqlError> {
        self.expect_word("reset")?;
        if self.take_word("all")? {
            return Ok(Statement::ResetAll);
        }
        let name = self.setting_name()?;
        Ok(Statement::Set { name, value: None, local: false, tag: "RESET" })
    }

    pub(super) fn show(&mut self) -> Result<Statement, SqlError> {
        self.expect_word("show")?;
        if self.take_word("all")? {
            return Ok(Statement::ShowAll);
        }
        if self.take_word("transaction")? {
            self.expect_words(&["isolation", "level"])?;
            return Ok(Statement::Show { name: "transaction_isolation".to_owned() });
        }
        if self.take_word("time")? {
            self.expect_word("zone")?;
            return Ok(Statement::Show { name: "timezone".to_owned() });
        }
        Ok(Statement::Show { name: self.setting_name()? })
    }

    pub(super) fn maintenance(&mut self) -> Result<Statement, SqlError> {
        let tag = if self.is_word("vacuum") {
            "VACUUM"
        } else if self.is_word("analyze") {
            "ANALYZE"
        } else {
            "CHECKPOINT"
        };
        self.advance()?;
        if self.take_sign("(")? {
            self.list(|parser| {
                while !parser.is_sign(",") && !parser.is_sign(")") {
                    if parser.at_end() {
                        return Err(parser.unexpected());
                    }
                    parser.advance()?;
                }
                Ok(())
            })?;
            self.expect_sign(")")?;
        }
        for word in ["full", "freeze", "verbose", "analyze"] {
            self.take_word(word)?;
        }
        let tables = if self.is_name() { self.list(Parser::table_with_columns)? } else { Vec::new() };
        if tag == "CHECKPOINT" && !tables.is_empty() {
            return Err(SqlError::new(state::SYNTAX, "syntax error: CHECKPOINT has no tables"));
        }
        Ok(Statement::Maintenance { tag, tables })
    }

    fn table_with_columns(&mut self) -> Result<super::super::syntax::TableName, SqlError> {
        let table = self.table_name()?;
        if self.is_sign("(") {
            self.names_in_parentheses()?;
        }
        Ok(table)
    }
}
