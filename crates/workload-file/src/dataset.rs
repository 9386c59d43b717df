//! The data set that a file describes: tables in parts, each row a function of the seed and its number.

use crate::Choice;
use crate::definition::*;
use crate::draw::{Compiler, DrawList, Drawn, Law, Position};
use crate::expression::{Expression, Found, Scope};
use crate::{open, parameters, sql};
use driver::{Administration, ConnectError, Dialect, Value};
use workload::dataset::{CheckResult, DataSet, Marker};

/// Rows of one part, which is one bulk call.
const PART: u64 = 100_000;
/// Rows between two calls of `progress`.
const PROGRESS: u64 = 1_000;

/// A table, ready to be filled.
struct Table {
    name: &'static str,
    rows: u64,
    columns: Vec<String>,
    list: DrawList,
    /// Where each column's value is in the list.
    places: Vec<usize>,
    /// A column that counts the rows, and its first number: with it a part of them can be taken away again.
    key: Option<(String, i64)>,
}

impl Table {
    fn parts(&self) -> u64 {
        match self.key {
            Some(_) => self.rows.div_ceil(PART),
            None => self.rows.min(1),
        }
    }

    /// The rows of one of its parts.
    fn range_of(&self, part: u64) -> (u64, u64) {
        match self.key {
            Some(_) => (part * PART, (part * PART + PART).min(self.rows)),
            None => (0, self.rows),
        }
    }
}

/// What a file says of its data.
pub(crate) struct Data {
    marker: Marker,
    tables: Vec<Table>,
    setup: Setup,
    checks: Vec<CheckDefinition>,
    parameters: Vec<(String, Scalar)>,
    scope: Scope,
}

impl Data {
    /// The data set, where the file has one or has checks. Puts into `scope` what is known of it.
    pub(crate) fn of(
        definition: &Definition,
        name: &str,
        choice: &Choice,
        scope: &mut Scope,
    ) -> Result<Option<Data>, String> {
        let tables = tables(definition, choice, scope)?;
        check_tables(definition)?;
        if tables.is_empty() && definition.checks.is_empty() {
            return Ok(None);
        }
        let marker = Marker {
            workload: name.to_owned(),
            scale: choice.scale,
            version: layout(definition),
            seed: choice.seed.0,
            complete: true,
        };
        Ok(Some(Data {
            marker,
            tables,
            setup: definition.setup.clone(),
            checks: definition.checks.clone(),
            parameters: definition.parameters.clone(),
            scope: scope.clone(),
        }))
    }

    fn script(
        &self,
        script: &Option<Variants>,
        administration: &mut dyn Administration,
        dialect: Dialect,
    ) -> Result<(), ConnectError> {
        let Some(script) = script else { return Ok(()) };
        let brace = |words: &str| parameters::brace(words, dialect, &self.parameters, &self.scope);
        let text = script
            .require(dialect)
            .and_then(|(text, _)| sql::script(text, dialect, &brace).map_err(|why| script.place.error(why)));
        administration.script(&text.map_err(ConnectError::permanent)?)
    }

    /// The table that a part is of, and which of its parts it is.
    fn table_of(&self, part: u32) -> Option<(&Table, u64)> {
        let mut number = u64::from(part);
        for table in &self.tables {
            if number < table.parts() {
                return Some((table, number));
            }
            number -= table.parts();
        }
        None
    }

    fn checked(
        &self,
        check: &CheckDefinition,
        administration: &mut dyn Administration,
        dialect: Dialect,
    ) -> Result<CheckResult, ConnectError> {
        let brace = |words: &str| parameters::brace(words, dialect, &self.parameters, &self.scope);
        let query = check.sql.require(dialect).and_then(|(text, is_portable)| {
            let made = sql::statement(text, dialect, is_portable, &brace);
            made.map_err(|why| check.sql.place.error(why))
        });
        let rows = administration.query(&query.map_err(ConnectError::permanent)?.sql)?;
        let (passed, detail) = judged(&rows);
        Ok(CheckResult { name: check.name.clone(), passed, detail })
    }
}

/// 0 or no rows is sound. NULL is not 0: a sum of nothing is not a sum that agrees.
fn judged(rows: &[Vec<Option<String>>]) -> (bool, String) {
    let shown = |value: &Option<String>| value.as_deref().unwrap_or("NULL").to_owned();
    match rows {
        [] => (true, "no rows".to_owned()),
        [row] if row.len() == 1 => {
            let is_zero = row[0].as_deref().and_then(|text| text.trim().parse::<f64>().ok()) == Some(0.0);
            (is_zero, if is_zero { "0".to_owned() } else { format!("{}, not 0", shown(&row[0])) })
        }
        [first, ..] => {
            let values: Vec<String> = first.iter().take(8).map(shown).collect();
            (false, format!("{} rows, not none; the first: {}", rows.len(), values.join(", ")))
        }
    }
}

