//! YCSB's raw rows: what their names say of how requests ended, and what its command line says of the rate.

mod logs;

use import::{Format, Survey, Weight};
use logs::{Besides, File, gaps, made, response, service};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use units::Outcome;

/// When planted rows were written, ms since 1970.
const AT: u64 = 1_795_247_156_328;

/// How many requests of each operation ended how.
fn ended(rows: &str) -> BTreeMap<(String, &'static str), usize> {
    let (survey, requests) = made(Format::Ycsb, "ended.csv", rows, Besides::default()).expect("rows");
    let mut found = BTreeMap::new();
    for request in requests {
        let operation = survey.operations[usize::from(request.operation)].clone();
        *found.entry((operation, request.outcome.name())).or_insert(0) += 1;
    }
    found
}

/// The rows that `reportlatencyforeacherror` makes of reads that failed, as `DBWrapper` of YCSB 0.17 names them.
#[test]
fn requests_that_failed_are_failures_whatever_their_status_is_called() {
    let statuses = [
        ("READ", 5, Outcome::Ok),
        ("READ-ERROR", 2, Outcome::Server),
        ("READ-UNEXPECTED_STATE", 3, Outcome::Server),
        ("READ-NOT_FOUND", 4, Outcome::Miss),
        ("READ-SERVICE_UNAVAILABLE", 1, Outcome::Unavailable),
        ("READ-FAILED", 6, Outcome::Server),
        ("INSERT-made up", 2, Outcome::Server),
    ];
    let mut rows = String::new();
    let mut expected: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for (name, count, outcome) in statuses {
        for n in 0..count {
            let _ = writeln!(rows, "{name},{},{}", AT + n, 100 + n);
        }
        let operation = name.split('-').next().expect("an operation").to_owned();
        *expected.entry((operation, outcome.name())).or_insert(0) += count as usize;
    }
    // Not of the load: a pair that is counted already, the clean-up, and what `measurement.trackjvm` adds.
    for name in ["READ-MODIFY-WRITE", "CLEANUP", "THREAD_COUNT", "GCS_TIME", "GCS"] {
        let _ = writeln!(rows, "{name},{AT},7");
    }
    assert_eq!(ended(&rows), expected);
    // Where both intervals were measured, failures have two rows, too.
    let both = "READ-NOT_FOUND,1795247156328,100\nIntended-READ-NOT_FOUND,1795247156328,300\n";
    let (_, requests) = made(Format::Ycsb, "both.csv", both, Besides::default()).expect("rows");
    assert_eq!(requests.len(), 1);
    assert_eq!((response(&requests[0]), service(&requests[0])), (Some(300_000), Some(100_000)));
    assert_eq!(requests[0].outcome, Outcome::Miss);
    // As a report of a tool under test.
    let report = import::read(Format::Ycsb, &rows, &[]).expect("a report");
    let all = report.overall(import::StatedFrom::Unsaid).expect("one operation of the load");
    assert_eq!((all.operation.as_str(), all.count), ("READ", Some(5)));
    let failed = |row: &import::Reported| row.samples.iter().filter(|sample| sample.failed).count();
    assert_eq!(report.rows.iter().map(failed).sum::<usize>(), 18);
}

#[test]
fn rows_that_name_no_operation_are_counted() {
    let rows =
        "READ,1795247156328,100\nread it,1795247156329,5\n,1795247156329,5\nREAD,1795247156330,100\n1,2,3\n";
    let (survey, requests) = made(Format::Ycsb, "strange.csv", rows, Besides::default()).expect("rows");
    assert_eq!(requests.len(), 2);
    let found = gaps(&survey, Weight::Suspect);
    let strange = found.iter().find(|gap| gap.contains("no name of an operation")).expect("said");
    assert!(strange.starts_with("2 lines have") && strange.contains("line 2 of"), "{strange}");
    assert!(strange.contains("`read it,1795247156329,5`"), "{strange}");
    let error = import::read(Format::Ycsb, rows, &[]).expect_err("strange").to_string();
    assert!(error.contains("line 2: `read it,1795247156329,5` names no operation"), "{error}");
    // A length that did not fit into 32 bits comes out below zero.
    let error =
        made(Format::Ycsb, "below.csv", "READ,1795247156328,-5\n", Besides::default()).expect_err("no time");
    assert!(error.contains("line 1: `READ,1795247156328,-5`: no elapsed time"), "{error}");
    // What a binding made up may be either.
    let rows = "READ,1795247156328,100\nPUT-IF,1795247156328,100\n";
    let (survey, _) = made(Format::Ycsb, "made-up.csv", rows, Besides::default()).expect("rows");
    let found = gaps(&survey, Weight::Suspect);
    assert!(found.iter().any(|gap| gap.contains("`PUT-IF`") && gap.contains("count as ok")), "{found:?}");
}

