//! Tables: the first column on the left, all others on the right.

use super::paint::{Paint, columns};

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

    pub(super) fn render(&self, paint: &Paint) -> String {
        let widths: Vec<usize> = (0..self.head.len())
            .map(|i| std::iter::once(&self.head).chain(&self.rows).map(|r| columns(&r[i])).max().unwrap_or(0))
            .collect();
        let mut text = paint.head(line(&self.head, &widths).trim_end()) + "\n";
        for row in &self.rows {
            text += line(row, &widths).trim_end();
            text.push('\n');
        }
        text
    }
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (index, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        let gap = " ".repeat(width - columns(cell));
        if index == 0 {
            text += &format!("{cell}{gap}");
        } else {
            text += &format!("   {gap}{cell}");
        }
    }
    text
}
