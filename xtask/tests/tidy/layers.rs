//! Arrows between crates: they point down, and siblings meet only where ARCHITECTURE.md says so.

use crate::{caught, none, tree};
use std::collections::BTreeMap;

/// A crate's own dependencies, by section of its manifest.
#[derive(Default)]
struct Manifest {
    ships: Vec<String>,
    tests: Vec<String>,
}

/// What ARCHITECTURE.md says: the layer and purpose of each crate, and the edges between siblings.
#[derive(Default)]
struct Map {
    layers: BTreeMap<String, (Layer, String)>,
    siblings: Vec<(String, String)>,
}

/// `L0` to `L5`, or outside of the layers: for tests only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Layer {
    Numbered(u8),
    Tests,
}

/// Names between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn map(architecture: &str) -> Map {
    let mut map = Map::default();
    for line in architecture.lines() {
        if let Some((from, to)) = line.strip_prefix("- `").and_then(|rest| rest.split_once("` → `")) {
            let to = to.split('`').next().unwrap_or(to);
            map.siblings.push((from.to_owned(), to.to_owned()));
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", layer, names, purpose, ""] = cells[..] else { continue };
        let layer = match layer {
            "tests" => Layer::Tests,
            _ => match layer.strip_prefix('L').and_then(|n| n.parse().ok()) {
                Some(number) => Layer::Numbered(number),
                None => continue,
            },
        };
        for name in quoted(names) {
            map.layers.insert(name.to_owned(), (layer, purpose.to_owned()));
        }
    }
    map
}

fn manifest(text: &str) -> Manifest {
    let mut manifest = Manifest::default();
    let mut section = "";
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        } else if let Some((key, _)) = line.split_once('=') {
            let name = key.trim().split('.').next().unwrap_or("").trim_matches('"').to_owned();
            match section.rsplit('.').next() {
                Some("dependencies" | "build-dependencies") => manifest.ships.push(name),
                Some("dev-dependencies") => manifest.tests.push(name),
                _ => {}
            }
        }
    }
    manifest
}

/// Why this edge must not be, if so.
fn edge(map: &Map, from: &str, to: &str) -> Option<String> {
    let (Layer::Numbered(upper), Some((lower, _))) = (map.layers.get(from)?.0, map.layers.get(to)) else {
        return None;
    };
    match lower {
        Layer::Tests if from == "xtask" => None,
        Layer::Tests => Some(format!("{from} → {to}: `{to}` is for tests only")),
        Layer::Numbered(lower) if *lower < upper => None,
        Layer::Numbered(lower) if *lower > upper => Some(format!("{from} → {to}: arrows point down only")),
        Layer::Numbered(_) if map.siblings.iter().any(|(a, b)| a == from && b == to) => None,
        Layer::Numbered(_) => {
            Some(format!("{from} → {to}: siblings meet only where ARCHITECTURE.md lists the edge"))
        }
    }
}

/// Why this edge must not be even in tests, if so.
fn forbidden(from: &str, to: &str) -> Option<String> {
    let wrong = match to {
        "truetail" => true,
        "load" => from.starts_with("driver"),
        "stats" | "report" => from == "load",
        _ => false,
    };
    wrong.then(|| format!("{from} → {to}: never, not even in tests"))
}

fn arrows(map: &Map, manifests: &BTreeMap<String, Manifest>) -> Vec<String> {
    let mut complaints = Vec::new();
    for (from, manifest) in manifests {
        if !map.layers.contains_key(from) {
            complaints.push(format!("{from}: ARCHITECTURE.md has no line for this crate"));
        }
        complaints.extend(manifest.ships.iter().filter_map(|to| edge(map, from, to)));
        let all = manifest.ships.iter().chain(&manifest.tests);
        complaints.extend(all.filter_map(|to| forbidden(from, to)));
    }
    complaints.extend(map.layers.iter().filter_map(|(name, (_, purpose))| {
        let exists = manifests.contains_key(name);
        let words = purpose.split_whitespace().count();
        match (exists, words) {
            (false, _) => {
                Some(format!("{name}: ARCHITECTURE.md has a line for it, and there is no such crate"))
            }
            (true, 0..3) => Some(format!("{name}: its purpose line says too little: `{purpose}`")),
            _ => None,
        }
    }));
    complaints.extend(map.siblings.iter().filter_map(|(from, to)| {
        let used = manifests.get(from).is_some_and(|m| m.ships.contains(to));
        (!used).then(|| format!("{from} → {to}: ARCHITECTURE.md lists an edge that nobody uses"))
    }));
    complaints
}

