//! `truetail ycsb`: YCSB's command line and its text, on real stores; beside a real YCSB client where there is Java.

use crate::program::{Ended, Scratch};
use std::process::{Command, Stdio};
use testkit::redis::{Options, server};

/// Done, whatever the verdict.
fn done(ended: Ended) -> Ended {
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    ended
}

/// The words of a command line.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn ycsb(scratch: &Scratch, line: &str) -> Ended {
    scratch.truetail(&[&["ycsb"], &words(line)[..]].concat())
}

/// Section and name of each line of YCSB's text.
fn names(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| line.starts_with('['));
    lines.filter_map(|line| Some(line.rsplit_once(", ")?.0.to_owned())).collect()
}

/// The value of a line.
fn value(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(&format!("{name}, ")));
    let line = line.unwrap_or_else(|| panic!("no {name} in {text}"));
    line.rsplit_once(", ").expect("a value").1.parse().expect("a number")
}

const WORKLOAD_A: &str = "# as in YCSB\nrecordcount=200\noperationcount=400\nworkload=site.ycsb.workloads.CoreWorkload\n\
                          readallfields=true\nreadproportion=0.5\nupdateproportion=0.5\nscanproportion=0\n\
                          insertproportion=0\nrequestdistribution=zipfian\n";

#[test]
fn records_are_loaded_and_run_with_ycsb_s_text() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("ycsb-redis");
    scratch.write("a.properties", WORKLOAD_A);
    let redis =
        format!("redis -P a.properties -p redis.host=127.0.0.1 -p redis.port={} -threads 3", server.port());

    // Nothing is there: it is said what makes it.
    ycsb(&scratch, &format!("run {redis}"))
        .refused_at_last(&["no data set", "truetail load redis://127.0.0.1"]);
    let loaded = done(ycsb(&scratch, &format!("load {redis} -p truetail.out=load")));
    assert_eq!(value(&loaded.stdout, "[INSERT], Operations"), 200.0, "{loaded:?}");
    assert_eq!(value(&loaded.stdout, "[INSERT], Return=OK"), 200.0);
    assert_eq!(server.ask(&["ZCARD", "_indices"]).unwrap(), ":200\r\n");
    ycsb(&scratch, &format!("load {redis}"))
        .refused_at_last(&["all rows are there already", "truetail cleanup redis://"]);

    let closed = done(ycsb(&scratch, &format!("run {redis} -p truetail.out=closed")));
    insta::assert_snapshot!(names(&closed.stdout).join("\n"), @r"
    [OVERALL], RunTime(ms)
    [OVERALL], Throughput(ops/sec)
    [TOTAL_GCs], Count
    [TOTAL_GC_TIME], Time(ms)
    [TOTAL_GC_TIME_%], Time(%)
    [READ], Operations
    [READ], AverageLatency(us)
    [READ], MinLatency(us)
    [READ], MaxLatency(us)
    [READ], 50thPercentileLatency(us)
    [READ], 95thPercentileLatency(us)
    [READ], 99thPercentileLatency(us)
    [READ], Return=OK
    [UPDATE], Operations
    [UPDATE], AverageLatency(us)
    [UPDATE], MinLatency(us)
    [UPDATE], MaxLatency(us)
    [UPDATE], 50thPercentileLatency(us)
    [UPDATE], 95thPercentileLatency(us)
    [UPDATE], 99thPercentileLatency(us)
    [UPDATE], Return=OK
    ");
    let sum = value(&closed.stdout, "[READ], Operations") + value(&closed.stdout, "[UPDATE], Operations");
    assert_eq!(sum, 400.0, "{closed:?}");
    assert!(closed.stderr.contains("recording: closed; `truetail report closed`"), "{closed:?}");
    assert!(scratch.truetail(&["report", "closed"]).stdout.contains("service time"));

    let open = done(ycsb(
        &scratch,
        &format!("run {redis} -target 400 -s -p truetail.out=open -p status.interval=1"),
    ));
    assert_eq!(names(&open.stdout)[..names(&closed.stdout).len()], names(&closed.stdout)[..]);
    let intended: Vec<String> =
        names(&open.stdout).into_iter().filter(|n| n.starts_with("[Intended-READ]")).collect();
    assert_eq!(intended.len(), 7, "{intended:?}");
    assert!(open.stderr.contains(" 0 sec: 0 operations; est completion in "), "{open:?}");
    assert!(open.stderr.contains(" current ops/sec; ") && open.stderr.contains("[READ: Count="), "{open:?}");
    for name in ["50th", "95th", "99th"] {
        let of = |section: &str| value(&open.stdout, &format!("[{section}], {name}PercentileLatency(us)"));
        assert!(of("Intended-READ") >= of("READ"), "{name}: {open:?}");
    }
    // At 400 a second 400 requests take a second, and were all sent.
    let runtime = value(&open.stdout, "[OVERALL], RunTime(ms)");
    assert!(runtime >= 990.0, "{open:?}");
    let rate = value(&open.stdout, "[OVERALL], Throughput(ops/sec)");
    assert!((rate - 400_000.0 / runtime).abs() < 1e-6, "{open:?}");

    // The data set is the one of `ycsb-core` with these properties.
    let url = server.tcp_url();
    let flags = ["-w", "ycsb-core", "-p", "recordcount=200"];
    scratch.truetail(&[&["check", &url], &flags[..]].concat()).well();
    scratch
        .truetail(&["cleanup", &url, "-w", "ycsb-core", "-p", "fieldcount=3"])
        .refused(&["left alone", "-w ycsb-core --scale 0.2"]);
    scratch.truetail(&[&["cleanup", &url], &flags[..]].concat()).well();
    assert_eq!(server.ask(&["DBSIZE"]).unwrap(), ":0\r\n");
}

