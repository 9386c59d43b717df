//! `rust-version` is stated once, holds for every crate, and for all that is built with them.

use crate::{caught, licences, none, tree};

/// `1.90`, `1.90.1` as numbers that compare.
fn parsed(version: &str) -> Vec<u32> {
    let mut numbers: Vec<u32> = version.split('.').map(|part| part.parse().unwrap_or(u32::MAX)).collect();
    numbers.resize(3, 0);
    numbers
}

/// The workspace's own.
fn stated(manifest: &str) -> Option<&str> {
    let (_, section) = manifest.split_once("[workspace.package]")?;
    section.lines().find_map(|line| line.strip_prefix("rust-version = \""))?.strip_suffix('"')
}

/// Packages that need a later Rust than `oldest`. Each `"rust_version":` of cargo's metadata belongs to the `"id":`
/// before it.
fn newer(metadata: &str, oldest: &str) -> Vec<String> {
    let marks = metadata.match_indices("\"rust_version\":\"");
    let found = marks.filter_map(|(at, mark)| {
        let needs = metadata[at + mark.len()..].split('"').next()?;
        let id = metadata[..at].rsplit("\"id\":\"").next()?.split('"').next()?;
        let late = parsed(needs) > parsed(oldest);
        late.then(|| format!("{id}: needs Rust {needs}, and `rust-version` promises {oldest}"))
    });
    found.collect()
}

/// Manifests of ours that do not take the workspace's.
fn silent(manifests: &[(String, String)]) -> Vec<String> {
    let wrong = manifests.iter().filter(|(_, text)| !text.contains("\nrust-version.workspace = true\n"));
    wrong.map(|(path, _)| format!("{path}: lacks `rust-version.workspace = true`")).collect()
}

#[test]
fn the_oldest_rust_is_enough_for_everything_built() {
    let manifest = tree::read("Cargo.toml");
    let oldest = stated(&manifest).expect("Cargo.toml states `rust-version` for the workspace");
    let metadata = licences::metadata();
    assert!(metadata.matches("\"rust_version\":\"").count() > 50, "cargo tells of versions");
    none(newer(&metadata, oldest));
    let manifests = tree::all().into_iter().filter(|file| file.path.ends_with("/Cargo.toml"));
    none(silent(&manifests.map(|file| (file.path, file.text)).collect::<Vec<_>>()));
}

#[test]
fn canary_a_dependency_that_needs_a_later_rust_is_seen() {
    let metadata = r#"{"packages":[{"id":"reg#a@1","rust_version":"1.90.1"},{"id":"reg#b@1","rust_version":"1.9"},
        {"id":"reg#c@1","rust_version":null},{"id":"reg#d@1","rust_version":"2"}]}"#;
    let complaints = newer(metadata, "1.90");
    caught(&complaints, "reg#a@1: needs Rust 1.90.1");
    caught(&complaints, "reg#d@1: needs Rust 2");
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    let manifests = [("x/Cargo.toml".to_owned(), "[package]\nname = \"x\"\n".to_owned())];
    caught(&silent(&manifests), "x/Cargo.toml: lacks");
    assert_eq!(stated("[workspace.package]\nrust-version = \"1.90\"\n"), Some("1.90"));
}
