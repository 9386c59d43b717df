//! A real MariaDB server for a test: started on a free port, thrown away at the end.
//!
//! As with [`crate::postgres`], a test that needs it fails where it is missing, and only `TRUETAIL_SKIP_SERVERS=1` skips,
//! loudly.

pub use servers::mariadb::{Options, Server};

/// Starts a server, or panics with the reason: for tests. `None`, after a loud notice, only when
/// `TRUETAIL_SKIP_SERVERS=1` is set.
///
/// # Panics
/// When the server can't be started.
pub fn server(options: &Options) -> Option<Server> {
    if std::env::var_os("TRUETAIL_SKIP_SERVERS").is_some_and(|value| value == "1") {
        eprintln!("\n*** SKIPPED: a test that needs MariaDB (TRUETAIL_SKIP_SERVERS=1) ***\n");
        return None;
    }
    match Server::start(options) {
        Ok(server) => Some(server),
        Err(reason) => panic!("{reason}; set TRUETAIL_SKIP_SERVERS=1 to skip the tests that need it"),
    }
}
