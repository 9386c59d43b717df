//! Outputs that are cut off, changed, or another tool's.

use import::{Format, ImportError, TimeUnit};
use std::path::{Path, PathBuf};
use testkit::fuzz::Fuzz;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn text(name: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(data(name)).expect("test data")).into_owned()
}

/// The message of an output that must be refused.
#[track_caller]
fn refused(format: Format, stdout: &str, files: &[PathBuf]) -> String {
    let message = import::read(format, stdout, files).expect_err("damaged").to_string();
    assert!(!message.contains('\n') && message.len() < 400, "{message}");
    message
}

#[test]
fn another_tools_output_is_none_of_this_format() {
    for (name, format) in Format::NAMED {
        for stdout in ["", "hello\n", "command not found\n"] {
            let error = import::read(format, stdout, &[]).expect_err(name);
            assert!(matches!(error, ImportError::Nothing { .. }), "{name}: {error}");
        }
    }
    assert!(refused(Format::Sysbench, &text("redis.csv"), &[]).contains("Latency (ms)"));
}

#[test]
fn what_the_tool_said_instead_is_shown() {
    let said = refused(Format::Sysbench, "sysbench 1.0.20\n\nFATAL: The event queue is full.\n", &[]);
    assert!(said.contains("`FATAL: The event queue is full.`"), "{said}");
    let said = refused(Format::Pgbench, "pgbench: error: connection to server failed\n", &[]);
    assert!(said.contains("`pgbench: error: connection to server failed`"), "{said}");
}

#[test]
fn a_figure_that_can_not_be_is_named_with_its_line() {
    let cases = [
        (Format::Ycsb, "x\n[READ], AverageLatency(us), -3\n", "line 2: [READ], AverageLatency(us): `-3`"),
        (Format::Ycsb, "[READ], Operations, 5\n[READ], Operations, 6\n", "line 2: [READ] is there twice"),
        (Format::Ycsb, "READ,1795247156328,1x\n", "line 1"),
        (Format::Ycsb, "[ {\"metric\":\"READ\",\n", "its JSON is damaged"),
        (Format::Pgbench, "latency average = nan ms\n", "line 1: `latency average = nan ms`"),
        (Format::Sysbench, "Latency (ms):\n         avg:   1.x\n", "line 2: `         avg:   1.x`"),
        (Format::RedisBenchmark, "\"GET\",\"fast\"\n", "line 1"),
        (Format::RedisBenchmark, "====== GET ======\n1% <= 2 milliseconds (cumulative count 3\n", "line 2"),
        (Format::Memtier, "ALL STATS\nType Ops/sec\nTotals 1 2\n", "line 3: `Totals 1 2`"),
        (Format::Memtier, "{\"ALL STATS\": {", "its JSON is damaged"),
        (Format::Csv, "elapsed_us\n5\nfast\n", "line 3: `fast` is no time"),
        (Format::Csv, "elapsed_us,ok\n5\n", "line 2: `5` has 1 fields, the header 2"),
        (Format::Csv, "elapsed,ok\n5,1\n", "line 1: the column `elapsed` has no unit; call it `elapsed_us`"),
    ];
    for (format, stdout, words) in cases {
        let message = refused(format, stdout, &[]);
        assert!(message.contains(words), "{message}\nshould say\n{words}");
    }
}

#[test]
fn a_log_that_is_cut_off_is_not_half_believed() {
    let directory = Scratch::new("cut");
    // Cut within the last line, its figures would still be numbers.
    let log = text("pgbench-rate.1");
    let cut = directory.file("pgbench_log.1", log.trim_end());
    let message = refused(Format::PgbenchLog, "", &[cut]);
    assert!(message.contains("pgbench_log.1 line 234") && message.contains("is cut off"), "{message}");
    let short = directory.file("pgbench_log.2", "0 1 316 0 1795247165\n");
    assert!(refused(Format::PgbenchLog, "", &[short]).contains("line 1"));
    let aggregated = refused(Format::PgbenchLog, "", &[data("pgbench-aggregated.1")]);
    assert!(aggregated.contains("--aggregate-interval"), "{aggregated}");
    let missing = import::read(Format::PgbenchLog, "", &[directory.0.join("none")]).expect_err("no file");
    assert!(matches!(missing, ImportError::Unreadable { .. }) && missing.to_string().contains("none"));
    assert!(refused(Format::PgbenchLog, &text("pgbench-rate.txt"), &[]).contains("--log"));
}

#[test]
fn a_damaged_histogram_is_refused_before_it_takes_memory() {
    let log = text("ycsb-READ.hdr");
    let first = log.lines().position(|line| line.contains("HISTF")).expect("an interval") + 1;
    let cut = format!("{}\n", &log[..log.find("HISTF").expect("an interval") + 40]);
    assert!(refused(Format::Hdr(None), &cut, &[]).contains(&format!("line {first}: the histogram")));
    // A plain histogram that states 4 GiB and holds nothing: cookie, length, then a header of zeros.
    let mut plain = vec![0x1c, 0x84, 0x93, 0x13, 0xff, 0xff, 0xff, 0xff];
    plain.resize(40, 0);
    let message = refused(Format::Hdr(None), &format!("0.0,1.0,1.0,{}\n", base64(&plain)), &[]);
    assert!(message.contains("its length is not what it states"), "{message}");
    assert!(refused(Format::Hdr(None), "0.0,1.0,1.0,HISTF!\n", &[]).contains("is not base64"));
}

/// A directory that is gone at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let directory = std::env::temp_dir().join(format!("truetail-import-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        Scratch(directory)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Without padding, as some write it.
fn base64(bytes: &[u8]) -> String {
    testkit::base64::encode(bytes).trim_end_matches('=').to_owned()
}

