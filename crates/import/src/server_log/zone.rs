//! When an entry was written: wall time, in a zone that may have to be explained.

use super::ServerLogError;
use crate::local_time::{ZoneRules, ahead_of_utc_s, shown};
use crate::moment::{decimal, offset_s, wall_time};
use std::collections::BTreeSet;
use units::Nanos;

/// The zone of an entry's time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Zone {
    /// By so many seconds ahead of UTC.
    Ahead(i64),
    /// One of the log's abbreviations, by its index in [`super::ServerLog::zones`].
    Named(usize),
}

/// A moment as the log tells it: so long before an entry was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// What the entry's time would be since 1970 if its zone were UTC, ns; its last digits are cut off.
    pub local_ns: i128,
    /// What was cut off is less than this, ns.
    pub unit_ns: i128,
    /// Its zone.
    pub zone: Zone,
    /// How long before.
    pub before: Nanos,
}

/// What the abbreviations of a log mean, as its user says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogZone {
    /// By so many seconds ahead of UTC.
    Ahead(i64),
    /// That of the host that reads the log, in summer and in winter. In the hour that autumn has twice the abbreviation tells
    /// which of the two it is; where it does not, an entry has no moment.
    Host,
}

impl LogZone {
    /// Reads `host`, `UTC`, or what the zone is ahead of UTC: `+01:00`, `-0330`, `+3`.
    ///
    /// # Errors
    /// [`ServerLogError::NoZone`]
    pub fn parse(text: &str) -> Result<LogZone, ServerLogError> {
        if text == "host" {
            return Ok(LogZone::Host);
        }
        let ahead = known(text).ok_or_else(|| ServerLogError::NoZone { text: text.to_owned() })?;
        Ok(LogZone::Ahead(ahead))
    }
}

/// What a zone is ahead of UTC where its name alone tells, s.
fn known(name: &str) -> Option<i64> {
    if ["UTC", "GMT", "UCT", "Z"].contains(&name) {
        return Some(0);
    }
    offset_s(name)
}

/// The time that an entry begins with, and what comes after it: `2026-11-22 06:26:05.475 UTC [17718] …` of `%m` and `%t`, or
/// seconds since 1970 of `%n`. `zones` are the abbreviations so far.
pub(super) fn written_at<'a>(text: &'a str, zones: &mut Vec<String>) -> Option<(Moment, &'a str)> {
    let Some((whole, None)) = text.get(..19).and_then(wall_time) else { return since_1970(text) };
    let rest = &text[19..];
    let digits = rest.strip_prefix('.').map_or(0, leading_digits);
    if digits > 9 {
        return None;
    }
    let unit_ns = 10_i128.pow(9 - u32::try_from(digits).ok()?);
    let (fraction, rest) = rest.split_at(if digits > 0 { 1 + digits } else { 0 });
    let nanos = if digits > 0 { decimal(&format!("0{fraction}"), 9)? } else { 0 };
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let name_ends = rest.bytes().take_while(|b| b.is_ascii_alphabetic()).count();
    let offset_ends = || {
        let signed = rest.strip_prefix(['+', '-'])?;
        Some(1 + signed.bytes().take_while(|b| b.is_ascii_digit() || *b == b':').count())
    };
    let (name, mut rest) = rest.split_at(if name_ends > 0 { name_ends } else { offset_ends().unwrap_or(0) });
    // `+03:` before other parts of a prefix.
    let trimmed = name.trim_end_matches(':');
    if trimmed.len() < name.len() {
        rest = text.get(text.len() - rest.len() - (name.len() - trimmed.len())..)?;
    }
    let zone = known(trimmed).map_or_else(|| Zone::Named(index_of(trimmed, zones)), Zone::Ahead);
    let local_ns = whole + i128::from(nanos);
    Some((Moment { local_ns, unit_ns, zone, before: Nanos::ZERO }, rest))
}

