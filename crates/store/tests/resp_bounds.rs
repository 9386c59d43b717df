//! Whatever is sent: no panic, whole answers, and no more memory than is allowed.

#[path = "resp/commands.rs"]
mod commands;
#[path = "resp/store_of_one.rs"]
mod store_of_one;

use commands::{SCRIPT, encoded, random, take, words};
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::resp::{
    ANSWER_MAX, ANSWERS_MAX, MESSAGE_MAX, QUEUED_MAX, Settings, WATCHED_MAX, WORD_MAX, WORDS_MAX,
};
use store::{Injection, Protocol};
use store_of_one::{Client, Store};
use testkit::fuzz::Fuzz;
use testkit::memory::{MeasuringAlloc, measured};
use units::{Rng, Seed};

#[global_allocator]
static ALLOC: MeasuringAlloc = MeasuringAlloc;

const MIB: usize = 1 << 20;

/// Figures of memory are of the whole process: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Each answer is one whole value, but where a fault wants it otherwise.
fn check_form(client: &Client) {
    let mut begin = 0;
    for answer in &client.answers {
        let bytes = &client.received[begin..answer.end];
        let injection = answer.decision.and_then(|decision| decision.injection);
        if matches!(injection, Some(Injection::Garbage | Injection::DropBefore)) {
            begin = answer.end;
            continue;
        }
        let length = take(bytes).map(|(_, length)| length);
        assert_eq!(length, Some(bytes.len()), "{}", bytes.escape_ascii());
        begin = answer.end;
    }
    assert_eq!(begin, client.received.len());
}

/// All of it in one piece, then in two that meet in the middle of some request: the same answers.
fn check_input(settings: &Settings, input: &[u8]) {
    let (received, memory) = measured(|| {
        let mut store = Store::with(settings.clone());
        let mut client = store.client();
        client.send(&mut store, input);
        check_form(&client);
        client.received
    });
    assert!(memory.peak < 2 * MIB, "{memory:?} for {} bytes", input.len());
    let mut store = Store::with(settings.clone());
    let mut client = store.client();
    let (front, back) = input.split_at(input.len() / 2);
    client.send(&mut store, front);
    client.send(&mut store, back);
    // Time goes on from piece to piece.
    if !input.to_ascii_lowercase().windows(4).any(|word| word == b"time" || word == b"info") {
        assert_eq!(client.received, received);
    }
}

/// The script, cut into inputs of a few requests.
fn corpus() -> Vec<Vec<u8>> {
    let lines: Vec<&str> = SCRIPT.lines().collect();
    let arrays = lines.chunks(8).map(|lines| lines.iter().flat_map(|line| encoded(&words(line))).collect());
    let typed = lines.chunks(8).map(|lines| (lines.join("\r\n") + "\r\n").into_bytes());
    let mut rng: Rng = Seed(1).derive("corpus").rng();
    let chance = (0..50).map(|_| (0..6).flat_map(|_| encoded(&random(&mut rng))).collect());
    arrays.chain(typed).chain(chance.collect::<Vec<_>>()).collect()
}

const WORDS: [&str; 30] = [
    "\r\n",
    "*",
    "$",
    "*1\r\n",
    "*2\r\n",
    "*-1\r\n",
    "$0\r\n\r\n",
    "$-1\r\n",
    "$524288\r\n",
    "*131072\r\n",
    "\"",
    "'",
    "\\x",
    "HELLO 3\r\n",
    "MULTI\r\n",
    "EXEC\r\n",
    "WATCH a\r\n",
    "SCAN 0 COUNT 1\r\n",
    "SCAN 1\r\n",
    "KEYS *\r\n",
    "RESET\r\n",
    "TRUETAIL fault garbage@next\r\n",
    "TRUETAIL fault drop:before@next\r\n",
    "TRUETAIL fault error:busy@every=2\r\n",
    "TRUETAIL hiccup 5s\r\n",
    "INFO\r\n",
    "TIME\r\n",
    "CONFIG GET *\r\n",
    "9223372036854775807",
    "-9223372036854775808",
];

#[test]
fn fuzz_resp_requests() {
    let _alone = alone();
    let settings = Settings::default();
    Fuzz::new("resp requests").from(corpus()).words(WORDS).run(3_000, |input| check_input(&settings, input));
}

#[test]
fn fuzz_resp_requests_of_strangers() {
    let _alone = alone();
    let settings = Settings { password: Some("secret".to_owned()), ..Settings::default() };
    let words = WORDS.into_iter().chain(["AUTH secret\r\n", "AUTH wrong\r\n"]);
    Fuzz::new("resp strangers").from(corpus()).words(words).run(1_000, |input| check_input(&settings, input));
}

/// Random requests that are well formed get further into commands than damaged ones.
#[test]
fn fuzz_resp_commands() {
    let _alone = alone();
    Fuzz::new("resp commands").from([&b"seed"[..]]).run(300, |input| {
        let seed =
            input.iter().fold(1_u64, |seed, byte| seed.wrapping_mul(257).wrapping_add(u64::from(*byte)));
        let mut rng: Rng = Seed(seed).derive("requests").rng();
        let (mut store, requests) = (Store::new(), 200);
        let mut client = store.client();
        (0..requests).for_each(|_| client.send(&mut store, &encoded(&random(&mut rng))));
        assert_eq!(client.answers.len(), requests);
    });
}