fn tables(definition: &Definition, choice: &Choice, scope: &mut Scope) -> Result<Vec<Table>, String> {
    let mut tables = Vec::new();
    for table in &definition.tables {
        let seed = choice.seed.derive("file/load").derive(&table.name);
        let compiler = Compiler { scope, seed, client: (0, 1) };
        let rows = match &table.rows {
            Some(amount) => {
                let rows = compiler.whole(amount)?;
                let most = i64::from(u32::MAX) * PART as i64;
                let fits = u64::try_from(rows).ok().filter(|_| rows <= most);
                fits.ok_or_else(|| amount.place.error(format!("{rows} rows; expected 0 to {most}")))?
            }
            None => 0,
        };
        scope.found.insert(Found::Rows(table.name.clone()), rows as i64);
        let made = one_table(table, rows, &Compiler { scope, seed, client: (0, 1) })?;
        if let (Some((column, first)), true) = (&made.key, rows > 0) {
            let highest = Found::Highest(table.name.clone(), column.clone());
            scope.found.insert(highest, first + (rows as i64 - 1));
        }
        tables.push(made);
    }
    Ok(tables)
}

fn one_table(table: &TableDefinition, rows: u64, compiler: &Compiler<'_>) -> Result<Table, String> {
    let values: Vec<&ValueDefinition> = table.columns.iter().collect();
    let columns: Vec<&str> = values.iter().map(|value| value.name.as_str()).collect();
    if let Some(value) = values.iter().find(|v| matches!(&v.kind, Kind::Sequence { after: Some(_), .. })) {
        return Err(value.place.error("`after` is of transactions; here `from` says where it begins"));
    }
    if let Some(value) = values.iter().find(|value| matches!(value.kind, Kind::Now)) {
        let words = "`now` would make other rows each time; take a fixed date or a range of them";
        return Err(value.place.error(words));
    }
    let list = compiler.list(&values, &columns)?;
    let place = |column: &&str| list.draws.iter().position(|draw| draw.name == *column);
    let places = columns.iter().filter_map(place).collect();
    // A hash or a prefix would not be in the order of the numbers.
    let key = list.draws.iter().find_map(|draw| match draw.law {
        Law::Sequence { from, .. } if draw.form.is_none() && !draw.hash => Some((draw.name.clone(), from)),
        _ => None,
    });
    let columns = columns.into_iter().map(str::to_owned).collect();
    Ok(Table { name: open::for_ever(&table.name), rows, columns, list, places, key })
}

/// Every table that a script makes must be named, or nothing would ever drop it.
fn check_tables(definition: &Definition) -> Result<(), String> {
    for script in [&definition.setup.create, &definition.setup.finish].into_iter().flatten() {
        for (text, dialect) in script.all() {
            for made in sql::created_tables(text, dialect).map_err(|why| script.place.error(why))? {
                if !definition.tables.iter().any(|table| table.name.eq_ignore_ascii_case(&made)) {
                    let made = crate::document::shown(&made);
                    let words = format!(
                        "makes the table `{made}`, which no [[table]] names; add `name = \"{made}\"`"
                    );
                    return Err(script.place.error(words));
                }
            }
        }
    }
    Ok(())
}

/// Scripts and checks must be sound in each dialect that they are written for, before anything is done.
pub(crate) fn check_scripts(definition: &Definition, scope: &Scope) -> Result<(), String> {
    let brace =
        |words: &str, dialect| parameters::brace(words, dialect, &definition.parameters, scope).map(drop);
    for script in definition.setup.scripts() {
        for (text, dialect) in script.all() {
            let made = sql::script(text, dialect, &|words| brace(words, dialect).map(|()| String::new()));
            made.map_err(|why| script.place.error(why))?;
        }
    }
    for check in &definition.checks {
        for (text, dialect) in check.sql.all() {
            let made =
                sql::statement(text, dialect, true, &|words| brace(words, dialect).map(|()| "0".to_owned()));
            let made = made.map_err(|why| check.sql.place.error(why))?;
            if let Some(name) = made.names.first() {
                let words = "a check has no values; parameters are written";
                return Err(check.sql.place.error(format!("`:{name}`: {words} `{{{name}}}`")));
            }
        }
    }
    Ok(())
}

