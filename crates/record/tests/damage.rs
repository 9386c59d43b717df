//! Whatever happens to the files: an answer or a message, never a panic, and never a sample that was not
//! written.

mod fixture;

use fixture::{Scratch, all_samples, header, realistic};
use proptest::prelude::*;
use record::{EndOfRun, Ending, Provenance, RecordError, Recording, RecordingWriter, Sample};
use std::fs;
use std::path::{Path, PathBuf};

/// A recording cut short, in `parts` parts of 100 samples each.
fn cut_short(label: &str, parts: usize) -> (Scratch, Vec<Sample>) {
    let scratch = Scratch::new(label);
    let samples = realistic(parts * 100, 1e4, 7);
    write_parts(scratch.path(), &samples);
    (scratch, samples)
}

fn write_parts(path: &Path, samples: &[Sample]) -> RecordingWriter {
    let mut writer = RecordingWriter::create(path, &header(Provenance::Simulated)).unwrap();
    for part in samples.chunks(100) {
        writer.write_samples(part).unwrap();
        writer.close_part().unwrap();
    }
    writer
}

fn part(scratch: &Scratch, number: u32) -> PathBuf {
    scratch.path().join(format!("samples/part-0000-{number:06}.parquet"))
}

fn refused(path: &Path) -> String {
    Recording::open(path).unwrap_err().to_string()
}

#[test]
fn a_cut_off_a_garbled_and_a_missing_part_are_named_and_the_rest_is_read() {
    let (scratch, samples) = cut_short("damaged", 6);
    let bytes = fs::read(part(&scratch, 1)).unwrap();
    fs::write(part(&scratch, 1), &bytes[..bytes.len() / 2]).unwrap();
    fs::write(part(&scratch, 2), vec![0xA5; 5_000]).unwrap();
    fs::remove_file(part(&scratch, 4)).unwrap();
    let recording = Recording::open(scratch.path()).unwrap();
    let mut named: Vec<String> = recording.unreadable().into_iter().map(|(file, _)| file).collect();
    named.sort();
    assert_eq!(named, [1, 2, 4].map(|n| format!("samples/part-0000-{n:06}.parquet")));
    assert!(recording.unreadable().iter().any(|(_, why)| why == "missing"));
    assert_eq!(recording.rows(), 300);
    assert_eq!(all_samples(&recording), [&samples[..100], &samples[300..400], &samples[500..]].concat());
}

#[test]
fn a_complete_run_misses_its_last_parts_too() {
    let scratch = Scratch::new("tail");
    let writer = write_parts(scratch.path(), &realistic(300, 1e4, 7));
    let singles: Vec<_> = (0..3).map(|n| (part(&scratch, n), fs::read(part(&scratch, n)).unwrap())).collect();
    writer.finish(EndOfRun::new(Ending::Completed)).unwrap();
    fs::remove_dir_all(scratch.path().join("samples")).unwrap();
    let missing = |expected: &str| {
        let unreadable = Recording::open(scratch.path()).unwrap().unreadable();
        assert_eq!(unreadable, [(expected.to_owned(), "missing".to_owned())]);
    };
    missing("samples/part-0000-000000 to 000002");
    fs::create_dir(scratch.path().join("samples")).unwrap();
    fs::write(&singles[0].0, &singles[0].1).unwrap();
    fs::write(&singles[1].0, &singles[1].1).unwrap();
    missing("samples/part-0000-000002.parquet");
}

#[test]
fn a_kill_in_the_middle_of_merging_neither_loses_nor_doubles() {
    let scratch = Scratch::new("merging");
    let samples = realistic(500, 1e4, 8);
    let writer = write_parts(scratch.path(), &samples);
    let singles: Vec<_> = (0..5).map(|n| (part(&scratch, n), fs::read(part(&scratch, n)).unwrap())).collect();
    writer.finish(EndOfRun::new(Ending::Completed)).unwrap();
    let merged = scratch.path().join("samples/part-0000-000000-000004.parquet");
    let whole = fs::read(&merged).unwrap();
    let check = |what: &str| {
        let recording = Recording::open(scratch.path()).unwrap();
        assert_eq!((all_samples(&recording), recording.unreadable()), (samples.clone(), vec![]), "{what}");
    };
    // Killed after `kept` of the single parts were still there.
    for kept in 0..=singles.len() {
        singles[singles.len() - kept..].iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        check("the merged part is there, and some single ones");
    }
    fs::write(merged.with_extension("tmp"), &whole[..whole.len() / 3]).unwrap();
    fs::remove_file(&merged).unwrap();
    check("the merged part was being written");
}

