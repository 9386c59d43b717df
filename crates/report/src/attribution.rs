//! What all pages say of whose the tail is, in the same words.

use crate::text::{count, time};
use analysis::attribution::{CauseRow, Held, Piece, Queued, Ran, SlowRequest, Threshold, Watched};
use analysis::{Attribution, Cause};
use std::cmp::Reverse;
use units::{Instant, Nanos, format_nanos};

/// A cause that explains less is not in the sentence.
const TOLD: f64 = 0.01;
/// Parts of one request that are told, at most.
const MOST_PARTS: usize = 12;
/// Of those who ran during stalls, how many are named.
const MOST_RUNNERS: usize = 4;

/// The sentence at the top: `of the 120 slowest requests' time 62 % is stalls of the client's CPUs (p = 0.001), 30 % the
/// database`.
pub(crate) fn sentence(attribution: &Attribution) -> String {
    let told: Vec<String> =
        attribution.causes.iter().filter(|row| row.share >= TOLD).enumerate().map(told).collect();
    let mut rest = attribution.causes.iter().filter(|row| row.share < TOLD).map(|row| row.share).sum::<f64>();
    rest = if rest >= TOLD / 2.0 { rest } else { 0.0 };
    let others = if rest > 0.0 { format!(", {} other causes", share(rest)) } else { String::new() };
    let who = match attribution.examined {
        1 => "the slowest request's".to_owned(),
        n => format!("the {} slowest requests'", count(n)),
    };
    format!("of {who} time {}{others}{}", told.join(", "), unknown(attribution))
}

/// What nobody looked for is in what is left.
fn unknown(attribution: &Attribution) -> String {
    let missing = attribution.causes.iter().filter(|row| row.watched != Watched::Yes);
    let missing: Vec<&str> = missing.map(|row| row.cause.name()).collect();
    match missing.is_empty() {
        true => String::new(),
        false => format!("; not watched, and so not told apart: {}", missing.join(", ")),
    }
}

fn told((index, row): (usize, &CauseRow)) -> String {
    let is = if index == 0 { "is " } else { "" };
    // That no session was left is known, and no matter of chance.
    let p = row.association.as_ref().filter(|_| row.cause != Cause::Outage);
    let p = p.map_or_else(String::new, |a| format!(" (p = {})", p_value(a.p_value)));
    format!("{} {is}{}{p}", share(row.share), all_of(row.cause))
}

/// The cause in a sentence on shares.
pub(crate) fn all_of(cause: Cause) -> &'static str {
    match cause {
        Cause::ClientStall => "stalls of the client's CPUs",
        Cause::ServerStall => "stalls of the server's CPUs",
        Cause::HostStall => "stalls of the host",
        Cause::HarnessJvm => "pauses of the harness JVM",
        Cause::ServerJvm => "pauses of the server JVM",
        Cause::Outage => "outages",
        Cause::Fault => "faults",
        Cause::JvmThread => "stalls of a JVM's threads",
        Cause::Checkpoint => "checkpoints",
        Cause::Reconnect => "reconnects",
        Cause::OtherEvent => "other events",
        Cause::PoolWait => "pool wait behind others",
        Cause::Lag => "lag",
        Cause::BeforeSending => {
            "the time before sending (pool wait or lag, which the tool does not tell apart)"
        }
        Cause::PickUp => "pick-up",
        Cause::Database => "the database",
    }
}

/// A share in per cent. Nothing is zero only if it is.
pub(crate) fn share(share: f64) -> String {
    if share == 0.0 {
        return "0 %".to_owned();
    }
    match 100.0 * share {
        p if p < 0.1 => "< 0.1 %".to_owned(),
        p if p < 9.95 => format!("{p:.1} %"),
        p if p > 99.5 && share < 1.0 => "> 99 %".to_owned(),
        p => format!("{p:.0} %"),
    }
}

pub(crate) fn p_value(p: f64) -> String {
    if p < 0.0095 { format!("{p:.3}") } else { format!("{p:.2}") }
}

/// How many times as much as by chance: three digits, without a unit.
pub(crate) fn times_chance(ratio: f64) -> String {
    match ratio {
        r if !r.is_finite() => "∞".to_owned(),
        r if r < 9.95 => format!("{r:.1}"),
        r => count(r.round() as u64),
    }
}

/// The same with its interval.
pub(crate) fn times_chance_interval(row: &CauseRow) -> Option<String> {
    let ratio = &row.association.as_ref()?.ratio;
    let point = times_chance(ratio.point);
    Some(match ratio.interval {
        Some((low, high)) => format!("{point} [{}, {}]", times_chance(low), times_chance(high)),
        None => point,
    })
}

