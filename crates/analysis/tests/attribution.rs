//! Slow requests whose cause is planted, and slow requests without one beside evidence that has nothing to do with them.

mod made;
mod pool;

use analysis::attribution::{Threshold, Watched};
use analysis::{Attribution, Cause, Options, analyse_batches};
use made::{MS, Run, S, analyse_all, request, took};
use pool::{Pool, announce, event, runs_on, scattered, watched, whole};
use record::{Event, EventKind, JvmLogFacts, LoadModel, Provenance, SampleBatch};
use units::{Instant, Nanos};

fn attributed(run: &Run) -> Attribution {
    with_options(run, &Options { worst: usize::MAX, ..Options::default() })
}

fn with_options(run: &Run, options: &Options) -> Attribution {
    let batches: Vec<SampleBatch> = run.batches();
    let pairs = batches.iter().map(|batch| (0, batch));
    let found = analyse_batches(vec![run.input.clone()], pairs, options).expect("one run is a run");
    found.attribution.expect("there are requests")
}

fn share(found: &Attribution, cause: Cause) -> f64 {
    found.row(cause).map_or(0.0, |row| row.share)
}

/// Three stalls of 50 ms.
fn three() -> pool::Stalls {
    [4, 9, 15].map(|second| (second * S + 123 * MS, second * S + 173 * MS)).to_vec()
}

/// Of the slow requests that would have taken less than half without what is planted, the share whose largest part is put
/// down to `cause`; and the time that is put down to it over that which it really cost all slow ones.
fn found_again(pool: &Pool, found: &Attribution, cause: Cause) -> (f64, f64) {
    let without = pool.without();
    let (mut affected, mut right, mut truth) = (0u64, 0u64, 0.0);
    for one in &found.worst {
        let plain = without[&one.seq];
        truth += one.whole.0.saturating_sub(plain) as f64;
        if one.whole.0 > 2 * plain {
            affected += 1;
            right += u64::from(one.largest == cause);
        }
    }
    assert!(affected >= 15, "{affected} affected of {}", found.slow);
    let row = found.row(cause).expect("its row");
    (right as f64 / affected as f64, row.time.0 as f64 / truth)
}

fn check_planted(pool: &Pool, run: &Run, cause: Cause) -> Attribution {
    // The slowest thousandth, and all that were at all delayed: the backlog to its end.
    for above in [None, Some(Nanos(8 * MS))] {
        let found = with_options(run, &Options { above, worst: usize::MAX, ..Options::default() });
        let (right, time) = found_again(pool, &found, cause);
        assert!(right >= 0.95, "{cause:?} above {above:?}: {right} of the affected; {:#?}", found.causes);
        assert!((time - 1.0).abs() < 0.1, "{cause:?} above {above:?}: {time} of the true time");
        let row = found.row(cause).expect("its row");
        assert!(row.is_shown && row.association.as_ref().is_some_and(|a| a.p_value <= 0.01), "{row:?}");
    }
    attributed(run)
}

#[test]
fn stalls_of_the_clients_cpus_are_found_with_their_backlog() {
    for (seed, sessions, stamps) in
        [(1, 4, true), (2, 16, true), (3, 64, true), (4, 64, false), (5, 1_000, true)]
    {
        let pool = Pool { client: three(), sessions, stamps, ..Pool::new(seed) };
        let mut run = pool.run();
        runs_on(&mut run, "0", "1");
        watched(&mut run, 0, &three());
        watched(&mut run, 1, &scattered(seed, 400, MS / 4, 20));
        let found = check_planted(&pool, &run, Cause::ClientStall);
        assert!(share(&found, Cause::ServerStall) < 0.01, "{:#?}", found.causes);
    }
}

#[test]
fn stalls_of_the_servers_cpus_are_found_with_their_backlog() {
    for (seed, sessions) in [(1, 4), (2, 16), (3, 1_000)] {
        let pool = Pool { server: three(), sessions, ..Pool::new(seed) };
        let mut run = pool.run();
        runs_on(&mut run, "0", "1");
        watched(&mut run, 0, &scattered(seed, 400, MS / 4, 20));
        watched(&mut run, 1, &three());
        let found = check_planted(&pool, &run, Cause::ServerStall);
        assert!(share(&found, Cause::ClientStall) < 0.01, "{:#?}", found.causes);
    }
}

