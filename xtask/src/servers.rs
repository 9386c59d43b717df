//! `cargo xtask servers up postgres mariadb redis cassandra ferretdb`: the servers that tests use, for trying things out by hand.

use anyhow::{Context, anyhow, bail};
use std::path::{Path, PathBuf};
use testkit::{cassandra, ferretdb, mariadb, postgres, redis};
use units::Nanos;

/// How long `down` waits for a server to be gone.
const PATIENCE_S: u64 = 30;

/// How often the keeper looks whether one of its servers is to go.
const LOOK: Nanos = Nanos::from_millis(100);

/// The kinds of servers that there are.
const KINDS: [&str; 5] = ["postgres", "mariadb", "redis", "cassandra", "ferretdb"];

/// A server that is kept.
enum Kept {
    Postgres(postgres::Server),
    MariaDb(mariadb::Server),
    Redis(redis::Server),
    /// Two nodes side by side would want different addresses: there is one.
    Cassandra(cassandra::Node),
    FerretDb(ferretdb::Server),
}

impl Kept {
    fn start(kind: &str) -> Result<Kept, String> {
        match kind {
            "postgres" => postgres::Server::start(&postgres::Options::default()).map(Kept::Postgres),
            "mariadb" => mariadb::Server::start(&mariadb::Options::default()).map(Kept::MariaDb),
            "cassandra" => cassandra::Node::start(&cassandra::Options::default()).map(Kept::Cassandra),
            "redis" => redis::Server::start(&redis::Options::default()).map(Kept::Redis),
            _ => ferretdb::Server::start(&ferretdb::Options::default()).map(Kept::FerretDb),
        }
    }

    /// URLs over TCP and, where there is one, over the unix socket.
    fn urls(&self) -> (String, Option<String>) {
        match self {
            Kept::Postgres(server) => (server.tcp_url(), Some(server.unix_url())),
            Kept::MariaDb(server) => (server.tcp_url(), Some(server.unix_url())),
            Kept::Redis(server) => (server.tcp_url(), Some(server.unix_url())),
            Kept::Cassandra(node) => (format!("{}?replication=1", node.url("ycsb")), None),
            Kept::FerretDb(server) => (server.tcp_url(), Some(server.unix_url())),
        }
    }
}

/// Starts what is asked for and keeps it until this process is interrupted, or ends what runs.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let (verb, kinds) = words.split_first().unwrap_or((&"", &[]));
    let known = KINDS.join(" ");
    if let Some(unknown) = kinds.iter().find(|kind| !KINDS.contains(kind)) {
        bail!("`servers {verb} {unknown}`: there is no such server; there are {known}");
    }
    match (*verb, kinds) {
        ("up" | "down", []) => bail!("`servers {verb}`: name one or more of {known}"),
        ("up", kinds) => up(kinds),
        ("down", kinds) => down(kinds),
        _ => bail!("`servers {}`: there are `servers up` and `servers down`, with {known}", words.join(" ")),
    }
}

fn up(kinds: &[&str]) -> anyhow::Result<bool> {
    for kind in kinds {
        if let Some(pid) = Note::of(kind).alive() {
            bail!("process {pid} keeps a server already; end it with `cargo xtask servers down {kind}`");
        }
    }
    // Before any thread or child starts: all of them must leave these signals to `is_ended`.
    let ends = block_ends()?;
    let mut kept = Vec::new();
    for kind in kinds {
        let server = Kept::start(kind).map_err(|reason| anyhow!("{kind}: {reason}"))?;
        let note = Note::of(kind);
        note.write()?;
        let (tcp, unix) = server.urls();
        println!("{tcp}");
        let also = unix.map(|unix| format!(", also at {unix}")).unwrap_or_default();
        eprintln!("{kind} is up{also}");
        kept.push((note, server));
    }
    eprintln!(
        "Ctrl-C, or `cargo xtask servers down {}` elsewhere, ends them and their data",
        kinds.join(" ")
    );
    while !kept.is_empty() && !is_ended(&ends)? {
        kept.retain(|(note, _)| note.stands());
        Note::forget_ended(kinds, &kept);
    }
    for (note, server) in kept {
        drop(server);
        note.remove();
    }
    Ok(true)
}

/// Asks each server's keeper to end it, and waits until they are gone.
fn down(kinds: &[&str]) -> anyhow::Result<bool> {
    for kind in kinds {
        let note = Note::of(kind);
        let Some(pid) = note.alive() else {
            bail!("no server is kept by `cargo xtask servers up {kind}` here");
        };
        note.ask_to_end()?;
        let ended = (0..PATIENCE_S * 20).any(|_| {
            let gone = !note.is_ending();
            if !gone {
                clock::pause(Nanos::from_millis(50));
            }
            gone
        });
        if !ended {
            bail!("process {pid} was asked to end {kind} {PATIENCE_S} s ago and has not");
        }
    }
    Ok(true)
}

/// Where `up` leaves its process id for `down`, which takes it away to ask for the end. One for each kind of server.
struct Note(PathBuf);

impl Note {
    fn of(kind: &str) -> Note {
        Note(Path::new("target").join(format!("xtask-{kind}.pid")))
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

    fn stands(&self) -> bool {
        self.0.exists()
    }

    /// Where the note is while its server ends.
    fn ending(&self) -> PathBuf {
        self.0.with_extension("ending")
    }

    fn ask_to_end(&self) -> anyhow::Result<()> {
        std::fs::rename(&self.0, self.ending()).with_context(|| format!("{}", self.0.display()))
    }

    fn is_ending(&self) -> bool {
        self.ending().exists()
    }

    /// Tells whoever waits in `down` that these servers are gone, but for those that are still kept.
    fn forget_ended(kinds: &[&str], kept: &[(Note, Kept)]) {
        let notes = kinds.iter().map(|kind| Note::of(kind));
        for note in notes.filter(|note| !kept.iter().any(|(other, _)| other.0 == note.0)) {
            let _ = std::fs::remove_file(note.ending());
        }
    }

    fn remove(&self) {
        // A note that stays behind names a process that is gone, and is not believed.
        let _ = std::fs::remove_file(&self.0);
        let _ = std::fs::remove_file(self.ending());
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

/// Waits a moment for one of the signals; whether one has come.
fn is_ended(ends: &libc::sigset_t) -> anyhow::Result<bool> {
    let limit = libc::timespec { tv_sec: 0, tv_nsec: LOOK.0 as libc::c_long };
    // SAFETY: the set and the limit are live values of the right type; the second argument may be null.
    let signal = unsafe { libc::sigtimedwait(ends, std::ptr::null_mut(), &limit) };
    if signal > 0 {
        return Ok(true);
    }
    let error = std::io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EINTR) => Ok(false),
        _ => Err(error).context("waiting for Ctrl-C"),
    }
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
