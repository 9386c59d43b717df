//! Configuration files: the options of a run as keys, and what other commands take in sections of their own.

use super::RunOptions;
use anyhow::{Context, anyhow};
use serde::{Deserialize, Deserializer};
use std::path::Path;
use workload::names::nearest;

impl RunOptions {
    /// Reads a configuration file.
    pub(crate) fn from_file(path: &Path) -> anyhow::Result<RunOptions> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("--config {}: can't be read; check the path", path.display()))?;
        RunOptions::from_toml(&text).map_err(|reason| anyhow!("--config {}: {reason}", path.display()))
    }

    /// Reads configuration text; the error is one line.
    pub(crate) fn from_toml(text: &str) -> Result<RunOptions, String> {
        toml::from_str(text).map_err(|error| {
            let words = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            let reason = with_nearest(&words);
            let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return reason };
            let number = 1 + before.matches('\n').count();
            // The key alone: a value may be a URL with a password.
            let key =
                text.lines().nth(number - 1).and_then(|line| line.split_once('=')).map(|(key, _)| key.trim());
            let of = key.filter(|k| !k.is_empty()).map_or(String::new(), |key| format!(", `{key}`"));
            format!("line {number}{of}: {reason}")
        })
    }

    /// The section of a command that has options besides those of a run.
    pub(crate) fn section(&self, command: &str) -> Option<&toml::Table> {
        match command {
            "search" => self.search.as_ref(),
            "report" => self.report.as_ref(),
            "attribute" => self.attribute.as_ref(),
            "compare" => self.compare.as_ref(),
            "export" => self.export.as_ref(),
            "store" => self.store.as_ref(),
            "prove" => self.prove.as_ref(),
            _ => None,
        }
    }
}

/// A value that is a number in its plain form: `retry = 3` is `retry = "3"`.
pub(super) fn words_or_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u64),
        Words(String),
    }
    Ok(Some(match Either::deserialize(from)? {
        Either::Number(number) => number.to_string(),
        Either::Words(words) => words,
    }))
}

/// ``unknown field `raet`, expected one of `target`, …`` with the nearest of them instead of all, if one is near.
fn with_nearest(message: &str) -> String {
    let parts: Vec<&str> = message.split('`').collect();
    let (Some(unknown), true) = (parts.get(1), message.starts_with("unknown field")) else {
        return message.to_owned();
    };
    let valid: Vec<&str> = parts.iter().skip(3).step_by(2).copied().collect();
    match nearest(unknown, &valid) {
        Some(name) => format!("there is no key `{unknown}`; did you mean `{name}`?"),
        None => format!("there is no key `{unknown}`; there are {}", valid.join(", ")),
    }
}
