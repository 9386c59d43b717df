//! A file line by line, in little memory.

use crate::ImportError;
use crate::format::{name_of, without_mark};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// No line of a log comes near; a file without line breaks must not fill the memory.
const LONGEST: u64 = 1 << 20;

/// The lines of a file with their numbers.
pub(super) struct Lines {
    path: PathBuf,
    format: &'static str,
    reader: BufReader<File>,
    bytes: Vec<u8>,
    text: String,
    number: usize,
}

/// One line, without its end.
pub(super) struct Line<'a> {
    pub(super) number: usize,
    pub(super) text: &'a str,
    /// Whether there was a line break behind it: a file that was cut off has none.
    pub(super) is_ended: bool,
}

impl Lines {
    pub(super) fn open(path: &Path, format: &'static str) -> Result<Lines, ImportError> {
        let unreadable = |source| ImportError::Unreadable { path: path.to_owned(), source };
        let file = File::open(path).map_err(unreadable)?;
        if file.metadata().map_err(unreadable)?.is_dir() {
            return Err(unreadable(std::io::ErrorKind::IsADirectory.into()));
        }
        let reader = BufReader::with_capacity(1 << 18, file);
        let path = path.to_owned();
        Ok(Lines { path, format, reader, bytes: Vec::new(), text: String::new(), number: 0 })
    }

    /// The next line that is not empty; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>, ImportError> {
        loop {
            self.bytes.clear();
            let read = (&mut self.reader).take(LONGEST).read_until(b'\n', &mut self.bytes);
            let read = read.map_err(|source| ImportError::Unreadable { path: self.path.clone(), source })?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            let is_ended = self.bytes.ends_with(b"\n");
            if !is_ended && read as u64 == LONGEST {
                return Err(self.wrong("it is longer than 1 MiB; is it a log?"));
            }
            while self.bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
                self.bytes.pop();
            }
            if !self.bytes.is_empty() {
                self.text.clear();
                // A damaged byte must not hide the figures around it.
                self.text.push_str(&String::from_utf8_lossy(&self.bytes));
                let text = if self.number == 1 { without_mark(&self.text) } else { &self.text };
                return Ok(Some(Line { number: self.number, text, is_ended }));
            }
        }
    }

    /// That the line read last makes no sense.
    pub(super) fn wrong(&self, why: impl Into<String>) -> ImportError {
        wrong_line(self.format, &self.path, self.number, why)
    }
}

/// That a line makes no sense.
pub(super) fn wrong_line(
    format: &'static str,
    path: &Path,
    line: usize,
    why: impl Into<String>,
) -> ImportError {
    ImportError::Line { format, place: name_of(path), line, why: why.into() }
}
