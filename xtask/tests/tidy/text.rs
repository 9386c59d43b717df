//! Rules on the text of files.

use crate::tree::{self, File};
use crate::{caught, none};

/// Where a rule found something it forbids.
fn at(file: &File, line: usize, what: &str) -> String {
    format!("{}:{line}: {what}", file.path)
}

/// The lines of `code` that hold one of `needles`, as complaints.
fn needles(file: &File, code: &[(usize, &str)], needles: &[&str], why: &str) -> Vec<String> {
    code.iter()
        .flat_map(|(number, line)| {
            let found = needles.iter().filter(|needle| line.contains(**needle));
            found.map(|needle| at(file, *number, &format!("`{needle}`: {why}")))
        })
        .collect()
}

/// Words that say "not finished". Spelt in two halves, so that a search for them does not end here.
const LEFTOVERS: [&str; 4] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
const UNFINISHED: [&str; 3] =
    [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("#[ig", "nore")];

fn leftovers(file: &File) -> Vec<String> {
    let lines: Vec<(usize, &str)> = file.text.lines().enumerate().map(|(i, line)| (i + 1, line)).collect();
    let mut complaints = needles(file, &lines, &UNFINISHED, "finish it, or leave it out");
    for (number, line) in lines {
        let words = line.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| LEFTOVERS.contains(word)) {
            complaints.push(at(file, number, &format!("`{word}`: finish it, or open an issue")));
        }
    }
    complaints
}

#[test]
fn nothing_is_left_unfinished() {
    none(tree::others().iter().flat_map(leftovers).collect());
    for word in LEFTOVERS {
        caught(
            &leftovers(&File::made("a.md", &format!("first\n{word}: later"))),
            &format!("a.md:2: `{word}`"),
        );
    }
    for call in UNFINISHED {
        caught(&leftovers(&File::made("a.rs", &format!("    {call})"))), "a.rs:1");
    }
    // The pattern of a temporary name is no leftover, however it looks.
    let pattern = format!("tmp-{}", "X".repeat(6));
    assert_eq!(leftovers(&File::made("a.rs", &pattern)), Vec::<String>::new());
}

/// Where homes are. In two halves, here and in the canary, so that a search for such paths does not end here.
const ROOTS_HOME: &str = concat!("/ro", "ot/");
const HOMES: &str = concat!("/ho", "me/");

/// Paths that exist on one machine only: a user's home, and where this checkout happens to lie.
fn machine_paths(file: &File, here: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let mut places = vec![ROOTS_HOME.to_owned()];
        // A short one, such as `/tmp`, is everybody's.
        if here.len() > 4 {
            places.push(format!("{here}/"));
        }
        if let Some((_, rest)) = line.split_once(HOMES) {
            let user: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // A user's home as a value (a line of passwd) is a fact; something below it is a place.
            if rest[user.len()..].starts_with('/') {
                places.push(format!("{HOMES}{user}/"));
            }
        }
        let found = places.iter().filter(|place| begins_a_path(line, place));
        complaints.extend(found.map(|p| at(file, index + 1, &format!("`{p}` is a path of one machine"))));
    }
    complaints
}

/// Whether `place` stands in the line as the beginning of a path, not inside of one (`crates/docs/src`).
fn begins_a_path(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-/}*".contains(c))
    })
}

/// The directory that this checkout lies in.
fn here() -> String {
    tree::root().parent().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default()
}

#[test]
fn no_path_of_one_machine_is_committed() {
    none(tree::others().iter().flat_map(|file| machine_paths(file, &here())).collect());
    // Spelt anew, and not made of the constants: these must not be wrong together.
    let here = concat!("/sr", "v/checkouts");
    let planted = [
        (concat!("cd /ho", "me/ann/src"), concat!("`/ho", "me/ann/`")),
        (concat!("see /sr", "v/checkouts/x"), concat!("`/sr", "v/checkouts/`")),
        (concat!("/ro", "ot/.cargo"), concat!("`/ro", "ot/`")),
        (concat!("at=\"/sr", "v/checkouts/y\""), concat!("`/sr", "v/checkouts/`")),
    ];
    for (line, place) in planted {
        caught(&machine_paths(&File::made("a.md", line), here), &format!("a.md:1: {place}"));
    }
    for line in [concat!("ann:x:1:1:A:/ho", "me/ann:/bin/sh"), "crates/docs/src", "../docs/a.md"] {
        assert!(machine_paths(&File::made("a.rs", line), "/docs").is_empty(), "{line}");
    }
}

const LINES: usize = 700;

/// Files that may be longer, with the reason.
const LONG: [(&str, &str); 2] =
    [("Cargo.lock", "written by cargo"), ("docs/json.md", "a reference: a section for each document")];

