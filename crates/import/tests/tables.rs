//! Tables of requests: how finely they tell times, rows that lack a moment or have a wrong one, names of columns.

mod logs;

use import::{Format, Request, StatedFrom, Survey, Weight};
use logs::{Besides, gaps, made, response, service};
use std::fmt::Write as _;
use units::Nanos;

fn table(name: &str, text: &str, map: Option<&str>) -> Result<(Survey, Vec<Request>), String> {
    made(Format::Csv, name, text, Besides { map, ..Besides::default() })
}

/// Why a table can't be read.
fn refused(name: &str, text: &str, map: Option<&str>) -> String {
    table(name, text, map).map(|(survey, _)| survey.requests).expect_err("it makes no sense")
}

#[test]
fn moments_are_as_exact_as_their_decimals_and_no_more() {
    let of = |text: &str| {
        let (survey, _) = table("exact.csv", text, None).expect("a table");
        let said = gaps(&survey, Weight::Note)
            .iter()
            .find(|gap| gap.contains("is told to"))
            .map(|gap| (*gap).to_owned());
        (survey.moment_resolution, survey.length_resolution, said)
    };
    let second = Nanos::from_secs(1);
    let (moments, lengths, said) = of("start_s,service_ms\n1795247165,12\n1795247166,13\n");
    assert_eq!((moments, lengths), (second, Nanos::from_millis(1)));
    assert!(said.expect("a note").contains("told to 1.00 s alone"));
    assert_eq!(of("start_s,service_ms\n1795247165.0,12\n").0, second);
    let (moments, _, said) = of("start_ms,service_us\n1795247165882.296,12.5\n1795247165883,1\n");
    assert_eq!((moments, said), (Nanos::from_micros(1), None));
    assert_eq!(of("start_s,service_ms\n1795247165.882296,0.316\n").1, Nanos::from_micros(1));
    // The coarsest of several columns; lengths that no column has are as exact as the moments.
    let (moments, lengths, _) = of("sent_us,completed_s\n1795247165000000,1795247166\n");
    assert_eq!((moments, lengths), (second, second));
    // JMeter's are milliseconds.
    let jmeter = "timeStamp,elapsed,label,threadName,success\n1795247165882,12,home,g 1-1,true\n";
    assert_eq!(of(jmeter).0, Nanos::from_millis(1));
}

/// `ok` rows, of which those that `lacks` names have no intended moment.
fn scheduled(rows: u64, lacks: impl Fn(u64) -> bool) -> String {
    let mut text = "intended_us,sent_us,completed_us,ok\n".to_owned();
    for i in 0..rows {
        let at = 1_795_247_165_000_000 + i * 1_000;
        let intended = if lacks(i) { String::new() } else { at.to_string() };
        let _ = writeln!(text, "{intended},{},{},1", at + 50, at + 250);
    }
    text
}

#[test]
fn a_row_without_its_intended_moment_does_not_take_it_from_the_others() {
    let (survey, requests) = table("one.csv", &scheduled(10_000, |i| i == 7), None).expect("a table");
    assert!(survey.has_schedule);
    assert_eq!(requests.iter().filter(|request| response(request) == Some(250_000)).count(), 9_999);
    let found = gaps(&survey, Weight::Suspect);
    let few = "1 of 10,000 requests that succeeded has no intended moment: they are in no response time";
    assert!(found.iter().any(|gap| gap.starts_with(few)), "{found:?}");
    let gap = survey.gaps.iter().find(|gap| gap.text.starts_with(few)).expect("said");
    assert!(!gap.hint.is_empty());
    // Where most lack it, the few are no picture of the load.
    let (survey, _) = table("most.csv", &scheduled(10, |i| i > 3), None).expect("a table");
    assert!(!survey.has_schedule);
    let found = gaps(&survey, Weight::Suspect);
    assert!(
        found.iter().any(|gap| gap.starts_with("6 of 10 requests") && gap.contains("are left out")),
        "{found:?}"
    );
    let (survey, _) = table("none.csv", &scheduled(10, |_| true), None).expect("a table");
    let found = gaps(&survey, Weight::Suspect);
    assert!(
        !survey.has_schedule && found.iter().any(|gap| gap.contains("taken for a closed loop")),
        "{found:?}"
    );
    // Whole tables, and those that never had a schedule, lack nothing.
    for whole in [
        scheduled(10, |_| false),
        "sent_us,completed_us,ok\n1795247165000000,1795247165000007,1\n".to_owned(),
    ] {
        let (survey, _) = table("whole.csv", &whole, None).expect("a table");
        assert!(!survey.gaps.iter().any(|gap| gap.text.contains("intended moment")), "{:?}", survey.gaps);
    }
}

