//! Where a server's directory lies, and on which port it listens. Its unix socket lies in the directory, and that
//! decides.

use crate::command::Account;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Used where the directory for temporary files does not do: short, and open to everybody.
const SHORT: &str = "/tmp";

/// Bytes of the longest path that a unix socket may have: `sun_path` has 108, and the last is a NUL (unix(7)).
const LONGEST_SOCKET: usize = 107;

/// Letters that `mkdtemp` fills in; it wants as many of `X` in their place.
const FILLED_IN: usize = 6;

/// As long as the longest name that `mkdtemp` makes here, of the longest kind.
const NAME: &str = "tt-redis-123456";
const _: () = assert!(NAME.len() == "tt-redis-".len() + FILLED_IN);

/// PostgreSQL's name for its socket, with the longest port: no server has a longer one.
const SOCKET: &str = ".s.PGSQL.65535";

/// A new directory for a server of this kind (`pg`, `redis`) that runs as `account`.
///
/// # Errors
/// One line: where there is none to be had, and why.
pub fn make(kind: &str, account: Option<Account>) -> Result<PathBuf, String> {
    let wanted = std::env::temp_dir();
    let place =
        if suits(&wanted) && (account.is_none() || is_open(&wanted)) { &wanted } else { Path::new(SHORT) };
    let mut path = place.join(format!("tt-{kind}-{}", "X".repeat(FILLED_IN))).into_os_string().into_vec();
    path.push(0);
    // SAFETY: `path` is a NUL-terminated array that `mkdtemp` changes in place.
    if unsafe { libc::mkdtemp(path.as_mut_ptr().cast()) }.is_null() {
        let error = io::Error::last_os_error();
        return Err(format!(
            "no directory for a server in {}: {error}; set TMPDIR to another",
            place.display()
        ));
    }
    path.pop();
    Ok(PathBuf::from(OsString::from_vec(path)))
}

/// Whether a server can have its directory here. The directory for temporary files may have a path of any length, and
/// a unix socket may not: neither server nor client could use one that is too long. PostgreSQL reads its socket's
/// directory from a list with commas, out of a shell's line, so the path must be free of what those take apart; and
/// programs that run elsewhere are told of it, so it must be absolute.
fn suits(place: &Path) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let fits = |path: &str| path.len() <= LONGEST_SOCKET && path.chars().all(plain);
    place.is_absolute() && place.join(NAME).join(SOCKET).to_str().is_some_and(fits)
}

/// Whether a server that runs as another user can get here.
fn is_open(place: &Path) -> bool {
    let enters = |part: &Path| part.metadata().is_ok_and(|facts| facts.permissions().mode() & 0o001 != 0);
    place.ancestors().all(enters)
}

/// Gives a directory and everything below it to `account`.
pub(crate) fn own(path: &Path, account: Option<Account>) -> Result<(), String> {
    let Some(account) = account else { return Ok(()) };
    std::os::unix::fs::lchown(path, Some(account.uid), Some(account.gid))
        .map_err(|e| format!("{}: {e}", path.display()))?;
    if path.is_dir() {
        for entry in std::fs::read_dir(path).map_err(|e| format!("{}: {e}", path.display()))? {
            own(&entry.map_err(|e| format!("{}: {e}", path.display()))?.path(), Some(account))?;
        }
    }
    Ok(())
}

/// A port of 127.0.0.1 that nobody had a moment ago; somebody may take it before its finder does.
///
/// # Errors
/// One line: what the system said.
pub fn free_port() -> Result<u16, String> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(|e| format!("no free port: {e}"))?;
    listener.local_addr().map(|address| address.port()).map_err(|e| format!("no free port: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::net::SocketAddr;

    /// The system's own opinion of each length, and ours.
    #[test]
    fn a_place_suits_as_long_as_a_socket_in_it_can_be_bound() {
        let mut refused = 0;
        for length in 1..=108 {
            let place = PathBuf::from(format!("/{}", "d".repeat(length)));
            let bindable = SocketAddr::from_pathname(place.join(NAME).join(SOCKET)).is_ok();
            assert_eq!(suits(&place), bindable, "{length} bytes");
            refused += u32::from(!bindable);
        }
        assert!((1..108).contains(&refused), "{refused} of 108 refused");
    }

    #[test]
    fn what_a_shell_or_a_list_would_take_apart_does_not_suit() {
        for place in ["/var/tmp", "/tmp", "/tmp/", "/nix/build_1-a.b"] {
            assert!(suits(Path::new(place)), "{place}");
        }
        for place in ["", "tmp", "/my files", "/a,b", "/it's", "/$x", "/é"] {
            assert!(!suits(Path::new(place)), "{place}");
        }
    }

    #[test]
    fn a_place_of_one_user_is_not_open() {
        let own = make("pg", None).unwrap();
        let below = own.join("below");
        std::fs::create_dir(&below).unwrap();
        std::fs::set_permissions(&below, Permissions::from_mode(0o755)).unwrap();
        let open = [Path::new("/"), &own, &below].map(is_open);
        std::fs::remove_dir_all(&own).unwrap();
        assert_eq!(open, [true, false, false], "`mkdtemp` lets nobody else in");
    }
}
