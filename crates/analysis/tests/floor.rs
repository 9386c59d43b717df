//! Floors of planted times: which share of a run's quantiles they explain.

mod made;

use analysis::{Analysis, Floor, FloorKind, FloorRow, FloorShare, RunFloor};
use made::{Run, S, took};
use record::{LoadModel, Measure};
use units::{Bound, Outcome, Quantile, Seed};

const REQUESTS: u64 = 20_000;

/// An open load of log-normal times with this median.
fn run(target: &str, workload: &str, mode: Option<&str>, median_ns: f64, seed: u64) -> Run {
    let mut run = Run::new(LoadModel::Open, 20).each_ms(REQUESTS, |i, sample| {
        took(sample, (median_ns * (0.4 * Seed(seed).at(i).normal()).exp()) as u64)
    });
    let header = &mut run.input.info.header;
    header.target = target.to_owned();
    header.workload = workload.to_owned();
    header.epoch_wall_ns = (1_000 + seed) * S;
    header.workload_facts.extend(mode.map(|mode| ("mode".to_owned(), mode.to_owned())));
    run
}

fn database(median_ns: f64) -> Analysis {
    run("postgres://db1/x", "ycsb", None, median_ns, 1).analyse()
}

/// 1 %, 25 %, 50 % and 60 % of a run with a median of 200 µs.
fn parts() -> Vec<Analysis> {
    [
        run("postgres://db1/x", "noop", Some("select1"), 120e3, 5),
        run("postgres://db1/x", "noop", Some("ping"), 100e3, 4),
        run("echo://127.0.0.1:7377/", "noop", Some("ping"), 50e3, 3),
        run("null:", "noop", Some("ping"), 2e3, 2),
    ]
    .iter()
    .map(Run::analyse)
    .collect()
}

fn row(floor: &RunFloor, q: f64) -> &FloorRow {
    let wanted = Quantile::new(q).unwrap();
    floor.rows.iter().find(|row| row.quantile == wanted).expect("carried by 20,000 requests")
}

fn share(floor: &RunFloor, q: f64, part: usize) -> &FloorShare {
    row(floor, q).shares[part].as_ref().expect("both carry it")
}

#[test]
fn each_part_explains_the_share_that_was_planted() {
    let floor = Floor::of(parts()).unwrap();
    let names: Vec<&str> = floor.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["null", "echo", "noop ping", "noop select1"], "each adds to the one before");
    assert_eq!(floor.decisive().map(|part| part.kind), Some(FloorKind::Echo));
    assert_eq!(floor.measure(), Some(Measure::Response));
    let floor = floor.under(&database(200e3));
    for q in [0.5, 0.9, 0.99, 0.999] {
        for (part, planted) in [0.01, 0.25, 0.5, 0.6].into_iter().enumerate() {
            let share = share(&floor, q, part);
            let (low, high) = share.ratio.interval.expect("independent requests have intervals");
            // All have the same shape, so that every quantile has the ratio of the medians.
            assert!(low * 0.95 < planted && planted < high * 1.05, "{q} {part}: {planted} {low} {high}");
            assert!(high < 1.5 * low, "an interval that says something: {low} {high}");
            assert!(!share.all && !share.at_most, "{q} {part}");
        }
    }
    // p99.99 needs more requests than there are: nothing is said of it.
    assert!(floor.rows.iter().all(|row| row.quantile.get() < 0.9999));
    assert_eq!(floor.network_left_out.as_deref(), Some("db1"), "the echo server was on this host");
}

#[test]
fn what_can_not_be_told_apart_is_all_of_it() {
    let floor = Floor::of(parts()).unwrap().under(&database(50e3));
    assert!(share(&floor, 0.5, 1).all && share(&floor, 0.99, 1).all);
    assert!(share(&floor, 0.5, 2).all, "a floor above the run explains it all, too");
    assert!(!share(&floor, 0.5, 0).all);
}

#[test]
fn requests_that_were_given_up_make_it_at_most_that() {
    let mut censored = run("postgres://db1/x", "ycsb", None, 200e3, 1);
    censored.samples.iter_mut().filter(|s| s.seq % 3 == 0).for_each(|sample| {
        sample.outcome = Outcome::Timeout;
        sample.completed = sample.sent + units::Nanos(100_000);
    });
    let analysis = censored.analyse();
    let floor = Floor::of(parts()).unwrap().under(&analysis);
    let bounds = floor.rows.iter().filter(|row| row.run.bound == Bound::AtLeast);
    assert!(bounds.clone().count() > 0);
    for row in bounds {
        assert!(row.shares[0].as_ref().is_some_and(|share| share.at_most && !share.all), "{row:?}");
        // A floor above what is known of the run says nothing of what is not known.
        let hidden = row.shares[3].as_ref();
        assert!(hidden.is_none_or(|share| share.at_most && share.ratio.point < 1.0), "{row:?}");
    }
}

#[test]
fn without_an_echo_server_the_harness_alone_decides() {
    let parts = [
        run("null:", "noop", None, 2e3, 2).analyse(),
        run("sqlite:", "noop", Some("ping"), 9e3, 3).analyse(),
    ];
    let floor = Floor::of(parts).unwrap();
    assert_eq!(floor.decisive().map(|part| part.name.as_str()), Some("null"));
    let run = run("sqlite:", "ycsb", None, 20e3, 1).analyse();
    let floor = floor.under(&run);
    assert_eq!(floor.network_left_out, None);
    assert!((share(&floor, 0.5, 0).ratio.point - 0.1).abs() < 0.01);
}

/// A load that the measuring side did not manage is no floor for one that it did.
#[test]
fn a_part_that_is_invalid_explains_nothing() {
    let mut late = run("echo://127.0.0.1:7377/", "noop", None, 50e3, 3);
    // Half of what was offered is done when the run ends.
    late.samples.truncate(9_000);
    late.samples.extend((9_000..20_000).map(|i| {
        let mut sample = made::request(i * made::MS, i);
        sample.outcome = Outcome::Unfinished;
        sample.completed = units::Instant(30 * S);
        sample
    }));
    let floor = Floor::of([late.analyse(), run("null:", "noop", None, 2e3, 2).analyse()]).unwrap();
    assert!(
        floor.parts[1].problem().is_some_and(|problem| problem.contains("of the")),
        "{:?}",
        floor.parts[1].problem()
    );
    assert_eq!(floor.decisive(), None, "the harness alone is not what lies below a server");
    let floor = floor.under(&database(200e3));
    assert!(row(&floor, 0.5).shares[1].is_none() && row(&floor, 0.5).shares[0].is_some());
}

#[test]
fn a_database_at_work_is_no_floor() {
    assert!(Floor::of([database(200e3)]).is_none());
    let floor = Floor::of([database(200e3), run("null:", "noop", None, 2e3, 2).analyse()]).unwrap();
    assert_eq!(floor.parts.len(), 1);
}

/// Times of closed loops are service times; they say nothing of response times.
#[test]
fn times_of_another_kind_explain_nothing() {
    let mut closed = Run::new(LoadModel::Closed, 20).each_ms(REQUESTS, |_, sample| took(sample, 2_000));
    closed.samples.iter_mut().for_each(|sample| sample.intended = units::Instant::NONE);
    let header = &mut closed.input.info.header;
    (header.target, header.workload) = ("null:".to_owned(), "noop".to_owned());
    let floor = Floor::of([closed.analyse()]).unwrap();
    assert_eq!(floor.measure(), Some(Measure::Service));
    let floor = floor.under(&database(200e3));
    assert!(floor.rows.iter().all(|row| row.shares == [None]));
}
