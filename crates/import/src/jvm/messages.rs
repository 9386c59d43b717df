//! The messages of HotSpot's log that tell of pauses, JDK 11 to 25.

use super::pause::{JvmPause, ToldBy};
use crate::moment::decimal;
use record::PauseReach;
use units::Nanos;

/// What a message says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Message {
    /// A pause, a stall or a summary; its stamp and line are still missing.
    Pause(Box<JvmPause>),
    /// JDK 11 names the operation on a line of its own.
    Entering(String),
    /// The next rows are of threads that were paced.
    PacingBegins,
    /// It tells of no pause.
    Other,
    /// It should tell of a pause, and does not.
    Broken,
}

impl Message {
    fn of(pause: JvmPause) -> Message {
        Message::Pause(Box::new(pause))
    }
}

/// Reads a message; `in_pacing` in the table that [`Message::PacingBegins`] began.
pub(super) fn read(message: &str, tags: Option<&str>, in_pacing: bool) -> Message {
    let told = |pause: Option<JvmPause>| pause.map_or(Message::Broken, Message::of);
    if message.starts_with("Safepoint \"") {
        return told(safepoint(message));
    }
    if let Some(rest) = message.strip_prefix("Total time for which application threads were stopped: ") {
        return told(stopped(rest));
    }
    if let Some(name) = message.strip_prefix("Entering safepoint region: ") {
        return Message::Entering(name.trim().to_owned());
    }
    if message.starts_with("Handshake \"") {
        return told(handshake(message));
    }
    if message == "Allocation pacing accrued:" {
        return Message::PacingBegins;
    }
    if tags == Some("safepoint,stats") || (tags.is_none() && message.contains("][")) {
        return statistics(message);
    }
    if tags == Some("gc,stats") {
        return if in_pacing { pacing(message) } else { Message::Other };
    }
    let of_collector = without_number(message);
    if tags.is_none_or(|tags| tags == "gc") {
        for kind in ["Allocation Stall (", "Relocation Stall ("] {
            if of_collector.starts_with(kind) {
                return told(stall(of_collector));
            }
        }
    }
    match tags {
        Some("gc" | "gc,phases") if of_collector.starts_with("Pause ") => told(collector(of_collector)),
        // Without tags, the line at the begin of a collection looks the same but for its end.
        None if of_collector.starts_with("Pause ") => {
            collector(of_collector).map_or(Message::Other, Message::of)
        }
        Some("safepoint") if !is_known(message) => Message::Broken,
        _ => Message::Other,
    }
}

/// Whether a line is of a log that would tell of pauses of all threads. ZGC's lines of the tag `gc` alone would not: its
/// pauses are phases.
pub(super) fn tells_pauses(read: &Message, message: &str, tags: Option<&str>) -> bool {
    let has = |wanted: &str| tags.is_some_and(|tags| tags.split(',').any(|tag| tag == wanted));
    let of_a_pause = match read {
        Message::Pause(pause) => pause.reach == PauseReach::WholeVm,
        Message::Entering(_) => true,
        _ => false,
    };
    let stops_the_world = message.starts_with("Using ") && !message.contains("Z Garbage");
    of_a_pause || has("safepoint") || (has("gc") && stops_the_world)
}

/// How long before its stamp a line knows of every safepoint: its own time and `Time since last`.
pub(super) fn quiet_before(message: &str) -> Nanos {
    let field = |name: &str| {
        let rest = message.split_once(name)?.1;
        nanos(rest.split_once(',').map_or(rest, |(value, _)| value))
    };
    let both = || Some(field(" Time since last: ")?.0.saturating_add(field(" Total: ")?.0));
    Nanos(both().filter(|_| message.starts_with("Safepoint \"")).unwrap_or(0))
}

fn is_known(message: &str) -> bool {
    ["Application time: ", "Leaving safepoint region"].iter().any(|known| message.starts_with(known))
}

/// Takes `GC(7) ` off, and the generation of ZGC's phases (`y: `, `O: `).
fn without_number(message: &str) -> &str {
    let numbered = message.strip_prefix("GC(").and_then(|rest| rest.split_once(") "));
    let rest = match numbered {
        Some((number, rest)) if number.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => message,
    };
    ["y: ", "Y: ", "o: ", "O: "].iter().find_map(|generation| rest.strip_prefix(generation)).unwrap_or(rest)
}

fn nanos(text: &str) -> Option<Nanos> {
    text.trim().strip_suffix(" ns").and_then(|digits| digits.parse().ok()).map(Nanos)
}

/// JDK 13 and later: `Safepoint "G1CollectForAllocation", Time since last: 94860762 ns, Reaching safepoint: 914634 ns,
/// Cleanup: 17747 ns, At safepoint: 4836207 ns, Leaving safepoint: 5117 ns, Total: 5768588 ns, Threads: 1 runnable, 13 total`,
/// of which each version has its own subset.
fn safepoint(message: &str) -> Option<JvmPause> {
    let (name, rest) = message.strip_prefix("Safepoint \"")?.split_once('"')?;
    let mut pause = JvmPause::of_all(ToldBy::Safepoint, name, Nanos::ZERO);
    let mut total = None;
    for field in rest.split(", ").skip(1) {
        let Some((key, value)) = field.split_once(": ") else { continue };
        match key {
            "Time since last" => drop(nanos(value)?),
            "Reaching safepoint" => pause.time_to_safepoint = Some(nanos(value)?),
            "Cleanup" => pause.cleanup = Some(nanos(value)?),
            "At safepoint" => pause.operation = Some(nanos(value)?),
            "Leaving safepoint" => pause.leaving = Some(nanos(value)?),
            "Total" => total = Some(nanos(value)?),
            _ => {}
        }
    }
    pause.total = total?;
    Some(pause)
}

