//! Bytes come in pieces, cut anywhere; the answer is the same.

use crate::conversation::Store;
use crate::wire::{bind, bind_texts, close, describe, execute, flush, message, parse, query, start, sync};
use proptest::prelude::*;

/// Everything that a client may say, in an order in which it may say it.
fn script() -> Vec<u8> {
    let one = 1_i32.to_be_bytes();
    [
        vec![0, 0, 0, 8, 4, 210, 22, 47],
        start(&[("user", "ann"), ("database", "shop")]),
        query("CREATE TABLE t (id int PRIMARY KEY, name text); INSERT INTO t VALUES (1, 'a'), (2, 'b')"),
        query("COPY t FROM STDIN"),
        message(b'd', b"3\tc\n4\t"),
        message(b'd', b"d\\\\\n"),
        message(b'c', b""),
        parse("s", "SELECT * FROM t WHERE id = $1", &[]),
        describe(b'S', "s"),
        flush(),
        bind("", "s", 1, &[Some(&one)], 1),
        execute("", 0),
        bind_texts("p", "s", &["2"]),
        describe(b'P', "p"),
        execute("p", 1),
        execute("p", 1),
        close(b'P', "p"),
        sync(),
        parse("", "SELECT nothing", &[]),
        sync(),
        query("BEGIN; UPDATE t SET name = name || '!' WHERE id > 1; SELECT * FROM t ORDER BY id DESC"),
        query("SELECT 1/0"),
        query("COMMIT"),
        query(""),
        query("SELECT truetail('status')"),
        message(b'X', b""),
    ]
    .concat()
}

/// All bytes that come back when `input` is cut at these places.
fn answers(input: &[u8], mut cuts: Vec<usize>) -> Vec<u8> {
    cuts.push(input.len());
    cuts.sort_unstable();
    let mut store = Store::new();
    let mut client = store.connect();
    let (mut from, mut all) = (0, Vec::new());
    for cut in cuts {
        if !client.broken {
            client.send(&mut store, &input[from..cut]);
            all.extend_from_slice(&client.bytes);
        }
        from = cut;
    }
    assert!(client.broken, "it ends with a Terminate");
    all
}

#[test]
fn byte_by_byte() {
    let input = script();
    let whole = answers(&input, Vec::new());
    assert!(whole.len() > 1_000);
    assert_eq!(answers(&input, (0..input.len()).collect()), whole);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn cut_anywhere(cuts in prop::collection::vec(0..script().len(), 0..20)) {
        let input = script();
        prop_assert_eq!(answers(&input, cuts), answers(&input, Vec::new()));
    }
}
