//! Options on the measuring host: which CPUs are whose, and what watches them.

use super::RunOptions;
use anyhow::{anyhow, bail};
use clock::ClockChoice;
use load::Pacing;
use noise::Selection;

impl RunOptions {
    pub(crate) fn cpus(&self) -> anyhow::Result<Vec<usize>> {
        let Some(list) = &self.cpus else { return Ok(Vec::new()) };
        let cpus = load::parse_cpu_list(list).map_err(|e| anyhow!("--cpus: {e}"))?;
        let available = load::available_cpus();
        if let Some(missing) = cpus.iter().find(|c| !available.is_empty() && !available.contains(c)) {
            bail!("--cpus {list}: this process may not use CPU {missing}; it may use {available:?}");
        }
        Ok(cpus)
    }

    /// The CPUs that the server is meant to use; any that its host may have.
    pub(crate) fn server_cpus(&self) -> anyhow::Result<Option<Vec<usize>>> {
        let list = self.server_cpus.as_deref();
        list.map(|l| load::parse_cpu_list(l).map_err(|e| anyhow!("--server-cpus: {e}"))).transpose()
    }

    /// What watches the host.
    pub(crate) fn observers(&self) -> anyhow::Result<Selection> {
        let asked = self.observers.as_deref().map(Selection::parse).transpose();
        asked.map(Option::unwrap_or_default).map_err(|e| anyhow!("--observers {e}"))
    }

    pub(crate) fn clock(&self) -> anyhow::Result<ClockChoice> {
        match self.clock.as_deref() {
            None | Some("auto") => Ok(ClockChoice::Auto),
            Some("tsc") => Ok(ClockChoice::Tsc),
            Some("monotonic") => Ok(ClockChoice::Monotonic),
            Some(other) => bail!("--clock {other}: there are auto, tsc, monotonic"),
        }
    }

    pub(super) fn pacing(&self) -> anyhow::Result<Pacing> {
        match self.pacing.as_deref() {
            Some("spin") => Ok(Pacing::SleepThenSpin),
            Some("sleep") => Ok(Pacing::Sleep),
            // With one CPU a spinning client would take the server's time away.
            None | Some("auto") if load::available_cpus().len() >= 2 => Ok(Pacing::SleepThenSpin),
            None | Some("auto") => Ok(Pacing::Sleep),
            Some(other) => bail!("--pacing {other}: there are auto, spin, sleep"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Nanos;

    #[test]
    fn observers_are_read_by_name() {
        let read = |text: Option<&str>| {
            let options = RunOptions { observers: text.map(str::to_owned), ..RunOptions::default() };
            options.observers().map_err(|error| error.to_string())
        };
        assert_eq!(read(None), Ok(Selection::default()));
        assert_eq!(read(Some("off")), Ok(Selection::off()));
        assert_eq!(read(Some("default,hiccup=2ms")).unwrap().hiccup_period, Some(Nanos::from_millis(2)));
        assert!(
            read(Some("hickup"))
                .unwrap_err()
                .starts_with("--observers `hickup`: there are default, off, all, ")
        );
    }
}
