//! SQL as it is written in a file: `:name` for a value, `{name}` for a parameter or a column type.
//!
//! What stands between quotes or in comments is left as it is, so that `'{1,2}'` is an array and `'12:30'` a time;
//! `::` is PostgreSQL's cast.

use crate::document::shown;
use driver::Dialect;

/// A part of a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Piece<'a> {
    /// Plain SQL.
    Plain(&'a str),
    /// Between quotes, or a comment.
    Closed(&'a str),
    /// `:name` or `:row.column`, without its colon.
    Name(&'a str),
    /// `{words}`, without its braces.
    Brace(&'a str),
}

/// Takes SQL apart. MariaDB and MySQL have backslashes in their strings.
pub(crate) fn pieces(sql: &str, dialect: Dialect) -> Result<Vec<Piece<'_>>, String> {
    let mut scanner = Scanner { sql, at: 0, plain_from: 0, pieces: Vec::new() };
    scanner.run(dialect == Dialect::MySql)?;
    Ok(scanner.pieces)
}

struct Scanner<'a> {
    sql: &'a str,
    at: usize,
    plain_from: usize,
    pieces: Vec<Piece<'a>>,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.sql[self.at..]
    }

    /// What is plain ends here, and a piece that is `length` long begins.
    fn push(&mut self, length: usize, piece: Option<Piece<'a>>) {
        if self.plain_from < self.at {
            self.pieces.push(Piece::Plain(&self.sql[self.plain_from..self.at]));
        }
        self.pieces.extend(piece);
        self.at += length;
        self.plain_from = self.at;
    }

    fn run(&mut self, backslashes: bool) -> Result<(), String> {
        while let Some(c) = self.rest().chars().next() {
            let rest = self.rest();
            let closed = match c {
                '\'' | '"' | '`' => Some(quoted(rest, c, backslashes && c != '`')),
                '-' if rest.starts_with("--") => Some(Some(rest.find('\n').unwrap_or(rest.len()))),
                '/' if rest.starts_with("/*") => Some(rest.find("*/").map(|end| end + 2)),
                '$' => dollar_quoted(rest),
                _ => None,
            };
            if let Some(length) = closed {
                let length = length.ok_or_else(|| format!("`{}` has no end", shown(rest)))?;
                self.push(length, Some(Piece::Closed(&rest[..length])));
            } else if c == '{' {
                let end = rest.find('}').ok_or_else(|| format!("`{}` has no `}}`", shown(rest)))?;
                self.push(end + 1, Some(Piece::Brace(rest[1..end].trim())));
            } else if rest.starts_with("::") {
                self.at += 2;
            } else if c == ':' {
                match name_length(&rest[1..]) {
                    0 => self.at += 1,
                    length => self.push(length + 1, Some(Piece::Name(&rest[1..=length]))),
                }
            } else {
                self.at += c.len_utf8();
            }
        }
        self.push(0, None);
        Ok(())
    }
}

/// Length of what begins with a quote, with both quotes; `None` where it does not end.
fn quoted(text: &str, quote: char, backslashes: bool) -> Option<usize> {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        if backslashes && c == '\\' {
            characters.next();
        } else if c == quote {
            // A doubled quote begins another string at once, which comes to the same.
            return Some(at + 1);
        }
    }
    None
}

/// Length of PostgreSQL's `$tag$ … $tag$`; the outer `None` where this is no such thing.
fn dollar_quoted(text: &str) -> Option<Option<usize>> {
    let tag = 1 + text[1..].find('$')?;
    let is_tag = text[1..tag].chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    is_tag.then(|| text[tag + 1..].find(&text[..=tag]).map(|end| end + 2 * (tag + 1)))
}

/// Length of `name` or `row.column` at the beginning of `text`.
fn name_length(text: &str) -> usize {
    let word = |text: &str| match text.chars().next() {
        Some(c) if c.is_ascii_alphabetic() || c == '_' => {
            text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
        }
        _ => 0,
    };
    let first = word(text);
    match text[first..].strip_prefix('.').map(word) {
        Some(second) if first > 0 && second > 0 => first + 1 + second,
        _ => first,
    }
}

/// A statement with placeholders, and the names of its parameters in their order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) names: Vec<String>,
}

