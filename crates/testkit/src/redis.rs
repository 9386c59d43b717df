//! A real Redis server for a test: started on a free port, thrown away at the end. It keeps everything in memory.
//!
//! A test that needs it fails where Redis is missing; a skip that nobody sees would look like a pass.
//! Only `TRUETAIL_SKIP_SERVERS=1` skips, loudly.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use units::Nanos;

/// What the server should be like.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// What clients must know to be let in.
    pub password: Option<String>,
    /// More lines of its configuration, e.g. `("maxclients", "5")`.
    pub settings: Vec<(String, String)>,
}

/// A running server; ended when dropped.
#[derive(Debug)]
pub struct Server {
    process: Child,
    port: u16,
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

/// How long a server may take to answer for the first time.
const PATIENCE_STEPS: u32 = 3_000;
const STEP: Nanos = Nanos::from_millis(10);

impl Server {
    /// Starts a server; about 20 ms.
    ///
    /// # Errors
    /// One line: what failed and, if Redis is missing, which package has it.
    pub fn start(options: &Options) -> Result<Server, String> {
        let mut last = String::new();
        // Between finding a free port and using it somebody else may take it.
        for _ in 0..3 {
            match Server::launch(free_port()?, options) {
                Ok(server) => return Ok(server),
                Err(reason) => last = reason,
            }
        }
        Err(last)
    }

    /// TCP port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    fn launch(port: u16, options: &Options) -> Result<Server, String> {
        let mut command = Command::new("redis-server");
        command.args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ]);
        command.current_dir(std::env::temp_dir());
        if let Some(password) = &options.password {
            command.args(["--requirepass", password]);
        }
        for (name, value) in &options.settings {
            command.arg(format!("--{name}")).arg(value);
        }
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.map_err(|e| {
            format!(
                "`redis-server` could not be run ({e}); install it (Debian, Ubuntu: `apt-get install redis-server`), \
                 or set TRUETAIL_SKIP_SERVERS=1 to skip the tests that need it"
            )
        })?;
        let mut server = Server { process, port };
        server.await_answer()?;
        Ok(server)
    }

    fn await_answer(&mut self) -> Result<(), String> {
        for _ in 0..PATIENCE_STEPS {
            if answers(self.port) {
                return Ok(());
            }
            if let Ok(Some(status)) = self.process.try_wait() {
                return Err(format!("`redis-server --port {}` ended at once ({status})", self.port));
            }
            clock::pause(STEP);
        }
        Err(format!("`redis-server --port {}` does not answer", self.port))
    }
}

fn free_port() -> Result<u16, String> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(|e| format!("no free port: {e}"))?;
    listener.local_addr().map(|address| address.port()).map_err(|e| format!("no free port: {e}"))
}

/// Whether something answers there, be it that it wants a password.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let mut first = [0; 1];
    stream.write_all(b"PING\r\n").is_ok() && stream.read_exact(&mut first).is_ok()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
