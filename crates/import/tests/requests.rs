//! Logs of single requests: what becomes of each line, held against what the tools said of the same runs.

mod logs;

use import::{Format, ImportError, Outputs, Request, Requests, Survey, Weight};
use logs::{Besides, File, all, data, made, text};
use std::path::PathBuf;
use testkit::fuzz::Fuzz;
use units::Outcome;

fn open(format: Format, printed: Option<&str>, files: &[PathBuf]) -> Result<Requests, ImportError> {
    logs::open(format, files, Besides { printed, ..Besides::default() })
}

fn read(format: Format, printed: Option<&str>, files: &[&str]) -> (Survey, Vec<Request>) {
    let files: Vec<PathBuf> = files.iter().map(|name| data(name)).collect();
    logs::read(format, &files, Besides { printed, ..Besides::default() }).expect("a log")
}

fn table(name: &str, text: &str, map: Option<&str>) -> Result<(Survey, Vec<Request>), String> {
    made(Format::Csv, name, text, Besides { map, ..Besides::default() })
}

fn mean(lengths: impl Iterator<Item = u64> + Clone) -> u64 {
    let count = lengths.clone().count() as u64;
    lengths.sum::<u64>() / count.max(1)
}

fn response(request: &Request) -> Option<u64> {
    Some(request.completed - request.intended?)
}

fn service(request: &Request) -> Option<u64> {
    Some(request.completed - request.sent?)
}

fn suspects(survey: &Survey) -> Vec<&str> {
    let grave = survey.gaps.iter().filter(|gap| gap.weight == Weight::Suspect);
    grave.map(|gap| gap.text.as_str()).collect()
}

#[test]
fn pgbench_with_a_rate_has_schedule_and_sending() {
    let printed = text("pgbench-rate.txt");
    let (survey, requests) = read(Format::PgbenchLog, Some(&printed), &["pgbench-rate.1", "pgbench-rate.2"]);
    assert!(survey.has_schedule && survey.is_wall_time && suspects(&survey).is_empty(), "{survey:?}");
    let row = &survey.stated.rows[0];
    assert_eq!(row.count, Some(requests.len() as u64), "the tool counted as many");
    // The summary has microseconds.
    let own = mean(requests.iter().filter_map(response));
    assert!(own.abs_diff(row.mean.expect("a mean").0) < 1_000, "{own} {row:?}");
    // The first line of the log: its time holds the lag, and ends at its moment.
    let log = text("pgbench-rate.1");
    let fields: Vec<u64> =
        log.lines().next().expect("a line").split(' ').map(|f| f.parse().expect("a number")).collect();
    let completed = (fields[4] * 1_000_000 + fields[5]) * 1_000;
    let first = requests[0];
    assert_eq!(first.completed, completed);
    assert_eq!(first.intended, Some(completed - fields[2] * 1_000));
    assert_eq!(first.sent, Some(completed - fields[2] * 1_000 + fields[6] * 1_000));
}

#[test]
fn pgbench_says_what_it_skipped_and_which_failed() {
    let (survey, requests) = read(Format::PgbenchLog, None, &["pgbench-skipping.1", "pgbench-skipping.2"]);
    let lines = text("pgbench-skipping.1") + &text("pgbench-skipping.2");
    let skipped = lines.lines().filter(|line| line.contains("skipped")).count() as u64;
    assert!(skipped > 0);
    assert_eq!(survey.skipped, skipped);
    assert_eq!(requests.len() as u64, lines.lines().count() as u64 - skipped);
    assert!(suspects(&survey)[0].contains("--latency-limit"), "{survey:?}");
    let (survey, requests) = read(Format::PgbenchLog, None, &["pgbench-failing.1", "pgbench-failing.2"]);
    let failed: Vec<&Request> = requests.iter().filter(|request| request.outcome != Outcome::Ok).collect();
    assert_eq!(survey.failed, failed.len() as u64);
    assert!(
        !failed.is_empty()
            && failed.iter().all(|request| request.sent.is_none() && request.intended.is_none())
    );
}

