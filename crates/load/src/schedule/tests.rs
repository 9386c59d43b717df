use super::*;
use crate::arrivals::Process;
use crate::doubles::plain;
use crate::spec::{LoadSpec, Model, Think, UserVisit};
use units::Seed;
use workload::NoTickets;

fn sequencer(model: Model, phases: &str) -> Sequencer {
    let spec = LoadSpec { seed: Seed(3), ..plain(model, phases) };
    Sequencer::new(&spec, Box::new(NoTickets)).unwrap()
}

fn open(phases: &str) -> Sequencer {
    sequencer(Model::Open { process: Process::Poisson }, phases)
}

/// Several threads claim while one writes through a small ring: everything is handed out once.
#[test]
fn splitting_over_threads_does_not_change_the_sequence() {
    let mut reference = open("10s@5000/s");
    let expected: Vec<Planned> = std::iter::from_fn(|| reference.next_request()).collect();
    for threads in [1, 2, 5] {
        let schedule = Schedule::new(1 << 12, false, threads);
        let mut writer = Writer::new(open("10s@5000/s"));
        let mut seen: Vec<(u64, Planned)> = std::thread::scope(|scope| {
            let claimers: Vec<_> = (0..threads)
                .map(|session| {
                    let schedule = &schedule;
                    scope.spawn(move || {
                        let mut mine = Vec::new();
                        loop {
                            let number = schedule.take_number(session as u16);
                            loop {
                                match schedule.look_up(number) {
                                    Claim::Request(seq, planned) => {
                                        schedule.release(session as u16);
                                        break mine.push((seq, planned));
                                    }
                                    Claim::NotYet => std::thread::yield_now(),
                                    Claim::Ended => return mine,
                                }
                            }
                        }
                    })
                })
                .collect();
            while !writer.fill(&schedule, 100) {
                std::thread::yield_now();
            }
            claimers.into_iter().flat_map(|c| c.join().unwrap()).collect()
        });
        seen.sort_by_key(|&(seq, _)| seq);
        assert!(seen.iter().enumerate().all(|(i, &(seq, _))| seq == i as u64));
        assert!(seen.iter().map(|s| s.1).eq(expected.iter().copied()), "{threads} threads");
    }
}

#[test]
fn visits_are_claimed_as_a_whole() {
    let visit = UserVisit { mean_requests: 3.0, think: Think::None };
    let model = Model::PartlyOpen { process: Process::Poisson, visit };
    let schedule = Schedule::new(1 << 12, true, 1);
    let mut writer = Writer::new(sequencer(model, "1s@500/s"));
    let mut next = 0;
    loop {
        writer.fill(&schedule, 10);
        match schedule.look_up(schedule.take_number(0)) {
            Claim::Request(seq, planned) => {
                assert_eq!(seq, next);
                assert!(planned.intended.is_some());
                for later in 1..=u64::from(planned.follow) {
                    assert!(schedule.request(seq + later).intended.is_none());
                }
                schedule.release(0);
                next = seq + 1 + u64::from(planned.follow);
            }
            Claim::Ended => break,
            Claim::NotYet => unreachable!("the writer was asked for ten more"),
        }
    }
    assert!(next > 500);
}

#[test]
fn what_nobody_took_is_handed_out_at_the_end() {
    let mut reference = open("1s@20000/s");
    let total = std::iter::from_fn(|| reference.next_request()).count() as u64;
    let schedule = Schedule::new(1 << 12, false, 1);
    let mut writer = Writer::new(open("1s@20000/s"));
    writer.prefill(&schedule);
    for _ in 0..1000 {
        schedule.take_number(0);
    }
    let mut left = Vec::new();
    writer.leftovers(&schedule, Nanos::from_secs(1), |seq, _| left.push(seq));
    assert_eq!(left, (1000..total).collect::<Vec<_>>());
}

/// The ring is full of requests that are due, and the writer is called again after the stop.
#[test]
fn a_stop_of_an_overloaded_run_loses_nothing() {
    let schedule = Schedule::new(1 << 12, false, 1);
    let mut writer = Writer::new(open("10s@10000/s"));
    writer.prefill(&schedule);
    let stop = Nanos::from_secs(5);
    writer.stop_at(&schedule, stop);
    for _ in 0..1000 {
        schedule.take_number(0);
        schedule.release(0);
        writer.fill(&schedule, u64::MAX);
    }
    let mut left = Vec::new();
    writer.leftovers(&schedule, stop, |seq, _| left.push(seq));
    let mut reference = open("10s@10000/s");
    let due = std::iter::from_fn(|| reference.next_request()).filter(|p| p.intended.unwrap() <= stop).count();
    assert_eq!(left, (1000..due as u64).collect::<Vec<_>>());
}

