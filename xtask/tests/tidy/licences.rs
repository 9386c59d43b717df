//! Licences and bans of `deny.toml`, checked without `cargo-deny`, which not everybody has.

use crate::{caught, none, tree};
use std::process::Command;

/// The strings of an array in a TOML text: all quoted words from `key = [` to the next `]`.
fn array<'a>(toml: &'a str, key: &str) -> Vec<&'a str> {
    let Some((_, rest)) = toml.split_once(&format!("\n{key} = [")) else { return Vec::new() };
    let body = rest.split("\n]").next().unwrap_or(rest);
    let lines = body.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.filter_map(|line| line.split('"').nth(1)).collect()
}

/// Whether a licence expression can be met with allowed licences only.
fn allowed(expression: &str, allow: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    either(&mut rest, allow) && rest.is_empty()
}

/// `both OR both …`; takes its words off the front.
fn either(rest: &mut &[&str], allow: &[&str]) -> bool {
    let mut met = both(rest, allow);
    while let Some(after) = rest.strip_prefix(&["OR"]) {
        *rest = after;
        met |= both(rest, allow);
    }
    met
}

fn both(rest: &mut &[&str], allow: &[&str]) -> bool {
    let mut met = one(rest, allow);
    while let Some(after) = rest.strip_prefix(&["AND"]) {
        *rest = after;
        met &= one(rest, allow);
    }
    met
}

fn one(rest: &mut &[&str], allow: &[&str]) -> bool {
    match **rest {
        ["(", ref inner @ ..] => {
            *rest = inner;
            let met = either(rest, allow);
            *rest = rest.strip_prefix(&[")"]).unwrap_or(&[]);
            met
        }
        [licence, "WITH", exception, ref after @ ..] => {
            *rest = after;
            allow.contains(&format!("{licence} WITH {exception}").as_str())
        }
        [licence, ref after @ ..] => {
            *rest = after;
            allow.contains(&licence)
        }
        [] => false,
    }
}

/// What cargo knows of everything that is built here.
pub fn metadata() -> String {
    let version = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let version = String::from_utf8(version.stdout).expect("rustc speaks UTF-8");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc knows its host");
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(tree::root());
    // What is built for this host is here already: no test may need the network.
    command.args(["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", host]);
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("cargo speaks UTF-8")
}

/// Each `"license":` belongs to the `"id":` before it.
fn licences(metadata: &str) -> Vec<(String, String)> {
    let marks = metadata.match_indices("\"license\":");
    let found = marks.map(|(at, mark)| {
        let before = &metadata[..at];
        let id = before.rfind("\"id\":\"").map_or("", |begin| &before[begin + 6..]);
        let id = id.split('"').next().unwrap_or("");
        let value = &metadata[at + mark.len()..];
        let licence = value.strip_prefix('"').and_then(|v| v.split('"').next()).unwrap_or("none stated");
        (id.to_owned(), licence.to_owned())
    });
    found.collect()
}

fn unlicensed(packages: &[(String, String)], allow: &[&str]) -> Vec<String> {
    let wrong = packages.iter().filter(|(_, licence)| !allowed(licence, allow));
    wrong.map(|(id, licence)| format!("{id}: licence `{licence}` is not among those of deny.toml")).collect()
}

#[test]
fn everything_built_has_an_allowed_licence() {
    let toml = tree::read("deny.toml");
    let allow = array(&toml, "allow");
    assert!(allow.contains(&"MIT"), "deny.toml lists licences: {allow:?}");
    let packages = licences(&metadata());
    assert!(packages.len() > 50, "{} packages seen", packages.len());
    none(unlicensed(&packages, &allow));
}

#[test]
fn canary_licences_are_understood() {
    let allow = ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
    for good in [
        "MIT",
        "GPL-3.0 OR MIT",
        "MIT/GPL-3.0",
        "(MIT OR GPL-3.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(allowed(good, &allow), "{good}");
    }
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0 OR MPL-2.0) AND MIT", "", "MIT WITH x", "MIT MIT"] {
        assert!(!allowed(bad, &allow), "{bad}");
    }
    let metadata = r#"{"packages":[{"name":"a","version":"1","id":"reg#a@1","license":"GPL-3.0"},
        {"name":"b","version":"1","id":"reg#b@1","license":null}]}"#;
    let complaints = unlicensed(&licences(metadata), &allow);
    caught(&complaints, "reg#a@1: licence `GPL-3.0`");
    caught(&complaints, "reg#b@1: licence `none stated`");
}

/// Names under `[bans]` that the lock file has all the same.
fn banned(toml: &str, lock: &str) -> Vec<String> {
    let bans = array(toml, "deny");
    let locked = |name: &&&str| lock.lines().any(|line| line == format!("name = \"{name}\""));
    bans.iter().filter(locked).map(|name| format!("{name}: in Cargo.lock, and banned by deny.toml")).collect()
}

#[test]
fn nothing_banned_is_locked() {
    let toml = tree::read("deny.toml");
    assert!(!array(&toml, "deny").is_empty());
    none(banned(&toml, &tree::read("Cargo.lock")));
    let made = "[bans]\ndeny = [\n    { crate = \"openssl-sys\", reason = \"one TLS\" },\n]\n";
    caught(&banned(made, "[[package]]\nname = \"openssl-sys\"\n"), "openssl-sys: in Cargo.lock");
}
