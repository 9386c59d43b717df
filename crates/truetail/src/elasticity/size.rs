//! How large an experiment is: presets, and what flags change of them.

use super::arguments::ElasticityArguments;
use anyhow::{anyhow, bail};
use units::{Nanos, Seed, parse_duration, parse_rate};

/// The size of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Size {
    pub(super) preset: &'static str,
    pub(super) records: u64,
    /// Requests/s, as flags take it.
    pub(super) rate: String,
    pub(super) time: Nanos,
    pub(super) join_at: Nanos,
    pub(super) sessions: u32,
    pub(super) workload: String,
    pub(super) seed: Seed,
}

impl Size {
    /// Some minutes on a small host.
    fn quick() -> Size {
        Size {
            preset: "quick",
            records: 20_000,
            rate: "500/s".to_owned(),
            time: Nanos::from_secs(120),
            join_at: Nanos::from_secs(30),
            sessions: 16,
            workload: "ycsb-a".to_owned(),
            seed: Seed(1),
        }
    }

    /// What the slides of Friedrich et al. say of their run.
    fn slides() -> Size {
        Size {
            preset: "slides",
            records: 10_000_000,
            rate: "10000/s".to_owned(),
            time: Nanos::from_secs(900),
            join_at: Nanos::from_secs(300),
            sessions: 48,
            ..Size::quick()
        }
    }

    /// The preset that is asked for, changed by the other flags.
    ///
    /// # Errors
    /// One line: the flag, the value, what there is.
    pub(super) fn of(arguments: &ElasticityArguments) -> anyhow::Result<Size> {
        let mut size = match arguments.preset.as_deref() {
            None | Some("quick") => Size::quick(),
            Some("slides") => Size::slides(),
            Some(name) => bail!("--preset {name}: there are quick and slides"),
        };
        match arguments.records {
            Some(n) if !(1..=1_000_000_000).contains(&n) => bail!("--records {n}: must be in 1..1000000000"),
            given => size.records = given.unwrap_or(size.records),
        }
        match arguments.sessions {
            Some(n) if !(1..=10_000).contains(&n) => bail!("--sessions {n}: must be in 1..10000"),
            given => size.sessions = given.unwrap_or(size.sessions),
        }
        if let Some(text) = &arguments.rate {
            parse_rate(text).map_err(|error| anyhow!("--rate: {error}"))?;
            size.rate.clone_from(text);
        }
        let times = [
            ("--time", &arguments.time, &mut size.time),
            ("--join-at", &arguments.join_at, &mut size.join_at),
        ];
        for (flag, given, time) in times {
            if let Some(text) = given {
                *time = parse_duration(text).map_err(|error| anyhow!("{flag}: {error}"))?;
            }
        }
        if size.join_at >= size.time {
            bail!(
                "--join-at: the second node would be started after the run, which --time ends; start it earlier"
            );
        }
        if let Some(name) = &arguments.workload {
            if !name.starts_with("ycsb") {
                bail!(
                    "--workload {name}: there are ycsb-a, ycsb-b, ycsb-c, ycsb-d, ycsb-e, ycsb-f and ycsb-core"
                );
            }
            size.workload.clone_from(name);
        }
        size.seed = arguments.seed.map_or(size.seed, Seed);
        Ok(size)
    }

    /// A Cassandra's start, and some ten thousand records loaded in a second.
    pub(super) fn loading(&self) -> Nanos {
        Nanos::from_secs(30 + self.records / 5_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_change_a_preset_and_what_can_not_be_is_refused() {
        let of = |change: fn(&mut ElasticityArguments)| {
            let mut arguments = ElasticityArguments::default();
            change(&mut arguments);
            Size::of(&arguments)
        };
        let slides = of(|a| a.preset = Some("slides".into())).expect("a size");
        assert_eq!(
            (slides.records, slides.rate.as_str(), slides.join_at.as_secs_f64()),
            (10_000_000, "10000/s", 300.0)
        );
        let refused = |change: fn(&mut ElasticityArguments)| of(change).expect_err("refused").to_string();
        assert_eq!(refused(|a| a.preset = Some("long".into())), "--preset long: there are quick and slides");
        assert!(refused(|a| a.join_at = Some("5min".into())).starts_with("--join-at: "));
        assert!(refused(|a| a.workload = Some("tpcc".into())).contains("ycsb-a"));
        assert!(refused(|a| a.sessions = Some(0)).contains("1..10000"));
    }
}
