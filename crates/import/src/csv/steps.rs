//! The finest steps that the times of a table show: a unit, and the decimals behind it.
//!
//! Seconds with six decimals tell a microsecond, and milliseconds with three as well. Zeros at the end tell nothing: who writes
//! `1795247165.0` may know the second alone. Only a schedule is regular by itself: 500 requests each second are intended at
//! `….002000`, `….004000` and so on, so that of intended moments all decimals count, unless all of one are zeros.

use super::columns::Role;
use units::Nanos;

/// Column by column of times, in the order of [`Role::ALL`], the finest step seen; `None` where nothing was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Steps([Option<Nanos>; 8]);

impl Steps {
    /// Takes a value that is there.
    pub(super) fn take(&mut self, role: Role, text: &str, unit: Nanos) {
        if let Some(slot) =
            Role::ALL.iter().position(|(known, _)| *known == role).and_then(|at| self.0.get_mut(at))
        {
            let step = step(role, text, unit);
            *slot = Some(slot.map_or(step, |known| known.min(step)));
        }
    }

    /// What both have seen.
    pub(crate) fn add(&mut self, other: Steps) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = mine.iter().copied().chain(theirs).min();
        }
    }

    /// The coarsest of the columns that hold moments; `None` where there was no value.
    pub(crate) fn of_moments(&self) -> Option<Nanos> {
        self.coarsest(Role::is_moment)
    }

    /// The coarsest of those that hold lengths of time.
    pub(crate) fn of_lengths(&self) -> Option<Nanos> {
        self.coarsest(|role| !role.is_moment())
    }

    /// Of one column.
    pub(crate) fn of(&self, role: Role) -> Option<Nanos> {
        self.coarsest(|other| other == role)
    }

    fn coarsest(&self, wanted: impl Fn(Role) -> bool) -> Option<Nanos> {
        let all = Role::ALL.iter().zip(self.0).filter(|((role, _), _)| wanted(*role));
        all.filter_map(|(_, step)| step).max()
    }
}

/// The step of one value: its unit, ten times finer for each decimal that counts; at least 1 ns.
fn step(role: Role, text: &str, unit: Nanos) -> Nanos {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let decimals = digits.split_once('.').map_or("", |(_, decimals)| decimals);
    let telling = decimals.trim_end_matches('0');
    let counted = if role == Role::Intended && !telling.is_empty() { decimals } else { telling };
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let finer = (counted.len() as i64).saturating_sub(exponent).clamp(0, 18);
    Nanos((unit.0 / 10_u64.pow(finer as u32)).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_make_a_unit_finer() {
        let (second, milli) = (Nanos::from_secs(1), Nanos::from_millis(1));
        for (text, unit, expected) in [
            ("1795247165", second, second),
            ("1795247165.5", second, Nanos::from_millis(100)),
            ("1795247165.882296", second, Nanos::from_micros(1)),
            ("1795247165.0", second, second),
            ("1795247165882.296", milli, Nanos::from_micros(1)),
            ("12", milli, milli),
            ("0.30000000000000004", second, Nanos(1)),
            ("1.5e-3", second, Nanos::from_micros(100)),
            ("1.5e3", second, second),
            ("1e999999999999999999999", second, second),
            ("7", Nanos(1), Nanos(1)),
        ] {
            assert_eq!(step(Role::Sent, text, unit), expected, "{text}");
        }
        for (text, expected) in [("7.002000", Nanos(1_000)), ("7.000000", second), ("7", second)] {
            assert_eq!(step(Role::Intended, text, second), expected, "{text}");
        }
        assert_eq!(step(Role::Completed, "7.002000", second), milli);
    }

    #[test]
    fn the_finest_value_of_a_column_and_the_coarsest_column_count() {
        let mut steps = Steps::default();
        assert_eq!((steps.of_moments(), steps.of_lengths()), (None, None));
        steps.take(Role::Start, "5", Nanos::from_secs(1));
        steps.take(Role::Start, "5.25", Nanos::from_secs(1));
        let mut other = Steps::default();
        other.take(Role::Start, "5.5", Nanos::from_secs(1));
        other.take(Role::Completed, "6", Nanos::from_millis(1));
        other.take(Role::Service, "6", Nanos::from_micros(1));
        steps.add(other);
        assert_eq!(steps.of_moments(), Some(Nanos::from_millis(10)));
        assert_eq!((steps.of_lengths(), steps.of(Role::Service)), (Some(Nanos(1_000)), Some(Nanos(1_000))));
    }
}
