//! Injected faults: what is answered, and whether anything was executed.

use crate::store_of_one::{Client, Store};

/// A store in which the next request meets this fault.
fn armed(fault: &str) -> (Store, Client) {
    let mut store = Store::new();
    let mut client = store.client();
    arm(&mut store, fault);
    client.line(&mut store, "CLIENT ID");
    (store, client)
}

fn arm(store: &mut Store, fault: &str) {
    let answer = store.engine.control(store.now, &format!("fault {fault}@next"));
    assert!(answer.is_ok(), "{answer:?}");
}

#[test]
fn each_class_of_error_has_the_code_that_clients_know() {
    for (class, code) in [
        ("serialization", "-EXECABORT Transaction discarded because of "),
        ("busy", "-BUSY "),
        ("retryable", "-LOADING "),
        ("deadlock", "-TRYAGAIN "),
        ("internal", "-ERR "),
    ] {
        let (mut store, mut client) = armed(&format!("error:{class}"));
        let answer = client.line(&mut store, "SET k v");
        assert!(answer.starts_with(code) && answer.ends_with("\r\n"), "{class}: {answer}");
        assert_eq!(client.line(&mut store, "GET k"), "$-1\r\n", "{class}: it must not be executed");
    }
}

#[test]
fn only_faults_that_execute_change_anything() {
    for (fault, executes) in [
        ("drop:before", false),
        ("drop:after", true),
        ("drop:mid", true),
        ("partial:5ms", true),
        ("garbage", true),
        ("delay:5ms", true),
    ] {
        let (mut store, mut client) = armed(fault);
        client.line(&mut store, "SET k v");
        let found = if executes { "$1\r\nv\r\n" } else { "$-1\r\n" };
        assert_eq!(client.line(&mut store, "GET k"), found, "{fault}");
    }
}

#[test]
fn an_error_at_exec_loses_the_whole_transaction() {
    let mut store = Store::new();
    let mut client = store.client();
    for request in ["WATCH k", "MULTI", "SET k v"] {
        client.line(&mut store, request);
    }
    arm(&mut store, "error:serialization");
    assert!(client.line(&mut store, "EXEC").starts_with("-EXECABORT "));
    assert_eq!(client.line(&mut store, "EXEC"), "-ERR EXEC without MULTI\r\n");
    assert_eq!(client.line(&mut store, "GET k"), "$-1\r\n");
    // It watches nothing any more.
    client.line(&mut store, "SET k other");
    client.line(&mut store, "MULTI");
    assert_eq!(client.line(&mut store, "EXEC"), "*0\r\n");
}

#[test]
fn a_request_that_fails_inside_of_a_transaction_spoils_it() {
    let mut store = Store::new();
    let mut client = store.client();
    client.line(&mut store, "MULTI");
    assert_eq!(client.line(&mut store, "SET a 1"), "+QUEUED\r\n");
    arm(&mut store, "error:busy");
    assert!(client.line(&mut store, "SET b 2").starts_with("-BUSY "));
    let aborted = "-EXECABORT Transaction discarded because of previous errors.\r\n";
    assert_eq!(client.line(&mut store, "EXEC"), aborted);
    assert_eq!(client.line(&mut store, "MGET a b"), "*2\r\n$-1\r\n$-1\r\n");
}

#[test]
fn an_error_at_multi_begins_nothing() {
    let (mut store, mut client) = armed("error:retryable");
    assert!(client.line(&mut store, "MULTI").starts_with("-LOADING "));
    assert_eq!(client.line(&mut store, "SET k v"), "+OK\r\n");
}

/// Commands that are not timed meet no fault: it waits for one that is.
#[test]
fn faults_pass_over_what_is_not_timed() {
    let (mut store, mut client) = armed("error:busy");
    assert_eq!(client.line(&mut store, "SELECT 0"), "+OK\r\n");
    assert!(client.line(&mut store, "PING").starts_with("-BUSY "));
    assert_eq!(client.line(&mut store, "PING"), "+PONG\r\n");
}

/// Two clients: the one that watches must notice the other, and only it.
#[test]
fn a_watched_key_that_another_client_changes_stops_the_transaction() {
    for (change, stops) in [
        ("SET k v", true),
        ("SET k same", true),
        ("DEL k", true),
        ("APPEND k x", true),
        ("FLUSHALL", true),
        ("GETDEL k", true),
        ("SET other v", false),
        ("SETNX k v", false),
        ("GET k", false),
        ("DEL none", false),
    ] {
        let mut store = Store::new();
        let (mut one, mut other) = (store.client(), store.client());
        one.line(&mut store, "SET k same");
        one.line(&mut store, "WATCH k");
        other.line(&mut store, change);
        one.line(&mut store, "MULTI");
        one.line(&mut store, "PING");
        let expected = if stops { "*-1\r\n" } else { "*1\r\n+PONG\r\n" };
        assert_eq!(one.line(&mut store, "EXEC"), expected, "{change}");
    }
}
