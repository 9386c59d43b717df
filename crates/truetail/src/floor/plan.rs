//! Which parts a floor has, and how each is run: as the run would be, in little time, and asking for nothing.

use crate::settings::RunOptions;
use anyhow::{anyhow, bail};
use driver::Dialect;
use load::Phase;
use units::Nanos;
use workload::noop::Mode;

/// One part: the name of its directory, and the run that makes it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Part {
    pub(super) directory: String,
    pub(super) options: RunOptions,
}

/// What a floor is to be made for.
pub(super) struct Wanted<'a> {
    /// The run's options, with defaults filled in.
    pub(super) run: &'a RunOptions,
    /// The target that is asked for nothing, where there is one, and what it speaks.
    pub(super) target: Option<(&'a str, Dialect)>,
    /// The echo server, where sockets play a part.
    pub(super) echo: Option<&'a str>,
    /// All parts together.
    pub(super) time: Nanos,
}

/// What a part takes besides its load: connecting, checking the clock, reading what was recorded.
const BESIDES: Nanos = Nanos::from_millis(400);
/// The shortest load that says anything.
const SHORTEST: Nanos = Nanos::from_millis(200);

impl Wanted<'_> {
    /// The parts in their order. The harness alone, the echo server, and the target have the same time; that of the target
    /// is divided among the modes that it has.
    ///
    /// # Errors
    /// A time that is too short for them.
    pub(super) fn parts(&self) -> anyhow::Result<Vec<Part>> {
        let modes = self.target.map_or(Vec::new(), |(_, dialect)| modes(dialect));
        let groups = 1 + u64::from(self.echo.is_some()) + u64::from(!modes.is_empty());
        let of_group = Nanos(self.time.0 / groups);
        let of_mode = Nanos(of_group.0 / modes.len().max(1) as u64);
        let least = BESIDES + SHORTEST;
        if of_mode < least {
            let needed = Nanos(least.0 * groups * modes.len().max(1) as u64);
            let count = groups - 1 + modes.len().max(1) as u64;
            bail!("a floor in {}: too short for its {count} parts; it needs {needed} or more", self.time);
        }
        let mut parts = vec![self.part("null", self.null(), Mode::Ping, of_group, false)?];
        if let Some(url) = self.echo {
            parts.push(self.part("echo", url, Mode::Ping, of_group, false)?);
        }
        if let Some((url, _)) = self.target {
            for mode in modes {
                let directory = format!("noop-{}", mode.name().replace('+', "-"));
                parts.push(self.part(&directory, url, mode, of_mode, true)?);
            }
        }
        Ok(parts)
    }

    /// The harness that the target has: a database in this process has a thread for each session.
    fn null(&self) -> &'static str {
        match self.target {
            Some((_, Dialect::Sqlite | Dialect::DuckDb)) => "null:?execution=blocking",
            _ => "null:",
        }
    }

    fn part(
        &self,
        directory: &str,
        url: &str,
        mode: Mode,
        time: Nanos,
        is_target: bool,
    ) -> anyhow::Result<Part> {
        let load = time.saturating_sub(BESIDES);
        let warmup = Nanos(load.0 / 10);
        let measured = load.saturating_sub(warmup);
        let mut options = self.run.clone();
        options.target = Some(url.to_owned());
        options.workload = Some("noop".to_owned());
        options.param = vec![format!("mode={}", mode.name())];
        options.duration = options.phases.is_none().then(|| text(measured));
        options.phases = options.phases.as_deref().map(|phases| scaled(phases, measured)).transpose()?;
        options.warmup = Some(text(warmup));
        if !is_target {
            (options.isolation, options.server_cpus) = (None, None);
        }
        // What asks for work, what ends a run early, and what is made once for all parts is left out.
        (options.scale, options.compat, options.mix, options.loaders) = (None, None, None, None);
        (options.requests, options.retry, options.check) = (None, None, None);
        (options.retry_pause, options.statements) = (None, None);
        (options.jvm_log, options.jvm_start) = (Vec::new(), None);
        (options.server_log, options.server_log_zone) = (Vec::new(), None);
        (options.out, options.repeat, options.floor, options.echo) = (None, None, None, None);
        Ok(Part { directory: directory.to_owned(), options })
    }
}

/// The modes of a request that asks for nothing, as far as they differ here.
fn modes(dialect: Dialect) -> Vec<Mode> {
    match dialect {
        Dialect::Null => Vec::new(),
        Dialect::KeyValue => vec![Mode::Ping],
        _ => Mode::ALL
            .into_iter()
            .filter(|mode| *mode != Mode::Empty || dialect.has_empty_statement())
            .collect(),
    }
}

