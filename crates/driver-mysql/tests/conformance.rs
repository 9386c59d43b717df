//! The conformance suite over every transport and way to log in, against a real server.

use driver::TargetUrl;
use driver::conformance::{self, Fixture};
use driver_mysql::MySqlTarget;
use testkit::alloc::{CountingAlloc, Counts};
use testkit::mariadb::{Options, server};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

struct Transport(MySqlTarget);

impl Transport {
    fn new(url: &str) -> Transport {
        Transport(MySqlTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap())
    }
}

impl Fixture for Transport {
    type Target = MySqlTarget;

    fn target(&self) -> &MySqlTarget {
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
fn over_unix_and_tcp() {
    let Some(server) = server(&Options::default()) else { return };
    for url in [server.unix_url(), server.tcp_url()] {
        println!("{url}");
        conformance::run_all(&Transport::new(&url));
    }
}

#[test]
fn with_a_password_over_tcp_and_tls() {
    let password = Some("corr3ct-h0rse".to_owned());
    let Some(server) = server(&Options { password, tls: true, ..Options::default() }) else { return };
    for url in [server.tcp_url(), server.tls_url("verify-full")] {
        println!("{url}");
        conformance::run_all(&Transport::new(&url));
    }
}
