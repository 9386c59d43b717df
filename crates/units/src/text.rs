//! Quantities as people write and read them.

use crate::{Nanos, PerSecond, Quantile};

/// A quantity that could not be read. The message names the text and the forms that are accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseQuantityError {
    what: &'static str,
    text: String,
    expected: &'static str,
}

impl std::fmt::Display for ParseQuantityError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is not a {}: expected {}", self.text, self.what, self.expected)
    }
}

impl std::error::Error for ParseQuantityError {}

fn split_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then_some((number, text[end..].trim()))
}

/// Reads `250us`, `10ms`, `1.5s`, `2m`, `1h`; a plain number is seconds. Never negative.
pub fn parse_duration(text: &str) -> Result<Nanos, ParseQuantityError> {
    let error = || ParseQuantityError {
        what: "duration",
        text: text.to_owned(),
        expected: "a number with ns, us, ms, s, m or h, such as `15s`",
    };
    let (number, unit) = split_number(text.trim()).ok_or_else(error)?;
    let scale = match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(error()),
    };
    let seconds = number * scale;
    // A century is past anything a run can mean, and far inside the range of `Nanos`.
    if seconds > 3.2e9 { Err(error()) } else { Ok(Nanos::from_secs_f64(seconds)) }
}

/// Reads the limit of a latency: as [`parse_duration`], but never without a unit, since of `10` one reader makes milliseconds and the
/// next one seconds. Zero is zero in every unit.
pub fn parse_latency_limit(text: &str) -> Result<Nanos, ParseQuantityError> {
    let error = || ParseQuantityError {
        what: "limit of latency",
        text: text.to_owned(),
        expected: "a number with its unit, ns, us, ms, s, m or h, such as `10ms` or `10s`",
    };
    let limit = parse_duration(text).map_err(|_| error())?;
    let has_unit = text.trim().ends_with(|last: char| last.is_alphabetic());
    if has_unit || limit == Nanos::ZERO { Ok(limit) } else { Err(error()) }
}

/// Reads `2000/s`, `120000/min`, `2k/s`; a plain number is per second. More than zero.
pub fn parse_rate(text: &str) -> Result<PerSecond, ParseQuantityError> {
    let error = || ParseQuantityError {
        what: "rate",
        text: text.to_owned(),
        expected: "a number above 0 with /s, /min or /h, such as `2000/s`",
    };
    let (number, unit) = split_number(text.trim()).ok_or_else(error)?;
    let (factor, unit) = match unit.chars().next() {
        Some('k' | 'K') => (1e3, &unit[1..]),
        Some('M') => (1e6, &unit[1..]),
        _ => (1.0, unit),
    };
    let per = match unit {
        "" | "/s" => 1.0,
        "/m" | "/min" => 60.0,
        "/h" => 3600.0,
        _ => return Err(error()),
    };
    let rate = number * factor / per;
    PerSecond::new(rate).filter(|r| r.get() > 0.0 && r.get() <= 1e9).ok_or_else(error)
}

/// Reads `p99.9`, `99.9`, `0.999`, `max`. Values up to 1 are quantiles, above 1 percentiles.
pub fn parse_quantile(text: &str) -> Result<Quantile, ParseQuantityError> {
    let error = || ParseQuantityError {
        what: "quantile",
        text: text.to_owned(),
        expected: "`p99.9`, `max`, or a number in [0, 1]",
    };
    let text = text.trim();
    if text == "max" {
        return Quantile::new(1.0).ok_or_else(error);
    }
    let (digits, percent) = match text.strip_prefix(['p', 'P']) {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (value, rest) = split_number(digits).ok_or_else(error)?;
    if !rest.is_empty() {
        return Err(error());
    }
    Quantile::new(if percent || value > 1.0 { value / 100.0 } else { value }).ok_or_else(error)
}

fn three_digits(value: f64) -> String {
    // The decimals that leave at least three significant digits; integers keep all of theirs.
    let decimals = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.decimals$}")
}

/// Three significant digits with the unit that keeps the number between 1 and 999: `812 ns`, `1.24 ms`.
/// From 1000 s on, whole seconds.
pub fn format_nanos(nanos: Nanos) -> String {
    let ns = nanos.0 as f64;
    if nanos.0 < 1_000 {
        format!("{} ns", nanos.0)
    } else if ns < 999.5e3 {
        format!("{} µs", three_digits(ns / 1e3))
    } else if ns < 999.5e6 {
        format!("{} ms", three_digits(ns / 1e6))
    } else {
        format!("{} s", three_digits(ns / 1e9))
    }
}

