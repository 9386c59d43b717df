//! How BenchBase tells ends apart.

use units::Outcome;

/// BenchBase's classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It did what it was meant to do, whether or not it met a row.
    Completed,
    /// It was rolled back, as the benchmark has it.
    Aborted,
    /// The server asked for it to be made again, and no retry was left.
    RejectedRetry,
    /// The same with another transaction; no workload of truetail's asks for that.
    RejectedRetryDifferent,
    /// Any other error of the database's.
    UnexpectedError,
    /// Nobody knows: it was given up, or the connection was lost.
    Unknown,
}

impl End {
    /// All, in the order of BenchBase's page.
    pub const ALL: [End; 6] = [
        End::Completed,
        End::Aborted,
        End::RejectedRetry,
        End::RejectedRetryDifferent,
        End::UnexpectedError,
        End::Unknown,
    ];

    /// The class of an outcome.
    pub fn of(outcome: Outcome) -> End {
        match outcome {
            Outcome::Ok | Outcome::Miss => End::Completed,
            Outcome::Abort => End::Aborted,
            Outcome::Serialization | Outcome::Deadlock | Outcome::Busy => End::RejectedRetry,
            Outcome::Constraint | Outcome::Unavailable | Outcome::Server => End::UnexpectedError,
            Outcome::Timeout | Outcome::Unfinished | Outcome::ConnectionLost | Outcome::Protocol => {
                End::Unknown
            }
        }
    }

    /// The heading on BenchBase's page.
    pub fn heading(self) -> &'static str {
        match self {
            End::Completed => "Completed Transactions:",
            End::Aborted => "Aborted Transactions:",
            End::RejectedRetry => "Rejected Transactions (Server Retry):",
            End::RejectedRetryDifferent => "Rejected Transactions (Retry Different):",
            End::UnexpectedError => "Unexpected SQL Errors:",
            End::Unknown => "Unknown Status Transactions:",
        }
    }
}
