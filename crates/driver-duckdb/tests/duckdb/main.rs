//! DuckDB through the driver: the suite that every driver must pass, and what is its own. All of it needs the library, which
//! `cargo xtask install` fetches.

mod administration;
mod conflicts;
mod conformance;
mod opening;
mod plans;
mod session;
mod support;
mod threads;

#[global_allocator]
static ALLOC: testkit::alloc::CountingAlloc = testkit::alloc::CountingAlloc;
