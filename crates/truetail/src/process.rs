//! Programs that make a load, each in a process of its own.

use crate::{interrupt, output};
use anyhow::{Context, bail};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use units::Nanos;

/// How long a program may take that makes a load for this long: starting a virtual machine and draining a backlog
/// included.
pub(crate) fn limit(load: Nanos) -> Nanos {
    Nanos(load.0 * 3) + Nanos::from_secs(90)
}

/// How often to look whether a program has ended.
const LOOK: Nanos = Nanos::from_millis(20);

/// The same while a load is about to begin, which it does no sooner than [`load::LEAD_IN`] after its recording is there.
const LOOK_CLOSELY: Nanos = Nanos::from_millis(2);

/// What a process is told by its environment, as name and value, since everybody can read arguments.
pub(crate) type Secrets = [(&'static str, String)];

/// Runs truetail itself; `loads` is called as soon as the recording is there: all sessions are connected then, and no
/// request of the load has been sent. Arguments hold no password: they are told where it fails.
///
/// # Errors
/// Where it ends with an exit code that says that there is no result, with its last words.
pub(crate) fn truetail(
    arguments: &[String],
    secrets: &Secrets,
    limit: Nanos,
    recording: &Path,
    loads: impl FnOnce(),
) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("can't find this program again")?;
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped());
    command.envs(secrets.iter().map(|(name, value)| (name, value)));
    let mut child = command.stdin(Stdio::null()).spawn().context("can't start truetail again")?;
    let words = child.stderr.take().map(last_words);
    let mut loads = Some(loads);
    let status = wait(&mut child, "truetail run", limit, || {
        if loads.is_some() && recording.exists() {
            loads.take().into_iter().for_each(|loads| loads());
        }
        if loads.is_some() { LOOK_CLOSELY } else { LOOK }
    })?;
    let words = words.and_then(|thread| thread.join().ok()).unwrap_or_default();
    match status.code() {
        // An invalid verdict is a result, too.
        Some(0 | 3) => Ok(()),
        _ => bail!("`truetail {}` ended with {status}: {words}", arguments.join(" ")),
    }
}

/// The last line that a program writes there; read on a thread, or the pipe would fill.
fn last_words(mut stream: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
    })
}

/// What a foreign program printed.
pub(crate) struct Printed {
    pub(crate) stdout: String,
    pub(crate) status: ExitStatus,
    /// Where its error output is.
    pub(crate) stderr: PathBuf,
}

/// Runs a foreign program in `dir`, where its output stays.
///
/// # Errors
/// A program that can't be started, or does not end.
pub(crate) fn foreign(words: &[String], dir: &Path, limit: Nanos) -> anyhow::Result<Printed> {
    foreign_from(words, dir, dir, limit)
}

/// The same, started in another directory than the one where its output stays.
///
/// # Errors
/// As [`foreign`].
pub(crate) fn foreign_from(
    words: &[String],
    from: &Path,
    dir: &Path,
    limit: Nanos,
) -> anyhow::Result<Printed> {
    let (program, arguments) = words.split_first().context("the command is empty")?;
    let (stdout, stderr) = (dir.join("stdout.txt"), dir.join("stderr.txt"));
    let file = |path: &Path| File::create(path).with_context(|| format!("can't write {}", path.display()));
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(from)
        .stdin(Stdio::null())
        .stdout(file(&stdout)?)
        .stderr(file(&stderr)?)
        .spawn()
        .with_context(|| format!("can't start `{program}`; is it installed?"))?;
    let status = wait(&mut child, program, limit, || LOOK)?;
    let bytes = std::fs::read(&stdout).with_context(|| format!("can't read {}", stdout.display()))?;
    Ok(Printed { stdout: String::from_utf8_lossy(&bytes).into_owned(), status, stderr })
}

/// That it ended well.
///
/// # Errors
/// Its exit code and its last words, or that the user wants an end.
pub(crate) fn well(printed: Printed) -> anyhow::Result<Printed> {
    if interrupt::requested() {
        bail!("interrupted; the tool's output is in {}", printed.stderr.display());
    }
    if printed.status.success() {
        return Ok(printed);
    }
    let words = std::fs::read(&printed.stderr).unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing was said");
    if let Some(death) = out_of_memory(&printed.stdout).or_else(|| out_of_memory(&words)) {
        bail!(
            "it ran out of heap ({death}): give its JVM a larger -Xmx, or make the load shorter with --time"
        );
    }
    bail!("it ended with {}: {last}; all of its words are in {}", printed.status, printed.stderr.display())
}

/// What a JVM says that ends because its heap is full.
fn out_of_memory(words: &str) -> Option<&str> {
    words.lines().rev().map(str::trim).find(|line| line.contains("java.lang.OutOfMemoryError"))
}

/// Whether a program lies on the path.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// A name for people as a name of a directory.
pub(crate) fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(safe).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// Waits for the end of a program; `look` says after each look how long it is until the next.
fn wait(
    child: &mut Child,
    name: &str,
    limit: Nanos,
    mut look: impl FnMut() -> Nanos,
) -> anyhow::Result<ExitStatus> {
    let clock = clock::calibrate(clock::ClockChoice::Monotonic)?.start();
    loop {
        if let Some(status) = child.try_wait().with_context(|| format!("can't wait for `{name}`"))? {
            return Ok(status);
        }
        let late = clock::Clock::now(&clock).0 > limit.0;
        if late || interrupt::requested() {
            let _ = child.kill();
            let _ = child.wait();
            if late {
                bail!("`{name}` did not end within {}; it was killed", units::format_nanos(limit));
            }
            bail!("interrupted; `{name}` was killed");
        }
        clock::pause(look());
    }
}

/// Says which of how many runs begins, and how long all of them will take from here.
pub(crate) fn announce(number: usize, of: usize, what: &str, left: Nanos) {
    output::note(&format!("{number} of {of}: {what}; about {} left", units::format_nanos(left)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_names_of_directories() {
        assert_eq!(file_name("pgbench -R, postgres"), "pgbench-r-postgres");
    }

    #[test]
    fn a_full_heap_is_named_whatever_was_said_last() {
        use std::os::unix::process::ExitStatusExt as _;
        let place = std::env::temp_dir().join(format!("truetail-heap-{}", std::process::id()));
        std::fs::write(&place, "Requesting stop for the workload.\nNow Joining!\n").unwrap();
        let ended = |stdout: &str| {
            let (status, stderr) = (ExitStatus::from_raw(3 << 8), place.clone());
            well(Printed { stdout: stdout.to_owned(), status, stderr }).err().unwrap().to_string()
        };
        let full = ended("Raw data\nTerminating due to java.lang.OutOfMemoryError: Java heap space\n");
        assert_eq!(
            full,
            "it ran out of heap (Terminating due to java.lang.OutOfMemoryError: Java heap space): give its JVM a larger -Xmx, \
             or make the load shorter with --time"
        );
        assert!(
            ended("Raw data\n").starts_with("it ended with exit status: 3: Now Joining!; all of its words")
        );
        std::fs::remove_file(&place).unwrap();
    }
}
