//! Wall times and decimal numbers as logs write them.

/// Wall time in nanoseconds since 1970 as it is written, and by how many seconds its zone is ahead of UTC where it says so:
/// `2026-11-21T06:35:37.116+0000`, `…+01:00`, `…Z`, without a fraction, without a zone. The zone is taken into account.
pub(crate) fn wall_time(text: &str) -> Option<(i128, Option<i64>)> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = bytes.get(from..to).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    };
    let separated = bytes.get(4) == Some(&b'-')
        && bytes.get(7) == Some(&b'-')
        && matches!(bytes.get(10), Some(b'T' | b' '))
        && bytes.get(13) == Some(&b':')
        && bytes.get(16) == Some(&b':');
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let sane =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
    if !separated || !sane {
        return None;
    }
    let rest = text.get(19..)?;
    let digits = rest
        .strip_prefix(['.', ','])
        .map_or("", |rest| &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()]);
    let zone = if digits.is_empty() { rest } else { rest.get(1 + digits.len()..)? };
    let offset_s = zone_offset(zone)?;
    let fraction = decimal(&format!("0.{}", if digits.is_empty() { "0" } else { digits }), 9)?;
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    let utc = i128::from(seconds - offset_s.unwrap_or(0));
    Some((utc * 1_000_000_000 + i128::from(fraction), offset_s))
}

/// Outer `None`: it is no zone. Inner `None`: there is none. Hours and minutes have two digits each.
fn zone_offset(zone: &str) -> Option<Option<i64>> {
    match zone {
        "" => Some(None),
        "Z" => Some(Some(0)),
        _ => {
            let digits = zone.bytes().filter(u8::is_ascii_digit).count();
            offset_s(zone).filter(|_| digits == 4).map(Some)
        }
    }
}

/// Seconds ahead of UTC: `+01:00`, `-0330`, `+3`.
pub(crate) fn offset_s(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
        None => (digits, "0"),
    };
    let number = |text: &str| -> Option<i64> {
        let is_number = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| text.parse().ok())?
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// Hinnant, *chrono-Compatible Low-Level Date Algorithms*, `days_from_civil`.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_index = (month + 9) % 12;
    let day_of_year = (153 * month_index + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// A decimal number times 10 to the power of `digits`, exactly; digits beyond are cut. A sum of such numbers is that of
/// the text, to the last digit. `None` for anything but digits with at most one point, and beyond 2⁶⁴.
pub(crate) fn decimal(text: &str, digits: usize) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || text.ends_with('.') {
        return None;
    }
    let padded = fraction.bytes().map(|b| b - b'0').chain(std::iter::repeat(0)).take(digits);
    padded
        .into_iter()
        .try_fold(whole.parse::<u64>().ok()?, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_times_of_all_shapes() {
        let at = |text: &str| wall_time(text);
        let summer: i128 = 1_795_242_937_116_000_000;
        assert_eq!(at("2026-11-21T06:35:37.116+0000"), Some((summer, Some(0))));
        assert_eq!(at("2026-11-21T07:35:37.116+01:00"), Some((summer, Some(3_600))));
        assert_eq!(at("2026-11-20T23:05:37.116-0730"), Some((summer, Some(-27_000))));
        assert_eq!(at("2026-11-21T06:35:37.116"), Some((summer, None)));
        assert_eq!(at("2026-11-21 06:35:37Z"), Some((summer - 116_000_000, Some(0))));
        assert_eq!(at("1970-01-01T00:00:00.000000001Z"), Some((1, Some(0))));
        assert_eq!(at("2000-02-29T00:00:00Z"), Some((951_782_400_000_000_000, Some(0))));
        for bad in [
            "",
            "2026-11-21",
            "2026-13-21T06:35:37Z",
            "2026-11-21T06:35:37.116+00",
            "2026-11-21T06:35:37.116+0:100",
            "2026-11-21T06:35:37.116+24:00",
            "2026-11-21T06:35:3",
            "é026-11-21T06:35:37",
        ] {
            assert_eq!(at(bad), None, "{bad}");
        }
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(decimal("0.0061608", 9), Some(6_160_800));
        assert_eq!(decimal("92.281", 6), Some(92_281_000));
        assert_eq!(decimal("3", 6), Some(3_000_000));
        assert_eq!(decimal("1.23456789", 2), Some(123));
        for bad in ["", ".5", "5.", "1e3", "-1", "1.2.3", "99999999999999999999"] {
            assert_eq!(decimal(bad, 6), None, "{bad}");
        }
    }
}
