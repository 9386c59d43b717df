//! The exchanges inside of requests: what goes in comes out, from a writer and from rings.

mod fixture;

use clock::{Clock, ClockChoice};
use fixture::{Scratch, header};
use proptest::prelude::*;
use record::{
    Consumers, EndOfRun, Ending, NO_STATEMENT, Provenance, RawStatement, Recorder, RecorderConfig, Recording,
    RecordingWriter, Statement, StatementFacts, ring, statement_ring, with,
};
use units::{Instant, Nanos, Outcome, Ticks};

fn statements() -> impl Strategy<Value = Statement> {
    let time = || 0..1u64 << 62;
    let stamp = prop_oneof![Just(None), time().prop_map(Some)];
    let numbers = any::<(u64, u16, u16, u16, u8, u8, u8, u8)>();
    (time(), time(), stamp, numbers, prop::sample::select(Outcome::ALL.to_vec())).prop_map(
        |(sent, service, arrived, (seq, label, commands, position, op, attempt, with, phase), outcome)| {
            Statement {
                sent: Instant(sent),
                arrived: arrived.map_or(Instant::NONE, Instant),
                completed: Instant(sent + service),
                seq,
                client: 0,
                label,
                commands,
                position,
                op,
                attempt,
                with,
                phase,
                outcome,
            }
        },
    )
}

fn all_statements(recording: &Recording) -> Vec<Statement> {
    let mut all = Vec::new();
    recording.statements(|part| all.extend_from_slice(part)).unwrap();
    all
}

