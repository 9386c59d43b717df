//! Where the time goes, quantile by quantile.
//!
//! Shares and not lengths: between the median and the maximum lie orders of magnitude, and a bar for the
//! median would not be seen beside the maximum's.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Key, WIDTH, text_width};
use super::palette::{BLUE, GREY, INK, ORANGE, PURPLE, VERMILION};
use super::{censored_note, has_anatomy, main_measure};
use crate::text::time;
use analysis::{Analysis, AnatomyRow};

const LEFT: f64 = 150.0;
const RIGHT: f64 = WIDTH - 190.0;
const ROW: f64 = 40.0;
const BAR: f64 = 26.0;

pub(super) fn figure(analysis: &Analysis) -> Option<String> {
    let rows: Vec<&AnatomyRow> = analysis.anatomy.rows.iter().filter(|r| r.whole_ns.is_finite()).collect();
    let summary = main_measure(analysis).filter(|_| has_anatomy(analysis))?;
    let name = summary.measure.name();
    let harness = match (analysis.offered.is_some(), rows.iter().any(|r| r.pick_up_ns.is_some())) {
        (true, true) => "lag + pick-up",
        (true, false) => "lag",
        // A closed loop's service time begins when the request is sent.
        (false, _) => "pick-up",
    };
    let caption = format!(
        "Mean shares of what the requests around each quantile of the {name} spent their time on.{}{}",
        match harness {
            "lag" => " Without kernel stamps the pick-up is part of the service time.",
            "pick-up" => " Pick-up is the harness's own delay, not the database's.",
            _ => " Lag and pick-up are the harness's own delays, not the database's.",
        },
        censored_note(summary),
    );
    let mut canvas = Canvas::new(analysis, &format!("Anatomy of the {name}"), &caption);
    let mut keys = vec![(Key::Area, BLUE, "service")];
    if harness.contains("lag") {
        keys.splice(0..0, [(Key::Area, ORANGE, "pool wait"), (Key::Area, VERMILION, "lag")]);
    }
    if harness.contains("pick-up") {
        keys.push((Key::Area, PURPLE, "pick-up"));
    }
    canvas.legend(&keys);
    let (top, bottom) = (canvas.top + 22.0, canvas.top + 22.0 + ROW * rows.len() as f64);
    canvas.text((LEFT - 12.0, top - 8.0), Anchor::End, GREY, "quantile and value");
    canvas.text((RIGHT + 12.0, top - 8.0), Anchor::Start, GREY, &format!("harness ({harness})"));
    let x = Axis::linear(0.0, 100.0, LEFT, RIGHT);
    let ticks: Vec<(f64, String)> = (0..=4).map(|i| (25.0 * f64::from(i), format!("{} %", 25 * i))).collect();
    x.draw_below(&mut canvas, (top, bottom), &ticks);
    for (index, row) in rows.iter().enumerate() {
        bar(&mut canvas, row, top + ROW * index as f64 + (ROW - BAR) / 2.0);
    }
    canvas.text(((LEFT + RIGHT) / 2.0, bottom + 38.0), Anchor::Middle, GREY, &format!("share of the {name}"));
    Some(canvas.finish(bottom + 54.0))
}

fn bar(canvas: &mut Canvas, row: &AnatomyRow, y: f64) {
    let middle = y + BAR / 2.0 + 4.0;
    let parts = [
        (row.pool_wait_ns, ORANGE, INK),
        (row.lag_ns, VERMILION, INK),
        (row.service_ns, BLUE, "#ffffff"),
        (row.pick_up_ns.unwrap_or(0.0), PURPLE, INK),
    ];
    let sum: f64 = parts.iter().map(|(ns, ..)| ns.max(0.0)).sum();
    canvas.text((LEFT - 92.0, middle), Anchor::End, INK, &row.quantile.name());
    canvas.text((LEFT - 12.0, middle), Anchor::End, INK, &time(row.whole_ns));
    if !(sum > 0.0 && sum.is_finite()) {
        canvas.text((LEFT + 8.0, middle), Anchor::Start, GREY, "never sent: its parts are not known");
        return;
    }
    let mut x = LEFT;
    for (ns, colour, ink) in parts {
        let width = ns.max(0.0) / sum * (RIGHT - LEFT);
        if ns > 0.0 {
            // A hairline at least: a part that is there must be seen.
            canvas.rect((x, y), (width.max(1.0), BAR), colour);
        }
        let text = time(ns);
        if text_width(&text, 12.0) + 10.0 < width {
            canvas.text((x + width / 2.0, middle), Anchor::Middle, ink, &text);
        }
        x += width;
    }
    let harness = row.lag_ns + row.pick_up_ns.unwrap_or(0.0);
    let share = 100.0 * harness / sum;
    let share = if share >= 0.01 { format!("{share:.2} %") } else { "less than 0.01 %".to_owned() };
    let share = format!("{}, {share}", time(harness));
    canvas.text((RIGHT + 12.0, middle), Anchor::Start, INK, &share);
}
