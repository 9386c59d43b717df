//! A page that grows line by line.

use super::TextOptions;
use super::paint::{Paint, wrap};
use super::table::Table;

/// What was said so far, and how wide it may be.
pub(super) struct Sheet {
    pub(super) paint: Paint,
    pub(super) width: usize,
    pub(super) text: String,
}

impl Sheet {
    pub(super) fn new(options: &TextOptions) -> Sheet {
        Sheet { paint: Paint { colour: options.colour }, width: options.width, text: String::new() }
    }

    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Wraps; `first` stands before the first line, `rest` before the others.
    pub(super) fn say(&mut self, first: &str, rest: &str, words: &str) {
        for line in wrap(first, rest, words, self.width) {
            self.text += line.trim_end();
            self.text.push('\n');
        }
    }

    pub(super) fn faint(&mut self, words: &str) {
        for line in wrap("", "  ", words, self.width) {
            self.text += &(self.paint.faint(&line) + "\n");
        }
    }

    /// After a blank line.
    pub(super) fn heading(&mut self, title: &str) {
        self.blank();
        self.say("", "  ", &self.paint.head(title));
    }

    /// After a blank line.
    pub(super) fn table(&mut self, table: &Table) {
        self.blank();
        self.text += &table.render(&self.paint, self.width);
    }

    /// Two columns in.
    pub(super) fn indented(&mut self, table: &Table) {
        let table = table.render(&self.paint, self.width.saturating_sub(2));
        table.lines().for_each(|line| self.text += &format!("  {line}\n"));
    }
}
