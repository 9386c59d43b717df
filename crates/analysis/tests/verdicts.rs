//! Each reason of the verdict, planted, and absent where nothing speaks for it.

mod made;

use analysis::{Analysis, AnalysisError, ReasonKind, Scope, Severity, VerdictState, facts};
use made::{MS, Run, S, analyse_all, changed, phase, took};
use record::{
    Ending, Event, EventKind, LoadModel, Measure, NoiseObservation, NoiseSourceFacts, PhaseKind, Provenance,
    Sample,
};
use units::{Bound, Instant, Nanos, Outcome, Quantile, Seed};

/// 20 s at 1/ms, exponential service times of 0.3 ms on average.
fn plain() -> Run {
    Run::new(LoadModel::Open, 20).each_ms(20_000, |i, s| took(s, exponential(i, 3e5)))
}

fn exponential(i: u64, mean: f64) -> u64 {
    (Seed(9).at(i).exponential() * mean) as u64 + 1
}

fn severity(analysis: &Analysis, kind: ReasonKind) -> Option<Severity> {
    analysis.verdict.reasons.iter().find(|r| r.kind == kind).map(|r| r.severity)
}

fn q(q: f64) -> Option<Quantile> {
    Quantile::new(q)
}

#[test]
fn a_clean_run_is_valid_as_far_as_its_samples_carry() {
    let found = plain().analyse();
    assert_eq!(found.verdict.state, VerdictState::Valid, "{:?}", found.verdict.reasons);
    // 20,000 samples do not carry p99.99, and that is only a note.
    assert_eq!(severity(&found, ReasonKind::TooFewSamples), Some(Severity::Note));
    assert_eq!(found.verdict.reasons.len(), 1);
    let few = "20,000 requests are too few for p99.99, which needs 100,000";
    assert_eq!((found.verdict.believable_to, found.verdict.bound_reason.as_str()), (q(0.999), few));
    assert_eq!(found.total.whole().unwrap().withheld, [q(0.9999).unwrap()]);
    assert!((found.offered.unwrap().get() - 1000.0).abs() < 1e-9);
}

#[test]
fn a_live_run_without_observers_says_so() {
    let mut run = plain();
    run.input.info.header.provenance = Provenance::Live;
    let found = run.analyse().verdict;
    // Only words: what nothing watched is no evidence against the run.
    assert_eq!((found.state, found.believable_to), (VerdictState::Valid, q(0.999)));
    assert_eq!(
        found.bound_reason,
        "20,000 requests are too few for p99.99, which needs 100,000; no source saw the host's stalls; pick-up \
         was not measured"
    );
    // Stolen or throttled time is not all that can stall a host.
    for (source, unwatched) in [("steal", true), ("throttled", true), ("client-cpu", true), ("hiccup", false)]
    {
        let found = with_noise(run.clone(), source, 0.0).analyse();
        assert_eq!(found.verdict.bound_reason.contains("no source"), unwatched, "{source}");
    }
    let mut unavailable = with_noise(run.clone(), "hiccup", 0.0);
    unavailable.input.noise_sources[0].available = Err("not permitted".to_owned());
    assert!(unavailable.analyse().verdict.bound_reason.contains("no source"));
}

#[test]
fn pick_up_that_was_not_measured_is_said() {
    let mut run = with_noise(plain(), "hiccup", 0.0);
    run.input.info.header.provenance = Provenance::Live;
    // After what bounds it: p99.99 needs more requests.
    let words = |run: &Run| {
        let reason = run.analyse().verdict.bound_reason;
        reason
            .split_once("100,000")
            .map_or(reason.clone(), |(_, rest)| rest.trim_start_matches("; ").to_owned())
    };
    assert_eq!(words(&run), "pick-up was not measured");
    let stamped = |s: Sample| Sample { arrived: s.completed, ..s };
    assert_eq!(words(&changed(run.clone(), |_| true, stamped)), "");
    // All but the longest.
    let longest = changed(run.clone(), |seq| seq == 15_000, |s| took(s, S));
    let most = changed(longest, |seq| seq != 15_000, stamped);
    assert_eq!(words(&most), "pick-up was measured for 19,999 of 20,000 requests");
    // Beside what decides above the bound.
    let late =
        |s: Sample| Sample { sent: s.sent + Nanos(10 * MS), completed: s.completed + Nanos(10 * MS), ..s };
    let bounded = words(&changed(run, |seq| seq.is_multiple_of(50), late));
    assert!(bounded.contains("above it the harness") && bounded.ends_with("; pick-up was not measured"));
}

