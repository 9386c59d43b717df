//! What a server's log tells, beside what the server was asked, and with several clients.

mod made;
mod pool;

use analysis::attribution::Watched;
use analysis::{Analysis, Attribution, Cause};
use made::{MS, Run, S, analyse_all};
use pool::{Pool, announce, event};
use record::{Event, EventKind, ServerLogFacts};

/// Three checkpoints of 300 ms, in which the server is three times slower.
fn three() -> Vec<(u64, u64)> {
    [4, 9, 15].map(|second| (second * S + 123 * MS, second * S + 423 * MS)).to_vec()
}

fn slowed(seed: u64) -> Pool {
    Pool { slower: three().into_iter().map(|(begin, end)| (begin, end, 3.0)).collect(), ..Pool::new(seed) }
}

/// As a server that is asked each 200 ms tells it: up to 200 ms wider on either side.
fn asked((begin, end): (u64, u64)) -> Event {
    let window = (begin - 110 * MS, end + 170 * MS);
    Event {
        detail: "wrote for 200 ms, synced for 100 ms".to_owned(),
        ..event(EventKind::Other, window, "checkpoint")
    }
}

fn logged(interval: (u64, u64), subject: &str) -> Event {
    Event { detail: "server log: x".to_owned(), ..event(EventKind::Other, interval, subject) }
}

fn facts() -> ServerLogFacts {
    ServerLogFacts {
        file: "pg.log".to_owned(),
        format: "stderr".to_owned(),
        checkpoints_in_all: 3,
        ..ServerLogFacts::default()
    }
}

fn attribution(analysis: &Analysis) -> &Attribution {
    analysis.attribution.as_ref().expect("there are requests")
}

fn checkpoint_events(analysis: &Analysis) -> Vec<(u64, u64)> {
    let all = analysis.events.iter().filter(|event| event.subject == "checkpoint");
    all.map(|event| (event.begin.0, event.end.0)).collect()
}

#[test]
fn a_checkpoint_that_both_tell_of_counts_once_and_is_the_logs() {
    let mut run = slowed(1).run();
    announce(&mut run, "checkpoints", Ok(100));
    run.input.events = three().into_iter().map(asked).collect();
    let by_asking = run.analyse();
    let row = attribution(&by_asking).row(Cause::Checkpoint).expect("its row").clone();
    assert_eq!(row.intervals, 3);
    run.input.events.extend(three().into_iter().map(|interval| logged(interval, "checkpoint")));
    run.input.server_logs = vec![facts()];
    let by_log = run.analyse();
    let exact = attribution(&by_log).row(Cause::Checkpoint).expect("its row").clone();
    assert_eq!((exact.intervals, checkpoint_events(&by_log)), (3, three()));
    assert!(exact.is_shown && exact.time < row.time, "{:?} {:?}", exact.time, row.time);
    // What the log does not have stays: it may have been rotated.
    run.input.events.retain(|event| !event.detail.starts_with("server log") || event.begin.0 > 5 * S);
    let both = run.analyse();
    let kept = checkpoint_events(&both);
    assert_eq!((kept.len(), kept[0].0, &kept[1..]), (3, three()[0].0 - 110 * MS, &three()[1..]));
}

/// A log that was read while a checkpoint went on says nothing of when it ended: who was asked knows of others that have.
#[test]
fn an_unfinished_checkpoint_hides_none_that_was_asked_for() {
    let mut run = slowed(1).run();
    announce(&mut run, "checkpoints", Ok(100));
    run.input.server_logs = vec![facts()];
    run.input.events = three().into_iter().map(asked).collect();
    let windows = checkpoint_events(&run.analyse());
    let open = (8 * S, 20 * S);
    let detail = format!("server log: checkpoint: time; {}", record::ServerTold::UNFINISHED);
    let unfinished = Event { detail, ..logged(open, "checkpoint") };
    run.input.events.push(unfinished.clone());
    assert_eq!(windows.len(), 3);
    let sorted = |mut all: Vec<(u64, u64)>| {
        all.sort_unstable();
        all
    };
    let both = sorted([&windows[..], &[open]].concat());
    assert_eq!(sorted(checkpoint_events(&run.analyse())), both);
    // The log before it ends with one that ends where it begins; that one is another.
    run.input.events.push(logged((open.0 - 300 * MS, open.0), "checkpoint"));
    assert!(checkpoint_events(&run.analyse()).contains(&open));
    // The server began another log meanwhile, which has the end.
    let detail = format!("server log: {}; 9 buffers", record::ServerTold::BEGUN_BEFORE);
    let whole = (open.0 - 2 * MS, 12 * S);
    run.input.events.push(Event { detail, ..logged(whole, "checkpoint") });
    let found = checkpoint_events(&run.analyse());
    assert!(found.contains(&whole) && !found.contains(&open), "{found:?}");
}

#[test]
fn a_log_is_somebody_who_looked_unless_it_has_no_checkpoint_at_all() {
    let mut run = slowed(2).run();
    run.input.info.header.target = "postgres://db1/shop".to_owned();
    let watched = |run: &Run| {
        let analysis = run.analyse();
        attribution(&analysis).row(Cause::Checkpoint).expect("its row").watched.clone()
    };
    assert!(matches!(watched(&run), Watched::No(_)));
    run.input.server_logs = vec![facts()];
    assert_eq!(watched(&run), Watched::Yes);
    run.input.server_logs = vec![ServerLogFacts { checkpoints_in_all: 0, ..facts() }];
    assert!(matches!(watched(&run), Watched::No(_)), "perhaps they are not logged");
    run.input.server_logs = vec![ServerLogFacts { trouble: Some("CET".to_owned()), ..facts() }];
    assert!(matches!(watched(&run), Watched::No(_)));
}