#[test]
fn properties_decide_what_is_asked_and_what_is_printed() {
    let scratch = Scratch::new("ycsb-sqlite");
    let base = "-p db.url=jdbc:sqlite:data.db -p db.driver=org.sqlite.JDBC -p recordcount=100 -p operationcount=300 \
                -p dataintegrity=true -p fieldcount=3 -p fieldlength=20 -p fieldnameprefix=f -p table=mine -threads 2";
    let ycsb = |line: &str| ycsb(&scratch, line);
    // In two halves, as two load machines would.
    let half = done(ycsb(&format!("load jdbc {base} -p insertcount=50 -p truetail.out=l1")));
    assert!(half.stderr.contains("not complete yet"), "{half:?}");
    assert_eq!(value(&half.stdout, "[INSERT], Operations"), 50.0);
    ycsb(&format!("run jdbc {base}")).refused_at_last(&["not loaded to its end"]);
    ycsb(&format!("load jdbc {base} -p insertcount=60"))
        .refused_at_last(&["50 of the 60 records", "are there already"]);
    done(ycsb(&format!("load jdbc {base} -p insertstart=50 -p truetail.out=l2")));
    let mix = "-p readproportion=0.5 -p updateproportion=0.2 -p insertproportion=0.1 -p scanproportion=0.1 \
               -p readmodifywriteproportion=0.1 -p requestdistribution=latest";
    let run = done(ycsb(&format!(
        "run jdbc {base} {mix} -p hdrhistogram.percentiles=50,99.9 -p exporter=site.ycsb.measurements.exporter.JSONArrayMeasurementsExporter \
         -p exportfile=out.json -p hdrhistogram.fileoutput=true -p hdrhistogram.output.path=hdr- -p truetail.out=r"
    )));
    assert_eq!(run.stdout, "", "{run:?}");
    let text = std::fs::read_to_string(scratch.path("out.json")).expect("the export");
    let figures: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let figures = figures.as_array().expect("an array");
    let find = |metric: &str, measurement: &str| {
        let found = figures.iter().find(|one| one["metric"] == metric && one["measurement"] == measurement);
        found.unwrap_or_else(|| panic!("no {metric} {measurement} in {text}"))["value"].as_u64()
    };
    assert!(find("READ", "99.9PercentileLatency(us)").is_some());
    // Those of read-modify-writes are among them.
    assert_eq!(find("VERIFY", "Return=OK"), find("READ", "Operations"));
    assert!(find("READ-MODIFY-WRITE", "Operations") < find("READ", "Operations"));
    for name in ["READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE"] {
        let log = std::fs::read_to_string(scratch.path(&format!("hdr-{name}.hdr"))).expect("a log");
        assert!(log.starts_with(&format!("#[Logging for: {name}]")), "{log}");
    }
    let raw = done(ycsb(&format!(
        "run jdbc {base} -p measurementtype=raw -p measurement.raw.output_file=raw.csv -p truetail.out=r2"
    )));
    assert!(names(&raw.stdout).contains(&"[READ], p99.99".to_owned()), "{raw:?}");
    let rows = std::fs::read_to_string(scratch.path("raw.csv")).expect("rows");
    assert_eq!(rows.lines().filter(|line| !line.contains("raw data")).count(), 300);
    // What is written is read by the importer as what it is.
    std::fs::write(scratch.path("raw.out"), &raw.stdout).expect("a file");
    done(scratch.truetail(&["import", "ycsb", "raw.csv", "raw.out", "-o", "again"]));
}

