//! What a URL can ask for.

use driver::{TargetUrl, UrlError};
use std::path::PathBuf;

/// The settings that a file is opened with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Options {
    pub(crate) path: PathBuf,
    pub(crate) library: Option<PathBuf>,
    /// DuckDB's settings: (name, value), all of which must be the same for all who open the file.
    pub(crate) settings: Vec<(&'static str, String)>,
}

const NAMES: [&str; 8] = [
    "library",
    "threads",
    "memory_limit",
    "access_mode",
    "checkpoint_threshold",
    "preserve_insertion_order",
    "temp_directory",
    "disabled_optimizers",
];

const DISABLED: &str = "disabled_optimizers";

/// Parts of DuckDB's optimiser that write what the tables hold while a statement is prepared into its plan: which values there
/// are, and how long texts are. Up to 1.5 the plan keeps that when the tables change, and answers are wrong (duckdb#23704).
const UNSOUND: &str = "statistics_propagation,compressed_materialization";

impl Options {
    pub(crate) fn from_url(url: &TargetUrl) -> Result<Options, UrlError> {
        if !url.host.is_empty() {
            return Err(url.error("a database file has no host; write `duckdb:PATH` or `duckdb:/PATH`"));
        }
        if url.path.is_empty() || url.path.starts_with(":memory:") {
            return Err(url.error(
                "no file; write `duckdb:PATH` (a database in memory would be gone between loading and running)",
            ));
        }
        if url.path.contains('\0') {
            return Err(url.error("a zero in the path"));
        }
        let mut options = Options { path: PathBuf::from(&url.path), library: None, settings: Vec::new() };
        for (name, value) in &url.options {
            options.set(name, value).map_err(|problem| url.error(problem))?;
        }
        options.fill();
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let Some(&name) = NAMES.iter().find(|known| **known == name) else {
            return Err(format!("unknown option `{name}`; valid are {}", NAMES.join(", ")));
        };
        if value.is_empty() || value.contains('\0') {
            return Err(format!("{name}={value}: a value is missing"));
        }
        let value = match name {
            "library" => {
                self.library = Some(PathBuf::from(value));
                return Ok(());
            }
            "threads" => match value.parse::<u32>() {
                Ok(count @ 1..=1024) => count.to_string(),
                _ => return Err(format!("threads={value}: expected a whole number in [1, 1024]")),
            },
            "memory_limit" | "checkpoint_threshold" => size(name, value)?,
            "access_mode" => choice(name, value, &["automatic", "read_only", "read_write"])?,
            "preserve_insertion_order" => choice(name, value, &["true", "false"])?,
            _ => value.to_owned(),
        };
        self.settings.retain(|(present, _)| *present != name);
        self.settings.push((name, value));
        Ok(())
    }

    /// What stands where the URL says nothing.
    fn fill(&mut self) {
        let defaults = [
            ("threads", "1"),
            (DISABLED, UNSOUND),
            // Nothing is fetched over the network in the middle of a run.
            ("autoinstall_known_extensions", "false"),
            ("autoload_known_extensions", "false"),
        ];
        for (name, value) in defaults {
            if !self.settings.iter().any(|(present, _)| *present == name) {
                self.settings.push((name, value.to_owned()));
            }
        }
        self.settings.retain(|(name, value)| *name != DISABLED || value != "none");
    }
}

fn choice(name: &str, value: &str, valid: &[&str]) -> Result<String, String> {
    let value = value.to_ascii_lowercase();
    if valid.contains(&value.as_str()) {
        return Ok(value);
    }
    Err(format!("{name}={value}: valid are {}", valid.join(", ")))
}

/// `512MB`, `1.5GiB`: a number and a unit, as DuckDB reads them.
fn size(name: &str, value: &str) -> Result<String, String> {
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = &value[..value.len() - unit.len()];
    let units = ["KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"];
    let is_size = number.parse::<f64>().is_ok_and(|number| number > 0.0)
        && units.iter().any(|known| known.eq_ignore_ascii_case(unit));
    if is_size {
        return Ok(value.to_owned());
    }
    Err(format!("{name}={value}: expected a size such as 512MB or 2GiB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Result<Options, String> {
        Options::from_url(&TargetUrl::parse(text).unwrap()).map_err(|e| e.to_string())
    }

    fn setting(text: &str, name: &str) -> Option<String> {
        let found = options(text).unwrap().settings;
        found.into_iter().find(|(present, _)| *present == name).map(|(_, value)| value)
    }

    #[test]
    fn one_thread_and_nothing_fetched_unless_asked() {
        assert_eq!(setting("duckdb:a.db", "threads").as_deref(), Some("1"));
        assert_eq!(setting("duckdb:a.db", "autoinstall_known_extensions").as_deref(), Some("false"));
        assert_eq!(setting("duckdb:a.db", "memory_limit"), None);
        assert_eq!(setting("duckdb:a.db", "disabled_optimizers").as_deref(), Some(UNSOUND));
        assert_eq!(setting("duckdb:a.db?disabled_optimizers=none", "disabled_optimizers"), None);
        assert_eq!(
            setting("duckdb:a.db?disabled_optimizers=cse", "disabled_optimizers").as_deref(),
            Some("cse")
        );
        let all = "duckdb:/t/a.db?threads=2&threads=3&memory_limit=1.5GiB&access_mode=READ_ONLY&library=/l.so\
                   &checkpoint_threshold=64mb&preserve_insertion_order=false&temp_directory=/t";
        assert_eq!(setting(all, "threads").as_deref(), Some("3"));
        assert_eq!(setting(all, "memory_limit").as_deref(), Some("1.5GiB"));
        assert_eq!(setting(all, "access_mode").as_deref(), Some("read_only"));
        assert_eq!(options(all).unwrap().library, Some(PathBuf::from("/l.so")));
        assert_eq!(options(all).unwrap().path, PathBuf::from("/t/a.db"));
    }

    #[test]
    fn what_is_wrong_is_refused_in_one_line() {
        for (text, part) in [
            ("duckdb:", "no file"),
            ("duckdb::memory:", "gone between loading and running"),
            ("duckdb://host/a.db", "no host"),
            ("duckdb:a.db?thread=1", "unknown option `thread`; valid are library, threads, memory_limit"),
            ("duckdb:a.db?threads=0", "threads=0: expected a whole number in [1, 1024]"),
            ("duckdb:a.db?memory_limit=5", "memory_limit=5: expected a size such as 512MB"),
            ("duckdb:a.db?memory_limit=GB", "memory_limit=GB: expected a size"),
            ("duckdb:a.db?memory_limit=0MB", "memory_limit=0MB: expected a size"),
            ("duckdb:a.db?access_mode=mine", "access_mode=mine: valid are automatic"),
            ("duckdb:a.db?library=", "library=: a value is missing"),
            ("duckdb:a%00b", "a zero in the path"),
        ] {
            let message = options(text).unwrap_err();
            assert!(message.contains(part) && !message.contains('\n'), "{message}");
        }
    }
}
