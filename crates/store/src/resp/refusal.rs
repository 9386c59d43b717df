//! Errors, in Redis's words.

use crate::ErrorClass;
use std::borrow::Cow;

/// Why a command was not executed: the line behind the `-`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refusal(Cow<'static, str>);

pub(super) const SYNTAX: Refusal = Refusal::new("ERR syntax error");
pub(super) const WRONG_TYPE: Refusal =
    Refusal::new("WRONGTYPE Operation against a key holding the wrong kind of value");
pub(super) const NOT_AN_INTEGER: Refusal = Refusal::new("ERR value is not an integer or out of range");
pub(super) const NOT_A_FLOAT: Refusal = Refusal::new("ERR value is not a valid float");
pub(super) const RANGE_NOT_A_FLOAT: Refusal = Refusal::new("ERR min or max is not a float");
pub(super) const NOT_A_NUMBER: Refusal = Refusal::new("ERR resulting score is not a number (NaN)");
pub(super) const OVERFLOW: Refusal = Refusal::new("ERR increment or decrement would overflow");
pub(super) const STRING_TOO_LONG: Refusal =
    Refusal::new("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
pub(super) const NEGATIVE: Refusal = Refusal::new("ERR value is out of range, must be positive");
pub(super) const ABORTED: Refusal =
    Refusal::new("EXECABORT Transaction discarded because of previous errors.");
pub(super) const NO_AUTHENTICATION: Refusal = Refusal::new("NOAUTH Authentication required.");
pub(super) const WRONG_PASSWORD: Refusal =
    Refusal::new("WRONGPASS invalid username-password pair or user is disabled.");
pub(super) const NOT_IN_TRANSACTION: Refusal = Refusal::new("ERR Command not allowed inside a transaction");
pub(super) const NO_EXPIRY: Refusal =
    Refusal::new("ERR this store simulates no expiry: use SET without EX, PX, EXAT and PXAT");

impl Refusal {
    /// One that is always the same.
    pub(super) const fn new(line: &'static str) -> Refusal {
        Refusal(Cow::Borrowed(line))
    }

    /// One that quotes what was asked.
    pub(super) fn quoting(line: String) -> Refusal {
        Refusal(Cow::Owned(line))
    }

    /// Too few or too many words for a command; a subcommand is named `client|id`.
    pub(super) fn arity(name: &str) -> Refusal {
        Refusal::quoting(format!("ERR wrong number of arguments for '{name}' command"))
    }

    /// `EXEC` itself was wrong: the transaction goes, and the reason stands without its code.
    pub(super) fn abortion(self) -> Refusal {
        let reason = self.line().strip_prefix("ERR ").unwrap_or(self.line());
        Refusal::quoting(format!("EXECABORT Transaction discarded because of: {reason}"))
    }

    /// No such command; Redis quotes up to 128 bytes of the name and of what follows it.
    pub(super) fn unknown_command(words: &[&[u8]]) -> Refusal {
        let name = quoted(words.first().copied().unwrap_or_default(), 128);
        let mut rest = String::new();
        for word in words.iter().skip(1) {
            if rest.len() >= 128 {
                break;
            }
            let room = 128 - rest.len();
            rest.push_str(&format!("'{}' ", quoted(word, room)));
        }
        Refusal::quoting(format!("ERR unknown command '{name}', with args beginning with: {rest}"))
    }

    /// No such subcommand of `container`.
    pub(super) fn unknown_subcommand(container: &str, word: &[u8]) -> Refusal {
        let (word, container) = (quoted(word, 128), container.to_ascii_uppercase());
        Refusal::quoting(format!("ERR unknown subcommand '{word}'. Try {container} HELP."))
    }

    /// The answer would exceed what the store is willing to build.
    pub(super) fn too_large(limit: usize) -> Refusal {
        Refusal::quoting(format!(
            "ERR the answer exceeds {limit} bytes, the most that this store builds: ask for less at once (COUNT, LIMIT, smaller ranges)"
        ))
    }

    /// What an injected error looks like. The words before the first blank are what clients tell errors by.
    pub(super) fn injected(class: ErrorClass) -> Refusal {
        Refusal::new(match class {
            ErrorClass::Serialization => {
                "EXECABORT Transaction discarded because of an injected serialization failure."
            }
            ErrorClass::Busy => "BUSY Injected: the store is busy. Try again later.",
            ErrorClass::Retryable => "LOADING Injected: the store is not ready. Try again later.",
            ErrorClass::Deadlock => "TRYAGAIN Injected: deadlock detected, the request was the victim.",
            ErrorClass::Internal => "ERR injected internal error",
        })
    }

    /// The line without `-` and line end.
    pub(super) fn line(&self) -> &str {
        &self.0
    }
}

/// At most so many bytes of a word, as C prints it: up to its first NUL. What is no UTF-8 is replaced.
fn quoted(word: &[u8], limit: usize) -> String {
    let word = word.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(&word[..word.len().min(limit)]).into_owned()
}
