//! The canaries of the counting allocator: each kind of call must be seen, and nothing else.

use testkit::alloc::{CountingAlloc, Counts, counted, is_counting};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

#[test]
fn each_kind_of_call_is_seen() {
    assert!(is_counting());
    let (kept, counts) = counted(|| Box::new(7_u64));
    assert_eq!(counts, Counts { allocations: 1, reallocations: 0, deallocations: 0 });
    let ((), counts) = counted(|| drop(kept));
    assert_eq!(counts, Counts { allocations: 0, reallocations: 0, deallocations: 1 });
    let mut growing: Vec<u8> = Vec::with_capacity(4);
    growing.extend_from_slice(b"full");
    let ((), counts) = counted(|| growing.push(b'!'));
    assert_eq!(counts, Counts { allocations: 0, reallocations: 1, deallocations: 0 });
    let (zeroed, counts) = counted(|| vec![0_u8; 100]);
    assert_eq!((zeroed.len(), counts.total()), (100, 1));
}

#[test]
fn work_within_its_room_counts_nothing() {
    let mut room: Vec<u64> = Vec::with_capacity(1000);
    let ((), counts) = counted(|| room.extend(0..1000));
    assert_eq!((room.len(), counts.total()), (1000, 0));
}

#[test]
fn other_threads_do_not_count_here() {
    let before = Counts::now();
    let spawned =
        std::thread::spawn(|| counted(|| drop((0..1000_u64).map(Box::new).collect::<Vec<_>>())).1.total());
    let theirs = spawned.join().unwrap();
    assert!(theirs >= 2000, "{theirs}");
    assert!(Counts::now().since(before).total() < 1000);
}
