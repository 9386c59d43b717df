//! Rules on what the documents must say.

use crate::tree::{self, File};
use crate::{caught, none};

/// Third-party names of the workspace's dependency table.
fn foreign(manifest: &str) -> Vec<&str> {
    let Some((_, rest)) = manifest.split_once("[workspace.dependencies]") else { return Vec::new() };
    let table = rest.split("\n[").next().unwrap_or(rest);
    let entries = table.lines().filter_map(|line| line.split_once(" = "));
    entries.filter(|(_, value)| !value.contains("path = ")).map(|(name, _)| name.trim()).collect()
}

/// Dependencies without a line of reason, and reasons for what is not there.
fn unexplained(manifest: &str, document: &str) -> Vec<String> {
    let foreign = foreign(manifest);
    let rows: Vec<(&str, &str)> = document
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|rest| rest.split_once("` |"))
        .collect();
    let explained =
        |name: &str| rows.iter().any(|(row, why)| *row == name && why.split_whitespace().count() > 4);
    let missing = foreign.iter().filter(|name| !explained(name));
    let stale = rows.iter().filter(|(row, _)| !foreign.contains(row));
    missing
        .map(|name| format!("docs/dependencies.md: no line says why there is `{name}`"))
        .chain(stale.map(|(row, _)| format!("docs/dependencies.md: `{row}` is not a dependency")))
        .collect()
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = tree::read("Cargo.toml");
    assert!(foreign(&manifest).contains(&"libc"));
    none(unexplained(&manifest, &tree::read("docs/dependencies.md")));
    let made = "[workspace.dependencies]\nunits = { path = \"crates/units\" }\nserde = \"1\"\n\n[profile.dev]\nx = 1\n";
    caught(&unexplained(made, ""), "no line says why there is `serde`");
    caught(&unexplained(made, "| `serde` | |"), "no line says why there is `serde`");
    let both = "| `serde` | wire structs are read and written |\n| `rand` | gone since long ago now |";
    assert_eq!(unexplained(made, both), ["docs/dependencies.md: `rand` is not a dependency"]);
}

const PACKAGES: usize = 250;

fn crowded(lock: &str) -> Vec<String> {
    let count = lock.lines().filter(|line| *line == "[[package]]").count();
    let words =
        format!("Cargo.lock: {count} packages; at most {PACKAGES}: each one is code that we answer for");
    if count > PACKAGES { vec![words] } else { Vec::new() }
}

#[test]
fn dependencies_stay_few() {
    none(crowded(&tree::read("Cargo.lock")));
    caught(&crowded(&"[[package]]\n".repeat(PACKAGES + 1)), "251 packages");
}

/// A changelog has a place for what comes next, and the place is not empty.
fn unreleased(changelog: &str) -> Vec<String> {
    let section = changelog.split("\n## ").find(|part| part.to_lowercase().starts_with("unreleased"));
    match section {
        Some(text) if text.lines().skip(1).any(|line| !line.trim().is_empty()) => Vec::new(),
        Some(_) => vec!["CHANGELOG.md: the section Unreleased says nothing".to_owned()],
        None => vec!["CHANGELOG.md: there is no section `## Unreleased`".to_owned()],
    }
}

#[test]
fn the_changelog_says_what_comes() {
    none(unreleased(&tree::read("CHANGELOG.md")));
    caught(&unreleased("# Changes\n\n## 1.0\n- all\n"), "no section");
    caught(&unreleased("# Changes\n\n## Unreleased\n\n## 1.0\n- all\n"), "says nothing");
}

/// Links of a Markdown file to files that are not there.
fn dead_links(file: &File, exists: impl Fn(&str) -> bool) -> Vec<String> {
    if !file.path.ends_with(".md") {
        return Vec::new();
    }
    let directory = file.path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let targets = file.text.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
    let local = targets.filter(|target| !target.is_empty() && !target.contains(':'));
    local
        .filter(|target| !exists(&join(directory, target)))
        .map(|target| format!("{}: links to `{target}`, which is not there", file.path))
        .collect()
}

/// A path from the root, without `.` and `..`.
fn join(directory: &str, target: &str) -> String {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[test]
fn links_between_documents_lead_somewhere() {
    let root = tree::root();
    let exists = |path: &str| root.join(path).exists();
    none(tree::others().iter().flat_map(|file| dead_links(file, exists)).collect());
    let made = File::made("docs/a.md", "see [b](b.md#part), [c](../c.md), [web](https://example.org/)");
    assert!(dead_links(&made, |path| ["docs/b.md", "c.md"].contains(&path)).is_empty());
    caught(&dead_links(&made, |path| path == "c.md"), "docs/a.md: links to `b.md`");
}

/// README's two commands; the second is what continuous integration runs.
const COMMANDS: [&str; 2] = ["cargo run --release -- run", "cargo xtask ci"];

fn commands(readme: &str, ci: &str) -> Vec<String> {
    let missing = COMMANDS.iter().filter(|command| !readme.lines().any(|line| line.trim() == **command));
    let mut complaints: Vec<String> =
        missing.map(|command| format!("README.md: no line of its own for `{command}`")).collect();
    if !ci.contains(&format!("exec {}", COMMANDS[1])) {
        complaints.push(format!(".ci/run: does not run `{}`", COMMANDS[1]));
    }
    complaints
}

#[test]
fn readme_and_ci_name_the_same_command() {
    none(commands(&tree::read("README.md"), &tree::read(".ci/run")));
    caught(&commands("cargo xtask ci", "exec cargo xtask ci"), "no line of its own for `cargo run");
    caught(&commands("cargo run --release -- run\ncargo xtask ci", "make"), ".ci/run");
}
