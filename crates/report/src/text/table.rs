//! Tables: the first column on the left, all others on the right.

use super::paint::{Paint, columns};

/// Between two columns; the narrow one where the table is wider than the page.
const GAPS: [&str; 2] = ["   ", "  "];

pub(super) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(head: Vec<String>) -> Table {
        Table { head, rows: Vec::new() }
    }

    /// A row shorter than the head is padded with empty cells.
    pub(super) fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.head.len(), String::new());
        self.rows.push(cells);
    }

    fn widths(&self) -> Vec<usize> {
        (0..self.head.len())
            .map(|i| std::iter::once(&self.head).chain(&self.rows).map(|r| columns(&r[i])).max().unwrap_or(0))
            .collect()
    }

    fn width_with(&self, gap: &str) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + gap.len() * widths.len().saturating_sub(1)
    }

    /// Whether it can be set within `width` columns.
    pub(super) fn fits(&self, width: usize) -> bool {
        self.width_with(GAPS[1]) <= width
    }

    /// Set for a page of `width` columns; wider all the same where nothing else is possible.
    pub(super) fn render(&self, paint: &Paint, width: usize) -> String {
        let gap = if self.width_with(GAPS[0]) <= width { GAPS[0] } else { GAPS[1] };
        let widths = self.widths();
        let mut text = paint.head(line(&self.head, &widths, gap).trim_end()) + "\n";
        for row in &self.rows {
            text += line(row, &widths, gap).trim_end();
            text.push('\n');
        }
        text
    }
}

fn line(cells: &[String], widths: &[usize], gap: &str) -> String {
    let mut text = String::new();
    for (index, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        let fill = " ".repeat(width - columns(cell));
        if index == 0 {
            text += &format!("{cell}{fill}");
        } else {
            text += &format!("{gap}{fill}{cell}");
        }
    }
    text
}
