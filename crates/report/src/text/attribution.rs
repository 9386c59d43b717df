//! Whose tail it is.

use super::table::Table;
use super::{Page, TextOptions, count};
use crate::attribution::{
    all_of, by_chance, line, p_value, sentence, share, slow, times_chance, times_chance_interval, unwatched,
    who_ran,
};
use crate::text::paint::Paint;
use analysis::attribution::{CauseRow, Watched};
use analysis::{Analysis, Attribution};
use record::Measure;
use units::{Nanos, format_nanos};

/// Slow requests on the page; `truetail attribute` shows all.
const SHOWN: usize = 3;
/// Slow requests of `truetail attribute`.
const LISTED: usize = 200;
/// Causes that explain less are not on the page.
const LEAST: f64 = 0.005;
/// Causes on the page, at most.
const MOST_CAUSES: usize = 6;
/// Longest line of one request on the page: the rest is in the report. One that says who ran during a stall has two.
const LONGEST: usize = 78;

/// The page of `truetail attribute`: the section alone, in full. `above` is the limit that was asked for.
pub fn attribution_page(analysis: &Analysis, above: Option<Nanos>, options: &TextOptions) -> String {
    let paint = Paint { colour: options.colour };
    let mut page = Page { analysis, paint, width: options.width, text: String::new() };
    page.headline();
    page.verdict();
    match &analysis.attribution {
        None => page.wrapped("", "  ", &nothing_slow(analysis, above)),
        Some(attribution) => page.attribution_in_full(attribution),
    }
    page.text.truncate(page.text.trim_end().len());
    page.text + "\n"
}

impl Page<'_> {
    /// The section; nothing where no request is slow.
    pub(super) fn attribution(&mut self) {
        let analysis = self.analysis;
        let Some(attribution) = &analysis.attribution else { return };
        self.wrapped("", "  ", &format!("whose tail is it: {}", sentence(attribution)));
        self.text.push_str(&table(attribution).render(&self.paint, self.width));
        self.who_ran(attribution, LEAST);
        for one in attribution.worst.iter().take(SHOWN) {
            let lines = if one.held.iter().any(Option::is_some) { 2 } else { 1 };
            self.wrapped("  ", "      ", &cut(&line(one), lines * LONGEST));
        }
        self.line("");
    }

    /// A line for each cause that is a stall, from this share on.
    fn who_ran(&mut self, attribution: &Attribution, least: f64) {
        for row in attribution.causes.iter().filter(|row| row.share >= least) {
            if let Some(who) = who_ran(row) {
                self.wrapped("  ", "      ", &format!("who ran during the {}: {who}", all_of(row.cause)));
            }
        }
    }

    fn attribution_in_full(&mut self, attribution: &Attribution) {
        self.wrapped("", "  ", &sentence(attribution));
        self.line("");
        self.text.push_str(&full_table(attribution).render(&self.paint, self.width));
        self.who_ran(attribution, 0.0);
        self.line("");
        let (missing, chance) = (unwatched(attribution), by_chance(attribution));
        let notes = [slow(attribution)];
        for note in notes.iter().chain(&missing).chain(&chance).chain(&attribution.notes) {
            self.wrapped("", "  ", note);
        }
        self.line("");
        self.line(&self.paint.head("the slowest requests"));
        for one in attribution.worst.iter().take(LISTED) {
            self.wrapped("  ", "      ", &line(one));
        }
        let more = attribution.worst.len().saturating_sub(LISTED);
        if more > 0 {
            self.wrapped("  ", "      ", &format!("and {} more: `--json` has all", count(more as u64)));
        }
    }
}

/// Why there is nothing to attribute.
fn nothing_slow(analysis: &Analysis, above: Option<Nanos>) -> String {
    let measures = &analysis.total.measures;
    match measures.iter().find(|summary| matches!(summary.measure, Measure::Response | Measure::Service)) {
        Some(summary) if summary.n > 0 => {
            let none = above.map_or_else(
                || "no request is slow".to_owned(),
                |limit| format!("no request took longer than {}", format_nanos(limit)),
            );
            format!("{none}: the longest {} is {}", summary.measure.name(), format_nanos(summary.max))
        }
        _ => "no request can be slow: there is not a single one, or none that was measured".to_owned(),
    }
}

/// A line that is too long ends after its last whole piece.
fn cut(line: &str, most: usize) -> String {
    if line.chars().count() <= most {
        return line.to_owned();
    }
    let fits: String = line.chars().take(most - 3).collect();
    format!("{}, …", fits.rsplit_once(", ").map_or(fits.as_str(), |(whole, _)| whole))
}

/// The causes that explain something, on a page with much else.
fn table(attribution: &Attribution) -> Table {
    let head = ["cause", "share", "largest in", "touches", "× chance", "p"];
    let mut table = Table::new(head.map(str::to_owned).to_vec());
    let of_some_weight = |row: &&CauseRow| row.share >= LEAST && row.watched == Watched::Yes;
    for row in attribution.causes.iter().filter(of_some_weight).take(MOST_CAUSES) {
        let chance = row.association.as_ref().map_or_else(String::new, |a| times_chance(a.ratio.point));
        table.row(vec![
            row.cause.name().to_owned(),
            share(row.share),
            count(row.largest),
            count(row.touched),
            chance,
            p(row),
        ]);
    }
    table
}

fn p(row: &CauseRow) -> String {
    row.association.as_ref().map_or_else(String::new, |a| p_value(a.p_value))
}

/// All of them, with all that is known.
fn full_table(attribution: &Attribution) -> Table {
    let head = ["cause", "share", "time", "of it behind", "largest in", "touches", "× chance", "p"];
    let mut table = Table::new(head.map(str::to_owned).to_vec());
    for row in attribution.causes.iter().filter(|row| row.watched == Watched::Yes) {
        let behind = if row.cause.blocks() { format_nanos(row.behind) } else { String::new() };
        let chance = match times_chance_interval(row) {
            Some(interval) => interval,
            None if row.cause.is_observed() => "none seen".to_owned(),
            None => String::new(),
        };
        table.row(vec![
            row.cause.name().to_owned(),
            share(row.share),
            format_nanos(row.time),
            behind,
            count(row.largest),
            count(row.touched),
            chance,
            p(row),
        ]);
    }
    table
}
