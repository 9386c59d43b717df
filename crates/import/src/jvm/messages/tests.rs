use super::*;

fn pause(message: &str, tags: &str) -> JvmPause {
    match read(message, Some(tags), true) {
        Message::Pause(pause) => *pause,
        other => panic!("{message}: {other:?}"),
    }
}

fn times(pause: &JvmPause) -> [Option<u64>; 5] {
    let JvmPause { time_to_safepoint, cleanup, operation, leaving, .. } = pause;
    [*time_to_safepoint, *cleanup, *operation, *leaving, Some(pause.total)]
        .map(|time| time.map(|time| time.0))
}

#[test]
fn safepoint_lines_of_all_versions() {
    let jdk17 = "Safepoint \"G1CollectForAllocation\", Time since last: 94860762 ns, Reaching safepoint: 914634 ns, \
                 Cleanup: 17747 ns, At safepoint: 4836207 ns, Total: 5768588 ns";
    let jdk21 = "Safepoint \"ZMarkEndYoung\", Time since last: 94860762 ns, Reaching safepoint: 914634 ns, \
                 Cleanup: 17747 ns, At safepoint: 4836207 ns, Leaving safepoint: 4097 ns, Total: 5772685 ns";
    let jdk25 = "Safepoint \"Halt\", Time since last: 94860762 ns, Reaching safepoint: 2047482 ns, At safepoint: \
                 7415451 ns, Leaving safepoint: 5117 ns, Total: 9468050 ns, Threads: 1 runnable, 13 total";
    let of = |line: &str| times(&pause(line, "safepoint"));
    assert_eq!(of(jdk17), [Some(914_634), Some(17_747), Some(4_836_207), None, Some(5_768_588)]);
    assert_eq!(of(jdk21), [Some(914_634), Some(17_747), Some(4_836_207), Some(4_097), Some(5_772_685)]);
    assert_eq!(of(jdk25), [Some(2_047_482), None, Some(7_415_451), Some(5_117), Some(9_468_050)]);
    assert_eq!(pause(jdk25, "safepoint").what, "Halt");
    for cut in 12..jdk17.len() {
        assert_eq!(read(&jdk17[..cut], Some("safepoint"), false), Message::Broken, "{}", &jdk17[..cut]);
    }
}

#[test]
fn jdk_11_tells_it_in_four_lines() {
    let line = "Total time for which application threads were stopped: 0.0061608 seconds, Stopping threads took: 0.0000084 \
                seconds";
    assert_eq!(times(&pause(line, "safepoint")), [Some(8_400), None, None, None, Some(6_160_800)]);
    let entering = read("Entering safepoint region: RevokeBias", Some("safepoint"), false);
    assert_eq!(entering, Message::Entering("RevokeBias".to_owned()));
    for known in ["Application time: 0.0001907 seconds", "Leaving safepoint region"] {
        assert_eq!(read(known, Some("safepoint"), false), Message::Other);
    }
    assert_eq!(read("Total time for which application thr", Some("safepoint"), false), Message::Broken);
}

#[test]
fn rows_of_statistics_have_three_or_four_times() {
    let four = "G1CollectForAllocation       [             14               2 ][            84165      10285    9598374    9692824 ]               3";
    let three = "SerialCollectForAllocation   [             13               2 ][          2750463   93512576   96263039 ]               7";
    let of = |row: &str| times(&pause(row, "safepoint,stats"));
    assert_eq!(of(four), [Some(84_165), Some(10_285), Some(9_598_374), None, Some(9_692_824)]);
    assert_eq!(of(three), [Some(2_750_463), None, Some(93_512_576), None, Some(96_263_039)]);
    let sums = [
        "VM Operation                 [ threads: total initial_running ][ time:       sync    vmop      total ] page_trap_count",
        "None                                 1",
        "G1CollectFull                        1",
        "Maximum vm operation time (except for Exit VM operation)  99608783 ns",
        "",
    ];
    sums.iter()
        .for_each(|sum| assert_eq!(read(sum, Some("safepoint,stats"), false), Message::Other, "{sum}"));
    for broken in [&four[..90], "G1CollectForAllocation [ 14 2 ][ 1 2 3 4 5 ] 0", "G1Collect"] {
        assert_eq!(read(broken, Some("safepoint,stats"), false), Message::Broken, "{broken}");
    }
}

#[test]
fn collectors_say_what_they_paused_for() {
    let of = |line: &str, tags: &str| {
        let pause = pause(line, tags);
        (pause.what, pause.total.0)
    };
    let young = "GC(0) Pause Young (Normal) (G1 Evacuation Pause) 12M->3M(256M) 4.636ms";
    assert_eq!(of(young, "gc"), ("Pause Young (Normal) (G1 Evacuation Pause)".to_owned(), 4_636_000));
    assert_eq!(of("GC(0) Pause Mark Start 0.008ms", "gc,phases").1, 8_000);
    assert_eq!(of("GC(12) Y: Pause Mark End 0.017ms", "gc,phases").0, "Pause Mark End");
    assert_eq!(of("GC(3) Pause Degenerated GC (Mark) 60M->20M(64M) 12.345ms", "gc").1, 12_345_000);
    let other = |line: &str, tags: &str| assert_eq!(read(line, Some(tags), false), Message::Other, "{line}");
    other("GC(0) Pause Young (Normal) (G1 Evacuation Pause)", "gc,start");
    other("Pause Init Mark (G)                 332 us", "gc,stats");
    other("GC(0)   Pre Evacuate Collection Set: 0.06ms", "gc,phases");
    other("GC(0) Concurrent Mark 3.400ms", "gc,phases");
    assert_eq!(read("GC(8) Pause Young (Alloc", Some("gc"), false), Message::Broken);
}

#[test]
fn what_stops_single_threads_is_told_apart() {
    let stall = pause("Allocation Stall (http-nio-8080 (7)) 24.901ms", "gc");
    assert_eq!((stall.reach, stall.total.0), (PauseReach::OneThread, 24_901_000));
    assert_eq!(stall.what, "Allocation Stall of http-nio-8080 (7)");
    let hands = "Handshake \"Deoptimize\", Targeted threads: 12, Executed by requesting thread: 3, Total completion time: 48321 ns";
    let hands = pause(hands, "handshake");
    assert_eq!((hands.reach, hands.total.0), (PauseReach::Within, 48_321));
    assert_eq!(hands.what, "handshake Deoptimize of 12 threads");
    let paced = pause("     25 of   140 ms ( 17.9%): main", "gc,stats");
    assert_eq!(
        (paced.reach, paced.total.0, paced.stopped),
        (PauseReach::Within, 140_000_000, Some(Nanos(25_000_000)))
    );
    for sum in
        ["     25 of   140 ms ( 17.9%): <total>", "      0 of   140 ms (  0.0%): main", "", "<average total>"]
    {
        assert_eq!(read(sum, Some("gc,stats"), true), Message::Other, "{sum}");
    }
    assert_eq!(read("Allocation Stall (main) 24.9", Some("gc"), false), Message::Broken);
}
