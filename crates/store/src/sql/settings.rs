//! Settings of a session.
//!
//! What can't be honoured is refused: a `statement_timeout` that never ends a statement would be worse than none.

use super::error::{SqlError, state};
use std::collections::BTreeMap;

/// The release whose protocol and messages are spoken.
pub(crate) const SERVER_VERSION: &str = "15.0";

/// Who may change a setting, and to what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    /// Nobody.
    Fixed,
    /// Any value does: it changes nothing here.
    Any,
    /// `on` and `off`, in all their spellings.
    Switch,
    /// No other value than the default one can be honoured.
    DefaultOnly,
    Encoding,
    Isolation,
    /// 1 to 3: the shortest digits that are exact.
    FloatDigits,
    /// ISO, whatever the order of day and month.
    DateStyle,
}

/// Name as shown, default, rule; in the order of the names.
const SETTINGS: [(&str, &str, Rule); 59] = [
    ("DateStyle", "ISO, MDY", Rule::DateStyle),
    ("IntervalStyle", "postgres", Rule::DefaultOnly),
    ("TimeZone", "UTC", Rule::Any),
    ("application_name", "", Rule::Any),
    ("autovacuum", "off", Rule::Fixed),
    ("backslash_quote", "safe_encoding", Rule::Any),
    ("block_size", "8192", Rule::Fixed),
    ("bytea_output", "hex", Rule::DefaultOnly),
    ("check_function_bodies", "on", Rule::Switch),
    ("client_encoding", "UTF8", Rule::Encoding),
    ("client_min_messages", "notice", Rule::Any),
    ("commit_delay", "0", Rule::Any),
    ("data_checksums", "off", Rule::Fixed),
    ("deadlock_timeout", "1s", Rule::Any),
    ("default_tablespace", "", Rule::Any),
    ("default_transaction_deferrable", "off", Rule::Switch),
    ("default_transaction_isolation", "read committed", Rule::Isolation),
    ("default_transaction_read_only", "off", Rule::Switch),
    ("effective_cache_size", "4GB", Rule::Any),
    ("enable_bitmapscan", "on", Rule::Switch),
    ("enable_hashjoin", "on", Rule::Switch),
    ("enable_indexscan", "on", Rule::Switch),
    ("enable_mergejoin", "on", Rule::Switch),
    ("enable_nestloop", "on", Rule::Switch),
    ("enable_seqscan", "on", Rule::Switch),
    ("escape_string_warning", "on", Rule::Switch),
    ("extra_float_digits", "1", Rule::FloatDigits),
    ("fsync", "off", Rule::Fixed),
    ("full_page_writes", "off", Rule::Fixed),
    ("geqo", "on", Rule::Switch),
    ("idle_in_transaction_session_timeout", "0", Rule::DefaultOnly),
    ("in_hot_standby", "off", Rule::Fixed),
    ("integer_datetimes", "on", Rule::Fixed),
    ("is_superuser", "on", Rule::Fixed),
    ("jit", "off", Rule::Switch),
    ("lc_collate", "C", Rule::Fixed),
    ("lc_ctype", "C", Rule::Fixed),
    ("lc_messages", "C", Rule::Any),
    ("lock_timeout", "0", Rule::Any),
    ("log_min_duration_statement", "-1", Rule::Any),
    ("log_statement", "none", Rule::Any),
    ("maintenance_work_mem", "64MB", Rule::Any),
    ("max_identifier_length", "63", Rule::Fixed),
    ("plan_cache_mode", "auto", Rule::Any),
    ("random_page_cost", "4", Rule::Any),
    ("row_security", "on", Rule::Switch),
    ("search_path", "\"$user\", public", Rule::Any),
    ("server_encoding", "UTF8", Rule::Fixed),
    ("server_version", SERVER_VERSION, Rule::Fixed),
    ("server_version_num", "150000", Rule::Fixed),
    ("session_authorization", "", Rule::Fixed),
    ("shared_buffers", "0", Rule::Fixed),
    ("standard_conforming_strings", "on", Rule::DefaultOnly),
    ("statement_timeout", "0", Rule::DefaultOnly),
    ("synchronous_commit", "off", Rule::Any),
    ("transaction_isolation", "read committed", Rule::Isolation),
    ("transaction_read_only", "off", Rule::Switch),
    ("wal_level", "minimal", Rule::Fixed),
    ("work_mem", "4MB", Rule::Any),
];

/// Those that a client is told at the start, and again whenever they change.
const REPORTED: [&str; 13] = [
    "application_name",
    "client_encoding",
    "DateStyle",
    "default_transaction_read_only",
    "in_hot_standby",
    "integer_datetimes",
    "IntervalStyle",
    "is_superuser",
    "server_encoding",
    "server_version",
    "session_authorization",
    "standard_conforming_strings",
    "TimeZone",
];