/// Changed outputs give an answer or an error of one line, and whatever is answered keeps what the types promise.
fn fuzz(name: &'static str, format: Format, corpus: &[&str], words: &[&str], files: bool) {
    let directory = Scratch::new(name);
    let corpus: Vec<String> = corpus.iter().map(|name| short(&text(name))).collect();
    Fuzz::new(name).from(corpus).words(words).run(3_000, |input| {
        let input = String::from_utf8_lossy(input);
        let read = if files {
            import::read(format, "", &[directory.file("input", &input)])
        } else {
            import::read(format, &input, &[])
        };
        match read {
            Ok(report) => report.rows.iter().for_each(holds),
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    });
}

fn holds(row: &import::Reported) {
    assert!(row.quantiles.is_sorted_by(|a, b| a.0 <= b.0), "{:?}", row.quantiles);
    assert!(row.cumulative.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{:?}", row.cumulative);
    for at in [0.0, 0.5, 0.999, 1.0] {
        if let Some(reading) = units::Quantile::new(at).and_then(|q| row.quantile(q)) {
            assert!(reading.above <= reading.at_most);
        }
    }
}

/// The beginning and the end of a long output: enough of every kind of line.
fn short(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.len() <= 80 {
        return text.to_owned();
    }
    lines[..40].iter().chain(&lines[lines.len() - 40..]).copied().collect()
}

#[test]
fn fuzz_ycsb() {
    let corpus = ["ycsb-both.txt", "ycsb-failed.txt", "ycsb-array.json", "ycsb-objects.json", "ycsb-raw.csv"];
    fuzz(
        "ycsb",
        Format::Ycsb,
        &corpus,
        &["[READ], ", "Return=", "PercentileLatency(us), ", "NaN", "[ {"],
        false,
    );
}

#[test]
fn fuzz_pgbench() {
    let corpus = ["pgbench-rate.txt", "pgbench-failing.txt", "pgbench-retrying.txt"];
    fuzz("pgbench", Format::Pgbench, &corpus, &["latency average = ", "18446744073709551616"], false);
}

#[test]
fn fuzz_pgbench_log() {
    let corpus = ["pgbench-rate.1", "pgbench-skipping.1", "pgbench-retrying.1", "pgbench-aggregated.1"];
    let words = ["skipped", "failed", "\n", " ", "18446744073709551615", "-1"];
    fuzz("pgbench-log", Format::PgbenchLog, &corpus, &words, true);
}

#[test]
fn fuzz_sysbench() {
    let corpus = ["sysbench-rate.txt", "sysbench-closed.txt"];
    let words = ["Latency (ms):", "th percentile:", " |", "****", "18446744073709551615"];
    fuzz("sysbench", Format::Sysbench, &corpus, &words, false);
}

#[test]
fn fuzz_memtier() {
    fuzz(
        "memtier",
        Format::Memtier,
        &["memtier.txt"],
        &["---", "Totals", " Latency", "ALL STATS", "{"],
        false,
    );
}

#[test]
fn fuzz_redis_benchmark() {
    let corpus = ["redis-full.txt", "redis.csv", "redis-short.txt"];
    let words = ["======", "% <= ", "cumulative count ", "\r", "requests per second", "\""];
    fuzz("redis-benchmark", Format::RedisBenchmark, &corpus, &words, false);
}

#[test]
fn fuzz_hdr() {
    let corpus = ["ycsb-READ.hdr", "ycsb-Intended-READ.hdr", "ycsb-READ.hgrm", "wrk2.txt"];
    let words = ["HISTFAAA", "Tag=A,", "Value Percentile TotalCount", "#[Max = "];
    fuzz("hdr", Format::Hdr(Some(TimeUnit::Micros)), &corpus, &words, false);
}

#[test]
fn fuzz_plain_histograms() {
    // Behind base64 and compression, changes would hardly ever reach the decoder.
    let mut plain = vec![0x1c, 0x84, 0x93, 0x13, 0, 0, 0, 4];
    for field in
        [[0; 4].as_slice(), &[0, 0, 0, 3], &[0, 0, 0, 0, 0, 0, 0, 1], &[0, 0, 0, 0, 0, 0x0f, 0x42, 0x40]]
    {
        plain.extend(field);
    }
    plain.extend(1.0_f64.to_be_bytes());
    plain.extend([2, 5, 7, 20]);
    let line = |bytes: &[u8]| format!("0.0,1.0,1.0,{}\n", base64(bytes));
    let known = import::read(Format::Hdr(None), &line(&plain), &[]).expect("a histogram");
    assert_eq!(known.rows[0].count, Some(11), "counts 1 and 10; a 5 and a 7 skip three and four values");
    let read = |input: &[u8]| match import::read(Format::Hdr(None), &line(input), &[]) {
        Ok(report) => report.rows.iter().for_each(holds),
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    };
    // Room for five digits over all 64 bits is 50 MB, so that a few hundred are enough here.
    Fuzz::new("hdr-plain").from([plain.clone()]).words([[0xff_u8; 8]]).run(500, read);
}

#[test]
fn fuzz_csv() {
    let directory = Scratch::new("csv-corpus");
    let path = directory
        .file("x.csv", "operation,start_us,elapsed_ms,lag_us,session,ok\nGET,1,0.316,69,0,1\n,,,,1,0\n");
    let corpus = std::fs::read(path).expect("written");
    let words = ["elapsed_us", "response_ns", ",", "\n", "true", "1e300", "18446744073709551615"];
    Fuzz::new("csv").from([corpus]).words(words).run(3_000, |input| {
        match import::read(Format::Csv, &String::from_utf8_lossy(input), &[]) {
            Ok(report) => report.rows.iter().for_each(holds),
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    });
}
