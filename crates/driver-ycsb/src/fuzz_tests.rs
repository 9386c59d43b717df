//! Whatever the bridge answers: in one piece as byte by byte, never a panic, and never more than was there.
//!
//! `cargo xtask soak --fuzz` does the same for as long as it is told.

use crate::codec::NOWHERE;
use crate::replies::{Asked, Replies};
use crate::spent::Spent;
use driver::Reply;
use testkit::fuzz::Fuzz;

/// What is asked; the first byte of an input says which of them.
const BATCHES: [&[Asked]; 5] = [
    &[Asked::Ping],
    &[Asked::Record],
    &[Asked::Named, Asked::Write],
    &[Asked::Scan],
    &[Asked::Ping, Asked::Record, Asked::Scan, Asked::Named, Asked::Write, Asked::Record],
];

fn answer(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = ((body.len() + 17) as u32).to_be_bytes().to_vec();
    bytes.push(kind);
    bytes.extend([7_u64, 9].map(u64::to_be_bytes).concat());
    bytes.extend(body);
    bytes
}

fn numbers(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

fn known() -> Vec<Vec<u8>> {
    let none = answer(0, &numbers(&[0]));
    let record = answer(0, &[numbers(&[1, 2, 1]), b"v".to_vec(), numbers(&[0])].concat());
    let field = answer(0, &[numbers(&[1, 2, 3]), b"one".to_vec(), numbers(&[u32::MAX])].concat());
    let scan = answer(0, &[numbers(&[3, 1, 1]), b"a".to_vec(), numbers(&[0, 1, 1]), b"b".to_vec()].concat());
    let missing = answer(1, &numbers(&[0]));
    let failed = answer(2, &[numbers(&[5]), b"ERROR".to_vec(), numbers(&[2]), b"no".to_vec()].concat());
    vec![
        [&[0], &none[..]].concat(),
        [&[1], &record[..]].concat(),
        [&[1], &missing[..]].concat(),
        [&[2], &field[..], &none].concat(),
        [&[2], &answer(0, &numbers(&[1, 0]))[..], &failed].concat(),
        [&[3], &scan[..]].concat(),
        [&[4], &none[..], &record, &scan, &missing, &failed, &record].concat(),
        [&[1], &numbers(&[u32::MAX])[..]].concat(),
    ]
}

/// Of each row, where its values stand.
type Rows = Vec<Vec<(u32, u32)>>;

/// What can be seen of a batch's replies: of each command the reply, and where the values of its rows stand.
#[derive(PartialEq, Debug)]
struct Seen {
    ended: Option<(usize, bool)>,
    error: Vec<u8>,
    commands: Vec<(Reply, Rows)>,
}

/// As many bytes at a time as `step` says.
fn seen(batch: &[Asked], bytes: &[u8], step: usize) -> Seen {
    let (mut replies, spent) = (Replies::new(), Spent::default());
    batch.iter().for_each(|asked| replies.expect(*asked));
    let (mut start, mut ended) = (0, None);
    let mut there = 0;
    while there < bytes.len() {
        there = (there + step).min(bytes.len());
        match replies.consume(&bytes[..there], start, &spent) {
            Ok((at, whole)) => {
                assert!((start..=there).contains(&at));
                (start, ended) = (at, Some((at, whole)));
                if whole {
                    break;
                }
            }
            Err(_) => {
                return Seen { ended: None, error: Vec::new(), commands: Vec::new() };
            }
        }
    }
    let replies = &replies;
    let rows = |command| {
        (0..).map_while(move |row| {
            let row: Vec<_> = (0..).map_while(|column| replies.value(command, row, column)).collect();
            (!row.is_empty()).then_some(row)
        })
    };
    Seen {
        ended,
        error: replies.error().to_vec(),
        commands: (0..=batch.len()).map(|n| (replies.reply(n), rows(n).collect())).collect(),
    }
}

#[test]
fn fuzz_answers() {
    let words = [0_u32, 1, 2, 17, 18, 21, u32::MAX, 1 << 29].map(u32::to_be_bytes);
    let known = known();
    let mut whole = 0;
    Fuzz::new("ycsb bridge")
        .from(known.iter().map(Vec::as_slice))
        .words(words.iter().map(<[u8; 4]>::as_slice))
        .run(4_000, |input| {
            let Some((first, bytes)) = input.split_first() else { return };
            let batch = BATCHES[usize::from(*first) % BATCHES.len()];
            let at_once = seen(batch, bytes, bytes.len().max(1));
            assert_eq!(seen(batch, bytes, 1), at_once);
            let places = at_once.commands.iter().flat_map(|(_, rows)| rows.iter().flatten());
            let fits = |place: &(u32, u32)| place.0 <= place.1 && place.1 as usize <= bytes.len();
            assert!(places.clone().all(|place| *place == NOWHERE || fits(place)));
            whole += u32::from(at_once.ended.is_some_and(|(_, whole)| whole));
        });
    assert!(whole > 100, "only {whole} inputs were whole answers");
}

#[test]
fn rows_have_their_values() {
    let known = known();
    let seen = seen(BATCHES[4], &known[6][1..], usize::MAX / 2);
    let rows: Vec<usize> = seen.commands.iter().map(|(_, rows)| rows.len()).collect();
    // The scan's second row is empty, and ends the count of this test; all three are in the reply.
    assert_eq!((rows, seen.commands[2].0.rows), (vec![0, 1, 1, 0, 0, 1, 0], 3));
    assert_eq!(seen.error, b"ERROR: no");
}
