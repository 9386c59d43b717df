//! HdrHistogram's logs and percentile files.
//!
//! A log holds one compressed histogram for each interval and tag; the intervals of a tag are added up. A percentile file
//! (`.hgrm`, and what wrk2 prints) is a table of value, quantile and cumulative count. Neither states its unit.
//!
//! The lines are read here, and the payload is unpacked and measured before the library sees it: the library believes the
//! length that the payload states and would reserve 4 GiB for a damaged one.

mod intervals;

pub(crate) use intervals::intervals;

use crate::ImportError;
use crate::figures::{cumulated, number, scaled};
use crate::format::{Output, TimeUnit, quoted};
use crate::report::{Reported, StatedFrom, ToolReport};
use crate::ycsb::names::Name;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use std::io::Read;
use units::{Nanos, Quantile};

/// First bytes of a compressed histogram, format V2.
const COMPRESSED: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];
/// Before the counts of a plain histogram: cookie, length, offset, digits, bounds, ratio.
const HEADER: usize = 40;
/// How the line begins that names the columns of a log.
const LEGEND: &str = "\"StartTimestamp\"";
/// The most that a histogram unpacks to; five digits over the range of 64 bits stay far below.
const UNPACKED_MAX: u64 = 64 << 20;

/// Reads logs and percentile files; which of them an output is shows in its lines.
pub(crate) fn read(outputs: &[Output], unit: Option<TimeUnit>) -> Result<ToolReport, ImportError> {
    let mut rows = Vec::new();
    for output in outputs {
        rows.extend(Log::read(output, unit)?);
        rows.extend(percentiles(output, unit)?);
    }
    if rows.is_empty() {
        let is_log = |output: &Output| output.lines().any(|(_, line)| line.starts_with(LEGEND));
        if outputs.iter().any(is_log) {
            let hint = "the log is empty: it has its header and not one interval; did the tool end before the first?";
            return Err(ImportError::Nothing { format: "hdr", hint: hint.to_owned() });
        }
        let hint = "neither a line `…,HISTFAAA…` of a log nor a table headed `Value Percentile TotalCount`";
        return Err(ImportError::Nothing { format: "hdr", hint: hint.to_owned() });
    }
    Ok(ToolReport { tool: "HdrHistogram".to_owned(), rows, ..ToolReport::default() })
}

/// A log while it is read.
#[derive(Default)]
struct Log {
    /// YCSB's name for what it logged: `#[Logging for: Intended-READ]`.
    ycsb: Option<String>,
    /// What truetail exported, and from when it counts.
    exported: Option<(String, StatedFrom)>,
    /// By tag, in the order of the file.
    histograms: Vec<(String, Histogram<u64>)>,
}

impl Log {
    fn read(output: &Output, unit: Option<TimeUnit>) -> Result<Vec<Reported>, ImportError> {
        let mut log = Log::default();
        for (line, text) in output.lines() {
            if log.header(text) {
                continue;
            }
            if let Some((tag, encoded)) = interval(text) {
                log.take(tag, encoded).map_err(|why| output.wrong_line(line, why))?;
            }
        }
        let unit = unit.unwrap_or(log.unit());
        let rows = log.histograms.iter().map(|(tag, histogram)| log.row(tag, histogram, unit));
        rows.collect::<Option<_>>()
            .ok_or_else(|| output.wrong("it holds values of more than 584 years; is the unit right?"))
    }

    /// Whether it is a line by which a tool says what it logged.
    fn header(&mut self, line: &str) -> bool {
        if let Some(name) = line.strip_prefix("#[Logging for: ") {
            self.ycsb = Some(name.trim_end_matches(']').to_owned());
        } else if let Some((measure, from)) = exported(line) {
            self.exported = Some((measure.to_owned(), from));
        } else {
            return false;
        }
        true
    }

    /// What the values are in where nobody says it.
    fn unit(&self) -> TimeUnit {
        if self.ycsb.is_some() { TimeUnit::Micros } else { TimeUnit::Nanos }
    }

