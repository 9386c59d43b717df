//! Other tools' runs that were given a rate, and what their files say of it.

use crate::program::Scratch;
use serde_json::Value;
use std::fmt::Write as _;

/// When planted rows begin, ms since 1970.
const BEGIN_MS: u64 = 1_795_247_156_000;

/// Rows of a YCSB that was to make 2,000 requests per second and makes as many as `each_us` lets it, for five seconds; a request
/// takes 0.9 ms.
fn rows(each_us: u64) -> String {
    let (mut sent, mut scheduled) = (String::new(), String::new());
    for i in 0..5_000_000 / each_us {
        let (intended, completed) = (i * 500, i * each_us + 900);
        let at = BEGIN_MS + completed / 1_000;
        let _ = writeln!(sent, "READ,{at},900");
        let _ = writeln!(scheduled, "Intended-READ,{at},{}", completed - intended);
    }
    sent + &scheduled
}

/// Of a verdict, what it says of the rate.
fn of_rate(document: &Value) -> Option<String> {
    let all = document["verdict"]["reasons"].as_array().expect("reasons");
    let found = all.iter().find(|reason| reason["kind"] == "rate-not-reached");
    found.map(|reason| reason["text"].as_str().expect("a text").to_owned())
}

#[test]
fn a_rate_that_a_tool_did_not_keep_is_said_so() {
    let scratch = Scratch::new("import-rate");
    let import = |name: &str, each_us: u64, line: &str| {
        scratch.write("raw.csv", &rows(each_us));
        scratch.write("ycsb.out", &format!("Command line: -t {line}\nYCSB Client 0.17.0\n"));
        scratch.truetail(&["import", "ycsb", "raw.csv", "ycsb.out", "-o", name, "--json"]).judged().json()
    };
    let half = import("half", 1_000, "-target 2000");
    assert_eq!(half["load"]["offered_per_second"], 2_000.0);
    assert!((half["load"]["achieved_per_second"].as_f64().expect("a rate") - 1_000.0).abs() < 5.0, "{half}");
    let said = of_rate(&half).expect("a reason");
    assert!(said.contains("offered rate was not reached: 50 %"), "{said}");
    assert_eq!(half["verdict"]["state"], "invalid");
    let page = scratch.truetail(&["report", "half"]).judged().stdout;
    assert!(page.contains("offered 2,000/s   achieved 1,000/s"), "{page}");

    let kept = import("kept", 500, "-target 2000");
    assert_eq!((of_rate(&kept), &kept["load"]["offered_per_second"]), (None, &2_000.0.into()));
    // What the line does not say, nobody may hold against it.
    let unknown = import("unknown", 1_000, "-P workloada");
    assert_eq!((of_rate(&unknown), &unknown["load"]["model"]), (None, &"open loop".into()));
    // From sending alone, it is a closed loop that was to keep a rate.
    let one: String = rows(1_000).split_inclusive('\n').filter(|row| row.starts_with("READ")).collect();
    scratch.write("one.csv", &one);
    let import = ["import", "ycsb", "one.csv", "-o", "one", "--command", "ycsb run x -target 2000", "--json"];
    let one = scratch.truetail(&import).judged().json();
    assert_eq!(one["load"]["model"], "throttled closed loop");
    let said = of_rate(&one).expect("a reason");
    assert!(said.contains("asked rate was not reached: 50 %"), "{said}");

    // Response times depend on the rate.
    scratch.write("raw.csv", &rows(1_000));
    scratch.write("ycsb.out", "Command line: -t -target 1000\n");
    scratch.truetail(&["import", "ycsb", "raw.csv", "ycsb.out", "-o", "other"]).judged();
    scratch.truetail(&["compare", "kept", "other"]).refused(&["2000.0/s", "1000.0/s"]);
}

#[test]
fn a_field_of_pgbench_that_may_be_two_things_is_asked_for() {
    let scratch = Scratch::new("import-seven");
    let lines: String =
        (0..100).map(|n| format!("0 {n} 248 0 1795346511 {} 0\n", 10_000 + n * 300)).collect();
    scratch.write("pgbench_log.1", &lines);
    scratch.truetail(&["import", "pgbench-log", "pgbench_log.1", "-o", "r"]).refused(&[
        "pgbench_log.1 line 1",
        "seven fields",
        "--command",
    ]);
    assert!(!scratch.path("r").exists(), "nothing is left behind");
    let import = [
        "import",
        "pgbench-log",
        "pgbench_log.1",
        "-o",
        "r",
        "--command",
        "pgbench -l --max-tries=10",
        "--json",
    ];
    let report = scratch.truetail(&import).judged().json();
    assert_eq!(
        (&report["load"]["model"], &report["measures"]["response_time"]),
        (&"closed loop".into(), &Value::Null)
    );
}

