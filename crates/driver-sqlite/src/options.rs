//! What a URL can ask for.

use driver::{TargetUrl, UrlError};
use std::path::PathBuf;

/// The settings of every connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Options {
    pub(crate) path: PathBuf,
    /// `PRAGMA journal_mode`.
    pub(crate) journal: String,
    /// `PRAGMA synchronous`.
    pub(crate) synchronous: String,
    /// `PRAGMA cache_size`, in KiB; SQLite's own default (2,000) when absent.
    pub(crate) cache_kib: Option<u32>,
    /// `PRAGMA mmap_size`, in KiB.
    pub(crate) mmap_kib: Option<u32>,
    /// `PRAGMA wal_autocheckpoint`, in pages; 0 turns it off.
    pub(crate) wal_autocheckpoint: Option<u32>,
    /// Longest wait for a lock; 0 gives up at once.
    pub(crate) busy_timeout_ms: u32,
    /// Whether transactions take the write lock when they begin.
    pub(crate) begin_immediate: bool,
}

const NAMES: [&str; 7] =
    ["journal", "synchronous", "cache_kib", "mmap_kib", "wal_autocheckpoint", "busy_timeout_ms", "begin"];

impl Options {
    pub(crate) fn from_url(url: &TargetUrl) -> Result<Options, UrlError> {
        if !url.host.is_empty() {
            return Err(url.error("a database file has no host; write `sqlite:PATH` or `sqlite:/PATH`"));
        }
        if url.path.is_empty() || url.path == ":memory:" {
            return Err(url.error(
                "no file; write `sqlite:PATH` (a database in memory would be private to each session)",
            ));
        }
        let mut options = Options {
            path: PathBuf::from(&url.path),
            journal: "wal".to_owned(),
            synchronous: "normal".to_owned(),
            cache_kib: None,
            mmap_kib: None,
            wal_autocheckpoint: None,
            busy_timeout_ms: 5_000,
            begin_immediate: true,
        };
        for (name, value) in &url.options {
            options.set(name, value).map_err(|problem| url.error(problem))?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "journal" => {
                let valid = ["delete", "truncate", "persist", "memory", "wal", "off"];
                self.journal = choice(name, value, &valid)?;
            }
            "synchronous" => {
                self.synchronous = choice(name, value, &["off", "normal", "full", "extra"])?;
            }
            "cache_kib" => self.cache_kib = Some(whole(name, value, 1, 1 << 30)?),
            "mmap_kib" => self.mmap_kib = Some(whole(name, value, 0, 1 << 30)?),
            "wal_autocheckpoint" => self.wal_autocheckpoint = Some(whole(name, value, 0, 1 << 30)?),
            "busy_timeout_ms" => self.busy_timeout_ms = whole(name, value, 0, 3_600_000)?,
            "begin" => self.begin_immediate = choice(name, value, &["immediate", "deferred"])? == "immediate",
            _ => return Err(format!("unknown option `{name}`; valid are {}", NAMES.join(", "))),
        }
        Ok(())
    }

    /// How a transaction starts.
    pub(crate) fn begin_sql(&self) -> &'static str {
        if self.begin_immediate { "BEGIN IMMEDIATE" } else { "BEGIN" }
    }
}

fn choice(name: &str, value: &str, valid: &[&str]) -> Result<String, String> {
    let value = value.to_ascii_lowercase();
    if valid.contains(&value.as_str()) {
        return Ok(value);
    }
    Err(format!("{name}={value}: valid are {}", valid.join(", ")))
}

fn whole(name: &str, value: &str, least: u32, most: u32) -> Result<u32, String> {
    let number = value.parse().ok().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| format!("{name}={value}: expected a whole number in [{least}, {most}]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Result<Options, String> {
        Options::from_url(&TargetUrl::parse(text).unwrap()).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_are_wal_and_normal_and_immediate() {
        let found = options("sqlite:a.db").unwrap();
        assert_eq!((found.journal.as_str(), found.synchronous.as_str()), ("wal", "normal"));
        assert_eq!((found.busy_timeout_ms, found.begin_sql()), (5_000, "BEGIN IMMEDIATE"));
        assert_eq!(options("sqlite:///tmp/a.db").unwrap().path, PathBuf::from("tmp/a.db"));
    }

    #[test]
    fn options_are_read_or_refused_in_one_line() {
        let all = "sqlite:a.db?journal=DELETE&synchronous=full&cache_kib=64&mmap_kib=0&wal_autocheckpoint=0\
                   &busy_timeout_ms=0&begin=deferred";
        let found = options(all).unwrap();
        assert_eq!((found.journal.as_str(), found.cache_kib, found.mmap_kib), ("delete", Some(64), Some(0)));
        assert_eq!(
            (found.wal_autocheckpoint, found.busy_timeout_ms, found.begin_sql()),
            (Some(0), 0, "BEGIN")
        );
        for (text, part) in [
            ("sqlite:", "no file"),
            ("sqlite::memory:", "private to each session"),
            ("sqlite://host/a.db", "no host"),
            ("sqlite:a.db?sync=full", "unknown option `sync`; valid are journal, synchronous"),
            ("sqlite:a.db?journal=log", "journal=log: valid are delete"),
            ("sqlite:a.db?cache_kib=0", "cache_kib=0: expected a whole number in [1, 1073741824]"),
            ("sqlite:a.db?busy_timeout_ms=x", "busy_timeout_ms=x: expected a whole number"),
        ] {
            let message = options(text).unwrap_err();
            assert!(message.contains(part) && !message.contains('\n'), "{message}");
        }
    }
}