/// What counts as slow: `slow: response times from 12.3 ms (Read), 20.1 ms (Update) on, the slowest thousandth of each`.
pub(crate) fn slow(attribution: &Attribution) -> String {
    let name = attribution.measure.name();
    match attribution.threshold {
        Threshold::Above(limit) => format!("slow is a {name} above {}", format_nanos(limit)),
        Threshold::ByOperation => {
            let limits = attribution.limits.iter();
            let limits: Vec<String> =
                limits.map(|l| format!("{} ({})", format_nanos(l.limit), l.operation)).collect();
            let shown = limits.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
            let more = if limits.len() > 8 { ", …" } else { "" };
            format!("slow is the slowest thousandth of each operation: a {name} from {shown}{more} on")
        }
    }
}

/// Causes that nobody looked for: what they cost is unknown. Empty when all were.
pub(crate) fn unwatched(attribution: &Attribution) -> Vec<String> {
    let why = |row: &CauseRow| match &row.watched {
        Watched::Yes => None,
        Watched::No(why) => Some(format!("{}: not watched ({why})", row.cause.name())),
    };
    attribution.causes.iter().filter_map(why).collect()
}

/// Causes that were seen, and that the slow requests meet no more often than by chance.
pub(crate) fn by_chance(attribution: &Attribution) -> Vec<String> {
    let seen = attribution.causes.iter().filter(|row| !row.is_shown && row.cause.is_observed());
    let said = |row: &CauseRow| {
        let a = row.association.as_ref()?;
        let of_all = a.overlap / attribution.time.0.max(1) as f64;
        Some(format!(
            "{} overlap {} of the time, no more than by chance (p = {})",
            all_of(row.cause),
            share(of_all),
            p_value(a.p_value)
        ))
    };
    seen.filter_map(said).collect()
}

/// Who ran during a cause's stalls: `burner (pid 77) 96 %, 3 others 2.0 %, nobody on this host 2.0 % (the host below it)`. `None`
/// where nobody watched that.
pub(crate) fn who_ran(row: &CauseRow) -> Option<String> {
    let ran = row.ran.as_ref()?;
    let of_all = |time: Nanos| time.0 as f64 / ran.stalled.0.max(1) as f64;
    let is_told = |time: Nanos| of_all(time) >= TOLD;
    let mut told: Vec<String> = (ran.runners.iter().take(MOST_RUNNERS).filter(|runner| is_told(runner.time)))
        .map(|runner| format!("{} {}", runner.name, share(of_all(runner.time))))
        .collect();
    let others = &ran.runners[told.len()..];
    let rest = Nanos(others.iter().map(|runner| runner.time.0).sum());
    if is_told(rest) {
        let others = if others.len() == 1 {
            "1 other".to_owned()
        } else {
            format!("{} others", count(others.len() as u64))
        };
        told.push(format!("{others} {}", share(of_all(rest))));
    }
    if ran.is_whole && ran.runners.is_empty() {
        told.push(format!("{NOBODY} ran: the host below it"));
    } else if is_told(ran.nobody) {
        told.push(nobody(ran, &share(of_all(ran.nobody))));
    }
    Some(told.join(", "))
}

const NOBODY: &str = "nobody on this host";

/// Where something was lost, it may have been somebody.
fn nobody(ran: &Ran, share: &str) -> String {
    match ran.is_whole {
        true => format!("{NOBODY} {share} (the host below it)"),
        false => format!("nobody that was told {share}"),
    }
}

/// One request in a line: `50.6 ms  Read at 4.123 s, session 3: 49.9 ms stall of the client's CPUs, 0.7 ms database`.
pub(crate) fn line(one: &SlowRequest) -> String {
    format!("{}  {}: {}", format_nanos(one.whole), whose(one), in_words(one))
}

/// Which request it is.
pub(crate) fn whose(one: &SlowRequest) -> String {
    let session = match one.session {
        record::NO_SESSION => "no session".to_owned(),
        n => format!("session {n}"),
    };
    format!("{} at {:.3} s, {session}", one.operation, one.at.0 as f64 / 1e9)
}

