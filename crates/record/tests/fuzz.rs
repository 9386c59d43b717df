//! The reader against files that nobody would write: behind matching checksums, so that damage reaches what decodes.
//!
//! `cargo xtask soak --fuzz` does the same for as long as it is told.

mod fixture;
mod resealed;
#[path = "stated/content.rs"]
mod stated;

use clock::Anchor;
use fixture::{Scratch, header, realistic};
use parquet::basic::Encoding;
use record::{
    Event, EventKind, NoiseObservation, NoiseSourceFacts, Provenance, Recording, RecordingWriter, Sample,
    SampleBatch, Statement,
};
use resealed::Sealed;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;
use testkit::fuzz::Fuzz;
use testkit::memory::{MeasuringAlloc, measured};
use units::{Instant, Outcome, Ticks};

#[global_allocator]
static ALLOC: MeasuringAlloc = MeasuringAlloc;

const ROWS: usize = 60;
/// What reading a few kilobytes may ask for at once, whatever they say of themselves.
const ALLOCATION_MAX: usize = 256 << 20;

/// A small recording with all six tables, cut short, so that each of them is one part.
fn written(label: &str) -> Scratch {
    let scratch = Scratch::new(label);
    let mut writer = RecordingWriter::create(scratch.path(), &header(Provenance::Simulated)).unwrap();
    let mut samples = realistic(ROWS, 1e4, 7);
    // Nulls in every column that can have some.
    samples[3] = Sample { sent: Instant::NONE, arrived: Instant::NONE, ..samples[3] };
    samples[4] = Sample { ready: Instant::NONE, completed: Instant::NONE, ..samples[4] };
    writer.write_samples(&samples).unwrap();
    let facts = NoiseSourceFacts { name: "steal".into(), unit: "ns".into(), available: Ok(40) };
    let source = writer.noise_source(facts);
    for n in 0..20 {
        let (begin, end) =
            (Instant(n * 1_000), if n == 7 { Instant::NONE } else { Instant(n * 1_000 + 900) });
        writer.noise(NoiseObservation { source, value: n as f64, begin, end });
        let (subject, detail) = (format!("session {}", n % 3), "it was lost".repeat(n as usize));
        writer.anchor(Anchor {
            ticks: Ticks(n * 1_000),
            monotonic_ns: 7_000 + n * 1_000,
            realtime_ns: 1_790_000_000_000_000_000 + n * 1_000,
            slewed_ns: (n != 5).then_some(9_000 + n * 1_000),
            width_ticks: 60,
        });
        writer.event(Event { kind: EventKind::ALL[n as usize % 10], begin, end, subject, detail });
    }
    writer.set_stated(&stated::stated()).unwrap();
    writer.write_statements(&(0..30).map(statement).collect::<Vec<_>>()).unwrap();
    writer.close_part().unwrap();
    scratch
}

fn part(scratch: &Scratch, table: &str) -> PathBuf {
    match table {
        "stated" => scratch.path().join("stated.parquet"),
        _ => scratch.path().join(table).join("part-0000-000000.parquet"),
    }
}

/// Reads all that there is to read: how many files can't be used.
fn read_everything(path: &Path) -> Vec<(String, String)> {
    let recording = Recording::open(path).unwrap();
    let aligned = |rows: &mut usize, batch: &SampleBatch| {
        let SampleBatch { intended, ready, sent, arrived, completed, seq, .. } = batch;
        let longs = [intended, ready, sent, arrived, completed, seq];
        assert!(longs.iter().all(|column| column.len() == batch.len()), "a column is shorter");
        let SampleBatch { op, phase, outcome, retries, flags, session, .. } = batch;
        assert!([op, phase, outcome, retries, flags].iter().all(|column| column.len() == batch.len()));
        assert_eq!(session.len(), batch.len());
        *rows += batch.iter().count();
    };
    recording.scan(1, || 0, aligned).unwrap();
    recording.events().unwrap();
    recording.noise().unwrap();
    recording.anchors().unwrap();
    recording.stated().unwrap();
    recording.statements(|_| ()).unwrap();
    recording.unreadable()
}

