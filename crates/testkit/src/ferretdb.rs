//! A real FerretDB over SQLite for a test: started on a free port and a unix socket, thrown away at the end.
//!
//! It is no package of a distribution: `cargo xtask install` builds it from its Go module and puts it where this looks for
//! it. As with [`crate::redis`], a test that needs it fails where it is missing, and only `TRUETAIL_SKIP_SERVERS=1` skips,
//! loudly.

use servers::directory::{self, free_port};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::Nanos;

/// How often, a millisecond apart, a new server is asked whether it answers.
const ATTEMPTS: u32 = 30_000;

/// Says where the program is, in place of the own one.
pub const VARIABLE: &str = "TRUETAIL_FERRETDB";

/// The name of whoever may log in, where there is a password.
const USER: &str = "ann";

/// What the server should be like.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// What the user `ann` must know to be let in.
    pub password: Option<String>,
}

/// A running server; stopped, and its directory removed, when dropped.
#[derive(Debug)]
pub struct Server {
    directory: PathBuf,
    port: u16,
    password: Option<String>,
    /// `None` while it is stopped.
    process: Mutex<Option<Child>>,
}

/// Where `cargo xtask install` puts the program: a directory of the user's own. `None` without a home.
pub fn own_place() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = named("XDG_DATA_HOME").or_else(|| Some(named("HOME")?.join(".local/share")))?;
    Some(data.join("truetail").join("ferretdb"))
}

fn program() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).map(PathBuf::from).or_else(own_place)
}

/// Starts a server, or panics with the reason: for tests. `None`, after a loud notice, only when
/// `TRUETAIL_SKIP_SERVERS=1` is set.
///
/// # Panics
/// When the server can't be started.
pub fn server(options: &Options) -> Option<Server> {
    if std::env::var_os("TRUETAIL_SKIP_SERVERS").is_some_and(|value| value == "1") {
        eprintln!("\n*** SKIPPED: a test that needs FerretDB (TRUETAIL_SKIP_SERVERS=1) ***\n");
        return None;
    }
    match Server::start(options) {
        Ok(server) => Some(server),
        Err(reason) => panic!("{reason}"),
    }
}

impl Server {
    /// Starts an empty server; some tenths of a second.
    ///
    /// # Errors
    /// One line: what failed and, if FerretDB is missing, how to get it.
    pub fn start(options: &Options) -> Result<Server, String> {
        let directory = directory::make("mongo", None)?;
        let mut server =
            Server { directory, port: 0, password: options.password.clone(), process: Mutex::new(None) };
        let mut last = String::new();
        // Between finding a free port and using it somebody else may take it.
        for _ in 0..3 {
            server.port = free_port()?;
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
        self.directory.join("mongo.sock")
    }

    /// URL over TCP, with the password.
    pub fn tcp_url(&self) -> String {
        format!("mongodb://{}127.0.0.1:{}/ycsb", self.credentials(), self.port)
    }

    /// URL over the unix socket, with the password.
    pub fn unix_url(&self) -> String {
        format!("mongodb://{}/ycsb?socket={}", self.credentials(), self.socket().display())
    }

    fn credentials(&self) -> String {
        self.password.as_ref().map(|password| format!("{USER}:{password}@")).unwrap_or_default()
    }

    /// Kills the server: connections break at once, as in a crash. Its data stays.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(&self) -> Result<(), String> {
        let Some(mut child) = self.process().take() else { return Ok(()) };
        child.kill().and_then(|()| child.wait()).map(drop).map_err(|e| format!("FerretDB: {e}"))
    }

