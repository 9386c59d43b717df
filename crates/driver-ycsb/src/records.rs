//! Set-up of records by what YCSB's classes can do: insert, read, delete. They can't tell their keys.

use crate::administration::YcsbAdministration;
use driver::{
    BulkRows, Command, ConnectError, Conversation, Direct, EachRecord, Fields, KeyValue, OpError, Records,
    Session, Value,
};

/// Commands that are sent before their answers are waited for.
const BATCH: usize = 100;

impl YcsbAdministration {
    fn refused(&self, problem: &str) -> ConnectError {
        ConnectError::permanent(format!("{}: {problem}", self.config.address))
    }

    fn unlisted(&self) -> ConnectError {
        self.refused("YCSB's database classes can't tell their keys")
    }

    /// Sends what is staged and waits for all answers.
    fn exchange(&mut self, what: &str) -> Result<(), ConnectError> {
        let done = Direct::<crate::YcsbSession>::run(Direct::new(&mut self.session).exchange());
        done.map_err(|error| self.failed(what, error))
    }

    fn stage(&mut self, what: &str, operation: KeyValue<'_>) -> Result<(), ConnectError> {
        self.session.stage(Command::KeyValue(operation)).map_err(|error| self.failed(what, error))
    }

    fn failed(&self, what: &str, error: OpError) -> ConnectError {
        let words = self.session.last_error().unwrap_or_else(|| error.outcome.name().to_owned());
        self.refused(&format!("{what}: {words}"))
    }

    /// Inserts rows whose first value is the key.
    pub(crate) fn insert_all(
        &mut self,
        table: &str,
        columns: &[&str],
        rows: &mut BulkRows<'_>,
    ) -> Result<u64, ConnectError> {
        let (mut count, mut staged, mut more) = (0, 0, true);
        while more {
            let mut failed = None;
            more = rows(&mut |values| {
                let Some((Value::Text(key), values)) = values.split_first() else { return };
                let named = columns.get(1..).unwrap_or_default().iter().zip(values);
                let fields: Vec<(&str, &str)> = named
                    .filter_map(|(name, value)| match value {
                        Value::Text(text) => Some((*name, *text)),
                        _ => None,
                    })
                    .collect();
                failed = self.stage("insert", KeyValue::Insert { table, key, fields: &fields }).err();
                staged += 1;
                count += 1;
            });
            if let Some(error) = failed {
                return Err(error);
            }
            if staged >= BATCH || !more {
                self.exchange("insert")?;
                staged = 0;
            }
        }
        Ok(count)
    }
}

impl Records for YcsbAdministration {
    fn lists(&self) -> bool {
        false
    }

    fn count(&mut self, _table: &str) -> Result<u64, ConnectError> {
        Err(self.unlisted())
    }

    fn keys(&mut self, _table: &str, _each: &mut dyn FnMut(&str)) -> Result<(), ConnectError> {
        Err(self.unlisted())
    }

    /// Names of fields do not come back with their values: they are numbered. Some classes say that a record is there and
    /// show nothing of it.
    fn read(&mut self, table: &str, keys: &[&str], each: &mut EachRecord<'_>) -> Result<(), ConnectError> {
        for (batch, keys) in keys.chunks(BATCH).enumerate() {
            for key in keys {
                self.stage("read", KeyValue::Read { table, key, fields: Fields::All })?;
            }
            self.exchange("read")?;
            for command in 0..keys.len() {
                let text = |column| match self.session.value(command, 0, column)? {
                    Value::Text(text) => Some((column.to_string(), text.to_owned())),
                    other => Some((column.to_string(), format!("{other:?}"))),
                };
                let mut fields: Vec<(String, String)> = (0..).map_while(text).collect();
                if fields.is_empty() && self.session.reply(command).touched() {
                    fields.push((String::new(), String::new()));
                }
                each(batch * BATCH + command, &fields);
            }
        }
        Ok(())
    }

    /// What a class says to the deletion of a record that is not there is its own: none is asked for.
    fn remove(&mut self, table: &str, keys: &[&str]) -> Result<(), ConnectError> {
        for keys in keys.chunks(BATCH) {
            for key in keys {
                self.stage("read", KeyValue::Read { table, key, fields: Fields::All })?;
            }
            self.exchange("read")?;
            let there: Vec<bool> =
                (0..keys.len()).map(|command| self.session.reply(command).touched()).collect();
            for (key, _) in keys.iter().zip(there).filter(|(_, there)| *there) {
                self.stage("delete", KeyValue::Delete { table, key })?;
            }
            self.exchange("delete")?;
        }
        Ok(())
    }

    fn drop_table(&mut self, _table: &str) -> Result<(), ConnectError> {
        Err(self.unlisted())
    }

    fn notes(&mut self, _topic: &str) -> Result<Vec<(String, String)>, ConnectError> {
        Err(self.unlisted())
    }

    fn note(&mut self, _topic: &str, _name: &str, _text: &str) -> Result<(), ConnectError> {
        Err(self.unlisted())
    }

    fn forget(&mut self, _topic: &str, _name: &str) -> Result<(), ConnectError> {
        Err(self.unlisted())
    }
}