    fn take(&mut self, tag: &str, encoded: &str) -> Result<(), String> {
        let histogram = decode(encoded)?;
        match self.histograms.iter_mut().find(|(known, _)| known == tag) {
            // Intervals of one log have the same bounds; where they have not, the first must be able to grow.
            Some((_, sum)) => {
                sum.auto(true);
                sum.add(&histogram).map_err(|error| format!("its intervals can't be added up: {error}"))
            }
            None => {
                self.histograms.push((tag.to_owned(), histogram));
                Ok(())
            }
        }
    }

    /// `None` if a value is out of range.
    fn row(&self, tag: &str, histogram: &Histogram<u64>, unit: TimeUnit) -> Option<Reported> {
        if let Some((measure, counted_from)) = &self.exported {
            return Some(Reported {
                operation: tag.to_owned(),
                measure: measure.clone(),
                counted_from: *counted_from,
                ..described(histogram, unit.one())?
            });
        }
        let measure = self.ycsb.clone().unwrap_or_else(|| tag.to_owned());
        let intended = measure.strip_prefix("Intended-");
        let name = Name::of(&measure);
        let is_apart = self.ycsb.is_some() && (!name.is_of_load() || name.status.is_some());
        Some(Reported {
            is_apart,
            operation: intended.unwrap_or(&measure).to_owned(),
            counted_from: if intended.is_some() { StatedFrom::Schedule } else { StatedFrom::Unsaid },
            measure,
            ..described(histogram, unit.one())?
        })
    }
}

/// What `truetail export --format hdr` says in its first line, `#truetail 0.4.0: response time in ns, open loop`: the measure, and
/// from when it counts.
pub(crate) fn exported(line: &str) -> Option<(&str, StatedFrom)> {
    let (_, said) = line.strip_prefix("#truetail ")?.rsplit_once(": ")?;
    let (measure, _) = said.split_once(" in ns, ")?;
    let from = match measure {
        "response time" => StatedFrom::Schedule,
        "service time" => StatedFrom::Send,
        _ => return None,
    };
    Some((measure, from))
}

/// Count, mean, extremes and cumulative counts of a histogram; `None` if a value is out of range.
pub(crate) fn described(histogram: &Histogram<u64>, unit: Nanos) -> Option<Reported> {
    let time = |value: u64| value.checked_mul(unit.0).map(Nanos);
    let mut sum = 0_u64;
    let mut cumulative = Vec::new();
    for step in histogram.iter_recorded() {
        sum = sum.saturating_add(step.count_at_value());
        cumulative.push((time(step.value_iterated_to())?, sum));
    }
    let some = !histogram.is_empty();
    let when = |value: Option<Nanos>| if some { value.map(Some) } else { Some(None) };
    Some(Reported {
        count: Some(sum),
        mean: when(scaled(histogram.mean(), unit))?,
        min: when(time(histogram.min()))?,
        max: when(time(histogram.max()))?,
        cumulative,
        resolution: Some(Nanos(unit.0.saturating_mul(histogram.low()))),
        relative_resolution: Some(10_f64.powi(-i32::from(histogram.sigfig()))),
        ..Reported::default()
    })
}

/// The tag, which may be empty, and the payload of `[Tag=T,]start,length,max,payload`.
fn interval(line: &str) -> Option<(&str, &str)> {
    let (tag, rest) = match line.strip_prefix("Tag=") {
        Some(tagged) => tagged.split_once(',')?,
        None => ("", line),
    };
    let mut fields = rest.trim_end().splitn(4, ',');
    let numbers = [fields.next()?, fields.next()?, fields.next()?];
    // The legend has quoted words in their place.
    let starts = |field: &str| field.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let is_interval = numbers.iter().all(|field| starts(field));
    fields.next().filter(|_| is_interval).map(|payload| (tag, payload))
}

/// A histogram from its payload, or why there is none.
pub(crate) fn decode(encoded: &str) -> Result<Histogram<u64>, String> {
    let bytes = from_base64(encoded.trim()).ok_or_else(|| format!("{} is not base64", quoted(encoded)))?;
    let plain = match bytes.split_at_checked(8) {
        Some((head, packed)) if head.starts_with(&COMPRESSED) => unpack(packed)?,
        _ => bytes,
    };
    let stated = plain.get(4..8).and_then(|length| length.try_into().ok()).map(u32::from_be_bytes);
    let there = plain.len().checked_sub(HEADER);
    if there.is_none() || stated.map(|length| length as usize) != there {
        return Err("the histogram is cut off or damaged: its length is not what it states".to_owned());
    }
    Deserializer::new()
        .deserialize(&mut plain.as_slice())
        .map_err(|error| format!("the histogram is damaged: {error}"))
}

fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    let read = ZlibDecoder::new(packed).take(UNPACKED_MAX + 1).read_to_end(&mut plain);
    read.map_err(|error| format!("the histogram can't be unpacked: {error}"))?;
    if plain.len() as u64 > UNPACKED_MAX {
        return Err(format!("the histogram unpacks to more than {} MiB", UNPACKED_MAX >> 20));
    }
    Ok(plain)
}

/// Standard alphabet, with or without padding.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let mut bits = 0_u32;
        for digit in group {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        // Four digits are three bytes, three are two, two are one; a single digit is no byte.
        let whole = match group.len() {
            4 => 3,
            3 => 2,
            2 => 1,
            _ => return None,
        };
        let aligned = bits << (6 * (4 - group.len()));
        bytes.extend(&aligned.to_be_bytes()[1..=whole]);
    }
    Some(bytes)
}

/// The table of a percentile file, if there is one.
fn percentiles(output: &Output, unit: Option<TimeUnit>) -> Result<Option<Reported>, ImportError> {
    let mut table: Option<(Nanos, Reported)> = None;
    let mut ended = false;
    for (line, text) in output.lines() {
        let wrong = |why: String| output.wrong_line(line, why);
        let words = text.replace(['"', ','], " ");
        let fields: Vec<&str> = words.split_ascii_whitespace().collect();
        if let ["Value", "Percentile", "TotalCount", ..] = fields[..] {
            let one = unit.map(TimeUnit::one).ok_or_else(|| {
                wrong(
                    "a percentile file does not state its unit; say hdr-ns, hdr-us, hdr-ms (wrk2) or hdr-s"
                        .to_owned(),
                )
            })?;
            table = Some((one, Reported { measure: "Value".to_owned(), ..Reported::default() }));
        } else if let Some((one, row)) = table.as_mut().filter(|_| !ended) {
            let known = take_row(row, *one, &fields);
            known.ok_or_else(|| wrong(format!("{} is not `value quantile count`", quoted(text))))?;
            // What comes after it is the tool's.
            ended = fields.first() == Some(&"#[Max");
        }
    }
    let Some((_, mut row)) = table else { return Ok(None) };
    row.cumulative = cumulated(row.cumulative).ok_or_else(|| output.wrong("its counts fall"))?;
    row.count = row.count.or(row.cumulative.last().map(|(_, count)| *count));
    row.max = row.max.or(row.cumulative.last().map(|(value, _)| *value));
    Ok(Some(row))
}

/// `0.439 0.990000000000 1234 100.00`, `#[Mean = 0.1, StdDeviation = 0.2]`, `#[Max = 2.769, Total count = 1000]`.
/// `None` for a line of the table that can't be read.
fn take_row(row: &mut Reported, one: Nanos, fields: &[&str]) -> Option<()> {
    let time = |text: &str| number(text).and_then(|value| scaled(value, one));
    match fields {
        ["#[Mean", "=", mean, ..] => row.mean = Some(time(mean)?),
        ["#[Max", "=", max, "Total", "count", "=", count] => {
            row.max = Some(time(max)?);
            row.count = Some(count.trim_end_matches(']').parse().ok()?);
        }
        [value, quantile, count, ..] if value.starts_with(|c: char| c.is_ascii_digit()) => {
            let q = number(quantile).and_then(Quantile::new)?;
            row.quantiles.push((q, time(value)?));
            row.cumulative.push((time(value)?, count.parse().ok()?));
        }
        _ => {}
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        let cases = [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg", "foob"),
            ("Zm9vYmE=", "fooba"),
        ];
        for (encoded, plain) in cases {
            assert_eq!(from_base64(encoded).as_deref(), Some(plain.as_bytes()), "{encoded}");
        }
        for bad in ["Z", "Zm9vY", "Zm 9", "Zm9v-"] {
            assert_eq!(from_base64(bad), None, "{bad}");
        }
    }
}
