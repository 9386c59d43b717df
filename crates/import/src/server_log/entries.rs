//! From lines to entries: one message of the server with its time and its process, in any of the three forms.

use super::zone::{Moment, written_at};
use crate::log_lines::{Line, Rest};
use serde_json::Value;

/// One message of the server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) at: Moment,
    /// 0 where the prefix does not tell.
    pub(super) pid: u32,
    /// Whether it is an error: ERROR, FATAL or PANIC.
    pub(super) is_error: bool,
    pub(super) message: String,
    /// Number of its first line, from 1.
    pub(super) line: usize,
}

/// What came of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Read {
    /// An entry of one line, whole.
    Entry(Entry),
    /// An entry to which lines that begin with a tab may still belong.
    Begun(Entry),
    /// It belongs to what was begun last, or to nobody that matters.
    Continued(String),
    /// Nothing of its own: detail, hint, statement of the entry before; an empty line.
    Nothing,
    /// It is no entry.
    NotUnderstood,
    /// Lines that are no row of a csvlog, though they began as one.
    GivenUp(Row),
}

/// A row of a csvlog, or what there is of it so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Row {
    /// Number of its first line, from 1.
    pub(super) first: usize,
    /// How many lines it has.
    pub(super) lines: u64,
    pub(super) text: String,
    /// Whether a quote is open behind the last of them. Each line is looked through once, when it comes.
    is_open: bool,
}

impl Row {
    fn new(first: usize) -> Row {
        Row { first, lines: 0, text: String::new(), is_open: false }
    }

    fn add(&mut self, line: &str) {
        if self.lines > 0 {
            self.text.push('\n');
        }
        self.lines += 1;
        self.text.push_str(line);
        self.is_open ^= line.bytes().filter(|byte| *byte == b'"').count() % 2 == 1;
    }
}

/// The form of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Stderr,
    Csv,
    Json,
}

impl Form {
    pub(super) fn name(self) -> &'static str {
        match self {
            Form::Stderr => "stderr",
            Form::Csv => "csvlog",
            Form::Json => "jsonlog",
        }
    }
}

/// Reads lines one after the other.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    /// Abbreviations of zones so far.
    pub(super) zones: Vec<String>,
    /// Form of the first entry.
    pub(super) form: Option<Form>,
    /// A row of a csvlog whose quotes are open.
    row: Option<Row>,
}

/// Rows do not get longer than this, bytes, but for their last line: a quote that never closes must not hide the rest of the log.
const LONGEST_ROW: usize = 1 << 20;

const ERRORS: [&str; 3] = ["ERROR", "FATAL", "PANIC"];
/// Words before a message of its own.
const SEVERITIES: [&str; 13] = [
    "LOG", "ERROR", "FATAL", "PANIC", "WARNING", "NOTICE", "INFO", "DEBUG", "DEBUG1", "DEBUG2", "DEBUG3",
    "DEBUG4", "DEBUG5",
];
/// Words before more of the message above.
const COMPANIONS: [&str; 7] = ["DETAIL", "HINT", "QUERY", "CONTEXT", "LOCATION", "STATEMENT", "BACKTRACE"];

impl Splitter {
    /// Of a line that was too long its begin is enough where the message stands last; not so of a row or an object.
    pub(super) fn line(&mut self, number: usize, line: &Line<'_>) -> Read {
        let text = &*line.text;
        if let Some(row) = self.row.take() {
            return self.row(row, line);
        }
        if text.trim().is_empty() {
            return Read::Nothing;
        }
        if text.starts_with('{') {
            return self
                .whole(Form::Json, |zones| object(number, text, zones))
                .unwrap_or(Read::NotUnderstood);
        }
        if let Some(continued) = text.strip_prefix('\t') {
            return Read::Continued(continued.to_owned());
        }
        let Some((head, at, rest)) = self.moment(text) else { return Read::NotUnderstood };
        if rest.starts_with(',') {
            return self.row(Row::new(number), line);
        }
        let Some((before, word, message)) = severity(rest) else { return Read::NotUnderstood };
        if COMPANIONS.contains(&word) {
            return Read::Nothing;
        }
        self.form.get_or_insert(Form::Stderr);
        let is_error = ERRORS.contains(&word);
        Read::Begun(Entry {
            at,
            pid: pid(head).or_else(|| pid(before)).unwrap_or(0),
            is_error,
            message: message.to_owned(),
            line: number,
        })
    }

