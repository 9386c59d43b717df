//! `truetail benchbase`: BenchBase's command line, from its configurations to its files.
//!
//! Configurations here are written for these tests with the elements that BenchBase's samples have; none is a copy of one.

use crate::program::{Ended, Row, Scratch, files};
use driver::TargetUrl;
use serde_json::Value;
use std::collections::BTreeMap;

/// Works, transaction types: the rest is the same everywhere.
fn configuration(works: &str, types: &[&str], more: &str) -> String {
    let types: Vec<String> =
        types.iter().map(|name| format!("<transactiontype><name>{name}</name></transactiontype>")).collect();
    format!(
        "<?xml version=\"1.0\"?>\n<parameters>\n<!-- password: hunter2 -->\n<type>SQLITE</type>\n\
         <driver>org.sqlite.JDBC</driver>\n<url>jdbc:sqlite:bench.db</url>\n<username></username>\n\
         <Password/>\n<works>{works}</works>\n<transactiontypes>{}</transactiontypes>\n{more}\n</parameters>\n",
        types.concat()
    )
    .replace("<Password/>", "<password>hunter2</password>")
}

const YCSB: [&str; 6] =
    ["ReadRecord", "InsertRecord", "ScanRecord", "UpdateRecord", "DeleteRecord", "ReadModifyWriteRecord"];

fn ycsb(works: &str) -> String {
    configuration(
        works,
        &YCSB,
        "<scalefactor>1</scalefactor><terminals>2</terminals><loaderThreads>1</loaderThreads>",
    )
}

/// The one file in the results that ends so.
#[track_caller]
fn result(scratch: &Scratch, ending: &str) -> String {
    let entries = std::fs::read_dir(scratch.path("results")).expect("results");
    let mut found: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|name| name.split_once('.').is_some_and(|(_, rest)| rest == ending))
        .collect();
    assert_eq!(found.len(), 1, "{ending}: {found:?}");
    format!("results/{}", found.remove(0))
}

#[track_caller]
fn text(scratch: &Scratch, ending: &str) -> String {
    std::fs::read_to_string(scratch.path(&result(scratch, ending))).expect(ending)
}

fn summary(scratch: &Scratch) -> Value {
    serde_json::from_str(&text(scratch, "summary.json")).expect("JSON")
}

fn benchbase(scratch: &Scratch, bench: &str, more: &[&str]) -> Ended {
    scratch.truetail(&[&["benchbase", "-b", bench, "-c", "config.xml"], more].concat())
}

/// A stretch with a rate, the same with another mix and fewer terminals after a warm-up, and one as fast as it goes.
const WORKS: &str = "<work><time>1</time><rate>200</rate><weights>50,5,15,10,10,10</weights></work>\
    <work arrival=\"poisson\"><warmup>1</warmup><time>1</time><rate>100</rate><weights>100,0,0,0,0,0</weights>\
    <active_terminals>1</active_terminals></work>\
    <work><time>1</time><rate>unlimited</rate><weights>0,0,0,100,0,0</weights></work>";

