//! Workloads and data sets against a real database.

mod marker;
mod parts;
mod sessions;
mod support;
mod ycsb;
