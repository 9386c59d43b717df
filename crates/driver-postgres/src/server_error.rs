//! What the server says when it refuses.

use crate::codec::Inside;
use units::Outcome;

/// The fields of an ErrorResponse that matter here; borrowed from the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ServerError<'a> {
    severity: &'a [u8],
    pub(crate) code: &'a [u8],
    message: &'a [u8],
    hint: &'a [u8],
}

impl<'a> ServerError<'a> {
    /// Takes an ErrorResponse's body apart; fields that are missing or cut off stay empty.
    pub(crate) fn parse(body: &'a [u8]) -> ServerError<'a> {
        let mut error = ServerError::default();
        let mut inside = Inside(body);
        while let Some(kind) = inside.byte().filter(|kind| *kind != 0) {
            // A text that was cut off at the end of its buffer is still worth showing.
            let rest = inside.0;
            let text = inside.text().unwrap_or(rest);
            match kind {
                b'V' => error.severity = text,
                b'S' if error.severity.is_empty() => error.severity = text,
                b'C' => error.code = text,
                b'M' => error.message = text,
                b'H' => error.hint = text,
                _ => {}
            }
            if text.len() == rest.len() {
                break;
            }
        }
        error
    }

    /// Whether the server closes the connection after it.
    pub(crate) fn is_fatal(&self) -> bool {
        matches!(self.severity, b"FATAL" | b"PANIC")
    }

    /// The class that a sample gets.
    pub(crate) fn outcome(&self) -> Outcome {
        match self.code {
            b"40001" => Outcome::Serialization,
            b"40P01" => Outcome::Deadlock,
            b"55P03" => Outcome::Busy,
            [b'2', b'3', ..] => Outcome::Constraint,
            [b'5', b'3', ..] | [b'5', b'7', b'P', ..] => Outcome::Unavailable,
            _ => Outcome::Server,
        }
    }

    /// Whether connecting again may succeed: starting up, shutting down, too many connections.
    pub(crate) fn is_transient(&self) -> bool {
        self.outcome() == Outcome::Unavailable
    }
}

impl std::fmt::Display for ServerError<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let one_line = |text: &[u8]| String::from_utf8_lossy(text).replace(['\n', '\r'], " ");
        write!(f, "{}: {}", one_line(self.severity), one_line(self.message))?;
        if !self.code.is_empty() {
            write!(f, " (SQLSTATE {})", one_line(self.code))?;
        }
        if !self.hint.is_empty() {
            write!(f, "; hint: {}", one_line(self.hint))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_and_shown_in_one_line() {
        let body = b"SFEHLER\0VERROR\0C40001\0Mtoo\nbad\0Hretry\0Ffile.c\0\0";
        let error = ServerError::parse(body);
        assert_eq!(error.to_string(), "ERROR: too bad (SQLSTATE 40001); hint: retry");
        assert_eq!((error.outcome(), error.is_fatal()), (Outcome::Serialization, false));
    }

    #[test]
    fn what_is_cut_off_is_shown_as_far_as_it_goes() {
        let error = ServerError::parse(b"VFATAL\0C57P01\0Mterminating conn");
        assert_eq!(error.to_string(), "FATAL: terminating conn (SQLSTATE 57P01)");
        assert!(error.is_fatal() && error.is_transient());
        assert_eq!(ServerError::parse(b"").outcome(), Outcome::Server);
    }

    #[test]
    fn codes_have_their_classes() {
        for (code, outcome) in [
            ("40P01", Outcome::Deadlock),
            ("55P03", Outcome::Busy),
            ("23505", Outcome::Constraint),
            ("53300", Outcome::Unavailable),
            ("57P03", Outcome::Unavailable),
            ("57014", Outcome::Server),
            ("22003", Outcome::Server),
        ] {
            let body = format!("C{code}\0\0");
            assert_eq!(ServerError::parse(body.as_bytes()).outcome(), outcome, "{code}");
        }
    }
}
