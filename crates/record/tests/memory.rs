//! Memory stays bounded however long the run: what the recorder holds does not grow with what has passed through it.

mod fixture;

use clock::{Clock, ClockChoice};
use fixture::{Scratch, header, raw};
use record::{
    EndOfRun, Ending, EventKind, NoiseSourceFacts, Provenance, RawSample, Recorder, RecorderConfig, ring,
};
use testkit::memory::{MeasuringAlloc, held};
use units::{Nanos, Ticks};

#[global_allocator]
static ALLOC: MeasuringAlloc = MeasuringAlloc;

/// Samples of the ring: far fewer than pass through it.
const RING: usize = 1 << 10;
/// Ring-fuls of one quarter of the run.
const QUARTER: usize = 250;
/// Share of what has passed through that may be held on to: buffers that found their size late. A recorder that kept
/// its samples would hold more than all of it.
const SHARE: usize = 10;

/// Runs a recorder over four quarters; `each` sees every sample, too. Gives by how many bytes the least that was held
/// in the last quarter is above that of the second one, and how many bytes of samples came between.
fn growth(label: &str, mut each: impl FnMut(&RawSample)) -> (usize, usize) {
    let scratch = Scratch::new(label);
    let clock = clock::calibrate(ClockChoice::Monotonic).unwrap().start();
    let (mut producer, consumer) = ring(RING);
    let config = RecorderConfig {
        part_interval: Nanos::from_millis(10),
        drain_interval: Nanos(100_000),
        anchor_interval: Nanos::from_millis(2),
        ..RecorderConfig::new(scratch.path(), header(Provenance::Live))
    };
    let recorder = Recorder::start(config, vec![consumer], clock).unwrap();
    let (events, noise) = (recorder.events(), recorder.noise());
    let source =
        noise.source(NoiseSourceFacts { name: "steal".into(), unit: "ns".into(), available: Ok(40) });
    let mut seq = 0;
    let mut least = [usize::MAX; 4];
    for least in &mut least {
        for _ in 0..QUARTER {
            for _ in 0..RING {
                let sent = clock.now();
                let sample = raw(sent, Ticks(sent.0 + 2_000), seq);
                each(&sample);
                producer.push(sample);
                seq += 1;
            }
            let now = clock.now();
            events.push(EventKind::Other, now, now, "ring", "it is full");
            noise.push(source, 1.0, now, now);
            while producer.fill() > 0.0 {
                clock::pause(Nanos(50_000));
            }
            *least = held().min(*least);
        }
    }
    let finished = recorder.finish(EndOfRun::new(Ending::Completed)).unwrap();
    assert_eq!((finished.end.samples, finished.end.dropped), (seq, 0));
    (least[3].saturating_sub(least[1]), 2 * QUARTER * RING * size_of::<RawSample>())
}

/// One test, since held memory is of the whole process.
#[test]
fn what_is_held_does_not_grow_with_what_has_passed_and_a_leak_is_seen() {
    let (grew, passed) = growth("memory", |_| {});
    assert!(grew < passed / SHARE, "{grew} of {passed} bytes are still held");
    // A canary: somebody keeps every fourth sample.
    let mut kept = Vec::new();
    let (grew, passed) =
        growth("memory-canary", |sample| kept.extend((sample.seq % 4 == 0).then_some(*sample)));
    assert!(grew > passed / SHARE, "a leak of a quarter was not seen: {grew} of {passed} bytes");
}
