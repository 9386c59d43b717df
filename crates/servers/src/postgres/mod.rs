//! A real PostgreSQL server from installed programs: started on a free port, thrown away at the end.
//!
//! Its data is not kept, so it does not wait for the disk (`fsync` is off), and it is small; [`Options::settings`] change that.

mod processes;

use crate::certificate;
use crate::command::{Account, run, unprivileged};
use crate::directory::{self, free_port, own};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How clients prove who they are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Authentication {
    /// Everyone is believed.
    #[default]
    Trust,
    /// SCRAM-SHA-256 with this password, over every transport.
    Scram(String),
    /// MD5 with this password.
    Md5(String),
    /// The password as it is.
    Cleartext(String),
}

impl Authentication {
    fn method(&self) -> &'static str {
        match self {
            Authentication::Trust => "trust",
            Authentication::Scram(_) => "scram-sha-256",
            Authentication::Md5(_) => "md5",
            Authentication::Cleartext(_) => "password",
        }
    }

    fn password(&self) -> Option<&str> {
        match self {
            Authentication::Trust => None,
            Authentication::Scram(password)
            | Authentication::Md5(password)
            | Authentication::Cleartext(password) => Some(password),
        }
    }
}

/// What the server should be like.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// How clients prove who they are.
    pub authentication: Authentication,
    /// Whether TLS is offered, with a certificate for `localhost` of an authority made for this server.
    pub tls: bool,
    /// More settings, e.g. `("max_connections", "20")`.
    pub settings: Vec<(String, String)>,
}

/// A running server; stopped, and its directory removed, when dropped.
#[derive(Debug)]
pub struct Server {
    directory: PathBuf,
    programs: PathBuf,
    account: Option<Account>,
    port: u16,
    authentication: Authentication,
}

impl Server {
    /// Makes a new cluster and starts it; about 3 s.
    ///
    /// # Errors
    /// One line: what failed and, if PostgreSQL is missing, which package has it.
    pub fn start(options: &Options) -> Result<Server, String> {
        let programs = find_programs()?;
        let account = unprivileged()?;
        let directory = directory::make("pg", account)?;
        let mut server =
            Server { directory, programs, account, port: 0, authentication: options.authentication.clone() };
        server.initialise(options)?;
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

    /// The directory of the unix socket.
    pub fn socket_directory(&self) -> &Path {
        &self.directory
    }

    /// The superuser's name.
    pub fn user(&self) -> &'static str {
        "postgres"
    }

    /// The superuser's password, where one is needed.
    pub fn password(&self) -> Option<&str> {
        self.authentication.password()
    }

    /// The server's own log, as text.
    pub fn log(&self) -> PathBuf {
        self.directory.join("log")
    }

    /// The certificate of the authority that signed the server's, when TLS is on.
    pub fn authority(&self) -> PathBuf {
        self.directory.join("authority.crt")
    }

    /// URL over the unix socket, with the password.
    pub fn unix_url(&self) -> String {
        let host = self.directory.to_string_lossy().replace('/', "%2F");
        format!("postgres://{}@{host}:{}/postgres", self.credentials(), self.port)
    }

    /// URL over TCP, with the password.
    pub fn tcp_url(&self) -> String {
        format!("postgres://{}@127.0.0.1:{}/postgres?sslmode=disable", self.credentials(), self.port)
    }

    /// URL over TLS, with the password; `mode` is libpq's `sslmode`.
    pub fn tls_url(&self, mode: &str) -> String {
        format!(
            "postgres://{}@localhost:{}/postgres?sslmode={mode}&sslrootcert={}",
            self.credentials(),
            self.port,
            self.authority().display()
        )
    }

    /// Process id of the postmaster.
    ///
    /// # Errors
    /// When the server is down.
    pub fn pid(&self) -> Result<i32, String> {
        let path = self.data().join("postmaster.pid");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let first = text.lines().next().unwrap_or("");
        first.trim().parse().map_err(|_| format!("{}: no process id in `{first}`", path.display()))
    }

    /// Stops all of the server's processes in the middle of whatever they do; connections stay open.
    ///
    /// # Errors
    /// When the server is down.
    pub fn freeze(&self) -> Result<(), String> {
        processes::signal_tree(self.pid()?, libc::SIGSTOP)
    }

