//! The conformance suite over every transport and way to log in, against a real server.

use driver::TargetUrl;
use driver::conformance::{self, Fixture};
use driver_postgres::PostgresTarget;
use testkit::alloc::{CountingAlloc, Counts};
use testkit::postgres::{Authentication, Options, server};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

struct Transport(PostgresTarget);

impl Transport {
    fn new(url: &str) -> Transport {
        Transport(PostgresTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap())
    }
}

impl Fixture for Transport {
    type Target = PostgresTarget;

    fn target(&self) -> &PostgresTarget {
        &self.0
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn wall_time_ns(&self) -> Option<u64> {
        Some(clock::wall_time_ns())
    }
}

#[test]
fn trusted_over_unix_and_tcp() {
    let Some(server) = server(&Options::default()) else { return };
    for url in [server.unix_url(), server.tcp_url()] {
        println!("{url}");
        conformance::run_all(&Transport::new(&url));
    }
}

#[test]
fn scram_over_tcp_and_tls() {
    let authentication = Authentication::Scram("corr3ct-h0rse".to_owned());
    let Some(server) = server(&Options { authentication, tls: true, ..Options::default() }) else { return };
    for url in [server.tcp_url(), server.tls_url("verify-full")] {
        println!("{url}");
        conformance::run_all(&Transport::new(&url));
    }
}
