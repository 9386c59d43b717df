//! SQLite through the driver: the suite that every driver must pass, and what is its own.

mod administration;
mod conformance;
mod locks;
mod opening;
mod session;
mod support;

#[global_allocator]
static ALLOC: testkit::alloc::CountingAlloc = testkit::alloc::CountingAlloc;