#[test]
fn lag_and_pick_up_bound_what_can_be_believed() {
    // Each fiftieth request is sent 10 ms late: the longest 2 % are the harness's.
    let late =
        |s: Sample| Sample { sent: s.sent + Nanos(10 * MS), completed: s.completed + Nanos(10 * MS), ..s };
    let found = changed(plain(), |seq| seq.is_multiple_of(50), late).analyse();
    assert_eq!(severity(&found, ReasonKind::HarnessShare), Some(Severity::Suspect));
    assert_eq!(found.verdict.believable_to, q(0.95));
    assert!(found.verdict.bound_reason.contains("harness"));
    let row = |p: f64| *found.anatomy.rows.iter().find(|r| Some(r.quantile) == q(p)).unwrap();
    assert!(row(0.99).lag_ns > 9e6 && row(0.5).lag_ns < 1e5);
    // The same on the other side of the wire.
    let picked_up = |s: Sample| Sample { arrived: s.completed, completed: s.completed + Nanos(10 * MS), ..s };
    let found = changed(plain(), |seq| seq.is_multiple_of(50), picked_up).analyse();
    assert_eq!(
        (found.verdict.believable_to, severity(&found, ReasonKind::HarnessShare)),
        (q(0.95), Some(Severity::Suspect))
    );
    let last = found.anatomy.rows.last().unwrap();
    assert_eq!(last.pick_up_ns, Some(10.0 * MS as f64));
    assert!((last.service_ns + 10.0 * MS as f64 - last.whole_ns).abs() < 1.0);
}

fn with_noise(mut run: Run, name: &str, value: f64) -> Run {
    let available = Ok(1_000);
    run.input.noise_sources =
        vec![NoiseSourceFacts { name: name.to_owned(), unit: "ns".to_owned(), available }];
    let observation = |i: u64| {
        let (begin, end) = (Instant(i * 100 * MS), Instant((i + 1) * 100 * MS));
        // Once in a second, so that the mean is a tenth of it.
        NoiseObservation { source: 0, value: if i.is_multiple_of(10) { value } else { 0.0 }, begin, end }
    };
    run.input.noise = (0..400).map(observation).collect();
    run
}

#[test]
fn the_hosts_stalls_bound_what_can_be_believed() {
    // 30 ms stolen each second: 1.5 % of two CPUs, and 3 % of the requests may have met it.
    let found = with_noise(plain(), "steal", 30.0 * MS as f64).analyse();
    assert_eq!(severity(&found, ReasonKind::Steal), Some(Severity::Suspect));
    assert_eq!(found.verdict.believable_to, q(0.9));
    assert!(found.verdict.bound_reason.contains("host"));
    let found = with_noise(plain(), "throttled", 10.0 * MS as f64).analyse();
    assert_eq!(severity(&found, ReasonKind::Steal), Some(Severity::Suspect));
    let found = with_noise(plain(), "steal", 1.0).analyse();
    assert_eq!(
        (severity(&found, ReasonKind::Steal), found.verdict.state),
        (Some(Severity::Note), VerdictState::Valid)
    );
    assert_eq!(found.verdict.believable_to, q(0.999));
    let found = with_noise(plain(), "client-cpu", 1.0).analyse();
    assert_eq!(severity(&found, ReasonKind::ClientSaturated), Some(Severity::Suspect));
}

/// Stalls of two CPUs with their place, and time stolen in windows of a tenth of a second.
fn with_hiccups(mut run: Run, stalls: &[(usize, u64, u64)], stolen: f64) -> Run {
    run = with_noise(run, "steal", stolen);
    let source = |name: &str, unit: &str| NoiseSourceFacts {
        name: name.to_owned(),
        unit: unit.to_owned(),
        available: Ok(0),
    };
    run.input.noise_sources.extend([
        source("hiccup cpu 0", "ns"),
        source("hiccup cpu 1", "ns"),
        source("hiccup watched", "share"),
    ]);
    run.input.noise.extend(stalls.iter().map(|&(cpu, begin, end)| NoiseObservation {
        source: 1 + cpu as u16,
        value: (end - begin) as f64,
        begin: Instant(begin),
        end: Instant(end),
    }));
    run
}

