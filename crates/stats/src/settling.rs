//! When a system is stable again after something has happened to it.
//!
//! "Time to stable response time" needs a definition that can say *never*. Here: time after the event is cut into windows,
//! of each of which one quantile is taken; the final level is the median of these over the last quarter; the system is
//! stable from the first moment on from which every window stays within a tolerance of that level to the end. It is *not
//! reached* when that moment lies within the last quarter, since then the level is that of a system which still moves, or
//! when the two halves of the stable time differ by more than half of the tolerance: a queue that grows or drains slowly
//! is near its own last level for long.

use units::{Instant, Nanos, Quantile};

/// How to tell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settling {
    /// Length of a window, above 0.
    pub window: Nanos,
    /// The quantile that is taken of each.
    pub quantile: Quantile,
    /// How far from the final level a window may be, as a share of it.
    pub tolerance: f64,
    /// Or as a time, whichever is more: what is not worth telling apart.
    pub slack: Nanos,
}

impl Settling {
    /// Windows of 1 s, p95, within 20 % or 50 µs.
    pub fn new() -> Settling {
        let quantile = Quantile::PRINTED[3];
        Settling { window: Nanos::from_secs(1), quantile, tolerance: 0.2, slack: Nanos::from_micros(50) }
    }
}

impl Default for Settling {
    fn default() -> Settling {
        Settling::new()
    }
}

/// Fewest windows after the event: of fewer a last quarter can't be judged.
pub const FEWEST_WINDOWS: usize = 8;

/// One window after the event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Its begin.
    pub begin: Instant,
    /// Values in it.
    pub count: u64,
    /// The quantile, ns; `None` where there are no values.
    pub value: Option<f64>,
}

/// Whether and when it became stable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Settled {
    /// This long after the event, to the window.
    After(Nanos),
    /// Not before the end.
    NotReached,
    /// There are fewer than [`FEWEST_WINDOWS`] whole windows with values after the event.
    TooShort,
}

/// What is known of the time after an event.
#[derive(Clone, PartialEq, Debug)]
pub struct Recovery {
    /// When it was stable again.
    pub settled: Settled,
    /// The final level, ns; `None` when the time is too short.
    pub level: Option<f64>,
    /// The largest window of all, ns: how bad it was.
    pub worst: Option<f64>,
    /// The last window that is further from the final level than the tolerance: what keeps it from having been stable
    /// earlier. `None` where all are near, or the time is too short.
    pub last_outside: Option<Window>,
    /// All whole windows from the event to the end.
    pub windows: Vec<Window>,
}

/// Looks at `samples`, (when intended, how long it took) in any order, from `event` to `end`. A window without values
/// neither holds nor breaks stability. n log n in the samples.
pub fn recovery(
    samples: impl IntoIterator<Item = (Instant, Nanos)>,
    event: Instant,
    end: Instant,
    settling: &Settling,
) -> Recovery {
    let windows = windows(samples, event, end, settling);
    let worst = windows.iter().filter_map(|w| w.value).reduce(f64::max);
    let with_values = windows.iter().filter(|w| w.value.is_some()).count();
    if with_values < FEWEST_WINDOWS {
        return Recovery { settled: Settled::TooShort, level: None, worst, last_outside: None, windows };
    }
    let last_quarter = windows.len() - windows.len() / 4;
    let level = median(&windows[last_quarter..]);
    let settled =
        level.map_or(Settled::NotReached, |level| stable_from(&windows, last_quarter, level, settling));
    let outside = |level: f64| windows.iter().rfind(|w| is_outside(w, level, settling)).copied();
    let last_outside = level.and_then(outside);
    Recovery { settled, level, worst, last_outside, windows }
}

fn near(a: f64, b: f64, level: f64, share: f64, settling: &Settling) -> bool {
    (a - b).abs() <= (share * level).max(settling.slack.0 as f64)
}

fn is_outside(window: &Window, level: f64, settling: &Settling) -> bool {
    window.value.is_some_and(|value| !near(value, level, level, settling.tolerance, settling))
}

fn windows(
    samples: impl IntoIterator<Item = (Instant, Nanos)>,
    event: Instant,
    end: Instant,
    settling: &Settling,
) -> Vec<Window> {
    let width = settling.window.0.max(1);
    let count = end.0.saturating_sub(event.0) / width;
    let mut values: Vec<Vec<u64>> = vec![Vec::new(); count as usize];
    for (at, value) in samples {
        let window = at.0.checked_sub(event.0).and_then(|since| values.get_mut((since / width) as usize));
        if let Some(window) = window {
            window.push(value.0);
        }
    }
    let window = |(index, mut values): (usize, Vec<u64>)| {
        values.sort_unstable();
        let rank = settling.quantile.rank(values.len() as u64) as usize;
        let value = values.get(rank - 1).map(|v| *v as f64);
        Window { begin: event + Nanos(index as u64 * width), count: values.len() as u64, value }
    };
    values.into_iter().enumerate().map(window).collect()
}

fn median(windows: &[Window]) -> Option<f64> {
    let mut values: Vec<f64> = windows.iter().filter_map(|w| w.value).collect();
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

fn stable_from(windows: &[Window], last_quarter: usize, level: f64, settling: &Settling) -> Settled {
    let first = windows.iter().rposition(|w| is_outside(w, level, settling)).map_or(0, |last| last + 1);
    // A level that moves from one half of the stable time to the other is none: of a queue that has grown from nothing
    // since the event the halves are a seventh apart.
    let (before, after) = windows[first..].split_at((windows.len() - first) / 2);
    let halves = median(before).zip(median(after));
    let drifts =
        halves.is_some_and(|(before, after)| !near(before, after, level, settling.tolerance / 2.0, settling));
    match windows.get(first) {
        Some(window) if first <= last_quarter && !drifts => Settled::After(window.begin - windows[0].begin),
        _ => Settled::NotReached,
    }
}
