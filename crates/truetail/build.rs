//! Tells the program which commit it was built from.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let commit = commit(&root).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=TRUETAIL_VERSION={version} (commit {commit})");
}

/// The commit that is checked out; `None` without git, and where the sources lie in somebody else's repository.
fn commit(root: &Path) -> Option<String> {
    let top = PathBuf::from(git(root, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    // Its last line changes with each commit and with each switch to another one.
    let log = root.join(git(root, &["rev-parse", "--git-path", "logs/HEAD"])?);
    if log.exists() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    git(root, &["rev-parse", "--short=12", "HEAD"])
}

/// The first line of what git says; `None` if it can't be run or refuses.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(root).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}
