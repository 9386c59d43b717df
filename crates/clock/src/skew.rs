//! Do the cycle counters of two CPUs agree?

use crate::live::cycle_counter;
use std::sync::atomic::{AtomicU64, Ordering};

/// The offset between two CPUs' counters, as far as a ping-pong over a cache line can tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Skew {
    /// Counter of the second CPU minus the first's, in ticks: the middle of what is possible.
    pub offset_ticks: i64,
    /// Half the width of what is possible: one-way time of a cache line.
    pub uncertainty_ticks: u64,
}

const ROUNDS: u64 = 2_000;

/// Plays ping-pong between `first` and `second`; ≈ 1 ms. `None` when a thread could not be pinned.
///
/// A message sent at `s` on one CPU and seen at `r` on the other took r − s ≥ 0 in truth; the smallest
/// difference in both directions bounds the offset from both sides (Cristian 1989).
pub fn tsc_skew(first: usize, second: usize) -> Option<Skew> {
    let ball = AtomicU64::new(0); // even: first's turn; odd: second's turn
    let stamp = AtomicU64::new(0);
    let (forth, back) = std::thread::scope(|scope| {
        let player = |cpu: usize, parity: u64| {
            let (ball, stamp) = (&ball, &stamp);
            scope.spawn(move || {
                let pinned = crate::wait::pin_to(cpu);
                let mut smallest = i64::MAX;
                for round in 0..ROUNDS {
                    let turn = 2 * round + parity;
                    // Acquire pairs with the other player's Release below, so its stamp is visible.
                    while ball.load(Ordering::Acquire) != turn {
                        std::hint::spin_loop();
                    }
                    let now = cycle_counter();
                    if turn > 0 {
                        let sent = stamp.load(Ordering::Relaxed);
                        smallest = smallest.min(now.wrapping_sub(sent) as i64);
                    }
                    stamp.store(cycle_counter(), Ordering::Relaxed);
                    ball.store(turn + 1, Ordering::Release);
                }
                pinned.then_some(smallest)
            })
        };
        let (a, b) = (player(first, 0), player(second, 1));
        (b.join().ok().flatten(), a.join().ok().flatten())
    });
    let (forth, back) = (forth?, back?);
    Some(Skew { offset_ticks: (forth - back) / 2, uncertainty_ticks: ((forth + back) / 2).unsigned_abs() })
}