#[test]
fn pauses_are_put_down_to_their_jvm() {
    for (cause, subject) in [(Cause::ServerJvm, "server JVM"), (Cause::HarnessJvm, "harness JVM 2")] {
        let pauses = three();
        let pool = match cause {
            Cause::ServerJvm => Pool { server: pauses.clone(), ..Pool::new(6) },
            _ => Pool { client: pauses.clone(), ..Pool::new(6) },
        };
        let mut run = pool.run();
        run.input.events = pauses.iter().map(|pause| event(EventKind::JvmPause, *pause, subject)).collect();
        check_planted(&pool, &run, cause);
    }
}

/// A log that covers the run is somebody who looked; what it tells of single threads blocks nobody else.
#[test]
fn logs_of_jvms_are_taken_at_their_word() {
    let pool = Pool { server: three(), ..Pool::new(6) };
    let log = |trouble: Option<&str>| JvmLogFacts {
        subject: "server JVM".to_owned(),
        aligned_by: "wall time".to_owned(),
        trouble: trouble.map(str::to_owned),
        ..JvmLogFacts::default()
    };
    let mut run = pool.run();
    run.input.jvm_logs = vec![log(None)];
    let found = attributed(&run);
    let row = found.row(Cause::ServerJvm).expect("was looked for");
    assert_eq!((&row.watched, row.intervals), (&Watched::Yes, 0));
    run.input.jvm_logs = vec![log(Some("no line could be placed"))];
    let found = attributed(&run);
    let row = found.row(Cause::ServerJvm).expect("should have been");
    assert_eq!(row.watched, Watched::No("no line could be placed".to_owned()));
    // As earlier versions wrote them of an empty one.
    run.input.jvm_logs = vec![JvmLogFacts { aligned_by: String::new(), ..log(None) }];
    let row = attributed(&run).row(Cause::ServerJvm).map(|row| row.watched.clone());
    assert_eq!(row, Some(Watched::No("no line of its log was placed by a clock".to_owned())));
    let told = |detail: &str| {
        let mut run = pool.run();
        let pause = |pause: &(u64, u64)| Event {
            detail: detail.to_owned(),
            ..event(EventKind::JvmPause, *pause, "server JVM")
        };
        run.input.events = three().iter().map(pause).collect();
        attributed(&run)
    };
    let all = told("all threads: G1");
    assert!(share(&all, Cause::ServerJvm) > 0.9 && all.row(Cause::JvmThread).is_none());
    let one = told("one thread: allocation stall of main");
    let row = one.row(Cause::JvmThread).expect("was met");
    assert!(row.share > 0.5 && row.behind == Nanos::ZERO && one.row(Cause::ServerJvm).is_none());
    let sums = told("within this time: 3 pauses");
    assert!(sums.row(Cause::ServerJvm).is_none() && share(&sums, Cause::JvmThread) == 0.0);
    assert!(
        sums.notes.iter().any(|note| note.contains("3 pauses of JVMs are told in sum")),
        "{:?}",
        sums.notes
    );
}

/// What explains time is shown, whatever is missing of its evidence.
#[test]
fn what_was_watched_in_part_keeps_its_numbers() {
    let pool = Pool { server: three(), ..Pool::new(6) };
    let in_part = |run: &Run, cause: Cause, why: &str| {
        let found = attributed(run);
        let row = found.row(cause).expect("was seen");
        assert_eq!((&row.watched, row.intervals), (&Watched::Yes, 3), "{row:?}");
        assert!(row.share > 0.3, "{row:?}");
        let note = format!("{}s were watched in part: {why}", cause.name());
        assert!(found.notes.contains(&note), "{:?}", found.notes);
        assert!(found.causes.iter().all(|row| row.watched == Watched::Yes || row.time == Nanos::ZERO));
    };
    let seen = |kind: EventKind, subject: &str| -> Vec<Event> {
        three().iter().map(|pause| event(kind, *pause, subject)).collect()
    };
    // Of many pauses one could not be placed.
    let mut run = pool.run();
    run.input.events = seen(EventKind::JvmPause, "server JVM");
    run.input.jvm_logs = vec![JvmLogFacts {
        subject: "server JVM".to_owned(),
        aligned_by: "wall time".to_owned(),
        trouble: Some("1 pauses have no moment".to_owned()),
        ..JvmLogFacts::default()
    }];
    in_part(&run, Cause::ServerJvm, "1 pauses have no moment");
    // The session that asked was lost after it had seen some.
    let slower = three().iter().map(|(begin, end)| (*begin, *end, 100.0)).collect();
    let mut run = Pool { slower, sessions: 1_000, ..Pool::new(6) }.run();
    run.input.events = seen(EventKind::Other, "checkpoint");
    announce(&mut run, "checkpoints", Err("the session was lost".to_owned()));
    in_part(&run, Cause::Checkpoint, "the session was lost");
}

