//! Cassandra as its users meet it: YCSB from loading to dropping, and what it lacks. Its jars are fetched by
//! `cargo xtask install` or by the first test.

use crate::program::{Scratch, assert_contiguous, brief};
use testkit::cassandra::{Options, cassandra_server};

#[test]
fn ycsb_is_loaded_run_checked_and_dropped() {
    let Some(node) = cassandra_server(&Options::default()) else { return };
    let scratch = Scratch::new("cql-ycsb");
    let url = node.url("ycsb");
    // A keyspace is made for those who ask for it.
    scratch.truetail(&["load", &url, "-w", "ycsb-a"]).refused(&["keyspace `ycsb`", "?replication=1"]);
    let url = format!("{url}?replication=1&consistency=one");
    for name in ["ycsb", "ycsb-a", "ycsb-e"] {
        let truetail = |verb: &str| scratch.truetail(&[verb, &url, "-w", name]);
        assert!(truetail("check").with_code(1).stdout.contains("load it first"));
        assert!(truetail("load").well().stderr.contains("1000 rows"));
        assert!(truetail("load").well().stdout.contains("already there"));
        scratch.truetail(&brief(&[&url, "-w", name, "-r", "300/s", "-c", "2", "-o", name])).judged();
        let rows = scratch.rows(name);
        assert_contiguous(&rows);
        let odd = rows.iter().find(|row| !["ok", "unfinished"].contains(&row.outcome.as_str()));
        assert!(rows.len() > 100 && odd.is_none(), "{} rows, {odd:?}", rows.len());
        let recording = scratch.recording(name);
        let header = recording.header();
        for (fact, value) in [("product", "Cassandra"), ("transport", "tcp"), ("read consistency", "one")] {
            let fact = (fact.to_owned(), value.to_owned());
            assert!(header.target_facts.contains(&fact), "{fact:?} in {:?}", header.target_facts);
        }
        truetail("check").well();
        // What belongs to another workload is named and left alone.
        let other = if name == "ycsb" { "ycsb-a" } else { "ycsb" };
        scratch.truetail(&["run", &url, "-w", other, "-o", "other"]).refused(&["usertable", "ycsb"]);
        truetail("cleanup").well();
    }
    // Without a workload it is pinged, and what needs SQL is refused in one line.
    scratch.truetail(&brief(&[&url, "-r", "300/s", "-c", "2", "-o", "pinged"])).judged();
    assert!(scratch.rows("pinged").iter().all(|row| row.operation == "NoOp"));
    for (more, named) in [
        (&["-w", "tpcc"][..], &["tpcc", "cql://", "needs a target with SQL"][..]),
        (&["-w", "tatp"], &["tatp", "SQL"]),
        (&["--isolation", "serializable"], &["serializable", "isolation"]),
    ] {
        scratch.truetail(&[&["run", &url], more].concat()).refused(named);
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let scratch = Scratch::new("cql-refusals");
    for (url, named) in [
        ("cql://127.0.0.1:1/ycsb", &["connection refused at 127.0.0.1:1"][..]),
        ("cql://h/k?consistency=most", &["`most` is none of", "local_quorum"]),
        ("cql://h/k?retries=3", &["unknown option `retries`", "consistency"]),
    ] {
        scratch.truetail(&["run", url, "-w", "ycsb-a"]).refused(named);
    }
}
