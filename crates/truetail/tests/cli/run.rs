//! The command that a new user types first.

use crate::program::{Scratch, brief, files};

#[test]
fn a_first_run_leaves_a_page_and_a_whole_recording() {
    let scratch = Scratch::new("first-run");
    let ended = scratch.truetail(&brief(&[])).judged();

    assert!(ended.first_line().starts_with("open loop: poisson, "), "{}", ended.stdout);
    assert!(ended.first_line().contains("ycsb on SQLite"), "{}", ended.stdout);
    let verdict = ended.stdout.find("\nverdict ").expect("a verdict");
    let numbers = ended.stdout.find("\noffered ").expect("numbers");
    assert!(verdict < numbers, "{}", ended.stdout);
    assert!(ended.stderr.contains("loaded ycsb (scale 1): 1000 rows"), "{}", ended.stderr);

    // What a commit costs depends on these more than on anything else.
    assert!(ended.stdout.contains("journal_mode=WAL, synchronous=NORMAL, "), "{}", ended.stdout);
    let (_, facts) = ended.stdout.split_once("\nhow the numbers were made\n").expect("the facts");
    for label in
        ["target ", "workload ", "mix ", "load ", "host ", "clock ", "granted ", "recorder ", "noise "]
    {
        assert!(facts.lines().any(|l| l.starts_with(label)), "no {label}: {facts}");
    }

    let parent = scratch.path("recordings");
    let inner: Vec<_> = std::fs::read_dir(&parent).expect("recordings/").collect();
    assert_eq!(inner.len(), 1, "one recording");
    let directory = inner.into_iter().next().expect("one").expect("an entry").path();
    let name = directory.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(name.ends_with("-ycsb-sqlite"), "{name}");
    for file in ["run.toml", "events.parquet", "summary.json", "report.html", "data.sqlite"] {
        assert!(directory.join(file).is_file(), "no {file}");
    }
    for part in ["samples", "noise"] {
        let parts = files(&directory.join(part));
        assert!(
            !parts.is_empty() && parts.iter().all(|p| p.extension().is_some_and(|e| e == "parquet")),
            "{parts:?}"
        );
    }
    assert!(directory.join("figures").is_dir());
    assert!(!directory.join("data.sqlite-wal").exists(), "the database was not closed");
    assert!(ended.stdout.contains(&format!("report: recordings/{name}/report.html")), "{}", ended.stdout);
}

#[test]
fn an_invalid_verdict_ends_with_3() {
    let scratch = Scratch::new("invalid");
    // All of the requests are in the warm-up: nothing was measured.
    let ended =
        scratch.truetail(&["run", "null:", "-d", "1s", "--warmup", "1s", "--requests", "5", "-o", "r"]);
    assert!(ended.stdout.contains("\nverdict invalid"), "{}", ended.stdout);
    assert!(ended.stdout.contains("no request was measured"), "{}", ended.stdout);
    ended.with_code(3);
    // The recording says the same when it is shown again.
    let again = scratch.truetail(&["report", "r"]).with_code(3);
    assert!(again.stdout.contains("\nverdict invalid"), "{}", again.stdout);
}

#[test]
fn the_data_set_of_a_file_is_loaded_once() {
    let scratch = Scratch::new("loaded-once");
    let first = scratch.truetail(&brief(&["sqlite:data.db", "-o", "a"])).judged();
    assert!(first.stderr.contains("loaded ycsb"), "{}", first.stderr);
    let second = scratch.truetail(&brief(&["sqlite:data.db", "-o", "b"])).judged();
    assert!(!second.stderr.contains("loaded ycsb"), "{}", second.stderr);
}