/// Panics that the reader catches are not shown: there are many, and each is one more damaged file.
fn quiet_guard() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let show = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !record::is_guarding() {
                show(panic);
            }
        }));
    });
}

/// A file of one table is made unusable in many ways; the reader says so, or reads something.
fn fuzz(name: &'static str, table: &'static str, inputs: u64) {
    quiet_guard();
    let scratch = written(name);
    let path = part(&scratch, table);
    let own = Sealed::new(fs::read(&path).unwrap());
    let kinds = [
        own.rewritten(Encoding::DELTA_BINARY_PACKED, true),
        own.rewritten(Encoding::PLAIN, false),
        own.rewritten(Encoding::BYTE_STREAM_SPLIT, false),
        own,
    ];
    let mut turn = 0;
    // An input says where to write which bytes: lengths stay, so that most of it stays a file. The words are numbers as
    // the headers have them: large sizes, long lists.
    let edits = Fuzz::new(name).from([&[0; 40][..], &[0xFF; 40]]).words([
        &[0x15, 0xFE, 0xFF, 0xFF, 0xFF, 0x0F][..],
        &[0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0x07],
        &[0x80, 0x80, 0x04],
        &[0x19, 0x1C],
    ]);
    edits.run(inputs, |input| {
        turn += 1;
        let sealed = &kinds[turn % kinds.len()];
        let mut damaged = sealed.bytes.clone();
        edit(&mut damaged, sealed, input);
        fs::write(&path, sealed.resealed(damaged)).unwrap();
        let (unreadable, memory) = measured(|| read_everything(scratch.path()));
        assert!(memory.largest <= ALLOCATION_MAX, "{memory:?} for {} bytes", sealed.bytes.len());
        for (file, why) in &unreadable {
            assert!(file.starts_with(table) && !why.is_empty() && !why.contains('\n'), "{file}: {why}");
        }
    });
}

fn statement(n: u16) -> Statement {
    Statement {
        sent: Instant(u64::from(n) * 1_000),
        arrived: if n == 7 { Instant::NONE } else { Instant(u64::from(n) * 1_000 + 600) },
        completed: Instant(u64::from(n) * 1_000 + 700),
        seq: u64::from(n / 3),
        client: 0,
        label: if n % 3 == 2 { record::NO_STATEMENT } else { n % 3 },
        commands: 1 + n,
        position: n % 3,
        op: 1,
        attempt: 0,
        with: record::with::COMMIT,
        phase: 0,
        outcome: Outcome::ALL[usize::from(n) % Outcome::ALL.len()],
    }
}

/// Takes an input as edits of ten bytes: where, how many, what.
fn edit(bytes: &mut [u8], sealed: &Sealed, input: &[u8]) {
    let footer = sealed.footer();
    for chunk in input.chunks(10) {
        let &[kind, high, low, ref new @ ..] = chunk else { return };
        let place = usize::from(high) << 8 | usize::from(low);
        // A third of the edits in the footer, which is longer than the columns of so few rows.
        let at = match kind % 3 {
            0 => footer.start + place % footer.len(),
            _ => 4 + place % (footer.start - 4),
        };
        let end = footer.end.min(at + new.len().min(1 + usize::from(kind / 3 % 7)));
        bytes[at..end].copy_from_slice(&new[..end - at]);
    }
}

#[test]
fn fuzz_samples_behind_matching_checksums() {
    fuzz("samples", "samples", 2_000);
}

#[test]
fn fuzz_noise_behind_matching_checksums() {
    fuzz("noise", "noise", 1_000);
}

#[test]
fn fuzz_events_behind_matching_checksums() {
    fuzz("events", "events", 1_000);
}

#[test]
fn fuzz_anchors_behind_matching_checksums() {
    fuzz("anchors", "anchors", 500);
}

#[test]
fn fuzz_what_a_tool_stated_behind_matching_checksums() {
    fuzz("stated", "stated", 500);
}

#[test]
fn fuzz_statements_behind_matching_checksums() {
    fuzz("statements", "statements", 500);
}

