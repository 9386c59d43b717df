//! The statements, and their places in the list.

use super::config::{Family, YcsbConfig};
use driver::{Dialect, StatementSpec, ValueType};

/// Index of each statement; those that exist once for each field start there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) read: usize,
    pub(crate) scan: usize,
    pub(crate) update: usize,
    pub(crate) insert: usize,
    pub(crate) delete: usize,
    pub(crate) read_locked: usize,
    pub(crate) restore: usize,
}

impl Layout {
    pub(crate) fn of(config: &YcsbConfig) -> Layout {
        compose(config, Dialect::Null).0
    }
}

/// The statements in the order of [`Layout`].
pub(crate) fn statements(config: &YcsbConfig, dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
    // Records are asked for without statements.
    Ok(if dialect == Dialect::KeyValue { Vec::new() } else { compose(config, dialect).1 })
}

/// Names of the fields, as the family's origin numbers them.
pub(crate) fn field_names(config: &YcsbConfig) -> Vec<String> {
    let first = if config.family == Family::Mix { 1 } else { 0 };
    (first..first + config.fields).map(|number| format!("{}{number}", config.field_prefix)).collect()
}

fn compose(config: &YcsbConfig, dialect: Dialect) -> (Layout, Vec<StatementSpec>) {
    let mut writer = Writer { config, dialect, fields: field_names(config), list: Vec::new() };
    let layout = match config.family {
        Family::Mix => Layout {
            read: writer.reads(""),
            scan: writer.scan_between(),
            update: writer.updates(),
            insert: writer.insert(),
            delete: writer.delete(),
            read_locked: writer.reads(dialect.for_update()),
            restore: writer.restore(),
        },
        Family::Core => Layout {
            read: writer.reads(""),
            scan: writer.scans_from(),
            update: writer.updates(),
            insert: writer.insert(),
            ..Layout::default()
        },
    };
    (layout, writer.list)
}

struct Writer<'a> {
    config: &'a YcsbConfig,
    dialect: Dialect,
    fields: Vec<String>,
    list: Vec<StatementSpec>,
}

