//! Two recordings, or two commands in turn.

use crate::program::{Scratch, files};

/// An in-process target and a database with the same load: the second is slower beyond doubt.
fn two(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let load = ["-w", "ycsb-c", "-r", "1000/s", "-d", "2s", "--warmup", "500ms"];
    scratch.truetail(&[&["run", "null:", "-o", "fast"], &load[..]].concat()).judged();
    scratch.truetail(&[&["run", "sqlite:data.db", "-o", "slow"], &load[..]].concat()).judged();
    scratch
}

#[test]
fn a_recording_does_not_differ_from_itself() {
    let scratch = two("itself");
    let ended = scratch.truetail(&["compare", "slow", "slow", "--force"]).well();
    assert!(ended.stdout.contains("no difference shown"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("slower") && !ended.stdout.contains("faster"), "{}", ended.stdout);
    // Nothing is beyond doubt, so no limit is broken.
    scratch.truetail(&["compare", "slow", "slow", "--force", "--fail-if", "p50 > +1%"]).well();
    // One run's maximum has no interval: a limit on it can't be decided, and that is not "held".
    let undecided = ["compare", "slow", "slow", "--force", "--fail-if", "max > +5%"];
    let ended = scratch.truetail(&undecided).with_code(2);
    assert!(ended.stderr.contains("'max > +5%' can't be decided") && ended.stderr.contains("--repeat"));
    let ended = scratch.truetail(&["compare", "slow", "slow", "--force", "--equivalent-within", "5%"]).well();
    assert!(ended.stdout.contains("equivalent"), "{}", ended.stdout);
}

#[test]
fn a_planted_difference_is_found_in_both_directions() {
    let scratch = two("planted");
    let ended = scratch.truetail(&["compare", "fast", "slow", "--force"]).well();
    let p50 = |page: &str| page.lines().find(|l| l.trim_start().starts_with("p50")).expect("p50").to_owned();
    assert!(p50(&ended.stdout).contains("slower"), "{}", ended.stdout);
    let ended = scratch.truetail(&["compare", "slow", "fast", "--force"]).well();
    assert!(p50(&ended.stdout).contains("faster"), "{}", ended.stdout);

    let limit = ["compare", "fast", "slow", "--force", "--fail-if", "p50 > +5%"];
    let broken = scratch.truetail(&limit).with_code(1);
    assert!(broken.stdout.contains("limit broken: p50 > +5%"), "{}", broken.stdout);
    let json = scratch.truetail(&[&limit[..], &["--json"]].concat()).with_code(1).json();
    assert_eq!(json["limits_broken"][0], "p50 > +5%");
    scratch.truetail(&["compare", "slow", "fast", "--force", "--fail-if", "p50 > +5%"]).well();
}

#[test]
fn commands_are_run_in_turn_in_fresh_processes() {
    let scratch = Scratch::new("in-turn");
    let flags = "null: -d 300ms --warmup 0s --seed 3";
    let compare = ["compare", "--run", flags, "--vs", flags, "--repeat", "2", "--force", "-o", "both"];
    let ended = scratch.truetail(&compare).well();
    let rounds: Vec<&str> = ended.stderr.lines().filter(|l| l.starts_with("round ")).collect();
    assert_eq!(
        rounds,
        ["round 1 of 2: base", "round 1 of 2: new", "round 2 of 2: new", "round 2 of 2: base"],
        "which goes first alternates"
    );
    let runs = files(&scratch.path("both")).into_iter().filter(|p| p.ends_with("run.toml")).count();
    assert_eq!(runs, 4);
    // The directories of repeats can be compared again.
    scratch.truetail(&["compare", "both/base", "both/new", "--force"]).well();

    let failing = ["compare", "--run", "null: --rate 0", "--vs", flags, "-o", "none"];
    let ended = scratch.truetail(&failing).with_code(2);
    assert!(ended.stderr.contains("--rate") && ended.stderr.contains("exit code 2"), "{ended:?}");
}
