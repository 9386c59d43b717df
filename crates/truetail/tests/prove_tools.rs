//! Other load tools under `truetail prove`: the ready-made ones really run, and a planted one gets its verdict.
//!
//! A test program of its own, whose tests take turns: each needs the machine for itself.

#[path = "cli/program.rs"]
#[expect(dead_code, reason = "shared with the tests of the other commands, which need more of it")]
mod program;

use program::Scratch;
use serde_json::Value;
use std::sync::{Mutex, PoisonError};
use testkit::documented::Schema;

/// Held while a load runs.
static MACHINE: Mutex<()> = Mutex::new(());

/// Runs tools through one scenario; what was found of each.
fn graded(name: &str, flags: &[&str], write: impl FnOnce(&Scratch)) -> Vec<Value> {
    let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let scratch = Scratch::new(name);
    write(&scratch);
    let words = [&["prove", "--scenario", "hiccup-80", "--json", "-o", "a"], flags].concat();
    let proof = scratch.truetail(&words).well().json();
    let mut differences = Schema::new("truetail.prove/1").differences(std::slice::from_ref(&proof));
    // Of truetail's own scenarios and experiments there is nothing here.
    differences.retain(|line| !line.contains("which no "));
    assert_eq!(differences, Vec::<String>::new());
    for file in ["a/proof.html", "a/proof.json"] {
        assert!(scratch.path(file).exists(), "no {file}");
    }
    let tools = proof["tools"].as_array().expect("tools").clone();
    for tool in &tools {
        let runs = tool["runs"].as_array().expect("runs");
        assert!(runs.len() == 1 && runs[0]["verdict"] == tool["verdict"], "{tool:#}");
        let figures = runs[0]["figures"].as_array().expect("figures");
        assert!(!figures.is_empty(), "{tool:#}");
        for figure in figures {
            assert!(figure["measured"].as_f64().is_some_and(|nanos| nanos > 0.0), "{tool:#}");
            // Of the 300 ms that the store stood still, a busy host may sleep through some.
            let longest = figure["statistic"] == "max";
            assert!(
                !longest || figure["true_service"].as_f64().is_some_and(|nanos| nanos >= 150e6),
                "{tool:#}"
            );
        }
    }
    tools
}

/// The verdict of the tool so called; `name` ends with its protocol.
fn verdict<'a>(tools: &'a [Value], name: &str) -> &'a str {
    let tool = tools.iter().find(|tool| tool["tool"] == name);
    let tool = tool.unwrap_or_else(|| panic!("no {name} in {tools:#?}"));
    println!("{name}: {}: {}", tool["verdict"], tool["runs"][0]["why"]);
    tool["verdict"].as_str().expect("a verdict")
}

/// How many times its p99 is what users wait: 284 ms of the response time, 13 ms of the service time.
fn factor(tools: &[Value], name: &str) -> f64 {
    let tool = tools.iter().find(|tool| tool["tool"] == name).expect("a tool");
    let figures = tool["runs"][0]["figures"].as_array().expect("figures");
    let p99 = figures.iter().find(|figure| figure["statistic"] == "p99").expect("a p99");
    p99["factor"].as_f64().unwrap_or_else(|| panic!("no factor in {p99:#}"))
}

fn omits(tools: &[Value], name: &str) {
    assert!(["omits", "approximates"].contains(&verdict(tools, name)));
    assert!(factor(tools, name) < 0.5, "{name}: {}", factor(tools, name));
}

/// A machine that is busy makes requests later, not earlier.
fn measures_from_the_schedule(tools: &[Value], name: &str) {
    assert!(["intended", "approximates"].contains(&verdict(tools, name)));
    assert!(factor(tools, name) > 0.9, "{name}: {}", factor(tools, name));
}

/// What a closed loop leaves out can't come back, and what is counted from the schedule can't be lost, however busy this
/// machine is. How near a figure is to the truth depends on that.
#[test]
fn ready_made_tools_run() {
    let flags = ["--tool", "redis-benchmark", "--tool", "pgbench -R", "--tool", "sysbench --rate"];
    let tools = graded("tools", &flags, |_| ());
    assert_eq!(tools.len(), 3);
    omits(&tools, "redis-benchmark, resp");
    measures_from_the_schedule(&tools, "pgbench -R, postgres");
    measures_from_the_schedule(&tools, "sysbench --rate, postgres");
}

#[test]
fn ycsb_runs_in_both_of_its_measures() {
    let Some(class_path) = testkit::ycsb::class_path() else { return };
    let flags = ["--tool", "YCSB op", "--tool", "YCSB intended", "--class-path", &class_path];
    let tools = graded("tools-ycsb", &flags, |_| ());
    assert_eq!(tools.len(), 4);
    for protocol in ["resp", "postgres"] {
        omits(&tools, &format!("YCSB op, {protocol}"));
        measures_from_the_schedule(&tools, &format!("YCSB intended, {protocol}"));
    }
}

/// The scenario's size over TCP: 2,000/s for 8 s at 80 % of the capacity, a stall of 300 ms at 1 s, 200 µs each.
const REQUESTS: u64 = 16_000;

/// How long each request waits from its intended start on, in µs: one after the other, in a few lines.
fn response_times() -> impl Iterator<Item = u64> {
    let mut turn = 0;
    (0..REQUESTS).map(move |number| {
        let arrival = number * 500;
        let begin =
            if (1_000_000..1_300_000).contains(&arrival.max(turn)) { 1_300_000 } else { arrival.max(turn) };
        turn = begin + 400;
        begin + 200 - arrival
    })
}

/// What one session sees that sends when it has its answer: a single request meets the stall.
fn service_times() -> impl Iterator<Item = u64> {
    (0..REQUESTS).map(|number| if number == 2_000 { 300_000 } else { 200 })
}

/// A tool that makes a real load and then states what was planted.
fn planted(name: &str, times: impl Iterator<Item = u64>) -> String {
    let lines: String = times.map(|time| format!("{time}\n")).collect();
    let text = format!("elapsed_us\n{lines}");
    // A load at the rate that is asked for; what its own verdict says of this machine does not matter here.
    let program = env!("CARGO_BIN_EXE_truetail");
    let run =
        "run redis://$1:$2 -w noop -p mode=ping -r $4/s -d 8s --warmup 0s -c 32 --arrivals constant -o run";
    let script = format!("'{program}' {run} >&2\ncat \"$3\"\n");
    let place =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let figures = place.join("planted.csv");
    let command = format!(
        "sh '{}' {{host}} {{port}} '{}' {{rate}}",
        place.join("tool.sh").display(),
        figures.display()
    );
    let flags = ["--tool", &command, "--format", "csv", "--protocol", "resp"];
    let tools = graded(name, &flags, |scratch| {
        scratch.write("tool.sh", &script);
        scratch.write("planted.csv", &text);
    });
    verdict(&tools, "sh, resp").to_owned()
}

#[test]
fn a_tool_that_states_the_response_times_measures_from_the_intended_start() {
    assert_eq!(planted("tools-true", response_times()), "intended");
}

#[test]
fn a_tool_that_states_the_service_times_omits() {
    assert_eq!(planted("tools-omits", service_times()), "omits");
}

/// Half of each wait: neither the one nor the other.
#[test]
fn a_tool_that_corrects_half_approximates() {
    let times = response_times().map(|time| if time > 200 { time / 2 } else { time });
    assert_eq!(planted("tools-half", times), "approximates");
}
