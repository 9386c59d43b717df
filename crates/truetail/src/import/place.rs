//! Where an import puts its recording, so that an interrupted one leaves nothing behind.

use anyhow::Context;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A directory, and what lay in it before.
pub(super) struct Place {
    directory: PathBuf,
    before: io::Result<BTreeSet<OsString>>,
}

impl Place {
    /// As it is now.
    pub(super) fn before(directory: &Path) -> Place {
        let names = |entries: std::fs::ReadDir| entries.map(|entry| Ok(entry?.file_name())).collect();
        let before = std::fs::read_dir(directory).and_then(names);
        Place { directory: directory.to_owned(), before }
    }

    /// Takes away what is new; the directory too, if it was not there.
    ///
    /// # Errors
    /// What can't be removed.
    pub(super) fn clear(&self) -> anyhow::Result<()> {
        let left = || {
            format!("interrupted, and {} could not be removed: remove it yourself", self.directory.display())
        };
        let cleared = match &self.before {
            Ok(before) => self.clear_but_for(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::remove_dir_all(&self.directory),
            // No recording can be made in what can't be listed.
            Err(_) => Ok(()),
        };
        match cleared {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).with_context(left),
            _ => Ok(()),
        }
    }

    fn clear_but_for(&self, before: &BTreeSet<OsString>) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.directory)? {
            let entry = entry?;
            if before.contains(&entry.file_name()) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                std::fs::remove_dir_all(entry.path())?;
            } else {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}
