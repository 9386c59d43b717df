//! Ending what abandoned sessions left running in the server.
//!
//! A session that is given up in the middle of a request is dropped, and a server does not look at a closed connection
//! before it has something to say: the query would run on to its end, hold its locks, and take its share of what is measured
//! afterwards. So a dropped session leaves its number behind, and the next connection, made by a thread that measures
//! nothing, asks the server to end it. KILL ends the whole connection, not only the statement (KILL QUERY), since nobody is
//! at its other end and commands of the same batch may still wait there.

use crate::client::{Client, Failure};
use crate::codec;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A connection's number at the server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct ConnectionId(pub(crate) u32);

/// The numbers of sessions that were dropped with a request in flight.
#[derive(Clone, Default)]
pub(crate) struct Abandoned {
    ids: Arc<Mutex<Vec<ConnectionId>>>,
}

impl Abandoned {
    /// Leaves a number; takes a lock that is held for no longer than this.
    pub(crate) fn push(&self, id: ConnectionId) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    }

    /// Asks the server, over a connection that is logged in, to end what the sessions left behind. A refusal changes nothing:
    /// the session has ended by itself meanwhile.
    ///
    /// # Errors
    /// When the connection breaks.
    pub(crate) fn end(&self, client: &mut Client) -> Result<(), Failure> {
        let mut ids = std::mem::take(&mut *self.ids.lock().unwrap_or_else(PoisonError::into_inner));
        // Numbers rise for as long as a server lives. A higher one than this connection's is of a server before this,
        // and may by now be somebody else's.
        ids.retain(|id| *id < client.server.id);
        for ConnectionId(id) in &ids {
            codec::command(&mut client.out, codec::QUERY, &format!("KILL {id}"));
        }
        client.send()?;
        for _ in ids {
            client.packet()?;
        }
        Ok(())
    }
}

impl fmt::Debug for Abandoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Abandoned")
    }
}
