//! The pauses of the harness's JVM in a recording.

use super::{PauseTotals, Pauses, RoundPauses, StopInterval};
use crate::attribution::names::HARNESS_JVM;
use record::{Event, JvmLogFacts, PauseReach};
use units::{Instant, Nanos, parse_duration};

/// What an event's detail has before the time to safepoint.
const TO_SAFEPOINT: &str = "time to safepoint ";

/// What a round tells of its JVM.
pub(super) enum Told {
    /// Its pauses.
    Pauses(RoundPauses),
    /// No log of the harness is in the recording.
    NoLog,
    /// There is one, and it could not be used.
    Trouble(String),
}

impl Told {
    /// Of the harness's events that touch the measured time, shifted to its begin and cut to it.
    pub(super) fn of(events: &[Event], logs: &[JvmLogFacts], measured: (Instant, Instant)) -> Told {
        let own = || logs.iter().filter(|log| log.subject.starts_with(HARNESS_JVM));
        let events: Vec<&Event> =
            events.iter().filter(|event| event.subject.starts_with(HARNESS_JVM)).collect();
        if let Some(why) = own().find_map(|log| log.trouble.clone()) {
            return Told::Trouble(why);
        }
        if own().next().is_none() && !events.iter().any(|event| PauseReach::of(event).is_some()) {
            return Told::NoLog;
        }
        let mut pauses = RoundPauses::default();
        for event in events {
            let (Some(reach), Some(stop)) = (PauseReach::of(event), within(event, measured)) else {
                continue;
            };
            match reach {
                PauseReach::WholeVm => pauses.whole.push(stop),
                PauseReach::OneThread => pauses.stalls.push(stop),
                PauseReach::Within => pauses.summaries += 1,
            }
        }
        pauses.whole.sort_unstable_by_key(|stop| (stop.begin, stop.end));
        pauses.stalls.sort_unstable_by_key(|stop| (stop.begin, stop.end));
        Told::Pauses(pauses)
    }
}

/// The part of an event within the measured time, since its begin; `None` for what has no length there.
fn within(event: &Event, (begin, end): (Instant, Instant)) -> Option<StopInterval> {
    let (from, to) = (event.begin.get()?.max(begin), event.end.get()?.min(end));
    let length = to.0.checked_sub(from.0).filter(|length| *length > 0)?;
    let from = from.0 - begin.0;
    Some(StopInterval {
        begin: Instant(from),
        end: Instant(from + length),
        to_safepoint: to_safepoint(&event.detail).map(|time| time.min(Nanos(length))),
    })
}

/// `time to safepoint 2.00 ms` of a pause's detail: three digits, as it was written.
fn to_safepoint(detail: &str) -> Option<Nanos> {
    let (_, after) = detail.split_once(TO_SAFEPOINT)?;
    parse_duration(after.split(',').next()?).ok()
}

impl RoundPauses {
    /// The longest pause of all threads.
    pub fn longest(&self) -> Option<Nanos> {
        self.whole.iter().map(StopInterval::length).max()
    }

    /// The longest time to safepoint.
    pub fn longest_to_safepoint(&self) -> Option<Nanos> {
        self.whole.iter().filter_map(|stop| stop.to_safepoint).max()
    }

    /// How much of [begin, end) all threads stood still, ns.
    pub(super) fn overlap(&self, begin: u64, end: u64) -> u64 {
        let mut covered_to = begin;
        let mut sum = 0;
        for stop in &self.whole {
            let (from, to) = (stop.begin.0.max(covered_to), stop.end.0.min(end));
            if from < to {
                sum += to - from;
                covered_to = to;
            }
        }
        sum
    }
}

/// Of all rounds of a cell whose JVM was to write a log, or was not.
pub(super) fn of_cell(jvm_log: Option<bool>, told: &[&Told]) -> Pauses {
    let seen: Vec<&RoundPauses> = told.iter().filter_map(|one| one.pauses()).collect();
    match (jvm_log, seen.is_empty()) {
        (None, true) => Pauses::NoJvm,
        (Some(false), true) => Pauses::NoLog,
        (_, true) => Pauses::Trouble(reasons(told)),
        (_, false) => {
            let totals = totals(&seen);
            match (totals.pauses > 0, seen.len() == told.len()) {
                (true, _) => Pauses::Seen(totals),
                (false, true) => Pauses::NoPause(totals),
                // What some rounds do not have, the others may.
                (false, false) => Pauses::Trouble(format!(
                    "of {} of {} rounds the log does not tell ({}), and the others have no pause",
                    told.len() - seen.len(),
                    told.len(),
                    reasons(told)
                )),
            }
        }
    }
}

/// Why rounds are not told of, each reason once.
fn reasons(told: &[&Told]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for why in told.iter().filter_map(|one| one.why_not()) {
        if !reasons.contains(&why) {
            reasons.push(why);
        }
    }
    reasons.join("; ")
}

impl Told {
    pub(super) fn pauses(&self) -> Option<&RoundPauses> {
        match self {
            Told::Pauses(pauses) => Some(pauses),
            Told::NoLog | Told::Trouble(_) => None,
        }
    }

    /// Why a round whose JVM was to write a log is not told of.
    pub(super) fn why_not(&self) -> Option<&str> {
        match self {
            Told::Pauses(_) => None,
            Told::NoLog => Some("no recording of it holds a log of its JVM"),
            Told::Trouble(why) => Some(why),
        }
    }
}