#[test]
fn checkpoints_faults_and_outages_are_found() {
    let slower: Vec<(u64, u64, f64)> = three().iter().map(|(b, _)| (*b, b + 300 * MS, 3.0)).collect();
    let planted = [
        (Cause::Checkpoint, EventKind::Other, "checkpoint", Pool { slower: slower.clone(), ..Pool::new(7) }),
        (Cause::OtherEvent, EventKind::Other, "vacuum", Pool { slower, ..Pool::new(7) }),
        (Cause::Fault, EventKind::Fault, "freeze", Pool { server: three(), ..Pool::new(7) }),
        (Cause::Outage, EventKind::Outage, "all sessions", Pool { server: three(), ..Pool::new(7) }),
    ];
    for (cause, kind, subject, pool) in planted {
        let mut run = pool.run();
        let seen: Vec<(u64, u64)> = match pool.slower.is_empty() {
            true => pool.server.clone(),
            false => pool.slower.iter().map(|(begin, end, _)| (*begin, *end)).collect(),
        };
        run.input.events = seen.iter().map(|interval| event(kind, *interval, subject)).collect();
        let found = attributed(&run);
        let (right, _) = found_again(&pool, &found, cause);
        assert!(right >= 0.95, "{cause:?}: {right}; {:#?}", found.causes);
    }
}

/// The server stands still and nothing of the host does: the database, whatever else there is to see.
#[test]
fn a_server_that_stands_still_on_its_own_is_the_database() {
    for seed in 1..=5 {
        let pool = Pool { server: three(), sessions: 1_000, ..Pool::new(seed) };
        let mut run = pool.run();
        runs_on(&mut run, "0", "1");
        watched(&mut run, 0, &scattered(seed, 500, MS / 4, 20));
        watched(&mut run, 1, &scattered(100 + seed, 500, MS / 4, 20));
        let found = attributed(&run);
        let (right, time) = found_again(&pool, &found, Cause::Database);
        assert!(right >= 0.95 && time > 0.99, "{right} {time}");
        assert!(share(&found, Cause::Database) > 0.99, "{:#?}", found.causes);
    }
}

/// Evidence that has nothing to do with the tail takes no share of it.
#[test]
fn chance_takes_no_more_than_a_hundredth() {
    const SEEDS: u64 = 20;
    let (mut falsely, mut shown) = (0.0, 0);
    for seed in 0..SEEDS {
        let pool = Pool { sessions: 1_000, service: 0.8e6, ..Pool::new(seed) };
        let mut run = pool.run();
        runs_on(&mut run, "0", "1");
        watched(&mut run, 0, &scattered(seed, 1_000, MS / 5, 20));
        watched(&mut run, 1, &scattered(1_000 + seed, 30, 10 * MS, 20));
        let pauses = scattered(2_000 + seed, 40, 5 * MS, 20);
        run.input.events = pauses.iter().map(|p| event(EventKind::JvmPause, *p, "server JVM")).collect();
        // A checkpoint that is spread over most of the time, as PostgreSQL's are.
        let (begin, end) = (seed * S / 2, seed * S / 2 + 9 * S);
        run.input.events.push(event(EventKind::Other, (begin, end), "checkpoint"));
        let found = attributed(&run);
        let causes = [Cause::ClientStall, Cause::ServerStall, Cause::ServerJvm, Cause::Checkpoint];
        for cause in causes {
            let row = found.row(cause).expect("was watched");
            assert!(row.association.is_some() && (row.is_shown || row.time == Nanos::ZERO), "{row:?}");
            shown += u64::from(row.is_shown);
        }
        falsely +=
            1.0 - share(&found, Cause::Database) - share(&found, Cause::Lag) - share(&found, Cause::PickUp);
    }
    // Of 80 tests at 5 % four find something in chance; 11 is beyond three standard deviations.
    assert!(shown <= 10, "{shown}");
    assert!(falsely / SEEDS as f64 <= 0.01, "{}", falsely / SEEDS as f64);
}

