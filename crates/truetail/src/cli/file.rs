//! What a configuration file says beyond the options of a run, turned into the flags that it stands for.
//!
//! `truetail search`, `report`, `compare` and `export` have options of their own. In a file they stand in a
//! section that is named for the command, so that one file serves `run` and `search`. They become flags
//! before the command line is read for good: there is one parser, one set of messages, and a flag that was
//! given wins over the key.

use crate::settings::RunOptions;
use anyhow::bail;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use workload::names::suggestion;

/// The command line with the file's part behind the name of the command; `None` where there is nothing to add.
///
/// # Errors
/// One line that names the file, the key and the nearest valid one.
pub(super) fn expanded(
    words: &[OsString],
    matches: &ArgMatches,
    root: &Command,
) -> anyhow::Result<Option<Vec<OsString>>> {
    let Some((name, of_command)) = matches.subcommand() else { return Ok(None) };
    let Ok(Some(path)) = of_command.try_get_one::<PathBuf>("config") else { return Ok(None) };
    let Some(command) = root.find_subcommand(name) else { return Ok(None) };
    let file = RunOptions::from_file(path)?;
    let mut more: Vec<OsString> = Vec::new();
    if file.json == Some(true) && !matches.get_flag("json") {
        more.push("--json".into());
    }
    if let Some(section) = file.section(name) {
        let keys = keys(command, root);
        for (key, value) in section {
            let Some((_, id)) = keys.iter().find(|(long, _)| long == key) else {
                let names: Vec<&str> = keys.iter().map(|(long, _)| long.as_str()).collect();
                let nearest = suggestion(key, &names);
                bail!("--config {}: [{name}] has no key `{key}`{nearest}", path.display());
            };
            if of_command.value_source(id) != Some(ValueSource::CommandLine) {
                more.extend(flags(path, name, key, value)?);
            }
        }
    }
    let at = words.iter().position(|word| word == name).map_or(words.len(), |index| index + 1);
    let (before, after) = words.split_at(at);
    Ok((!more.is_empty()).then(|| [before, &more, after].concat()))
}

/// The keys of a command's section, with the parser's names: its flags but for those that a run has, too.
fn keys(command: &Command, root: &Command) -> Vec<(String, String)> {
    let of_run: Vec<&str> = root
        .find_subcommand("run")
        .map(|run| run.get_arguments().filter_map(|a| a.get_long()).collect())
        .unwrap_or_default();
    // A search has the options of a run, which stand above all sections; the others have not, but for `--out`.
    let shares = command.get_arguments().any(|a| a.get_long() == Some("rate"));
    command
        .get_arguments()
        .filter_map(|a| Some((a.get_long()?.to_owned(), a.get_id().to_string())))
        .filter(|(long, _)| !["config", "print-config", "help", "version", "json"].contains(&long.as_str()))
        .filter(|(long, _)| !(shares && of_run.contains(&long.as_str())))
        .collect()
}

/// `--key value`, one for each element of a list; `--key` alone for true.
fn flags(path: &Path, section: &str, key: &str, value: &toml::Value) -> anyhow::Result<Vec<OsString>> {
    let flag = format!("--{key}");
    let pair = |text: String| vec![OsString::from(format!("{flag}={text}"))];
    Ok(match value {
        toml::Value::Boolean(true) => vec![flag.into()],
        toml::Value::Boolean(false) => Vec::new(),
        toml::Value::String(text) => pair(text.clone()),
        toml::Value::Integer(number) => pair(number.to_string()),
        toml::Value::Float(number) => pair(number.to_string()),
        toml::Value::Array(values) => {
            let each: Vec<Vec<OsString>> =
                values.iter().map(|v| flags(path, section, key, v)).collect::<Result<_, _>>()?;
            each.concat()
        }
        other => bail!(
            "--config {}: [{section}] `{key}` is a {}: expected what `{flag}` takes, such as a text",
            path.display(),
            other.type_str()
        ),
    })
}
