//! Outputs as the tools wrote them, and what is read of them. Where a tool says a thing twice, in a log and in its
//! summary, both readings are held against each other.

use import::{ForeignSample, Format, Reported, StatedFrom, TimeUnit, ToolReport};
use std::path::{Path, PathBuf};
use units::{Nanos, Quantile};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(data(name)).expect("test data")
}

fn printed(format: Format, name: &str) -> ToolReport {
    import::read(format, &text(name), &[]).expect("a report")
}

/// pgbench's summary and its log files `pgbench-NAME.1`, `.2`.
fn logged(name: &str, files: usize) -> ToolReport {
    let logs: Vec<PathBuf> = (1..=files).map(|file| data(&format!("pgbench-{name}.{file}"))).collect();
    import::read(Format::PgbenchLog, &text(&format!("pgbench-{name}.txt")), &logs).expect("a report")
}

fn row<'a>(report: &'a ToolReport, measure: &str) -> &'a Reported {
    report.rows.iter().find(|row| row.measure == measure).expect("a row of this measure")
}

fn operation<'a>(report: &'a ToolReport, operation: &str) -> &'a Reported {
    report.rows.iter().find(|row| row.operation == operation).expect("a row of this operation")
}

fn q(value: f64) -> Quantile {
    Quantile::new(value).expect("in [0, 1]")
}

fn micros(value: u64) -> Nanos {
    Nanos::from_micros(value)
}

/// The value of a quantile that is stated, not one that lies in a bucket.
fn stated(row: &Reported, at: f64) -> Nanos {
    let reading = row.quantile(q(at)).expect("something is said of it");
    assert_eq!(reading.above, reading.at_most, "q = {at} is a bucket");
    reading.at_most
}

/// The bucket of a quantile.
fn bucket(row: &Reported, at: f64) -> (Nanos, Nanos) {
    let reading = row.quantile(q(at)).expect("something is said of it");
    (reading.above, reading.at_most)
}

fn rate_of(report: &ToolReport) -> f64 {
    report.achieved.expect("a rate").get()
}

#[test]
fn ycsb_text_keeps_each_operation_and_both_measures() {
    let report = printed(Format::Ycsb, "ycsb-both.txt");
    let measures: Vec<&str> = report.rows.iter().map(|row| row.measure.as_str()).collect();
    let both = ["READ", "CLEANUP", "UPDATE", "Intended-READ", "Intended-CLEANUP", "Intended-UPDATE"];
    assert_eq!(measures, both);
    assert!((rate_of(&report) - 1783.0609).abs() < 1e-3);
    assert_eq!(report.errors, Some(0));

    let read = row(&report, "READ");
    assert_eq!((read.operation.as_str(), read.counted_from), ("READ", StatedFrom::Send));
    assert_eq!((read.count, read.min, read.max), (Some(3025), Some(micros(41)), Some(micros(51_743))));
    assert_eq!(read.mean, Some(Nanos(522_753)));
    assert_eq!((stated(read, 0.99), stated(read, 0.999)), (micros(5_311), micros(38_911)));
    assert_eq!(read.returns, [("OK".to_owned(), 3025)]);
    assert_eq!(read.quantile(q(0.75)), None, "nothing is interpolated");

    let intended = row(&report, "Intended-READ");
    assert_eq!((intended.operation.as_str(), intended.counted_from), ("READ", StatedFrom::Schedule));
    assert_eq!((stated(intended, 0.99), stated(intended, 0.9999)), (micros(209_663), micros(228_095)));
}

#[test]
fn ycsb_quantiles_of_several_operations_make_none_of_all() {
    let report = printed(Format::Ycsb, "ycsb-both.txt");
    assert_eq!(report.overall(StatedFrom::Schedule), None);
    let single = printed(Format::Ycsb, "ycsb-logged.txt");
    let all = single.overall(StatedFrom::Schedule).expect("the run has one operation");
    assert_eq!((all.measure.as_str(), stated(&all, 0.999)), ("Intended-READ", micros(164_607)));
}

#[test]
fn ycsb_alone_does_not_say_what_it_counts_from() {
    let report = printed(Format::Ycsb, "ycsb-failed.txt");
    let read = row(&report, "READ");
    assert_eq!(read.counted_from, StatedFrom::Unsaid);
    assert_eq!(read.count, Some(49));
    assert_eq!(report.errors, Some(151), "reads that found nothing");
    let only = report.overall(StatedFrom::Unsaid).expect("one operation, its failures and clean-up aside");
    assert_eq!(only.operation, "READ");
}