#[test]
fn a_stop_ends_the_schedule_at_the_present() {
    let schedule = Schedule::new(1 << 16, false, 1);
    let mut writer = Writer::new(open("10s@1000/s"));
    writer.prefill(&schedule);
    let half = Nanos::from_secs(5);
    writer.stop_at(&schedule, half);
    let mut reference = open("10s@1000/s");
    let due = std::iter::from_fn(|| reference.next_request()).filter(|p| p.intended.unwrap() <= half).count();
    let mut left = 0;
    writer.leftovers(&schedule, half, |_, _| left += 1);
    assert_eq!(left, due);
    assert_eq!(schedule.look_up(due as u64), Claim::Ended);
}

/// A session is suspended after it has named a number, and goes on when the others have emptied the ring.
#[test]
fn a_claimer_that_fell_behind_gets_its_number() {
    let schedule = Schedule::new(1 << 10, false, 2);
    let mut writer = Writer::new(open("10s@1000/s"));
    writer.prefill(&schedule);
    schedule.reading[0].0.store(0, Ordering::Relaxed);
    while schedule.claimed() < writer.numbers {
        schedule.take_number(1);
        schedule.release(1);
        writer.fill(&schedule, u64::MAX);
    }
    let number = schedule.claimed.0.fetch_add(1, Ordering::AcqRel);
    assert_eq!(schedule.look_up_again(number, 0), Claim::NotYet);
    writer.fill(&schedule, u64::MAX);
    assert!(matches!(schedule.look_up_again(number, 0), Claim::Request(seq, _) if seq == number));
}

/// Sessions that claim without end leave room without end.
#[test]
fn one_call_writes_an_eighth_of_the_ring_at_most() {
    let schedule = Schedule::new(1 << 12, false, 1);
    let mut writer = Writer::new(open("10s@100000/s"));
    schedule.claimed.0.store(1 << 40, Ordering::Relaxed);
    for call in 1..=10 {
        assert!(!writer.fill(&schedule, u64::MAX));
        assert_eq!(writer.numbers, call * (1 << 12) / 8);
    }
}

#[test]
fn little_room_is_not_filled() {
    for visits in [false, true] {
        let visit = UserVisit { mean_requests: 3.0, think: Think::None };
        let model = Model::PartlyOpen { process: Process::Poisson, visit };
        let mut writer =
            Writer::new(if visits { sequencer(model, "10s@10000/s") } else { open("10s@10000/s") });
        let schedule = Schedule::new(1 << 12, visits, 1);
        writer.prefill(&schedule);
        let written = writer.sequencer.position();
        // 256 slots were left for the longest visit.
        loop {
            schedule.take_number(0);
            schedule.release(0);
            let much = writer.unclaimed(&schedule) <= (1 << 12) / 8 * 7;
            writer.fill(&schedule, u64::MAX);
            assert_eq!(writer.sequencer.position() > written, much);
            if much {
                break;
            }
        }
    }
}

#[test]
fn the_phase_of_an_overtaken_number_is_unknown() {
    for visits in [false, true] {
        let visit = UserVisit { mean_requests: 1.0, think: Think::None };
        let model = Model::PartlyOpen { process: Process::Constant, visit };
        let phases = "1s@1000/s, 10s@1000/s";
        let mut writer = Writer::new(if visits { sequencer(model, phases) } else { open(phases) });
        let schedule = Schedule::new(1 << 10, visits, 1);
        writer.prefill(&schedule);
        assert_eq!(schedule.phase_of(0), Some(0));
        for _ in 0..1500 {
            schedule.take_number(0);
            schedule.release(0);
            writer.fill(&schedule, u64::MAX);
        }
        assert!(writer.numbers > 1 << 10, "number 0 is written over");
        assert_eq!((schedule.phase_of(0), schedule.next_phase()), (None, Some(1)), "visits: {visits}");
    }
}
