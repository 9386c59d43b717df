//! What goes in comes out, bit by bit, and does not take more room than promised.

mod fixture;

use clock::Anchor;
use fixture::{Scratch, all_samples, bytes_on_disk, header, realistic};
use proptest::prelude::*;
use record::{
    Columns, EndOfRun, Ending, Event, EventKind, NoiseObservation, NoiseSourceFacts, Provenance, RecordError,
    RecordedVerdict, Recording, RecordingWriter, Sample, SampleBatch,
};
use units::{Instant, Outcome, Ticks};

fn instants() -> impl Strategy<Value = Instant> {
    prop_oneof![
        2 => Just(Instant::NONE),
        4 => (0u64..1_000_000).prop_map(Instant),
        1 => any::<u64>().prop_map(Instant),
        1 => Just(Instant(u64::MAX - 1)),
    ]
}

fn samples() -> impl Strategy<Value = Sample> {
    let times = (instants(), instants(), instants(), instants(), instants());
    let outcome = prop::sample::select(Outcome::ALL.to_vec());
    (times, any::<(u64, u16, u8, u8, u8, u8)>(), 0u16..3, outcome).prop_map(
        |(times, (seq, session, op, phase, retries, flags), client, outcome)| Sample {
            intended: times.0,
            ready: times.1,
            sent: times.2,
            arrived: times.3,
            completed: times.4,
            seq,
            client,
            session,
            op,
            phase,
            outcome,
            retries,
            flags,
        },
    )
}

fn written(label: &str, parts: &[Vec<Sample>]) -> (Scratch, EndOfRun) {
    let scratch = Scratch::new(label);
    let mut writer = RecordingWriter::create(scratch.path(), &header(Provenance::Simulated)).unwrap();
    for part in parts {
        writer.write_samples(part).unwrap();
        writer.close_part().unwrap();
    }
    let end = writer.finish(EndOfRun::new(Ending::Completed)).unwrap();
    (scratch, end)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn any_samples_come_back_bit_by_bit(parts in prop::collection::vec(prop::collection::vec(samples(), 0..40), 0..4)) {
        let (scratch, end) = written("any", &parts);
        let mut expected: Vec<Sample> = parts.into_iter().flatten().collect();
        expected.sort_by_key(|sample| sample.client); // stable: the order inside of a client is kept
        let recording = Recording::open(scratch.path()).unwrap();
        prop_assert_eq!(recording.unreadable(), Vec::new());
        prop_assert_eq!((recording.rows(), end.samples), (expected.len() as u64, expected.len() as u64));
        prop_assert_eq!(all_samples(&recording), expected);
        prop_assert_eq!(recording.end(), Some(&end));
    }

    #[test]
    fn a_scan_of_some_columns_gives_the_same_columns(rows in prop::collection::vec(samples(), 1..40), set in 0u16..1 << 12) {
        let rows: Vec<Sample> = rows.into_iter().map(|row| Sample { client: 0, ..row }).collect();
        let each = [
            Columns::INTENDED, Columns::READY, Columns::SENT, Columns::ARRIVED, Columns::COMPLETED, Columns::SEQ,
            Columns::SESSION, Columns::OP, Columns::PHASE, Columns::OUTCOME, Columns::RETRIES, Columns::FLAGS,
        ];
        let chosen = (0..12).filter(|bit| set >> bit & 1 == 1);
        let columns = chosen.fold(Columns::COMPLETED, |columns, bit| columns | each[bit]);
        let (scratch, _) = written("some", std::slice::from_ref(&rows));
        let recording = Recording::open(scratch.path()).unwrap();
        let batches = recording
            .scan_columns(columns, 1, Vec::new, |all: &mut Vec<SampleBatch>, batch| all.push(batch.clone()))
            .unwrap()
            .concat();
        let mut expected = SampleBatch::default();
        rows.iter().for_each(|row| expected.push(row));
        keep(&mut expected, columns);
        prop_assert_eq!(batches, vec![expected]);
    }
}