#[test]
fn what_is_only_announced_takes_no_memory() {
    let _alone = alone();
    let mut store = Store::new();
    let mut client = store.client();
    let ((), memory) = measured(|| {
        client.send(&mut store, format!("*{WORDS_MAX}\r\n${WORD_MAX}\r\nfew bytes").as_bytes());
    });
    assert!(memory.peak < 4_096, "{memory:?}");
    assert!(!client.closed && client.received.is_empty());
}

#[test]
fn an_endless_request_ends_the_connection() {
    let _alone = alone();
    let mut store = Store::new();
    let mut client = store.client();
    client.send(&mut store, b"*100000\r\n");
    let word = encoded(&[vec![b'x'; 1_000]])[4..].to_vec();
    let mut sent = 0;
    while !client.closed {
        client.send(&mut store, &word);
        sent += word.len();
        assert!(sent <= MESSAGE_MAX + word.len());
    }
    assert_eq!(client.received, b"-ERR Protocol error: request exceeds 1048576 bytes\r\n");
}

/// A store with this many keys of 100 bytes.
fn filled(keys: usize) -> Store {
    let mut store = Store::new();
    let mut client = store.client();
    for key in 0..keys {
        client.send(&mut store, &encoded(&["SET", &format!("{key:0100}"), "v"]));
    }
    store
}

#[test]
fn an_answer_has_a_limit_and_is_then_an_error() {
    let _alone = alone();
    let mut store = filled(ANSWER_MAX / 100 + 1);
    let mut client = store.client();
    let (answer, memory) = measured(|| client.line(&mut store, "KEYS *"));
    assert!(answer.starts_with("-ERR the answer exceeds 8388608 bytes"), "{answer}");
    assert!(memory.peak < 4 * MIB, "{memory:?}");
    let (answer, memory) = measured(|| client.line(&mut store, "SCAN 0 COUNT 1000000"));
    assert!(answer.starts_with("*2\r\n$1\r\n1\r\n") && answer.len() <= ANSWER_MAX, "{}", answer.len());
    assert!(memory.peak < 8 * ANSWER_MAX, "{memory:?}");
    // What is left of it is within reach.
    assert!(client.line(&mut store, "SCAN 1 COUNT 1000000").starts_with("*2\r\n$1\r\n0\r\n"));
}

#[test]
fn collections_that_do_not_fit_are_refused_too() {
    let _alone = alone();
    let mut store = Store::new();
    let mut client = store.client();
    let value = "v".repeat(WORD_MAX);
    for place in 0..17 {
        for request in [
            ["HSET", "h", &place.to_string(), &value],
            ["ZADD", "z", "1", &format!("{place}{}", &value[2..])],
        ] {
            client.send(&mut store, &encoded(&request));
        }
        client.send(&mut store, &encoded(&["RPUSH", "l", &value]));
    }
    for request in ["HGETALL h", "HVALS h", "LRANGE l 0 -1", "ZRANGE z 0 -1", "ZRANGEBYSCORE z -inf inf"] {
        let answer = client.line(&mut store, request);
        assert!(answer.starts_with("-ERR the answer exceeds"), "{request}");
    }
    client.line(&mut store, "MULTI");
    client.line(&mut store, "LRANGE l 0 9");
    client.line(&mut store, "LRANGE l 0 9");
    assert!(client.line(&mut store, "EXEC").starts_with("-ERR the answer exceeds"));
    assert!(client.line(&mut store, "LRANGE l 0 9").starts_with("*10\r\n"));
}

/// 8 bytes of request for each 6 MiB of answer: their sum is bounded, and each is answered.
#[test]
fn a_flood_of_small_requests_makes_no_larger_one_of_answers() {
    let _alone = alone();
    let mut store = filled(60_000);
    let mut client = store.client();
    let flood = b"KEYS *\r\n".repeat(1_000);
    let ((), memory) = measured(|| client.send(&mut store, &flood));
    assert_eq!(client.answers.len(), 1_000);
    assert!(client.received.len() < ANSWERS_MAX + 1_000 * 256, "{}", client.received.len());
    assert!(memory.peak < 6 * ANSWERS_MAX, "{memory:?}");
    check_form(&client);
    // The next piece has its own allowance.
    assert!(client.line(&mut store, "KEYS *").starts_with("*60000\r\n"));
}

#[test]
fn a_transaction_has_a_limit() {
    let _alone = alone();
    let mut store = Store::new();
    let mut client = store.client();
    client.line(&mut store, "MULTI");
    let request = encoded(&["SET", "k", &"v".repeat(100_000)]);
    let ((), memory) =
        measured(|| (0..2 * QUEUED_MAX / request.len()).for_each(|_| client.send(&mut store, &request)));
    let answers = String::from_utf8_lossy(&client.received).into_owned();
    assert!(
        answers
            .ends_with("-ERR this store queues at most 4194304 bytes: execute the transaction in parts\r\n")
    );
    assert!(memory.peak < 2 * QUEUED_MAX, "{memory:?}");
    assert!(client.line(&mut store, "EXEC").starts_with("-EXECABORT"));
    assert_eq!(client.line(&mut store, "GET k"), "$-1\r\n");
}