#[test]
fn stalls_whose_place_is_known_count_once_and_instead_of_windows() {
    let mut live = plain();
    live.input.info.header.provenance = Provenance::Live;
    let bound = |run: Run| {
        let verdict = run.analyse().verdict;
        (verdict.believable_to, verdict.bound_reason)
    };
    // The stolen time is a reason of its own; where it stopped anything, a hiccup would tell.
    let found = with_hiccups(live.clone(), &[], 30.0 * MS as f64).analyse();
    assert_eq!(severity(&found, ReasonKind::Steal), Some(Severity::Suspect));
    assert_eq!(found.verdict.believable_to, q(0.999));
    assert!(!found.verdict.bound_reason.contains("no source saw"), "{}", found.verdict.bound_reason);
    // A stop of both CPUs for 8 ms in each second: 0.8 % of the time, not 1.6 %; p99 is that of a hundredth.
    let both = |length: u64| -> Vec<(usize, u64, u64)> {
        let one = |second: u64| {
            let begin = second * 1_000 * MS + 300 * MS;
            [(0, begin, begin + length), (1, begin + MS / 2, begin + length)]
        };
        (0..20).flat_map(one).collect()
    };
    assert_eq!(bound(with_hiccups(live.clone(), &both(8 * MS), 0.0)).0, q(0.95));
    assert_eq!(bound(with_hiccups(live.clone(), &both(4 * MS), 0.0)).0, q(0.99));
    let (reached, words) = bound(with_hiccups(live.clone(), &both(30 * MS), 0.0));
    assert_eq!(reached, q(0.9));
    assert!(words.starts_with("above it the host's own stalls decide"), "{words}");
    // Threads that could not watch all CPUs are no watch.
    let mut blind = with_hiccups(live, &[], 0.0);
    blind.input.noise_sources[3].available = Err("no thread watches CPU 1".to_owned());
    assert!(bound(blind).1.contains("no source saw the host's stalls"));
}

/// A source whose value is the same in each tenth of a second.
fn with_source(mut run: Run, name: &str, value: f64) -> Run {
    let available = Ok(1_000);
    run.input.noise_sources.push(NoiseSourceFacts { name: name.to_owned(), unit: String::new(), available });
    let source = run.input.noise_sources.len() as u16 - 1;
    let observation = |i: u64| NoiseObservation {
        source,
        value,
        begin: Instant(i * 100 * MS),
        end: Instant((i + 1) * 100 * MS),
    };
    run.input.noise.extend((0..200).map(observation));
    run
}

#[test]
fn shares_of_cpu_time_are_of_the_cpus_that_the_time_is_of() {
    let share = |source: &str, cpus: u32, stolen_of: Option<&str>| {
        // 8 ms in each tenth of a second.
        let mut run = with_source(plain(), source, 8.0 * MS as f64);
        run.input.info.header.host.cpus = cpus;
        let fact = |list: &str| (facts::STEAL_CPUS.to_owned(), list.to_owned());
        run.input.info.header.capabilities.extend(stolen_of.map(fact));
        let found = run.analyse();
        let reason = found.verdict.reasons.iter().find(|r| r.kind == ReasonKind::Steal).unwrap();
        reason.text.clone()
    };
    let is = |text: String, percent: &str| {
        assert!(text.contains(&format!(" in {percent} % of the CPUs' time")), "{text}")
    };
    // The kernel adds up the stops of eight CPUs: 80 ms of 800.
    is(share("throttled", 8, None), "1.0");
    is(share("throttled", 1, None), "8.0");
    // Of the four CPUs that it is of, whatever the process may use; older recordings say nothing of it.
    is(share("steal", 1, Some("0,2-4")), "2.0");
    is(share("steal", 2, None), "4.0");
}

