//! The cells of a group over time, one below the other on the same axes; and all rounds of one cell.

use super::super::axis::{Axis, clock_ticks, plain};
use super::super::canvas::{Anchor, Canvas, WIDTH};
use super::super::palette::{GREY, INK};
use super::boxes::coarse_words;
use super::members;
use super::panel::{KEYS, Panel};
use crate::tell_tale::{cell_name, group_name, measure_name, no_pauses};
use crate::text::time;
use analysis::tell_tale::{CellFigures, Group, RoundFigures, RoundSeries, TellTale};
use units::{format_count, format_counted, format_nanos};

const LEFT: f64 = 84.0;
const RIGHT: f64 = WIDTH - 24.0;
const HEIGHT: f64 = 128.0;
/// Above each panel its name.
const TITLE: f64 = 30.0;
/// Small panels: this many beside each other.
const ACROSS: usize = 3;
const SMALL_HEIGHT: f64 = 110.0;
const SMALL_GAP: f64 = 34.0;

/// The round whose longest is the median, of each cell.
pub(super) fn of_group(tell_tale: &TellTale, group: &Group) -> Option<String> {
    let cells: Vec<(usize, String)> = members(tell_tale, group).collect();
    let ran: Vec<(&CellFigures, &RoundFigures)> = (cells.iter())
        .filter_map(|(cell, _)| tell_tale.cells[*cell].figures.as_ref().ok())
        .filter_map(|figures| Some((figures, figures.rounds.get(figures.shown)?)))
        .collect();
    let first = &ran.first()?.1.series;
    let measure = measure_name(tell_tale, group);
    let by = if group.load.has_response_time() { "intended start" } else { "start" };
    let caption = format!(
        "Of each cell the round whose longest {} is the median of its rounds; all on the same axes. Each request at its {by}. \
         The band covers all requests; extremes are all of those beyond {} % at either end; of the others a sample is drawn, at \
         the rate that each panel states; the mean slides over 1,000 requests. Pauses are drawn from begin to end, at the height of their length.{}",
        measure.replace(" time", ""),
        plain(50.0 * first.extreme_share),
        coarse_words(tell_tale, group),
    );
    let mut canvas = Canvas::of(&group_name(group), &format!("Over time: {measure}"), &caption);
    legend(&mut canvas);
    let rounds: Vec<&RoundFigures> = ran.iter().map(|(_, round)| *round).collect();
    let (length, ends) = scales(&rounds);
    let x = Axis::linear(0.0, length, LEFT, RIGHT);
    let mut y = canvas.top;
    let last = cells.len() - 1;
    for (index, (cell, name)) in cells.iter().enumerate() {
        let head = y + TITLE - 8.0;
        match &tell_tale.cells[*cell].figures {
            Err(why) => {
                let why = super::super::boxes::cut_to(&format!("{name}: not run: {why}"), RIGHT - LEFT);
                canvas.text((LEFT, head), Anchor::Start, GREY, &why);
                y += TITLE;
            }
            Ok(figures) => {
                let Some(round) = figures.rounds.get(figures.shown) else { continue };
                canvas.text((LEFT, head), Anchor::Start, INK, &title(name, figures, round));
                let (top, bottom) = (y + TITLE, y + TITLE + HEIGHT);
                let panel = Panel {
                    x,
                    y: axis(ends, bottom, top),
                    sides: (LEFT, RIGHT),
                    top,
                    bottom,
                    finest: finest(round),
                };
                panel.frame(&mut canvas, length, (true, false));
                panel.draw(&mut canvas, round, false);
                y = bottom;
            }
        }
        if index == last {
            for (tick, label) in clock_ticks(0.0, length) {
                canvas.text((x.place(tick), y + 18.0), Anchor::Middle, GREY, &label);
            }
        }
    }
    canvas.text(((LEFT + RIGHT) / 2.0, y + 38.0), Anchor::Middle, GREY, "time since the measured time began");
    Some(canvas.finish(y + 52.0))
}

/// In two rows, which are as wide as the figure.
fn legend(canvas: &mut Canvas) {
    canvas.legend(&KEYS[..4]);
    canvas.legend(&KEYS[4..]);
}

