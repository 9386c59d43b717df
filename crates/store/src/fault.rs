//! Faults: what goes wrong on purpose, so that drivers and harnesses can be tried.
//!
//! A fault is written `KIND[:VALUE]@WHEN[,op=OPERATION][,key=PREFIX]`:
//!
//! | kind | what happens |
//! |---|---|
//! | `delay:800ms` | the answer is due so much later; nobody else waits for it |
//! | `freeze:500ms` | a hiccup begins when the request comes; it and all that come later meet it |
//! | `error:serialization`, `deadlock`, `busy`, `retryable`, `internal` | the answer is an error, nothing is executed |
//! | `drop:before`, `after`, `mid` | the connection is closed: nothing executed, executed, half of the answer written |
//! | `partial:200ms` | half of the answer when it is due, the rest so much later |
//! | `garbage` | bytes that are no answer take its place |
//! | `slow-accept:200ms`, `refuse` | a new connection is greeted late, or closed at once |
//!
//! | when | on which of the requests (or connections) that fit |
//! |---|---|
//! | `next` | the first |
//! | `request=1000` | the 1000th, from 1 |
//! | `connection=3` | the third connection, from 1; for `slow-accept` and `refuse` |
//! | `every=100` | the 100th, 200th, 300th… |
//! | `p=0.001` | each with this probability, drawn from the seed |
//! | `time=5s` | the first that comes after so much time |
//! | `always` | each |
//!
//! Numbers and times count from when the fault is given: from the first request for those that the store starts with, from
//! the command for those that come over the wire. Delays add up. Of the other kinds only one can act on a request, the
//! first in the order in which they were given; one that had to stand back and acts just once acts on the next that fits.

mod armed;
mod words;

pub(crate) use armed::{Acts, Faults};

use crate::{Injection, Operation};
use units::Nanos;

/// A fault: what, when, on which requests. See `docs/store.md` for its text; `Display` gives it back.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    /// What happens.
    pub kind: FaultKind,
    /// When.
    pub when: When,
    /// Only on this operation; `None`: on all.
    pub operation: Option<Operation>,
    /// Only on keys that begin so; `None`: on all requests, also those without a key.
    pub key: Option<String>,
}

/// What happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// The answer is due so much later.
    Delay(Nanos),
    /// The store stands still for so long.
    Freeze(Nanos),
    /// The answer is not what it should be.
    Inject(Injection),
    /// A new connection meets it.
    Connection(ConnectionFault),
}

/// What a new connection meets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionFault {
    /// Nothing that it sends is read for so long.
    SlowAccept(Nanos),
    /// It is closed at once.
    Refuse,
}

/// When a fault acts, among the requests or connections that fit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum When {
    /// The first.
    Next,
    /// The n-th request, from 1.
    Request(u64),
    /// The n-th connection, from 1.
    Connection(u64),
    /// Each n-th, n above 0.
    Every(u64),
    /// Each with this probability, in [0, 1].
    Probability(f64),
    /// The first that comes after so much time.
    Time(Nanos),
    /// Each.
    Always,
}

impl When {
    /// Whether it acts at most once.
    pub fn is_once(self) -> bool {
        matches!(self, When::Next | When::Request(_) | When::Connection(_) | When::Time(_))
    }
}
