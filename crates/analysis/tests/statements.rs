//! Which exchange makes a transaction slow, of recordings where it is known.

mod made;

use analysis::{Analysis, ExchangeSummary, OperationStatements, Options, Part, analyse};
use made::{MS, Run, Scratch};
use record::{
    EndOfRun, Ending, LoadModel, NO_STATEMENT, Recording, RecordingWriter, STATEMENTS_DROPPED, Sample,
    Statement, StatementFacts, with,
};
use units::{Instant, Nanos, Outcome, Quantile, Seed};

const US: u64 = 1_000;

/// The exchanges of request `i`, as (label, with, commands, ns), and what lies between two of them.
type Made = fn(u64) -> (Vec<(u16, u8, u16, u64)>, u64);

/// Requests one each millisecond; operation 1 has one exchange of 50 µs, each tenth request.
fn recorded(label: &str, count: u64, made: Made, threads: usize) -> Analysis {
    let mut statements = Vec::new();
    let of_request = |i: u64| if i % 10 == 9 { (vec![(2, 0, 1, 50 * US)], 0) } else { made(i) };
    let run = Run::new(LoadModel::Open, count / 1_000).each_ms(count, |i, sample| {
        let (exchanges, between) = of_request(i);
        let gaps = between * (exchanges.len() as u64 - 1);
        let service = exchanges.iter().map(|one| one.3).sum::<u64>() + gaps;
        let completed = sample.sent + Nanos(service);
        Sample { completed, op: u8::from(i % 10 == 9), arrived: Instant::NONE, ..sample }
    });
    for sample in &run.samples {
        let (exchanges, between) = of_request(sample.seq);
        let mut sent = sample.sent;
        for (position, (label, with, commands, ns)) in exchanges.into_iter().enumerate() {
            let completed = sent + Nanos(ns);
            statements.push(Statement {
                sent,
                arrived: Instant::NONE,
                completed,
                seq: sample.seq,
                client: 0,
                label,
                commands,
                position: position as u16,
                op: sample.op,
                attempt: 0,
                with,
                phase: 0,
                outcome: Outcome::Ok,
            });
            sent = completed + Nanos(between);
        }
    }
    let scratch = Scratch::new(label);
    let mut header = run.input.info.header.clone();
    let named = |name: &str| StatementFacts { name: name.to_owned(), text: format!("{name} WHERE …") };
    header.statements = Some(["SELECT stock", "UPDATE stock", "SELECT item"].map(named).to_vec());
    let mut writer = RecordingWriter::create(&scratch.0, &header).unwrap();
    writer.write_samples(&run.samples).unwrap();
    for part in statements.chunks(7_001) {
        writer.write_statements(part).unwrap();
        writer.close_part().unwrap();
    }
    let mut end = EndOfRun::new(Ending::Completed);
    end.facts.push((STATEMENTS_DROPPED.to_owned(), "3".to_owned()));
    writer.finish(end).unwrap();
    let options = Options { threads, ..Options::default() };
    analyse(&[Recording::open(&scratch.0).unwrap()], &options).unwrap()
}

/// 200 µs and 300 µs and the commit's 100 µs, 10 µs between each; two requests of a hundred wait 20 ms for a lock in the
/// second, and one of a hundred, another, reads for 2 ms.
fn locks(i: u64) -> (Vec<(u16, u8, u16, u64)>, u64) {
    let lock = if i % 50 == 7 { 20 * MS } else { 0 };
    let read = if i % 100 == 3 { 2 * MS } else { 0 };
    let jitter = Seed(4).at(i).below(1_000);
    let exchanges = vec![
        (0, with::BEGIN, 2, 200 * US + read + jitter),
        (1, 0, 3, 300 * US + lock),
        (NO_STATEMENT, with::COMMIT, 1, 100 * US),
    ];
    (exchanges, 10 * US)
}