    /// The first time in a line, with what stands before it and after it; most prefixes begin with it.
    fn moment<'a>(&mut self, text: &'a str) -> Option<(&'a str, Moment, &'a str)> {
        const FAR: usize = 60;
        let begins_number = |(index, byte): &(usize, u8)| {
            byte.is_ascii_digit() && (*index == 0 || !text.as_bytes()[index - 1].is_ascii_digit())
        };
        let starts = text.bytes().enumerate().take(FAR).filter(begins_number);
        starts.into_iter().find_map(|(index, _)| {
            let (at, rest) = written_at(text.get(index..)?, &mut self.zones)?;
            Some((&text[..index], at, rest))
        })
    }

    fn whole(&mut self, form: Form, read: impl Fn(&mut Vec<String>) -> Option<Entry>) -> Option<Read> {
        let entry = read(&mut self.zones)?;
        self.form.get_or_insert(form);
        Some(Read::Entry(entry))
    }

    /// One more line of a row of a csvlog.
    fn row(&mut self, mut row: Row, line: &Line<'_>) -> Read {
        row.add(&line.text);
        // What was passed by may have opened or closed any number of quotes.
        if line.rest == Rest::PassedBy || (row.is_open && row.text.len() > LONGEST_ROW) {
            return Read::GivenUp(row);
        }
        if row.is_open {
            self.row = Some(row);
            return Read::Nothing;
        }
        self.whole(Form::Csv, |zones| columns(row.first, &row.text, zones)).unwrap_or(Read::GivenUp(row))
    }

    /// A row that never ended.
    pub(super) fn open_row(&mut self) -> Option<Row> {
        self.row.take()
    }
}

/// The prefix up to the word before the message, that word, and the message.
fn severity(rest: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let colon = from + rest.get(from..)?.find(":  ")?;
        let before = &rest[..colon];
        let begins = before
            .rfind(|c: char| !c.is_ascii_alphanumeric())
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let word = &before[begins..];
        if SEVERITIES.contains(&word) || COMPANIONS.contains(&word) {
            return Some((&rest[..begins], word, &rest[colon + 3..]));
        }
        from = colon + 3;
    }
}

/// `[17718]`, or `[17718-3]` with the number of the process's line.
fn pid(prefix: &str) -> Option<u32> {
    let bracketed = prefix.split('[').skip(1).filter_map(|part| part.split_once(']'));
    let number = |text: &str| text.split_once('-').map_or(text, |(pid, _)| pid).parse().ok();
    bracketed.into_iter().find_map(|(text, _)| number(text))
}

/// An object of a jsonlog.
fn object(line: usize, text: &str, zones: &mut Vec<String>) -> Option<Entry> {
    let value: Value = serde_json::from_str(text).ok()?;
    let word = value.get("error_severity")?.as_str()?;
    let message = value.get("message").and_then(Value::as_str).unwrap_or("");
    let pid = value.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
    let (at, _) = written_at(value.get("timestamp")?.as_str()?, zones)?;
    Some(Entry { at, pid, is_error: ERRORS.contains(&word), message: message.to_owned(), line })
}

/// The columns of a csvlog, in the order that they have had since PostgreSQL 9.
fn columns(line: usize, row: &str, zones: &mut Vec<String>) -> Option<Entry> {
    const PROCESS: usize = 3;
    const SEVERITY: usize = 11;
    const MESSAGE: usize = 13;
    let fields = fields(row, MESSAGE + 1);
    let (at, _) = written_at(fields.first()?, zones)?;
    let word = fields.get(SEVERITY)?;
    let is_known = SEVERITIES.contains(&word.as_str());
    let entry = Entry {
        at,
        pid: fields.get(PROCESS)?.parse().ok()?,
        is_error: ERRORS.contains(&word.as_str()),
        message: fields.get(MESSAGE)?.clone(),
        line,
    };
    is_known.then_some(entry)
}

/// The first fields of a row, without their quotes.
fn fields(row: &str, most: usize) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = row.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                push(&mut fields, '"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted && fields.len() == most => break,
            ',' if !quoted => fields.push(String::new()),
            other => push(&mut fields, other),
        }
    }
    fields
}

