//! From local times to UTC by the rules of a zone: summer and winter, and the nights between them.

use clock::LocalZone;

/// What the clocks of a zone show at a moment of UTC, in nanoseconds since 1970; `None` where nobody can tell. That of this
/// host is [`clock::local_zone`].
pub(crate) type ZoneRules = fn(u64) -> Option<LocalZone>;

const S_NS: i128 = 1_000_000_000;
/// Further than any zone is from UTC, and nearer than two changes of one are to each other.
const DAY_NS: i128 = 86_400 * S_NS;

/// By how many seconds a zone is ahead of UTC when its clocks show a local time, ns as if it were UTC.
///
/// In autumn clocks show an hour twice: then `name`, the zone's abbreviation beside the time, tells when it was, if it is that of
/// one of the two. `None` if it is not, and for a time that clocks never showed, as in the hour that spring leaves out.
pub(crate) fn ahead_of_utc_s(local_ns: i128, name: &str, rules: ZoneRules) -> Option<i64> {
    let at = |ns: i128| rules(u64::try_from(ns).ok()?);
    let mut offsets: Vec<i64> =
        [-DAY_NS, 0, DAY_NS].into_iter().filter_map(|away| Some(at(local_ns + away)?.ahead_s)).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let shown_then =
        |ahead_s: &i64| at(local_ns - i128::from(*ahead_s) * S_NS).filter(|zone| zone.ahead_s == *ahead_s);
    let fitting: Vec<LocalZone> = offsets.iter().filter_map(shown_then).collect();
    let named = || fitting.iter().filter(|zone| zone.name == name);
    match fitting.as_slice() {
        [only] => Some(only.ahead_s),
        _ if named().count() == 1 => named().next().map(|zone| zone.ahead_s),
        _ => None,
    }
}

/// `UTC+01:00`.
pub(crate) fn shown(ahead_s: i64) -> String {
    let (sign, minutes) = (if ahead_s < 0 { '-' } else { '+' }, ahead_s.abs() / 60);
    format!("UTC{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// The zones of tests, whatever host they run on.
#[cfg(test)]
pub(crate) mod planted {
    use super::LocalZone;
    use crate::moment::wall_time;

    /// Whose summer lasts from one moment to the other, of the year 2026.
    fn zone(ns: u64, summer: [&str; 2], of_summer: (i64, &str), of_winter: (i64, &str)) -> Option<LocalZone> {
        let [from, to] = summer.map(|at| wall_time(at).expect("a moment").0);
        let (ahead_s, name) = if (from..to).contains(&i128::from(ns)) { of_summer } else { of_winter };
        Some(LocalZone { ahead_s, name: name.to_owned() })
    }

    pub(crate) fn new_york(ns: u64) -> Option<LocalZone> {
        zone(ns, ["2026-03-08 07:00:00Z", "2026-11-01 06:00:00Z"], (-14_400, "EDT"), (-18_000, "EST"))
    }

    pub(crate) fn berlin(ns: u64) -> Option<LocalZone> {
        zone(ns, ["2026-03-29 01:00:00Z", "2026-10-25 01:00:00Z"], (7_200, "CEST"), (3_600, "CET"))
    }
}

#[cfg(test)]
mod tests {
    use super::planted::{berlin, new_york};
    use super::*;
    use crate::moment::wall_time;

    fn hours(local: &str, name: &str, rules: ZoneRules) -> Option<i64> {
        let (local_ns, _) = wall_time(local).expect("a time");
        ahead_of_utc_s(local_ns, name, rules).map(|ahead_s| ahead_s / 3_600)
    }

    #[test]
    fn each_change_of_summer_and_winter_on_either_side_of_greenwich() {
        let of = |local: &str, name: &str| hours(local, name, new_york);
        assert_eq!(of("2026-03-08 01:59:59", "EST"), Some(-5));
        assert_eq!(of("2026-03-08 02:30:00", "EST"), None, "spring leaves this hour out");
        assert_eq!(of("2026-03-08 03:00:00", "EDT"), Some(-4));
        assert_eq!(of("2026-11-01 00:59:59", "EDT"), Some(-4));
        for time in ["01:00:00", "01:30:00", "01:59:59"] {
            let both = ["EDT", "EST", ""].map(|name| of(&format!("2026-11-01 {time}"), name));
            assert_eq!(both, [Some(-4), Some(-5), None], "{time}");
        }
        assert_eq!(of("2026-11-01 02:00:00", "EST"), Some(-5));
        let of = |local: &str, name: &str| hours(local, name, berlin);
        assert_eq!(of("2026-03-29 01:59:59", "CET"), Some(1));
        assert_eq!(of("2026-03-29 02:30:00", "CEST"), None, "spring leaves this hour out");
        assert_eq!(of("2026-03-29 03:00:00", "CEST"), Some(2));
        assert_eq!(of("2026-10-25 01:59:59", "CEST"), Some(2));
        for time in ["02:00:00", "02:30:00", "02:59:59"] {
            let both = ["CEST", "CET", ""].map(|name| of(&format!("2026-10-25 {time}"), name));
            assert_eq!(both, [Some(2), Some(1), None], "{time}");
        }
        assert_eq!(of("2026-10-25 03:00:00", "CET"), Some(1));
    }

    /// But for the two hours, a name is not asked for: a log has none, or a zone's other name.
    #[test]
    fn a_time_that_clocks_showed_once_needs_no_name() {
        for (local, name) in [("2026-07-01 12:00:00", ""), ("2026-07-01 12:00:00", "MESZ")] {
            assert_eq!(hours(local, name, berlin), Some(2));
        }
        assert_eq!(hours("2026-01-01 12:00:00", "", new_york), Some(-5));
        assert_eq!(hours("2026-01-01 12:00:00", "", |_| None), None, "the system can't tell");
        assert_eq!(ahead_of_utc_s(-DAY_NS * 2, "", new_york), None, "before 1970");
    }

    /// A day of each change, minute by minute: what a zone's clocks showed leads back to when they did.
    #[test]
    fn local_times_lead_back_to_the_moments_that_they_come_from() {
        let days = ["2026-03-07", "2026-10-24", "2026-10-31", "2026-03-28"];
        for (day, rules) in days.iter().flat_map(|day| [(day, new_york as ZoneRules), (day, berlin)]) {
            let (begin, _) = wall_time(&format!("{day} 12:00:00Z")).expect("a moment");
            for minute in 0..1_440 {
                let utc = begin + minute * 60 * S_NS;
                let zone = rules(u64::try_from(utc).expect("after 1970")).expect("a zone");
                let local = utc + i128::from(zone.ahead_s) * S_NS;
                assert_eq!(ahead_of_utc_s(local, &zone.name, rules), Some(zone.ahead_s), "{day} {minute}");
            }
        }
    }
}
