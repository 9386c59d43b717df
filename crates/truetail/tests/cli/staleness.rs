//! `run --check staleness`: what probes say of stores whose truth is known, and what is left of them.

use crate::program::{Scratch, events};
use driver::{Target, TargetUrl};
use driver_postgres::PostgresTarget;
use driver_sqlite::SqliteTarget;
use record::EventKind;
use serde_json::Value;
use testkit::postgres::{Options, server};

/// A run of two seconds against a simulated store, and the store's truth laid over it.
struct Probed {
    scratch: Scratch,
    /// The document of the report.
    document: Value,
}

/// `protocol`: the beginning of the store's URL.
fn probed(name: &str, protocol: &str, store: &[&str]) -> Probed {
    let scratch = Scratch::new(name);
    let listen = ["store", "--resp", "127.0.0.1:0", "--postgres", "127.0.0.1:0", "--truth", "truth"];
    let mut running = scratch.start(&[&listen[..], store].concat());
    let line = running.wait_for_result(protocol);
    let url = line.split_whitespace().last().expect("an address").to_owned();
    let load = ["-w", "noop", "-p", "mode=ping", "-r", "100/s", "-d", "2s", "--warmup", "100ms"];
    let run = ["run", &url, "--check", "staleness", "-o", "run"];
    let page = scratch.truetail(&[&run[..], &load[..]].concat()).judged().stdout;
    assert!(page.contains("\nread-after-write lag\n"), "{page}");
    running.signal(libc::SIGINT);
    running.wait().well();
    let document = scratch.truetail(&["report", "run", "--truth", "truth", "--json"]).json();
    Probed { scratch, document }
}

impl Probed {
    fn count(&self, section: &str, field: &str) -> u64 {
        let found = &self.document["staleness"];
        let section = if section == "lag" { &self.document["truth"]["lag"] } else { found };
        section[field].as_u64().unwrap_or_else(|| panic!("no {field} in {section}"))
    }

    /// A quantile of the grade's `true`, `at_least` or `at_most`, ns.
    fn lag(&self, of: &str, statistic: &str) -> f64 {
        let list = self.document["truth"]["lag"][of].as_array().expect("a list");
        let found = list.iter().find(|one| one["statistic"] == statistic);
        found.and_then(|one| one["value"].as_f64()).unwrap_or_else(|| panic!("no {statistic} in {list:?}"))
    }

    /// Every probe is in the log, and right.
    fn assert_all_right(&self) {
        let probes = self.count("lag", "probes");
        // One each 50 ms: of a run of two seconds some are left on the busiest of hosts.
        assert!(probes >= 5, "{}", self.document["truth"]["lag"]);
        for field in ["graded", "exact", "contained"] {
            assert_eq!(self.count("lag", field), probes, "{field}: {}", self.document["truth"]["lag"]);
        }
        assert!(self.count("staleness", "probes") <= probes);
        assert_eq!(self.count("staleness", "unseen") + self.count("staleness", "failed"), 0);
    }

    /// Operations on the probes' record, in the order of the log: (name, row).
    fn rows(&self) -> Vec<(String, Vec<String>)> {
        let csv = self.scratch.truetail(&["export", "truth"]).well().stdout;
        let hash = format!("{:016x}", record::key_hash(b"", b"truetail:staleness"));
        let rows = csv.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let rows = rows.filter(|fields| fields.last() == Some(&hash));
        rows.map(|fields| (fields[3].clone(), fields)).collect()
    }
}

const TWO_NODES: [&str; 6] =
    ["--replicas", "2", "--replication-delay", "20ms", "--read-preference", "secondary"];

/// A replica that is 20 ms behind: the intervals contain the truth, and the truth is what was planted.
fn a_replica_behind(name: &str, protocol: &str) -> Probed {
    let probed = probed(name, protocol, &TWO_NODES);
    probed.assert_all_right();
    // Counted from the acknowledgement, which came after the write: no more than was planted.
    assert!(probed.lag("true", "max") <= 20.0e6 * 1.001, "{}", probed.document["truth"]["lag"]);
    for statistic in ["p50", "max"] {
        let (least, lag) = (probed.lag("at_least", statistic), probed.lag("true", statistic));
        let most = probed.lag("at_most", statistic);
        // Of probes one by one, so of quantiles, too; but for the tolerance.
        assert!(least <= lag + 50e3 && lag <= most + 50e3, "{least} {lag} {most}");
    }
    // Reads are 2 % of the lag apart, and the rest is the host's.
    assert!(probed.lag("at_most", "p50") < 2.0 * probed.lag("true", "p50"));
    assert_eq!(probed.count("staleness", "stale"), probed.count("staleness", "probes"));
    // Each write says in how long both nodes have it.
    let writes: Vec<_> = probed.rows().into_iter().filter(|(name, _)| name == "update").collect();
    assert!(writes.len() as u64 >= probed.count("lag", "probes"), "{writes:?}");
    assert!(writes.iter().all(|(_, fields)| fields[14] == "20000000"), "{writes:?}");
    probed
}

