//! Colour and line breaking.

use analysis::VerdictState;

/// Whether and how to colour.
#[derive(Clone, Copy)]
pub(super) struct Paint {
    pub(super) colour: bool,
}

impl Paint {
    fn code(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(super) fn state(self, state: VerdictState) -> String {
        self.as_state(state, state.name())
    }

    /// Words in the colour of a verdict.
    pub(super) fn as_state(self, state: VerdictState, words: &str) -> String {
        let code = match state {
            VerdictState::Valid => "1;32",
            VerdictState::Suspect => "1;33",
            VerdictState::Invalid => "1;31",
        };
        self.code(code, words)
    }

    pub(super) fn head(self, text: &str) -> String {
        self.code("1", text)
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.code("2", text)
    }
}

/// Columns that a text takes, without its colour codes.
pub(super) fn columns(text: &str) -> usize {
    let mut count = 0;
    let mut in_code = false;
    for c in text.chars() {
        match (in_code, c) {
            (false, '\x1b') => in_code = true,
            (true, 'm') => in_code = false,
            (false, _) => count += 1,
            (true, _) => {}
        }
    }
    count
}

/// Breaks `text` at spaces so that no line is wider than `width` where a word allows it; runs of spaces stay.
pub(super) fn wrap(first: &str, rest: &str, text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && columns(&line) + 1 + columns(word) > width {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = empty && word.is_empty();
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces() {
        let lines = wrap("- ", "  ", "one two three four", 12);
        assert_eq!(lines, ["- one two", "  three four"]);
        assert_eq!(wrap("", "", "unbreakable", 5), ["unbreakable"]);
        assert_eq!(columns("\x1b[1;32mok\x1b[0m"), 2);
    }
}
