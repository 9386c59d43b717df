//! A real Redis server for a test: started on a free port and a unix socket, thrown away at the end.
//!
//! As with [`crate::postgres`], a test that needs it fails where it is missing, and only `TRUETAIL_SKIP_SERVERS=1`
//! skips, loudly.

use servers::directory::{self, free_port};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::Nanos;

/// How often, a millisecond apart, a new server is asked whether it answers.
const ATTEMPTS: u32 = 30_000;

/// What the server should be like.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// What clients must know to be let in.
    pub password: Option<String>,
    /// More lines of its configuration, e.g. `("maxclients", "5")`.
    pub settings: Vec<(String, String)>,
}

/// A running server without persistence; stopped, and its directory removed, when dropped.
#[derive(Debug)]
pub struct Server {
    directory: PathBuf,
    port: u16,
    password: Option<String>,
    /// `None` while it is stopped.
    process: Mutex<Option<Child>>,
}

/// Starts a server, or panics with the reason: for tests. `None`, after a loud notice, only when
/// `TRUETAIL_SKIP_SERVERS=1` is set.
///
/// # Panics
/// When the server can't be started.
pub fn server(options: &Options) -> Option<Server> {
    if std::env::var_os("TRUETAIL_SKIP_SERVERS").is_some_and(|value| value == "1") {
        eprintln!("\n*** SKIPPED: a test that needs Redis (TRUETAIL_SKIP_SERVERS=1) ***\n");
        return None;
    }
    match Server::start(options) {
        Ok(server) => Some(server),
        Err(reason) => panic!("{reason}"),
    }
}

impl Server {
    /// Starts an empty server; a few milliseconds.
    ///
    /// # Errors
    /// One line: what failed and, if Redis is missing, which package has it.
    pub fn start(options: &Options) -> Result<Server, String> {
        let directory = directory::make("redis", None)?;
        let mut server =
            Server { directory, port: 0, password: options.password.clone(), process: Mutex::new(None) };
        let mut last = String::new();
        // Between finding a free port and using it somebody else may take it.
        for _ in 0..3 {
            server.port = free_port()?;
            server.configure(options)?;
            match server.launch() {
                Ok(()) => return Ok(server),
                Err(reason) => last = reason,
            }
        }
        Err(last)
    }

