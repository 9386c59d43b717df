//! Batches, their order, and the errors in between; and bytes that nobody wrote, cut anywhere.

use super::*;
use crate::types::{self, LONGLONG, VAR_STRING};
use driver::{Value, ValueType};
use proptest::prelude::*;
use units::Outcome;

/// A definition of a column of this type.
fn definition(kind: u8) -> Vec<u8> {
    let mut body = Vec::new();
    for text in ["def", "", "t", "t", "c", "c"] {
        codec::push_counted(&mut body, text.as_bytes());
    }
    body.extend_from_slice(&[0x0C, 45, 0, 20, 0, 0, 0, kind, 0, 0, 0, 0, 0]);
    body
}

fn column(kind: u8, wanted: ValueType) -> Column {
    Column::parse(&definition(kind), Some(wanted)).unwrap().0
}

/// Statement 0 counts, 1 keeps an integer, 2 keeps a text.
fn shapes() -> Box<[Shape]> {
    let kept = |kind, wanted| Shape { keeps: true, columns: [column(kind, wanted)].into() };
    [Shape::default(), kept(LONGLONG, ValueType::Int), kept(VAR_STRING, ValueType::Text)].into()
}

const COUNTED: Asked = Asked::Statement(0);
const INT: Asked = Asked::Statement(1);
const TEXT: Asked = Asked::Statement(2);

/// What a server says.
#[derive(Default, Clone)]
struct Script {
    bytes: Vec<u8>,
    number: u8,
}

impl Script {
    fn say(mut self, body: &[u8]) -> Script {
        self.number = self.number.wrapping_add(1);
        codec::packet_of(&mut self.bytes, self.number, |out| out.extend_from_slice(body));
        self
    }

    /// The next answer begins.
    fn next(self) -> Script {
        Script { number: 0, ..self }
    }

    fn ok(self, affected: u8) -> Script {
        self.say(&[0, affected, 0, 2, 0, 0, 0]).next()
    }

    /// The head of rows with this one column, defined again.
    fn defined(self, kind: u8) -> Script {
        self.say(&[1, 1]).say(&definition(kind))
    }

    /// The same, with what was told before.
    fn undefined(self) -> Script {
        self.say(&[1, 0])
    }

    fn row(self, value: &[u8]) -> Script {
        self.say(&[&[0, 0], value].concat())
    }

    fn int(self, value: i64) -> Script {
        self.row(&value.to_le_bytes())
    }

    fn end(self) -> Script {
        self.say(&[0xFE, 0, 0, 2, 0, 0, 0]).next()
    }

    fn error(self, code: u16, words: &str) -> Script {
        self.say(&[&[0xFF], &code.to_le_bytes()[..], b"#HY000", words.as_bytes()].concat()).next()
    }
}

/// Everything that a batch's consumer can see.
#[derive(PartialEq, Debug)]
struct Seen {
    end: Result<Progress, Garbage>,
    replies: Vec<Reply>,
    kept: Vec<String>,
    failure: Option<OpError>,
    error: Vec<u8>,
}

/// Feeds `bytes` in pieces of these sizes, as a session does: kept bytes stay, others are forgotten.
fn feed(asked: &[Asked], bytes: &[u8], pieces: impl Iterator<Item = usize>) -> Seen {
    let mut replies = Replies::new(shapes(), true);
    asked.iter().for_each(|a| replies.expect(*a));
    let (mut buffer, mut at, mut rest) = (Vec::new(), 0, bytes);
    let mut end = Ok(Progress::Incomplete);
    for piece in pieces {
        if rest.is_empty() || end != Ok(Progress::Incomplete) {
            break;
        }
        let (now, later) = rest.split_at(piece.clamp(1, rest.len()));
        rest = later;
        if !replies.keeps() {
            buffer.drain(..at);
            at = 0;
        }
        buffer.extend_from_slice(now);
        end = replies.consume(&buffer, at).map(|(to, progress)| {
            assert!((at..=buffer.len()).contains(&to));
            at = to;
            progress
        });
    }
    let kept = (0..asked.len())
        .flat_map(|command| (0..64).map(move |row| (command, row)))
        .filter_map(|(command, row)| replies.kept(command, row, &buffer))
        .map(|(columns, row)| format!("{:?}", types::value(columns, row, 0)))
        .collect();
    Seen {
        end,
        replies: (0..asked.len()).map(|command| replies.reply(command)).collect(),
        kept,
        failure: replies.failure(),
        error: replies.error().to_vec(),
    }
}

fn whole(asked: &[Asked], script: &Script) -> Seen {
    feed(asked, &script.bytes, std::iter::once(script.bytes.len()))
}

fn some(value: Value<'_>) -> String {
    format!("{:?}", Some(value))
}

#[test]
fn a_batch_is_counted_and_kept() {
    let script =
        Script::default().defined(LONGLONG).int(-7).int(8).end().undefined().int(9).end().ok(17).ok(5);
    let seen = whole(&[INT, COUNTED, COUNTED, Asked::Control], &script);
    assert_eq!(seen.end, Ok(Progress::Answered));
    let replies = [(2, 0), (1, 0), (0, 17), (0, 0)].map(|(rows, affected)| Reply { rows, affected });
    assert_eq!(seen.replies, replies, "what a COMMIT changed is nobody's business");
    assert_eq!(seen.kept, [some(Value::Int(-7)), some(Value::Int(8))]);
    assert_eq!(seen.failure, None);
}