#[test]
fn ycsb_both_json_exporters_are_read() {
    let array = import::read(Format::Ycsb, "", &[data("ycsb-array.json")]).expect("a report");
    let read = row(&array, "READ");
    assert_eq!((read.count, read.mean, read.max), (Some(400), Some(Nanos(319_273)), Some(micros(21_583))));
    assert_eq!(stated(read, 0.99), micros(4_015));

    let objects = text("ycsb-objects.json");
    let among_others = format!("Adding a server\n{objects}\nall done\n");
    for output in [objects.as_str(), among_others.as_str()] {
        let report = import::read(Format::Ycsb, output, &[]).expect("a report");
        assert_eq!((row(&report, "READ").count, report.errors), (Some(400), Some(0)));
    }
}

#[test]
fn ycsb_raw_rows_give_the_quantiles_that_ycsb_made_of_them() {
    let report =
        import::read(Format::Ycsb, &text("ycsb-raw.txt"), &[data("ycsb-raw.csv")]).expect("a report");
    for measure in ["READ", "UPDATE", "Intended-READ", "Intended-UPDATE"] {
        let row = row(&report, measure);
        assert_eq!(row.samples.len() as u64, row.count.expect("printed"), "{measure}");
        let mean = row.samples.iter().filter_map(|sample| sample.elapsed).map(|e| e.0 as f64).sum::<f64>();
        let mean = mean / row.samples.len() as f64;
        assert!((mean - row.mean.expect("printed").0 as f64).abs() < 1.0, "{measure}: {mean}");
        let (_, printed) = row.quantiles.iter().find(|(at, _)| at.get() == 0.99).expect("printed");
        assert_eq!(stated(row, 0.99), *printed, "{measure}");
    }
    let all = report.overall(StatedFrom::Schedule).expect("samples can be put together");
    assert_eq!((all.samples.len(), all.count), (300, Some(300)));
    let (reads, updates) = (row(&report, "Intended-READ"), row(&report, "Intended-UPDATE"));
    assert_eq!(all.max, reads.max.max(updates.max));
    let alone = import::read(Format::Ycsb, "", &[data("ycsb-raw.csv")]).expect("a report");
    assert_eq!((row(&alone, "READ").count, row(&alone, "READ").min), (Some(144), Some(micros(43))));
}

#[test]
fn ycsb_buckets_of_a_millisecond_are_said_to_be_coarse() {
    let read = printed(Format::Ycsb, "ycsb-histogram.txt");
    assert_eq!(row(&read, "READ").resolution, Some(Nanos::from_millis(1)));
    assert_eq!(row(&printed(Format::Ycsb, "ycsb-both.txt"), "READ").resolution, Some(micros(1)));
}

#[test]
fn hdr_logs_of_ycsb_hold_what_ycsb_printed() {
    let logs = [data("ycsb-READ.hdr"), data("ycsb-Intended-READ.hdr")];
    let logged = import::read(Format::Hdr(None), "", &logs).expect("a report");
    let printed = printed(Format::Ycsb, "ycsb-logged.txt");
    for measure in ["READ", "Intended-READ"] {
        let (log, print) = (row(&logged, measure), row(&printed, measure));
        assert_eq!((&log.operation, log.count), (&print.operation, print.count), "{measure}");
        let close = |a: Option<Nanos>, b: Option<Nanos>| {
            let (a, b) = (a.expect("logged").0 as f64, b.expect("printed").0 as f64);
            assert!((a - b).abs() <= b * 1e-3, "{measure}: {a} and {b}");
        };
        close(log.mean, print.mean);
        close(log.max, print.max);
        for at in [0.5, 0.99, 0.999] {
            let (above, at_most) = bucket(log, at);
            let printed = stated(print, at);
            assert!(
                above < printed && printed <= at_most,
                "{measure}: {printed:?} in {above:?}, {at_most:?}"
            );
        }
    }
    assert_eq!(row(&logged, "Intended-READ").counted_from, StatedFrom::Schedule);
}

