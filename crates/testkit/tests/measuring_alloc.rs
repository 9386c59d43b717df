//! The allocator that adds up bytes sees what it should see, on every thread.

use testkit::memory::{MeasuringAlloc, held, measured};

#[global_allocator]
static ALLOC: MeasuringAlloc = MeasuringAlloc;

const MIB: usize = 1 << 20;

/// One test: the figures are of the whole process.
#[test]
fn peaks_are_seen_on_every_thread_and_what_is_given_back_is_gone() {
    let before = held();
    let ((), memory) = measured(|| {
        let one = std::thread::spawn(|| drop(vec![1_u8; 3 * MIB]));
        one.join().unwrap();
        drop(vec![1_u8; 2 * MIB]);
    });
    assert!((3 * MIB..5 * MIB).contains(&memory.peak), "{memory:?}");
    assert!((3 * MIB..3 * MIB + MIB).contains(&memory.largest), "{memory:?}");
    assert!(held() < before + MIB);
    let (kept, memory) = measured(|| {
        let mut kept = vec![0_u64; 8];
        kept.resize(MIB, 1);
        kept
    });
    assert!(memory.peak >= 8 * MIB, "{memory:?}");
    assert!(held() >= before + 8 * MIB);
    drop(kept);
    assert!(held() < before + MIB);
}
