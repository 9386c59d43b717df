//! From entries to what happened: begins and ends put together.

use super::entries::{Entry, Read, Row, Splitter};
use super::messages::{self, Message};
use super::zone::Moment;
use crate::examples::keep_example;
use crate::log_lines::Line;
use record::ServerTold;
use std::collections::BTreeMap;
use units::Nanos;

/// Something that the server did, or that happened to one of its processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Happening {
    /// What.
    pub what: ServerTold,
    /// From when; of a checkpoint the line of its begin or, if that is earlier, its own total before its end.
    pub begin: Moment,
    /// Until when; `None` for a checkpoint that had not ended when the log was read, as far as it tells.
    pub end: Option<Moment>,
    /// In words.
    pub detail: String,
    /// Number of the line that told its end, or its begin where there is none, from 1.
    pub line: usize,
}

impl Happening {
    /// How long, as far as zones need no explaining: both times are of one log. `None` without an end.
    pub fn length(&self) -> Option<Nanos> {
        let at = |moment: &Moment| moment.local_ns - i128::from(moment.before.0);
        Some(Nanos(u64::try_from(at(&self.end?) - at(&self.begin)).unwrap_or(0)))
    }
}

/// All that a log tells. Never fails: what is not understood is counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServerLog {
    /// `stderr`, `csvlog` or `jsonlog`; empty without any entry.
    pub format: &'static str,
    /// What happened, by the line of its end.
    pub happenings: Vec<Happening>,
    /// When its first entry was written, and its last.
    pub covers: Option<(Moment, Moment)>,
    /// Whether it begins with the server's start: nothing was before it.
    pub begins_with_server: bool,
    /// Abbreviations of zones that [`super::Zone::Named`] means.
    pub zones: Vec<String>,
    /// Lines in all.
    pub lines: u64,
    /// Entries with a statement's duration.
    pub durations: u64,
    /// Entries that tell of something else.
    pub others: u64,
    /// Lines that are no entry, and entries that should tell of something that happened and do not.
    pub not_understood: u64,
    /// The first of them, cut to 120 characters, with their numbers.
    pub examples: Vec<(usize, String)>,
}

impl ServerLog {
    /// How many of a kind there are.
    pub fn count(&self, what: ServerTold) -> u64 {
        self.happenings.iter().filter(|happening| happening.what == what).count() as u64
    }

    fn misunderstood(&mut self, line: usize, text: &str) {
        self.not_understood += 1;
        keep_example(&mut self.examples, line, text);
    }

    /// All lines of it are not understood, and the first is shown.
    fn given_up(&mut self, row: &Row) {
        self.not_understood += row.lines;
        keep_example(&mut self.examples, row.first, &row.text);
    }
}

/// The server counts a checkpoint's total from before it writes the line of its begin, which may come late.
fn earlier(line: Moment, by_total: Moment) -> Moment {
    let at = |moment: &Moment| moment.local_ns - i128::from(moment.before.0);
    if line.zone == by_total.zone && at(&by_total) < at(&line) { by_total } else { line }
}

/// A wait for a lock that goes on.
#[derive(Debug)]
struct Wait {
    begin: Moment,
    /// The last that is known of it.
    known: Moment,
    lock: String,
    line: usize,
}

/// A checkpoint that goes on.
#[derive(Debug)]
struct Begun {
    at: Moment,
    why: String,
    /// 0 where the prefix does not tell.
    pid: u32,
    line: usize,
}

/// Reads lines one after the other.
#[derive(Debug, Default)]
pub(super) struct Reader {
    log: ServerLog,
    splitter: Splitter,
    /// An entry whose further lines may come.
    begun: Option<Entry>,
    checkpoint: Option<Begun>,
    /// By process.
    waits: BTreeMap<u32, Wait>,
}

/// Messages whose further lines matter, and how long they may get, bytes.
const SEVERAL_LINES: &str = "automatic ";
const LONGEST_MESSAGE: usize = 1 << 18;

impl Reader {
    pub(super) fn line(&mut self, line: &Line<'_>) {
        self.log.lines += 1;
        let number = usize::try_from(self.log.lines).unwrap_or(usize::MAX);
        match self.splitter.line(number, line) {
            Read::Continued(more) => self.continued(&more),
            Read::Begun(entry) => {
                self.end_begun();
                self.begun = Some(entry);
            }
            Read::Entry(entry) => {
                self.end_begun();
                self.entry(entry);
            }
            Read::Nothing => self.end_begun(),
            Read::NotUnderstood => {
                self.end_begun();
                self.log.misunderstood(number, &line.text);
            }
            Read::GivenUp(row) => {
                self.end_begun();
                self.log.given_up(&row);
            }
        }
    }

