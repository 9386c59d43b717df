//! On a server, with many sessions at once.

use crate::parts::goes_on_where_it_was;
use crate::support::{broken, epinions, load, seats};
use driver::{Direct, Isolation, Session, Target, TargetUrl};
use driver_postgres::PostgresTarget;
use std::collections::BTreeMap;
use std::sync::Mutex;
use testkit::postgres::{Options, server};
use units::{Outcome, Seed};
use workload::users::NOBODY;
use workload::{OpId, Request, Workload};

const SESSIONS: usize = 8;

/// Requests 0 … n − 1 in order, as a schedule hands them out.
struct Schedule<'a, W> {
    workload: &'a W,
    requests: u64,
    next: Mutex<(u64, Box<dyn workload::Tickets>)>,
}

impl<W: Workload> Schedule<'_, W> {
    fn take(&self) -> Option<Request> {
        let mut next = self.next.lock().unwrap();
        let seq = next.0;
        if seq == self.requests {
            return None;
        }
        next.0 += 1;
        let operations = self.workload.operations();
        let mut left =
            Seed(3).at(seq).unit() * operations.iter().map(|operation| operation.weight).sum::<f64>();
        let at = operations.iter().position(|operation| {
            left -= operation.weight;
            left < 0.0
        });
        let op = OpId(at.unwrap() as u8);
        Some(Request { seq, op, ticket: next.1.next(seq, op), user: NOBODY })
    }
}

/// How many requests of each operation ended how.
pub type Ends = BTreeMap<(&'static str, &'static str), u64>;

pub fn run_side_by_side<T: Target, W: Workload>(
    target: &T,
    workload: &W,
    requests: u64,
    isolation: Option<Isolation>,
    retried: &[Outcome],
) -> Ends {
    let schedule = Schedule { workload, requests, next: Mutex::new((0, workload.tickets())) };
    let statements = workload.statements(target.dialect()).unwrap();
    let ends = Mutex::new(Ends::new());
    std::thread::scope(|scope| {
        for _ in 0..SESSIONS {
            scope.spawn(|| {
                let mut session = target.connect(&statements, isolation).unwrap();
                let mut plan = workload.new_plan();
                while let Some(request) = schedule.take() {
                    workload.plan(request, &mut plan);
                    let name = workload.operations()[usize::from(request.op.0)].name;
                    let outcome = loop {
                        let mut direct = Direct::new(&mut session);
                        match Direct::<T::Session>::run(workload.run(&plan, &mut direct)) {
                            Ok(outcome) => break outcome,
                            Err(error) if retried.contains(&error.outcome) => {}
                            Err(error) => panic!("{name}: {error:?}: {:?}", session.last_error()),
                        }
                    };
                    *ends.lock().unwrap().entry((name, outcome.name())).or_insert(0) += 1;
                }
            });
        }
    });
    ends.into_inner().unwrap()
}

fn target(server: &testkit::postgres::Server) -> PostgresTarget {
    PostgresTarget::from_url(&TargetUrl::parse(&server.unix_url()).unwrap()).unwrap()
}

#[test]
fn epinions_stays_sound() {
    let Some(server) = server(&Options::default()) else { return };
    let target = target(&server);
    goes_on_where_it_was(&target, &epinions(0.1, &[]));
    let random = epinions(3.0, &[]);
    load(&target, &random, 2);
    assert_eq!(broken(&target, &random), [] as [String; 0]);
    let ends = run_side_by_side(&target, &random, 4_000, None, &[Outcome::Deadlock]);
    assert!(ends[&("UpdateReviewRating", "miss")] > 300, "{ends:?}");
    let existing = epinions(3.0, &[("pairs", "existing")]);
    let ends = run_side_by_side(&target, &existing, 4_000, None, &[Outcome::Deadlock]);
    assert!(ends.keys().all(|(_, outcome)| *outcome == "ok"), "{ends:?}");
    assert_eq!(broken(&target, &random), [] as [String; 0]);
}

#[test]
fn seats_keeps_its_invariants_while_many_write() {
    let Some(server) = server(&Options::default()) else { return };
    let target = target(&server);
    goes_on_where_it_was(&target, &seats(&[]));
    let mut calm = seats(&[]);
    load(&target, &calm, 2);
    assert_eq!(broken(&target, &calm), [] as [String; 0]);
    calm.observe(&mut *target.administer().unwrap()).unwrap();
    let ends = run_side_by_side(&target, &calm, 6_000, None, &[Outcome::Deadlock]);
    assert_eq!(broken(&target, &calm), [] as [String; 0]);
    let aborted: u64 = ends.iter().filter(|((_, outcome), _)| *outcome != "ok").map(|(_, n)| n).sum();
    // What is in flight is left alone, unless a session is held up for 128 requests.
    assert!(aborted < 30, "{ends:?}");

    // Four flights for all: sessions meet on rows and pass each other between look and change.
    // A deadlock is the server's to find: it gives one of two up, and that one is tried again.
    let retried = [Outcome::Deadlock, Outcome::Serialization];
    for (isolation, retried) in [(None, &retried[..1]), (Some(Isolation::Serializable), &retried)] {
        let mut crowded = seats(&[("flightcache", "4"), ("outstanding", "0")]);
        crowded.observe(&mut *target.administer().unwrap()).unwrap();
        let ends = run_side_by_side(&target, &crowded, 3_000, isolation, retried);
        assert!(ends.keys().all(|(_, outcome)| ["ok", "abort"].contains(outcome)), "{ends:?}");
        assert_eq!(broken(&target, &crowded), [] as [String; 0], "{isolation:?}");
    }
}
