//! TPC-C against real databases.

mod conditions;
mod model;
mod population;
mod postgres;
mod resuming;
mod sessions;
mod support;
mod transactions;