#[test]
fn from_configuration_to_files() {
    let scratch = Scratch::new("benchbase");
    scratch.write("config.xml", &ycsb(WORKS));
    let flags = [
        "--create=true",
        "--load",
        "true",
        "--execute",
        "-s",
        "1",
        "-im",
        "500",
        "-mt=advanced",
        "-jh",
        "h.json",
    ];
    let ended = benchbase(&scratch, "ycsb", &flags).judged();
    for said in ["<driver> has no effect", "-mt advanced has no effect", "work 2 has a warm-up of its own"] {
        assert!(ended.stderr.contains(said), "{said}: {ended:?}");
    }
    assert!(ended.stdout.contains("behaviour of ycsb: BenchBase's own"), "{ended:?}");

    // Three load models, three recordings; each request of a measured work is a line, and in the order in which they were sent.
    let raw = text(&scratch, "raw.csv");
    let mut works: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let lines: Vec<Vec<&str>> = raw.lines().skip(1).map(|line| line.split(',').collect()).collect();
    for fields in &lines {
        works.entry(fields[5]).or_default().push(fields[1]);
    }
    assert_eq!(works.keys().copied().collect::<Vec<_>>(), ["1", "2", "3"]);
    assert!(works["2"].iter().all(|name| *name == "ReadRecord"), "{works:?}");
    assert!(works["3"].iter().all(|name| *name == "UpdateRecord"), "{works:?}");
    let started: Vec<f64> = lines.iter().map(|fields| fields[2].parse().expect("seconds")).collect();
    assert!(started.is_sorted());
    let mut rows = 0;
    for number in 1..=3 {
        let name = result(&scratch, &format!("recording-{number}"));
        let recording = scratch.recording(&name);
        let measured = |row: &&Row| !row.phase.ends_with("warm-up") && row.sent.is_some();
        rows += scratch.rows(&name).iter().filter(measured).count();
        assert!(
            recording.header().config.contains("compat = \"benchbase\""),
            "{}",
            recording.header().config
        );
    }
    assert_eq!(rows, lines.len(), "each request that was sent, and none of the warm-up");

    // A closed loop has no schedule: its response times are unknown, the others' are there.
    let has_response =
        |work: &str| lines.iter().filter(|f| f[5] == work).all(|f| !f[6].is_empty() && !f[7].is_empty());
    assert!(has_response("1") && has_response("2"));
    assert!(lines.iter().filter(|f| f[5] == "3").all(|f| f[6].is_empty() && f[7].is_empty()));

    let summary = summary(&scratch);
    assert_eq!(summary["DBMS Type"], "SQLITE");
    assert_eq!(summary["isolation"], Value::Null);
    assert_eq!(summary["truetail isolation"], "serializable");
    assert_eq!((&summary["scalefactor"], &summary["terminals"]), (&Value::from("1"), &Value::from("2")));
    let elapsed = summary["Elapsed Time (nanoseconds)"].as_u64().expect("ns");
    assert!(
        elapsed.abs_diff(3_000_000_000) < 1_000_000,
        "three works of a second, whatever they did: {elapsed}"
    );
    let count = |key: &str| summary[key].as_u64().expect(key);
    let answers =
        count("Measured Requests") + count("truetail answered late") + count("truetail never answered");
    assert_eq!(answers, lines.len() as u64);
    let rate = summary["Throughput (requests/second)"].as_f64().expect("a rate");
    assert!((rate * elapsed as f64 / 1e9 - count("Measured Requests") as f64).abs() < 1e-6, "{summary}");
    assert!(summary["Goodput (requests/second)"].as_f64().expect("a rate") <= rate);

    let counted: f64 = sum(&text(&scratch, "samples.csv"), 1);
    assert_eq!(counted, lines.len() as f64, "each request in one second");
    let names = raw.lines().skip(1).filter(|line| line.contains(",ReadRecord,")).count();
    assert_eq!(sum(&text(&scratch, "results.ReadRecord.csv"), 1), names as f64, "windows of a second");
    let histograms: Value =
        serde_json::from_str(&std::fs::read_to_string(scratch.path("h.json")).expect("-jh")).expect("JSON");
    assert!(histograms["completed"]["NUM_SAMPLES"].as_u64().is_some_and(|n| n > 0), "{histograms}");
    let copy = text(&scratch, "config.xml");
    assert!(!copy.contains("hunter2") && copy.contains("jdbc:sqlite:bench.db"), "{copy}");
    assert!(text(&scratch, "params.json").contains("\"version\""));
    assert!(text(&scratch, "metrics.json").contains("unknown"));
}

/// A column of a table, added up; the last window may be cut, so that its rate is of a shorter time.
fn sum(csv: &str, column: usize) -> f64 {
    csv.lines().skip(1).map(|line| line.split(',').nth(column).expect(line).parse::<f64>().expect(line)).sum()
}