/// A number that is another one whenever the tables or what fills them are: FNV-1a over their text.
fn layout(definition: &Definition) -> u32 {
    let mut text = format!("{:?} {:?}", definition.setup.create, definition.setup.finish);
    let mut used: Vec<String> = Vec::new();
    for table in &definition.tables {
        text += &format!("{table:?}");
        let see = &mut |expression: &Expression| expression.names(&mut |name| used.push(name.to_owned()));
        table.rows.iter().for_each(|amount| see(&amount.expression));
        table.columns.iter().for_each(|value| crate::draw::amounts(value, see));
    }
    for script in [&definition.setup.create, &definition.setup.finish].into_iter().flatten() {
        for (sql, dialect) in script.all() {
            parameters::names_in_braces(sql, dialect, &mut |name| used.push(name.to_owned()));
        }
    }
    for (name, value) in definition.parameters.iter().filter(|(name, _)| used.contains(name)) {
        text += &format!("{name}={value:?}");
    }
    text.bytes().fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl DataSet for Data {
    fn marker(&self) -> Marker {
        self.marker.clone()
    }

    fn tables(&self) -> Vec<&'static str> {
        // What was made last may refer to what was made first.
        self.tables.iter().rev().map(|table| table.name).collect()
    }

    fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    fn create(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        if dialect == Dialect::KeyValue {
            let name = &self.marker.workload;
            return Err(ConnectError::permanent(format!("{name}: its data set needs SQL")));
        }
        self.script(&self.setup.create, administration, dialect)
    }

    fn parts(&self) -> u32 {
        let parts: u64 = self.tables.iter().map(Table::parts).sum();
        parts.clamp(1, u32::MAX.into()) as u32
    }

    fn fill(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        let Some((table, number)) = self.table_of(part) else { return Ok(()) };
        let (from, to) = table.range_of(number);
        let columns: Vec<&str> = table.columns.iter().map(String::as_str).collect();
        let mut drawn = Drawn::with_room(table.list.draws.len(), table.list.text_most());
        let mut row = from;
        administration.bulk(table.name, &columns, &mut |push| {
            if row == to {
                progress(to - from);
                return false;
            }
            table.list.draw(Position { index: row, ticket: row }, &mut drawn);
            let values: Vec<Value<'_>> =
                table.places.iter().map(|place| table.list.value(&drawn, *place)).collect();
            push(&values);
            row += 1;
            if row.is_multiple_of(PROGRESS) {
                progress(row - from);
            }
            true
        })?;
        Ok(())
    }

    fn empty(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
    ) -> Result<(), ConnectError> {
        let Some((table, number)) = self.table_of(part) else { return Ok(()) };
        let (from, to) = table.range_of(number);
        let name = table.name;
        administration.script(&match &table.key {
            Some((column, first)) => {
                let (low, high) = (first + from as i64, first + to as i64);
                format!("DELETE FROM {name} WHERE {column} >= {low} AND {column} < {high}")
            }
            None => format!("DELETE FROM {name}"),
        })
    }

    fn finish(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        self.script(&self.setup.finish, administration, dialect)?;
        if dialect == Dialect::Postgres {
            for table in &self.tables {
                // Statistics and hint bits now, not in the first measured minute.
                administration.script(&format!("VACUUM (ANALYZE) {}", table.name))?;
            }
        }
        Ok(())
    }

    fn before_drop(&self, administration: &mut dyn Administration) -> Result<(), ConnectError> {
        if self.setup.drop.is_none() {
            return Ok(());
        }
        let product = administration.facts()?.product;
        let dialect = match product.as_str() {
            "SQLite" => Dialect::Sqlite,
            "DuckDB" => Dialect::DuckDb,
            "MariaDB" | "MySQL" => Dialect::MySql,
            _ => Dialect::Postgres,
        };
        self.script(&self.setup.drop, administration, dialect)
    }

    fn check(
        &self,
        administration: &mut dyn Administration,
        dialect: Dialect,
    ) -> Result<Vec<CheckResult>, ConnectError> {
        if self.checks.is_empty() {
            return Ok(Vec::new());
        }
        // One state of the data for all of them, also while requests go on.
        administration.script(dialect.begin_snapshot())?;
        let results: Result<Vec<CheckResult>, ConnectError> =
            self.checks.iter().map(|check| self.checked(check, administration, dialect)).collect();
        let ended = administration.script(if results.is_ok() { "COMMIT" } else { "ROLLBACK" });
        let results = results?;
        ended.map(|()| results)
    }

    fn check_is_cheap(&self) -> bool {
        self.checks.iter().all(|check| !check.is_slow)
    }
}