#[test]
fn what_is_wrong_is_refused_before_anything_is_asked() {
    let scratch = Scratch::new("ycsb-refused");
    let refused = |line: &str, named: &[&str]| {
        ycsb(&scratch, line).refused(named);
    };
    refused(
        "run basic -p recordcount=10 -p operationcount=10 -p feildcount=5",
        &["`feildcount`", "`fieldcount`"],
    );
    refused(
        "run basic -p recordcount=10 -p operationcount=10 -p p.fieldcount=5",
        &["`p.fieldcount`", "`fieldcount`"],
    );
    refused(
        "run basic -p recordcount=10 -p operationcount=10 -p requestdistribution=zipfain",
        &["zipfain", "`zipfian`"],
    );
    refused("run mongodb -p recordcount=10 -p operationcount=10", &["mongodb", "jdbc"]);
    refused(
        "run basic -p recordcount=10 -p operationcount=10 -p measurementtype=hgrm",
        &["measurementtype=hgrm"],
    );
    refused(
        "run basic -p recordcount=10 -p operationcount=10 -p exportfile=/no/such/dir/x",
        &["exportfile="],
    );
    refused("rnu basic", &["did you mean `run`?"]);
    let misspelt = scratch.truetail(&["ycbs", "run", "basic"]).with_code(2);
    assert!(misspelt.stderr.contains("ycsb"), "{misspelt:?}");
    let secret = "run jdbc -p db.url=jdbc:postgresql://127.0.0.1:1/x -p db.user=u -p db.passwd=s3cr3t-w0rd -p recordcount=1 -p operationcount=1";
    let ended = ycsb(&scratch, secret).refused_at_last(&["127.0.0.1"]);
    assert!(!ended.stderr.contains("s3cr3t-w0rd"), "{ended:?}");
}

#[test]
fn a_password_is_in_no_recording() {
    const SECRET: &str = "Tr0mbone-in-the-pit";
    let Some(server) = server(&Options { password: Some(SECRET.to_owned()), ..Options::default() }) else {
        return;
    };
    let scratch = Scratch::new("ycsb-password");
    let base = format!(
        "redis -p redis.host=127.0.0.1 -p redis.port={} -p redis.password={SECRET} -p recordcount=20 -p operationcount=50",
        server.port()
    );
    done(ycsb(&scratch, &format!("load {base} -p truetail.out=l")));
    done(ycsb(&scratch, &format!("run {base} -p truetail.out=r")));
    for file in ["l", "r"].iter().flat_map(|name| crate::program::files(&scratch.path(name))) {
        let bytes = std::fs::read(&file).expect("a file of the recording");
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "the password is in {}", file.display());
    }
}

#[test]
fn the_null_target_needs_no_data() {
    let scratch = Scratch::new("ycsb-null");
    let run = done(ycsb(
        &scratch,
        "run basic -p recordcount=10 -p operationcount=1000 -threads 2 -p truetail.out=r",
    ));
    let sum = value(&run.stdout, "[READ], Operations") + value(&run.stdout, "[UPDATE], Operations");
    assert_eq!(sum, 1000.0, "{run:?}");
    let page = scratch.truetail(&[
        "ycsb",
        "--json",
        "run",
        "basic",
        "-p",
        "recordcount=10",
        "-p",
        "operationcount=10",
    ]);
    assert_eq!(done(page).json()["schema"], "truetail.run/1");
}

