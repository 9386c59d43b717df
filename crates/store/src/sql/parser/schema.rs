//! CREATE, DROP and TRUNCATE.

use super::super::error::{SqlError, state};
use super::super::lexer::Kind;
use super::super::syntax::{CreateTable, NewColumn, Statement};
use super::Parser;

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Result<Statement, SqlError> {
        self.expect_word("create")?;
        self.take_word("unlogged")?;
        if self.take_word("table")? {
            return self.create_table();
        }
        let unique = self.take_word("unique")?;
        if self.take_word("index")? {
            return self.create_index(unique);
        }
        Err(match self.token.kind {
            Kind::Word(word) => SqlError::unsupported(format_args!("CREATE {}", word.to_uppercase()))
                .at(self.lexer.text(), self.token.start),
            _ => self.unexpected(),
        })
    }

    fn create_table(&mut self) -> Result<Statement, SqlError> {
        let if_not_exists = self.take_if(&["not", "exists"])?;
        let name = self.table_name()?;
        if self.is_word("as") || self.is_word("of") {
            return Err(self.refused());
        }
        self.expect_sign("(")?;
        let mut table = CreateTable { name, if_not_exists, columns: Vec::new(), key: Vec::new() };
        if !self.is_sign(")") {
            self.table_element(&mut table)?;
            while self.take_sign(",")? {
                self.table_element(&mut table)?;
            }
        }
        self.expect_sign(")")?;
        self.storage()?;
        Ok(Statement::CreateTable(table))
    }

    fn table_element(&mut self, table: &mut CreateTable) -> Result<(), SqlError> {
        if self.take_word("constraint")? {
            self.name()?;
        }
        if self.take_word("primary")? {
            self.expect_word("key")?;
            let columns = self.names_in_parentheses()?;
            return self.set_key(table, columns);
        }
        for word in ["unique", "check", "foreign", "exclude", "like"] {
            if self.is_word(word) {
                return Err(self.refused());
            }
        }
        self.column(table)
    }

    fn set_key(&self, table: &mut CreateTable, columns: Vec<String>) -> Result<(), SqlError> {
        if !table.key.is_empty() {
            let name = &table.name.name;
            let message = format!("multiple primary keys for table \"{name}\" are not allowed");
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
        }
        table.key = columns;
        Ok(())
    }

    fn column(&mut self, table: &mut CreateTable) -> Result<(), SqlError> {
        let name = self.name()?;
        let column_type = self.column_type()?;
        let mut column = NewColumn { name: name.clone(), column_type, not_null: false, default: None };
        loop {
            if self.take_word("constraint")? {
                self.name()?;
            }
            if self.take_word("not")? {
                self.expect_word("null")?;
                column.not_null = true;
            } else if self.take_word("primary")? {
                self.expect_word("key")?;
                self.set_key(table, vec![name.clone()])?;
            } else if self.take_word("default")? {
                column.default = Some(self.expression()?);
            } else if !self.take_word("null")? {
                break;
            }
        }
        for word in ["unique", "check", "references", "generated", "collate"] {
            if self.is_word(word) {
                return Err(self.refused());
            }
        }
        table.columns.push(column);
        Ok(())
    }

    /// `WITH (fillfactor = 90)`: how rows are stored does not matter here.
    fn storage(&mut self) -> Result<(), SqlError> {
        if self.take_word("with")? {
            self.expect_sign("(")?;
            self.list(|parser| {
                parser.any_name()?;
                if parser.take_sign("=")? {
                    parser.advance()?;
                }
                Ok(())
            })?;
            self.expect_sign(")")?;
        }
        for word in ["inherits", "partition", "tablespace"] {
            if self.is_word(word) {
                return Err(self.refused());
            }
        }
        Ok(())
    }

    fn create_index(&mut self, unique: bool) -> Result<Statement, SqlError> {
        self.take_word("concurrently")?;
        self.take_if(&["not", "exists"])?;
        if !self.is_word("on") {
            self.name()?;
        }
        self.expect_word("on")?;
        let table = self.table_name()?;
        if self.take_word("using")? {
            self.name()?;
        }
        self.expect_sign("(")?;
        let columns = self.list(|parser| {
            let column = parser.name()?;
            if !parser.take_word("desc")? {
                parser.take_word("asc")?;
            }
            Ok(column)
        })?;
        self.expect_sign(")")?;
        if self.is_word("where") || self.is_word("include") {
            return Err(self.refused());
        }
        self.storage()?;
        Ok(Statement::CreateIndex { table, columns, unique })
    }

    pub(super) fn drop_tables(&mut self) -> Result<Statement, SqlError> {
        self.expect_word("drop")?;
        if !self.take_word("table")? {
            return Err(match self.token.kind {
                Kind::Word(word) => SqlError::unsupported(format_args!("DROP {}", word.to_uppercase()))
                    .at(self.lexer.text(), self.token.start),
                _ => self.unexpected(),
            });
        }
        let if_exists = self.take_if(&["exists"])?;
        let names = self.table_names()?;
        self.dependents()?;
        Ok(Statement::DropTables { names, if_exists })
    }

    pub(super) fn truncate(&mut self) -> Result<Statement, SqlError> {
        self.expect_word("truncate")?;
        self.take_word("table")?;
        self.take_word("only")?;
        let names = self.table_names()?;
        if self.take_word("restart")? || self.take_word("continue")? {
            self.expect_word("identity")?;
        }
        self.dependents()?;
        Ok(Statement::Truncate { names })
    }

    /// CASCADE and RESTRICT: nothing depends on a table.
    fn dependents(&mut self) -> Result<(), SqlError> {
        if !self.take_word("cascade")? {
            self.take_word("restrict")?;
        }
        Ok(())
    }
}