#[test]
fn intervals_contain_the_true_lag_of_a_replica_over_resp() {
    let probed = a_replica_behind("staleness-resp", "redis://");
    // The last thing that is done to the record.
    let mut writes = probed.rows().into_iter().filter(|(name, _)| name != "read");
    assert_eq!(writes.next_back().map(|(name, _)| name), Some("delete".to_owned()));
    let header = probed.scratch.recording("run").header().clone();
    let stated = header.capabilities.iter().find(|(name, _)| name.contains("truetail:staleness"));
    assert!(stated.is_some_and(|(_, asked)| asked.contains("each 50.0 ms")), "{:?}", header.capabilities);
    // Not among the load's requests.
    assert!(probed.scratch.rows("run").iter().all(|row| row.operation == "NoOp"));
}

#[test]
fn intervals_contain_the_true_lag_of_a_replica_over_postgresql() {
    a_replica_behind("staleness-postgres", "postgres://");
}

#[test]
fn one_node_has_no_lag() {
    for (name, protocol) in [("one-resp", "redis://"), ("one-postgres", "postgres://")] {
        let probed = probed(name, protocol, &[]);
        probed.assert_all_right();
        assert_eq!(probed.count("staleness", "stale"), 0, "{}", probed.document["staleness"]);
        assert_eq!((probed.lag("true", "max"), probed.lag("at_least", "max")), (0.0, 0.0));
    }
}

/// Three nodes with lags of their own, each read at another one: the log does not tell one lag, and agrees with all reads.
#[test]
fn of_three_nodes_the_log_agrees_with_each_read() {
    let nodes = ["--replicas", "3", "--replication-delay", "exp:10ms", "--read-preference", "secondary"];
    let probed = probed("staleness-three", "redis://", &nodes);
    let probes = probed.count("lag", "probes");
    assert!(probes >= 5 && probed.count("lag", "exact") == 0);
    assert_eq!((probed.count("lag", "graded"), probed.count("lag", "contained")), (probes, probes));
}

#[test]
fn probes_that_fail_are_counted_and_told_and_the_others_stay_right() {
    let faults = ["--fault", "error:busy@every=7,op=update", "--fault", "drop:mid@every=300,op=read"];
    let probed = probed("staleness-faults", "redis://", &[&TWO_NODES[..], &faults].concat());
    let failed = probed.count("staleness", "failed");
    assert!(failed >= 2, "{}", probed.document["staleness"]);
    let probes = probed.count("lag", "probes");
    assert!(probes >= 2, "{}", probed.document["truth"]["lag"]);
    assert_eq!((probed.count("lag", "graded"), probed.count("lag", "contained")), (probes, probes));
    let told = events(&probed.scratch.recording("run"), EventKind::FirstError);
    let told: Vec<_> = told.into_iter().filter(|event| event.subject == "staleness probe").collect();
    for part in ["its write: busy", "its read: connection-lost"] {
        assert_eq!(told.iter().filter(|event| event.detail.starts_with(part)).count(), 1, "{part}: {told:?}");
    }
}

/// Real databases of one node: no stale read, and nothing is left behind.
#[test]
fn a_database_is_left_as_it_was() {
    let scratch = Scratch::new("staleness-left");
    let run = |url: &str, out: &str| {
        let load = ["-w", "noop", "-r", "100/s", "-d", "1s", "--warmup", "0s", "--check", "staleness"];
        let document = scratch.truetail(&[&["run", url, "-o", out, "--json"], &load[..]].concat()).json();
        let staleness = &document["staleness"];
        assert!(staleness["probes"].as_u64() > Some(2), "{staleness}");
        assert_eq!(staleness["stale"], 0, "{staleness}");
        assert!(document["truth"].is_null());
    };
    run("sqlite:data.db", "a");
    run("sqlite:data.db", "b");
    let path = format!("sqlite:{}", scratch.path("data.db").display());
    assert_left(&SqliteTarget::from_url(&TargetUrl::parse(&path).expect("a URL")).expect("a target"));
    let Some(server) = server(&Options::default()) else { return };
    run(&server.tcp_url(), "c");
    let url = TargetUrl::parse(&server.tcp_url()).expect("a URL");
    assert_left(&PostgresTarget::from_url(&url).expect("a target"));
}

/// The table of the probes is gone.
fn assert_left<T: Target>(target: &T) {
    let mut administration = target.administer().expect("a connection");
    assert_eq!(administration.table_exists("truetail_staleness"), Ok(false));
}

#[test]
fn what_keeps_nothing_can_not_be_asked() {
    let scratch = Scratch::new("staleness-refused");
    scratch.truetail(&["run", "null:", "--check", "staleness"]).refused(&["--check staleness", "null:"]);
    scratch.truetail(&["run", "--check", "durability"]).refused(&["--check durability", "`staleness`"]);
}
