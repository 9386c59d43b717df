//! Timestamps: microseconds since 2000-01-01, as PostgreSQL counts them.

use super::error::{SqlError, state};
use super::types::Type;
use std::io::Write;

/// From 1970 to 2000, in days.
const EPOCH_DAYS: i64 = 10_957;
const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
/// What `infinity` and `-infinity` are on the wire.
const FUTURE: i64 = i64::MAX;
const PAST: i64 = i64::MIN;
/// The years in which a timestamp may lie; PostgreSQL's end at 4713 BC and 294276.
const YEAR_LEAST: i64 = -4712;
const YEAR_MOST: i64 = 294_276;

/// The moment of a wall time in ns since 1970.
pub(crate) fn from_wall_ns(wall_ns: u64) -> i64 {
    i64::try_from(wall_ns / 1_000).unwrap_or(i64::MAX).saturating_sub(EPOCH_DAYS * DAY)
}

/// A number from the wire, if it is a moment that has a date.
pub(crate) fn checked(micros: i64) -> Result<i64, SqlError> {
    let year = civil(micros.div_euclid(DAY) + EPOCH_DAYS).0;
    if micros == FUTURE || micros == PAST || (YEAR_LEAST..=YEAR_MOST).contains(&year) {
        return Ok(micros);
    }
    Err(SqlError::new(state::DATETIME_OVERFLOW, "timestamp out of range"))
}

/// `2023-11-14 22:13:20.000001`, with `+00` behind it for moments of a time zone, which is always UTC.
pub(crate) fn write(micros: i64, kind: Type, out: &mut Vec<u8>) {
    if micros == FUTURE || micros == PAST {
        out.extend_from_slice(if micros == FUTURE { b"infinity" } else { b"-infinity" });
        return;
    }
    let (year, month, day) = civil(micros.div_euclid(DAY) + EPOCH_DAYS);
    let of_day = micros.rem_euclid(DAY);
    let (seconds, fraction) = (of_day / SECOND, of_day % SECOND);
    // PostgreSQL has no year 0: 1 BC comes before AD 1.
    let (shown, era) = if year > 0 { (year, "") } else { (1 - year, " BC") };
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    // Writing into a Vec cannot fail.
    let _ = write!(out, "{shown:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
    if fraction > 0 {
        let digits = format!(".{fraction:06}");
        out.extend_from_slice(digits.trim_end_matches('0').as_bytes());
    }
    if kind == Type::Timestamptz {
        out.extend_from_slice(b"+00");
    }
    out.extend_from_slice(era.as_bytes());
}

/// ISO 8601, with a blank or a `T` between date and time, fractions of a second, a zone as an offset, and BC.
pub(crate) fn parse(text: &str, kind: Type) -> Result<i64, SqlError> {
    match text.to_ascii_lowercase().as_str() {
        "infinity" => return Ok(FUTURE),
        "-infinity" => return Ok(PAST),
        "epoch" => return Ok(-EPOCH_DAYS * DAY),
        _ => {}
    }
    let invalid = || {
        let shown: String = text.chars().take(100).collect();
        let name = kind.name();
        SqlError::new(state::DATETIME_FORMAT, format!("invalid input syntax for type {name}: \"{shown}\""))
    };
    let overflow = || {
        let shown: String = text.chars().take(100).collect();
        SqlError::new(state::DATETIME_OVERFLOW, format!("date/time field value out of range: \"{shown}\""))
    };
    let mut reader = Reader(text.as_bytes());
    let date = reader.date().ok_or_else(invalid)?;
    let time = if reader.0.is_empty() { Time::default() } else { reader.time().ok_or_else(invalid)? };
    let before_christ = reader.era();
    if !reader.0.is_empty() {
        return Err(invalid());
    }
    let (year, month, day) = date;
    if year == 0 || !(1..=12).contains(&month) || !(1..=month_length(year, month)).contains(&day) {
        return Err(overflow());
    }
    let year = if before_christ { 1 - year } else { year };
    if !(YEAR_LEAST..=YEAR_MOST).contains(&year) || !time.is_possible() {
        return Err(overflow());
    }
    let zone = if kind == Type::Timestamptz { time.zone_seconds } else { 0 };
    Ok((days(year, month, day) - EPOCH_DAYS) * DAY + time.micros - zone * SECOND)
}

#[derive(Default)]
struct Time {
    micros: i64,
    zone_seconds: i64,
    parts: (i64, i64, i64),
}

impl Time {
    fn is_possible(&self) -> bool {
        let (hour, minute, second) = self.parts;
        (hour < 24 || self.micros == DAY) && minute < 60 && second <= 60
    }
}

/// Reads from the front of a text.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn date(&mut self) -> Option<(i64, i64, i64)> {
        let year = self.number(4, 6)?;
        self.sign(b"-")?;
        let month = self.number(1, 2)?;
        self.sign(b"-")?;
        Some((year, month, self.number(1, 2)?))
    }

    fn time(&mut self) -> Option<Time> {
        if self.0.starts_with(b" BC") {
            return Some(Time::default());
        }
        self.sign(b" Tt")?;
        let hour = self.number(1, 2)?;
        self.sign(b":")?;
        let minute = self.number(1, 2)?;
        let (mut second, mut fraction) = (0, 0);
        if self.sign(b":").is_some() {
            second = self.number(1, 2)?;
            if self.sign(b".").is_some() {
                fraction = self.fraction()?;
            }
        }
        let zone_seconds = self.zone()?;
        let micros = ((hour * 60 + minute) * 60 + second) * SECOND + fraction;
        Some(Time { micros, zone_seconds, parts: (hour, minute, second) })
    }

    /// East of Greenwich, in seconds; 0 where nothing is said.
    fn zone(&mut self) -> Option<i64> {
        if self.sign(b"Zz").is_some() {
            return Some(0);
        }
        let Some(sign) = self.sign(b"+-") else { return Some(0) };
        let hours = self.number(1, 2)?;
        let minutes = if self.sign(b":").is_some() { self.number(2, 2)? } else { 0 };
        let seconds = (hours * 60 + minutes) * 60;
        (hours < 16 && minutes < 60).then_some(if sign == b'-' { -seconds } else { seconds })
    }

    fn era(&mut self) -> bool {
        let found = self.0.strip_prefix(b" BC");
        self.0 = found.unwrap_or(self.0);
        found.is_some()
    }

    fn number(&mut self, least: usize, most: usize) -> Option<i64> {
        let length = self.0.iter().take(most).take_while(|b| b.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(length);
        self.0 = rest;
        (length >= least).then(|| digits.iter().fold(0, |n, digit| n * 10 + i64::from(digit - b'0')))
    }

    /// Digits behind the point, in microseconds; those behind the sixth are rounded.
    fn fraction(&mut self) -> Option<i64> {
        let length = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(length);
        self.0 = rest;
        if length == 0 || length > 30 {
            return None;
        }
        let digit = |i: usize| digits.get(i).map_or(0, |d| i64::from(d - b'0'));
        Some((0..6).fold(0, |n, i| n * 10 + digit(i)) + i64::from(digit(6) >= 5))
    }

    fn sign(&mut self, any_of: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        any_of.contains(first).then(|| {
            self.0 = rest;
            *first
        })
    }
}

