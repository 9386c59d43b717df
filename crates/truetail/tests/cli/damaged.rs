//! Recordings that were cut short or damaged are still shown, and say so.

use crate::program::{Scratch, files};
use std::fs;
use std::path::PathBuf;

fn recorded(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.truetail(&["run", "null:", "-d", "2s", "--warmup", "0s", "-o", "a"]).judged();
    scratch
}

#[test]
fn without_an_end_it_was_cut_short() {
    let scratch = recorded("no-end");
    let path = scratch.path("a/run.toml");
    let text = fs::read_to_string(&path).expect("run.toml");
    let end = text.find("\n[end]").expect("an end");
    // As it was before its end was written: that, too, was a whole file.
    let last = text.trim_end().lines().next_back().expect("a last line");
    let begun = text[..end].replace("complete = true", "complete = false");
    fs::write(&path, format!("{begun}\n{last}\n")).expect("written");
    let ended = scratch.truetail(&["report", "a"]).judged();
    assert!(ended.stdout.contains("cut short"), "{}", ended.stdout);
    assert_eq!(scratch.rows("a").len() as u64, scratch.recording("a").rows());
}

/// A run that was killed leaves the parts of its seconds; one that ended makes one of them.
fn killed(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let run = ["run", "null:", "-d", "300s", "--warmup", "0s", "--report-interval", "500ms", "-o", "a"];
    let mut running = scratch.start(&run);
    while files_of_samples(&scratch).len() < 3 {
        running.wait_for_views(1);
    }
    running.signal(libc::SIGKILL);
    running.wait();
    scratch
}

fn files_of_samples(scratch: &Scratch) -> Vec<PathBuf> {
    let directory = scratch.path("a/samples");
    let mut parts = if directory.exists() { files(&directory) } else { Vec::new() };
    parts.retain(|p| p.extension().is_some_and(|e| e == "parquet"));
    parts.sort();
    parts
}

#[test]
fn a_truncated_part_costs_its_own_samples_only() {
    let scratch = killed("truncated");
    let whole = scratch.rows("a").len();
    let part = files_of_samples(&scratch).remove(0);
    let bytes = fs::read(&part).expect("a part");
    fs::write(&part, &bytes[..bytes.len() / 2]).expect("written");
    let ended = scratch.truetail(&["report", "a"]).judged();
    let name = part.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(ended.stdout.contains(&name), "the page does not name the part {name}: {}", ended.stdout);
    let left = scratch.rows("a").len();
    assert!(left > 0 && left < whole, "{left} of {whole}");
}

#[test]
fn a_lost_part_is_missed() {
    let scratch = recorded("lost");
    fs::remove_file(&files_of_samples(&scratch)[0]).expect("removed");
    let ended = scratch.truetail(&["report", "a"]).judged();
    assert!(ended.stdout.contains("missing"), "{}", ended.stdout);
}

/// Still TOML, and whatever would follow is missing.
fn cut_before<'text>(text: &'text str, line: &str) -> &'text str {
    let end = text.find(&format!("\n{line}")).unwrap_or_else(|| panic!("no line {line}: {text}"));
    &text[..=end]
}

#[test]
fn nonsense_in_run_toml_is_one_line() {
    let scratch = recorded("nonsense");
    let path = scratch.path("a/run.toml");
    let text = fs::read_to_string(&path).expect("run.toml");
    for damaged in [
        "",
        "\u{0}\u{1}",
        "format = \"x\"",
        &text[..text.len() / 3],
        cut_before(&text, "[host]"),
        cut_before(&text, "[end]"),
        cut_before(&text, "# end of"),
        &text.replace("format = 1", "format = 99"),
    ] {
        fs::write(&path, damaged).expect("written");
        scratch.truetail(&["report", "a"]).refused(&["run.toml"]);
        scratch.truetail(&["export", "a"]).refused(&["run.toml"]);
    }
    fs::write(&path, [0xff, 0xfe, 0x00]).expect("written");
    scratch.truetail(&["report", "a"]).refused(&["run.toml", "damaged"]);
}

/// Its checksums match, and the library that decodes it panics.
#[test]
fn a_part_that_can_not_be_decoded_is_named_and_nothing_else_is_said() {
    let scratch = Scratch::new("undecodable");
    let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/undecodable");
    let part = "samples/part-0000-000000.parquet";
    fs::create_dir_all(scratch.path("a/samples")).expect("a directory");
    for file in ["run.toml", part] {
        fs::copy(kept.join(file), scratch.path("a").join(file)).expect("a copy");
    }
    let ended = scratch.truetail(&["report", "a"]).judged();
    // Wherever its lines break.
    let page = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("can't be decoded") && page.contains(part), "{}", ended.stdout);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}
