//! The same requests to a real Redis and to the state machine: the same bytes come back.

use crate::commands::{Answer, SCRIPT, encoded, random, take, words};
use crate::store_of_one::Store;
use std::io::{Read, Write};
use std::net::TcpStream;
use store::resp::Settings;
use testkit::redis;
use units::{Nanos, Rng, Seed};

/// A connection to a real server.
struct Real {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Real {
    fn to(server: &redis::Server) -> Real {
        let stream = TcpStream::connect(("127.0.0.1", server.port())).expect("the server listens");
        stream.set_read_timeout(Some(Nanos::from_secs(30).to_std())).expect("a timeout");
        stream.set_nodelay(true).expect("a socket option");
        Real { stream, unread: Vec::new() }
    }

    /// The next answer; `None` if the server closed the connection instead.
    fn answer(&mut self) -> Option<(Answer, Vec<u8>)> {
        loop {
            if let Some((answer, length)) = take(&self.unread) {
                return Some((answer, self.unread.drain(..length).collect()));
            }
            let mut piece = [0; 65_536];
            match self.stream.read(&mut piece).expect("an answer within the time limit") {
                0 => return None,
                count => self.unread.extend_from_slice(&piece[..count]),
            }
        }
    }

    /// All that comes until the server closes the connection.
    fn until_closed(&mut self) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.unread);
        self.stream.read_to_end(&mut all).expect("the server closes the connection");
        all
    }
}

fn start() -> Option<redis::Server> {
    let settings = vec![("databases".to_owned(), "1".to_owned())];
    redis::server(&redis::Options { settings, ..redis::Options::default() })
}

/// Which RESP to compare in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Two,
    Three,
}

/// Sends the same to both and compares, request by request.
fn compare(server: &redis::Server, version: Version, requests: impl Iterator<Item = Vec<Vec<u8>>>) {
    compare_with(server, Store::new(), version, requests);
}

fn compare_with(
    server: &redis::Server,
    mut store: Store,
    version: Version,
    requests: impl Iterator<Item = Vec<Vec<u8>>>,
) {
    let (mut real, mut client) = (Real::to(server), store.client());
    if version == Version::Three {
        // The answer tells versions and numbers; its form is tested elsewhere.
        real.stream.write_all(b"HELLO 3\r\n").expect("the server takes requests");
        assert!(matches!(real.answer(), Some((Answer::Many('%', _), _))));
        client.send(&mut store, b"HELLO 3\r\n");
    }
    let (mut differences, mut queued) = (Vec::new(), Vec::new());
    for (number, request) in requests.enumerate() {
        let bytes = encoded(&request);
        real.stream.write_all(&bytes).expect("the server takes requests");
        client.received.clear();
        client.send(&mut store, &bytes);
        let shown = request.iter().map(|word| format!("`{}`", word.escape_ascii())).collect::<Vec<_>>();
        let (expected, expected_bytes) = real.answer().expect("the server answers");
        let (found, length) = take(&client.received).expect("a whole answer");
        assert_eq!(length, client.received.len(), "one answer to {}", shown.join(" "));
        let name = request[0].to_ascii_lowercase();
        let (expected, found) = match &name[..] {
            b"exec" => (in_their_order(expected, &queued), in_their_order(found, &queued)),
            _ => (expected.in_order(&name), found.in_order(&name)),
        };
        match client.received.as_slice() {
            b"+QUEUED\r\n" => queued.push(name),
            _ if matches!(&name[..], b"exec" | b"discard" | b"reset") => queued.clear(),
            _ => {}
        }
        if expected != found {
            differences.push(format!(
                "request {}: {}\n  Redis: {}\n  store: {}",
                number,
                shown.join(" "),
                expected_bytes.escape_ascii(),
                client.received.escape_ascii()
            ));
        }
    }
    let first = &differences[..differences.len().min(SHOWN)];
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), first.join("\n"));
}

/// Differences to show; a wrong one is often the cause of others.
const SHOWN: usize = 30;

impl Answer {
    /// Elements of maps in an order of our own; Redis has none.
    fn in_order(self, command: &[u8]) -> Answer {
        let Answer::Many(kind, mut elements) = self else { return self };
        match command.to_ascii_lowercase().as_slice() {
            b"hgetall" => {
                let mut pairs: Vec<Vec<Answer>> = elements.chunks(2).map(<[Answer]>::to_vec).collect();
                pairs.sort();
                elements = pairs.concat();
            }
            b"hkeys" | b"hvals" | b"smembers" | b"keys" | b"spop" => elements.sort(),
            _ => {}
        }
        Answer::Many(kind, elements)
    }
}

/// The answers to a transaction, each as its own command wants it.
fn in_their_order(answer: Answer, commands: &[Vec<u8>]) -> Answer {
    match answer {
        Answer::Many(kind, elements) if elements.len() == commands.len() => {
            let pairs = elements.into_iter().zip(commands);
            Answer::Many(kind, pairs.map(|(element, command)| element.in_order(command)).collect())
        }
        other => other,
    }
}

