//! The finest steps that the times of a table show: a unit, and the decimals behind it.
//!
//! Seconds with six decimals tell a microsecond, and milliseconds with three as well. Zeros at the end tell nothing: who writes
//! `1795247165.0` may know the second alone. Only a schedule is regular by itself: 500 requests each second are intended at
//! `….002000`, `….004000` and so on, so that of intended moments all decimals count. Where all of them are zeros, as those of one
//! request each second are, they count if the column has no other value. A length of zero tells nothing of its step, with and
//! without decimals: a tool that was never late has a lag of zeros. Such a column says nothing beside others.

use super::columns::Role;
use units::Nanos;

/// Columns of times, in the order of [`Role::ALL`].
const COLUMNS: usize = 8;

/// What a column showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Column {
    /// The finest step of values that tell one; `None` where none did.
    told: Option<Nanos>,
    /// The finest step in which the others are written, which may be exact or not.
    written: Option<Nanos>,
}

impl Column {
    fn take(&mut self, other: Column) {
        self.told = finer(self.told, other.told);
        self.written = finer(self.written, other.written);
    }

    fn step(self) -> Option<Nanos> {
        self.told.or(self.written)
    }
}

/// The finer of what is there.
fn finer(one: Option<Nanos>, other: Option<Nanos>) -> Option<Nanos> {
    one.into_iter().chain(other).min()
}

/// Column by column, the finest step seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Steps([Column; COLUMNS]);

impl Steps {
    /// Takes a value that is there.
    pub(super) fn take(&mut self, role: Role, text: &str, unit: Nanos) {
        if let Some(column) =
            Role::ALL.iter().position(|(known, _)| *known == role).and_then(|at| self.0.get_mut(at))
        {
            column.take(shown(role, text, unit));
        }
    }

    /// What both have seen.
    pub(crate) fn add(&mut self, other: Steps) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| mine.take(theirs));
    }

    /// The coarsest of the columns that hold moments; `None` where there was no value.
    pub(crate) fn of_moments(&self) -> Option<Nanos> {
        self.columns(Role::is_moment).filter_map(Column::step).max()
    }

    /// The coarsest of those that hold lengths of time; columns of zeros count where there is no other.
    pub(crate) fn of_lengths(&self) -> Option<Nanos> {
        let lengths = || self.columns(|role| !role.is_moment());
        lengths().filter_map(|column| column.told).max().or_else(|| lengths().filter_map(Column::step).max())
    }

    /// Those of one column alone.
    pub(crate) fn only(mut self, role: Role) -> Steps {
        for (column, (other, _)) in self.0.iter_mut().zip(Role::ALL) {
            *column = if other == role { *column } else { Column::default() };
        }
        self
    }

    fn columns(&self, wanted: impl Fn(Role) -> bool) -> impl Iterator<Item = Column> {
        let all = Role::ALL.iter().zip(self.0);
        all.filter(move |((role, _), _)| wanted(*role)).map(|(_, column)| column)
    }
}

/// What one value shows: its unit, ten times finer for each decimal that counts; at least 1 ns.
fn shown(role: Role, text: &str, unit: Nanos) -> Column {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let telling = decimals.trim_end_matches('0');
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let step = |counted: &str| {
        let finer = (counted.len() as i64).saturating_sub(exponent).clamp(0, 18);
        Some(Nanos((unit.0 / 10_u64.pow(finer as u32)).max(1)))
    };
    let is_zero = telling.is_empty() && whole.bytes().all(|byte| matches!(byte, b'0' | b'+' | b'-'));
    let is_regular = role == Role::Intended;
    match (telling.is_empty(), decimals.is_empty()) {
        _ if is_zero && !role.is_moment() => Column { told: None, written: step(decimals) },
        (true, false) if is_regular => Column { told: None, written: step(decimals) },
        (false, _) if is_regular => Column { told: step(decimals), written: None },
        _ => Column { told: step(telling), written: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(role: Role, text: &str, unit: Nanos) -> Option<Nanos> {
        shown(role, text, unit).told
    }

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
            assert_eq!(told(Role::Sent, text, unit), Some(expected), "{text}");
        }
        for (text, expected) in [("7.002000", Some(Nanos(1_000))), ("7.000000", None), ("7", Some(second))] {
            assert_eq!(told(Role::Intended, text, second), expected, "{text}");
        }
        assert_eq!(told(Role::Completed, "7.002000", second), Some(milli));
    }

    #[test]
    fn zeros_tell_nothing_beside_other_values() {
        let second = Nanos::from_secs(1);
        let of = |values: &[(Role, &str)]| {
            let mut steps = Steps::default();
            values.iter().for_each(|(role, text)| steps.take(*role, text, second));
            (steps.of_moments(), steps.of_lengths())
        };
        for zero in ["0", "0.0", "0.000000", "-0.0", "0e0"] {
            assert_eq!(of(&[(Role::Lag, zero), (Role::Service, "0.000316")]).1, Some(Nanos(1_000)), "{zero}");
        }
        // Of a column of zeros alone its decimals are all that there is.
        assert_eq!(of(&[(Role::Service, "0")]).1, Some(second));
        assert_eq!(of(&[(Role::Service, "0.000")]).1, Some(Nanos::from_millis(1)));
        assert_eq!(
            of(&[(Role::Service, "0.000000"), (Role::Service, "0.25")]).1,
            Some(Nanos::from_millis(10))
        );
        // A schedule of one each second, and one with a value that tells more.
        assert_eq!(of(&[(Role::Intended, "5.000000")]).0, Some(Nanos(1_000)));
        assert_eq!(
            of(&[(Role::Intended, "5.000000"), (Role::Intended, "6.5")]).0,
            Some(Nanos::from_millis(100))
        );
        assert_eq!(of(&[(Role::Intended, "5.000000"), (Role::Sent, "5.000000")]).0, Some(second));
        // A moment of zero is a moment.
        assert_eq!(of(&[(Role::Sent, "0")]).0, Some(second));
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
        let service = steps.only(Role::Service);
        assert_eq!((steps.of_lengths(), service.of_lengths()), (Some(Nanos(1_000)), Some(Nanos(1_000))));
        assert_eq!(service.of_moments(), None);
    }
}