/// What its time went to, the largest first, with what happened at a moment. Pieces of one kind are one; kinds that take less than a
/// hundredth of the whole are told together. In order of time they are in the drawn bar and in JSON.
pub(crate) fn in_words(one: &SlowRequest) -> String {
    let least = one.whole.0 / 100;
    let (mut told, short): (Vec<Part>, Vec<Part>) =
        parts(one).into_iter().partition(|part| part.length.0 >= least);
    // Of equal ones, the first in time stays the first.
    told.sort_by_key(|part| Reverse(part.length));
    let mut words: Vec<String> = told.iter().take(MOST_PARTS).map(Part::words).collect();
    if told.len() > MOST_PARTS {
        words.push(format!("{} others", told.len() - MOST_PARTS));
    }
    let sum: u64 = short.iter().map(|part| part.length.0).sum();
    if sum >= least.max(1) {
        let pieces: u64 = short.iter().map(|part| part.pieces).sum();
        words.push(format!("{} in {pieces} short pieces", time(sum as f64)));
    }
    words.extend(one.queued.filter(|queued| queued.wait.0 >= least.max(1)).map(run_queue));
    for mark in one.marks.iter().take(2) {
        let after = format_nanos(Nanos(mark.at.0.saturating_sub(one.at.0)));
        let subject = if mark.subject.is_empty() { String::new() } else { format!(" {}", mark.subject) };
        words.push(format!("[{}{subject} after {after}]", mark.kind.name()));
    }
    words.join(", ")
}

/// All of a request's pieces that are told in the same words.
struct Part<'a> {
    cause: Cause,
    is_behind: bool,
    held: Option<&'a Held>,
    length: Nanos,
    /// At least one.
    pieces: u64,
}

/// The parts in the order of their first pieces.
fn parts(one: &SlowRequest) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for (piece, held) in one.pieces.iter().zip(one.held.iter().map(Option::as_ref)) {
        let Piece { cause, is_behind, length, .. } = *piece;
        let same = |part: &&mut Part<'_>| (part.cause, part.is_behind, part.held) == (cause, is_behind, held);
        match parts.iter_mut().find(same) {
            Some(part) => {
                part.length.0 += length.0;
                part.pieces += 1;
            }
            None => parts.push(Part { cause, is_behind, held, length, pieces: 1 }),
        }
    }
    parts
}

impl Part<'_> {
    fn words(&self) -> String {
        let behind = if self.is_behind { "behind the " } else { "" };
        let by = match self.held {
            None => String::new(),
            Some(Held::By(name)) => format!(" while {name} ran"),
            Some(Held::ByNobody) => format!(" while {NOBODY} ran"),
        };
        let pieces = if self.pieces == 1 { String::new() } else { format!(" in {} pieces", self.pieces) };
        format!("{} {behind}{}{by}{pieces}", time(self.length.0 as f64), self.cause.name())
    }
}

/// What the load's threads waited for a CPU, in the windows around the request.
fn run_queue(queued: Queued) -> String {
    let least = if queued.is_whole { "" } else { "at least " };
    let second = |at: Instant| format!("{:.3}", at.0 as f64 / 1e9);
    let (wait, begin, end) = (time(queued.wait.0 as f64), second(queued.begin), second(queued.end));
    format!("[threads of the load waited {least}{wait} for a CPU from {begin} to {end} s]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Outcome;

    /// A request of such pieces, each with who ran meanwhile.
    fn request(pieces: &[(Cause, u64, Option<Held>)]) -> SlowRequest {
        let mut begin = 0;
        let mut next = |(cause, length, _): &(Cause, u64, Option<Held>)| {
            let piece =
                Piece { cause: *cause, begin: Instant(begin), length: Nanos(*length), is_behind: false };
            begin += length;
            piece
        };
        SlowRequest {
            at: Instant(0),
            whole: Nanos(pieces.iter().map(|(_, length, _)| length).sum()),
            seq: 1,
            client: 0,
            session: 0,
            operation: "InsertRecord".to_owned(),
            outcome: Outcome::Ok,
            largest: Cause::Database,
            pieces: pieces.iter().map(&mut next).collect(),
            held: pieces.iter().map(|(_, _, held)| held.clone()).collect(),
            queued: None,
            marks: Vec::new(),
        }
    }

    #[test]
    fn the_largest_part_of_a_request_is_named_first() {
        let by = |name: &str| Some(Held::By(name.to_owned()));
        let one = request(&[
            (Cause::HostStall, 478_000, by("cc1")),
            (Cause::Database, 3_700_000, None),
            (Cause::HostStall, 4_000_000, by("ld")),
            (Cause::Database, 3_700_000, None),
            (Cause::HostStall, 22_000, by("cc1")),
            (Cause::Lag, 20_000, None),
            (Cause::PickUp, 110_000, None),
        ]);
        assert_eq!(
            in_words(&one),
            "7.40 ms database in 2 pieces, 4.00 ms stall of the host while ld ran, 500 µs stall of the host while cc1 ran \
             in 2 pieces, 130 µs in 2 short pieces"
        );
    }
}