/// A value may have so many bytes, and a session so many settings of its own.
const VALUE_MAX: usize = 8 * 1024;
const SETTINGS_MAX: usize = 1_000;
/// What an entry costs besides its texts.
const ENTRY: usize = 96;

/// Settings of one session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// By lower-case name; what is not here has its default.
    session: BTreeMap<String, String>,
    /// Those of the present transaction.
    local: BTreeMap<String, String>,
    session_bytes: usize,
    local_bytes: usize,
}

fn known(name: &str) -> Option<&'static (&'static str, &'static str, Rule)> {
    SETTINGS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))
}

/// The error for a name that nobody knows.
pub(crate) fn unrecognized(name: &str) -> SqlError {
    let shown: String = name.chars().take(100).collect();
    SqlError::new(state::UNDEFINED_OBJECT, format!("unrecognized configuration parameter \"{shown}\""))
}

/// The name as it is shown; as it was written, where it is nobody's.
pub(crate) fn shown_name(name: &str) -> String {
    known(name).map_or_else(|| name.to_owned(), |(shown, ..)| (*shown).to_owned())
}

impl Settings {
    /// The value in force; `None` for an unknown name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let lower = name.to_ascii_lowercase();
        let own = self.local.get(&lower).or_else(|| self.session.get(&lower));
        own.map(String::as_str).or_else(|| match lower.as_str() {
            "transaction_isolation" => self.get("default_transaction_isolation"),
            "transaction_read_only" => self.get("default_transaction_read_only"),
            _ => known(&lower).map(|(_, value, _)| *value),
        })
    }

    /// Changes a setting; `None` is the default. `local`: until the transaction ends.
    ///
    /// # Errors
    /// Nobody knows it, or the value can't be honoured.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>, local: bool) -> Result<(), SqlError> {
        let lower = name.to_ascii_lowercase();
        // Settings with a dot belong to extensions, and are taken as they are.
        let value = match (known(&lower), value) {
            (None, Some(value)) if lower.contains('.') => Some(value.to_owned()),
            (None, None) if lower.contains('.') => None,
            (None, _) => return Err(unrecognized(name)),
            (Some((shown, _, Rule::Fixed)), _) => {
                let message = format!("parameter \"{shown}\" cannot be changed");
                return Err(SqlError::new(state::CANT_CHANGE_PARAMETER, message));
            }
            (Some(_), None) => None,
            (Some((shown, default, rule)), Some(value)) => Some(rule.check(shown, default, value)?),
        };
        let long = |text: &str| text.len() > VALUE_MAX;
        let count = self.session.len() + self.local.len();
        if long(&lower) || value.as_deref().is_some_and(long) || count > SETTINGS_MAX {
            let message =
                format!("settings may have {VALUE_MAX} bytes, and a session {SETTINGS_MAX} of them");
            return Err(SqlError::new(state::PROGRAM_LIMIT, message));
        }
        // These two are of a transaction by their nature.
        let local = local || lower == "transaction_isolation" || lower == "transaction_read_only";
        let (values, bytes) = match local {
            true => (&mut self.local, &mut self.local_bytes),
            false => (&mut self.session, &mut self.session_bytes),
        };
        let name_length = lower.len();
        let size = |value: &String| value.len() + name_length + ENTRY;
        *bytes += value.as_ref().map_or(0, size);
        let before = match value {
            Some(value) => values.insert(lower, value),
            None => values.remove(&lower),
        };
        *bytes -= before.as_ref().map_or(0, size);
        Ok(())
    }

    /// What the client says of itself when it connects, and what only the server knows.
    pub(crate) fn set_fixed(&mut self, name: &str, value: &str) {
        self.session_bytes += name.len() + value.len() + ENTRY;
        self.session.insert(name.to_ascii_lowercase(), value.to_owned());
    }

    /// All as at the start.
    pub(crate) fn reset(&mut self) {
        self.session.retain(|name, _| name == "session_authorization");
        self.session_bytes = self.session.iter().map(|(name, value)| name.len() + value.len() + ENTRY).sum();
        self.end_transaction();
    }

    /// Bytes of memory, about.
    pub(crate) fn holds(&self) -> usize {
        self.session_bytes + self.local_bytes
    }

    /// Forgets what was for this transaction only.
    pub(crate) fn end_transaction(&mut self) {
        self.local.clear();
        self.local_bytes = 0;
    }

    /// Names as shown, and values, in the order of the names.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, &str)> {
        SETTINGS.iter().map(|(name, ..)| (*name, self.get(name).unwrap_or_default()))
    }

    /// What a client is told of.
    pub(crate) fn reported(&self) -> impl Iterator<Item = (&'static str, &str)> {
        REPORTED.iter().map(|name| (*name, self.get(name).unwrap_or_default()))
    }
}

