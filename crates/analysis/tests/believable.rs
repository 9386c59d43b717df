//! How far the numbers can be believed: no further than the samples carry, and with what is not known of pick-up.

mod made;

use analysis::{Analysis, Cause, Options, ReasonKind, Severity, VerdictState, analyse_batches};
use made::{MS, Run, S, changed, reason, took};
use record::{LoadModel, Measure, NoiseObservation, NoiseSourceFacts, Provenance, Sample, flags};
use units::{Bound, Instant, Nanos, Outcome, Quantile, Seed};

/// Exponential service times of 0.3 ms on average, one each millisecond.
fn plain(count: u64) -> Run {
    let draw = |i: u64| (Seed(9).at(i).exponential() * 3e5) as u64 + 1;
    Run::new(LoadModel::Open, count.div_ceil(1_000)).each_ms(count, |i, s| took(s, draw(i)))
}

fn bound(analysis: &Analysis) -> (Option<String>, &str) {
    (analysis.verdict.believable_to.map(|q| q.name()), analysis.verdict.bound_reason.as_str())
}

fn of(name: &str) -> Option<String> {
    Some(name.to_owned())
}

#[test]
fn no_more_is_believed_than_the_samples_carry() {
    let cases = [
        (10, None, "10 requests are too few for p50, which needs 20"),
        (30, of("p50"), "30 requests are too few for p75, which needs 40"),
        (1_500, of("p99"), "1,500 requests are too few for p99.9, which needs 10,000"),
        (200_000, of("max"), ""),
    ];
    for (count, to, why) in cases {
        let found = plain(count).analyse();
        assert_eq!(bound(&found), (to, why), "{count}");
        let expected = if count < 100 { VerdictState::Suspect } else { VerdictState::Valid };
        assert_eq!(found.verdict.state, expected, "{count}");
    }
}

#[test]
fn a_quantile_without_an_interval_is_not_believed() {
    // One freeze of 3 s in 20 s: p50 is known, and what one freeze decides is known of this run alone.
    let frozen = |i: u64| if (8_000..11_000).contains(&i) { (11_000 - i) * MS } else { 0 };
    let run = Run::new(LoadModel::Open, 20).each_ms(20_000, |i, s| took(s, frozen(i) + 1_000 + i % 97));
    let found = run.analyse();
    let whole = found.total.whole().unwrap();
    let carried = whole.quantiles.iter().take_while(|(_, e)| e.interval.is_some()).last().unwrap().0;
    assert!(carried.get() < 0.999, "nothing is planted: {carried}");
    assert_eq!(found.verdict.believable_to, Some(carried));
    assert_eq!(
        found.verdict.bound_reason,
        "above it the requests are too much alike in time for an interval"
    );
}

#[test]
fn a_quantile_that_timeouts_hide_is_not_believed() {
    let cut = |s: Sample| Sample { completed: s.sent + Nanos(50 * MS), outcome: Outcome::Timeout, ..s };
    let found = changed(plain(20_000), |seq| seq.is_multiple_of(40), cut).analyse();
    assert_eq!(bound(&found), (of("p95"), "above it only lower bounds are known"));
}

/// A quarter of the requests has a stamp, 0.1 ms before their completion; all take 1 ms.
fn partly_stamped() -> Run {
    let mut run = Run::new(LoadModel::Open, 20).each_ms(20_000, |_, s| took(s, MS));
    run.input.info.header.provenance = Provenance::Live;
    let stamp = |s: Sample| Sample { arrived: Instant(s.completed.0 - MS / 10), ..s };
    changed(run, |seq| seq.is_multiple_of(4), stamp)
}

#[test]
fn what_has_no_stamp_has_no_pick_up_of_zero() {
    let found = partly_stamped().analyse();
    for row in &found.anatomy.rows {
        if row.quantile == Quantile::new(1.0).unwrap() {
            continue; // one request, and it has its stamp or not
        }
        assert_eq!(row.pick_up_ns, Some(1e5), "the mean of those that have one: {row:?}");
        assert!((row.stamped as f64 / row.requests as f64 - 0.25).abs() < 0.01, "{row:?}");
        let sum = row.pool_wait_ns + row.lag_ns + row.service_ns + row.pick_up_ns.unwrap();
        assert!((sum - 1e6).abs() < 1.0, "the parts make the whole: {row:?}");
    }
    // 10 % of each quantile is the harness's, where an average over zeros would find 2.5 %.
    let share = reason(&found, ReasonKind::HarnessShare).expect("above 5 %");
    assert_eq!(share.severity, Severity::Suspect);
    assert!(found.verdict.bound_reason.ends_with("pick-up was measured for 5,000 of 20,000 requests"));
    let pick_up = found.total.measure(Measure::PickUp).unwrap();
    assert_eq!((pick_up.n, pick_up.censored, pick_up.min), (5_000, 0, Nanos(MS / 10)));
}

