//! The lines of a program's log in little memory, however long they are.
//!
//! Unlike an output that is imported, a log is never refused: of a line that is too long the begin is handed over, and its rest
//! is passed by. A server that logs statements may well write lines of megabytes.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

/// Of a line that is longer, bytes beyond this are passed by.
pub(crate) const LONGEST_LINE: usize = 1 << 20;

/// One line without its end. Damaged bytes do not hide what is around them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) rest: Rest,
}

/// What there is behind the text of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rest {
    /// A line break.
    Ended,
    /// The end of the log: it may have been cut off there.
    EndOfLog,
    /// More of the line, which was passed by.
    PassedBy,
}

/// Hands over all lines, one after the other. Time is proportional to the log, memory to [`LONGEST_LINE`] at most.
///
/// # Errors
/// Those of the reader.
pub(crate) fn each_line(mut log: impl BufRead, mut take: impl FnMut(&Line<'_>)) -> io::Result<()> {
    // One more tells a line of just this length from a longer one.
    let limit = LONGEST_LINE as u64 + 1;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if (&mut log).take(limit).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(());
        }
        let rest = if bytes.ends_with(b"\n") {
            Rest::Ended
        } else if bytes.len() > LONGEST_LINE {
            bytes.truncate(LONGEST_LINE);
            log.skip_until(b'\n')?;
            Rest::PassedBy
        } else {
            Rest::EndOfLog
        };
        while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            bytes.pop();
        }
        take(&Line { text: String::from_utf8_lossy(&bytes), rest });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(log: &[u8]) -> Vec<(String, Rest)> {
        let mut all = Vec::new();
        each_line(log, |line| all.push((line.text.clone().into_owned(), line.rest))).expect("read");
        all
    }

    #[test]
    fn lines_end_with_their_break_or_with_the_log() {
        let of = |text: &str, rest: Rest| (text.to_owned(), rest);
        let expected = [of("a", Rest::Ended), of("", Rest::Ended), of("b\u{fffd}", Rest::EndOfLog)];
        assert_eq!(lines(b"a\r\n\nb\xff"), expected);
        assert_eq!(lines(b"a\n"), [of("a", Rest::Ended)]);
        assert_eq!(lines(b""), []);
    }

    #[test]
    fn of_a_line_that_is_too_long_the_begin_is_left_and_the_next_is_whole() {
        for (length, rest) in [(LONGEST_LINE, Rest::Ended), (LONGEST_LINE + 1, Rest::PassedBy)] {
            let found = lines(&[&vec![b'x'; length][..], b"\nnext\n"].concat());
            let lengths: Vec<(usize, Rest)> = found.iter().map(|(text, rest)| (text.len(), *rest)).collect();
            assert_eq!(lengths, [(LONGEST_LINE, rest), (4, Rest::Ended)]);
        }
        // Nothing but one line: a log may be a file of zeros.
        let endless = io::BufReader::new(io::repeat(0).take(64 << 20));
        let mut longest = Vec::new();
        each_line(endless, |line| longest.push((line.text.len(), line.rest))).expect("read");
        assert_eq!(longest, [(LONGEST_LINE, Rest::PassedBy)]);
    }
}