/// All crates of the workspace.
fn manifests() -> BTreeMap<String, Manifest> {
    let of_crate = |file: &tree::File| {
        let own = file.path == "xtask/Cargo.toml"
            || (file.path.starts_with("crates/") && file.path.matches('/').count() == 2);
        (own && file.path.ends_with("/Cargo.toml"))
            .then(|| (file.of_crate().unwrap_or("").to_owned(), manifest(&file.text)))
    };
    tree::all().iter().filter_map(of_crate).collect()
}

#[test]
fn arrows_point_down_and_every_crate_has_its_line() {
    let manifests = manifests();
    assert!(manifests.len() >= 15, "{} crates found", manifests.len());
    none(arrows(&map(&tree::read("ARCHITECTURE.md")), &manifests));
}

/// A small sound workspace, and then one fault in it.
fn with(crate_name: &str, text: &str) -> Vec<String> {
    let architecture = "\
| layer | crate | purpose |\n|---|---|---|\n\
| L0 | `units` | quantities with their units |\n\
| L1 | `clock` | reads time for all |\n\
| L1 | `record` | writes what there was |\n\
| L2 | `load` | makes the load here |\n\
| L2 | `stats` | computes from numbers only |\n\
| L3 | `driver-null` | answers at once always |\n\
| tests | `testkit` | what tests are made of |\n\n\
- `record` → `clock`: ticks become instants\n";
    let mut manifests: BTreeMap<String, Manifest> = [
        ("units", ""),
        ("clock", "[dependencies]\nunits.workspace = true"),
        ("record", "[dependencies]\nclock.workspace = true"),
        ("load", "[dependencies]\nclock = { path = \"../clock\" }"),
        ("stats", ""),
        ("driver-null", "[dev-dependencies]\ntestkit.workspace = true"),
        ("testkit", "[dependencies]\nunits.workspace = true"),
    ]
    .map(|(name, text)| (name.to_owned(), manifest(text)))
    .into();
    if !crate_name.is_empty() {
        manifests.insert(crate_name.to_owned(), manifest(text));
    }
    arrows(&map(architecture), &manifests)
}

#[test]
fn canary_every_wrong_arrow_is_caught() {
    none(with("", ""));
    caught(&with("clock", "[dependencies]\nload.workspace = true"), "clock → load: arrows point down");
    caught(&with("clock", "[dependencies]\nrecord.workspace = true"), "clock → record: siblings");
    caught(&with("load", "[dependencies]\nstats.workspace = true"), "load → stats: siblings");
    caught(&with("load", "[dev-dependencies]\nstats.workspace = true"), "load → stats: never");
    caught(&with("stats", "[dependencies]\ntestkit.workspace = true"), "is for tests only");
    caught(&with("driver-null", "[dev-dependencies]\nload.workspace = true"), "driver-null → load: never");
    caught(&with("stats", "[dev-dependencies]\ntruetail.workspace = true"), "stats → truetail: never");
    let target = "[target.'cfg(unix)'.dependencies]\nload.workspace = true";
    caught(&with("units", target), "units → load: arrows point down");
    caught(&with("record", ""), "record → clock: ARCHITECTURE.md lists an edge that nobody uses");
    caught(&with("extra", ""), "extra: ARCHITECTURE.md has no line");
}