/// `0.50/s`, `1,234/s`: whole numbers from 100 on, thousands apart.
pub fn format_rate(rate: PerSecond) -> String {
    let value = rate.get();
    if value < 99.95 {
        return format!("{}/s", three_digits(value));
    }
    thousands_apart(&format!("{value:.0}")) + "/s"
}

/// `1,234,567`.
pub fn format_count(count: u64) -> String {
    thousands_apart(&count.to_string())
}

/// `1 run`, `1,200 runs`: `one` and `many` are the words.
pub fn format_counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", format_count(count), if count == 1 { one } else { many })
}

fn thousands_apart(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 2);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations() {
        for (text, ns) in
            [("15s", 15_000_000_000), ("15", 15_000_000_000), ("1.5ms", 1_500_000), ("250 us", 250_000)]
        {
            assert_eq!(parse_duration(text), Ok(Nanos(ns)), "{text}");
        }
        for bad in ["", "s", "-1s", "1 day", "1e9s", "NaN", "9999999h"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
        assert_eq!(
            parse_duration("-1s").unwrap_err().to_string(),
            "`-1s` is not a duration: expected a number with ns, us, ms, s, m or h, such as `15s`"
        );
    }

    #[test]
    fn limits_of_latency_have_a_unit() {
        for (text, ns) in [("10ms", 10_000_000), (" 10 s ", 10_000_000_000), ("0", 0), ("0.5us", 500)] {
            assert_eq!(parse_latency_limit(text), Ok(Nanos(ns)), "{text}");
        }
        for bare in ["10", "1.5", " 10 ", "soon", "", "-1s"] {
            let message = parse_latency_limit(bare).unwrap_err().to_string();
            assert!(message.starts_with(&format!("`{bare}` is not a limit of latency")), "{message}");
            assert!(message.ends_with("such as `10ms` or `10s`"), "{message}");
        }
    }

    #[test]
    fn rates() {
        for (text, rate) in [("2000/s", 2000.0), ("2k/s", 2000.0), ("120/min", 2.0), ("7", 7.0)] {
            assert_eq!(parse_rate(text).map(PerSecond::get), Ok(rate), "{text}");
        }
        for bad in ["0/s", "-5/s", "x", "5/d", "2000/", "1M0/s"] {
            assert!(parse_rate(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn quantiles() {
        for (text, q) in [("p99.9", 0.999), ("99", 0.99), ("0.5", 0.5), ("max", 1.0)] {
            assert!((parse_quantile(text).unwrap().get() - q).abs() < 1e-12, "{text}");
        }
        for bad in ["p101", "p", "-0.1", "p99x"] {
            assert!(parse_quantile(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn counts() {
        let shown = [0, 999, 1_000, 1_234_567].map(format_count);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
        let runs = [1, 0, 2, 1_200].map(|n| format_counted(n, "run", "runs"));
        assert_eq!(runs, ["1 run", "0 runs", "2 runs", "1,200 runs"]);
    }

    #[test]
    fn formats() {
        let shown: Vec<String> =
            [0, 999, 1_000, 12_345, 999_499, 999_500, 1_240_000, 59_990_000_000, 3_600_000_000_000]
                .map(|n| format_nanos(Nanos(n)))
                .to_vec();
        assert_eq!(
            shown,
            ["0 ns", "999 ns", "1.00 µs", "12.3 µs", "999 µs", "1.00 ms", "1.24 ms", "60.0 s", "3600 s"]
        );
        let rates: Vec<String> =
            [0.5, 99.9, 1234.0, 1_234_567.0].map(|r| format_rate(PerSecond::new(r).unwrap())).to_vec();
        assert_eq!(rates, ["0.50/s", "99.9/s", "1,234/s", "1,234,567/s"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,20}") {
            let _ = (parse_duration(&text), parse_latency_limit(&text), parse_rate(&text), parse_quantile(&text));
        }

        #[test]
        fn what_is_shown_is_within_one_percent(ns in 1u64..u64::MAX / 4) {
            let shown = format_nanos(Nanos(ns)).replace(' ', "");
            if ns < 3_000_000_000_000_000_000 {
                let read = parse_duration(&shown).unwrap().0 as f64;
                prop_assert!((read / ns as f64 - 1.0).abs() < 0.0051, "{ns} {shown}");
            }
        }
    }
}
