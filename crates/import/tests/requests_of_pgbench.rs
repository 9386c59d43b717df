//! pgbench's logs where a line alone does not say what it holds.

mod logs;

use import::{Format, StatedFrom, Weight};
use logs::{Besides, data, gaps, made, response, service, text};
use std::path::PathBuf;

/// Lines of `pgbench -l --max-tries=10`: the last field is how often a transaction was tried again.
const RETRIES: &str =
    "0 1 248 0 1795346511 12954 0\n1 1 258 0 1795346511 12972 3\n0 2 1372 0 1795346511 14347 0\n";

/// Response and service time of a request, ns.
type Times = (Option<u64>, Option<u64>);

fn read(text: &str, printed: Option<&str>, command: Option<&str>) -> Result<Vec<Times>, String> {
    let besides = Besides { printed, command, ..Besides::default() };
    let (_, requests) = made(Format::PgbenchLog, "pgbench_log.1", text, besides)?;
    Ok(requests.iter().map(|request| (response(request), service(request))).collect())
}

#[test]
fn a_field_that_may_be_the_lag_or_the_retries_is_taken_for_neither() {
    let error = read(RETRIES, None, None).expect_err("two readings");
    for words in
        ["line 1", "seven fields", "(-R)", "(--max-tries)", "hand over what pgbench printed", "--command"]
    {
        assert!(error.contains(words), "{words}: {error}");
    }
    let error =
        import::read(Format::PgbenchLog, "", &[data("pgbench-retrying.1")]).expect_err("two readings");
    assert!(error.to_string().contains("seven fields"), "{error}");
    // What says nothing of either is no help, and is not asked for again.
    let neither = "pgbench (15.18)\nnumber of transactions actually processed: 3\nlatency average = 0.6 ms\n";
    for (printed, command, words, not) in [
        (
            None,
            Some("pgbench -l"),
            "--command names neither: hand over what pgbench printed",
            "or its command",
        ),
        (Some(neither), None, "what pgbench printed names neither", "hand over what pgbench"),
        (
            Some(neither),
            Some("pgbench -l"),
            "neither what pgbench printed nor --command names",
            "or its command",
        ),
        (None, Some("pgbench -R 5 --max-tries=3"), "its lines have eight", "or its command"),
    ] {
        let error = read(RETRIES, printed, command).expect_err(words);
        assert!(error.contains(words) && !error.contains(not) && !error.contains('\n'), "{words}: {error}");
    }
}

/// `--max-tries=0` is as often as wanted: pgbench then prints no maximum, and logs the retries all the same.
#[test]
fn transactions_that_may_be_tried_for_ever_have_retries() {
    let files = [data("pgbench-unbounded.1"), data("pgbench-unbounded.2")];
    let printed = text("pgbench-unbounded.txt");
    assert!(!printed.contains("maximum number of tries"));
    let besides = Besides { printed: Some(&printed), ..Besides::default() };
    let (survey, requests) = logs::read(Format::PgbenchLog, &files, besides).expect("a log");
    assert_eq!((requests.len(), survey.has_schedule), (36, false));
    assert_eq!(requests.iter().filter_map(response).count(), 0, "retries are no lag");
    let mean = requests.iter().filter_map(service).sum::<u64>() / 36;
    assert!(mean.abs_diff(399_000) < 1_000, "pgbench printed 0.399 ms, the log has {mean} ns");
    let report = import::read(Format::PgbenchLog, &printed, &files).expect("a report");
    assert_eq!((report.rows[0].samples.len(), report.rows[0].counted_from), (36, StatedFrom::Send));
}

