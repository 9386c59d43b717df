//! What goes over the wire: frames of two lengths and a payload.
//!
//! ```text
//!             4 bytes                4 bytes                     the payload
//!  request    length of the payload  length of the answer's      any bytes
//!  answer     length of the payload  length of the request's     the request's bytes, cut or filled up with zeros
//!  refusal    0xFFFFFFFF             length of the words         why, in UTF-8; then the server hangs up
//! ```
//!
//! Lengths are unsigned and big-endian. A request that asks for an answer as long as itself gets the very same bytes
//! back. Payloads are at most [`LIMIT`] bytes long, so that what a server keeps for a client is bounded.

use std::fmt;

/// Bytes before the payload.
pub const HEADER: usize = 8;

/// The longest payload of a request or an answer, in bytes.
pub const LIMIT: u32 = 1 << 16;

/// Stands where a payload's length would, in a refusal.
pub(crate) const REFUSAL: u32 = u32::MAX;

/// The longest words of a refusal, in bytes.
pub(crate) const WORDS: u32 = 256;

/// The two lengths that a frame begins with, as they are on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lengths {
    /// Of this frame's payload.
    pub payload: u32,
    /// Of the other side's.
    pub other: u32,
}

impl Lengths {
    /// Reads a header; `None` while it is not all there.
    #[inline]
    pub fn read(bytes: &[u8]) -> Option<Lengths> {
        let header: &[u8; HEADER] = bytes.first_chunk()?;
        let [a, b, c, d, e, f, g, h] = *header;
        Some(Lengths { payload: u32::from_be_bytes([a, b, c, d]), other: u32::from_be_bytes([e, f, g, h]) })
    }

    /// The header.
    pub fn bytes(self) -> [u8; HEADER] {
        let ([a, b, c, d], [e, f, g, h]) = (self.payload.to_be_bytes(), self.other.to_be_bytes());
        [a, b, c, d, e, f, g, h]
    }
}

/// A request that no answer can be given to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadRequest(pub Lengths);

impl fmt::Display for BadRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lengths { payload, other } = self.0;
        let (what, length) = if payload > LIMIT { ("request", payload) } else { ("answer", other) };
        write!(f, "{what} of {length} bytes: at most {LIMIT}; is this a client of `truetail echo`?")
    }
}

/// What became of received bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Progress {
    /// Bytes that were used up.
    pub(crate) used: usize,
    /// Requests that were answered.
    pub(crate) answered: u64,
    /// What ended it.
    pub(crate) refused: Option<BadRequest>,
}

/// Answers the whole requests that `received` begins with, in order, behind what is in `out`; stops early when `out` has
/// reached `enough` bytes. Allocates only where `out` has to grow.
#[inline]
pub(crate) fn answer(received: &[u8], out: &mut Vec<u8>, enough: usize) -> Progress {
    let mut progress = Progress::default();
    while out.len() < enough {
        let rest = &received[progress.used..];
        let Some(lengths) = Lengths::read(rest) else { break };
        if lengths.payload > LIMIT || lengths.other > LIMIT {
            progress.refused = Some(BadRequest(lengths));
            break;
        }
        let end = HEADER + lengths.payload as usize;
        let Some(payload) = rest.get(HEADER..end) else { break };
        echo(payload, lengths.other, out);
        progress.used += end;
        progress.answered += 1;
    }
    progress
}

/// One answer of `wanted` bytes to `payload`.
pub(crate) fn echo(payload: &[u8], wanted: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&Lengths { payload: wanted, other: payload.len() as u32 }.bytes());
    let end = out.len() + wanted as usize;
    out.extend_from_slice(&payload[..payload.len().min(wanted as usize)]);
    out.resize(end, 0);
}

/// One request; `wanted` is the answer's length.
pub(crate) fn request(payload: &[u8], wanted: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&Lengths { payload: payload.len() as u32, other: wanted }.bytes());
    out.extend_from_slice(payload);
}

