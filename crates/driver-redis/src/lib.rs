//! The native target for stores that speak RESP.
#![deny(missing_docs)]
