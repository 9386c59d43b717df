//! The fixed set of scenarios, as data.
//!
//! Each exists in two sizes of the same shape. The simulated one is the size of the paper's experiment (Friedrich et al.,
//! BTW 2017: 90 s at 1,000/s, a stall of 1 s); the live one is short enough to be run with every tool.

use load::arrivals::Process;
use load::{LoadSpec, Model, Pacing, Phase};
use store::Draw;
use units::{Nanos, PerSecond, Seed};

/// The two sizes of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// For the simulated clock.
    Simulated,
    /// For runs against a store over the network.
    Live,
}

/// How long the store works on a request once its turn has come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Service {
    /// Always as long.
    Constant(Nanos),
    /// Pareto with this minimum and tail index: its variance is infinite up to an index of 2.
    Pareto {
        /// Minimum.
        minimum: Nanos,
        /// Tail index.
        alpha: f64,
    },
    /// Constant but for a share of slow requests, drawn.
    Slow {
        /// Of most of them.
        usual: Nanos,
        /// Of the slow ones.
        slow: Nanos,
        /// Share of the slow ones, per cent, in 1..=99.
        percent: u8,
    },
}

/// When the store stands still.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hiccups {
    /// Begin of the first.
    pub first: Nanos,
    /// Length of each.
    pub length: Nanos,
    /// From begin to begin; `None`: there is one.
    pub every: Option<Nanos>,
}

/// How the store behaves: what of its timing model a scenario uses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Timing {
    /// Requests that may begin per second, one after the other; `None` is no limit.
    pub capacity: Option<PerSecond>,
    /// Places, each taken for the service time; `None`: as many as there are requests.
    pub servers: Option<u32>,
    /// The service time.
    pub service: Service,
    /// Stalls, during which the store's time stands still.
    pub hiccups: Option<Hiccups>,
    /// Added to each answer in real time, as a network does.
    pub delay: Nanos,
}

impl Timing {
    /// As the store's settings.
    pub fn model(&self) -> store::Model {
        let service = store::Service { operation: None, draw: self.service.draw() };
        let hiccup = |hiccups: Hiccups| store::Hiccup {
            length: Draw::constant(hiccups.length),
            first: hiccups.first,
            every: hiccups.every.map(Draw::constant),
        };
        store::Model {
            service: vec![service],
            servers: self.servers,
            capacity: self.capacity,
            hiccups: self.hiccups.map(hiccup).into_iter().collect(),
            delay: Draw::constant(self.delay),
            ..store::Model::default()
        }
    }
}

impl Service {
    /// As the store draws it.
    fn draw(self) -> Draw {
        let text = match self {
            Service::Constant(time) => return Draw::constant(time),
            Service::Pareto { minimum, alpha } => format!("pareto:{}ns,{alpha}", minimum.0),
            Service::Slow { usual, slow, percent } => {
                format!("{}% {}ns + {percent}% {}ns", 100 - percent, usual.0, slow.0)
            }
        };
        // A text that the store could not read would be a service time of zero, which no scenario's grade survives.
        text.parse().unwrap_or_default()
    }
}

/// One scenario in one size.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// A name for files, anchors and flags.
    pub name: &'static str,
    /// What it asks, in one line.
    pub asks: &'static str,
    /// Offered rate.
    pub rate: PerSecond,
    /// How requests arrive.
    pub arrivals: Process,
    /// Sessions of the tool.
    pub sessions: u32,
    /// How long requests are offered.
    pub duration: Nanos,
    /// How the store behaves.
    pub timing: Timing,
    /// Seed of arrivals and of what the store draws.
    pub seed: Seed,
}

/// The names of all scenarios, in their order.
pub const NAMES: [&str; 11] = [
    "steady",
    "poisson",
    "hiccup-50",
    "hiccup-80",
    "hiccup-90",
    "hiccup-95",
    "periodic",
    "heavy-tail",
    "overload",
    "slow-requests",
    "many-sessions",
];

/// All scenarios in one size, in the order of [`NAMES`].
pub fn all(size: Size) -> Vec<Scenario> {
    NAMES.iter().filter_map(|name| by_name(name, size)).collect()
}

