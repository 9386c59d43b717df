use super::*;
use crate::arrivals::Process;
use crate::doubles::{numbered_requests, plain};
use crate::local::Shared;
use crate::schedule::Writer;
use crate::sequencer::Sequencer;
use crate::simulate::Losses;
use crate::spec::Model;
use crate::unit_doubles::{Nobody, shared};
use clock::SimClock;
use driver::{Command, Conversation, Target};
use driver_null::NullTarget;
use record::RawSample;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use workload::NoTickets;

/// A transaction of one statement, which the run's end overtakes if so asked.
struct Transactions {
    shared: &'static Shared,
    overtaken: bool,
}

impl Workload for Transactions {
    numbered_requests!("Pay");
    async fn run<C: Conversation>(&self, _plan: &u64, conversation: &mut C) -> Result<Outcome, OpError> {
        if self.overtaken {
            self.shared.abandon.store(true, Ordering::Relaxed);
        }
        conversation.stage(Command::Ping)?;
        let steps = conversation.exchange().await;
        workload::transaction::settled(conversation, steps).await?;
        Ok(Outcome::Ok)
    }
}

/// One session of an open loop on the simulated clock.
struct Alone {
    spec: LoadSpec,
    writer: Writer,
    shared: &'static Shared,
    clock: SimClock,
    losses: Losses,
}

impl Alone {
    fn new() -> Alone {
        let spec = LoadSpec {
            operations: vec!["Pay".into()],
            ..plain(Model::Open { process: Process::Constant }, "1s@1000/s")
        };
        let shared = Box::leak(Box::new(Shared { phase_ends: vec![Ticks(1_000_000_000)], ..shared(1, 1) }));
        let writer = Writer::new(Sequencer::new(&spec, Box::new(NoTickets)).unwrap());
        Alone { spec, writer, shared, clock: SimClock::new(), losses: Losses::default() }
    }

    /// Polls the session until it ends; between two polls 1 ms passes and `meanwhile` acts.
    fn run(&mut self, overtaken: bool, mut meanwhile: impl FnMut(&mut Writer, &Shared)) -> Vec<RawSample> {
        let workload = Transactions { shared: self.shared, overtaken };
        let conditions = Conditions {
            spec: &self.spec,
            workload: &workload,
            replacement: &Nobody,
            happenings: &self.losses,
            lead_in: Ticks::EPOCH,
        };
        let local = Local::new(self.clock.clone(), self.shared, Vec::new(), 1, None, None);
        let session = NullTarget::new().connect(&[], None).unwrap();
        {
            let mut future = pin!(run_session(session, 0, 0, &local, &conditions));
            while future.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Pending {
                meanwhile(&mut self.writer, self.shared);
                self.clock.advance_to(Ticks(self.clock.now().0 + 1_000_000));
                local.next_waiting();
            }
        }
        local.sink.take()
    }
}

/// The rollback is refused as well, which a workload takes for a lost session.
#[test]
fn a_request_that_was_never_sent_loses_no_connection() {
    let mut alone = Alone::new();
    alone.writer.prefill(&alone.shared.schedule);
    let samples = alone.run(true, |_, _| ());
    assert_eq!(samples.len(), 1);
    assert_eq!((samples[0].sent, samples[0].outcome), (Ticks::NONE, Outcome::Unfinished.code()));
    assert_eq!(alone.losses.0.get(), 0);
}

/// The schedule's writer comes to a number in the moment in which its session stops waiting for it.
#[test]
fn an_arrival_that_is_written_too_late_is_not_lost() {
    for written_before in [true, false] {
        let mut alone = Alone::new();
        let samples = alone.run(false, |writer, shared| {
            if written_before {
                writer.fill(&shared.schedule, u64::MAX);
            }
            shared.abandon.store(true, Ordering::Relaxed);
        });
        alone.writer.fill(&alone.shared.schedule, u64::MAX);
        let mut seen: Vec<u64> = samples.iter().map(|s| s.seq).collect();
        alone.writer.leftovers(&alone.shared.schedule, Nanos::from_secs(1), |seq, _| seen.push(seq));
        seen.sort_unstable();
        assert_eq!(seen, (0..1000).collect::<Vec<_>>(), "written before: {written_before}");
    }
}
