//! Where an import puts its recording, so that an interrupted one leaves nothing behind, and takes nothing of anybody else's.

use anyhow::Context;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// A directory, and what lay in it before.
pub(super) struct Place {
    directory: PathBuf,
    /// `None`: it was not there.
    before: Option<BTreeSet<OsString>>,
}

/// What a page leaves beside a recording.
const OF_PAGE: [&str; 2] = ["report.html", "figures"];

impl Place {
    /// As it is now.
    ///
    /// # Errors
    /// Where no recording can be made in it: better said before a long file is read than after.
    pub(super) fn before(directory: &Path) -> anyhow::Result<Place> {
        record::require_vacant(directory)?;
        let names = |entries: std::fs::ReadDir| entries.map(|entry| Ok(entry?.file_name())).collect();
        let before = match std::fs::read_dir(directory).and_then(names) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            names => Some(names.with_context(|| format!("can't list {}", directory.display()))?),
        };
        Ok(Place { directory: directory.to_owned(), before })
    }

    /// Takes away what an import makes; the directory too, if it was not there and nobody has put anything into it since.
    ///
    /// # Errors
    /// What can't be removed.
    pub(super) fn clear(&self) -> anyhow::Result<()> {
        match self.clear_what_is_new() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).with_context(|| {
                format!(
                    "interrupted, and {} could not be removed: remove it yourself",
                    self.directory.display()
                )
            }),
            _ => Ok(()),
        }
    }

    fn clear_what_is_new(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.directory)? {
            let entry = entry?;
            if !self.is_new(&entry.file_name()) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                std::fs::remove_dir_all(entry.path())?;
            } else {
                std::fs::remove_file(entry.path())?;
            }
        }
        match std::fs::remove_dir(&self.directory) {
            _ if self.before.is_some() => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        }
    }

    fn is_new(&self, name: &OsStr) -> bool {
        let was_there = self.before.as_ref().is_some_and(|before| before.contains(name));
        let is_own = |name: &str| record::is_of_recording(name) || OF_PAGE.contains(&name);
        !was_there && name.to_str().is_some_and(is_own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_put_there_meanwhile_stays() {
        let root = std::env::temp_dir().join(format!("truetail-place-{}", std::process::id()));
        let left = |directory: &Path| {
            let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
            let mut names: Vec<_> =
                entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
            names.sort();
            names
        };
        let make = |directory: &Path| {
            std::fs::create_dir_all(directory.join("samples")).expect("a directory");
            for name in ["run.toml", "samples/part-0000-000000.parquet", "events.parquet", "report.html"] {
                std::fs::write(directory.join(name), "x").expect("written");
            }
        };
        let (there, fresh, shared) = (root.join("there"), root.join("fresh"), root.join("shared"));
        std::fs::create_dir_all(&there).expect("a directory");
        std::fs::write(there.join("data.db"), "x").expect("written");
        for directory in [&there, &fresh, &shared] {
            let place = Place::before(directory).expect("vacant");
            make(directory);
            if directory != &fresh {
                std::fs::write(directory.join("thesis.tex"), "mine").expect("written");
            }
            place.clear().expect("cleared");
            place.clear().expect("nothing is left to be done");
        }
        assert_eq!(
            (left(&there), left(&shared)),
            (vec!["data.db".to_owned(), "thesis.tex".to_owned()], vec!["thesis.tex".to_owned()])
        );
        assert!(!fresh.exists());
        make(&there);
        assert!(
            Place::before(&there).is_err_and(|error| error.to_string().contains("already holds a recording"))
        );
        std::fs::remove_dir_all(&root).expect("removed");
    }
}
