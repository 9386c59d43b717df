//! Workloads and data sets against a real database.

mod marker;
mod support;
mod ycsb;
