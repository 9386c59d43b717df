//! `echo`, `floor` and `run --floor`: what the measuring side itself costs, as its users meet it.

use crate::program::{Ended, Running, Scratch, brief};
use record::{PhaseKind, Recording};
use serde_json::Value;
use std::net::TcpListener;

/// `truetail echo` at a free port and a unix socket; its targets.
fn echo(scratch: &Scratch) -> (Running, String, String) {
    let path = std::env::temp_dir().join(format!("truetail-cli-echo-{}-{:p}", std::process::id(), scratch));
    let _ = std::fs::remove_file(&path); // of an earlier test with the same process id
    let path = path.to_str().expect("UTF-8").to_owned();
    let mut running = scratch.start(&["echo", "--listen", "127.0.0.1:0", "--unix", &path]);
    let mut target = |part: &str| {
        let line = running.wait_for_result(part);
        line.split_whitespace().last().expect("a target").to_owned()
    };
    let (tcp, unix) = (target("TCP"), target("unix"));
    (running, tcp, unix)
}

fn end(running: Running) -> Ended {
    running.signal(libc::SIGINT);
    running.wait().well()
}

/// It was done; where the host did not let it keep up with so low a rate, the page says so.
fn measured(ended: Ended) -> Ended {
    let missed =
        ended.stdout.contains("no floor for this load") || ended.stdout.contains("\"decisive\": null");
    ended.with_code(if missed { 3 } else { 0 })
}

#[test]
fn an_echo_server_is_a_target_over_tcp_and_unix() {
    let scratch = Scratch::new("echo");
    let (server, tcp, unix) = echo(&scratch);
    for (name, target) in [("tcp", &tcp), ("unix", &unix)] {
        let ended = scratch.truetail(&brief(&[target, "-r", "500/s", "-o", name])).judged();
        assert!(ended.first_line().contains("noop on echo"), "{ended:?}");
        assert!(scratch.rows(name).iter().all(|row| row.outcome == "ok"), "{ended:?}");
        let facts = scratch.recording(name).header().target_facts.clone();
        assert!(facts.contains(&("transport".to_owned(), name.to_owned())), "{facts:?}");
    }
    // Every workload runs on it, and none counts a miss.
    scratch.truetail(&brief(&[&tcp, "-w", "ycsb", "-r", "300/s", "-o", "ycsb"])).judged();
    assert!(scratch.rows("ycsb").iter().all(|row| row.outcome == "ok"));
    let path = unix.split_once("socket=").expect("a path").1.to_owned();
    let ended = end(server);
    assert!(
        ended.stderr.contains(" requests answered; ") && ended.stderr.contains(" 0 closed for what"),
        "{ended:?}"
    );
    assert!(!std::path::Path::new(&path).exists(), "the socket's file is left behind");
}

#[test]
fn an_echo_server_speaks_json_and_refuses_what_it_can_not_do() {
    let scratch = Scratch::new("echo-json");
    let mut server = scratch.start(&["echo", "--json", "--listen", "0"]);
    let listening: Value = serde_json::from_str(&server.wait_for_result("listening")).expect("JSON");
    let address = listening["tcp"].as_str().expect("an address").to_owned();
    let ended = end(server);
    let last: Value = serde_json::from_str(ended.stdout.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&last["event"], &last["requests"]["answered"]), (&Value::from("ended"), &Value::from(0)));
    let taken = TcpListener::bind(&address).expect("it is free again");
    scratch.truetail(&["echo", "--listen", &address]).refused(&["--listen", &address, "port 0"]);
    drop(taken);
    scratch.truetail(&["echo", "--listen", "none"]).refused(&["--listen none", "--unix PATH"]);
    scratch.truetail(&["echo", "--cpus", "x"]).refused(&["--cpus", "`x`"]);
    scratch.truetail(&["echo", "--unix", "/nowhere/x"]).refused(&["--unix /nowhere/x"]);
    scratch.truetail(&["echo", "--max-connections", "0"]).refused(&["--max-connections 0"]);
}