const BOTH: &str = "READ,1795247156328,100\nREAD,1795247156329,100\n\
                    Intended-READ,1795247156328,40000\nIntended-READ,1795247156329,41000\n";
const ONE: &str = "READ,1795247156328,100\nREAD,1795247156329,100\n";

fn run_with(rows: &str, printed: Option<&str>, command: Option<&str>) -> Survey {
    let printed = printed.map(|line| format!("Command line: {line}\nYCSB Client 0.17.0\n"));
    let besides = Besides { printed: printed.as_deref(), command, ..Besides::default() };
    made(Format::Ycsb, "run.csv", rows, besides).expect("rows").0
}

/// `-P my.workload`, with `target=1000` in that file: the line shows no rate, and nobody may say that there was none.
#[test]
fn a_rate_that_a_property_file_may_set_is_not_known_to_be_none() {
    let (survey, requests) = {
        let printed = "Command line: -t -P my.workload -p measurement.interval=both\n";
        let besides = Besides { printed: Some(printed), ..Besides::default() };
        made(Format::Ycsb, "file.csv", BOTH, besides).expect("rows")
    };
    assert!(survey.has_schedule, "{:?}", survey.gaps);
    assert_eq!(requests.iter().filter_map(response).collect::<Vec<_>>(), [40_000_000, 41_000_000]);
    let notes = gaps(&survey, Weight::Note);
    assert!(!notes.iter().any(|gap| gap.contains("without -target")), "{notes:?}");
    assert!(notes.iter().any(|gap| gap.contains("its property file (-P) may set it")), "{notes:?}");
    // With one interval, coordinated omission may have happened.
    let suspect = run_with(ONE, Some("-t -P my.workload"), None);
    let found = gaps(&suspect, Weight::Suspect);
    assert!(found.iter().any(|gap| gap.contains("coordinated omission") && gap.contains("-P")), "{found:?}");
    assert!(!suspect.has_schedule && suspect.stated.asked.is_none());
}

/// What the line says of its rows is not denied, though a file may set its rate.
#[test]
fn rows_that_the_command_line_says_count_from_sending_are_said_to() {
    let said = |printed: Option<&str>, command: Option<&str>| {
        let survey = run_with(ONE, printed, command);
        gaps(&survey, Weight::Suspect).join("\n")
    };
    let op = "-t -P workloada -p measurement.interval=op";
    for text in [said(Some(op), None), said(None, Some(op))] {
        assert!(
            text.contains("YCSB's rows count from sending, and whether it had a rate is not told"),
            "{text}"
        );
        assert!(!text.contains("do not say"), "{text}");
    }
    let unsaid = said(Some("-t -P workloada"), None);
    assert!(unsaid.contains("the rows do not say whether they count from"), "{unsaid}");
    // With a rate of none beside it, nothing is missing.
    assert_eq!(said(Some(&format!("{op} -target 0")), None), "");
    assert_eq!(said(Some("-t -target 0 -p measurement.interval=op -P secret.properties"), None), "");
}

