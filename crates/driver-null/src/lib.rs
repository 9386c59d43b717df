//! A target that answers at once: what the harness itself costs, and nothing else.
//!
//! A run against `null:` goes through the whole of truetail except a database: schedule, session, stamps,
//! recording. Its times are the floor under every other measurement. So this driver makes no system call and
//! allocates nothing after connecting; a request costs it a few nanoseconds.
//!
//! Each statement answers with one row and one changed row, so that no workload counts a miss.
//!
//! ```
//! use driver::{Command, Direct, StatementSpec, Target};
//! let target = driver_null::NullTarget::new();
//! let mut session = target.connect(&[StatementSpec::counted("SELECT 1", &[])], None).unwrap();
//! let reply = Direct::new(&mut session).ask(Command::Statement { index: 0, arguments: &[] }).unwrap();
//! assert!(reply.touched());
//! ```
#![deny(missing_docs)]

mod administration;
mod session;

pub use session::NullSession;

use driver::{
    Administration, ConnectError, Dialect, Execution, Isolation, StatementSpec, Target, TargetUrl, UrlError,
};

/// The target `null:`.
#[derive(Clone, Copy, Debug)]
pub struct NullTarget {
    execution: Execution,
}

/// As [`NullTarget::new`].
impl Default for NullTarget {
    fn default() -> NullTarget {
        NullTarget::new()
    }
}

impl NullTarget {
    /// With sessions that workers poll, as those of a server.
    pub fn new() -> NullTarget {
        NullTarget { execution: Execution::Polled }
    }

    /// With a thread for each session, as an embedded database has: what that harness costs alone.
    pub fn blocking() -> NullTarget {
        NullTarget { execution: Execution::Blocking }
    }

    /// From `null:` or `null:?execution=blocking`.
    ///
    /// # Errors
    /// When the URL carries anything that would be ignored.
    pub fn from_url(url: &TargetUrl) -> Result<NullTarget, UrlError> {
        let mut target = NullTarget::new();
        for (name, value) in &url.options {
            target = match (name.as_str(), value.as_str()) {
                ("execution", "blocking") => NullTarget::blocking(),
                ("execution", "polled") => NullTarget::new(),
                ("execution", _) => {
                    return Err(url.error(format!("`execution={value}`: there are polled and blocking")));
                }
                _ => return Err(url.error(format!("unknown option `{name}`; `null:` has `execution` alone"))),
            };
        }
        if !(url.path.is_empty() && url.host.is_empty()) {
            return Err(url.error("`null:` is nowhere: write nothing after the colon"));
        }
        Ok(target)
    }
}

impl Target for NullTarget {
    type Session = NullSession;

    fn execution(&self) -> Execution {
        self.execution
    }

    fn dialect(&self) -> Dialect {
        Dialect::Null
    }

    fn connect(
        &self,
        statements: &[StatementSpec],
        _isolation: Option<Isolation>,
    ) -> Result<NullSession, ConnectError> {
        Ok(NullSession::new(statements))
    }

    fn administer(&self) -> Result<Box<dyn Administration>, ConnectError> {
        Ok(Box::new(administration::NullAdministration))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_ignored_is_refused() {
        let parse = |text: &str| NullTarget::from_url(&TargetUrl::parse(text).unwrap());
        assert!(parse("null:").is_ok());
        let execution = |text: &str| parse(text).unwrap().execution();
        assert_eq!(
            (execution("null:"), execution("null:?execution=blocking")),
            (Execution::Polled, Execution::Blocking)
        );
        assert!(
            parse("null:?execution=fast").unwrap_err().to_string().contains("there are polled and blocking")
        );
        assert!(parse("null:?rows=3").unwrap_err().to_string().contains("unknown option `rows`"));
        assert!(parse("null:x").unwrap_err().to_string().contains("nothing after the colon"));
        assert!(parse("null://host/").unwrap_err().to_string().contains("nothing after the colon"));
    }
}
