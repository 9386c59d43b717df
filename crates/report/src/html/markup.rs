//! Escaping, and the few elements that the page is made of.
//!
//! A text enters the page through [`text`] only: names of operations, error words and URLs are other people's.

use std::fmt::Write;

/// Escapes a text for element content and double-quoted attributes.
pub(super) fn text(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len() + raw.len() / 8);
    for c in raw.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Browsers replace these with U+FFFD or refuse them: a visible stand-in says that one was there.
            c if c.is_control() && !matches!(c, '\n' | '\t') => escaped.push('\u{FFFD}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// JSON that stays inside of its `<script>` element: no `<`, so neither `</script>` nor `<!--`.
pub(super) fn script_json(value: &serde_json::Value) -> String {
    // Outside of strings JSON has none of these, and inside of strings the escape means the same.
    value.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// How a column is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// Words, on the left.
    Words,
    /// Numbers, on the right.
    Number,
}

/// A table whose first column heads its rows. Cells are markup already.
pub(super) struct Table {
    caption: String,
    columns: Vec<Column>,
    markup: String,
}

impl Table {
    /// `head` is (kind, title); titles are plain text.
    pub(super) fn new(caption: &str, head: &[(Column, &str)]) -> Table {
        let mut markup = String::new();
        for (column, title) in head {
            let _ = write!(markup, "<th scope=\"col\"{}>{}</th>", class(*column), text(title));
        }
        let columns = head.iter().map(|h| h.0).collect();
        Table {
            caption: text(caption),
            columns,
            markup: format!("<thead><tr>{markup}</tr></thead>\n<tbody>\n"),
        }
    }

    /// Cells beyond the head's columns are left out, missing ones are empty.
    pub(super) fn row(&mut self, cells: &[String]) {
        self.markup.push_str("<tr>");
        for (index, column) in self.columns.iter().enumerate() {
            let cell = cells.get(index).map_or("", String::as_str);
            let _ = match index {
                0 => write!(self.markup, "<th scope=\"row\"{}>{cell}</th>", class(*column)),
                _ => write!(self.markup, "<td{}>{cell}</td>", class(*column)),
            };
        }
        self.markup.push_str("</tr>\n");
    }

    /// The whole element, in a box of its own that scrolls where the screen is narrow.
    pub(super) fn finish(self) -> String {
        let Table { caption, markup, .. } = self;
        format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table>\
             <caption>{caption}</caption>\n{markup}</tbody></table></div>\n"
        )
    }
}

fn class(column: Column) -> &'static str {
    match column {
        Column::Words => "",
        Column::Number => " class=\"n\"",
    }
}

/// (name, value) pairs as a definition list; nothing where there are none.
pub(super) fn facts<'a>(title: &str, pairs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut markup = String::new();
    for (name, value) in pairs.into_iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(markup, "<div><dt>{}</dt><dd>{}</dd></div>", text(name), text(&value));
    }
    match markup.is_empty() {
        true => String::new(),
        false => format!("<section class=\"facts\"><h3>{}</h3><dl>{markup}</dl></section>\n", text(title)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_become_markup() {
        assert_eq!(text("<b a=\"1\" c='2'>&\0"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;\u{FFFD}");
        let hostile = serde_json::json!({"a": "</script><script>alert(1)</script><!--"});
        let safe = script_json(&hostile);
        assert!(!safe.contains('<'), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).expect("still JSON"), hostile);
    }

    #[test]
    fn tables_have_as_many_cells_as_columns() {
        let mut table = Table::new("a & b", &[(Column::Words, "x"), (Column::Number, "y")]);
        table.row(&["1".to_owned()]);
        table.row(&["2".to_owned(), "3".to_owned(), "4".to_owned()]);
        let markup = table.finish();
        assert!(markup.contains("<th scope=\"row\">1</th><td class=\"n\"></td></tr>"), "{markup}");
        assert!(!markup.contains('4') && markup.contains("a &amp; b"), "{markup}");
    }
}
