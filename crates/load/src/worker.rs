//! A worker: polls the tasks that are ready or due, and waits when none is.

use crate::local::{Local, Sink};
use crate::readiness::{Readiness, Waiting};
use crate::spec::Pacing;
use clock::Clock;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use units::{Nanos, Ticks};

/// The tasks of one worker. A finished task leaves its place empty.
pub(crate) struct Tasks<F> {
    futures: Vec<Option<Pin<Box<F>>>>,
    left: usize,
}

impl<F: Future<Output = ()>> Tasks<F> {
    pub(crate) fn new(futures: impl Iterator<Item = F>) -> Tasks<F> {
        let futures: Vec<_> = futures.map(|f| Some(Box::pin(f))).collect();
        let left = futures.len();
        Tasks { futures, left }
    }

    #[inline]
    pub(crate) fn poll(&mut self, task: u32) {
        let Some(future) = &mut self.futures[task as usize] else { return };
        // Nothing ever wakes by waker: readiness and timers name their tasks themselves.
        let mut context = Context::from_waker(Waker::noop());
        if future.as_mut().poll(&mut context) == Poll::Ready(()) {
            self.futures[task as usize] = None;
            self.left -= 1;
        }
    }

    /// Brings a task that is polled soon into the cache. Between two of its turns the kernel's network path has had the cache
    /// for itself, and a task's state lies in many lines of it.
    #[inline]
    pub(crate) fn prefetch(&self, task: u32) {
        let Some(Some(future)) = self.futures.get(task as usize) else { return };
        let begin: *const F = &raw const **future;
        let lines = size_of::<F>().div_ceil(CACHE_LINE).min(PREFETCHED_LINES);
        (0..lines).for_each(|line| prefetch_line(begin.cast::<u8>().wrapping_add(line * CACHE_LINE)));
    }

    pub(crate) fn all_done(&self) -> bool {
        self.left == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.futures.len()
    }
}

