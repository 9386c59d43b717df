//! Scores: read and written as Redis 7.0 does it.

/// A score. Infinity is one, by name; what is not a number is none, nor is what is too large or too small to be held.
/// Unlike Redis's (C's `strtod`), hexadecimal is not understood.
pub(super) fn score(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let number: f64 = text.parse().ok()?;
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let overflowed = number.is_infinite() && text.contains(|c: char| c.is_ascii_digit());
    let underflowed = number == 0.0 && mantissa.contains(|c: char| matches!(c, '1'..='9'));
    (!number.is_nan() && !overflowed && !underflowed).then_some(number)
}

/// C's `%.17g`: 17 digits, no trailing zeros, an exponent below 10^−5 and from 10^17 on.
pub(super) fn seventeen_digits(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{number:.16e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..17).contains(&exponent) {
        let decimals = usize::try_from(16 - exponent).unwrap_or(0);
        return without_zeros(&format!("{number:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.unsigned_abs())
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_written_with_seventeen_digits() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1, "0.10000000000000001"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (0.0001, "0.0001"),
            (0.00001, "1.0000000000000001e-05"),
            (1.5e300, "1.5000000000000001e+300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(seventeen_digits(number), text);
        }
    }

    #[test]
    fn scores_are_read_as_redis_reads_them() {
        for (text, number) in [
            ("1", 1.0),
            ("+1.5", 1.5),
            ("-inf", f64::NEG_INFINITY),
            ("Infinity", f64::INFINITY),
            ("1e3", 1e3),
        ] {
            assert_eq!(score(text.as_bytes()), Some(number), "{text}");
        }
        assert_eq!(score(b"0e-999"), Some(0.0));
        for text in ["", "nan", "x", " 1", "1 ", "1e999", "1e-999", "--1"] {
            assert_eq!(score(text.as_bytes()), None, "{text}");
        }
    }
}