fn keep(batch: &mut SampleBatch, columns: Columns) {
    let SampleBatch {
        intended, ready, sent, arrived, seq, session, op, phase, outcome, retries, flags, ..
    } = batch;
    let longs = [
        (Columns::INTENDED, intended),
        (Columns::READY, ready),
        (Columns::SENT, sent),
        (Columns::ARRIVED, arrived),
        (Columns::SEQ, seq),
    ];
    longs.into_iter().filter(|(column, _)| !columns.has(*column)).for_each(|(_, values)| values.clear());
    let bytes = [
        (Columns::OP, op),
        (Columns::PHASE, phase),
        (Columns::OUTCOME, outcome),
        (Columns::RETRIES, retries),
        (Columns::FLAGS, flags),
    ];
    bytes.into_iter().filter(|(column, _)| !columns.has(*column)).for_each(|(_, values)| values.clear());
    if !columns.has(Columns::SESSION) {
        session.clear();
    }
}

#[test]
fn a_realistic_sample_takes_at_most_twelve_bytes() {
    let rows = realistic(1_000_000, 50_000.0, 1);
    let parts: Vec<Vec<Sample>> = rows.chunks(50_000).map(<[Sample]>::to_vec).collect();
    let (scratch, end) = written("size", &parts);
    let bytes = bytes_on_disk(&scratch.path().join("samples"));
    let per_sample = bytes as f64 / end.samples as f64;
    println!("{per_sample:.2} bytes per sample on disk");
    assert!(per_sample <= 12.0, "{per_sample} bytes per sample");
    assert_eq!(all_samples(&Recording::open(scratch.path()).unwrap()), rows);
}

/// Parts of half a second at 1,000/s are of 500 rows; each has 2.7 kB that describe it, until they are merged.
#[test]
fn a_slow_load_takes_no_more_once_its_parts_are_merged() {
    let rows = realistic(10_000, 1_000.0, 1);
    let scratch = Scratch::new("half-seconds");
    let mut writer = RecordingWriter::create(scratch.path(), &header(Provenance::Simulated)).unwrap();
    for part in rows.chunks(500) {
        writer.write_samples(part).unwrap();
        writer.close_part().unwrap();
    }
    let per_sample = || bytes_on_disk(&scratch.path().join("samples")) as f64 / rows.len() as f64;
    let single = per_sample();
    writer.finish(EndOfRun::new(Ending::Completed)).unwrap();
    let merged = per_sample();
    println!("{single:.2} bytes per sample in parts of 500, {merged:.2} merged");
    assert!(single <= 16.0 && merged <= 12.0, "{single} bytes per sample, {merged} merged");
}

