//! The one place that prints: results on stdout, everything else on stderr.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use units::Quantile;

/// Writes a result to stdout.
pub(crate) fn result(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Writes one JSON document to stdout.
pub(crate) fn json(document: &serde_json::Value) -> anyhow::Result<()> {
    result(&serde_json::to_string_pretty(document)?)
}

/// Writes a line for the person who waits; lost lines don't matter.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Rewrites the last `lines` lines of a terminal.
pub(crate) fn redraw(lines: usize, text: &str) {
    let mut err = io::stderr().lock();
    if lines > 0 {
        let _ = write!(err, "\x1b[{lines}A\x1b[J");
    }
    let width = columns(libc::STDERR_FILENO).unwrap_or(usize::MAX);
    for line in text.lines() {
        // A line that the terminal breaks would be two when it is to be taken away.
        let _ = writeln!(err, "{}", line.chars().take(width).collect::<String>());
    }
    let _ = err.flush();
}

/// Prints an error once, on one line, with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    note(&format!("truetail: {}", one_line(error)));
}

/// An error with its causes; what a server or a user wrote can't break the line or move the cursor.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").trim().replace(|c: char| c.is_control(), " ")
}

/// Whether stderr is a terminal that wants to be redrawn.
pub(crate) fn is_live() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

/// Whether stdout wants colour: a terminal, and no `NO_COLOR`.
pub(crate) fn wants_colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// The width of the terminal behind stdout, or 100 columns.
pub(crate) fn width() -> usize {
    columns(libc::STDOUT_FILENO).filter(|&columns| columns >= 60).map_or(100, |columns| columns.min(120))
}

/// The columns of the terminal behind a descriptor; `None` where there is none, or it does not know.
fn columns(descriptor: libc::c_int) -> Option<usize> {
    // SAFETY: TIOCGWINSZ fills a valid winsize, or fails.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        (libc::ioctl(descriptor, libc::TIOCGWINSZ, &mut size) == 0).then_some(size)
    };
    size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

/// Whether an error is only that the reader of our output has gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe))
}

/// How recordings are analysed here: the defaults, with progress for people.
pub(crate) fn analysis_options() -> analysis::Options {
    analysis::Options { progress: Some(reading), ..analysis::Options::default() }
}

/// The same, with quantiles besides the usual ones.
pub(crate) fn analysis_options_with(more: &[Quantile]) -> analysis::Options {
    let mut options = analysis_options();
    // The longest is always shown, and is no estimate.
    options.quantiles.extend(more.iter().filter(|q| q.get() < 1.0));
    options.quantiles.sort_by(|a, b| a.get().total_cmp(&b.get()));
    options.quantiles.dedup_by(|a, b| (a.get() - b.get()).abs() < 1e-9);
    options
}

/// Shows how far the reading of samples has come; for `analysis::Options::progress`.
pub(crate) fn reading(done: u64, total: u64) {
    static READING: Mutex<Option<Progress>> = Mutex::new(None);
    // A poisoned or busy lock only costs a line for people.
    let Ok(mut slot) = READING.try_lock() else { return };
    if slot.is_none() {
        *slot = Progress::new("reading samples", total).ok();
    }
    if let Some(progress) = slot.as_mut() {
        progress.at(done);
        if done >= total {
            progress.erase();
            *slot = None;
        }
    }
}

/// Progress of something with a known end, on stderr, at most four times a second, with the remaining time
/// once there is something to tell it from.
pub(crate) struct Progress {
    what: String,
    total: u64,
    clock: clock::LiveClock,
    shown_at: u64,
    live: bool,
    shown: bool,
    /// What is done a second, in words: `rows`.
    unit: Option<&'static str>,
    /// What was done already when it began.
    from: Option<u64>,
}

impl Progress {
    pub(crate) fn new(what: impl Into<String>, total: u64) -> anyhow::Result<Progress> {
        let clock = clock::calibrate(clock::ClockChoice::Monotonic)?.start();
        Ok(Progress {
            what: what.into(),
            total,
            clock,
            shown_at: 0,
            live: is_live(),
            shown: false,
            unit: None,
            from: None,
        })
    }

    /// Shows how many of what are done a second.
    pub(crate) fn with_rate(self, unit: &'static str) -> Progress {
        Progress { unit: Some(unit), ..self }
    }

    pub(crate) fn at(&mut self, done: u64) {
        let now = clock::Clock::now(&self.clock).0;
        let from = *self.from.get_or_insert(done);
        // What takes less than a second is not worth a line.
        let interval = if self.live { 250_000_000 } else { 2_000_000_000 };
        if now < self.shown_at + interval || now < 1_000_000_000 || done == 0 {
            return;
        }
        self.shown_at = now;
        let share = done as f64 / self.total.max(1) as f64;
        let seconds = now as f64 / 1e9;
        let to_do = self.total.saturating_sub(done) as f64;
        let rate = done.saturating_sub(from) as f64 / seconds;
        let left = units::Nanos::from_secs_f64(if rate > 0.0 { to_do / rate } else { f64::MAX });
        let speed = self.unit.map_or_else(String::new, |unit| format!(", {rate:.0} {unit}/s"));
        let text =
            format!("{}: {:.0} %{speed}, {} left", self.what, share * 100.0, units::format_nanos(left));
        if self.live {
            redraw(usize::from(self.shown), &format!("{text}\n"));
        } else {
            note(&text);
        }
        self.shown = true;
    }

    /// Takes the line away where it can be.
    fn erase(&mut self) {
        if self.live && self.shown {
            redraw(1, "");
            self.shown = false;
        }
    }

    pub(crate) fn end(self, text: &str) {
        if self.live && self.shown {
            redraw(1, &format!("{text}\n"));
        } else {
            note(text);
        }
    }
}
