//! True response and service times of a scenario, computed without the harness and without the store.
//!
//! Two ways that share no code: [`recursion`] goes through all requests one by one and is exact for every scenario;
//! [`closed_form`] is a formula, for those that have one. Both describe a tool that sends each request when it is due, or
//! when a session is free for it, and that costs nothing itself.
//!
//! # Closed forms
//!
//! One request each 1/λ, a capacity of μ per second, a stall of length H that begins as a request arrives. That request
//! waits H. Each later one arrives 1/λ later and begins 1/μ later, so that it waits δ = 1/λ − 1/μ less than the one before:
//! the waits are H, H − δ, H − 2δ, … down to 0, an arithmetic series of ⌊H/δ⌋ + 1 terms. With ρ = λ/μ, for n requests:
//!
//! - delayed share ≈ λH/((1 − ρ)n), since H/δ = λH/(1 − ρ);
//! - mean ≈ λH²/(2n(1 − ρ)): the area of the triangle, over n;
//! - the q-quantile ≈ H − (1 − ρ)(1 − q)n/λ where that is above 0.
//!
//! The approximations are those of a fluid, whose steps δ are small; [`closed_form`] sums the series itself. Where the
//! capacity is below the offered rate, δ is negative and the k-th request waits k·(1/μ − 1/λ).

use crate::Figures;
use crate::scenario::{Scenario, Service};
use load::arrivals::Process;
use units::Nanos;

/// What a request's times truly are in one scenario, ns.
#[derive(Clone, PartialEq, Debug)]
pub struct Truth {
    /// From the intended start to the answer.
    pub response: Figures,
    /// From the sending to the answer, in an open loop with the scenario's sessions.
    pub service: Figures,
}

/// One request as it truly goes, ns since the load's start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Exact {
    /// When it is due to be sent.
    pub intended: f64,
    /// When it is sent: due, and a session free.
    pub sent: f64,
    /// When it is answered.
    pub answered: f64,
}

impl Exact {
    /// answered − intended
    pub fn response(&self) -> f64 {
        self.answered - self.intended
    }

    /// answered − sent
    pub fn service(&self) -> f64 {
        self.answered - self.sent
    }
}

/// The true times: the closed form of the response time where there is one, all else from the recursion.
pub fn truth(scenario: &Scenario) -> Truth {
    let exact = recursion(scenario);
    let service = figures_of(&exact, Exact::service);
    let response = closed_form(scenario).unwrap_or_else(|| figures_of(&exact, Exact::response));
    Truth { response, service }
}

/// Of a live run: true times request by request, ns, from the truth log of the very same run. `response` is from the intended
/// start to the answer, `service` from the sending.
pub fn of_run(mut response: Vec<f64>, mut service: Vec<f64>) -> Truth {
    Truth { response: Figures::of(&mut response), service: Figures::of(&mut service) }
}

/// The figures of one of the times.
pub fn figures_of(exact: &[Exact], time: impl Fn(&Exact) -> f64) -> Figures {
    Figures::of(&mut exact.iter().map(time).collect::<Vec<f64>>())
}

/// When each request of the scenario is intended, ns since the load's start.
///
/// A Poisson process is drawn anew from the load's stream (`arrivals` of the seed): exponential gaps, added up. Other
/// processes are not used by any scenario, and come out as constant.
pub fn arrivals(scenario: &Scenario) -> Vec<f64> {
    let gap = 1e9 / scenario.rate.get();
    if scenario.arrivals != Process::Poisson {
        return (0..scenario.requests()).map(|k| k as f64 * gap).collect();
    }
    let mut rng = scenario.seed.derive("arrivals").rng();
    let mut at = 0.0;
    let next = std::iter::from_fn(|| {
        at += gap * rng.exponential();
        (at < scenario.duration.0 as f64).then_some(at.round())
    });
    next.collect()
}

/// The time during which the store's own time passes: real time without the stalls.
struct StoreTime(Vec<(f64, f64)>);

