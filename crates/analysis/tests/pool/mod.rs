//! A pool of sessions on one worker thread in front of a server with one CPU, either of which may stand still: what each
//! request would have taken without that is known by running the same requests again.
#![allow(dead_code, reason = "each test file uses its share")]

use crate::made::{MS, Run, S, request};
use record::{Event, EventKind, LoadModel, NoiseObservation, NoiseSourceFacts, Sample};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use units::{Instant, Nanos, Seed};

/// What the worker takes for a request and for an answer, each.
const ACTION: u64 = 5_000;

/// The times in which something stands still, [begin, end), in order and apart.
pub type Stalls = Vec<(u64, u64)>;

/// One load and what is planted in it.
#[derive(Clone)]
pub struct Pool {
    pub seed: Seed,
    pub seconds: u64,
    /// Arrivals per millisecond on average.
    pub rate: f64,
    pub sessions: usize,
    /// Mean service time, ns; exponential.
    pub service: f64,
    /// The worker does not run.
    pub client: Stalls,
    /// The server does not run.
    pub server: Stalls,
    /// The server is this many times slower.
    pub slower: Vec<(u64, u64, f64)>,
    /// Whether the kernel stamps answers.
    pub stamps: bool,
}

impl Pool {
    /// 20 s at 1/ms, half of what the server can do.
    pub fn new(seed: u64) -> Pool {
        Pool {
            seed: Seed(seed),
            seconds: 20,
            rate: 1.0,
            sessions: 16,
            service: 0.5e6,
            client: Vec::new(),
            server: Vec::new(),
            slower: Vec::new(),
            stamps: true,
        }
    }

    /// The samples of the load.
    pub fn run(&self) -> Run {
        let mut run = Run::new(LoadModel::Open, self.seconds);
        run.samples = self.samples();
        run
    }

    /// The response time of each request without anything planted, ns.
    pub fn without(&self) -> HashMap<u64, u64> {
        let plain = Pool { client: vec![], server: vec![], slower: vec![], ..self.clone() };
        plain.samples().iter().map(|s| (s.seq, s.completed.0 - s.intended.0)).collect()
    }

    fn service_of(&self, seq: u64) -> u64 {
        (self.service * self.seed.derive("service").at(seq).exponential()) as u64 + 1
    }

    /// The worker does one thing at a time, in the order in which they are to be done.
    fn samples(&self) -> Vec<Sample> {
        let mut waiting: VecDeque<Sample> = self.arrivals().collect();
        let mut free: BinaryHeap<Reverse<u64>> = vec![Reverse(0); self.sessions].into();
        let mut in_flight: VecDeque<Sample> = VecDeque::new();
        let mut done = Vec::with_capacity(waiting.len());
        let (mut worker, mut server) = (0, 0);
        loop {
            // The session that has been free for longest takes the next request.
            let next = waiting.front().zip(free.peek()).map(|(r, free)| r.intended.0.max(free.0));
            let answer = in_flight.front().map(|s| s.arrived.0);
            match (next, answer) {
                (None, None) => return done,
                (Some(due), answer) if answer.is_none_or(|at| due <= at) => {
                    let Some(mut one) = waiting.pop_front() else { return done };
                    free.pop();
                    one.ready = Instant(due);
                    worker = running(&self.client, worker.max(due)) + ACTION;
                    one.sent = Instant(worker);
                    server = self.served(server.max(worker), self.service_of(one.seq));
                    one.arrived = Instant(server);
                    in_flight.push_back(one);
                }
                _ => {
                    let Some(mut one) = in_flight.pop_front() else { return done };
                    worker = running(&self.client, worker.max(one.arrived.0)) + ACTION;
                    one.completed = Instant(worker);
                    free.push(Reverse(worker));
                    if !self.stamps {
                        one.arrived = Instant::NONE;
                    }
                    done.push(one);
                }
            }
        }
    }

    fn arrivals(&self) -> impl Iterator<Item = Sample> {
        let mut rng = self.seed.derive("arrivals").rng();
        let mean = MS as f64 / self.rate;
        let end = self.seconds * S;
        let times =
            std::iter::successors(Some(0u64), move |at| Some(at + (mean * rng.exponential()) as u64 + 1));
        times.take_while(move |at| *at < end).zip(0..).map(|(at, seq)| request(at, seq))
    }

    /// When work that begins at `at` is done.
    fn served(&self, at: u64, work: u64) -> u64 {
        let slower = self.slower.iter().find(|(begin, end, _)| (*begin..*end).contains(&at));
        let mut left = slower.map_or(work, |(_, _, times)| (work as f64 * times) as u64);
        let mut now = running(&self.server, at);
        while let Some((begin, end)) = self.server.iter().find(|(begin, _)| *begin >= now) {
            if now + left <= *begin {
                break;
            }
            left -= begin - now;
            now = *end;
        }
        now + left
    }
}

/// When something can be done that is due at `at`.
fn running(stalls: &[(u64, u64)], at: u64) -> u64 {
    stalls.iter().find(|(begin, end)| (*begin..*end).contains(&at)).map_or(at, |stall| stall.1)
}

/// `count` intervals of `length` at random places of `seconds`, in order and apart.
pub fn scattered(seed: u64, count: u64, length: u64, seconds: u64) -> Stalls {
    let mut rng = Seed(seed).derive("scattered").rng();
    let gap = seconds * S / count;
    (0..count).map(|i| i * gap + rng.below(gap - length)).map(|begin| (begin, begin + length)).collect()
}

/// A source that watches a CPU and saw these stalls.
pub fn watched(run: &mut Run, cpu: usize, stalls: &[(u64, u64)]) {
    let source = announce(run, &format!("hiccup cpu {cpu}"), Ok(150));
    run.input.noise.extend(stalls.iter().map(|(begin, end)| NoiseObservation {
        source,
        value: (end - begin) as f64,
        begin: Instant(*begin),
        end: Instant(*end),
    }));
}

/// A noise source, available or not; gives its number.
pub fn announce(run: &mut Run, name: &str, available: Result<u64, String>) -> u16 {
    let unit = "ns".to_owned();
    run.input.noise_sources.push(NoiseSourceFacts { name: name.to_owned(), unit, available });
    run.input.noise_sources.len() as u16 - 1
}

/// The recording says who runs where.
pub fn runs_on(run: &mut Run, client: &str, server: &str) {
    run.input.info.header.capabilities = vec![
        (format!("workers on CPUs {client}"), "granted".to_owned()),
        (format!("server on CPUs {server}"), "as asked".to_owned()),
    ];
}

pub fn event(kind: EventKind, (begin, end): (u64, u64), subject: &str) -> Event {
    Event {
        kind,
        begin: Instant(begin),
        end: Instant(end),
        subject: subject.to_owned(),
        detail: String::new(),
    }
}

/// The time of a request.
pub fn whole(sample: &Sample) -> Nanos {
    sample.completed - sample.intended
}
