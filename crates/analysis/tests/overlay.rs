//! Truth laid over measurement: what was planted is what is stated.

mod planted;

use analysis::overlay::{Overlay, OverlayOptions, OverlayStatistic, overlay};
use planted::{MS, Planted, S, Scenario, Scratch, US};
use record::{LoadModel, Measure, Sample, TruthRow};
use std::collections::BTreeMap;
use units::{Instant, Nanos, Outcome, Quantile};

fn laid(planted: &Planted, options: &OverlayOptions) -> Overlay {
    let scratch = Scratch::new("laid");
    let (recording, truth) = planted.open(&scratch);
    overlay(&[recording], &truth, options).unwrap()
}

/// Sample by sample: its rows, in order.
fn rows_of(planted: &Planted) -> BTreeMap<u64, (Sample, Vec<TruthRow>)> {
    let mut all: BTreeMap<u64, (Sample, Vec<TruthRow>)> =
        planted.samples.iter().map(|sample| (sample.seq, (*sample, Vec::new()))).collect();
    for (row, sample) in planted.rows.iter().zip(&planted.sample_of) {
        if let Some(sample) = sample {
            all.get_mut(sample).unwrap().1.push(*row);
        }
    }
    all
}

/// (truth, measured) service times of the requests that have both, ns.
fn services(planted: &Planted) -> Vec<(u64, u64)> {
    let times = rows_of(planted).into_values().filter_map(|(sample, rows)| {
        let (first, last) = rows.first().zip(rows.last())?;
        let answered = last.written.is_some() && !sample.outcome.is_censored();
        answered.then(|| (last.written.0 - first.arrived.0, sample.completed.0 - sample.sent.0))
    });
    times.collect()
}

fn quantile(mut values: Vec<u64>, q: f64) -> f64 {
    values.sort_unstable();
    values[((values.len() as f64 * q).ceil() as usize).max(1) - 1] as f64
}

fn within(found: f64, expected: f64, what: &str) {
    // A histogram's bucket is 2⁻¹² of its value wide.
    assert!((found - expected).abs() <= expected.abs() / 4_000.0 + 1.0, "{what}: {found}, not {expected}");
}

const P999: f64 = 0.999;

fn q(value: f64) -> OverlayStatistic {
    OverlayStatistic::Quantile(Quantile::new(value).unwrap())
}

#[test]
fn a_calm_run_is_matched_to_the_last_request_and_its_times_are_exact() {
    let planted = Scenario::calm(1).play();
    let found = laid(&planted, &OverlayOptions::default());
    let counts = found.requests;
    assert_eq!((counts.sent, counts.matched, counts.unmatched, counts.compared), (2_000, 2_000, 0, 2_000));
    assert_eq!(
        (found.rows.in_time, found.rows.matched, found.rows.ambiguous, found.rows.outside),
        (2_000, 2_000, 0, 0)
    );

    let pairs = services(&planted);
    let service = &found.measures[1];
    assert_eq!((service.measure, service.n), (Measure::Service, 2_000));
    let (truth, measured): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
    let mean = |values: &[u64]| values.iter().sum::<u64>() as f64 / values.len() as f64;
    let stated = service.value(OverlayStatistic::Mean).unwrap();
    within(stated.truth, mean(&truth), "true mean");
    within(stated.measured, mean(&measured), "measured mean");
    for value in [0.5, 0.95, 0.99, P999] {
        let stated = service.value(q(value)).unwrap();
        assert_eq!(stated.truth, quantile(truth.clone(), value), "true quantile");
        assert_eq!(stated.measured, quantile(measured.clone(), value), "measured quantile");
    }
    let stated = service.value(OverlayStatistic::Max).unwrap();
    assert_eq!(stated.truth, *truth.iter().max().unwrap() as f64);
    assert_eq!(stated.error(), *measured.iter().max().unwrap() as f64 - stated.truth);

    let mut apart: Vec<u64> = pairs.iter().map(|(truth, measured)| truth.abs_diff(*measured)).collect();
    apart.sort_unstable_by(|a, b| b.cmp(a));
    let listed: Vec<u64> = found.largest.iter().map(|one| one.truth.0.abs_diff(one.measured.0)).collect();
    assert_eq!(listed, apart[..20]);
    let late: Vec<u64> = planted.rows.iter().filter_map(|row| row.lateness()).map(|late| late.0).collect();
    let stated = found.lateness.iter().find(|(statistic, _)| *statistic == q(0.5)).unwrap();
    within(stated.1.0 as f64, quantile(late.clone(), 0.5), "lateness");
    assert_eq!(found.lateness.last(), Some(&(OverlayStatistic::Max, Nanos(*late.iter().max().unwrap()))));
}

