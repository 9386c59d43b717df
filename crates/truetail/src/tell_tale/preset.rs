//! How large an experiment is: presets, and what flags change of them.

use super::arguments::TellTaleArguments;
use super::matrix::{Row, Target};
use anyhow::{anyhow, bail};
use units::{Nanos, Seed, parse_duration, parse_rate};

/// Sessions of each load: the terminals of the paper.
pub(super) const SESSIONS: u32 = 10;

/// How long a load is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Length {
    /// Recorded, and marked as warm-up.
    pub(super) warmup: Nanos,
    /// Measured after it.
    pub(super) time: Nanos,
}

impl Length {
    /// Both.
    pub(super) fn whole(self) -> Nanos {
        self.warmup + self.time
    }

    /// Both in whole seconds, which is what YCSB and BenchBase take.
    pub(super) fn whole_seconds(self) -> u64 {
        self.whole().0.div_ceil(1_000_000_000).max(1)
    }
}

/// The size of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Size {
    pub(super) preset: &'static str,
    pub(super) rounds: u32,
    pub(super) length: Length,
    /// Of a closed loop on the no-op store, where each second makes some hundred thousand rows.
    pub(super) unhindered: Length,
    /// Thousands of records of YCSB's table.
    pub(super) scale: u32,
    /// TPC-C's warehouses.
    pub(super) warehouses: u32,
    /// The longest scan, records.
    pub(super) longest_scan: u32,
    /// Largest heap of collectors that collect, MiB.
    pub(super) heap_mib: u64,
    /// Largest heap of Epsilon, which never collects, MiB.
    pub(super) epsilon_mib: u64,
    /// The same for a closed loop on the no-op store, MiB: its rows are kept, and written as text when the load has ended.
    pub(super) unhindered_epsilon_mib: u64,
    /// The highest rate of an open loop unless one is asked, 1/s.
    pub(super) highest_rate: u64,
    /// The same on the no-op store, where nothing but the harness has the CPUs, 1/s.
    pub(super) highest_rate_alone: u64,
    /// The rate that was asked, 1/s.
    pub(super) rate: Option<u64>,
    pub(super) seed: Seed,
}

const fn millis(ms: u64) -> Nanos {
    Nanos::from_millis(ms)
}

/// Sect. 4 of the paper: ten terminals, 10 s and 60 s, YCSB of scale 1200, heaps of 8 GB, Epsilon's of 160 GB and more.
const PAPER: Size = Size {
    preset: "paper",
    rounds: 3,
    length: Length { warmup: millis(10_000), time: millis(60_000) },
    unhindered: Length { warmup: millis(10_000), time: millis(60_000) },
    scale: 1_200,
    warehouses: 10,
    longest_scan: 1_000,
    heap_mib: 8 * 1024,
    epsilon_mib: 180 * 1024,
    unhindered_epsilon_mib: 180 * 1024,
    highest_rate: 50_000,
    highest_rate_alone: 50_000,
    rate: None,
    seed: Seed(1),
};

/// Seconds for each run, and heaps so small that collections happen in them. A JVM that is not warm keeps no rate, and what
/// waits from its first second is still there two seconds later.
const QUICK: Size = Size {
    preset: "quick",
    rounds: 3,
    length: Length { warmup: millis(2_500), time: millis(2_500) },
    unhindered: Length { warmup: millis(500), time: millis(1_500) },
    scale: 10,
    warehouses: 1,
    longest_scan: 100,
    heap_mib: 256,
    epsilon_mib: 4 * 1024,
    unhindered_epsilon_mib: 12 * 1024,
    highest_rate: 20_000,
    highest_rate_alone: 50_000,
    rate: None,
    seed: Seed(1),
};