impl StoreTime {
    /// How much of the store's time has passed at a real time.
    fn passed(&self, real: f64) -> f64 {
        self.0.iter().fold(real, |passed, (begin, end)| passed - (real.min(*end) - begin).max(0.0))
    }

    /// The real time at which so much of the store's time has passed and it is not standing still.
    fn real(&self, passed: f64) -> f64 {
        self.0
            .iter()
            .fold(passed, |real, (begin, end)| if real >= *begin { real + end - begin } else { real })
    }
}

/// Every request of the scenario, by going through all of them one after the other (Lindley's recursion, with places for
/// sessions and servers). Exact; requests × (sessions + servers) steps.
///
/// The k-th request is sent when it is due and one of the sessions is free. Its turn comes no earlier than 1/μ after its
/// predecessor's, and when a place is free; it is answered when its service has passed. Turns and service are counted in
/// the store's time, which stands still during a stall.
pub fn recursion(scenario: &Scenario) -> Vec<Exact> {
    let timing = &scenario.timing;
    let due = arrivals(scenario);
    // Instants of the store's settings count from the first request.
    let first = due.first().copied().unwrap_or(0.0);
    let on_axis = |at: Nanos| first + at.0 as f64;
    let stalls = scenario.stalls().iter().map(|(begin, end)| (on_axis(*begin), on_axis(*end))).collect();
    let store = StoreTime(stalls);
    let step = timing.capacity.map_or(0.0, |capacity| 1e9 / capacity.get());
    let mut sessions = vec![0.0f64; scenario.sessions as usize];
    let mut places = vec![0.0f64; timing.servers.map_or(0, |servers| servers as usize)];
    let mut next_turn = 0.0f64;
    let answer = |(k, intended): (usize, f64)| {
        let session = earliest(&mut sessions);
        let sent = intended.max(*session);
        let mut turn = store.passed(sent).max(next_turn);
        next_turn = turn + step;
        let service = drawn_service(scenario, k as u64);
        if !places.is_empty() {
            let place = earliest(&mut places);
            turn = turn.max(*place);
            *place = turn + service;
        }
        let answered = store.real(turn + service) + timing.delay.0 as f64;
        *session = answered;
        Exact { intended, sent, answered }
    };
    due.into_iter().enumerate().map(answer).collect()
}

/// The place that is free first.
fn earliest(places: &mut [f64]) -> &mut f64 {
    let mut first = 0;
    for index in 1..places.len() {
        if places[index] < places[first] {
            first = index;
        }
    }
    &mut places[first]
}

/// The response time as a formula; `None` where there is none. See the module's text for where it comes from.
pub fn closed_form(scenario: &Scenario) -> Option<Figures> {
    let Service::Constant(service) = scenario.timing.service else { return None };
    let (service, gap) = (service.0 as f64, 1e9 / scenario.rate.get());
    // A request in progress when a stall begins would be delayed by it, too.
    if scenario.arrivals != Process::Constant || scenario.timing.servers.is_some() || service > gap {
        return None;
    }
    let step = 1e9 / scenario.timing.capacity?.get();
    let n = scenario.requests();
    let service = service + scenario.timing.delay.0 as f64;
    if step > gap {
        let slope = step - gap;
        let mean = service + slope * (n - 1) as f64 / 2.0;
        return Some(Figures::from_ranks(n, mean, |rank| service + slope * (rank - 1) as f64));
    }
    let stalls = scenario.stalls();
    let length = stalls.first().map_or(0.0, |(begin, end)| (end.0 - begin.0) as f64);
    let delayed = if length > 0.0 { (length / (gap - step)).floor() + 1.0 } else { 0.0 };
    let sum = delayed * length - (gap - step) * delayed * (delayed - 1.0) / 2.0;
    let mean = service + sum * stalls.len() as f64 / n as f64;
    let wait = |rank: u64| {
        // Each stall adds one request of each wait.
        let longer = (n - rank) / stalls.len().max(1) as u64;
        (length - (gap - step) * longer as f64).max(0.0)
    };
    Some(Figures::from_ranks(n, mean, |rank| service + wait(rank)))
}