#[test]
fn a_server_that_always_defines_columns_says_nothing_of_it() {
    let mut replies = Replies::new(shapes(), false);
    replies.expect(INT);
    let script = Script::default().say(&[1]).say(&definition(LONGLONG)).int(3).end();
    assert_eq!(replies.consume(&script.bytes, 0), Ok((script.bytes.len(), Progress::Answered)));
    assert_eq!(replies.reply(0).rows, 1);
}

#[test]
fn an_error_keeps_its_first_words_and_the_rest_is_answered_too() {
    let script =
        Script::default().ok(5).error(1213, "deadlock").undefined().int(1).error(1317, "interrupted").ok(0);
    let seen = whole(&[COUNTED, COUNTED, INT, Asked::Control], &script);
    assert_eq!(seen.end, Ok(Progress::Answered));
    assert_eq!(seen.failure, Some(OpError::refused(Outcome::Deadlock)));
    assert_eq!(seen.replies[0].affected, 5);
    assert!(seen.error.ends_with(b"deadlock"));
}

#[test]
fn parts_are_answered_one_after_the_other() {
    let mut replies = Replies::new(shapes(), true);
    replies.expect(Asked::Control);
    replies.expect(COUNTED);
    replies.end_part();
    replies.expect(INT);
    let first = Script::default().ok(0).ok(1);
    let end = first.bytes.len();
    assert_eq!(replies.consume(&first.bytes, 0), Ok((end, Progress::Answered)));
    // What comes before the next part was sent answers nothing.
    let early = first.clone().ok(0);
    assert_eq!(replies.consume(&early.bytes, end), Err(Garbage::Unexpected(0)));
    replies.go_on();
    let second = first.undefined().int(4).end();
    assert_eq!(replies.consume(&second.bytes, end), Ok((second.bytes.len(), Progress::Answered)));
    assert_eq!(replies.reply(2).rows, 1);
}

#[test]
fn a_good_bye_ends_the_session_without_waiting() {
    for script in [
        Script::default().error(1053, "Server shutdown in progress"),
        // In between, with a number of its own.
        Script { number: 6, ..Script::default() }.error(1053, "Server shutdown in progress"),
        Script::default().defined(LONGLONG).int(1).error(1053, "Server shutdown in progress"),
    ] {
        let seen = whole(&[INT], &script);
        assert_eq!(seen.end, Ok(Progress::Ended));
        assert_eq!(seen.failure, Some(OpError::lost(Outcome::Unavailable)));
    }
}

#[test]
fn packets_out_of_turn_are_garbage() {
    let end = |asked: &[Asked], script: Script| whole(asked, &script).end;
    let script = Script::default;
    assert_eq!(
        end(&[COUNTED], script().next().say(b"").next()),
        Err(Garbage::Malformed("packet without a body"))
    );
    assert_eq!(end(&[Asked::Control], script().undefined()), Err(Garbage::Unexpected(1)));
    assert_eq!(end(&[COUNTED], script().say(b"\xFB/etc/passwd")), Err(Garbage::Unexpected(0xFB)));
    assert_eq!(end(&[COUNTED], script().say(&[1])), Err(Garbage::Malformed("number of columns")));
    assert_eq!(end(&[INT], script().say(&[2, 0])), Err(Garbage::ColumnCount(2)));
    assert_eq!(end(&[INT], script().undefined().say(b"x")), Err(Garbage::Unexpected(b'x')));
    let late = Script { number: 1, ..script() }.ok(0);
    assert_eq!(end(&[COUNTED], late), Err(Garbage::OutOfOrder { found: 2, expected: 1 }));
    let more = script().say(&[0, 0, 0, 8, 0, 0, 0]);
    assert_eq!(end(&[COUNTED], more), Err(Garbage::SecondResult));
    assert_eq!(end(&[COUNTED], script().say(&[0, 0])), Err(Garbage::Malformed("OK")));
}

#[test]
fn a_column_may_change_between_batches_if_it_still_fits() {
    const INT4: u8 = 3;
    let changed = Script::default().defined(INT4).row(&[5, 0, 0, 0]).end();
    assert_eq!(whole(&[INT], &changed).kept, [some(Value::Int(5))]);
    let unfit = Script::default().defined(VAR_STRING);
    assert_eq!(whole(&[INT], &unfit).end, Err(Garbage::Column(0)));
    let within = Script::default().undefined().int(5).end().defined(INT4);
    assert_eq!(whole(&[INT, INT], &within).end, Err(Garbage::Column(0)));
    assert_eq!(whole(&[COUNTED], &Script::default().defined(VAR_STRING).end()).end, Ok(Progress::Answered));
}

