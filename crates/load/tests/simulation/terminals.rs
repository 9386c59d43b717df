//! Terminals: users who think, key in and wait, on any number of sessions.

use crate::pings::spec;
use driver::{Administration, Command, Conversation, Dialect, OpError, StatementSpec};
use load::simulate::{FifoServer, Server, simulate};
use load::{LoadSpec, Model};
use proptest::prelude::*;
use record::RawSample;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Mutex;
use units::{Nanos, Outcome, Rng, Seed};
use workload::dataset::DataSet;
use workload::users::{NOBODY, Turn, Users};
use workload::{NoTickets, OpId, Operation, Request, Tickets, Workload, WorkloadFacts};

/// Users whose turns are drawn from the seed, user and turn, each request one ping.
#[derive(Clone)]
struct Office {
    users: u32,
    seed: Seed,
    /// Longest keying and thinking.
    longest: (Nanos, Nanos),
    turns: Vec<u64>,
}

impl Office {
    fn new(users: u32, seed: u64, keying: Nanos, thinking: Nanos) -> Office {
        Office { users, seed: Seed(seed), longest: (keying, thinking), turns: vec![0; users as usize] }
    }
}

impl Users for Office {
    fn count(&self) -> u32 {
        self.users
    }

    fn next(&mut self, user: u32) -> Turn {
        let turn = &mut self.turns[user as usize];
        let mut rng: Rng = self.seed.derive(&format!("user {user}")).at(*turn);
        *turn += 1;
        let op = OpId(rng.below(2) as u8);
        let mut drawn = |longest: Nanos| Nanos(rng.below(longest.0 + 1));
        Turn { op, keying: drawn(self.longest.0), thinking: drawn(self.longest.1) }
    }
}

/// Each request must be the turn that its user is in, which is followed here.
struct Asking(Office, Mutex<Office>);

impl Asking {
    fn new(office: &Office) -> Asking {
        Asking(office.clone(), Mutex::new(office.clone()))
    }
}

impl Workload for Asking {
    type Plan = ();

    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts { name: "office".into(), scale: 1.0, parameters: vec![] }
    }

    fn operations(&self) -> Vec<Operation> {
        ["Ping", "Pong"].map(|name| Operation { name, weight: 1.0 }).to_vec()
    }

    fn statements(&self, _: Dialect) -> Result<Vec<StatementSpec>, String> {
        Ok(vec![])
    }

    fn tickets(&self) -> Box<dyn Tickets> {
        Box::new(NoTickets)
    }

    fn new_plan(&self) {}

    fn plan(&self, request: Request, _: &mut ()) {
        assert!(request.user != NOBODY);
        assert_eq!(request.op, self.1.lock().unwrap().next(request.user).op, "user {}", request.user);
    }

    async fn run<C: Conversation>(&self, _plan: &(), conversation: &mut C) -> Result<Outcome, OpError> {
        conversation.stage(Command::Ping)?;
        conversation.exchange().await?;
        Ok(Outcome::Ok)
    }

    fn users(&self) -> Option<Box<dyn Users>> {
        Some(Box::new(self.0.clone()))
    }

    fn dataset(&self) -> Option<&dyn DataSet> {
        None
    }

    fn observe(&mut self, _: &mut dyn Administration) -> Result<(), String> {
        Ok(())
    }
}

fn load(office: &Office, sessions: u32, phases: &str, server: FifoServer) -> Vec<RawSample> {
    let spec = LoadSpec { sessions, ..spec(Model::Terminals, phases, sessions) };
    simulate(&spec, &Asking::new(office), Box::new(server)).unwrap()
}

/// What must come of it, written down slowly: (asked, sent, completed, operation), in the order of asking. Users ask, wait
/// for the session that is free first, are served, think. Who never got a session before the end is not there.
fn truth(office: &Office, sessions: u32, end: u64, mut server: FifoServer) -> Vec<(u64, u64, u64, u8)> {
    let mut office = office.clone();
    let seed = Seed(11).derive("terminals"); // the load's own seed, see `spec`
    let mut turns: Vec<Turn> = (0..office.users).map(|user| office.next(user)).collect();
    let mut asking: BinaryHeap<Reverse<(u64, u32)>> = (0_u32..)
        .zip(&turns)
        .map(|(user, turn)| {
            let cycle = turn.keying.0 + turn.thinking.0;
            Reverse(((seed.at(u64::from(user)).unit() * cycle as f64) as u64, user))
        })
        .collect();
    let mut free: BinaryHeap<Reverse<u64>> = (0..sessions).map(|_| Reverse(0)).collect();
    let mut seen = Vec::new();
    while let Some(Reverse((at, user))) = asking.pop() {
        if at >= end {
            continue;
        }
        let Reverse(session) = free.pop().unwrap();
        let sent = at.max(session);
        let completed = server.serve(Nanos(sent), 0).at.0;
        free.push(Reverse(completed));
        let turn = turns[user as usize];
        seen.push((at, sent, completed, turn.op.0));
        turns[user as usize] = office.next(user);
        asking.push(Reverse((completed + turn.thinking.0 + turns[user as usize].keying.0, user)));
    }
    seen.sort_unstable();
    seen
}

