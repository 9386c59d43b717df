//! The helper JVM: started with the first connection, gone with the target and its last session.

use crate::compile;
use crate::config::{Config, Transport};
use crate::place::Place;
use crate::words::{self, LastWords};
use driver::ConnectError;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use units::Nanos;

/// How long the JVM may take to load the class and to listen.
const START: Duration = Duration::from_secs(60);

/// How long it may take to end when it is told to: sessions clean up for at most 5 s.
const END: Nanos = Nanos::from_secs(7);

/// How long an exit that is under way is waited for, to tell of it.
const DYING: Nanos = Nanos::from_millis(300);

/// A step of waiting.
const STEP: Nanos = Nanos::from_millis(10);

/// Bytes of the token that sessions show.
const TOKEN: usize = 16;

/// The helper JVM.
pub(crate) struct Jvm {
    child: Mutex<Child>,
    /// Its end is that of the JVM.
    orders: Mutex<Option<ChildStdin>>,
    words: Arc<LastWords>,
    config: Arc<Config>,
    token: [u8; TOKEN],
    /// On TCP.
    port: u16,
    /// `OpenJDK 64-Bit Server VM 17.0.15+6`.
    pub(crate) java: String,
    /// Of YCSB's core.
    pub(crate) ycsb: String,
    // The last field: classes and socket stay until the JVM has ended.
    place: Place,
}

impl Jvm {
    /// Compiles the bridge and starts it; `log` is where the JVM's log goes.
    ///
    /// # Errors
    /// One line: what went wrong, without secrets.
    pub(crate) fn start(config: &Arc<Config>, log: Option<&Path>) -> Result<Jvm, ConnectError> {
        let failed = |problem: String| {
            let shown = config.secrets.hidden_in(&problem);
            ConnectError::permanent(format!("{}: {shown}", config.address))
        };
        let place = Place::make().map_err(failed)?;
        compile::compile(config, &place).map_err(failed)?;
        let token = token().map_err(|error| failed(format!("/dev/urandom: {error}")))?;
        let (reader, writer) =
            std::io::pipe().map_err(|error| failed(format!("no pipe for the JVM's words: {error}")))?;
        let spawned = command(config, &place, log).and_then(|mut command| {
            let other = writer.try_clone()?;
            command.stdin(Stdio::piped()).stdout(writer).stderr(other).spawn()
        });
        let mut child = spawned.map_err(|error| failed(format!("`{}`: {error}", config.java.display())))?;
        let words = Arc::new(LastWords::default());
        let (sender, answers) = channel();
        let heard = Arc::clone(&words);
        // It ends with the pipe, and so with the JVM.
        std::thread::spawn(move || words::listen(reader, &heard, &sender));
        let orders = child.stdin.take();
        let mut jvm = Jvm {
            child: Mutex::new(child),
            orders: Mutex::new(orders),
            words,
            config: Arc::clone(config),
            token,
            port: 0,
            java: String::new(),
            ycsb: String::new(),
            place,
        };
        jvm.order();
        jvm.await_ready(&answers).map_err(failed)?;
        Ok(jvm)
    }

    /// Tells the bridge what to do. One that has ended already says why by other means.
    fn order(&self) {
        let socket = match self.config.transport {
            Transport::Unix => self.place.socket().to_string_lossy().into_owned(),
            Transport::Tcp => String::new(),
        };
        let mut orders = Vec::new();
        put(&mut orders, &self.token);
        put(&mut orders, socket.as_bytes());
        put(&mut orders, self.config.class.as_bytes());
        orders.extend((self.config.properties.len() as u32).to_be_bytes());
        for (name, value) in &self.config.properties {
            put(&mut orders, name.as_bytes());
            put(&mut orders, value.as_bytes());
        }
        if let Some(stdin) = self.orders.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            let _ = stdin.write_all(&orders).and_then(|()| stdin.flush());
        }
    }

    fn await_ready(&mut self, answers: &Receiver<String>) -> Result<(), String> {
        loop {
            let answer = match answers.recv_timeout(START) {
                Ok(answer) => answer,
                Err(RecvTimeoutError::Disconnected) => return Err(self.last_words()),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("the helper JVM was not ready after {} s", START.as_secs()));
                }
            };
            match answer.split_once(' ') {
                Some(("java", version)) => version.clone_into(&mut self.java),
                Some(("ycsb", version)) => version.clone_into(&mut self.ycsb),
                Some(("failed", words)) => return Err(words.to_owned()),
                Some(("ready", port)) => {
                    self.port = port.parse().map_err(|_| format!("no port: `{port}`"))?;
                    return Ok(());
                }
                _ => return Err(format!("the bridge says `{answer}`")),
            }
        }
    }

    /// What sessions show when they connect.
    pub(crate) fn token(&self) -> &[u8] {
        &self.token
    }

    /// Where it listens on TCP.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Where it listens otherwise.
    pub(crate) fn socket(&self) -> std::path::PathBuf {
        self.place.socket()
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).id()
    }

    /// Whether and how it has ended.
    pub(crate) fn ended(&self) -> Option<ExitStatus> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait().ok().flatten()
    }

    /// How it ended, and what was said last, in one line without secrets; waits a moment for an end that is under way.
    pub(crate) fn last_words(&self) -> String {
        let ended = match self.ended_within(DYING) {
            Some(status) => format!("the helper JVM ended ({status})"),
            None => "the helper JVM closed the connection".to_owned(),
        };
        let words = self.words.told();
        let said = if words.is_empty() { "and said nothing".to_owned() } else { format!("it said: {words}") };
        self.config.secrets.hidden_in(&format!("{ended}; {said}"))
    }

    fn ended_within(&self, limit: Nanos) -> Option<ExitStatus> {
        for _ in 0..limit.0 / STEP.0 {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            clock::pause(STEP);
        }
        self.ended()
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        drop(self.orders.lock().unwrap_or_else(PoisonError::into_inner).take());
        if self.ended_within(END).is_none() {
            let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
            // It may have ended in this very moment.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// In a group of its own: a Ctrl-C at the terminal is truetail's, which ends the load first.
fn command(config: &Config, place: &Place, log: Option<&Path>) -> std::io::Result<Command> {
    let mut command = Command::new(&config.java);
    // A session whose thread dies of it would go on without answers.
    command.arg("-XX:+ExitOnOutOfMemoryError").args(&config.jvm);
    if let Some(log) = log {
        let file = std::path::absolute(log)?;
        let mut flag = OsString::from("-Xlog:safepoint*,gc*:file=\"");
        flag.push(file);
        flag.push("\":time,timenanos,uptimenanos,level,tags:filecount=0");
        command.arg(flag);
    }
    let mut class_path = place.classes().into_os_string();
    class_path.push(":");
    class_path.push(compile::joined(&config.class_path));
    command.arg("-cp").arg(class_path).arg("truetail.bridge.Bridge").process_group(0);
    Ok(command)
}

/// Lets our sessions in and nobody else's: on TCP whoever is on this host could ask otherwise.
fn token() -> std::io::Result<[u8; TOKEN]> {
    let mut token = [0; TOKEN];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut token)?;
    Ok(token)
}

fn put(orders: &mut Vec<u8>, bytes: &[u8]) {
    orders.extend((bytes.len() as u32).to_be_bytes());
    orders.extend(bytes);
}