#[test]
fn a_stamp_that_may_be_late_makes_pick_up_a_lower_bound() {
    let stamp = |s: Sample| Sample { arrived: Instant(s.completed.0 - 1_000), ..s };
    let mut run = changed(plain(20_000), |seq| seq > 0, stamp);
    run.input.info.header.provenance = Provenance::Live;
    assert!(reason(&run.analyse(), ReasonKind::PickUpBound).is_none(), "exact stamps");
    let late = |s: Sample| Sample { flags: flags::ARRIVED_UPPER_BOUND, ..s };
    let found = changed(run.clone(), |seq| seq.is_multiple_of(2), late).analyse();
    // Request 0 has no stamp, and so none that could be late.
    let said = reason(&found, ReasonKind::PickUpBound).expect("late stamps");
    assert_eq!(said.severity, Severity::Note);
    assert!(said.text.contains("lower bound for 9,999 of 19,999 stamped requests"), "{}", said.text);
    let pick_up = found.total.measure(Measure::PickUp).unwrap();
    // Half of them are known, and the median would stay what it is; p95 may be anything above.
    let bound = |q: f64| pick_up.quantile(Quantile::new(q).unwrap()).unwrap().bound;
    assert_eq!((pick_up.censored, bound(0.5), bound(0.95)), (9_999, Bound::Exact, Bound::AtLeast));
    // The whole is not touched by it.
    assert_eq!(found.total.whole().unwrap().censored, 0);
    let all = changed(run, |seq| seq == 0, stamp);
    let all = changed(all, |_| true, late).analyse();
    assert!(all.verdict.bound_reason.ends_with("pick-up is a lower bound"), "{}", all.verdict.bound_reason);
    assert_eq!(found.measured.1, Instant(20 * S));
}

/// One server that is busy for 95 % of 60 s and stood still for 4 ms in each second, as a hiccup thread saw.
fn nearly_saturated(is_told: bool) -> Run {
    let mut run = Run::new(LoadModel::Open, 60);
    let mut free = 0;
    for i in 0..60_000 {
        let sample = made::request(i * MS, i);
        let begin = sample.intended.0.max(free);
        let begin = if begin % S < 4 * MS { begin - begin % S + 4 * MS } else { begin };
        free = begin + 900_000 + Seed(4).at(i).below(100_000);
        run.samples.push(Sample {
            ready: Instant(begin),
            sent: Instant(begin),
            completed: Instant(free),
            ..sample
        });
    }
    let source =
        |name: &str| NoiseSourceFacts { name: name.to_owned(), unit: "ns".to_owned(), available: Ok(0) };
    run.input.noise_sources = vec![source("hiccup cpu 0"), source("hiccup watched")];
    let stall = |second: u64| {
        let (begin, end) = (Instant(second * S), Instant(second * S + 4 * MS));
        NoiseObservation { source: 0, value: (4 * MS) as f64, begin, end }
    };
    run.input.noise.extend((0..60).map(stall).filter(|_| is_told));
    run
}

#[test]
fn a_stall_decides_as_far_as_its_backlog_does() {
    // 0.4 % of the requests arrive in a stall: too few for p99. Some 8 % wait while what it held up is worked off.
    let run = nearly_saturated(true);
    let late = run.samples.iter().filter(|s| s.sent.0 > s.intended.0 + MS / 10).count();
    assert!((3_600..6_000).contains(&late), "{late}");
    let found = run.analyse();
    assert_eq!(bound(&found), (of("p75"), "above it the host's own stalls decide"));
    let untold = nearly_saturated(false).analyse();
    assert!(untold.verdict.believable_to >= Quantile::new(0.99), "{:?}", bound(&untold));
}

/// A stall of both CPUs for 50 ms, from 4 s of 20 s on. Whatever is asked after it and would be answered as fast as usual fails.
fn stalled_for_good() -> Run {
    let stall = (4 * S, 4 * S + 50 * MS);
    let draw = |i: u64| (Seed(7).at(i).exponential() * 1e6) as u64 + 1;
    let waits = |i: u64| if (stall.0..stall.1).contains(&(i * MS)) { stall.1 - i * MS } else { 0 };
    let run = Run::new(LoadModel::Open, 20).each_ms(20_000, |i, s| took(s, waits(i) + draw(i)));
    let is_fast = |seq: u64| seq * MS >= stall.1 && draw(seq) < 750_000;
    let mut run = changed(run, is_fast, |s| Sample { outcome: Outcome::Unavailable, ..s });
    let source =
        |name: &str| NoiseSourceFacts { name: name.to_owned(), unit: "ns".to_owned(), available: Ok(0) };
    run.input.noise_sources = vec![source("hiccup cpu 0"), source("hiccup cpu 1"), source("hiccup watched")];
    run.input.noise.extend([0, 1].map(|cpu| NoiseObservation {
        source: cpu,
        value: (stall.1 - stall.0) as f64,
        begin: Instant(stall.0),
        end: Instant(stall.1),
    }));
    run
}

/// No answer is as fast as usual ever again, and yet the stall is over: by its backlog's longest time, 1.25 s, and neither the
/// verdict nor the attribution puts more down to it.
#[test]
fn a_stall_is_not_owed_what_stays_slow_for_good() {
    let run = stalled_for_good();
    let options = Options { above: Some(Nanos(3 * MS / 2)), worst: usize::MAX, ..Options::default() };
    let batches = run.batches();
    let found = analyse_batches(vec![run.input.clone()], batches.iter().map(|batch| (0, batch)), &options);
    let found = found.expect("one run is a run");
    // 6 % of all requests began in its backlog, and so did of those beyond any quantile; 0.25 % met the stall itself.
    assert_eq!(bound(&found).0, of("p99"));
    let attribution = found.attribution.expect("there are slow requests");
    let blocked = [Cause::ClientStall, Cause::ServerStall, Cause::HostStall];
    let rows: Vec<_> = blocked.iter().filter_map(|cause| attribution.row(*cause)).collect();
    let share: f64 = rows.iter().map(|row| row.share).sum();
    // A tenth is what waited for its end; of the 22 % that took longer anyway, those of 1.25 of the 16 s after it owe some 1.8 ms.
    assert!((0.1..0.2).contains(&share), "{share}: {rows:#?}");
}
