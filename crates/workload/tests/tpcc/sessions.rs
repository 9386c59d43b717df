//! Several sessions on SQLite at the same time.

use crate::support::{Database, assert_sound, request, run_one, small};
use std::sync::atomic::{AtomicU64, Ordering};
use units::Outcome;

#[test]
fn sessions_side_by_side_leave_sound_data() {
    let tpcc = small(2, 1, &[]);
    let database = Database::loaded(&tpcc);
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut session = database.session(&tpcc);
                loop {
                    let seq = next.fetch_add(1, Ordering::Relaxed);
                    if seq >= 2_000 {
                        break;
                    }
                    let outcome = run_one(&tpcc, request(&tpcc, seq), &mut session);
                    assert!(matches!(outcome, Ok(Outcome::Ok | Outcome::Abort)), "{seq}: {outcome:?}");
                }
            });
        }
    });
    assert_sound(&database.target, &tpcc);
}
