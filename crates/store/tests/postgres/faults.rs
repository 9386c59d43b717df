//! Injected faults, as PostgreSQL's protocol shows them.

use crate::conversation::{Client, Store};
use crate::wire::{bind_texts, execute, parse, sync};
use store::Injection;

fn shop() -> (Store, Client) {
    let mut store = Store::new();
    let mut client = store.client();
    client.query(&mut store, "CREATE TABLE t (k int PRIMARY KEY)");
    (store, client)
}

fn inject(store: &mut Store, client: &mut Client, fault: &str) {
    let said = client.query(store, &format!("SELECT truetail('fault {fault}@next')"));
    assert_eq!(said[2], "done SELECT 1", "{said:?}");
}

const INSERT: &str = "INSERT INTO t VALUES (1)";
const COUNT: &str = "SELECT count(*) FROM t";

#[test]
fn errors_take_the_place_of_the_request() {
    for (class, state) in [
        ("serialization", "40001"),
        ("deadlock", "40P01"),
        ("busy", "55P03"),
        ("retryable", "57P03"),
        ("internal", "XX000"),
    ] {
        let (mut store, mut client) = shop();
        inject(&mut store, &mut client, &format!("error:{class}"));
        assert_eq!(client.refused(&mut store, INSERT), state);
        assert_eq!(client.counts(), (1, 0));
        assert_eq!(client.rows(&mut store, COUNT), ["0"], "nothing was executed");
        inject(&mut store, &mut client, &format!("error:{class}"));
        let batch = [parse("", INSERT, &[]), bind_texts("", "", &[]), execute("", 0), execute("", 0), sync()];
        let said = client.ask(&mut store, &batch.concat());
        assert!(said[2].starts_with(&format!("error ERROR {state}")), "{said:?}");
        assert_eq!(said[3..], ["ready I"]);
        assert_eq!(client.rows(&mut store, COUNT), ["0"]);
    }
}

#[test]
fn an_error_fails_the_transaction_and_ends_the_query() {
    let (mut store, mut client) = shop();
    client.query(&mut store, "BEGIN; INSERT INTO t VALUES (7)");
    inject(&mut store, &mut client, "error:serialization");
    let said = client.query(&mut store, "INSERT INTO t VALUES (8); SELECT 1");
    assert!(said.len() == 2 && said[0].starts_with("error ERROR 40001") && said[1] == "ready E", "{said:?}");
    assert_eq!(client.query(&mut store, "COMMIT"), ["done ROLLBACK", "ready I"]);
    assert_eq!(client.rows(&mut store, COUNT), ["0"]);
}

#[test]
fn a_connection_that_drops_before_has_done_nothing_and_after_has() {
    for (fault, injection, count) in [
        ("drop:before", Injection::DropBefore, "0"),
        ("drop:after", Injection::DropAfter, "1"),
        ("drop:mid", Injection::DropMidAnswer, "1"),
    ] {
        let (mut store, mut client) = shop();
        inject(&mut store, &mut client, fault);
        client.query(&mut store, INSERT);
        assert_eq!(client.answers[0].decision.unwrap().injection, Some(injection));
        assert_eq!(store.client().rows(&mut store, COUNT), [count], "{fault}");
    }
}

#[test]
fn garbage_takes_the_answers_place() {
    let (mut store, mut client) = shop();
    inject(&mut store, &mut client, "garbage");
    client.query(&mut store, INSERT);
    assert!(client.said()[0].starts_with("bytes \\x00"), "{:?}", client.said());
    assert_eq!(store.client().rows(&mut store, COUNT), ["1"], "it was executed");
}

#[test]
fn a_copy_can_fail_too() {
    let (mut store, mut client) = shop();
    client.query(&mut store, "COPY t FROM STDIN");
    client.send(&mut store, &crate::wire::message(b'd', b"1\n"));
    let mut other = store.client();
    inject(&mut store, &mut other, "error:busy");
    let said = client.ask(&mut store, &crate::wire::message(b'c', b""));
    assert!(said[0].starts_with("error ERROR 55P03"), "{said:?}");
    assert_eq!(client.rows(&mut store, COUNT), ["0"]);
}
