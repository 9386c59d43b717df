//! The command line: the only crate that prints, parses flags, or picks implementations by name.
//!
//! Exit codes: 0 done (a suspect verdict included), 1 a limit was broken (`--fail-if`, `search` without a
//! rate that holds, `check` with a broken invariant), 2 the command could not be carried out, 3 the verdict is
//! invalid, 130 an import was interrupted and nothing was kept.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "flags' documentation is help text: `[:ALPHA]` is no link"
)]

mod benchbase;
mod chosen;
mod cli;
mod commands;
mod dataset;
mod echo;
#[cfg(feature = "cql")]
mod elasticity;
mod export;
mod floor;
mod gaps;
mod host;
mod import;
mod interrupt;
mod jvm;
mod logs;
mod output;
mod predictability;
mod process;
mod prove;
mod registry;
mod run;
mod search;
mod server_log;
mod settings;
mod store;
mod tell_tale;
mod ycsb;

use std::process::ExitCode;

/// Version and commit, such as `0.1.0 (commit 5c24f81d0a3b)`: what `--version` says and what recordings repeat.
pub(crate) const VERSION: &str = env!("TRUETAIL_VERSION");

/// How a command ended, apart from errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// Done.
    Well,
    /// A limit that the user set was broken.
    LimitBroken,
    /// The verdict says not to use the numbers.
    Invalid,
    /// The user ended it, and nothing was kept.
    Interrupted,
}

/// A panic is a bug, and a run must not go on with a thread less. The one exception is within the guard around what
/// decodes recordings, where it becomes a damaged file.
fn end_on_panic() {
    let show = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !record::is_guarding() {
            show(panic);
            std::process::abort();
        }
    }));
}

fn main() -> ExitCode {
    end_on_panic();
    let arguments = cli::parse();
    match commands::dispatch(arguments) {
        Ok(Ended::Well) => ExitCode::SUCCESS,
        Ok(Ended::LimitBroken) => ExitCode::from(1),
        Ok(Ended::Invalid) => ExitCode::from(3),
        // As shells show a program that SIGINT ended.
        Ok(Ended::Interrupted) => ExitCode::from(130),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::from(2)
        }
    }
}
