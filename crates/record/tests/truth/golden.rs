//! Truth logs of every format that there ever was stay readable.

use crate::fixture::Scratch;
use crate::{all_rows, content};
use record::{TruthEnd, TruthLog, TruthWriter};
use std::path::Path;

#[test]
fn format_1_stays_readable() {
    let log = TruthLog::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/truth-v1")).unwrap();
    assert_eq!(log.header(), &content::header());
    assert_eq!(all_rows(&log), content::rows());
    assert_eq!((log.events().unwrap(), log.anchors().unwrap()), (content::events(), content::anchors()));
    assert_eq!(log.unreadable(), []);
    let end = log.end().unwrap();
    assert_eq!((end.rows, end.unanswered, &end.facts), (300, 1, &content::facts()));
}

/// A simulated store's log is reproducible to the last byte.
#[test]
fn the_same_content_gives_the_same_bytes() {
    let bytes = || {
        let scratch = Scratch::new("truth-same");
        let mut writer = TruthWriter::create(scratch.path(), &content::header()).unwrap();
        writer.write_rows(&content::rows()).unwrap();
        writer.finish(TruthEnd::new(content::facts())).unwrap();
        let read = |name: &str| std::fs::read(scratch.path().join(name)).unwrap();
        (read("truth.toml"), read("truth/part-0000-000000.parquet"))
    };
    assert!(bytes() == bytes());
}
