//! Messages of a client, taken apart.

/// What is at the front of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Frame<'a> {
    /// Not all of it is here yet.
    Unfinished,
    /// Its length can't be true.
    BadLength { tag: u8, length: u32 },
    /// A message of `size` bytes in all.
    Whole { tag: u8, body: &'a [u8], size: usize },
}

/// Reads a message: a tag, a length that counts itself, a body of at most `limit` bytes.
pub(super) fn frame(input: &[u8], limit: usize) -> Frame<'_> {
    let [tag, rest @ ..] = input else { return Frame::Unfinished };
    untagged(rest, *tag, limit)
}

/// The same for the first message, which has no tag. It is given as 0.
pub(super) fn first_frame(input: &[u8], limit: usize) -> Frame<'_> {
    match untagged(input, 0, limit) {
        Frame::Whole { tag, body, size } => Frame::Whole { tag, body, size: size - 1 },
        other => other,
    }
}

fn untagged(input: &[u8], tag: u8, limit: usize) -> Frame<'_> {
    let Some(length) = input.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes)) else {
        return Frame::Unfinished;
    };
    let size = length as usize; // 32 bits fit
    if size < 4 || size - 4 > limit {
        return Frame::BadLength { tag, length };
    }
    match input.get(4..size) {
        Some(body) => Frame::Whole { tag, body, size: size + 1 },
        None => Frame::Unfinished,
    }
}

/// Reads a body from its front; `None` where it ends too early.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body<'a>(pub(super) &'a [u8]);

impl<'a> Body<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.take(1).and_then(|bytes| bytes.first().copied())
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    /// Bytes up to the next zero, which is taken too.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }

    /// A value with its length; `Some(None)` is a null.
    pub(super) fn value(&mut self) -> Option<Option<&'a [u8]>> {
        let length = self.u32()?;
        if length == u32::MAX {
            return Some(None);
        }
        self.take(length as usize).map(Some) // 32 bits fit
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_whole_or_unfinished_or_impossible() {
        let whole = Frame::Whole { tag: b'Q', body: b"x\0", size: 7 };
        assert_eq!(frame(b"Q\0\0\0\x06x\0rest", 100), whole);
        for cut in 0..7 {
            assert_eq!(frame(&b"Q\0\0\0\x06x\0"[..cut], 100), Frame::Unfinished, "{cut}");
        }
        assert_eq!(frame(b"Q\0\0\0\x03", 100), Frame::BadLength { tag: b'Q', length: 3 });
        assert_eq!(frame(b"Q\0\0\0\x06x\0", 1), Frame::BadLength { tag: b'Q', length: 6 });
        assert_eq!(frame(b"Q\xff\xff\xff\xff", 100), Frame::BadLength { tag: b'Q', length: u32::MAX });
        assert_eq!(first_frame(b"\0\0\0\x05x", 100), Frame::Whole { tag: 0, body: b"x", size: 5 });
    }

    #[test]
    fn bodies_end_where_they_end() {
        let mut body = Body(b"\x01\0\x02\0\0\0\x03ab\0\0\0\0\x01c\xff\xff\xff\xff");
        assert_eq!((body.u8(), body.u16(), body.u32()), (Some(1), Some(2), Some(3)));
        assert_eq!(
            (body.text(), body.value(), body.value()),
            (Some(&b"ab"[..]), Some(Some(&b"c"[..])), Some(None))
        );
        assert!(body.is_empty());
        assert_eq!((body.u8(), body.text(), body.value()), (None, None, None));
        assert_eq!(Body(b"no end").text(), None);
        assert_eq!(Body(b"\0\0\0\x09short").value(), None);
    }
}
