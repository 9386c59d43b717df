//! What is logged of commands besides their times: how stale reads were, and which writes were made.

use crate::store_of_one::{Client, Store};
use store::resp::Settings;
use store::{Engine, ReadPreference, ReplicationSettings, Staleness};
use units::Nanos;

const DELAY: Nanos = Nanos::from_millis(100);

/// Two nodes, 100 ms from each other, of which the one that does not write is read.
fn replicated() -> (Store, Client) {
    let mut replication = ReplicationSettings { replicas: 2, ..ReplicationSettings::default() };
    replication.delays = vec!["100ms".parse().unwrap()];
    replication.preference = ReadPreference::Secondary;
    let mut store = Store::with(Settings::default());
    store.engine = Engine::new(store::Settings { replication, ..store::Settings::default() });
    let client = store.client();
    (store, client)
}

/// What is logged of a request that is sent at `at`.
fn logged_at(store: &mut Store, client: &mut Client, at: Nanos, line: &str) -> Option<Staleness> {
    // Sending takes 1 µs.
    store.now = Nanos(at.0 - 1_000);
    logged(store, client, line)
}

fn logged(store: &mut Store, client: &mut Client, line: &str) -> Option<Staleness> {
    client.line(store, line);
    client.answers.last().unwrap().staleness
}

fn made(age: Nanos) -> Option<Staleness> {
    Some(Staleness { age, ..Staleness::default() })
}

#[test]
fn a_write_is_logged_as_made_if_it_was() {
    let (mut store, mut client) = replicated();
    for line in [
        "SET k v",
        "SETNX l v",
        "SET k w XX",
        "SET m w NX",
        "HSET h f v g w",
        "HSETNX h n v",
        "HDEL h n",
        "HINCRBY h i 1",
        "RPUSH list a b c",
        "LPOP list",
        "SADD s a b c",
        "SREM s a",
        "SPOP s",
        "ZADD z 1 a",
        "ZADD z 2 a",
        "ZINCRBY z 1 b",
        "ZPOPMIN z",
        "MSET a 1 b 2",
        "MSETNX c 1 d 2",
        "APPEND k x",
        "INCR n",
        "DEL c none",
        "GETDEL d",
        "GETSET k y",
    ] {
        assert_eq!(logged(&mut store, &mut client, line), made(DELAY), "{line}");
    }
}

#[test]
fn a_write_that_changed_nothing_is_not() {
    let (mut store, mut client) = replicated();
    for line in ["SET k v", "HSET h f v", "SADD s a", "ZADD z 1 a"] {
        client.line(&mut store, line);
    }
    for line in [
        "DEL none",
        "UNLINK none nil",
        "GETDEL none",
        "SETNX k w",
        "SET k w NX",
        "SET none w XX",
        "MSETNX none 1 k 2",
        "HSETNX h f w",
        "HDEL h none",
        "HDEL none f",
        "LPOP none",
        "RPOP none 3",
        "SADD s a",
        "SREM s none",
        "SPOP none",
        "ZADD z 1 a",
        "ZADD z XX 1 none",
        "ZREM z none",
        "ZPOPMIN none",
        "INCR k",
        "HSET k f v",
        "EXPIRE none 10",
    ] {
        assert_eq!(logged(&mut store, &mut client, line), None, "{line}");
    }
}

/// All of these look at `a` and `b`, and at the set `z`.
const READS: [&str; 11] = [
    "MGET a b",
    "EXISTS b a",
    "SCAN 0",
    "SCAN 0 COUNT 2",
    "KEYS *",
    "DBSIZE",
    "ZRANGE z 0 -1",
    "ZREVRANGE z 0 -1",
    "ZRANGEBYSCORE z 0 10",
    "ZREVRANGEBYSCORE z 10 0",
    "GET a",
];

#[test]
fn every_read_says_how_stale_it_was_at_most() {
    let ms = Nanos::from_millis;
    for line in READS {
        let (mut store, mut client) = replicated();
        logged_at(&mut store, &mut client, ms(10), "MSET a 1");
        logged_at(&mut store, &mut client, ms(10), "ZADD z 1 m");
        logged_at(&mut store, &mut client, ms(20), "MSET a 2");
        logged_at(&mut store, &mut client, ms(20), "ZADD z 2 m");
        logged_at(&mut store, &mut client, ms(30), "SET b 1");
        // Nothing has come yet, and the oldest that is missed is the first.
        let staleness = logged_at(&mut store, &mut client, ms(50), line).unwrap();
        assert_eq!(
            staleness,
            Staleness { versions: 2, time: ms(40), age: Nanos::ZERO },
            "{line}: nothing has arrived"
        );
        // The first has come, and what came after it is missed for 95 ms.
        let staleness = logged_at(&mut store, &mut client, ms(115), line).unwrap();
        assert_eq!(staleness, Staleness { versions: 1, time: ms(95), age: ms(105) }, "{line}: one");
        let staleness = logged_at(&mut store, &mut client, ms(500), line).unwrap();
        let oldest = ms(500 - 20);
        assert_eq!(staleness, Staleness { versions: 0, time: Nanos::ZERO, age: oldest }, "{line}: all");
    }
}

#[test]
fn reads_of_nothing_miss_nothing_and_what_is_no_read_says_nothing() {
    let (mut store, mut client) = replicated();
    for line in ["GET none", "MGET none nil", "SCAN 0", "KEYS *", "ZRANGE none 0 -1"] {
        assert_eq!(logged(&mut store, &mut client, line), made(Nanos::ZERO), "{line}");
    }
    for line in ["PING", "FLUSHALL", "TIME", "WATCH k", "UNWATCH", "NOSUCH"] {
        assert_eq!(logged(&mut store, &mut client, line), None, "{line}");
    }
}

/// A transaction is executed where writes are, so that it misses nothing.
#[test]
fn exec_says_how_old_what_it_read_was() {
    let ms = Nanos::from_millis;
    for (inside, expected) in [
        (&["GET a", "GET b"][..], made(ms(40))),
        (&["GET b", "SET a 2"], made(ms(20))),
        (&["SET a 2", "INCR n", "SETNX a 3", "FLUSHALL"], None),
        (&[], None),
    ] {
        let (mut store, mut client) = replicated();
        logged_at(&mut store, &mut client, ms(10), "SET a 1");
        logged_at(&mut store, &mut client, ms(30), "SET b 1");
        for line in [&["MULTI"], inside].concat() {
            assert_eq!(logged(&mut store, &mut client, line), None, "{line}");
        }
        assert_eq!(logged_at(&mut store, &mut client, ms(50), "EXEC"), expected, "{inside:?}");
    }
}