/// All rounds of a cell, small, on the same axes; `None` where there is one.
pub(super) fn of_rounds(tell_tale: &TellTale, index: usize) -> Option<String> {
    let result = &tell_tale.cells[index];
    let figures = result.figures.as_ref().ok().filter(|figures| figures.rounds.len() > 1)?;
    let rounds: Vec<&RoundFigures> = figures.rounds.iter().collect();
    let caption = "On the same axes; without sampled points.";
    let title = format!("All {} rounds: {}", rounds.len(), figures.measure.name());
    let mut canvas = Canvas::of(&cell_name(&result.cell), &title, caption);
    let paused =
        rounds.iter().any(|round| round.pauses.as_ref().is_some_and(|pauses| !pauses.whole.is_empty()));
    let (marks, pauses) = ([KEYS[0], KEYS[2], KEYS[3], KEYS[6], KEYS[7]], [KEYS[4], KEYS[5]]);
    canvas.legend(&marks);
    if paused {
        canvas.legend(&pauses);
    }
    let (length, ends) = scales(&rounds);
    let wide = (RIGHT - LEFT - SMALL_GAP * (ACROSS - 1) as f64) / ACROSS as f64;
    let mut y = canvas.top;
    for row in figures.rounds.chunks(ACROSS) {
        let (top, bottom) = (y + TITLE, y + TITLE + SMALL_HEIGHT);
        for (column, round) in row.iter().enumerate() {
            let left = LEFT + column as f64 * (wide + SMALL_GAP);
            let number = round.number;
            let pause = round.pauses.as_ref().and_then(|pauses| pauses.longest());
            let pause = pause.map_or(String::new(), |longest| format!(", pause {}", format_nanos(longest)));
            let head = format!("{number}: longest {}{pause}", format_nanos(round.max));
            canvas.text((left, top - 8.0), Anchor::Start, INK, &head);
            let x = Axis::linear(0.0, length, left, left + wide);
            let panel = Panel {
                x,
                y: axis(ends, bottom, top),
                sides: (left, left + wide),
                top,
                bottom,
                finest: finest(round),
            };
            panel.frame(&mut canvas, length, (column == 0, true));
            panel.draw(&mut canvas, round, true);
        }
        y = bottom + 22.0;
    }
    Some(canvas.finish(y + 12.0))
}

/// Length of the time axis, and the ends of the other, ns.
fn scales(rounds: &[&RoundFigures]) -> (f64, (f64, f64)) {
    let length =
        rounds.iter().map(|round| round.series.length.0.max(round.series.longest.0.0)).max().unwrap_or(0);
    let longest_pause = |round: &RoundFigures| round.pauses.as_ref().and_then(|pauses| pauses.longest());
    let most = rounds
        .iter()
        .map(|round| longest_pause(round).unwrap_or(round.max).max(round.max).0)
        .max()
        .unwrap_or(1);
    let least = rounds.iter().map(|round| (round.series.shortest.1.0 as f64).max(finest(round)));
    (length as f64, (least.reduce(f64::min).unwrap_or(1.0), most as f64))
}

/// The finest step of times that the tool tells, ns; above zero.
fn finest(round: &RoundFigures) -> f64 {
    round.length_resolution.0.max(1) as f64
}

/// A little room at either end, so that marks do not touch the frame.
fn axis((least, most): (f64, f64), bottom: f64, top: f64) -> Axis {
    Axis::log_exact(least / 1.3, most * 1.5, bottom, top)
}

/// `G1, round 2 of 3: longest 25.2 ms at 3.21 s; 12 pauses, the longest 25.1 ms; 0.4 % sampled, 8 extremes`
fn title(name: &str, figures: &CellFigures, round: &RoundFigures) -> String {
    let (number, of) = (figures.shown + 1, figures.rounds.len());
    let pauses = match (no_pauses(&figures.pauses), &round.pauses) {
        (Some(why), _) => why.to_owned(),
        (None, Some(pauses)) => {
            let longest = pauses
                .longest()
                .map_or(String::new(), |longest| format!(", the longest {}", format_nanos(longest)));
            format!("{}{longest}", format_counted(pauses.whole.len() as u64, "pause", "pauses"))
        }
        (None, None) => "no log of this round".to_owned(),
    };
    format!(
        "{name}, round {number} of {of}: longest {} at {}; {pauses}; {}",
        format_nanos(round.max),
        time(round.max_at.0 as f64),
        drawn(&round.series)
    )
}

/// What of the requests is drawn one by one.
fn drawn(series: &RoundSeries) -> String {
    let share = 100.0 * series.sampled_share;
    let share = if share < 0.095 { format!("{share:.3}") } else { plain((share * 10.0).round() / 10.0) };
    let extremes = format_count(series.extremes_total);
    let how = if series.extremes.is_some() { "" } else { " in columns" };
    format!("{extremes} extremes{how}, {share} % of the others")
}