#[test]
fn a_script_is_answered_as_by_redis() {
    let Some(server) = start() else { return };
    compare(&server, Version::Two, SCRIPT.lines().map(words));
}

#[test]
fn a_script_is_answered_as_by_redis_in_resp3() {
    let Some(server) = start() else { return };
    compare(&server, Version::Three, SCRIPT.lines().map(words));
}

/// Requests that nobody thought of; more under `TRUETAIL_SOAK=1`.
#[test]
fn random_requests_are_answered_as_by_redis() {
    let Some(server) = start() else { return };
    let soak = std::env::var_os("TRUETAIL_SOAK").is_some_and(|value| value == "1");
    for seed in 0..if soak { 400 } else { 4 } {
        let mut rng: Rng = Seed(seed).derive("random requests").rng();
        let version = if seed % 2 == 0 { Version::Two } else { Version::Three };
        let flush = std::iter::once(words("FLUSHALL"));
        compare(&server, version, flush.chain((0..5_000).map(|_| random(&mut rng))));
    }
}

/// Scores of all magnitudes, to be written with the same digits.
#[test]
fn scores_are_written_as_by_redis() {
    let Some(server) = start() else { return };
    let mut rng: Rng = Seed(1).derive("scores").rng();
    let scores = (0..2_000).flat_map(|_| {
        let score = f64::from_bits(rng.next_u64());
        let score = if score.is_finite() { score } else { 0.5 };
        let add = vec![b"ZADD".to_vec(), b"z".to_vec(), format!("{score:e}").into_bytes(), b"m".to_vec()];
        [add, words("ZSCORE z m")]
    });
    compare(&server, Version::Two, scores);
}

/// Patterns of all shapes against keys of few letters.
#[test]
fn patterns_match_as_in_redis() {
    let Some(server) = start() else { return };
    let keys = ["a", "ab", "abc", "aab", "b-", "[a]", "a*b", "^", "\\", "]", "ba", "a-c"];
    let make = keys.iter().map(|key| vec![b"SET".to_vec(), key.as_bytes().to_vec(), b"v".to_vec()]);
    let mut rng: Rng = Seed(2).derive("patterns").rng();
    let ask = (0..5_000).map(|_| {
        let length = 1 + rng.below(6);
        let pattern: Vec<u8> = (0..length).map(|_| b"ab*?[]^-\\c"[rng.below(10) as usize]).collect();
        vec![b"KEYS".to_vec(), pattern]
    });
    compare(&server, Version::Two, make.chain(ask));
}

/// What is no request: the same words, and the connection ends.
#[test]
fn malformed_requests_are_answered_as_by_redis() {
    let Some(server) = start() else { return };
    let long = [&b"*1\r\n$4\r\nPING\r\n"[..], &[b'a'; 70_000]].concat();
    let inputs: [&[u8]; 16] = [
        b"*x\r\n",
        b"*\r\n",
        b"*+1\r\n",
        b"*99999999999\r\n",
        b"*1\r\n:4\r\n",
        b"*1\r\n4\r\n",
        b"*1\r\n\r\n",
        b"*1\r\n$x\r\n",
        b"*1\r\n$-1\r\n",
        b"*1\r\n$99999999999\r\n",
        b"*2\r\n$4\r\nECHO\r\n$01\r\n",
        b"PING\r\nECHO \"a\r\n",
        b"ECHO 'a'b\r\n",
        b"PING\r\nQUIT\r\nPING\r\n",
        b"*0\r\n*-5\r\n\r\n  \r\nECHO \"\\x41\\n\" \r\n*1\r\n$4\r\nPINGxx*1\r\n$4\r\nQUIT\r\n",
        &long,
    ];
    for input in inputs {
        let shown = input[..input.len().min(60)].escape_ascii();
        let mut real = Real::to(&server);
        real.stream.write_all(input).expect("the server reads on");
        let (mut store, expected) = (Store::new(), real.until_closed());
        let mut client = store.client();
        client.send(&mut store, input);
        assert_eq!(
            client.received.escape_ascii().to_string(),
            expected.escape_ascii().to_string(),
            "after {shown}"
        );
        assert!(client.closed, "after {shown}");
    }
}

/// Who has not proven who they are.
#[test]
fn strangers_are_answered_as_by_redis() {
    let options = redis::Options { password: Some("secret".to_owned()), ..redis::Options::default() };
    let Some(server) = redis::server(&options) else { return };
    let settings = Settings { password: Some("secret".to_owned()), ..Settings::default() };
    let script = "PING\nGET k\nEXEC\nEXEC x\nNOSUCH a\nGET\nCLIENT ID\nMULTI\nHELLO\nHELLO 3\nHELLO 3 AUTH default wrong\n\
                  AUTH wrong\nAUTH other secret\nAUTH a b c\nAUTH default wrong\nRESET\nAUTH secret\nPING\n\
                  AUTH wrong\nPING\nRESET\nPING\nAUTH default secret\nSET k v\nGET k";
    compare_with(&server, Store::with(settings), Version::Two, script.lines().map(words));
}
