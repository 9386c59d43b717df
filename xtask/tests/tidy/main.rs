//! The invariants of ARCHITECTURE.md and the house rules, as tests.
//!
//! Each rule is a function from text to complaints. It runs over the repository, and over a text that breaks it (the
//! rule's canary): a rule that never complains proves nothing.
//!
//! Gaps: rules read lines, not syntax. What a macro makes, or what hides behind a renaming import, is not seen.

mod documents;
mod layers;
mod licences;
mod text;
mod toolchain;
mod tree;

/// Fails with all complaints at once.
fn none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// Passes only if there is a complaint that holds `words`.
#[track_caller]
fn caught(complaints: &[String], words: &str) {
    assert!(complaints.iter().any(|c| c.contains(words)), "no complaint says `{words}`: {complaints:?}");
}
