//! Answers that are this store's own, or that depend on time and identity: to the byte.

use crate::store_of_one::Store;
use store::resp::{ANSWER_MAX, Settings};
use store::{Access, Operation, Rules};

/// Requests and their answers on one connection, in order.
#[track_caller]
fn check(table: &[(&str, &str)]) {
    let mut store = Store::new();
    let mut client = store.client();
    for (request, expected) in table {
        assert_eq!(client.line(&mut store, request), *expected, "{request}");
    }
}

const NO_EXPIRY: &str = "-ERR this store simulates no expiry: use SET without EX, PX, EXAT and PXAT\r\n";

#[test]
fn expiry_is_refused_and_never_half_obeyed() {
    check(&[
        ("SET k v EX 10", NO_EXPIRY),
        ("SET k v PX 10 NX", NO_EXPIRY),
        ("SET k v EXAT 99999999999", NO_EXPIRY),
        ("SETEX k 10 v", NO_EXPIRY),
        ("PSETEX k 10 v", NO_EXPIRY),
        ("GET k", "$-1\r\n"),
        ("SET k v", "+OK\r\n"),
        ("EXPIRE k 10", NO_EXPIRY),
        ("PEXPIRE k 10 NX", NO_EXPIRY),
        ("EXPIREAT k 10", NO_EXPIRY),
        ("TTL k", ":-1\r\n"),
        ("GET k", "$1\r\nv\r\n"),
    ]);
}

#[test]
fn members_and_fields_come_in_the_order_of_their_bytes() {
    check(&[
        ("SADD s c a b", ":3\r\n"),
        ("SPOP s", "$1\r\na\r\n"),
        ("SPOP s 5", "*2\r\n$1\r\nb\r\n$1\r\nc\r\n"),
        ("HSET h z 1 a 2", ":2\r\n"),
        ("HGETALL h", "*4\r\n$1\r\na\r\n$1\r\n2\r\n$1\r\nz\r\n$1\r\n1\r\n"),
        ("ZRANGE h 0 1 BYLEX", "-ERR this store simulates no BYLEX: use BYSCORE or indexes\r\n"),
    ]);
}

