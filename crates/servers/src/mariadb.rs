//! A real MariaDB server from installed programs: started on a free port, thrown away at the end.
//!
//! Its data is not kept, so it does not wait for the disk, and it is small; [`Options::settings`] change that.

use crate::certificate;
use crate::command::{Account, run, unprivileged};
use crate::directory::{self, free_port, own};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often, 2 ms apart, a server is asked whether it answers, or has ended.
const ATTEMPTS: u32 = 15_000;

/// What the server should be like.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The user's password; none if not given.
    pub password: Option<String>,
    /// Whether TLS is offered, with a certificate for `localhost` of an authority made for this server.
    pub tls: bool,
    /// More settings, e.g. `("max_connections", "20")`.
    pub settings: Vec<(String, String)>,
}

/// A running server; stopped, and its directory removed, when dropped.
#[derive(Debug)]
pub struct Server {
    directory: PathBuf,
    account: Option<Account>,
    port: u16,
    options: Options,
    /// `None` while it is stopped.
    process: Mutex<Option<Child>>,
}

/// The database that URLs name.
const DATABASE: &str = "truetail";

impl Server {
    /// Makes a new server and starts it; a few seconds.
    ///
    /// # Errors
    /// One line: what failed and, if MariaDB is missing, which package has it.
    pub fn start(options: &Options) -> Result<Server, String> {
        find("mariadbd")?;
        let account = unprivileged()?;
        let directory = directory::make("mdb", account)?;
        let mut server =
            Server { directory, account, port: 0, options: options.clone(), process: Mutex::new(None) };
        server.initialise()?;
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
        self.directory.join("socket")
    }

