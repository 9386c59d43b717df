//! The server's messages that tell when something began or ended.

use crate::moment::decimal;
use units::{Nanos, format_nanos};

/// What a message says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Message {
    /// `checkpoint starting: wal`; the words are the reason.
    CheckpointBegins(String),
    /// `checkpoint complete: …`: how long it took, and in words what it did.
    CheckpointEnds(Nanos, String),
    /// An automatic vacuum or analyze that has ended: how long it took, and of what.
    Vacuum(Nanos, String),
    /// A process waits for a lock, for so long by now: which process, for how long, for what.
    Waiting(u32, Nanos, String),
    /// It has got it.
    Acquired(u32, Nanos, String),
    /// How long a statement took.
    Duration,
    /// The server starts or has stopped: what was going on is over.
    Interrupted,
    /// Something else.
    Other,
    /// It should tell of one of these, and does not.
    Broken,
}

const CHECKPOINTS: [&str; 2] = ["checkpoint", "restartpoint"];
const COMPLETE: &str = " complete";

/// Whether a message tells that a checkpoint has ended, whatever else it tells.
pub(super) fn ends_checkpoint(message: &str) -> bool {
    let rest = CHECKPOINTS.iter().find_map(|kind| message.strip_prefix(kind));
    rest.is_some_and(|rest| rest.starts_with(COMPLETE))
}

/// Reads a message. Those of a standby's restartpoints are as those of checkpoints.
pub(super) fn read(message: &str) -> Message {
    let told = |found: Option<Message>| found.unwrap_or(Message::Broken);
    for kind in CHECKPOINTS {
        let Some(rest) = message.strip_prefix(kind) else { continue };
        if let Some(reason) = rest.strip_prefix(" starting:") {
            let reason = reason.trim();
            let reason = if reason.is_empty() { "no reason" } else { reason };
            return Message::CheckpointBegins(format!("{kind}: {reason}"));
        }
        if let Some(rest) = rest.strip_prefix(COMPLETE) {
            return told(rest.strip_prefix(": ").and_then(complete));
        }
    }
    if message.starts_with("automatic ") {
        return vacuum(message);
    }
    if let Some(rest) = message.strip_prefix("process ") {
        return told(lock(rest));
    }
    if message.starts_with("duration: ") {
        return Message::Duration;
    }
    let over = [
        "starting PostgreSQL",
        "database system was interrupted",
        "database system is shut down",
        "all server processes terminated",
    ];
    if over.iter().any(|over| message.starts_with(over)) { Message::Interrupted } else { Message::Other }
}

/// `0.064` seconds.
fn seconds(text: &str) -> Option<Nanos> {
    decimal(text, 9).map(Nanos)
}

/// `wrote 1647 buffers (20.1%); 0 WAL file(s) added, …; write=0.143 s, sync=0.119 s, total=0.440 s; …`; what comes after the
/// buffers differs between versions.
fn complete(rest: &str) -> Option<Message> {
    let field = |key: &str| {
        let value = rest.split(['=', ';', ',']).map(str::trim).skip_while(|part| *part != key).nth(1)?;
        seconds(value.strip_suffix(" s")?)
    };
    let buffers: u64 = rest.strip_prefix("wrote ")?.split_once(" buffers")?.0.parse().ok()?;
    let (write, sync, total) = (field("write")?, field("sync")?, field("total")?);
    let [write, sync] = [write, sync].map(format_nanos);
    Some(Message::CheckpointEnds(total, format!("{buffers} buffers, wrote for {write}, synced for {sync}")))
}

/// `automatic vacuum of table "postgres.public.t": index scans: 0`, and its times on the last line; likewise `automatic analyze`,
/// `automatic aggressive vacuum to prevent wraparound`.
fn vacuum(message: &str) -> Message {
    let Some((kind, rest)) = message.split_once(" of table \"") else { return Message::Other };
    let found = || {
        let (table, rest) = rest.split_once('"')?;
        let (_, elapsed) = rest.rsplit_once("elapsed: ")?;
        let elapsed = seconds(elapsed.split_once(" s").map_or(elapsed, |(number, _)| number))?;
        Some(Message::Vacuum(elapsed, format!("{kind} of {table}")))
    };
    found().unwrap_or(Message::Broken)
}

