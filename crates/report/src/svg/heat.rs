//! Time × duration: how many requests of which duration when.

use super::axis::{Axis, plain, time_label};
use super::canvas::{Anchor, Canvas, n};
use super::palette::{GREY, scale};
use super::timeline::{LEFT, RIGHT, Timeline};
use super::{censored_note, measured};
use crate::text::time;
use analysis::{Analysis, HeatMap};
use record::Measure;
use std::fmt::Write as _;

const PLOT_HEIGHT: f64 = 340.0;
/// Cells at most, so that the file stays small: beyond it, cells are merged in pairs.
const MOST_CELLS: usize = 9_000;
/// Colours told apart.
const SHADES: usize = 16;

pub(super) fn figure(analysis: &Analysis, measure: Measure) -> Option<String> {
    let summary = measured(&analysis.total, measure)?;
    let map = analysis.heat_maps.iter().find(|m| m.measure == measure)?;
    let grid = Grid::new(map)?;
    let name = measure.name();
    let caption = format!(
        "How many requests had which {name} when. A cell is {} wide; the colour is the logarithm of its \
         count; where nothing is drawn, there was none.{}{}",
        time(grid.width),
        if measure == Measure::Response {
            " A gap under a falling arc is a server that stood still while requests waited."
        } else {
            ""
        },
        censored_note(summary),
    );
    let mut canvas = Canvas::new(analysis, &format!("Heat map of the {name}"), &caption);
    colour_scale(&mut canvas, grid.most);
    let (top, bottom) = (canvas.top + 26.0, canvas.top + 26.0 + PLOT_HEIGHT);
    let end = grid.begin + grid.width * grid.columns.len() as f64;
    let timeline = Timeline::new(analysis, end - grid.width, top, bottom);
    let y = Axis::log([grid.limits[0], grid.limits[grid.limits.len() - 1]].into_iter(), bottom, top);
    timeline.draw(&mut canvas, analysis);
    y.draw_left(&mut canvas, (LEFT, RIGHT), time_label);
    canvas.turned_text((22.0, (top + bottom) / 2.0), GREY, &format!("{name} (logarithmic)"));
    for (shade, d) in grid.paths(&timeline.x, &y).iter().enumerate() {
        let colour = scale((shade as f64 + 0.5) / SHADES as f64);
        canvas.path(d, &format!(r#"fill="{colour}" shape-rendering="crispEdges""#));
    }
    Some(canvas.finish(bottom + 54.0))
}

/// A heat map, coarse enough to draw.
struct Grid {
    begin: f64,
    width: f64,
    limits: Vec<f64>,
    columns: Vec<Vec<u64>>,
    most: u64,
}

impl Grid {
    /// `None` for an empty map.
    fn new(map: &HeatMap) -> Option<Grid> {
        let rows = map.row_limits.len().checked_sub(1).filter(|rows| *rows > 0)?;
        let column = |c: &Vec<u32>| (0..rows).map(|r| c.get(r).map_or(0, |n| u64::from(*n))).collect();
        let mut grid = Grid {
            begin: map.begin.0 as f64,
            width: map.column_width.0 as f64,
            limits: map.row_limits.clone(),
            columns: map.columns.iter().map(column).collect(),
            most: 0,
        };
        while grid.columns.last().is_some_and(|c| c.iter().all(|n| *n == 0)) {
            grid.columns.pop();
        }
        let mut in_time = true;
        while grid.cells() > MOST_CELLS {
            if in_time {
                grid.merge_columns()
            } else {
                grid.merge_rows()
            }
            in_time = !in_time;
        }
        grid.most = grid.columns.iter().flatten().copied().max().filter(|n| *n > 0)?;
        Some(grid)
    }

    fn cells(&self) -> usize {
        self.columns.iter().flatten().filter(|n| **n > 0).count()
    }

    fn merge_columns(&mut self) {
        let sum = |pair: &[Vec<u64>]| {
            let other = |r: usize| pair.get(1).map_or(0, |c| c[r]);
            pair[0].iter().enumerate().map(|(r, n)| n + other(r)).collect()
        };
        self.columns = self.columns.chunks(2).map(sum).collect();
        self.width *= 2.0;
    }

    fn merge_rows(&mut self) {
        let last = self.limits[self.limits.len() - 1];
        self.columns =
            self.columns.iter().map(|c| c.chunks(2).map(|pair| pair.iter().sum()).collect()).collect();
        let mut limits: Vec<f64> = self.limits[..self.limits.len() - 1].iter().step_by(2).copied().collect();
        limits.push(last);
        self.limits = limits;
    }

    fn shade(&self, count: u64) -> usize {
        let share = if self.most > 1 { (count as f64).ln() / (self.most as f64).ln() } else { 1.0 };
        ((share * SHADES as f64) as usize).min(SHADES - 1)
    }

    /// Path data for each shade: neighbours of one shade in a column are one rectangle.
    fn paths(&self, x: &Axis, y: &Axis) -> Vec<String> {
        let mut paths = vec![String::new(); SHADES];
        for (index, column) in self.columns.iter().enumerate() {
            let left = x.place(self.begin + self.width * index as f64);
            let right = x.place(self.begin + self.width * (index + 1) as f64);
            let mut row = 0;
            while row < column.len() {
                if column[row] == 0 {
                    row += 1;
                    continue;
                }
                let shade = self.shade(column[row]);
                let same = |r: &usize| column[*r] > 0 && self.shade(column[*r]) == shade;
                let end = (row..column.len()).take_while(same).last().unwrap_or(row) + 1;
                let (low, high) = (y.place(self.limits[row]), y.place(self.limits[end]));
                let (left, right, low, high) = (n(left), n(right), n(low), n(high));
                let _ = write!(paths[shade], "M{left} {low}V{high}H{right}V{low}z");
                row = end;
            }
        }
        paths
    }
}

/// The colours with the counts that they stand for.
fn colour_scale(canvas: &mut Canvas, most: u64) {
    let (left, y, width) = (24.0, canvas.top + 4.0, 16.0);
    for shade in 0..SHADES {
        let colour = scale((shade as f64 + 0.5) / SHADES as f64);
        canvas.rect((left + width * shade as f64, y), (width, 10.0), &colour);
    }
    let right = left + width * SHADES as f64 + 8.0;
    let text = match most {
        1 => "1 request in a cell".to_owned(),
        _ => format!("1 to {} requests in a cell", plain(most as f64)),
    };
    canvas.text((right, y + 9.5), Anchor::Start, GREY, &text);
    canvas.top += 24.0;
}
