//! What the names of YCSB's measurements stand for.
//!
//! YCSB measures an operation that did not succeed under another name: `READ-FAILED` or, with `reportlatencyforeacherror` and
//! `latencytrackederrors`, `READ-` and the name of its status, which a binding may make up (`measure` of `DBWrapper`). An
//! operation's own name may hold the same sign: `READ-MODIFY-WRITE`.

use super::INTENDED;
use units::Outcome;

/// What YCSB's own classes measure.
const OPERATIONS: [&str; 8] =
    ["READ-MODIFY-WRITE", "READ", "SCAN", "UPDATE", "INSERT", "DELETE", "CLEANUP", "VERIFY"];
/// Of these and of what `measurement.trackjvm` adds, those that are no requests of the load: pairs of requests that are counted
/// already, the load's own clean-up and checks, its JVM.
const APART: [&str; 8] = [
    "READ-MODIFY-WRITE",
    "CLEANUP",
    "VERIFY",
    "THREAD_COUNT",
    "USED_MEM_MB",
    "SYS_LOAD_AVG",
    "GCS",
    "GCS_TIME",
];
/// The names of YCSB's own failures, and the one that stands for all of them.
const FAILURES: [&str; 8] = [
    "FAILED",
    "ERROR",
    "NOT_FOUND",
    "NOT_IMPLEMENTED",
    "UNEXPECTED_STATE",
    "BAD_REQUEST",
    "FORBIDDEN",
    "SERVICE_UNAVAILABLE",
];

/// A name in its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Name<'a> {
    /// The operation that was measured.
    pub(crate) operation: &'a str,
    /// The status that it ended with, where the name has one; else it succeeded.
    pub(crate) status: Option<&'a str>,
}

impl<'a> Name<'a> {
    /// Of a measurement, from the schedule or not.
    pub(crate) fn of(measure: &'a str) -> Name<'a> {
        let name = measure.strip_prefix(INTENDED).unwrap_or(measure);
        let known = OPERATIONS.into_iter().find_map(|known| {
            let rest = name.strip_prefix(known)?;
            (rest.is_empty() || rest.starts_with('-')).then(|| name.split_at(known.len()))
        });
        let of_binding = || {
            let (operation, status) = name.rsplit_once('-')?;
            (FAILURES.contains(&status) && !operation.is_empty()).then_some((operation, status))
        };
        let (operation, status) = known.or_else(of_binding).unwrap_or((name, ""));
        let status = status.strip_prefix('-').unwrap_or(status);
        Name { operation, status: Some(status).filter(|status| !status.is_empty()) }
    }

    /// Whether requests of the load are measured, however they ended.
    pub(crate) fn is_of_load(&self) -> bool {
        !APART.contains(&self.operation)
    }

    /// Whether YCSB's own classes give such a name; a binding may give any.
    pub(crate) fn is_known(&self) -> bool {
        OPERATIONS.contains(&self.operation) || APART.contains(&self.operation)
    }

    /// Whether nobody can tell if it ends with a status.
    pub(crate) fn is_ambiguous(&self) -> bool {
        !self.is_known() && self.status.is_none() && self.operation.contains('-')
    }

    /// How its requests ended.
    pub(crate) fn outcome(&self) -> Outcome {
        match self.status {
            None | Some("OK" | "BATCHED_OK") => Outcome::Ok,
            Some("NOT_FOUND") => Outcome::Miss,
            Some("NOT_IMPLEMENTED") => Outcome::Protocol,
            Some("SERVICE_UNAVAILABLE") => Outcome::Unavailable,
            Some(_) => Outcome::Server,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_an_operation_is_how_it_ended() {
        let cases = [
            ("READ", "READ", None, Outcome::Ok),
            ("Intended-READ", "READ", None, Outcome::Ok),
            ("READ-FAILED", "READ", Some("FAILED"), Outcome::Server),
            ("Intended-READ-ERROR", "READ", Some("ERROR"), Outcome::Server),
            ("SCAN-UNEXPECTED_STATE", "SCAN", Some("UNEXPECTED_STATE"), Outcome::Server),
            ("UPDATE-NOT_FOUND", "UPDATE", Some("NOT_FOUND"), Outcome::Miss),
            ("INSERT-made up-2", "INSERT", Some("made up-2"), Outcome::Server),
            ("READ-MODIFY-WRITE", "READ-MODIFY-WRITE", None, Outcome::Ok),
            ("READ-MODIFY-WRITE-ERROR", "READ-MODIFY-WRITE", Some("ERROR"), Outcome::Server),
            ("READER", "READER", None, Outcome::Ok),
            ("PUT-IF-FORBIDDEN", "PUT-IF", Some("FORBIDDEN"), Outcome::Server),
            ("PUT-IF", "PUT-IF", None, Outcome::Ok),
        ];
        for (measure, operation, status, outcome) in cases {
            let name = Name::of(measure);
            assert_eq!(
                (name.operation, name.status, name.outcome()),
                (operation, status, outcome),
                "{measure}"
            );
        }
        assert!(Name::of("PUT-IF").is_ambiguous() && !Name::of("READ-MODIFY-WRITE").is_ambiguous());
        assert!(!Name::of("GCS_TIME").is_of_load() && Name::of("READ-ERROR").is_of_load());
    }
}
