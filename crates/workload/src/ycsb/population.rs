//! The mix against a model of its table: the population stays, or decays, as documented.

use super::sql::Layout;
use super::*;
use crate::users::NOBODY;
use crate::{OpId, Tickets};
use driver::{Command, Reply, Value, ValueRef};
use std::collections::HashSet;
use units::{Rng, Seed};

/// A table of integer keys that understands the mix's statements.
struct Model {
    layout: Layout,
    keys: HashSet<i64>,
    staged: Vec<(usize, i64)>,
    replies: Vec<Reply>,
}

const BOUND: usize = usize::MAX;

impl Model {
    fn new(ycsb: &Ycsb) -> Model {
        let keys = (0..ycsb.config.records as i64).collect();
        Model { layout: ycsb.layout, keys, staged: Vec::new(), replies: Vec::new() }
    }

    fn execute(&mut self, index: usize, key: i64) -> Reply {
        let layout = self.layout;
        let count = |touched: bool| u64::from(touched);
        if index == layout.read || index == layout.read_locked {
            Reply { rows: count(self.keys.contains(&key)), affected: 0 }
        } else if index == layout.update {
            Reply { rows: 0, affected: count(self.keys.contains(&key)) }
        } else if index == layout.insert || index == layout.restore {
            let inserted = self.keys.insert(key);
            assert!(inserted || index == layout.restore, "key {key} was inserted twice");
            Reply { rows: 0, affected: count(inserted) }
        } else if index == layout.delete {
            Reply { rows: 0, affected: count(self.keys.remove(&key)) }
        } else {
            Reply::default()
        }
    }
}

impl Conversation for Model {
    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        self.staged.push(match command {
            // Of an update the key comes last.
            Command::Statement { index, arguments: [Value::Int(key), ..] | [.., Value::Int(key)] } => {
                (index, *key)
            }
            _ => (BOUND, 0),
        });
        Ok(())
    }

    async fn exchange(&mut self) -> Result<(), OpError> {
        self.replies.clear();
        for (index, key) in std::mem::take(&mut self.staged) {
            let reply = self.execute(index, key);
            self.replies.push(reply);
        }
        Ok(())
    }

    fn reply(&self, command: usize) -> Reply {
        self.replies[command]
    }

    fn value(&self, _command: usize, _row: usize, _column: usize) -> Option<ValueRef<'_>> {
        None
    }
}

/// Requests of the default mix, executed in random order within a window of those in flight.
struct Simulation {
    ycsb: Ycsb,
    model: Model,
    tickets: Box<dyn Tickets>,
    rng: Rng,
    seq: u64,
    in_flight: Vec<Plan>,
}

impl Simulation {
    fn new(records: u64, compat: &str, seed: u64) -> Simulation {
        let overrides =
            [("recordcount".to_owned(), records.to_string()), ("compat".to_owned(), compat.to_owned())];
        let config = YcsbConfig::from_name("ycsb", 1.0, Seed(seed), &overrides).unwrap();
        let ycsb = Ycsb::new(config).unwrap();
        Simulation {
            model: Model::new(&ycsb),
            tickets: ycsb.tickets(),
            rng: Seed(seed).derive("mix").rng(),
            seq: 0,
            in_flight: Vec::new(),
            ycsb,
        }
    }

    /// Starts a request and, once `window` are in flight, completes one of them.
    fn step(&mut self, window: usize) -> Option<(Kind, Outcome)> {
        let op = self.draw_operation();
        let ticket = self.tickets.next(self.seq, op);
        let mut plan = self.ycsb.new_plan();
        self.ycsb.plan(Request { seq: self.seq, op, ticket, user: NOBODY }, &mut plan);
        self.seq += 1;
        self.in_flight.push(plan);
        if self.in_flight.len() < window {
            return None;
        }
        let chosen = self.rng.below(self.in_flight.len() as u64) as usize;
        let plan = self.in_flight.swap_remove(chosen);
        let outcome = run_now(self.ycsb.run(&plan, &mut self.model));
        Some((plan.kind, outcome.unwrap()))
    }

    fn draw_operation(&mut self) -> OpId {
        let mut left = self.rng.below(100) as f64;
        for (index, operation) in self.ycsb.operations().iter().enumerate() {
            left -= operation.weight;
            if left < 0.0 {
                return OpId(index as u8);
            }
        }
        unreachable!("the weights add up to 100")
    }
}

/// Runs a future that never pends.
fn run_now<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(output) => output,
        std::task::Poll::Pending => panic!("the model answers at once"),
    }
}

#[test]
fn the_population_is_stable_and_nothing_misses() {
    let window = 64;
    let mut simulation = Simulation::new(1_000, "none", 11);
    let mut misses = 0;
    let (mut least, mut most) = (usize::MAX, 0);
    for _ in 0..600_000 {
        if let Some((_, outcome)) = simulation.step(window) {
            misses += u64::from(outcome == Outcome::Miss);
        }
        least = least.min(simulation.model.keys.len());
        most = most.max(simulation.model.keys.len());
    }
    assert_eq!(misses, 0);
    assert!(least >= 1_000, "{least}");
    // 128 are held back; inserts beyond wait for the next delete, which is twice as frequent.
    assert!(most <= 1_000 + 128 + window, "{most}");
    assert!((0..1_000).all(|key| simulation.model.keys.contains(&key)));
}

#[test]
fn compat_decays_like_benchbase() {
    // (requests done, share of reads, updates and read-modify-writes that miss, share of keys alive)
    let figures = [(1_000u64, 0.48, 0.94), (5_000, 0.70, 0.79), (10_000, 0.78, 0.67), (50_000, 0.94, 0.27)];
    for (requests, expected_misses, expected_alive) in figures {
        let (mut misses, mut alive) = (0.0, 0.0);
        let runs = 10;
        for seed in 0..runs {
            let (run_misses, run_alive) = decayed(requests, seed);
            misses += run_misses / runs as f64;
            alive += run_alive / runs as f64;
        }
        assert!((misses - expected_misses).abs() < 0.03, "{requests}: {misses:.3} missed");
        assert!((alive - expected_alive).abs() < 0.03, "{requests}: {alive:.3} alive");
    }
}

/// The state after `requests`: the share of further draws that would miss, and of loaded keys alive.
fn decayed(requests: u64, seed: u64) -> (f64, f64) {
    let mut simulation = Simulation::new(1_000, "benchbase", seed);
    for _ in 0..requests {
        simulation.step(1);
    }
    let mut plan = simulation.ycsb.new_plan();
    let draws = 4_000;
    let missed = (0..draws)
        .filter(|draw| {
            let request = Request { seq: simulation.seq + draw, op: OpId(0), ticket: 0, user: NOBODY };
            simulation.ycsb.plan(request, &mut plan);
            !simulation.model.keys.contains(&plan.key)
        })
        .count();
    let alive = (0..1_000).filter(|key| simulation.model.keys.contains(key)).count();
    (missed as f64 / draws as f64, alive as f64 / 1_000.0)
}
