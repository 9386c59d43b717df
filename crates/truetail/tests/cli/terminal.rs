//! The live view on a terminal: what its screen shows, and what is left on it.

use crate::program::Scratch;
use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Stdio};

const WIDTH: usize = 80;

/// A screen of 80 columns that understands what a live view may send.
#[derive(Default)]
struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    hidden: bool,
    /// What came of an escape sequence so far.
    escape: Option<String>,
}

impl Screen {
    fn take(&mut self, character: char) {
        if let Some(mut escape) = self.escape.take() {
            escape.push(character);
            if escape == "[" || !character.is_ascii_alphabetic() {
                self.escape = Some(escape);
            } else {
                self.obey(&escape);
            }
            return;
        }
        match character {
            '\x1b' => self.escape = Some(String::new()),
            '\r' => self.column = 0,
            '\n' => self.row += 1,
            other => self.put(other),
        }
    }

    fn put(&mut self, character: char) {
        if self.column == WIDTH {
            (self.row, self.column) = (self.row + 1, 0);
        }
        self.lines.resize(self.lines.len().max(self.row + 1), Vec::new());
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = character;
        self.column += 1;
    }

    fn obey(&mut self, escape: &str) {
        match escape {
            "[J" => {
                self.lines.truncate(self.row + 1);
                if let Some(line) = self.lines.get_mut(self.row) {
                    line.truncate(self.column);
                }
            }
            "[?25l" => self.hidden = true,
            "[?25h" => self.hidden = false,
            up => {
                let count = up.strip_prefix('[').and_then(|rest| rest.strip_suffix('A'));
                let count: usize = count.and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{up:?}"));
                self.row = self.row.saturating_sub(count);
            }
        }
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| line.iter().collect::<String>() + "\n").collect()
    }
}

/// The program with its stderr on a terminal.
struct Terminal {
    child: Child,
    master: File,
    screen: Screen,
    pending: Vec<u8>,
}

impl Terminal {
    fn start(scratch: &Scratch, arguments: &[&str]) -> Terminal {
        let (mut master, mut slave) = (0, 0);
        let size = libc::winsize { ws_row: 24, ws_col: WIDTH as u16, ws_xpixel: 0, ws_ypixel: 0 };
        let null = std::ptr::null_mut();
        // SAFETY: all pointers are to live values or null, which `openpty` allows for name and settings.
        let made = unsafe { libc::openpty(&mut master, &mut slave, null, null.cast(), &size) };
        assert_eq!(made, 0, "a terminal");
        // SAFETY: both were just opened, and belong to nobody else.
        let (master, slave) = unsafe { (OwnedFd::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
        let mut command = scratch.command(arguments);
        command.env("TERM", "xterm").stderr(Stdio::from(slave)).stdout(Stdio::null());
        let child = command.spawn().expect("the program starts");
        Terminal { child, master: master.into(), screen: Screen::default(), pending: Vec::new() }
    }

    /// Shows what comes next; false at the end.
    fn more(&mut self) -> bool {
        let mut bytes = [0; 4096];
        // The other side is closed: Linux says EIO.
        let Ok(read @ 1..) = self.master.read(&mut bytes) else { return false };
        self.pending.extend_from_slice(&bytes[..read]);
        let whole = match std::str::from_utf8(&self.pending) {
            Ok(text) => text.len(),
            Err(cut) => cut.valid_up_to(),
        };
        let rest = self.pending.split_off(whole);
        let text = String::from_utf8(std::mem::replace(&mut self.pending, rest)).expect("checked");
        text.chars().for_each(|c| self.screen.take(c));
        true
    }

    /// The remaining seconds on the screen, once there are some.
    fn left(&self) -> Option<u64> {
        let text = self.screen.text();
        let before = text.split(" s left").next().filter(|b| b.len() < text.len())?;
        before.rsplit(' ').next()?.parse().ok()
    }

    /// Waits until the screen shows less than so many remaining seconds.
    fn wait_for_less_than(&mut self, seconds: u64) -> u64 {
        loop {
            match self.left().filter(|left| *left < seconds) {
                // Whole lines only: the panel is drawn in one write, but may be read in two.
                Some(left) if self.screen.text().contains("p99 so far") => return left,
                _ => assert!(self.more(), "ended: {}", self.screen.text()),
            }
        }
    }

    /// What the screen shows when the program has ended.
    fn end(mut self) -> Screen {
        while self.more() {}
        assert!(self.child.wait().expect("it ends").code().is_some(), "ended by a signal");
        self.screen
    }
}

fn assert_cleared(screen: &Screen) {
    let text = screen.text();
    for part in ["left", "achieved", "p99", "━"] {
        assert!(!text.contains(part), "`{part}` is left on the screen:\n{text}");
    }
    assert!(!screen.hidden, "the cursor is hidden");
    assert_eq!(screen.column, 0, "the next line does not begin at the left:\n{text}");
}

#[test]
fn a_terminal_shows_progress_and_is_left_as_it_was() {
    let scratch = Scratch::new("terminal");
    let run = ["run", "null:", "-r", "2000/s", "-d", "3s", "--warmup", "0s", "-o", "a"];
    let mut terminal = Terminal::start(&scratch, &run);
    let first = terminal.wait_for_less_than(4);
    let shown = terminal.screen.text();
    assert_eq!(shown.lines().filter(|l| !l.is_empty()).count(), 4, "one panel of four lines:\n{shown}");
    assert!(shown.contains("achieved") && shown.contains("max") && shown.contains('━'), "{shown}");
    let second = terminal.wait_for_less_than(first);
    let shown = terminal.screen.text();
    assert!(second < first);
    assert_eq!(shown.matches(" s left").count(), 1, "the panel is drawn over itself:\n{shown}");
    assert_cleared(&terminal.end());
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let scratch = Scratch::new("terminal-signal");
    let mut terminal = Terminal::start(&scratch, &["run", "null:", "-r", "2000/s", "-d", "300s", "-o", "a"]);
    terminal.wait_for_less_than(400);
    let pid = i32::try_from(terminal.child.id()).expect("a process id");
    // SAFETY: `kill` takes plain numbers; the child is ours and not waited for, so its id is its own.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGINT) }, 0);
    assert_cleared(&terminal.end());
    assert!(scratch.recording("a").end().is_some());
}
