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
/// What a CPU was seen to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gaps {
    /// Which CPU.
    pub cpu: usize,
    /// How long it was watched.
    pub watched: Nanos,
    /// The gaps of at least each length that was asked for, in that order.
    pub counted: Vec<Counted>,
    /// The longest; `None` without any.
    pub longest: Option<Nanos>,
}

/// The gaps from a length on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// The length.
    pub from: Nanos,
    /// How many there were.
    pub count: u64,
    /// How long they were, together.
    pub time: Nanos,
}

impl Gaps {
    /// Share of the time that was lost in these gaps, in [0, 1].
    pub fn lost(&self, counted: &Counted) -> f64 {
        self.over_time(counted.time.0 as f64)
    }

    /// How many of these gaps there were in a second.
    pub fn per_second(&self, counted: &Counted) -> f64 {
        self.over_time(counted.count as f64) * 1e9
    }

    fn over_time(&self, value: f64) -> f64 {
        if self.watched > Nanos::ZERO { value / self.watched.0 as f64 } else { 0.0 }
    }
}

/// Spins on each of the CPUs at the same time for `duration`, on threads of their own; what each saw, in the order of
/// `cpus`. A gap on one CPU alone is that CPU's; those of all at once are the host's. Gaps are counted from each of the lengths `from` on,
/// of which none is below [`SHORTEST`]; however many there are, all are counted.
///
/// # Errors
/// [`Unavailable`] for a CPU that the process may not use, or when there can be no thread.
pub fn watch(
    cpus: &[usize],
    duration: Nanos,
    from: &[Nanos],
    clock: LiveClock,
) -> Result<Vec<Gaps>, Unavailable> {
    std::thread::scope(|scope| {
        let start = |&cpu: &usize| {
            let named = std::thread::Builder::new().name(format!("gaps-{cpu}"));
            named.spawn_scoped(scope, move || on_cpu(cpu, duration, from, clock))
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

fn on_cpu(cpu: usize, duration: Nanos, from: &[Nanos], clock: LiveClock) -> Result<Gaps, Unavailable> {
    if !clock::pin_to(cpu) {
        return Err(Unavailable(format!("this process may not use CPU {cpu}")));
    }
    clock::set_timer_slack(Nanos(1));
    let mut tally = Tally::new(from.iter().map(|from| clock.ticks_in(*from)).collect());
    let begin = clock.now().0;
    let end = begin.saturating_add(clock.ticks_in(duration));
    let end = spin(begin, end, clock.ticks_in(SHORTEST), || clock.now().0, |gap| tally.add(gap));
    let counted = from.iter().zip(&tally.counted).map(|(from, (_, count, ticks))| Counted {
        from: *from,
        count: *count,
        time: clock.nanos_in(*ticks),
    });
    let longest = (tally.longest > 0).then(|| clock.nanos_in(tally.longest));
    Ok(Gaps { cpu, watched: clock.nanos_in(end - begin), counted: counted.collect(), longest })
}

/// Ticks.
struct Tally {
    /// (from, how many, how long together)
    counted: Vec<(u64, u64, u64)>,
    longest: u64,
}

impl Tally {
    fn new(from: Vec<u64>) -> Tally {
        Tally { counted: from.into_iter().map(|from| (from, 0, 0)).collect(), longest: 0 }
    }

    fn add(&mut self, gap: u64) {
        self.longest = self.longest.max(gap);
        for (_, count, time) in self.counted.iter_mut().filter(|(from, ..)| gap >= *from) {
            *count += 1;
            *time += gap;
        }
    }
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
    fn all_gaps_are_counted_however_many_there_are() {
        let mut tally = Tally::new(vec![5, 20_000, 300_000]);
        [5_000, 30_000, 400_000, 20_000].into_iter().for_each(|gap| tally.add(gap));
        (0..3_000_000).for_each(|_| tally.add(7));
        assert_eq!(tally.counted, [(5, 3_000_004, 21_455_000), (20_000, 3, 450_000), (300_000, 1, 400_000)]);
        assert_eq!(tally.longest, 400_000);
    }

    #[test]
    fn figures_are_over_the_time_that_was_watched() {
        let counted = Counted { from: Nanos(20_000), count: 3, time: Nanos(450_000) };
        let gaps = Gaps { cpu: 0, watched: Nanos::from_millis(10), counted: vec![counted], longest: None };
        assert!((gaps.lost(&counted) - 0.045).abs() < 1e-12);
        assert!((gaps.per_second(&counted) - 300.0).abs() < 1e-9);
        let never = Gaps { watched: Nanos::ZERO, ..gaps };
        assert_eq!((never.lost(&counted), never.per_second(&counted)), (0.0, 0.0));
    }

    #[test]
    fn a_host_is_watched_for_as_long_as_asked() {
        const FROM: [Nanos; 2] = [SHORTEST, Nanos::from_micros(100)];
        let clock = crate::registry::tests::watch().clock;
        let allowed = |cpu: &usize| clock::pin_to(*cpu);
        let first = std::thread::spawn(move || (0..1024).find(allowed)).join().unwrap().unwrap();
        let seen = watch(&[first, first], Nanos::from_millis(30), &FROM, clock).unwrap();
        assert_eq!(seen.iter().map(|gaps| gaps.cpu).collect::<Vec<_>>(), [first, first]);
        for gaps in &seen {
            assert!(gaps.watched >= Nanos::from_millis(29), "{gaps:?}");
            let [all, long] = gaps.counted[..] else { panic!("{gaps:?}") };
            assert!(
                gaps.lost(&all) <= 1.0 + 1e-9 && long.count <= all.count && long.time <= all.time,
                "{gaps:?}"
            );
            // Two threads that spin share the CPU: each has gaps.
            assert!(all.count > 0 && gaps.longest >= Some(Nanos(999)), "{gaps:?}");
        }
        assert_eq!(
            watch(&[1_000_000], Nanos(1), &FROM, clock),
            Err(Unavailable("this process may not use CPU 1000000".to_owned()))
        );
    }
}
