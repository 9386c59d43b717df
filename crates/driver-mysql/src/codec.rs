//! The wire format of MySQL's client/server protocol, free of I/O.
//!
//! A packet is three bytes of length, one byte that counts the packets of an exchange, and its body; all numbers have their
//! lowest byte first. What the server sends is never trusted: any bytes give a packet, "more is needed", or an error.

/// The longest body of one packet. A longer body is cut into several; this driver neither sends nor keeps such.
pub(crate) const LONGEST: usize = 0xFF_FFFF;

/// The most that the kept rows of one batch may take: 1 GiB, the servers' own limit for a packet.
pub(crate) const KEPT_LIMIT: usize = 1 << 30;

/// Length and number.
pub(crate) const HEADER: usize = 4;

/// First bytes of packets.
pub(crate) const OK: u8 = 0x00;
pub(crate) const MORE: u8 = 0x01;
pub(crate) const LOCAL_FILE: u8 = 0xFB;
/// The end of rows (in the form of an OK), and the wish for another way to log in.
pub(crate) const END: u8 = 0xFE;
pub(crate) const ERROR: u8 = 0xFF;

/// Commands.
pub(crate) const QUIT: u8 = 0x01;
pub(crate) const QUERY: u8 = 0x03;
pub(crate) const PING: u8 = 0x0E;
pub(crate) const PREPARE: u8 = 0x16;
pub(crate) const EXECUTE: u8 = 0x17;

/// In the status of an OK: another result follows.
pub(crate) const MORE_RESULTS: u16 = 0x0008;

/// Bytes that no server sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Garbage {
    /// A packet that begins with this byte, where it can't be.
    Unexpected(u8),
    /// A packet whose inside contradicts its kind.
    Malformed(&'static str),
    /// A packet with this number in place of another.
    OutOfOrder { found: u8, expected: u8 },
    /// A row to be kept that is cut into several packets.
    LongRow,
    /// Kept rows of one batch above [`KEPT_LIMIT`].
    TooManyRows,
    /// This column, counted from 0, is no longer what it was when the statement was prepared.
    Column(usize),
    /// The statement has another number of columns than when it was prepared.
    ColumnCount(u64),
    /// A second result of one command.
    SecondResult,
}

impl std::fmt::Display for Garbage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Garbage::Unexpected(LOCAL_FILE) => {
                f.write_str("the server asks for a file of this host; requests send none")
            }
            Garbage::Unexpected(first) => {
                write!(f, "the server sent a packet that begins with 0x{first:02X} out of turn")
            }
            Garbage::Malformed(what) => write!(f, "the server sent a malformed {what}"),
            Garbage::OutOfOrder { found, expected } => {
                write!(f, "the server sent packet {found} in place of packet {expected}")
            }
            Garbage::LongRow => {
                write!(f, "a kept row is longer than {LONGEST} bytes; count rows of this length instead")
            }
            Garbage::TooManyRows => {
                write!(f, "the kept rows of one batch exceed {KEPT_LIMIT} bytes; count them instead")
            }
            Garbage::Column(column) => write!(
                f,
                "column {} of the result is of another type than when the statement was prepared",
                column + 1
            ),
            Garbage::ColumnCount(count) => {
                write!(
                    f,
                    "the result has {count} columns, another number than when the statement was prepared"
                )
            }
            Garbage::SecondResult => {
                f.write_str("the server gave more than one result for a statement; requests take one")
            }
        }
    }
}

/// The length of the body and the number of the packet that `bytes` begin with; `None` when the header is not complete.
#[inline(always)]
pub(crate) fn header(bytes: &[u8]) -> Option<(usize, u8)> {
    let &[a, b, c, number] = bytes.first_chunk::<HEADER>()?;
    Some((u32::from_le_bytes([a, b, c, 0]) as usize, number))
}

/// The body of the first packet in `bytes`, and its number; `None` when it is not complete.
#[inline]
pub(crate) fn packet(bytes: &[u8]) -> Option<(&[u8], u8)> {
    let (length, number) = header(bytes)?;
    bytes.get(HEADER..HEADER + length).map(|body| (body, number))
}

/// A reader of a packet's inside; `None` past the end.
#[derive(Clone, Copy)]
pub(crate) struct Inside<'a>(pub(crate) &'a [u8]);

