//! How large an experiment is: presets, and what flags change of them.

use super::arguments::PredictabilityArguments;
use anyhow::{anyhow, bail};
use units::{Nanos, Seed, parse_duration, parse_rate};

/// Order lines of each New-Order where requests are alike: the mean of the specification's five to fifteen.
pub(super) const ORDER_LINES: u32 = 10;

/// The size of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Size {
    pub(super) preset: &'static str,
    pub(super) rounds: u32,
    /// Requests/s, as flags take it.
    pub(super) rate: String,
    pub(super) warmup: Nanos,
    pub(super) time: Nanos,
    pub(super) warehouses: u32,
    pub(super) sessions: u32,
    pub(super) seed: Seed,
}

impl Size {
    /// Seconds for each run.
    fn quick() -> Size {
        Size {
            preset: "quick",
            rounds: 3,
            rate: "100/s".to_owned(),
            warmup: Nanos::from_secs(5),
            time: Nanos::from_secs(20),
            warehouses: 2,
            sessions: 16,
            seed: Seed(1),
        }
    }

    /// Sect. 7.1 of the paper: 500 transactions a second; PostgreSQL's 32 warehouses for both servers.
    fn paper() -> Size {
        Size {
            preset: "paper",
            rate: "500/s".to_owned(),
            warmup: Nanos::from_secs(60),
            time: Nanos::from_secs(300),
            warehouses: 32,
            ..Size::quick()
        }
    }

    /// The preset that is asked for, changed by the other flags.
    ///
    /// # Errors
    /// One line: the flag, the value, what there is.
    pub(super) fn of(arguments: &PredictabilityArguments) -> anyhow::Result<Size> {
        let mut size = match arguments.preset.as_deref() {
            None | Some("quick") => Size::quick(),
            Some("paper") => Size::paper(),
            Some(name) => bail!("--preset {name}: there are quick and paper"),
        };
        let within = |flag: &str, given: Option<u32>, usual: u32, most: u32| match given {
            Some(n) if !(1..=most).contains(&n) => bail!("{flag} {n}: must be in 1..{most}"),
            other => Ok(other.unwrap_or(usual)),
        };
        size.rounds = within("--rounds", arguments.rounds, size.rounds, 100)?;
        size.warehouses = within("--warehouses", arguments.warehouses, size.warehouses, 10_000)?;
        size.sessions = within("--sessions", arguments.sessions, size.sessions, 10_000)?;
        if let Some(text) = &arguments.rate {
            parse_rate(text).map_err(|error| anyhow!("--rate: {error}"))?;
            size.rate.clone_from(text);
        }
        if let Some(text) = &arguments.time {
            size.time = parse_duration(text).map_err(|error| anyhow!("--time: {error}"))?;
            if size.time < Nanos::from_millis(100) {
                bail!("--time {text}: must be at least 100ms");
            }
        }
        if let Some(text) = &arguments.warmup {
            size.warmup = parse_duration(text).map_err(|error| anyhow!("--warmup: {error}"))?;
        }
        size.seed = arguments.seed.map_or(size.seed, Seed);
        Ok(size)
    }

    /// Warm-up and measured time.
    pub(super) fn whole(&self) -> Nanos {
        self.warmup + self.time
    }

    /// Loading a warehouse takes some seconds on a small host.
    pub(super) fn loading(&self) -> Nanos {
        Nanos::from_secs(5 * u64::from(self.warehouses))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_change_a_preset_and_what_can_not_be_is_refused() {
        let of = |change: fn(&mut PredictabilityArguments)| {
            let mut arguments = PredictabilityArguments::default();
            change(&mut arguments);
            Size::of(&arguments)
        };
        let size = of(|a| {
            (a.preset, a.warehouses, a.rate) = (Some("paper".into()), Some(4), Some("50/s".into()));
            a.time = Some("1s".into());
        });
        let size = size.expect("a size");
        assert_eq!((size.preset, size.warehouses, size.rate.as_str(), size.rounds), ("paper", 4, "50/s", 3));
        assert_eq!(size.whole(), Nanos::from_secs(61));
        let refused = |change: fn(&mut PredictabilityArguments)| of(change).expect_err("refused").to_string();
        assert_eq!(refused(|a| a.preset = Some("long".into())), "--preset long: there are quick and paper");
        assert_eq!(refused(|a| a.rounds = Some(0)), "--rounds 0: must be in 1..100");
        assert_eq!(refused(|a| a.time = Some("1ms".into())), "--time 1ms: must be at least 100ms");
        assert!(refused(|a| a.rate = Some("fast".into())).starts_with("--rate: "));
    }
}
