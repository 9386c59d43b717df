//! From values to bytes, in RESP2 or RESP3.

use super::refusal::Refusal;

/// Which RESP the client asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Version {
    /// What every connection begins with.
    #[default]
    Two,
    /// After `HELLO 3`.
    Three,
}

/// The answer to one request. What goes beyond the limit is dropped, and [`Reply::finish`] then puts an error in place
/// of all of it: memory is bounded by the limit, not by what was asked.
pub(super) struct Reply<'a> {
    out: &'a mut Vec<u8>,
    begin: usize,
    limit: usize,
    overflowed: bool,
    version: Version,
}

impl<'a> Reply<'a> {
    /// An empty one, of up to `limit` bytes.
    pub(super) fn new(out: &'a mut Vec<u8>, version: Version, limit: usize) -> Reply<'a> {
        let begin = out.len();
        Reply { out, begin, limit, overflowed: false, version }
    }

    /// Which RESP this is in.
    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// From here on, the other RESP: `HELLO` answers in the one that it chose.
    pub(super) fn switch(&mut self, version: Version) {
        self.version = version;
    }

    /// Where the next value will begin.
    pub(super) fn mark(&self) -> usize {
        self.out.len()
    }

    /// What was written since [`Reply::mark`] is taken back.
    pub(super) fn take_back(&mut self, mark: usize) {
        self.out.truncate(mark);
    }

    /// Whether it is beyond the limit: nothing that follows counts.
    pub(super) fn has_overflowed(&self) -> bool {
        self.overflowed
    }

    /// The error that takes the place of an answer beyond the limit.
    pub(super) fn too_large(&self) -> Refusal {
        Refusal::too_large(self.limit)
    }

    /// Whether so many bytes more would still fit. A command that would do much work for an answer that can't be
    /// given asks this first.
    pub(super) fn fits(&self, bytes: usize) -> bool {
        !self.overflowed && self.out.len() - self.begin + bytes <= self.limit
    }

    /// The end of it.
    pub(super) fn finish(mut self) {
        if self.overflowed {
            self.overflowed = false;
            self.take_back(self.begin);
            self.error(&self.too_large());
        }
    }

    /// A short word: `+OK`.
    pub(super) fn simple(&mut self, word: &str) {
        self.put(&[b"+", word.as_bytes(), b"\r\n"]);
    }

    /// An error, in one line.
    pub(super) fn error(&mut self, refusal: &Refusal) {
        let line: String = refusal.line().trim_end_matches(['\r', '\n']).replace(['\r', '\n'], " ");
        self.put(&[b"-", line.as_bytes(), b"\r\n"]);
    }

    /// A whole number.
    pub(super) fn integer(&mut self, number: i64) {
        self.put(&[b":", number.to_string().as_bytes(), b"\r\n"]);
    }

    /// A count.
    pub(super) fn count(&mut self, count: usize) {
        self.integer(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// 1 or 0.
    pub(super) fn flag(&mut self, flag: bool) {
        self.integer(i64::from(flag));
    }

    /// A string of bytes.
    pub(super) fn bulk(&mut self, bytes: &[u8]) {
        self.put(&[b"$", bytes.len().to_string().as_bytes(), b"\r\n", bytes, b"\r\n"]);
    }

    /// Text for people: RESP3 says that it is plain text.
    pub(super) fn verbatim(&mut self, text: &str) {
        match self.version {
            Version::Two => self.bulk(text.as_bytes()),
            Version::Three => {
                let length = (text.len() + 4).to_string();
                self.put(&[b"=", length.as_bytes(), b"\r\ntxt:", text.as_bytes(), b"\r\n"]);
            }
        }
    }

    /// A string of bytes, or that there is none.
    pub(super) fn bulk_or_null(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => self.bulk(bytes),
            None => self.null(),
        }
    }

    /// No string.
    pub(super) fn null(&mut self) {
        match self.version {
            Version::Two => self.put(&[b"$-1\r\n"]),
            Version::Three => self.put(&[b"_\r\n"]),
        }
    }

    /// No array.
    pub(super) fn null_array(&mut self) {
        match self.version {
            Version::Two => self.put(&[b"*-1\r\n"]),
            Version::Three => self.put(&[b"_\r\n"]),
        }
    }

    /// So many values follow.
    pub(super) fn array(&mut self, count: usize) {
        self.header(b"*", count);
    }

    /// So many pairs follow; in RESP2 they lie flat.
    pub(super) fn map(&mut self, pairs: usize) {
        match self.version {
            Version::Two => self.header(b"*", 2 * pairs),
            Version::Three => self.header(b"%", pairs),
        }
    }

    /// So many values follow, in no order.
    pub(super) fn set(&mut self, count: usize) {
        match self.version {
            Version::Two => self.header(b"*", count),
            Version::Three => self.header(b"~", count),
        }
    }

    /// A number with 17 digits, as Redis 7.0 writes scores (`%.17g`).
    pub(super) fn double(&mut self, number: f64) {
        let text = super::numbers::seventeen_digits(number);
        match self.version {
            Version::Two => self.bulk(text.as_bytes()),
            Version::Three => self.put(&[b",", text.as_bytes(), b"\r\n"]),
        }
    }

    fn header(&mut self, kind: &[u8], count: usize) {
        self.put(&[kind, count.to_string().as_bytes(), b"\r\n"]);
    }

    fn put(&mut self, parts: &[&[u8]]) {
        if !self.fits(parts.iter().map(|part| part.len()).sum()) {
            self.overflowed = true;
            return;
        }
        for part in parts {
            self.out.extend_from_slice(part);
        }
    }
}
