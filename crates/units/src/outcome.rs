//! How an operation ended.

/// How one request ended: one byte in a sample. The numbers are part of the recording's format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Outcome {
    /// It did what it was meant to do.
    Ok = 0,
    /// It succeeded and touched no row although it was meant to.
    Miss = 1,
    /// The transaction rolled back as its logic demands (not an error).
    Abort = 2,
    /// No answer within the time limit; the sample is censored.
    Timeout = 3,
    /// Still in flight, or never sent, when the run ended; the sample is censored.
    Unfinished = 4,
    /// Serialization failure (SQLSTATE 40001).
    Serialization = 5,
    /// Deadlock victim (SQLSTATE 40P01).
    Deadlock = 6,
    /// Lock not available, database busy or locked.
    Busy = 7,
    /// A constraint was violated (class 23).
    Constraint = 8,
    /// The connection was lost or closed.
    ConnectionLost = 9,
    /// The server refused for lack of a resource or while starting or stopping (classes 53, 57).
    Unavailable = 10,
    /// Any other error that the database reported.
    Server = 11,
    /// The answer could not be understood, or the driver can't do what was asked.
    Protocol = 12,
    /// Another node has what was asked for (Redis: MOVED, ASK).
    Redirected = 13,
}

/// The coarse classes that pages and JSON count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum OutcomeClass {
    /// [`Outcome::Ok`]
    Ok,
    /// [`Outcome::Miss`]
    Miss,
    /// [`Outcome::Abort`]
    Abort,
    /// Every outcome from [`Outcome::Serialization`] on.
    Error,
    /// [`Outcome::Timeout`]
    Timeout,
    /// [`Outcome::Unfinished`]
    Unfinished,
}

impl Outcome {
    /// All outcomes in the order of their numbers.
    pub const ALL: [Outcome; 14] = [
        Outcome::Ok,
        Outcome::Miss,
        Outcome::Abort,
        Outcome::Timeout,
        Outcome::Unfinished,
        Outcome::Serialization,
        Outcome::Deadlock,
        Outcome::Busy,
        Outcome::Constraint,
        Outcome::ConnectionLost,
        Outcome::Unavailable,
        Outcome::Server,
        Outcome::Protocol,
        Outcome::Redirected,
    ];

    /// The outcome with this number; `None` for a number of a later version.
    pub fn from_code(code: u8) -> Option<Outcome> {
        Outcome::ALL.get(usize::from(code)).copied()
    }

    /// The number in a recording.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The name in recordings, JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Miss => "miss",
            Outcome::Abort => "abort",
            Outcome::Timeout => "timeout",
            Outcome::Unfinished => "unfinished",
            Outcome::Serialization => "serialization-failure",
            Outcome::Deadlock => "deadlock",
            Outcome::Busy => "busy",
            Outcome::Constraint => "constraint-violation",
            Outcome::ConnectionLost => "connection-lost",
            Outcome::Unavailable => "unavailable",
            Outcome::Server => "server-error",
            Outcome::Protocol => "protocol-error",
            Outcome::Redirected => "redirected",
        }
    }

    /// The class that it counts in.
    pub fn class(self) -> OutcomeClass {
        match self {
            Outcome::Ok => OutcomeClass::Ok,
            Outcome::Miss => OutcomeClass::Miss,
            Outcome::Abort => OutcomeClass::Abort,
            Outcome::Timeout => OutcomeClass::Timeout,
            Outcome::Unfinished => OutcomeClass::Unfinished,
            _ => OutcomeClass::Error,
        }
    }

    /// Whether the completion time is only a lower bound.
    pub fn is_censored(self) -> bool {
        matches!(self, Outcome::Timeout | Outcome::Unfinished)
    }

    /// Whether the database says itself that it did nothing because of others, and may be asked once more.
    pub fn is_retryable(self) -> bool {
        matches!(self, Outcome::Serialization | Outcome::Deadlock | Outcome::Busy)
    }
}

impl OutcomeClass {
    /// All classes.
    pub const ALL: [OutcomeClass; 6] = [
        OutcomeClass::Ok,
        OutcomeClass::Miss,
        OutcomeClass::Abort,
        OutcomeClass::Error,
        OutcomeClass::Timeout,
        OutcomeClass::Unfinished,
    ];

    /// The name in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            OutcomeClass::Ok => "ok",
            OutcomeClass::Miss => "miss",
            OutcomeClass::Abort => "abort",
            OutcomeClass::Error => "error",
            OutcomeClass::Timeout => "timeout",
            OutcomeClass::Unfinished => "unfinished",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_stable_and_names_unique() {
        for (index, outcome) in Outcome::ALL.iter().enumerate() {
            assert_eq!(usize::from(outcome.code()), index);
            assert_eq!(Outcome::from_code(outcome.code()), Some(*outcome));
        }
        let mut names: Vec<_> = Outcome::ALL.iter().map(|o| o.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Outcome::ALL.len());
        assert_eq!(Outcome::from_code(200), None);
    }
}