/// Makes a statement of `dialect`; `brace` says what stands for `{…}`. Portable SQL loses its `FOR UPDATE` where there is none.
pub(crate) fn statement(
    sql: &str,
    dialect: Dialect,
    is_portable: bool,
    brace: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Statement, String> {
    let mut made = Statement { sql: String::with_capacity(sql.len()), names: Vec::new() };
    let mut is_over = false;
    for piece in pieces(sql, dialect)? {
        let plain = |text: &str| text.replace(';', "").trim().is_empty();
        let is_empty = match piece {
            Piece::Plain(text) => plain(text),
            Piece::Closed(text) => text.starts_with("--") || text.starts_with("/*"),
            _ => false,
        };
        if is_over && !is_empty {
            return Err(TWO.to_owned());
        }
        match piece {
            Piece::Plain(text) => {
                let (text, after) =
                    text.split_once(';').map_or((text, None), |(text, rest)| (text, Some(rest)));
                if after.is_some_and(|after| !plain(after)) {
                    return Err(TWO.to_owned());
                }
                is_over |= after.is_some();
                let drops = is_portable && dialect.for_update().is_empty();
                made.sql += &if drops { without_for_update(text) } else { text.to_owned() };
            }
            Piece::Closed(text) => made.sql += text,
            Piece::Name(name) => {
                made.names.push(name.to_owned());
                made.sql += &dialect.placeholder(made.names.len());
            }
            Piece::Brace(words) => made.sql += &brace(words)?,
        }
    }
    made.sql = made.sql.trim().to_owned();
    if made.sql.is_empty() {
        return Err("there is no statement".to_owned());
    }
    Ok(made)
}

const TWO: &str = "these are two statements; make a step of each";

/// Makes a script of several statements, in which `:name` means nothing.
pub(crate) fn script(
    sql: &str,
    dialect: Dialect,
    brace: &dyn Fn(&str) -> Result<String, String>,
) -> Result<String, String> {
    let mut made = String::with_capacity(sql.len());
    for piece in pieces(sql, dialect)? {
        match piece {
            Piece::Plain(text) | Piece::Closed(text) => made += text,
            Piece::Name(name) => {
                made.push(':');
                made += name;
            }
            Piece::Brace(words) => made += &brace(words)?,
        }
    }
    Ok(made)
}

/// Tables that a script makes: the names behind `CREATE TABLE`.
pub(crate) fn created_tables(script: &str, dialect: Dialect) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    for piece in pieces(script, dialect)? {
        match piece {
            Piece::Plain(text) => {
                let parts = text.split(|c: char| c.is_whitespace() || "(),;".contains(c));
                words.extend(parts.filter(|word| !word.is_empty()).map(str::to_owned));
            }
            Piece::Closed(text) if text.starts_with(['"', '`']) => {
                words.push(text.trim_matches(['"', '`']).to_owned());
            }
            _ => {}
        }
    }
    let is = |word: Option<&String>, expected: &str| word.is_some_and(|w| w.eq_ignore_ascii_case(expected));
    let mut tables = Vec::new();
    for at in 0..words.len() {
        let create = (1..=2).any(|back| at >= back && is(words.get(at - back), "create"));
        if !create || !is(words.get(at), "table") {
            continue;
        }
        let name = if is(words.get(at + 1), "if") { words.get(at + 4) } else { words.get(at + 1) };
        tables.extend(name.cloned());
    }
    Ok(tables)
}

fn without_for_update(text: &str) -> String {
    const CLAUSE: &str = "for update";
    let lower = text.to_ascii_lowercase();
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in lower.match_indices(CLAUSE) {
        let end = at + CLAUSE.len();
        let stands_alone = lower[..at].ends_with(char::is_whitespace)
            && !lower[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if stands_alone {
            kept += text[from..at].trim_end();
            from = end;
        }
    }
    kept + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(sql: &str, dialect: Dialect) -> Result<(String, String), String> {
        let brace = |words: &str| Ok(format!("<{words}>"));
        statement(sql, dialect, true, &brace).map(|s| (s.sql, s.names.join(" ")))
    }

    #[test]
    fn names_become_placeholders_in_order_and_a_name_twice_is_bound_twice() {
        let sql = "SELECT a::text, '::x', ':no', \":no\" FROM t -- :no\n WHERE b = :b AND c > :row.c AND d = :b /* :no */;";
        let rest = "FROM t -- :no\n WHERE b";
        assert_eq!(
            made(sql, Dialect::Postgres).unwrap(),
            (
                format!("SELECT a::text, '::x', ':no', \":no\" {rest} = $1 AND c > $2 AND d = $3 /* :no */"),
                "b row.c b".to_owned()
            )
        );
        assert_eq!(made("x = :a, y=:b", Dialect::MySql).unwrap().0, "x = ?, y=?");
        assert_eq!(made("x = :a, y=:b", Dialect::Sqlite).unwrap().0, "x = ?1, y=?2");
        assert_eq!(made("a[1:2] + {n}", Dialect::Postgres).unwrap().0, "a[1:2] + <n>");
        assert_eq!(made("SELECT $$ :a $$, $f$ {b} $f$, :c", Dialect::Postgres).unwrap().1, "c");
        assert_eq!(made("SELECT 'a\\' :a', :b", Dialect::MySql).unwrap().1, "b");
        assert_eq!(made("SELECT 'it''s :a', :b", Dialect::Postgres).unwrap().1, "b");
    }

    #[test]
    fn portable_statements_lose_their_lock_where_there_is_none() {
        let sql = "SELECT a FROM t WHERE k = :k\n  FOR UPDATE";
        assert_eq!(made(sql, Dialect::Sqlite).unwrap().0, "SELECT a FROM t WHERE k = ?1");
        assert_eq!(made(sql, Dialect::Postgres).unwrap().0, "SELECT a FROM t WHERE k = $1\n  FOR UPDATE");
        assert_eq!(
            made("SELECT ' for update', for_update", Dialect::Sqlite).unwrap().0,
            "SELECT ' for update', for_update"
        );
    }

    #[test]
    fn what_is_no_statement_is_said() {
        for (sql, words) in [
            ("SELECT 1; SELECT 2", "two statements"),
            ("SELECT 1; :a", "two statements"),
            ("SELECT 'a", "has no end"),
            ("SELECT /* a", "has no end"),
            ("SELECT {a", "has no `}`"),
            (" ; ", "no statement"),
            ("", "no statement"),
        ] {
            let error = made(sql, Dialect::Postgres).unwrap_err();
            assert!(error.contains(words), "{sql}: {error}");
        }
        assert!(made("SELECT 1; -- that is all\n", Dialect::Postgres).is_ok());
    }

    #[test]
    fn tables_that_a_script_makes_are_found() {
        let script = "CREATE TABLE a (x int);\ncreate table if not exists \"b\"(y int); -- create table no\n\
                      CREATE TEMPORARY TABLE c AS SELECT 1; CREATE INDEX i ON a (x)";
        assert_eq!(created_tables(script, Dialect::Sqlite).unwrap(), ["a", "b", "c"]);
    }
}