#[test]
fn each_requests_pieces_sum_to_its_time() {
    let pool = Pool { client: three(), server: scattered(9, 20, 10 * MS, 20), ..Pool::new(9) };
    let mut run = pool.run();
    runs_on(&mut run, "0", "1");
    watched(&mut run, 0, &three());
    watched(&mut run, 1, &pool.server);
    run.input.events.push(event(EventKind::Reconnected, (4 * S, 5 * S), "session 3"));
    run.input.events.push(event(EventKind::Phase, (4 * S + 130 * MS, 20 * S), "measured"));
    let found =
        with_options(&run, &Options { above: Some(Nanos(MS)), worst: usize::MAX, ..Options::default() });
    assert_eq!((found.slow, found.examined), (found.worst.len() as u64, found.slow));
    for one in &found.worst {
        let mut at = one.at;
        for piece in &one.pieces {
            assert!(piece.begin == at && piece.length > Nanos::ZERO, "{one:?}");
            at = piece.begin + piece.length;
        }
        assert_eq!(at, one.at + one.whole, "{one:?}");
    }
    let time: u64 = found.worst.iter().map(|one| one.whole.0).sum();
    assert_eq!(found.time, Nanos(time));
    assert_eq!(found.causes.iter().map(|row| row.time.0).sum::<u64>(), time);
    assert_eq!(found.causes.iter().map(|row| row.largest).sum::<u64>(), found.slow);
    assert!((found.causes.iter().map(|row| row.share).sum::<f64>() - 1.0).abs() < 1e-9);
    let marked = found.worst.iter().filter(|one| !one.marks.is_empty()).count();
    assert!(marked > 0, "the phase that began during a stall is marked");
    assert!(found.worst.is_sorted_by(|a, b| a.whole >= b.whole));
}

#[test]
fn the_limit_is_each_operations_own_or_the_one_asked_for() {
    // The second operation takes ten times as long, and always 10 ms.
    let run = Run::new(LoadModel::Open, 20).each_ms(20_000, |i, s| {
        let (op, usual) = if i % 10 == 0 { (1, 10 * MS) } else { (0, MS) };
        let slow = if i % 1_000 == 5 || i % 1_000 == 10 { 20 * MS } else { 0 };
        made_of(s, op, usual + slow)
    });
    let found = attributed(&run);
    assert_eq!(found.threshold, Threshold::ByOperation);
    let limits: Vec<(&str, u64, u64)> =
        found.limits.iter().map(|l| (l.operation.as_str(), l.limit.0 / MS, l.requests)).collect();
    // 18,000 and 2,000 of them: the slowest thousandth is among the twenty planted ones of each.
    assert_eq!(limits.len(), 2);
    assert!(limits[0].0 == "Read" && limits[0].1 == 20 && limits[0].2 == 20, "{limits:?}");
    assert!(limits[1].0 == "Update" && (29..=30).contains(&limits[1].1) && limits[1].2 == 20, "{limits:?}");
    let options = Options { above: Some(Nanos(25 * MS)), ..Options::default() };
    let found = with_options(&run, &options);
    assert_eq!((found.slow, found.threshold), (20, Threshold::Above(Nanos(25 * MS))));
    assert!(found.worst.iter().all(|one| one.operation == "Update" && one.whole == Nanos(30 * MS)));
    // No more are kept than were asked for, and all are counted.
    let found = with_options(&run, &Options { worst: 3, ..options });
    assert_eq!((found.worst.len(), found.slow, found.points.len()), (3, 20, 20));
}

fn made_of(sample: record::Sample, op: u8, ns: u64) -> record::Sample {
    record::Sample { op, ..took(sample, ns) }
}

