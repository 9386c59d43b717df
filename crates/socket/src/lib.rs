//! Non-blocking sockets, with the kernel's receive stamps where it gives them.
//!
//! Drivers and the simulated store share it: both ends of a measurement take their times from the same kind of stamp.
//! A [`Link`] is a socket with or without TLS on it. Nothing here blocks but [`Socket::wait`] and connecting, which are for set-up and never between a request's `sent`
//! and `completed`.
#![deny(missing_docs)]

mod buffer;
mod deadline;
mod link;
mod stamps;
mod stream;
pub mod tls;

pub use buffer::Buffer;
pub use deadline::Deadline;
pub use link::Link;
pub use stream::{Readiness, Socket};
