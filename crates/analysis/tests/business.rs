//! What a workload asks of its own run, planted as facts and samples.

mod made;

use analysis::{Analysis, Asked, Business, RuleState, VerdictState};
use made::{MS, Run, S, analyse_all, took};
use record::{LoadModel, Measure};
use units::Outcome;

const FACTS: [(&str, &str); 6] = [
    ("warehouses", "1"),
    ("rate tpmX", "Read"),
    ("ceiling of tpmX with terminals", "60000"),
    ("limit p90 Read", "5ms"),
    ("limit p90 Update", "5ms"),
    ("least share Update", "25%"),
];

fn asked(mut run: Run, facts: &[(&str, &str)]) -> Run {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    run.input.info.header.workload_facts = facts.iter().map(owned).collect();
    run
}

/// 20 s: of four requests one is an Update of 10 ms, the others are Reads of 1 ms; each tenth Read is rolled back.
fn run(model: LoadModel) -> Run {
    Run::new(model, 20).each_ms(20_000, |i, mut sample| {
        sample.op = u8::from(i % 4 == 3);
        sample.outcome = if i.is_multiple_of(10) { Outcome::Abort } else { Outcome::Ok };
        took(sample, if i % 4 == 3 { 10 * MS } else { MS })
    })
}

fn business(analysis: &Analysis) -> &Business {
    analysis.business.as_ref().expect("it asks for something")
}

#[test]
fn a_rate_counts_what_completed_in_the_measured_time() {
    let analysis = asked(run(LoadModel::Open), &FACTS).analyse();
    let [rate] = &business(&analysis).rates[..] else { panic!("one rate") };
    assert_eq!((rate.name.as_str(), rate.operation.as_str()), ("tpmX", "Read"));
    // 15,000 Reads in 20 s. Of the requests 0, 10, 20 …, which are rolled back, those that 4 divides or leaves 2 are Reads: all.
    assert!((rate.per_minute - 45_000.0).abs() < 1.0, "{rate:?}");
    assert!((rate.committed_per_minute - 39_000.0).abs() < 1.0, "{rate:?}");
    assert_eq!(
        (rate.ceiling, rate.share_of_ceiling()),
        (Some(60_000.0), None),
        "an open loop has no terminals"
    );
    let terminals = asked(run(LoadModel::Terminals), &FACTS).analyse();
    let share = business(&terminals).rates[0].share_of_ceiling().expect("terminals are bound");
    assert!((share - 0.75).abs() < 1e-3, "{share}");
}

#[test]
fn what_completes_after_the_measured_time_does_not_count() {
    let late = Run::new(LoadModel::Open, 10)
        .each_ms(10_000, |i, sample| took(sample, if i < 5_000 { MS } else { 20 * S }));
    let analysis = asked(late, &FACTS).analyse();
    assert!((business(&analysis).rates[0].per_minute - 30_000.0).abs() < 1.0);
}

#[test]
fn limits_are_held_against_the_operation_s_own_times() {
    for model in [LoadModel::Open, LoadModel::Closed] {
        let analysis = asked(run(model), &FACTS).analyse();
        let states: Vec<_> =
            business(&analysis).rules.iter().map(|rule| (rule.operation.as_str(), rule.state)).collect();
        assert_eq!(
            states,
            [("Read", RuleState::Held), ("Update", RuleState::Broken), ("Update", RuleState::Held)]
        );
        let Asked::AtMost { measure, found, .. } = &business(&analysis).rules[1].asked else { panic!() };
        let expected = if model == LoadModel::Open { Measure::Response } else { Measure::Service };
        assert_eq!((*measure, found.as_ref().map(|e| e.point.round())), (expected, Some(10.0 * MS as f64)));
    }
}

#[test]
fn what_the_samples_do_not_carry_is_not_known() {
    let few = Run::new(LoadModel::Open, 20).each_ms(50, |_, sample| took(sample, MS));
    let analysis = asked(few, &FACTS).analyse();
    let states: Vec<_> = business(&analysis).rules.iter().map(|rule| rule.state).collect();
    assert_eq!(states, [RuleState::Unknown, RuleState::Unknown, RuleState::Broken]);
}

#[test]
fn a_drawn_share_may_fall_short_by_chance_alone() {
    // Of 10,000 requests 25 % have a standard deviation of 43.
    for (updates, expected) in [
        (2_500, RuleState::Held),
        (2_499, RuleState::WithinChance),
        (2_380, RuleState::WithinChance),
        (2_360, RuleState::Broken),
    ] {
        let drawn = Run::new(LoadModel::Open, 20).each_ms(10_000, |i, mut sample| {
            sample.op = u8::from(i < updates);
            took(sample, MS)
        });
        let analysis = asked(drawn, &FACTS).analyse();
        assert_eq!(business(&analysis).rules[2].state, expected, "{updates}");
    }
}

#[test]
fn clients_are_added_up_and_their_counts_too() {
    let mut clients = [asked(run(LoadModel::Open), &FACTS), asked(run(LoadModel::Open), &FACTS)];
    for (number, client) in (0..).zip(&mut clients) {
        client.input.info.header.client = number;
        for sample in &mut client.samples {
            sample.client = number;
        }
        client.input.facts.push(("count: skipped".to_owned(), "7".to_owned()));
        client.input.facts.push(("count: odd".to_owned(), "many".to_owned()));
    }
    let analysis = analyse_all(&clients).expect("two clients of one run");
    assert!((business(&analysis).rates[0].per_minute - 90_000.0).abs() < 2.0);
    assert_eq!(business(&analysis).counts, [("skipped".to_owned(), 14)]);
}

