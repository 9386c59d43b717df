//! Rows in COPY's text format.

use driver::Value;
use std::io::Write;

/// Appends one row and its line end.
pub(crate) fn push_row(lines: &mut Vec<u8>, row: &[Value<'_>]) {
    for (index, value) in row.iter().enumerate() {
        if index > 0 {
            lines.push(b'\t');
        }
        push_value(lines, *value);
    }
    lines.push(b'\n');
}

fn push_value(lines: &mut Vec<u8>, value: Value<'_>) {
    // Writing into a Vec cannot fail.
    let _ = match value {
        Value::Null => lines.write_all(b"\\N"),
        Value::Int(v) => write!(lines, "{v}"),
        Value::Float(v) => write!(lines, "{v}"),
        Value::Decimal(v) => write!(lines, "{v}"),
        Value::Timestamp(micros) => write!(lines, "{}", Moment(micros)),
        Value::Text(text) => {
            for byte in text.bytes() {
                match byte {
                    b'\\' => lines.extend_from_slice(b"\\\\"),
                    b'\t' => lines.extend_from_slice(b"\\t"),
                    b'\n' => lines.extend_from_slice(b"\\n"),
                    b'\r' => lines.extend_from_slice(b"\\r"),
                    _ => lines.push(byte),
                }
            }
            Ok(())
        }
    };
}

/// Microseconds since 1970 as `2023-11-14 22:13:20.000001+00`.
struct Moment(i64);

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const DAY: i64 = 86_400_000_000;
        let (year, month, day) = civil(self.0.div_euclid(DAY));
        let micros = self.0.rem_euclid(DAY);
        let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        // PostgreSQL has no year 0: 1 BC comes before AD 1.
        let (year, era) = if year > 0 { (year, "") } else { (1 - year, " BC") };
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}+00{era}")
    }
}

/// Year, month and day of the proleptic Gregorian calendar, from days since 1970. Years begin in March here,
/// so that the leap day is the last of its year; 400 years are one era of 146 097 days.
fn civil(days: i64) -> (i64, i64, i64) {
    let from_march_0 = days + 719_468;
    let era = from_march_0.div_euclid(146_097);
    let day_of_era = from_march_0.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The number of rows in the command tag `COPY n`.
pub(crate) fn count(body: &[u8]) -> Option<u64> {
    std::str::from_utf8(body).ok()?.trim_end_matches('\0').strip_prefix("COPY ")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_escaped() {
        let mut lines = Vec::new();
        push_row(&mut lines, &[Value::Int(-1), Value::Null, Value::Text("a\tb\\N\r\n"), Value::Float(0.5)]);
        push_row(&mut lines, &[]);
        assert_eq!(lines, b"-1\t\\N\ta\\tb\\\\N\\r\\n\t0.5\n\n");
    }

    #[test]
    fn moments_are_dates() {
        let shown = |micros| Moment(micros).to_string();
        assert_eq!(shown(0), "1970-01-01 00:00:00.000000+00");
        assert_eq!(shown(-1), "1969-12-31 23:59:59.999999+00");
        assert_eq!(shown(951_782_400_000_000), "2000-02-29 00:00:00.000000+00");
        assert_eq!(shown(1_700_000_000_000_001), "2023-11-14 22:13:20.000001+00");
        assert_eq!(shown(-62_135_596_800_000_001), "0001-12-31 23:59:59.999999+00 BC");
    }

    #[test]
    fn days_follow_the_calendar_one_by_one() {
        let leap = |y: i64| y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
        let length = |y, m| match m {
            2 => 28 + i64::from(leap(y)),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let mut date = civil(-200_000);
        for day in -199_999..200_000 {
            let (y, m, d) = date;
            date = match (m, d) {
                (12, 31) => (y + 1, 1, 1),
                _ if d == length(y, m) => (y, m + 1, 1),
                _ => (y, m, d + 1),
            };
            assert_eq!(civil(day), date);
        }
        assert_eq!(civil(0), (1970, 1, 1));
    }

    #[test]
    fn the_count_is_read() {
        assert_eq!(count(b"COPY 12\0"), Some(12));
        assert_eq!(count(b"INSERT 0 1\0"), None);
    }
}