#[test]
fn a_floor_without_a_target_is_of_the_harness_and_the_kernel() {
    let scratch = Scratch::new("floor");
    let flags = ["-r", "700/s", "--arrivals", "constant", "-c", "5", "-w", "ycsb", "--timeout", "1s"];
    let ended = measured(scratch.truetail(&[&["floor", "--time", "3s", "-o", "f"], &flags[..]].concat()));
    assert!(ended.first_line().starts_with("floor: open loop: constant, "), "{ended:?}");
    assert!(ended.stdout.contains("null") && ended.stdout.contains("echo"), "{ended:?}");
    for part in ["null", "echo"] {
        let recording = scratch.recording(&format!("f/{part}"));
        let header = recording.header();
        // As the run would be, but for what it asks.
        assert_eq!((header.load.sessions, header.workload.as_str()), (5, "noop"));
        assert_eq!(header.load.timeout, Some(units::Nanos::from_secs(1)));
        let phase = header.phases.iter().find(|phase| phase.kind == PhaseKind::Measured).expect("measured");
        let rate = phase.offered.expect("an open loop").0.get();
        assert_eq!((rate, header.load.arrivals.as_str()), (700.0, "constant"));
    }
    for file in ["floor.html", "floor.json", "floor.svg"] {
        assert!(scratch.path("f").join(file).is_file(), "no {file}");
    }
    // Shown again, it is the same.
    let again = measured(scratch.truetail(&["report", "f"]));
    assert_eq!(again.stdout, ended.stdout);
    let document = scratch.truetail(&["report", "f", "--json"]).json();
    assert_eq!(document["schema"], "truetail.floor/1");
    let names: Vec<&str> = parts(&document).iter().filter_map(|part| part["name"].as_str()).collect();
    assert_eq!(names, ["null", "echo"]);
    // The echo server has gone with whoever started it.
    let target = scratch.recording("f/echo").header().target.clone();
    scratch.truetail(&brief(&[&target])).refused(&["connection refused", "truetail echo --listen"]);
}

fn parts(floor: &Value) -> &Vec<Value> {
    floor["parts"].as_array().expect("parts")
}

fn part<'a>(floor: &'a Value, name: &str) -> &'a Value {
    parts(floor).iter().find(|part| part["name"] == name).unwrap_or_else(|| panic!("no {name} in {floor}"))
}

#[test]
fn a_floor_of_a_store_has_what_its_protocol_has() {
    let scratch = Scratch::new("floor-store");
    let mut store = scratch.start(&["store", "--resp", "127.0.0.1:0", "--postgres", "127.0.0.1:0"]);
    let mut url = |part: &str| {
        let line = store.wait_for_result(part);
        line.split_whitespace().last().expect("a target").to_owned()
    };
    let (redis, postgres) = (url("redis://"), url("postgres://"));
    let (server, tcp, _) = echo(&scratch);
    let by_hand = tcp.strip_prefix("echo://").expect("an address").to_owned();
    let load = ["-r", "300/s", "-c", "2", "--json"];
    for (target, time, names) in [
        (&redis, "3s", &["null", "echo", "noop ping"][..]),
        (&postgres, "9s", &["null", "echo", "noop ping", "noop empty", "noop select1", "noop empty+commit"]),
    ] {
        let out = if target == &redis { "a" } else { "b" };
        let floor = ["floor", target, "--time", time, "--echo", &by_hand, "-o", out];
        let document = measured(scratch.truetail(&[&floor[..], &load].concat())).json();
        let found: Vec<&str> = parts(&document).iter().filter_map(|part| part["name"].as_str()).collect();
        assert_eq!(found, names);
        assert_eq!(part(&document, "echo")["target"], format!("{tcp}/"));
        for one in parts(&document) {
            assert!(one["samples"].as_u64() > Some(30), "{one}");
        }
    }
    end(server);
    store.signal(libc::SIGINT);
    store.wait().well();
}

/// The floor lies in the recording, its shares on the page, in the document, and on both again when they are made again.
#[test]
fn a_run_with_a_floor_says_which_share_it_explains() {
    let scratch = Scratch::new("floor-run");
    let (server, tcp, _) = echo(&scratch);
    let run = ["--floor=3s", "-r", "500/s", "-c", "3", "-o", "a"];
    let ended = scratch.truetail(&brief(&[&[tcp.as_str()], &run[..]].concat())).judged();
    assert!(ended.stderr.contains("measuring the floor first"), "{ended:?}");
    assert!(ended.stdout.contains("\nfloor, measured right before the run\n"), "{ended:?}");
    assert!(ended.stdout.contains("echo explains"), "{ended:?}");
    for part in ["null", "echo"] {
        let of_part = Recording::open(scratch.path("a/floor").join(part)).expect("a recording");
        assert!(
            of_part.header().epoch_wall_ns < scratch.recording("a").header().epoch_wall_ns,
            "before the run"
        );
        assert_eq!(of_part.header().load.sessions, 3);
    }
    let again = scratch.truetail(&["report", "a"]).judged();
    assert_eq!(again.stdout, ended.stdout);
    let document = scratch.truetail(&["report", "a", "--json"]).json();
    let floor = &document["floor"];
    let shares = floor["explained"][0]["shares"].as_array().expect("shares").clone();
    assert_eq!(floor["explained"][0]["quantile"], "p50");
    let share = |name: &str| shares.iter().find(|share| share["part"] == name).expect("a part");
    // What is explained is what was measured, whatever the host made of it.
    let median = &document["measures"]["response_time"]["quantiles"]["p50"]["point"];
    if !floor["decisive"].is_null() {
        for name in ["null", "echo"] {
            let of_part = part(floor, name)["quantiles"]["p50"]["point"].as_f64().expect("a median");
            let ratio = share(name)["share"]["point"].as_f64().expect("a share");
            let expected = of_part / median.as_f64().expect("a median");
            assert!((ratio / expected - 1.0).abs() < 1e-9, "{name}: {ratio}, not {expected}");
        }
    }
    let summary = std::fs::read_to_string(scratch.path("a/summary.json")).expect("summary.json");
    assert_eq!(serde_json::from_str::<Value>(&summary).expect("JSON"), document);
    assert_eq!(scratch.truetail(&["export", "a", "--format", "json"]).json(), document);
    let page = std::fs::read_to_string(scratch.path("a/report.html")).expect("report.html");
    assert!(page.contains("id=\"floor\"") && page.contains("\"floors\":[{"), "the page has no floor");
    let spectrum = std::fs::read_to_string(scratch.path("a/figures/spectrum.svg")).expect("spectrum.svg");
    assert!(spectrum.contains(">echo</text>"), "the figure has no floor");
    // A run without one says nothing of it, and finds no place where another one's floor lies.
    let without = scratch.truetail(&brief(&[&tcp, "-o", "b"])).judged();
    assert!(!without.stdout.contains("floor"), "{without:?}");
    std::fs::create_dir_all(scratch.path("c/floor/null")).expect("a directory");
    scratch.truetail(&brief(&[&tcp, "-o", "c"])).refused(&["c", "is not empty"]);
    end(server);
}

