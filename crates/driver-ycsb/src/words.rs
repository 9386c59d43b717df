//! What the JVM prints: answers of the bridge, and the last words of the binding and of the JVM itself.

use std::collections::VecDeque;
use std::io::{PipeReader, Read};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

/// What a line of the bridge's own begins with.
const MARK: &str = "truetail-bridge: ";

/// So many lines are kept.
const LINES: usize = 6;
/// And of each so many bytes.
const BYTES: usize = 400;

/// The last lines that were printed.
#[derive(Debug, Default)]
pub(crate) struct LastWords {
    lines: Mutex<VecDeque<String>>,
}

impl LastWords {
    /// All of them in one line; empty where nothing was said.
    pub(crate) fn told(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join(" | ")
    }

    fn add(&self, line: &str) {
        let shown: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let shown = shown.trim();
        if shown.is_empty() {
            return;
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(shown.to_owned());
    }
}

/// Reads until nobody can print any more. However much is printed, it is read, since whoever prints would wait otherwise.
pub(crate) fn listen(mut from: PipeReader, words: &Arc<LastWords>, answers: &Sender<String>) {
    let mut chunk = [0; 4096];
    let mut line: Vec<u8> = Vec::with_capacity(BYTES);
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        for &byte in &chunk[..count] {
            if byte == b'\n' {
                take(&line, words, answers);
                line.clear();
            } else if line.len() < BYTES {
                line.push(byte);
            }
        }
    }
    take(&line, words, answers);
}

fn take(line: &[u8], words: &LastWords, answers: &Sender<String>) {
    let text = String::from_utf8_lossy(line);
    match text.strip_prefix(MARK) {
        // Nobody listens any more once the bridge is ready.
        Some(answer) => drop(answers.send(answer.trim().to_owned())),
        None => words.add(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn answers_are_told_from_other_words_and_of_those_the_last_stay() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let (sender, answers) = std::sync::mpsc::channel();
        let words = Arc::new(LastWords::default());
        let long = "x".repeat(10_000);
        let text = format!("warning\n{MARK}ready 7\n{long}\n\n\t \nb\nc\nd\ne\nf\x1b[1m\nlast");
        writer.write_all(text.as_bytes()).unwrap();
        drop(writer);
        listen(reader, &words, &sender);
        drop(sender);
        assert_eq!(answers.iter().collect::<Vec<_>>(), ["ready 7"]);
        assert_eq!(words.told(), "b | c | d | e | f [1m | last");
    }
}
