//! YCSB's client with `bindings/ycsb`, built by Maven below the target directory and used by all tests.
//!
//! Maven is asked to do without the network first; only what it has never seen is downloaded, once for each machine. What
//! it makes stays until a source changes, and a lock keeps test programs from building at the same time. A test that
//! needs it fails where the JDK or Maven are missing, and only `TRUETAIL_SKIP_JAVA=1` skips, loudly.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MISSING: &str = "install the packages `maven` and `default-jdk-headless`, or set TRUETAIL_SKIP_JAVA=1";

/// The class path for `java -cp … site.ycsb.Client`; building takes about 5 s when a source has changed. `None`, after a
/// loud notice, only when `TRUETAIL_SKIP_JAVA=1` is set.
///
/// # Panics
/// When it can't be built.
pub fn class_path() -> Option<String> {
    if is_skipped() {
        return None;
    }
    let built = build(&sources(), &target());
    Some(built.unwrap_or_else(|reason| panic!("{reason}")))
}

/// Runs the binding's own tests: whether they passed, or `None` after a loud notice. About 5 s.
///
/// # Panics
/// When they failed or could not be run.
pub fn test() -> Option<()> {
    if is_skipped() {
        return None;
    }
    let target = target();
    let tested = locked(&target).and_then(|_lock| maven(&sources(), &target.join("tested"), &["test"]));
    tested.unwrap_or_else(|reason| panic!("{reason}"));
    Some(())
}

fn is_skipped() -> bool {
    let skipped = std::env::var_os("TRUETAIL_SKIP_JAVA").is_some_and(|value| value == "1");
    if skipped {
        eprintln!("\n*** SKIPPED: a test that needs a JDK and Maven (TRUETAIL_SKIP_JAVA=1) ***\n");
    }
    skipped
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources() -> PathBuf {
    root().join("bindings/ycsb")
}

/// Below cargo's target directory, wherever that is.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from).join("ycsb")
}

/// Builds unless what is there was made of the same sources.
fn build(sources: &Path, target: &Path) -> Result<String, String> {
    let _lock = locked(target)?;
    let stamp = target.join("sources");
    let wanted = format!("{:016x}\n", fingerprint(sources)?);
    let classes = target.join("truetail-ycsb.jar");
    let is_current = std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) && classes.is_file();
    if !is_current {
        maven(sources, target, &["package", "-Dmaven.test.skip=true"])?;
        std::fs::write(&stamp, wanted).map_err(|error| said(&stamp, &error))?;
    }
    let target = target.canonicalize().map_err(|error| said(target, &error))?;
    Ok(format!("{0}/truetail-ycsb.jar:{0}/lib/*", target.display()))
}

/// Held until it is dropped; waits for whoever else builds.
fn locked(target: &Path) -> Result<File, String> {
    std::fs::create_dir_all(target).map_err(|error| said(target, &error))?;
    let path = target.join("lock");
    let file = File::create(&path).map_err(|error| said(&path, &error))?;
    file.lock().map_err(|error| said(&path, &error))?;
    Ok(file)
}

/// Of the names and texts of all that is built.
fn fingerprint(sources: &Path) -> Result<u64, String> {
    let mut files = vec![sources.join("pom.xml")];
    gather(&sources.join("src/main"), &mut files)?;
    files.sort_unstable();
    let mut hasher = DefaultHasher::new();
    for file in files {
        let text = std::fs::read(&file).map_err(|error| said(&file, &error))?;
        file.strip_prefix(sources).unwrap_or(&file).hash(&mut hasher);
        text.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn gather(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    for entry in std::fs::read_dir(directory).map_err(|error| said(directory, &error))? {
        let path = entry.map_err(|error| said(directory, &error))?.path();
        if path.is_dir() {
            gather(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Without the network if that will do.
fn maven(sources: &Path, target: &Path, goals: &[&str]) -> Result<(), String> {
    let target = std::path::absolute(target).map_err(|error| said(target, &error))?;
    let offline = run_maven(sources, &target, goals, &["-o"])?;
    if offline.is_ok() {
        return Ok(());
    }
    run_maven(sources, &target, goals, &[])?
        .map_err(|words| format!("bindings/ycsb: `mvn {}` failed; {MISSING}\n{words}", goals.join(" ")))
}

/// What Maven said where it failed, or why it could not be started.
fn run_maven(
    sources: &Path,
    target: &Path,
    goals: &[&str],
    flags: &[&str],
) -> Result<Result<(), String>, String> {
    let mut command = Command::new("mvn");
    command.current_dir(sources).stdin(Stdio::null()).args(["-q", "-B"]).args(flags).args(goals);
    command.arg(format!("-DbuildDirectory={}", target.display()));
    let output = command
        .output()
        .map_err(|error| format!("bindings/ycsb: `mvn` can't be started ({error}); {MISSING}"))?;
    if output.status.success() {
        return Ok(Ok(()));
    }
    let words =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Ok(Err(words))
}

fn said(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_source_has_another_fingerprint() {
        let copy = std::env::temp_dir().join(format!("truetail-ycsb-{}", std::process::id()));
        let source = copy.join("src/main/java/A.java");
        std::fs::create_dir_all(source.parent().unwrap()).unwrap();
        std::fs::write(copy.join("pom.xml"), "<project/>").unwrap();
        std::fs::write(&source, "class A {}").unwrap();
        let first = fingerprint(&copy).unwrap();
        assert_eq!(fingerprint(&copy).unwrap(), first);
        std::fs::write(&source, "class A { }").unwrap();
        let second = fingerprint(&copy).unwrap();
        std::fs::rename(&source, source.with_file_name("B.java")).unwrap();
        let third = fingerprint(&copy).unwrap();
        std::fs::remove_dir_all(&copy).unwrap();
        assert!(first != second && second != third && fingerprint(&copy).is_err());
    }
}
