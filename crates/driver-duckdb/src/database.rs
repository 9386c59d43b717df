//! A connection to a database file; all that this process opens of one file share one database.

use crate::api::{Api, Handle, RawResult, bytes, first_line};
use crate::library::Library;
use crate::options::Options;
use driver::ConnectError;
use std::ffi::{CString, c_char};
use std::path::{Path, PathBuf};
use std::ptr;
use units::Outcome;

/// A connection. Disconnected on drop; the last of a file closes it, which writes a checkpoint.
pub(crate) struct Connection {
    pub(crate) library: &'static Library,
    pub(crate) path: PathBuf,
    database: Handle,
    raw: Handle,
}

// SAFETY: DuckDB guards a connection by a lock, and interrupting is allowed from any thread.
unsafe impl Send for Connection {}
// SAFETY: as above.
unsafe impl Sync for Connection {}

impl Connection {
    /// Opens or creates the file with its settings and connects to it.
    pub(crate) fn open(options: &Options) -> Result<Connection, ConnectError> {
        let library =
            Library::get(options.library.as_deref()).map_err(|problem| failure(&options.path, &problem))?;
        let path = place(&options.path)?;
        let mut connection = Connection { library, path, database: ptr::null_mut(), raw: ptr::null_mut() };
        connection.database = connection.open_database(options)?;
        // SAFETY: the database is open.
        let state = unsafe { (library.api.connect)(connection.database, &mut connection.raw) };
        match state {
            0 => Ok(connection),
            _ => Err(failure(&connection.path, "no connection could be made")),
        }
    }

    fn open_database(&self, options: &Options) -> Result<Handle, ConnectError> {
        let api = self.api();
        let path = text(self.path.as_os_str().as_encoded_bytes(), &self.path)?;
        let settings = Settings::new(api, options)?;
        let (mut database, mut words): (Handle, *mut c_char) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: all are alive, and the out pointers are valid.
        let state = unsafe {
            (api.get_or_create_from_cache)(
                self.library.cache,
                path.as_ptr(),
                &mut database,
                settings.raw,
                &mut words,
            )
        };
        if state == 0 {
            return Ok(database);
        }
        // SAFETY: null or a text that ends with a zero; it is ours to free.
        let said = unsafe {
            let said = String::from_utf8_lossy(first_line(bytes(words))).into_owned();
            (api.free)(words.cast());
            said
        };
        let problem = if said.contains("different configuration") {
            "open in this process with other settings; give all targets of one file the same options"
                .to_owned()
        } else {
            said
        };
        // The process that has the file locked may end.
        let transient = problem.contains("Could not set lock");
        Err(ConnectError { transient, ..failure(&self.path, &problem) })
    }

    pub(crate) fn api(&self) -> &'static Api {
        &self.library.api
    }

    pub(crate) fn raw(&self) -> Handle {
        self.raw
    }

    /// Ends what the connection runs; from any thread. Nothing, when it runs nothing.
    pub(crate) fn interrupt(&self) {
        // SAFETY: the connection is alive.
        unsafe { (self.api().interrupt)(self.raw) };
    }

    /// Runs SQL without parameters.
    ///
    /// # Errors
    /// The first line of DuckDB's words.
    pub(crate) fn run(&self, sql: &str) -> Result<Answer, String> {
        let sql = CString::new(sql).map_err(|_| "a zero in the statement".to_owned())?;
        let mut answer = Answer::new(self.api());
        // SAFETY: all are alive; the result is destroyed by the answer, as it must be after a failure, too.
        match unsafe { (self.api().query)(self.raw, sql.as_ptr(), &mut answer.raw) } {
            0 => Ok(answer),
            _ => Err(String::from_utf8_lossy(first_line(answer.words())).into_owned()),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: nobody uses them afterwards; null is allowed.
        unsafe {
            (self.api().disconnect)(&mut self.raw);
            (self.api().close)(&mut self.database);
        }
    }
}

/// A result, good or bad; destroyed on drop.
pub(crate) struct Answer {
    api: &'static Api,
    pub(crate) raw: RawResult,
}

impl Answer {
    pub(crate) fn new(api: &'static Api) -> Answer {
        Answer { api, raw: RawResult::new() }
    }

    /// What DuckDB says of a failure, until the answer goes.
    pub(crate) fn words(&mut self) -> &[u8] {
        // SAFETY: the result lives as long as the words are borrowed.
        unsafe { bytes((self.api.result_error)(&mut self.raw)) }
    }

    /// What becomes of a sample whose statement failed so.
    pub(crate) fn outcome(&mut self) -> Outcome {
        // SAFETY: the result is alive.
        let class = unsafe { (self.api.result_error_type)(&mut self.raw) };
        crate::session::outcome(class, self.words())
    }

    /// Whether DuckDB gave the whole database up.
    pub(crate) fn is_fatal(&mut self) -> bool {
        // SAFETY: the result is alive.
        unsafe { (self.api.result_error_type)(&mut self.raw) == crate::api::problem::FATAL }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: alive, or never filled, which is allowed.
        unsafe { (self.api.destroy_result)(&mut self.raw) };
    }
}

/// Settings for opening; destroyed on drop.
struct Settings {
    api: &'static Api,
    raw: Handle,
}

impl Settings {
    fn new(api: &'static Api, options: &Options) -> Result<Settings, ConnectError> {
        let mut settings = Settings { api, raw: ptr::null_mut() };
        // SAFETY: the out pointer is valid.
        unsafe { (api.create_config)(&mut settings.raw) };
        for (name, value) in &options.settings {
            let (key, text) = (text(name.as_bytes(), &options.path)?, text(value.as_bytes(), &options.path)?);
            // SAFETY: all are alive.
            if unsafe { (api.set_config)(settings.raw, key.as_ptr(), text.as_ptr()) } != 0 {
                return Err(failure(&options.path, &format!("{name}={value}: DuckDB does not take this")));
            }
        }
        Ok(settings)
    }
}

impl Drop for Settings {
    fn drop(&mut self) {
        // SAFETY: alive; null is allowed.
        unsafe { (self.api.destroy_config)(&mut self.raw) };
    }
}

fn text(bytes: &[u8], path: &Path) -> Result<CString, ConnectError> {
    CString::new(bytes).map_err(|_| failure(path, "a zero in a text"))
}

/// The file's one name, so that all who open it share a database; its directory must be there.
fn place(path: &Path) -> Result<PathBuf, ConnectError> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if path.is_dir() {
        return Err(failure(path, "this is a directory; name a file in it"));
    }
    if let Ok(file) = path.canonicalize() {
        return Ok(file);
    }
    match (directory.canonicalize(), path.file_name()) {
        (Ok(directory), Some(name)) => Ok(directory.join(name)),
        (_, None) => Err(failure(path, "this is no name of a file")),
        (Err(_), _) => {
            let problem = format!("the directory `{}` does not exist; create it first", directory.display());
            Err(failure(path, &problem))
        }
    }
}

/// One line about a file.
pub(crate) fn failure(path: &Path, problem: &str) -> ConnectError {
    ConnectError::permanent(format!("duckdb:{}: {problem}", path.display()))
}