fn find<'a>(of: &'a OperationStatements, name: &str) -> &'a ExchangeSummary {
    of.exchanges.iter().find(|one| one.name == name).unwrap()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 0.005 * expected.abs() + 1.0, "{found} is not {expected}");
}

#[test]
fn the_exchange_that_waits_for_a_lock_makes_the_tail() {
    let analysis = recorded("statements-locks", 100_000, locks, 2);
    let statements = analysis.statements.as_ref().unwrap();
    assert_eq!(statements.dropped, 3);
    let [transfer, other] = &statements.operations[..] else { panic!("two operations") };
    assert_eq!((transfer.operation.as_str(), transfer.requests), ("Read", 90_000));
    assert_eq!((other.operation.as_str(), other.requests), ("Update", 10_000));

    let names: Vec<&str> = transfer.exchanges.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["BEGIN, SELECT stock", "UPDATE stock", "COMMIT"], "in the order of a request");
    let update = find(transfer, "UPDATE stock");
    assert_eq!((update.count, update.failed, update.commands), (90_000, 0, 3.0));
    assert_eq!(update.text.as_deref(), Some("UPDATE stock WHERE …"));
    assert_eq!(find(transfer, "COMMIT").text, None);

    // Means: of 90 requests of each hundred, two wait and one reads.
    let share = |of: f64| of / 90.0;
    close(update.part.mean_ns, 300e3 + 20e6 * share(2.0));
    close(find(transfer, "BEGIN, SELECT stock").part.mean_ns, 200.5e3 + 2e6 * share(1.0));
    close(transfer.between.mean_ns, 20e3);
    close(transfer.mean_ns, 620.5e3 + 20e6 * share(2.0) + 2e6 * share(1.0));

    // The slowest hundredth are among those that waited.
    let slowest = transfer.slowest.unwrap();
    assert!((880..=2_000).contains(&slowest.requests), "{slowest:?}");
    assert!(slowest.from >= Nanos(20 * MS), "{slowest:?}");
    close(update.part.slow_mean_ns.unwrap(), 20.3e6);
    close(transfer.between.slow_mean_ns.unwrap(), 20e3);
    let excess = |part: &Part| transfer.share_of_excess(part).unwrap();
    assert!(excess(&update.part) > 0.99, "{}", excess(&update.part));
    // What is slow elsewhere is not slow there: less than nothing.
    assert!(excess(&find(transfer, "BEGIN, SELECT stock").part) < 0.0);
    let all: f64 = transfer.exchanges.iter().map(|one| excess(&one.part)).sum();
    close(1e6 * (all + excess(&transfer.between)), 1e6);

    // The quantiles are those of the exchange, not of the request.
    let read = &find(transfer, "BEGIN, SELECT stock").times;
    let p50 = read.quantile(Quantile::new(0.5).unwrap()).unwrap().point;
    assert!((200e3..201e3).contains(&p50), "{p50}");
    assert!(read.max >= Nanos(2_200 * US) && read.max < Nanos(2_202 * US));
}

#[test]
fn threads_and_parts_change_nothing() {
    let one = recorded("statements-one", 20_000, locks, 1).statements;
    assert!(one.is_some() && one == recorded("statements-three", 20_000, locks, 3).statements);
}

#[test]
fn too_few_requests_have_no_slowest() {
    let analysis = recorded("statements-few", 1_000, locks, 1);
    let statements = analysis.statements.unwrap();
    let transfer = &statements.operations[0];
    assert_eq!((transfer.requests, transfer.slowest), (900, None));
    assert_eq!((transfer.share_of_excess(&transfer.between), transfer.between.slow_mean_ns), (None, None));
    assert!(transfer.exchanges.iter().all(|one| one.part.slow_mean_ns.is_none()));
}

#[test]
fn a_run_that_did_not_time_them_has_none() {
    let run = Run::new(LoadModel::Open, 1).each_ms(1_000, |_, sample| sample);
    assert_eq!(run.analyse().statements, None);
}
