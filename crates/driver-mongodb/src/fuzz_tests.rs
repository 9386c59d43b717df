//! Whatever a server answers, in one piece and byte by byte: the same replies and the same end, never a panic.
//!
//! `cargo xtask soak --fuzz` does the same for as long as it is told.

use crate::bson::{array, binary, document, embedded, int, text};
use crate::config::Durability;
use crate::session::MongoSession;
use driver::{Command, Fields, KeyValue, OpError, Reply, Session, Value};
use socket::Socket;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::task::Poll;
use testkit::fuzz::Fuzz;
use units::Outcome;

const READ: Command<'_> =
    Command::KeyValue(KeyValue::Read { table: "usertable", key: "k", fields: Fields::All });
const ONE: Command<'_> =
    Command::KeyValue(KeyValue::Read { table: "usertable", key: "k", fields: Fields::One("f") });
const WRITE: Command<'_> =
    Command::KeyValue(KeyValue::Update { table: "usertable", key: "k", fields: &[("f", "v")] });
const SCAN: Command<'_> = Command::KeyValue(KeyValue::Scan {
    table: "usertable",
    key: "k",
    count: 3,
    fields: Fields::Named(&["g", "f"]),
});

/// What is asked; the first byte of an input says which of them.
const BATCHES: [&[Command<'_>]; 4] = [&[Command::Ping], &[READ], &[WRITE, ONE], &[SCAN, READ, Command::Ping]];

/// The answer to request `id`.
fn answer(id: u32, inside: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut body = vec![0; 4];
    body.push(0);
    document(&mut body, inside);
    let mut out = (body.len() as u32 + 16).to_le_bytes().to_vec();
    for word in [77, id, 2013_u32] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend(body);
    out
}

fn ok(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x01ok\0");
    out.extend_from_slice(&1_f64.to_le_bytes());
}

fn found(id: u32, records: &[&[(&str, &str)]]) -> Vec<u8> {
    answer(id, |out| {
        embedded(out, "cursor", |out| {
            array(out, "firstBatch", |out| {
                for (at, record) in records.iter().enumerate() {
                    embedded(out, &at.to_string(), |out| {
                        text(out, "_id", "k");
                        record.iter().for_each(|(name, value)| binary(out, name, value.as_bytes()));
                    });
                }
            });
            int(out, "id", 0);
        });
        ok(out);
    })
}

fn written(id: u32, count: i32) -> Vec<u8> {
    answer(id, |out| {
        int(out, "n", count);
        ok(out);
    })
}

fn refused(id: u32, code: i32) -> Vec<u8> {
    answer(id, |out| {
        int(out, "ok", 0);
        int(out, "code", code);
        text(out, "errmsg", "no");
    })
}

fn duplicate(id: u32) -> Vec<u8> {
    answer(id, |out| {
        array(out, "writeErrors", |out| {
            embedded(out, "0", |out| {
                int(out, "code", 11_000);
                text(out, "errmsg", "E11000 duplicate key");
            });
        });
        int(out, "n", 0);
        ok(out);
    })
}

/// Whole answers, each behind the byte that says to what.
fn known() -> Vec<Vec<u8>> {
    let record: &[(&str, &str)] = &[("f", "v"), ("g", "größe")];
    let with = |batch: u8, answers: &[Vec<u8>]| [&[batch][..], &answers.concat()].concat();
    vec![
        with(0, &[answer(1, ok)]),
        with(0, &[refused(1, 13)]),
        with(1, &[found(1, &[record])]),
        with(1, &[found(1, &[])]),
        with(1, &[refused(1, 10107)]),
        with(
            1,
            &[answer(1, |out| {
                embedded(out, "cursor", |out| {
                    array(out, "firstBatch", |out| {
                        embedded(out, "0", |out| int(out, "f", 7));
                    })
                })
            })],
        ),
        with(2, &[written(1, 1), found(2, &[record])]),
        with(2, &[duplicate(1), found(2, &[&record[1..]])]),
        with(3, &[found(1, &[record, &record[1..], &[]]), found(2, &[record]), answer(3, ok)]),
        with(3, &[refused(1, 112), refused(2, 91), answer(3, ok)]),
        with(0, &[answer(1, ok), answer(2, ok)]),
    ]
}

const WORDS: [&[u8]; 14] = [
    b"\0",
    b"\0\0\0\0",
    b"\xFF\xFF\xFF\x7F",
    b"\xFF\xFF\xFF\xFF",
    b"\x10n\0\x01\0\0\0",
    b"\x01ok\0\0\0\0\0\0\0\xF0\x3F",
    b"\x03cursor\0",
    b"\x04firstBatch\0",
    b"\x05f\0\x01\0\0\0\0v",
    b"\x02f\0\x02\0\0\0v\0",
    b"\x0Af\0",
    b"\xDD\x07\0\0",
    b"\x05\0\0\0\0",
    b"\x01\0\0\0",
];

/// What can be seen of a session after a batch.
#[derive(PartialEq, Debug)]
struct Seen {
    result: Result<(), OpError>,
    commands: Vec<(Reply, Vec<Vec<Option<String>>>)>,
}

#[test]
fn fuzz_answers() {
    let wire = Wire::new();
    let (mut whole, known) = (0, known());
    Fuzz::new("op-msg").from(known.iter().map(Vec::as_slice)).words(WORDS).run(4_000, |input| {
        let Some((first, bytes)) = input.split_first() else { return };
        let batch = BATCHES[usize::from(*first) % BATCHES.len()];
        let in_pieces = wire.seen(batch, bytes, 1);
        let at_once = wire.seen(batch, bytes, bytes.len().max(1));
        let is_over =
            in_pieces.result.is_ok_and(|()| true) || in_pieces.result.is_err_and(|e| e.session_usable);
        whole += u32::from(is_over);
        if is_over && answers_end(bytes, batch.len()) < bytes.len() {
            assert_eq!(at_once.result, Err(OpError::lost(Outcome::Protocol)), "more than was asked for");
        } else {
            assert_eq!(at_once, in_pieces);
        }
    });
    assert!(whole > 100, "only {whole} inputs were whole answers");
}

/// Where so many answers end, by their lengths alone.
fn answers_end(bytes: &[u8], count: usize) -> usize {
    (0..count).fold(0, |at, _| at + u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize)
}

#[test]
fn what_servers_answer_is_understood() {
    let wire = Wire::new();
    let seen = |at: usize| {
        let input = &known()[at];
        let seen = wire.seen(BATCHES[usize::from(input[0])], &input[1..], input.len());
        (seen.result, seen.commands)
    };
    let (rows, affected) = (|rows| Reply { rows, affected: 0 }, |affected| Reply { rows: 0, affected });
    let texts = |values: &[&str]| values.iter().map(|text| Some((*text).to_owned())).collect::<Vec<_>>();
    let refused = |outcome| Err(OpError::refused(outcome));
    assert_eq!(seen(0), (Ok(()), vec![(Reply::default(), vec![])]));
    assert_eq!(seen(1).0, refused(Outcome::Server));
    assert_eq!(seen(2), (Ok(()), vec![(rows(1), vec![texts(&["v", "größe"])])]));
    assert_eq!(seen(3), (Ok(()), vec![(Reply::default(), vec![])]));
    assert_eq!(seen(4).0, refused(Outcome::Redirected));
    assert_eq!(seen(5).0, Err(OpError::lost(Outcome::Protocol)), "an answer without `ok`");
    assert_eq!(seen(6), (Ok(()), vec![(affected(1), vec![]), (rows(1), vec![texts(&["v"])])]));
    assert_eq!(seen(7), (refused(Outcome::Constraint), vec![(Reply::default(), vec![]); 2]));
    let scanned = vec![texts(&["größe", "v"]), vec![Some("größe".to_owned()), None]];
    assert_eq!(seen(8).1[0], (rows(2), scanned));
    assert_eq!(seen(9).0, refused(Outcome::Serialization), "the first failure");
    assert_eq!(seen(10).0, Err(OpError::lost(Outcome::Protocol)), "more than was asked for");
}

/// Both ends of a connection.
struct Wire {
    path: PathBuf,
    listener: UnixListener,
}

impl Wire {
    fn new() -> Wire {
        let name = format!("truetail-opmsg-{}-{:?}.sock", std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(name.replace(['(', ')'], ""));
        let listener = UnixListener::bind(&path).unwrap();
        Wire { path, listener }
    }

    /// A session that asked, was answered in pieces of so many bytes, which it saw each by itself, and then left alone.
    fn seen(&self, batch: &[Command<'_>], answer: &[u8], piece: usize) -> Seen {
        let mut session = MongoSession::new(Socket::unix(&self.path).unwrap(), "d", &Durability::default());
        let mut server = self.listener.accept().unwrap().0;
        batch.iter().for_each(|command| session.stage(*command).unwrap());
        assert!(session.poll_reply().is_pending());
        let result = play(&mut session, &mut server, answer, piece);
        assert_eq!(result.is_err(), session.last_error().is_some(), "{:?}", session.last_error());
        let commands =
            (0..batch.len()).map(|command| (session.reply(command), rows(&session, command))).collect();
        Seen { result, commands }
    }
}

fn play(
    session: &mut MongoSession,
    server: &mut UnixStream,
    answer: &[u8],
    piece: usize,
) -> Result<(), OpError> {
    for bytes in answer.chunks(piece) {
        server.write_all(bytes).unwrap();
        if let Poll::Ready(result) = session.poll_reply() {
            return result;
        }
    }
    server.shutdown(Shutdown::Write).unwrap();
    let Poll::Ready(result) = session.poll_reply() else { panic!("it waits for a server that has gone") };
    result
}

/// The values of all rows; `None` where a field is missing or is no text.
fn rows(session: &MongoSession, command: usize) -> Vec<Vec<Option<String>>> {
    let text = |value| match value {
        Value::Text(text) => Some(text.to_owned()),
        Value::Null => None,
        other => panic!("{other:?} is no text"),
    };
    let row = |row| {
        let columns = (0..64).map(|column| session.value(command, row, column));
        let mut values: Vec<Option<String>> = columns.map(|value| value.and_then(text)).collect();
        let last = values.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        values.truncate(last.max(shown(session, command, row)));
        values
    };
    (0..session.reply(command).rows as usize).map(row).collect()
}

/// How many columns a row has.
fn shown(session: &MongoSession, command: usize, row: usize) -> usize {
    (0..64).filter(|column| session.value(command, row, *column).is_some()).max().map_or(0, |last| last + 1)
}

impl Drop for Wire {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
