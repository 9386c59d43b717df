//! `raw.csv`, `samples.csv` and `results.csv`.

use super::{Distribution, Results, Row};
use std::io::{self, Write};

/// What a time is written in.
#[derive(Clone, Copy)]
enum Unit {
    /// Whole microseconds.
    Micros,
    /// Milliseconds with three decimals.
    Millis,
}

/// Where a time is not known: programs that read numbers read this.
const NONE: &str = "NaN";

impl Unit {
    fn show(self, nanos: u64) -> String {
        match self {
            Unit::Micros => micros(nanos).to_string(),
            Unit::Millis => format!("{:.3}", nanos as f64 / 1e6),
        }
    }
}

/// Rounded as BenchBase does.
pub(super) fn micros(nanos: u64) -> u64 {
    nanos.saturating_add(500) / 1000
}

/// Seconds with six decimals.
fn seconds(nanos: u64) -> String {
    let micros = micros(nanos);
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// A stretch of time with what began in it.
struct Slice<'a> {
    /// Seconds since the measured time began.
    at_seconds: u64,
    /// How long it is.
    length_ns: u64,
    rows: Vec<&'a Row>,
}

impl Slice<'_> {
    fn service(&self) -> Option<Distribution> {
        Distribution::of(&mut self.rows.iter().map(|row| row.service_ns).collect::<Vec<_>>())
    }

    fn response(&self) -> Option<Distribution> {
        Distribution::of(&mut self.rows.iter().filter_map(|row| row.response_ns()).collect::<Vec<_>>())
    }

    fn rate(&self) -> f64 {
        super::per_second(self.rows.len() as u64, self.length_ns)
    }
}

