//! What the server says when it refuses.

use crate::codec::{ERROR, Inside};
use units::Outcome;

/// An error packet; borrowed from the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ServerError<'a> {
    pub(crate) code: u16,
    state: &'a [u8],
    message: &'a [u8],
}

impl<'a> ServerError<'a> {
    /// Takes a packet's body apart; what is missing or cut off stays empty.
    pub(crate) fn parse(body: &'a [u8]) -> ServerError<'a> {
        let mut inside = Inside(body.strip_prefix(&[ERROR]).unwrap_or(body));
        let code = inside.u16().unwrap_or(0);
        let (state, message) = match inside.0 {
            // Errors before the log-in have no state.
            [b'#', rest @ ..] if rest.len() >= 5 => rest.split_at(5),
            rest => (&[][..], rest),
        };
        ServerError { code, state, message }
    }

    /// Whether the server closes the connection after it.
    pub(crate) fn is_fatal(&self) -> bool {
        self.closes() || self.shuts_down()
    }

    /// This connection was killed, aborted, or idle for too long.
    fn closes(&self) -> bool {
        matches!(self.code, 1080 | 1152..=1161 | 1184 | 1927 | 4031)
    }

    fn shuts_down(&self) -> bool {
        matches!(self.code, 1053 | 3168)
    }

    /// The class that a sample gets. Numbers mean the same in both servers, but that those from 1900 to 1999 and from 4000
    /// on are MariaDB's own, and those from 3000 on MySQL's.
    pub(crate) fn outcome(&self) -> Outcome {
        match self.code {
            _ if self.shuts_down() => Outcome::Unavailable,
            _ if self.closes() => Outcome::ConnectionLost,
            1213 | 1614 => Outcome::Deadlock,
            // Lock wait timeout; for NOWAIT MySQL has a number of its own.
            1205 | 3572 => Outcome::Busy,
            // MariaDB's innodb_snapshot_isolation; MySQL has nothing like it.
            1020 => Outcome::Serialization,
            1048 | 1062 | 1169 | 1216 | 1217 | 1451 | 1452 | 1557 | 1586 | 1761 | 1762 | 3819 | 4025 => {
                Outcome::Constraint
            }
            // Too many connections, or too much use of something; out of disk, memory or threads; a node of a cluster
            // that is not ready.
            1040 | 1203 | 1226 | 1015 | 1021 | 1037 | 1038 | 1041 | 1047 | 1114 | 1135 => {
                Outcome::Unavailable
            }
            _ if self.state.starts_with(b"23") => Outcome::Constraint,
            _ => Outcome::Server,
        }
    }

    /// Whether connecting again may succeed: starting up, shutting down, too many connections.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self.outcome(), Outcome::Unavailable | Outcome::ConnectionLost)
    }
}

impl std::fmt::Display for ServerError<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let one_line = |text: &[u8]| String::from_utf8_lossy(text).replace(['\n', '\r'], " ");
        write!(f, "ERROR {}", self.code)?;
        if !self.state.is_empty() {
            write!(f, " ({})", one_line(self.state))?;
        }
        write!(f, ": {}", one_line(self.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(code: u16, rest: &[u8]) -> Vec<u8> {
        [&[ERROR], &code.to_le_bytes()[..], rest].concat()
    }

    #[test]
    fn errors_are_shown_in_one_line() {
        let body = packet(1064, b"#42000You have\nan error");
        assert_eq!(ServerError::parse(&body).to_string(), "ERROR 1064 (42000): You have an error");
        let body = packet(1040, b"Too many connections");
        assert_eq!(ServerError::parse(&body).to_string(), "ERROR 1040: Too many connections");
        assert_eq!(ServerError::parse(&[ERROR]).to_string(), "ERROR 0: ");
        assert_eq!(ServerError::parse(&packet(1, b"#42")).to_string(), "ERROR 1: #42");
    }

    #[test]
    fn numbers_have_their_classes() {
        for (code, outcome, fatal) in [
            (1213, Outcome::Deadlock, false),
            (1205, Outcome::Busy, false),
            (3572, Outcome::Busy, false),
            (1020, Outcome::Serialization, false),
            (1062, Outcome::Constraint, false),
            (1452, Outcome::Constraint, false),
            (1451, Outcome::Constraint, false),
            (1048, Outcome::Constraint, false),
            (3819, Outcome::Constraint, false),
            (4025, Outcome::Constraint, false),
            (1040, Outcome::Unavailable, false),
            (1203, Outcome::Unavailable, false),
            (1053, Outcome::Unavailable, true),
            (1927, Outcome::ConnectionLost, true),
            (1317, Outcome::Server, false),
            (1064, Outcome::Server, false),
        ] {
            let body = packet(code, b"#HY000words");
            let error = ServerError::parse(&body);
            assert_eq!((error.outcome(), error.is_fatal()), (outcome, fatal), "{code}");
        }
        let body = packet(9999, b"#23000words");
        assert_eq!(ServerError::parse(&body).outcome(), Outcome::Constraint);
    }
}