#[test]
fn a_summary_of_a_rate_that_was_not_kept_says_so() {
    let scratch = Scratch::new("import-asked");
    scratch.write("s.txt", &crate::imported::SYSBENCH.replace("rate: 500/sec", "rate: 5000/sec"));
    let report = scratch.truetail(&["import", "s.txt", "-o", "s", "--json"]).judged().json();
    let reasons = report["verdict"]["reasons"].as_array().expect("reasons");
    let said = |words: &str| {
        reasons.iter().any(|reason| reason["text"].as_str().is_some_and(|text| text.contains(words)))
    };
    assert!(said("sysbench 1.0.20 was to make 5,000/s and made 530/s"), "{report}");
    scratch.write("t.txt", crate::imported::SYSBENCH);
    let report = scratch.truetail(&["import", "t.txt", "-o", "t", "--json"]).judged().json();
    assert!(!report["verdict"].to_string().contains("was to make"), "{report}");
}

/// A thousand transactions a second are due for five seconds, and seven of ten are skipped.
#[test]
fn transactions_that_were_not_sent_were_offered() {
    let scratch = Scratch::new("import-skipped");
    let mut lines = String::new();
    for n in 0..5_000_u64 {
        let (second, us) = (1_795_346_511 + n / 1_000, n % 1_000 * 1_000);
        let time = if n % 10 < 7 { "skipped".to_owned() } else { "900".to_owned() };
        let _ = writeln!(lines, "{} {n} {time} 0 {second} {us} 100", n % 4);
    }
    scratch.write("pgbench_log.1", &lines);
    let import = ["import", "pgbench-log", "pgbench_log.1", "-o", "r", "--json"];
    let found = scratch.truetail(&import).judged().json();
    let rate = |name: &str| found["load"][name].as_f64().expect("a rate");
    assert!((rate("offered_per_second") - 1_000.0).abs() < 2.0, "{found}");
    assert!((rate("achieved_per_second") - 300.0).abs() < 2.0, "{found}");
    assert!(of_rate(&found).expect("a reason").contains("offered rate was not reached: 30 %"), "{found}");
    assert_eq!(found["verdict"]["state"], "invalid");
}

/// A thousand transactions a second for five seconds, on time, of which the log holds every tenth: a sample, or one file of ten.
#[test]
fn a_rate_of_all_is_not_held_against_a_part() {
    let scratch = Scratch::new("import-part");
    let mut lines = String::new();
    for n in 0..500_u64 {
        let (second, us) = (1_795_346_511 + n / 100, n % 100 * 10_000);
        let _ = writeln!(lines, "0 {n} 900 0 {second} {us} 100");
    }
    scratch.write("pgbench_log.1", &lines);
    let import = |name: &str, line: &str| {
        let words = ["import", "pgbench-log", "pgbench_log.1", "-o", name, "--command", line, "--json"];
        scratch.truetail(&words).judged().json()
    };
    let sample = import("sample", "pgbench -R 1000 -l --sampling-rate=0.1");
    assert_eq!((of_rate(&sample), &sample["verdict"]["state"]), (None, &"suspect".into()), "{sample}");
    assert_eq!(sample["load"]["offered_per_second"], 100.0);
    assert!(sample["verdict"].to_string().contains("a sample of the transactions alone"), "{sample}");
    let thread = import("thread", "pgbench -R 1000 -l -j 10 -c 10");
    assert_eq!((of_rate(&thread), &thread["verdict"]["state"]), (None, &"suspect".into()), "{thread}");
    assert!(thread["verdict"].to_string().contains("there is 1 file"), "{thread}");
    // A sample of a load that was not kept is no excuse.
    let slow = import("slow", "pgbench -R 4000 -l --sampling-rate=0.1");
    assert!(of_rate(&slow).expect("a reason").contains("offered rate was not reached: 25 %"), "{slow}");
    assert_eq!(slow["verdict"]["state"], "invalid");
}

#[test]
fn the_same_log_twice_or_more_than_a_run_made_is_not_believed() {
    let scratch = Scratch::new("import-twice");
    let log = |from: u64| -> String {
        (0..100).map(|n| format!("0 {n} 248 0 1795346511 {}\n", from + n * 300)).collect()
    };
    scratch.write("pgbench_log.1", &log(10_000));
    scratch.write("pgbench_log.2", &log(10_100));
    let twice = ["import", "pgbench-log", "pgbench_log.1", "./pgbench_log.1", "-o", "r"];
    scratch.truetail(&twice).refused(&["./pgbench_log.1 is there twice", "name it once"]);
    assert!(!scratch.path("r").exists(), "nothing is left behind");

    let printed = "pgbench (15.13)\n\
        transaction type: <builtin: select only>\n\
        scaling factor: 1\n\
        query mode: simple\n\
        number of clients: 1\n\
        number of threads: 1\n\
        number of transactions actually processed: 100\n\
        latency average = 0.248 ms\n\
        tps = 100.000000 (without initial connection time)\n";
    scratch.write("pgbench.out", printed);
    let both =
        ["import", "pgbench-log", "pgbench_log.1", "pgbench_log.2", "pgbench.out", "-o", "r", "--json"];
    let found = scratch.truetail(&both).judged().json();
    assert_eq!(found["verdict"]["state"], "suspect", "{found}");
    let reasons = found["verdict"]["reasons"].to_string();
    assert!(reasons.contains("200 transactions that succeeded, and pgbench processed 100"), "{reasons}");
}
