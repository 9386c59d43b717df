//! Other tools' results as recordings.

use crate::program::{Scratch, events};
use record::{EventKind, Provenance};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::PathBuf;

/// What sysbench prints, with its histogram.
pub(crate) const SYSBENCH: &str = include_str!("../../../import/tests/data/sysbench-rate.txt");

/// When planted requests begin, ns since 1970.
const BEGIN: u64 = 1_795_247_165_000_000_000;

fn data(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../import/tests/data").join(name);
    path.display().to_string()
}

fn reasons(document: &Value, severity: &str) -> Vec<String> {
    let all = document["verdict"]["reasons"].as_array().expect("reasons");
    let wanted = all.iter().filter(|reason| reason["severity"] == severity && reason["kind"] == "import-gap");
    wanted.map(|reason| reason["text"].as_str().expect("a text").to_owned()).collect()
}

/// Twenty seconds of 500 requests each. Number i is intended at i · 2 ms, sent 100 µs later, and answered after
/// 1 ms + (i mod 1000) µs more: all quantiles are known.
fn planted(more_ns: impl Fn(u64) -> u64) -> String {
    let mut text = "op,begin,sent at,end,who,fine\n".to_owned();
    for i in 0..10_000_u64 {
        let intended = BEGIN + i * 2_000_000;
        let sent = intended + 100_000;
        // Numbers in an order of their own, so that halves of the run are alike.
        let end = sent + 1_000_000 + i * 7_919 % 1_000 * 1_000 + more_ns(i);
        let seconds = format!("{}.{:09}", intended / 1_000_000_000, intended % 1_000_000_000);
        let _ = writeln!(text, "\"get, once\",{seconds},{sent},{end},t{},{}", i % 4, i % 500 != 3);
    }
    text
}

const MAP: &str = "operation=op,intended=begin:s,sent=sent at:ns,completed=end:ns,session=who,ok=fine";

#[test]
fn planted_quantiles_are_found() {
    let scratch = Scratch::new("import-planted");
    scratch.write("p.csv", &planted(|_| 0));
    let import =
        ["import", "csv", "p.csv", "--map", MAP, "-o", "p", "--target", "a store", "--workload", "mine"];
    let page = scratch.truetail(&import).judged();
    assert!(page.stderr.contains("10,000 requests, 20 failed"), "{page:?}");
    assert!(page.stdout.contains("4 sessions, mine on a store"), "{page:?}");
    let report = scratch.truetail(&["report", "p", "--json"]).judged().json();
    assert_eq!(report["load"]["model"], "open loop");
    assert_eq!(report["outcomes"]["by_class"]["error"], 20);
    // Of 1000 equally frequent values the one of rank ⌈q · n⌉; a bucket is up to 1/1024 wide.
    let near = |measure: &str, q: &str, expected: f64| {
        let found = report["measures"][measure]["quantiles"][q]["point"].as_f64().expect("a quantile");
        assert!((found / expected - 1.0).abs() < 2e-3, "{measure} {q}: {found} and not {expected}");
    };
    for (q, rank) in
        [("p50", 499.0), ("p75", 749.0), ("p90", 899.0), ("p95", 949.0), ("p99", 989.0), ("p99.9", 998.0)]
    {
        near("service_time", q, 1e6 + rank * 1e3);
        near("response_time", q, 1.1e6 + rank * 1e3);
    }
    let exact = |measure: &str| {
        (report["measures"][measure]["min"].as_u64(), report["measures"][measure]["max"].as_u64())
    };
    assert_eq!(exact("service_time"), (Some(1_000_000), Some(1_999_000)));
    assert_eq!(exact("response_time"), (Some(1_100_000), Some(2_099_000)));
    for unknown in ["lag", "pick_up", "pool_wait"] {
        assert_eq!(report["measures"][unknown], Value::Null, "{unknown}");
    }
    assert_eq!(report["verdict"]["believable_to"], Value::Null);
    assert_eq!(reasons(&report, "suspect"), Vec::<String>::new());
    let recording = scratch.recording("p");
    assert_eq!(recording.header().provenance, Provenance::Imported { tool: "a csv file".into() });
    assert_eq!(
        (recording.header().epoch_wall_ns, recording.header().operations[0].as_str()),
        (BEGIN, "get, once")
    );
    // The rows go out as they came in.
    let rows = scratch.rows("p");
    let exported = scratch.truetail(&["export", "p"]).well().stdout;
    assert_eq!((rows.len(), exported.lines().count()), (10_000, 10_001));
    scratch.write("again.csv", &exported);
    let again = scratch.truetail(&["import", "again.csv", "-o", "again", "--json"]).judged().json();
    assert_eq!(
        again["measures"]["response_time"]["quantiles"]["p99"]["point"],
        report["measures"]["response_time"]["quantiles"]["p99"]["point"]
    );
    assert_eq!(again["outcomes"], report["outcomes"]);
    scratch.truetail(&["export", "p", "--format", "hdr"]).well();
    let html = std::fs::read_to_string(scratch.path("p/report.html")).expect("a report");
    assert!(!html.contains("id=\"anatomy-0\"") && html.contains("before sending"), "lag is not known");
}

