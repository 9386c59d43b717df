//! What another tool stated.

use super::count;
use super::paint::Paint;
use super::table::Table;
use super::{Page, TextOptions, paint, ratio};
use crate::stated::{
    CLAIM, MOST_INTERVALS, asked, begin, figure, from, intervals, quantile, range, title, whole,
};
use analysis::{STATED_LIMIT, StatedPair};
use record::Stated;

/// Statements beside each other, at most: more do not fit.
const BESIDE: usize = 3;

impl Page<'_> {
    /// The section; nothing without statements.
    pub(super) fn stated(&mut self) {
        let all = &self.analysis.stated;
        if all.is_empty() {
            return;
        }
        self.line(&self.paint.head("stated by the tool"));
        self.wrapped("", "  ", CLAIM);
        for some in whole(all).chunks(BESIDE) {
            let table = table(some).render(&self.paint, self.width);
            self.text.push_str(&table);
        }
        let intervals = intervals(all);
        if !intervals.is_empty() {
            let table = over_time(&intervals).render(&self.paint, self.width);
            self.text.push_str(&table);
        }
        if intervals.len() > MOST_INTERVALS {
            self.line(&format!("… {} more intervals in --json", intervals.len() - MOST_INTERVALS));
        }
        self.line("");
    }
}

/// The page of `truetail compare` where a side has statements alone.
pub fn stated_comparison_page(pairs: &[StatedPair], options: &TextOptions) -> String {
    let paint = Paint { colour: options.colour };
    let mut text = paint::wrap("", "  ", STATED_LIMIT, options.width).join("\n") + "\n";
    if pairs.is_empty() {
        text += "no operation is stated on both sides, counted from the same moment\n";
    }
    for pair in pairs {
        let heads = [String::new(), "base".into(), "new".into(), "new / base".into()];
        let mut table = Table::new(heads.to_vec());
        let row = |name: &str, of: &dyn Fn(&Stated) -> String| {
            vec![name.into(), of(&pair.base), of(&pair.new), String::new()]
        };
        table.row(row("of", &title));
        table.row(row("counted from", &|stated| from(stated).to_owned()));
        for figure in &pair.figures {
            let ratio =
                figure.ratio.map_or_else(String::new, |(low, high)| match (ratio(low), ratio(high)) {
                    (low, high) if low == high => high,
                    (low, high) => format!("{low} … {high}"),
                });
            table.row(vec![figure.name.clone(), range(figure.base), range(figure.new), ratio]);
        }
        text += &format!("\n{}", table.render(&paint, options.width));
    }
    text
}

fn table(some: &[&Stated]) -> Table {
    let mut head = vec![String::new()];
    head.extend(some.iter().map(|stated| title(stated)));
    let mut table = Table::new(head);
    let mut row = |name: &str, cell: &dyn Fn(&Stated) -> String| {
        table.row(std::iter::once(name.to_owned()).chain(some.iter().map(|stated| cell(stated))).collect());
    };
    row("counted from", &|stated| from(stated).to_owned());
    row("requests", &|stated| stated.count.map_or_else(|| "not told".to_owned(), count));
    row("min", &|stated| figure(stated.min));
    for q in asked(some) {
        row(&q.name(), &|stated| quantile(stated, q));
    }
    row("max", &|stated| figure(stated.max));
    row("mean", &|stated| figure(stated.mean));
    table
}

fn over_time(intervals: &[&Stated]) -> Table {
    let head = ["from", "", "requests", "min", "mean", "max"];
    let mut table = Table::new(head.map(str::to_owned).to_vec());
    for stated in intervals.iter().take(MOST_INTERVALS) {
        let n = stated.count.map_or_else(|| "not told".to_owned(), count);
        let (min, mean, max) = (figure(stated.min), figure(stated.mean), figure(stated.max));
        table.row(vec![begin(stated), title(stated), n, min, mean, max]);
    }
    table
}
