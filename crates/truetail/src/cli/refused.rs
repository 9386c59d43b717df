//! A command line that is refused.

use super::Cli;
use crate::output;
use clap::CommandFactory;
use clap::error::ErrorKind;
use std::ffi::OsString;

/// Ends the program with help, or with the parser's reason on one line.
pub(super) fn end(error: &clap::Error, words: &[OsString]) -> ! {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        kind => {
            let mut text = one_line(&error.render().to_string());
            if kind == ErrorKind::InvalidSubcommand {
                text += &format!("; commands: {}", commands(&Cli::command(), words).join(", "));
            }
            output::error(&anyhow::anyhow!(text));
            std::process::exit(2)
        }
    }
}

/// The commands of the one that the words lead to, such as `tell-tale` after `experiment`.
fn commands(whole: &clap::Command, words: &[OsString]) -> Vec<String> {
    let next = |command: &clap::Command, word: &OsString| command.find_subcommand(word).cloned();
    let mut last = whole.clone();
    for word in words.iter().skip(1).filter(|word| !word.to_string_lossy().starts_with('-')) {
        let Some(found) = next(&last, word).filter(|found| found.has_subcommands()) else { break };
        last = found;
    }
    last.get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// The parser's message without its usage, and with the next step at the end.
fn one_line(rendered: &str) -> String {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let said: Vec<String> = rendered.lines().map(words).filter(|l| !l.is_empty()).collect();
    let usage = said.iter().find_map(|l| l.strip_prefix("Usage: "));
    let about = |l: &&String| !l.starts_with("Usage: ") && !l.starts_with("For more information");
    let text = said.iter().filter(about).fold(String::new(), |text, line| {
        let line = line.strip_prefix("error: ").unwrap_or(line);
        let separator = match text.chars().last() {
            None => "",
            Some(':') => " ",
            Some(_) if line.starts_with('[') => " ",
            Some(_) => "; ",
        };
        text + separator + line
    });
    match usage {
        Some(usage) => format!("{text}; usage: {usage}"),
        None => format!("{text}; `--help` explains it"),
    }
}