/// What a client does not take leaves late by its own doing: it is no part of the store's lateness, as in what
/// `truetail store` says of itself.
#[test]
fn answers_that_their_client_did_not_take_are_not_the_stores_lateness() {
    let mut planted = Scenario::calm(1).play();
    let own = planted.rows.iter().filter_map(TruthRow::lateness).max().unwrap();
    let slow = planted.rows.iter_mut().filter(|row| row.seq % 100 == 7);
    for row in slow {
        row.written = Instant(row.written.0 + S);
        row.rules |= 1 << 2;
    }
    let largest = |planted: &Planted| *laid(planted, &OverlayOptions::default()).lateness.last().unwrap();
    assert_eq!(largest(&planted), (OverlayStatistic::Max, own));
    // The canary: without the rule it would be.
    planted.rows.iter_mut().for_each(|row| row.rules &= 0b11);
    assert!(largest(&planted).1.0 >= S);
}

#[test]
fn response_times_are_from_the_intended_start_and_a_closed_loop_has_none() {
    let planted = Scenario::calm(2).play();
    let found = laid(&planted, &OverlayOptions::default());
    let offset = 5 * S;
    let expected: Vec<u64> = rows_of(&planted)
        .into_values()
        .map(|(sample, rows)| rows[0].written.0 - (sample.intended.0 + offset))
        .collect();
    let response = &found.measures[0];
    assert_eq!(response.measure, Measure::Response);
    assert_eq!(response.value(OverlayStatistic::Max).unwrap().truth, *expected.iter().max().unwrap() as f64);
    let closed = Scenario { model: LoadModel::Closed, ..Scenario::calm(2) }.play();
    let found = laid(&closed, &OverlayOptions::default());
    assert_eq!(found.measures.iter().map(|m| m.measure).collect::<Vec<_>>(), [Measure::Service]);
    assert_eq!(found.moment.map(|moment| moment.measure), Some(Measure::Service));
}

/// A store whose clock is 50 ppm fast, on a host whose wall clock is slewed, and a client that comes a minute later.
#[test]
fn clocks_that_drift_apart_are_related_by_the_anchors() {
    let scenario = Scenario { drift_ppm: 50, offset: 60 * S, ..Scenario::calm(3) };
    let planted = scenario.play();
    let found = laid(&planted, &OverlayOptions::default());
    assert_eq!((found.requests.matched, found.requests.unmatched), (2_000, 0));
    // Truth by way of the anchors, which are exact to some nanoseconds.
    let exact = services(&Scenario { drift_ppm: 0, ..scenario.clone() }.play());
    let stated = found.measures[1].value(OverlayStatistic::Max).unwrap().truth;
    let expected = exact.iter().map(|(truth, _)| *truth).max().unwrap() as f64;
    assert!((stated - expected).abs() <= 20.0, "{stated}, not {expected}");
    // The canary: without anchors nothing fits.
    let blind = Planted { anchors: Vec::new(), ..planted };
    let found = laid(&blind, &OverlayOptions::default());
    assert!(found.requests.matched < 100, "{:?}", found.requests);
}

#[test]
fn sixty_four_busy_sessions_with_transactions_are_told_apart() {
    let scenario = Scenario {
        sessions: 64,
        requests: 20_000,
        think: 200 * US,
        rows: 4,
        hiccup: Some((150 * MS, 20 * MS)),
        ..Scenario::calm(4)
    };
    let planted = scenario.play();
    let found = laid(&planted, &OverlayOptions::default());
    assert_eq!((found.requests.matched, found.rows.matched), (20_000, planted.rows.len() as u64));
    let pairs = services(&planted);
    let longest = pairs.iter().map(|(truth, _)| *truth).max().unwrap();
    assert_eq!(found.measures[1].value(OverlayStatistic::Max).unwrap().truth, longest as f64);
    // On how many requests each rule acted: by their rows.
    let acted = |bit: u16| {
        rows_of(&planted)
            .values()
            .filter(|(_, rows)| rows.iter().any(|row| row.rules >> bit & 1 == 1))
            .count() as u64
    };
    assert_eq!(
        found.rules,
        [
            ("queued".to_owned(), acted(0)),
            ("hiccup".to_owned(), acted(1)),
            (record::CLIENT_RULE.to_owned(), 0)
        ]
    );
    assert!(acted(1) > 64);
    assert!(found.largest.iter().all(|one| one.operation == "read"));
}

/// Every session works in step with the others, at a store that lets one begin each 20 µs.
#[test]
fn sessions_in_step_are_told_apart_by_their_delays_or_not_at_all() {
    let scenario = Scenario {
        sessions: 32,
        requests: 30_000,
        think: 0,
        exponential: false,
        service: 300 * US,
        gate: 20 * US,
        network: 4 * US,
        ..Scenario::calm(5)
    };
    let found = laid(&scenario.play(), &OverlayOptions::default());
    let counts = found.requests;
    assert_eq!(counts.matched + counts.unmatched, 30_000);
    assert!(counts.matched >= 29_000, "{counts:?} {:?}", found.rows);
}

