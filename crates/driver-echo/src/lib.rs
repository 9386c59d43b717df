//! The echo target and its server: what a socket, the kernel, and a process that answers at once cost.
//!
//! A run against `null:` shows the harness alone; one against `echo:` adds all that lies between two processes and nothing
//! of a database. What is measured with it is the floor under what can be measured of a server over the same kind of
//! socket. The server is [`serve`], which `truetail echo` runs; the driver is native, as those for databases are: a request
//! is one `send` and one `recv`, with the kernel's receive stamp where the socket is TCP.
//!
//! Each command, of whatever kind, is one frame of `?request=` bytes that asks for `?answer=` bytes, and commands of a
//! batch go out together. The answer is compared with what was sent, byte by byte. As with `null:` a statement answers
//! with one row that was read and changed, so that every workload runs on it and none counts a miss.
//!
//! ```no_run
//! use driver::{Command, Direct, Target, TargetUrl};
//! let url = TargetUrl::parse("echo://127.0.0.1:7377?request=14&answer=7").unwrap();
//! let mut session = driver_echo::EchoTarget::from_url(&url).unwrap().connect(&[], None).unwrap();
//! Direct::new(&mut session).ask(Command::Ping).unwrap();
//! ```
#![deny(missing_docs)]

mod administration;
mod config;
mod connect;
mod frame;
mod server;
mod session;
mod shape;

pub use config::PORT;
pub use frame::{BadRequest, HEADER, LIMIT, Lengths};
pub use server::{Listener, Totals, serve};
pub use session::EchoSession;

use config::Config;
use driver::{
    Administration, ConnectError, Dialect, Execution, Isolation, StatementSpec, Target, TargetUrl, UrlError,
};

/// The target `echo:`.
#[derive(Clone, Debug)]
pub struct EchoTarget {
    config: Config,
}

impl EchoTarget {
    /// From `echo://host:port`, or `echo:///?socket=PATH`; with `?request=` and `answer=`, the bytes of a request's and an
    /// answer's payload, in 0..=[`LIMIT`], 64 if not given. The port is [`PORT`] if not given. Connects to nothing.
    ///
    /// # Errors
    /// What is wrong with the URL.
    pub fn from_url(url: &TargetUrl) -> Result<EchoTarget, UrlError> {
        Ok(EchoTarget { config: Config::new(url)? })
    }
}

impl Target for EchoTarget {
    type Session = EchoSession;

    fn execution(&self) -> Execution {
        Execution::Polled
    }

    /// It accepts everything, as `null:` does.
    fn dialect(&self) -> Dialect {
        Dialect::Null
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        _isolation: Option<Isolation>,
    ) -> Result<EchoSession, ConnectError> {
        Ok(EchoSession::new(connect::connect(&self.config)?, &self.config, statements))
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Ok(Box::new(administration::EchoAdministration::connect(&self.config)?))
    }
}
