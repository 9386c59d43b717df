use super::*;
use crate::codec;
use proptest::prelude::*;

/// What the server would send, message by message.
#[derive(Default)]
struct Script(Vec<u8>);

impl Script {
    fn say(mut self, tag: u8, body: &[u8]) -> Script {
        codec::message(&mut self.0, tag, |out| out.extend_from_slice(body));
        self
    }

    fn row(self, fields: &[Option<&[u8]>]) -> Script {
        let mut body = (fields.len() as u16).to_be_bytes().to_vec();
        for field in fields {
            match field {
                None => body.extend_from_slice(&[0xFF; 4]),
                Some(bytes) => {
                    body.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
                    body.extend_from_slice(bytes);
                }
            }
        }
        self.say(b'D', &body)
    }

    fn ready(self) -> Script {
        self.say(b'Z', b"I")
    }
}

fn expecting(asked: &[Asked]) -> Replies {
    let mut replies = Replies::new();
    asked.iter().for_each(|a| replies.expect(*a));
    replies
}

/// Everything that a batch's consumer can see.
#[derive(PartialEq, Debug)]
struct Seen {
    end: Result<Progress, Garbage>,
    replies: Vec<Reply>,
    kept: Vec<Vec<u8>>,
    failure: Option<OpError>,
    error: Vec<u8>,
}

/// Feeds `bytes` in pieces of these sizes, as a session does: kept bytes stay, others are forgotten.
fn feed(asked: &[Asked], bytes: &[u8], pieces: impl Iterator<Item = usize>) -> Seen {
    let mut replies = expecting(asked);
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
        .filter_map(|(_, row)| field(row, 0)?.map(<[u8]>::to_vec))
        .collect();
    Seen {
        end,
        replies: (0..asked.len()).map(|command| replies.reply(command)).collect(),
        kept,
        failure: replies.failure(),
        error: replies.error().to_vec(),
    }
}

fn whole(asked: &[Asked], bytes: &[u8]) -> Seen {
    feed(asked, bytes, std::iter::once(bytes.len()))
}

const KEPT: Asked = Asked::Kept(3);

#[test]
fn a_batch_is_counted_and_kept() {
    let script = Script::default()
        .say(b'2', b"")
        .row(&[Some(b"first")])
        .row(&[None, Some(b"x")])
        .say(b'C', b"SELECT 2\0")
        .say(b'N', b"SWARNING\0\0")
        .say(b'2', b"")
        .row(&[Some(b"counted")])
        .say(b'C', b"INSERT 0 17\0")
        .say(b'2', b"")
        .say(b'I', b"")
        .ready();
    let seen = whole(&[KEPT, Asked::Counted, Asked::Ping], &script.0);
    assert_eq!(seen.end, Ok(Progress::Ready));
    let replies = [(2, 0), (1, 17), (0, 0)].map(|(rows, affected)| Reply { rows, affected });
    assert_eq!(seen.replies, replies);
    assert_eq!(seen.kept, [b"first"]);
    assert_eq!(seen.failure, None);
}

#[test]
fn an_error_ends_the_batch_and_keeps_its_first_words() {
    let script = Script::default()
        .say(b'2', b"")
        .say(b'C', b"UPDATE 5\0")
        .say(b'2', b"")
        .say(b'E', b"VERROR\0C40P01\0Mdeadlock\0\0")
        .ready();
    let seen = whole(&[Asked::Counted, KEPT, Asked::Commit], &script.0);
    assert_eq!(seen.end, Ok(Progress::Ready));
    assert_eq!(seen.failure, Some(OpError::refused(Outcome::Deadlock)));
    assert_eq!(seen.replies[0].affected, 5);
    assert!(seen.error.starts_with(b"VERROR"));
}

#[test]
fn a_fatal_error_ends_the_session_without_waiting() {
    let script = Script::default().say(b'E', b"VFATAL\0C57P01\0Mshutting down\0\0");
    let seen = whole(&[Asked::Ping], &script.0);
    assert_eq!(seen.end, Ok(Progress::Ended));
    assert_eq!(seen.failure, Some(OpError::lost(Outcome::Unavailable)));
}

#[test]
fn a_commit_that_rolls_back_is_a_failure() {
    let script = |tag: &[u8]| Script::default().say(b'2', b"").say(b'C', tag).ready().0;
    assert_eq!(whole(&[Asked::Commit], &script(b"COMMIT\0")).failure, None);
    let failure = Some(OpError::refused(Outcome::Server));
    assert_eq!(whole(&[Asked::Commit], &script(b"ROLLBACK\0")).failure, failure);
    assert_eq!(whole(&[Asked::Control], &script(b"ROLLBACK\0")).failure, None);
}