#[test]
fn a_counted_row_needs_no_room_and_may_have_many_packets() {
    let mut replies = Replies::new(shapes(), true);
    replies.expect(COUNTED);
    let head = Script::default().undefined().bytes;
    let mut at_number = 1;
    assert_eq!(replies.consume(&head, 0), Ok((head.len(), Progress::Incomplete)));
    // Two packets that are full, and one that is not.
    for length in [LONGEST, LONGEST, 1_000_000] {
        at_number += 1;
        let size = (length as u32).to_le_bytes();
        let header = [size[0], size[1], size[2], at_number, 0];
        assert_eq!(replies.consume(&header, 0), Ok((5, Progress::Incomplete)));
        let mut left = length - 1;
        let piece = vec![0_u8; 1_000_000];
        while left > 0 {
            let now = left.min(piece.len());
            assert_eq!(replies.consume(&piece[..now], 0), Ok((now, Progress::Incomplete)));
            left -= now;
        }
    }
    let end = Script { number: at_number, ..Script::default() }.end();
    assert_eq!(replies.consume(&end.bytes, 0), Ok((end.bytes.len(), Progress::Answered)));
    assert_eq!(replies.reply(0), Reply { rows: 1, affected: 0 });
}

#[test]
fn numbers_go_round() {
    let mut script = Script::default().undefined();
    for value in 0..600 {
        script = script.int(value);
    }
    let seen = whole(&[COUNTED], &script.end());
    assert_eq!((seen.end, seen.replies[0].rows), (Ok(Progress::Answered), 600));
}

/// Also for as long as `cargo xtask soak --fuzz` says: in one piece and byte by byte, always the same.
#[test]
fn fuzz_answers() {
    let known = [
        Script::default().defined(LONGLONG).int(-7).end().ok(3),
        Script::default().undefined().row(b"\x02hi").row(b"\0").end().ok(3),
        Script::default().error(1213, "deadlock").undefined().end().ok(0),
        Script::default().ok(0).error(1053, "shutdown"),
    ]
    .map(|script| [&[0x1B], &script.bytes[..]].concat());
    let words: [&[u8]; 8] = [
        b"\x07\0\0\x01\0\0\0\x02\0\0\0",
        b"\x02\0\0\x01\x01\0",
        b"\x02\0\0\x01\x01\x01",
        b"\xFE",
        b"\xFF",
        b"\xFB",
        b"\xFF\xFF\xFF\x02\0",
        b"\0\0\0\x01",
    ];
    testkit::fuzz::Fuzz::new("mysql").from(known.iter().map(Vec::as_slice)).words(words).run(
        4_000,
        |input| {
            let Some((first, bytes)) = input.split_first() else { return };
            let asked: Vec<Asked> = (0..4)
                .map(|n| [Asked::Control, COUNTED, INT, TEXT][usize::from(first >> (2 * n) & 3)])
                .collect();
            let whole = feed(&asked, bytes, std::iter::once(bytes.len().max(1)));
            assert_eq!(feed(&asked, bytes, std::iter::repeat(1)), whole);
        },
    );
}

fn any_asked() -> impl Strategy<Value = Vec<Asked>> {
    let one = prop_oneof![Just(Asked::Control), Just(COUNTED), Just(INT), Just(TEXT)];
    proptest::collection::vec(one, 0..5)
}

/// Packets that are nearly right, so that the fuzz gets past the header.
fn any_script() -> impl Strategy<Value = Vec<u8>> {
    let body = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..12),
        Just(vec![0, 3, 0, 2, 0, 0, 0]),
        Just(vec![1, 0]),
        Just(vec![1, 1]),
        Just(definition(LONGLONG)),
        Just(definition(VAR_STRING)),
        Just(vec![0, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
        Just(b"\0\0\x02hi".to_vec()),
        Just(vec![0xFE, 0, 0, 2, 0, 0, 0]),
        Just(b"\xFF\x26\x04#23000no".to_vec()),
    ];
    proptest::collection::vec((body, any::<bool>(), 0_u8..20), 0..14).prop_map(|packets| {
        let script = packets.into_iter().fold(Script::default(), |script, (body, over, slip)| {
            let script = script.say(&body);
            let script = if over { script.next() } else { script };
            if slip == 0 { Script { number: 9, ..script } } else { script }
        });
        script.bytes
    })
}

proptest! {
    #[test]
    fn any_bytes_give_progress_or_an_error(
        asked in any_asked(),
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        feed(&asked, &bytes, std::iter::once(bytes.len()));
    }

    #[test]
    fn the_way_bytes_are_cut_changes_nothing(
        asked in any_asked(),
        bytes in any_script(),
        pieces in proptest::collection::vec(1_usize..40, 200),
    ) {
        let cut = feed(&asked, &bytes, pieces.into_iter().chain(std::iter::repeat(1)));
        prop_assert_eq!(cut, feed(&asked, &bytes, std::iter::once(bytes.len())));
    }

    #[test]
    fn any_error_is_shown_in_one_line(body in proptest::collection::vec(any::<u8>(), 0..60)) {
        let shown = ServerError::parse(&body).to_string();
        prop_assert!(!shown.contains('\n'));
    }
}
