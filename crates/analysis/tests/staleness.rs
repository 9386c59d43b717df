//! Probes of the read-after-write lag, planted in recordings.

mod made;

use analysis::{Staleness, facts};
use made::{MS, Run, S, analyse_all, phase, took};
use record::{LoadModel, NoiseObservation, NoiseSourceFacts, PhaseKind};
use units::{Bound, Instant};

/// A probe: acknowledged at, at least, at most; ns.
type Planted = (u64, u64, Option<u64>);

fn with_probes(mut run: Run, probes: &[Planted], failed_at: &[u64]) -> Run {
    // Not the first sources of a recording, and not in the order of the constants.
    for name in ["steal", facts::PROBES_FAILED, facts::LAG_AT_MOST, facts::LAG_AT_LEAST] {
        let (name, unit) = (name.to_owned(), "ns".to_owned());
        run.input.noise_sources.push(NoiseSourceFacts { name, unit, available: Ok(0) });
    }
    let mut push = |source, value: u64, begin, end| {
        let (begin, end) = (Instant(begin), Instant(end));
        run.input.noise.push(NoiseObservation { source, value: value as f64, begin, end });
    };
    for &(at, least, most) in probes {
        // Not the same as `most`: who writes a recording may round.
        let end = at + most.unwrap_or(10 * S) + 1;
        most.iter().for_each(|most| push(2, *most, at, end));
        push(3, least, at, end);
    }
    failed_at.iter().for_each(|at| push(1, 1, *at, at + MS));
    run
}

fn plain() -> Run {
    Run::with_phases(
        LoadModel::Open,
        vec![
            phase("warm-up", PhaseKind::WarmUp, 0, 2 * S, Some(1000.0)),
            phase("measured", PhaseKind::Measured, 2 * S, 20 * S, Some(1000.0)),
        ],
    )
    .each_ms(20_000, |i, mut sample| {
        sample.phase = u8::from(i >= 2_000);
        took(sample, MS / 2)
    })
}

fn staleness(run: &Run) -> Staleness {
    run.analyse().staleness.expect("it has probes")
}

/// Lags of 1 to 300 ms, in an order that has no trend; bounds 1 % below and above.
fn spread(n: u64) -> Vec<Planted> {
    let lag = |i: u64| (1 + i * 7 % n) * MS;
    (0..n).map(|i| (2 * S + i * 50 * MS, lag(i) / 100 * 99, Some(lag(i) / 100 * 101))).collect()
}

#[test]
fn quantiles_of_the_bounds_are_those_of_the_planted_lags() {
    let found = staleness(&with_probes(plain(), &spread(300), &[]));
    assert_eq!((found.probes, found.stale, found.unseen, found.failed), (300, 300, 0, 0));
    let (least, most) = (found.at_least.unwrap(), found.at_most.unwrap());
    for (bound, factor) in [(&least, 0.99), (&most, 1.01)] {
        let points: Vec<f64> = bound.quantiles.iter().map(|(_, e)| e.point / factor).collect();
        for (point, expected) in points.iter().zip([150e6, 285e6, 297e6]) {
            assert!((point / expected - 1.0).abs() < 0.001, "{point}, not {expected}");
        }
        assert_eq!(bound.max.bound, Bound::Exact);
        assert_eq!(bound.max.point, 300e6 * factor);
        let names: Vec<String> = bound.quantiles.iter().map(|(q, _)| q.name()).collect();
        let withheld: Vec<String> = bound.withheld.iter().map(|q| q.name()).collect();
        assert_eq!([names, withheld].concat(), ["p50", "p95", "p99"]);
    }
}

#[test]
fn only_what_was_acknowledged_in_the_measured_time_counts() {
    let outside = [(S, 5 * MS, Some(6 * MS)), (21 * S, 5 * MS, Some(6 * MS))];
    let inside = [(2 * S, 0, Some(MS)), (3 * S, 0, Some(MS)), (19 * S, 2 * MS, Some(3 * MS))];
    let run = with_probes(plain(), &[&outside[..1], &inside, &outside[1..]].concat(), &[S, 5 * S, 21 * S]);
    let found = staleness(&run);
    assert_eq!((found.probes, found.stale, found.failed), (3, 1, 1));
    assert_eq!(found.at_most.unwrap().max.point, 3e6);
}

#[test]
fn a_write_that_was_never_seen_makes_the_upper_bound_a_lower_one() {
    let mut probes = spread(100);
    probes.push((18 * S, 9 * S, None));
    let found = staleness(&with_probes(plain(), &probes, &[]));
    assert_eq!((found.probes, found.unseen), (101, 1));
    let (least, most) = (found.at_least.unwrap().max, found.at_most.unwrap().max);
    assert_eq!((least.point, least.bound), (9e9, Bound::Exact));
    assert_eq!((most.point, most.bound), (1e10 + 1.0, Bound::AtLeast));
}

#[test]
fn who_did_not_probe_says_nothing_and_who_saw_nothing_says_so() {
    assert_eq!(plain().analyse().staleness, None);
    let found = staleness(&with_probes(plain(), &[], &[3 * S, 4 * S]));
    assert_eq!((found.probes, found.failed), (0, 2));
    assert!(found.at_least.is_none() && found.at_most.is_none());
}

#[test]
fn clients_are_taken_together_and_probes_are_no_noise() {
    let mut second = with_probes(plain(), &spread(50), &[]);
    second.input.info.header.client = 1;
    second.input.info.header.epoch_wall_ns += S;
    second.samples.iter_mut().for_each(|sample| sample.client = 1);
    let both = analyse_all(&[with_probes(plain(), &spread(100), &[]), second]).unwrap();
    assert_eq!(both.staleness.unwrap().probes, 150);
    let names: Vec<&str> = both.noise_sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["steal", "steal"]);
}
