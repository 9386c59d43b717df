//! A program run to its end, with what it cost: wall time, CPU time, memory.

use crate::stopwatch::Stopwatch;
use anyhow::{Context, bail};
use std::io::Read;
use std::process::{Command, Stdio};

/// What a finished program cost, with its children.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) wall_s: f64,
    pub(crate) user_s: f64,
    pub(crate) system_s: f64,
    /// Largest resident memory.
    pub(crate) peak_mib: f64,
    pub(crate) stdout: String,
}

impl Cost {
    /// CPU time, user and system.
    pub(crate) fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// Runs a program; `accepted` are the exit codes that are no failure.
pub(crate) fn run(command: &mut Command, accepted: &[i32]) -> anyhow::Result<Cost> {
    let name = command.get_program().to_string_lossy().into_owned();
    let stopwatch = Stopwatch::start()?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("`{name}` could not be run"))?;
    let mut stderr = child.stderr.take().context("stderr is a pipe")?;
    // Both pipes must be read, or a program that says much on one would wait for ever.
    let words = std::thread::spawn(move || {
        let mut words = Vec::new();
        stderr.read_to_end(&mut words).map(|_| words)
    });
    let mut stdout = Vec::new();
    child.stdout.take().context("stdout is a pipe")?.read_to_end(&mut stdout)?;
    let (status, usage) = reap(child.id())?;
    let wall_s = stopwatch.seconds();
    let words = words.join().unwrap_or_else(|_| Ok(Vec::new())).unwrap_or_default();
    if !libc::WIFEXITED(status) || !(accepted.contains(&libc::WEXITSTATUS(status))) {
        bail!("`{name}` failed (status {status:#x}): {}", String::from_utf8_lossy(&words).trim());
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok(Cost {
        wall_s,
        user_s: seconds(usage.ru_utime),
        system_s: seconds(usage.ru_stime),
        peak_mib: usage.ru_maxrss as f64 / 1024.0,
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
    })
}

/// Waits for a child, and gives its status and what it used.
fn reap(pid: u32) -> anyhow::Result<(libc::c_int, libc::rusage)> {
    let pid = libc::pid_t::try_from(pid).context("a process id")?;
    let mut status = 0;
    // SAFETY: an all-zero rusage is valid; both pointers are to live values of the right type.
    let (reaped, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(pid, &mut status, 0, &mut usage), usage)
    };
    if reaped != pid {
        return Err(std::io::Error::last_os_error()).context("waiting for a child");
    }
    Ok((status, usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_and_words_of_a_child_are_known() {
        let burn = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done; exit 3";
        let cost = run(Command::new("sh").args(["-c", burn]), &[3]).unwrap();
        assert_eq!(cost.stdout, "done\n");
        assert!(cost.cpu_s() > 0.0 && cost.wall_s > 0.0 && cost.peak_mib > 0.1, "{cost:?}");
        let error = run(Command::new("sh").args(["-c", "echo broken >&2; exit 3"]), &[0]).unwrap_err();
        assert!(error.to_string().contains("broken"), "{error}");
        assert!(run(&mut Command::new("no-such-program-here"), &[0]).is_err());
    }
}
