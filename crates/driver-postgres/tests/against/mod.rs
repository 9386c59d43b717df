//! What the conformance suite needs to know of a real server.

use driver::TargetUrl;
use driver::conformance::{Conflict, Encrypted, Fixture, LongStatement};
use driver_postgres::PostgresTarget;
use testkit::alloc::Counts;
use testkit::postgres::Server;
use units::Outcome;

/// A URL of a server that tests may stop.
pub struct Against<'a> {
    target: PostgresTarget,
    server: &'a Server,
}

pub const LONG: LongStatement = LongStatement {
    sql: "SELECT pg_sleep(62)",
    running: "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(62)'",
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

impl<'a> Against<'a> {
    pub fn new(server: &'a Server, url: &str) -> Against<'a> {
        Against { target: target(url), server }
    }
}

impl Fixture for Against<'_> {
    type Target = PostgresTarget;

    fn target(&self) -> &PostgresTarget {
        &self.target
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn wall_time_ns(&self) -> Option<u64> {
        Some(clock::wall_time_ns())
    }

    fn with_wrong_password(&self) -> Option<(PostgresTarget, &'static str)> {
        Some((target(&with_wrong_password(self.server, &self.server.tcp_url())?), WRONG_PASSWORD))
    }

    fn over_tls(&self) -> Option<Encrypted<PostgresTarget>> {
        let trusting = self.server.authority().exists().then(|| self.server.tls_url("verify-full"))?;
        // The certificate is for `localhost`.
        let doubting = target(&trusting.replace("@localhost:", "@127.0.0.1:"));
        Some(Encrypted { trusting: target(&trusting), doubting })
    }

    fn deadlock(&self) -> Option<Conflict> {
        Some(conflict(Outcome::Deadlock, &[]))
    }

    fn locked(&self) -> Option<Conflict> {
        Some(conflict(Outcome::Busy, &["SET lock_timeout = '50ms'"]))
    }

    fn overtaken(&self) -> Option<Conflict> {
        Some(conflict(Outcome::Serialization, &[]))
    }

    fn long_statement(&self) -> Option<LongStatement> {
        Some(LONG)
    }

    fn stop(&self) -> Option<Result<(), String>> {
        Some(self.server.stop())
    }

    fn launch(&self) -> Result<(), String> {
        self.server.launch()
    }
}
