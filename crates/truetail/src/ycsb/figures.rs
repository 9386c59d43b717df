//! From series to figures, section by section, as YCSB's measurements export them.

use super::exporter::{Figure, Value};
use super::measured::{Measured, Point, Series};
use super::numbers::{in_map_order, ordinal};
use super::told::{Interval, Kind, Told};
use std::collections::BTreeMap;

/// All figures of a run, in their order. `is_open`: a rate was asked for.
pub(super) fn of(measured: &Measured, told: &Told, is_open: bool) -> Vec<Figure> {
    let mut figures = overall(measured);
    if told.interval != Interval::Intended {
        sections(&measured.of_op, "", told, &mut figures);
    }
    match told.interval {
        Interval::Intended => sections(&measured.of_intended, "", told, &mut figures),
        Interval::Op if !is_open => {}
        Interval::Op | Interval::Both => sections(&measured.of_intended, "Intended-", told, &mut figures),
    }
    figures
}

/// There is no collector, and so nothing was collected: the lines are there for those who look for them.
fn overall(measured: &Measured) -> Vec<Figure> {
    let throughput = 1000.0 * measured.operations as f64 / measured.runtime_ms as f64;
    vec![
        Figure::new("OVERALL", "RunTime(ms)", measured.runtime_ms),
        Figure::new("OVERALL", "Throughput(ops/sec)", throughput),
        Figure::new("TOTAL_GCs", "Count", 0),
        Figure::new("TOTAL_GC_TIME", "Time(ms)", 0),
        Figure::new("TOTAL_GC_TIME_%", "Time(%)", 0.0),
    ]
}

fn sections(all: &BTreeMap<String, Series>, prefix: &str, told: &Told, figures: &mut Vec<Figure>) {
    for name in in_map_order(all.keys().cloned().collect()) {
        let series = &all[&name];
        let section = Section { name: format!("{prefix}{name}"), series, times: series.sorted(), told };
        match told.kind {
            Kind::Hdr => section.hdr(figures),
            Kind::Histogram => section.histogram(figures),
            Kind::HdrAndHistogram => {
                section.hdr(figures);
                section.histogram(figures);
            }
            Kind::HdrAndRaw => {
                section.hdr(figures);
                section.raw(figures);
            }
            Kind::TimeSeries => section.time_series(figures),
            Kind::Raw => section.raw(figures),
        }
    }
}

struct Section<'a> {
    name: String,
    series: &'a Series,
    /// In their order.
    times: Vec<u64>,
    told: &'a Told,
}

/// Hundreds of thousands of years in one request are not in sight.
fn sum(times: &[u64]) -> f64 {
    times.iter().map(|time| u128::from(*time)).sum::<u128>() as f64
}

