//! Times to a stable level that are known beforehand.

use stats::{Recovery, Settled, Settling, recovery};
use units::{Instant, Nanos, Seed};

const EVENT: u64 = 30;

/// A request each millisecond for `seconds`, each as long as `ms` says of the seconds since the event (less than 0 before
/// it), with a little noise.
fn made(seconds: u64, ms: impl Fn(f64) -> f64) -> Recovery {
    let mut rng = Seed(5).rng();
    let samples = (0..seconds * 1000).map(|i| {
        let since = i as f64 / 1e3 - EVENT as f64;
        let noise = 1.0 + 0.05 * rng.unit();
        (Instant(i * 1_000_000), Nanos::from_secs_f64(ms(since) * noise / 1e3))
    });
    recovery(samples, Instant(EVENT * 1_000_000_000), Instant(seconds * 1_000_000_000), &Settling::new())
}

fn seconds(settled: Settled) -> Option<f64> {
    match settled {
        Settled::After(time) => Some(time.as_secs_f64()),
        _ => None,
    }
}

#[test]
fn a_planted_recovery_is_found_to_the_window() {
    // Bad for 20 s, then at a new level.
    let found = made(90, |t| if (0.0..20.0).contains(&t) { 50.0 } else { 2.0 });
    assert_eq!(seconds(found.settled), Some(20.0));
    let level = found.level.unwrap() / 1e6;
    assert!((level - 2.0 * 1.0475).abs() < 0.01, "{level}");
    assert!((found.worst.unwrap() / 1e6 - 50.0 * 1.0475).abs() < 0.2);
    assert_eq!(found.windows.len(), 60);
    // A queue that drains in 12.5 s: within 20 % of 2 ms once less than 0.4 ms of it is left, in the window of 12 s.
    let found = made(90, |t| 2.0 + (40.0 * (1.0 - t / 12.5)).clamp(0.0, 40.0) * f64::from(t >= 0.0));
    assert_eq!(seconds(found.settled), Some(13.0));
}

#[test]
fn nothing_that_happened_settles_at_once() {
    assert_eq!(seconds(made(90, |_| 2.0).settled), Some(0.0));
    // What was before the event is another level, and no matter.
    assert_eq!(seconds(made(90, |t| if t < 0.0 { 9.0 } else { 2.0 }).settled), Some(0.0));
}

#[test]
fn what_never_settles_is_not_reached() {
    // A queue that grows for ever, from nothing and from a level.
    assert_eq!(made(90, |t| 1.0 + 10.0 * t.max(0.0)).settled, Settled::NotReached);
    assert_eq!(made(300, |t| 1.0 + t.max(0.0)).settled, Settled::NotReached);
    // Up and down to the end.
    assert_eq!(made(90, |t| if t.rem_euclid(8.0) < 3.0 { 5.0 } else { 1.0 }).settled, Settled::NotReached);
    // Better just before the end: nobody saw it stay.
    assert_eq!(made(90, |t| if (0.0..50.0).contains(&t) { 50.0 } else { 2.0 }).settled, Settled::NotReached);
    // One relapse in the last quarter.
    assert_eq!(made(90, |t| if (52.0..53.0).contains(&t) { 50.0 } else { 2.0 }).settled, Settled::NotReached);
}

#[test]
fn a_relapse_moves_the_moment() {
    let relapses =
        made(90, |t| if (0.0..5.0).contains(&t) || (30.2..30.4).contains(&t) { 50.0 } else { 2.0 });
    assert_eq!(seconds(relapses.settled), Some(31.0));
}

#[test]
fn too_little_to_judge_says_so() {
    let short = made(37, |_| 2.0);
    assert_eq!((short.settled, short.level, short.windows.len()), (Settled::TooShort, None, 7));
    let before = recovery([], Instant(5), Instant(0), &Settling::new());
    assert_eq!((before.settled, before.windows.len()), (Settled::TooShort, 0));
    // Windows without requests are no windows.
    let empty = recovery([], Instant(0), Instant(60_000_000_000), &Settling::new());
    assert_eq!(empty.settled, Settled::TooShort);
}

#[test]
fn what_is_not_worth_telling_apart_is_not_told_apart() {
    // 20 µs and then 60 µs: three times as long, and less than the slack.
    let found = made(90, |t| if (0.0..20.0).contains(&t) { 0.06 } else { 0.02 });
    assert_eq!(seconds(found.settled), Some(0.0));
}
