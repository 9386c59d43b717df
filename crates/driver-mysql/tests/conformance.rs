//! The conformance suite over every transport and way to log in, against a real server.

mod against;

use against::Against;
use driver::conformance;
use testkit::alloc::CountingAlloc;
use testkit::mariadb::{Options, server};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

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
