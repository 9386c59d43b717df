//! From bytes to words: arrays of bulk strings, and lines typed by hand.
//!
//! The rules and the words of errors are those of `processMultibulkBuffer` and `processInlineBuffer` (Redis 7.0,
//! `networking.c`), with smaller limits. Like Redis, it takes any two bytes behind a bulk string for its line end. Unlike
//! Redis, it takes a NUL byte in a line of lengths for what it is, a wrong length.
//!
//! It remembers how far it came, so that a message that trickles in costs its length and not the square of it; and it
//! reserves nothing for what was only announced.

/// The most bytes that one request may have.
pub(super) const MESSAGE_MAX: usize = 1 << 20;
/// The most words of one request. Redis: 2^31 − 1.
pub(super) const WORDS_MAX: usize = 131_072;
/// The most bytes of one word. Redis: 512 MiB.
pub(super) const WORD_MAX: usize = 512 * 1024;
/// The most bytes of a line: lengths, and requests typed by hand. As in Redis.
const LINE_MAX: usize = 64 * 1024;
/// Before authentication: the most words, and the most bytes of one. As in Redis.
const STRANGER: (usize, usize) = (10, 16_384);

/// What a look at the input came to.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// A whole request of so many bytes; [`Parser::words`] has its words.
    Request(usize),
    /// So many bytes that ask for nothing, such as an empty line.
    Nothing(usize),
    /// More bytes are needed.
    Unfinished,
    /// No request: what is wrong, in Redis's words.
    Malformed(String),
}

/// How far one request has been understood.
#[derive(Debug, Default)]
pub(super) struct Parser {
    /// Where the next piece begins.
    at: usize,
    /// Up to here there is no line end behind `at`.
    searched: usize,
    /// How many words are to come; `None` before the array's own line.
    missing: Option<usize>,
    /// Begin and end of each word.
    words: Vec<(u32, u32)>,
    /// What the words of a line typed by hand lie in, once quotes are resolved.
    unquoted: Option<Vec<u8>>,
}

impl Parser {
    /// Goes on with a request that begins at the front of `input`. After [`Step::Unfinished`] the same bytes must come
    /// again, with more behind them.
    pub(super) fn step(&mut self, input: &[u8], trusted: Trust) -> Step {
        match self.advance(input, trusted) {
            Ok(Some(step)) => step,
            Ok(None) if input.len() >= MESSAGE_MAX => {
                Step::Malformed(format!("request exceeds {MESSAGE_MAX} bytes"))
            }
            Ok(None) => Step::Unfinished,
            Err(wrong) => Step::Malformed(wrong),
        }
    }

    /// The words of a whole request; `input` as it was given to [`Parser::step`].
    pub(super) fn words<'a>(&'a self, input: &'a [u8]) -> Vec<&'a [u8]> {
        let from = self.unquoted.as_deref().unwrap_or(input);
        self.words.iter().map(|(begin, end)| &from[*begin as usize..*end as usize]).collect()
    }

    /// Bytes of memory.
    pub(super) fn holds(&self) -> usize {
        self.words.capacity() * size_of::<(u32, u32)>() + self.unquoted.as_ref().map_or(0, Vec::capacity)
    }

    /// Forgets the request and, where it was large, its memory.
    pub(super) fn next(&mut self) {
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        words.shrink_to(64);
        *self = Parser { words, ..Parser::default() };
    }

    fn advance(&mut self, input: &[u8], trust: Trust) -> Result<Option<Step>, String> {
        match input.first() {
            None => Ok(None),
            Some(b'*') => self.array(input, trust),
            Some(_) => self.typed(input),
        }
    }

    fn array(&mut self, input: &[u8], trust: Trust) -> Result<Option<Step>, String> {
        let mut missing = match self.missing {
            Some(missing) => missing,
            None => {
                let Some((begin, end)) = self.line(input, "too big mbulk count string")? else {
                    return Ok(None);
                };
                let count = integer(&input[begin + 1..end]);
                let count =
                    count.filter(|count| *count <= WORDS_MAX as i64).ok_or("invalid multibulk length")?;
                let count = usize::try_from(count).unwrap_or(0);
                if count > STRANGER.0 && trust == Trust::Stranger {
                    return Err("unauthenticated multibulk length".to_owned());
                }
                if count == 0 {
                    return Ok(Some(Step::Nothing(self.at)));
                }
                *self.missing.insert(count)
            }
        };
        while missing > 0 {
            if !self.word(input, trust)? {
                return Ok(None);
            }
            missing -= 1;
            self.missing = Some(missing);
        }
        Ok(Some(Step::Request(self.at)))
    }

