//! The live view: what the recorder has seen in the last second, and how long there is to go.

use crate::output;
use clock::{Clock, LiveClock};
use load::LoadSpec;
use record::{Live, LiveSnapshot, Recorder};
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use units::{Nanos, PerSecond, Ticks, format_nanos};

/// Runs beside the load on a thread of its own.
pub(super) struct View {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Bars of the history line.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

struct Painter {
    live: Arc<Live>,
    clock: LiveClock,
    /// When the first request is due.
    begin: Ticks,
    phases: Vec<(String, Nanos)>,
    total: Nanos,
    closed: bool,
    history: VecDeque<Nanos>,
    lines: usize,
}

impl View {
    /// `interval`: how often to speak where stderr can't be redrawn.
    pub(super) fn start(recorder: &Recorder, spec: &LoadSpec, interval: Nanos, clock: LiveClock) -> View {
        let stop = Arc::new(AtomicBool::new(false));
        let redraws = output::is_live();
        let interval = if redraws { Nanos::from_millis(500) } else { interval };
        let mut painter = Painter {
            live: recorder.live(),
            clock,
            begin: Ticks(clock.now().0 + clock.ticks_in(load::LEAD_IN)),
            phases: spec.phases.iter().map(|p| (p.name.clone(), p.duration)).collect(),
            total: spec.duration(),
            closed: !spec.model.load_model().has_response_time(),
            history: VecDeque::new(),
            lines: 0,
        };
        let stopped = Arc::clone(&stop);
        let work = move || {
            let mut waited = Nanos::ZERO;
            let step = Nanos::from_millis(50);
            while !stopped.load(Ordering::Relaxed) {
                clock::pause(step);
                waited = waited + step;
                if waited >= interval {
                    waited = Nanos::ZERO;
                    painter.paint(redraws);
                }
            }
            if painter.lines > 0 {
                output::redraw(painter.lines, "");
            }
        };
        // Without a thread for it there is no view; the run goes on.
        let thread = std::thread::Builder::new().name("view".to_owned()).spawn(work).ok();
        View { stop, thread }
    }

    pub(super) fn stop(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a view that panicked has nothing to lose
        }
    }
}

impl Painter {
    fn paint(&mut self, redraws: bool) {
        let seen = self.live.snapshot();
        // Of the clock, and not of the newest answer: a target that stands still does not stop the time.
        let since = self.clock.nanos_in(self.clock.now().0.saturating_sub(self.begin.0));
        let elapsed = since.min(self.total);
        if redraws {
            let text = self.panel(&seen, elapsed);
            output::redraw(self.lines, &text);
            self.lines = text.lines().count();
        } else {
            output::note(&self.line(&seen, elapsed));
        }
    }

    fn phase(&self, elapsed: Nanos) -> &str {
        let mut end = Nanos::ZERO;
        for (name, duration) in &self.phases {
            end = end + *duration;
            if elapsed < end {
                return name;
            }
        }
        "draining"
    }

    fn line(&self, seen: &LiveSnapshot, elapsed: Nanos) -> String {
        let left = self.total.saturating_sub(elapsed);
        let time = |t: Option<Nanos>| t.map_or_else(|| "–".to_owned(), format_nanos);
        format!(
            "{:>4.0} s  {}  {} achieved  {} p50 {}  p99 {}  p99.9 {}  max {}{}  {:.0} s left",
            elapsed.as_secs_f64(),
            self.phase(elapsed),
            seen.achieved,
            self.measure(),
            time(seen.p50),
            time(seen.p99),
            time(seen.p999),
            time(seen.max),
            troubles(seen),
            left.as_secs_f64(),
        )
    }

    fn measure(&self) -> &'static str {
        if self.closed { "service" } else { "response" }
    }

    fn panel(&mut self, seen: &LiveSnapshot, elapsed: Nanos) -> String {
        let share = elapsed.as_secs_f64() / self.total.as_secs_f64().max(1e-9);
        let filled = (share * 30.0).round() as usize;
        let bar: String = (0..30).map(|i| if i < filled { '━' } else { '─' }).collect();
        let left = self.total.saturating_sub(elapsed);
        let time = |t: Option<Nanos>| t.map_or_else(|| "–".to_owned(), format_nanos);
        self.history.extend(seen.p99);
        while self.history.len() > 60 {
            self.history.pop_front();
        }
        let mut text = String::new();
        let _ = writeln!(text, "{bar} {:.0} s left   {}", left.as_secs_f64(), self.phase(elapsed));
        let backlog = seen.offered.saturating_sub(seen.completed);
        let achieved = PerSecond::new(seen.achieved.get()).map_or_else(String::new, |r| r.to_string());
        let _ = write!(text, "achieved {achieved:>10}   requests {}", seen.samples);
        if !self.closed && backlog > 0 {
            let _ = write!(text, "   behind {backlog}");
        }
        let _ = writeln!(text, "{}", troubles(seen));
        let _ = writeln!(
            text,
            "{}, last second  p50 {:>8}  p99 {:>8}  p99.9 {:>8}  max {:>8}",
            self.measure(),
            time(seen.p50),
            time(seen.p99),
            time(seen.p999),
            time(seen.max)
        );
        let _ = writeln!(text, "p99 so far  {}", sparkline(&self.history));
        text
    }
}

/// What went wrong so far; nothing when nothing did.
fn troubles(seen: &LiveSnapshot) -> String {
    let mut text = String::new();
    for (name, count) in [
        ("errors", seen.errors),
        ("timeouts", seen.timeouts),
        ("misses", seen.misses),
        ("aborts", seen.aborts),
        ("DROPPED", seen.dropped),
        ("UNWRITABLE", seen.unwritable),
    ] {
        if count > 0 {
            let _ = write!(text, "   {name} {count}");
        }
    }
    text
}

/// Heights by logarithm, since tails span decades.
fn sparkline(values: &VecDeque<Nanos>) -> String {
    let logs: Vec<f64> = values.iter().map(|v| (v.0.max(1) as f64).ln()).collect();
    let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
    let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let span = (high - low).max(0.7); // less than a factor of two is drawn flat
    logs.iter().map(|&v| BARS[(((v - low) / span * 7.0).round() as usize).min(7)]).collect()
}