fn push(fields: &mut [String], character: char) {
    if let Some(last) = fields.last_mut() {
        last.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line<'_> {
        Line { text: text.into(), rest: Rest::Ended }
    }

    fn begun(text: &str) -> (u32, bool, String) {
        match Splitter::default().line(1, &line(text)) {
            Read::Begun(entry) | Read::Entry(entry) => (entry.pid, entry.is_error, entry.message),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn prefixes_of_all_kinds() {
        let lines = [
            "2026-11-22 06:26:05.475 UTC [17718] LOG:  checkpoint starting: wal",
            "2026-11-22 06:26:05.475 UTC [17718] app@shop LOG:  checkpoint starting: wal",
            "2026-11-22 06:26:05 UTC:10.0.0.1(4321):app@shop:[17718]:LOG:  checkpoint starting: wal",
            "[17718-3] 2026-11-22 06:26:05 UTC LOG:  checkpoint starting: wal",
            "1795328765.475 [17718] LOG:  checkpoint starting: wal",
        ];
        for line in lines {
            assert_eq!(begun(line), (17_718, false, "checkpoint starting: wal".to_owned()), "{line}");
        }
        assert_eq!(
            begun("2026-11-22 06:26:05.475 UTC [9] ERROR:  no:  such"),
            (9, true, "no:  such".to_owned())
        );
    }

    #[test]
    fn companions_and_continued_lines_are_no_entries() {
        let of = |text: &str| Splitter::default().line(1, &line(text));
        assert_eq!(of("2026-11-22 06:26:05.475 UTC [9] STATEMENT:  select ':  '"), Read::Nothing);
        assert_eq!(of("\tpages: 0 removed"), Read::Continued("pages: 0 removed".to_owned()));
        assert_eq!(of(""), Read::Nothing);
        for bad in ["cp: cannot stat x", "2026-11-22 06:26:05.475 UTC [9] JOURNAL:  x", "{\"pid\":1}", "{"] {
            assert_eq!(of(bad), Read::NotUnderstood, "{bad}");
        }
        assert!(matches!(of("2026-11-22 06:26:05 UTC,,"), Read::GivenUp(row) if row.lines == 1));
    }

    #[test]
    fn rows_of_a_csvlog_may_span_lines() {
        let mut splitter = Splitter::default();
        let head = "2026-11-22 06:26:05.475 UTC,\"app\",\"shop\",77,\"[local]\",65,1,\"idle\",2026-11-22 06:26:04 UTC,,0,LOG,00000,\"say \"\"x\"\",";
        assert_eq!(splitter.line(1, &line(head)), Read::Nothing);
        let rest = line("and more\",,,,,,,,,\"\",\"client backend\",,0");
        let Read::Entry(entry) = splitter.line(2, &rest) else { panic!() };
        assert_eq!((entry.pid, entry.message.as_str(), entry.line), (77, "say \"x\",\nand more", 1));
        assert_eq!(splitter.form, Some(Form::Csv));
    }

    /// Of a line that is too long the message is there, or at least its begin; a row or an object is torn.
    #[test]
    fn of_a_line_that_was_cut_a_message_can_be_read_and_a_row_can_not() {
        let cut = |text: &str| Splitter::default().line(7, &Line { text: text.into(), rest: Rest::PassedBy });
        let stderr =
            "2026-11-22 06:26:05.475 UTC [9] LOG:  duration: 3.141 ms  statement: insert into t values (1";
        assert!(matches!(cut(stderr), Read::Begun(entry) if entry.message.starts_with("duration: 3.141 ms")));
        // As many quotes as a whole row has.
        let row = "2026-11-22 06:26:05.475 UTC,\"app\",\"shop\",77,\"[local]\",65,1,\"idle\",2026-11-22 06:26:04 UTC,,0,LOG,00000,\"x\",";
        assert!(matches!(cut(row), Read::GivenUp(row) if (row.first, row.lines) == (7, 1)));
        assert_eq!(
            cut("{\"timestamp\":\"2026-11-22 06:26:05.475 UTC\",\"message\":\"x"),
            Read::NotUnderstood
        );
    }
}
