//! What a tool says of the load that it has made.

use super::contender::{PGBENCH_LOG, Task, Tool};
use super::effort::Kind;
use crate::bench::child::Cost;
use anyhow::{Context, anyhow};
use import::{Format, Reported, StatedFrom, ToolReport};
use serde_json::Value;
use std::path::{Path, PathBuf};
use units::{Nanos, Quantile};

/// Requests that took longer than this are slow.
pub(crate) const SLOW: Nanos = Nanos::from_millis(100);

/// What a tool said of one load.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Told {
    /// Requests per second, in its steady part.
    pub(crate) achieved: f64,
    /// One for each time that it measures, its default first.
    pub(crate) measures: Vec<Measure>,
}

/// One time that a tool measures, ms.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Measure {
    /// From when it counts, in a few words.
    pub(crate) from: &'static str,
    pub(crate) p50: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) max: Option<f64>,
    /// Requests above [`SLOW`].
    pub(crate) slow: Option<u64>,
}

/// From when figures count.
pub(crate) const FROM_SCHEDULE: &str = "schedule";
pub(crate) const FROM_SEND: &str = "sending";

impl Told {
    /// What this tool said, by its output and by what it wrote.
    pub(crate) fn of(task: &Task<'_>, cost: &Cost, export: Option<&str>) -> anyhow::Result<Told> {
        match task.tool {
            Tool::Truetail => Told::truetail(&cost.stdout, export),
            Tool::Pgbench => {
                let logs = files(task.place, |name| name.starts_with(PGBENCH_LOG))?;
                let format = if logs.is_empty() { Format::Pgbench } else { Format::PgbenchLog };
                Told::foreign(&import::read(format, &cost.stdout, &logs)?, None)
            }
            Tool::Sysbench => Told::foreign(&import::read(Format::Sysbench, &cost.stdout, &[])?, None),
            Tool::RedisBenchmark => {
                Told::foreign(&import::read(Format::RedisBenchmark, &cost.stdout, &[])?, None)
            }
            Tool::Ycsb => {
                let stated = import::read(Format::Ycsb, &cost.stdout, &[])?;
                let logs = files(task.place, |name| name.ends_with("READ.hdr"))?;
                let logged = match logs.is_empty() {
                    true => None,
                    false => Some(import::read(Format::Hdr(None), "", &logs)?),
                };
                let mut told = Told::foreign(&stated, logged.as_ref())?;
                if task.kind == Kind::Closed {
                    let skip = task.tool.warms_up_s();
                    told.achieved = steady_rate(&cost.stderr, skip).context("YCSB printed no status")?;
                }
                Ok(told)
            }
        }
    }

    /// truetail's document, and its table of requests where slow ones are to be counted.
    fn truetail(document: &str, export: Option<&str>) -> anyhow::Result<Told> {
        let document: Value = serde_json::from_str(document).context("truetail's JSON document")?;
        let achieved = document.pointer("/load/achieved_per_second").and_then(Value::as_f64);
        let response = &document["measures"]["response_time"];
        let is_open = !response.is_null();
        let times = if is_open { response } else { &document["measures"]["service_time"] };
        let ms = |value: Option<&Value>| value.and_then(Value::as_f64).map(|nanos| nanos / 1e6);
        let quantile = |name: &str| ms(times.pointer(&format!("/quantiles/{name}/point")));
        Ok(Told {
            achieved: achieved.context("truetail's document has no rate")?,
            measures: vec![Measure {
                from: if is_open { FROM_SCHEDULE } else { FROM_SEND },
                p50: quantile("p50"),
                p99: quantile("p99"),
                max: ms(times.get("max")),
                slow: export.map(slow_of_table).transpose()?,
            }],
        })
    }

    /// What another tool stated, and the histograms that it logged.
    fn foreign(report: &ToolReport, logged: Option<&ToolReport>) -> anyhow::Result<Told> {
        let mut measures = Vec::new();
        for from in [StatedFrom::Send, StatedFrom::Unsaid, StatedFrom::Schedule] {
            let Some(row) = report.overall(from) else { continue };
            let log = logged.and_then(|log| {
                let is_scheduled = |row: &Reported| row.counted_from == StatedFrom::Schedule;
                log.rows.iter().find(|logged| is_scheduled(logged) == is_scheduled(&row)).cloned()
            });
            measures.push(Measure::of(&row, log.as_ref().unwrap_or(&row)));
        }
        if measures.is_empty() {
            return Err(anyhow!("{} printed no times of requests", report.tool));
        }
        let achieved = report.achieved.with_context(|| format!("{} printed no rate", report.tool))?;
        Ok(Told { achieved: achieved.get(), measures })
    }
}

impl Measure {
    fn of(row: &Reported, counts: &Reported) -> Measure {
        let ms = |nanos: Nanos| nanos.0 as f64 / 1e6;
        let quantile = |q: f64| Quantile::new(q).and_then(|q| row.quantile(q)).map(|read| ms(read.at_most));
        Measure {
            from: if row.counted_from == StatedFrom::Schedule { FROM_SCHEDULE } else { FROM_SEND },
            p50: quantile(0.5),
            p99: quantile(0.99),
            max: row.max.map(ms).or_else(|| quantile(1.0)),
            slow: slow(counts),
        }
    }
}

