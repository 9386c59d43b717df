//! Steps that run one after the other, each timed, and the summary at the end.

use crate::stopwatch::{Stopwatch, spoken};
use std::process::{Command, Stdio};

/// How a step ended.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Ended {
    /// As it should.
    Well,
    /// With this reason.
    Badly(String),
    /// Not at all, for this reason; no failure, and shown.
    Skipped(String),
}

/// What is known of a finished step.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Finished {
    pub(crate) name: &'static str,
    pub(crate) ended: Ended,
    pub(crate) seconds: f64,
}

impl Finished {
    fn failed(&self) -> bool {
        matches!(self.ended, Ended::Badly(_))
    }
}

/// The steps done so far.
#[derive(Default)]
pub(crate) struct Steps {
    finished: Vec<Finished>,
}

impl Steps {
    /// Runs one command as a step; the next steps run whatever comes of it, so that one look shows all that is wrong.
    pub(crate) fn command(&mut self, name: &'static str, command: &mut Command) -> anyhow::Result<()> {
        self.command_ending(name, command, &[0])
    }

    /// As [`Steps::command`], where other exit codes than 0 are good as well.
    pub(crate) fn command_ending(
        &mut self,
        name: &'static str,
        command: &mut Command,
        accepted: &[i32],
    ) -> anyhow::Result<()> {
        eprintln!("\n=== {name}: {}", words(command));
        self.step(name, || {
            // Nothing here may wait for somebody to type.
            match command.stdin(Stdio::null()).status() {
                Ok(status) if status.code().is_some_and(|code| accepted.contains(&code)) => Ended::Well,
                Ok(status) => Ended::Badly(format!("{status}")),
                Err(error) => Ended::Badly(format!("could not be run: {error}")),
            }
        })
    }

    /// Runs a function as a step.
    pub(crate) fn step(&mut self, name: &'static str, work: impl FnOnce() -> Ended) -> anyhow::Result<()> {
        let stopwatch = Stopwatch::start()?;
        let ended = work();
        self.finished.push(Finished { name, ended, seconds: stopwatch.seconds() });
        Ok(())
    }

    /// Whether all went well so far.
    pub(crate) fn all_well(&self) -> bool {
        !self.finished.iter().any(Finished::failed)
    }

    /// One line for each step and one for the whole.
    pub(crate) fn summary(&self) -> String {
        let mut text = String::from("\n=== summary\n");
        for Finished { name, ended, seconds } in &self.finished {
            let (word, reason) = match ended {
                Ended::Well => ("ok", None),
                Ended::Badly(reason) => ("FAILED", Some(reason)),
                Ended::Skipped(reason) => ("skipped", Some(reason)),
            };
            text.push_str(&format!("{word:<7} {name:<28} {:>12}", spoken(*seconds)));
            if let Some(reason) = reason {
                text.push_str(&format!("   {reason}"));
            }
            text.push('\n');
        }
        let failed = self.finished.iter().filter(|step| step.failed()).count();
        let total: f64 = self.finished.iter().map(|step| step.seconds).sum();
        let verdict = match failed {
            0 => "all is well".to_owned(),
            1 => "1 step failed".to_owned(),
            n => format!("{n} steps failed"),
        };
        text.push_str(&format!("{verdict}, after {}", spoken(total)));
        text
    }
}

/// A command as one would type it.
fn words(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}='{}'", name.to_string_lossy(), value?.to_string_lossy()))
    });
    let program = std::iter::once(command.get_program().to_string_lossy().into_owned());
    let arguments = command.get_args().map(|a| a.to_string_lossy().into_owned());
    variables.chain(program).chain(arguments).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_does_not_stop_the_next_and_decides_the_whole() {
        let mut steps = Steps::default();
        steps.command("true", Command::new("sh").args(["-c", "exit 0"])).unwrap();
        steps.command_ending("three", Command::new("sh").args(["-c", "exit 3"]), &[0, 3]).unwrap();
        steps.step("optional", || Ended::Skipped("not installed".to_owned())).unwrap();
        assert!(steps.all_well());
        steps.command("false", Command::new("sh").args(["-c", "exit 3"])).unwrap();
        steps.command("missing", &mut Command::new("no-such-program-here")).unwrap();
        steps.command("again", Command::new("sh").args(["-c", "! read line"])).unwrap();
        assert!(!steps.all_well());
        let summary = steps.summary();
        let lines: Vec<&str> = summary.trim_start().lines().collect();
        assert_eq!(lines.len(), 8, "{summary}");
        assert!(lines[1].starts_with("ok      true"), "{summary}");
        assert!(lines[2].starts_with("ok      three"), "{summary}");
        assert!(lines[3].starts_with("skipped optional") && lines[3].ends_with("not installed"), "{summary}");
        assert!(lines[4].starts_with("FAILED  false") && lines[4].ends_with("exit status: 3"), "{summary}");
        assert!(lines[5].contains("could not be run"), "{summary}");
        assert!(lines[6].starts_with("ok      again"), "{summary}");
        assert!(lines[7].starts_with("2 steps failed, after "), "{summary}");
    }

    #[test]
    fn a_command_is_shown_as_typed() {
        let mut command = Command::new("cargo");
        command.args(["doc", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(words(&command), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
    }
}
