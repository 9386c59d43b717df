//! Whatever a server answers: what a slow parser of a page makes of it, in one piece and byte by byte, never a panic.
//!
//! `cargo xtask soak --fuzz` does the same for as long as it is told.

use crate::codec::{BODY_LIMIT, Consistency};
use crate::config::Config;
use crate::session::CqlSession;
use crate::shape::Table;
use driver::{Command, Fields, KeyValue, OpError, Reply, Session, TargetUrl, Value};
use socket::Socket;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::task::Poll;
use testkit::fuzz::Fuzz;
use units::Outcome;

const TABLE: &str = "usertable";
const ALL: Command<'_> = Command::KeyValue(KeyValue::Read { table: TABLE, key: "k", fields: Fields::All });
const ONE: Command<'_> =
    Command::KeyValue(KeyValue::Read { table: TABLE, key: "k", fields: Fields::One("f") });
const WRITE: Command<'_> =
    Command::KeyValue(KeyValue::Update { table: TABLE, key: "k", fields: &[("f", "v")] });
const SCAN: Command<'_> =
    Command::KeyValue(KeyValue::Scan { table: TABLE, key: "k", count: 3, fields: Fields::All });

/// What is asked; the first byte of an input says which.
const COMMANDS: [Command<'_>; 5] = [Command::Ping, ALL, ONE, WRITE, SCAN];

/// A frame of an answer to request 0.
fn answer(command: u8, flags: u8, opcode: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_be_bytes();
    [&[command, 0x84, flags, 0, 0, opcode], &length[..], body].concat()
}

/// A result of rows, whose values follow the numbers of columns and rows.
fn rows(command: u8, columns: u8, count: u8, values: &[u8]) -> Vec<u8> {
    let head = [0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, columns, 0, 0, 0, count];
    answer(command, 0, 8, &[&head, values].concat())
}

fn known() -> Vec<Vec<u8>> {
    let value = b"\0\0\0\x02ab";
    let null = b"\xFF\xFF\xFF\xFF";
    vec![
        answer(b'0', 0, 6, b"\0\0"),
        answer(b'0', 0, 0, b"\0\0\x10\x01\0\x04busy"),
        answer(b'3', 0, 8, b"\0\0\0\x01"),
        answer(b'3', 8, 8, b"\0\x01\0\x04slow\0\0\0\x01"),
        answer(b'3', 0, 0, b"\0\0\x11\0\0\x04late\0\x01\0\0\0\0\0\0\0\x01\0\x06SIMPLE"),
        answer(b'1', 0, 0, b"\0\0\x25\0\0\x01?\0\x02id"),
        rows(b'1', 2, 1, &[&value[..], null].concat()),
        rows(b'1', 2, 0, b""),
        rows(b'2', 1, 1, value),
        rows(b'2', 1, 1, null),
        rows(b'4', 2, 2, &[&value[..], value, null, value].concat()),
        // With the metadata that was not asked for.
        answer(b'2', 0, 8, b"\0\0\0\x02\0\0\0\x01\0\0\0\x01\0\x01k\0\x01t\0\x01f\0\x0D\0\0\0\x01\0\0\0\x01v"),
        answer(b'1', 6, 8, b"0123456789abcdef\0\x01\0\x01p\0\0\0\x01q\0\0\0\x02\0\0\0\x04\0\0\0\x02\0\0\0\0"),
    ]
}

const WORDS: [&[u8]; 12] = [
    b"\0",
    b"\xFF",
    b"\x84\0\0\0",
    b"\x84\0\0\0\x08\0\0\0",
    b"\0\0\0\x01",
    b"\0\0\0\x02",
    b"\0\0\0\x04",
    b"\xFF\xFF\xFF\xFF",
    b"\x7F\xFF\xFF\xFF",
    b"\x80\0\0\0",
    b"\0\x30",
    b"\0\x21",
];

/// What can be seen of a session after a command.
#[derive(PartialEq, Debug)]
struct Seen {
    result: Result<(), OpError>,
    reply: Reply,
    values: Vec<Vec<Option<Vec<u8>>>>,
}

#[test]
fn fuzz_answers() {
    let wire = Wire::new("fuzz");
    let mut whole = 0;
    Fuzz::new("cql").from(known()).words(WORDS).run(4_000, |input| {
        let Some((first, answer)) = input.split_first() else { return };
        // `0` is the first of them.
        let command = COMMANDS[(usize::from(*first) + 2) % COMMANDS.len()];
        let in_pieces = seen(wire.session(command, answer, 1));
        match slowly(command, answer) {
            Ok((mut expected, rest)) => {
                // What is of no use as text is not shown.
                for value in expected.values.iter_mut().flatten() {
                    *value = value.take().filter(|bytes| std::str::from_utf8(bytes).is_ok());
                }
                trimmed(&mut expected.values);
                assert_eq!(in_pieces, expected);
                whole += 1;
                let at_once = seen(wire.session(command, answer, answer.len()));
                let lost = expected.result.is_err_and(|error| !error.session_usable);
                match rest {
                    0 => assert_eq!(at_once, expected),
                    _ if lost => assert_eq!(at_once.result.map_err(|error| error.session_usable), Err(false)),
                    _ => assert_eq!(at_once.result, Err(OpError::lost(Outcome::Protocol))),
                }
            }
            Err(outcome) => {
                assert_eq!(in_pieces.result, Err(OpError::lost(outcome)), "{answer:?}");
                let at_once = seen(wire.session(command, answer, answer.len().max(1)));
                assert_eq!(at_once.result, in_pieces.result);
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

fn table() -> Table {
    let mut table = Table {
        keyspace: "k".to_owned(),
        name: TABLE.to_owned(),
        key: "y_id".to_owned(),
        columns: vec!["f".to_owned(), "g".to_owned()],
        ..Table::default()
    };
    let ids = table.shapes().iter().map(|_| b"id".to_vec()).collect();
    table.keep(ids);
    table
}

impl Wire {
    /// `test` tells the wires of one process apart.
    fn new(test: &str) -> Wire {
        let path = std::env::temp_dir().join(format!("truetail-cql-{test}-{}.sock", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        Wire { path, listener }
    }

    /// A session that asked, was answered in pieces of so many bytes, which it saw each by itself, and then left alone.
    fn session(
        &self,
        command: Command<'_>,
        answer: &[u8],
        piece: usize,
    ) -> (CqlSession, UnixStream, Result<(), OpError>) {
        let config = Config::new(&TargetUrl::parse("cql:").unwrap()).unwrap();
        let socket = Socket::unix(&self.path).unwrap();
        let mut session = CqlSession::new(socket, vec![table()], (&config).into());
        let mut server = self.listener.accept().unwrap().0;
        session.stage(command).unwrap();
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

fn seen(asked: (CqlSession, UnixStream, Result<(), OpError>)) -> Seen {
    let (session, _server, result) = asked;
    assert_eq!(result.is_err(), session.last_error().is_some(), "{:?}", session.last_error());
    let text = |row, column| match session.value(0, row, column) {
        Some(Value::Text(text)) => Some(text.as_bytes().to_vec()),
        None | Some(Value::Null) => None,
        other => panic!("{other:?} is no text"),
    };
    let row = |row| (0..2).map(|column| text(row, column)).collect();
    let mut values = (0..64).map(row).collect();
    trimmed(&mut values);
    Seen { result, reply: session.reply(0), values }
}

/// Without what can't be told from the end.
fn trimmed(rows: &mut Vec<Vec<Option<Vec<u8>>>>) {
    for row in rows.iter_mut() {
        while row.last() == Some(&None) {
            row.pop();
        }
    }
    while rows.last().is_some_and(Vec::is_empty) {
        rows.pop();
    }
}

/// The same by a parser that sees all bytes at once and copies what it finds; and how many bytes were left. An error is
/// what becomes of a session whose server goes away after these bytes.
fn slowly(command: Command<'_>, answer: &[u8]) -> Result<(Seen, usize), Outcome> {
    let first = *answer.first().ok_or(Outcome::ConnectionLost)?;
    if first != 0x84 {
        return Err(Outcome::Protocol);
    }
    if answer.len() < 9 {
        return Err(Outcome::ConnectionLost);
    }
    let length = i32::from_be_bytes(answer[5..9].try_into().unwrap());
    let length =
        usize::try_from(length).ok().filter(|length| *length <= BODY_LIMIT).ok_or(Outcome::Protocol)?;
    let body = answer.get(9..9 + length).ok_or(Outcome::ConnectionLost)?;
    let rest = answer.len() - 9 - length;
    if answer[2..4] != [0, 0] {
        return Err(Outcome::Protocol);
    }
    let seen = slowly_body(command, answer[1], answer[4], body).ok_or(Outcome::Protocol)?;
    Ok((seen, rest))
}

fn slowly_body(command: Command<'_>, flags: u8, opcode: u8, mut body: &[u8]) -> Option<Seen> {
    let rest = &mut body;
    if flags & 2 != 0 {
        take(rest, 16)?;
    }
    if flags & 8 != 0 {
        for _ in 0..number(rest, 2)? {
            string(rest)?;
        }
    }
    if flags & 4 != 0 {
        for _ in 0..number(rest, 2)? {
            string(rest)?;
            value(rest)?;
        }
    }
    let seen = |result, reply, values| Some(Seen { result, reply, values });
    if opcode == 0 {
        let code = number(rest, 4)? as u32 as i32;
        string(rest)?;
        let outcome = crate::codec::outcome(code);
        let error = if code == 0x2500 { OpError::lost(outcome) } else { OpError::refused(outcome) };
        return seen(Err(error), Reply::default(), vec![]);
    }
    let named = command == ONE;
    let columns = match command {
        Command::Ping => return if opcode == 6 { seen(Ok(()), Reply::default(), vec![]) } else { None },
        WRITE => {
            let written = Reply { rows: 0, affected: 1 };
            return if opcode == 8 && number(rest, 4)? == 1 { seen(Ok(()), written, vec![]) } else { None };
        }
        _ if named => 1,
        _ => 2,
    };
    if opcode != 8 || number(rest, 4)? != 2 {
        return None;
    }
    slowly_metadata(rest, columns)?;
    let count = number(rest, 4)? as u32 as i32;
    let mut rows = Vec::new();
    for _ in 0..count {
        let mut row = Vec::new();
        for _ in 0..columns {
            row.push(value(rest)?);
        }
        if !named {
            row.retain(Option::is_some);
            rows.push(row);
        } else if row.iter().any(Option::is_some) {
            rows.push(row);
        }
    }
    let reply = Reply { rows: rows.len() as u64, affected: 0 };
    if rest.is_empty() { seen(Ok(()), reply, rows) } else { None }
}

fn slowly_metadata(rest: &mut &[u8], columns: u64) -> Option<()> {
    let (flags, found) = (number(rest, 4)?, number(rest, 4)?);
    if flags & 2 != 0 {
        value(rest)?;
    }
    if flags & 4 == 0 {
        if flags & 1 != 0 {
            string(rest)?;
            string(rest)?;
        }
        for _ in 0..(found as u32 as i32).max(0) {
            for _ in 0..if flags & 1 == 0 { 3 } else { 1 } {
                string(rest)?;
            }
            slowly_type(rest)?;
        }
    }
    (found == columns).then_some(())
}

/// Types within types, one level of the stack for each; an input is too short for too many.
fn slowly_type(rest: &mut &[u8]) -> Option<()> {
    match number(rest, 2)? {
        0 => string(rest).map(drop),
        1..=0x15 => Some(()),
        0x20 | 0x22 => slowly_type(rest),
        0x21 => (0..2).try_for_each(|_| slowly_type(rest)),
        0x31 => (0..number(rest, 2)?).try_for_each(|_| slowly_type(rest)),
        _ => None,
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

fn number(rest: &mut &[u8], bytes: usize) -> Option<u64> {
    Some(take(rest, bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn string<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = number(rest, 2)?;
    take(rest, length as usize)
}

/// The outer `None` is an end that comes too early.
fn value(rest: &mut &[u8]) -> Option<Option<Vec<u8>>> {
    let length = number(rest, 4)? as u32 as i32;
    let Ok(length) = usize::try_from(length) else { return Some(None) };
    take(rest, length).map(|bytes| Some(bytes.to_vec()))
}

/// The levels stand for what a session asks; a test must not be blind to them.
#[test]
fn a_request_says_how_surely() {
    let wire = Wire::new("levels");
    let config =
        Config::new(&TargetUrl::parse("cql://h/k?read_consistency=one&write_consistency=all").unwrap());
    let socket = Socket::unix(&wire.path).unwrap();
    let mut session = CqlSession::new(socket, vec![table()], (&config.unwrap()).into());
    let mut server = wire.listener.accept().unwrap().0;
    for (command, level) in [(ALL, "one"), (SCAN, "one"), (WRITE, "all")] {
        session.stage(command).unwrap();
        assert!(session.poll_reply().is_pending());
        let mut request = [0; 17];
        std::io::Read::read_exact(&mut server, &mut request).unwrap();
        let mut expected = Vec::new();
        crate::codec::parameters(&mut expected, Consistency::named(level).unwrap(), 1);
        // Behind the header and the statement's identifier of two bytes.
        assert_eq!(request[13..15], expected[..2], "{command:?}");
        let rest = u32::from_be_bytes(request[5..9].try_into().unwrap()) as usize - 8;
        std::io::Read::read_exact(&mut server, &mut vec![0; rest]).unwrap();
        let words = b"\0\0\x10\0\0\x02no";
        let stream = &request[2..4];
        let answer = [&[0x84, 0], stream, &[0, 0, 0, 0, 8], words].concat();
        server.write_all(&answer).unwrap();
        assert_eq!(session.poll_reply(), Poll::Ready(Err(OpError::refused(Outcome::Unavailable))));
        assert_eq!(session.last_error().as_deref(), Some("unavailable: no"));
    }
}