    fn continued(&mut self, more: &str) {
        let Some(entry) = &mut self.begun else { return };
        if entry.message.starts_with(SEVERAL_LINES) && entry.message.len() + more.len() < LONGEST_MESSAGE {
            entry.message.push('\n');
            entry.message.push_str(more);
        }
    }

    fn end_begun(&mut self) {
        if let Some(entry) = self.begun.take() {
            self.entry(entry);
        }
    }

    fn entry(&mut self, entry: Entry) {
        let Entry { at, pid, is_error, message, line } = entry;
        let begins =
            || message.starts_with("starting PostgreSQL ") || message.starts_with("database system was ");
        self.log.begins_with_server |= self.log.covers.is_none() && begins();
        self.log.covers = Some((self.log.covers.map_or(at, |covers| covers.0), at));
        match messages::read(&message) {
            Message::CheckpointBegins(why) => {
                self.abandon_checkpoint(at);
                self.checkpoint = Some(Begun { at, why, pid, line });
            }
            Message::CheckpointEnds(total, did) => {
                let by_total = Moment { before: total, ..at };
                let (begin, why) = match self.checkpoint.take() {
                    Some(begun) => (earlier(begun.at, by_total), begun.why),
                    None => (by_total, ServerTold::BEGUN_BEFORE.to_owned()),
                };
                self.tell(ServerTold::Checkpoint, (begin, at), format!("{why}; {did}"), line);
            }
            Message::Vacuum(elapsed, what) => {
                self.tell(ServerTold::Vacuum, (Moment { before: elapsed, ..at }, at), what, line);
            }
            Message::Waiting(pid, waited, lock) => {
                let begin = Moment { before: waited, ..at };
                let wait = self.waits.entry(pid).or_insert(Wait { begin, known: at, lock, line });
                (wait.known, wait.line) = (at, line);
            }
            Message::Acquired(pid, waited, lock) => {
                self.waits.remove(&pid);
                let detail = format!("process {pid} waited for {lock}");
                self.tell(ServerTold::LockWait, (Moment { before: waited, ..at }, at), detail, line);
            }
            Message::Interrupted => {
                self.abandon_checkpoint(at);
                self.end_waits();
                self.log.others += 1;
            }
            Message::Duration => self.log.durations += 1,
            Message::Other => {
                self.log.others += 1;
                if is_error && self.checkpoint.as_ref().is_some_and(|begun| begun.pid == pid && pid > 0) {
                    self.abandon_checkpoint(at);
                }
                if is_error && let Some(wait) = self.waits.remove(&pid) {
                    self.given_up(pid, Wait { known: at, ..wait });
                }
            }
            Message::Broken => {
                if messages::ends_checkpoint(&message) {
                    self.abandon_checkpoint(at);
                }
                self.log.misunderstood(line, &message);
            }
        }
    }

    fn tell(&mut self, what: ServerTold, (begin, end): (Moment, Moment), detail: String, line: usize) {
        self.log.happenings.push(Happening { what, begin, end: Some(end), detail, line });
    }

    /// One that did not complete: it went on until `at` at most.
    fn abandon_checkpoint(&mut self, at: Moment) {
        if let Some(Begun { at: begin, why, line, .. }) = self.checkpoint.take() {
            self.tell(ServerTold::Checkpoint, (begin, at), format!("{why}; its end is not in the log"), line);
        }
    }

    /// One that nothing ended before the log did. The server goes on with it, and how long is not known.
    fn leave_checkpoint_open(&mut self) {
        if let Some(Begun { at: begin, why, line, .. }) = self.checkpoint.take() {
            let detail = format!("{why}; {}", ServerTold::UNFINISHED);
            let what = ServerTold::Checkpoint;
            self.log.happenings.push(Happening { what, begin, end: None, detail, line });
        }
    }

    fn given_up(&mut self, pid: u32, wait: Wait) {
        let detail = format!("process {pid} waited for {}, and did not get it in the log", wait.lock);
        self.tell(ServerTold::LockWait, (wait.begin, wait.known), detail, wait.line);
    }

    fn end_waits(&mut self) {
        for (pid, wait) in std::mem::take(&mut self.waits) {
            self.given_up(pid, wait);
        }
    }

    pub(super) fn finish(mut self) -> ServerLog {
        self.end_begun();
        if let Some(row) = self.splitter.open_row() {
            self.log.given_up(&row);
        }
        self.leave_checkpoint_open();
        self.end_waits();
        self.log.happenings.sort_by_key(|happening| happening.line);
        self.log.zones = self.splitter.zones;
        self.log.format = self.splitter.form.map_or("", |form| form.name());
        self.log
    }
}
