use super::*;
use crate::arrivals::Process;
use crate::local::Shared;
use crate::phases::parse_phases;
use crate::schedule::{Schedule, Writer};
use crate::sequencer::Sequencer;
use crate::spec::{Model, Pacing};
use clock::SimClock;
use driver::{Administration, Command, Conversation, Dialect, StatementSpec, Target};
use driver_null::NullTarget;
use record::RawSample;
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::task::{Context, Poll, Waker};
use units::Seed;
use workload::{NoTickets, Operation, Tickets, WorkloadFacts};

/// A transaction of one statement, which the run's end overtakes if so asked.
struct Transactions {
    shared: &'static Shared,
    overtaken: bool,
}

impl Workload for Transactions {
    type Plan = ();
    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts { name: "transactions".into(), scale: 1.0, parameters: vec![] }
    }
    fn operations(&self) -> Vec<Operation> {
        vec![Operation { name: "Pay", weight: 1.0 }]
    }
    fn statements(&self, _dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
        Ok(vec![])
    }
    fn tickets(&self) -> Box<dyn Tickets> {
        Box::new(NoTickets)
    }
    fn new_plan(&self) {}
    fn plan(&self, _request: Request, _plan: &mut ()) {}
    async fn run<C: Conversation>(&self, _plan: &(), conversation: &mut C) -> Result<Outcome, OpError> {
        if self.overtaken {
            self.shared.abandon.store(true, Ordering::Relaxed);
        }
        conversation.stage(Command::Ping)?;
        let steps = conversation.exchange().await;
        workload::transaction::settled(conversation, steps).await?;
        Ok(Outcome::Ok)
    }
    fn dataset(&self) -> Option<&dyn workload::dataset::DataSet> {
        None
    }
    fn observe(&mut self, _administration: &mut dyn Administration) -> Result<(), String> {
        Ok(())
    }
}

struct Nobody;

impl<S> Replacement<S> for Nobody {
    fn request(&self, _number: u16) {}
    fn take(&self, _number: u16) -> Option<S> {
        None
    }
}

#[derive(Default)]
struct Losses(Cell<u32>);

impl Happenings for Losses {
    fn lost(&self, _session: u16, _at: Ticks, _words: Option<String>) {
        self.0.set(self.0.get() + 1);
    }
    fn replaced(&self, _session: u16, _from: Ticks, _until: Ticks) {}
    fn first_error(&self, _session: u16, _at: Ticks, _outcome: Outcome, _words: String) {}
    fn paused(&self, _at: Ticks) {}
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
            model: Model::Open { process: Process::Constant },
            phases: parse_phases("1s@1000/s").unwrap(),
            operations: vec!["Pay".into()],
            mix: vec![1.0],
            sessions: 1,
            workers: 1,
            requests: None,
            timeout: None,
            drain: Nanos::ZERO,
            retries: 0,
            pacing: Pacing::Sleep,
            cpus: vec![],
            seed: Seed(1),
        };
        let shared = Box::leak(Box::new(Shared {
            schedule: Schedule::new(1, false, 1),
            stop_at: AtomicU64::new(u64::MAX),
            abandon: AtomicBool::new(false),
            session_limits: None,
            made_when_claimed: None,
            phase_ends: vec![Ticks(1_000_000_000)],
            alive: AtomicU64::new(1),
        }));
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
