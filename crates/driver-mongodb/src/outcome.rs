//! Which class a server's error belongs to, by its number (`src/mongo/base/error_codes.yml` of MongoDB's sources).

use units::Outcome;

/// The class of an error.
pub(crate) fn outcome(code: i64) -> Outcome {
    match code {
        // A key that is there already; a document that the collection's rules forbid.
        11000 | 11001 | 12582 | 121 => Outcome::Constraint,
        // WriteConflict.
        112 => Outcome::Serialization,
        // LockTimeout, LockBusy.
        24 | 46 => Outcome::Busy,
        // NotWritablePrimary, NotPrimaryNoSecondaryOk: another node is.
        10107 | 13435 | 10058 => Outcome::Redirected,
        // Starting, stopping, stepping down, or without the nodes that are needed.
        91 | 189 | 11600 | 11602 | 13436 | 64 | 79 | 100 | 133 | 134 | 202 | 262 | 462 => {
            Outcome::Unavailable
        }
        _ => Outcome::Server,
    }
}

/// Whether a server that answers so when one connects may let us in later.
pub(crate) fn may_pass(code: i64) -> bool {
    matches!(outcome(code), Outcome::Unavailable | Outcome::Redirected | Outcome::Busy)
}
