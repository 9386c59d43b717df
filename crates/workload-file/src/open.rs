//! The file itself: reading it, what a recording keeps of it, and what it looks up in a database.

use crate::definition::Definition;
use crate::document::shown;
use crate::expression::Found;
use driver::Administration;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The longest file that is read.
const LONGEST: u64 = 16 << 20;

/// A file's text, and those that it refers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Opened {
    /// As it was named.
    path: String,
    pub(crate) text: String,
    /// By the names that it calls them.
    pub(crate) files: Vec<(String, String)>,
}

impl Opened {
    pub(crate) fn from_text(path: &str, text: &str) -> Opened {
        Opened { path: path.to_owned(), text: text.to_owned(), files: Vec::new() }
    }

    pub(crate) fn read(path: &Path) -> Result<Opened, String> {
        Ok(Opened::from_text(&path.to_string_lossy(), &read(path)?))
    }

    /// The name without its directory.
    fn file(&self) -> String {
        let name = Path::new(&self.path).file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_else(|| "workload.toml".to_owned())
    }

    /// The workload's name: the one that the file gives, or the file's own.
    pub(crate) fn name_of(&self, definition: &Definition) -> Result<String, String> {
        if let Some((name, _)) = &definition.name {
            return Ok(name.clone());
        }
        let file = self.file();
        let stem = file.strip_suffix(".toml").unwrap_or(&file);
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if stem.is_empty() || stem.len() > 64 || !stem.chars().all(is_name) {
            return Err(format!("`{}` can't name a workload; add `name = \"…\"` to the file", shown(stem)));
        }
        Ok(stem.to_owned())
    }

    /// All texts by name, the file's own first.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        let own = (self.file(), self.text.clone());
        std::iter::once(own).chain(self.files.iter().cloned()).collect()
    }

    pub(crate) fn facts(&self) -> Vec<(String, String)> {
        let mut facts = vec![("file".to_owned(), self.path.clone())];
        facts
            .extend(self.all().into_iter().map(|(name, text)| (format!("SHA-256 of {name}"), sha256(&text))));
        facts
    }
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(path: &Path) -> Result<String, String> {
    let length = std::fs::metadata(path).map_err(|e| format!("can't be read: {e}; check the path"))?.len();
    if length > LONGEST {
        return Err(format!("is {length} bytes long; at most {LONGEST}"));
    }
    let bytes = std::fs::read(path).map_err(|e| format!("can't be read: {e}; check the path"))?;
    String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())
}

/// Reads files beside this one.
pub(crate) fn beside(path: &Path) -> impl FnMut(&str) -> Result<String, String> {
    let directory = path.parent().unwrap_or(Path::new("")).to_owned();
    move |name| read(&directory.join(name))
}

/// A name that lives as long as the program. The same one is kept once, however often a file is read.
pub(crate) fn for_ever(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

/// What a database says; `None` for the highest of no values.
pub(crate) fn look_up(administration: &mut dyn Administration, what: &Found) -> Result<Option<i64>, String> {
    let sql = match what {
        Found::Rows(table) => format!("SELECT count(*) FROM {table}"),
        Found::Highest(table, column) => format!("SELECT max({column}) FROM {table}"),
    };
    let rows = administration.query(&sql).map_err(|error| format!("{what}: {error}"))?;
    let Some(text) = rows.first().and_then(|row| row.first()?.as_deref()) else { return Ok(None) };
    let number = text.parse().map(Some);
    number.map_err(|_| format!("{what}: `{}` is not a whole number that fits", shown(text)))
}