/// One request that failed, with a zero for the moment that nobody knew, made a run of 56 years.
#[test]
fn a_moment_of_another_clock_is_refused_with_its_line() {
    let good: String =
        (0..10_000_u64).map(|i| format!("{},5,1\n", 1_795_247_165_000_000 + i * 1_000)).collect();
    let head = "start_us,service_us,ok\n";
    let error = refused("zero.csv", &format!("{head}{good}0,5,0\n"), None);
    assert!(error.contains("line 10002: `0,5,0`: it lies before the year 2000"), "{error}");
    assert!(error.contains("line 2 of") && error.contains("leave the field"), "{error}");
    let error = refused("first.csv", &format!("{head}0,5,0\n{good}"), None);
    assert!(error.contains("line 3:") && error.contains("after the year 2000"), "{error}");
    // Left empty, it is not known, and counted.
    let (survey, requests) = table("empty.csv", &format!("{head}{good},5,0\n"), None).expect("a table");
    assert_eq!((requests.len(), survey.unplaced), (10_000, 1));
    assert_eq!(survey.latest - survey.earliest, 9_999 * 1_000_000 + 5_000);
    // Within one row, too.
    let error = refused("row.csv", "intended_us,completed_us\n0,1795247165000000\n", None);
    assert!(error.contains("line 2"), "{error}");
    let own = table("own.csv", "start_us,service_us\n5,5\n900,5\n", None).expect("a clock of its own").0;
    assert!(!own.is_wall_time);
}

#[test]
fn reports_do_not_mix_measures_and_number_sessions() {
    let text = "response_us,service_us,thread\n500,200,g 1-1\n,300,g 1-2\n700,200,g 1-1\n";
    let report = import::read(Format::Csv, text, &[]).expect("a report");
    let all = report.overall(StatedFrom::Schedule).expect("response times");
    // The second row has a service time, and no response time.
    assert_eq!((all.count, all.min, all.mean), (Some(2), Some(Nanos(500_000)), Some(Nanos(600_000))));
    let sessions: Vec<_> = all.samples.iter().map(|sample| sample.session).collect();
    assert_eq!(sessions, [Some(0), Some(1), Some(0)]);
    let jmeter = "timeStamp,elapsed,label,threadName,success\n1795247165882,12,home,g 1-1,true\n";
    let report = import::read(Format::Csv, jmeter, &[]).expect("JMeter's own names");
    assert_eq!(report.rows[0].samples[0].session, Some(0));
}

#[test]
fn a_mark_before_the_header_is_no_part_of_it() {
    let text = "\u{feff}start_us,service_us,op\n1795247165882296,7,\u{feff}GET\n";
    let (survey, requests) = table("mark.csv", text, None).expect("a table");
    assert_eq!(service(&requests[0]), Some(7_000));
    assert_eq!(survey.operations, ["\u{feff}GET"], "elsewhere it is text");
    let report = import::read(Format::Csv, text, &[]).expect("a report");
    assert_eq!(report.rows[0].max, Some(Nanos(7_000)));
    let formats =
        |text: &str| import::guess(text).into_iter().map(|guess| guess.format.name()).collect::<Vec<_>>();
    assert_eq!(formats(text), ["csv"]);
    let benchbase = logs::text("benchbase.raw.csv");
    assert_eq!(formats(&format!("\u{feff}{benchbase}")), ["benchbase"]);
    assert!(
        made(Format::BenchBase, "mark.raw.csv", &format!("\u{feff}{benchbase}"), Besides::default()).is_ok()
    );
}

