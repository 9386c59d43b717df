//! Hiccups: how late a thread that has nothing to do is woken, CPU by CPU (jHiccup's idea, G. Tene).
//!
//! A thread pinned to each observed CPU sleeps to an absolute time each millisecond, with a timer slack of 1 ns, and
//! looks how late it is. It asks for the same short slices as the workers, so that what delays it would have delayed a
//! worker that was to wake there: the hypervisor, interrupts, other threads, a stop of the whole process. Each wake that
//! is late by more than [`THRESHOLD`] is an observation of the source `hiccup cpu N`: the value is how late, in ns, and
//! [begin, end] is [due, woke], on the run's clock. It is an interval whose place is known, so that overlaps with
//! requests are exact; what lay before `due` is not in it, so that a stall is seen shorter than it was by up to a period,
//! and one that is shorter than a period is seen by chance.
//!
//! No observation is no hiccup only where somebody watched. `hiccup watched` says so window by window: the share of the
//! window that the threads of all observed CPUs have accounted for. It is below 1 while a stall goes on, and the stall's
//! interval then follows.
//!
//! A worker of ours that uses its CPU without a pause is to this thread what any other is: it can be late by up to the
//! worker's slice.

use crate::{Description, Kind, NoiseSource, Pace, Report, Unavailable, Watch};
use clock::{Clock, LiveClock};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use units::{Nanos, Ticks};

/// Wakes that are late by more than this are observations. Waking takes some 20 to 50 µs on a quiet host.
pub const THRESHOLD: Nanos = Nanos::from_micros(100);
/// How often a thread wakes, where that costs no more than it may.
pub const PERIOD: Nanos = Nanos::from_millis(1);
/// Periods that may be asked for.
pub const PERIODS: RangeInclusive<Nanos> = Nanos::from_micros(100)..=Nanos::from_secs(1);
/// The longest that is chosen: on hosts with very many CPUs the cost may pass its limit instead.
const PERIOD_MAX: Nanos = Nanos::from_millis(20);
/// What all hiccup threads together may cost, as a share of one core: a little is left for the other sources.
const COST_MAX: f64 = 0.007;
/// As the workers ask for; see `clock::ask_for_short_slices`.
const SLICE: Nanos = Nanos::from_micros(100);
/// How the names of hiccup threads begin.
pub(crate) const THREADS: &str = "hiccup-";
/// The name of the source that tells that somebody watched.
pub const WATCHED: &str = "hiccup watched";

/// How often the threads of so many CPUs should wake on this host, by what a wake costs here: [`PERIOD`], or as many
/// whole milliseconds as keep all of them together below 0.7 % of one core. A wake costs 3 µs on some hosts and 20 µs on
/// virtual ones, where to set a timer and to leave an idle CPU are the hypervisor's work. Takes some 20 to 150 ms.
pub fn period(cpus: usize, clock: LiveClock) -> Nanos {
    let first = period_for(cpus, cost_of_wake(PERIOD, clock));
    // Seldom woken, caches are colder and sleep is deeper.
    if first > PERIOD { period_for(cpus, cost_of_wake(first, clock)).max(first) } else { first }
}

/// CPU time of a wake of this thread, in the mean of a few.
fn cost_of_wake(period: Nanos, clock: LiveClock) -> Nanos {
    const WAKES: u64 = 12;
    let before = clock::thread_cpu_time();
    for _ in 0..WAKES {
        clock.sleep_until(Ticks(clock.now().0 + clock.ticks_in(period)));
    }
    Nanos(clock::thread_cpu_time().0.saturating_sub(before.0) / WAKES)
}

fn period_for(cpus: usize, cost: Nanos) -> Nanos {
    let needed = cost.0 as f64 * cpus as f64 / COST_MAX;
    let millis = (needed / 1e6).ceil().max(1.0) as u64;
    Nanos(Nanos::from_millis(1).0.saturating_mul(millis).clamp(PERIOD.0, PERIOD_MAX.0))
}

pub(crate) fn sources(watch: &Watch) -> Vec<Box<dyn NoiseSource>> {
    let lane = |&cpu: &usize| Arc::new(Lane { cpu, stop: AtomicBool::new(false), until: AtomicU64::new(0) });
    let lanes: Vec<Arc<Lane>> = watch.cpus.iter().map(lane).collect();
    let mut all: Vec<Box<dyn NoiseSource>> = Vec::new();
    all.extend(lanes.iter().map(|lane| -> Box<dyn NoiseSource> { Box::new(OnCpu::new(lane, watch)) }));
    let before = vec![0; lanes.len()];
    all.push(Box::new(Watched { lanes, clock: watch.clock, before }));
    all
}

