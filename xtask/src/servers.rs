//! `cargo xtask servers up postgres`: the server that tests use, for trying things out by hand.

use anyhow::{Context, anyhow, bail};
use std::path::{Path, PathBuf};
use testkit::postgres::{Options, Server};
use units::Nanos;

/// How long `down` waits for the server to be gone.
const PATIENCE_S: u64 = 30;

/// Starts what is asked for and keeps it until this process is interrupted, or ends one that runs.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    match words {
        ["up", "postgres"] => up(),
        ["down", "postgres"] => down(),
        _ => bail!(
            "`servers {}`: there are `servers up postgres` and `servers down postgres`",
            words.join(" ")
        ),
    }
}

fn up() -> anyhow::Result<bool> {
    let note = Note::new();
    if let Some(pid) = note.alive() {
        bail!("process {pid} keeps a server already; end it with `cargo xtask servers down postgres`");
    }
    // Before any thread or child starts: all of them must leave these signals to `wait_for_the_end`.
    let ends = block_ends()?;
    let server = Server::start(&Options::default()).map_err(|reason| anyhow!(reason))?;
    note.write()?;
    println!("{}", server.tcp_url());
    println!("{}", server.unix_url());
    eprintln!(
        "PostgreSQL is up; Ctrl-C, or `cargo xtask servers down postgres` elsewhere, ends it and its data"
    );
    let waited = wait_for_the_end(&ends);
    drop(server);
    note.remove();
    waited.map(|()| true)
}

fn down() -> anyhow::Result<bool> {
    let note = Note::new();
    let Some(pid) = note.alive() else {
        bail!("no server is kept by `cargo xtask servers up postgres` here");
    };
    // SAFETY: `kill` takes two integers.
    if unsafe { libc::kill(pid, libc::SIGTERM) } != 0 {
        return Err(std::io::Error::last_os_error()).with_context(|| format!("ending process {pid}"));
    }
    for _ in 0..PATIENCE_S * 20 {
        if note.alive().is_none() {
            return Ok(true);
        }
        clock::pause(Nanos::from_millis(50));
    }
    bail!("process {pid} was asked to end {PATIENCE_S} s ago and has not");
}

/// Where `up` leaves its process id for `down`.
struct Note(PathBuf);

impl Note {
    fn new() -> Note {
        Note(Path::new("target").join("xtask-postgres.pid"))
    }

    fn write(&self) -> anyhow::Result<()> {
        let directory = self.0.parent().context("the note has a directory")?;
        std::fs::create_dir_all(directory).with_context(|| format!("{}", directory.display()))?;
        std::fs::write(&self.0, std::process::id().to_string())
            .with_context(|| format!("{}", self.0.display()))
    }

    /// The process that wrote the note, if it still runs and still is one of ours.
    fn alive(&self) -> Option<i32> {
        let pid: i32 = std::fs::read_to_string(&self.0).ok()?.trim().parse().ok()?;
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        is_keeper(&arguments).then_some(pid)
    }

    fn remove(&self) {
        // A note that stays behind names a process that is gone, and is not believed.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Whether these are the arguments of `xtask servers up`, as `/proc/PID/cmdline` has them.
fn is_keeper(arguments: &[u8]) -> bool {
    let words: Vec<&[u8]> = arguments.split(|&byte| byte == 0).collect();
    words.first().is_some_and(|program| program.ends_with(b"xtask"))
        && words.get(1..3) == Some(&[b"servers", b"up"])
}

/// Blocks the signals that end this program; they can then be waited for.
fn block_ends() -> anyhow::Result<libc::sigset_t> {
    // SAFETY: an all-zero set is valid memory for `sigemptyset`, which makes it an empty set.
    let mut ends: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `ends` is ours; the third argument of `sigprocmask` may be null.
    let result = unsafe {
        libc::sigemptyset(&mut ends);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::sigaddset(&mut ends, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &ends, std::ptr::null_mut())
    };
    if result != 0 {
        bail!("signals could not be blocked: {}", std::io::Error::from_raw_os_error(result));
    }
    Ok(ends)
}

fn wait_for_the_end(ends: &libc::sigset_t) -> anyhow::Result<()> {
    let mut signal = 0;
    // SAFETY: both pointers are to live values of the right type.
    let result = unsafe { libc::sigwait(ends, &mut signal) };
    if result != 0 {
        bail!("waiting for Ctrl-C: {}", std::io::Error::from_raw_os_error(result));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_keeper_is_taken_for_one() {
        assert!(is_keeper(b"target/debug/xtask\0servers\0up\0postgres\0"));
        assert!(!is_keeper(b"target/debug/xtask\0ci\0"));
        assert!(!is_keeper(b"/usr/bin/editor\0servers\0up\0"));
        assert!(!is_keeper(b""));
    }
}