/// The same phases in so much time, each with the same share of it; without mixes, whose operations there are not.
fn scaled(phases: &str, time: Nanos) -> anyhow::Result<String> {
    let phases = load::parse_phases(phases).map_err(|error| anyhow!("--phases: {error}"))?;
    let all: u64 = phases.iter().map(|phase| phase.duration.0).sum();
    let scale = time.0 as f64 / all.max(1) as f64;
    let one = |phase: &Phase| {
        let duration = Nanos(((phase.duration.0 as f64 * scale) as u64).max(1_000_000));
        let rate = phase.rate.map_or(String::new(), |(from, to)| format!("@{}..{}/s", from.get(), to.get()));
        let sessions = phase.sessions.map_or(String::new(), |count| format!(" sessions={count}"));
        format!("{}{rate}{sessions}", text(duration))
    };
    Ok(phases.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// A time as flags take it, to the millisecond.
fn text(time: Nanos) -> String {
    format!("{}ms", time.0 / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::Execution;

    fn options(words: &str) -> RunOptions {
        RunOptions::from_toml(words).expect("options").effective(Execution::Polled)
    }

    fn parts(run: &RunOptions, dialect: Dialect, seconds: u64) -> anyhow::Result<Vec<Part>> {
        let target = Some(("postgres://db1/x", dialect));
        Wanted { run, target, echo: Some("echo://h:1"), time: Nanos::from_secs(seconds) }.parts()
    }

    #[test]
    fn each_part_is_the_run_but_asks_for_nothing() {
        let run = options(
            "rate = '700/s'\narrivals = 'lognormal'\nsessions = 12\nthreads = 2\ncpus = '0'\nserver-cpus = '1'\ntimeout = '1s'\n\
             workload = 'ycsb-a'\nscale = 3.0\nmix = 'Read=1'\nisolation = 'serializable'\nduration = '60s'\nseed = 9\n\
             requests = 5\ncheck = 'staleness'\nfloor = '20s'\nout = 'x'\nrepeat = 3\nparam = ['a=b']",
        );
        let parts = parts(&run, Dialect::Postgres, 21).expect("parts");
        let names: Vec<&str> = parts.iter().map(|part| part.directory.as_str()).collect();
        assert_eq!(names, ["null", "echo", "noop-ping", "noop-empty", "noop-select1", "noop-empty-commit"]);
        for part in &parts {
            let made = &part.options;
            for (same, of_run) in [
                (&made.rate, &run.rate),
                (&made.arrivals, &run.arrivals),
                (&made.timeout, &run.timeout),
                (&made.cpus, &run.cpus),
                (&made.pacing, &run.pacing),
                (&made.clock, &run.clock),
            ] {
                assert_eq!(same, of_run);
            }
            assert_eq!((made.sessions, made.threads, made.seed), (Some(12), Some(2), Some(9)));
            assert_eq!((made.workload.as_deref(), made.param.len()), (Some("noop"), 1));
            let left_out =
                [made.requests.is_some(), made.floor.is_some(), made.check.is_some(), made.mix.is_some()];
            assert_eq!(left_out, [false; 4]);
            made.check().expect("it can be run");
            let is_target = part.directory.starts_with("noop");
            assert_eq!((made.isolation.is_some(), made.server_cpus.is_some()), (is_target, is_target));
        }
        // A third each: 7 s less 0.4 s, a tenth of which is warm-up; the target's third is divided by four.
        let time = |part: &Part| (part.options.warmup.clone(), part.options.duration.clone());
        assert_eq!(time(&parts[1]), (Some("660ms".to_owned()), Some("5940ms".to_owned())));
        assert_eq!(time(&parts[5]), (Some("135ms".to_owned()), Some("1215ms".to_owned())));
    }

    #[test]
    fn there_are_as_many_modes_as_the_target_has() {
        let names = |dialect| modes(dialect).into_iter().map(Mode::name).collect::<Vec<_>>();
        assert_eq!(names(Dialect::KeyValue), ["ping"]);
        assert_eq!(names(Dialect::Sqlite), ["ping", "select1", "empty+commit"]);
        assert_eq!(names(Dialect::Null), Vec::<&str>::new());
    }

    #[test]
    fn the_harness_is_the_one_that_the_target_has() {
        let null = |dialect| parts(&options(""), dialect, 20).expect("parts")[0].options.target.clone();
        assert_eq!(null(Dialect::Postgres).as_deref(), Some("null:"));
        assert_eq!(null(Dialect::Sqlite).as_deref(), Some("null:?execution=blocking"));
    }

    #[test]
    fn without_a_target_there_are_halves_and_without_sockets_there_is_one_part() {
        let run = options("");
        let wanted = |echo| Wanted { run: &run, target: None, echo, time: Nanos::from_secs(20) };
        let both = wanted(Some("echo://h:1")).parts().expect("parts");
        assert_eq!(both.len(), 2);
        assert_eq!(both[0].options.duration.as_deref(), Some("8640ms"));
        let alone = wanted(None).parts().expect("parts");
        assert_eq!(alone.len(), 1);
        assert_eq!(alone[0].options.duration.as_deref(), Some("17640ms"));
    }

    #[test]
    fn phases_keep_their_shares_and_their_rates() {
        let run = options("phases = '30s@1000/s, 10s@1000..5000/s mix=Read=1, 20s@5000/s sessions=16'");
        let parts = parts(&run, Dialect::KeyValue, 20).expect("parts");
        let made = &parts[0].options;
        assert_eq!(
            made.phases.as_deref(),
            Some("2820ms@1000..1000/s, 940ms@1000..5000/s, 1880ms@5000..5000/s sessions=16")
        );
        assert_eq!(made.duration, None);
        made.check().expect("it can be run");
    }

    #[test]
    fn a_time_that_is_too_short_is_refused_with_the_least_that_will_do() {
        let run = options("");
        let refused = parts(&run, Dialect::Postgres, 5).expect_err("too short").to_string();
        assert_eq!(refused, "a floor in 5.00 s: too short for its 6 parts; it needs 7.20 s or more");
        let long_enough = Nanos::from_millis(7_200);
        let wanted =
            Wanted { run: &run, target: Some(("x", Dialect::Postgres)), echo: Some("e"), time: long_enough };
        assert!(wanted.parts().is_ok());
    }
}