#[test]
fn benchbase_starts_are_seconds_and_latencies_microseconds() {
    let (survey, requests) = read(Format::BenchBase, None, &["benchbase.raw.csv"]);
    // `1,NoOp,1795246148.305398,59,5,1` under the title `Start Time (microseconds)`.
    assert_eq!(
        (requests[0].sent, requests[0].completed),
        (Some(1_795_246_148_305_398_000), 1_795_246_148_305_457_000)
    );
    assert_eq!(survey.operations, ["NoOp"]);
    assert_eq!((requests.len(), survey.sessions), (1_499, 8));
    let (sum, longest) =
        requests.iter().filter_map(service).fold((0, 0), |(sum, max), ns| (sum + ns, ns.max(max)));
    let lines = text("benchbase.raw.csv");
    let micros: Vec<u64> =
        lines.lines().skip(1).map(|l| l.split(',').nth(3).expect("µs").parse().expect("µs")).collect();
    assert_eq!(
        (sum, longest),
        (micros.iter().sum::<u64>() * 1_000, micros.iter().max().expect("one") * 1_000)
    );
    assert!(!survey.has_schedule && suspects(&survey)[0].contains("intended"), "{survey:?}");
    // As a report, for those who compare tools.
    let report = import::read(Format::BenchBase, "", &[data("benchbase.raw.csv")]).expect("a report");
    assert_eq!(report.rows[0].count, Some(1_499));
    // OLTPBench's names.
    let old = File::new("old.csv", b"Transaction Type Index,Transaction Name,Start Time (microseconds),Latency (microseconds)\n3,Pay,1795246148.5,7\n");
    let requests = open(Format::BenchBase, None, std::slice::from_ref(&old.0)).expect("a log");
    assert_eq!(all(&requests)[0].completed, 1_795_246_148_500_007_000);
    // A start that really is in microseconds would be of another year.
    let wrong = File::new("wrong.csv", b"Transaction Type Index,Transaction Name,Start Time (microseconds),Latency (microseconds)\n3,Pay,5123456,7\n");
    let error =
        open(Format::BenchBase, None, std::slice::from_ref(&wrong.0)).err().expect("refused").to_string();
    assert!(error.contains("line 2: start `5123456` is before the year 2000"), "{error}");
}

#[test]
fn ycsb_rows_from_sending_and_from_the_schedule_are_joined() {
    let printed = text("ycsb-raw-both.txt");
    let (survey, requests) = read(Format::Ycsb, Some(&printed), &["ycsb-raw-both.csv"]);
    assert!(survey.has_schedule && suspects(&survey).is_empty(), "{survey:?}");
    assert_eq!(survey.operations, ["READ", "UPDATE"], "clean-up is no request of the load");
    assert_eq!(requests.len(), 800);
    // `READ,1795247156328,13993`, and the first `Intended-READ` row.
    let rows = text("ycsb-raw-both.csv");
    let first = |name: &str| {
        let line =
            rows.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(",17")));
        let fields: Vec<u64> =
            line.expect("a row").split(',').skip(1).map(|f| f.parse().expect("a number")).collect();
        (fields[0] * 1_000_000, fields[1] * 1_000)
    };
    let (sent, scheduled) = (first("READ"), first("Intended-READ"));
    assert_eq!(requests[0].completed, sent.0);
    assert_eq!((service(&requests[0]), response(&requests[0])), (Some(sent.1), Some(scheduled.1)));
    assert!(survey.gaps.iter().any(|gap| gap.text.contains("told to 1.00 ms alone")), "{:?}", survey.gaps);
}