#[test]
fn a_warm_up_does_not_count() {
    let scratch = Scratch::new("import-warm");
    scratch.write("p.csv", &planted(|i| if i < 1_000 { 50_000_000 } else { 0 }));
    let import = ["import", "csv", "p.csv", "--map", MAP, "--warmup", "2s", "-o", "p", "--json"];
    let report = scratch.truetail(&import).judged().json();
    assert_eq!(report["samples"], 9_000);
    assert_eq!(report["measures"]["response_time"]["max"], 2_099_000);
    scratch
        .truetail(&["import", "csv", "p.csv", "--map", MAP, "--warmup", "1h", "-o", "q"])
        .refused(&["--warmup", "span"]);
    assert!(!scratch.path("q").exists());
}

/// Pauses of 40 ms each second, half a second into it, as a JVM logs them; milliseconds of wall time.
fn log_of_pauses(begin_ns: u64) -> String {
    let mut log = String::new();
    for n in 0..20_u64 {
        let end_ms = begin_ns / 1_000_000 + n * 1_000 + 540;
        let _ = writeln!(
            log,
            "[{end_ms}ms][info][safepoint] Safepoint \"Planted{n}\", Time since last: 960000000 ns, Reaching safepoint: 1000000 \
             ns, At safepoint: 38990000 ns, Leaving safepoint: 10000 ns, Total: 40000000 ns, Threads: 1 runnable, 13 total"
        );
    }
    log
}

#[test]
fn pauses_explain_the_requests_that_met_them_and_no_others() {
    let scratch = Scratch::new("import-pauses");
    // A request that is intended during a pause ends when it does.
    let left = |i: u64| {
        let of_second = i * 2 % 1_000;
        if (500..540).contains(&of_second) { (540 - of_second) * 1_000_000 } else { 0 }
    };
    scratch.write("p.csv", &planted(left));
    scratch.write("gc.log", &log_of_pauses(BEGIN));
    scratch.write("other.log", &log_of_pauses(BEGIN + 86_400_000_000_000));
    let import = ["import", "csv", "p.csv", "--map", MAP, "-o", "p", "--jvm-log", "harness:gc.log", "--json"];
    let report = scratch.truetail(&import).judged().json();
    assert_eq!(report["jvm_logs"][0]["subject"], "harness JVM");
    assert_eq!(report["jvm_logs"][0]["pauses"], 20);
    let aligned = report["jvm_logs"][0]["aligned_by"].as_str().expect("how");
    assert!(
        aligned.starts_with("wall time, ±1 ms; the requests by a csv file’s own wall times"),
        "{aligned}"
    );
    assert_eq!(events(&scratch.recording("p"), EventKind::JvmPause).len(), 20);
    let cause = |document: &Value, name: &str| {
        let causes = document["attribution"]["causes"].as_array().expect("causes").clone();
        causes.into_iter().find(|cause| cause["cause"] == name)
    };
    let found = scratch.truetail(&["attribute", "p", "--above", "10ms", "--json"]).judged().json();
    let harness = cause(&found, "harness-jvm").expect("the pauses");
    assert!(harness["share"].as_f64().expect("a share") > 0.5, "{harness}");
    assert!(harness["association"]["p_value"].as_f64().is_some_and(|p| p < 0.01), "{harness}");
    assert_eq!(harness["largest_of"], found["attribution"]["slow"], "{harness}");
    assert!(cause(&found, "lag").is_none() && cause(&found, "pool-wait").is_none(), "nobody knows of them");

    let import = ["import", "csv", "p.csv", "--map", MAP, "-o", "q", "--jvm-log", "other.log", "--json"];
    let report = scratch.truetail(&import).judged().json();
    assert_eq!(
        report["jvm_logs"][0]["subject"], "server JVM",
        "of a table, nobody says that its tool has a JVM"
    );
    assert_eq!(
        (&report["jvm_logs"][0]["pauses"], &report["jvm_logs"][0]["outside"]),
        (&0.into(), &20.into())
    );
    let found = scratch.truetail(&["attribute", "q", "--above", "10ms", "--json"]).judged().json();
    // A log of another day tells nothing of this one: not that there was no pause either.
    assert!(cause(&found, "server-jvm").is_none_or(|cause| cause["share"].is_null()), "{found}");
}