#[test]
fn the_threads_of_the_load_can_be_saturated_where_the_process_is_not() {
    let run = |pacing: &str, model: LoadModel| {
        let mut run = match model {
            LoadModel::Open => plain(),
            _ => changed(
                Run::new(model, 20).each_ms(20_000, |i, s| took(s, exponential(i, 3e5))),
                |_| true,
                |s| Sample { intended: Instant::NONE, ..s },
            ),
        };
        run.input.info.header.load.pacing = pacing.to_owned();
        run.input.info.header.load.arrivals = "think none".to_owned();
        with_source(with_source(run, "client-cpu", 0.06), "load-cpu", 1.0)
    };
    let found = |run: &Run| severity(&run.analyse(), ReasonKind::ClientSaturated);
    let asleep = run("sleep", LoadModel::Open);
    assert_eq!(found(&asleep), Some(Severity::Suspect));
    let spins = "sleep, then spin for the last 80 µs";
    assert_eq!(
        found(&run(spins, LoadModel::Closed)),
        Some(Severity::Suspect),
        "nothing is due, nothing spins"
    );
    assert_eq!(found(&run(spins, LoadModel::Open)), Some(Severity::Note), "to spin is no work");
    let mut embedded = asleep;
    embedded.input.info.header.target_facts.push(("transport".to_owned(), "in-process".to_owned()));
    assert_eq!(found(&embedded), None, "the threads are the database");
}

#[test]
fn a_time_in_which_hiccup_threads_stood_still_and_told_nothing_is_said() {
    let run = |share: f64, stalls: &[(usize, u64, u64)]| {
        let mut run = with_hiccups(plain(), stalls, 0.0);
        run.input.info.header.provenance = Provenance::Live;
        let window = |i: u64| NoiseObservation {
            source: 3,
            value: if i == 150 { share } else { 0.99 },
            begin: Instant(i * 100 * MS),
            end: Instant((i + 1) * 100 * MS),
        };
        run.input.noise.extend((0..200).map(window));
        run
    };
    let note = |run: &Run| {
        let verdict = run.analyse().verdict;
        assert_eq!(verdict.state, VerdictState::Valid);
        let note = verdict.reasons.iter().find(|r| r.kind == ReasonKind::NotWatched).map(|r| r.text.clone());
        assert_eq!(
            note.is_some(),
            verdict.bound_reason.contains("hiccup threads did not watch all the time")
        );
        note
    };
    let said = "made: hiccup threads did not account for 80.0 ms, and no stall was told: one may be missing";
    assert_eq!(note(&run(0.2, &[])).as_deref(), Some(said));
    assert_eq!(
        note(&run(0.2, &[(0, 15_000 * MS, 15_001 * MS)])).as_deref(),
        Some(said),
        "another one is none"
    );
    assert_eq!(note(&run(0.2, &[(0, 15_010 * MS, 15_089 * MS)])), None);
    assert_eq!(note(&run(0.9, &[])), None);
    // Threads that wake each 50 ms account for what is up to their last wake.
    let mut asleep = run(0.2, &[]);
    asleep.input.info.header.capabilities.push((facts::HICCUPS.to_owned(), "told, each 50.0 ms".to_owned()));
    assert_eq!(note(&asleep), None);
    // Nobody tells anything any more from the twelfth second on, while requests go on.
    let mut ended = run(0.99, &[]);
    ended.input.noise.retain(|o| o.end.0 <= 12 * S);
    assert!(note(&ended).unwrap().contains("did not account for 8.00 s"));
}

#[test]
fn a_run_that_nobody_was_to_watch_says_so() {
    let mut run = plain();
    assert_eq!(severity(&run.analyse(), ReasonKind::NotWatched), None);
    run.input.info.header.capabilities.push((facts::OBSERVERS.to_owned(), "default".to_owned()));
    assert_eq!(severity(&run.analyse(), ReasonKind::NotWatched), None);
    run.input.info.header.capabilities[0].1 = facts::OBSERVERS_OFF.to_owned();
    let found = run.analyse();
    assert_eq!(severity(&found, ReasonKind::NotWatched), Some(Severity::Note));
    assert!(found.observers.off && found.verdict.state == VerdictState::Valid);
}

#[test]
fn what_observers_cost_is_a_share_of_one_core() {
    let mut run = with_noise(plain(), "steal", 0.0);
    assert_eq!(run.analyse().observers, analysis::Observers { sources: 1, ..Default::default() });
    let state = |run: &mut Run, text: &str| {
        run.input.facts = vec![(facts::OBSERVERS_COST.to_owned(), text.to_owned())];
        run.analyse().observers
    };
    run.input.noise_sources.push(NoiseSourceFacts {
        name: "pressure cpu".to_owned(),
        unit: "ns".to_owned(),
        available: Err("not there".to_owned()),
    });
    let found = state(&mut run, "90000000 ns in 12000000000 ns");
    assert_eq!((found.sources, found.unavailable, found.core_share), (1, 1, Some(0.0075)));
    for other in ["", "x ns in 5 ns", "1 ns in 0 ns", "12 ns"] {
        assert_eq!(state(&mut run, other).core_share, None, "{other}");
    }
}