    /// Takes one bulk string, if it is all there.
    fn word(&mut self, input: &[u8], trust: Trust) -> Result<bool, String> {
        let front = self.at;
        let Some((begin, end)) = self.line(input, "too big bulk count string")? else { return Ok(false) };
        if input[begin] != b'$' {
            return Err(format!("expected '$', got '{}'", printable(input[begin])));
        }
        let length = integer(&input[begin + 1..end]).and_then(|length| usize::try_from(length).ok());
        let length = length.filter(|length| *length <= WORD_MAX).ok_or("invalid bulk length")?;
        if length > STRANGER.1 && trust == Trust::Stranger {
            return Err("unauthenticated bulk length".to_owned());
        }
        let (from, to) = (self.at, self.at + length);
        if input.len() < to + 2 {
            // The short line of its length is read again when there is more.
            (self.at, self.searched) = (front, front);
            return Ok(false);
        }
        let index = |at: usize| u32::try_from(at).map_err(|_| "invalid bulk length".to_owned());
        self.words.push((index(from)?, index(to)?));
        (self.at, self.searched) = (to + 2, to + 2);
        Ok(true)
    }

    /// Takes a line of lengths; its begin and end without the line end. A carriage return and any byte end it.
    fn line(&mut self, input: &[u8], too_long: &str) -> Result<Option<(usize, usize)>, String> {
        let from = self.searched.max(self.at);
        let Some(end) = input[from..].iter().position(|byte| *byte == b'\r').map(|at| from + at) else {
            self.searched = input.len();
            let long = input.len() - self.at > LINE_MAX;
            return if long { Err(too_long.to_owned()) } else { Ok(None) };
        };
        if end + 2 > input.len() {
            self.searched = end;
            return Ok(None);
        }
        let begin = self.at;
        (self.at, self.searched) = (end + 2, end + 2);
        // A line that begins with its end has no kind of its own; its kind is then the carriage return.
        Ok(Some((begin, end.max(begin + 1))))
    }

    /// A line of words, as somebody types it into `nc`.
    fn typed(&mut self, input: &[u8]) -> Result<Option<Step>, String> {
        let Some(end) = input[self.searched..].iter().position(|byte| *byte == b'\n') else {
            self.searched = input.len();
            let long = input.len() > LINE_MAX;
            return if long { Err("too big inline request".to_owned()) } else { Ok(None) };
        };
        let end = self.searched + end;
        let line = input[..end].strip_suffix(b"\r").unwrap_or(&input[..end]);
        let (bytes, words) = split(line).ok_or("unbalanced quotes in request")?;
        let step = if words.is_empty() { Step::Nothing(end + 1) } else { Step::Request(end + 1) };
        (self.words, self.unquoted) = (words, Some(bytes));
        Ok(Some(step))
    }
}

/// Whether the other side has proven who it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Trust {
    /// It has, or need not.
    Known,
    /// It has not: small requests only.
    Stranger,
}

/// A whole number as Redis writes it, and in no other way: no plus, no blanks, no leading zeros (`string2ll`).
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let padded = digits[..digits.len().min(1)] == *b"0" && text.len() > 1;
    if !plain || padded {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn printable(byte: u8) -> char {
    match byte {
        // An error is one line.
        b'\r' | b'\n' => ' ',
        _ => char::from(byte),
    }
}

/// Words with their places in the bytes beside them.
type Split = (Vec<u8>, Vec<(u32, u32)>);

/// Splits a line as `sdssplitargs` does: blanks separate, quotes hold together. `None` where quotes don't match.
fn split(line: &[u8]) -> Option<Split> {
    let line = line.split(|byte| *byte == 0).next().unwrap_or(line);
    let (mut bytes, mut words) = (Vec::new(), Vec::new());
    let mut rest = line;
    loop {
        while let [first, tail @ ..] = rest
            && is_blank(*first)
        {
            rest = tail;
        }
        if rest.is_empty() {
            return Some((bytes, words));
        }
        let begin = bytes.len();
        rest = take_word(rest, &mut bytes)?;
        words.push((u32::try_from(begin).ok()?, u32::try_from(bytes.len()).ok()?));
    }
}

/// C's `isspace`.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C)
}

/// Appends the word at the front; what is behind it.
fn take_word<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match rest {
            [] => return Some(rest),
            [b' ' | b'\n' | b'\r' | b'\t', tail @ ..] => return Some(tail),
            [b'"', tail @ ..] => return take_quoted(tail, word),
            [b'\'', tail @ ..] => return take_raw(tail, word),
            [byte, tail @ ..] => {
                word.push(*byte);
                rest = tail;
            }
        }
    }
}

/// What stands between double quotes, with its escapes resolved.
fn take_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [] => return None,
            [b'\\', b'x', high, low, tail @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                word.push(hex(*high) << 4 | hex(*low));
                tail
            }
            [b'\\', escaped, tail @ ..] => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 0x08,
                    b'a' => 0x07,
                    other => *other,
                });
                tail
            }
            [b'"', tail @ ..] => return closed(tail),
            [byte, tail @ ..] => {
                word.push(*byte);
                tail
            }
        };
    }
}

/// What stands between single quotes: only the quote itself can be escaped.
fn take_raw<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [] => return None,
            [b'\\', b'\'', tail @ ..] => {
                word.push(b'\'');
                tail
            }
            [b'\'', tail @ ..] => return closed(tail),
            [byte, tail @ ..] => {
                word.push(*byte);
                tail
            }
        };
    }
}

/// A closing quote ends its word.
fn closed(tail: &[u8]) -> Option<&[u8]> {
    tail.first().is_none_or(|byte| is_blank(*byte)).then_some(tail)
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