#[test]
fn lost_connections_requests_given_up_and_strangers_are_counted_and_nothing_else() {
    let scenario = Scenario {
        requests: 8_000,
        lost_each: 400,
        set_up: 3,
        strangers: 4,
        timeout: 3 * MS,
        ..Scenario::calm(6)
    };
    let planted = scenario.play();
    let found = laid(&planted, &OverlayOptions::default());
    let given_up = planted.samples.iter().filter(|s| s.outcome == Outcome::Timeout).count() as u64;
    let lost = planted.samples.iter().filter(|s| s.outcome == Outcome::ConnectionLost).count() as u64;
    assert!(given_up > 0 && lost > 0, "{given_up} {lost}");
    let counts = found.requests;
    assert_eq!(counts.compared, counts.matched - counts.given_up - counts.unanswered);
    assert!(counts.matched >= 7_900, "{counts:?} {:?}", found.rows);
    assert!(counts.given_up <= given_up && counts.given_up + 20 >= given_up, "{counts:?} of {given_up}");
    assert!(counts.unanswered <= lost && counts.unanswered + 20 >= lost, "{counts:?} of {lost}");
    let own = planted.sample_of.iter().filter(|sample| sample.is_some()).count() as u64;
    let others = planted.rows.len() as u64 - own;
    assert!(
        found.rows.matched <= own && found.rows.outside + found.rows.ambiguous >= others,
        "{:?}",
        found.rows
    );
}

#[test]
fn windows_change_nothing() {
    let scenario =
        Scenario { requests: 30_000, rows: 3, hiccup: Some((2 * S, 700 * MS)), ..Scenario::calm(7) };
    let planted = scenario.play();
    let whole = laid(&planted, &OverlayOptions::default());
    let cut = laid(&planted, &OverlayOptions { window: 1_500, ..OverlayOptions::default() });
    let nameless = |overlay: Overlay| {
        let store = analysis::overlay::OverlayStore { name: String::new(), ..overlay.store.clone() };
        Overlay { store, moment: None, ..overlay }
    };
    let worst = |overlay: &Overlay| overlay.moment.as_ref().map(|moment| moment.worst);
    assert_eq!(worst(&whole), worst(&cut));
    assert_eq!(nameless(cut), nameless(whole.clone()));
    assert_eq!(whole.requests.matched, 30_000);
}

#[test]
fn staleness_is_summed_over_reads() {
    let planted = Scenario::calm(8).play();
    let found = laid(&planted, &OverlayOptions::default()).staleness.unwrap();
    let reads: Vec<_> = planted.rows.iter().filter_map(|row| row.staleness).collect();
    let stale = reads.iter().filter(|staleness| staleness.versions > 0).count() as u64;
    assert_eq!((found.reads, found.stale, found.versions_max), (reads.len() as u64, stale, 2));
    assert!(stale > 0);
    within(found.time[0].1.0 as f64, MS as f64, "how long");
}

#[test]
fn the_worst_moment_is_drawn_with_what_is_around_it() {
    let scenario = Scenario { requests: 20_000, hiccup: Some((3 * S, 800 * MS)), ..Scenario::calm(9) };
    let planted = scenario.play();
    let found = laid(&planted, &OverlayOptions::default());
    let moment = found.moment.unwrap();
    let worst = moment.points.iter().map(|point| point.truth).max().unwrap();
    let longest = found.measures[0].value(OverlayStatistic::Max).unwrap().truth;
    assert_eq!(worst.0 as f64, longest);
    assert!(moment.points.len() > 200 && moment.points.len() <= 2_000, "{}", moment.points.len());
    assert!(moment.points.windows(2).all(|pair| pair[0].at <= pair[1].at));
    assert!(moment.points.iter().any(|point| point.at == moment.worst && point.truth == worst));
    let calm = moment.points.iter().filter(|point| point.truth.0 < longest as u64 / 10).count();
    assert!(calm >= 100, "only {calm} of those around it are calm");
}

/// The log of another store, or of another time: nothing is made up.
#[test]
fn a_log_of_something_else_matches_nothing() {
    let (mut planted, other) = (Scenario::calm(10).play(), Scenario::calm(11).play());
    planted.rows = other.rows;
    let found = laid(&planted, &OverlayOptions::default());
    assert_eq!((found.requests.matched, found.requests.unmatched), (0, 2_000), "{:?}", found.rows);
    assert_eq!((found.measures, found.moment, found.largest), (vec![], None, vec![]));
    let mut later = Scenario::calm(10).play();
    later.header.epoch_wall_ns += 3_600 * S;
    let found = laid(&later, &OverlayOptions::default());
    assert_eq!((found.requests.matched, found.rows.in_time), (0, 0));
}
