//! Stores that speak RESP: what is asked of them unless one says otherwise, and what can't be asked of them.

use crate::program::{Scratch, assert_contiguous, brief, events, files};
use record::EventKind;
use testkit::redis::{Options, server};

#[test]
fn a_store_is_pinged_by_default() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("redis");
    for (url, transport) in [(server.tcp_url(), "tcp"), (server.unix_url(), "unix")] {
        let ended = scratch.truetail(&brief(&[&url, "-r", "500/s", "-c", "2", "-o", transport])).judged();
        assert!(ended.first_line().contains("noop"), "{ended:?}");
        let rows = scratch.rows(transport);
        assert_contiguous(&rows);
        assert!(rows.len() > 300, "{} requests", rows.len());
        assert!(rows.iter().all(|row| row.outcome == "ok" && row.operation == "NoOp"), "{rows:?}");
        let recording = scratch.recording(transport);
        let header = recording.header();
        let fact = |facts: &[(String, String)], name: &str, value: &str| {
            assert!(facts.contains(&(name.to_owned(), value.to_owned())), "no {name} = {value} in {facts:?}");
        };
        fact(&header.target_facts, "product", "Redis");
        fact(&header.target_facts, "transport", transport);
        assert_eq!(header.workload, "noop");
        fact(&header.workload_facts, "mode", "ping");
    }
    // A data set is nothing that it needs.
    let ended = scratch.truetail(&["check", &server.tcp_url()]).well();
    assert!(ended.stderr.contains("noop needs no data set"), "{ended:?}");
}

#[test]
fn what_needs_sql_is_refused_in_one_line_that_says_what_to_do() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("redis-refusals");
    let url = server.tcp_url();
    for (verb, more, named) in [
        ("run", &["-w", "tpcc"][..], &["tpcc", "redis://", "needs a target with SQL"][..]),
        ("load", &["-w", "tpcc"], &["tpcc", "redis://", "needs a target with SQL"]),
        ("check", &["-w", "tpcc"], &["tpcc", "redis://", "needs a target with SQL"]),
        ("cleanup", &["-w", "tpcc"], &["tpcc", "redis://", "needs a target with SQL"]),
        ("run", &["-p", "mode=select1"], &["select1", "mode=ping"]),
        ("run", &["--isolation", "serializable"], &["serializable", "isolation"]),
    ] {
        scratch.truetail(&[&[verb, &url], more].concat()).refused(named);
    }
    // Nothing was written there, and no recording was begun.
    assert_eq!(server.ask(&["DBSIZE"]).unwrap(), ":0\r\n");
    assert!(!scratch.path("recordings").exists());
}

#[test]
fn ycsb_is_loaded_run_checked_and_dropped() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("redis-ycsb");
    let url = server.tcp_url();
    for name in ["ycsb", "ycsb-a", "ycsb-e"] {
        let truetail = |verb: &str| scratch.truetail(&[verb, &url, "-w", name]);
        assert!(truetail("check").with_code(1).stdout.contains("load it first"));
        let loaded = truetail("load").well();
        assert!(loaded.stderr.contains("1000 rows"), "{loaded:?}");
        assert!(truetail("load").well().stdout.contains("already there"));
        scratch.truetail(&brief(&[&url, "-w", name, "-r", "500/s", "-c", "2", "-o", name])).judged();
        let rows = scratch.rows(name);
        assert_contiguous(&rows);
        assert!(rows.len() > 300 && rows.iter().all(|row| row.outcome == "ok"), "{rows:?}");
        let recording = scratch.recording(name);
        let end = recording.end().expect("it ended");
        let holds =
            |fact: &&(String, String)| fact.0.starts_with("invariant: ") && fact.1.starts_with("holds");
        assert!(end.facts.iter().filter(holds).count() >= 3, "{:?}", end.facts);
        truetail("check").well();
        // What belongs to another workload is named and left alone.
        let other = if name == "ycsb" { "ycsb-a" } else { "ycsb" };
        scratch.truetail(&["run", &url, "-w", other, "-o", "other"]).refused(&["usertable", "ycsb"]);
        truetail("cleanup").well();
        assert_eq!(server.ask(&["DBSIZE"]).unwrap(), ":0\r\n");
    }
}

#[test]
fn ycsb_runs_on_the_simulated_store() {
    let scratch = Scratch::new("store-ycsb");
    let mut store = scratch.start(&["store", "--resp", "127.0.0.1:0"]);
    let url = store.wait_for_result("redis").split_whitespace().last().expect("an address").to_owned();
    for name in ["ycsb-a", "ycsb-e"] {
        scratch.truetail(&brief(&[&url, "-w", name, "-r", "300/s", "-c", "2", "-o", name])).judged();
        let rows = scratch.rows(name);
        assert!(rows.len() > 200 && rows.iter().all(|row| row.outcome == "ok"), "{rows:?}");
        scratch.truetail(&["check", &url, "-w", name]).well();
        scratch.truetail(&["cleanup", &url, "-w", name]).well();
    }
    store.signal(libc::SIGINT);
    store.wait().well();
}

#[test]
fn a_password_comes_from_the_environment_and_goes_nowhere() {
    const SECRET: &str = "Tr0mbone-in-the-wings";
    let Some(server) = server(&Options { password: Some(SECRET.to_owned()), ..Options::default() }) else {
        return;
    };
    let scratch = Scratch::new("redis-password");
    let url = format!("redis://127.0.0.1:{}", server.port());
    let run = |out: &str, variables: &[(&str, &str)]| {
        let mut command = scratch.command(&brief(&[&url, "-c", "2", "-o", out]));
        scratch.run(command.envs(variables.iter().copied()))
    };
    run("a", &[("REDISCLI_AUTH", SECRET)]).judged();
    scratch.truetail(&brief(&[&server.tcp_url(), "-c", "2", "-o", "b"])).judged();
    for file in ["a", "b"].iter().flat_map(|name| files(&scratch.path(name))) {
        let bytes = std::fs::read(&file).expect("a file of the recording");
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "the password is in {}", file.display());
    }
    run("c", &[]).refused(&["NOAUTH", "REDISCLI_AUTH"]);
    run("d", &[("REDISCLI_AUTH", "Wr0ng")]).refused(&["WRONGPASS"]);
}

#[test]
fn a_store_that_restarts_costs_its_requests_and_no_more() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("redis-restart");
    let url = server.tcp_url();
    let load = ["-r", "200/s", "-d", "300s", "--warmup", "0s", "-c", "4", "--report-interval", "250ms"];
    let mut running = scratch.start(&[&["run", &url, "-o", "a"], &load[..]].concat());
    running.wait_for_views(4);
    server.stop().expect("the server stops");
    running.wait_for("errors ");
    server.launch().expect("the server starts again");
    // The sessions come back within the longest backoff of a second.
    running.wait_for_views(8);
    running.signal(libc::SIGINT);
    running.wait().judged();

    let rows = scratch.rows("a");
    assert_contiguous(&rows);
    let failed: Vec<_> = rows.iter().filter(|row| row.outcome != "ok").collect();
    assert!(failed.iter().any(|row| row.outcome == "connection-lost"), "{failed:?}");
    let after = failed.last().expect("a failure").seq;
    assert!(rows.iter().filter(|row| row.seq > after && row.outcome == "ok").count() > 20, "{failed:?}");
    let recording = scratch.recording("a");
    for kind in [EventKind::Outage, EventKind::ConnectionLost, EventKind::Reconnected] {
        assert!(!events(&recording, kind).is_empty(), "no {kind:?} in {:?}", recording.events());
    }
}
