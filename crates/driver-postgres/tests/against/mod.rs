//! What the conformance suite needs to know of a real server.

use driver::TargetUrl;
use driver::conformance::{Conflict, LongStatement, PATIENCE};
use driver_postgres::PostgresTarget;
use testkit::postgres::Server;
use units::Outcome;

pub const LONG: LongStatement = LongStatement {
    sql: "SELECT pg_sleep(62)",
    running: "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(62)'",
    patience: PATIENCE,
};
pub const WRONG_PASSWORD: &str = "wr0ng-h0rse";

pub fn target(url: &str) -> PostgresTarget {
    PostgresTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap()
}

/// The URL with another password, where it has one.
pub fn with_wrong_password(server: &Server, url: &str) -> Option<String> {
    let password = server.password()?;
    Some(url.replace(&format!(":{password}@"), &format!(":{WRONG_PASSWORD}@")))
}

pub fn conflict(outcome: Outcome, settings: &'static [&'static str]) -> Conflict {
    Conflict { outcome, settings }
}
