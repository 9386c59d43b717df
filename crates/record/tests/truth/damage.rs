//! Whatever happens to the files: an answer or a message, never a panic, and never a row that was not written.

use crate::fixture::Scratch;
use crate::{all_rows, content, in_parts};
use proptest::prelude::*;
use record::{RecordError, Recording, TruthEnd, TruthLog, TruthWriter};
use std::fs;
use std::path::PathBuf;

fn part(scratch: &Scratch, number: u32) -> PathBuf {
    scratch.path().join(format!("truth/part-0000-{number:06}.parquet"))
}

#[test]
fn a_cut_off_a_garbled_and_a_missing_part_are_named_and_the_rest_is_read() {
    let scratch = Scratch::new("truth-damaged");
    drop(in_parts(&scratch, 50));
    let bytes = fs::read(part(&scratch, 1)).unwrap();
    fs::write(part(&scratch, 1), &bytes[..bytes.len() / 2]).unwrap();
    fs::write(part(&scratch, 2), vec![0xA5; 5_000]).unwrap();
    fs::remove_file(part(&scratch, 4)).unwrap();
    let log = TruthLog::open(scratch.path()).unwrap();
    let mut named: Vec<String> = log.unreadable().into_iter().map(|(file, _)| file).collect();
    named.sort();
    assert_eq!(named, [1, 2, 4].map(|n| format!("truth/part-0000-{n:06}.parquet")));
    let rows = content::rows();
    assert_eq!(all_rows(&log), [&rows[..50], &rows[150..200], &rows[250..]].concat());
}

#[test]
fn a_finished_log_misses_its_last_parts_too() {
    let scratch = Scratch::new("truth-tail");
    in_parts(&scratch, 100).finish(TruthEnd::new(Vec::new())).unwrap();
    fs::remove_dir_all(scratch.path().join("truth")).unwrap();
    let unreadable = TruthLog::open(scratch.path()).unwrap().unreadable();
    assert_eq!(unreadable, [("truth/part-0000-000000 to 000002".to_owned(), "missing".to_owned())]);
}

/// Also between two lines, where it is still TOML and its counts would read as zero.
#[test]
fn a_header_that_is_cut_anywhere_is_refused() {
    let scratch = Scratch::new("truth-cut");
    in_parts(&scratch, 100).finish(TruthEnd::new(Vec::new())).unwrap();
    let file = scratch.path().join("truth.toml");
    let text = fs::read_to_string(&file).unwrap();
    for end in 0..text.trim_end().len() {
        fs::write(&file, &text.as_bytes()[..end]).unwrap();
        assert!(TruthLog::open(scratch.path()).is_err(), "cut at {end} of {}", text.len());
    }
}

/// Of a store that still runs, `complete` is false and there is no `[end]` that could be missed.
#[test]
fn a_header_of_an_unfinished_store_that_is_cut_anywhere_is_refused() {
    let scratch = Scratch::new("truth-cut-early");
    drop(in_parts(&scratch, 100));
    let file = scratch.path().join("truth.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("complete = false\n") && TruthLog::open(scratch.path()).is_ok());
    for end in 0..text.trim_end().len() {
        fs::write(&file, &text.as_bytes()[..end]).unwrap();
        let refused = TruthLog::open(scratch.path()).err();
        let said = refused.unwrap_or_else(|| panic!("cut at {end} of {}", text.len())).to_string();
        assert!(!said.contains('\n'), "{said}");
    }
}

#[test]
fn what_is_no_truth_log_is_told_apart() {
    let refused = |scratch: &Scratch| TruthLog::open(scratch.path()).unwrap_err().to_string();
    let scratch = Scratch::new("truth-absent");
    assert!(
        refused(&scratch).ends_with("no such truth log: check the path, or let `truetail store` write one")
    );
    fs::create_dir(scratch.path()).unwrap();
    assert!(refused(&scratch).contains("is not a truth log (it has no truth.toml)"));
    assert!(!TruthLog::is_at(scratch.path()));
    let file = scratch.path().join("truth.toml");
    fs::write(&file, "format = 7\ntool_version = \"9.1.0\"\n").unwrap();
    assert!(refused(&scratch).ends_with("formats 1 to 1: use truetail 9.1.0 or later"));
    fs::write(&file, "format = 0").unwrap();
    assert!(refused(&scratch).contains("`format` is 0, and the first format is 1"));
    fs::write(&file, "run_id = \"\"").unwrap();
    assert!(refused(&scratch).contains("it has no whole number as `format`"));
    fs::write(&file, "format = 1\nrun_id = \"12").unwrap();
    assert!(refused(&scratch).contains("line 2"));
    fs::write(&file, b"format = 1\n\xFF").unwrap();
    assert!(refused(&scratch).contains("byte 11 is not UTF-8"));
}

#[test]
fn a_log_is_not_written_over_and_is_no_recording() {
    let scratch = Scratch::new("truth-taken");
    drop(in_parts(&scratch, 300));
    assert!(TruthLog::is_at(scratch.path()));
    let again = TruthWriter::create(scratch.path(), &content::header()).err().unwrap().to_string();
    assert!(again.contains("already holds a truth log"), "{again}");
    assert!(matches!(Recording::open(scratch.path()), Err(RecordError::NotARecording { .. })));
}

#[test]
fn a_disk_that_refuses_costs_rows_and_is_told() {
    let scratch = Scratch::new("truth-refuses");
    let mut writer = TruthWriter::create(scratch.path(), &content::header()).unwrap();
    let in_the_way = scratch.path().join("truth");
    fs::write(&in_the_way, "").unwrap();
    writer.write_rows(&content::rows()[..100]).unwrap();
    assert!(writer.close_part().is_err());
    fs::remove_file(&in_the_way).unwrap();
    writer.write_rows(&content::rows()[100..]).unwrap();
    let end = writer.finish(TruthEnd::new(Vec::new())).unwrap();
    assert_eq!((end.rows, end.unwritable), (200, 100));
    assert!(end.trouble.is_some_and(|words| words.contains("truth") && !words.contains('\n')));
    assert_eq!(all_rows(&TruthLog::open(scratch.path()).unwrap()), content::rows()[100..]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_part_gives_its_rows_or_none(
        at in any::<prop::sample::Index>(),
        new in prop::collection::vec(any::<u8>(), 1..30),
        cut in any::<bool>(),
    ) {
        let scratch = Scratch::new("truth-bytes");
        drop(in_parts(&scratch, 150));
        let mut bytes = fs::read(part(&scratch, 0)).unwrap();
        let at = at.index(bytes.len());
        match cut {
            true => bytes.truncate(at),
            false => bytes.iter_mut().skip(at).zip(&new).for_each(|(byte, new)| *byte = *new),
        }
        fs::write(part(&scratch, 0), bytes).unwrap();
        let log = TruthLog::open(scratch.path()).unwrap();
        let rows = all_rows(&log);
        // All of them if the damage is where nobody reads: in the first four bytes.
        prop_assert_eq!((rows.len(), log.unreadable().len()), if rows.len() == 300 { (300, 0) } else { (150, 1) });
        prop_assert!(rows == content::rows()[300 - rows.len()..]);
    }
}