#[test]
fn small_parts_become_few_large_ones() {
    let rows = realistic(120_000, 50_000.0, 2);
    let parts: Vec<Vec<Sample>> = rows.chunks(1_000).map(<[Sample]>::to_vec).collect();
    let (scratch, _) = written("merge", &parts);
    let names: Vec<_> = std::fs::read_dir(scratch.path().join("samples"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, ["part-0000-000000-000119.parquet"]);
}

#[test]
fn threads_share_the_parts_and_see_each_sample_once() {
    let scratch = Scratch::new("threads");
    let rows = realistic(50_000, 50_000.0, 3);
    let mut writer = RecordingWriter::create(scratch.path(), &header(Provenance::Simulated)).unwrap();
    for part in rows.chunks(777) {
        writer.write_samples(part).unwrap();
        writer.close_part().unwrap();
    }
    drop(writer); // cut short: the small parts stay
    let recording = Recording::open(scratch.path()).unwrap();
    assert_eq!((recording.end(), recording.rows()), (None, 50_000));
    let seen = recording.scan(3, Vec::new, |seen: &mut Vec<u64>, batch| seen.extend(&batch.seq)).unwrap();
    let mut seqs = seen.concat();
    seqs.sort_unstable();
    assert!(seqs.into_iter().eq(0..50_000));
}

#[test]
fn events_and_noise_come_back_before_and_after_the_end() {
    let scratch = Scratch::new("small");
    let mut writer = RecordingWriter::create(scratch.path(), &header(Provenance::Simulated)).unwrap();
    let event = |kind, begin: u64, detail: &str| Event {
        kind,
        begin: Instant(begin),
        end: Instant::NONE,
        subject: "session 3".to_owned(),
        detail: detail.to_owned(),
    };
    let events: Vec<Event> =
        EventKind::ALL.iter().zip(10..).map(|(&kind, at)| event(kind, at, "naïve \n\0 text")).collect();
    let facts = |name: &str, available| NoiseSourceFacts { name: name.into(), unit: "ns".into(), available };
    let steal = writer.noise_source(facts("steal", Ok(12)));
    let bpf = writer.noise_source(facts("bpf", Err("no permission".to_owned())));
    assert_eq!((steal, bpf, writer.noise_source(facts("steal", Ok(15)))), (0, 1, 0));
    let observation = |n: u64| NoiseObservation {
        source: steal,
        value: n as f64 / 3.0,
        begin: Instant(n),
        end: if n == 5 { Instant::NONE } else { Instant(n + 1) },
    };
    let noise: Vec<_> = (0..10).map(observation).collect();
    let anchor = |n: u64| Anchor {
        ticks: Ticks(n),
        monotonic_ns: 77 + n,
        realtime_ns: 1_790_000_000_000_000_000 + n,
        slewed_ns: (n != 5).then_some(99 + n),
        width_ticks: 60,
    };
    let anchors: Vec<_> = (0..10).map(anchor).collect();
    for (event, pair) in events.iter().zip(noise.chunks(1)) {
        writer.event(event.clone());
        pair.iter().for_each(|&observation| writer.noise(observation));
        writer.anchor(anchor(pair[0].begin.0));
        writer.close_part().unwrap();
    }
    let check = || {
        let recording = Recording::open(scratch.path()).unwrap();
        assert_eq!(recording.events().unwrap(), events);
        assert_eq!(recording.noise().unwrap(), noise);
        assert_eq!(recording.anchors().unwrap(), anchors);
        let sources = [facts("steal", Ok(15)), facts("bpf", Err("no permission".to_owned()))];
        assert_eq!(recording.noise_sources(), sources);
        assert_eq!(recording.unreadable(), Vec::new());
    };
    check();
    writer.finish(EndOfRun::new(Ending::Interrupted("^C".to_owned()))).unwrap();
    check();
    assert!(scratch.path().join("events.parquet").is_file() && !scratch.path().join("events").exists());
}

#[test]
fn the_end_counts_what_was_written() {
    let mut rows = realistic(100, 1e3, 4);
    rows[7].outcome = Outcome::Timeout;
    rows.iter_mut().for_each(|row| row.outcome = if row.seq == 7 { Outcome::Timeout } else { Outcome::Ok });
    let (scratch, end) = written("end", &[rows.clone()]);
    assert_eq!(end.outcomes, [(Outcome::Ok, 99), (Outcome::Timeout, 1)]);
    assert_eq!(Some(end.at), rows.iter().map(|row| row.completed).max());
    let verdict = RecordedVerdict { state: "suspect".into(), reasons: vec!["one session".into()] };
    record::conclude(scratch.path(), &verdict, "{\"p50\": 1}").unwrap();
    let recording = Recording::open(scratch.path()).unwrap();
    assert_eq!((recording.end(), recording.verdict()), (Some(&end), Some(&verdict)));
    assert_eq!(recording.summary_json().unwrap().as_deref(), Some("{\"p50\": 1}"));
    assert_eq!(recording.header(), &header(Provenance::Simulated));
}

#[test]
fn nothing_is_written_over() {
    let (scratch, _) = written("occupied", &[]);
    let header = header(Provenance::Simulated);
    let refused = |path: &std::path::Path| match RecordingWriter::create(path, &header) {
        Err(error @ RecordError::Occupied { .. }) => error.to_string(),
        other => panic!("{:?}", other.map(|writer| writer.path().to_owned())),
    };
    assert!(refused(scratch.path()).contains("already holds a recording"));
    let other = Scratch::new("other");
    std::fs::create_dir(other.path()).unwrap();
    drop(RecordingWriter::create(other.path(), &header).unwrap());
    std::fs::rename(other.path().join("run.toml"), other.path().join("thesis.tex")).unwrap();
    assert!(refused(other.path()).contains("is not empty"));
    assert!(refused(&other.path().join("thesis.tex")).contains("is a file"));
    assert!(refused(&other.path().join("thesis.tex").join("below")).contains("lies below a file"));
}
