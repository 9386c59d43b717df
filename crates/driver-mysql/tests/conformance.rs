//! The conformance suite over every transport and way to log in, against a real server.

use driver::TargetUrl;
use driver::conformance::{self, Conflict, Encrypted, Fixture, LongStatement, PATIENCE};
use driver_mysql::MySqlTarget;
use testkit::alloc::{CountingAlloc, Counts};
use testkit::mariadb::{Options, Server, server};
use units::Outcome;

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

/// A URL of a server that tests may stop.
struct Against<'a> {
    target: MySqlTarget,
    server: &'a Server,
}

const LONG: LongStatement = LongStatement {
    sql: "SELECT SLEEP(62)",
    running: "SELECT id FROM information_schema.processlist WHERE command <> 'Sleep' AND info = 'SELECT SLEEP(62)'",
    patience: PATIENCE,
};
const WRONG_PASSWORD: &str = "wr0ng-h0rse";

fn target(url: &str) -> MySqlTarget {
    MySqlTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap()
}

/// The URL with another password, where it has one.
fn with_wrong_password(server: &Server, url: &str) -> Option<String> {
    let password = server.password()?;
    Some(url.replace(&format!(":{password}@"), &format!(":{WRONG_PASSWORD}@")))
}

fn conflict(outcome: Outcome, settings: &'static [&'static str]) -> Conflict {
    Conflict { outcome, settings }
}

impl<'a> Against<'a> {
    fn new(server: &'a Server, url: &str) -> Against<'a> {
        Against { target: target(url), server }
    }
}

impl Fixture for Against<'_> {
    type Target = MySqlTarget;

    fn target(&self) -> &MySqlTarget {
        &self.target
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn wall_time_ns(&self) -> Option<u64> {
        Some(clock::wall_time_ns())
    }

    fn with_wrong_password(&self) -> Option<(MySqlTarget, &'static str)> {
        Some((target(&with_wrong_password(self.server, &self.server.tcp_url())?), WRONG_PASSWORD))
    }

    fn over_tls(&self) -> Option<Encrypted<MySqlTarget>> {
        let trusting = self.server.authority().exists().then(|| self.server.tls_url("verify-full"))?;
        // The certificate is for `localhost`.
        let doubting = target(&trusting.replace("@localhost:", "@127.0.0.1:"));
        Some(Encrypted { trusting: target(&trusting), doubting })
    }

    fn deadlock(&self) -> Option<Conflict> {
        Some(conflict(Outcome::Deadlock, &[]))
    }

    fn locked(&self) -> Option<Conflict> {
        Some(conflict(Outcome::Busy, &["SET innodb_lock_wait_timeout = 1"]))
    }

    fn overtaken(&self) -> Option<Conflict> {
        Some(conflict(Outcome::Serialization, &["SET innodb_snapshot_isolation = 1"]))
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
fn without_one_over_unix_and_tcp() {
    let Some(server) = server(&Options::default()) else { return };
    for url in [server.unix_url(), server.tcp_url()] {
        println!("{url}");
        conformance::run_all(&Against::new(&server, &url));
    }
}

#[test]
fn with_a_password_over_tcp_and_tls() {
    let password = Some("corr3ct-h0rse".to_owned());
    let Some(server) = server(&Options { password, tls: true, ..Options::default() }) else { return };
    for url in [server.tcp_url(), server.tls_url("verify-full")] {
        println!("{url}");
        conformance::run_all(&Against::new(&server, &url));
    }
}
