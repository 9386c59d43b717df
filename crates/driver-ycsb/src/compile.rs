//! The bridge's Java program, compiled against the user's own YCSB by the JDK that is to run it.
//!
//! Its text is within this program, so that an installed truetail needs no file beside it. It is compiled by a JVM of its
//! own and not in source-launch mode (`java Bridge.java`): the compiler would leave its garbage in the heap, and its code in
//! the code cache, of the JVM that is measured.

use crate::config::Config;
use crate::place::Place;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

const SOURCES: [(&str, &str); 4] = [
    ("Bridge.java", include_str!("../java/truetail/bridge/Bridge.java")),
    ("Nearest.java", include_str!("../java/truetail/bridge/Nearest.java")),
    ("Session.java", include_str!("../java/truetail/bridge/Session.java")),
    ("Wire.java", include_str!("../java/truetail/bridge/Wire.java")),
];

/// What keeps a JVM that lives for a second small.
const BRIEF: [&str; 3] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"];

/// Compiles it into the place; about a second.
///
/// # Errors
/// One line: what is missing, and what to do.
pub(crate) fn compile(config: &Config, place: &Place) -> Result<(), String> {
    let said = |path: &Path, error: &std::io::Error| format!("{}: {error}", path.display());
    for directory in [place.sources(), place.classes()] {
        std::fs::create_dir(&directory).map_err(|error| said(&directory, &error))?;
    }
    let mut command = Command::new(&config.java);
    command.stdin(Stdio::null()).args(BRIEF).args(["-m", "jdk.compiler/com.sun.tools.javac.Main"]);
    command.args(["-nowarn", "-proc:none", "-encoding", "UTF-8"]);
    command.arg("-cp").arg(joined(&config.class_path)).arg("-d").arg(place.classes());
    for (name, text) in SOURCES {
        let path = place.sources().join(name);
        std::fs::write(&path, text).map_err(|error| said(&path, &error))?;
        command.arg(path);
    }
    let output = command.output().map_err(|error| {
        let java = config.java.display();
        format!("`{java}` can't be started ({error}); install a JDK of 11 or later, or name one by ?java=")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let words = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Err(explained(&words.concat(), &config.java))
}

/// Why it failed, in one line.
fn explained(words: &str, java: &Path) -> String {
    let java = java.display();
    if words.contains("jdk.compiler not found") {
        return format!("`{java}` has no compiler; install a JDK of 11 or later, or name one by ?java=");
    }
    if words.contains("package site.ycsb does not exist") {
        return "YCSB's core is not among the jars; name it in ?jar=, too (site.ycsb:core, 0.16 or later)"
            .to_owned();
    }
    let first = words.lines().find(|line| !line.trim().is_empty()).unwrap_or("and says nothing");
    format!("`{java}` can't compile the bridge: {}; a JDK of 11 or later is needed", first.trim())
}

/// A class path as Java has it.
pub(crate) fn joined(paths: &[std::path::PathBuf]) -> OsString {
    let mut joined = OsString::new();
    for (number, path) in paths.iter().enumerate() {
        if number > 0 {
            joined.push(":");
        }
        joined.push(path);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_told_in_a_line() {
        let java = Path::new("java");
        let missing = "a.java:3: error: package site.ycsb does not exist\nimport …\n";
        assert!(explained(missing, java).contains("name it in ?jar="));
        let runtime =
            "Error occurred during boot\njava.lang.module.FindException: Module jdk.compiler not found\n";
        assert!(explained(runtime, java).contains("has no compiler"));
        assert!(explained("\n  odd \nmore", java).contains("bridge: odd; a JDK"));
        assert!(explained("", java).contains("says nothing"));
    }

    #[test]
    fn all_of_the_program_is_within() {
        let there = Path::new(env!("CARGO_MANIFEST_DIR")).join("java/truetail/bridge");
        let mut names: Vec<String> = std::fs::read_dir(there)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        assert_eq!(names, SOURCES.map(|(name, _)| name));
    }
}
