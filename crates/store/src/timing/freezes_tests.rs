//! What only the module itself can see: how many steps were taken, and who was told.

use super::*;

fn freezes(rules: &[&str]) -> Freezes {
    let rules: Vec<Hiccup> = rules.iter().map(|rule| rule.parse().unwrap()).collect();
    let mut freezes = Freezes::new(&rules, Seed(3));
    freezes.start(Nanos::ZERO);
    freezes
}

#[test]
fn resting_changes_nothing_and_tells_nobody() {
    let rules = ["exp:4ms@0s every exp:40ms", "2ms@5ms every 30ms"];
    let (mut rested, mut plain) = (freezes(&rules), freezes(&rules));
    for second in 1..=60 {
        for part in 0..10 {
            rested.rest(Nanos(second * 1_000_000_000 - 1_000_000_000 + part * 100_000_000));
        }
        let at = Nanos(second * 1_000_000_000 + 137);
        let (a, b) = (rested.store_time_of_arrival(at), plain.store_time_of_arrival(at));
        assert_eq!(a, b, "{second}");
        assert_eq!(rested.real_time(a), plain.real_time(b), "{second}");
    }
    assert!(rested.happened.len() < plain.happened.len() / 2);
    // One that is under way is not passed, and is told of to whoever meets it.
    let mut freezes = freezes(&["1s@0s every 10s"]);
    freezes.rest(Nanos::from_millis(500));
    assert_eq!((freezes.known.len(), freezes.happened.len()), (0, 0));
    assert_eq!(freezes.store_time_of_arrival(Nanos::from_millis(700)), Fine::default());
    assert_eq!(freezes.happened.len(), 1);
}

#[test]
fn an_arrival_from_before_the_rest_is_no_earlier() {
    let mut freezes = freezes(&["9ms@0s every 10ms"]);
    freezes.rest(Nanos::from_secs(10));
    assert_eq!(freezes.store_time_of_arrival(Nanos::from_secs(1)), Fine::from(Nanos::from_secs(1)));
}

#[test]
fn who_gives_hiccups_up_says_so() {
    let mut freezes = freezes(&["9ms@0s every 10ms"]);
    let mut events = Vec::new();
    // At a tenth of real time this is a day, with 8.64 million hiccups.
    freezes.real_time(Fine::from(Nanos::from_secs(8_640)));
    freezes.drain_events(Nanos::from_secs(86_400), &mut events);
    let said: Vec<_> = events.iter().filter(|event| event.kind == "no more hiccups").collect();
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].begin, Nanos(AHEAD_MAX as u64 * 10_000_000));
    events.clear();
    freezes.drain_events(Nanos::from_secs(86_400), &mut events);
    assert!(events.is_empty());
}

#[test]
fn what_is_skipped_takes_no_steps() {
    let mut freezes = freezes(&["3ms@7ms every 10ms"]);
    // Three of each ten milliseconds are frozen.
    let store = freezes.store_time_of_arrival(Nanos::from_secs(86_400));
    assert_eq!(store, Fine::from(Nanos::from_secs(60_480)));
    assert!(freezes.happened.len() as u64 <= STEPS + 1);
    assert_eq!(freezes.streams[0].number, 8_640_000);
}