/// The scenario of this name; `None` if there is none.
pub fn by_name(name: &str, size: Size) -> Option<Scenario> {
    let base = base(size);
    let hiccup = |load: f64| gated(&base, load, Some(one_hiccup(size)));
    let (name, asks, scenario) = match name {
        "steady" => {
            (NAMES[0], "Nothing happens: does the tool add anything of its own?", gated(&base, 0.5, None))
        }
        "poisson" => (
            NAMES[1],
            "Arrivals at random, half of the capacity: are short queues between neighbours seen?",
            Scenario { arrivals: Process::Poisson, ..gated(&base, 0.5, None) },
        ),
        "hiccup-50" => (NAMES[2], "One hiccup, and the queue after it drains at once", hiccup(0.5)),
        "hiccup-80" => (NAMES[3], "One hiccup at 80 % load: four times its length to recover", hiccup(0.8)),
        "hiccup-90" => (NAMES[4], "One hiccup at 90 % load: nine times its length to recover", hiccup(0.9)),
        "hiccup-95" => (NAMES[5], "One hiccup at 95 % load: most of the run is its aftermath", hiccup(0.95)),
        "periodic" => (
            NAMES[6],
            "A short hiccup again and again, as garbage collectors and checkpoints make them",
            gated(&base, 0.8, Some(periodic(size))),
        ),
        "heavy-tail" => (
            NAMES[7],
            "Service times without a finite variance, eight at a time: is the far tail kept?",
            heavy_tail(&base),
        ),
        "overload" => (
            NAMES[8],
            "A tenth more is offered than can be served: is the growing backlog seen?",
            gated(&base, 1.1, None),
        ),
        "slow-requests" => (
            NAMES[9],
            "Few sessions and some slow requests: is the wait for a free session counted?",
            slow_requests(&base),
        ),
        "many-sessions" => (
            NAMES[10],
            "One hiccup, met by many sessions at once",
            Scenario { sessions: if size == Size::Simulated { 512 } else { 256 }, ..hiccup(0.8) },
        ),
        _ => return None,
    };
    Some(Scenario { name, asks, ..scenario })
}

/// What the scenarios of a size have in common.
fn base(size: Size) -> Scenario {
    let (rate, seconds) = match size {
        Size::Simulated => (1_000.0, 90),
        // p99.9 needs 10,000 requests.
        Size::Live => (2_000.0, 8),
    };
    Scenario {
        name: "",
        asks: "",
        rate: PerSecond::of(rate as u64, Nanos::from_secs(1)),
        arrivals: Process::Constant,
        sessions: 32,
        duration: Nanos::from_secs(seconds),
        timing: Timing {
            capacity: None,
            servers: None,
            service: Service::Constant(Nanos::from_micros(200)),
            hiccups: None,
            delay: Nanos::ZERO,
        },
        seed: Seed(2017),
    }
}

/// With a capacity of which the offered rate is the share `load`.
fn gated(base: &Scenario, load: f64, hiccups: Option<Hiccups>) -> Scenario {
    let capacity = PerSecond::new(base.rate.get() / load);
    Scenario { timing: Timing { capacity, hiccups, ..base.timing }, ..base.clone() }
}

fn one_hiccup(size: Size) -> Hiccups {
    let (first, length) = match size {
        Size::Simulated => (Nanos::from_secs(30), Nanos::from_secs(1)),
        // At 95 % load it takes 6 s until the queue has drained, and the run lasts 8 s.
        Size::Live => (Nanos::from_secs(1), Nanos::from_millis(300)),
    };
    Hiccups { first, length, every: None }
}

fn periodic(size: Size) -> Hiccups {
    let (first, length, every) = match size {
        Size::Simulated => (5_000, 200, 10_000),
        Size::Live => (500, 60, 1_000),
    };
    let millis = Nanos::from_millis;
    Hiccups { first: millis(first), length: millis(length), every: Some(millis(every)) }
}

fn heavy_tail(base: &Scenario) -> Scenario {
    // A third of the eight places is taken in the mean.
    let mean_s = 8.0 / 3.0 / base.rate.get();
    let alpha = 1.5;
    let service = Service::Pareto { minimum: Nanos::from_secs_f64(mean_s * (alpha - 1.0) / alpha), alpha };
    let timing = Timing { servers: Some(8), service, ..base.timing };
    Scenario { timing, ..base.clone() }
}

fn slow_requests(base: &Scenario) -> Scenario {
    // Four sessions, of which 80 % are taken in the mean, most of that by the slow ones.
    let taken = 0.8 * 4.0 / base.rate.get();
    let usual = Nanos::from_micros(200);
    let percent = 2;
    let share = f64::from(percent) / 100.0;
    let slow = Nanos::from_secs_f64((taken - (1.0 - share) * usual.as_secs_f64()) / share);
    let timing = Timing { service: Service::Slow { usual, slow, percent }, ..base.timing };
    Scenario { sessions: 4, timing, ..base.clone() }
}