/// Whatever was measured: who names a log asks for its checkpoints, and must be told that it has none of the run.
#[test]
fn a_log_that_does_not_cover_the_run_is_named_with_the_reason() {
    let watched = |target: &str, log: ServerLogFacts, asked: Option<Result<u64, String>>| {
        let mut run = slowed(6).run();
        run.input.info.header.target = target.to_owned();
        if let Some(asked) = asked {
            announce(&mut run, "checkpoints", asked);
        }
        run.input.server_logs = vec![log];
        let analysis = run.analyse();
        let row = attribution(&analysis).row(Cause::Checkpoint).expect("its row");
        (row.watched.clone(), attribution(&analysis).notes.join("; "))
    };
    let yesterday =
        || ServerLogFacts { trouble: Some("its last entry is from before the run".to_owned()), ..facts() };
    for target in ["postgres://db1/shop", "a target that is not named"] {
        let (row, _) = watched(target, yesterday(), None);
        assert_eq!(row, Watched::No("the log pg.log: its last entry is from before the run".to_owned()));
        let (row, _) = watched(target, ServerLogFacts { checkpoints_in_all: 0, ..facts() }, None);
        assert!(matches!(&row, Watched::No(why) if why.contains("log_checkpoints")), "{row:?}");
    }
    let (row, _) = watched("postgres://db1/shop", yesterday(), Some(Err("no right to ask".to_owned())));
    assert!(
        matches!(&row, Watched::No(why) if why == "no right to ask; the log pg.log: its last entry is from before the run"),
        "{row:?}"
    );
    let (row, notes) = watched("postgres://db1/shop", yesterday(), Some(Ok(200)));
    assert_eq!(row, Watched::Yes);
    assert!(notes.contains("the log pg.log: its last entry is from before the run"), "{notes}");
}

#[test]
fn a_vacuum_may_explain_time_and_a_wait_for_a_lock_is_marked_alone() {
    let with = |subject: &str, intervals: Vec<(u64, u64)>| {
        let mut run = slowed(3).run();
        run.input.events = intervals.into_iter().map(|interval| logged(interval, subject)).collect();
        run.input.server_logs = vec![facts()];
        run.analyse()
    };
    // Somebody waits again and again while the server is slow.
    let waits = || {
        three()
            .into_iter()
            .flat_map(|(begin, _)| (0..60).map(move |i| (begin + i * 5 * MS, begin + (i + 1) * 5 * MS)))
    };
    let vacuum = with("vacuum", three());
    assert!(attribution(&vacuum).row(Cause::OtherEvent).is_some_and(|row| row.share > 0.5));
    let lock = with("lock wait", waits().collect());
    assert!(attribution(&lock).row(Cause::OtherEvent).is_none());
    let marks = attribution(&lock).worst.iter().flat_map(|one| &one.marks);
    assert!(marks.filter(|mark| mark.subject == "lock wait").count() > 0);
}

/// Each client places what the server's log tells by its own clocks; pages show it once.
#[test]
fn a_log_concerns_all_clients_on_the_clocks_of_each() {
    let off = 20 * MS;
    let client = |number: u16| {
        let pool = slowed(u64::from(number) + 4);
        let mut run = pool.run();
        run.samples.iter_mut().for_each(|sample| sample.client = number);
        run.input.info.header.client = number;
        run.input.info.name = format!("client-{number}");
        run
    };
    let (mut first, mut second) = (client(0), client(1));
    first.input.events = three().into_iter().map(|interval| logged(interval, "checkpoint")).collect();
    first.input.server_logs = vec![facts()];
    // Its clock is 20 ms ahead, as are its samples: the same checkpoints lie elsewhere on it.
    second.input.repeated =
        three().into_iter().map(|(begin, end)| logged((begin + off, end + off), "checkpoint")).collect();
    let analysis = analyse_all(&[first, second]).expect("clients of one run");
    assert_eq!(checkpoint_events(&analysis), three(), "shown once");
    assert_eq!(analysis.server_logs.len(), 1);
    let found = attribution(&analysis);
    let row = found.row(Cause::Checkpoint).expect("its row");
    assert_eq!(row.watched, Watched::Yes);
    assert!(
        found.notes.iter().all(|note| !note.contains("checkpoints were not watched")),
        "{:?}",
        found.notes
    );
    // Neither client's requests are put down to the other's intervals.
    for one in &found.worst {
        let begin = if one.client == 0 { 0 } else { off };
        let whole = (one.at.0, one.at.0 + one.whole.0);
        let own: u64 = (three().iter())
            .map(|c| (c.1 + begin).min(whole.1).saturating_sub((c.0 + begin).max(whole.0)))
            .sum();
        let pieces = one.pieces.iter().filter(|piece| piece.cause == Cause::Checkpoint);
        assert!(pieces.map(|piece| piece.length.0).sum::<u64>() <= own, "{one:?}");
    }
}