/// How many requests are above [`SLOW`], where the tool's own words say so.
fn slow(row: &Reported) -> Option<u64> {
    if !row.samples.is_empty() {
        let is_slow = |sample: &&import::ForeignSample| sample.elapsed.is_some_and(|time| time > SLOW);
        return Some(row.samples.iter().filter(is_slow).count() as u64);
    }
    let all = row.cumulative.last()?.1;
    let below = row.cumulative.iter().rev().find(|(value, _)| *value <= SLOW).map_or(0, |(_, count)| *count);
    Some(all - below)
}

/// The same of truetail's table of requests. Names of phases may have commas in them, so that columns are counted from the end.
fn slow_of_table(table: &str) -> anyhow::Result<u64> {
    let mut lines = table.lines();
    let names = lines.next().unwrap_or_default();
    let column = names.rsplit(',').position(|name| name == "response_time_ns");
    let column = column.context("truetail's table has no column `response_time_ns`")?;
    let times = lines.filter_map(|line| line.rsplit(',').nth(column)?.parse::<u64>().ok());
    Ok(times.filter(|time| *time > SLOW.0).count() as u64)
}

/// The median of what YCSB said each second of its present rate, once it was warm.
fn steady_rate(status: &str, skip_s: f64) -> Option<f64> {
    let rate = |line: &str| {
        let (before, rest) = line.split_once(" sec: ")?;
        let seconds: f64 = before.rsplit(' ').next()?.parse().ok()?;
        let (_, rest) = rest.split_once(" operations; ")?;
        let rate: f64 = rest.split_once(" current ops/sec")?.0.parse().ok()?;
        (seconds > skip_s).then_some(rate)
    };
    let mut rates: Vec<f64> = status.lines().filter_map(rate).collect();
    // The last line is of a part of a second.
    rates.pop();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied()
}