    /// TCP port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path of the unix socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.join("redis.sock")
    }

    /// URL over TCP, with the password.
    pub fn tcp_url(&self) -> String {
        format!("redis://{}127.0.0.1:{}", self.credentials(), self.port)
    }

    /// URL over the unix socket, with the password.
    pub fn unix_url(&self) -> String {
        format!("redis://{}/?socket={}", self.credentials(), self.socket().display())
    }

    /// Process id.
    ///
    /// # Errors
    /// When the server is down.
    pub fn pid(&self) -> Result<u32, String> {
        self.process().as_ref().map(Child::id).ok_or_else(|| "the Redis server is down".to_owned())
    }

    /// Sends one command on a connection of its own, such as `["SET", "key", "value"]`, and gives the first bytes of
    /// the answer: for what a driver has no command for.
    ///
    /// # Errors
    /// When the server can't be reached or does not answer.
    pub fn ask(&self, command: &[&str]) -> Result<String, String> {
        let failed = |e: std::io::Error| format!("{}: {e}", self.socket().display());
        let mut stream = UnixStream::connect(self.socket()).map_err(failed)?;
        if let Some(password) = &self.password {
            stream.write_all(encoded(&["AUTH", password]).as_bytes()).map_err(failed)?;
            first_bytes(&mut stream).map_err(failed)?;
        }
        stream.write_all(encoded(command).as_bytes()).map_err(failed)?;
        first_bytes(&mut stream).map_err(failed)
    }

    /// Stops the server in the middle of whatever it does; connections stay open.
    ///
    /// # Errors
    /// When the server is down.
    pub fn freeze(&self) -> Result<(), String> {
        self.signal(libc::SIGSTOP)
    }

    /// Lets a frozen server go on.
    ///
    /// # Errors
    /// When the server is down.
    pub fn thaw(&self) -> Result<(), String> {
        self.signal(libc::SIGCONT)
    }

    /// Kills the server: connections break at once, as in a crash, and its data is gone.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(&self) -> Result<(), String> {
        let Some(mut child) = self.process().take() else { return Ok(()) };
        child.kill().and_then(|()| child.wait()).map(drop).map_err(|e| format!("the Redis server: {e}"))
    }

    /// Starts a stopped server again, on the same port, without data.
    ///
    /// # Errors
    /// What went wrong, with the end of the server's log.
    pub fn launch(&self) -> Result<(), String> {
        // It would be in the way of the next one.
        let _ = std::fs::remove_file(self.socket());
        let log = std::fs::File::create(self.directory.join("log"));
        let log = log.map_err(|e| format!("{}: {e}", self.directory.display()))?;
        let errors = log.try_clone().map_err(|e| format!("{}: {e}", self.directory.display()))?;
        let child = Command::new("redis-server")
            .arg(self.directory.join("redis.conf"))
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .map_err(|e| {
                format!(
                    "`redis-server` could not be run: {e}; install it (Debian, Ubuntu: `apt-get install \
                     redis-server`; Fedora: `dnf install valkey-compat-redis`), or set \
                     TRUETAIL_SKIP_SERVERS=1 to skip the tests that need it"
                )
            })?;
        *self.process() = Some(child);
        self.wait_until_it_answers()
    }

    fn wait_until_it_answers(&self) -> Result<(), String> {
        for _ in 0..ATTEMPTS {
            if let Some(child) = self.process().as_mut()
                && let Ok(Some(status)) = child.try_wait()
            {
                return Err(format!("the Redis server ended ({status}); log: {}", self.log_end()));
            }
            // It listens on TCP before it makes the socket.
            if self
                .ask(&["PING"])
                .is_ok_and(|answer| answer.starts_with('+') || answer.starts_with("-NOAUTH"))
            {
                return Ok(());
            }
            clock::pause(Nanos::from_millis(1));
        }
        Err(format!("the Redis server does not answer; log: {}", self.log_end()))
    }

    fn configure(&self, options: &Options) -> Result<(), String> {
        let mut text = format!(
            "port {}\nbind 127.0.0.1\nunixsocket {}\ndir {}\nsave \"\"\nappendonly no\n",
            self.port,
            self.socket().display(),
            self.directory.display()
        );
        if let Some(password) = &self.password {
            text.push_str(&format!("requirepass \"{password}\"\n"));
        }
        for (name, value) in &options.settings {
            text.push_str(&format!("{name} {value}\n"));
        }
        let path = self.directory.join("redis.conf");
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn credentials(&self) -> String {
        self.password.as_ref().map(|password| format!(":{password}@")).unwrap_or_default()
    }

    fn process(&self) -> MutexGuard<'_, Option<Child>> {
        // A poisoned lock only means that a test failed.
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self, signal: libc::c_int) -> Result<(), String> {
        let pid = i32::try_from(self.pid()?).map_err(|e| e.to_string())?;
        // SAFETY: `kill` takes two integers, and the child has not been waited for: the number is still its own.
        if unsafe { libc::kill(pid, signal) } == 0 {
            Ok(())
        } else {
            Err(format!("signal {signal} to the Redis server: {}", std::io::Error::last_os_error()))
        }
    }

    fn log_end(&self) -> String {
        end_of(&self.directory.join("log"))
    }
}

fn encoded(command: &[&str]) -> String {
    let parts: String = command.iter().map(|part| format!("${}\r\n{part}\r\n", part.len())).collect();
    format!("*{}\r\n{parts}", command.len())
}

fn first_bytes(stream: &mut UnixStream) -> std::io::Result<String> {
    let mut answer = [0; 4096];
    match stream.read(&mut answer)? {
        0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
        count => Ok(String::from_utf8_lossy(&answer[..count]).into_owned()),
    }
}

fn end_of(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().rev().take(5).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(reason) = self.stop() {
            eprintln!("a Redis server started by a test could not be stopped: {reason}");
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
