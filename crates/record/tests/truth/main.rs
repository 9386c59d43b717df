//! The truth log: written and read, damaged, fuzzed, and by a recorder's thread.

#[path = "../golden/truth_content.rs"]
mod content;
mod damage;
#[path = "../fixture/mod.rs"]
mod fixture;
mod fuzz;
mod golden;
mod recorder;
#[allow(dead_code, reason = "the fuzz test of recordings uses more of it")]
#[path = "../resealed/mod.rs"]
mod resealed;

use fixture::Scratch;
use record::{TruthEnd, TruthLog, TruthRow, TruthWriter};
use testkit::memory::MeasuringAlloc;

#[global_allocator]
static ALLOC: MeasuringAlloc = MeasuringAlloc;

fn all_rows(log: &TruthLog) -> Vec<TruthRow> {
    let mut rows = Vec::new();
    log.scan(|batch| rows.extend_from_slice(batch));
    rows
}

/// A log in parts of `part` rows each that is not finished.
fn in_parts(scratch: &Scratch, part: usize) -> TruthWriter {
    let mut writer = TruthWriter::create(scratch.path(), &content::header()).unwrap();
    content::events().into_iter().for_each(|event| writer.event(event));
    content::anchors().into_iter().for_each(|anchor| writer.anchor(anchor));
    for rows in content::rows().chunks(part) {
        writer.write_rows(rows).unwrap();
        writer.close_part().unwrap();
    }
    writer
}

#[test]
fn what_is_written_is_read_whether_finished_or_killed() {
    for finished in [false, true] {
        let scratch = Scratch::new("truth");
        let writer = in_parts(&scratch, 70);
        let end = match finished {
            true => Some(writer.finish(TruthEnd::new(content::facts())).unwrap()),
            false => {
                // As a kill leaves it.
                std::mem::forget(writer);
                None
            }
        };
        let log = TruthLog::open(scratch.path()).unwrap();
        assert_eq!(log.header(), &content::header());
        assert_eq!((all_rows(&log), log.rows()), (content::rows(), 300));
        assert_eq!((log.events().unwrap(), log.anchors().unwrap()), (content::events(), content::anchors()));
        assert_eq!((log.unreadable(), log.end()), (vec![], end.as_ref()));
        let parts = std::fs::read_dir(scratch.path().join("truth")).unwrap().count();
        assert_eq!(
            (parts, scratch.path().join("events.parquet").exists()),
            if finished { (1, true) } else { (5, false) }
        );
        assert_eq!(scratch.path().join("reserve.tmp").exists(), !finished);
    }
}

#[test]
fn the_end_counts_what_is_there() {
    let scratch = Scratch::new("truth-end");
    let end =
        in_parts(&scratch, 299).finish(TruthEnd { dropped: 3, ..TruthEnd::new(content::facts()) }).unwrap();
    let newest = content::rows().iter().map(|row| row.due).max().unwrap();
    assert_eq!((end.rows, end.unanswered, end.dropped, end.unwritable), (300, 1, 3, 0));
    assert!(end.at > newest && end.at.0 < newest.0 + 2_000, "{end:?}");
    assert_eq!((end.trouble, end.facts), (None, content::facts()));
}

#[test]
fn an_empty_log_is_one() {
    let scratch = Scratch::new("truth-empty");
    let writer = TruthWriter::create(scratch.path(), &content::header()).unwrap();
    let end = writer.finish(TruthEnd::new(Vec::new())).unwrap();
    let log = TruthLog::open(scratch.path()).unwrap();
    assert_eq!((log.end(), all_rows(&log), log.unreadable()), (Some(&end), vec![], vec![]));
    assert_eq!((log.events().unwrap(), log.anchors().unwrap()), (vec![], vec![]));
}

#[test]
fn lateness_is_the_stores_own() {
    let row = TruthRow { due: units::Instant(1_000), written: units::Instant(1_700), ..TruthRow::EMPTY };
    assert_eq!(row.lateness(), Some(units::Nanos(700)));
    assert_eq!(TruthRow { written: units::Instant(900), ..row }.lateness(), Some(units::Nanos(0)));
    assert_eq!(TruthRow { written: units::Instant::NONE, ..row }.lateness(), None);
    let mut header =
        record::TruthHeader { rules: vec!["queued".into(), "hiccup".into()], ..content::header() };
    assert_eq!(header.client_rule(), 0);
    header.rules.push(record::CLIENT_RULE.into());
    assert_eq!(header.client_rule(), 0b100);
    let own = |rules| TruthRow { rules, ..row }.own_lateness(header.client_rule());
    assert_eq!((own(0b011), own(0b100), own(0b111)), (Some(units::Nanos(700)), None, None));
    assert_eq!(TruthRow { rules: 0b100, ..row }.own_lateness(0), Some(units::Nanos(700)));
}

/// Test vectors of the hash's authors, of which each begins with an empty table's zero byte here: so they are of its own
/// steps, by hand.
#[test]
fn keys_are_hashed_as_documented() {
    let fnv = |bytes: &[u8]| {
        bytes.iter().fold(0xCBF2_9CE4_8422_2325_u128, |hash, byte| {
            (hash ^ u128::from(*byte)) * 0x100_0000_01B3 % (1 << 64)
        })
    };
    assert_eq!(fnv(b"foobar"), 0x8594_4171_F739_67E8, "a published vector of FNV-1a");
    assert_eq!(u128::from(record::key_hash(b"foo", b"bar")), fnv(b"foo\0bar"));
    assert_ne!(record::key_hash(b"a", b"b"), record::key_hash(b"", b"ab"));
}