    /// Lets a frozen server go on.
    ///
    /// # Errors
    /// When the server is down.
    pub fn thaw(&self) -> Result<(), String> {
        processes::signal_tree(self.pid()?, libc::SIGCONT)
    }

    /// Stops the server: connections break at once, as in a crash.
    ///
    /// # Errors
    /// What `pg_ctl` said.
    pub fn stop(&self) -> Result<(), String> {
        self.control(&["-m", "immediate", "-w", "-t", "30", "stop"])
    }

    /// Stops the server as an administrator would: connections get an error, then end.
    ///
    /// # Errors
    /// What `pg_ctl` said.
    pub fn shut_down(&self) -> Result<(), String> {
        self.control(&["-m", "fast", "-w", "-t", "30", "stop"])
    }

    /// Starts a stopped server again, on the same port.
    ///
    /// # Errors
    /// What `pg_ctl` said, with the end of the server's log.
    pub fn launch(&self) -> Result<(), String> {
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories={}",
            self.port,
            self.directory.display()
        );
        self.control(&["-w", "-t", "30", "-l", &self.log().to_string_lossy(), "-o", &options, "start"])
            .map_err(|reason| format!("{reason}; log: {}", self.log_end()))
    }

    /// Stops and starts again.
    ///
    /// # Errors
    /// As [`Server::stop`] and [`Server::launch`].
    pub fn restart(&self) -> Result<(), String> {
        self.stop()?;
        self.launch()
    }

    fn credentials(&self) -> String {
        match self.password() {
            Some(password) => format!("{}:{password}", self.user()),
            None => self.user().to_owned(),
        }
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    fn control(&self, arguments: &[&str]) -> Result<(), String> {
        let mut command = self.program("pg_ctl");
        command.arg("-D").arg(self.data()).args(arguments);
        run(&mut command, self.account).map(drop)
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        // A place that the server's user may enter, and messages in English.
        command.current_dir(&self.directory).env("LC_ALL", "C").env("HOME", &self.directory);
        command
    }

    fn initialise(&self, options: &Options) -> Result<(), String> {
        let mut command = self.program("initdb");
        command.args(["-U", self.user(), "-A", options.authentication.method()]);
        command.args(["--no-sync", "-E", "UTF8", "--locale=C", "-D"]).arg(self.data());
        if let Some(password) = options.authentication.password() {
            let file = self.directory.join("password");
            std::fs::write(&file, password).map_err(|e| format!("{}: {e}", file.display()))?;
            command.arg("--pwfile").arg(file);
        }
        own(&self.directory, self.account)?;
        run(&mut command, self.account)?;
        if options.tls {
            certificate::make(&self.directory, &self.data())?;
        }
        self.configure(options)?;
        own(&self.directory, self.account)
    }

    fn configure(&self, options: &Options) -> Result<(), String> {
        let mut text = String::from("\nfsync = off\nmax_connections = 50\nshared_buffers = 16MB\n");
        if matches!(options.authentication, Authentication::Md5(_)) {
            text.push_str("password_encryption = md5\n");
        }
        if options.tls {
            text.push_str("ssl = on\n");
        }
        for (name, value) in &options.settings {
            text.push_str(&format!("{name} = '{}'\n", value.replace('\'', "''")));
        }
        let path = self.data().join("postgresql.conf");
        let old = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        std::fs::write(&path, old + &text).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn log_end(&self) -> String {
        let text = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(5).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.pid().is_ok() {
            // A frozen server would not hear the order to stop.
            let _ = self.thaw();
            if let (Err(_), Ok(pid)) = (self.stop(), self.pid()) {
                let _ = processes::signal_tree(pid, libc::SIGKILL);
            }
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// The directory of the newest PostgreSQL that is installed, with `initdb`, `pg_ctl` and the server.
///
/// # Errors
/// One line: that there is none, and which package has it.
pub fn find_programs() -> Result<PathBuf, String> {
    let mut found: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    found.sort();
    let on_path = std::env::var_os("PATH").map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>());
    found
        .into_iter()
        .rev()
        .map(|(_, programs)| programs)
        .chain(on_path.unwrap_or_default())
        .find(|programs| programs.join("initdb").exists() && programs.join("pg_ctl").exists())
        .ok_or_else(|| {
            "no PostgreSQL server found in /usr/lib/postgresql or PATH; install it (Debian, Ubuntu: \
             `apt-get install postgresql`; Fedora: `dnf install postgresql-server`)"
                .to_owned()
        })
}
