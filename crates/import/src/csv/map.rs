//! Which column is what, as the user says it.

use super::columns::Role;
use crate::ImportError;
use crate::format::{TimeUnit, quoted};

/// Which columns are what, as the user says it: `intended=start_s,service=lat_ms:ms,operation="kind, whole"`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnMap {
    entries: Vec<Entry>,
}

/// One role and its column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) role: Role,
    /// As it was written, but for quotes.
    text: String,
    /// The name within quotes, or before the last colon, and what stands behind that colon.
    parted: Option<(String, String)>,
}

impl Entry {
    /// Reads `COLUMN[:UNIT]`.
    fn of(role: Role, text: &str) -> Result<Entry, String> {
        let text = text.trim();
        let Some(within) = text.strip_prefix('"') else {
            let parted = text.rsplit_once(':').map(|(name, unit)| (name.trim().to_owned(), unit.to_owned()));
            return Ok(Entry { role, text: text.to_owned(), parted });
        };
        let (name, behind) =
            end_of_quote(within).ok_or_else(|| format!("{}: a quote does not end", quoted(text)))?;
        let parted = match behind.trim().strip_prefix(':') {
            Some(unit) => Some((name.clone(), unit.trim().to_owned())),
            None if behind.trim().is_empty() => None,
            None => return Err(format!("{}: behind a quote there may be `:UNIT` alone", quoted(text))),
        };
        if let Some((_, unit)) = &parted
            && TimeUnit::parse(unit).is_none()
        {
            return Err(no_unit(unit));
        }
        Ok(Entry { role, text: name, parted })
    }

    /// Where its column is, and its unit where that was said. What stands behind a colon is part of the name where there is such a
    /// column, and none of the shorter name.
    pub(super) fn find(
        &self,
        place: impl Fn(&str) -> Option<usize>,
    ) -> Result<(usize, &str, Option<TimeUnit>), String> {
        let whole = || place(&self.text).map(|at| (at, self.text.as_str(), None));
        let Some((name, unit)) = &self.parted else {
            return whole().ok_or_else(|| no_column(&self.text));
        };
        match (place(name), TimeUnit::parse(unit)) {
            (Some(at), Some(unit)) => Ok((at, name, Some(unit))),
            (Some(_), None) => whole().ok_or_else(|| no_unit(unit)),
            (None, Some(_)) => whole().ok_or_else(|| no_column(name)),
            (None, None) => {
                whole().ok_or_else(|| format!("{}; and {}", no_unit(unit), no_column(&self.text)))
            }
        }
    }
}

fn no_unit(unit: &str) -> String {
    format!(
        "{} is no unit: there are ns, us, ms, s; a column whose name holds a colon stands in quotes, as in \"a:b\":ms",
        quoted(unit)
    )
}

fn no_column(name: &str) -> String {
    format!("there is no column {}", quoted(name))
}

/// What stands before the end of a quote, in which a quote is doubled, and what comes behind it.
fn end_of_quote(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let (before, behind) = rest.split_once('"')?;
        name.push_str(before);
        let Some(more) = behind.strip_prefix('"') else { return Some((name, behind)) };
        name.push('"');
        rest = more;
    }
}

/// The text at its commas, but for those in quotes.
fn entries(text: &str) -> Vec<&str> {
    let mut is_quoted = false;
    text.split(|c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    })
    .collect()
}

impl ColumnMap {
    /// Reads `ROLE=COLUMN[:UNIT]`, parted by commas. Roles are intended, start, sent, completed (moments), response, service,
    /// elapsed, lag (lengths of time), operation, session, ok; units ns, us, ms, s, or as the column's name ends. A name that
    /// holds a comma stands in quotes.
    ///
    /// # Errors
    /// [`ImportError::Map`] for what is none of these.
    pub fn parse(text: &str) -> Result<ColumnMap, ImportError> {
        let wrong = |why: String| ImportError::Map { text: text.to_owned(), why };
        let mut all: Vec<Entry> = Vec::new();
        for entry in entries(text) {
            let (role, column) = entry.split_once('=').ok_or_else(|| {
                wrong(format!(
                    "{} is not ROLE=COLUMN; a column whose name holds a comma stands in quotes, as in operation=\"a, b\"",
                    quoted(entry)
                ))
            })?;
            let known = Role::parse(role.trim()).ok_or_else(|| {
                let names = Role::ALL.map(|(_, name)| name).join(", ");
                wrong(format!("{} is no role: there are {names}", quoted(role)))
            })?;
            if all.iter().any(|other| other.role == known) {
                return Err(wrong(format!("{} is there twice", quoted(role))));
            }
            all.push(Entry::of(known, column).map_err(wrong)?);
        }
        Ok(ColumnMap { entries: all })
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::columns::Columns;

    fn read(map: &str, header: &str) -> Result<Columns, String> {
        let map = ColumnMap::parse(map).map_err(|error| error.to_string())?;
        Columns::mapped(header, &map)
    }

    #[test]
    fn any_name_of_a_column_can_be_written() {
        let header = "\"kind, whole\",time:total,time:ms,\"say \"\"hi\"\"\",plain";
        let line = "GET,5,7,9,11";
        let service = |map: &str| {
            let columns = read(&format!("{map},completed=plain:us"), header).expect(map);
            columns.row(line).expect("a row").service.map(|length| length.0)
        };
        assert_eq!(service("service=\"time:total\":ms"), Some(5_000_000));
        assert_eq!(service("service=time:total:ms"), Some(5_000_000));
        assert_eq!(service("service=\"time:ms\":us"), Some(7_000));
        assert_eq!(service("service=time:ms:us"), Some(7_000));
        assert_eq!(service("service=\"say \"\"hi\"\"\":s"), Some(9_000_000_000));
        let columns =
            read("operation=\"kind, whole\",service=plain:us,completed=time:total:s", header).expect("a map");
        assert_eq!(columns.row(line).expect("a row").operation, "GET");
        // Where the shorter name is a column too, the colon parts a unit from it.
        let both = read("service=time:ms,completed=x:s", "time,time:ms,x").expect("a map");
        assert_eq!(both.row("3,4,5").expect("a row").service.map(|length| length.0), Some(3_000_000));
        // A unit alone is not told by the name of such a column.
        assert!(
            read("service=time:total,completed=plain:us", header)
                .expect_err("no unit")
                .contains("is not known")
        );
    }

    #[test]
    fn maps_that_make_no_sense_say_why() {
        for (map, words) in [
            ("service=\"a", "a quote does not end"),
            ("service=\"a\"b", "behind a quote there may be `:UNIT` alone"),
            ("service=\"a\":h", "`h` is no unit"),
            ("service=a,b", "`b` is not ROLE=COLUMN; a column whose name holds a comma stands in quotes"),
            ("service=a:h", "`h` is no unit"),
            ("service=b:ms", "there is no column `b`"),
            ("service=b:c", "there is no column `b:c`"),
        ] {
            let error = read(map, "a,x").expect_err(map);
            assert!(error.contains(words) && !error.contains('\n'), "{map}: {error}");
        }
    }
}
