//! A real PostgreSQL server for a test: started on a free port, thrown away at the end.
//!
//! A test that needs it fails where PostgreSQL is missing; a skip that nobody sees would look like a pass.
//! Only `TRUETAIL_SKIP_SERVERS=1` skips, loudly.

pub use servers::postgres::{Authentication, Options, Server};
use std::process::Command;

const SKIP: &str = "set TRUETAIL_SKIP_SERVERS=1 to skip the tests that need it";

/// Starts a server, or panics with the reason: for tests. `None`, after a loud notice, only when
/// `TRUETAIL_SKIP_SERVERS=1` is set.
///
/// # Panics
/// When the server can't be started.
pub fn server(options: &Options) -> Option<Server> {
    if is_skipped("PostgreSQL") {
        return None;
    }
    match Server::start(options) {
        Ok(server) => Some(server),
        Err(reason) => panic!("{reason}; {SKIP}"),
    }
}

/// A program of PostgreSQL's, such as `psql` or `pgbench`, that is to end within a minute; its messages are in English.
/// `None`, after a loud notice, only when `TRUETAIL_SKIP_SERVERS=1` is set.
///
/// # Panics
/// When PostgreSQL is not installed.
pub fn client(name: &str) -> Option<Command> {
    if is_skipped(name) {
        return None;
    }
    let programs = servers::postgres::find_programs().unwrap_or_else(|reason| panic!("{reason}; {SKIP}"));
    let mut command = Command::new("timeout");
    command.arg("60").arg(programs.join(name)).env("LC_ALL", "C");
    Some(command)
}

fn is_skipped(what: &str) -> bool {
    let skipped = std::env::var_os("TRUETAIL_SKIP_SERVERS").is_some_and(|value| value == "1");
    if skipped {
        eprintln!("\n*** SKIPPED: a test that needs {what} (TRUETAIL_SKIP_SERVERS=1) ***\n");
    }
    skipped
}