fn totals(rounds: &[&RoundPauses]) -> PauseTotals {
    let whole = || rounds.iter().flat_map(|round| &round.whole);
    let stalls = || rounds.iter().flat_map(|round| &round.stalls);
    PauseTotals {
        rounds: rounds.len(),
        pauses: whole().count() as u64,
        total: Nanos(whole().map(|stop| stop.length().0).sum()),
        longest: whole().map(StopInterval::length).max(),
        longest_to_safepoint: whole().filter_map(|stop| stop.to_safepoint).max(),
        stalls: stalls().count() as u64,
        longest_stall: stalls().map(StopInterval::length).max(),
        summaries: rounds.iter().map(|round| round.summaries).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::EventKind;

    fn pause(subject: &str, begin: u64, end: u64, detail: &str) -> Event {
        Event {
            kind: EventKind::JvmPause,
            begin: Instant(begin),
            end: Instant(end),
            subject: subject.to_owned(),
            detail: detail.to_owned(),
        }
    }

    #[test]
    fn pauses_are_those_of_the_harness_in_the_measured_time() {
        let log = JvmLogFacts { subject: "harness JVM".to_owned(), ..JvmLogFacts::default() };
        let events = [
            pause("harness JVM", 50, 120, "all threads: G1: time to safepoint 15 ns, total 70 ns"),
            pause("harness JVM 2", 300, 310, "one thread: Allocation Stall: total 10 ns"),
            pause("server JVM", 150, 160, "all threads: G1: total 10 ns"),
            pause("harness JVM", 400, 900, "within this time: pacing: of 5 ns"),
            pause("harness JVM", 1_200, 1_300, "all threads: late: total 100 ns"),
        ];
        let told = Told::of(&events, std::slice::from_ref(&log), (Instant(100), Instant(1_000)));
        let pauses = told.pauses().expect("there is a log");
        let stop = |begin, end, to_safepoint| StopInterval {
            begin: Instant(begin),
            end: Instant(end),
            to_safepoint,
        };
        assert_eq!(pauses.whole, [stop(0, 20, Some(Nanos(15)))]);
        assert_eq!((pauses.stalls.clone(), pauses.summaries), (vec![stop(200, 210, None)], 1));
        assert_eq!((pauses.overlap(0, 10), pauses.overlap(5, 100), pauses.overlap(20, 30)), (10, 15, 0));
    }

    #[test]
    fn what_is_not_known_is_not_nothing() {
        let log = |trouble: Option<&str>| JvmLogFacts {
            subject: "harness JVM".to_owned(),
            trouble: trouble.map(str::to_owned),
            ..JvmLogFacts::default()
        };
        let span = (Instant(0), Instant(1_000));
        let of = |jvm_log, logs: &[JvmLogFacts]| of_cell(jvm_log, &[&Told::of(&[], logs, span)]);
        assert_eq!(of(None, &[]), Pauses::NoJvm);
        assert_eq!(of(Some(false), &[]), Pauses::NoLog);
        assert_eq!(of(Some(true), &[log(Some("no clock"))]), Pauses::Trouble("no clock".to_owned()));
        assert!(matches!(of(Some(true), &[]), Pauses::Trouble(why) if why.contains("no recording")));
        let nothing = PauseTotals { rounds: 1, ..PauseTotals::default() };
        assert_eq!(of(Some(true), &[log(None)]), Pauses::NoPause(nothing));
    }

    /// Of three rounds one tells of no pause, and of the others nobody knows: that is no cell without pauses.
    #[test]
    fn no_pause_is_said_where_each_round_tells_of_none() {
        let without = || Told::Pauses(RoundPauses::default());
        let trouble = |why: &str| Told::Trouble(why.to_owned());
        let of = |told: &[Told]| of_cell(Some(true), &told.iter().collect::<Vec<_>>());
        assert!(matches!(of(&[without(), without()]), Pauses::NoPause(totals) if totals.rounds == 2));
        let Pauses::Trouble(why) = of(&[trouble("no clock"), without(), trouble("cut short")]) else {
            panic!("two logs do not tell");
        };
        assert_eq!(
            why,
            "of 2 of 3 rounds the log does not tell (no clock; cut short), and the others have no pause"
        );
        let Pauses::Trouble(why) = of(&[without(), Told::NoLog]) else { panic!("a log is missing") };
        assert!(why.contains("1 of 2 rounds") && why.contains("no recording"), "{why}");
        assert_eq!(of(&[trouble("no clock"), trouble("no clock")]), Pauses::Trouble("no clock".to_owned()));
        // Pauses that were seen are there, whatever the other rounds have.
        let stop = StopInterval { begin: Instant(1), end: Instant(9), to_safepoint: None };
        let seen = Told::Pauses(RoundPauses { whole: vec![stop], ..RoundPauses::default() });
        assert!(matches!(of(&[trouble("no clock"), seen]), Pauses::Seen(totals) if totals.rounds == 1));
    }

    #[test]
    fn safepoints_are_read_from_the_detail() {
        assert_eq!(
            to_safepoint("all threads: G1: time to safepoint 2.00 ms, total 40.0 ms"),
            Some(Nanos(2_000_000))
        );
        assert_eq!(
            to_safepoint("all threads: G1: time to safepoint 914 µs, total 40.0 ms"),
            Some(Nanos(914_000))
        );
        assert_eq!(to_safepoint("all threads: exclusive: total 40.0 ms"), None);
    }
}
