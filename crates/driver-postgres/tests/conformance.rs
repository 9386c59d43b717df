//! The conformance suite over every transport and way to log in, against a real server.

mod against;

use against::{LONG, WRONG_PASSWORD, conflict, target, with_wrong_password};
use driver::conformance::{self, Conflict, Encrypted, Fixture, LongStatement};
use driver_postgres::PostgresTarget;
use testkit::alloc::{CountingAlloc, Counts};
use testkit::postgres::{Authentication, Options, Server, server};
use units::Outcome;

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

/// A URL of a server that tests may stop.
struct Against<'a> {
    target: PostgresTarget,
    server: &'a Server,
}

impl<'a> Against<'a> {
    fn new(server: &'a Server, url: &str) -> Against<'a> {
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

#[test]
fn trusted_over_unix_and_tcp() {
    let Some(server) = server(&Options::default()) else { return };
    for url in [server.unix_url(), server.tcp_url()] {
        println!("{url}");
        conformance::run_all(&Against::new(&server, &url));
    }
}

#[test]
fn scram_over_tcp_and_tls() {
    let authentication = Authentication::Scram("corr3ct-h0rse".to_owned());
    let Some(server) = server(&Options { authentication, tls: true, ..Options::default() }) else { return };
    for url in [server.tcp_url(), server.tls_url("verify-full")] {
        println!("{url}");
        conformance::run_all(&Against::new(&server, &url));
    }
}
