//! What another tool stated comes back as it said it: what it did not say stays unsaid.

#[path = "stated/content.rs"]
mod content;
mod fixture;

use fixture::{Scratch, header};
use proptest::prelude::*;
use record::{EndOfRun, Ending, Provenance, Recording, RecordingWriter, Stated, StatedFrom};
use std::path::Path;
use units::{Instant, Nanos, Quantile};

fn instant() -> impl Strategy<Value = Instant> {
    (0..u64::MAX - 1).prop_map(Instant)
}

fn nanos() -> impl Strategy<Value = Nanos> {
    any::<u64>().prop_map(Nanos)
}

fn stated() -> impl Strategy<Value = Stated> {
    let words = (any::<String>(), any::<String>(), prop::sample::select(StatedFrom::ALL.to_vec()));
    let single = || prop::option::of(nanos());
    let times = (single(), single(), single(), single());
    let quantile = (0.0..=1.0).prop_map(|share| Quantile::new(share).unwrap());
    let lists = (
        prop::collection::vec((quantile, nanos()), 0..5),
        prop::collection::vec((nanos(), any::<u64>()), 0..5),
    );
    let sizes = (prop::option::of(any::<u64>()), prop::option::of(0.0..1.0));
    (words, prop::option::of((instant(), instant())), times, lists, sizes).prop_map(
        |((operation, measure, counted_from), interval, times, (quantiles, cumulative), sizes)| Stated {
            operation,
            measure,
            counted_from,
            interval,
            count: sizes.0,
            mean: times.0,
            min: times.1,
            max: times.2,
            quantiles,
            cumulative,
            resolution: times.3,
            relative_resolution: sizes.1,
        },
    )
}

fn written(scratch: &Scratch, all: &[Stated]) -> Recording {
    let imported = Provenance::Imported { tool: "a tool".to_owned() };
    let mut writer = RecordingWriter::create(scratch.path(), &header(imported)).unwrap();
    writer.set_stated(all).unwrap();
    writer.finish(EndOfRun::new(Ending::Completed)).unwrap();
    Recording::open(scratch.path()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_statements_come_back_as_they_were(all in prop::collection::vec(stated(), 0..6)) {
        let scratch = Scratch::new("stated-any");
        let recording = written(&scratch, &all);
        prop_assert_eq!(recording.stated().unwrap(), all);
        prop_assert_eq!(recording.unreadable(), []);
    }
}

#[test]
fn what_is_stated_anew_replaces_what_was() {
    let scratch = Scratch::new("stated-anew");
    let mut writer = RecordingWriter::create(scratch.path(), &header(Provenance::Live)).unwrap();
    writer.set_stated(&content::stated()).unwrap();
    writer.set_stated(&content::stated()[1..]).unwrap();
    drop(writer);
    let recording = Recording::open(scratch.path()).unwrap();
    assert_eq!(recording.stated().unwrap(), content::stated()[1..]);
}

#[test]
fn a_recording_without_statements_has_none() {
    let scratch = Scratch::new("stated-none");
    drop(RecordingWriter::create(scratch.path(), &header(Provenance::Live)).unwrap());
    assert_eq!(Recording::open(scratch.path()).unwrap().stated().unwrap(), []);
}

#[test]
fn more_figures_than_the_table_has_room_for_are_refused() {
    let scratch = Scratch::new("stated-many");
    let mut writer = RecordingWriter::create(scratch.path(), &header(Provenance::Live)).unwrap();
    let cumulative = (0..1 << 20).map(|n| (Nanos(n), n)).collect();
    let said = writer.set_stated(&[Stated { cumulative, ..Stated::default() }]).unwrap_err().to_string();
    assert!(said.contains("1048577 figures, and the table has room for 1048576"), "{said}");
    assert!(!scratch.path().join("stated.parquet").exists());
}

#[test]
fn format_1_stays_readable() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/stated-v1");
    let recording = Recording::open(path).unwrap();
    assert_eq!(recording.stated().unwrap(), content::stated());
    assert_eq!(recording.unreadable(), []);
}
