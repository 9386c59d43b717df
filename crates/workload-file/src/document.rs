//! A TOML document whose every part knows where it stands, so that an error can say so.

use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use workload::names;

/// Where something stands, and what it is: `line 3, column 9: value `amount``. Errors begin with it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Place(String);

impl std::fmt::Debug for Place {
    /// Nothing: what is the same at another line is the same.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("_")
    }
}

impl Place {
    pub(crate) fn error(&self, words: impl std::fmt::Display) -> String {
        format!("{}: {words}", self.0)
    }

    /// A parameter that was set outside of the file.
    pub(crate) fn of_parameter(name: &str) -> Place {
        Place(format!("parameter `{name}`"))
    }

    /// What the place is, without its line.
    pub(crate) fn what(&self) -> &str {
        self.0.split_once(": ").map_or(self.0.as_str(), |(_, what)| what)
    }
}

/// The document's text, for lines and columns.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a>(pub(crate) &'a str);

impl Text<'_> {
    fn at(self, span: &Range<usize>) -> String {
        let before = self.0.get(..span.start).unwrap_or(self.0);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        format!("line {line}, column {column}")
    }

    /// Parses; the error is one line.
    pub(crate) fn parse(&self) -> Result<Spanned<DeTable<'_>>, String> {
        DeTable::parse(self.0).map_err(|error| {
            let words = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            let at = error.span().map_or_else(|| "somewhere".to_owned(), |span| self.at(&span));
            format!("{at}: {words}")
        })
    }
}

/// A value of the document.
#[derive(Clone)]
pub(crate) struct Item<'a> {
    text: Text<'a>,
    what: String,
    span: Range<usize>,
    value: &'a DeValue<'a>,
}

/// A table of the document, whose keys are all known.
pub(crate) struct Section<'a> {
    text: Text<'a>,
    what: String,
    span: Range<usize>,
    table: &'a DeTable<'a>,
}

fn place(text: Text<'_>, span: &Range<usize>, what: &str) -> Place {
    Place(if what.is_empty() { text.at(span) } else { format!("{}: {what}", text.at(span)) })
}

/// `what` and, behind it, a part of it.
fn within(what: &str, part: &str) -> String {
    if what.is_empty() { part.to_owned() } else { format!("{what}, {part}") }
}

impl<'a> Section<'a> {
    /// The document itself.
    pub(crate) fn whole(
        text: Text<'a>,
        document: &'a Spanned<DeTable<'a>>,
        keys: &[&str],
    ) -> Result<Section<'a>, String> {
        Section::of(text, String::new(), document.span(), document.get_ref(), keys)
    }

    fn of(
        text: Text<'a>,
        what: String,
        span: Range<usize>,
        table: &'a DeTable<'a>,
        keys: &[&str],
    ) -> Result<Section<'a>, String> {
        for key in table.keys() {
            let name: &str = key.get_ref();
            if !keys.is_empty() && !keys.contains(&name) {
                let words = format!("there is no key `{}`{}", shown(name), names::suggestion(name, keys));
                return Err(place(text, &key.span(), &what).error(words));
            }
        }
        Ok(Section { text, what, span, table })
    }

    pub(crate) fn place(&self) -> Place {
        place(self.text, &self.span, &self.what)
    }

    pub(crate) fn error(&self, words: impl std::fmt::Display) -> String {
        self.place().error(words)
    }

    /// The same section, called otherwise in errors.
    pub(crate) fn called(mut self, what: String) -> Section<'a> {
        self.what = what;
        self
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.keys().any(|name| name.get_ref() == key)
    }

    /// Entries in the order of the document, each called by `of` its name.
    pub(crate) fn entries(&self, of: impl Fn(&str) -> String) -> Vec<(String, Item<'a>)> {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let item = |(key, value): (&'a Spanned<Cow<'a, str>>, &'a Spanned<DeValue<'a>>)| {
            let name = key.get_ref().to_string();
            let what = within(&self.what, &of(&name));
            (name, Item { text: self.text, what, span: key.span(), value: value.get_ref() })
        };
        entries.into_iter().map(item).collect()
    }

    /// The value of a key, called by the key.
    pub(crate) fn get(&self, key: &str) -> Option<Item<'a>> {
        let (_, value) = self.table.iter().find(|(name, _)| name.get_ref() == key)?;
        let what = within(&self.what, &format!("`{key}`"));
        Some(Item { text: self.text, what, span: value.span(), value: value.get_ref() })
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, String> {
        self.get(key).map(|item| item.text().map(str::to_owned)).transpose()
    }

    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        let flag = |item: Item<'_>| item.value.as_bool().ok_or_else(|| item.wanted("`true` or `false`"));
        self.get(key).map(flag).transpose()
    }

    /// The tables of `[[key]]`, in order, not yet looked into.
    pub(crate) fn list(&self, key: &str) -> Result<Vec<Item<'a>>, String> {
        self.get(key).map_or(Ok(Vec::new()), |item| item.list())
    }

    /// The table of `[key]`.
    pub(crate) fn section(&self, key: &str, keys: &[&str]) -> Result<Option<Section<'a>>, String> {
        self.get(key).map(|item| item.section(keys)).transpose()
    }
}

impl<'a> Item<'a> {
    pub(crate) fn place(&self) -> Place {
        place(self.text, &self.span, &self.what)
    }

    pub(crate) fn error(&self, words: impl std::fmt::Display) -> String {
        self.place().error(words)
    }

    pub(crate) fn wanted(&self, what: &str) -> String {
        self.error(format!("expected {what}, found {}", kind(self.value)))
    }

    pub(crate) fn value(&self) -> &'a DeValue<'a> {
        self.value
    }

    pub(crate) fn text(&self) -> Result<&'a str, String> {
        self.value.as_str().ok_or_else(|| self.wanted("text"))
    }

    pub(crate) fn list(&self) -> Result<Vec<Item<'a>>, String> {
        let array = self.value.as_array().ok_or_else(|| self.wanted("a list"))?;
        let item = |value: &'a Spanned<DeValue<'a>>| Item {
            text: self.text,
            what: self.what.clone(),
            span: value.span(),
            value: value.get_ref(),
        };
        Ok(array.iter().map(item).collect())
    }

    /// Its table, which may hold no other keys than these; any if there are none.
    pub(crate) fn section(&self, keys: &[&str]) -> Result<Section<'a>, String> {
        let table = self.value.as_table().ok_or_else(|| self.wanted("a table"))?;
        Section::of(self.text, self.what.clone(), self.span.clone(), table, keys)
    }

    /// The same item, called otherwise in errors.
    pub(crate) fn called(mut self, what: String) -> Item<'a> {
        self.what = what;
        self
    }
}

/// Text from a file in one line of a message.
pub(crate) fn shown(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