#[test]
fn fuzz_the_run_file() {
    let scratch = written("run-file");
    let path = scratch.path().join("run.toml");
    let text = fs::read(&path).unwrap();
    let words = [
        "format = ",
        "99999999999999999999",
        "-1",
        "[[phase]]",
        "\"",
        "nan",
        "1e999",
        "= [",
        "0x7FFFFFFFFFFFFFFF",
    ];
    Fuzz::new("run-file").from([text]).words(words).run(2_000, |input| {
        fs::write(&path, input).unwrap();
        let (opened, memory) = measured(|| Recording::open(scratch.path()).map(|r| r.unreadable()));
        assert!(memory.largest <= ALLOCATION_MAX, "{memory:?}");
        if let Err(error) = opened {
            let text = error.to_string();
            assert!(!text.contains('\n') && text.contains("run.toml"), "{text}");
        }
    });
}

/// What is only rewritten and not damaged is read as it was: or the edits above would be of nothing.
#[test]
fn canary_rewritten_parts_are_read() {
    let scratch = written("canary");
    let before = fixture::all_samples(&Recording::open(scratch.path()).unwrap());
    assert_eq!(before.len(), ROWS);
    let own = Sealed::new(fs::read(part(&scratch, "samples")).unwrap());
    for encoding in [Encoding::DELTA_BINARY_PACKED, Encoding::PLAIN, Encoding::BYTE_STREAM_SPLIT] {
        let rewritten = own.rewritten(encoding, encoding == Encoding::DELTA_BINARY_PACKED);
        assert_ne!(rewritten.bytes, own.bytes);
        fs::write(part(&scratch, "samples"), &rewritten.bytes).unwrap();
        let recording = Recording::open(scratch.path()).unwrap();
        assert_eq!((fixture::all_samples(&recording), recording.unreadable()), (before.clone(), vec![]));
        // One value of one column, behind a matching sum: read, and different.
        let mut damaged = rewritten.bytes.clone();
        let last_of_body = rewritten.footer().start - 2;
        damaged[last_of_body] ^= 1;
        let torn = Sealed::new(rewritten.bytes.clone());
        fs::write(part(&scratch, "samples"), &damaged).unwrap();
        let unsealed = read_everything(scratch.path());
        assert!(unsealed[0].1.contains("checksum"), "{unsealed:?}");
        fs::write(part(&scratch, "samples"), torn.resealed(damaged)).unwrap();
        let sealed = read_everything(scratch.path());
        assert!(sealed.iter().all(|(_, why)| !why.contains("checksum")), "{sealed:?}");
    }
}

/// Another encoding; a large number.
const LIES: [&[u8]; 2] = [&[0x10], &[0xFE, 0xFF, 0xFF, 0xFF, 0x0F]];

#[test]
fn every_byte_of_the_headers_may_lie() {
    quiet_guard();
    let scratch = written("lies");
    let path = part(&scratch, "samples");
    let own = Sealed::new(fs::read(&path).unwrap());
    let heads = own.columns.iter().flat_map(|column| column.start..column.start + 24);
    let mut panics = 0;
    for at in heads.chain(own.footer()) {
        for lie in LIES {
            let mut damaged = own.bytes.clone();
            damaged[at..at + lie.len()].copy_from_slice(lie);
            fs::write(&path, own.resealed(damaged)).unwrap();
            let (unreadable, memory) = measured(|| read_everything(scratch.path()));
            assert!(memory.largest <= ALLOCATION_MAX, "{memory:?} for {lie:x?} at {at}");
            panics += usize::from(unreadable.iter().any(|(_, why)| why.contains("can't be decoded")));
        }
    }
    assert!(panics > 0, "the library does panic on such files, or the guard around it is of nothing");
}

#[test]
fn a_page_that_claims_a_gibibyte_is_not_given_it() {
    let scratch = written("claims");
    let path = part(&scratch, "samples");
    let own = Sealed::new(fs::read(&path).unwrap());
    for column in 0..9 {
        fs::write(&path, own.claiming(column, 1 << 30)).unwrap();
        let (unreadable, memory) = measured(|| read_everything(scratch.path()));
        assert!(unreadable[0].1.contains("claims what it does not have"), "{unreadable:?}");
        assert!(memory.largest <= ALLOCATION_MAX, "{memory:?} for column {column}");
    }
}