#[test]
fn messages_out_of_turn_are_garbage() {
    let end = |asked: &[Asked], script: Script| whole(asked, &script.0).end;
    let script = Script::default;
    assert_eq!(end(&[Asked::Ping], script().ready()), Err(Garbage::AnswerCount));
    assert_eq!(end(&[], script().say(b'2', b"")), Err(Garbage::Unexpected(b'2')));
    assert_eq!(end(&[], script().row(&[])), Err(Garbage::Unexpected(b'D')));
    assert_eq!(end(&[Asked::Ping], script().say(b'C', b"SELECT 1\0")), Err(Garbage::Unexpected(b'C')));
    assert_eq!(end(&[Asked::Counted], script().say(b'G', b"")), Err(Garbage::Unexpected(b'G')));
    assert_eq!(end(&[Asked::Counted], script().say(b'C', b"DELETE x\0")), Err(Garbage::Malformed(b'C')));
    assert_eq!(end(&[], script().say(b'Z', b"?")), Err(Garbage::Malformed(b'Z')));
    let huge = Script(vec![b'D', 0x7F, 0xFF, 0xFF, 0xFF]);
    assert_eq!(end(&[Asked::Counted], huge), Err(Garbage::Length(0x7FFF_FFFF)));
}

#[test]
fn a_counted_row_needs_no_room() {
    let mut replies = expecting(&[Asked::Counted]);
    // A row of 100 MB of which only the header was seen, then its bytes in passing.
    let mut header = vec![b'D'];
    header.extend_from_slice(&(100_000_004_u32).to_be_bytes());
    assert_eq!(replies.consume(&header, 0), Ok((HEADER, Progress::Incomplete)));
    let piece = vec![0_u8; 1_000_000];
    for _ in 0..100 {
        assert_eq!(replies.consume(&piece, 0), Ok((piece.len(), Progress::Incomplete)));
    }
    let end = Script::default().say(b'C', b"SELECT 1\0").ready();
    assert_eq!(replies.consume(&end.0, 0), Ok((end.0.len(), Progress::Ready)));
    assert_eq!(replies.reply(0), Reply { rows: 1, affected: 0 });
}

/// Found by the fuzz: a row of one byte whose field would be the next message.
#[test]
fn a_row_ends_where_its_message_does() {
    let begun = Script::default().say(b'D', b"I");
    let script = Script(begun.0.clone()).say(b'1', b"INSERT 0 4\0").say(b'2', b"");
    let seen = whole(&[KEPT], &script.0);
    assert_eq!(seen.end, Err(Garbage::Unexpected(b'1')));
    assert_eq!(seen.kept, [b""; 0]);
    assert_eq!(feed(&[KEPT], &script.0, std::iter::repeat(1)), seen);
    let honest = begun.row(&[Some(b"whole")]);
    assert_eq!(whole(&[KEPT], &honest.0).kept, [b"whole"]);
}

#[test]
fn command_tags_give_the_rows_changed() {
    let cases: [(&[u8], Option<u64>); 9] = [
        (b"INSERT 0 1\0", Some(1)),
        (b"UPDATE 18446744073709551615\0", Some(u64::MAX)),
        (b"UPDATE 18446744073709551616\0", None),
        (b"DELETE 0\0", Some(0)),
        (b"MERGE 12\0", Some(12)),
        (b"SELECT 5\0", Some(0)),
        (b"CREATE TABLE\0", Some(0)),
        (b"\0", Some(0)),
        (b"", None),
    ];
    for (tag, count) in cases {
        assert_eq!(affected(tag), count, "{tag:?}");
    }
}

fn any_asked() -> impl Strategy<Value = Vec<Asked>> {
    let one = prop_oneof![
        Just(Asked::Ping),
        Just(Asked::Control),
        Just(Asked::Commit),
        Just(Asked::Counted),
        Just(KEPT)
    ];
    proptest::collection::vec(one, 0..5)
}

/// Messages that are nearly right, so that the fuzz gets past the header.
fn any_script() -> impl Strategy<Value = Vec<u8>> {
    let tag = proptest::sample::select(b"2DDDCCIZENSA1T".to_vec());
    let body = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..12),
        Just(b"SELECT 3\0".to_vec()),
        Just(b"INSERT 0 4\0".to_vec()),
        Just(b"ROLLBACK\0".to_vec()),
        Just(b"I".to_vec()),
        Just(b"VERROR\0C23505\0Mno\0\0".to_vec()),
        Just(b"\0\x01\0\0\0\x02ab".to_vec()),
        Just(Vec::new()),
    ];
    proptest::collection::vec((tag, body), 0..12).prop_map(|messages| {
        let script =
            messages.into_iter().fold(Script::default(), |script, (tag, body)| script.say(tag, &body));
        script.0
    })
}

proptest! {
    #[test]
    fn any_bytes_give_progress_or_an_error(
        asked in any_asked(),
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        whole(&asked, &bytes);
    }

    #[test]
    fn the_way_bytes_are_cut_changes_nothing(
        asked in any_asked(),
        bytes in any_script(),
        pieces in proptest::collection::vec(1_usize..40, 200),
    ) {
        let cut = feed(&asked, &bytes, pieces.into_iter().chain(std::iter::repeat(1)));
        prop_assert_eq!(cut, whole(&asked, &bytes));
    }

    #[test]
    fn any_row_gives_fields_or_nothing(
        row in proptest::collection::vec(any::<u8>(), 0..60),
        column in 0_usize..70_000,
    ) {
        field(&row, column);
    }

    #[test]
    fn any_error_body_is_shown(body in proptest::collection::vec(any::<u8>(), 0..60)) {
        let shown = ServerError::parse(&body).to_string();
        prop_assert!(!shown.contains('\n'));
    }
}