#[test]
fn any_column_can_be_mapped() {
    let text = "\"kind, whole\",time:total,begin:s\nGET,5,1795247165\n";
    let map = "operation=\"kind, whole\",service=\"time:total\":ms,start=\"begin:s\":s";
    let (survey, requests) = table("quoted.csv", text, Some(map)).expect("a table");
    assert_eq!((survey.operations[0].as_str(), service(&requests[0])), ("GET", Some(5_000_000)));
    let map = "operation=\"kind, whole\",service=time:total:ms,start=begin:s:s";
    assert_eq!(table("colons.csv", text, Some(map)).expect("a table").1, requests);
    let error = refused("unit.csv", text, Some("service=time:total,start=begin:s:s"));
    assert!(error.contains("the unit of column `time:total` is not known"), "{error}");
}

/// A tool that was never late, and a schedule of one request each second.
#[test]
fn zeros_and_whole_seconds_do_not_make_a_table_coarse() {
    let of = |rows: &str| {
        let text = format!("intended_s,lag_s,service_s\n{rows}");
        let (survey, _) = table("zeros.csv", &text, None).expect("a table");
        assert!(!survey.gaps.iter().any(|gap| gap.text.contains("told to")), "{:?}", survey.gaps);
        (survey.moment_resolution, survey.length_resolution)
    };
    let micro = Nanos::from_micros(1);
    let never_late = "1795247165.002000,0.000000,0.000316\n1795247165.004000,0.000000,0.000402\n";
    assert_eq!(of(never_late), (micro, micro));
    assert_eq!(of(&never_late.replace(",0.000000,", ",0,")), (micro, micro));
    let each_second = "1795247165.000000,0.000007,0.000316\n1795247166.000000,0.000009,0.000402\n";
    assert_eq!(of(each_second), (micro, micro));
    // Whoever reads samples alone is told the same.
    let report = import::read(Format::Csv, "service_s\n0.000000\n0.250\n", &[]).expect("a report");
    assert_eq!(report.rows[0].resolution, Some(Nanos::from_millis(10)));
    let report = import::read(Format::Csv, "service_s\n0.000\n0.000\n", &[]).expect("a report");
    assert_eq!(report.rows[0].resolution, Some(Nanos::from_millis(1)));
}

#[test]
fn a_date_and_another_separator_are_refused_with_what_is_expected() {
    let one_line = |error: String, words: &[&str]| {
        for word in words {
            assert!(error.contains(word) && !error.contains('\n'), "{word}: {error}");
        }
    };
    let iso = "2026-11-22T10:00:00Z";
    let error = refused("iso.csv", &format!("sent_ms,service_ms\n{iso},5\n"), None);
    one_line(
        error,
        &["line 2: `2026-11-22T10:00:00Z` is no moment", "a number, here of ms since 1970", "sent_us"],
    );
    let error =
        refused("iso.csv", &format!("at,service_ms\n{iso},5\n"), Some("sent=at:s,service=service_ms"));
    one_line(error, &["here of s since 1970", "--map sent=COLUMN:us (ns, us, ms, s)"]);

    for (separator, name) in [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")] {
        let text = "sent_us,service_us\n1795247165882296,5\n".replace(',', separator);
        for map in [None, Some("sent=sent_us,service=service_us")] {
            let words =
                format!("has {name} and no comma: fields are parted by commas, and decimals by a point");
            one_line(refused("separator.csv", &text, map), &["line 1: `sent_us", &words]);
        }
    }
}