#[test]
fn a_rate_on_the_command_line_is_the_rate() {
    let asked = |survey: &Survey| survey.stated.asked.map(units::PerSecond::get);
    for line in ["-t -P w -target 3000", "-t -P w -p target=3000", "-target 5 -p target=3000"] {
        let both = run_with(BOTH, Some(line), None);
        assert_eq!((asked(&both), both.has_schedule), (Some(3_000.0), true), "{line}");
        assert!(gaps(&both, Weight::Suspect).is_empty(), "{line}: {:?}", both.gaps);
        let one = run_with(ONE, Some(line), None);
        assert!(
            gaps(&one, Weight::Suspect)[0].contains("3000 requests per second"),
            "{line}: {:?}",
            one.gaps
        );
    }
    // Zero is none.
    for line in ["-t -target 0", "-t -P w -target 0"] {
        let both = run_with(BOTH, Some(line), None);
        assert_eq!((asked(&both), both.has_schedule), (None, false), "{line}");
        assert!(gaps(&both, Weight::Note).iter().any(|gap| gap.contains("without -target")), "{line}");
        assert!(gaps(&run_with(ONE, Some(line), None), Weight::Suspect).is_empty(), "{line}");
    }
    // A noted line tells what it states, and nothing by what it leaves out.
    assert_eq!(asked(&run_with(BOTH, None, Some("bin/ycsb run x -target 200"))), Some(200.0));
    let noted = run_with(BOTH, None, Some("nightly"));
    assert!(noted.has_schedule && asked(&noted).is_none(), "{:?}", noted.gaps);
    assert_eq!(asked(&run_with(BOTH, Some("-t -target 3000"), Some("-target 200"))), Some(3_000.0));
}

/// `-target` counts operations, of which reading and then writing a record is one: two requests, each with rows of its own.
#[test]
fn a_rate_of_operations_is_told_in_requests() {
    let asked =
        |rows: &str| run_with(rows, Some("-t -target 1000"), None).stated.asked.map(units::PerSecond::get);
    let pairs: String = ["READ", "UPDATE", "READ-MODIFY-WRITE"]
        .into_iter()
        .flat_map(|name| {
            (0..100).map(move |n| format!("{name},{},5\nIntended-{name},{},9\n", AT + n, AT + n))
        })
        .collect();
    assert_eq!(asked(&pairs), Some(2_000.0));
    // A hundred reads besides: 300 requests are 200 operations.
    let reads: String =
        (0..100).map(|n| format!("READ,{},5\nIntended-READ,{},9\n", AT + n, AT + n)).collect();
    assert_eq!(asked(&format!("{pairs}{reads}")), Some(1_500.0));
    assert_eq!(asked(&reads), Some(1_000.0));
}

/// Where rows of one operation alone are there twice, the response times that there are stay.
#[test]
fn an_operation_without_rows_from_the_schedule_is_counted_as_lacking_them() {
    let rows = format!("{BOTH}UPDATE,1795247156328,70\n");
    let survey = run_with(&rows, Some("-t -target 3000"), None);
    assert!(survey.has_schedule);
    let found = gaps(&survey, Weight::Suspect);
    assert!(
        found.iter().any(|gap| gap.contains("1 of 3 requests that succeeded has no intended moment")),
        "{found:?}"
    );
}

/// Looked up one after the other, each of a million names would be compared with all before it.
#[test]
fn more_names_than_there_can_be_are_refused_while_they_are_read() {
    let mut rows = String::new();
    for n in 0..1_000_000_u32 {
        let _ = writeln!(rows, "X{n},{AT},5");
    }
    let error = made(Format::Ycsb, "names.csv", &rows, Besides::default()).expect_err("too many");
    assert!(error.contains("line 4097: more than 4096 names of measurements"), "{error}");
    let error = import::read(Format::Ycsb, &rows, &[]).expect_err("too many").to_string();
    assert!(error.contains("line 4097: more than 4096 names"), "{error}");
}

#[test]
fn a_mark_before_the_first_row_is_no_part_of_it() {
    let rows = format!("\u{feff}{ONE}");
    let (survey, requests) = made(Format::Ycsb, "mark.csv", &rows, Besides::default()).expect("rows");
    assert_eq!((survey.operations, requests.len()), (vec!["READ".to_owned()], 2));
    let file = File::new("mark.txt", format!("\u{feff}YCSB Client 0.17.0\n{ONE}").as_bytes());
    let report = import::read(Format::Ycsb, "", std::slice::from_ref(&file.0)).expect("a report");
    assert_eq!(report.tool, "YCSB 0.17.0");
}
