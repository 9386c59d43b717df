//! Ending what abandoned sessions left running in the server.
//!
//! A session that is given up in the middle of a request is dropped, and a server does not look at a closed
//! connection before it has something to say: the query would run on to its end and take its share of what is
//! measured afterwards. So a dropped session leaves its key behind, and whoever connects next, a thread that
//! measures nothing, asks the server to cancel. The request is not waited for: the server does not answer it,
//! and one that is frozen would hold the connecting thread.

use crate::client::Client;
use crate::codec;
use crate::config::Config;
use crate::connect;
use socket::{Deadline, Link};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use units::Nanos;

/// Process number and secret, as the server gave them; whoever has it can cancel the session's queries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CancelKey(pub(crate) [u8; 8]);

/// The keys of sessions that were dropped with a request in flight.
#[derive(Clone, Default)]
pub(crate) struct Abandoned {
    keys: Arc<Mutex<Vec<CancelKey>>>,
}

/// How long one request may take: it is one packet to a server that was there a moment ago.
const LIMIT: Nanos = Nanos::from_millis(500);

impl Abandoned {
    /// Leaves a key; takes a lock that is held for no longer than this.
    pub(crate) fn push(&self, key: CancelKey) {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).push(key);
    }

    /// Asks the server to cancel what the sessions left behind. A refusal changes nothing: the queries then end
    /// by themselves, as they would have.
    pub(crate) fn cancel(&self, config: &Config) {
        let keys = std::mem::take(&mut *self.keys.lock().unwrap_or_else(PoisonError::into_inner));
        for key in keys {
            let deadline = Deadline::after(LIMIT.min(config.connect_timeout));
            let Ok(socket) = connect::reach(config, &deadline) else { return };
            let mut client = Client::new(Link::plain(socket), deadline);
            // In the clear even where sessions are encrypted, as libpq did for decades: the key is of use only
            // as long as the query that it ends.
            codec::cancel(&mut client.out, key.0);
            let _ = client.send();
        }
    }
}

impl fmt::Debug for CancelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CancelKey")
    }
}

impl fmt::Debug for Abandoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Abandoned")
    }
}
