//! Truetail's own harness is graded, and harnesses with planted faults fail.

use load::{LoadSpec, Model};
use prove::scenario::{self, NAMES, Scenario, Size};
use prove::simulated::{all, graded, run, samples};
use prove::{ScenarioResult, Statistic};
use record::{Measure, RawSample};

fn scenario(name: &str) -> Scenario {
    scenario::by_name(name, Size::Simulated).unwrap()
}

fn complaints(result: &ScenarioResult) -> Vec<String> {
    let row = |row: &prove::grade::Row| {
        let measured = row.measured.unwrap_or(f64::NAN);
        format!(
            "{} {} {}: {} for {}",
            result.scenario.name,
            row.measure.name(),
            row.statistic.name(),
            measured,
            row.truth
        )
    };
    result.grade.broken().map(row).collect()
}

#[test]
fn truetail_passes_every_scenario() {
    let results = all().unwrap();
    assert_eq!(results.iter().map(|r| r.scenario.name).collect::<Vec<_>>(), NAMES);
    let broken: Vec<String> = results.iter().flat_map(complaints).collect();
    assert_eq!(broken, Vec::<String>::new());
    for result in &results {
        assert!(
            result.grade.passed(),
            "{}: {} of {}",
            result.scenario.name,
            result.grade.measured,
            result.grade.requests
        );
        assert_eq!(result.grade.rows.len(), 12);
    }
}

/// Each scenario has something to see that a harness could miss, but for the steady one.
#[test]
fn scenarios_tell_service_from_response() {
    for name in ["hiccup-50", "hiccup-80", "hiccup-90", "hiccup-95", "periodic", "overload"] {
        let truth = run(scenario(name)).unwrap().truth;
        let of = |statistic| truth.response.get(statistic).unwrap() / truth.service.get(statistic).unwrap();
        assert!(of(Statistic::P99) > 3.0, "{name}: {} times", of(Statistic::P99));
    }
    let slow = run(scenario("slow-requests")).unwrap().truth;
    let mean = |figures: &prove::Figures| figures.get(Statistic::Mean).unwrap();
    assert!(mean(&slow.response) > 3.0 * mean(&slow.service), "pool wait decides");
    let heavy = run(scenario("heavy-tail")).unwrap().truth.response;
    assert!(heavy.get(Statistic::Max).unwrap() > 100.0 * heavy.get(Statistic::P50).unwrap());
}

/// Grades what a harness with a fault would have made.
fn faulty(name: &str, change: impl FnOnce(&mut Vec<RawSample>)) -> ScenarioResult {
    let scenario = scenario(name);
    let spec = scenario.load();
    let mut samples = samples(&scenario, &spec).unwrap();
    change(&mut samples);
    graded(scenario, &spec, &samples)
}

fn response(sample: &RawSample) -> u64 {
    sample.completed.0 - sample.intended.0
}

#[test]
fn measuring_from_sent_fails() {
    // In these a session is free whenever a request is due: there is nothing to leave out.
    for name in NAMES.iter().filter(|name| !["steady", "poisson", "heavy-tail"].contains(name)) {
        let result = faulty(name, |samples| samples.iter_mut().for_each(|s| s.intended = s.sent));
        let broken = |measure| result.grade.broken().filter(|row| row.measure == measure).count();
        assert!(broken(Measure::Response) >= 2 && broken(Measure::Service) == 0, "{name}");
    }
}

#[test]
fn dropping_slow_samples_fails() {
    let slowest = |share: usize| {
        move |samples: &mut Vec<RawSample>| {
            samples.sort_by_key(response);
            samples.truncate(samples.len() - samples.len() * share / 10_000);
        }
    };
    for name in NAMES {
        assert!(!faulty(name, slowest(100)).grade.passed(), "{name}: 1 % of the slowest");
    }
    // One in ten thousand: nine requests of 90,000.
    assert!(!faulty("hiccup-80", slowest(1)).grade.passed());
    // And one request alone, in the middle of the others.
    let without_one = |samples: &mut Vec<RawSample>| samples.retain(|s| s.seq != 45_000);
    assert!(!faulty("steady", without_one).grade.passed());
}

#[test]
fn a_closed_loop_fails() {
    for model in [Model::ThrottledClosed, Model::Closed { think: load::Think::None }] {
        let scenario = scenario("hiccup-80");
        let mut spec = LoadSpec { requests: Some(scenario.requests()), ..scenario.load_as(model.clone()) };
        if matches!(model, Model::Closed { .. }) {
            spec.phases[0].rate = None;
        }
        let samples = samples(&scenario, &spec).unwrap();
        let result = graded(scenario, &spec, &samples);
        assert!(!result.grade.passed());
        assert!(result.grade.rows[0].measured.is_none(), "a closed loop has no response time");
    }
}

/// A tenth of a millisecond more on each request than there was.
#[test]
fn a_small_delay_of_the_harness_fails() {
    let result = faulty("poisson", |samples| samples.iter_mut().for_each(|s| s.completed.0 += 100_000));
    assert!(!result.grade.passed());
}

#[test]
fn the_timeline_keeps_the_longest() {
    let result = run(scenario("hiccup-90")).unwrap();
    let longest = result.timeline.buckets.iter().filter_map(|b| b.longest_response).fold(0.0, f64::max);
    assert!((longest / result.truth.response.get(Statistic::Max).unwrap() - 1.0).abs() < 1e-6);
    let counted: u64 = result.timeline.buckets.iter().map(|b| b.count).sum();
    assert_eq!(counted, 90_000);
    // The stall begins at 30 s.
    let first = result.timeline.buckets.iter().position(|b| b.longest_response > Some(100e6));
    assert_eq!(first.map(|index| index as u64 * result.timeline.width.0), Some(30_000_000_000));
}
