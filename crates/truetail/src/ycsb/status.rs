//! The line on stderr, each so many seconds: what has come since the last one.

use super::numbers::{in_map_order, two_digits};
use super::told::{Interval, Told};
use crate::output;
use record::Sample;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;
use units::{Nanos, Outcome};

/// Names of the operations of a CoreWorkload, in the order of their ids.
fn name_of(op: u8) -> &'static str {
    workload::ycsb::Family::Core.operation_names().get(usize::from(op)).copied().unwrap_or("OTHER")
}

/// Speaks beside the load, on a thread of its own.
pub(super) struct Status {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Status {
    /// `operations`: how many there will be; 0 where nobody knows.
    pub(super) fn start(told: &Told, interval: Nanos, operations: u64, samples: Receiver<Sample>) -> Status {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let mut speaker = Speaker {
            label: told.label.clone(),
            interval: told.interval,
            operations,
            done: 0,
            elapsed: Nanos::ZERO,
        };
        let work = move || {
            output::note(&speaker.line(&local_time(), Nanos::ZERO, &[]));
            let step = Nanos::from_millis(50);
            let mut waited = Nanos::ZERO;
            loop {
                let is_over = stopped.load(Ordering::Relaxed);
                if waited >= interval || is_over {
                    let samples: Vec<Sample> = samples.try_iter().collect();
                    output::note(&speaker.line(&local_time(), waited, &samples));
                    waited = Nanos::ZERO;
                }
                if is_over {
                    return;
                }
                clock::pause(step);
                waited = waited + step;
            }
        };
        // Without a thread there are no lines; the run goes on.
        let thread = std::thread::Builder::new().name("status".to_owned()).spawn(work).ok();
        Status { stop, thread }
    }

    pub(super) fn stop(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a speaker that panicked has nothing to lose
        }
    }
}

struct Speaker {
    label: String,
    interval: Interval,
    operations: u64,
    done: u64,
    elapsed: Nanos,
}

impl Speaker {
    /// `since`: the time since the last line, in which these samples came.
    fn line(&mut self, time: &str, since: Nanos, samples: &[Sample]) -> String {
        self.elapsed = self.elapsed + since;
        let mut times: BTreeMap<&'static str, Vec<u64>> = BTreeMap::new();
        for sample in samples.iter().filter(|sample| sample.outcome != Outcome::Unfinished) {
            let begin = if self.interval == Interval::Intended { sample.intended } else { sample.sent };
            let Some(begin) = begin.get() else { continue };
            self.done += 1;
            times
                .entry(name_of(sample.op))
                .or_default()
                .push(sample.completed.0.saturating_sub(begin.0) / 1_000);
        }
        let count: usize = times.values().map(Vec::len).sum();
        let seconds = self.elapsed.0 / 1_000_000_000;
        let mut line = format!("{}{time} {seconds} sec: {} operations; ", self.label, self.done);
        if self.done > 0 {
            let rate = if since == Nanos::ZERO { 0.0 } else { count as f64 / since.as_secs_f64() };
            line += &format!("{} current ops/sec; ", two_digits(rate));
        }
        if self.operations > 0 {
            line += &format!("est completion in {}", remaining(self.seconds_left()));
        }
        for name in in_map_order(times.keys().map(|name| (*name).to_owned()).collect()) {
            if let Some(times) = times.get_mut(name.as_str()) {
                line += &summary(&name, times);
            }
        }
        line
    }

    fn seconds_left(&self) -> u64 {
        if self.done == 0 {
            return 0;
        }
        let left = self.operations.saturating_sub(self.done) as f64;
        (left * self.elapsed.as_secs_f64() / self.done as f64).ceil() as u64
    }
}