const CACHE_LINE: usize = 64;
/// More than this would push out what was just fetched.
const PREFETCHED_LINES: usize = 40;

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch_line(place: *const u8) {
    // SAFETY: a prefetch reads nothing that the program sees, and an address that is not there does nothing.
    unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch_line(_place: *const u8) {}

/// The longest wait without a look at the flags.
const LONGEST_WAIT: Nanos = Nanos::from_millis(20);

/// Runs a live worker until its tasks are done or the run is abandoned.
///
/// # Errors
/// The kernel's, when it can't watch a descriptor: the session would wait for ever for an answer that is there.
/// The run is abandoned, then, and what was in flight recorded as unfinished.
pub(crate) fn run_worker<F, C, K, W>(
    tasks: &mut Tasks<F>,
    local: &Local<'_, C, K>,
    readiness: &mut Readiness<W>,
    pacing: Pacing,
) -> io::Result<()>
where
    F: Future<Output = ()>,
    C: Clock,
    K: Sink,
    W: Waiting,
{
    let spin_window = local.clock.ticks_in(pacing.spin_window());
    let ticks_per_second = local.clock.ticks_in(Nanos::from_secs(1)) as f64;
    // Looked at often enough that a timeout is seen at most 2 % (at least 1 ms) late.
    let check_every =
        local.timeout_ticks().map_or(u64::MAX, |t| (t / 50).max(ticks_per_second as u64 / 1000));
    let mut next_check = local.clock.now().0.saturating_add(check_every);
    let mut stop_seen = false;
    let mut outcome = Ok(());
    (0..tasks.len()).for_each(|task| tasks.poll(task as u32));
    while !tasks.all_done() {
        if let Err(error) = register_new(local, readiness) {
            outcome = Err(error);
            local.shared.abandon.store(true, Ordering::Release);
        }
        let now = local.clock.now();
        while let Some(task) = local.next_due(now) {
            tasks.poll(task);
        }
        let runnable = run_some(tasks, local);
        if now.0 >= next_check {
            next_check = now.0 + check_every;
            local.expire(now, false, &mut readiness.ready);
        }
        if local.shared.stopping() && !stop_seen {
            stop_seen = true;
            wake_all(tasks, local);
        }
        if local.shared.abandoned() {
            // What is in flight ends as unfinished, and so does what is held and due; who waits gives up.
            local.expire(now, true, &mut readiness.ready);
            (0..tasks.len()).for_each(|task| tasks.poll(task as u32));
            break;
        }
        // Whoever was given up just now is told at once, and not after one more wait.
        let limit = if runnable || !readiness.ready.is_empty() || tasks.all_done() {
            Nanos::ZERO
        } else {
            let check = if local.in_flight() > 0 { next_check } else { u64::MAX };
            wait_limit(local.next_time(), check, local.clock.now(), spin_window, ticks_per_second)
        };
        // With nothing in flight a spin needs no look at the descriptors.
        if limit > Nanos::ZERO || (readiness.has_descriptors() && local.in_flight() > 0) {
            readiness.wait(limit);
        }
        for (index, &task) in readiness.ready.iter().enumerate() {
            if let Some(&next) = readiness.ready.get(index + 1) {
                tasks.prefetch(next);
            }
            tasks.poll(task);
        }
        readiness.ready.clear();
    }
    outcome
}

/// How long the kernel may let us sleep: until `spin_window` before the next time, until the next look at
/// the time limits, at most 20 ms.
#[inline]
fn wait_limit(next: Option<Ticks>, check: u64, now: Ticks, spin_window: u64, ticks_per_second: f64) -> Nanos {
    let due = next.map_or(u64::MAX, |next| next.0.saturating_sub(spin_window));
    let ahead = due.min(check).saturating_sub(now.0);
    let nanos = Nanos((ahead as f64 * 1e9 / ticks_per_second) as u64);
    nanos.min(LONGEST_WAIT)
}

fn register_new<C: Clock, K: Sink, W: Waiting>(
    local: &Local<'_, C, K>,
    readiness: &mut Readiness<W>,
) -> io::Result<()> {
    while let Some(registration) = local.next_registration() {
        match readiness.register(registration) {
            Ok(()) => {}
            // Closed in the meantime: the task finds out when it runs.
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => local.wake(registration.task),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Runs the tasks that had yielded, each once. Whether any is left that yielded again.
fn run_some<F: Future<Output = ()>, C: Clock, K: Sink>(
    tasks: &mut Tasks<F>,
    local: &Local<'_, C, K>,
) -> bool {
    let mut left = tasks.len();
    let mut again = false;
    while left > 0 {
        let Some(task) = local.next_runnable() else { return again };
        tasks.poll(task);
        again = true;
        left -= 1;
    }
    again
}

/// Polls everything that waits for a time, so that it sees that the run stops.
fn wake_all<F: Future<Output = ()>, C: Clock, K: Sink>(tasks: &mut Tasks<F>, local: &Local<'_, C, K>) {
    let waiting: Vec<u32> = std::iter::from_fn(|| local.next_waiting()).collect();
    waiting.into_iter().for_each(|task| tasks.poll(task));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubles::{bare_session, plain};
    use crate::schedule::Writer;
    use crate::sequencer::Sequencer;
    use crate::session::{Conditions, Replacement, run_session};
    use crate::simulate::{Collected, Losses};
    use crate::spec::{LoadSpec, Model, Think};
    use crate::unit_doubles::shared;
    use clock::SimClock;
    use driver::{Command, KernelStamp, OpError, Session};
    use record::RawSample;
    use std::os::fd::RawFd;
    use units::Outcome;
    use workload::Workload;
    use workload::noop::{Mode, NoOp};

    #[test]
    fn a_wait_ends_at_the_earliest_thing_to_do() {
        let now = 5_000_000;
        // Nanoseconds from now: (next due time, next look at the time limits, spin window) → wait.
        let cases = [
            (None, None, 0, 20_000_000),
            (None, Some(500_000), 0, 500_000),
            (None, Some(25_000_000), 0, 20_000_000),
            (Some(100_000), None, 80_000, 20_000),
            (Some(100_000), Some(10_000), 80_000, 10_000),
            (Some(50_000), None, 80_000, 0),
            (Some(-1_000), None, 0, 0),
            (None, Some(-1_000), 0, 0),
            (Some(30_000_000), Some(40_000_000), 0, 20_000_000),
        ];
        for ticks_per_ns in [1_i64, 3] {
            let at = |ns: i64| ((now + ns) * ticks_per_ns) as u64;
            for (due, check, spin, expected) in cases {
                let limit = wait_limit(
                    due.map(|ns| Ticks(at(ns))),
                    check.map_or(u64::MAX, at),
                    Ticks(at(0)),
                    (spin * ticks_per_ns) as u64,
                    ticks_per_ns as f64 * 1e9,
                );
                assert_eq!(limit, Nanos(expected), "{due:?} {check:?} at {ticks_per_ns} ticks per ns");
            }
        }
    }

    /// A descriptor that never becomes ready; waiting takes exactly as long as it may.
    struct Sleeping {
        clock: SimClock,
        refusal: Option<i32>,
    }

    impl Waiting for Sleeping {
        fn register(&mut self, _: crate::local::Registration) -> io::Result<()> {
            self.refusal.map_or(Ok(()), |errno| Err(io::Error::from_raw_os_error(errno)))
        }
        fn wait(&mut self, limit: Nanos, _ready: &mut Vec<u32>) {
            self.clock.advance(limit.max(Nanos(100)));
        }
    }

    /// A session that never answers.
    struct Mute;

    impl Session for Mute {
        bare_session!();
        fn descriptor(&self) -> Option<RawFd> {
            Some(0)
        }
        fn stage(&mut self, _: Command<'_>) -> Result<(), OpError> {
            Ok(())
        }
        fn poll_reply(&mut self) -> Poll<Result<(), OpError>> {
            Poll::Pending
        }
        fn arrived(&self) -> Option<KernelStamp> {
            None
        }
    }

    /// Another one at once.
    struct Plenty;

    impl Replacement<Mute> for Plenty {
        fn request(&self, _number: u16) {}
        fn take(&self, _number: u16) -> Option<Mute> {
            Some(Mute)
        }
    }

    /// The worker's end and its samples: `requests` questions that nobody answers, the first at 10.5 ms.
    fn work(timeout: Nanos, requests: u64, refusal: Option<i32>) -> (io::Result<()>, Vec<RawSample>) {
        let spec = LoadSpec {
            requests: Some(requests),
            timeout: Some(timeout),
            ..plain(Model::Closed { think: Think::None }, "100s")
        };
        let shared = shared(1 << 10, 1);
        let workload = NoOp::new(Mode::Ping);
        Writer::new(Sequencer::new(&spec, workload.tickets()).unwrap()).fill(&shared.schedule, u64::MAX);
        let (clock, samples) = (SimClock::new(), Collected::default());
        let conditions = Conditions {
            spec: &spec,
            workload: &workload,
            replacement: &Plenty,
            happenings: &Losses::default(),
            lead_in: Ticks(10_500_000),
        };
        let local = Local::new(clock.clone(), &shared, samples.clone(), 1, spec.timeout, None);
        let mut tasks = Tasks::new(std::iter::once(run_session(Mute, 0, 0, &local, &conditions)));
        let mut readiness = Readiness::with(Sleeping { clock, refusal }, 1);
        let outcome = run_worker(&mut tasks, &local, &mut readiness, spec.pacing);
        assert_eq!(shared.abandoned(), outcome.is_err());
        drop(tasks);
        (outcome, samples.samples.take())
    }

    #[test]
    fn a_time_limit_is_noticed_at_the_first_look_after_it() {
        // At most 2 %, at least 1 ms late: (limit, latest), in µs.
        for (limit, latest) in [(300, 1_300), (1_000, 2_000), (20_000, 21_000), (1_000_000, 1_020_000)] {
            let (outcome, samples) = work(Nanos::from_micros(limit), 3, None);
            outcome.unwrap();
            assert_eq!(samples.len(), 3);
            for sample in samples {
                let waited = sample.completed.0 - sample.sent.0;
                assert_eq!(sample.outcome, Outcome::Timeout.code());
                assert!((limit * 1000..=latest * 1000).contains(&waited), "{limit} µs: {waited} ns");
            }
        }
    }

    #[test]
    fn a_descriptor_that_can_not_be_watched_ends_the_load() {
        for errno in [libc::ENOSPC, libc::ENOMEM, libc::EPERM] {
            let (outcome, samples) = work(Nanos::from_secs(1), 1, Some(errno));
            assert_eq!(outcome.unwrap_err().raw_os_error(), Some(errno));
            assert!(samples.is_empty(), "abandoned before the first was due");
        }
        // A closed one is its session's business.
        let (outcome, samples) = work(Nanos::from_secs(1), 1, Some(libc::EBADF));
        assert_eq!((outcome.is_ok(), samples.len()), (true, 1));
    }
}
