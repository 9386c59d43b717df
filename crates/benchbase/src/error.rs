//! Why a configuration is refused.

use std::fmt;

/// A configuration that can't be used. One line: where, what, and what is valid instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigurationError {
    line: Option<u32>,
    problem: String,
}

impl ConfigurationError {
    /// Of something in a line, counted from 1.
    pub(crate) fn at(line: u32, problem: impl Into<String>) -> ConfigurationError {
        ConfigurationError { line: Some(line), problem: problem.into() }
    }

    /// Of the document as a whole, or of what is not in it.
    pub(crate) fn whole(problem: impl Into<String>) -> ConfigurationError {
        ConfigurationError { line: None, problem: problem.into() }
    }
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.problem),
            None => f.write_str(&self.problem),
        }
    }
}

impl std::error::Error for ConfigurationError {}