impl Size {
    /// The preset that is asked for, changed by the other flags.
    ///
    /// # Errors
    /// One line: the flag, the value, what there is.
    pub(super) fn of(arguments: &TellTaleArguments) -> anyhow::Result<Size> {
        let mut size = match arguments.preset.as_deref() {
            None | Some("quick") => QUICK,
            Some("paper") => PAPER,
            Some(name) => bail!("--preset {name}: there are quick and paper"),
        };
        if let Some(rounds) = arguments.rounds {
            if !(1..=100).contains(&rounds) {
                bail!("--rounds {rounds}: must be in 1..100");
            }
            size.rounds = rounds;
        }
        if let Some(text) = &arguments.rate {
            let rate = parse_rate(text).map_err(|error| anyhow!("--rate: {error}"))?;
            if rate.get() < 10.0 {
                bail!("--rate {text}: must be at least 10/s, one for each of {SESSIONS} sessions");
            }
            size.rate = Some(rate.get().round() as u64);
        }
        if let Some(text) = &arguments.time {
            let time = parse_duration(text).map_err(|error| anyhow!("--time: {error}"))?;
            if time < millis(100) {
                bail!("--time {text}: must be at least 100ms");
            }
            (size.length.time, size.unhindered.time) = (time, time);
        }
        if let Some(text) = &arguments.warmup {
            let warmup = parse_duration(text).map_err(|error| anyhow!("--warmup: {error}"))?;
            (size.length.warmup, size.unhindered.warmup) = (warmup, warmup);
        }
        size.seed = arguments.seed.map_or(size.seed, Seed);
        Ok(size)
    }

    /// The same for the runs of one row: what differs on the no-op store is in effect.
    pub(super) fn of_row(&self, row: Row) -> Size {
        let alone = row.target == Target::Nothing;
        let unhindered = alone && !row.is_open;
        Size {
            length: if unhindered { self.unhindered } else { self.length },
            epsilon_mib: if unhindered { self.unhindered_epsilon_mib } else { self.epsilon_mib },
            highest_rate: if alone { self.highest_rate_alone } else { self.highest_rate },
            ..self.clone()
        }
    }

    /// A heap that the host has room for besides the database, MiB.
    pub(super) fn heap(&self, available_mib: u64) -> u64 {
        self.heap_mib.min(available_mib / 2).max(16)
    }

    /// The same for Epsilon.
    pub(super) fn epsilon_heap(&self, available_mib: u64) -> u64 {
        self.epsilon_mib.min(available_mib / 4 * 3).max(16)
    }

    /// Records of YCSB's table.
    pub(super) fn records(&self) -> u64 {
        u64::from(self.scale) * 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(change: impl FnOnce(&mut TellTaleArguments)) -> anyhow::Result<Size> {
        let mut arguments = TellTaleArguments::default();
        change(&mut arguments);
        Size::of(&arguments)
    }

    #[test]
    fn flags_change_a_preset() {
        let size = of(|a| {
            (a.preset, a.rounds, a.seed) = (Some("paper".to_owned()), Some(10), Some(7));
            (a.rate, a.time, a.warmup) =
                (Some("2000/s".to_owned()), Some("1s".to_owned()), Some("0s".to_owned()));
        });
        let size = size.expect("a size");
        assert_eq!((size.rounds, size.rate, size.seed, size.records()), (10, Some(2000), Seed(7), 1_200_000));
        assert_eq!((size.length, size.unhindered.whole()), (size.unhindered, millis(1_000)));
    }

    #[test]
    fn what_can_not_be_is_refused() {
        let refused = |change: fn(&mut TellTaleArguments)| of(change).expect_err("refused").to_string();
        assert_eq!(
            refused(|a| a.preset = Some("long".to_owned())),
            "--preset long: there are quick and paper"
        );
        assert_eq!(refused(|a| a.rounds = Some(0)), "--rounds 0: must be in 1..100");
        assert_eq!(refused(|a| a.time = Some("1ms".to_owned())), "--time 1ms: must be at least 100ms");
        assert!(
            refused(|a| a.rate = Some("3/s".to_owned())).starts_with("--rate 3/s: must be at least 10/s")
        );
    }

    #[test]
    fn heaps_leave_room_on_a_small_host() {
        let paper = of(|a| a.preset = Some("paper".to_owned())).expect("a size");
        assert_eq!((paper.heap(400_000), paper.epsilon_heap(400_000)), (8_192, 184_320));
        assert_eq!((paper.heap(8_000), paper.epsilon_heap(8_000)), (4_000, 6_000));
    }

    #[test]
    fn tools_that_count_seconds_get_whole_ones() {
        let of = |ms| Length { warmup: millis(500), time: millis(ms) }.whole_seconds();
        assert_eq!([of(500), of(2_500), of(2_600), of(0)], [1, 3, 4, 1]);
    }
}