#[test]
fn a_part_of_another_run_is_not_mixed_in() {
    let (scratch, samples) = cut_short("own", 1);
    let other = Scratch::new("foreign");
    let mut foreign = header(Provenance::Simulated);
    foreign.load.seed = 1;
    let mut writer = RecordingWriter::create(other.path(), &foreign).unwrap();
    writer.write_samples(&realistic(10, 1e4, 9)).unwrap();
    writer.close_part().unwrap();
    fs::copy(part(&other, 0), part(&scratch, 1)).unwrap();
    fs::write(part(&scratch, 2), b"PAR1, said somebody, and then PAR1").unwrap();
    let recording = Recording::open(scratch.path()).unwrap();
    let unreadable = recording.unreadable();
    assert_eq!((unreadable.len(), all_samples(&recording)), (2, samples), "{unreadable:?}");
    assert!(unreadable.iter().any(|(_, why)| why.contains("belongs to another run")), "{unreadable:?}");
}

#[test]
fn what_is_not_a_recording_is_told_apart() {
    let scratch = Scratch::new("absent");
    assert!(
        refused(scratch.path())
            .ends_with("no such recording: check the path, or make one with `truetail run`")
    );
    fs::create_dir(scratch.path()).unwrap();
    assert!(refused(scratch.path()).contains("is not a recording (it has no run.toml)"));
    assert!(refused(&scratch.path().join("run.toml/x")).contains("no such recording"));
    let run_file = scratch.path().join("run.toml");
    fs::write(&run_file, "format = 7\ntool_version = \"9.1.0\"\n").unwrap();
    assert!(refused(scratch.path()).ends_with("formats 1 to 1: use truetail 9.1.0 or later"));
    fs::write(&run_file, "format = 1\nrun_id = \"12").unwrap();
    assert!(refused(scratch.path()).contains("line 2"));
    fs::write(&run_file, b"format = 1\n\xFF").unwrap();
    assert!(refused(scratch.path()).contains("byte 11 is not UTF-8"));
    assert!(matches!(Recording::open(&run_file), Err(RecordError::NotARecording { .. })));
}

/// How a file is damaged.
#[derive(Clone, Debug)]
enum Damage {
    Cut(prop::sample::Index),
    Overwrite(prop::sample::Index, Vec<u8>),
    Insert(prop::sample::Index, Vec<u8>),
    Replace(Vec<u8>),
}

fn damages() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    let bytes = || prop::collection::vec(any::<u8>(), 1..30);
    prop_oneof![
        1 => at().prop_map(Damage::Cut),
        4 => (at(), bytes()).prop_map(|(at, bytes)| Damage::Overwrite(at, bytes)),
        1 => (at(), bytes()).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => prop::collection::vec(any::<u8>(), 0..300).prop_map(Damage::Replace),
    ]
}

fn damaged(mut bytes: Vec<u8>, damage: &Damage) -> Vec<u8> {
    match damage {
        Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Damage::Overwrite(at, new) => {
            let at = at.index(bytes.len());
            bytes.iter_mut().skip(at).zip(new).for_each(|(byte, new)| *byte = *new);
        }
        Damage::Insert(at, new) => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, new.iter().copied());
        }
        Damage::Replace(new) => bytes.clone_from(new),
    }
    bytes
}

/// Reads all that there is to read.
fn read_everything(path: &Path) -> Result<(Vec<Sample>, usize), RecordError> {
    let recording = Recording::open(path)?;
    recording.events()?;
    recording.noise()?;
    recording.summary_json()?;
    let samples = all_samples(&recording);
    Ok((samples, recording.unreadable().len()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// All of them if the damage is where nobody reads: in the first four bytes, or in the column of clients.
    #[test]
    fn a_damaged_part_gives_its_samples_or_none(damage in damages()) {
        let (scratch, samples) = cut_short("fuzz-part", 2);
        let whole = fs::read(part(&scratch, 0)).unwrap();
        fs::write(part(&scratch, 0), damaged(whole, &damage)).unwrap();
        let (read, unreadable) = read_everything(scratch.path()).unwrap();
        prop_assert_eq!((read.len(), unreadable), if read.len() == 200 { (200, 0) } else { (100, 1) });
        prop_assert!(read == samples[200 - read.len()..]);
    }

    #[test]
    fn a_damaged_run_file_gives_a_recording_or_one_line(damage in damages()) {
        let (scratch, _) = cut_short("fuzz-run", 1);
        let run_file = scratch.path().join("run.toml");
        let whole = fs::read(&run_file).unwrap();
        fs::write(&run_file, damaged(whole, &damage)).unwrap();
        if let Err(error) = read_everything(scratch.path()) {
            let text = error.to_string();
            prop_assert!(!text.contains('\n') && text.contains("run.toml"), "{}", text);
        }
    }
}
