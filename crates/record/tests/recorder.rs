//! The recorder's thread, with real rings and a real clock.

mod fixture;

use clock::{Anchors, Clock, ClockChoice, LiveClock};
use fixture::{Scratch, all_samples, header};
use record::{
    Consumer, EndOfRun, Ending, Event, EventKind, NO_SESSION, NoiseSourceFacts, Producer, Provenance,
    RawSample, Recorder, RecorderConfig, Recording, ring,
};
use units::{Instant, Nanos, Outcome, Ticks};

fn live_clock() -> LiveClock {
    clock::calibrate(ClockChoice::Monotonic).unwrap().start()
}

fn rings(count: usize, capacity: usize) -> (Vec<Producer>, Vec<Consumer>) {
    (0..count).map(|_| ring(capacity)).unzip()
}

fn raw(clock: &LiveClock, seq: u64) -> RawSample {
    let now = clock.now();
    RawSample {
        sent: Ticks(now.0 + 1_000),
        arrived_realtime_ns: clock::wall_time_ns() + 1_500,
        session: 3,
        op: 1,
        outcome: if seq % 10 == 9 { Outcome::Timeout.code() } else { Outcome::Ok.code() },
        retries: 2,
        flags: 1,
        ..fixture::raw(now, Ticks(now.0 + 2_000), seq)
    }
}

fn quick(scratch: &Scratch) -> RecorderConfig {
    RecorderConfig {
        part_interval: Nanos::from_millis(20),
        drain_interval: Nanos::from_millis(1),
        anchor_interval: Nanos::from_millis(5),
        ..RecorderConfig::new(scratch.path(), header(Provenance::Live))
    }
}

/// How far an interval between two anchors' segments may be off: an anchor's readings lie within its bracket, four readings
/// of a clock at tens of ns each, the narrowest bracket of sixteen. (Three such tests at once on two cores are off by
/// 10 ns at most.)
const ANCHOR_ERROR_NS: u64 = 200;

/// Waits for the recorder's thread to reach a state that it is bound to reach.
fn wait_until(mut reached: impl FnMut() -> bool) {
    while !reached() {
        clock::pause(Nanos::from_millis(1));
    }
}

#[test]
fn every_sample_of_every_ring_is_recorded_in_instants() {
    let (mut producers, consumers) = rings(64, 1 << 10);
    let scratch = Scratch::new("recorder");
    let clock = live_clock();
    let recorder = Recorder::start(quick(&scratch), consumers, clock).unwrap();
    let live = recorder.live();
    let total = 64 * 500;
    for (seq, turn) in (0..total).zip((0..64).cycle()) {
        producers[turn].push(raw(&clock, seq));
        if seq % 6_400 == 6_399 {
            wait_until(|| producers[turn].fill() == 0.0);
        }
    }
    wait_until(|| live.snapshot().samples == total);
    let finished = recorder.finish(EndOfRun::new(Ending::Completed)).unwrap();
    assert_eq!((finished.end.samples, finished.end.dropped, finished.end.unwritable), (total, 0, 0));
    assert_eq!(finished.end.outcomes, [(Outcome::Ok, total / 10 * 9), (Outcome::Timeout, total / 10)]);

    let view = live.snapshot();
    assert_eq!((view.offered, view.completed, view.timeouts), (total, total, total / 10));
    assert!(view.newest > Instant::EPOCH);

    let recording = Recording::open(&finished.path).unwrap();
    assert_eq!((recording.unreadable(), recording.end()), (vec![], Some(&finished.end)));
    let mut samples = all_samples(&recording);
    samples.sort_by_key(|sample| sample.seq);
    assert!(samples.iter().map(|sample| sample.seq).eq(0..total));
    for sample in &samples {
        let off = |at: Instant, ns: u64| at.0.abs_diff(sample.intended.0 + ns);
        assert!(off(sample.sent, 1_000) <= 2 && off(sample.completed, 2_000) <= 2, "{sample:?}");
        assert_eq!((sample.session, sample.op, sample.retries, sample.flags), (3, 1, 2, 1));
    }
    assert!(samples.iter().any(|sample| sample.arrived.is_some()), "no kernel stamp could be converted");
    let epoch = recording.header().epoch_wall_ns;
    assert!(epoch > header(Provenance::Live).epoch_wall_ns && epoch <= clock::wall_time_ns());
}

