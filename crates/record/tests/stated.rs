//! What another tool stated comes back as it said it: what it did not say stays unsaid.

#[path = "stated/content.rs"]
mod content;
mod fixture;

use fixture::{Scratch, header};
use proptest::prelude::*;
use record::{EndOfRun, Ending, Provenance, Recording, RecordingWriter, Stated, StatedFrom, StatedRounding};
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
    let rounding = prop::sample::select(vec![StatedRounding::Unsaid, StatedRounding::Down]);
    let sizes = (prop::option::of(any::<u64>()), prop::option::of(0.0..1.0), rounding);
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
            rounding: sizes.2,
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

/// Whoever writes can know beforehand whether there is room.
#[test]
fn figures_are_counted_as_they_are_written() {
    let scratch = Scratch::new("stated-count");
    let with =
        |more: Stated| -> usize { [more, content::stated()[0].clone()].iter().map(Stated::figures).sum() };
    // The statement itself, count, mean, min, max, two quantiles, the step.
    assert_eq!(content::stated()[0].figures(), 8);
    assert_eq!(content::stated()[2].figures(), 1);
    let room = record::STATED_MAX - with(Stated::default());
    let filled =
        |n: usize| Stated { cumulative: (0..n as u64).map(|n| (Nanos(n), n)).collect(), ..Stated::default() };
    let mut writer = RecordingWriter::create(scratch.path(), &header(Provenance::Live)).unwrap();
    let mut write = |more: Stated| writer.set_stated(&[more, content::stated()[0].clone()]);
    write(filled(room)).unwrap();
    assert!(write(Stated { rounding: StatedRounding::Down, ..filled(room) }).is_err());
    assert!(write(Stated { relative_resolution: Some(0.1), ..filled(room) }).is_err());
}

#[test]
fn a_figure_stands_for_what_its_steps_leave_open() {
    let told = Stated { resolution: Some(Nanos(1_000)), ..Stated::default() };
    assert_eq!(told.true_range(Nanos(5_000)), (4_000, 6_000));
    assert_eq!(told.true_range(Nanos(300)), (0, 1_300));
    let down = Stated { rounding: StatedRounding::Down, ..told.clone() };
    assert_eq!(down.true_range(Nanos(5_000)), (5_000, 6_000));
    let wide = Stated { relative_resolution: Some(0.1), ..told };
    assert_eq!(wide.true_range(Nanos(5_000)), (3_500, 6_500));
    assert_eq!(Stated::default().true_range(Nanos(7)), (7, 7), "nothing is said of its steps");
    let all = Stated {
        resolution: Some(Nanos(u64::MAX)),
        relative_resolution: Some(f64::MAX),
        ..Stated::default()
    };
    assert_eq!(all.true_range(Nanos(9)), (0, u64::MAX));
}

#[test]
fn format_1_stays_readable() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/stated-v1");
    let recording = Recording::open(path).unwrap();
    assert_eq!(recording.stated().unwrap(), content::stated());
    assert_eq!(recording.unreadable(), []);
}