fn timed(provenance: Provenance) -> record::RunHeader {
    let named = |name: &str| StatementFacts { name: name.to_owned(), text: format!("{name} …") };
    record::RunHeader {
        statements: Some(vec![named("SELECT stock"), named("UPDATE stock")]),
        ..header(provenance)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_statements_come_back_bit_by_bit(parts in prop::collection::vec(prop::collection::vec(statements(), 0..40), 0..4)) {
        let scratch = Scratch::new("statements");
        let mut writer = RecordingWriter::create(scratch.path(), &timed(Provenance::Simulated)).unwrap();
        for part in &parts {
            writer.write_statements(part).unwrap();
            writer.close_part().unwrap();
        }
        writer.finish(EndOfRun::new(Ending::Completed)).unwrap();
        let recording = Recording::open(scratch.path()).unwrap();
        prop_assert_eq!(all_statements(&recording), parts.concat());
        prop_assert_eq!(recording.header(), &timed(Provenance::Simulated));
        prop_assert_eq!(recording.unreadable(), vec![]);
    }
}

/// Many parts are merged, and none of them grows without limit: a reader has each in memory.
#[test]
fn parts_are_merged_up_to_a_quarter_of_a_million() {
    let scratch = Scratch::new("statements-merged");
    let mut writer = RecordingWriter::create(scratch.path(), &timed(Provenance::Simulated)).unwrap();
    let one = |seq: u64| Statement {
        sent: Instant(seq * 1_000),
        arrived: Instant(seq * 1_000 + 600),
        completed: Instant(seq * 1_000 + 700),
        seq,
        client: 0,
        label: 1,
        commands: 1,
        position: 0,
        op: 0,
        attempt: 0,
        with: with::COMMIT,
        phase: 0,
        outcome: Outcome::Ok,
    };
    for part in 0..200 {
        let rows: Vec<Statement> = (part * 2_000..(part + 1) * 2_000).map(one).collect();
        writer.write_statements(&rows).unwrap();
        writer.close_part().unwrap();
    }
    writer.finish(EndOfRun::new(Ending::Completed)).unwrap();
    let recording = Recording::open(scratch.path()).unwrap();
    let mut sizes = Vec::new();
    let mut next = 0;
    recording
        .statements(|part| {
            sizes.push(part.len());
            part.iter().for_each(|row| {
                assert_eq!(*row, one(next));
                next += 1;
            });
        })
        .unwrap();
    assert_eq!(next, 400_000);
    assert!(sizes.len() <= 3 && sizes.iter().all(|&rows| rows <= 1 << 18), "{sizes:?}");
    let bytes: u64 = std::fs::read_dir(scratch.path().join("statements"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert!(bytes < 400_000 * 4, "{bytes} bytes for rows that a straight line predicts");
}

#[test]
fn a_damaged_part_is_named_and_the_rest_is_read() {
    let scratch = Scratch::new("statements-damaged");
    let mut writer = RecordingWriter::create(scratch.path(), &timed(Provenance::Simulated)).unwrap();
    let row = Statement {
        sent: Instant(5),
        arrived: Instant::NONE,
        completed: Instant(9),
        seq: 3,
        client: 0,
        label: NO_STATEMENT,
        commands: 1,
        position: 2,
        op: 1,
        attempt: 0,
        with: with::COMMIT,
        phase: 0,
        outcome: Outcome::Deadlock,
    };
    for _ in 0..2 {
        writer.write_statements(&[row]).unwrap();
        writer.close_part().unwrap();
    }
    drop(writer); // cut short: nothing is merged
    let part = scratch.path().join("statements/part-0000-000000.parquet");
    let mut bytes = std::fs::read(&part).unwrap();
    bytes[20] ^= 0x55;
    std::fs::write(&part, bytes).unwrap();
    let recording = Recording::open(scratch.path()).unwrap();
    assert_eq!(all_statements(&recording), [row]);
    let unreadable = recording.unreadable();
    assert_eq!(unreadable.len(), 1, "{unreadable:?}");
    assert!(unreadable[0].0.ends_with("statements/part-0000-000000.parquet"), "{unreadable:?}");
}

#[test]
fn what_workers_push_is_recorded_and_what_finds_its_ring_full_is_counted() {
    let scratch = Scratch::new("statements-rings");
    let clock = clock::calibrate(ClockChoice::Monotonic).unwrap().start();
    let (_samples, consumer) = ring(4);
    let (mut statements, taken) = statement_ring(8);
    let now = clock.now();
    let wall = clock::wall_time_ns();
    let raw = |position: u16| RawStatement {
        sent: Ticks(now.0 + 1_000 * u64::from(position)),
        completed: Ticks(now.0 + 1_000 * u64::from(position) + 800),
        arrived_realtime_ns: if position == 0 { u64::MAX } else { wall },
        seq: 7,
        label: position % 2,
        commands: 3,
        position,
        op: 2,
        attempt: 1,
        with: 0,
        outcome: Outcome::Busy.code(),
        phase: 1,
        reserved: [0; 5],
    };
    // Twelve into a ring of eight, before anybody takes any.
    (0..12).rev().for_each(|position| statements.push(raw(position)));
    let config = RecorderConfig {
        part_interval: Nanos::from_millis(20),
        ..RecorderConfig::new(scratch.path(), timed(Provenance::Live))
    };
    let rings = Consumers { samples: vec![consumer], statements: vec![taken] };
    let recorder = Recorder::start(config, rings, clock).unwrap();
    let finished = recorder.finish(EndOfRun::new(Ending::Completed)).unwrap();
    assert_eq!(finished.end.facts, [("statements dropped".to_owned(), "4".to_owned())]);
    let recording = Recording::open(scratch.path()).unwrap();
    let all = all_statements(&recording);
    // In the order of the request, whatever that of the pushes.
    assert_eq!(all.iter().map(|row| row.position).collect::<Vec<_>>(), (4..12).collect::<Vec<u16>>());
    for row in &all {
        assert_eq!((row.seq, row.op, row.phase, row.attempt, row.commands), (7, 2, 1, 1, 3));
        assert_eq!((row.label, row.outcome), (row.position % 2, Outcome::Busy));
        assert!(row.service().unwrap().0.abs_diff(800) <= 200, "{row:?}");
        // The stamp lies a little before all of them.
        assert!(row.arrived == Instant::NONE || row.arrived.0.abs_diff(row.sent.0) < 1_000_000, "{row:?}");
    }
    assert!(all.iter().any(|row| row.arrived.is_some()));
}