/// `-c 4 -j 2 -T 2 -R 400 --sampling-rate=0.1`, of which 802 transactions were processed.
#[test]
fn a_rate_is_asked_of_the_sample_that_the_log_holds() {
    let files = [data("pgbench-sampled.1"), data("pgbench-sampled.2")];
    let printed = text("pgbench-sampled.txt");
    let of = |files: &[PathBuf], printed: Option<&str>, command: &str| {
        let besides = Besides { printed, command: Some(command), ..Besides::default() };
        let (survey, _) = logs::read(Format::PgbenchLog, files, besides).expect("a log");
        let said = gaps(&survey, Weight::Suspect).iter().map(|gap| (*gap).to_owned()).collect::<Vec<_>>();
        (survey.stated.asked.map(units::PerSecond::get), said.join("\n"))
    };
    for line in ["pgbench -c 4 -j 2 -R 400 -l --sampling-rate=0.1", "pgbench -R 400 -l --sampling-rate 0.1"] {
        let (asked, said) = of(&files, Some(&printed), line);
        assert_eq!(asked, Some(40.0), "{line}");
        assert!(
            said.contains("a sample of the transactions alone, 84 of the 802 (--sampling-rate=0.1)"),
            "{said}"
        );
        assert_eq!(of(&files, None, line).0, Some(40.0), "{line}");
    }
    // Where the line does not say that it is a sample, the rate is not held against it.
    let (asked, said) = of(&files, Some(&printed), "pgbench -R 400 -l");
    assert!(asked.is_none() && said.contains("84 of the 802 transactions that pgbench processed"), "{said}");
    // One thread of two, and a sample that is too small for chance.
    let (asked, said) = of(&files[..1], Some(&printed), "pgbench -R 400 --sampling-rate=0.1");
    assert!(asked.is_none() && said.contains("which --sampling-rate=0.1 does not explain"), "{said}");
    let (asked, said) = of(&files[..1], None, "pgbench -c 4 -j 2 -R 400 --sampling-rate=0.1");
    assert!(
        asked.is_none() && said.contains("2 threads (-j), each of which writes a log, and there is 1 file"),
        "{said}"
    );
    let (asked, said) = of(&files, None, "pgbench -c 9 -j 4 -R 400");
    assert!(
        asked.is_none() && said.contains("4 threads (-j)") && said.contains("there are 2 files"),
        "{said}"
    );
}

#[test]
fn whoever_says_what_the_field_is_is_believed() {
    let sent = [(None, Some(248_000)), (None, Some(258_000)), (None, Some(1_372_000))];
    assert_eq!(read(RETRIES, None, Some("pgbench -l --max-tries=10")).expect("a log"), sent);
    assert_eq!(read(RETRIES, Some(&text("pgbench-retrying.txt")), None).expect("a log"), sent);
    let lags =
        [(Some(248_000), Some(248_000)), (Some(258_000), Some(255_000)), (Some(1_372_000), Some(1_372_000))];
    assert_eq!(read(RETRIES, None, Some("pgbench -R 200 -l")).expect("a log"), lags);
    assert_eq!(read(RETRIES, Some(&text("pgbench-rate.txt")), None).expect("a log"), lags);
    // Skipped transactions need a rate, wherever they stand.
    let skipping = format!("{RETRIES}1 3 skipped 0 1795346511 15000 9\n");
    assert_eq!(read(&skipping, None, None).expect("a log"), lags);
    // Eight fields are both, and six are neither.
    assert_eq!(
        read("0 1 248 0 1795346511 12954 8 2\n", None, None).expect("a log"),
        [(Some(248_000), Some(240_000))]
    );
    assert_eq!(read("0 1 248 0 1795346511 12954\n", None, None).expect("a log"), [(None, Some(248_000))]);
}

