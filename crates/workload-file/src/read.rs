//! From the text of a file to its [`Definition`].

mod value;

use crate::definition::*;
use crate::document::{Item, Section, Text, shown};
use crate::expression::column_of;
use driver::{Dialect, Isolation, ValueType};
use toml::de::DeValue;
use value::{amount, scalar, value, value_type};
use workload::names;

/// Gives the text of a file that the document refers to by this name, or says in a few words why it can't.
pub(crate) type Files<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

const KEYS: [&str; 8] =
    ["name", "description", "parameters", "setup", "table", "values", "check", "transaction"];
const SETUP: [&str; 3] = ["create", "finish", "drop"];
const TABLE: [&str; 3] = ["name", "rows", "columns"];
const CHECK: [&str; 3] = ["name", "sql", "slow"];
const TRANSACTION: [&str; 12] = [
    "name",
    "weight",
    "isolation",
    "autocommit",
    "together",
    "values",
    "step",
    "sql",
    "expect",
    "abort_if_empty",
    "as",
    "keep",
];
const STEP: [&str; 6] = ["sql", "expect", "abort_if_empty", "together", "as", "keep"];
const EXPECTATIONS: [(&str, Expect); 4] =
    [("any", Expect::Any), ("row", Expect::Row), ("rows", Expect::Rows), ("affected", Expect::Affected)];

/// Names that mean something of their own.
const RESERVED: [&str; 1] = ["scale"];

/// Reads a document.
pub(crate) fn definition(text: &str, files: &mut Files<'_>) -> Result<Definition, String> {
    let text = Text(text);
    let document = text.parse()?;
    let whole = Section::whole(text, &document, &KEYS)?;
    let definition = Definition {
        name: whole.get("name").map(|item| name_of_workload(&item)).transpose()?,
        parameters: parameters(&whole)?,
        setup: setup(&whole, files)?,
        tables: all(&whole, "table", &mut |item| table(item))?,
        checks: all(&whole, "check", &mut |item| check(item, files))?,
        values: values(&whole, "value")?,
        transactions: all(&whole, "transaction", &mut |item| transaction(item, files))?,
    };
    whole.text("description")?;
    check_whole(&definition, &whole)?;
    Ok(definition)
}