#[test]
fn ycsb_rows_that_are_not_in_one_order_are_not_joined() {
    let rows = "READ,1795247156328,100\nREAD,1795247156329,5000\nIntended-READ,1795247156328,200\nIntended-READ,1795247156329,4000\n";
    let file = File::new("order.csv", rows.as_bytes());
    let requests = open(Format::Ycsb, None, std::slice::from_ref(&file.0)).expect("rows");
    let found = all(&requests);
    assert_eq!(found.iter().filter_map(response).collect::<Vec<_>>(), [200_000, 4_000_000]);
    assert!(found.iter().all(|request| request.sent.is_none()));
    assert!(requests.survey().gaps.iter().any(|gap| gap.text.contains("not in one order")));
    // Of one series alone nobody knows what it counts from, unless the command line tells.
    let rows = "READ,1795247156328,100\nREAD-FAILED,1795247156329,5000\nCLEANUP,1795247156329,7\n";
    let file = File::new("alone.csv", rows.as_bytes());
    let open = |printed| open(Format::Ycsb, printed, std::slice::from_ref(&file.0)).expect("rows");
    let alone = open(None);
    assert!(suspects(alone.survey())[0].contains("do not say whether"), "{:?}", alone.survey());
    assert_eq!(
        all(&alone).iter().map(|request| request.outcome).collect::<Vec<_>>(),
        [Outcome::Ok, Outcome::Server]
    );
    let rated = open(Some("Command line: -t -target 3000\n"));
    assert!(suspects(rated.survey())[0].contains("3000 requests per second"), "{:?}", rated.survey());
    let scheduled = open(Some("Command line: -t -target 3000 -p measurement.interval=intended\n"));
    assert!(scheduled.survey().has_schedule && suspects(scheduled.survey()).is_empty());
    let closed = open(Some("Command line: -t\n"));
    assert!(!closed.survey().has_schedule && suspects(closed.survey()).is_empty(), "{:?}", closed.survey());
}

#[test]
fn tables_give_each_time_that_they_have() {
    let whole = "op,begin,lat,who,fine\n\"a, b\",1795246148.000001,1.5,t-1,true\nc,1795246149,2,t-2,false\n";
    let map = "intended=begin:s,response=lat:ms,operation=op,session=who,ok=fine";
    let (survey, requests) = table("map.csv", whole, Some(map)).expect("a table");
    assert_eq!(survey.operations, ["a, b", "c"]);
    assert!(survey.has_schedule && survey.failed == 1 && survey.sessions == 2, "{survey:?}");
    assert_eq!(requests[0].intended, Some(1_795_246_148_000_001_000));
    assert_eq!((response(&requests[0]), requests[0].sent), (Some(1_500_000), None));
    assert_eq!(requests[1].outcome, Outcome::Server);

    let own = "operation,start_us,elapsed_us,ok\nGET,1795247165882296,316,1\n";
    let (survey, requests) = table("own.csv", own, None).expect("a table");
    assert_eq!((service(&requests[0]), requests[0].intended), (Some(316_000), None));
    assert!(suspects(&survey)[0].contains("count from"), "{survey:?}");

    let jmeter =
        "timeStamp,elapsed,label,responseCode,threadName,success\n1795247165882,12,home,200,g 1-1,true\n";
    let (survey, requests) = table("jmeter.csv", jmeter, None).expect("a table");
    assert_eq!((survey.operations[0].as_str(), service(&requests[0])), ("home", Some(12_000_000)));

    // As truetail exports it: moments since the epoch of a run.
    let exported = "seq,client,session,phase,operation,outcome,retries,intended_ns,ready_ns,sent_ns,arrived_ns,completed_ns,\
                    response_time_ns,service_time_ns\n0,0,3,measured,Read,ok,0,5,6,7,,90,85,83\n\
                    1,0,3,measured,Read,timeout,0,15,,,,95,80,\n";
    let (survey, requests) = table("exported.csv", exported, None).expect("a table");
    assert_eq!((requests[0].intended, requests[0].sent, requests[0].completed), (Some(5), Some(7), 90));
    assert_eq!((requests[1].outcome, survey.is_wall_time), (Outcome::Timeout, false));
}

