//! Grades load tools against known truth.
#![deny(missing_docs)]
