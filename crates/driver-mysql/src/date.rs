//! Moments in the servers' calendar: microseconds since 1970 as year, month, day and time, and back. Never in any zone but
//! UTC, which is what sessions are set to.

use std::fmt;

const DAY: i64 = 86_400_000_000;

/// A moment in parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moment {
    pub(crate) year: u16,
    pub(crate) month: u8,
    pub(crate) day: u8,
    pub(crate) hour: u8,
    pub(crate) minute: u8,
    pub(crate) second: u8,
    pub(crate) micros: u32,
}

impl Moment {
    /// `None` outside of the years 1 to 9999, which is all that a DATETIME can hold.
    pub(crate) fn new(micros_since_1970: i64) -> Option<Moment> {
        let (year, month, day) = civil(micros_since_1970.div_euclid(DAY));
        let within = micros_since_1970.rem_euclid(DAY);
        let seconds = within / 1_000_000;
        Some(Moment {
            year: u16::try_from(year).ok().filter(|year| (1..=9999).contains(year))?,
            month: month as u8,
            day: day as u8,
            hour: (seconds / 3600) as u8,
            minute: (seconds / 60 % 60) as u8,
            second: (seconds % 60) as u8,
            micros: (within % 1_000_000) as u32,
        })
    }

    /// Microseconds since 1970; `None` for what is no date, such as the servers' `0000-00-00`.
    pub(crate) fn micros_since_1970(self) -> Option<i64> {
        let is_date = (1..=12).contains(&self.month) && (1..=31).contains(&self.day);
        if !is_date || self.hour > 23 || self.minute > 59 || self.second > 59 || self.micros > 999_999 {
            return None;
        }
        let days = days(self.year.into(), self.month.into(), self.day.into());
        let seconds = i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second);
        Some(days * DAY + seconds * 1_000_000 + i64::from(self.micros))
    }
}

impl fmt::Display for Moment {
    /// As a literal has it: `2023-11-14 22:13:20.000001`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Moment { year, month, day, hour, minute, second, micros } = *self;
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}")
    }
}

/// Year, month and day of the proleptic Gregorian calendar, from days since 1970. Years begin in March here, so that the
/// leap day is the last of its year; 400 years are one era of 146 097 days.
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

/// The way back.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates() {
        let shown = |micros| Moment::new(micros).unwrap().to_string();
        assert_eq!(shown(0), "1970-01-01 00:00:00.000000");
        assert_eq!(shown(-1), "1969-12-31 23:59:59.999999");
        assert_eq!(shown(951_782_400_000_000), "2000-02-29 00:00:00.000000");
        assert_eq!(shown(1_700_000_000_000_001), "2023-11-14 22:13:20.000001");
        assert_eq!(Moment::new(-62_135_596_800_000_001), None, "before the year 1");
        assert_eq!(Moment::new(253_402_300_800_000_000), None, "the year 10000");
    }

    #[test]
    fn days_follow_the_calendar_one_by_one_and_back() {
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
            assert_eq!(days(date.0, date.1, date.2), day);
        }
        assert_eq!(civil(0), (1970, 1, 1));
    }

    #[test]
    fn what_is_no_date_is_no_moment() {
        let zero = Moment { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0, micros: 0 };
        assert_eq!(zero.micros_since_1970(), None);
        let moment = Moment::new(1_700_000_000_123_456).unwrap();
        assert_eq!(moment.micros_since_1970(), Some(1_700_000_000_123_456));
        assert_eq!(Moment { hour: 24, ..moment }.micros_since_1970(), None);
    }
}