impl Section<'_> {
    fn say(&self, figures: &mut Vec<Figure>, name: impl Into<String>, value: impl Into<Value>) {
        figures.push(Figure::new(&self.name, name, value));
    }

    fn count(&self) -> u64 {
        self.times.len() as u64
    }

    fn mean(&self) -> f64 {
        if self.times.is_empty() { 0.0 } else { sum(&self.times) / self.count() as f64 }
    }

    fn least_and_most(&self, figures: &mut Vec<Figure>) {
        self.say(figures, "MinLatency(us)", self.times.first().copied().unwrap_or(0));
        self.say(figures, "MaxLatency(us)", self.times.last().copied().unwrap_or(0));
    }

    fn statuses(&self, figures: &mut Vec<Figure>) {
        for (status, count) in &self.series.statuses {
            self.say(figures, format!("Return={status}"), *count);
        }
    }

    /// The time that so many per cent of the requests did not exceed: that of a request, whatever its size.
    fn percentile(&self, percentile: f64) -> u64 {
        // 99.9 per cent of 1000 are 999, whatever the last bit of a float says.
        let rank = (percentile.next_down() / 100.0 * self.count() as f64).ceil() as usize;
        let at = rank.clamp(1, self.times.len().max(1)) - 1;
        self.times.get(at).copied().unwrap_or(0)
    }

    fn hdr(&self, figures: &mut Vec<Figure>) {
        self.say(figures, "Operations", self.count());
        self.say(figures, "AverageLatency(us)", self.mean());
        self.least_and_most(figures);
        for percentile in &self.told.percentiles {
            let name = format!("{}PercentileLatency(us)", ordinal(*percentile));
            self.say(figures, name, self.percentile(*percentile));
        }
        self.statuses(figures);
        if self.told.is_verbose {
            for run in self.times.chunk_by(|a, b| a == b) {
                self.say(figures, run[0].to_string(), run.len() as f64);
            }
        }
    }

    fn histogram(&self, figures: &mut Vec<Figure>) {
        let mean = self.mean();
        let squares: f64 = self.times.iter().map(|time| (*time as f64) * (*time as f64)).sum();
        self.say(figures, "Operations", self.count());
        self.say(figures, "AverageLatency(us)", mean);
        self.say(figures, "LatencyVariance(us)", squares / self.count() as f64 - mean * mean);
        self.least_and_most(figures);
        // Whole milliseconds, and none is left out for being above the last bucket.
        for percentile in [95.0, 99.0] {
            let name = format!("{}PercentileLatency(us)", ordinal(percentile));
            self.say(figures, name, self.percentile(percentile) / 1_000 * 1_000);
        }
        self.statuses(figures);
        if self.told.is_verbose {
            let buckets = self.told.buckets;
            let mut counts = vec![0_u64; buckets as usize];
            let mut above = 0;
            for time in &self.times {
                match counts.get_mut((time / 1_000) as usize) {
                    Some(count) => *count += 1,
                    None => above += 1,
                }
            }
            for (bucket, count) in counts.into_iter().enumerate() {
                self.say(figures, bucket.to_string(), count);
            }
            self.say(figures, format!(">{buckets}"), above);
        }
    }

    fn time_series(&self, figures: &mut Vec<Figure>) {
        self.say(figures, "Operations", self.count());
        self.say(figures, "AverageLatency(us)", self.mean());
        self.least_and_most(figures);
        self.statuses(figures);
        let width = (self.told.granularity.0 / 1_000_000).max(1);
        let Some(begin) = self.series.points.iter().map(|point| point.at_ms).min() else { return };
        let mut units: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for Point { at_ms, us } in &self.series.points {
            let unit = units.entry((at_ms - begin) / width * width).or_default();
            *unit = (unit.0 + us, unit.1 + 1);
        }
        for (unit, (total, count)) in units {
            self.say(figures, unit.to_string(), total as f64 / count as f64);
        }
    }

    fn raw(&self, figures: &mut Vec<Figure>) {
        if !self.told.has_summary {
            return self.statuses(figures);
        }
        self.say(figures, "Total Operations", self.count());
        if let (Some(least), Some(most)) = (self.times.first(), self.times.last()) {
            self.say(figures, "Below is a summary of latency in microseconds:", Value::Number(-1));
            self.say(figures, "Average", self.mean());
            self.say(figures, "Min", *least);
            self.say(figures, "Max", *most);
            for percentile in ["1", "5", "50", "90", "95", "99", "99.9", "99.99"] {
                let share = percentile.parse::<f64>().unwrap_or(0.0) / 100.0;
                let at = (self.times.len() as f64 * share) as usize;
                self.say(figures, format!("p{percentile}"), self.times[at.min(self.times.len() - 1)]);
            }
        }
        self.statuses(figures);
    }
}

/// What `dataintegrity` found: how many reads were verified, and what came of it. It takes no time that is measured.
pub(super) fn verified(recording: &record::Recording) -> Vec<Figure> {
    let count = |name: &str| -> Option<u64> {
        let facts = &recording.end()?.facts;
        facts.iter().find(|(found, _)| found.strip_prefix("count: ") == Some(name))?.1.parse().ok()
    };
    let (Some(right), Some(wrong)) =
        (count("reads verified"), count("reads of something else than was written"))
    else {
        return Vec::new();
    };
    let mut figures = vec![Figure::new("VERIFY", "Operations", right + wrong)];
    for (status, count) in [("OK", right), ("UNEXPECTED_STATE", wrong)] {
        if count > 0 {
            figures.push(Figure::new("VERIFY", format!("Return={status}"), count));
        }
    }
    figures
}

