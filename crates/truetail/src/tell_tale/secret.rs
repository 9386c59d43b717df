//! Files that hold a password for a load tool: for their owner alone, and gone when the run has ended.

use anyhow::Context;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Such a file; it goes with this.
#[derive(Debug)]
pub(super) struct SecretFile {
    path: PathBuf,
}

impl SecretFile {
    /// Writes a new one.
    ///
    /// # Errors
    /// One line: the file and what the system said; then nothing of it stays.
    pub(super) fn write(path: PathBuf, text: &str) -> anyhow::Result<SecretFile> {
        let why = |path: &Path| format!("can't write {}", path.display());
        let mut options = std::fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        let mut file = file.with_context(|| why(&path))?;
        let written = SecretFile { path };
        file.write_all(text.as_bytes()).with_context(|| why(&written.path))?;
        Ok(written)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it before whatever comes next.
    ///
    /// # Errors
    /// When it can't be removed.
    pub(super) fn remove(self) -> anyhow::Result<()> {
        std::fs::remove_file(&self.path).with_context(|| format!("can't remove {}", self.path.display()))
    }
}

impl Drop for SecretFile {
    fn drop(&mut self) {
        // It may have been removed before.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_secret_is_its_owners_and_goes() {
        let path = std::env::temp_dir().join(format!("truetail-secret-{}", std::process::id()));
        let _ = std::fs::remove_file(&path); // of an earlier test with the same process id
        let file = SecretFile::write(path.clone(), "secret").expect("written");
        let mode = std::fs::metadata(file.path()).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(SecretFile::write(path.clone(), "other").is_err(), "somebody else's is not written to");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "secret");
        file.remove().expect("removed");
        assert!(!path.exists());
        drop(SecretFile::write(path.clone(), "secret").expect("written"));
        assert!(!path.exists());
    }
}
