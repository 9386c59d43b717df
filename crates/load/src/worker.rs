//! A worker: polls the tasks that are ready or due, and waits when none is.

use crate::local::{Local, Sink};
use crate::readiness::Readiness;
use crate::spec::Pacing;
use clock::Clock;
use std::future::Future;
use std::pin::Pin;
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

    pub(crate) fn all_done(&self) -> bool {
        self.left == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.futures.len()
    }
}

/// The longest wait without a look at the flags.
const LONGEST_WAIT: Nanos = Nanos::from_millis(20);

/// Runs a live worker until its tasks are done or the run is abandoned.
pub(crate) fn run_worker<F, C, K>(
    tasks: &mut Tasks<F>,
    local: &Local<'_, C, K>,
    readiness: &mut Readiness,
    pacing: Pacing,
) where
    F: Future<Output = ()>,
    C: Clock,
    K: Sink,
{
    let spin_window = local.clock.ticks_in(pacing.spin_window());
    let ticks_per_second = local.clock.ticks_in(Nanos::from_secs(1)) as f64;
    // Looked at often enough that a timeout is seen at most 2 % (at least 1 ms) late.
    let check_every =
        local.timeout_ticks().map_or(u64::MAX, |t| (t / 50).max(ticks_per_second as u64 / 1000));
    let mut next_check = local.clock.now().0.saturating_add(check_every);
    let mut stop_seen = false;
    (0..tasks.len()).for_each(|task| tasks.poll(task as u32));
    while !tasks.all_done() {
        register_new(local, readiness);
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
            return;
        }
        let limit = if runnable || tasks.all_done() {
            Nanos::ZERO
        } else {
            let check = if local.in_flight() > 0 { next_check } else { u64::MAX };
            wait_limit(local.next_time(), check, local.clock.now(), spin_window, ticks_per_second)
        };
        // With nothing in flight a spin needs no look at the descriptors.
        if limit > Nanos::ZERO || (readiness.has_descriptors() && local.in_flight() > 0) {
            readiness.wait(limit);
        }
        readiness.ready.drain(..).for_each(|task| tasks.poll(task));
    }
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

fn register_new<C: Clock, K: Sink>(local: &Local<'_, C, K>, readiness: &mut Readiness) {
    while let Some((fd, task)) = local.next_registration() {
        if readiness.register(fd, task).is_err() {
            // The descriptor broke in the meantime: the task finds out when it runs.
            local.wake(task);
        }
    }
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