/// The rows of `measurementtype=raw`: of each section a line that names the columns, and its requests.
pub(super) fn raw_rows(measured: &Measured, told: &Told, is_open: bool) -> String {
    let mut text = String::new();
    let mut rows = |all: &BTreeMap<String, Series>, prefix: &str| {
        for name in in_map_order(all.keys().cloned().collect()) {
            text += &format!("{prefix}{name} latency raw data: op, timestamp(ms), latency(us)\n");
            for Point { at_ms, us } in &all[&name].points {
                text += &format!("{prefix}{name},{at_ms},{us}\n");
            }
        }
    };
    if told.interval != Interval::Intended {
        rows(&measured.of_op, "");
    }
    match told.interval {
        Interval::Intended => rows(&measured.of_intended, ""),
        Interval::Op if !is_open => {}
        Interval::Op | Interval::Both => rows(&measured.of_intended, "Intended-"),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ycsb::exporter::Exporter;
    use crate::ycsb::words::Properties;

    fn told(list: &[(&str, &str)]) -> Told {
        let owned = list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Told::of(&Properties(owned.collect())).unwrap()
    }

    fn series(times: &[u64], statuses: &[(&'static str, u64)]) -> Series {
        let points = times.iter().enumerate();
        Series {
            points: points.map(|(at, us)| Point { at_ms: 1_000_000 + 400 * at as u64, us: *us }).collect(),
            statuses: statuses.to_vec(),
        }
    }

    fn measured() -> Measured {
        let all = [
            ("READ", series(&[100, 300, 200, 4_000_000], &[("OK", 4), ("NOT_FOUND", 1)])),
            ("READ-FAILED", series(&[50], &[])),
            ("UPDATE", series(&[1_500, 2_500], &[("OK", 2)])),
        ];
        let of_op: BTreeMap<String, Series> = all.map(|(name, series)| (name.to_owned(), series)).into();
        let mut of_intended = of_op.clone();
        of_intended.values_mut().for_each(|series| series.statuses.clear());
        Measured { of_op, of_intended, operations: 7, runtime_ms: 2_000, ..Measured::default() }
    }

    fn text(list: &[(&str, &str)], is_open: bool) -> String {
        Exporter::Text.write(&of(&measured(), &told(list), is_open))
    }

    #[test]
    fn the_default_text() {
        insta::assert_snapshot!(text(&[], false), @r"
        [OVERALL], RunTime(ms), 2000
        [OVERALL], Throughput(ops/sec), 3.5
        [TOTAL_GCs], Count, 0
        [TOTAL_GC_TIME], Time(ms), 0
        [TOTAL_GC_TIME_%], Time(%), 0.0
        [READ], Operations, 4
        [READ], AverageLatency(us), 1000150.0
        [READ], MinLatency(us), 100
        [READ], MaxLatency(us), 4000000
        [READ], 50thPercentileLatency(us), 200
        [READ], 95thPercentileLatency(us), 4000000
        [READ], 99thPercentileLatency(us), 4000000
        [READ], Return=OK, 4
        [READ], Return=NOT_FOUND, 1
        [READ-FAILED], Operations, 1
        [READ-FAILED], AverageLatency(us), 50.0
        [READ-FAILED], MinLatency(us), 50
        [READ-FAILED], MaxLatency(us), 50
        [READ-FAILED], 50thPercentileLatency(us), 50
        [READ-FAILED], 95thPercentileLatency(us), 50
        [READ-FAILED], 99thPercentileLatency(us), 50
        [UPDATE], Operations, 2
        [UPDATE], AverageLatency(us), 2000.0
        [UPDATE], MinLatency(us), 1500
        [UPDATE], MaxLatency(us), 2500
        [UPDATE], 50thPercentileLatency(us), 1500
        [UPDATE], 95thPercentileLatency(us), 2500
        [UPDATE], 99thPercentileLatency(us), 2500
        [UPDATE], Return=OK, 2
        ");
    }

    #[test]
    fn with_a_rate_what_was_intended_is_beside_it() {
        let both = text(&[], true);
        assert!(both.starts_with(&text(&[], false)), "{both}");
        let sections: Vec<&str> = both.lines().filter(|line| line.contains("Operations")).collect();
        insta::assert_snapshot!(sections.join("\n"), @r"
        [READ], Operations, 4
        [READ-FAILED], Operations, 1
        [UPDATE], Operations, 2
        [Intended-READ], Operations, 4
        [Intended-READ-FAILED], Operations, 1
        [Intended-UPDATE], Operations, 2
        ");
        assert_eq!(both, text(&[("measurement.interval", "both")], false));
        assert!(!text(&[("measurement.interval", "intended")], true).contains("Intended-"));
    }

    #[test]
    fn the_other_kinds() {
        let without_overall = |list: &[(&str, &str)]| {
            let text = text(list, false);
            text.lines().filter(|line| line.starts_with("[READ]")).collect::<Vec<_>>().join("\n")
        };
        let histogram = [
            ("measurementtype", "histogram"),
            ("histogram.buckets", "2"),
            ("measurement.histogram.verbose", "true"),
        ];
        insta::assert_snapshot!(without_overall(&histogram), @r"
        [READ], Operations, 4
        [READ], AverageLatency(us), 1000150.0
        [READ], LatencyVariance(us), 2.9997000125E12
        [READ], MinLatency(us), 100
        [READ], MaxLatency(us), 4000000
        [READ], 95thPercentileLatency(us), 4000000
        [READ], 99thPercentileLatency(us), 4000000
        [READ], Return=OK, 4
        [READ], Return=NOT_FOUND, 1
        [READ], 0, 3
        [READ], 1, 0
        [READ], >2, 1
        ");
        let series = [("measurementtype", "timeseries"), ("timeseries.granularity", "500")];
        insta::assert_snapshot!(without_overall(&series), @r"
        [READ], Operations, 4
        [READ], AverageLatency(us), 1000150.0
        [READ], MinLatency(us), 100
        [READ], MaxLatency(us), 4000000
        [READ], Return=OK, 4
        [READ], Return=NOT_FOUND, 1
        [READ], 0, 200.0
        [READ], 500, 200.0
        [READ], 1000, 4000000.0
        ");
        insta::assert_snapshot!(without_overall(&[("measurementtype", "raw")]), @r"
        [READ], Total Operations, 4
        [READ], Below is a summary of latency in microseconds:, -1
        [READ], Average, 1000150.0
        [READ], Min, 100
        [READ], Max, 4000000
        [READ], p1, 100
        [READ], p5, 100
        [READ], p50, 300
        [READ], p90, 4000000
        [READ], p95, 4000000
        [READ], p99, 4000000
        [READ], p99.9, 4000000
        [READ], p99.99, 4000000
        [READ], Return=OK, 4
        [READ], Return=NOT_FOUND, 1
        ");
        let percentiles =
            [("hdrhistogram.percentiles", "50,99.9,100"), ("measurement.histogram.verbose", "true")];
        insta::assert_snapshot!(without_overall(&percentiles), @r"
        [READ], Operations, 4
        [READ], AverageLatency(us), 1000150.0
        [READ], MinLatency(us), 100
        [READ], MaxLatency(us), 4000000
        [READ], 50thPercentileLatency(us), 200
        [READ], 99.9PercentileLatency(us), 4000000
        [READ], 100thPercentileLatency(us), 4000000
        [READ], Return=OK, 4
        [READ], Return=NOT_FOUND, 1
        [READ], 100, 1.0
        [READ], 200, 1.0
        [READ], 300, 1.0
        [READ], 4000000, 1.0
        ");
        insta::assert_snapshot!(raw_rows(&measured(), &told(&[("measurementtype", "raw")]), false), @r"
        READ latency raw data: op, timestamp(ms), latency(us)
        READ,1000000,100
        READ,1000400,300
        READ,1000800,200
        READ,1001200,4000000
        READ-FAILED latency raw data: op, timestamp(ms), latency(us)
        READ-FAILED,1000000,50
        UPDATE latency raw data: op, timestamp(ms), latency(us)
        UPDATE,1000000,1500
        UPDATE,1000400,2500
        ");
    }

    /// A percentile is the time of a request, however long that took: no histogram's limit is in its way.
    #[test]
    fn nothing_is_cut_off_above() {
        let times: Vec<u64> = (0..1000).map(|n| n * 10_000_000_000).collect();
        let series = series(&times, &[("OK", 1000)]);
        let told = told(&[
            ("hdrhistogram.percentiles", "50,99,99.9,100"),
            ("measurementtype", "hdrhistogram+histogram"),
        ]);
        let section =
            Section { name: "READ".to_owned(), series: &series, times: series.sorted(), told: &told };
        let shown = |percentile| section.percentile(percentile);
        assert_eq!([50.0, 99.0, 99.9, 100.0].map(shown), [499, 989, 998, 999].map(|n| n * 10_000_000_000));
    }
}