#[test]
fn requests_of_tools_are_counted_as_they_count_them() {
    let scratch = Scratch::new("import-tools");
    let import = |name: &str, files: &[&str]| {
        let files: Vec<String> = files.iter().map(|file| data(file)).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let ended = scratch.truetail(&[&["import"], &files[..], &["-o", name, "--json"]].concat()).judged();
        assert!(ended.stderr.starts_with("taken for "), "a guess is said to be one: {ended:?}");
        ended.json()
    };
    let bench = import("b", &["benchbase.raw.csv"]);
    // Sum 96793 µs, longest 633 µs, of 1499 lines.
    let service = &bench["measures"]["service_time"];
    assert_eq!((&service["samples"], &service["max"]), (&1_499.into(), &633_000.into()));
    assert!(
        (service["mean"]["point"].as_f64().expect("a mean") / (96_793_000.0 / 1_499.0) - 1.0).abs() < 1e-6
    );
    assert_eq!(
        (&bench["measures"]["response_time"], &bench["load"]["model"]),
        (&Value::Null, &"closed loop".into())
    );
    assert!(reasons(&bench, "suspect")[0].contains("when a transaction was intended"), "{bench}");
    assert_eq!(bench["recordings"][0]["epoch_wall_ns"], 1_795_246_148_305_398_000_u64);

    let bench = import("p", &["pgbench-rate.1", "pgbench-rate.2", "pgbench-rate.txt"]);
    let response = &bench["measures"]["response_time"];
    assert_eq!(response["samples"], bench["stated"][0]["count"]);
    let (own, stated) = (response["mean"]["point"].as_f64(), bench["stated"][0]["mean"].as_f64());
    assert!((own.expect("a mean") - stated.expect("a mean")).abs() < 1_000.0, "{own:?} {stated:?}");
    assert_eq!(reasons(&bench, "suspect"), Vec::<String>::new());

    let both = import("y", &["ycsb-raw-both.csv", "ycsb-raw-both.txt"]);
    assert_eq!((&both["samples"], &both["load"]["model"]), (&800.into(), &"open loop".into()));
    assert!(both["measures"]["service_time"].is_object());
    assert!(reasons(&both, "note").iter().any(|text| text.contains("1.00 ms alone")), "{both}");
    scratch.truetail(&["compare", "p", "y", "--force"]).well();
}

#[test]
fn statements_are_shown_as_the_tools_claims() {
    let scratch = Scratch::new("import-stated");
    scratch.write("s.txt", SYSBENCH);
    let page = scratch.truetail(&["import", "s.txt", "-o", "s"]).judged();
    assert!(page.stderr.contains("taken for sysbench"), "{page:?}");
    // Nobody named workload and target: the tool is what is known.
    let (head, _) = page.stdout.split_once('\n').expect("has lines");
    assert!(head.contains("run of sysbench") && head.ends_with(", imported"), "{head}");
    for words in
        ["verdict suspect", "stated by the tool", "The tool’s own claims", "and not the requests behind them"]
    {
        assert!(page.stdout.contains(words), "{words}: {page:?}");
    }
    assert!(
        !page.stdout.contains("achieved 0.00/s") && !page.stdout.contains("no request was measured"),
        "{page:?}"
    );
    let report = scratch.truetail(&["report", "s", "--json"]).judged().json();
    assert_eq!((&report["samples"], &report["verdict"]["state"]), (&0.into(), &"suspect".into()));
    let stated = &report["stated"][0];
    assert_eq!(stated["counted_from"], "schedule");
    let p99 = &stated["quantiles"]["p99"];
    let p50 = &stated["quantiles"]["p50"];
    assert_eq!(p99["above"], p99["at_most"], "printed");
    assert!(p50["above"].as_u64() < p50["at_most"].as_u64(), "a bucket: {stated}");
    let html = std::fs::read_to_string(scratch.path("s/report.html")).expect("a report");
    assert!(
        html.contains("<h1>run of sysbench") && !html.contains("that is not named on"),
        "the tool's name"
    );
    assert!(html.contains("Stated by the tool") && !html.contains("0.00/s"), "no figure of nothing");

    let page = scratch.truetail(&["compare", "s", "s"]).well().stdout;
    // Rounded to 10 µs and counted in buckets that are 1.8 % wide: 700 µs stand for 677 to 723.
    assert!(page.starts_with("a side has no single requests") && page.contains("0.94 … 1.07"), "{page}");
    scratch
        .truetail(&["compare", "s", "s", "--fail-if", "p99 > +5%"])
        .refused(&["can't be decided", "no single requests"]);

    // Requests of a schedule on the other side: their response times, and no service time.
    scratch.write("p.csv", &planted(|_| 0));
    scratch.truetail(&["import", "csv", "p.csv", "--map", MAP, "-o", "p"]).judged();
    let page = scratch.truetail(&["compare", "p", "s"]).well().stdout;
    assert!(page.contains("response time, measured") && page.contains("the schedule"), "{page}");
    assert!(!page.contains("service time, measured"), "{page}");
    let told = scratch.truetail(&["compare", "p", "s", "--json"]).well().json();
    let p99 = told["pairs"][0]["figures"].as_array().expect("figures").iter().find(|f| f["name"] == "p99");
    let p99 = p99.expect("p99")["base"]["above"].as_f64().expect("measured");
    assert!((p99 / 2_089_000.0 - 1.0).abs() < 2e-3, "{p99}");

    let files = [data("pgbench-agg.1"), data("pgbench-agg.2"), data("pgbench-agg.txt")];
    let import = ["import", "pgbench-log", &files[0], &files[1], &files[2], "-o", "a", "--json"];
    let report = scratch.truetail(&import).judged().json();
    let stated = report["stated"].as_array().expect("statements");
    assert_eq!(stated.iter().filter(|one| one["interval"].is_array()).count(), 5);
    assert!(stated[0]["quantiles"]["p99"].is_null(), "nothing is made up");
    assert!(reasons(&report, "suspect").iter().any(|text| text.contains("no quantile is told")), "{report}");
}

