//! Pauses of a JVM among the events of a recording, and what is known of the log that they come from.

use crate::{Event, EventKind};
use units::Nanos;

/// Whom an event of the kind [`EventKind::JvmPause`] stopped, and whether its interval is the stop itself.
///
/// It is told by the first words of the event's detail, so that whoever reads the table with other tools sees it, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PauseReach {
    /// All threads stood still, from begin to end.
    WholeVm,
    /// One thread waited from begin to end (an allocation stall), or each thread did for a part of it (a handshake).
    OneThread,
    /// Something stopped between begin and end, and the log tells how long and not when: pacing, the quanta of metronome.
    Within,
}

impl PauseReach {
    /// What a detail begins with.
    pub fn prefix(self) -> &'static str {
        match self {
            PauseReach::WholeVm => "all threads: ",
            PauseReach::OneThread => "one thread: ",
            PauseReach::Within => "within this time: ",
        }
    }

    /// Of an event; `None` for one of another kind. A detail that says nothing is a pause of all threads.
    pub fn of(event: &Event) -> Option<PauseReach> {
        let says = |reach: &PauseReach| event.detail.starts_with(reach.prefix());
        let told = [PauseReach::OneThread, PauseReach::Within].into_iter().find(says);
        (event.kind == EventKind::JvmPause).then(|| told.unwrap_or(PauseReach::WholeVm))
    }
}

/// One log of a JVM, laid over a recording. Times and counts are of what lies within the recording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JvmLogFacts {
    /// Whose pauses they are, as the events' subject: `server JVM`, `harness JVM 2`.
    pub subject: String,
    /// The file as it was named.
    pub file: String,
    /// `HotSpot` or `OpenJ9`; empty where nothing was understood.
    pub format: String,
    /// By which clock its lines were placed and how exactly, in words; empty where they were not.
    pub aligned_by: String,
    /// Why it tells nothing of the recording, or not all: none of its lines could be placed, it covers another time.
    pub trouble: Option<String>,
    /// Pauses of all threads.
    pub pauses: u64,
    /// Their sum.
    pub total: Nanos,
    /// The longest of them.
    pub longest: Option<Nanos>,
    /// The longest time that threads took to stop; `None` where no line tells it.
    pub longest_time_to_safepoint: Option<Nanos>,
    /// Stalls of single threads.
    pub stalls: u64,
    /// Their sum over all threads.
    pub stalled: Nanos,
    /// The longest of them.
    pub longest_stall: Option<Nanos>,
    /// Summaries that tell how long something stopped and not when.
    pub summaries: u64,
    /// Pauses and stalls before or after the recording, which are left out.
    pub outside: u64,
    /// Lines that seem to tell of a pause, or of nothing known, and were not understood.
    pub not_understood: u64,
    /// The first of these lines, cut to 120 characters.
    pub examples: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Instant;

    #[test]
    fn the_detail_tells_whom_a_pause_stopped() {
        for reach in [PauseReach::WholeVm, PauseReach::OneThread, PauseReach::Within] {
            let event = Event {
                kind: EventKind::JvmPause,
                begin: Instant(1),
                end: Instant(2),
                subject: "server JVM".to_owned(),
                detail: format!("{}G1CollectForAllocation", reach.prefix()),
            };
            assert_eq!(PauseReach::of(&event), Some(reach));
            assert_eq!(PauseReach::of(&Event { kind: EventKind::Other, ..event }), None);
        }
    }
}
