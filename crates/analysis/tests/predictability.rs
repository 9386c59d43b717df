//! The predictability experiment on runs whose variance is planted.

mod made;

use analysis::{Analysis, PredictabilityRuns, VerdictState, Work, predictability};
use made::{MS, Run, took};
use record::LoadModel;

/// 20,000 requests: of each two that follow each other one takes `low` and one `high`, in an order that the seed decides.
fn run(low: u64, high: u64, seed: u64) -> Analysis {
    let of = move |seq: u64| {
        if (seq / 2 * 7 + seed).is_multiple_of(3) == seq.is_multiple_of(2) { low } else { high }
    };
    let run = Run::new(LoadModel::Open, 20).each_ms(20_000, |seq, sample| took(sample, of(seq)));
    run.analyse()
}

fn runs(server: &str, work: Work, runs: Vec<Analysis>) -> PredictabilityRuns {
    PredictabilityRuns { server: server.to_owned(), work, runs, missing: Vec::new() }
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-3 * expected.abs()
}

/// 1 and 3 ms: mean 2, standard deviation 1, p99 3. Alike 1.9 and 2.1 ms: a tenth of the spread at the same mean.
#[test]
fn spreads_and_what_is_left_of_them_are_found() {
    let standard = (0..3).map(|seed| run(MS, 3 * MS, seed)).collect();
    let alike = (0..3).map(|seed| run(1_900_000, 2_100_000, seed)).collect();
    let found = predictability(&[runs("A", Work::Standard, standard), runs("A", Work::Alike, alike)]);
    let cell = &found.cells[0];
    let of = |name: &str| {
        let times = cell.times.as_ref().unwrap();
        times.rows.iter().find(|row| row.name == name).unwrap().across.point
    };
    let expected = [
        ("mean", 2e6),
        ("standard deviation", 1e6),
        ("p99", 3e6),
        ("coefficient of variation", 0.5),
        ("p99/mean", 1.5),
    ];
    for (name, expected) in expected {
        assert!(near(of(name), expected), "{name} {}", of(name));
    }
    assert_eq!(cell.times.as_ref().unwrap().rows.len(), expected.len(), "and nothing else");
    assert_eq!(cell.rates.map(|(offered, _)| offered), Some(1000.0));
    let removal = &found.removals[0];
    let ratio = removal.rows.iter().find(|row| row.name == "coefficient of variation").unwrap();
    assert!(near(ratio.ratio.as_ref().unwrap().point, 0.1), "{ratio:?}");
}

#[test]
fn invalid_runs_count_for_nothing_and_are_seen() {
    let mut broken = run(50 * MS, 50 * MS, 1);
    broken.verdict.state = VerdictState::Invalid;
    let found = predictability(&[runs("A", Work::Standard, vec![broken.clone(), run(MS, 3 * MS, 2)])]);
    let cell = &found.cells[0];
    assert_eq!(cell.verdicts[0], VerdictState::Invalid);
    let mean = &cell.times.as_ref().unwrap().rows.iter().find(|row| row.name == "mean").unwrap().across;
    assert!(near(mean.point, 2e6), "{mean:?}");
    // Nothing is left where all are.
    let none = predictability(&[runs("A", Work::Standard, vec![broken])]);
    assert_eq!((&none.cells[0].times, none.cells[0].rates), (&None, None));
}

#[test]
fn a_server_is_compared_with_itself_alone() {
    let one = |seed| vec![run(MS, 3 * MS, seed)];
    let found = predictability(&[
        runs("A", Work::Standard, one(1)),
        runs("B", Work::Alike, one(2)),
        runs("C", Work::Standard, one(3)),
        runs("C", Work::Alike, Vec::new()),
    ]);
    assert!(found.removals.is_empty());
    assert_eq!(found.cells.len(), 4);
}