#[test]
fn keys_are_scanned_in_order_and_all_of_them_once() {
    check(&[
        ("MSET c 3 a 1 e 5 b 2 d 4", "+OK\r\n"),
        ("LPUSH l x", ":1\r\n"),
        ("SCAN 0 COUNT 2", "*2\r\n$1\r\n1\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n"),
        ("SCAN 1 COUNT 2", "*2\r\n$1\r\n2\r\n*2\r\n$1\r\nc\r\n$1\r\nd\r\n"),
        // A cursor stays good, also when its key has gone.
        ("DEL e", ":1\r\n"),
        ("SCAN 2 COUNT 2", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nl\r\n"),
        ("SCAN 1 COUNT 9 MATCH [cd]", "*2\r\n$1\r\n0\r\n*2\r\n$1\r\nc\r\n$1\r\nd\r\n"),
        ("SCAN 0 COUNT 9 TYPE list", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nl\r\n"),
        ("SCAN 0 COUNT 1 MATCH nothing", "*2\r\n$1\r\n3\r\n*0\r\n"),
        (
            "SCAN 77",
            "-ERR cursor 77 is not known: this store remembers the latest 4096; begin again with 0\r\n",
        ),
        ("KEYS *", "*5\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$1\r\nl\r\n"),
        ("DBSIZE", ":5\r\n"),
    ]);
}

#[test]
fn a_cursor_may_change_its_connection() {
    let mut store = Store::new();
    let (mut one, mut other) = (store.client(), store.client());
    one.line(&mut store, "MSET a 1 b 2");
    assert_eq!(one.line(&mut store, "SCAN 0 COUNT 1"), "*2\r\n$1\r\n1\r\n*1\r\n$1\r\na\r\n");
    assert_eq!(other.line(&mut store, "SCAN 1"), "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nb\r\n");
}

#[test]
fn greetings_tell_what_clients_look_for() {
    check(&[
        (
            "HELLO 2 SETNAME me",
            "*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:1\r\n\
             $4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n",
        ),
        ("CLIENT GETNAME", "$2\r\nme\r\n"),
        ("CLIENT ID", ":1\r\n"),
        ("CLIENT SETINFO LIB-NAME any", "+OK\r\n"),
        ("CLIENT INFO", "$46\r\nid=1 name=me db=0 flags=N user=default resp=2\n\r\n"),
        ("COMMAND", "*0\r\n"),
        ("COMMAND DOCS", "*0\r\n"),
        ("COMMAND INFO get nosuch", "*2\r\n*-1\r\n*-1\r\n"),
        (
            "CONFIG GET save append*",
            "*6\r\n$11\r\nappendfsync\r\n$8\r\neverysec\r\n$10\r\nappendonly\r\n$2\r\nno\r\n$4\r\nsave\r\n$0\r\n\r\n",
        ),
        ("CONFIG SET save x", "-ERR this store has no settings of Redis's: see `TRUETAIL status`\r\n"),
        (
            "HELLO 3",
            "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:1\r\n\
             $4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n",
        ),
        ("GET none", "_\r\n"),
        ("RESET", "+RESET\r\n"),
        ("GET none", "$-1\r\n"),
    ]);
}

#[test]
fn info_counts_and_has_sections() {
    let mut store = Store::with(Settings { port: 6380, ..Settings::default() });
    let (mut client, _other) = (store.client(), store.client());
    let text = client.line(&mut store, "INFO");
    for line in ["# Server", "redis_version:7.0.15", "tcp_port:6380", "connected_clients:2", "loading:0"] {
        assert!(text.contains(&format!("{line}\r\n")), "{line}: {text}");
    }
    for line in ["total_connections_received:2", "total_commands_processed:1", "role:master"] {
        assert!(text.contains(&format!("{line}\r\n")), "{line}: {text}");
    }
    let text = client.line(&mut store, "INFO replication");
    assert_eq!(text, "$48\r\n# Replication\r\nrole:master\r\nconnected_slaves:0\r\n\r\n");
    assert_eq!(client.line(&mut store, "INFO nothing"), "$0\r\n\r\n");
}

#[test]
fn the_time_is_that_of_the_store() {
    let mut store = Store::with(Settings { epoch_wall_ns: 1_700_000_000_999_999_000, ..Settings::default() });
    let mut client = store.client();
    // The clock of the test goes on by a microsecond at each request.
    assert_eq!(client.line(&mut store, "TIME"), "*2\r\n$10\r\n1700000001\r\n$1\r\n0\r\n");
    assert_eq!(client.line(&mut store, "TIME"), "*2\r\n$10\r\n1700000001\r\n$1\r\n1\r\n");
}

#[test]
fn the_engine_is_commanded_over_the_wire() {
    check(&[
        ("TRUETAIL fault delay:800ms@next", "$22\r\narmed delay:800ms@next\r\n"),
        ("TRUETAIL clear", "$15\r\nforgot 1 faults\r\n"),
        ("TRUETAIL", "-ERR wrong number of arguments for 'truetail' command\r\n"),
        ("MULTI", "+OK\r\n"),
        ("TRUETAIL clear", "-ERR Command not allowed inside a transaction\r\n"),
        ("EXEC", "-EXECABORT Transaction discarded because of previous errors.\r\n"),
    ]);
    let mut store = Store::new();
    let mut client = store.client();
    let answer = client.line(&mut store, "TRUETAIL nonsense");
    assert!(answer.starts_with("-ERR `nonsense` is not a command: expected ") && answer.ends_with("\r\n"));
}

/// What is timed, and as what.
#[test]
fn requests_are_admitted_as_what_they_are() {
    let mut store = Store::new();
    let mut client = store.client();
    for (request, operation) in [
        ("PING", Some(Operation::Ping)),
        ("GET k", Some(Operation::Read)),
        ("SET k v", Some(Operation::Update)),
        ("SET k v NX", Some(Operation::Insert)),
        ("DEL k", Some(Operation::Delete)),
        ("MGET k l", Some(Operation::Scan)),
        ("ZRANGEBYSCORE k 0 1", Some(Operation::Scan)),
        ("NOSUCH", Some(Operation::Other)),
        ("GET", Some(Operation::Other)),
        ("MULTI", Some(Operation::Transaction)),
        ("GET k", Some(Operation::Transaction)),
        ("EXEC", Some(Operation::Transaction)),
        ("HELLO", None),
        ("CLIENT ID", None),
        ("CONFIG GET save", None),
        ("COMMAND", None),
        ("SELECT 0", None),
        ("AUTH default x", None),
        ("INFO", None),
        ("TRUETAIL status", None),
        ("QUIT", None),
    ] {
        client.answers.clear();
        client.line(&mut store, request);
        let [answer] = &client.answers[..] else { panic!("{request}: {:?}", client.answers) };
        assert_eq!(answer.decision.map(|decision| decision.operation), operation, "{request}");
        // A read says how stale it was, a write in how long every node shows it: at once, with one node.
        let tells = match request {
            "SET k v NX" => false, // there is one already
            "EXEC" => true,        // with a read in it
            _ => operation.is_some_and(|one| one.access() != Access::None),
        };
        assert_eq!(answer.staleness.is_some(), tells, "{request}");
        let is_write = operation.is_some_and(|one| one.access() == Access::Write);
        let at_once = answer.staleness.is_none_or(|told| told == store::Staleness::default());
        assert!(!is_write || at_once, "{request}");
        let rules = answer.decision.map(|decision| decision.rules);
        assert_eq!(rules.unwrap_or_default(), Rules::default(), "{request}");
    }
    assert!(client.closed);
}

/// One of the pipelined requests is a large one; all are answered, in order.
#[test]
fn pipelined_requests_are_answered_in_order() {
    let mut store = Store::new();
    let value = "v".repeat(100_000);
    let input = format!(
        "SET k x\r\n*3\r\n$3\r\nSET\r\n$1\r\nl\r\n$100000\r\n{value}\r\nGET k\r\nSTRLEN l\r\nQUIT\r\nPING\r\n"
    );
    let mut client = store.client();
    client.send(&mut store, input.as_bytes());
    assert_eq!(client.received, b"+OK\r\n+OK\r\n$1\r\nx\r\n:100000\r\n+OK\r\n");
    assert!(value.len() < ANSWER_MAX);
}