/// JDK 11: `0.0061608 seconds, Stopping threads took: 0.0000084 seconds`.
fn stopped(rest: &str) -> Option<JvmPause> {
    let seconds = |text: &str| decimal(text.trim().strip_suffix(" seconds")?, 9).map(Nanos);
    let (total, stopping) = rest.split_once(", Stopping threads took: ")?;
    let mut pause = JvmPause::of_all(ToldBy::Stopped, "safepoint", seconds(total)?);
    pause.time_to_safepoint = Some(seconds(stopping)?);
    Some(pause)
}

/// `name [ total initial ][ sync (cleanup) vmop total ] traps` in ns. JDK 25 has no cleanup, so it is the last of the second
/// bracket that counts. Headers come again and again; the counts and maxima at the end are sums.
fn statistics(message: &str) -> Message {
    if message.starts_with("VM Operation ") || message.starts_with("Maximum ") || message.trim().is_empty() {
        return Message::Other;
    }
    let row = || {
        let (name, rest) = message.split_once('[')?;
        let (_threads, rest) = rest.split_once("][")?;
        let (times, _traps) = rest.split_once(']')?;
        let times: Vec<Nanos> =
            times.split_whitespace().map(|time| time.parse().map(Nanos)).collect::<Result<_, _>>().ok()?;
        let (sync, cleanup, operation, total) = match *times.as_slice() {
            [sync, cleanup, operation, total] => (sync, Some(cleanup), operation, total),
            [sync, operation, total] => (sync, None, operation, total),
            _ => return None,
        };
        let mut pause = JvmPause::of_all(ToldBy::Statistics, name.trim(), total);
        (pause.time_to_safepoint, pause.cleanup, pause.operation) = (Some(sync), cleanup, Some(operation));
        Some(pause)
    };
    let is_count = || {
        let mut words = message.split_whitespace();
        words.next_back().is_some_and(|count| count.parse::<u64>().is_ok()) && words.next().is_some()
    };
    match row() {
        Some(pause) => Message::of(pause),
        None if !message.contains('[') && is_count() => Message::Other,
        None => Message::Broken,
    }
}

/// `Pause Young (Normal) (G1 Evacuation Pause) 12M->3M(256M) 4.636ms`, `Pause Mark Start 0.008ms`: without the time that
/// threads took to stop.
fn collector(message: &str) -> Option<JvmPause> {
    let (before, time) = message.rsplit_once(' ')?;
    let total = Nanos(decimal(time.strip_suffix("ms")?, 6)?);
    let name = match before.rsplit_once(' ') {
        Some((name, sizes)) if sizes.contains("->") => name,
        _ => before,
    };
    let mut pause = JvmPause::of_all(ToldBy::Collector, name, total);
    pause.operation = Some(total);
    Some(pause)
}

/// `Allocation Stall (main) 24.901ms`: that thread, and no other.
fn stall(message: &str) -> Option<JvmPause> {
    let (kind, rest) = message.split_once(" (")?;
    let (thread, time) = rest.rsplit_once(") ")?;
    let total = Nanos(decimal(time.trim().strip_suffix("ms")?, 6)?);
    let mut pause = JvmPause::of_all(ToldBy::Stall, &format!("{kind} of {thread}"), total);
    pause.reach = PauseReach::OneThread;
    Some(pause)
}

/// `Handshake "…", Targeted threads: 12, Executed by requesting thread: 3, Total completion time: 48321 ns`: each thread
/// stops for a part of it, at a moment of its own.
fn handshake(message: &str) -> Option<JvmPause> {
    let (name, rest) = message.strip_prefix("Handshake \"")?.split_once('"')?;
    let field = |key: &str| rest.split(", ").find_map(|field| field.strip_prefix(key));
    let total = nanos(field("Total completion time: ")?)?;
    let threads = field("Targeted threads: ").map_or(String::new(), |count| format!(" of {count} threads"));
    let mut pause = JvmPause::of_all(ToldBy::Handshake, &format!("handshake {name}{threads}"), total);
    pause.reach = PauseReach::Within;
    Some(pause)
}

/// Shenandoah, after each cycle: `   25 of   140 ms ( 17.9%): main`, a row for each thread, then sums in angle brackets. How
/// long it was held up since the last cycle, not when.
fn pacing(message: &str) -> Message {
    let row = || {
        let (paced, rest) = message.split_once(" of ")?;
        let (cycle, rest) = rest.split_once(" ms (")?;
        let (_share, thread) = rest.split_once("): ")?;
        let millis = |text: &str| decimal(text.trim(), 6).map(Nanos);
        Some((millis(paced)?, millis(cycle)?, thread.trim()))
    };
    let Some((paced, cycle, thread)) = row() else { return Message::Other };
    if thread.starts_with('<') || paced == Nanos::ZERO {
        return Message::Other;
    }
    let mut pause = JvmPause::of_all(ToldBy::Pacing, &format!("pacing of {thread}"), cycle);
    (pause.reach, pause.stopped) = (PauseReach::Within, Some(paced));
    Message::of(pause)
}

#[cfg(test)]
mod tests;
