//! Whatever somebody types as a target: its parts or one line that says what is wrong, never a panic, and never a
//! password in what is shown.
//!
//! `cargo xtask soak --fuzz` does the same for as long as it is told.

use driver::{TargetUrl, holds_secret, names_secret};
use testkit::fuzz::Fuzz;

const KNOWN: [&str; 7] = [
    "sqlite:/tmp/a.db?journal=wal",
    "postgres://user:s3cr3t-w0rd@host:5432/db?sslmode=require&x=%2F",
    "postgres://%2Fvar%2Frun/db",
    "postgres://u:s3cr3t-w0rd@[::1]:5432/db",
    "null:",
    "postgres:///db?host=/tmp",
    "a+b-c://h:0/?=",
];
const WORDS: [&str; 18] =
    ["%", "%2", "%zz", "%00", "%40", "%ff", "@", ":", "/", "//", "?", "&", "=", "[", "]", "65536", "\n", "ß"];

#[test]
fn fuzz_urls() {
    Fuzz::new("url").from(KNOWN).words(WORDS).run(10_000, |input| {
        let text = String::from_utf8_lossy(input);
        match TargetUrl::parse(&text) {
            Ok(url) => shown_and_read_again(&url),
            Err(error) => {
                let message = error.to_string();
                assert!(text.contains(['\n', '\r']) || !message.contains('\n'), "{message:?}");
            }
        }
    });
}

/// The form that is recorded names the same target, and not the password.
fn shown_and_read_again(url: &TargetUrl) {
    let shown = url.to_string();
    let again =
        TargetUrl::parse(&shown).unwrap_or_else(|error| panic!("{url:?} is shown as {shown}: {error}"));
    let is_secret = |(name, value): &(String, String)| names_secret(name) || holds_secret(value);
    let options = url.options.iter().filter(|option| !is_secret(option)).cloned().collect();
    let expected = TargetUrl { password: None, options, ..url.clone() };
    assert!(again == expected && !shown.contains('\n'), "{shown:?}");
}
