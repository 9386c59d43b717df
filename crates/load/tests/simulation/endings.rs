//! How loads end: used up, interrupted, or without a connection.

use crate::pings::{Pings, fast, spec};
use driver::OpError;
use load::arrivals::Process;
use load::simulate::{Answer, FifoServer, Server, simulate, simulate_interrupted};
use load::{Model, Sequencer, Think, UserVisit};
use record::RawSample;
use std::collections::HashMap;
use units::{Nanos, Outcome, Ticks};
use workload::NoTickets;

/// Sessions that a phase leaves out wait for its end, but not when there is nothing left to wait for.
#[test]
fn a_load_whose_requests_are_used_up_ends() {
    let models = [
        (Model::Open { process: Process::Poisson }, "60s@1000/s sessions=1"),
        (Model::ThrottledClosed, "60s@1000/s sessions=1"),
        (Model::Closed { think: Think::Constant(Nanos::from_millis(1)) }, "60s sessions=1"),
    ];
    for (model, phases) in models {
        let mut spec = spec(model, phases, 2);
        spec.requests = Some(10);
        let done = simulate_interrupted(&spec, &Pings::Plain, fast(), None).unwrap();
        assert_eq!(done.samples.len(), 10);
        assert!(done.ended < Nanos::from_millis(300), "{:?} ends after {}", spec.model, done.ended);
    }
}

/// The connection breaks with the last of so many requests.
struct BreaksAfter(u64);

impl Server for BreaksAfter {
    fn serve(&mut self, now: Nanos, _session: u16) -> Answer {
        self.0 -= 1;
        let lost = Err(OpError::lost(Outcome::ConnectionLost));
        Answer { at: now + Nanos::from_micros(10), result: if self.0 == 0 { lost } else { Ok(()) } }
    }
}

#[test]
fn nobody_waits_for_a_connection_that_would_have_nothing_to_do() {
    let mut used_up = spec(Model::Open { process: Process::Poisson }, "60s@1000/s", 1);
    used_up.requests = Some(10);
    // A request each millisecond from 0 on, and the end before the eleventh.
    let over = spec(Model::ThrottledClosed, "9001us@1000/s", 1);
    for spec in [used_up, over] {
        let done = simulate_interrupted(&spec, &Pings::Plain, Box::new(BreaksAfter(10)), None).unwrap();
        let last = done.samples.last().unwrap();
        assert_eq!((done.samples.len(), last.outcome), (10, Outcome::ConnectionLost.code()));
        assert!(done.ended.0 - last.completed.0 < 20_000_000, "{:?} waits for a reconnect", spec.model);
    }
}

#[test]
fn an_interrupted_load_does_not_wait_for_what_is_called_off() {
    // A request each second: the session that holds the next one does so long before it is due.
    let spec = spec(Model::Open { process: Process::Constant }, "60s@1/s", 4);
    let stop = Nanos::from_millis(2500);
    for workload in [Pings::Plain, Pings::InTransactions] {
        let done = simulate_interrupted(&spec, &workload, fast(), Some(stop)).unwrap();
        assert_eq!((done.samples.len(), done.connections_lost), (3, 0));
        assert_eq!(done.ended, stop);
    }
}

/// What is due by the stop is sent: the later requests of a visit like the first.
#[test]
fn an_interruption_leaves_no_gap_in_a_visit() {
    let think = Nanos::from_millis(3);
    let visit = UserVisit { mean_requests: 20.0, think: Think::Constant(think) };
    let spec = spec(Model::PartlyOpen { process: Process::Poisson, visit }, "60s@200/s", 200);
    let stop = Nanos::from_millis(700);
    let done = simulate_interrupted(&spec, &Pings::Plain, fast(), Some(stop)).unwrap();
    // The stop is ordered that long ahead.
    let stop_at = (stop + Nanos::from_millis(20)).0;
    let samples: HashMap<u64, RawSample> = done.samples.iter().map(|s| (s.seq, *s)).collect();
    let mut sequencer = Sequencer::new(&spec, Box::new(NoTickets)).unwrap();
    let (mut sent, mut cut_off) = (0, 0);
    let mut completed_before = None;
    for seq in 0.. {
        let planned = sequencer.next_request().unwrap();
        let due = match planned.intended {
            Some(at) if at.0 > stop_at => break,
            Some(at) => Some(Ticks(at.0)),
            None => completed_before.map(|at: Ticks| Ticks(at.0 + think.0)).filter(|due| due.0 <= stop_at),
        };
        let sample = samples.get(&seq);
        assert_eq!(sample.map(|s| s.intended), due, "request {seq}, and the stop at {stop_at}");
        completed_before = sample.map(|s| s.completed);
        *(if sample.is_some() { &mut sent } else { &mut cut_off }) += 1;
    }
    assert_eq!(sent, samples.len());
    assert!(sent > 1000 && cut_off > 50, "{sent} sent, {cut_off} cut off");
}

#[test]
fn an_interruption_after_the_end_changes_nothing() {
    let spec = spec(Model::Open { process: Process::Poisson }, "1s@1000/s", 4);
    let slow = || Box::new(FifoServer::new(Nanos::from_micros(300), vec![]));
    let late = simulate_interrupted(&spec, &Pings::Plain, slow(), Some(Nanos::from_secs(5))).unwrap();
    assert_eq!(simulate(&spec, &Pings::Plain, slow()).unwrap(), late.samples);
}

/// Says that the time is over, of its own accord, after so long.
struct Interrupts(Nanos);

impl Server for Interrupts {
    fn serve(&mut self, now: Nanos, _session: u16) -> Answer {
        Answer { at: now + self.0, result: Err(OpError::refused(Outcome::Timeout)) }
    }
}

/// A blocking session that was interrupted says "timeout", whatever the interrupt was for.
#[test]
fn an_interrupt_is_a_timeout_only_when_the_time_limit_has_passed() {
    let (short, limit) = (Nanos::from_millis(1), Nanos::from_millis(100));
    let cases = [
        (short, Some(limit), Outcome::Unfinished),
        (limit, Some(limit), Outcome::Timeout),
        (short, None, Outcome::Unfinished),
    ];
    for (after, limit, outcome) in cases {
        let mut spec = spec(Model::Open { process: Process::Constant }, "2s@2/s", 1);
        spec.timeout = limit;
        let done = simulate_interrupted(&spec, &Pings::Plain, Box::new(Interrupts(after)), None).unwrap();
        assert_eq!(done.samples.len(), 4);
        assert!(done.samples.iter().all(|s| s.outcome == outcome.code()), "after {after} of {limit:?}");
        assert!(done.samples.iter().all(|s| s.flags == 0 && s.completed.0 - s.sent.0 == after.0));
        assert_eq!(done.connections_lost, 0, "the session stays");
    }
}
