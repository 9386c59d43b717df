//! A real Cassandra for a test: fetched from Maven Central once, started on free ports, thrown away at the end.
//!
//! Only tests behind the feature `fetched-servers` of their crate use it. As with [`crate::postgres`], one fails where
//! Cassandra can't be had, and only `TRUETAIL_SKIP_SERVERS=1` skips, loudly.

pub use servers::cassandra::{Node, Options};

/// Starts a node, or panics with the reason: for tests. `None`, after a loud notice, only when `TRUETAIL_SKIP_SERVERS=1` is
/// set.
///
/// # Panics
/// When the node can't be started.
pub fn cassandra_server(options: &Options) -> Option<Node> {
    if std::env::var_os("TRUETAIL_SKIP_SERVERS").is_some_and(|value| value == "1") {
        eprintln!("\n*** SKIPPED: a test that needs Cassandra (TRUETAIL_SKIP_SERVERS=1) ***\n");
        return None;
    }
    match Node::start(options) {
        Ok(node) => Some(node),
        Err(reason) => panic!("{reason}; set TRUETAIL_SKIP_SERVERS=1 to skip the tests that need it"),
    }
}