/// The refusal of a request.
pub(crate) fn refusal(why: BadRequest, out: &mut Vec<u8>) {
    let words = why.to_string();
    let length = words.len().min(WORDS as usize);
    out.extend_from_slice(&Lengths { payload: REFUSAL, other: length as u32 }.bytes());
    out.extend_from_slice(&words.as_bytes()[..length]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(payload: &[u8], wanted: u32) -> Vec<u8> {
        let mut out = Vec::new();
        request(payload, wanted, &mut out);
        out
    }

    fn answered(received: &[u8]) -> (Vec<u8>, Progress) {
        let mut out = Vec::new();
        let progress = answer(received, &mut out, usize::MAX);
        (out, progress)
    }

    #[test]
    fn as_many_bytes_come_back_as_were_asked_for() {
        assert_eq!(answered(&asked(b"abc", 3)).0, asked(b"abc", 3), "the very same bytes");
        assert_eq!(answered(&asked(b"abc", 1)).0, b"\0\0\0\x01\0\0\0\x03a");
        assert_eq!(answered(&asked(b"a", 3)).0, b"\0\0\0\x03\0\0\0\x01a\0\0");
        assert_eq!(answered(&asked(b"", 0)).0, b"\0\0\0\0\0\0\0\0");
    }

    #[test]
    fn a_request_is_answered_when_its_last_byte_is_there_and_not_before() {
        let mut two = asked(b"first", 5);
        two.extend(asked(b"second", 2));
        let whole = asked(b"first", 5).len();
        for end in 0..two.len() {
            let (out, progress) = answered(&two[..end]);
            let expected = if end < whole { (0, 0) } else { (whole, 1) };
            assert_eq!((progress.used, progress.answered), expected, "{end} bytes");
            assert_eq!(out.is_empty(), end < whole);
        }
        let (_, progress) = answered(&two);
        assert_eq!(progress, Progress { used: two.len(), answered: 2, refused: None });
    }

    #[test]
    fn enough_is_enough() {
        let many: Vec<u8> = (0..100).flat_map(|_| asked(b"", 1000)).collect();
        let mut out = Vec::new();
        let progress = answer(&many, &mut out, 2500);
        assert_eq!((progress.answered, out.len()), (3, 3 * 1008));
    }

    #[test]
    fn lengths_beyond_the_limit_are_refused_and_what_came_before_is_answered() {
        for (payload, wanted, named) in
            [(LIMIT + 1, 0, "request of 65537"), (0, LIMIT + 1, "answer of 65537")]
        {
            let mut bytes = asked(b"x", 1);
            bytes.extend(Lengths { payload, other: wanted }.bytes());
            let (out, progress) = answered(&bytes);
            assert_eq!((out, progress.answered), (asked(b"x", 1), 1));
            let why = progress.refused.unwrap();
            assert!(why.to_string().starts_with(named), "{why}");
            let mut words = Vec::new();
            refusal(why, &mut words);
            assert_eq!(
                Lengths::read(&words),
                Some(Lengths { payload: REFUSAL, other: words.len() as u32 - 8 })
            );
        }
        assert_eq!(
            answered(&asked(&[7; LIMIT as usize], LIMIT)).1.answered,
            1,
            "the limit itself is allowed"
        );
    }

    #[test]
    fn fuzz_any_bytes_are_answered_or_refused() {
        let known =
            [asked(b"abc", 3), asked(b"", 0), asked(b"x", LIMIT), [asked(b"a", 1), asked(b"b", 2)].concat()];
        let words = [b"\0\0\0\0", b"\0\0\0\x01", b"\0\x01\0\0", b"\0\x01\0\x01", b"\xff\xff\xff\xff"];
        testkit::fuzz::Fuzz::new("echo").from(known).words(words).run(20_000, |bytes| {
            let mut out = Vec::new();
            let progress = answer(bytes, &mut out, 1 << 17);
            assert!(progress.used <= bytes.len() && (progress.answered > 0 || progress.used == 0));
            // An answer may be begun just before there is enough.
            assert!(out.len() <= (1 << 17) + HEADER + LIMIT as usize);
            // What is whole and not refused is answered.
            let rest = &bytes[progress.used..];
            if let (Some(lengths), None, true) = (Lengths::read(rest), progress.refused, out.len() < 1 << 17)
            {
                assert!(lengths.payload <= LIMIT && rest.len() < HEADER + lengths.payload as usize);
            }
        });
    }
}