#[test]
fn hdr_logs_are_nanoseconds_unless_said_otherwise_and_tags_stay_apart() {
    let log = text("ycsb-READ.hdr").replace("#[Logging for: READ]\n", "");
    let tagged = log.lines().filter(|line| line.contains("HISTF")).map(|line| format!("Tag=A,{line}\n"));
    let log = format!("{log}{}", tagged.collect::<String>());
    let report = import::read(Format::Hdr(None), &log, &[]).expect("a report");
    let untagged = operation(&report, "");
    assert_eq!((untagged.count, untagged.min), (Some(4_000), Some(Nanos(23))));
    assert_eq!(operation(&report, "A").count, Some(4_000));
    let report = import::read(Format::Hdr(Some(TimeUnit::Millis)), &log, &[]).expect("a report");
    assert_eq!(operation(&report, "A").min, Some(Nanos::from_millis(23)));
}

#[test]
fn hdr_percentile_files_need_a_unit() {
    let error =
        import::read(Format::Hdr(None), "", &[data("ycsb-READ.hgrm")]).expect_err("no unit").to_string();
    assert!(error.contains("ycsb-READ.hgrm line 3") && error.contains("hdr-ms"), "{error}");

    let millis = Format::Hdr(Some(TimeUnit::Millis));
    let report = import::read(millis, "", &[data("ycsb-READ.hgrm")]).expect("a report");
    let all = &report.rows[0];
    assert_eq!((all.count, all.mean, all.max), (Some(4_000), Some(micros(210)), Some(micros(51_167))));
    assert_eq!(stated(all, 0.5), micros(75));
    assert_eq!(bucket(all, 0.99), (micros(3_935), micros(4_015)), "3973 in YCSB's text");

    let wrk2 = printed(millis, "wrk2.txt");
    assert_eq!((stated(&wrk2.rows[0], 0.99), wrk2.rows[0].count), (micros(2_500), Some(1_000)));
}

#[test]
fn pgbench_summary_is_read() {
    let report = printed(Format::Pgbench, "pgbench-rate.txt");
    assert_eq!((report.tool.as_str(), report.errors), ("pgbench 15.18", Some(0)));
    assert!((rate_of(&report) - 488.935_934).abs() < 1e-6);
    let all = report.overall(StatedFrom::Schedule).expect("counted from the schedule");
    assert_eq!((all.count, all.mean, all.max), (Some(485), Some(micros(238)), None));
    let failing = printed(Format::Pgbench, "pgbench-failing.txt");
    assert_eq!((failing.errors, failing.rows[0].counted_from), (Some(43), StatedFrom::Send));
}

#[test]
fn pgbench_logs_with_a_rate_hold_the_lag_in_their_time() {
    let report = logged("rate", 2);
    let all = report.overall(StatedFrom::Schedule).expect("counted from the schedule");
    assert_eq!(all.count, Some(485));
    assert_eq!(all.mean.expect("samples").0 / 1_000, 238, "the summary: 0.238 ms");
    let lag = |sample: &ForeignSample| sample.schedule_lag.expect("with -R each has one").0;
    let lags: u64 = all.samples.iter().map(lag).sum();
    assert_eq!((lags as f64 / 485e3).round(), 109.0, "the summary: 0.109 ms");
    let longer = |sample: &ForeignSample| sample.elapsed.expect("succeeded").0 >= lag(sample);
    assert!(all.samples.iter().all(longer), "the lag is part of the time");
    // By sort(1) and awk(1).
    assert_eq!(
        (all.max, stated(&all, 0.5), stated(&all, 0.99)),
        (Some(micros(3_073)), micros(216), micros(513))
    );
    let first = all.samples[0];
    assert_eq!(first.session, Some(0));
    assert_eq!(first.completed_wall_ns.expect("logged") / 1_000_000_000, 1_795_277_614);
}

#[test]
fn pgbench_transactions_that_were_skipped_or_failed_have_no_time() {
    let report = logged("skipping", 2);
    assert_eq!((report.skipped, report.errors), (Some(230), Some(0)));
    let all = &report.rows[0];
    assert_eq!((all.samples.len(), all.count), (899, Some(669)));
    assert_eq!(all.mean.expect("samples").0 / 1_000, 12_074, "the summary: 12.075 ms");
    assert!(all.samples.iter().all(|sample| sample.failed == sample.elapsed.is_none()));

    let report = logged("failing", 2);
    assert_eq!((report.skipped, report.errors), (Some(0), Some(43)));
    assert_eq!((report.rows[0].samples.len(), report.rows[0].count), (75, Some(32)));
    assert_eq!(report.rows[0].counted_from, StatedFrom::Send);
}

