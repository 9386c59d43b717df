//! A store's truth log, exported and laid over a run.

use crate::program::Scratch;
use serde_json::Value;
use std::path::Path;

/// The golden log of `record`.
fn golden() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/golden/truth-v1");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_truth_log_is_exported_row_by_row() {
    let scratch = Scratch::new("truth-csv");
    let csv = scratch.truetail(&["export", &golden()]).well().stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 301);
    assert_eq!(
        lines[0],
        "seq,connection,number,operation,node,rules,stamped,arrived_ns,begun_ns,due_ns,written_ns,lateness_ns,\
         staleness_versions,staleness_ns,age_ns,key_hash"
    );
    assert_eq!(lines[1], "0,0,0,ping,0,,false,0,0,900090,901390,1300,,,,");
    let queued: Vec<&str> = lines[8].split(',').collect();
    assert_eq!((queued[0], queued[3], queued[5], queued[6]), ("7", "read", "queued", "false"));
    assert_eq!((queued[12], queued[13], queued[14]), ("1", "100003", "7000021"));
    assert_eq!(queued[15].len(), 16);
    assert!(lines[3].contains(",\"update \"\"hot\"\" rows\","), "{}", lines[3]);
    let unanswered: Vec<&str> = lines[151].split(',').collect();
    assert_eq!((unanswered[10], unanswered[11]), ("", ""));
    let to_file = scratch.truetail(&["export", &golden(), "-o", "truth.csv"]).well();
    assert_eq!(to_file.stdout, "");
    assert_eq!(std::fs::read_to_string(scratch.path("truth.csv")).expect("a file"), csv);
}

#[test]
fn other_formats_of_a_truth_log_are_refused_with_a_way_out() {
    let scratch = Scratch::new("truth-formats");
    for format in ["hdr", "json"] {
        scratch.truetail(&["export", &golden(), "--format", format]).refused(&[
            &format!("--format {format}"),
            "truth log",
            "csv",
            "--truth",
        ]);
    }
    scratch.truetail(&["report", &golden()]).refused(&["not a recording", "run.toml"]);
    scratch.truetail(&["run", "null:", "-d", "200ms", "--warmup", "0s", "-o", "a"]).judged();
    scratch.truetail(&["report", "a", "--truth", "nowhere"]).refused(&["nowhere", "no such truth log"]);
    scratch.truetail(&["report", "a", "--truth", "a"]).refused(&["not a truth log", "truth.toml"]);
}

/// The log of another time: nothing is paired, nothing made up, and the run's own numbers stay.
#[test]
fn a_log_of_something_else_changes_no_number() {
    let scratch = Scratch::new("truth-else");
    scratch.truetail(&["run", "null:", "-d", "500ms", "--warmup", "0s", "-o", "a"]).judged();
    let without = scratch.truetail(&["report", "a", "--json"]).json();
    let with = scratch.truetail(&["report", "a", "--truth", &golden(), "--json"]).json();
    assert_eq!(without["truth"], serde_json::Value::Null);
    assert_eq!(with["measures"], without["measures"]);
    let requests = &with["truth"]["requests"];
    assert_eq!(requests["matched"], 0);
    assert!(requests["sent"].as_u64() > Some(0) && requests["sent"] == requests["unmatched"], "{requests}");
    let page = scratch.truetail(&["report", "a", "--truth", &golden()]).judged().stdout;
    assert!(page.contains("requests sent have no truth"), "{page}");
}

/// A store on a free port, a run against it, and both laid over each other.
#[test]
fn truth_and_measurement_of_a_live_store_are_paired_to_the_last_request() {
    let scratch = Scratch::new("truth-live");
    let store = ["store", "--resp", "127.0.0.1:0", "--postgres", "none", "--service", "exp:1ms"];
    let more = ["--hiccup", "300ms@1s", "--truth", "truth"];
    let mut store = scratch.start(&[&store[..], &more[..]].concat());
    let line = store.wait_for_result("redis://");
    let url = line.split_whitespace().last().expect("an address").to_owned();
    let run = ["run", &url, "-w", "noop", "-p", "mode=ping", "-r", "300/s", "-c", "16"];
    scratch.truetail(&[&run[..], &["-d", "2s", "--warmup", "500ms", "-o", "a"]].concat()).judged();
    store.signal(libc::SIGINT);
    store.wait().well();

    let report = ["report", "a", "--truth", "truth"];
    let truth = &scratch.truetail(&[&report[..], &["--json"]].concat()).json()["truth"];
    let count = |name: &str| truth["requests"][name].as_u64().expect("a count");
    assert!(count("sent") > 500, "{truth}");
    assert_eq!((count("matched"), count("unmatched")), (count("sent"), 0), "{truth}");
    let values = &truth["response_time"]["values"];
    let longest = values.as_array().and_then(|list| list.last()).expect("a maximum");
    assert_eq!(longest["statistic"], "max");
    // The store stood still for 300 ms, and the client waited at least as long as the store knows.
    let (true_ns, measured) = (longest["truth"].as_f64(), longest["measured"].as_f64());
    assert!(true_ns >= Some(250e6) && measured >= true_ns.map(|ns| ns - 50e3), "{longest}");
    assert!(truth["rules"].as_array().is_some_and(|rules| {
        rules.iter().any(|rule| rule["name"] == "hiccup" && rule["matched"].as_u64() > Some(0))
    }));
    let page = scratch.truetail(&report).judged().stdout;
    assert!(page.contains("against the store's truth") && page.contains("true response time"), "{page}");
    for file in ["report.html", "figures/truth.svg"] {
        assert!(scratch.path("a").join(file).exists(), "no {file}");
    }
    let html = std::fs::read_to_string(scratch.path("a/report.html")).expect("a page");
    assert!(html.contains("id=\"truth-0\""), "no figure");
}

