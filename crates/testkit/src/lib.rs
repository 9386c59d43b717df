//! Test support: what proves the promises of the other crates.
//!
//! - [`alloc`]: "no allocation on the hot path", counted per thread;
//! - [`memory`]: "memory stays bounded", in bytes over all threads;
//! - [`fuzz`]: inputs that nobody wrote, from a seed;
//! - [`syscalls`]: "no syscall of our own", proven in a jailed child;
//! - `locked`: "no lock", by counting locked instructions (x86-64);
//! - [`postgres`]: a real PostgreSQL server that a test starts, freezes, restarts and throws away;
//! - [`mariadb`], [`redis`], [`cassandra`], [`ferretdb`]: the same for MariaDB, Redis, Cassandra and FerretDB;
//! - [`ycsb`]: YCSB's client with `bindings/ycsb`, built once;
//! - [`browser`]: a real browser that opens a page, zooms it and looks at it;
//! - [`base64`]: bytes as text, for logs that tests make;
//! - [`documented`]: JSON documents against the page that describes them, field by field.
//!
//! Each checker has a canary test that must trip it: a checker that never fires proves nothing.
#![deny(missing_docs)]

pub mod alloc;
pub mod base64;
pub mod browser;
pub mod cassandra;
pub mod documented;
pub mod ferretdb;
pub mod fuzz;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod locked;
pub mod mariadb;
pub mod memory;
pub mod postgres;
pub mod redis;
pub mod syscalls;
pub mod ycsb;
