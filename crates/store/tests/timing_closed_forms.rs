//! The timing against formulas: what a queue must show that nobody needs to simulate.

use store::{Model, Operation, Rules, Timed, Timing};
use units::{Nanos, Seed};

fn model(settings: &[(&str, &str)]) -> Model {
    let mut model = Model::default();
    for (name, text) in settings {
        match *name {
            "service" => model.service.push(text.parse().unwrap()),
            "servers" => model.servers = Some(text.parse().unwrap()),
            "capacity" => model.capacity = Some(units::parse_rate(text).unwrap()),
            "hiccup" => model.hiccups.push(text.parse().unwrap()),
            "slow key" => model.slow_keys.push(text.parse().unwrap()),
            "delay" => model.delay = text.parse().unwrap(),
            "join" => model.join = Some(text.parse().unwrap()),
            _ => panic!("{name}"),
        }
    }
    model.check().unwrap();
    model
}

/// Arrival and times of `n` reads, one each `gap` from `gap` / 2 on.
fn run(model: &Model, n: u64, gap: Nanos) -> Vec<(Nanos, Timed)> {
    let mut timing = Timing::new(model, Seed(1));
    let arrivals = (0..n).map(|i| Nanos(gap.0 / 2 + i * gap.0));
    arrivals.map(|at| (at, timing.admit(at, Operation::Read, b"k"))).collect()
}

fn mean_ms(times: &[(Nanos, Timed)]) -> f64 {
    times.iter().map(|(at, timed)| (timed.due.0 - at.0) as f64 / 1e6).sum::<f64>() / times.len() as f64
}

#[test]
fn default_answers_at_once() {
    for (at, timed) in run(&Model::default(), 1_000, Nanos(10)) {
        assert_eq!(timed, Timed { begun: at, due: at, rules: Rules::default() });
    }
}

/// An open D/D/1 with one hiccup: the backlog grows by λ while it lasts and falls by μ − λ afterwards; the area of the
/// triangle over n requests is λH²/(2n(1 − ρ)).
#[test]
fn one_hiccup_costs_what_the_closed_form_says() {
    let (n, rate, hiccup) = (90_000, 1000.0, 1.0);
    for capacity in [1053.0, 1111.0, 1250.0, 1333.0, 1430.0, 1666.0, 2000.0, 10_000.0] {
        let text = format!("{capacity}/s");
        // The middle between two arrivals, counted from the first.
        let times = run(&model(&[("capacity", &text), ("hiccup", "1s@30.0005s")]), n, Nanos::from_millis(1));
        let expected = rate * hiccup * hiccup / (2.0 * n as f64 * (1.0 - rate / capacity)) * 1e3;
        let mean = mean_ms(&times);
        assert!((mean / expected - 1.0).abs() < 0.001, "μ = {capacity}: {mean} ms, expected {expected} ms");
    }
}