/// 280 requests too many wait when the node has joined; 2,000/s of capacity are through with them within a second. A host
/// that stands still after that shows as a window that is not stable, in the store's log as on the client's side: where the
/// run's own observers saw that, window by window, the run is repeated.
#[test]
fn a_node_that_joins_is_found_with_the_time_until_response_times_are_stable() {
    let mut disturbed = Vec::new();
    for attempt in 1..=3 {
        let scratch = Scratch::new(&format!("truth-join-{attempt}"));
        let join = joined(&scratch);
        let sides = ["truth", "measured"].map(|name| join[name].clone());
        let mut late = sides.iter().filter(|side| !stable_in_time(side)).peekable();
        if late.peek().is_none() {
            shows_the_join(&scratch);
            return;
        }
        let hiccups = hiccups(&scratch);
        assert!(late.all(|side| stood_still(side, &hiccups)), "no hiccup explains {join}; {hiccups:?}");
        disturbed.push(join);
    }
    panic!("three runs, each of them disturbed: {disturbed:#?}");
}

/// What truth and measurement say of a node that joined, 2 s long from 7 s of the store on.
fn joined(scratch: &Scratch) -> Value {
    let store = ["store", "--resp", "127.0.0.1:0", "--postgres", "none", "--truth", "truth"];
    let join = "at=7s streaming=2s dip=60% then=2000/s";
    // Long beside what a host may stand still for.
    let timing = ["--service", "200ms", "--capacity", "400/s", "--join", join];
    let mut store = scratch.start(&[&store[..], &timing[..]].concat());
    let line = store.wait_for_result("redis://");
    let url = line.split_whitespace().last().expect("an address").to_owned();
    let run = ["run", &url, "-w", "noop", "-p", "mode=ping", "-r", "300/s", "-c", "128"];
    let how = ["--arrivals", "constant", "-d", "16s", "--warmup", "0s", "-o", "a"];
    scratch.truetail(&[&run[..], &how[..]].concat()).judged();
    store.signal(libc::SIGINT);
    store.wait().well();
    let join = &scratch.truetail(&["report", "a", "--truth", "truth", "--json"]).json()["truth"]["join"];
    assert_eq!((&join["streaming"], &join["measure"]), (&2_000_000_000_u64.into(), &"response_time".into()));
    for name in ["truth", "measured"] {
        assert!(join[name]["worst_p95"].as_f64() > Some(600e6), "{join}");
    }
    join.clone()
}

fn stable_in_time(side: &Value) -> bool {
    let after = side["stable_after"].as_u64();
    side["settled"] == "reached" && (Some(2_000_000_000)..=Some(4_000_000_000)).contains(&after)
}

/// Whether each window that is off after it should be stable met hiccups of at least half of what it is off by.
fn stood_still(side: &Value, hiccups: &[(u64, u64)]) -> bool {
    let (last, windows) = (side["final_p95"].as_f64().expect("a level"), side["windows"].as_array());
    let begin = |window: &Value| window["begin"].as_u64().expect("a begin");
    let windows = windows.expect("windows");
    let stable_from = begin(&windows[0]) + 4_000_000_000;
    let excess = |window: &Value| window["p95"].as_f64().map_or(0.0, |p95| (p95 - last).abs());
    let off = windows.iter().filter(|window| begin(window) >= stable_from && excess(window) > 0.2 * last);
    let (mut count, mut excused) = (0, 0);
    for window in off {
        // A request is in the window that it was intended in, and what it met may lie up to its own length later.
        let (from, to) = (begin(window).saturating_sub(200_000_000), begin(window) + 1_400_000_000);
        let met: u64 = hiccups.iter().map(|h| h.1.min(to).saturating_sub(h.0.max(from))).sum();
        count += 1;
        excused += usize::from(met as f64 >= 0.5 * excess(window));
    }
    count > 0 && excused == count
}

/// When CPUs woke late, ns of the run's clock.
fn hiccups(scratch: &Scratch) -> Vec<(u64, u64)> {
    let recording = scratch.recording("a");
    let is_hiccup =
        |source: u16| recording.noise_sources()[usize::from(source)].name.starts_with("hiccup cpu");
    let seen = recording.noise().expect("noise");
    seen.iter().filter(|one| is_hiccup(one.source)).map(|one| (one.begin.0, one.end.0)).collect()
}

fn shows_the_join(scratch: &Scratch) {
    let page = scratch.truetail(&["report", "a", "--truth", "truth"]).judged().stdout;
    assert!(page.contains("a node joined") && page.contains("after it began to join"), "{page}");
    assert!(scratch.path("a/figures/node-joins.svg").exists(), "no figure");
}