#[test]
fn what_was_not_watched_is_not_zero() {
    let pool = Pool { client: three(), ..Pool::new(1) };
    let mut run = pool.run();
    run.input.info.header.provenance = Provenance::Live;
    let unwatched = |run: &Run, cause: Cause| match attributed(run).row(cause).map(|row| row.watched.clone())
    {
        Some(Watched::No(why)) => Some(why),
        _ => None,
    };
    assert!(unwatched(&run, Cause::HostStall).is_some_and(|why| why.contains("no source")));
    announce(&mut run, "hiccup cpu 0", Err("may not run with a real-time priority".to_owned()));
    let why = "hiccup cpu 0: may not run with a real-time priority";
    assert_eq!(unwatched(&run, Cause::HostStall).as_deref(), Some(why));
    runs_on(&mut run, "0", "1");
    assert_eq!(unwatched(&run, Cause::ClientStall).as_deref(), Some(why));
    assert!(unwatched(&run, Cause::ServerStall).is_some());
    // One of two CPUs is better than none, and is said.
    let mut partly = pool.run();
    runs_on(&mut partly, "0-1", "2");
    watched(&mut partly, 0, &three());
    let found = attributed(&partly);
    assert_eq!(found.row(Cause::ClientStall).map(|row| &row.watched), Some(&Watched::Yes));
    assert!(found.notes.iter().any(|note| note.contains("CPUs 1 were not watched")), "{:?}", found.notes);
    // Stamps, checkpoints, and the JVM of a tool that has one.
    let bare = Pool { stamps: false, ..pool.clone() }.run();
    assert!(unwatched(&bare, Cause::PickUp).is_some_and(|why| why.contains("stamp")));
    let mut postgres = pool.run();
    postgres.input.info.header.target = "postgres://localhost/test".to_owned();
    assert!(unwatched(&postgres, Cause::Checkpoint).is_some());
    announce(&mut postgres, "checkpoints", Ok(1_000));
    let found = attributed(&postgres);
    let row = found.row(Cause::Checkpoint).expect("was watched");
    assert_eq!((&row.watched, row.intervals, row.association.is_none()), (&Watched::Yes, 0, true));
    let mut imported = pool.run();
    imported.input.info.header.provenance = Provenance::Imported { tool: "ycsb".to_owned() };
    assert!(unwatched(&imported, Cause::HarnessJvm).is_some_and(|why| why.contains("--jvm-log")));
    imported.input.info.header.provenance = Provenance::Imported { tool: "pgbench 15.13".to_owned() };
    assert_eq!(attributed(&imported).row(Cause::HarnessJvm), None, "a tool without a JVM has no pauses");
}

#[test]
fn a_cpu_that_is_not_known_is_the_hosts() {
    let pool = Pool { client: three(), ..Pool::new(1) };
    let mut run = pool.run();
    watched(&mut run, 0, &three());
    watched(&mut run, 1, &[]);
    let found = check_planted(&pool, &run, Cause::HostStall);
    assert!(found.row(Cause::ClientStall).is_none());
    assert!(found.notes.iter().any(|note| note.contains("which CPUs the load ran on is not known")));
    // A CPU that neither side uses concerns nobody.
    let mut elsewhere = pool.run();
    runs_on(&mut elsewhere, "0", "1");
    (0..2).for_each(|cpu| watched(&mut elsewhere, cpu, &[]));
    watched(&mut elsewhere, 2, &three());
    let found = attributed(&elsewhere);
    assert!(found.causes.iter().all(|row| row.intervals == 0), "{:#?}", found.causes);
    assert!(share(&found, Cause::Lag) + share(&found, Cause::PoolWait) > 0.3, "{:#?}", found.causes);
}

/// A stall's window may be longer than the stall: it then ended with the window.
#[test]
fn a_late_waking_is_a_stall_at_the_end_of_its_window() {
    let pool = Pool { client: three(), ..Pool::new(1) };
    let mut run = pool.run();
    watched(&mut run, 0, &three());
    run.input.noise.iter_mut().for_each(|one| one.begin = Instant(one.begin.0 - 5 * MS));
    let mut exact = pool.run();
    watched(&mut exact, 0, &three());
    assert_eq!(attributed(&run), attributed(&exact));
}

/// The harness's delay before a stall is seen, by up to the period of those who look.
#[test]
fn a_stall_that_is_seen_late_begins_with_the_lag_before_it() {
    let pool = Pool { client: three(), sessions: 1_000, ..Pool::new(1) };
    let late: Vec<(u64, u64)> = three().iter().map(|(begin, end)| (begin + 20 * MS, *end)).collect();
    let explained = |period: Option<&str>| {
        let mut run = pool.run();
        runs_on(&mut run, "0", "1");
        watched(&mut run, 0, &late);
        let stated = period.map(|period| format!("wakes later than 100 µs are told, each {period}"));
        let stated = stated.map(|value| ("hiccup threads".to_owned(), value));
        run.input.info.header.capabilities.extend(stated);
        let found = attributed(&run);
        (share(&found, Cause::ClientStall), share(&found, Cause::Lag))
    };
    let (none, some, all) = (explained(None), explained(Some("5.00 ms")), explained(Some("20.0 ms")));
    assert!(none.0 < 0.7 && none.1 > 0.3, "{none:?}");
    assert!(some.0 > none.0 + 0.05 && some.1 < none.1 - 0.05, "{none:?} {some:?}");
    assert!(all.0 > 0.95 && all.1 < 0.001, "{all:?}");
}

