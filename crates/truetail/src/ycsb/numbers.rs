//! Numbers as Java shows them.

/// `Double.toString`: at least one digit after the point, and an exponent below 10⁻³ and from 10⁷ on.
pub(super) fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let magnitude = value.abs();
    if value == 0.0 || (1e-3..1e7).contains(&magnitude) {
        return format!("{value:?}");
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if digits.contains('.') => format!("{digits}E{exponent}"),
        Some((digits, exponent)) => format!("{digits}.0E{exponent}"),
        None => text,
    }
}

/// `DecimalFormat("#.##")`: at most two digits after the point, halves to the even digit, no zero before the point.
pub(super) fn two_digits(value: f64) -> String {
    if value.is_nan() {
        return "�".to_owned();
    }
    // Rust rounds the exact binary value, halves to even, as Java does.
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "" | "-0" | "0" => "0".to_owned(),
        _ => match text.strip_prefix("0.") {
            Some(rest) => format!(".{rest}"),
            None => text.to_owned(),
        },
    }
}

/// The name of a percentile: `50th`, `91st`, `99.9`.
pub(super) fn ordinal(percentile: f64) -> String {
    if percentile % 1.0 != 0.0 {
        return double(percentile);
    }
    let whole = percentile as u64;
    let suffix = match (whole % 100, whole % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{whole}{suffix}")
}

/// `String.hashCode`.
fn hash_code(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// In the order in which a `ConcurrentHashMap` that these names were put into shows them.
pub(super) fn in_map_order(names: Vec<String>) -> Vec<String> {
    let mut buckets: usize = 16;
    // It grows when it is three quarters full.
    while names.len() >= buckets - buckets / 4 {
        buckets *= 2;
    }
    let bucket = |name: &String| {
        let hash = hash_code(name) as u32;
        ((hash ^ (hash >> 16)) & 0x7FFF_FFFF) as usize & (buckets - 1)
    };
    let mut names = names;
    names.sort_by_key(bucket);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_java_s() {
        let cases = [
            (0.0, "0.0"),
            (478.0, "478.0"),
            (2957.4132492113563, "2957.4132492113563"),
            (0.07886435331230283, "0.07886435331230283"),
            (1e7, "1.0E7"),
            (12_345_678.5, "1.23456785E7"),
            (0.0001, "1.0E-4"),
            (9_999_999.0, "9999999.0"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn rates_have_at_most_two_digits() {
        for (value, text) in
            [(0.0, "0"), (3000.0, "3000"), (2999.999, "3000"), (0.5, ".5"), (10.456, "10.46"), (0.004, "0")]
        {
            assert_eq!(two_digits(value), text);
        }
    }

    #[test]
    fn percentiles_have_their_endings() {
        let shown = [50.0, 91.0, 92.0, 93.0, 11.0, 12.0, 13.0, 99.9, 99.99].map(ordinal);
        assert_eq!(shown, ["50th", "91st", "92nd", "93rd", "11th", "12th", "13th", "99.9", "99.99"]);
    }

    /// As a real client printed them.
    #[test]
    fn sections_are_in_the_order_of_the_map() {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            in_map_order(names(&["UPDATE", "READ", "CLEANUP"])),
            names(&["READ", "CLEANUP", "UPDATE"])
        );
        assert_eq!(in_map_order(names(&["Intended-UPDATE"])), names(&["Intended-UPDATE"]));
    }
}