    /// The name of the user, who may do everything.
    pub fn user(&self) -> &'static str {
        "truetail"
    }

    /// The user's password, where one is needed.
    pub fn password(&self) -> Option<&str> {
        self.options.password.as_deref()
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
        format!("mysql://{}@/{DATABASE}?socket={}", self.credentials(), self.socket().display())
    }

    /// URL over TCP, with the password.
    pub fn tcp_url(&self) -> String {
        format!("mysql://{}@127.0.0.1:{}/{DATABASE}?sslmode=disable", self.credentials(), self.port)
    }

    /// URL over TLS, with the password; `mode` is as libpq's `sslmode`.
    pub fn tls_url(&self, mode: &str) -> String {
        format!(
            "mysql://{}@localhost:{}/{DATABASE}?sslmode={mode}&sslrootcert={}",
            self.credentials(),
            self.port,
            self.authority().display()
        )
    }

    /// Process id.
    ///
    /// # Errors
    /// When the server is down.
    pub fn pid(&self) -> Result<i32, String> {
        let id = self.process().as_ref().map(Child::id).ok_or("the MariaDB server is down")?;
        i32::try_from(id).map_err(|e| e.to_string())
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

    /// Kills the server: connections break at once, as in a crash.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(&self) -> Result<(), String> {
        let Some(mut child) = self.process().take() else { return Ok(()) };
        child.kill().and_then(|()| child.wait()).map(drop).map_err(|e| format!("the MariaDB server: {e}"))
    }

    /// Stops the server as an administrator would.
    ///
    /// # Errors
    /// When it does not end within 30 s.
    pub fn shut_down(&self) -> Result<(), String> {
        self.signal(libc::SIGTERM)?;
        let mut process = self.process();
        let Some(child) = process.as_mut() else { return Ok(()) };
        for _ in 0..ATTEMPTS {
            if child.try_wait().is_ok_and(|status| status.is_some()) {
                *process = None;
                return Ok(());
            }
            pause();
        }
        Err(format!("the MariaDB server does not end; log: {}", self.log_end()))
    }

    /// Starts a stopped server again, on the same port.
    ///
    /// # Errors
    /// What went wrong, with the end of the server's log.
    pub fn launch(&self) -> Result<(), String> {
        // It would be in the way of the next one.
        let _ = std::fs::remove_file(self.socket());
        let mut command = self.program("mariadbd")?;
        command.arg(format!("--defaults-file={}", self.configuration().display()));
        command.arg(format!("--port={}", self.port));
        if let Some(account) = self.account {
            command.uid(account.uid).gid(account.gid);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|e| format!("`mariadbd` could not be run: {e}"))?;
        *self.process() = Some(child);
        self.wait_until_it_answers()
    }

    /// Stops and starts again.
    ///
    /// # Errors
    /// As [`Server::stop`] and [`Server::launch`].
    pub fn restart(&self) -> Result<(), String> {
        self.stop()?;
        self.launch()
    }

    fn wait_until_it_answers(&self) -> Result<(), String> {
        for _ in 0..ATTEMPTS {
            if let Some(child) = self.process().as_mut()
                && let Ok(Some(status)) = child.try_wait()
            {
                return Err(format!("the MariaDB server ended ({status}); log: {}", self.log_end()));
            }
            // It listens before it has done what its start file says; it greets only afterwards.
            if UnixStream::connect(self.socket()).and_then(|mut s| s.read_exact(&mut [0; 5])).is_ok() {
                return Ok(());
            }
            pause();
        }
        Err(format!("the MariaDB server does not answer; log: {}", self.log_end()))
    }

    fn initialise(&self) -> Result<(), String> {
        let mut command = self.program("mariadb-install-db")?;
        command.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
        command.arg("--skip-name-resolve").arg(format!("--datadir={}", self.data().display()));
        own(&self.directory, self.account)?;
        run(&mut command, self.account)?;
        if self.options.tls {
            certificate::make(&self.directory, &self.data())?;
        }
        self.configure()?;
        own(&self.directory, self.account)
    }

    fn configure(&self) -> Result<(), String> {
        let shown = |name: &str| self.directory.join(name).display().to_string();
        let mut text = format!(
            "[mariadbd]\ndatadir={}\nsocket={}\npid_file={}\nlog_error={}\ninit_file={}\nbind_address=127.0.0.1\n",
            self.data().display(),
            self.socket().display(),
            shown("pid"),
            self.log().display(),
            shown("start.sql")
        );
        text.push_str(
            "innodb_flush_log_at_trx_commit=0\ninnodb_buffer_pool_size=32M\ninnodb_log_file_size=32M\n",
        );
        // Rare resources of the kernel that tests side by side would use up.
        text.push_str("innodb_use_native_aio=0\nmax_connections=50\nskip_name_resolve=1\n");
        if self.options.tls {
            let data = self.data();
            text.push_str(&format!(
                "ssl_cert={0}/server.crt\nssl_key={0}/server.key\nssl_ca={1}\n",
                data.display(),
                self.authority().display()
            ));
        }
        for (name, value) in &self.options.settings {
            text.push_str(&format!("{name}={value}\n"));
        }
        let write = |path: &Path, text: &str| {
            std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
        };
        write(&self.configuration(), &text)?;
        let password = self.options.password.as_deref().unwrap_or("").replace('\'', "''");
        let user = format!("'{}'@'%'", self.user());
        // One statement a line.
        let start = format!(
            "CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4;\n\
             CREATE USER IF NOT EXISTS {user} IDENTIFIED BY '{password}';\n\
             GRANT ALL ON *.* TO {user} WITH GRANT OPTION;\n"
        );
        write(&self.directory.join("start.sql"), &start)
    }

    fn credentials(&self) -> String {
        match &self.options.password {
            Some(password) => format!("{}:{password}", self.user()),
            None => self.user().to_owned(),
        }
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    fn configuration(&self) -> PathBuf {
        self.directory.join("my.cnf")
    }

    fn process(&self) -> MutexGuard<'_, Option<Child>> {
        // A poisoned lock only means that a test failed.
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self, signal: libc::c_int) -> Result<(), String> {
        // SAFETY: `kill` takes two integers, and the child has not been waited for: the number is still its own.
        if unsafe { libc::kill(self.pid()?, signal) } == 0 {
            Ok(())
        } else {
            Err(format!("signal {signal} to the MariaDB server: {}", std::io::Error::last_os_error()))
        }
    }

    fn program(&self, name: &str) -> Result<Command, String> {
        let mut command = Command::new(find(name)?);
        // A place that the server's user may enter, and messages in English.
        command.current_dir(&self.directory).env("LC_ALL", "C").env("HOME", &self.directory);
        command.env("TMPDIR", &self.directory);
        Ok(command)
    }

    fn log_end(&self) -> String {
        let text = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(5).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing is left to be told of a failure.
        let _ = self.stop();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Where Debian has the server, which is not on everybody's path.
const PLACES: [&str; 3] = ["/usr/sbin", "/usr/libexec", "/usr/local/sbin"];

/// One of MariaDB's programs.
///
/// # Errors
/// One line: that it is not there, and which package has it.
pub fn find(program: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(PLACES.map(PathBuf::from))
        .map(|place| place.join(program))
        .find(|path| path.is_file())
        .ok_or_else(|| {
            format!(
                "no `{program}` found; install MariaDB (Debian, Ubuntu: `apt-get install mariadb-server`; Fedora: \
                 `dnf install mariadb-server`)"
            )
        })
}

fn pause() {
    let mut nothing = libc::pollfd { fd: -1, events: 0, revents: 0 };
    // SAFETY: one valid pollfd; a negative descriptor is ignored, so that only the limit of 2 ms counts.
    unsafe { libc::poll(&mut nothing, 1, 2) };
}
