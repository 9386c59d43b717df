//! Any class of YCSB's database interface layer as a target: `ycsb-db:CLASS?jar=…&p.key=value`.
//!
//! One JVM beside truetail lends the class. Each session is a connection to it, a thread and an object there, as in YCSB's
//! client; when a request is made, and what it took, is decided and measured on this side, where nothing is allocated.
//! What the bridge itself costs is what a ping takes, which it answers without calling the class; `truetail floor` says it.
//!
//! A status of YCSB becomes an outcome: `OK` and `BATCHED_OK` are done, `NOT_FOUND` is a miss, `NOT_IMPLEMENTED` a request
//! that the driver can't do, `SERVICE_UNAVAILABLE` what it says, and all others, exceptions among them, errors of the
//! server. Whether an update of a missing record, or an insert of one that is there, is refused, is the binding's own.
//! A read of all fields that is `OK` found its record, whatever came back; a read of named fields found it if one of them came.
//!
//! A request that is given up is not interrupted, since YCSB has no way to: its session is dropped, and its thread goes on
//! until the class returns. Nothing is asked twice on this side; what the class does by itself, nobody knows. When the JVM
//! ends, all sessions are lost, and it is not started again: a fresh JVM would be another thing to measure.
//!
//! ```no_run
//! use driver::{Command, Direct, Fields, KeyValue, Target, TargetUrl};
//! let url = TargetUrl::parse("ycsb-db:site.ycsb.BasicDB?jar=lib/*").unwrap();
//! let target = driver_ycsb::YcsbTarget::from_url(&url).unwrap();
//! let mut session = target.connect(&[], None).unwrap();
//! let read = KeyValue::Read { table: "usertable", key: "user1", fields: Fields::All };
//! let reply = Direct::new(&mut session).ask(Command::KeyValue(read)).unwrap();
//! assert_eq!(reply.rows, 1);
//! ```
#![deny(missing_docs)]

mod administration;
mod codec;
mod compile;
mod config;
mod connect;
#[cfg(test)]
mod fuzz_tests;
mod jvm;
mod place;
mod records;
mod replies;
mod secrets;
mod session;
mod spent;
mod words;

pub use session::YcsbSession;

use config::Config;
use driver::{
    Administration, ConnectError, Dialect, Execution, Isolation, StatementSpec, TargetUrl, UrlError,
};
use jvm::Jvm;
use spent::Spent;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A class of YCSB's database interface layer, in a JVM that starts with the first connection.
pub struct YcsbTarget {
    config: Arc<Config>,
    log: Option<PathBuf>,
    /// `None` until somebody connects; then what came of starting it.
    jvm: Mutex<Option<Result<Arc<Jvm>, ConnectError>>>,
    /// Of all sessions that were ever made.
    spent: Mutex<Vec<Arc<Spent>>>,
}

impl YcsbTarget {
    /// The target that a URL names: `ycsb-db:CLASS?jar=PATH:DIRECTORY/*…`, with `p.NAME=VALUE` for each property of the
    /// binding, `java=` (of JAVA_HOME, or of the path), `jvm=` for its arguments,
    /// `transport=unix` or `tcp`, and `init_timeout=` in seconds. Starts nothing.
    ///
    /// # Errors
    /// What is wrong with the URL, without what is secret in it.
    pub fn from_url(url: &TargetUrl) -> Result<YcsbTarget, UrlError> {
        let config = Config::new(url, &|name| std::env::var(name).ok())?;
        Ok(YcsbTarget {
            config: Arc::new(config),
            log: None,
            jvm: Mutex::new(None),
            spent: Mutex::new(Vec::new()),
        })
    }

    /// Where the JVM is to write its log of safepoints and collections; before anybody connects.
    pub fn log_to(&mut self, path: &Path) {
        self.log = Some(path.to_owned());
    }

    /// The JVM, started if it was not yet.
    fn jvm(&self) -> Result<Arc<Jvm>, ConnectError> {
        let mut place = self.jvm.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || Jvm::start(&self.config, self.log.as_deref()).map(Arc::new);
        let jvm = place.get_or_insert_with(start).clone()?;
        match jvm.ended() {
            None => Ok(jvm),
            Some(_) => {
                let problem = format!("{}; it is not started again within a run", jvm.last_words());
                Err(ConnectError::permanent(format!("{}: {problem}", self.config.address)))
            }
        }
    }
}

impl driver::Target for YcsbTarget {
    type Session = YcsbSession;

    fn execution(&self) -> Execution {
        Execution::Polled
    }

    fn dialect(&self) -> Dialect {
        Dialect::KeyValue
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        isolation: Option<Isolation>,
    ) -> Result<YcsbSession, ConnectError> {
        let address = &self.config.address;
        if let Some(first) = statements.first() {
            let problem = format!("`{}` can't be prepared: YCSB's database classes have no SQL", first.sql);
            return Err(ConnectError::permanent(format!("{address}: {problem}")));
        }
        if let Some(level) = isolation {
            let problem = "YCSB's database classes have no transactions, and so no isolation levels";
            return Err(ConnectError::permanent(format!("{address}: {}: {problem}", level.name())));
        }
        let jvm = self.jvm()?;
        let socket = connect::connect(&self.config, &jvm)?;
        let spent = Arc::new(Spent::default());
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&spent));
        Ok(YcsbSession::new(socket, spent, self.config.secrets.clone(), Some(jvm)))
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        let jvm = self.jvm()?;
        let socket = connect::connect(&self.config, &jvm)?;
        let kernel_stamps = socket.has_stamps();
        // Its calls are none of the load's.
        let spent = Arc::new(Spent::default());
        let secrets = self.config.secrets.clone();
        Ok(Box::new(administration::YcsbAdministration {
            config: Arc::clone(&self.config),
            session: YcsbSession::new(socket, spent, secrets, Some(Arc::clone(&jvm))),
            jvm,
            kernel_stamps,
        }))
    }
    /// How long calls of the class took by the JVM's clock, and how long the bridge took around them.
    fn remarks(&self) -> Vec<(String, String)> {
        let sessions = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent::told(sessions.iter().map(AsRef::as_ref))
    }
}