/// `17751 still waiting for ShareLock on transaction 741 after 50.110 ms`, `17751 acquired ShareLock on … after 196.606 ms`.
/// A deadlock that was detected or avoided is a wait, too.
fn lock(rest: &str) -> Option<Message> {
    let (pid, rest) = rest.split_once(' ')?;
    let pid = pid.parse().ok()?;
    let known = [
        ("acquired ", true),
        ("still waiting for ", false),
        ("avoided deadlock for ", false),
        ("detected deadlock while waiting for ", false),
        ("failed to acquire ", false),
    ];
    let found = known.into_iter().find_map(|(words, has_it)| Some((rest.strip_prefix(words)?, has_it)));
    let Some((rest, has_it)) = found else { return Some(Message::Other) };
    let (lock, after) = rest.rsplit_once(" after ")?;
    let lock = lock.split_once(" by rearranging").map_or(lock, |(lock, _)| lock).to_owned();
    let waited = Nanos(decimal(after.strip_suffix(" ms")?, 6)?);
    Some(if has_it { Message::Acquired(pid, waited, lock) } else { Message::Waiting(pid, waited, lock) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn checkpoints_of_several_versions() {
        let begins = |words: &str| Message::CheckpointBegins(words.to_owned());
        assert_eq!(
            read("checkpoint starting: immediate force wait"),
            begins("checkpoint: immediate force wait")
        );
        assert_eq!(read("restartpoint starting: time"), begins("restartpoint: time"));
        assert_eq!(read("checkpoint starting:"), begins("checkpoint: no reason"));
        let versions = [
            "wrote 1647 buffers (20.1%); 0 WAL file(s) added, 0 removed, 1 recycled; write=0.143 s, sync=0.119 s, total=0.440 s; \
             sync files=37, longest=0.017 s, average=0.004 s; distance=13318 kB, estimate=13318 kB",
            "wrote 1647 buffers (20.1%), wrote 3 SLRU buffers; 0 WAL file(s) added, 0 removed, 1 recycled; write=0.143 s, \
             sync=0.119 s, total=0.440 s; sync files=37, longest=0.017 s, average=0.004 s; distance=13318 kB, \
             estimate=13318 kB; lsn=0/2A6E8C8, redo lsn=0/2A6E890",
        ];
        for version in versions {
            let words = "1647 buffers, wrote for 143 ms, synced for 119 ms".to_owned();
            let expected = Message::CheckpointEnds(Nanos(440 * MS), words);
            assert_eq!(read(&format!("checkpoint complete: {version}")), expected);
            assert_eq!(read(&format!("restartpoint complete: {version}")), expected);
        }
        assert_eq!(read("checkpoint complete: wrote 1647 buffers (20.1%); 0 WAL"), Message::Broken);
        assert_eq!(read("checkpoints are occurring too frequently (1 second apart)"), Message::Other);
    }

    #[test]
    fn vacuums_locks_and_the_rest() {
        let vacuum = "automatic aggressive vacuum of table \"a.b.c\": index scans: 0\npages: 0 removed\n\
                      system usage: CPU: user: 0.01 s, system: 0.00 s, elapsed: 1.03 s";
        let expected = Message::Vacuum(Nanos(1_030 * MS), "automatic aggressive vacuum of a.b.c".to_owned());
        assert_eq!(read(vacuum), expected);
        assert_eq!(read("automatic vacuum of table \"a.b.c\": index scans: 0"), Message::Broken);
        let lock = || "ShareLock on transaction 741".to_owned();
        assert_eq!(
            read("process 17 still waiting for ShareLock on transaction 741 after 50.110 ms"),
            Message::Waiting(17, Nanos(50_110_000), lock())
        );
        assert_eq!(
            read("process 17 acquired ShareLock on transaction 741 after 196.606 ms"),
            Message::Acquired(17, Nanos(196_606_000), lock())
        );
        assert_eq!(
            read(
                "process 17 avoided deadlock for ShareLock on transaction 741 by rearranging queue order after 9.000 ms"
            ),
            Message::Waiting(17, Nanos(9 * MS), lock())
        );
        assert_eq!(read("process 17 acquired ShareLock on transaction 741 after"), Message::Broken);
        assert_eq!(read("process with PID 17 was killed"), Message::Broken);
        assert_eq!(read("duration: 3.141 ms  statement: checkpoint starting: x"), Message::Duration);
        assert_eq!(read("database system was interrupted; last known up at 2026"), Message::Interrupted);
        assert_eq!(read("connection received"), Message::Other);
    }
}
