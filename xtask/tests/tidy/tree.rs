//! The repository's text files.

use std::path::{Path, PathBuf};

/// One file, by its path from the repository's root, with `/` on every system.
pub struct File {
    pub path: String,
    pub text: String,
}

/// These tests hold the very texts that the rules forbid.
const OWN: &str = "xtask/tests/tidy/";

/// Directories that hold nothing of ours.
const SKIPPED: [&str; 4] = [".git", "target", "recordings", "node_modules"];

const TEXT: [&str; 12] = ["rs", "toml", "md", "sh", "lua", "sql", "js", "css", "html", "svg", "txt", "lock"];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository").to_owned()
}

/// All text files.
pub fn all() -> Vec<File> {
    let root = root();
    let mut files = Vec::new();
    walk(&root, &root, &mut files);
    assert!(files.iter().any(|f| f.path == "Cargo.toml"), "the walk must see the repository");
    files
}

/// All text files but these tests'.
pub fn others() -> Vec<File> {
    let mut files = all();
    files.retain(|file| !file.path.starts_with(OWN));
    files
}

/// One file that must be there.
pub fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn walk(root: &Path, directory: &Path, files: &mut Vec<File>) {
    let entries = std::fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    for entry in entries {
        let path = entry.expect("an entry of a directory").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_symlink() || SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            walk(root, &path, files);
        } else if is_text(&path, &name) {
            let relative =
                path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
            // What is not UTF-8 is not text, whatever its name says.
            if let Ok(text) = std::fs::read_to_string(&path) {
                files.push(File { path: relative, text });
            }
        }
    }
}

fn is_text(path: &Path, name: &str) -> bool {
    match path.extension() {
        Some(extension) => TEXT.contains(&extension.to_string_lossy().as_ref()),
        None => name == "run" || name.starts_with("LICENSE"),
    }
}

impl File {
    pub fn made(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The crate that a path lies in: `load` for `crates/load/src/lib.rs`, `xtask` for `xtask/src/main.rs`.
    pub fn of_crate(&self) -> Option<&str> {
        match self.path.split_once('/')? {
            ("crates", rest) => rest.split('/').next(),
            ("xtask", _) => Some("xtask"),
            _ => None,
        }
    }

    /// Whether the whole file is for tests, benches or examples.
    pub fn is_beside(&self) -> bool {
        let parts: Vec<&str> = self.path.split('/').collect();
        parts.iter().any(|part| ["tests", "benches", "examples"].contains(part))
            || self.path.ends_with("tests.rs")
    }

    /// Lines of code with their numbers: without comments, and without the test module at the end when `shipped`.
    pub fn code(&self, shipped: bool) -> Vec<(usize, &str)> {
        let lines: Vec<&str> = self.text.lines().collect();
        let end = if shipped { test_module(&lines).unwrap_or(lines.len()) } else { lines.len() };
        let numbered = lines[..end].iter().enumerate();
        numbered
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
            .map(|(index, line)| (index + 1, line.split(" // ").next().unwrap_or(line)))
            .collect()
    }
}

/// Where a file's inline test module begins: `#[cfg(test)]`, then `mod … {`.
fn test_module(lines: &[&str]) -> Option<usize> {
    lines.windows(2).position(|pair| {
        pair[0].trim() == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    })
}

#[test]
fn code_is_what_is_neither_comment_nor_test() {
    let file =
        File::made("crates/x/src/lib.rs", "//! doc\na(); // why\n#[cfg(test)]\nmod tests {\n  b();\n}\n");
    assert_eq!(file.code(true), [(2, "a();")]);
    assert_eq!(file.code(false).len(), 5);
    assert_eq!(file.of_crate(), Some("x"));
    assert!(!file.is_beside());
    assert!(File::made("crates/x/src/hot_path_tests.rs", "").is_beside());
    assert!(File::made("crates/x/benches/push.rs", "").is_beside());
}