#[test]
fn an_overloaded_server_does_not_reach_the_rate() {
    // Service takes 1.02 ms at one request each millisecond: the backlog grows all along.
    let serve = |factor: f64| {
        Run::new(LoadModel::Open, 20).each_ms(20_000, |i, s| {
            let wait = (i as f64 * (factor - 1.0)).max(0.0);
            let ready = s.intended + Nanos((wait * 1e6) as u64);
            Sample { ready, sent: ready, completed: ready + Nanos((factor * 1e6) as u64), ..s }
        })
    };
    let found = serve(1.02).analyse();
    assert_eq!(severity(&found, ReasonKind::RateNotReached), Some(Severity::Suspect));
    assert_eq!(severity(&found, ReasonKind::NotStationary), Some(Severity::Suspect));
    assert!(found.achieved.get() < 985.0);
    assert_eq!(severity(&serve(1.2).analyse(), ReasonKind::RateNotReached), Some(Severity::Invalid));
    // 0.5 % over: 99.5 % complete in time, and still the backlog gives it away.
    let creeping = serve(1.005).analyse();
    let reason = creeping.verdict.reasons.iter().find(|r| r.kind == ReasonKind::RateNotReached).unwrap();
    assert!(reason.text.contains("backlog"), "{}", reason.text);
    assert_eq!(severity(&serve(0.9).analyse(), ReasonKind::RateNotReached), None);
}

#[test]
fn what_a_late_target_does_in_the_measured_time_is_counted_whenever_it_was_asked() {
    // One request a millisecond comes, and one every two milliseconds is answered: at the end of the measured time, the target
    // has just answered what came in the warm-up.
    let phases = vec![
        phase("warm-up", PhaseKind::WarmUp, 0, 10 * S, Some(1000.0)),
        phase("measured", PhaseKind::Measured, 10 * S, 20 * S, Some(1000.0)),
    ];
    let found = Run::with_phases(LoadModel::Open, phases)
        .each_ms(20_000, |i, s| {
            let ready = s.intended + Nanos(i * MS);
            let phase = u8::from(i >= 10_000);
            Sample { phase, ready, sent: ready, completed: ready + Nanos(2 * MS - 1), ..s }
        })
        .analyse();
    assert!((found.offered.unwrap().get() - 1000.0).abs() < 1e-9);
    assert!((found.achieved.get() - 500.0).abs() < 1.0, "{}", found.achieved.get());
    assert!((found.goodput.get() - 500.0).abs() < 1.0, "{}", found.goodput.get());
    assert_eq!(severity(&found, ReasonKind::RateNotReached), Some(Severity::Invalid));
}

#[test]
fn a_handful_of_requests_tells_nothing_of_a_tail() {
    let of = |n: u64| Run::new(LoadModel::Open, 20).each_ms(n, |i, s| took(s, exponential(i, 3e5))).analyse();
    assert_eq!(severity(&of(7), ReasonKind::TooFewSamples), Some(Severity::Suspect));
    assert_eq!(severity(&of(99), ReasonKind::TooFewSamples), Some(Severity::Suspect));
    assert_eq!(severity(&of(100), ReasonKind::TooFewSamples), Some(Severity::Note));
}

#[test]
fn outcomes_are_judged_by_their_shares() {
    let cases = [
        (Outcome::Miss, ReasonKind::Misses, 50, Severity::Suspect),
        (Outcome::Abort, ReasonKind::Aborts, 50, Severity::Suspect),
        (Outcome::Deadlock, ReasonKind::Errors, 50, Severity::Suspect),
        (Outcome::Server, ReasonKind::Errors, 1, Severity::Invalid),
    ];
    for (outcome, kind, every, expected) in cases {
        let found = changed(plain(), |seq| seq.is_multiple_of(every), |s| Sample { outcome, ..s }).analyse();
        assert_eq!(severity(&found, kind), Some(expected), "{outcome:?}");
        let rare = changed(plain(), |seq| seq.is_multiple_of(200), |s| Sample { outcome, ..s }).analyse();
        assert_eq!(severity(&rare, kind), None, "{outcome:?}");
    }
}