impl Scenario {
    /// Requests that are offered, where arrivals are constant; else the expected number of them.
    pub fn requests(&self) -> u64 {
        (self.rate.get() * self.duration.as_secs_f64()).round() as u64
    }

    /// The stalls (begin, end) that begin while requests are offered, ascending.
    pub fn stalls(&self) -> Vec<(Nanos, Nanos)> {
        let Some(hiccups) = self.timing.hiccups else { return Vec::new() };
        let mut stalls = Vec::new();
        let mut begin = hiccups.first;
        while begin < self.duration {
            stalls.push((begin, begin + hiccups.length));
            match hiccups.every {
                Some(every) if every > hiccups.length => begin = begin + every,
                _ => break,
            }
        }
        stalls
    }

    /// What is offered, in words.
    pub fn offered(&self) -> String {
        format!("{}, {}, for {}, {} sessions", self.rate, self.arrivals, self.duration, self.sessions)
    }

    /// How the store behaves, in words.
    pub fn store(&self) -> String {
        let timing = &self.timing;
        let mut parts = vec![match timing.service {
            Service::Constant(time) => format!("service {time}"),
            Service::Pareto { minimum, alpha } => format!("service Pareto from {minimum}, index {alpha}"),
            Service::Slow { usual, slow, percent } => format!("service {usual}, {percent} % of them {slow}"),
        }];
        parts.extend(timing.servers.map(|servers| format!("{servers} at a time")));
        parts.extend(timing.capacity.map(|capacity| format!("capacity {capacity}")));
        parts.extend(timing.hiccups.map(|hiccups| {
            let every =
                hiccups.every.map_or(String::new(), |every| format!(" and each {every} from then on"));
            format!("stands still for {} at {}{every}", hiccups.length, hiccups.first)
        }));
        parts.join(", ")
    }

    /// The load that truetail makes for it: an open loop.
    pub fn load(&self) -> LoadSpec {
        self.load_as(Model::Open { process: self.arrivals.clone() })
    }

    /// The same by another load model; a closed one that has no rate is not among them.
    pub fn load_as(&self, model: Model) -> LoadSpec {
        LoadSpec {
            model,
            phases: vec![Phase {
                name: self.name.to_owned(),
                duration: self.duration,
                rate: Some((self.rate, self.rate)),
                sessions: None,
                mix: None,
                warm_up: false,
            }],
            operations: vec!["NoOp".to_owned()],
            mix: vec![1.0],
            sessions: self.sessions,
            workers: 1,
            requests: None,
            timeout: None,
            // Whatever is left when the schedule ends is waited for: an unfinished request has no true time.
            drain: Nanos::from_secs(600),
            retry: load::Retry::NONE,
            pacing: Pacing::SleepThenSpin,
            cpus: Vec::new(),
            seed: self.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_scenario_in_both_sizes() {
        for size in [Size::Simulated, Size::Live] {
            let names: Vec<&str> = all(size).iter().map(|s| s.name).collect();
            assert_eq!(names, NAMES);
            for scenario in all(size) {
                assert_eq!(scenario.load().check(), Ok(()), "{}", scenario.name);
                assert!(scenario.requests() >= 10_000, "{}: too few for p99.9", scenario.name);
                assert!(!scenario.asks.is_empty());
                assert_eq!(scenario.timing.model().check(), Ok(()));
                assert_ne!(scenario.timing.service.draw(), Draw::ZERO, "{}", scenario.name);
            }
        }
        assert_eq!(by_name("nothing", Size::Live), None);
    }

    /// After each stall the queue drains before the next one, and before the end.
    #[test]
    fn stalls_are_over_before_the_run_is() {
        for size in [Size::Simulated, Size::Live] {
            for scenario in all(size) {
                let Some(capacity) = scenario.timing.capacity else { continue };
                let stalls = scenario.stalls();
                let drained = |(begin, end): (Nanos, Nanos)| {
                    begin.as_secs_f64()
                        + (end.0 - begin.0) as f64 / 1e9 / (1.0 - scenario.rate.get() / capacity.get())
                };
                let next = stalls.iter().skip(1).map(|s| s.0).chain([scenario.duration]);
                for (stall, next) in stalls.iter().zip(next) {
                    assert!(drained(*stall) < next.as_secs_f64(), "{} {stall:?}", scenario.name);
                }
            }
        }
        assert_eq!(by_name("periodic", Size::Simulated).map(|s| s.stalls().len()), Some(9));
        assert_eq!(by_name("periodic", Size::Live).map(|s| s.stalls().len()), Some(8));
    }
}
