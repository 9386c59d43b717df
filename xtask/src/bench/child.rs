//! A program run to its end, with what it cost: wall time, CPU time, memory.

use super::glances::{self, Glance};
use crate::stopwatch::Stopwatch;
use anyhow::{Context, bail};
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a finished program cost, with its children.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) wall_s: f64,
    pub(crate) user_s: f64,
    pub(crate) system_s: f64,
    /// Largest resident memory.
    pub(crate) peak_mib: f64,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// What it had used at moments while it ran; empty unless it was watched.
    pub(crate) glances: Vec<Glance>,
}

impl Cost {
    /// CPU time, user and system.
    pub(crate) fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// Runs a program; `accepted` are the exit codes that are no failure.
pub(crate) fn run(command: &mut Command, accepted: &[i32]) -> anyhow::Result<Cost> {
    run_watching(command, accepted, None)
}

/// As [`run`], with glances at the process and at its threads whose names begin with `watched`.
pub(crate) fn run_watching(
    command: &mut Command,
    accepted: &[i32],
    watched: Option<&str>,
) -> anyhow::Result<Cost> {
    let name = command.get_program().to_string_lossy().into_owned();
    let stopwatch = Stopwatch::start()?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("`{name}` could not be run"))?;
    let mut stderr = child.stderr.take().context("stderr is a pipe")?;
    let mut stdout = child.stdout.take().context("stdout is a pipe")?;
    let pid = child.id();
    let ended = AtomicBool::new(false);
    let (said, status, usage, words, glances) = std::thread::scope(|scope| {
        // Both pipes must be read, or a program that says much on one would wait for ever.
        let words = scope.spawn(move || read_all(&mut stderr));
        let watch = watched.map(|prefix| scope.spawn(|| glances::watch(pid, prefix, &stopwatch, &ended)));
        let said = read_all(&mut stdout);
        let reaped = reap(pid);
        ended.store(true, Ordering::Relaxed);
        let (status, usage) = reaped?;
        let glances = watch.and_then(|thread| thread.join().ok()).unwrap_or_default();
        anyhow::Ok((said, status, usage, words.join().unwrap_or_default(), glances))
    })?;
    let wall_s = stopwatch.seconds();
    if !libc::WIFEXITED(status) || !accepted.contains(&libc::WEXITSTATUS(status)) {
        bail!("`{name}` failed (status {status:#x}): {}", words.trim());
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok(Cost {
        wall_s,
        user_s: seconds(usage.ru_utime),
        system_s: seconds(usage.ru_stime),
        peak_mib: usage.ru_maxrss as f64 / 1024.0,
        stdout: said,
        stderr: words,
        glances,
    })
}

fn read_all(pipe: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is all that there is.
    let _ = pipe.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
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
        let burn = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let cost = run_watching(Command::new("sh").args(["-c", burn]), &[0], Some("sh")).unwrap();
        let last = cost.glances.last().unwrap();
        assert!(last.process.total() <= cost.cpu_s() + 0.05, "{cost:?}");
        assert!(last.threads.unwrap().total() <= last.process.total() + 0.05, "{cost:?}");
        let error = run(Command::new("sh").args(["-c", "echo broken >&2; exit 3"]), &[0]).unwrap_err();
        assert!(error.to_string().contains("broken"), "{error}");
        assert!(run(&mut Command::new("no-such-program-here"), &[0]).is_err());
    }
}
