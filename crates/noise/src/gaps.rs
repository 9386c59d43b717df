//! The spin mode of hiccups: a thread that does nothing but look at the clock sees each moment in which it did not run,
//! from about 1 µs on.
//!
//! It uses all of a CPU, so it has no place beside a load: it is for calibration, to know a host before anything is
//! measured on it. Quantiles of the loop's turns hide what it finds (p99.9 is that of an undisturbed turn on any host);
//! what tells hosts apart is the share of time lost in gaps, how many there are in a second, and the longest.

use crate::Unavailable;
use clock::{Clock, LiveClock};
use units::Nanos;

/// The shortest gap that is told from an undisturbed turn of the loop.
pub const SHORTEST: Nanos = Nanos::from_micros(1);
/// Gaps that are kept one by one; more than some ten seconds of the worst host make.
const GAPS_MAX: usize = 1 << 20;

/// What a CPU was seen to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gaps {
    /// Which CPU.
    pub cpu: usize,
    /// How long it was watched.
    pub watched: Nanos,
    /// The gaps' lengths, in the order in which they came: each at least [`SHORTEST`].
    pub lengths: Vec<Nanos>,
    /// How many more there were than could be kept.
    pub untold: u64,
}

impl Gaps {
    /// Share of the time that was lost in gaps of at least `least`, in [0, 1].
    pub fn lost(&self, least: Nanos) -> f64 {
        let sum: u64 = self.lengths.iter().filter(|gap| **gap >= least).map(|gap| gap.0).sum();
        self.over_time(sum as f64)
    }

    /// How many gaps of at least `least` there were in a second.
    pub fn per_second(&self, least: Nanos) -> f64 {
        let count = self.lengths.iter().filter(|gap| **gap >= least).count();
        self.over_time(count as f64) * 1e9
    }

    /// The longest; `None` without any.
    pub fn longest(&self) -> Option<Nanos> {
        self.lengths.iter().copied().max()
    }

    fn over_time(&self, value: f64) -> f64 {
        if self.watched > Nanos::ZERO { value / self.watched.0 as f64 } else { 0.0 }
    }
}

/// Spins on each of the CPUs at the same time for `duration`, on threads of their own; what each saw, in the order of
/// `cpus`. A gap on one CPU alone is that CPU's; those of all at once are the host's.
///
/// # Errors
/// [`Unavailable`] for a CPU that the process may not use, or when there can be no thread.
pub fn watch(cpus: &[usize], duration: Nanos, clock: LiveClock) -> Result<Vec<Gaps>, Unavailable> {
    std::thread::scope(|scope| {
        let start = |&cpu: &usize| {
            let named = std::thread::Builder::new().name(format!("gaps-{cpu}"));
            named.spawn_scoped(scope, move || on_cpu(cpu, duration, clock))
        };
        let threads: Vec<_> = cpus.iter().map(start).collect();
        let seen = threads.into_iter().map(|thread| {
            let thread =
                thread.map_err(|error| Unavailable(format!("no thread could be started: {error}")))?;
            thread.join().unwrap_or_else(|_| Err(Unavailable("the thread is gone".to_owned())))
        });
        seen.collect()
    })
}

fn on_cpu(cpu: usize, duration: Nanos, clock: LiveClock) -> Result<Gaps, Unavailable> {
    if !clock::pin_to(cpu) {
        return Err(Unavailable(format!("this process may not use CPU {cpu}")));
    }
    clock::set_timer_slack(Nanos(1));
    // Filled once, so that its pages are there: a page fault is a gap of one's own making.
    let mut found = vec![u64::MAX; GAPS_MAX];
    found.clear();
    let (shortest, length) = (clock.ticks_in(SHORTEST), clock.ticks_in(duration));
    let mut untold = 0;
    let begin = clock.now().0;
    let end = spin(
        begin,
        begin.saturating_add(length),
        shortest,
        || clock.now().0,
        |gap| {
            if found.len() < GAPS_MAX { found.push(gap) } else { untold += 1 }
        },
    );
    let lengths = found.iter().map(|gap| clock.nanos_in(*gap)).collect();
    Ok(Gaps { cpu, watched: clock.nanos_in(end - begin), lengths, untold })
}

/// Looks at the time until `end`, and gives the last; what passes between two looks is a gap from `shortest` on.
fn spin(begin: u64, end: u64, shortest: u64, now: impl Fn() -> u64, mut tell: impl FnMut(u64)) -> u64 {
    let mut last = begin;
    while last < end {
        let time = now();
        let gap = time.saturating_sub(last);
        if gap >= shortest {
            tell(gap);
        }
        last = last.max(time);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn planted_gaps_are_seen_and_no_others() {
        let times = RefCell::new([10, 20, 119, 220, 230, 1_230, 1_240, 1_241].into_iter());
        let mut told = Vec::new();
        let end =
            spin(0, 1_241, 100, || times.borrow_mut().next().expect("ended before"), |gap| told.push(gap));
        assert_eq!((told, end), (vec![101, 1_000], 1_241));
    }

    #[test]
    fn figures_are_of_the_gaps_from_a_length_on() {
        let lengths = [5_000, 30_000, 400_000, 20_000].map(Nanos).to_vec();
        let gaps = Gaps { cpu: 0, watched: Nanos::from_millis(10), lengths, untold: 0 };
        assert!((gaps.lost(Nanos::from_micros(20)) - 0.045).abs() < 1e-12);
        assert!((gaps.lost(Nanos::from_micros(300)) - 0.04).abs() < 1e-12);
        assert!((gaps.per_second(Nanos::from_micros(20)) - 300.0).abs() < 1e-9);
        assert_eq!(gaps.longest(), Some(Nanos(400_000)));
        let none = Gaps { cpu: 0, watched: Nanos::ZERO, lengths: Vec::new(), untold: 0 };
        assert_eq!((none.lost(SHORTEST), none.per_second(SHORTEST), none.longest()), (0.0, 0.0, None));
    }

    #[test]
    fn a_host_is_watched_for_as_long_as_asked() {
        let clock = crate::registry::tests::watch().clock;
        let allowed = |cpu: &usize| clock::pin_to(*cpu);
        let first = std::thread::spawn(move || (0..1024).find(allowed)).join().unwrap().unwrap();
        let seen = watch(&[first, first], Nanos::from_millis(30), clock).unwrap();
        assert_eq!(seen.iter().map(|gaps| gaps.cpu).collect::<Vec<_>>(), [first, first]);
        for gaps in &seen {
            assert!(gaps.watched >= Nanos::from_millis(29), "{gaps:?}");
            assert!(gaps.lengths.iter().all(|gap| *gap >= Nanos(999)), "{gaps:?}");
            assert!(gaps.lost(SHORTEST) <= 1.0 + 1e-9);
        }
        assert_eq!(
            watch(&[1_000_000], Nanos(1), clock),
            Err(Unavailable("this process may not use CPU 1000000".to_owned()))
        );
    }
}