fn month_length(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970 of a date of the proleptic Gregorian calendar, by the calendar of [`civil`].
fn days(year: i64, month: i64, day: i64) -> i64 {
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let year = if month > 2 { year } else { year - 1 };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day, from days since 1970. Years begin in March here, so that the leap day is the last of its year;
/// 400 years are one era of 146 097 days.
fn civil(days: i64) -> (i64, i64, i64) {
    let from_march_0 = days + 719_468;
    let era = from_march_0.div_euclid(146_097);
    let of_era = from_march_0.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(micros: i64) -> String {
        let mut out = Vec::new();
        write(micros, Type::Timestamp, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn moments_come_back() {
        for text in [
            "2000-01-01 00:00:00",
            "1970-01-01 00:00:00",
            "2023-11-14 22:13:20.000001",
            "2000-02-29 12:00:00.5",
            "0001-01-01 00:00:00 BC",
            "294276-12-31 23:59:59.999999",
            "infinity",
            "-infinity",
        ] {
            assert_eq!(shown(parse(text, Type::Timestamp).unwrap()), text);
        }
        assert_eq!(parse("2000-01-01T00:00:01Z", Type::Timestamptz), Ok(SECOND));
        assert_eq!(parse("2000-01-01 02:00-00:30", Type::Timestamptz), Ok(9_000 * SECOND));
        assert_eq!(parse("2000-01-01 24:00", Type::Timestamp), Ok(DAY));
        assert_eq!(from_wall_ns(946_684_800_000_000_000), 0);
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for (text, state) in [
            ("", "22007"),
            ("2023", "22007"),
            ("2023-01-01x", "22007"),
            ("2023-01-01 1", "22007"),
            ("2023-13-01", "22008"),
            ("2023-02-29", "22008"),
            ("2023-01-01 25:00:00", "22008"),
            ("999999-01-01", "22008"),
        ] {
            assert_eq!(parse(text, Type::Timestamp).unwrap_err().state, state, "{text}");
        }
        assert_eq!(checked(i64::MAX - 1).unwrap_err().state, "22008");
        assert_eq!(checked(i64::MIN), Ok(i64::MIN));
    }

    #[test]
    fn days_and_dates_are_inverse() {
        for day in (-2_000_000..2_000_000).step_by(13) {
            let (y, m, d) = civil(day);
            assert_eq!(days(y, m, d), day);
        }
        assert_eq!(civil(0), (1970, 1, 1));
    }
}