#[test]
fn what_was_not_observed_stays_none() {
    let (mut producers, consumers) = rings(1, 16);
    let scratch = Scratch::new("none");
    let clock = live_clock();
    let recorder = Recorder::start(quick(&scratch), consumers, clock).unwrap();
    producers[0].push(RawSample {
        ready: Ticks::NONE,
        sent: Ticks::NONE,
        arrived_realtime_ns: u64::MAX,
        session: NO_SESSION,
        outcome: Outcome::Unfinished.code(),
        ..raw(&clock, 0)
    });
    let finished = recorder.finish(EndOfRun::new(Ending::Interrupted("^C".to_owned()))).unwrap();
    let samples = all_samples(&Recording::open(&finished.path).unwrap());
    let [sample] = samples.as_slice() else { panic!("{samples:?}") };
    assert_eq!((sample.ready, sample.sent, sample.arrived), (Instant::NONE, Instant::NONE, Instant::NONE));
    assert!(sample.intended.is_some() && sample.completed > sample.intended);
    assert_eq!((sample.session, sample.outcome), (NO_SESSION, Outcome::Unfinished));
}

#[test]
fn events_noise_and_phases_are_converted_too() {
    let scratch = Scratch::new("sinks");
    let clock = live_clock();
    let recorder = Recorder::start(quick(&scratch), vec![], clock).unwrap();
    let (events, noise) = (recorder.events(), recorder.noise());
    let begin = clock.now();
    let end = Ticks(begin.0 + 5_000_000);
    // The anchor that the recorder takes before it converts then lies behind both: nothing is extrapolated.
    wait_until(|| clock.now() > end);
    let steal = noise.source(NoiseSourceFacts { name: "steal".into(), unit: "ns".into(), available: Ok(40) });
    std::thread::scope(|scope| {
        scope.spawn(|| events.clone().push(EventKind::Fault, begin, end, "network", "10 ms for all"));
        scope.spawn(|| noise.clone().push(steal, 2.5, begin, end));
    });
    recorder.update_header(record::RunHeader { target: "null://".to_owned(), ..header(Provenance::Live) });
    recorder.phase_span(0, begin, end);
    recorder.phase_span(200, begin, end); // no such phase
    let finished = recorder.finish(EndOfRun::new(Ending::Completed)).unwrap();
    let recording = Recording::open(&finished.path).unwrap();
    let phase = &recording.header().phases[0];
    let span = end.0 - begin.0;
    let off = (phase.end - phase.begin).0.abs_diff(span);
    assert!(phase.begin.is_some() && off <= ANCHOR_ERROR_NS, "{phase:?} is {off} ns off");
    assert_eq!(recording.header().target, "null://");
    let expected = Event {
        kind: EventKind::Fault,
        begin: phase.begin,
        end: phase.end,
        subject: "network".into(),
        detail: "10 ms for all".into(),
    };
    assert_eq!(recording.events().unwrap(), [expected]);
    let observed = recording.noise().unwrap();
    let [observation] = observed.as_slice() else { panic!("{observed:?}") };
    assert_eq!((observation.value, observation.begin, observation.end), (2.5, phase.begin, phase.end));
    assert_eq!(recording.noise_sources()[usize::from(observation.source)].name, "steal");
}

/// A clock of another program is related to the run: by the anchors of the running recorder, and by those on disk.
#[test]
fn anchors_lead_from_the_hosts_clocks_to_the_run() {
    let scratch = Scratch::new("anchors");
    let clock = live_clock();
    let recorder = Recorder::start(quick(&scratch), vec![], clock).unwrap();
    let events = recorder.events();
    let here = clock.anchor();
    let parts = || std::fs::read_dir(scratch.path().join("anchors")).map_or(0, Iterator::count);
    wait_until(|| parts() > 1);
    let running = recorder.anchors();
    let subject = "server JVM".to_owned();
    let (begin, end) = (Instant(1_000), Instant(3_000));
    let pause = Event { kind: EventKind::JvmPause, begin, end, subject, detail: "all threads: Halt".into() };
    events.happened(pause.clone());
    events.push(EventKind::Other, here.ticks, here.ticks, "here", "");
    let finished = recorder.finish(EndOfRun::new(Ending::Completed)).unwrap();
    let recording = Recording::open(&finished.path).unwrap();
    let found = recording.events().unwrap();
    assert_eq!(found[0], pause);
    let written = recording.anchors().unwrap();
    assert!(written.len() >= 12 && written.is_sorted_by(|a, b| a.ticks < b.ticks), "{written:?}");
    for points in [running, written] {
        let mut anchors = Anchors::new(points[0]);
        points[1..].iter().for_each(|point| anchors.push(*point));
        let slewed = anchors.instant_of_slewed(here.slewed_ns.unwrap()).unwrap();
        let real = anchors.instant_of_realtime(here.realtime_ns).unwrap();
        for seen in [slewed, real] {
            let off = seen.0.abs_diff(found[1].begin.0);
            assert!(off <= 2 * ANCHOR_ERROR_NS, "{seen:?} is {off} ns off");
        }
    }
}

