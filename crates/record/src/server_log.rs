//! What a database server's own log tells, among the events of a recording, and what is known of the log.

use crate::{Event, EventKind};
use units::Nanos;

/// What an event of the kind [`EventKind::Other`] is that a server told, by its own log or when it was asked.
///
/// The event's subject and the first words of its detail tell, so that whoever reads the table with other tools sees it, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerTold {
    /// A checkpoint or restartpoint, from begin to end.
    Checkpoint,
    /// An automatic vacuum or analyze, from begin to end.
    Vacuum,
    /// One of the server's processes waited for a lock, from begin to end.
    LockWait,
}

impl ServerTold {
    const ALL: [ServerTold; 3] = [ServerTold::Checkpoint, ServerTold::Vacuum, ServerTold::LockWait];

    /// What the detail of an event begins with that is from the server's log.
    pub const FROM_LOG: &'static str = "server log: ";

    /// What the detail of a checkpoint ends with that goes on, as far as its log tells: where the event ends is the end of the
    /// run, or of the log.
    pub const UNFINISHED: &'static str = "it had not ended when the log was read";

    /// What the detail of a checkpoint has whose log begins within it: it is known by its own total.
    pub const BEGUN_BEFORE: &'static str = "checkpoint whose begin is not in the log";

    /// The subject of its events.
    pub fn subject(self) -> &'static str {
        match self {
            ServerTold::Checkpoint => "checkpoint",
            ServerTold::Vacuum => "vacuum",
            ServerTold::LockWait => "lock wait",
        }
    }

    /// Of an event; `None` for one that is nothing of this.
    pub fn of(event: &Event) -> Option<ServerTold> {
        let is = |told: &ServerTold| event.kind == EventKind::Other && event.subject == told.subject();
        ServerTold::ALL.into_iter().find(is)
    }

    /// Whether an event comes from a server's log: of a checkpoint, its begin and end are then known and not only a time
    /// within which it was. But for [`ServerTold::is_unfinished`].
    pub fn is_from_log(event: &Event) -> bool {
        ServerTold::of(event).is_some() && event.detail.starts_with(ServerTold::FROM_LOG)
    }

    /// Whether an event comes from a server's log that has its end and not its begin.
    pub fn is_begun_before(event: &Event) -> bool {
        ServerTold::is_from_log(event) && event.detail.contains(ServerTold::BEGUN_BEFORE)
    }

    /// Whether an event comes from a server's log that does not have its end: it is taken to go on to the run's end.
    pub fn is_unfinished(event: &Event) -> bool {
        ServerTold::is_from_log(event) && event.detail.ends_with(ServerTold::UNFINISHED)
    }
}

/// One log of a database server, laid over a recording. Counts are of what lies within the recording, where it says nothing else.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServerLogFacts {
    /// The file as it was named.
    pub file: String,
    /// `stderr`, `csvlog` or `jsonlog`; empty where nothing was understood.
    pub format: String,
    /// By which clock its lines were placed and how exactly, in words; empty where they were not.
    pub aligned_by: String,
    /// Why some or all of its lines could not be placed.
    pub trouble: Option<String>,
    /// Checkpoints and restartpoints.
    pub checkpoints: u64,
    /// The longest of them.
    pub longest_checkpoint: Option<Nanos>,
    /// Checkpoints in the whole log, those outside of the recording too. None at all: perhaps they are not logged.
    pub checkpoints_in_all: u64,
    /// Automatic vacuums and analyzes.
    pub vacuums: u64,
    /// Waits for a lock.
    pub lock_waits: u64,
    /// Entries with the duration of a statement, in the whole log; nothing is made of them.
    pub durations: u64,
    /// Entries of the whole log that tell of something else.
    pub others: u64,
    /// Checkpoints, vacuums and lock waits before or after the recording, which are left out.
    pub outside: u64,
    /// Lines of the whole log that are no entry, or seem to tell of one of these and were not understood.
    pub not_understood: u64,
    /// The first of these lines, cut to 120 characters.
    pub examples: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Instant;

    #[test]
    fn subject_and_detail_tell_what_the_server_told() {
        for told in ServerTold::ALL {
            let event = Event {
                kind: EventKind::Other,
                begin: Instant(1),
                end: Instant(2),
                subject: told.subject().to_owned(),
                detail: format!("{}wal", ServerTold::FROM_LOG),
            };
            assert_eq!((ServerTold::of(&event), ServerTold::is_from_log(&event)), (Some(told), true));
            let with = |words: String| {
                let event = Event { detail: format!("{}{words}", ServerTold::FROM_LOG), ..event.clone() };
                (ServerTold::is_begun_before(&event), ServerTold::is_unfinished(&event))
            };
            assert_eq!(with("wal".to_owned()), (false, false));
            assert_eq!(with(format!("{}; 3 buffers", ServerTold::BEGUN_BEFORE)), (true, false));
            assert_eq!(with(format!("wal; {}", ServerTold::UNFINISHED)), (false, true));
            let asked = Event { detail: "wrote for 120 ms".to_owned(), ..event.clone() };
            assert_eq!((ServerTold::of(&asked), ServerTold::is_from_log(&asked)), (Some(told), false));
            let fault = Event { kind: EventKind::Fault, ..event };
            assert_eq!((ServerTold::of(&fault), ServerTold::is_from_log(&fault)), (None, false));
        }
    }
}