#[test]
fn pgbench_logs_alone_say_what_was_skipped_and_what_failed() {
    let logs = [data("pgbench-skipping.1"), data("pgbench-skipping.2"), data("pgbench-failing.1")];
    let report = import::read(Format::PgbenchLog, "", &logs).expect("a report");
    let failing = text("pgbench-failing.1").matches("failed").count() as u64;
    assert_eq!((report.skipped, report.errors), (Some(230), Some(failing)));
    assert_eq!((report.tool.as_str(), report.achieved), ("pgbench", None));
}

#[test]
fn pgbench_retries_are_not_taken_for_lags() {
    let retrying = logged("retrying", 2);
    assert!(retrying.rows[0].samples.iter().all(|sample| sample.schedule_lag.is_none()));
    assert_eq!(retrying.errors, Some(26));
    let both = logged("both", 1);
    let lags: u64 = both.rows[0].samples.iter().map(|sample| sample.schedule_lag.expect("with -R").0).sum();
    assert_eq!((lags as f64 / 75e3).round(), 93.0, "the summary: 0.093 ms");
}

#[test]
fn sysbench_report_and_histogram_agree() {
    let report = printed(Format::Sysbench, "sysbench-rate.txt");
    assert_eq!((report.tool.as_str(), report.errors), ("sysbench 1.0.20", Some(0)));
    assert!((rate_of(&report) - 529.52).abs() < 1e-6);
    let all = report.overall(StatedFrom::Schedule).expect("with --rate");
    assert_eq!((all.count, all.mean, all.max), (Some(1_594), Some(micros(190)), Some(micros(2_660))));
    assert_eq!(all.cumulative.last().map(|(_, count)| *count), Some(1_594), "the table counts all");
    assert_eq!(stated(&all, 0.99), micros(700));
    let mut counted = all.clone();
    counted.quantiles.clear();
    // sysbench rounds 0.99 · 1594 to the nearest rank, 1578, and then to 10 µs.
    assert_eq!(bucket(&counted, 1578.0 / 1594.0), (micros(690), micros(702)));
    assert_eq!(bucket(&counted, 0.99), (micros(702), micros(768)), "rank 1579");
    let (above, at_most) = bucket(&all, 0.999);
    assert!(micros(2_000) < above && at_most == micros(2_662), "{above:?} {at_most:?}");

    let closed = printed(Format::Sysbench, "sysbench-closed.txt");
    assert_eq!((closed.rows[0].counted_from, closed.rows[0].count), (StatedFrom::Send, Some(261_700)));
}

#[test]
fn redis_benchmark_text_gives_quantiles_and_counts() {
    let report = printed(Format::RedisBenchmark, "redis-full.txt");
    assert!((rate_of(&report) - 35_460.99).abs() < 1e-6);
    let get = operation(&report, "GET");
    assert_eq!((get.count, get.mean, get.min), (Some(20_000), Some(micros(87)), Some(micros(16))));
    assert_eq!(
        (get.max, stated(get, 0.99), stated(get, 0.5)),
        (Some(micros(7_359)), micros(1_719), micros(47))
    );
    // 99.805 % at 4551, then 99.845 % at 5103, 99.902 % at 5639.
    assert_eq!(bucket(get, 0.999), (micros(5_103), micros(5_639)));
    assert_eq!(get.counted_from, StatedFrom::Send);
}

#[test]
fn redis_benchmark_short_forms_are_read() {
    let report = printed(Format::RedisBenchmark, "redis.csv");
    let names: Vec<&str> = report.rows.iter().map(|row| row.operation.as_str()).collect();
    assert_eq!(names, ["PING_INLINE", "PING_MBULK", "GET"]);
    assert_eq!(report.achieved, None, "three rates, one after the other");
    let get = operation(&report, "GET");
    assert_eq!((stated(get, 0.95), get.max), (micros(71), Some(micros(4_263))));

    let report = printed(Format::RedisBenchmark, "redis-short.txt");
    assert_eq!(stated(operation(&report, "SET"), 0.5), micros(39));
    assert_eq!(stated(operation(&report, "GET"), 0.5), micros(47));

    let old = "\"SET\",\"71428.57\"\n\"GET\",\"74074.07\"\n";
    let report = import::read(Format::RedisBenchmark, old, &[]).expect("before 7.0: rates alone");
    assert_eq!((report.rows.len(), report.rows[0].mean), (2, None));
}