impl Writer<'_> {
    fn key_type(&self) -> ValueType {
        if self.config.family == Family::Mix { ValueType::Int } else { ValueType::Text }
    }

    fn place(&self, n: usize) -> String {
        self.dialect.placeholder(n)
    }

    fn push(&mut self, sql: String, parameters: &[ValueType]) {
        self.list.push(StatementSpec::counted(sql, parameters));
    }

    /// A read of one row, whose values are kept where they are verified.
    fn push_read(&mut self, sql: String, columns: &str) {
        let parameters = [self.key_type()];
        if self.config.data_integrity {
            let columns = vec![ValueType::Text; columns.split(", ").count()];
            self.list.push(StatementSpec::kept(sql, &parameters, &columns));
        } else {
            self.push(sql, &parameters);
        }
    }

    /// The column lists of reads: all fields at once, or one list for each field.
    fn read_columns(&self) -> Vec<String> {
        if self.config.read_all_fields {
            vec![format!("ycsb_key, {}", self.fields.join(", "))]
        } else {
            self.fields.iter().map(|field| format!("ycsb_key, {field}")).collect()
        }
    }

    fn reads(&mut self, lock: &str) -> usize {
        let first = self.list.len();
        for columns in self.read_columns() {
            let table = self.config.table;
            let sql = format!("SELECT {columns} FROM {table} WHERE ycsb_key = {}{lock}", self.place(1));
            self.push_read(sql, &columns);
        }
        first
    }

    fn scan_between(&mut self) -> usize {
        let (low, high) = (self.place(1), self.place(2));
        let columns = &self.read_columns()[0];
        let sql = format!(
            "SELECT {columns} FROM {} WHERE ycsb_key > {low} AND ycsb_key < {high}",
            self.config.table
        );
        self.push(sql, &[ValueType::Int, ValueType::Int]);
        self.list.len() - 1
    }

    fn scans_from(&mut self) -> usize {
        let first = self.list.len();
        let (key, count) = (self.place(1), self.place(2));
        for columns in self.read_columns() {
            let sql = format!(
                "SELECT {columns} FROM {} WHERE ycsb_key >= {key} ORDER BY ycsb_key LIMIT {count}",
                self.config.table
            );
            self.push(sql, &[ValueType::Text, ValueType::Int]);
        }
        first
    }

    /// The fields, then the key.
    fn updates(&mut self) -> usize {
        let first = self.list.len();
        let groups: Vec<Vec<String>> = if self.config.write_all_fields {
            vec![self.fields.clone()]
        } else {
            self.fields.iter().map(|field| vec![field.clone()]).collect()
        };
        for group in groups {
            let assignments: Vec<String> = group
                .iter()
                .enumerate()
                .map(|(i, field)| format!("{field} = {}", self.place(i + 1)))
                .collect();
            let key = self.place(group.len() + 1);
            let table = self.config.table;
            let sql = format!("UPDATE {table} SET {} WHERE ycsb_key = {key}", assignments.join(", "));
            let mut types = vec![ValueType::Text; group.len()];
            types.push(self.key_type());
            self.push(sql, &types);
        }
        first
    }

    fn insert(&mut self) -> usize {
        self.insert_with("INSERT INTO", "")
    }

    /// An insert that leaves a row of this key alone.
    fn restore(&mut self) -> usize {
        match self.dialect {
            Dialect::MySql => self.insert_with("INSERT IGNORE INTO", ""),
            _ => self.insert_with("INSERT INTO", " ON CONFLICT DO NOTHING"),
        }
    }

    fn insert_with(&mut self, verb: &str, conflict: &str) -> usize {
        let places: Vec<String> = (1..=self.fields.len() + 1).map(|n| self.place(n)).collect();
        let sql = format!(
            "{verb} {} (ycsb_key, {}) VALUES ({}){conflict}",
            self.config.table,
            self.fields.join(", "),
            places.join(", ")
        );
        self.push(sql, &self.key_and_text(self.fields.len()));
        self.list.len() - 1
    }

    fn delete(&mut self) -> usize {
        let sql = format!("DELETE FROM {} WHERE ycsb_key = {}", self.config.table, self.place(1));
        self.push(sql, &[ValueType::Int]);
        self.list.len() - 1
    }

    fn key_and_text(&self, fields: usize) -> Vec<ValueType> {
        let mut types = vec![self.key_type()];
        types.resize(fields + 1, ValueType::Text);
        types
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    fn config(name: &str, overrides: &[(&str, &str)]) -> YcsbConfig {
        let overrides: Vec<_> = overrides.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        YcsbConfig::from_name(name, 1.0, Seed(1), &overrides).unwrap()
    }

    #[test]
    fn the_mix_in_sql() {
        let config = config("ycsb", &[("fieldcount", "2")]);
        let sql: Vec<String> =
            statements(&config, Dialect::Postgres).unwrap().into_iter().map(|s| s.sql).collect();
        assert_eq!(
            sql,
            [
                "SELECT ycsb_key, field1, field2 FROM usertable WHERE ycsb_key = $1",
                "SELECT ycsb_key, field1, field2 FROM usertable WHERE ycsb_key > $1 AND ycsb_key < $2",
                "UPDATE usertable SET field1 = $1, field2 = $2 WHERE ycsb_key = $3",
                "INSERT INTO usertable (ycsb_key, field1, field2) VALUES ($1, $2, $3)",
                "DELETE FROM usertable WHERE ycsb_key = $1",
                "SELECT ycsb_key, field1, field2 FROM usertable WHERE ycsb_key = $1 FOR UPDATE",
                "INSERT INTO usertable (ycsb_key, field1, field2) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            ]
        );
    }

    #[test]
    fn single_fields_have_statements_of_their_own() {
        let config = config("ycsb-a", &[("fieldcount", "3"), ("readallfields", "false")]);
        let list = statements(&config, Dialect::Sqlite).unwrap();
        let layout = Layout::of(&config);
        assert_eq!(list.len(), 3 + 3 + 3 + 1);
        assert_eq!(list[layout.read + 2].sql, "SELECT ycsb_key, field2 FROM usertable WHERE ycsb_key = ?1");
        assert_eq!(list[layout.update + 1].sql, "UPDATE usertable SET field1 = ?1 WHERE ycsb_key = ?2");
        assert!(list[layout.scan].sql.ends_with("WHERE ycsb_key >= ?1 ORDER BY ycsb_key LIMIT ?2"));
        assert_eq!(list[layout.insert].parameters.len(), 4);
        assert!(statements(&config, Dialect::KeyValue).unwrap().is_empty());
    }
}
