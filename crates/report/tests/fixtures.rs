//! The fixtures are what they say.

mod fixture;

use record::Measure;
use units::OutcomeClass;

fn count(counts: &analysis::Counts, class: OutcomeClass) -> u64 {
    counts.outcomes.iter().filter(|(o, _)| o.class() == class).map(|(_, n)| n).sum()
}

#[test]
fn each_fixture_shows_its_case() {
    let open = fixture::open_loop();
    let seconds = (open.measured.1 - open.measured.0).as_secs_f64();
    assert!((seconds - 10.0).abs() < 1e-9);
    assert!(count(&open.total.counts, OutcomeClass::Miss) > 10);
    assert_eq!(count(&open.total.counts, OutcomeClass::Error), 2);
    let c = &open.total.counts;
    assert_eq!((c.retried, c.retries, c.gave_up), (10, 19, 1));
    let largest = open.total.measures.iter().find(|m| m.measure == Measure::Response).map(|m| m.max.0);
    assert!(largest.is_some_and(|max| max >= fixture::PLANTED.1));
    assert_eq!(open.scopes.iter().filter(|s| matches!(s.scope, analysis::Scope::Operation(_))).count(), 6);

    let closed = fixture::closed_loop();
    assert!(closed.offered.is_none());
    assert!(closed.total.measures.iter().all(|m| m.measure != Measure::Response || m.n == 0));

    let tiny = fixture::tiny();
    assert_eq!(tiny.total.counts.total, 30);
    assert!(tiny.total.measures.iter().all(|m| m.n == 0 || !m.withheld.is_empty()));

    let censored = fixture::censored();
    assert!(count(&censored.total.counts, OutcomeClass::Timeout) > 10);
    assert!(count(&censored.total.counts, OutcomeClass::Unfinished) > 100);
}

#[test]
fn fixtures_are_the_same_each_time() {
    assert!(fixture::open_loop() == fixture::open_loop());
}