/// The name under which a change is reported, if it is.
pub(crate) fn reported_name(name: &str) -> Option<&'static str> {
    REPORTED.iter().find(|known| known.eq_ignore_ascii_case(name)).copied()
}

impl Rule {
    /// The value as it will be shown.
    fn check(self, name: &str, default: &str, value: &str) -> Result<String, SqlError> {
        let invalid = || {
            let shown: String = value.chars().take(100).collect();
            let message = format!("invalid value for parameter \"{name}\": \"{shown}\"");
            SqlError::new(state::INVALID_PARAMETER, message)
        };
        let lower = value.to_ascii_lowercase();
        match self {
            Rule::Any | Rule::Fixed => Ok(value.to_owned()),
            Rule::Switch => match lower.as_str() {
                "on" | "true" | "yes" | "1" | "t" | "y" => Ok("on".to_owned()),
                "off" | "false" | "no" | "0" | "f" | "n" => Ok("off".to_owned()),
                _ => Err(invalid()),
            },
            Rule::Encoding => match lower.replace(['-', '_'], "").as_str() {
                "utf8" | "unicode" => Ok("UTF8".to_owned()),
                "sqlascii" => Ok("SQL_ASCII".to_owned()),
                _ => Err(SqlError::unsupported(format_args!("the encoding {value}; UTF8 is"))),
            },
            Rule::Isolation => match lower.as_str() {
                "serializable" | "repeatable read" | "read committed" | "read uncommitted" => Ok(lower),
                _ => Err(invalid()),
            },
            Rule::FloatDigits => match lower.parse() {
                Ok(1..=3) => Ok(lower),
                Ok(-15..=0) => Err(SqlError::unsupported("extra_float_digits below 1")),
                _ => Err(invalid()),
            },
            Rule::DateStyle => {
                if lower.starts_with("iso") || matches!(lower.as_str(), "mdy" | "dmy" | "ymd") {
                    return Ok("ISO, MDY".to_owned());
                }
                Err(SqlError::unsupported(format_args!("the DateStyle {value}; ISO is")))
            }
            Rule::DefaultOnly => {
                // A time of 0 in any unit is none.
                let bare = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                if lower == default
                    || (default == "0" && bare.trim() == "0")
                    || (default == "on" && lower == "true")
                {
                    return Ok(default.to_owned());
                }
                Err(SqlError::unsupported(format_args!("{name} = {value}; it is {default} always")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_their_values() {
        let mut settings = Settings::default();
        assert_eq!(settings.get("datestyle"), Some("ISO, MDY"));
        settings.set("Application_Name", Some("me"), false).unwrap();
        settings.set("work_mem", Some("8MB"), true).unwrap();
        settings.set("my.own", Some("x"), false).unwrap();
        settings.set("transaction_isolation", Some("SERIALIZABLE"), false).unwrap();
        settings.set("client_encoding", Some("utf-8"), false).unwrap();
        settings.set("statement_timeout", Some("0ms"), false).unwrap();
        for (name, value) in [
            ("application_name", "me"),
            ("work_mem", "8MB"),
            ("my.own", "x"),
            ("transaction_isolation", "serializable"),
            ("client_encoding", "UTF8"),
        ] {
            assert_eq!(settings.get(name), Some(value));
        }
        settings.end_transaction();
        assert_eq!(settings.get("work_mem"), Some("4MB"));
        assert_eq!(settings.get("transaction_isolation"), Some("read committed"));
        settings.set("application_name", None, false).unwrap();
        assert_eq!(settings.get("application_name"), Some(""));
    }

    #[test]
    fn what_cannot_be_honoured_is_refused() {
        for (name, value, state) in [
            ("nothing", "1", "42704"),
            ("server_version", "16", "55P02"),
            ("statement_timeout", "1s", "0A000"),
            ("client_encoding", "LATIN1", "0A000"),
            ("datestyle", "German", "0A000"),
            ("extra_float_digits", "0", "0A000"),
            ("extra_float_digits", "9", "22023"),
            ("jit", "perhaps", "22023"),
            ("default_transaction_isolation", "none", "22023"),
        ] {
            let error = Settings::default().set(name, Some(value), false).unwrap_err();
            assert_eq!(error.state, state, "{name} = {value}");
        }
    }

    #[test]
    fn names_are_sorted_and_reported_ones_are_known() {
        assert!(SETTINGS.is_sorted_by_key(|(name, ..)| *name), "SHOW ALL gives them in order");
        for name in REPORTED {
            assert!(known(name).is_some_and(|(shown, ..)| *shown == name), "{name}");
        }
    }
}
