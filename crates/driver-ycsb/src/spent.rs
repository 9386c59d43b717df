//! How long the binding's calls took by the JVM's own clock, and how long the bridge took around them.

use crate::codec::Head;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Nanos;

/// Of one session, which alone writes; whoever reads sees numbers of about the same moment.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Spent {
    calls: AtomicU64,
    call_ns: AtomicU64,
    longest_call_ns: AtomicU64,
    bridge_ns: AtomicU64,
    longest_bridge_ns: AtomicU64,
}

/// Loads and stores, relaxed: there is one writer, so that nothing is lost, and nothing else depends on them.
fn add(to: &AtomicU64, more: u64) {
    to.store(to.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

fn raise(to: &AtomicU64, to_at_least: u64) {
    if to_at_least > to.load(Ordering::Relaxed) {
        to.store(to_at_least, Ordering::Relaxed);
    }
}

impl Spent {
    /// Of one answer.
    #[inline]
    pub(crate) fn add(&self, head: Head) {
        let bridge_ns = head.all_ns.saturating_sub(head.call_ns);
        add(&self.calls, 1);
        add(&self.call_ns, head.call_ns);
        raise(&self.longest_call_ns, head.call_ns);
        add(&self.bridge_ns, bridge_ns);
        raise(&self.longest_bridge_ns, bridge_ns);
    }
}

/// Of all sessions, in words.
pub(crate) fn told<'a>(sessions: impl Iterator<Item = &'a Spent>) -> Vec<(String, String)> {
    let [mut calls, mut call, mut longest_call, mut bridge, mut longest_bridge] = [0_u64; 5];
    for spent in sessions {
        let of = |number: &AtomicU64| number.load(Ordering::Relaxed);
        calls += of(&spent.calls);
        call += of(&spent.call_ns);
        longest_call = longest_call.max(of(&spent.longest_call_ns));
        bridge += of(&spent.bridge_ns);
        longest_bridge = longest_bridge.max(of(&spent.longest_bridge_ns));
    }
    if calls == 0 {
        return Vec::new();
    }
    let line = |total: u64, longest: u64| {
        format!("{} on average over {calls} calls, the longest {}", Nanos(total / calls), Nanos(longest))
    };
    vec![
        ("in the binding, by the JVM's clock".to_owned(), line(call, longest_call)),
        ("in the bridge around it, by the JVM's clock".to_owned(), line(bridge, longest_bridge)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Ended;

    #[test]
    fn times_of_all_sessions_are_told_together() {
        let sessions = [Spent::default(), Spent::default()];
        assert_eq!(told(sessions.iter()), []);
        for (session, call_ns, all_ns) in [(0, 1_000, 1_500), (1, 3_000, 3_700), (0, 2_000, 2_300)] {
            sessions[session].add(Head { ended: Ended::Done, call_ns, all_ns });
        }
        let told = told(sessions.iter());
        let (call, bridge) = (Nanos(2_000), Nanos(500));
        assert_eq!(told[0].1, format!("{call} on average over 3 calls, the longest {}", Nanos(3_000)));
        assert_eq!(told[1].1, format!("{bridge} on average over 3 calls, the longest {}", Nanos(700)));
    }
}
