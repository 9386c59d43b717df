//! What the recording states of itself is judged: the clock's checks, the server's CPUs, a closed loop's rate; and
//! how the verdict words what it counts.

mod made;

use analysis::{Analysis, ReasonKind, Severity, VerdictState, facts};
use made::{MS, Run, changed, reason, took};
use record::{Ending, Event, EventKind, LoadModel, Sample};
use units::{Instant, Outcome, PerSecond};

fn plain() -> Run {
    Run::new(LoadModel::Open, 20).each_ms(20_000, |i, s| took(s, 200_000 + i % 1_000))
}

fn with_clock(name: &str, value: &str) -> Analysis {
    let mut run = plain();
    run.input.info.header.clock_facts = vec![(name.to_owned(), value.to_owned())];
    run.analyse()
}

#[test]
fn counters_that_disagree_are_judged_by_what_is_certain() {
    let cases = [
        ("+12 ns ± 40 ns", None),
        ("+1030 ns ± 40 ns", None),
        ("+1050 ns ± 40 ns", Some(Severity::Suspect)),
        ("-2500 ns ± 100 ns", Some(Severity::Suspect)),
        ("+5000 ns ± 9000 ns", None),
        ("-3000000 ns ± 60 ns", Some(Severity::Invalid)),
        ("not measured: one CPU", None),
    ];
    for (stated, expected) in cases {
        let found = with_clock(facts::CLOCK_SKEW, stated);
        let said = reason(&found, ReasonKind::Clock);
        assert_eq!(said.map(|r| r.severity), expected, "{stated}");
        assert!(said.is_none_or(|r| r.text.contains(stated) && r.text.contains("limit 1.00 µs")), "{said:?}");
    }
}

#[test]
fn a_cycle_counter_that_failed_its_checks_is_named() {
    let found = with_clock(facts::CLOCK_FALLBACK, "the CPU lacks `nonstop_tsc`");
    let said = reason(&found, ReasonKind::Clock).expect("the fallback");
    assert_eq!((said.severity, found.verdict.state), (Severity::Note, VerdictState::Valid));
    assert!(said.text.contains("(the CPU lacks `nonstop_tsc`)"), "{}", said.text);
}

#[test]
fn a_server_on_other_cpus_makes_the_run_suspect() {
    let with = |found: &str| {
        let mut run = plain();
        run.input.info.header.capabilities = vec![
            ("timer slack 1 ns".into(), "granted".into()),
            (format!("{}2-3", facts::SERVER_CPUS), found.into()),
        ];
        run.analyse()
    };
    assert!(reason(&with(facts::AS_ASKED), ReasonKind::ServerCpus).is_none());
    let found = with("no: process 12 may use 0-3");
    let said = reason(&found, ReasonKind::ServerCpus).expect("elsewhere");
    assert_eq!((said.severity, found.verdict.state), (Severity::Suspect, VerdictState::Suspect));
    assert!(said.text.contains("were not the ones stated (2-3): process 12 may use 0-3"), "{}", said.text);
    let unknown = with(&format!("{}: the list can't be read", facts::NOT_VERIFIED));
    assert_eq!(reason(&unknown, ReasonKind::ServerCpus).map(|r| r.severity), Some(Severity::Note));
}

/// A throttled closed loop that asks for 1,000/s and makes one request each `gap_us`.
fn throttled(gap_us: u64, count: u64, ending: Ending) -> Analysis {
    let mut run = Run::new(LoadModel::ThrottledClosed, 20);
    run.input.info.header.phases[0].offered = PerSecond::new(1_000.0).map(|r| (r, r));
    run.input.ending = Some(ending);
    run.samples = (0..count).map(|i| took(made::request(i * gap_us * 1_000, i), MS / 5)).collect();
    run.analyse()
}

#[test]
fn the_rate_that_a_throttled_closed_loop_asks_for_is_judged() {
    let severity = |a: &Analysis| reason(a, ReasonKind::RateNotReached).map(|r| r.severity);
    assert_eq!(severity(&throttled(1_000, 20_000, Ending::Completed)), None);
    // 1.02 ms each: 98 %; 1.25 ms: 80 %.
    let short = throttled(1_020, 19_608, Ending::Completed);
    assert_eq!(severity(&short), Some(Severity::Suspect));
    let text = &reason(&short, ReasonKind::RateNotReached).unwrap().text;
    assert!(text.contains("asked rate was not reached: 98 %"), "{text}");
    assert_eq!(severity(&throttled(1_250, 16_000, Ending::Completed)), Some(Severity::Invalid));
    // It was stopped after 5 s: the rest of the phase was never asked for.
    assert_eq!(severity(&throttled(1_000, 5_000, Ending::Interrupted("SIGINT".into()))), None);
    // Without a rate there is nothing to reach.
    let closed = Run::new(LoadModel::Closed, 20).each_ms(5_000, |_, s| took(s, MS)).analyse();
    assert_eq!(severity(&closed), None);
}

/// All texts of a verdict.
fn texts(run: &Run) -> String {
    let reasons = run.analyse().verdict.reasons;
    reasons.iter().map(|r| r.text.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn counts_are_words_of_their_number() {
    let with = |change: &dyn Fn(&mut Run)| {
        let mut run = plain();
        change(&mut run);
        texts(&run)
    };
    let step = Event {
        kind: EventKind::ClockStep,
        begin: Instant(1),
        end: Instant(1),
        subject: String::new(),
        detail: "forward by 3 s".to_owned(),
    };
    let unreadable = |n: usize| vec![("part-7".to_owned(), "cut off".to_owned()); n];
    let cases = [
        (with(&|r| r.input.info.dropped = 1), "1 sample was dropped"),
        (with(&|r| r.input.info.dropped = 12_345), "12,345 samples were dropped"),
        (with(&|r| r.input.events = vec![step.clone()]), "the clock stepped once: forward by 3 s"),
        (
            with(&|r| r.input.events = vec![step.clone(); 2]),
            "the clock stepped 2 times, first: forward by 3 s",
        ),
        (with(&|r| r.input.info.unreadable = unreadable(1)), "1 part file can't be read: part-7: cut off"),
        (
            with(&|r| r.input.info.unreadable = unreadable(2)),
            "2 part files can't be read, the first is part-7: cut off",
        ),
        (with(&|_| ()), "20,000 requests are too few for p99.99, which needs 100,000"),
        (with(&|r| r.samples.truncate(1)), "1 request is too few for p50, which needs 20"),
        (with(&|r| r.samples[0].op = 99), "1 sample has an operation"),
    ];
    for (text, expected) in cases {
        assert!(text.contains(expected), "{text}\nlacks: {expected}");
        assert!(!text.contains("(s)"), "{text}");
    }
    let cut = |s: Sample| Sample { outcome: Outcome::Timeout, ..s };
    let one = texts(&changed(plain(), |seq| seq == 5, cut));
    assert!(one.contains("1 of 20,000 requests timed out or was unfinished; no printed quantile"), "{one}");
    let some = texts(&changed(plain(), |seq| seq.is_multiple_of(10), cut));
    assert!(some.contains("2,000 of 20,000 requests timed out or were unfinished: from p"), "{some}");
}