/// As a live run states them.
#[test]
fn the_recording_says_which_cpus_were_watched_for_whom() {
    let pool = Pool { client: three(), ..Pool::new(1) };
    let cause = |client: &str, server: Option<&str>| {
        let mut run = pool.run();
        let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let capabilities = &mut run.input.info.header.capabilities;
        capabilities.push(fact("watched for the client: CPUs", client));
        capabilities.extend(server.map(|server| fact("watched for the server: CPUs", server)));
        (0..2).for_each(|cpu| watched(&mut run, cpu, &three()));
        attributed(&run)
    };
    let largest = |found: &Attribution| found.causes[0].cause;
    assert_eq!(largest(&cause("0-1", None)), Cause::ClientStall);
    assert_eq!(largest(&cause("0", Some("1"))), Cause::ClientStall);
    assert_eq!(largest(&cause("0-1", Some("0-1"))), Cause::HostStall);
    let found = cause("0-1", Some("not watched: it is not on this host"));
    assert_eq!(largest(&found), Cause::ClientStall);
    let row = found.row(Cause::ServerStall).expect("is to be expected");
    assert_eq!(row.watched, Watched::No("it is not on this host".to_owned()));
    let mut off = pool.run();
    off.input.info.header.provenance = Provenance::Live;
    off.input.info.header.capabilities = vec![("observers".to_owned(), "off".to_owned())];
    let row = attributed(&off).row(Cause::HostStall).map(|row| row.watched.clone());
    assert_eq!(row, Some(Watched::No("`--observers off`".to_owned())));
}

#[test]
fn a_reconnect_explains_waiting_alone() {
    // Requests wait 20 ms for a session while one is replaced, and take 20 ms more.
    let slow = |i: u64| (5_000..5_020).contains(&i);
    let mut run = Run::new(LoadModel::Open, 20).each_ms(20_000, |i, s| {
        let wait = Nanos(if slow(i) { 20 * MS } else { 0 });
        let service = if slow(i) { 20 * MS } else { MS };
        let begun = s.intended + wait;
        took(record::Sample { ready: begun, sent: begun, ..s }, service)
    });
    run.input.events.push(event(EventKind::Reconnected, (5_000 * MS, 5_100 * MS), "session 1"));
    let found = attributed(&run);
    assert_eq!(found.slow, 20);
    assert!((share(&found, Cause::Reconnect) - 0.5).abs() < 1e-9, "{:#?}", found.causes);
    assert!((share(&found, Cause::Database) - 0.5).abs() < 1e-9);
}

#[test]
fn a_closed_loop_is_judged_by_its_service_times() {
    let stalled = |i: u64| i % 1_000 == 500;
    let mut run = Run::new(LoadModel::Closed, 20).each_ms(20_000, |i, s| {
        let s = record::Sample { intended: Instant::NONE, ..s };
        took(s, if stalled(i) { 50 * MS } else { MS })
    });
    let stalls: Vec<(u64, u64)> =
        (0..20_000).filter(|i| stalled(*i)).map(|i| (i * MS, (i + 50) * MS)).collect();
    runs_on(&mut run, "0", "1");
    watched(&mut run, 0, &stalls);
    watched(&mut run, 1, &[]);
    let found = attributed(&run);
    assert_eq!((found.measure, found.slow), (record::Measure::Service, 20));
    assert!(share(&found, Cause::ClientStall) > 0.99, "{:#?}", found.causes);
    assert!(found.row(Cause::PoolWait).is_none() && found.row(Cause::Lag).is_none());
}