#[test]
fn censored_requests_make_lower_bounds() {
    let cut = |s: Sample| Sample { completed: s.sent + Nanos(50 * MS), outcome: Outcome::Timeout, ..s };
    let found = changed(plain(), |seq| seq.is_multiple_of(40), cut).analyse();
    assert_eq!(severity(&found, ReasonKind::Censored), Some(Severity::Suspect));
    let whole = found.total.whole().unwrap();
    assert_eq!((whole.censored, whole.bounded().next()), (500, q(0.99)));
    assert_eq!((whole.maximum().bound, whole.maximum().interval), (Bound::AtLeast, None));
    assert_eq!(plain().analyse().total.whole().unwrap().maximum().bound, Bound::Exact);
    assert_eq!(whole.quantile(q(0.95).unwrap()).unwrap().bound, Bound::Exact);
    // A request that no session ever took: censored in its response time and pool wait, without a service time.
    let never = |s: Sample| Sample {
        ready: Instant::NONE,
        sent: Instant::NONE,
        completed: Instant(20 * S),
        outcome: Outcome::Unfinished,
        ..s
    };
    let found = changed(plain(), |seq| seq == 19_000, never).analyse();
    let n = |m: Measure| found.total.measure(m).map(|m| (m.n, m.censored));
    assert_eq!(n(Measure::Response), Some((20_000, 1)));
    assert_eq!((n(Measure::PoolWait), n(Measure::Service)), (Some((20_000, 1)), Some((19_999, 0))));
    assert_eq!(severity(&found, ReasonKind::Censored), Some(Severity::Note));
}

type Change<'a> = &'a dyn Fn(&mut Run);