/// What is written for BenchBase's readers is read by one of them, and says what the recording says.
#[test]
fn import_reads_the_files_back() {
    let scratch = Scratch::new("benchbase-import");
    scratch.write(
        "config.xml",
        &ycsb("<work><time>1</time><rate>300</rate><weights>50,5,15,10,10,10</weights></work>"),
    );
    benchbase(&scratch, "ycsb", &["--create=true", "--load=true", "--execute=true"]).judged();
    let raw = result(&scratch, "raw.csv");
    scratch.truetail(&["import", "benchbase", &raw, "-o", "i"]).judged();
    let own = scratch.rows(&result(&scratch, "recording"));
    let imported = scratch.rows("i");
    assert_eq!(imported.len(), own.iter().filter(|row| row.sent.is_some()).count());
    // In µs, as they were written.
    let times = |rows: &[Row]| {
        let mut times: Vec<u64> =
            rows.iter().filter_map(|row| row.service).map(|ns| (ns + 500) / 1000).collect();
        times.sort_unstable();
        times
    };
    assert_eq!(times(&imported), times(&own));
    // And when they were intended, and how they ended. A time in µs is off by half of one at either end.
    let response = |rows: &[Row]| {
        let mut times: Vec<u64> =
            rows.iter().filter(|row| row.sent.is_some()).filter_map(|row| row.response).collect();
        times.sort_unstable();
        times
    };
    let pairs: Vec<(u64, u64)> = response(&imported).into_iter().zip(response(&own)).collect();
    assert_eq!(pairs.len(), imported.len());
    assert!(pairs.iter().all(|(there, here)| there.abs_diff(*here) <= 2_000), "{pairs:?}");
    let outcomes = |rows: &[Row]| {
        let mut outcomes: Vec<String> =
            rows.iter().filter(|row| row.sent.is_some()).map(|row| row.outcome.clone()).collect();
        outcomes.sort_unstable();
        outcomes
    };
    assert_eq!(outcomes(&imported), outcomes(&own));
    let operations = |rows: &[Row]| {
        rows.iter().fold(BTreeMap::<String, u32>::new(), |mut counts, row| {
            *counts.entry(row.operation.clone()).or_default() += 1;
            counts
        })
    };
    assert_eq!(operations(&imported), operations(&own));
}

#[test]
fn data_is_made_used_and_dropped_as_asked() {
    let scratch = Scratch::new("benchbase-data");
    let work = "<work><time>1</time><rate>50</rate><weights>50,5,15,10,10,10</weights></work>";
    scratch.write("config.xml", &ycsb(work));
    let none = benchbase(&scratch, "ycsb", &["--execute=true"]).with_code(2);
    assert!(none.stderr.contains("there is no such file; --create=true --load=true makes it"), "{none:?}");
    assert!(!scratch.path("bench.db").exists() && !scratch.path("results").exists(), "nothing was made");
    let loaded = benchbase(&scratch, "ycsb", &["--create=true", "--load=true"]).well();
    assert!(
        loaded.stderr.contains("loaded ycsb") && loaded.stderr.contains("nothing is measured"),
        "{loaded:?}"
    );
    let again = benchbase(&scratch, "ycsb", &["--create=true", "--load=true"]).with_code(2);
    assert!(again.stderr.contains("--create=true: there is one already"), "{again:?}");
    assert!(again.stderr.contains("add --clear=true to drop it first"), "{again:?}");
    let kept = benchbase(&scratch, "ycsb", &["--create=false", "--load=TRUE"]).well();
    assert!(kept.stderr.contains("there already, and used as it is"), "{kept:?}");
    let anew = benchbase(&scratch, "ycsb", &["--clear", "--create", "--load"]).well();
    assert!(anew.stderr.contains("is dropped") && anew.stderr.contains("loaded ycsb"), "{anew:?}");
    let cleared = benchbase(&scratch, "ycsb", &["--clear=true"]).well();
    assert!(cleared.stderr.contains("is dropped"), "{cleared:?}");
    let empty = benchbase(&scratch, "ycsb", &["--execute=true"]).with_code(2);
    assert!(empty.stderr.contains("--execute=true: no data set `ycsb`"), "{empty:?}");
    let told = benchbase(&scratch, "ycsb", &["--create=true"]).well();
    assert!(told.stderr.contains("--create without --load"), "{told:?}");
}

