//! The recorder's thread, with a real ring and a real clock.

use crate::fixture::Scratch;
use crate::{all_rows, content};
use clock::{Clock, ClockChoice, LiveClock};
use record::{Event, EventKind, TruthEnd, TruthLog, TruthRecorder, TruthRecorderConfig, TruthRow};
use units::{Instant, Nanos};

fn live_clock() -> LiveClock {
    clock::calibrate(ClockChoice::Monotonic).unwrap().start()
}

fn quick(scratch: &Scratch, capacity: usize) -> TruthRecorderConfig {
    TruthRecorderConfig {
        capacity,
        part_interval: Nanos::from_millis(10),
        drain_interval: Nanos::from_millis(1),
        ..TruthRecorderConfig::new(scratch.path(), content::header())
    }
}

fn row(clock: &LiveClock, seq: u64) -> TruthRow {
    let now = Instant(clock.nanos_in(clock.now().0).0);
    TruthRow { arrived: now, begun: now, due: now, written: now, seq, ..TruthRow::EMPTY }
}

#[test]
fn every_row_event_and_anchor_is_recorded() {
    let scratch = Scratch::new("truth-recorder");
    let clock = live_clock();
    let (mut producer, recorder) = TruthRecorder::start(quick(&scratch, 1 << 8), clock).unwrap();
    let events = recorder.events();
    let event = Event {
        kind: EventKind::Fault,
        begin: Instant(5),
        end: Instant::NONE,
        subject: "network".into(),
        detail: "10 ms for all".into(),
    };
    std::thread::scope(|scope| {
        scope.spawn(|| events.clone().push(event.clone()));
    });
    let mut pushed = Vec::new();
    for seq in 0..5_000 {
        while producer.fill() > 0.9 {
            clock::pause(Nanos(100_000));
        }
        pushed.push(row(&clock, seq));
        producer.push(pushed[seq as usize]);
    }
    let finished = recorder.finish(TruthEnd::new(content::facts())).unwrap();
    assert_eq!((finished.end.rows, finished.end.dropped, finished.end.unwritable), (5_000, 0, 0));
    let log = TruthLog::open(&finished.path).unwrap();
    assert_eq!((log.end(), log.unreadable()), (Some(&finished.end), vec![]));
    assert_eq!((all_rows(&log), log.events().unwrap()), (pushed, vec![event]));

    let anchors = log.anchors().unwrap();
    let (first, last) = (anchors[0], anchors[anchors.len() - 1]);
    assert!(anchors.len() >= 2 && last.ticks > first.ticks && last.monotonic_ns > first.monotonic_ns);
    assert!(last.ticks.0 >= finished.end.at.0, "the last anchor lies behind the last row");
    // On this clock a tick is a nanosecond of `CLOCK_MONOTONIC_RAW`, read somewhere in the anchor's bracket.
    let (own, kernels) = (last.ticks.0 - first.ticks.0, last.monotonic_ns - first.monotonic_ns);
    assert!(own.abs_diff(kernels) <= first.width_ticks + last.width_ticks, "{first:?} {last:?}");
    assert_eq!(log.header().epoch_wall_ns, first.realtime_ns - first.ticks.0);
}

#[test]
fn a_full_ring_is_counted_and_told() {
    let scratch = Scratch::new("truth-drops");
    let clock = live_clock();
    // Drained once after the first push, if at all before the end: nothing is due meanwhile.
    let config = TruthRecorderConfig { drain_interval: Nanos::from_secs(1), ..quick(&scratch, 8) };
    let (mut producer, recorder) = TruthRecorder::start(config, clock).unwrap();
    (0..1_000).for_each(|seq| producer.push(row(&clock, seq)));
    let end = recorder.finish(TruthEnd::new(Vec::new())).unwrap().end;
    assert_eq!(end.rows + end.dropped, 1_000);
    assert!(end.rows < 1_000, "{end:?}");
    let events = TruthLog::open(scratch.path()).unwrap().events().unwrap();
    let told: u64 = events
        .iter()
        .filter_map(|e| e.detail.strip_suffix(" rows found the ring full")?.parse::<u64>().ok())
        .sum();
    assert_eq!(told, end.dropped, "{events:?}");
}

#[test]
fn rows_are_ordered_by_number_in_each_part() {
    let scratch = Scratch::new("truth-order");
    let clock = live_clock();
    let config = TruthRecorderConfig { part_interval: Nanos::from_secs(100), ..quick(&scratch, 1 << 8) };
    let (mut producer, recorder) = TruthRecorder::start(config, clock).unwrap();
    (0..100).for_each(|n| producer.push(row(&clock, n * 37 % 100)));
    drop(recorder);
    let log = TruthLog::open(scratch.path()).unwrap();
    assert!(all_rows(&log).iter().map(|row| row.seq).eq(0..100));
    assert_eq!(log.end(), None, "dropped, it is cut short");
}