#[test]
fn facts_that_can_not_be_read_ask_for_nothing() {
    let odd = [
        ("rate tpmX", "Write"),
        ("limit p90 Write", "5ms"),
        ("limit p900 Read", "5ms"),
        ("limit p90 Read", "soon"),
        ("limit p90", "5ms"),
        ("least share Read", "0.5"),
        ("least share Write", "5%"),
    ];
    assert_eq!(asked(run(LoadModel::Open), &odd).analyse().business, None);
    assert_eq!(run(LoadModel::Open).analyse().business, None);
}

#[test]
fn what_is_rolled_back_by_design_is_not_held_against_a_run() {
    let aborting = |share: u64| {
        Run::new(LoadModel::Open, 20).each_ms(20_000, |i, mut sample| {
            sample.outcome = if i % 1_000 < share { Outcome::Abort } else { Outcome::Ok };
            took(sample, MS)
        })
    };
    let speaks = |run: &Run| {
        let verdict = run.analyse().verdict;
        let aborts = verdict.reasons.iter().any(|reason| reason.kind == analysis::ReasonKind::Aborts);
        assert!(!aborts || verdict.state >= VerdictState::Suspect);
        aborts
    };
    let by_design = [("rolled back by design Read", "1%")];
    assert!(speaks(&aborting(15)), "1.5 % are more than the limit of 1 %");
    assert!(!speaks(&asked(aborting(15), &by_design)), "1 % of them were asked for");
    assert!(speaks(&asked(aborting(25), &by_design)));
}

/// 10,000 Reads of which `ok` do their work, and the others are a miss or an abort, in turn.
fn succeeding(ok: u64) -> Run {
    Run::new(LoadModel::Open, 20).each_ms(10_000, |i, mut sample| {
        sample.outcome = match i {
            i if i < ok => Outcome::Ok,
            i if i % 2 == 0 => Outcome::Miss,
            _ => Outcome::Abort,
        };
        took(sample, MS)
    })
}

#[test]
fn shares_of_success_are_held_against_chance() {
    use RuleState::{Broken, Held, Unknown, WithinChance};
    // Of 10,000, 40 % have a standard deviation of 49; with 1 % between populations, of 111.
    for (fact, ok, expected) in [
        ("40%", 4_000, Held),
        ("40%", 3_860, WithinChance),
        ("40%", 4_140, WithinChance),
        ("40%", 3_840, Broken),
        ("40%", 4_160, Broken),
        ("40% ± 1%", 4_300, WithinChance),
        ("40% ± 1%", 4_350, Broken),
        ("20%..40%", 2_000, Held),
        ("20%..40%", 3_000, Held),
        ("20%..40%", 1_890, WithinChance),
        ("20%..40%", 1_870, Broken),
        ("20%..40%", 4_160, Broken),
        ("100%", 10_000, Held),
        ("100%", 9_999, Broken),
        ("0%", 0, Held),
        ("0%", 1, Broken),
        ("0%..100%", 5_000, Held),
        ("0.01%", 1, Unknown),
    ] {
        let analysis = asked(succeeding(ok), &[("success share Read", fact)]).analyse();
        let [rule] = &business(&analysis).rules[..] else { panic!("one rule") };
        assert_eq!(rule.state, expected, "{fact}: {ok}");
        assert_eq!((rule.asked.judged_by_success(), rule.asked.success()), (10_000, Some(ok as f64 / 1e4)));
        let told = analysis.verdict.reasons.iter().filter(|r| r.text.contains("of the Read succeed"));
        assert_eq!(told.count(), usize::from(expected == Broken), "{:?}", analysis.verdict.reasons);
        let failing = analysis.verdict.reasons.iter().any(|r| r.text.contains("of the requests are"));
        assert!(!failing, "what is judged by a rule is not judged twice: {:?}", analysis.verdict.reasons);
    }
}

#[test]
fn few_requests_do_not_tell_a_share_of_success() {
    // 9 / (0.625 × 0.375) = 38.4.
    for (requests, is_known) in [(38, false), (39, true)] {
        let few = Run::new(LoadModel::Open, 20).each_ms(requests, |i, mut sample| {
            sample.outcome = if i % 8 < 5 { Outcome::Ok } else { Outcome::Miss };
            took(sample, MS)
        });
        let analysis = asked(few, &[("success share Read", "62.5%")]).analyse();
        let rule = &business(&analysis).rules[0];
        assert_eq!(rule.state != RuleState::Unknown, is_known, "{rule:?}");
        assert!(matches!(rule.asked, Asked::Succeeds { needed: 39, .. }), "{rule:?}");
    }
    // None at all: the operation is not asked for.
    let analysis = asked(run(LoadModel::Open), &[("success share Other", "5%")]).analyse();
    assert_eq!(analysis.business, None);
}

#[test]
fn errors_and_what_was_not_answered_are_no_success_and_no_failure() {
    let mixed = Run::new(LoadModel::Open, 20).each_ms(10_000, |i, mut sample| {
        sample.outcome = [Outcome::Ok, Outcome::Ok, Outcome::Deadlock, Outcome::Timeout][(i % 4) as usize];
        took(sample, MS)
    });
    let analysis = asked(mixed, &[("success share Read", "100%")]).analyse();
    let rule = &business(&analysis).rules[0];
    assert_eq!((rule.state, rule.asked.judged_by_success()), (RuleState::Held, 5_000));
    let errors = analysis.verdict.reasons.iter().any(|reason| reason.kind == analysis::ReasonKind::Errors);
    assert!(errors, "errors count as everywhere");
}

#[test]
fn success_shares_that_can_not_be_read_ask_for_nothing() {
    for odd in ["often", "62.5", "120%", "40%..20%", "40% ± much", "..", "NaN%", "-1%"] {
        let analysis = asked(run(LoadModel::Open), &[("success share Read", odd)]).analyse();
        assert_eq!(analysis.business, None, "{odd}");
    }
}