#[test]
fn what_can_not_be_imported_is_refused() {
    let scratch = Scratch::new("import-refused");
    scratch.write("hello.txt", "hello\n");
    scratch.write("two.txt", &format!("{SYSBENCH}\n[OVERALL], RunTime(ms), 5\n"));
    scratch.write("bad.csv", "start_us,service_us\n1795247165882296,5\n1795247165882299,x\n");
    scratch.write("s.txt", SYSBENCH);
    scratch.write("gc.log", &log_of_pauses(BEGIN));
    scratch.write("tx.7067", "0 1 316 0 1795247165 882296 69\n0 2 516 0 1795247165 883296 69\n");
    let legend = "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";
    scratch.write("head.hlog", &format!("#[Histogram log format version 1.3]\n{legend}\n"));
    let cases: [(&[&str], &[&str]); 15] = [
        (
            &["import", "pgbench", "tx.7067", "-o", "r"],
            &[
                "tx.7067: no pgbench figures; this looks like pgbench-log",
                "truetail import pgbench-log tx.7067",
            ],
        ),
        (
            &["import", "ycsb", "s.txt", "-o", "r"],
            &["no ycsb figures; this looks like sysbench", "truetail import sysbench s.txt"],
        ),
        (&["import", "benchbase", "tx.7067", "-o", "r"], &["this looks like pgbench-log"]),
        (&["import", "hdr", "head.hlog", "-o", "r"], &["the log is empty: it has its header"]),
        (&["import", "hello.txt", "-o", "r"], &["hello.txt", "not known by its content", "--list"]),
        (&["import", "two.txt", "-o", "r"], &["two.txt", "may be ycsb or sysbench", "import ycsb"]),
        (&["import", "ysb", "x", "-o", "r"], &["no such file, and no such format", "`ysb`", "pgbench-log"]),
        (&["import", "ycsb", "-o", "r"], &["ycsb: name the files"]),
        (&["import", "ycsb", "missing.csv", "-o", "r"], &["missing.csv could not be read"]),
        (&["import", "csv", "bad.csv", "-o", "r"], &["bad.csv line 3: `x` is no time"]),
        (&["import", "csv", "bad.csv", "--map", "speed=x", "-o", "r"], &["--map speed=x", "no role"]),
        (&["import", "sysbench", "s.txt", "--map", "service=x:us", "-o", "r"], &["--map", "sysbench"]),
        (
            &["import", "sysbench", "s.txt", "--jvm-log", "gc.log", "-o", "r"],
            &["--jvm-log gc.log", "no requests"],
        ),
        (&["import", "sysbench", "s.txt", "--warmup", "1s", "-o", "r"], &["--warmup", "whole run"]),
        (&["import", "sysbench", "s.txt", "-o", "taken"], &["taken", "is not empty"]),
    ];
    std::fs::create_dir(scratch.path("taken")).expect("a directory");
    scratch.write("taken/x", "");
    for (arguments, named) in cases {
        scratch.truetail(arguments).refused(named);
    }
    assert!(!scratch.path("r").exists(), "nothing is left behind");
}
