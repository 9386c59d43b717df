//! What the texts of settings have in common: exact durations, numbers within limits, errors.

use std::fmt;
use units::{Nanos, PerSecond, parse_duration, parse_rate};

/// A setting that could not be read. One line: what it was to be, the text, and what is expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextError(String);

impl TextError {
    pub(crate) fn new(what: &str, text: &str, why: &str) -> TextError {
        TextError(one_line(format!("`{}` is not a {what}: {}", shown(text), shown(why))))
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TextError {}

/// A message of texts from elsewhere: it stays one line, whatever they hold.
pub(crate) fn one_line(text: String) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

/// The beginning of a text that may be long.
pub(crate) fn shown(text: &str) -> String {
    const LENGTH_MAX: usize = 500;
    match text.char_indices().nth(LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `1.5ms`: all digits, in the largest unit that is not longer than the time. `parse_duration` gives back the same.
pub(crate) fn exact(time: Nanos) -> String {
    let (unit, name) = match time.0 {
        0 => return "0s".to_owned(),
        1_000_000_000.. => (1_000_000_000, "s"),
        1_000_000.. => (1_000_000, "ms"),
        1_000.. => (1_000, "us"),
        _ => (1, "ns"),
    };
    let (whole, rest) = (time.0 / unit, time.0 % unit);
    if rest == 0 {
        return format!("{whole}{name}");
    }
    let digits = format!("{:0width$}", rest, width = unit.ilog10() as usize);
    format!("{whole}.{}{name}", digits.trim_end_matches('0'))
}

/// A rate so that `parse_rate` gives back the same.
pub(crate) fn exact_rate(rate: PerSecond) -> String {
    format!("{}/s", rate.get())
}

/// A duration up to `longest`; the error says why not.
pub(crate) fn duration(text: &str, longest: Nanos) -> Result<Nanos, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    if time > longest {
        return Err(format!("`{text}` is too long, at most {} is possible", exact(longest)));
    }
    Ok(time)
}

/// A rate; the error says why not.
pub(crate) fn rate(text: &str) -> Result<PerSecond, String> {
    parse_rate(text).map_err(|error| error.to_string())
}

/// A number within limits.
pub(crate) fn number(text: &str, low: f64, high: f64) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| (low..=high).contains(number))
}