impl Results {
    /// One line for each request.
    ///
    /// The column `Start Time (microseconds)` holds seconds since 1970 with six decimals, whatever its name says: so it is in
    /// BenchBase's files, and so their readers take it.
    ///
    /// # Errors
    /// Of the writer.
    pub fn write_raw(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "Transaction Type Index,Transaction Name,Start Time (microseconds),Latency (microseconds),\
             Worker Id (start number),Phase Id (index in config file),truetail Intended Start (seconds),\
             truetail Response Time (microseconds),truetail Outcome"
        )?;
        for row in &self.rows {
            let transaction = &self.transactions[usize::from(row.transaction)];
            let text = |time: Option<String>| time.unwrap_or_default();
            writeln!(
                out,
                "{},{},{},{},{},{},{},{},{}",
                transaction.id,
                transaction.name,
                seconds(row.sent_ns),
                micros(row.service_ns),
                row.session,
                u16::from(row.work) + 1,
                text(row.intended_ns.map(seconds)),
                text(row.response_ns().map(|time| micros(time).to_string())),
                row.outcome.name(),
            )?;
        }
        Ok(())
    }

    /// One line for each second.
    ///
    /// # Errors
    /// Of the writer.
    pub fn write_samples(&self, out: &mut impl Write) -> io::Result<()> {
        let unit = Unit::Micros;
        writeln!(
            out,
            "Time (seconds),Requests,Throughput (requests/second),Minimum Latency (microseconds),\
             25th Percentile Latency (microseconds),Median Latency (microseconds),Average Latency (microseconds),\
             75th Percentile Latency (microseconds),90th Percentile Latency (microseconds),\
             95th Percentile Latency (microseconds),99th Percentile Latency (microseconds),\
             Maximum Latency (microseconds),{}",
            response_columns("microseconds")
        )?;
        for slice in self.slices(1, None) {
            let service = slice.service();
            let [q25, q50, q75, q90, q95, q99] = quantiles(service.as_ref(), unit);
            writeln!(
                out,
                "{},{},{:.3},{},{q25},{q50},{},{q75},{q90},{q95},{q99},{},{}",
                slice.at_seconds,
                slice.rows.len(),
                slice.rate(),
                shown(service.map(|d| d.least), unit),
                shown(service.map(|d| d.mean.round() as u64), unit),
                shown(service.map(|d| d.greatest), unit),
                response_fields(&slice, unit),
            )?;
        }
        Ok(())
    }

    /// One line for each window of so many seconds, of all transactions or of one.
    ///
    /// The last column of BenchBase's is 1000 / average in ms here: requests a second of one terminal that is always busy. BenchBase
    /// divides 1000 by the average in µs.
    ///
    /// # Errors
    /// Of the writer.
    pub fn write_results(
        &self,
        window_seconds: u64,
        transaction: Option<u8>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let unit = Unit::Millis;
        writeln!(
            out,
            "Time (seconds),Throughput (requests/second),Average Latency (millisecond),\
             Minimum Latency (millisecond),25th Percentile Latency (millisecond),Median Latency (millisecond),\
             75th Percentile Latency (millisecond),90th Percentile Latency (millisecond),\
             95th Percentile Latency (millisecond),99th Percentile Latency (millisecond),\
             Maximum Latency (millisecond),tp (req/s) scaled,{}",
            response_columns("millisecond")
        )?;
        for slice in self.slices(window_seconds, transaction) {
            let service = slice.service();
            let scaled = service.filter(|d| d.mean > 0.0).map(|d| format!("{:.3}", 1e9 / d.mean));
            writeln!(
                out,
                "{},{:.3},{},{},{},{},{},{}",
                slice.at_seconds,
                slice.rate(),
                shown(service.map(|d| d.mean.round() as u64), unit),
                shown(service.map(|d| d.least), unit),
                quantiles(service.as_ref(), unit).join(","),
                shown(service.map(|d| d.greatest), unit),
                scaled.unwrap_or_else(|| NONE.to_owned()),
                response_fields(&slice, unit),
            )?;
        }
        Ok(())
    }

    /// The measured time in windows, by when requests were sent; those that were sent when it was over get windows of their own.
    fn slices(&self, window_seconds: u64, transaction: Option<u8>) -> Vec<Slice<'_>> {
        let window_ns = window_seconds.max(1).saturating_mul(1_000_000_000);
        let begin = self.begin_ns();
        let slice_of = |at_ns: u64| at_ns.saturating_sub(begin) / window_ns;
        let last_sent = self.rows.last().map_or(begin, |row| row.sent_ns);
        // A window that would begin where the time ends is none.
        let last = slice_of(self.end_ns().saturating_sub(1).max(last_sent));
        let mut slices: Vec<Slice<'_>> = (0..=last)
            .map(|index| Slice {
                at_seconds: index * window_seconds.max(1),
                length_ns: window_ns,
                rows: Vec::new(),
            })
            .collect();
        for row in self.rows.iter().filter(|row| transaction.is_none_or(|wanted| row.transaction == wanted)) {
            if let Some(slice) = usize::try_from(slice_of(row.sent_ns)).ok().and_then(|at| slices.get_mut(at))
            {
                slice.rows.push(row);
            }
        }
        let cut = self.end_ns().saturating_sub(begin.saturating_add(last * window_ns));
        if let Some(slice) =
            slices.last_mut().filter(|_| (1..window_ns).contains(&cut) && last_sent <= self.end_ns())
        {
            slice.length_ns = cut;
        }
        slices
    }
}

fn shown(time: Option<u64>, unit: Unit) -> String {
    time.map_or_else(|| NONE.to_owned(), |time| unit.show(time))
}

fn quantiles(of: Option<&Distribution>, unit: Unit) -> [String; 6] {
    match of {
        Some(distribution) => distribution.quantiles.map(|time| unit.show(time)),
        None => [NONE; 6].map(str::to_owned),
    }
}

fn response_columns(unit: &str) -> String {
    ["Average", "Median", "90th Percentile", "95th Percentile", "99th Percentile", "Maximum"]
        .map(|name| format!("truetail {name} Response Time ({unit})"))
        .join(",")
}

fn response_fields(slice: &Slice<'_>, unit: Unit) -> String {
    let response = slice.response();
    let [_, q50, _, q90, q95, q99] = quantiles(response.as_ref(), unit);
    let mean = shown(response.map(|d| d.mean.round() as u64), unit);
    [mean, q50, q90, q95, q99, shown(response.map(|d| d.greatest), unit)].join(",")
}