#[test]
fn a_full_ring_is_counted_and_told() {
    let (mut producers, consumers) = rings(1, 8);
    let scratch = Scratch::new("drops");
    let clock = live_clock();
    // Pushed before the recorder runs: it can't have drained in between.
    (0..20).for_each(|seq| producers[0].push(raw(&clock, seq)));
    let recorder = Recorder::start(quick(&scratch), consumers, clock).unwrap();
    let finished = recorder.finish(EndOfRun::new(Ending::Completed)).unwrap();
    assert_eq!((finished.end.samples, finished.end.dropped), (8, 12));
    let events = Recording::open(&finished.path).unwrap().events().unwrap();
    let told = |e: &Event| e.kind == EventKind::Recorder && e.detail == "12 samples found their ring full";
    assert!(events.iter().any(told), "{events:?}");
}

#[test]
fn a_disk_that_refuses_costs_samples_and_not_the_run() {
    let (mut producers, consumers) = rings(1, 1 << 12);
    let scratch = Scratch::new("refuses");
    let clock = live_clock();
    let recorder = Recorder::start(quick(&scratch), consumers, clock).unwrap();
    let live = recorder.live();
    let samples_dir = scratch.path().join("samples");
    std::fs::write(&samples_dir, "in the way").unwrap();
    (0..100).for_each(|seq| producers[0].push(raw(&clock, seq)));
    wait_until(|| live.snapshot().unwritable == 100);
    let trouble = recorder.trouble().unwrap();
    assert!(trouble.contains(&samples_dir.display().to_string()) && !trouble.contains('\n'), "{trouble}");

    // The disk recovers, and the run with it.
    std::fs::remove_file(&samples_dir).unwrap();
    (100..150).for_each(|seq| producers[0].push(raw(&clock, seq)));
    let finished = recorder.finish(EndOfRun::new(Ending::Completed)).unwrap();
    assert_eq!((finished.end.samples, finished.end.unwritable), (50, 100));
    assert_eq!(finished.end.trouble, Some(trouble));
    let recording = Recording::open(&finished.path).unwrap();
    assert_eq!((recording.rows(), recording.unreadable()), (50, vec![]));
    assert!(
        recording.events().unwrap().iter().any(|e| e.detail.starts_with("100 samples could not be written"))
    );
}

#[test]
fn a_directory_that_vanishes_is_an_error_at_the_end() {
    let (mut producers, consumers) = rings(1, 16);
    let scratch = Scratch::new("vanishes");
    let clock = live_clock();
    let recorder = Recorder::start(quick(&scratch), consumers, clock).unwrap();
    std::fs::remove_dir_all(scratch.path()).unwrap();
    std::fs::write(scratch.path(), "in the way").unwrap();
    producers[0].push(raw(&clock, 0));
    let error = recorder.finish(EndOfRun::new(Ending::Completed)).unwrap_err().to_string();
    std::fs::remove_file(scratch.path()).unwrap();
    assert!(error.contains("run.toml"), "{error}");
}

#[test]
fn a_recorder_that_is_dropped_leaves_a_recording_cut_short() {
    let (mut producers, consumers) = rings(1, 16);
    let scratch = Scratch::new("dropped");
    let clock = live_clock();
    let recorder = Recorder::start(quick(&scratch), consumers, clock).unwrap();
    (0..5).for_each(|seq| producers[0].push(raw(&clock, seq)));
    drop(recorder);
    let recording = Recording::open(scratch.path()).unwrap();
    assert_eq!((recording.end(), recording.rows()), (None, 5));
}

#[test]
fn a_place_that_is_taken_is_refused_at_the_start() {
    let scratch = Scratch::new("taken");
    std::fs::create_dir(scratch.path()).unwrap();
    std::fs::write(scratch.path().join("notes.txt"), "").unwrap();
    let error = Recorder::start(quick(&scratch), vec![], live_clock()).err().unwrap().to_string();
    assert!(error.contains("is not empty"), "{error}");
}