/// `1795328765.475 …`.
fn since_1970(text: &str) -> Option<(Moment, &str)> {
    let seconds = leading_digits(text);
    let fraction = leading_digits(text.get(seconds..)?.strip_prefix('.')?);
    let (number, rest) = text.split_at_checked(seconds + 1 + fraction)?;
    if !(9..=11).contains(&seconds) || !(1..=9).contains(&fraction) {
        return None;
    }
    let unit_ns = 10_i128.pow(9 - u32::try_from(fraction).ok()?);
    let local_ns = i128::from(decimal(number, 9)?);
    Some((Moment { local_ns, unit_ns, zone: Zone::Ahead(0), before: Nanos::ZERO }, rest))
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn index_of(name: &str, zones: &mut Vec<String>) -> usize {
    zones.iter().position(|zone| zone == name).unwrap_or_else(|| {
        zones.push(name.to_owned());
        zones.len() - 1
    })
}

/// From the log's times to UTC.
pub(super) struct Explained<'a> {
    given: Option<LogZone>,
    /// The log's abbreviations.
    zones: &'a [String],
    /// Those of [`LogZone::Host`].
    rules: ZoneRules,
    /// In words, where it had to be.
    pub(super) words: String,
}

impl<'a> Explained<'a> {
    /// Checks that each zone of `moments` means something. `rules` are those of this host's zone.
    ///
    /// # Errors
    /// [`ServerLogError::Zone`] and [`ServerLogError::Zones`]
    pub(super) fn new(
        moments: impl Iterator<Item = Moment>,
        zones: &'a [String],
        given: Option<LogZone>,
        rules: ZoneRules,
    ) -> Result<Explained<'a>, ServerLogError> {
        let named = moments.filter_map(|moment| match moment.zone {
            Zone::Named(index) => zones.get(index).map(String::as_str),
            Zone::Ahead(_) => None,
        });
        let named: Vec<&str> = named.collect::<BTreeSet<_>>().into_iter().collect();
        let names = named.join(" and ");
        let words = match (named.as_slice(), given) {
            ([], _) => String::new(),
            ([first, ..], None) => return Err(ServerLogError::Zone { zone: (*first).to_owned() }),
            ([_, _, ..], Some(LogZone::Ahead(_))) => return Err(ServerLogError::Zones { zones: names }),
            (_, Some(LogZone::Host)) => format!(" ({names} taken as this host's zone)"),
            (_, Some(LogZone::Ahead(ahead_s))) => format!(" ({names} taken as {}, as given)", shown(ahead_s)),
        };
        Ok(Explained { given, zones, rules, words })
    }

    /// Since 1970, ns: the middle of what the moment may be. `None` where this host's clocks showed the time twice and the
    /// abbreviation does not tell when, or where they never showed it.
    pub(super) fn wall_ns(&self, moment: &Moment) -> Option<i128> {
        let ahead_s = match (moment.zone, self.given) {
            (Zone::Ahead(ahead_s), _) | (Zone::Named(_), Some(LogZone::Ahead(ahead_s))) => ahead_s,
            (Zone::Named(index), Some(LogZone::Host)) => {
                let name = self.zones.get(index).map_or("", String::as_str);
                ahead_of_utc_s(moment.local_ns, name, self.rules)?
            }
            // Nobody asks for one that was not checked.
            (Zone::Named(_), None) => return None,
        };
        let written = moment.local_ns - i128::from(ahead_s) * 1_000_000_000 + moment.unit_ns / 2;
        Some(written - i128::from(moment.before.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_time::planted::{berlin, new_york};

    fn read(text: &str) -> Option<(i128, i128, Zone, String)> {
        let mut zones = vec!["EST".to_owned()];
        written_at(text, &mut zones).map(|(m, rest)| (m.local_ns, m.unit_ns, m.zone, rest.to_owned()))
    }

    /// 2026-11-22 06:26:05 as UTC.
    const AT: i128 = 1_795_328_765_000_000_000;

    #[test]
    fn times_of_all_prefixes() {
        let milli = 1_000_000;
        let cases = [
            ("2026-11-22 06:26:05.475 UTC [17718] x", AT + 475 * milli, milli, Zone::Ahead(0), " [17718] x"),
            ("2026-11-22 06:26:05 GMT [1]", AT, 1_000 * milli, Zone::Ahead(0), " [1]"),
            ("2026-11-22 06:26:05.475 +03 [1]", AT + 475 * milli, milli, Zone::Ahead(10_800), " [1]"),
            ("2026-11-22 06:26:05.475 -0330 [1]", AT + 475 * milli, milli, Zone::Ahead(-12_600), " [1]"),
            (
                "2026-11-22 06:26:05 UTC:10.0.0.1(5):u@d:[9]:LOG:  x",
                AT,
                1_000 * milli,
                Zone::Ahead(0),
                ":10.0.0.1(5):u@d:[9]:LOG:  x",
            ),
            ("2026-11-22 06:26:05 +03:[9]:LOG:  x", AT, 1_000 * milli, Zone::Ahead(10_800), ":[9]:LOG:  x"),
            ("2026-11-22 06:26:05.475 CET [1]", AT + 475 * milli, milli, Zone::Named(1), " [1]"),
            ("2026-11-22 06:26:05.475 EST,\"a\"", AT + 475 * milli, milli, Zone::Named(0), ",\"a\""),
            ("1795328765.475 [1]", AT + 475 * milli, milli, Zone::Ahead(0), " [1]"),
        ];
        for (text, local_ns, unit_ns, zone, rest) in cases {
            assert_eq!(read(text), Some((local_ns, unit_ns, zone, rest.to_owned())), "{text}");
        }
        for bad in [
            "",
            "2026-11-22",
            "2026-13-22 06:26:05 UTC",
            "17953.475",
            "LOG:  x",
            "1795328765 x",
            "é026-11-22 06:26:05",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    /// The same local time of one night in autumn, as the server wrote it before and after the clocks were set back.
    #[test]
    fn the_abbreviation_tells_which_of_the_two_hours_it_is() {
        let cases = [
            ("2026-11-01 01:30:00.000 EDT", "2026-11-01 05:30:00Z", new_york as ZoneRules),
            ("2026-11-01 01:30:00.000 EST", "2026-11-01 06:30:00Z", new_york),
            ("2026-10-25 02:30:00.000 CEST", "2026-10-25 00:30:00Z", berlin),
            ("2026-10-25 02:30:00.000 CET", "2026-10-25 01:30:00Z", berlin),
        ];
        let placed = |text: &str, rules: ZoneRules| {
            let mut zones = Vec::new();
            let (moment, _) = written_at(text, &mut zones).expect("a time");
            let explained = Explained::new([moment].into_iter(), &zones, Some(LogZone::Host), rules);
            explained.expect("explained").wall_ns(&moment)
        };
        for (text, utc, rules) in cases {
            let expected = wall_time(utc).map(|(ns, _)| ns + 500_000);
            assert_eq!(placed(text, rules), expected, "{text}");
        }
        // Neither of the two is called this, and no clock of New York showed the other.
        assert_eq!(placed("2026-11-01 01:30:00.000 XYZ", new_york), None);
        assert_eq!(placed("2026-03-08 02:30:00.000 EST", new_york), None);
        assert!(placed("2026-11-01 00:59:59.999 XYZ", new_york).is_some(), "there is one such time alone");
    }

    #[test]
    fn zones_are_host_or_an_offset() {
        let of = |text: &str| LogZone::parse(text).ok();
        assert_eq!(of("host"), Some(LogZone::Host));
        assert_eq!(of("UTC"), Some(LogZone::Ahead(0)));
        assert_eq!(of("+01:00"), Some(LogZone::Ahead(3_600)));
        assert_eq!(of("-0330"), Some(LogZone::Ahead(-12_600)));
        assert_eq!(of("+3"), Some(LogZone::Ahead(10_800)));
        for bad in ["", "CET", "01:00", "+25:00", "+1:60", "+", "+-1", "+1:2:3", "+é"] {
            let error = LogZone::parse(bad).expect_err(bad).to_string();
            assert!(
                error.starts_with(&format!("--server-log-zone {bad}: ")) && !error.contains('\n'),
                "{error}"
            );
        }
    }
}