impl<'a> Inside<'a> {
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.first_chunk().copied()
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.chunk().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.chunk().map(u32::from_le_bytes)
    }

    /// A number in as many bytes as it needs: one, or a mark and two, three or eight.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        match self.byte()? {
            small @ 0..=0xFA => Some(small.into()),
            0xFC => self.u16().map(u64::from),
            0xFD => self.chunk::<3>().map(|[a, b, c]| u32::from_le_bytes([a, b, c, 0]).into()),
            0xFE => self.chunk().map(u64::from_le_bytes),
            _ => None,
        }
    }

    /// Bytes behind their number.
    #[inline]
    pub(crate) fn counted(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(usize::try_from(length).ok()?)
    }

    /// Up to a zero byte, which is skipped.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|b| *b == 0)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(text)
    }
}

/// What an OK says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Done {
    pub(crate) affected: u64,
    pub(crate) status: u16,
    pub(crate) warnings: u16,
}

/// Reads an OK, or the end of rows, which has the same form.
#[inline]
pub(crate) fn done(body: &[u8]) -> Result<Done, Garbage> {
    let read = || {
        let mut inside = Inside(body.get(1..)?);
        let affected = inside.number()?;
        inside.number()?; // the last number that was generated
        Some(Done { affected, status: inside.u16()?, warnings: inside.u16()? })
    };
    read().ok_or(Garbage::Malformed("OK"))
}

/// Writes one packet: its header, and what `inside` appends, which callers keep below [`LONGEST`].
pub(crate) fn packet_of(out: &mut Vec<u8>, number: u8, inside: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0, 0, 0, number]);
    inside(out);
    patch_length(out, at);
}

/// Sets the length of the packet that begins at `at` and ends where `out` does.
#[inline]
pub(crate) fn patch_length(out: &mut [u8], at: usize) {
    let length = (out.len() - at - HEADER) as u32; // callers keep it below LONGEST
    out[at..at + 3].copy_from_slice(&length.to_le_bytes()[..3]);
}

/// Writes a command and what it is about: SQL, or nothing.
pub(crate) fn command(out: &mut Vec<u8>, command: u8, about: &str) {
    packet_of(out, 0, |out| {
        out.push(command);
        out.extend_from_slice(about.as_bytes());
    });
}

/// A number in as few bytes as it needs.
#[inline]
pub(crate) fn push_number(out: &mut Vec<u8>, number: u64) {
    match number {
        0..=0xFA => out.push(number as u8),
        0xFB..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&number.to_le_bytes()[..2]);
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&number.to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Bytes behind their number.
#[inline]
pub(crate) fn push_counted(out: &mut Vec<u8>, bytes: &[u8]) {
    push_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a text and its zero byte; zero bytes inside of it would end it early and are left out.
pub(crate) fn push_text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().filter(|b| *b != 0));
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commands_are_framed() {
        let mut out = Vec::new();
        command(&mut out, QUERY, "DO 0");
        assert_eq!(out, b"\x05\0\0\0\x03DO 0");
        assert_eq!(packet(&out), Some((&b"\x03DO 0"[..], 0)));
        assert_eq!(packet(&out[..out.len() - 1]), None);
        assert_eq!(header(&out[..3]), None);
    }

    #[test]
    fn an_ok_is_read() {
        let ok = done(&[0, 0xFC, 0x2C, 1, 0, 2, 0, 3, 0]).unwrap();
        assert_eq!(ok, Done { affected: 300, status: 2, warnings: 3 });
        assert_eq!(done(&[0, 0xFB, 0, 0, 0]), Err(Garbage::Malformed("OK")));
        assert_eq!(done(&[]), Err(Garbage::Malformed("OK")));
    }

    proptest! {
        #[test]
        fn numbers_survive(number in any::<u64>(), bits in 0_u32..64) {
            for number in [number, number >> bits] {
                let mut out = Vec::new();
                push_number(&mut out, number);
                let mut inside = Inside(&out);
                prop_assert_eq!(inside.number(), Some(number));
                prop_assert!(inside.0.is_empty());
                prop_assert_eq!(Inside(&out[..out.len() - 1]).number(), None);
            }
        }
    }
}
