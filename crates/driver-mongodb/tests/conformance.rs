//! The conformance suite over every transport and way to log in, against a real FerretDB.

use driver::conformance::{self, Fixture};
use driver::{Command, Direct, Fields, KeyValue, Target, TargetUrl, Value};
use driver_mongodb::MongoTarget;
use testkit::alloc::{CountingAlloc, Counts};
use testkit::ferretdb::{Options, Server, server};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

struct Transport<'a> {
    target: MongoTarget,
    server: &'a Server,
}

fn target(url: &str) -> MongoTarget {
    MongoTarget::from_url(&TargetUrl::parse(url).unwrap()).unwrap()
}

impl Fixture for Transport<'_> {
    type Target = MongoTarget;

    fn target(&self) -> &MongoTarget {
        &self.target
    }

    fn allocator_calls(&self) -> Option<u64> {
        Some(Counts::now().total())
    }

    fn wall_time_ns(&self) -> Option<u64> {
        Some(clock::wall_time_ns())
    }

    fn spoil(&self, key: &str) -> Result<(), String> {
        // A number where bytes are wanted.
        self.server.insert_number("ycsb", "truetail_conformance", key)
    }

    fn with_wrong_password(&self) -> Option<(MongoTarget, &'static str)> {
        const WRONG: &str = "wr0ng-h0rse";
        let url = self.server.tcp_url();
        let (_, place) = url.split_once('@')?;
        Some((target(&format!("mongodb://ann:{WRONG}@{place}")), WRONG))
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
    conformance::run_all(&Transport { target: target(url), server });
}

#[test]
fn trusted_over_unix_and_tcp() {
    let Some(server) = server(&Options::default()) else { return };
    for url in [server.unix_url(), server.tcp_url()] {
        conforms(&server, &url);
    }
}

#[test]
fn with_a_password() {
    let Some(server) = server(&Options { password: Some("corr3ct-h0rse".to_owned()) }) else { return };
    // All but those that need a record which is spoilt behind the seam's back: whoever does that would have to log in, too.
    for url in [server.unix_url(), server.tcp_url()] {
        let transport = Transport { target: target(&url), server: &server };
        for check in [
            "facts are stated",
            "pings are answered",
            "many exchanges on one session",
            "a pipelined batch answers in order",
            "values of every type come back",
            "records are set up, listed and dropped",
            "kernel stamps are there and plausible",
            "a wrong password is refused for good",
            "a restart loses sessions and no more",
        ] {
            assert_eq!(conformance::run_one(&transport, check), Some(Ok(())), "{url}: {check}");
        }
    }
    // Who does not log in is let in and may do nothing; the words are the server's.
    let nobody = target(&server.tcp_url().replace("ann:corr3ct-h0rse@", ""));
    let mut session = nobody.connect(&[], None).unwrap();
    let read = KeyValue::Read { table: "t", key: "k", fields: Fields::All };
    let refused = Direct::new(&mut session).ask(Command::KeyValue(read));
    assert!(refused.is_err_and(|error| error.session_usable), "{refused:?}");
    assert!(driver::Session::last_error(&session).unwrap().contains("requires authentication"));
}

/// What a write waits for is sent where it is said, and understood.
#[test]
fn writes_say_what_they_wait_for() {
    let Some(server) = server(&Options::default()) else { return };
    for options in ["w=1", "w=majority&journal=true", "journal=false"] {
        let target = target(&format!("{}?{options}", server.tcp_url()));
        let mut session = target.connect(&[], None).unwrap();
        let insert = KeyValue::Insert { table: "durable", key: options, fields: &[("field0", "v")] };
        assert_eq!(
            Direct::new(&mut session).ask(Command::KeyValue(insert)).map(|reply| reply.affected),
            Ok(1)
        );
        let facts = target.administer().unwrap().facts().unwrap();
        assert_eq!(facts.product, "FerretDB");
        assert!(facts.settings.iter().any(|(name, _)| name == "writeConcern.w"), "{facts:?}");
    }
}

/// More records than servers send in a first answer unless told otherwise, in the order of their keys.
#[test]
fn a_long_scan_is_one_exchange() {
    let Some(server) = server(&Options::default()) else { return };
    let target = target(&server.tcp_url());
    let mut numbers = 0..1_000;
    let written = target.administer().unwrap().bulk("long", &["key", "field0"], &mut |push| {
        let Some(number) = numbers.next() else { return false };
        push(&[Value::Text(&format!("user{number:04}")), Value::Text(&number.to_string())]);
        true
    });
    assert_eq!(written, Ok(1_000));
    let mut session = target.connect(&[], None).unwrap();
    let scan = KeyValue::Scan { table: "long", key: "user0300", count: 500, fields: Fields::All };
    assert_eq!(Direct::new(&mut session).ask(Command::KeyValue(scan)).map(|reply| reply.rows), Ok(500));
    for row in 0..500 {
        let expected = (300 + row).to_string();
        assert_eq!(driver::Session::value(&session, 0, row, 0), Some(Value::Text(&expected)));
    }
    assert_eq!(driver::Session::value(&session, 0, 500, 0), None);
}
