//! Whose tail it is: the table, the figure, and the slowest requests with a bar each.

use super::drawn::{inline, themed};
use super::head::count;
use super::markup::{Column, Table, text};
use crate::attribution::{
    all_of, by_chance, in_words, p_value, sentence, share, slow, times_chance, unwatched, who_ran, whose,
};
use crate::svg::{attribution_figure, cause_colour};
use crate::text::capital;
use analysis::attribution::{CauseRow, SlowRequest, Watched};
use analysis::{Analysis, Attribution};
use std::fmt::Write as _;
use units::format_nanos;

/// What the section holds.
pub(super) fn content(analysis: &Analysis, attribution: &Attribution) -> String {
    let mut markup = format!("<p class=\"says\">{}.</p>\n", text(&capital(&sentence(attribution))));
    markup += &causes(attribution);
    let chance = by_chance(attribution);
    for note in [slow(attribution)].iter().chain(&chance).chain(&attribution.notes) {
        markup += &format!("<p class=\"note\">{}.</p>\n", text(note));
    }
    markup += &attribution_figure(analysis).map_or_else(String::new, |svg| inline("attribution-0", &svg));
    markup + &worst(attribution)
}

fn causes(attribution: &Attribution) -> String {
    let head = [
        (Column::Words, "cause"),
        (Column::Number, "share"),
        (Column::Number, "time"),
        (Column::Number, "of it behind"),
        (Column::Number, "largest in"),
        (Column::Number, "touches"),
        (Column::Number, "× chance"),
        (Column::Number, "p"),
    ];
    let mut table = Table::new("What the slow requests’ time was spent on", &head);
    for row in attribution.causes.iter().filter(|row| row.watched == Watched::Yes) {
        let behind = if row.cause.blocks() { format_nanos(row.behind) } else { String::new() };
        table.row(&[
            format!("{}{}", swatch(row), text(row.cause.name())),
            text(&share(row.share)),
            format_nanos(row.time),
            behind,
            count(row.largest),
            count(row.touched),
            chance(row),
            row.association.as_ref().map_or_else(String::new, |a| p_value(a.p_value)),
        ]);
    }
    let ran = attribution
        .causes
        .iter()
        .filter_map(|row| Some(format!("who ran during the {}: {}", all_of(row.cause), who_ran(row)?)));
    let missing: String = ran.chain(unwatched(attribution)).fold(String::new(), |mut all, why| {
        let _ = writeln!(all, "<p class=\"note\">{}.</p>", text(&capital(&why)));
        all
    });
    table.finish() + &missing
}

fn swatch(row: &CauseRow) -> String {
    let colour = cause_colour(row.cause);
    themed(format!(
        "<svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect width=\"10\" height=\"10\" \
         fill=\"{colour}\"/></svg>"
    ))
}

/// How many times as much as by chance, with its interval.
fn chance(row: &CauseRow) -> String {
    let Some(association) = &row.association else {
        return if row.cause.is_observed() { "none seen".to_owned() } else { String::new() };
    };
    let ratio = &association.ratio;
    let interval = ratio.interval.map_or_else(String::new, |(low, high)| {
        format!(" <small>{} – {}</small>", times_chance(low), times_chance(high))
    });
    times_chance(ratio.point) + &interval
}

fn worst(attribution: &Attribution) -> String {
    let head = [
        (Column::Number, "took"),
        (Column::Words, "request"),
        (Column::Words, "where its time went, from left to right"),
        (Column::Words, "in words, the largest first"),
    ];
    let mut table = Table::new("The slowest requests", &head);
    let longest = attribution.worst.first().map_or(1, |one| one.whole.0.max(1));
    for one in &attribution.worst {
        table.row(&[format_nanos(one.whole), request(one), bar(one, longest), text(&in_words(one))]);
    }
    table.finish()
}

fn request(one: &SlowRequest) -> String {
    let whose = whose(one);
    let (which, session) = whose.split_once(", ").unwrap_or((&whose, ""));
    format!("{} <small>{}</small>", text(which), text(session))
}

/// As long as the request took, beside the longest.
fn bar(one: &SlowRequest, longest: u64) -> String {
    let place = |ns: u64| 1_000.0 * ns as f64 / longest as f64;
    let mut pieces = String::new();
    for piece in &one.pieces {
        let (x, width) = (place(piece.begin.0.saturating_sub(one.at.0)), place(piece.length.0));
        if width >= 0.5 {
            // What is spent behind a cause is its colour, and paler.
            let opacity = if piece.is_behind { " fill-opacity=\"0.55\"" } else { "" };
            let _ = write!(
                pieces,
                "<rect x=\"{x:.1}\" width=\"{width:.1}\" height=\"14\" fill=\"{}\"{opacity}/>",
                cause_colour(piece.cause)
            );
        }
    }
    themed(format!(
        "<svg class=\"pieces\" viewBox=\"0 0 1000 14\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{pieces}</svg>"
    ))
}
