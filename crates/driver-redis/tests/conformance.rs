//! The conformance suite over every transport and way to log in, against a real server.

use driver::TargetUrl;
use driver::conformance::{self, Fixture};
use driver_redis::RedisTarget;
use testkit::alloc::{CountingAlloc, Counts};
use testkit::redis::{Options, Server, server};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

struct Transport<'a> {
    target: RedisTarget,
    server: &'a Server,
}

impl Fixture for Transport<'_> {
    type Target = RedisTarget;

    fn target(&self) -> &RedisTarget {
        &self.target
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn wall_time_ns(&self) -> Option<u64> {
        Some(clock::wall_time_ns())
    }

    fn spoil(&self, key: &str) -> Result<(), String> {
        // A text where a hash is wanted.
        match self.server.ask(&["SET", key, "not a hash"])?.as_str() {
            "+OK\r\n" => Ok(()),
            answer => Err(answer.to_owned()),
        }
    }

    fn with_wrong_password(&self) -> Option<(RedisTarget, &'static str)> {
        const WRONG: &str = "wr0ng-h0rse";
        let url = format!("redis://:{WRONG}@127.0.0.1:{}", self.server.port());
        let has_password = self.server.tcp_url().contains('@');
        has_password.then(|| (RedisTarget::from_url(&TargetUrl::parse(&url).unwrap()).unwrap(), WRONG))
    }

    fn stop(&self) -> Option<Result<(), String>> {
        Some(self.server.stop())
    }

    fn launch(&self) -> Result<(), String> {
        self.server.launch()
    }
}

fn conforms(server: &Server, url: &str) {
    println!("{url}");
    let target = RedisTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap();
    conformance::run_all(&Transport { target, server });
}

#[test]
fn trusted_over_unix_and_tcp() {
    let Some(server) = server(&Options::default()) else { return };
    for url in [server.unix_url(), server.tcp_url()] {
        conforms(&server, &url);
    }
}

#[test]
fn with_a_password_over_unix_and_tcp() {
    let Some(server) = server(&Options { password: Some("corr3ct-h0rse".to_owned()), ..Options::default() })
    else {
        return;
    };
    for url in [server.unix_url(), server.tcp_url()] {
        conforms(&server, &url);
    }
}

#[test]
fn as_a_user_of_its_own() {
    let settings = vec![("user".to_owned(), "ann on >s3cret ~* +@all".to_owned())];
    let Some(server) = server(&Options { settings, ..Options::default() }) else { return };
    conforms(&server, &format!("redis://ann:s3cret@127.0.0.1:{}", server.port()));
}