fn found(samples: &[RawSample]) -> Vec<(u64, u64, u64, u8)> {
    let mut found: Vec<_> = samples.iter().map(|s| (s.intended.0, s.sent.0, s.completed.0, s.op)).collect();
    found.sort_unstable();
    found
}

const MS: u64 = 1_000_000;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the users, sessions, server and its stall: what was asked, when it was sent and answered is the truth.
    #[test]
    fn terminals_are_as_a_slow_model_has_them(
        users in 1_u32..30,
        few in 1_u32..30,
        keying in 0_u64..50,
        thinking in 1_u64..100,
        service in 1_u64..3_000,
        stall in 0_u64..300,
        seed in 0_u64..1_000_000,
    ) {
        let sessions = few.min(users);
        let office = Office::new(users, seed, Nanos(keying * MS), Nanos(thinking * MS));
        let stalls = vec![(Nanos::from_millis(400), Nanos::from_millis(400 + stall))];
        let server = || FifoServer::new(Nanos::from_micros(service), stalls.clone()).answer_after_service();
        let samples = load(&office, sessions, "1s", server());
        prop_assert_eq!(found(&samples), truth(&office, sessions, 1_000 * MS, server()));
        prop_assert!(samples.iter().all(|s| s.sent == s.ready), "lag without a harness delay");
    }
}

/// Interactive response time law: X = N/(Z + R).
#[test]
fn as_many_ask_as_the_law_says() {
    let office = Office::new(10_000, 1, Nanos::from_secs(10), Nanos::from_secs(30));
    let samples = load(&office, 100, "100s", FifoServer::new(Nanos::from_micros(10), vec![]));
    let per_second = samples.len() as f64 / 100.0;
    assert!((per_second - 500.0).abs() < 10.0, "{per_second} requests/s of 10,000 users with cycles of 20 s");
    let waited = samples.iter().filter(|s| s.ready > s.intended).count();
    assert_eq!(waited, 0, "a hundred sessions are more than enough");
}

/// While the server stands still nobody who waits asks again: each of the 100 users at most once.
#[test]
fn who_waits_does_not_ask() {
    let office = Office::new(100, 2, Nanos::ZERO, Nanos::from_millis(200));
    let stall = (Nanos::from_secs(2), Nanos::from_secs(4));
    let samples = load(&office, 10, "6s", FifoServer::new(Nanos::from_micros(10), vec![stall]));
    let within = |s: &&RawSample| (2_000 * MS..4_000 * MS).contains(&s.intended.0);
    assert_eq!(samples.iter().filter(within).count(), 100, "all have asked, and wait");
    // Ten hold the sessions, ninety wait for one: their response times say how long, whoever has the session.
    let waited = samples.iter().filter(within).filter(|s| s.ready > s.intended).count();
    assert_eq!(waited, 90);
}

#[test]
fn what_terminals_can_not_have_is_refused() {
    let office = Office::new(4, 1, Nanos::ZERO, Nanos::from_millis(1));
    let refused = |spec: LoadSpec| simulate(&spec, &Asking::new(&office), fast()).unwrap_err().to_string();
    let terminals = |phases: &str, sessions| spec(Model::Terminals, phases, sessions);
    assert!(refused(terminals("1s@100/s", 1)).contains("a rate: terminals ask when they have thought"));
    assert!(refused(terminals("1s mix=Ping=1", 1)).contains("a mix"));
    assert!(refused(terminals("1s sessions=1", 1)).contains("sessions of its own"));
    assert!(refused(terminals("1s", 5)).contains("--sessions 5: there are 4 terminals"));
    let none = simulate(&terminals("1s", 1), &crate::pings::Pings::Plain, fast()).unwrap_err();
    assert!(none.to_string().contains("has no terminals"), "{none}");
}

fn fast() -> Box<dyn Server> {
    crate::pings::fast()
}