#[test]
fn each_benchmark_is_made_in_its_own_way() {
    let scratch = Scratch::new("benchbase-noop");
    let work = "<work><time>1</time><rate>unlimited</rate><weights>100</weights></work>";
    let waits = "<transactiontypes><transactiontype><name>NoOp</name><preExecutionWait>3</preExecutionWait>\
                 <postExecutionWait>7</postExecutionWait></transactiontype></transactiontypes>";
    let text = configuration(
        work,
        &["NoOp"],
        "<terminals>2</terminals><isolation>TRANSACTION_SERIALIZABLE</isolation>",
    )
    .replace(
        "<transactiontypes><transactiontype><name>NoOp</name></transactiontype></transactiontypes>",
        waits,
    );
    scratch.write("config.xml", &text);
    let ended = benchbase(&scratch, "NOOP", &["--create=true", "--load=true", "--execute=true", "--json"]);
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    let document = ended.json();
    let differences = testkit::documented::Schema::new("truetail.benchbase/1").differences(&[document]);
    assert_eq!(differences, Vec::<String>::new());
    let header = scratch.recording(&result(&scratch, "recording")).header().clone();
    assert_eq!(header.load.arrivals, "think constant:10.0ms", "what a terminal waits around a transaction");
    assert!(header.workload_facts.contains(&("mode".to_owned(), "empty+commit".to_owned())));
    assert_eq!(summary(&scratch)["isolation"], "TRANSACTION_SERIALIZABLE");
    assert!(summary(&scratch)["truetail Response Time Distribution"].is_null());
    // A second execution in the same directory leaves the first alone.
    assert!(matches!(benchbase(&scratch, "noop", &["--execute=true"]).code, Some(0 | 3)));
    let raws = std::fs::read_dir(scratch.path("results")).expect("results");
    let raws =
        raws.filter(|entry| entry.as_ref().is_ok_and(|e| e.path().to_string_lossy().ends_with(".raw.csv")));
    assert_eq!(raws.count(), 2);
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_is_changed() {
    let scratch = Scratch::new("benchbase-refused");
    let work = "<work><time>1</time><rate>50</rate><weights>50,5,15,10,10,10</weights></work>";
    let good = ycsb(work);
    let all = ["--create=true", "--load=true", "--execute=true"];
    for (from, to, named) in [
        (
            "<scalefactor>1</scalefactor>",
            "<scalefaktor>1</scalefaktor>",
            &["config.xml: line ", "did you mean `scalefactor`?"][..],
        ),
        ("SQLITE", "ORACLE", &["<type>ORACLE</type>"]),
        ("<time>1</time>", "<serial>true</serial>", &["makes none in order"]),
        ("<rate>50</rate>", "<rate>disabled</rate>", &["all works are disabled"]),
        ("<terminals>", "<newConnectionPerTxn>true</newConnectionPerTxn><terminals>", &["stay connected"]),
        (
            "<name>ReadRecord</name>",
            "<name>ReadRecord</name><preExecutionWait>5</preExecutionWait>",
            &["different waits"],
        ),
    ] {
        scratch.write("config.xml", &good.replacen(from, to, 1));
        benchbase(&scratch, "ycsb", &all).refused(named);
    }
    scratch.write("config.xml", &good);
    benchbase(&scratch, "tpch", &all)
        .refused(&["-b tpch: truetail has no workload of BenchBase's tpch", "tpcc, ycsb"]);
    benchbase(&scratch, "ycbs", &all).refused(&["did you mean `ycsb`?"]);
    benchbase(&scratch, "tpcc,ycsb", &all).refused(&["one benchmark at a time"]);
    benchbase(&scratch, "ycsb", &[]).refused(&["nothing is to be done"]);
    benchbase(&scratch, "ycsb", &["--execute=perhaps"]).refused(&["`true` and `false`"]);
    benchbase(&scratch, "ycsb", &["--execute", "-im", "5"]).refused(&["-im 5", "50 ms"]);
    benchbase(&scratch, "ycsb", &["--execute", "-mt", "all"]).refused(&["`throughput` and `advanced`"]);
    benchbase(&scratch, "ycsb", &["--execute", "--anonymize=true"]).refused(&["--anonymize"]);
    benchbase(&scratch, "ycsb", &["--execute", "--compat", "oltpbench"]).refused(&["`benchbase` and `none`"]);
    scratch.truetail(&["benchbase", "-b", "ycsb", "-c", "none.xml", "--execute"]).refused(&["none.xml"]);
    assert!(!scratch.path("bench.db").exists() && !scratch.path("results").exists(), "nothing was made");
}

/// The same with a server, whose URL and login are turned into JDBC's.
fn on_a_server(name: &str, url: &str, dbms: &str, scheme: &str) {
    let url = TargetUrl::parse(url).expect("a URL");
    let scratch = Scratch::new(name);
    let jdbc = format!(
        "jdbc:{scheme}://{}:{}/{}?sslmode=disable&amp;rewriteBatchedStatements=true",
        url.host,
        url.port.expect("a port"),
        url.path
    );
    let password = url.password.clone().unwrap_or_default();
    let works = "<work><time>1</time><rate>100</rate><weights>40,10,10,20,10,10</weights></work>";
    let text = ycsb(works)
        .replace("SQLITE", dbms)
        .replace("jdbc:sqlite:bench.db", &jdbc)
        .replace("<username></username>", &format!("<username>{}</username>", url.user))
        .replace("hunter2", &password)
        .replace("<scalefactor>", "<retries>9</retries><fieldSize>20</fieldSize><scalefactor>");
    scratch.write("config.xml", &text);
    let ended = benchbase(&scratch, "ycsb", &["--create=true", "--load=true", "--execute=true"]).judged();
    assert!(ended.stderr.contains("of <url> rewriteBatchedStatements have no effect"), "{ended:?}");
    let header = scratch.recording(&result(&scratch, "recording")).header().clone();
    let fact =
        |name: &str| header.workload_facts.iter().find(|(found, _)| found == name).map(|(_, v)| v.as_str());
    assert_eq!((fact("isolation"), fact("compat")), (Some("serializable"), Some("benchbase")));
    assert_eq!(fact("fieldlength"), Some("20"));
    let raw = self::text(&scratch, "raw.csv");
    assert!(raw.contains(",ok\n"), "{raw}");
    assert_ne!(summary(&scratch)["DBMS Version"], "unknown");
    assert_eq!(summary(&scratch)["DBMS Type"], dbms);
    if !password.is_empty() {
        assert!(!ended.stdout.contains(&password) && !ended.stderr.contains(&password), "{ended:?}");
        for file in files(&scratch.path("results")) {
            let bytes = std::fs::read(&file).expect("a result");
            let found = bytes.windows(password.len()).any(|window| window == password.as_bytes());
            assert!(!found, "the password is in {}", file.display());
        }
    }
}

#[test]
fn on_postgres_with_a_password_that_is_nowhere() {
    use testkit::postgres::{Authentication, Options, server};
    let secret = "Tr0mbone-at-the-bench".to_owned();
    let options = Options { authentication: Authentication::Scram(secret), ..Options::default() };
    let Some(server) = server(&options) else { return };
    on_a_server("benchbase-postgres", &server.tcp_url(), "POSTGRES", "postgresql");
}

#[test]
fn on_mariadb() {
    use testkit::mariadb::{Options, server};
    let Some(server) = server(&Options::default()) else { return };
    on_a_server("benchbase-mariadb", &server.tcp_url(), "MARIADB", "mariadb");
}
