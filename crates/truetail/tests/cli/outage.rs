//! A server that goes away and comes back, and one that stops to answer.

use crate::program::{Scratch, assert_contiguous, events};
use record::EventKind;
use testkit::postgres::{Options, server};

const LOAD: [&str; 13] = [
    "-w",
    "noop",
    "-r",
    "200/s",
    "-d",
    "300s",
    "--warmup",
    "0s",
    "-c",
    "4",
    "--report-interval",
    "250ms",
    "--timeout=1s",
];

#[test]
fn a_server_that_restarts_costs_its_requests_and_no_more() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("restart");
    let url = server.tcp_url();
    let mut running = scratch.start(&[&["run", &url, "-o", "a"], &LOAD[..]].concat());
    running.wait_for_views(4);
    server.stop().expect("the server stops");
    running.wait_for("errors ");
    server.launch().expect("the server starts again");
    // The sessions come back within the longest backoff of a second; then the count of errors stands still.
    let errors = |line: String| {
        line.split("errors ").nth(1).and_then(|rest| rest.split(' ').next()?.trim().parse::<u64>().ok())
    };
    let mut seen = errors(running.wait_for_views(4));
    loop {
        let now = errors(running.wait_for_views(6));
        if now == seen {
            break;
        }
        seen = now;
    }
    running.signal(libc::SIGINT);
    let ended = running.wait().judged();
    assert!(ended.first_line().starts_with("open loop"), "{ended:?}");

    let rows = scratch.rows("a");
    assert_contiguous(&rows);
    let failed: Vec<_> = rows.iter().filter(|r| r.outcome != "ok").collect();
    assert!(!failed.is_empty());
    assert!(
        failed.iter().any(|r| r.outcome == "unavailable" || r.outcome == "connection-lost"),
        "{failed:?}"
    );
    let after = failed.last().expect("a failure").seq;
    assert!(
        rows.iter().filter(|r| r.seq > after && r.outcome == "ok").count() > 20,
        "it went on after {after}"
    );
    // Requests that became due in the outage waited for it: the schedule did not stop.
    let recording = scratch.recording("a");
    let outage = events(&recording, EventKind::Outage);
    assert!(!outage.is_empty(), "{:?}", recording.events());
    let within = |r: &&crate::program::Row| {
        r.intended.is_some_and(|at| outage.iter().any(|o| (o.begin.0..o.end.0).contains(&at)))
    };
    let waited = rows.iter().filter(within).count();
    let length: u64 = outage.iter().map(|o| o.end.0 - o.begin.0).sum();
    let expected = length as f64 / 1e9 * 200.0;
    assert!((waited as f64 - expected).abs() <= 5.0 * expected.sqrt() + 5.0, "{waited} in {length} ns");
    assert!(!events(&recording, EventKind::ConnectionLost).is_empty());
    assert!(!events(&recording, EventKind::Reconnected).is_empty());
    assert!(!events(&recording, EventKind::FirstError).is_empty());
}

#[test]
fn a_frozen_server_makes_censored_requests() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("frozen");
    let url = server.tcp_url();
    let mut load = LOAD.to_vec();
    *load.last_mut().expect("a flag") = "--timeout=50ms";
    let mut running = scratch.start(&[&["run", &url, "-o", "a"], &load[..]].concat());
    running.wait_for_views(4);
    server.freeze().expect("the server freezes");
    running.wait_for("timeouts ");
    server.thaw().expect("the server goes on");
    running.wait_for_views(12);
    running.signal(libc::SIGINT);
    let ended = running.wait().judged();
    assert!(ended.stdout.contains("timeout"), "{ended:?}");

    let rows = scratch.rows("a");
    assert_contiguous(&rows);
    let late: Vec<_> = rows.iter().filter(|r| r.outcome == "timeout").collect();
    assert!(!late.is_empty());
    for row in &late {
        assert!(row.service.is_some_and(|s| s >= 50_000_000), "given up before its time: {row:?}");
    }
    let last = late.last().expect("a timeout").seq;
    assert!(
        rows.iter().filter(|r| r.seq > last && r.outcome == "ok").count() > 20,
        "it went on after {last}"
    );
    let recording = scratch.recording("a");
    assert!(!events(&recording, EventKind::ConnectionLost).is_empty());
    assert!(!events(&recording, EventKind::Reconnected).is_empty());
}