#[test]
fn a_database_in_process_has_no_socket_to_measure() {
    let scratch = Scratch::new("floor-sqlite");
    let run = ["sqlite:data.db", "--floor=4s", "-r", "300/s", "-o", "a", "--json"];
    let document = scratch.truetail(&brief(&run)).judged().json();
    let names: Vec<&str> =
        parts(&document["floor"]).iter().filter_map(|part| part["name"].as_str()).collect();
    assert_eq!(names, ["null", "noop ping", "noop select1", "noop empty+commit"]);
    assert!(
        ["null", ""].contains(&document["floor"]["decisive"].as_str().unwrap_or("")),
        "{}",
        document["floor"]
    );
    assert_eq!(part(&document["floor"], "noop ping")["transport"], "in-process");
}

/// A rate that the measuring side does not manage has no floor; the exit code says so, too.
#[test]
fn a_rate_that_is_too_high_has_no_floor() {
    let scratch = Scratch::new("floor-rate");
    let ended =
        scratch.truetail(&["floor", "--time", "1400ms", "-r", "2000000/s", "--drain", "100ms", "-o", "f"]);
    let ended = ended.with_code(3);
    assert!(ended.stdout.contains("\nno floor for this load: echo: "), "{ended:?}");
    assert!(ended.stdout.contains("try a lower"), "{ended:?}");
    assert!(!ended.stdout.contains("can't see below"), "{ended:?}");
}

#[test]
fn what_can_not_be_a_floor_is_refused_in_one_line() {
    let scratch = Scratch::new("floor-refusals");
    let nobody =
        TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address").to_string();
    let there = format!("truetail echo --listen {nobody}");
    scratch.truetail(&["floor", "--echo", &nobody]).refused_at_last(&["connection refused", &there]);
    // Somebody is there who speaks something else.
    let mut store = scratch.start(&["store", "--resp", "127.0.0.1:0", "--postgres", "none"]);
    let line = store.wait_for_result("redis://");
    let address = line.trim().rsplit('/').next().expect("an address").to_owned();
    scratch.truetail(&["floor", "--echo", &address]).refused_at_last(&["no echo server is there", &address]);
    store.signal(libc::SIGINT);
    store.wait().well();

    scratch.truetail(&["floor", "--time", "1s"]).refused(&["a floor in 1.00 s", "too short for its 2 parts"]);
    scratch.truetail(&["floor", "--time", "soon"]).refused(&["--time", "soon"]);
    scratch.truetail(&["floor", "--echo", "db1:x"]).refused(&["--echo db1:x", "HOST:PORT"]);
    scratch.truetail(&["run", "--echo", "db1:1"]).refused(&["--echo without --floor"]);
    scratch.truetail(&["run", "--floor", "null:"]).refused(&["--floor null:", "a target before `--floor`"]);
    let search = ["search", "null:", "--slo", "p50 < 1s", "--floor"];
    scratch.truetail(&search).refused(&["search with --floor", "truetail floor"]);
    scratch.write("a.toml", "floor = \"soon\"\n");
    scratch.truetail(&["run", "null:", "--config", "a.toml"]).refused(&["--floor soon"]);
}

#[test]
fn an_interrupted_floor_ends_the_run_and_its_server() {
    let scratch = Scratch::new("floor-interrupted");
    let mut running = scratch.start(&[
        "run",
        "null:",
        "--floor=60s",
        "-r",
        "100/s",
        "-o",
        "a",
        "--report-interval",
        "50ms",
    ]);
    running.wait_for("floor, part 1 of 1: null");
    running.wait_for_views(2);
    running.signal(libc::SIGINT);
    let ended = running.wait();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("interrupted in part 1 of 1 of the floor"), "{ended:?}");
    assert!(!scratch.path("a/run.toml").exists(), "the run itself was made all the same");
}