/// What a thread and its readers share.
struct Lane {
    cpu: usize,
    stop: AtomicBool,
    /// Up to when this CPU has been watched, ticks; 0 before the thread's first wake. Relaxed throughout: a number alone.
    until: AtomicU64,
}

/// A wake that was late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Late {
    due: Ticks,
    woke: Ticks,
}

/// Sleeps; planted in tests.
trait Sleeper {
    /// Now, before the first sleep.
    fn begin(&self) -> Ticks;
    /// Gives the moment of waking.
    fn sleep_until(&mut self, due: Ticks) -> Ticks;
}

impl Sleeper for LiveClock {
    fn begin(&self) -> Ticks {
        self.now()
    }

    fn sleep_until(&mut self, due: Ticks) -> Ticks {
        LiveClock::sleep_until(self, due)
    }
}

/// Until it is told to stop. Each period begins when the last one ended, so that no time is left out between them.
fn keep_watch(
    lane: &Lane,
    period: u64,
    threshold: u64,
    mut sleeper: impl Sleeper,
    mut tell: impl FnMut(Late),
) {
    let mut woke = sleeper.begin();
    lane.until.store(woke.0.max(1), Ordering::Relaxed);
    while !lane.stop.load(Ordering::Relaxed) {
        let due = Ticks(woke.0.saturating_add(period));
        woke = sleeper.sleep_until(due);
        lane.until.store(woke.0, Ordering::Relaxed);
        if woke.0.saturating_sub(due.0) > threshold {
            tell(Late { due, woke });
        }
    }
}

/// `hiccup cpu N`.
struct OnCpu {
    lane: Arc<Lane>,
    clock: LiveClock,
    period: Nanos,
    thread: Option<JoinHandle<Nanos>>,
    found: Option<mpsc::Receiver<Late>>,
}

impl OnCpu {
    fn new(lane: &Arc<Lane>, watch: &Watch) -> OnCpu {
        let (lane, clock, period) = (Arc::clone(lane), watch.clock, watch.hiccup_period);
        OnCpu { lane, clock, period, thread: None, found: None }
    }

    /// The thread's work; gives its CPU time. A send allocates now and then, and never waits.
    fn work(&self, ready: mpsc::Sender<bool>, tell: mpsc::Sender<Late>) -> impl FnOnce() -> Nanos + use<> {
        let (lane, clock) = (Arc::clone(&self.lane), self.clock);
        let (period, threshold) = (clock.ticks_in(self.period), clock.ticks_in(THRESHOLD));
        move || {
            let pinned = clock::pin_to(lane.cpu);
            clock::set_timer_slack(Nanos(1));
            clock::ask_for_short_slices(SLICE);
            if pinned {
                // Before anybody is told: `Watched` is opened next, and must see that this CPU has a thread.
                lane.until.store(clock.now().0.max(1), Ordering::Relaxed);
            }
            // Whoever opens the source waits for this.
            let _ = ready.send(pinned);
            if pinned {
                keep_watch(&lane, period, threshold, clock, |late| {
                    let _ = tell.send(late);
                });
            }
            clock::thread_cpu_time()
        }
    }

    fn stop(&mut self) -> Nanos {
        self.lane.stop.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or(Nanos::ZERO)
    }
}

impl NoiseSource for OnCpu {
    fn describe(&self) -> Description {
        Description {
            name: format!("hiccup cpu {}", self.lane.cpu).into(),
            kind: Kind::Time,
            pace: Pace::Fast,
            quantum: "100 µs (shorter ones are not told)",
            summary: "wakes of an idle thread on this CPU that were late, one by one",
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        let (tell_ready, ready) = mpsc::channel();
        let (tell, found) = mpsc::channel();
        let named = std::thread::Builder::new().name(format!("{THREADS}{}", self.lane.cpu));
        let thread = named.spawn(self.work(tell_ready, tell));
        self.thread =
            Some(thread.map_err(|error| Unavailable(format!("no thread could be started: {error}")))?);
        if ready.recv() != Ok(true) {
            let cpu = self.lane.cpu;
            return Err(Unavailable(format!("this process may not use CPU {cpu}")));
        }
        self.found = Some(found);
        Ok(())
    }

    fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
        None
    }

    fn intervals(&mut self, report: &mut Report<'_>) {
        for Late { due, woke } in self.found.iter().flat_map(mpsc::Receiver::try_iter) {
            report(self.clock.nanos_in(woke.0 - due.0).0 as f64, due, woke);
        }
    }

    fn close(&mut self) -> Nanos {
        self.stop()
    }
}

impl Drop for OnCpu {
    fn drop(&mut self) {
        self.stop();
    }
}

/// `hiccup watched`. Opened after the threads that it speaks of.
struct Watched {
    lanes: Vec<Arc<Lane>>,
    clock: LiveClock,
    before: Vec<u64>,
}

