//! An echo server in a process of its own: what it costs is then none of the measuring process's.

use super::EchoArguments;
use anyhow::{Context, bail};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdout, Command, Stdio};

/// A server that runs until this is dropped.
pub(crate) struct Child {
    process: std::process::Child,
    /// Where it listens, as a target of this host.
    url: String,
    /// Kept open: it writes there when it ends.
    _printed: BufReader<ChildStdout>,
}

impl Child {
    /// Starts one and waits until it listens.
    ///
    /// # Errors
    /// A program that can't be started again, or its last words.
    pub(crate) fn start(arguments: &EchoArguments) -> anyhow::Result<Child> {
        let program = std::env::current_exe().context("can't find this program again")?;
        let mut command = Command::new(program);
        command.args(["echo", "--json"]).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        for (flag, value) in [("--listen", &arguments.listen), ("--cpus", &arguments.cpus)] {
            command.args(value.iter().flat_map(|value| [flag, value]));
        }
        if let Some(path) = &arguments.unix {
            command.arg("--unix").arg(path);
        }
        // SAFETY: between fork and exec only `prctl` is called, which is async-signal-safe.
        unsafe { command.pre_exec(die_with_the_parent) };
        let mut process = command.spawn().context("can't start truetail again for its echo server")?;
        let printed = process.stdout.take().context("the echo server has no output")?;
        let mut child = Child { process, url: String::new(), _printed: BufReader::new(printed) };
        let mut line = String::new();
        child._printed.read_line(&mut line).context("the echo server's output can't be read")?;
        child.url = match url(&line) {
            Some(url) => url,
            None => bail!("the echo server did not start; `truetail echo` says why"),
        };
        Ok(child)
    }

    /// The target that it is.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

/// The target that the first line of `truetail echo --json` names.
fn url(line: &str) -> Option<String> {
    let document: serde_json::Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| document[name].as_str().map(str::to_owned);
    let unix = || Some(format!("echo:///?socket={}", text("unix")?));
    text("tcp").map(|address| format!("echo://{address}")).or_else(unix)
}

/// A parent that is killed leaves no server behind.
fn die_with_the_parent() -> std::io::Result<()> {
    // SAFETY: plain numbers. Without success the server stays until somebody ends it.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) };
    Ok(())
}

impl Drop for Child {
    fn drop(&mut self) {
        // In order, so that it removes the file of its socket.
        if let Ok(pid) = i32::try_from(self.process.id()) {
            // SAFETY: the child is ours and not waited for yet, so its id is its own.
            unsafe { libc::kill(pid, libc::SIGTERM) };
        }
        let _ = self.process.wait(); // an end is all that is wanted
    }
}

#[cfg(test)]
mod tests {
    use super::url;

    #[test]
    fn the_first_line_tells_the_target() {
        assert_eq!(url(r#"{"tcp":"127.0.0.1:7","unix":null}"#).as_deref(), Some("echo://127.0.0.1:7"));
        assert_eq!(url(r#"{"tcp":null,"unix":"/x"}"#).as_deref(), Some("echo:///?socket=/x"));
        assert_eq!(url(""), None);
    }
}
