//! A real Cassandra whose jars come from Maven Central: one node, or more that join it, gone at the end.
//!
//! Nodes lie on 127.0.0.1, 127.0.0.2 and so on, with ports of their own, and run as a plain user. Their data is not kept, so
//! they are small, and they tell each other of changes in seconds instead of half a minute; [`Options`] change that.

mod fetch;
mod files;

pub use fetch::{VERSION, fetch, place};

use crate::command::{Account, unprivileged};
use crate::directory::{self, free_port, own};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often, 50 ms apart, a node is asked whether it answers, or has ended: five minutes. It needs ten seconds on an idle
/// machine.
const ATTEMPTS: u32 = 6_000;

/// What a node should be like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The JVM's heap, in MiB.
    pub heap_mib: u32,
    /// Whether users must log in; then there is one, `cassandra`, with the password `cassandra`.
    pub authenticates: bool,
    /// How long a node that joins waits for others to tell of theirs, in milliseconds, several times over; 30,000 where
    /// nobody says otherwise.
    pub ring_delay_ms: u32,
    /// More settings of `cassandra.yaml`, which replace those made here, e.g. `("num_tokens", "4")`.
    pub settings: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Options {
        Options { heap_mib: 512, authenticates: false, ring_delay_ms: 5_000, settings: Vec::new() }
    }
}

/// A running node; stopped, and its directory removed, when dropped.
#[derive(Debug)]
pub struct Node {
    directory: PathBuf,
    account: Option<Account>,
    /// The last number of its address.
    number: u8,
    ports: Ports,
    options: Options,
    /// `None` while it is stopped.
    process: Mutex<Option<Child>>,
    /// Whether there is a user by now; said once, not with each start.
    has_user: AtomicBool,
}

/// The ports that all nodes of a cluster have, each on an address of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ports {
    /// For clients.
    native: u16,
    /// For each other.
    storage: u16,
}

impl Node {
    /// Makes a cluster of one node and starts it; ten seconds or more.
    ///
    /// # Errors
    /// One line: what failed and, if its jars or a JDK are missing, how to get them.
    pub fn start(options: &Options) -> Result<Node, String> {
        fetch()?;
        let mut last = String::new();
        // Between finding a free port and using it somebody else may take it.
        for _ in 0..3 {
            let ports = Ports { native: free_port()?, storage: free_port()? };
            let node = Node::make(1, ports, options)?;
            match node.launch() {
                Ok(()) => return Ok(node),
                Err(reason) => last = reason,
            }
        }
        Err(last)
    }

    /// Makes a further node of this one's cluster; [`Node::begin`] lets it join.
    ///
    /// # Errors
    /// As [`Node::start`].
    pub fn neighbour(&self, number: u8, options: &Options) -> Result<Node, String> {
        Node::make(number, self.ports, options)
    }

    fn make(number: u8, ports: Ports, options: &Options) -> Result<Node, String> {
        let account = unprivileged()?;
        let directory = directory::make("cql", account)?;
        let has_user = AtomicBool::new(!options.authenticates || number > 1);
        let process = Mutex::new(None);
        let node = Node { directory, account, number, ports, options: options.clone(), process, has_user };
        files::write(&node)?;
        own(&node.directory, account)?;
        Ok(node)
    }

    /// Its address, for clients and for other nodes.
    pub fn address(&self) -> String {
        format!("127.0.0.{}", self.number)
    }

    /// The port for clients.
    pub fn port(&self) -> u16 {
        self.ports.native
    }

    /// URL of a keyspace, with the password where one is needed.
    pub fn url(&self, keyspace: &str) -> String {
        let user = if self.options.authenticates { "cassandra:cassandra@" } else { "" };
        format!("cql://{user}{}:{}/{keyspace}", self.address(), self.port())
    }

    /// The node's own log, as text. Each line begins with its moment, UTC.
    pub fn log(&self) -> PathBuf {
        self.directory.join("log")
    }

    /// Process id.
    ///
    /// # Errors
    /// When the node is down.
    pub fn pid(&self) -> Result<i32, String> {
        let id = self.process().as_ref().map(Child::id).ok_or("the Cassandra node is down")?;
        i32::try_from(id).map_err(|e| e.to_string())
    }

    /// Kills the node: connections break at once, as in a crash.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(&self) -> Result<(), String> {
        let Some(mut child) = self.process().take() else { return Ok(()) };
        child.kill().and_then(|()| child.wait()).map(drop).map_err(|e| format!("the Cassandra node: {e}"))
    }

    /// Starts a stopped node, on the same ports, and waits until it serves clients.
    ///
    /// # Errors
    /// What went wrong, with the end of the node's log.
    pub fn launch(&self) -> Result<(), String> {
        self.begin()?;
        for _ in 0..ATTEMPTS {
            if self.serves()? {
                return Ok(());
            }
            pause();
        }
        Err(format!("the Cassandra node does not answer; log: {}", self.log_end()))
    }

    /// Starts a stopped node and does not wait: to join a cluster takes it a minute, and longer the more there is in it.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn begin(&self) -> Result<(), String> {
        // Of an earlier start: what it says must not be taken for this one's.
        let _ = std::fs::remove_file(self.log());
        let mut command = Command::new(fetch::java()?);
        command.args(files::arguments(self)).current_dir(&self.directory);
        command.env("LC_ALL", "C").env("HOME", &self.directory);
        if let Some(account) = self.account {
            command.uid(account.uid).gid(account.gid);
        }
        let said = std::fs::File::create(self.directory.join("said"))
            .map_err(|e| format!("{}: {e}", self.directory.display()))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let child = command.spawn().map_err(|e| format!("`java` could not be run: {e}"))?;
        *self.process() = Some(child);
        Ok(())
    }

    /// Whether it serves clients by now.
    ///
    /// # Errors
    /// When it has ended, with the end of its log.
    pub fn serves(&self) -> Result<bool, String> {
        if let Some(child) = self.process().as_mut()
            && let Ok(Some(status)) = child.try_wait()
        {
            return Err(format!("the Cassandra node ended ({status}); log: {}", self.log_end()));
        }
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        // Who may log in is written down in the background, a moment later.
        if log.contains("Created default superuser") {
            self.has_user.store(true, Ordering::Relaxed); // tells nothing but itself
        }
        let ready = log.contains("Startup complete") && self.has_user.load(Ordering::Relaxed);
        Ok(ready && TcpStream::connect((self.address(), self.port())).is_ok())
    }

    fn process(&self) -> MutexGuard<'_, Option<Child>> {
        // A poisoned lock only means that a test failed.
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log_end(&self) -> String {
        let end = |path: &Path| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().rev().take(5).collect();
            lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
        };
        format!("{} | {}", end(&self.directory.join("said")), end(&self.log()))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Nothing is left to be told of a failure.
        let _ = self.stop();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn pause() {
    let mut nothing = libc::pollfd { fd: -1, events: 0, revents: 0 };
    // SAFETY: one valid pollfd; a negative descriptor is ignored, so that only the limit of 50 ms counts.
    unsafe { libc::poll(&mut nothing, 1, 50) };
}
