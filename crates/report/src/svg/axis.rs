//! Scales, ticks and their labels.

use super::canvas::{Anchor, Canvas};
use super::palette::{GREY, GRID};

/// From values to places, linear in the value or in its logarithm.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// `low` < `high`, or the range is widened.
    pub(super) fn linear(low: f64, high: f64, from: f64, to: f64) -> Axis {
        let high = if high > low { high } else { low + 1.0 };
        Axis { log: false, low, high, from, to }
    }

    /// From the 1, 2 or 5 below the least positive value to the one above the largest.
    pub(super) fn log(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let positive = values.filter(|v| v.is_finite() && *v > 0.0);
        let (least, largest) = positive.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = if largest > 0.0 { (round_down(least), round_up(largest)) } else { (1.0, 10.0) };
        let high = if high > low { high } else { low * 10.0 };
        Axis { log: true, low, high, from, to }
    }

    /// The same without rounding the ends.
    pub(super) fn log_exact(low: f64, high: f64, from: f64, to: f64) -> Axis {
        let low = low.max(f64::MIN_POSITIVE);
        Axis { log: true, low, high: if high > low { high } else { low * 10.0 }, from, to }
    }

    /// Where a value lies; those beyond an end lie at the end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// The values that get a line and a label: decades, or 1, 2 and 5 of each where there are few.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.log { log_ticks(self.low, self.high) } else { linear_ticks(self.low, self.high, 6) }
    }

    /// Lines across, with labels at the left.
    pub(super) fn draw_left(
        &self,
        canvas: &mut Canvas,
        (left, right): (f64, f64),
        label: impl Fn(f64) -> String,
    ) {
        for tick in self.ticks() {
            let y = self.place(tick);
            canvas.line((left, y), (right, y), GRID, 1.0);
            canvas.text((left - 8.0, y + 4.0), Anchor::End, GREY, &label(tick));
        }
    }

    /// Lines down, with labels below.
    pub(super) fn draw_below(&self, canvas: &mut Canvas, (top, bottom): (f64, f64), ticks: &[(f64, String)]) {
        for (tick, label) in ticks {
            let x = self.place(*tick);
            canvas.line((x, top), (x, bottom), GRID, 1.0);
            canvas.text((x, bottom + 18.0), Anchor::Middle, GREY, label);
        }
    }
}

/// The largest 1, 2 or 5 × 10^k that is not above.
fn round_down(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    // A hair of room for the rounding of the power.
    [5.0, 2.0].into_iter().map(|m| m * decade).find(|v| *v <= value * (1.0 + 1e-9)).unwrap_or(decade)
}

fn round_up(value: f64) -> f64 {
    let down = round_down(value);
    if down >= value * (1.0 - 1e-9) {
        return down;
    }
    let mantissa = down / 10f64.powf(down.log10().floor());
    if mantissa > 1.5 && mantissa < 3.0 { down * 2.5 } else { down * 2.0 }
}

fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    let mantissas: &[f64] = if decades <= 3.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let every = (decades / 10.0).ceil().max(1.0) as i32;
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    (first..=last)
        .filter(|k| k.rem_euclid(every) == 0)
        .flat_map(|k| mantissas.iter().map(move |m| m * 10f64.powi(k)))
        .filter(|v| *v >= low * (1.0 - 1e-9) && *v <= high * (1.0 + 1e-9))
        .collect()
}

/// Steps of 1, 2 or 5 × 10^k, about `count` of them.
pub(super) fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let step = round_up((high - low) / count.max(1) as f64);
    multiples(low, high, step)
}

fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    if !(step > 0.0 && step.is_finite()) {
        return vec![low];
    }
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|i| i as f64 * step).collect()
}

/// Ticks of a time of the run, in ns, with labels in one unit: ms, s, min or h.
pub(super) fn clock_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    const STEPS_S: [f64; 21] = [
        0.001, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0,
        7200.0, 21600.0, 43200.0, 86400.0, 604_800.0,
    ];
    let span = (high - low) / 1e9;
    let step = STEPS_S.into_iter().find(|s| span / s <= 12.5).unwrap_or_else(|| round_up(span / 12.0));
    let (unit, name) = match step {
        s if s < 0.1 => (1e6, "ms"),
        s if s < 60.0 => (1e9, "s"),
        s if s < 3600.0 => (60e9, "min"),
        _ => (3600e9, "h"),
    };
    multiples(low, high, step * 1e9).into_iter().map(|t| (t, format!("{} {name}", plain(t / unit)))).collect()
}

/// A round duration in its own unit: `20 µs`, `1 ms`, `5 s`.
pub(super) fn time_label(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 999.5 => (ns, "ns"),
        ns if ns < 999.5e3 => (ns / 1e3, "µs"),
        ns if ns < 999.5e6 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", plain(value))
}

/// Without trailing zeros, thousands apart.
pub(super) fn plain(value: f64) -> String {
    if value.abs() >= 1000.0 {
        return units::PerSecond::new(value.abs()).map_or_else(String::new, |r| {
            let sign = if value < 0.0 { "−" } else { "" };
            format!("{sign}{}", r.to_string().trim_end_matches("/s"))
        });
    }
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_ones_twos_and_fives() {
        let rounded: Vec<(f64, f64)> =
            [1.0, 1.5, 2.0, 3.0, 7.0, 99.0].map(|v| (round_down(v), round_up(v))).to_vec();
        assert_eq!(rounded, [(1.0, 1.0), (1.0, 2.0), (2.0, 2.0), (2.0, 5.0), (5.0, 10.0), (50.0, 100.0)]);
    }

    #[test]
    fn places_follow_the_scale() {
        let axis = Axis::log([10.0, 1000.0].into_iter(), 0.0, 100.0);
        assert!((axis.place(100.0) - 50.0).abs() < 1e-9);
        assert_eq!((axis.place(0.0), axis.place(1e9)), (0.0, 100.0));
        assert_eq!(Axis::linear(0.0, 4.0, 10.0, 50.0).place(1.0), 20.0);
        let empty = Axis::log(std::iter::empty(), 0.0, 1.0);
        assert!(empty.place(f64::from(3)).is_finite() && !empty.ticks().is_empty());
    }

    #[test]
    fn ticks_have_their_units() {
        let labels = |high: f64| clock_ticks(0.0, high).into_iter().map(|(_, l)| l).collect::<Vec<_>>();
        assert_eq!(labels(3e9), ["0 s", "0.5 s", "1 s", "1.5 s", "2 s", "2.5 s", "3 s"]);
        assert_eq!(labels(600e9).last().map(String::as_str), Some("10 min"));
        assert_eq!([20e3, 1e6, 5e9].map(time_label), ["20 µs", "1 ms", "5 s"]);
        assert_eq!([0.5, 2500.0].map(plain), ["0.5", "2,500"]);
    }
}