/// What the store draws as the service time of the k-th request, ns: by inversion, from its stream `store service`.
fn drawn_service(scenario: &Scenario, k: u64) -> f64 {
    let mut rng = scenario.seed.derive("store service").at(k);
    match scenario.timing.service {
        Service::Constant(time) => time.0 as f64,
        Service::Pareto { minimum, alpha } => minimum.0 as f64 * rng.unit_positive().powf(-1.0 / alpha),
        Service::Slow { usual, slow, percent } => {
            let is_slow = rng.unit() >= 1.0 - f64::from(percent) / 100.0;
            if is_slow { slow.0 as f64 } else { usual.0 as f64 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Statistic;
    use crate::scenario::{Hiccups, NAMES, Size, by_name};
    use units::Seed;

    fn scenario(name: &str) -> Scenario {
        by_name(name, Size::Simulated).unwrap()
    }

    fn close(found: f64, expected: f64, relative: f64, what: &str) {
        assert!((found - expected).abs() <= relative * expected.abs(), "{what}: {found} is not {expected}");
    }

    #[test]
    fn the_closed_form_is_the_recursion() {
        let mut with_formula = Vec::new();
        for size in [Size::Simulated, Size::Live] {
            for name in NAMES {
                let scenario = by_name(name, size).unwrap();
                let Some(formula) = closed_form(&scenario) else { continue };
                with_formula.push(name);
                let exact = figures_of(&recursion(&scenario), Exact::response);
                assert_eq!(formula.count, exact.count);
                for statistic in Statistic::ALL {
                    let (formula, exact) = (formula.get(statistic).unwrap(), exact.get(statistic).unwrap());
                    close(exact, formula, 1e-9, &format!("{name} {}", statistic.name()));
                }
            }
        }
        with_formula.truncate(with_formula.len() / 2);
        let drawn = ["poisson", "heavy-tail", "slow-requests"];
        let expected: Vec<&str> = NAMES.into_iter().filter(|n| !drawn.contains(n)).collect();
        assert_eq!(with_formula, expected);
    }

    /// papers.md's numbers are those of the fluid: λ = 1/ms, n = 90,000, H = 1 s.
    #[test]
    fn the_fluid_is_met_within_a_step() {
        for (name, load, mean_ms, p99_ms) in [
            ("hiccup-50", 0.5, 11.111, 550.0),
            ("hiccup-80", 0.8, 27.778, 820.0),
            ("hiccup-95", 0.95, 111.11, 955.0),
        ] {
            let formula = closed_form(&scenario(name)).unwrap();
            close(formula.get(Statistic::Mean).unwrap(), (mean_ms + 0.2) * 1e6, 0.002, name);
            // 900 requests wait longer than p99, and each waits one step less than the one before.
            close(formula.get(Statistic::P99).unwrap(), (p99_ms + 0.2) * 1e6, 1e-9, name);
            let delayed = recursion(&scenario(name)).iter().filter(|e| e.response() > 0.2e6 + 1.0).count();
            close(delayed as f64, 1000.0 / (1.0 - load), 0.002, name);
        }
    }

    /// Few sessions or many: who waits where differs, what a user waits for does not.
    #[test]
    fn sessions_do_not_change_the_response_time() {
        let few = Scenario { sessions: 2, ..scenario("hiccup-90") };
        let many = Scenario { sessions: 5000, duration: Nanos::from_secs(45), ..scenario("hiccup-90") };
        let few_short = Scenario { duration: many.duration, ..few };
        let (few, many) = (recursion(&few_short), recursion(&many));
        assert!(few.iter().zip(&many).all(|(a, b)| (a.response() - b.response()).abs() < 1e-3));
        let longest = |all: &[Exact]| all.iter().map(Exact::service).fold(0.0, f64::max);
        assert!(longest(&few) <= 1000.2e6 + 1.0);
        let pool_wait = few.iter().map(|e| e.sent - e.intended).sum::<f64>();
        assert!(pool_wait > 0.99 * few.iter().map(|e| e.response() - 0.2e6).sum::<f64>());
    }

    /// Pollaczek and Khinchine, for constant service of one place: the wait is ρ/(2μ(1 − ρ)) in the mean.
    #[test]
    fn poisson_arrivals_wait_as_in_m_d_1() {
        let base = scenario("poisson");
        let waits: Vec<f64> = (0..8)
            .map(|seed| {
                let run = Scenario { seed: Seed(seed), sessions: 200, ..base.clone() };
                figures_of(&recursion(&run), Exact::response).get(Statistic::Mean).unwrap() / 1e6 - 0.2
            })
            .collect();
        // ρ = 0.5, μ = 2/ms.
        close(waits.iter().sum::<f64>() / waits.len() as f64, 0.25, 0.01, "mean wait, ms");
    }

    /// M/M/1 with one place: 1/(μ − λ) in the mean, and exponential.
    #[test]
    fn one_place_with_drawn_service_is_a_queue() {
        let mut run = Scenario { sessions: 1, ..scenario("slow-requests") };
        // M/G/1 with two service times: W = λE[S²]/(2(1 − ρ)); the one session is the place.
        run.arrivals = Process::Poisson;
        let (usual, slow) = (0.1, 2.0);
        let millis = |ms: f64| Nanos::from_secs_f64(ms / 1e3);
        run.timing.service = Service::Slow { usual: millis(usual), slow: millis(slow), percent: 10 };
        let (first, second) = (0.9 * usual + 0.1 * slow, 0.9 * usual * usual + 0.1 * slow * slow);
        let expected = first + second / (2.0 * (1.0 - first));
        let mean: f64 = (0..8)
            .map(|seed| {
                let run = Scenario { seed: Seed(seed), ..run.clone() };
                figures_of(&recursion(&run), Exact::response).get(Statistic::Mean).unwrap() / 8e6
            })
            .sum();
        close(mean, expected, 0.02, "mean response, ms");
    }

    #[test]
    fn store_time_stands_still_during_a_stall() {
        let time = StoreTime(vec![(10.0, 15.0), (20.0, 21.0)]);
        let passed: Vec<f64> = [9.0, 10.0, 12.0, 15.0, 16.0, 20.5, 30.0].map(|t| time.passed(t)).to_vec();
        assert_eq!(passed, [9.0, 10.0, 10.0, 10.0, 11.0, 15.0, 24.0]);
        let real: Vec<f64> = [9.0, 10.0, 11.0, 15.0, 24.0].map(|t| time.real(t)).to_vec();
        assert_eq!(real, [9.0, 15.0, 16.0, 21.0, 30.0]);
    }

    #[test]
    fn a_place_is_held_for_the_whole_service() {
        let mut run = scenario("steady");
        run.timing.capacity = None;
        run.timing.servers = Some(2);
        run.timing.service = Service::Constant(Nanos::from_millis(3));
        run.duration = Nanos::from_millis(6);
        // Due each ms, two places of 3 ms.
        let answered: Vec<f64> = recursion(&run).iter().map(|e| e.answered / 1e6).collect();
        assert_eq!(answered, [3.0, 4.0, 6.0, 7.0, 9.0, 10.0]);
        // A stall from 1 to 2 ms: all that is in progress goes on afterwards.
        let stall = Hiccups { first: Nanos::from_millis(1), length: Nanos::from_millis(1), every: None };
        run.timing.hiccups = Some(stall);
        let answered: Vec<f64> = recursion(&run).iter().map(|e| e.answered / 1e6).collect();
        assert_eq!(answered, [4.0, 5.0, 7.0, 8.0, 10.0, 11.0]);
    }
}
