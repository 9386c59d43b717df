//! Recordings of every format that there ever was stay readable.

#[path = "golden/content.rs"]
mod content;
mod fixture;

use fixture::{Scratch, all_samples};
use record::{EndOfRun, Recording, RecordingWriter};
use std::path::Path;
use units::{Instant, Outcome};

#[test]
fn format_1_stays_readable() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1");
    let recording = Recording::open(path).unwrap();
    assert_eq!(recording.header(), &content::header());
    assert_eq!(recording.run_id(), "d69e3bea74e44451");
    assert_eq!(all_samples(&recording), content::samples());
    assert_eq!(recording.events().unwrap(), content::events());
    assert_eq!(recording.noise_sources(), content::noise_sources());
    assert_eq!(recording.noise().unwrap(), content::noise());
    assert_eq!(recording.anchors().unwrap(), [], "there were none yet");
    assert_eq!(recording.verdict().map(|verdict| verdict.state.as_str()), Some("suspect"));
    assert_eq!(recording.summary_json().unwrap().as_deref(), Some(content::SUMMARY));
    assert_eq!(recording.unreadable(), []);
    let end = recording.end().unwrap();
    let count = |outcome| content::samples().iter().filter(|sample| sample.outcome == outcome).count() as u64;
    let expected = EndOfRun {
        at: content::samples().iter().map(|sample| sample.completed).max().unwrap_or(Instant::NONE),
        samples: 300,
        outcomes: Outcome::ALL.iter().map(|&o| (o, count(o))).filter(|&(_, n)| n > 0).collect(),
        ..content::end()
    };
    assert_eq!(end, &expected);
}

/// Simulations and imports are reproducible to the last byte, so that recordings of them can be compared.
#[test]
fn the_same_content_gives_the_same_bytes() {
    let bytes = || {
        let scratch = Scratch::new("same");
        let mut writer = RecordingWriter::create(scratch.path(), &content::header()).unwrap();
        writer.write_samples(&content::samples()).unwrap();
        writer.finish(content::end()).unwrap();
        let read = |name: &str| std::fs::read(scratch.path().join(name)).unwrap();
        (read("run.toml"), read("samples/part-0002-000000.parquet"))
    };
    assert!(bytes() == bytes());
}