fn files(place: &Path, is_wanted: impl Fn(&str) -> bool) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(place).with_context(|| format!("{}", place.display()))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| is_wanted(&name.to_string_lossy())))
        .collect();
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(format: Format, text: &str) -> Told {
        Told::foreign(&import::read(format, text, &[]).unwrap(), None).unwrap()
    }

    #[test]
    fn truetails_document_is_read() {
        let document = r#"{"load": {"achieved_per_second": 998.5}, "measures": {
            "response_time": {"max": 1000000000, "quantiles": {"p50": {"point": 250000}, "p99": {"point": 940000000}}},
            "service_time": {"max": 7, "quantiles": {}}}}"#;
        let table = "seq,phase,response_time_ns,service_time_ns\n0,a,100000000,5\n1,\"a, b\",100000001,5\n\
            2,a,,500000000\n3,a,940000000,5\n";
        let told = Told::truetail(document, Some(table)).unwrap();
        let measure = Measure {
            from: FROM_SCHEDULE,
            p50: Some(0.25),
            p99: Some(940.0),
            max: Some(1000.0),
            slow: Some(2),
        };
        assert_eq!(told, Told { achieved: 998.5, measures: vec![measure] });
        let closed = r#"{"load": {"achieved_per_second": 5}, "measures": {"response_time": null,
            "service_time": {"max": 7000000, "quantiles": {"p50": {"point": 1000000}, "p99": null}}}}"#;
        let told = Told::truetail(closed, None).unwrap();
        let measure = Measure { from: FROM_SEND, p50: Some(1.0), p99: None, max: Some(7.0), slow: None };
        assert_eq!(told.measures, [measure]);
        assert!(Told::truetail("{}", None).is_err() && slow_of_table("seq\n1\n").is_err());
    }

    #[test]
    fn sysbenchs_histogram_is_counted() {
        let text = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nTarget transaction rate: 1000/sec\n\n\
            Latency histogram (values are in milliseconds)\n       value  ------------- distribution ------------- count\n\
            \u{20}      0.100 |**************************************** 5000\n      99.326 |**                                       40\n     \
            \u{20}101.130 |**                                       60\n     995.507 |*                                        3\n \n\
            SQL statistics:\n    transactions:                        5103   (850.38 per sec.)\n    queries:     \
            \u{20}                       5103   (850.38 per sec.)\n    ignored errors:                      0      (0.00 per \
            sec.)\n\nGeneral statistics:\n    total time:                          6.0009s\n    total number of events:     \
            \u{20}        5103\n\nLatency (ms):\n         min:                                    0.08\n         avg:        \
            \u{20}                          2.00\n         max:                                 1000.12\n         99th \
            percentile:                      101.13\n         sum:                                10206.00\n";
        let told = of(Format::Sysbench, text);
        assert_eq!(told.achieved, 850.38);
        let [measure] = &told.measures[..] else { panic!("{told:?}") };
        assert_eq!((measure.from, measure.max, measure.slow), (FROM_SCHEDULE, Some(1000.12), Some(63)));
        // A bucket's upper end stands for it.
        assert!(measure.p50.is_some_and(|ms| (0.1..0.102).contains(&ms)), "{measure:?}");
    }

    #[test]
    fn pgbenchs_log_is_counted_from_the_schedule() {
        let place = std::env::temp_dir().join(format!("truetail-told-{}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        let log = place.join("pgbench_log.17");
        std::fs::write(&log, "0 1 250 0 1763721234 512345 61\n1 1 900250 0 1763721235 512345 900000\n")
            .unwrap();
        std::fs::write(place.join("other"), "").unwrap();
        let printed = "pgbench (15.18)\ntransaction type: x.sql\nnumber of transactions actually processed: 2\n\
            number of failed transactions: 0 (0.000%)\nlatency average = 450.250 ms\nrate limit schedule lag: avg 450.030 \
            (max 900.000) ms\ntps = 1000.5 (without initial connection time)\n";
        let logs = files(&place, |name| name.starts_with(PGBENCH_LOG)).unwrap();
        assert_eq!(logs, [log]);
        let told = Told::foreign(&import::read(Format::PgbenchLog, printed, &logs).unwrap(), None).unwrap();
        std::fs::remove_dir_all(&place).unwrap();
        assert_eq!(told.achieved, 1000.5);
        let measure = Measure {
            from: FROM_SCHEDULE,
            p50: Some(0.25),
            p99: Some(900.25),
            max: Some(900.25),
            slow: Some(1),
        };
        assert_eq!(told.measures, [measure]);
    }

    #[test]
    fn redis_benchmark_counts_from_sending() {
        let text = "====== HGETALL user__rand_int__ ======                                                   \n  1000 \
            requests completed in 0.02 seconds\n  50 parallel clients\n  3 bytes payload\n  keep alive: 1\n\nLatency by \
            percentile distribution:\n0.000% <= 0.175 milliseconds (cumulative count 1)\n\nCumulative distribution of \
            latencies:\n0.000% <= 0.103 milliseconds (cumulative count 0)\n95.000% <= 0.503 milliseconds (cumulative \
            count 950)\n100.000% <= 1000.447 milliseconds (cumulative count 1000)\n\nSummary:\n  throughput summary: 58823.53 \
            requests per second\n  latency summary (msec):\n          avg       min       p50       p95       p99       max\n   \
            \u{20}    0.412     0.168     0.407     0.591     0.679     1000.447\n";
        let told = of(Format::RedisBenchmark, text);
        let measure = Measure {
            from: FROM_SEND,
            p50: Some(0.407),
            p99: Some(0.679),
            max: Some(1000.447),
            slow: Some(50),
        };
        assert_eq!(told, Told { achieved: 58823.53, measures: vec![measure] });
    }

    #[test]
    fn ycsb_tells_both_times() {
        let text = "[OVERALL], RunTime(ms), 6000\n[OVERALL], Throughput(ops/sec), 999.9\n\
            [READ], Operations, 6000\n[READ], AverageLatency(us), 300\n[READ], MinLatency(us), 90\n\
            [READ], MaxLatency(us), 1000447\n[READ], 50thPercentileLatency(us), 250\n[READ], 95thPercentileLatency(us), 400\n\
            [READ], 99thPercentileLatency(us), 500\n[READ], Return=OK, 6000\n\
            [Intended-READ], Operations, 6000\n[Intended-READ], AverageLatency(us), 90000\n[Intended-READ], \
            MinLatency(us), 90\n[Intended-READ], MaxLatency(us), 1001471\n[Intended-READ], 50thPercentileLatency(us), 260\n\
            [Intended-READ], 95thPercentileLatency(us), 700000\n[Intended-READ], 99thPercentileLatency(us), 940031\n";
        let told = of(Format::Ycsb, text);
        let by = |from| told.measures.iter().find(|measure| measure.from == from).unwrap();
        assert_eq!((by(FROM_SEND).p99, by(FROM_SCHEDULE).p99), (Some(0.5), Some(940.031)));
        assert_eq!((told.measures.len(), by(FROM_SEND).slow), (2, None), "a percentile counts nothing");
    }

    #[test]
    fn the_steady_rate_is_that_of_a_warm_jvm() {
        let line = |second: u32, rate: u32| {
            format!(
                "2026-11-23 04:00:00:{second:03} {second} sec: 1000 operations; {rate} current ops/sec; est completion in 1 \
                 second [READ: Count=1, Max=1]\n"
            )
        };
        let status: String = [(0, 0), (1, 10), (2, 20), (3, 30), (4, 40), (5, 50), (6, 60), (7, 5)]
            .into_iter()
            .map(|(second, rate)| line(second, rate))
            .collect();
        assert_eq!(steady_rate(&status, 3.0), Some(50.0));
        assert_eq!(steady_rate("nothing", 3.0), None);
    }
}
