//! Whatever a server answers: what a slow parser of a page makes of it, in one piece and byte by byte, never a panic.
//!
//! `cargo xtask soak --fuzz` does the same for as long as it is told.

use crate::codec::MESSAGE_LIMIT;
use crate::session::RedisSession;
use driver::{Command, Fields, KeyValue, OpError, Reply, Session, Value};
use socket::Socket;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::task::Poll;
use testkit::fuzz::Fuzz;
use units::Outcome;

const ALL: Command<'_> =
    Command::KeyValue(KeyValue::Read { table: "usertable", key: "k", fields: Fields::All });
const ONE: Command<'_> =
    Command::KeyValue(KeyValue::Read { table: "usertable", key: "k", fields: Fields::One("f") });
const WRITE: Command<'_> =
    Command::KeyValue(KeyValue::Update { table: "usertable", key: "k", fields: &[("f", "v")] });
const DELETE: Command<'_> = Command::KeyValue(KeyValue::Delete { table: "usertable", key: "k" });

const SCAN: Command<'_> =
    Command::KeyValue(KeyValue::Scan { table: "usertable", key: "k", count: 3, fields: Fields::All });

/// What is asked; the first byte of an input says which of them.
const BATCHES: [&[Command<'_>]; 5] = [
    &[Command::Ping],
    &[ALL],
    &[ONE, ALL, ONE],
    &[Command::Ping, ALL, ONE, WRITE, DELETE, ALL],
    &[SCAN, ONE, SCAN],
];

const KNOWN: [&[u8]; 14] = [
    b"0+PONG\r\n",
    b"0-LOADING Redis is loading the dataset in memory\r\n",
    b"1*4\r\n$1\r\nf\r\n$5\r\nvalue\r\n$1\r\ng\r\n$2\r\n\r\n\r\n",
    b"1*0\r\n",
    b"1*-1\r\n",
    b"2*1\r\n$3\r\none\r\n*2\r\n$1\r\nf\r\n$0\r\n\r\n*1\r\n$-1\r\n",
    b"2-ERR a\r\n*0\r\n-WRONGTYPE b\r\n",
    b"3+PONG\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n*1\r\n$2\r\n\xFF\xFE\r\n:1\r\n:0\r\n:0\r\n*0\r\n",
    b"3+PONG\r\n-BUSY no\r\n*1\r\n$-1\r\n:9223372036854775807\r\n:-3\r\n:1\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n",
    b"0+PONG\r\n+PONG\r\n",
    b"1%1\r\n+a\r\n:1\r\n",
    b"1*2\r\n$1\r\nf\r\n$536870913\r\n",
    b"4*2\r\n$1\r\na\r\n$1\r\nb\r\n*1\r\n$-1\r\n*1\r\n$1\r\nc\r\n*0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n-WRONGTYPE\r\n",
    b"4*0\r\n*1\r\n$1\r\nv\r\n*-1\r\n",
];

const WORDS: [&[u8]; 20] = [
    b"\r\n",
    b"\n",
    b"\r",
    b"+",
    b"-",
    b":",
    b"$",
    b"*",
    b"-1",
    b"0",
    b"1",
    b"2",
    b"$-1\r\n",
    b"*-1\r\n",
    b"*2\r\n",
    b"$1\r\n",
    b"536870912",
    b"9223372036854775808",
    b"-ERR \r\n",
    b"_\r\n",
];

/// What can be seen of a session after a batch.
#[derive(PartialEq, Debug)]
struct Seen {
    result: Result<(), OpError>,
    /// Of each command the reply and the values; `None` where that can't be shown.
    commands: Vec<(Reply, Vec<Option<String>>)>,
}

#[test]
fn fuzz_answers() {
    let wire = Wire::new();
    let mut whole = 0;
    Fuzz::new("resp").from(KNOWN).words(WORDS).run(4_000, |input| {
        let Some((first, answer)) = input.split_first() else { return };
        // `0` is the first of them.
        let batch = BATCHES[(usize::from(*first) + 2) % BATCHES.len()];
        let expected = slowly(batch, answer);
        let in_pieces = seen(batch, wire.session(batch, answer, 1));
        match expected {
            Ok(Answers { commands, failure, rest, early }) => {
                let expected = Seen { result: failure.map_or(Ok(()), Err), commands };
                assert_eq!(in_pieces, expected);
                whole += 1;
                let at_once = seen(batch, wire.session(batch, answer, answer.len()));
                if early > 0 {
                    // Records came before they were asked for.
                    assert_eq!(at_once.result, Err(OpError::lost(Outcome::Protocol)));
                } else if rest == 0 {
                    assert_eq!(at_once, expected);
                } else {
                    assert_eq!(at_once.result, Err(OpError::lost(Outcome::Protocol)));
                }
            }
            Err(outcome) => {
                assert_eq!(in_pieces.result, Err(OpError::lost(outcome)));
                // At once, records of a scan come before they were asked for.
                if !batch.contains(&SCAN) {
                    let at_once = seen(batch, wire.session(batch, answer, answer.len().max(1)));
                    assert_eq!(at_once.result, in_pieces.result);
                }
            }
        }
    });
    assert!(whole > 100, "only {whole} inputs were whole answers");
}

/// Both ends of a connection.
struct Wire {
    path: PathBuf,
    listener: UnixListener,
}

impl Wire {
    fn new() -> Wire {
        let path = std::env::temp_dir().join(format!("truetail-resp-{}.sock", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        Wire { path, listener }
    }

    /// A session that asked, was answered in pieces of so many bytes, which it saw each by itself, and then left alone.
    fn session(
        &self,
        batch: &[Command<'_>],
        answer: &[u8],
        piece: usize,
    ) -> (RedisSession, UnixStream, Result<(), OpError>) {
        let mut session = RedisSession::new(Socket::unix(&self.path).unwrap());
        let mut server = self.listener.accept().unwrap().0;
        batch.iter().for_each(|command| session.stage(*command).unwrap());
        assert!(session.poll_reply().is_pending());
        for bytes in answer.chunks(piece.max(1)) {
            server.write_all(bytes).unwrap();
            if let Poll::Ready(result) = session.poll_reply() {
                return (session, server, result);
            }
        }
        server.shutdown(Shutdown::Write).unwrap();
        let Poll::Ready(result) = session.poll_reply() else { panic!("it waits for a server that has gone") };
        (session, server, result)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn seen(batch: &[Command<'_>], asked: (RedisSession, UnixStream, Result<(), OpError>)) -> Seen {
    let (session, _server, result) = asked;
    assert_eq!(result.is_err(), session.last_error().is_some(), "{:?}", session.last_error());
    let text = |value| match value {
        Value::Text(text) => text.to_owned(),
        other => panic!("{other:?} is no text"),
    };
    let values = |command| {
        let columns = 0..columns(&session, command);
        columns.map(|column| session.value(command, 0, column).map(text)).collect()
    };
    let commands = (0..batch.len()).map(|command| (session.reply(command), values(command))).collect();
    Seen { result, commands }
}

/// How many columns there are: one after which there is nothing for a while is the last.
fn columns(session: &RedisSession, command: usize) -> usize {
    let shown = |column: &usize| session.value(command, 0, *column).is_some();
    (0..64).filter(shown).max().map_or(0, |last| last + 1)
}

/// What the commands gave, the first failure, and how many bytes were left.
struct Answers {
    commands: Vec<(Reply, Vec<Option<String>>)>,
    failure: Option<OpError>,
    rest: usize,
    /// Records of scans.
    early: usize,
}

/// The same by a parser that sees all bytes at once and copies what it finds. An error is what becomes of a session
/// whose server goes away after these bytes.
fn slowly(batch: &[Command<'_>], answer: &[u8]) -> Result<Answers, Outcome> {
    let (mut rest, mut failure) = (answer, None);
    let (mut commands, mut scans) = (Vec::new(), Vec::new());
    for command in batch {
        let mut values = Vec::new();
        let mut reply = Reply::default();
        let head = item(&mut rest)?;
        match (*command, head) {
            (_, Item::Error(words)) => {
                failure = failure.or(Some(OpError::refused(crate::codec::outcome(&words))));
            }
            (Command::Ping, Item::Text) => {}
            (ALL | ONE, Item::Nothing | Item::Items(0)) => {}
            (ALL, Item::Items(count)) if count % 2 == 0 => {
                for place in 0..count {
                    let Item::Value(bytes) = item(&mut rest)? else { return Err(Outcome::Protocol) };
                    values.extend((place % 2 == 1).then(|| String::from_utf8(bytes).ok()));
                }
                reply.rows = 1;
            }
            (ONE, Item::Items(1)) => match item(&mut rest)? {
                Item::Value(bytes) => {
                    values.push(String::from_utf8(bytes).ok());
                    reply.rows = 1;
                }
                Item::Nothing => {}
                _ => return Err(Outcome::Protocol),
            },
            (SCAN, Item::Nothing) => {}
            (SCAN, Item::Items(count)) => {
                for _ in 0..count {
                    let Item::Value(_) = item(&mut rest)? else { return Err(Outcome::Protocol) };
                    scans.push(commands.len());
                }
            }
            (WRITE, Item::Number(_)) => reply.affected = 1,
            (DELETE, Item::Number(number)) => reply.affected = number.max(0).unsigned_abs(),
            _ => return Err(Outcome::Protocol),
        }
        if *command == DELETE {
            match item(&mut rest)? {
                Item::Number(_) => {}
                Item::Error(words) => {
                    reply = Reply::default();
                    failure = failure.or(Some(OpError::refused(crate::codec::outcome(&words))));
                }
                _ => return Err(Outcome::Protocol),
            }
        }
        commands.push((reply, values));
    }
    for scan in &scans {
        let (reply, values): &mut (Reply, Vec<Option<String>>) = &mut commands[*scan];
        match item(&mut rest)? {
            Item::Error(words) => {
                failure = failure.or(Some(OpError::refused(crate::codec::outcome(&words))));
            }
            Item::Nothing | Item::Items(0) => {}
            Item::Items(count) if count % 2 == 0 => {
                for place in 0..count {
                    let Item::Value(bytes) = item(&mut rest)? else { return Err(Outcome::Protocol) };
                    let shown = place % 2 == 1 && reply.rows == 0;
                    values.extend(shown.then(|| String::from_utf8(bytes).ok()));
                }
                reply.rows += 1;
            }
            _ => return Err(Outcome::Protocol),
        }
    }
    for (_, values) in &mut commands {
        while values.last() == Some(&None) {
            values.pop(); // nobody can tell it from the end
        }
    }
    Ok(Answers { commands, failure, rest: rest.len(), early: scans.len() })
}

enum Item {
    Text,
    Error(Vec<u8>),
    Number(i64),
    Value(Vec<u8>),
    Nothing,
    Items(usize),
}

fn item(rest: &mut &[u8]) -> Result<Item, Outcome> {
    let (tag, after) = rest.split_first().ok_or(Outcome::ConnectionLost)?;
    if !b"+-:$*".contains(tag) {
        return Err(Outcome::Protocol);
    }
    let end = after.iter().position(|byte| *byte == b'\n').ok_or(Outcome::ConnectionLost)?;
    let line = after[..end].strip_suffix(b"\r").ok_or(Outcome::Protocol)?;
    *rest = &after[end + 1..];
    let number = || String::from_utf8_lossy(line).parse::<i64>().map_err(|_| Outcome::Protocol);
    let length = |number: i64| match usize::try_from(number) {
        Ok(length) if length <= MESSAGE_LIMIT => Ok(length),
        _ => Err(Outcome::Protocol),
    };
    Ok(match tag {
        b'+' => Item::Text,
        b'-' => Item::Error(line.to_vec()),
        b':' => Item::Number(number()?),
        _ if number()? == -1 => Item::Nothing,
        b'*' => Item::Items(length(number()?)?),
        _ => {
            let length = length(number()?)?;
            let end = rest.get(length..length + 2).ok_or(Outcome::ConnectionLost)?;
            if end != b"\r\n" {
                return Err(Outcome::Protocol);
            }
            let value = rest[..length].to_vec();
            *rest = &rest[length + 2..];
            Item::Value(value)
        }
    })
}