fn all<T>(
    whole: &Section<'_>,
    key: &str,
    read: &mut dyn FnMut(Item<'_>) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    whole.list(key)?.into_iter().map(|item| read(item.called(key.to_owned()))).collect()
}

fn check_whole(definition: &Definition, whole: &Section<'_>) -> Result<(), String> {
    let Definition { tables, checks, transactions, setup, .. } = definition;
    if transactions.is_empty() {
        return Err("there is no [[transaction]]; what is to be asked?".to_owned());
    }
    if transactions.len() > 250 {
        return Err(format!("there are {} transactions; at most 250", transactions.len()));
    }
    if transactions.iter().all(|t| t.weight == 0.0) {
        return Err(transactions[0]
            .place
            .error("its weight is 0 and so are all others; one must be above 0"));
    }
    let twice = |what: &str, names: &mut dyn Iterator<Item = &str>| {
        let mut seen: Vec<&str> = Vec::new();
        for name in names {
            if seen.iter().any(|s| s.eq_ignore_ascii_case(name)) {
                return Err(format!("{what} `{}` is there twice; name one otherwise", shown(name)));
            }
            seen.push(name);
        }
        Ok(())
    };
    twice("transaction", &mut transactions.iter().map(|t| t.name.as_str()))?;
    twice("table", &mut tables.iter().map(|t| t.name.as_str()))?;
    twice("check", &mut checks.iter().map(|c| c.name.as_str()))?;
    if !tables.is_empty() && setup.create.is_none() {
        return Err(tables[0].place.error("nothing makes it; add `create` to [setup]"));
    }
    if whole.has("setup") && tables.is_empty() {
        return Err(whole.get("setup").map_or_else(String::new, |item| {
            item.error("there is no [[table]]; name each table that `create` makes, or it is never dropped")
        }));
    }
    Ok(())
}

fn name_of_workload(item: &Item<'_>) -> Result<(String, crate::document::Place), String> {
    Ok((plain_name(item, 64)?, item.place()))
}

/// A name that can stand in flags, files and tables.
fn plain_name(item: &Item<'_>, longest: usize) -> Result<String, String> {
    let name = item.text()?;
    let fits = name.len() <= longest && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if name.is_empty() || !fits {
        let words = "is no name; take up to";
        return Err(item.error(format!("`{}` {words} {longest} letters, digits, `-` and `_`", shown(name))));
    }
    Ok(name.to_owned())
}

/// A name that can stand behind `:`.
fn identifier(name: &str, item: &Item<'_>) -> Result<(), String> {
    let mut characters = name.chars();
    let begins = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if begins && characters.all(|c| c.is_ascii_alphanumeric() || c == '_') && name.len() <= 64 {
        return Ok(());
    }
    let words = "can't stand behind `:`; take letters, digits and `_`, a letter first";
    Err(item.error(format!("`{}` {words}", shown(name))))
}

fn parameters(whole: &Section<'_>) -> Result<Vec<(String, Scalar)>, String> {
    let Some(section) = whole.section("parameters", &[])? else { return Ok(Vec::new()) };
    let section = section.called(String::new());
    let mut parameters = Vec::new();
    for (name, item) in section.entries(|name| format!("parameter `{}`", shown(name))) {
        identifier(&name, &item)?;
        if RESERVED.contains(&name.as_str()) {
            return Err(item.error("is what `--scale` sets; name the parameter otherwise"));
        }
        parameters.push((name, scalar(&item)?));
    }
    Ok(parameters)
}

fn setup(whole: &Section<'_>, files: &mut Files<'_>) -> Result<Setup, String> {
    let Some(section) = whole.section("setup", &SETUP)? else { return Ok(Setup::default()) };
    let section = section.called("setup".to_owned());
    let mut script = |key: &str| section.get(key).map(|item| variants(&item, files)).transpose();
    Ok(Setup { create: script("create")?, finish: script("finish")?, drop: script("drop")? })
}

fn table(item: Item<'_>) -> Result<TableDefinition, String> {
    let section = item.section(&TABLE)?.called("table".to_owned());
    let name = section.get("name").ok_or_else(|| section.error("has no `name`"))?;
    let table = plain_name(&name, 60)?;
    identifier(&table, &name)?;
    let section = section.called(format!("table `{table}`"));
    let rows = section.get("rows").map(|item| amount(&item)).transpose()?;
    let columns = match section.section("columns", &[])? {
        Some(columns) => {
            let columns = columns.called(format!("table `{table}`"));
            let entries = columns.entries(|name| format!("column `{}`", shown(name)));
            entries.into_iter().map(|(name, item)| named_value(name, &item)).collect::<Result<_, _>>()?
        }
        None => Vec::new(),
    };
    match (&rows, columns.is_empty()) {
        (Some(_), true) => Err(section.error("has `rows` and no `columns` to fill them with")),
        (None, false) => Err(section.error("has `columns` and no `rows`; how many?")),
        _ => Ok(TableDefinition { name: table, rows, columns, place: section.place() }),
    }
}

fn check(item: Item<'_>, files: &mut Files<'_>) -> Result<CheckDefinition, String> {
    let section = item.section(&CHECK)?.called("check".to_owned());
    let name = section.text("name")?.ok_or_else(|| section.error("has no `name`: what must hold?"))?;
    if name.trim().is_empty() || name.len() > 120 || name.chars().any(char::is_control) {
        return Err(section.error("`name` must be one line of 1 to 120 characters"));
    }
    let section = section.called(format!("check `{name}`"));
    let sql = section.get("sql").ok_or_else(|| section.error("has no `sql`"))?;
    Ok(CheckDefinition { sql: variants(&sql, files)?, is_slow: section.flag("slow")?.unwrap_or(false), name })
}

/// The table `[values]` of a section.
fn values(section: &Section<'_>, called: &str) -> Result<Vec<ValueDefinition>, String> {
    let place = section.place();
    let Some(values) = section.section("values", &[])? else { return Ok(Vec::new()) };
    let values = values.called(match place.what() {
        what if what.starts_with("transaction") => what.to_owned(),
        _ => String::new(),
    });
    let entries = values.entries(|name| format!("{called} `{}`", shown(name)));
    entries.into_iter().map(|(name, item)| named_value(name, &item)).collect()
}

fn named_value(name: String, item: &Item<'_>) -> Result<ValueDefinition, String> {
    identifier(&name, item)?;
    value(name, item)
}

fn transaction(item: Item<'_>, files: &mut Files<'_>) -> Result<TransactionDefinition, String> {
    let section = item.section(&TRANSACTION)?.called("transaction".to_owned());
    let name = section.get("name").ok_or_else(|| section.error("has no `name`"))?;
    let name = plain_name(&name, 60)?;
    let section = section.called(format!("transaction `{name}`"));
    let steps = match (section.get("sql"), section.get("step")) {
        (Some(_), Some(_)) => {
            return Err(section.error("has `sql` and [[transaction.step]]; drop one of them"));
        }
        (None, None) => return Err(section.error("has neither `sql` nor a [[transaction.step]]")),
        (Some(_), None) => vec![step_of(&section, files)?],
        (None, Some(steps)) => steps_of(&name, &steps, files)?,
    };
    let lone = ["expect", "abort_if_empty", "as", "keep"].into_iter().find(|key| section.has(key));
    if let (Some(key), true) = (lone, section.has("step")) {
        return Err(section.error(format!("`{key}` is of a step: put it below [[transaction.step]]")));
    }
    Ok(TransactionDefinition {
        weight: weight(&section)?,
        isolation: isolation(&section)?,
        autocommit: section.flag("autocommit")?,
        together: section.flag("together")?.unwrap_or(false),
        values: values(&section, "value")?,
        steps,
        place: section.place(),
        name,
    })
}

fn weight(section: &Section<'_>) -> Result<f64, String> {
    let Some(item) = section.get("weight") else { return Ok(1.0) };
    let weight = match scalar(&item)? {
        Scalar::Int(n) => n as f64,
        Scalar::Float(x) => x,
        _ => return Err(item.wanted("a number")),
    };
    if !weight.is_finite() || weight < 0.0 {
        return Err(item.error(format!("{weight} is no weight; it must be 0 or more")));
    }
    Ok(weight)
}

fn isolation(section: &Section<'_>) -> Result<Option<Isolation>, String> {
    let Some(item) = section.get("isolation") else { return Ok(None) };
    let name = item.text()?;
    let names = Isolation::ALL.map(Isolation::name);
    let found = Isolation::ALL.into_iter().find(|level| level.name() == name);
    found
        .map(Some)
        .ok_or_else(|| item.error(format!("no level `{}`{}", shown(name), names::suggestion(name, &names))))
}

fn steps_of(
    transaction: &str,
    steps: &Item<'_>,
    files: &mut Files<'_>,
) -> Result<Vec<StepDefinition>, String> {
    let items = steps.list()?;
    if items.is_empty() {
        return Err(steps.error("there is no step"));
    }
    if items.len() > 1_000 {
        return Err(steps.error(format!("{} steps; at most 1000", items.len())));
    }
    let step = |(index, item): (usize, Item<'_>)| {
        let what = format!("transaction `{transaction}`, step {}", index + 1);
        match item.value() {
            DeValue::String(_) => {
                let item = item.called(what);
                Ok(plain_step(variants(&item, files)?))
            }
            _ => step_of(&item.called(what.clone()).section(&STEP)?.called(what), files),
        }
    };
    items.into_iter().enumerate().map(step).collect()
}

fn plain_step(sql: Variants) -> StepDefinition {
    let place = sql.place.clone();
    StepDefinition { sql, expect: Expect::Any, abort_if_empty: false, together: None, keep: None, place }
}

fn step_of(section: &Section<'_>, files: &mut Files<'_>) -> Result<StepDefinition, String> {
    let sql = section.get("sql").ok_or_else(|| section.error("has no `sql`"))?;
    let keep = keep(section)?;
    let expect = match section.get("expect") {
        Some(item) => expectation(&item)?,
        // Without a row there is nothing to go on with.
        None if keep.is_some() => Expect::Rows,
        None => Expect::Any,
    };
    let abort_if_empty = section.flag("abort_if_empty")?.unwrap_or(false);
    if keep.is_some() && expect == Expect::Affected {
        return Err(section.error("`keep` needs a row; expect `row` or `rows`"));
    }
    if keep.is_some() && expect == Expect::Any && !abort_if_empty {
        return Err(
            section.error("`keep` needs a row; expect `row` or `rows`, or say `abort_if_empty = true`")
        );
    }
    let together = section.get("step").is_none().then(|| section.flag("together")).transpose()?.flatten();
    Ok(StepDefinition {
        sql: variants(&sql, files)?,
        expect,
        abort_if_empty,
        together,
        keep,
        place: section.place(),
    })
}

fn expectation(item: &Item<'_>) -> Result<Expect, String> {
    let name = item.text()?;
    let found = EXPECTATIONS.iter().find(|(known, _)| *known == name);
    found.map(|(_, expect)| *expect).ok_or_else(|| {
        let valid = EXPECTATIONS.map(|(name, _)| name);
        item.error(format!("can't expect `{}`{}", shown(name), names::suggestion(name, &valid)))
    })
}

/// `as = "account"` and `keep = ["balance int"]`.
#[expect(clippy::type_complexity, reason = "a name, and the columns by name")]
fn keep(section: &Section<'_>) -> Result<Option<(String, Vec<(String, ValueType)>)>, String> {
    let (row, keep) = match (section.get("as"), section.get("keep")) {
        (None, None) => return Ok(None),
        (Some(_), None) => return Err(section.error("`as` names a row; say which columns with `keep`")),
        (None, Some(_)) => {
            return Err(section.error("`keep` needs a name for the row, such as `as = \"account\"`"));
        }
        (Some(row), Some(keep)) => (row, keep),
    };
    let name = row.text()?;
    identifier(name, &row)?;
    let mut columns: Vec<(String, ValueType)> = Vec::new();
    for item in keep.list()? {
        let words = item.text()?;
        let (column, kind) = words.trim().split_once(' ').ok_or_else(|| {
            item.error(format!("`{}`: say its type, too, such as \"balance int\"", shown(words)))
        })?;
        identifier(column, &item)?;
        if columns.iter().any(|(name, _)| name == column) {
            return Err(item.error(format!("`{column}` is there twice")));
        }
        columns.push((column.to_owned(), value_type(kind.trim(), &item)?));
    }
    if columns.is_empty() {
        return Err(keep.error("there is no column to keep"));
    }
    Ok(Some((name.to_owned(), columns)))
}

/// SQL: text, `{ file = "…" }`, or a table of these by dialect.
fn variants(item: &Item<'_>, files: &mut Files<'_>) -> Result<Variants, String> {
    let place = item.place();
    if item.value().as_str().is_some() {
        return Ok(Variants { any: Some(item.text()?.to_owned()), of: Vec::new(), place });
    }
    let section = item.section(&["any", "postgres", "mysql", "sqlite", "duckdb", "file"])?;
    if let Some(file) = section.get("file") {
        if DIALECTS.iter().any(|(key, _)| section.has(key)) || section.has("any") {
            return Err(section.error("`file` is for all dialects; make it `any.file`, beside the others"));
        }
        return Ok(Variants { any: Some(from_file(&file, files)?), of: Vec::new(), place });
    }
    let mut one = |key: &str| section.get(key).map(|item| sql_of(&item, files)).transpose();
    let any = one("any")?;
    let mut of: Vec<(Dialect, String)> = Vec::new();
    for (key, dialect) in DIALECTS {
        of.extend(one(key)?.map(|sql| (dialect, sql)));
    }
    if any.is_none() && of.is_empty() {
        return Err(section.error("there is no SQL; valid are any, postgres, mysql, sqlite, file"));
    }
    Ok(Variants { any, of, place })
}

fn sql_of(item: &Item<'_>, files: &mut Files<'_>) -> Result<String, String> {
    if item.value().as_str().is_some() {
        return Ok(item.text()?.to_owned());
    }
    let section = item.section(&["file"])?;
    let file = section.get("file").ok_or_else(|| section.error("there is no SQL and no `file`"))?;
    from_file(&file, files)
}

fn from_file(item: &Item<'_>, files: &mut Files<'_>) -> Result<String, String> {
    let name = item.text()?;
    let is_below = !name.is_empty()
        && !name.contains(['\\', ':', '\0'])
        && name.split('/').all(|part| !part.is_empty() && part != ".." && part != ".");
    if !is_below {
        let words = "must lie beside the workload's file or below";
        return Err(item.error(format!("file `{}` {words}", shown(name))));
    }
    files(name).map_err(|why| item.error(format!("file `{}`: {why}", shown(name))))
}

/// A column that a sequence goes on behind.
fn behind(item: &Item<'_>) -> Result<(String, String), String> {
    column_of(item.text()?).map_err(|why| item.error(why))
}
