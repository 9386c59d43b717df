//! Finds DuckDB's shared library and loads it, once.
//!
//! It is looked for where the URL says (`library=`), then where `TRUETAIL_DUCKDB_LIBRARY` says, then beside the program, in
//! [`own_place`], and last where the system keeps libraries. A library stays loaded until the program ends: threads of
//! its own may still be in it.

use crate::api::{Api, Handle, STAYS};
use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Names the library, where the URL does not.
pub const VARIABLE: &str = "TRUETAIL_DUCKDB_LIBRARY";

/// The file's name.
pub const FILE: &str = "libduckdb.so";

/// How to get it, for messages.
const HOW: &str = "`cargo xtask install` fetches it, or get libduckdb.so (1.4 or later) from duckdb.org and name it by \
                   `?library=PATH` or TRUETAIL_DUCKDB_LIBRARY";

/// Where `cargo xtask install` puts the library: a directory of the user's own. `None` without a home.
pub fn own_place() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = named("XDG_DATA_HOME").or_else(|| Some(named("HOME")?.join(".local/share")))?;
    Some(data.join("truetail").join(FILE))
}

/// A loaded library.
pub(crate) struct Library {
    pub(crate) api: Api,
    /// Makes all who open a file share one database; DuckDB guards it by a lock.
    pub(crate) cache: Handle,
    path: PathBuf,
}

// SAFETY: functions don't change, and the cache has a lock of its own.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

static LOADED: Mutex<Vec<&'static Library>> = Mutex::new(Vec::new());

impl Library {
    /// The library that `named` (the URL) or else the surroundings say.
    ///
    /// # Errors
    /// One line: what was looked for and how to get it.
    pub(crate) fn get(named: Option<&Path>) -> Result<&'static Library, String> {
        let variable = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        match (named, variable) {
            (Some(path), _) => Library::at(path).map_err(|why| format!("library={}: {why}", path.display())),
            (None, Some(path)) => {
                Library::at(&path).map_err(|why| format!("{VARIABLE}={}: {why}", path.display()))
            }
            (None, None) => Library::in_usual_places(),
        }
    }

    fn in_usual_places() -> Result<&'static Library, String> {
        let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join(FILE)));
        for path in [beside, own_place()].into_iter().flatten() {
            if path.exists() {
                return Library::at(&path).map_err(|why| format!("{}: {why}", path.display()));
            }
        }
        // Without a slash the system's loader searches its own places.
        Library::at(Path::new(FILE)).map_err(|_| format!("DuckDB's library {FILE} was not found; {HOW}"))
    }

    /// Loads the library of this path, unless it is loaded.
    fn at(path: &Path) -> Result<&'static Library, String> {
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = loaded.iter().find(|library| library.path == path) {
            return Ok(library);
        }
        let library: &'static Library = Box::leak(Box::new(Library::load(path)?));
        loaded.push(library);
        Ok(library)
    }

    fn load(path: &Path) -> Result<Library, String> {
        let searched = path.components().count() == 1 && path == Path::new(FILE);
        if !searched && !path.is_file() {
            return Err(format!("there is no such file; {HOW}"));
        }
        let text = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| "a zero in the path")?;
        // SAFETY: the path ends with a zero. What the library does when it is loaded is DuckDB's.
        let handle = unsafe { libc::dlopen(text.as_ptr(), STAYS) };
        if handle.is_null() {
            // SAFETY: the text of the last error of this thread, or null.
            let words = unsafe { libc::dlerror() };
            if words.is_null() {
                return Err("it can't be loaded".to_owned());
            }
            // SAFETY: not null, and it ends with a zero.
            let words = unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned();
            return Err(format!("it can't be loaded: {}", words.lines().next().unwrap_or("")));
        }
        // SAFETY: open, never closed, and with DuckDB's names it is DuckDB.
        let api = unsafe { Api::find(handle) }
            .map_err(|name| format!("it has no function `{name}`: DuckDB 1.4 or later is needed"))?;
        // SAFETY: has no conditions.
        let cache = unsafe { (api.create_instance_cache)() };
        Ok(Library { api, cache, path: path.to_owned() })
    }

    /// DuckDB's own version text, such as `v1.5.6`.
    pub(crate) fn version(&self) -> String {
        // SAFETY: a constant of the library.
        let text = unsafe { crate::api::bytes((self.api.library_version)()) };
        String::from_utf8_lossy(text).into_owned()
    }

    /// Where it was found.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(path: &Path) -> String {
        Library::get(Some(path)).err().unwrap()
    }

    #[test]
    fn what_is_not_duckdb_is_refused_in_one_line_that_says_how_to_get_it() {
        let message = problem(Path::new("/nowhere/libduckdb.so"));
        assert!(
            message
                .starts_with("library=/nowhere/libduckdb.so: there is no such file; `cargo xtask install`")
        );
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let message = problem(&text);
        assert!(message.contains("it can't be loaded: ") && !message.contains('\n'), "{message}");
    }

    #[test]
    fn a_library_that_is_something_else_names_what_it_lacks() {
        // The C library is there wherever this runs.
        // SAFETY: a null path is this program itself, which is open.
        let own = unsafe { libc::dlopen(std::ptr::null(), libc::RTLD_NOW) };
        // SAFETY: this program has no function of DuckDB's names.
        assert_eq!(unsafe { Api::find(own) }.err(), Some("duckdb_library_version"));
    }
}
