//! Short names for statements, as tables have room for.

use crate::StatementSpec;
use std::collections::HashMap;

/// The longest name, in characters, before the number that tells it from others.
const LONGEST: usize = 40;

/// What to call each statement: what it does and to which table first, `SELECT stock`. Those that would share a name are
/// numbered in their order: `SELECT stock`, `SELECT stock 2`.
pub fn statement_names(statements: &[StatementSpec]) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let name = |spec: &StatementSpec| {
        let name = name(&spec.sql);
        let count = seen.entry(name.clone()).and_modify(|count| *count += 1).or_insert(1);
        if *count == 1 { name } else { format!("{name} {count}") }
    };
    statements.iter().map(name).collect()
}

fn name(sql: &str) -> String {
    let mut words = Words(sql);
    let Some(verb) = words.next() else { return "(empty)".to_owned() };
    let verb = verb.to_uppercase();
    let table = match verb.as_str() {
        "SELECT" | "DELETE" | "WITH" => words.after("FROM"),
        "INSERT" | "REPLACE" | "UPSERT" | "MERGE" => words.after("INTO"),
        "UPDATE" => words.find(|word| !word.eq_ignore_ascii_case("ONLY")),
        _ => words.next(),
    };
    let name = table.map_or(verb.clone(), |table| format!("{verb} {table}"));
    name.chars().take(LONGEST).collect()
}

/// The words of a statement, without quotes around names, comments, and what is no word.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    /// The word behind this one.
    fn after(&mut self, keyword: &str) -> Option<&'a str> {
        self.find(|word| word.eq_ignore_ascii_case(keyword))?;
        self.next()
    }

    fn skip_comment(&mut self) -> bool {
        let (open, close) = if self.0.starts_with("--") { ("--", "\n") } else { ("/*", "*/") };
        let Some(rest) = self.0.strip_prefix(open) else { return false };
        self.0 = rest.split_once(close).map_or("", |(_, rest)| rest);
        true
    }

    /// The word or the quoted name that the rest begins with.
    fn take(&mut self) -> Option<&'a str> {
        let first = self.0.chars().next()?;
        if let Some(rest) = self.0.strip_prefix(['"', '`', '\'']) {
            let end = rest.find(first).unwrap_or(rest.len());
            self.0 = rest.get(end + 1..).unwrap_or("");
            return (first != '\'' && end > 0).then(|| &rest[..end]);
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let end = self.0.find(|c| !is_word(c)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = if end == 0 { &rest[first.len_utf8()..] } else { rest };
        (end > 0).then_some(word)
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        while !self.0.is_empty() {
            if self.skip_comment() {
                continue;
            }
            if let Some(word) = self.take() {
                return Some(word);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_statement_is_called_by_what_it_does_and_to_which_table() {
        for (sql, called) in [
            ("SELECT s_quantity FROM stock WHERE s_i_id = $1", "SELECT stock"),
            ("select count(*) from \"order line\", stock", "SELECT order line"),
            ("INSERT INTO history (h_c_id) VALUES (?)", "INSERT history"),
            ("UPDATE warehouse SET w_ytd = w_ytd + ?", "UPDATE warehouse"),
            ("UPDATE ONLY public.district SET d_ytd = 1", "UPDATE public.district"),
            ("DELETE FROM `new_order` WHERE no_o_id = ?", "DELETE new_order"),
            ("REPLACE INTO t VALUES (1)", "REPLACE t"),
            ("-- who is there\nSELECT 1", "SELECT"),
            ("/* from here */ SELECT 'from nowhere', x FROM here", "SELECT here"),
            ("WITH new AS (SELECT 1) SELECT * FROM new", "WITH new"),
            ("CALL new_order(?, ?)", "CALL new_order"),
            ("SELECT 1 FROM \"\"", "SELECT"),
            ("`", "(empty)"),
            ("DO 0", "DO 0"),
            ("", "(empty)"),
            (";", "(empty)"),
        ] {
            assert_eq!(name(sql), called, "{sql}");
        }
    }

    #[test]
    fn those_alike_are_numbered() {
        let spec = |sql: &str| StatementSpec::counted(sql, &[]);
        let all = ["SELECT a FROM t", "UPDATE t SET a = 1", "SELECT b FROM t", "SELECT c FROM t"].map(spec);
        assert_eq!(statement_names(&all), ["SELECT t", "UPDATE t", "SELECT t 2", "SELECT t 3"]);
    }

    proptest! {
        #[test]
        fn any_text_has_a_short_name(sql in "(?i)(select|update|insert into|--|/\\*|['\"`]|\\PC| |\n|from){0,12}") {
            let name = name(&sql);
            prop_assert!(!name.is_empty() && name.chars().count() <= LONGEST, "{name:?}");
        }
    }
}