#[test]
fn a_rate_on_the_command_line_is_the_rate() {
    let besides = Besides { command: Some("pgbench -n -R 200 -l"), ..Besides::default() };
    let (survey, _) = made(Format::PgbenchLog, "rate.1", RETRIES, besides).expect("a log");
    assert_eq!(survey.stated.asked.map(units::PerSecond::get), Some(200.0));
    assert_eq!(import::asked_rate(Format::Pgbench, "pgbench --rate=7").map(units::PerSecond::get), Some(7.0));
    let summary = import::read(Format::Pgbench, &text("pgbench-rate.txt"), &[]).expect("a summary");
    let short = import::ToolReport { asked: units::PerSecond::new(1_000.0), ..summary.clone() };
    let found = import::summary_gaps(Format::Pgbench, &short);
    let gap = found.iter().find(|gap| gap.text.contains("was to make 1,000/s and made 489/s")).expect("said");
    assert_eq!(gap.weight, Weight::Suspect);
    // 489 of 500 are what chance makes of a drawn schedule.
    let drawn = import::ToolReport { asked: units::PerSecond::new(500.0), ..summary };
    assert!(
        !import::summary_gaps(Format::Pgbench, &drawn).iter().any(|gap| gap.text.contains("was to make"))
    );
}

/// Four of the 24 threads of a run with `--aggregate-interval=2`, that began on either side of a second's boundary: their lines
/// have begins that differ by one second, and their intervals by milliseconds.
#[test]
fn threads_that_began_on_either_side_of_a_second_are_put_together() {
    let files: Vec<PathBuf> = (1..=4).map(|n| data(&format!("pgbench-straddle.{n}"))).collect();
    let report = import::statements(Format::PgbenchLog, "", &files).expect("statements");
    let [total, intervals @ ..] = &report.rows[..] else { panic!("{report:?}") };
    assert_eq!((total.count, total.counted_from), (Some(65), StatedFrom::Schedule));
    let found: Vec<_> = intervals.iter().map(|row| (row.interval.expect("an interval"), row.count)).collect();
    let second = |s: u64| (1_795_346_000 + s) * 1_000_000_000;
    assert_eq!(
        found,
        [((second(738), second(740)), Some(8 + 10 + 6 + 14)), ((second(740), second(742)), Some(13 + 14))]
    );
    assert_eq!(intervals[0].max.map(|max| max.0), Some(824_000));
}

#[test]
fn intervals_are_as_long_as_what_parts_the_lines_of_a_thread() {
    let line = |begin: u64| format!("{begin} 2 200 20000 90 110\n");
    let intervals = |threads: &[&[u64]]| {
        let made = |(n, begins): (usize, &&[u64])| {
            let text: String = begins.iter().map(|begin| line(1_795_346_000 + begin)).collect();
            logs::File::new(&format!("aggregated.{}.{n}", threads.len()), text.as_bytes())
        };
        let files: Vec<logs::File> = threads.iter().enumerate().map(made).collect();
        let paths: Vec<PathBuf> = files.iter().map(|file| file.0.clone()).collect();
        let report = import::statements(Format::PgbenchLog, "", &paths).expect("statements");
        let of_row = |row: &import::Reported| {
            let (begin, end) = row.interval?;
            Some((begin / 1_000_000_000 - 1_795_346_000, (end - begin) / 1_000_000_000, row.count?))
        };
        report.rows.iter().filter_map(of_row).collect::<Vec<_>>()
    };
    assert_eq!(intervals(&[&[100, 110], &[101, 111]]), [(100, 10, 4), (110, 10, 4)]);
    // Versions that leave out intervals without a transaction: the first of one thread, the second of another.
    assert_eq!(
        intervals(&[&[101, 121, 131], &[110, 120]]),
        [(101, 10, 2), (111, 10, 2), (121, 10, 4), (131, 10, 2)]
    );
    assert_eq!(intervals(&[&[100, 101, 102], &[101, 102]]), [(100, 1, 2), (101, 1, 4), (102, 1, 4)]);
    // One line for each thread does not tell how long it is.
    assert_eq!(intervals(&[&[100], &[101]]), []);
}

#[test]
fn a_summary_with_a_rate_and_a_log_without_a_lag_is_suspect() {
    let log = "0 1 248 0 1795346511 12954\n";
    let besides = Besides { command: Some("pgbench -R 200"), ..Besides::default() };
    let (survey, _) = made(Format::PgbenchLog, "no-lag.1", log, besides).expect("a log");
    assert!(gaps(&survey, Weight::Suspect)[0].contains("its log has no schedule lag"), "{:?}", survey.gaps);
}