fn length(file: &File) -> Vec<String> {
    let lines = file.text.lines().count();
    if lines <= LINES || LONG.iter().any(|(path, _)| *path == file.path) {
        return Vec::new();
    }
    vec![format!("{}: {lines} lines; at most {LINES}: split it by what its parts do", file.path)]
}

#[test]
fn no_file_is_long() {
    let files = tree::all();
    none(files.iter().flat_map(length).collect());
    for (path, _) in LONG {
        assert!(files.iter().any(|f| f.path == path), "{path} is excepted and does not exist");
    }
    caught(&length(&File::made("a.rs", &"x\n".repeat(LINES + 1))), "701 lines");
    assert!(length(&File::made("a.rs", &"x\n".repeat(LINES))).is_empty());
}

const NAMELESS: [&str; 8] = ["util", "utils", "common", "helper", "helpers", "misc", "shared", "stuff"];

fn names(file: &File) -> Vec<String> {
    if !file.is_rust() {
        return Vec::new();
    }
    let parts = file.path.trim_end_matches(".rs").split('/');
    let from_path = parts.filter(|part| NAMELESS.contains(part)).map(|part| (0, part));
    let code = file.code(false);
    let inline = code.iter().filter_map(|(number, line)| {
        let rest = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        let name = rest.strip_prefix("mod ")?.trim_end_matches([' ', '{', ';']);
        NAMELESS.contains(&name).then_some((*number, name))
    });
    let all = from_path.chain(inline);
    all.map(|(line, name)| {
        at(file, line, &format!("`{name}` says nothing: name the module for what it does"))
    })
    .collect()
}

#[test]
fn modules_are_named_for_what_they_do() {
    none(tree::others().iter().flat_map(names).collect());
    caught(&names(&File::made("crates/x/src/util.rs", "")), "`util`");
    caught(&names(&File::made("crates/x/tests/common/mod.rs", "")), "`common`");
    caught(&names(&File::made("crates/x/src/lib.rs", "\npub(crate) mod helpers;")), "lib.rs:2: `helpers`");
}

const TIME: [&str; 7] = [
    "Instant::now",
    "SystemTime::now",
    "clock_gettime",
    "gettimeofday",
    "rdtsc",
    "clock_nanosleep",
    "thread::sleep",
];

fn time(file: &File) -> Vec<String> {
    if !file.is_rust() || file.of_crate() == Some("clock") {
        return Vec::new();
    }
    needles(file, &file.code(false), &TIME, "only `clock` reads time and waits")
}

#[test]
fn only_clock_reads_time() {
    none(tree::others().iter().flat_map(time).collect());
    for needle in TIME {
        let text = format!("fn f() {{\n    {needle}();\n}}\n");
        caught(&time(&File::made("crates/load/tests/live.rs", &text)), "live.rs:2");
        assert!(time(&File::made("crates/clock/src/live.rs", &text)).is_empty());
    }
}

/// Tools for people: the command line, the chores, and what tests start.
const SPEAKERS: [&str; 3] = ["truetail", "xtask", "testkit"];
const PRINTING: [&str; 4] = ["print!(", "println!(", "stdout()", "stderr()"];

fn printing(file: &File) -> Vec<String> {
    let speaks = file.of_crate().is_some_and(|name| SPEAKERS.contains(&name));
    if !file.is_rust() || speaks || file.is_beside() {
        return Vec::new();
    }
    needles(file, &file.code(true), &PRINTING, "only `truetail` prints; return what there is to say")
}

#[test]
fn only_truetail_prints() {
    none(tree::others().iter().flat_map(printing).collect());
    for call in ["print!(\"\")", "eprintln!(\"\")", "std::io::stderr().write_all(b)"] {
        caught(&printing(&File::made("crates/load/src/a.rs", call)), "a.rs:1");
        assert!(printing(&File::made("crates/truetail/src/a.rs", call)).is_empty());
        let tests = format!("#[cfg(test)]\nmod tests {{\n{call}\n}}");
        assert!(printing(&File::made("crates/load/src/a.rs", &tests)).is_empty());
    }
}

const IMPURE: [&str; 8] =
    ["std::fs", "std::net", "std::thread", "std::time", "std::process", "std::io", "std::env", "clock::"];

fn purity(file: &File) -> Vec<String> {
    if !file.is_rust() || file.of_crate() != Some("stats") || file.is_beside() {
        return Vec::new();
    }
    needles(file, &file.code(true), &IMPURE, "`stats` is pure: no I/O, no clock, no thread")
}

#[test]
fn stats_is_pure() {
    none(tree::others().iter().flat_map(purity).collect());
    for needle in IMPURE {
        caught(&purity(&File::made("crates/stats/src/a.rs", &format!("use {needle};"))), "a.rs:1");
    }
    assert!(purity(&File::made("crates/load/src/a.rs", "use std::fs;")).is_empty());
}
