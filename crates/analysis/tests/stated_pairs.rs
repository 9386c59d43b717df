//! Requests on one side, a tool's statements on the other: the figures that belong together stand side by side.

mod made;

use analysis::{Analysis, StatedPair, stated_pairs};
use made::{MS, Run};
use record::{LoadModel, Sample, Stated, StatedFrom};
use units::{Instant, Nanos, Outcome, Quantile};

/// Read and update in turn. Request i is sent 1 ms late, and answered after 1 + (i mod 1000) µs, an update after 1 ms more.
fn measured(model: LoadModel) -> Run {
    let one = |i: u64, sample: Sample| {
        let sent = Instant(sample.intended.0 + MS);
        let took = (1 + i / 2 % 1_000) * 1_000 + i % 2 * MS;
        let intended = if model.has_response_time() { sample.intended } else { Instant::NONE };
        Sample { op: (i % 2) as u8, intended, sent, completed: Instant(sent.0 + took), ..sample }
    };
    let mut run = Run::new(model, 20).each_ms(20_000, one);
    run.input.info.header.operations = vec!["ReadRecord".to_owned(), "UpdateRecord".to_owned()];
    run
}

fn tool(statements: &[(&str, StatedFrom)]) -> Analysis {
    let one = |(operation, counted_from): &(&str, StatedFrom)| Stated {
        operation: (*operation).to_owned(),
        measure: format!("{operation} of a tool"),
        counted_from: *counted_from,
        mean: Some(Nanos(2 * MS)),
        max: Some(Nanos(8 * MS)),
        ..Stated::default()
    };
    let mut run = Run::new(LoadModel::Open, 20);
    run.input.stated = statements.iter().map(one).collect();
    run.analyse()
}

fn names(pairs: &[StatedPair]) -> Vec<(String, String)> {
    pairs.iter().map(|pair| (pair.base.measure.clone(), pair.new.measure.clone())).collect()
}

fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(base, new)| ((*base).to_owned(), (*new).to_owned())).collect()
}

const RESPONSE: &str = "response time, measured";
const SERVICE: &str = "service time, measured";

fn figure<'a>(pair: &'a StatedPair, name: &str) -> &'a analysis::StatedFigure {
    pair.figures.iter().find(|figure| figure.name == name).expect("a figure")
}

#[test]
fn operations_and_moments_that_are_one_meet() {
    let own = measured(LoadModel::Open).analyse();
    let theirs =
        tool(&[("READ", StatedFrom::Schedule), ("UPDATE", StatedFrom::Send), ("SCAN", StatedFrom::Send)]);
    let pairs = stated_pairs(&own, &theirs, &Quantile::PRINTED);
    assert_eq!(names(&pairs), named(&[(RESPONSE, "READ of a tool"), (SERVICE, "UPDATE of a tool")]));
    assert_eq!(pairs[0].base.operation, "ReadRecord");
    // Of 10,000 reads a thousand values each ten times, and 1 ms of lag: the median is 1.5 ms, the largest 2 ms.
    let at = |name: &str| figure(&pairs[0], name).base.expect("told").0 as f64;
    assert!((at("p50") / 1.5e6 - 1.0).abs() < 2e-4 && (at("max") / 2e6 - 1.0).abs() < 2e-4, "{pairs:?}");
    let mean = figure(&pairs[0], "mean").ratio.expect("both tell it");
    let exact = 2e6 / 1.500_5e6;
    assert!(mean.0 <= exact && exact <= mean.1 && mean.1 - mean.0 < 1e-3, "{mean:?}");
    assert_eq!(figure(&pairs[0], "p99").new, None, "nothing is made up");
    // The same from the other side.
    let turned = stated_pairs(&theirs, &own, &Quantile::PRINTED);
    assert_eq!(names(&turned), named(&[("READ of a tool", RESPONSE), ("UPDATE of a tool", SERVICE)]));
}

#[test]
fn who_does_not_say_from_when_stands_beside_both() {
    let theirs = tool(&[("", StatedFrom::Unsaid)]);
    let pairs = stated_pairs(&measured(LoadModel::Open).analyse(), &theirs, &[]);
    assert_eq!(names(&pairs), named(&[(RESPONSE, " of a tool"), (SERVICE, " of a tool")]));
    let closed = stated_pairs(&measured(LoadModel::Closed).analyse(), &theirs, &[]);
    assert_eq!(names(&closed), named(&[(SERVICE, " of a tool")]));
    // Its only operation is all that it did.
    let only = tool(&[("queries", StatedFrom::Send)]);
    let pairs = stated_pairs(&measured(LoadModel::Open).analyse(), &only, &[]);
    assert_eq!(names(&pairs), named(&[(SERVICE, "queries of a tool")]));
    assert_eq!(pairs[0].base.operation, "");
    // Where the other side has one of that name, it is that one.
    let pairs = stated_pairs(&measured(LoadModel::Open).analyse(), &tool(&[("Read", StatedFrom::Send)]), &[]);
    assert_eq!(pairs.iter().map(|pair| pair.base.operation.as_str()).collect::<Vec<_>>(), ["ReadRecord"]);
}

#[test]
fn what_timeouts_hide_is_not_told() {
    let mut run = measured(LoadModel::Open);
    for sample in run.samples.iter_mut().step_by(50) {
        (sample.outcome, sample.completed) = (Outcome::Timeout, Instant(sample.sent.0 + 5 * MS));
    }
    let pairs = stated_pairs(&run.analyse(), &tool(&[("", StatedFrom::Schedule)]), &Quantile::PRINTED);
    assert!(figure(&pairs[0], "p50").base.is_some());
    for hidden in ["max", "mean"] {
        assert_eq!(figure(&pairs[0], hidden).base, None, "{hidden}");
    }
    assert!(pairs[0].figures.iter().all(|figure| figure.name != "p99"), "{pairs:?}");
}
