//! Whether the text of a `.toml` file reaches to its end. Cut between two lines it would still be TOML, and what is
//! missing would read as empty or zero.

/// How a whole file ends. The file says so near its begin, as `last_line`; files of before said nothing.
pub(crate) const LAST_LINE: &str = "# end of this file";

/// The text with its last line.
pub(crate) fn closed(text: &str) -> String {
    format!("{text}\n{LAST_LINE}\n")
}

/// `Err` says what is missing of a file whose last line is `announced`, and that has an `[end]` or not.
pub(crate) fn check(
    text: &str,
    announced: Option<&str>,
    complete: bool,
    has_end: bool,
) -> Result<(), String> {
    if let Some(announced) = announced
        && text.trim_end().lines().next_back() != Some(announced)
    {
        return Err(format!("it is cut short: its last line, `{}`, is missing", announced.escape_debug()));
    }
    if complete && !has_end {
        return Err("it is cut short: it says `complete = true` and has no `[end]`".to_owned());
    }
    Ok(())
}
