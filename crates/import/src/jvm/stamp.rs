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

    /// How many clocks it shows.
    pub(super) fn clocks(&self) -> usize {
        [self.uptime, self.slewed, self.wall].iter().flatten().count()
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

#[cfg(test)]
mod tests {
    use super::*;

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
