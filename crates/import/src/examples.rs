//! Lines of a log that were not understood: all are counted, the first are kept for people to see.

/// Most that are kept.
const MOST: usize = 5;
/// Longest of them, in characters.
const LENGTH: usize = 120;

/// Keeps a line with its number if it is among the first, without control characters and cut.
pub(crate) fn keep_example(examples: &mut Vec<(usize, String)>, line: usize, text: &str) {
    if examples.len() < MOST {
        let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LENGTH).collect();
        let cut = if text.chars().count() > LENGTH { "…" } else { "" };
        examples.push((line, shown.trim().to_owned() + cut));
    }
}

/// The examples as one line each.
pub(crate) fn numbered(examples: &[(usize, String)]) -> Vec<String> {
    examples.iter().map(|(line, text)| format!("line {line}: {text}")).collect()
}
