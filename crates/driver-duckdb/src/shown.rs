//! Values as text, for checks and facts.

use crate::api::kind;
use crate::chunk::Column;

/// The value at `row`; `None` is NULL.
///
/// # Errors
/// The number of a type that has no text here.
pub(crate) fn text(column: &Column<'_>, row: usize) -> Result<Option<String>, u32> {
    if column.is_null(row) {
        return Ok(None);
    }
    let kind = column.kind();
    let shown = match (kind.id, column.whole(row), column.float(row)) {
        (kind::VARCHAR, ..) => column.text(row).map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
        (kind::BOOLEAN, Some(truth), _) => Some((truth != 0).to_string()),
        (kind::DECIMAL, Some(unscaled), _) => Some(decimal(unscaled, kind.scale)),
        (kind::DATE, Some(days), _) => i64::try_from(days).ok().map(date),
        (kind::TIMESTAMP | kind::TIMESTAMP_TZ, Some(moment), _) => i64::try_from(moment).ok().map(timestamp),
        (_, Some(whole), _) => Some(whole.to_string()),
        (_, _, Some(float)) => Some(float.to_string()),
        _ => None,
    };
    shown.map(Some).ok_or(kind.id)
}

fn decimal(unscaled: i128, scale: u8) -> String {
    let power = 10_u128.pow(u32::from(scale.min(38)));
    let (sign, magnitude) = (if unscaled < 0 { "-" } else { "" }, unscaled.unsigned_abs());
    match scale {
        0 => format!("{sign}{magnitude}"),
        _ => format!("{sign}{}.{:0width$}", magnitude / power, magnitude % power, width = usize::from(scale)),
    }
}

/// Days since 1970 as `YYYY-MM-DD` (Hinnant, *chrono-Compatible Low-Level Date Algorithms*, `civil_from_days`).
fn date(days: i64) -> String {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Microseconds since 1970, UTC, as `YYYY-MM-DD HH:MM:SS.ffffff`, the fraction only where there is one.
fn timestamp(micros: i64) -> String {
    const DAY: i64 = 86_400_000_000;
    let (days, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
    let time = format!("{} {:02}:{:02}:{:02}", date(days), seconds / 3600, seconds / 60 % 60, seconds % 60);
    match fraction {
        0 => time,
        _ => format!("{time}.{fraction:06}").trim_end_matches('0').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_moments_read_as_sql_writes_them() {
        assert_eq!(decimal(-5, 2), "-0.05");
        assert_eq!(decimal(i128::from(i64::MAX) * 100, 2), "9223372036854775807.00");
        assert_eq!(decimal(7, 0), "7");
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(-1), "1969-12-31");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(timestamp(1_700_000_000_120_000), "2023-11-14 22:13:20.12");
        assert_eq!(timestamp(-1), "1969-12-31 23:59:59.999999");
        assert_eq!(timestamp(0), "1970-01-01 00:00:00");
    }
}