#[test]
fn facts_of_the_recording_count() {
    let with = |change: &dyn Fn(&mut Run)| {
        let mut run = plain();
        change(&mut run);
        run.analyse()
    };
    let step = Event {
        kind: EventKind::ClockStep,
        begin: Instant(S),
        end: Instant(S),
        subject: String::new(),
        detail: "forward by 3 s".to_owned(),
    };
    let outage = Event { kind: EventKind::Outage, ..step.clone() };
    let cases: [(Change<'_>, ReasonKind, Severity); 9] = [
        (&|r| r.input.events.push(outage.clone()), ReasonKind::Outage, Severity::Invalid),
        (&|r| r.input.info.dropped = 1, ReasonKind::SamplesDropped, Severity::Invalid),
        (&|r| r.input.unwritable = 1, ReasonKind::SamplesDropped, Severity::Invalid),
        (&|r| r.input.events.push(step.clone()), ReasonKind::Clock, Severity::Suspect),
        (
            &|r| {
                r.input.info.complete = false;
                r.input.ending = None;
            },
            ReasonKind::Incomplete,
            Severity::Suspect,
        ),
        (&|r| r.input.ending = Some(Ending::Failed("x".into())), ReasonKind::Incomplete, Severity::Invalid),
        (&|r| r.input.ending = Some(Ending::Interrupted("x".into())), ReasonKind::Incomplete, Severity::Note),
        (
            &|r| r.input.facts.push(("invariant sum of balances".into(), "off by 3".into())),
            ReasonKind::Invariants,
            Severity::Invalid,
        ),
        (
            &|r| r.input.info.header.provenance = Provenance::Imported { tool: "pgbench".into() },
            ReasonKind::ImportGap,
            Severity::Note,
        ),
    ];
    for (change, kind, expected) in cases {
        assert_eq!(severity(&with(change), kind), Some(expected), "{kind:?}");
    }
    let holds = with(&|r| r.input.facts.push(("invariant sum of balances".into(), "holds".into())));
    assert_eq!(severity(&holds, ReasonKind::Invariants), None);
    assert_eq!(
        severity(&Run::new(LoadModel::Open, 1).analyse(), ReasonKind::TooFewSamples),
        Some(Severity::Invalid)
    );
    let texts = with(&|r| r.input.info.dropped = 1).verdict.reasons;
    assert!(texts.iter().all(|r| !r.text.contains('\n') && !r.text.is_empty()));
    assert!(texts.windows(2).all(|pair| pair[0].severity >= pair[1].severity), "worst first");
}

#[test]
fn warm_up_is_shown_and_not_counted() {
    let phases = vec![
        phase("warm-up", PhaseKind::WarmUp, 0, 5 * S, Some(1000.0)),
        phase("measured", PhaseKind::Measured, 5 * S, 20 * S, Some(1000.0)),
    ];
    let run = Run::with_phases(LoadModel::Open, phases).each_ms(20_000, |i, s| {
        let phase = u8::from(i >= 5_000);
        let slow = if phase == 0 { 10 } else { 1 };
        Sample { phase, op: (i % 2) as u8, ..took(s, slow * exponential(i, 2e5)) }
    });
    let found = run.analyse();
    assert_eq!(found.total.counts.total, 15_000);
    assert_eq!(found.measured, (Instant(5 * S), Instant(20 * S)));
    let scope = |scope: Scope| found.scopes.iter().find(|s| s.scope == scope).unwrap();
    assert_eq!(scope(Scope::Phase(0)).counts.total, 5_000);
    assert_eq!(scope(Scope::Operation(1)).counts.total, 7_500);
    let mean = |s: &analysis::ScopeSummary| s.whole().unwrap().mean.point;
    assert!(mean(scope(Scope::Phase(0))) > 5.0 * mean(&found.total));
    assert_eq!(severity(&found, ReasonKind::NotStationary), None, "the warm-up does not count");
    // The series spans both.
    let series = &found.series[0];
    let points = series.sliding_mean.iter().filter(|(at, _)| at.0 < 5 * S);
    assert!(points.count() > 100);
    assert_eq!(found.heat_maps[0].columns.iter().flatten().sum::<u32>(), 20_000);
    assert_eq!(found.load.len(), 20);
}

fn client(id: u16, epoch_shift_s: u64) -> Run {
    let mut run = plain();
    run.input.info.header.client = id;
    run.input.info.header.epoch_wall_ns += epoch_shift_s * S;
    run.input.info.header.host.name = format!("host{id}");
    run.input.info.name = format!("client{id}");
    run.samples.iter_mut().for_each(|s| s.client = id);
    run
}

#[test]
fn clients_of_one_run_are_merged_on_wall_time() {
    let found = analyse_all(&[client(0, 0), client(1, 2)]).unwrap();
    assert_eq!((found.total.counts.total, found.clients.len()), (40_000, 2));
    assert_eq!(found.measured, (Instant(0), Instant(22 * S)));
    assert_eq!(found.clients[1].host, "host1");
    assert_eq!(found.load[1].offered, Some(1000.0));
    assert_eq!(found.load[2].offered, Some(2000.0), "the second client starts two seconds later");
    assert!(found.scopes.iter().any(|s| s.scope == Scope::Client(1) && s.counts.total == 20_000));
    assert_eq!(severity(&found, ReasonKind::RateNotReached), None);
    assert!((found.offered.unwrap().get() - 2000.0).abs() < 1e-6, "each over its own time");
}

#[test]
fn recordings_that_do_not_belong_together_are_refused() {
    let apart = analyse_all(&[client(0, 0), client(1, 60)]).unwrap_err();
    assert!(matches!(apart, AnalysisError::Apart { .. }) && apart.to_string().contains("40"), "{apart}");
    let mut closed = client(1, 0);
    closed.input.info.header.load.model = LoadModel::Closed;
    assert!(matches!(analyse_all(&[client(0, 0), closed]), Err(AnalysisError::Models { .. })));
    let mut other = client(1, 0);
    other.input.info.header.operations.push("Scan".to_owned());
    assert!(matches!(
        analyse_all(&[client(0, 0), other]),
        Err(AnalysisError::Shapes { what: "operations", .. })
    ));
    assert!(matches!(analyse_all(&[]), Err(AnalysisError::Nothing)));
}

/// Nine of ten samples were lost: what was offered is what the schedule says, and not what is left.
#[test]
fn what_was_dropped_was_offered() {
    let mut run = plain();
    let all = run.samples.len() as u64;
    let mut number = 0;
    run.samples.retain(|_| {
        number += 1;
        number % 10 == 0
    });
    let left = run.analyse();
    assert!((left.offered.unwrap().get() - 100.0).abs() < 1.0, "counted: {:?}", left.offered);
    run.input.info.dropped = all - run.samples.len() as u64;
    let found = run.analyse();
    assert_eq!(severity(&found, ReasonKind::SamplesDropped), Some(Severity::Invalid));
    assert!((found.offered.unwrap().get() - 1_000.0).abs() < 1e-9, "{:?}", found.offered);
    assert!((found.achieved.get() - 100.0).abs() < 1.0, "{:?}", found.achieved);
}
