//! The seam between truetail and a database.
//!
//! A [`Target`] makes [`Session`]s; a session takes commands and gives replies. The contract is shaped by
//! one need: the caller stamps the times, so a driver reads no clock, and what costs time before the request
//! leaves (encoding) is apart from the request itself.
//!
//! ```text
//!  stage(command)…   encode into the session's own buffer: no I/O
//!  poll_reply()      hand all staged bytes to the kernel, then collect the replies; Pending = wait for the
//!                    descriptor. An embedded database does its work here, blocking, and never pends.
//!  arrived()         the kernel's receive stamp of the last byte that was needed
//!  value(…)          look into kept rows until the next stage()
//! ```
//!
//! Connecting blocks and happens on a thread of its own, never on a worker: name look-ups, TLS and SCRAM's
//! key stretching would delay every other session of that worker.
//!
//! Rejected: `async fn` in the session (needs a runtime in the seam), a poll method for each statement kind
//! (eleven associated types), a connection pool here (the pool is part of what is measured).
//!
//! A driver that comes from elsewhere implements the same two traits, proves itself with
//! [`mod@conformance`], and states in [`TargetFacts::native`] whether "no allocation" is promised.
#![deny(missing_docs)]

mod command;
pub mod conformance;
mod conversation;
mod dialect;
mod error;
mod exchange;
mod named;
mod records;
mod target;
mod url;
mod value;

pub use command::{Command, Fields, Isolation, KeyValue, Results, StatementSpec};
pub use conversation::{Conversation, Direct};
pub use dialect::Dialect;
pub use error::OpError;
pub use exchange::{Admission, Exchange, Phase, Step};
pub use named::statement_names;
pub use records::{EachRecord, Records};
pub use target::{
    Administration, BulkRows, Canceller, ConnectError, Execution, KernelStamp, Reply, Session, Target,
    TargetFacts,
};
pub use url::{TargetUrl, UrlError, holds_secret, names_secret};
pub use value::{Decimal, Value, ValueRef, ValueType};