#[test]
fn watched_keys_have_a_limit() {
    let _alone = alone();
    let mut store = Store::new();
    let mut client = store.client();
    let keys: Vec<String> = (0..=WATCHED_MAX).map(|key| key.to_string()).collect();
    let fits = format!("WATCH {}", keys[1..].join(" "));
    assert_eq!(client.line(&mut store, &fits), "+OK\r\n");
    assert_eq!(client.line(&mut store, &fits), "+OK\r\n");
    let refused = "-ERR this store watches at most 1024 keys of 1048576 bytes together\r\n";
    assert_eq!(client.line(&mut store, "WATCH 0"), refused);
    assert_eq!(client.line(&mut store, "UNWATCH"), "+OK\r\n");
    for (letter, expected) in [("a", "+OK\r\n"), ("b", "+OK\r\n"), ("c", refused)] {
        client.received.clear();
        client.send(&mut store, &encoded(&["WATCH", &letter.repeat(WORD_MAX)]));
        assert_eq!(String::from_utf8_lossy(&client.received), expected);
    }
}

#[test]
fn a_string_has_the_limit_of_a_word() {
    let _alone = alone();
    let mut store = Store::new();
    let mut client = store.client();
    client.send(&mut store, &encoded(&["SET", "k", &"v".repeat(WORD_MAX)]));
    let answer = client.line(&mut store, "APPEND k x");
    assert_eq!(answer, "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n");
    assert_eq!(client.line(&mut store, "STRLEN k"), format!(":{WORD_MAX}\r\n"));
}

/// What a connection says that it holds covers what it holds: the store's budget rests on it.
#[test]
fn what_is_queued_and_watched_is_reported() {
    let _alone = alone();
    let mut store = Store::new();
    let mut client = store.client();
    // The test's own buffer has its size from here on.
    client.send(&mut store, &encoded(&["PING"]).repeat(200_000));
    let idle = client.resp.holds();
    assert!(idle < 4 * 1024, "{idle}");
    let check = |store: &mut Store, client: &mut Client, bytes: &[u8]| {
        (client.received, client.answers) = Default::default();
        let before = (testkit::memory::held(), client.resp.holds());
        client.send(store, bytes);
        (client.received, client.answers) = Default::default();
        let held = testkit::memory::held().saturating_sub(before.0);
        let reported = client.resp.holds() - before.1;
        assert!(held > 100_000 && reported + 8 * 1024 >= held, "reported {reported}, held {held}");
        assert!(reported <= 3 * held, "reported {reported}, held {held}");
    };
    let keys: Vec<String> = (0..1_000).map(|n| format!("{n:0200}")).collect();
    let watch: Vec<&str> = std::iter::once("WATCH").chain(keys.iter().map(String::as_str)).collect();
    check(&mut store, &mut client, &encoded(&watch));
    client.line(&mut store, "MULTI");
    check(&mut store, &mut client, &encoded(&["PING"]).repeat(10_000));
    check(&mut store, &mut client, &encoded(&["SET", "k", &"v".repeat(1_000)]).repeat(1_000));
    // The words of a request that has not ended.
    let before = client.resp.holds();
    client.send(&mut store, &[&b"*131072\r\n"[..], &b"$1\r\nx\r\n".repeat(100_000)].concat());
    assert!((800_000..3_200_000).contains(&(client.resp.holds() - before)), "{}", client.resp.holds());
    let mut client = store.client();
    client.line(&mut store, "MULTI");
    client.send(&mut store, &encoded(&["SET", "k", &"v".repeat(1_000)]).repeat(100));
    client.line(&mut store, "DISCARD");
    assert!(client.resp.holds() < 4 * 1024, "{}", client.resp.holds());
}

/// What a connection leaves behind when it goes in the middle of everything.
#[test]
fn a_connection_that_goes_leaves_nothing() {
    let _alone = alone();
    let mut store = Store::new();
    let mut warm = store.client();
    warm.line(&mut store, "WATCH k");
    drop(warm);
    let before = testkit::memory::held();
    for number in 0..1_000 {
        let mut client = store.client();
        client.line(&mut store, &format!("WATCH k {number:01000}"));
        client.line(&mut store, "MULTI");
        client.send(&mut store, &encoded(&["SET", "k", &"v".repeat(1_000)]));
        client.send(&mut store, b"*3\r\n$3\r\nSET\r\n$100000\r\nunfinished");
    }
    let after = testkit::memory::held();
    assert!(after < before + 64 * 1024, "{before} → {after}");
    let mut client = store.client();
    assert!(client.line(&mut store, "INFO clients").contains("connected_clients:1\r\n"));
}
