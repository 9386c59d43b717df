//! What tests of logs of requests share: logs from test data or of a test's own making, and what is read of them.
#![allow(dead_code, reason = "each test file uses its share")]

use import::{ColumnMap, Format, ImportError, Outputs, Request, Requests, Survey, Weight};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

pub fn text(name: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(data(name)).expect("test data")).into_owned()
}

/// A file that is gone when the test is.
pub struct File(pub PathBuf);

impl File {
    pub fn new(name: &str, text: &[u8]) -> File {
        // Tests of one process run side by side, some with files of one name.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("truetail-logs-{}-{number}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("written");
        File(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What there is to read besides files.
#[derive(Clone, Copy, Default)]
pub struct Besides<'a> {
    pub printed: Option<&'a str>,
    pub map: Option<&'a str>,
    pub command: Option<&'a str>,
}

pub fn all(requests: &Requests) -> Vec<Request> {
    let mut found = Vec::new();
    requests
        .each::<ImportError>(|request| {
            found.push(*request);
            Ok(())
        })
        .expect("the same as in the first pass");
    found
}

/// A log that was looked through once.
pub fn open(format: Format, files: &[PathBuf], besides: Besides<'_>) -> Result<Requests, ImportError> {
    let columns = besides.map.map(ColumnMap::parse).transpose()?;
    let Besides { printed, command, .. } = besides;
    let outputs = Outputs { printed, files, columns: columns.as_ref(), command, stop: None };
    Ok(import::requests(format, outputs)?.expect("single requests"))
}

/// All of a log, or why it can't be read.
pub fn read(
    format: Format,
    files: &[PathBuf],
    besides: Besides<'_>,
) -> Result<(Survey, Vec<Request>), String> {
    let requests = open(format, files, besides).map_err(|error| error.to_string())?;
    Ok((requests.survey().clone(), all(&requests)))
}

/// The same of a file that a test makes.
pub fn made(
    format: Format,
    name: &str,
    text: &str,
    besides: Besides<'_>,
) -> Result<(Survey, Vec<Request>), String> {
    let file = File::new(name, text.as_bytes());
    read(format, std::slice::from_ref(&file.0), besides)
}

/// The texts of the gaps of one weight.
pub fn gaps(survey: &Survey, weight: Weight) -> Vec<&str> {
    survey.gaps.iter().filter(|gap| gap.weight == weight).map(|gap| gap.text.as_str()).collect()
}

pub fn response(request: &Request) -> Option<u64> {
    Some(request.completed - request.intended?)
}

pub fn service(request: &Request) -> Option<u64> {
    Some(request.completed - request.sent?)
}
