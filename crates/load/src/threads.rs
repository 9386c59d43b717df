//! Starting threads; a seam, so that tests can plant a system that has none left.

use std::io;
use std::thread::{Builder, Scope};

/// Starts the threads of a load.
pub(crate) trait Threads {
    /// Runs `work` on a thread of its own; drops it when there can be none.
    ///
    /// # Errors
    /// The system's.
    fn start<'scope>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        name: String,
        work: impl FnOnce() + Send + 'scope,
    ) -> io::Result<()>;
}

/// The system's threads.
pub(crate) struct SystemThreads;

impl Threads for SystemThreads {
    fn start<'scope>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        name: String,
        work: impl FnOnce() + Send + 'scope,
    ) -> io::Result<()> {
        Builder::new().name(name).spawn_scoped(scope, work).map(drop)
    }
}
