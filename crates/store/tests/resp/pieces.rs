//! However the bytes are cut, the answers are the same.

use crate::commands::{SCRIPT, encoded, words};
use crate::store_of_one::Store;
use proptest::prelude::*;

/// The script as arrays and lines in turn, and a malformed request at its end.
fn input() -> Vec<u8> {
    let mut input = Vec::new();
    for (number, line) in SCRIPT.lines().enumerate() {
        match number % 3 {
            0 => input.extend_from_slice(format!("{line}\r\n").as_bytes()),
            _ => input.extend_from_slice(&encoded(&words(line))),
        }
    }
    input.extend_from_slice(b"*1\r\n:no\r\nPING\r\n");
    input
}

/// The answers to `input`, cut at these places.
fn answers(input: &[u8], cuts: impl Iterator<Item = usize>) -> (Vec<u8>, usize) {
    let mut store = Store::new();
    let (mut client, mut begin) = (store.client(), 0);
    for cut in cuts.chain([input.len()]) {
        client.send(&mut store, &input[begin..cut]);
        begin = cut;
    }
    assert!(client.closed, "the malformed end must close the connection");
    (client.received, client.answers.len())
}

#[test]
fn byte_by_byte_is_as_one_piece() {
    let input = input();
    let (whole, count) = answers(&input, std::iter::empty());
    assert_eq!(count, SCRIPT.lines().count() + 1);
    assert!(whole.ends_with(b"-ERR Protocol error: expected '$', got ':'\r\n"));
    assert_eq!(answers(&input, 1..input.len()), (whole, count));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_pieces_are_as_one(mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..200)) {
        let input = input();
        let mut cuts: Vec<usize> = cuts.drain(..).map(|cut| cut.index(input.len())).collect();
        cuts.sort_unstable();
        prop_assert_eq!(answers(&input, cuts.into_iter()), answers(&input, std::iter::empty()));
    }
}
