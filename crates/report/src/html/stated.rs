//! What another tool stated.

use super::markup::{Column, Table, text};
use crate::stated::{CLAIM, MOST_INTERVALS, asked, begin, figure, from, intervals, quantile, title, whole};
use crate::text::count;
use analysis::Analysis;
use record::Stated;

/// What the section holds.
pub(super) fn content(analysis: &Analysis) -> String {
    let mut markup = format!("<p class=\"note\">{}</p>\n", text(CLAIM));
    let whole = whole(&analysis.stated);
    if !whole.is_empty() {
        markup += &figures(&whole);
    }
    let intervals = intervals(&analysis.stated);
    if !intervals.is_empty() {
        markup += &over_time(&intervals);
    }
    if intervals.len() > MOST_INTERVALS {
        let more = intervals.len() - MOST_INTERVALS;
        markup += &format!("<p class=\"note\">{more} more intervals stand in the recording.</p>\n");
    }
    markup
}

fn number(n: Option<u64>) -> String {
    n.map_or_else(|| "not told".to_owned(), count)
}

fn figures(whole: &[&Stated]) -> String {
    let titles: Vec<String> = whole.iter().map(|stated| title(stated)).collect();
    let mut head = vec![(Column::Words, "")];
    head.extend(titles.iter().map(|title| (Column::Number, title.as_str())));
    let mut table = Table::new("Figures of the whole run, as the tool states them", &head);
    let mut row = |name: &str, cell: &dyn Fn(&Stated) -> String| {
        let cells = whole.iter().map(|stated| text(&cell(stated)));
        table.row(&std::iter::once(text(name)).chain(cells).collect::<Vec<_>>());
    };
    row("counted from", &|stated| from(stated).to_owned());
    row("requests", &|stated| number(stated.count));
    row("min", &|stated| figure(stated.min));
    for q in asked(whole) {
        row(&q.name(), &|stated| quantile(stated, q));
    }
    row("max", &|stated| figure(stated.max));
    row("mean", &|stated| figure(stated.mean));
    row("finest step", &|stated| figure(stated.resolution));
    table.finish()
}

fn over_time(intervals: &[&Stated]) -> String {
    let head = [
        (Column::Number, "from"),
        (Column::Words, "of"),
        (Column::Number, "requests"),
        (Column::Number, "min"),
        (Column::Number, "mean"),
        (Column::Number, "max"),
    ];
    let mut table = Table::new("Interval by interval, as the tool states them", &head);
    for stated in intervals.iter().take(MOST_INTERVALS) {
        let cells = [
            begin(stated),
            text(&title(stated)),
            number(stated.count),
            figure(stated.min),
            figure(stated.mean),
            figure(stated.max),
        ];
        table.row(&cells);
    }
    table.finish()
}