#[test]
fn tables_that_can_not_be_used_say_why_in_a_line() {
    let cases = [
        ("a,b\n1,2\n", None, "line 1: `a,b` names no column with a length of time"),
        ("elapsed_us,ok\n5,1\n", None, "line 1: no column tells when a request was"),
        ("intended_s,service_ms\n1,2\n", None, "do not tell when requests ended"),
        ("start_us,service_us\n1795247165882296,x\n", None, "line 2: `x` is no time"),
        (
            "start_us,service_us\n1795247165882296\n",
            None,
            "line 2: `1795247165882296` has 1 fields, the header 2",
        ),
        ("start_us,service_us,ok\n1,2,maybe\n", None, "line 2: ok is `maybe`"),
        ("sent_us,completed_us\n9,2\n", None, "line 2: `9,2`: it begins after its end"),
        ("start_us,service_us,op\n1,2,\"x\n", None, "a quote does not end"),
        ("start_us,service_us\n", None, "no request with a moment"),
        ("x,y\n1,2\n", Some("start=z:us,service=y:us"), "there is no column `z`"),
    ];
    for (text, map, words) in cases {
        let error = table("refused.csv", text, map).expect_err(words);
        assert!(error.contains(words) && !error.contains('\n'), "{words}: {error}");
    }
}

#[test]
fn a_file_that_ends_within_a_line_is_said_to() {
    let (survey, requests) = table("cut.csv", "start_us,service_us\n1,2\n3,40", None).expect("a table");
    assert_eq!(requests.len(), 1);
    assert!(suspects(&survey)[0].contains("ends within line 3"), "{survey:?}");
    for (format, name) in [
        (Format::PgbenchLog, "pgbench-rate.1"),
        (Format::BenchBase, "benchbase.raw.csv"),
        (Format::Ycsb, "ycsb-raw-both.csv"),
    ] {
        let whole = text(name);
        let file = File::new("cut", &whole.as_bytes()[..whole.len() - 3]);
        // What the last field of pgbench's lines is, its summary tells.
        let printed = (format == Format::PgbenchLog).then(|| self::text("pgbench-rate.txt"));
        let requests = open(format, printed.as_deref(), std::slice::from_ref(&file.0)).expect("a log");
        let line = whole.lines().count();
        assert!(
            suspects(requests.survey()).iter().any(|gap| gap.contains(&format!("ends within line {line}:"))),
            "{name}"
        );
    }
}

#[test]
fn aggregated_logs_are_statements_interval_by_interval() {
    let files = [data("pgbench-agg.1"), data("pgbench-agg.2")];
    let none = import::requests(Format::PgbenchLog, Outputs { files: &files, ..Outputs::default() });
    assert!(none.expect("read").is_none());
    let printed = text("pgbench-agg.txt");
    let report = import::statements(Format::PgbenchLog, &printed, &files).expect("statements");
    let [printed, total, intervals @ ..] = &report.rows[..] else { panic!("{report:?}") };
    // What pgbench printed: 10052 transactions, 0.129 ms on average, schedule lag.
    assert_eq!((printed.count, printed.mean.map(|mean| mean.0)), (Some(10_052), Some(129_000)));
    // It left the last interval of each thread out of its log.
    assert_eq!(total.count, Some(8_140));
    let gaps = import::summary_gaps(Format::PgbenchLog, &report);
    assert!(gaps.iter().any(|gap| gap.text.contains("8,140 of the 10,052")), "{gaps:?}");
    assert_eq!(total.counted_from, import::StatedFrom::Schedule);
    assert_eq!(total.max.map(|max| max.0), Some(2_825_000));
    assert_eq!(intervals.len(), 5);
    assert_eq!(intervals.iter().filter_map(|row| row.count).sum::<u64>(), 8_140);
    // The sums of the log's lines over their counts.
    let sums: u64 = (text("pgbench-agg.1") + &text("pgbench-agg.2"))
        .lines()
        .map(|line| line.split(' ').nth(2).expect("a sum").parse::<u64>().expect("a sum"))
        .sum();
    assert!(total.mean.expect("a mean").0.abs_diff(sums * 1_000 / 8_140) <= 1);
    assert_eq!(intervals[0].interval, Some((1_795_247_173_000_000_000, 1_795_247_174_000_000_000)));
    assert_eq!(intervals[0].count, Some(77 + 70));
}

