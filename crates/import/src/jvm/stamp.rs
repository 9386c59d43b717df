//! Moments as logs write them, and how the clocks of one log are related.

/// A clock's reading in nanoseconds: the moment lies somewhere from `from_ns` to `to_ns`, as far as the digits tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// No earlier than this.
    pub from_ns: i128,
    /// No later than this.
    pub to_ns: i128,
}

impl Reading {
    /// A reading with all its digits.
    pub(super) fn exact(ns: u64) -> Reading {
        Reading { from_ns: i128::from(ns), to_ns: i128::from(ns) }
    }

    /// A reading whose lower digits were cut off.
    pub(super) fn cut(ns: i128, unit_ns: i128) -> Reading {
        Reading { from_ns: ns, to_ns: ns + unit_ns - 1 }
    }

    /// A reading that was rounded to the nearest unit.
    pub(super) fn rounded(ns: i128, unit_ns: i128) -> Reading {
        Reading { from_ns: ns - unit_ns / 2, to_ns: ns + unit_ns / 2 }
    }

    /// Its middle.
    pub fn middle_ns(self) -> i128 {
        self.from_ns + (self.to_ns - self.from_ns) / 2
    }

    /// From its middle to its ends.
    pub fn half_width_ns(self) -> i128 {
        (self.to_ns - self.from_ns + 1) / 2
    }

    pub(super) fn moved(self, ns: i128) -> Reading {
        Reading { from_ns: self.from_ns + ns, to_ns: self.to_ns + ns }
    }
}

/// What a line says of its moment; a clock that it does not show is absent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stamp {
    /// Since the start of the JVM.
    pub uptime: Option<Reading>,
    /// `CLOCK_MONOTONIC` of the JVM's host.
    pub slewed: Option<Reading>,
    /// Since 1970.
    pub wall: Option<Reading>,
}

impl Stamp {
    /// Whether it shows any clock.
    pub fn is_some(&self) -> bool {
        self.uptime.is_some() || self.slewed.is_some() || self.wall.is_some()
    }

    /// Whether this moment can be `earlier_ns` before `other` or later, by the first clock that both show.
    pub(super) fn is_within(&self, other: &Stamp, earlier_ns: i128) -> bool {
        self.with(other).is_some_and(|(own, other)| own.to_ns + earlier_ns >= other.from_ns)
    }

    /// Whether it must be.
    pub(super) fn is_surely_within(&self, other: &Stamp, earlier_ns: i128) -> bool {
        self.with(other).is_some_and(|(own, other)| own.from_ns + earlier_ns >= other.to_ns)
    }

    fn with(&self, other: &Stamp) -> Option<(Reading, Reading)> {
        let pairs = [(self.slewed, other.slewed), (self.uptime, other.uptime), (self.wall, other.wall)];
        pairs.into_iter().find_map(|(own, other)| Some((own?, other?)))
    }
}

/// How far one clock of a log is ahead of another, from all lines that show both.
///
/// Both count alike (each is the kernel's clock as it is slewed), so that every line narrows the offset. A line whose two
/// readings lie apart, since the thread lost its CPU between them, is left out; if many do, the clock has stepped, and
/// there is no offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offset {
    bounds: Option<Reading>,
    lines: u64,
    apart: u64,
}

/// The two clocks of a line are read one after the other.
const APART_NS: i128 = 50_000;

impl Offset {
    pub(super) fn add(&mut self, from: Option<Reading>, to: Option<Reading>) {
        let (Some(from), Some(to)) = (from, to) else { return };
        let seen = Reading { from_ns: to.from_ns - from.to_ns, to_ns: to.to_ns - from.from_ns };
        self.lines += 1;
        let Some(known) = self.bounds else {
            self.bounds = Some(seen);
            return;
        };
        let both = Reading { from_ns: known.from_ns.max(seen.from_ns), to_ns: known.to_ns.min(seen.to_ns) };
        if both.from_ns <= both.to_ns {
            self.bounds = Some(both);
        } else if both.from_ns - both.to_ns > APART_NS {
            self.apart += 1;
        }
    }

    /// The offset; `None` without a line that shows both, or where they do not agree.
    pub fn get(&self) -> Option<Reading> {
        self.bounds.filter(|_| self.apart * 10 <= self.lines)
    }

    /// Lines that it comes from.
    pub fn lines(&self) -> u64 {
        self.lines
    }
}

/// A reading on another clock: that of the line itself, by an offset, or what both leave.
pub(super) fn carried(
    from: Option<Reading>,
    by: Option<Reading>,
    direct: Option<Reading>,
) -> Option<Reading> {
    let moved = from
        .zip(by)
        .map(|(from, by)| Reading { from_ns: from.from_ns + by.from_ns, to_ns: from.to_ns + by.to_ns });
    match (moved, direct) {
        (Some(moved), Some(direct)) => {
            let both =
                Reading { from_ns: moved.from_ns.max(direct.from_ns), to_ns: moved.to_ns.min(direct.to_ns) };
            Some(if both.from_ns <= both.to_ns { both } else { direct })
        }
        (moved, direct) => moved.or(direct),
    }
}

/// Wall time in nanoseconds since 1970 as it is written, and by how many seconds its zone is ahead of UTC where it says so:
/// `2026-11-21T06:35:37.116+0000`, `…+01:00`, `…Z`, without a fraction, without a zone. The zone is taken into account.
pub(super) fn wall_time(text: &str) -> Option<(i128, Option<i64>)> {
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

/// Outer `None`: it is no zone. Inner `None`: there is none.
fn zone_offset(zone: &str) -> Option<Option<i64>> {
    if zone.is_empty() {
        return Some(None);
    }
    if zone == "Z" {
        return Some(Some(0));
    }
    let (sign, digits) = match zone.as_bytes().first()? {
        b'+' => (1, zone.get(1..)?.replace(':', "")),
        b'-' => (-1, zone.get(1..)?.replace(':', "")),
        _ => return None,
    };
    if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (i64, i64) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    (hours < 24 && minutes < 60).then_some(Some(sign * (hours * 3_600 + minutes * 60)))
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
pub(super) fn decimal(text: &str, digits: usize) -> Option<u64> {
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

    #[test]
    fn lines_with_two_clocks_narrow_the_offset_and_a_step_voids_it() {
        let line = |uptime_ns: i128, wall_ns: i128| {
            let millis = wall_ns.div_euclid(1_000_000) * 1_000_000;
            (Some(Reading { from_ns: uptime_ns, to_ns: uptime_ns }), Some(Reading::cut(millis, 1_000_000)))
        };
        let mut offset = Offset::default();
        for n in 0..200 {
            let uptime = n * 7_654_321;
            let (from, to) = line(uptime, 5_000_123_456 + uptime);
            offset.add(from, to);
        }
        let found = offset.get().expect("an offset");
        assert!(
            found.half_width_ns() < 20_000 && (found.middle_ns() - 5_000_123_456).abs() < 20_000,
            "{found:?}"
        );
        let (from, to) = line(3_000_000_000, 9_000_000_000);
        offset.add(from, to);
        assert_eq!(offset.get(), Some(found), "one line that was torn apart");
        (0..40).for_each(|_| offset.add(from, to));
        assert_eq!(offset.get(), None, "the wall clock was set");
    }
}
