//! Throw-away servers from installed programs: started on a free port in a directory of their own, gone at the end.
//!
//! Tests need them, and so does an experiment that was given no database. A server that refuses to run as root is run as a
//! plain user; nothing of the host's own servers is touched.
#![deny(missing_docs)]

pub mod cassandra;
mod certificate;
pub mod command;
pub mod directory;
pub mod mariadb;
pub mod postgres;
