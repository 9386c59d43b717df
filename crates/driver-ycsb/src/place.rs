//! A directory of our own for the bridge's classes and its socket.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Used where the directory for temporary files has so long a path that no unix socket can lie below it.
const SHORT: &str = "/tmp";

/// Bytes of the longest path that a unix socket may have: `sun_path` has 108, and the last is a NUL (unix(7)).
const LONGEST_SOCKET: usize = 107;

/// Longer than the names below.
const NAMES: usize = 40;

/// Nobody else can enter it; it goes with this.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
}

impl Place {
    /// Makes one.
    pub(crate) fn make() -> Result<Place, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let wanted = std::env::temp_dir();
        let fits = wanted.is_absolute() && wanted.as_os_str().len() + NAMES <= LONGEST_SOCKET;
        let parent = if fits { wanted } else { PathBuf::from(SHORT) };
        loop {
            // Relaxed: only to be different from the others of this process.
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("tt-ycsb-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Place { path }),
                // Of a process with the same number that was killed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(format!(
                        "no directory in {}: {error}; set TMPDIR to another",
                        parent.display()
                    ));
                }
            }
        }
    }

    pub(crate) fn classes(&self) -> PathBuf {
        self.path.join("classes")
    }

    pub(crate) fn sources(&self) -> PathBuf {
        self.path.join("sources")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join("socket")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What can't be removed is a few kilobytes in a directory for temporary files.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_place_is_ours_alone_and_goes() {
        let (one, other) = (Place::make().unwrap(), Place::make().unwrap());
        assert_ne!(one.path, other.path);
        assert_eq!(std::fs::metadata(&one.path).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(one.socket().as_os_str().len() <= LONGEST_SOCKET);
        let path = one.path.clone();
        drop(one);
        assert!(!path.exists() && other.path.exists());
    }
}
