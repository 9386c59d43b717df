//! The reader against files that nobody would write: behind matching checksums, so that damage reaches what decodes.

use crate::fixture::Scratch;
use crate::in_parts;
use crate::resealed::Sealed;
use parquet::basic::Encoding;
use record::TruthLog;
use std::fs;
use std::path::Path;
use std::sync::Once;
use testkit::fuzz::Fuzz;
use testkit::memory::measured;

/// What reading a few kilobytes may ask for at once, whatever they say of themselves.
const ALLOCATION_MAX: usize = 256 << 20;

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

fn read_everything(path: &Path) -> Vec<(String, String)> {
    let log = TruthLog::open(path).unwrap();
    log.scan(|rows| assert!(!rows.is_empty()));
    log.events().unwrap();
    log.anchors().unwrap();
    log.unreadable()
}

fn fuzz(name: &'static str, table: &'static str, inputs: u64) {
    quiet_guard();
    let scratch = Scratch::new(name);
    std::mem::forget(in_parts(&scratch, 300));
    let path = scratch.path().join(table).join("part-0000-000000.parquet");
    let own = Sealed::new(fs::read(&path).unwrap());
    let kinds = [
        own.rewritten(Encoding::DELTA_BINARY_PACKED, true),
        own.rewritten(Encoding::PLAIN, false),
        own.rewritten(Encoding::BYTE_STREAM_SPLIT, false),
        own,
    ];
    let mut turn = 0;
    // An input says where to write which bytes. The words are numbers as the headers have them: large sizes, long lists.
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
        let footer = sealed.footer();
        for chunk in input.chunks(10) {
            let &[kind, high, low, ref new @ ..] = chunk else { continue };
            let place = usize::from(high) << 8 | usize::from(low);
            let at = match kind % 3 {
                0 => footer.start + place % footer.len(),
                _ => 4 + place % (footer.start - 4),
            };
            let end = footer.end.min(at + new.len().min(1 + usize::from(kind / 3 % 7)));
            damaged[at..end].copy_from_slice(&new[..end - at]);
        }
        fs::write(&path, sealed.resealed(damaged)).unwrap();
        let (unreadable, memory) = measured(|| read_everything(scratch.path()));
        assert!(memory.largest <= ALLOCATION_MAX, "{memory:?} for {} bytes", sealed.bytes.len());
        for (file, why) in &unreadable {
            assert!(file.starts_with(table) && !why.is_empty() && !why.contains('\n'), "{file}: {why}");
        }
    });
}

#[test]
fn fuzz_rows_of_truth_behind_matching_checksums() {
    fuzz("truth-rows", "truth", 1_000);
}

#[test]
fn fuzz_anchors_behind_matching_checksums() {
    fuzz("truth-anchors", "anchors", 500);
}

#[test]
fn fuzz_the_truth_file() {
    let scratch = Scratch::new("truth-file");
    drop(in_parts(&scratch, 300));
    let path = scratch.path().join("truth.toml");
    let text = fs::read(&path).unwrap();
    let words = ["format = ", "99999999999999999999", "-1", "[end]", "\"", "nan", "= [", "complete = true"];
    Fuzz::new("truth-file").from([text]).words(words).run(2_000, |input| {
        fs::write(&path, input).unwrap();
        let (opened, memory) = measured(|| TruthLog::open(scratch.path()).map(|log| log.unreadable()));
        assert!(memory.largest <= ALLOCATION_MAX, "{memory:?}");
        if let Err(error) = opened {
            let text = error.to_string();
            assert!(!text.contains('\n') && text.contains("truth.toml"), "{text}");
        }
    });
}