/// Each host's stalls concern its own requests; the server's pauses concern all.
#[test]
fn each_client_has_its_own_host() {
    let stalls = |second: u64| vec![(second * S, second * S + 50 * MS)];
    let client = |number: u16, stall: u64| {
        let pool = Pool { client: stalls(stall), server: stalls(15), ..Pool::new(u64::from(number)) };
        let mut run = pool.run();
        run.samples.iter_mut().for_each(|s| s.client = number);
        run.input.info.header.client = number;
        run.input.info.name = format!("client-{number}");
        runs_on(&mut run, "0", "1");
        watched(&mut run, 0, &stalls(stall));
        run
    };
    let (mut first, second) = (client(0, 4), client(1, 9));
    // One of them saw the server's pauses.
    first.input.events.push(event(EventKind::JvmPause, (15 * S, 15 * S + 50 * MS), "server JVM"));
    let found = analyse_all(&[first, second]).expect("clients of one run").attribution.expect("has requests");
    assert_eq!(found.row(Cause::ServerJvm).map(|row| row.intervals), Some(1));
    assert_eq!(found.row(Cause::ClientStall).map(|row| row.intervals), Some(2));
    for point in &found.points {
        let second = (point.at.0 + point.whole.0 / 2) / S;
        let right = if second == 15 { Cause::ServerJvm } else { Cause::ClientStall };
        assert_eq!(point.largest, right, "{point:?}");
    }
    assert!(found.points.len() >= 30);
}

/// What is on the server's side concerns the requests of all clients, also where its cause is of both sides.
#[test]
fn a_shared_cpu_and_a_thread_of_the_servers_jvm_concern_all_clients() {
    let client = |number: u16| {
        let pool = Pool { server: three(), ..Pool::new(u64::from(number)) };
        let mut run = pool.run();
        run.samples.iter_mut().for_each(|s| s.client = number);
        run.input.info.header.client = number;
        run.input.info.name = format!("client-{number}");
        run
    };
    let explained = |first: &Run, cause: Cause| {
        let both = analyse_all(&[first.clone(), client(1)]).expect("clients of one run");
        let found = both.attribution.expect("has requests");
        let of_second = found.points.iter().filter(|point| point.largest == cause).count();
        (found.row(cause).map(|row| row.intervals), of_second as f64 / found.points.len() as f64)
    };
    // The server shares CPU 1 with the first client.
    let mut host = client(0);
    runs_on(&mut host, "0-1", "1");
    watched(&mut host, 0, &[]);
    watched(&mut host, 1, &three());
    let (intervals, share) = explained(&host, Cause::HostStall);
    assert!(intervals == Some(3) && share > 0.95, "{intervals:?} {share}");
    let mut jvm = client(0);
    let stall = |at: &(u64, u64)| Event {
        detail: "one thread: allocation stall of main".to_owned(),
        ..event(EventKind::JvmPause, *at, "server JVM")
    };
    jvm.input.events = three().iter().map(stall).collect();
    let (of_server, with) = explained(&jvm, Cause::JvmThread);
    jvm.input.events.iter_mut().for_each(|event| event.subject = "harness JVM".to_owned());
    let (of_harness, without) = explained(&jvm, Cause::JvmThread);
    assert_eq!((of_server, of_harness), (Some(3), Some(3)));
    assert!(with > 1.5 * without, "{with} {without}");
}

#[test]
fn nothing_to_look_at_is_no_attribution() {
    assert!(Run::new(LoadModel::Open, 20).analyse().attribution.is_none());
    // None of those that are alike is slow; of few, the longest is.
    let alike = Run::new(LoadModel::Open, 20).each_ms(2_000, |_, s| took(s, MS));
    assert!(alike.analyse().attribution.is_none());
    let mut few = Run::new(LoadModel::Open, 20).each_ms(30, |_, s| took(s, MS));
    few.samples.push(took(request(S, 30), 5 * MS));
    let found = attributed(&few);
    assert_eq!((found.slow, found.worst[0].seq, share(&found, Cause::Database)), (1, 30, 1.0));
}