impl Watched {
    fn until(&self) -> Vec<u64> {
        self.lanes.iter().map(|lane| lane.until.load(Ordering::Relaxed)).collect()
    }
}

impl NoiseSource for Watched {
    fn describe(&self) -> Description {
        Description {
            name: WATCHED.into(),
            kind: Kind::Share,
            pace: Pace::Fast,
            quantum: "a period / window",
            summary: "share of the time that the hiccup threads of all observed CPUs have accounted for",
        }
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        let blind = self.lanes.iter().find(|lane| lane.until.load(Ordering::Relaxed) == 0);
        if let Some(lane) = blind {
            return Err(Unavailable(format!("no thread watches CPU {}", lane.cpu)));
        }
        if self.lanes.is_empty() {
            return Err(Unavailable("no CPU is observed".to_owned()));
        }
        self.before = self.until();
        Ok(())
    }

    fn read(&mut self, elapsed_ns: u64) -> Option<f64> {
        let now = self.until();
        let before = std::mem::replace(&mut self.before, now);
        let grown = self.before.iter().zip(before).map(|(now, before)| now.saturating_sub(before)).min()?;
        (elapsed_ns > 0).then(|| (self.clock.nanos_in(grown).0 as f64 / elapsed_ns as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wakes late by what was planted, then stops the watch.
    struct Planted<'a> {
        lane: &'a Lane,
        now: u64,
        late: std::vec::IntoIter<u64>,
    }

    impl Sleeper for Planted<'_> {
        fn begin(&self) -> Ticks {
            Ticks(self.now)
        }

        fn sleep_until(&mut self, due: Ticks) -> Ticks {
            self.now = due.0 + self.late.next().expect("stopped before");
            self.lane.stop.store(self.late.len() == 0, Ordering::Relaxed);
            Ticks(self.now)
        }
    }

    #[test]
    fn planted_stalls_are_told_with_their_place_and_no_others() {
        let lane = Lane { cpu: 0, stop: AtomicBool::new(false), until: AtomicU64::new(0) };
        let late = vec![10, 100, 101, 0, 5_000, 7].into_iter();
        let mut told = Vec::new();
        keep_watch(&lane, 1_000, 100, Planted { lane: &lane, now: 50, late }, |late| told.push(late));
        let late = |due, woke| Late { due: Ticks(due), woke: Ticks(woke) };
        assert_eq!(told, [late(3_160, 3_261), late(5_261, 10_261)]);
        assert_eq!(lane.until.load(Ordering::Relaxed), 11_268, "all of it was watched");
    }

    #[test]
    fn more_cpus_are_looked_at_less_often_so_that_all_together_cost_no_more() {
        let period = |cpus, cost| period_for(cpus, Nanos(cost)).0 / 1_000_000;
        assert_eq!((period(1, 3_000), period(2, 3_000), period(3, 3_000)), (1, 1, 2));
        assert_eq!((period(16, 3_000), period(64, 6_000), period(0, 3_000)), (7, 20, 1));
    }

    #[test]
    fn a_cpu_that_is_not_there_is_not_watched_and_nobody_says_that_it_was() {
        let mut watch = crate::registry::tests::watch();
        watch.cpus = vec![1_000_000];
        let mut sources = sources(&watch);
        assert_eq!(sources[0].open(), Err(Unavailable("this process may not use CPU 1000000".to_owned())));
        assert_eq!(sources[1].open(), Err(Unavailable("no thread watches CPU 1000000".to_owned())));
        watch.cpus.clear();
        assert!(super::sources(&watch)[0].open().unwrap_err().0.contains("no CPU is observed"));
    }

    #[test]
    fn what_was_watched_is_told_and_a_stall_in_progress_is_not() {
        let clock = crate::registry::tests::watch().clock;
        let ms = clock.ticks_in(Nanos::from_millis(1));
        let lane =
            |until| Arc::new(Lane { cpu: 0, stop: AtomicBool::new(false), until: AtomicU64::new(until) });
        let lanes = vec![lane(5), lane(5)];
        let mut source = Watched { lanes: lanes.clone(), clock, before: Vec::new() };
        source.open().unwrap();
        lanes[0].until.store(5 + 100 * ms, Ordering::Relaxed);
        lanes[1].until.store(5 + 25 * ms, Ordering::Relaxed);
        let share = source.read(100_000_000).unwrap();
        assert!((share - 0.25).abs() < 1e-3, "{share}");
        // The stall is over: its interval has been told, and nothing more than all is watched.
        lanes[0].until.store(5 + 200 * ms, Ordering::Relaxed);
        lanes[1].until.store(5 + 200 * ms, Ordering::Relaxed);
        assert!(source.read(100_000_000).unwrap() > 0.99);
    }
}