#[test]
fn memtier_table_is_read() {
    let report = printed(Format::Memtier, "memtier.txt");
    let names: Vec<&str> = report.rows.iter().map(|row| row.operation.as_str()).collect();
    assert_eq!(names, ["Sets", "Gets", ""], "Waits have no figures, and the distribution is another table");
    assert!((rate_of(&report) - 78_391.78).abs() < 1e-6);
    let all = report.overall(StatedFrom::Send).expect("the line of totals");
    assert_eq!((all.mean, stated(&all, 0.999)), (Some(Nanos(1_012_590)), micros(12_671)));
    let old = "ALL STATS\n====\nType Ops/sec Hits/sec Misses/sec Latency KB/sec\n----\nTotals 10.5 1.0 2.0 0.25000 7.1\n";
    let report = import::read(Format::Memtier, old, &[]).expect("before 1.3: the average alone");
    assert_eq!((report.rows[0].mean, report.rows[0].quantiles.len()), (Some(micros(250)), 0));
}

#[test]
fn memtier_document_is_read_with_its_histogram() {
    // The histogram of YCSB's first interval stands for memtier's: the same encoding, in µs, too.
    let log = text("ycsb-READ.hdr");
    let encoded = log.lines().find_map(|line| line.split_once("HISTF")).expect("an interval").1;
    let document = format!(
        r#"{{"configuration": {{"server": "localhost"}}, "ALL STATS": {{
            "Runtime": {{"Time unit": "MILLISECONDS", "Total duration": 10000}},
            "Gets": {{"Count": 0, "Ops/sec": 0.00, "Latency": 0.000, "Percentile Latencies": {{"p50.00": 0.000}}}},
            "Totals": {{"Count": 1201, "Ops/sec": 120.10, "Connection Errors": 3, "Latency": 0.410,
                "Average Latency": 0.410, "Min Latency": 0.040, "Max Latency": 51.167,
                "Percentile Latencies": {{"p50.00": 0.075, "p99.90": 8.135,
                    "Histogram log format": {{"Compressed Histogram": "HISTF{encoded}"}}}}}}}}}}"#
    );
    let report = import::read(Format::Memtier, &document, &[]).expect("a report");
    assert_eq!((report.rows.len(), report.errors), (1, Some(3)), "Gets were not used");
    let all = report.overall(StatedFrom::Send).expect("totals");
    assert_eq!((stated(&all, 0.999), all.max), (micros(8_135), Some(micros(51_167))));
    let (above, at_most) = bucket(&all, 0.99);
    assert!(above < at_most && at_most < micros(52_000), "{above:?} {at_most:?}");
    // The table of the same run adds nothing.
    let both = import::read(Format::Memtier, &text("memtier.txt"), &[]).expect("a report");
    assert_ne!(both, report);
}

#[test]
fn csv_columns_carry_their_units() {
    let lines = "run 7\noperation,start_us,elapsed_ms,lag_us,session,ok,colour\n\
        GET,1795247165882296,0.316,69,0,1,red\nGET,1795247165882849,0.229,80,1,0,blue\nSET,,1.5,,2,true,\n";
    let report = import::read(Format::Csv, lines, &[]).expect("a report");
    assert_eq!(report.errors, Some(1));
    let get = operation(&report, "GET");
    assert_eq!((get.count, get.max, get.resolution), (Some(1), Some(micros(316)), Some(micros(1))));
    let first = ForeignSample {
        completed_wall_ns: Some(1_795_247_165_882_612_000),
        elapsed: Some(micros(316)),
        schedule_lag: Some(micros(69)),
        session: Some(0),
        failed: false,
    };
    assert_eq!(get.samples[0], first);
    assert!(get.samples[1].failed);
    assert_eq!(operation(&report, "SET").samples[0].completed_wall_ns, None);

    let scheduled = import::read(Format::Csv, "response_us\n5\n7\n9\n", &[]).expect("a report");
    let all = scheduled.overall(StatedFrom::Schedule).expect("response times");
    assert_eq!((all.count, all.mean, stated(&all, 0.5)), (Some(3), Some(micros(7)), micros(7)));
}