/// The service becomes slower for good: no request takes as little as the median of the run any more, and yet each stall's
/// backlog ends.
#[test]
fn a_service_that_has_become_slower_owes_nothing_to_stalls_that_are_over() {
    for seed in 1..=5 {
        let stalls: Vec<(u64, u64)> = (0..60).map(|i| (i * S + 300 * MS, i * S + 350 * MS)).collect();
        let slower = vec![(40 * S, 60 * S, 20.0)];
        let pool = Pool {
            seconds: 60,
            rate: 0.1,
            service: 0.1 * MS as f64,
            slower,
            client: stalls.clone(),
            ..Pool::new(seed)
        };
        // Never below what it takes after the shift.
        let floor = |mut run: Run| {
            for s in run.samples.iter_mut().filter(|s| s.intended.0 >= 40 * S) {
                (s.arrived, s.completed) = (s.arrived + Nanos(20 * MS), s.completed + Nanos(20 * MS));
            }
            run
        };
        let mut run = floor(pool.run());
        runs_on(&mut run, "0", "1");
        watched(&mut run, 0, &stalls);
        watched(&mut run, 1, &[]);
        let plain: std::collections::HashMap<u64, u64> = floor(Pool { client: vec![], ..pool.clone() }.run())
            .samples
            .iter()
            .map(|s| (s.seq, whole(s).0))
            .collect();
        let options = Options { above: Some(Nanos(15 * MS)), worst: usize::MAX, ..Options::default() };
        let found = with_options(&run, &options);
        let truth: u64 = found.worst.iter().map(|one| one.whole.0.saturating_sub(plain[&one.seq])).sum();
        let row = found.row(Cause::ClientStall).expect("its row");
        assert!(row.is_shown, "{row:?}");
        let times = row.time.0 as f64 / truth as f64;
        assert!((0.9..1.7).contains(&times), "{times} of the true time; {row:?}");
    }
}

/// While a server starts again it refuses at once: no sign that the backlog is over.
#[test]
fn a_fast_failure_ends_no_backlog() {
    let pool = Pool { server: three(), sessions: 1_000, service: 0.9e6, ..Pool::new(4) };
    let mut run = pool.run();
    run.input.events = three().iter().map(|freeze| event(EventKind::Fault, *freeze, "freeze")).collect();
    let behind = |run: &Run| {
        let options = Options { above: Some(Nanos(20 * MS)), worst: usize::MAX, ..Options::default() };
        with_options(run, &options).row(Cause::Fault).expect("was seen").behind.0 as f64
    };
    let without = behind(&run);
    for (number, (_, end)) in (0..).zip(three()) {
        let sample = took(request(end, 1_000_000 + number), 1_000);
        run.samples.push(record::Sample { outcome: units::Outcome::Unavailable, ..sample });
    }
    // But for what they change of medians.
    let with = behind(&run);
    assert!((with / without - 1.0).abs() < 1e-3, "{with} {without}");
    let mut answered = run.clone();
    answered.samples.iter_mut().for_each(|s| s.outcome = units::Outcome::Ok);
    assert!(behind(&answered) < without / 2.0, "as answers they would");
}

/// What waits in an overload waits for the database's sessions: short stalls explain no more than their length.
#[test]
fn short_stalls_in_an_overload_explain_no_more_than_they_last() {
    let stalls = scattered(3, 20, 2 * MS, 20);
    let pool = Pool { service: 1.2e6, sessions: 8, client: stalls.clone(), ..Pool::new(3) };
    let mut run = pool.run();
    runs_on(&mut run, "0", "1");
    watched(&mut run, 0, &stalls);
    watched(&mut run, 1, &[]);
    let found = attributed(&run);
    // 40 ms of stalls, and responses of seconds.
    assert!(share(&found, Cause::ClientStall) < 0.03, "{:#?}", found.causes);
    assert!(share(&found, Cause::PoolWait) > 0.9, "{:#?}", found.causes);
}

#[test]
fn what_the_loads_threads_waited_for_a_cpu_is_told_of_each_slow_request() {
    let stalls = three();
    let mut run = Pool { client: stalls.clone(), ..Pool::new(21) }.run();
    runs_on(&mut run, "1", "0");
    watched(&mut run, 1, &stalls);
    assert!(attributed(&run).worst.iter().all(|one| one.queued.is_none()), "nobody read it");

    let source = announce(&mut run, "run-queue-wait", Ok(900));
    let window = 100 * MS;
    for begin in (0..20 * S).step_by(window as usize) {
        let stalled =
            stalls.iter().map(|s| s.1.min(begin + window).saturating_sub(s.0.max(begin))).sum::<u64>();
        let (begin, end) = (Instant(begin), Instant(begin + window));
        run.input.noise.push(record::NoiseObservation { source, value: stalled as f64, begin, end });
    }
    let found = attributed(&run);
    let hit = found.worst.iter().filter(|one| one.largest == Cause::ClientStall).collect::<Vec<_>>();
    assert!(hit.len() >= 15);
    for one in hit {
        let queued = one.queued.expect("it was read");
        assert!(queued.wait == Nanos(50 * MS) && queued.is_whole, "{one:?}");
        assert!(queued.begin <= one.at && queued.end >= one.at + one.whole, "{one:?}");
    }
}