#[test]
fn hdr_logs_keep_their_intervals_beside_the_sum() {
    let report = import::statements(Format::Hdr(None), "", &[data("ycsb-READ.hdr")]).expect("a log");
    let (whole, intervals) = report.rows.split_first().expect("rows");
    assert!(whole.interval.is_none() && !intervals.is_empty());
    assert_eq!(intervals.iter().filter_map(|row| row.count).sum::<u64>(), whole.count.expect("a count"));
    for row in intervals {
        let (begin, end) = row.interval.expect("an interval");
        assert!(begin > 1_700_000_000_000_000_000 && end >= begin, "{begin} {end}");
    }
}

/// A log that somebody spoiled is read or refused in one line; what is read is the same in both passes.
fn fuzz(name: &'static str, format: Format, corpus: &[u8], words: &[&str]) {
    Fuzz::new(name).from([corpus]).words(words).run(1_000, |input| {
        let file = File::new(name, input);
        match import::requests(format, Outputs { files: std::slice::from_ref(&file.0), ..Outputs::default() })
        {
            Ok(None) => {}
            Ok(Some(requests)) => {
                let found = all(&requests);
                let survey = requests.survey();
                assert_eq!(found.len() as u64, survey.requests);
                for request in found {
                    assert!(request.begin() >= survey.earliest && request.completed <= survey.latest);
                    assert!(usize::from(request.operation) < survey.operations.len());
                    assert!(usize::from(request.phase) < survey.phases.len());
                }
            }
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    });
}

fn beginning(name: &str, lines: usize) -> String {
    text(name).split_inclusive('\n').take(lines).collect()
}

#[test]
fn fuzz_requests_of_pgbench() {
    let log = beginning("pgbench-rate.1", 20) + &beginning("pgbench-skipping.1", 5);
    fuzz(
        "requests-pgbench",
        Format::PgbenchLog,
        log.as_bytes(),
        &["skipped", "failed", "18446744073709551615", "-1", "\n"],
    );
}

#[test]
fn fuzz_requests_of_benchbase() {
    let log = beginning("benchbase.raw.csv", 20);
    fuzz(
        "requests-benchbase",
        Format::BenchBase,
        log.as_bytes(),
        &["18446744073", ".", ",", "\"", "\n", "1e300"],
    );
}

#[test]
fn fuzz_requests_of_ycsb() {
    let rows = text("ycsb-raw-both.csv");
    let log: String = rows.split_inclusive('\n').step_by(80).collect();
    fuzz(
        "requests-ycsb",
        Format::Ycsb,
        log.as_bytes(),
        &["Intended-", "READ,", "[READ], ", "18446744073709551615", "\n"],
    );
}

#[test]
fn fuzz_requests_of_tables() {
    let log = "operation,intended_s,lag_us,sent_us,completed_us,service_ms,session,ok\n\"a\",1.5,3,1500003,1600000,99.9,x,true\n";
    let words = ["response_ns", "start_us", "\"", ",", "1e300", "18446744073709551615", "timeout", "\n"];
    fuzz("requests-csv", Format::Csv, log.as_bytes(), &words);
}

#[test]
fn fuzz_aggregated_logs() {
    let log = text("pgbench-agg.1");
    Fuzz::new("pgbench-aggregated")
        .from([log.as_bytes()])
        .words(["18446744073709551615", "-1", "1e300", "nan", "\n"])
        .run(1_000, |input| {
            let file = File::new("aggregated", input);
            match import::statements(Format::PgbenchLog, "", std::slice::from_ref(&file.0)) {
                Ok(report) => report.rows.iter().for_each(|row| assert!(row.min <= row.max, "{row:?}")),
                Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
            }
        });
}