    /// Starts a stopped server again, on the same port, with its data.
    ///
    /// # Errors
    /// What went wrong, with the end of the server's log.
    pub fn launch(&self) -> Result<(), String> {
        // It would be in the way of the next one.
        let _ = std::fs::remove_file(self.socket());
        let said = |e: std::io::Error| format!("{}: {e}", self.directory.display());
        let data = self.directory.join("data");
        std::fs::create_dir_all(&data).map_err(said)?;
        let log = std::fs::File::create(self.directory.join("log")).map_err(said)?;
        let errors = log.try_clone().map_err(said)?;
        let missing = |e: String| {
            format!(
                "FerretDB could not be run: {e}; `cargo xtask install` builds it (Go is needed), {VARIABLE} names \
                 another one, and TRUETAIL_SKIP_SERVERS=1 skips the tests that need it"
            )
        };
        let program = program().ok_or_else(|| missing("no HOME, under which it would lie".to_owned()))?;
        let mut command = Command::new(&program);
        command
            .arg(format!("--listen-addr=127.0.0.1:{}", self.port))
            .arg(format!("--listen-unix={}", self.socket().display()))
            .arg(format!("--sqlite-url=file:{}/", data.display()))
            .arg(format!("--state-dir={}", self.directory.display()))
            .args(["--handler=sqlite", "--debug-addr=-", "--telemetry=disable", "--log-level=warn"]);
        if let Some(password) = &self.password {
            command
                .args(["--test-enable-new-auth", "--setup-database=admin"])
                .arg(format!("--setup-username={USER}"))
                .arg(format!("--setup-password={password}"));
        }
        let command = command.current_dir(&self.directory).stdin(Stdio::null()).stdout(log).stderr(errors);
        let child = command.spawn().map_err(|e| missing(format!("{}: {e}", program.display())))?;
        *self.process() = Some(child);
        self.wait_until_it_answers()
    }

    fn wait_until_it_answers(&self) -> Result<(), String> {
        for _ in 0..ATTEMPTS {
            if let Some(child) = self.process().as_mut()
                && let Ok(Some(status)) = child.try_wait()
            {
                return Err(format!("FerretDB ended ({status}); log: {}", self.log_end()));
            }
            if self.ask("admin", b"\x10ping\0\x01\0\0\0").is_ok()
                && std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok()
            {
                return Ok(());
            }
            clock::pause(Nanos::from_millis(1));
        }
        Err(format!("FerretDB does not answer; log: {}", self.log_end()))
    }

    /// Sends a command, given by its BSON elements, on a connection of its own, and gives the answer's bytes: for what a driver
    /// has no command for. Not where one must log in.
    ///
    /// # Errors
    /// When the server can't be reached or does not answer.
    pub fn ask(&self, database: &str, elements: &[u8]) -> Result<Vec<u8>, String> {
        let failed = |e: std::io::Error| format!("{}: {e}", self.socket().display());
        let mut stream = UnixStream::connect(self.socket()).map_err(failed)?;
        stream.write_all(&message(database, elements)).map_err(failed)?;
        let mut head = [0; 4];
        stream.read_exact(&mut head).map_err(failed)?;
        let mut answer = vec![0; (u32::from_le_bytes(head) as usize).saturating_sub(4)];
        stream.read_exact(&mut answer).map_err(failed)?;
        Ok(answer)
    }

    /// Inserts a document of this key whose one field holds a number, which a driver of texts can't read.
    ///
    /// # Errors
    /// When the server does not do it.
    pub fn insert_number(&self, database: &str, collection: &str, key: &str) -> Result<(), String> {
        let mut record = text("_id", key);
        record.extend_from_slice(b"\x10name\0\x07\0\0\0");
        let documents = [&b"\x04documents\0"[..], &document(&[&b"\x030\0"[..], &document(&record)].concat())];
        let answer = self.ask(database, &[text("insert", collection), documents.concat()].concat())?;
        let one = b"\x10n\0\x01\0\0\0";
        match answer.windows(one.len()).any(|part| part == one) {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&answer).into_owned()),
        }
    }

    fn process(&self) -> MutexGuard<'_, Option<Child>> {
        // A poisoned lock only means that a test failed.
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log_end(&self) -> String {
        let text = std::fs::read_to_string(self.directory.join("log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(5).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
    }
}

fn document(elements: &[u8]) -> Vec<u8> {
    [&(elements.len() as u32 + 5).to_le_bytes()[..], elements, &[0]].concat()
}

fn text(name: &str, value: &str) -> Vec<u8> {
    let length = (value.len() as u32 + 1).to_le_bytes();
    [&[2], name.as_bytes(), &[0], &length, value.as_bytes(), &[0]].concat()
}

fn message(database: &str, elements: &[u8]) -> Vec<u8> {
    let body = document(&[elements, &text("$db", database)].concat());
    let mut out = (body.len() as u32 + 21).to_le_bytes().to_vec();
    for word in [1, 0, 2013, 0_u32] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.push(0);
    out.extend(body);
    out
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(reason) = self.stop() {
            eprintln!("a FerretDB started by a test could not be stopped: {reason}");
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