/// `[READ: Count=…, …] `
fn summary(name: &str, times: &mut [u64]) -> String {
    times.sort_unstable();
    let at = |percentile: f64| {
        let rank = (percentile.next_down() / 100.0 * times.len() as f64).ceil() as usize;
        times.get(rank.clamp(1, times.len().max(1)) - 1).copied().unwrap_or(0)
    };
    let mean = times.iter().sum::<u64>() as f64 / times.len().max(1) as f64;
    format!(
        "[{name}: Count={}, Max={}, Min={}, Avg={}, 50={}, 90={}, 99={}, 99.9={}, 99.99={}] ",
        times.len(),
        times.last().copied().unwrap_or(0),
        times.first().copied().unwrap_or(0),
        two_digits(mean),
        at(50.0),
        at(90.0),
        at(99.0),
        at(99.9),
        at(99.99)
    )
}

/// The remaining time as the original says it: minutes below a day, seconds below a minute, and one digit of them is "second".
fn remaining(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let plural = |count: u64, unit: &str| match count {
        0 => String::new(),
        1 => format!("1 {unit} "),
        _ => format!("{count} {unit}s "),
    };
    let mut text = plural(days, "day") + &plural(hours, "hour");
    if days == 0 {
        text += &plural(minutes, "minute");
    }
    if text.is_empty() {
        text = format!("{seconds} {} ", if seconds < 10 { "second" } else { "seconds" });
    }
    text
}

/// `yyyy-MM-dd HH:mm:ss:SSS`, in the host's zone.
fn local_time() -> String {
    let wall_ns = clock::wall_time_ns();
    let seconds = (wall_ns / 1_000_000_000) as libc::time_t;
    // SAFETY: `localtime_r` fills a valid tm, or fails and leaves the zeroed one.
    let tm = unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut tm);
        tm
    };
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}:{:03}",
        tm.tm_year + 1900,
        tm.tm_mon + 1,
        tm.tm_mday,
        tm.tm_hour,
        tm.tm_min,
        tm.tm_sec,
        wall_ns / 1_000_000 % 1_000
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::NO_SESSION;
    use units::Instant;

    fn sample(op: u8, us: u64) -> Sample {
        Sample {
            intended: Instant(1_000),
            ready: Instant(1_000),
            sent: Instant(1_000),
            arrived: Instant(1_000),
            completed: Instant(1_000 + us * 1_000),
            seq: 0,
            client: 0,
            session: NO_SESSION,
            op,
            phase: 0,
            outcome: Outcome::Ok,
            retries: 0,
            flags: 0,
        }
    }

    #[test]
    fn lines_are_ycsb_s() {
        let mut speaker = Speaker {
            label: String::new(),
            interval: Interval::Op,
            operations: 30,
            done: 0,
            elapsed: Nanos::ZERO,
        };
        let time = "2026-11-21 07:45:45:995";
        // As a real client began.
        assert_eq!(
            speaker.line(time, Nanos::ZERO, &[]),
            "2026-11-21 07:45:45:995 0 sec: 0 operations; est completion in 0 second "
        );
        let samples: Vec<Sample> = (1..=9).map(|n| sample(0, n * 100)).chain([sample(1, 50)]).collect();
        insta::assert_snapshot!(speaker.line(time, Nanos::from_secs(10), &samples), @"2026-11-21 07:45:45:995 10 sec: 10 operations; 1 current ops/sec; est completion in 20 seconds [READ: Count=9, Max=900, Min=100, Avg=500, 50=500, 90=900, 99=900, 99.9=900, 99.99=900] [UPDATE: Count=1, Max=50, Min=50, Avg=50, 50=50, 90=50, 99=50, 99.9=50, 99.99=50]");
        insta::assert_snapshot!(speaker.line(time, Nanos::from_secs(10), &samples[..1]), @"2026-11-21 07:45:45:995 20 sec: 11 operations; .1 current ops/sec; est completion in 35 seconds [READ: Count=1, Max=100, Min=100, Avg=100, 50=100, 90=100, 99=100, 99.9=100, 99.99=100]");
    }

    #[test]
    fn what_remains_is_said_as_in_the_original() {
        let cases = [
            (0, "0 second "),
            (9, "9 second "),
            (10, "10 seconds "),
            (60, "1 minute "),
            (3_725, "1 hour 2 minutes "),
            (90_060, "1 day 1 hour "),
        ];
        for (seconds, text) in cases {
            assert_eq!(remaining(seconds), text);
        }
    }
}
