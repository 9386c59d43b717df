//! Other tools' runs that were given a rate: what they did not send has no sample, and is missed all the same.

mod made;

use analysis::{Analysis, ReasonKind, Severity};
use made::{MS, Run, S, phase, reason, request};
use record::{LoadModel, PhaseKind, Provenance, Sample};
use units::Instant;

/// A run of another tool that was asked for 1,000 requests each second, up to its last answer.
fn imported(model: LoadModel, samples: Vec<Sample>) -> Run {
    let end = samples.iter().map(|sample| sample.completed.0).max().unwrap_or(0);
    let mut run =
        Run::with_phases(model, vec![phase("measured", PhaseKind::Measured, 0, end, Some(1_000.0))]);
    run.input.info.header.provenance = Provenance::Imported { tool: "YCSB".to_owned() };
    run.samples = samples;
    run
}

/// `count` requests that are due each millisecond, each sent as `sent` says and answered after 0.2 ms.
fn requests(count: u64, sent: impl Fn(u64) -> u64) -> Vec<Sample> {
    let one = |i: u64| {
        let at = sent(i);
        Sample { sent: Instant(at), completed: Instant(at + MS / 5), ..request(i * MS, i) }
    };
    (0..count).map(one).collect()
}

fn severity(found: &Analysis) -> Option<Severity> {
    reason(found, ReasonKind::RateNotReached).map(|reason| reason.severity)
}

#[test]
fn a_rate_of_which_half_was_made_is_not_reached() {
    // Two milliseconds each: after 20 s, half of the 20,000 were sent, and the others have no sample.
    let run = imported(LoadModel::Open, requests(10_000, |i| i * 2 * MS));
    let found = run.analyse();
    assert_eq!(severity(&found), Some(Severity::Invalid));
    let text = &reason(&found, ReasonKind::RateNotReached).expect("a reason").text;
    assert!(text.contains("offered rate was not reached: 50 %"), "{text}");
    assert_eq!(found.offered.expect("a rate").get(), 1_000.0);
    assert!((found.achieved.get() - 500.0).abs() < 1.0, "{}", found.achieved);
    // The intended moments that there are end at half-time; what was asked for does not.
    let offered: Vec<f64> = found.load.iter().map(|point| point.offered.expect("a rate")).collect();
    assert!(offered.len() >= 20 && offered.iter().all(|rate| (rate - 1_000.0).abs() < 1e-6), "{offered:?}");
    // Without the rate nothing of this can be known.
    let mut silent = run;
    silent.input.info.header.phases[0].offered = None;
    let found = silent.analyse();
    assert_eq!(severity(&found), None);
    assert!((found.offered.expect("as counted").get() - 500.0).abs() < 1.0);
}

#[test]
fn a_rate_that_was_kept_is_reached_whatever_comes_after_the_last_request() {
    assert_eq!(severity(&imported(LoadModel::Open, requests(20_000, |i| i * MS)).analyse()), None);
    // It made its 5,000 requests in time, and waited a second for the last answer.
    let mut samples = requests(5_000, |i| i * MS);
    samples[4_999].completed = Instant(6 * S);
    let found = imported(LoadModel::Open, samples).analyse();
    assert_eq!((severity(&found), found.offered.expect("a rate").get()), (None, 1_000.0));
    // Stalled for a second in the middle, and caught up: late, and all of them made.
    let stalled =
        requests(10_000, |i| if (4_000..5_000).contains(&i) { 5 * S + (i - 4_000) * 1_000 } else { i * MS });
    assert_eq!(severity(&imported(LoadModel::Open, stalled).analyse()), None);
}

#[test]
fn what_chance_does_to_a_drawn_schedule_is_no_shortage() {
    // 1,940 of 2,000 are one and a half standard deviations.
    let few = |count: u64| {
        let mut samples = requests(count, |i| i * 2_000 * MS / count);
        samples.iter_mut().for_each(|sample| sample.intended = sample.sent);
        severity(&imported(LoadModel::Open, samples).analyse())
    };
    assert_eq!(few(1_940), None);
    assert_eq!(few(1_800), Some(Severity::Invalid));
}

#[test]
fn a_throttled_closed_loop_of_another_tool_is_judged_by_its_rate() {
    let closed = |gap: u64| {
        let mut samples = requests(10_000, |i| i * gap);
        samples.iter_mut().for_each(|sample| sample.intended = Instant::NONE);
        imported(LoadModel::ThrottledClosed, samples).analyse()
    };
    assert_eq!(severity(&closed(MS)), None);
    let found = closed(2 * MS);
    assert_eq!((severity(&found), found.offered), (Some(Severity::Invalid), None));
}