/// Without a real client: what is inside of a read-modify-write is measured beside it.
#[test]
fn a_read_modify_write_is_a_read_and_an_update_besides() {
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("ycsb-inside");
    let base = format!(
        "-p redis.host=127.0.0.1 -p redis.port={} -p recordcount=200 -p operationcount=500 -p readproportion=0.4 \
         -p updateproportion=0 -p readmodifywriteproportion=0.6",
        server.port()
    );
    done(ycsb(&scratch, &format!("load redis {base}")));
    let text = done(ycsb(&scratch, &format!("run redis {base} -target 2000"))).stdout;
    let count = |section: &str| value(&text, &format!("[{section}], Operations"));
    let (both, reads) = (count("READ-MODIFY-WRITE"), count("READ"));
    assert!(both > 200.0 && reads == 500.0 && count("UPDATE") == both, "{text}");
    assert_eq!(count("Intended-UPDATE"), both);
    assert_eq!(value(&text, "[READ], Return=OK"), 500.0);
    assert!(!text.contains("[READ-MODIFY-WRITE], Return"), "{text}");
    // An update is a part of what it is in, and was intended when that was.
    let mean = |section: &str| value(&text, &format!("[{section}], AverageLatency(us)"));
    assert!(mean("UPDATE") < mean("READ-MODIFY-WRITE"), "{text}");
    assert!(mean("Intended-UPDATE") >= mean("READ-MODIFY-WRITE") - 1.0, "{text}");
}

/// Lines of a JVM, and of the cleanup of clients, which truetail has no samples of.
fn is_of_java(name: &str) -> bool {
    name.contains("CLEANUP") || (name.starts_with("[TOTAL_GC") && name.contains("_G1_"))
}

/// The same properties to a real YCSB client and to truetail: the same lines in the same order.
#[test]
fn the_text_has_the_lines_of_a_real_client() {
    let Some(class_path) = testkit::ycsb::class_path() else { return };
    let Some(server) = server(&Options::default()) else { return };
    let scratch = Scratch::new("ycsb-parity");
    let base = "-p workload=site.ycsb.workloads.CoreWorkload -p recordcount=300 -p operationcount=600 -threads 2 \
                -p hdrhistogram.percentiles=50,95,99,99.9";
    // Not UPDATE beside INSERT: the real client's map has them in either order.
    let mix = "-p readproportion=0.4 -p updateproportion=0.4 -p scanproportion=0.2 -p maxscanlength=5";
    let real = |phase: &str, more: &str| {
        let line = format!(
            "-XX:+UseG1GC -cp {class_path} site.ycsb.Client {phase} -db truetail.ycsb.RespClient -p resp.port={} {base} {more}",
            server.port()
        );
        let output =
            Command::new("java").args(words(&line)).stdin(Stdio::null()).output().expect("java runs");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        names(&text).into_iter().filter(|name| !is_of_java(name.as_str())).collect::<Vec<_>>()
    };
    let ours = |verb: &str, more: &str| {
        let place = format!("-p redis.host=127.0.0.1 -p redis.port={}", server.port());
        names(&done(ycsb(&scratch, &format!("{verb} redis {place} {base} {more}"))).stdout)
    };
    // One after the other in one store: what the real client has loaded is dropped by hand.
    let loaded = real("-load", mix);
    let modify = "-p readproportion=0.3 -p updateproportion=0 -p readmodifywriteproportion=0.7";
    let cases = [
        mix.to_owned(),
        format!("{mix} -target 600 -p measurement.interval=both"),
        modify.to_owned(),
        format!("{modify} -target 600 -p measurement.interval=both"),
    ];
    let run: Vec<Vec<String>> = cases.iter().map(|more| real("-t", more)).collect();
    // Also without truetail's marker the records of the real client will do.
    let adopted = done(ycsb(
        &scratch,
        &format!(
            "run redis -p redis.host=127.0.0.1 -p redis.port={} {base} -p readproportion=1 -p updateproportion=0",
            server.port()
        ),
    ));
    assert!(adopted.stderr.contains("was not made by truetail: it is used as it is"), "{adopted:?}");
    assert_eq!(value(&adopted.stdout, "[READ], Return=OK"), 600.0, "{adopted:?}");
    server.ask(&["FLUSHDB"]).expect("an answer");
    assert_eq!(ours("load", mix), loaded);
    for (more, expected) in cases.iter().zip(run) {
        assert_eq!(ours("run", more), expected, "{more}");
    }
}
