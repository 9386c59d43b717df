//! Whatever is in a sample, an analysis comes out of it, and counts each one.

mod made;

use made::{Run, S, phase};
use proptest::prelude::*;
use record::{LoadModel, PhaseKind, Sample};
use units::{Instant, Outcome};

fn instant() -> impl Strategy<Value = Instant> {
    prop_oneof![
        (0..20 * S).prop_map(Instant),
        any::<u64>().prop_map(Instant),
        Just(Instant::NONE),
        Just(Instant(u64::MAX - 1)),
        Just(Instant::EPOCH),
    ]
}

fn sample() -> impl Strategy<Value = Sample> {
    let times = (instant(), instant(), instant(), instant(), instant());
    let rest = (any::<u64>(), 0u8..3, 0u8..4, 0usize..Outcome::ALL.len(), any::<u8>());
    (times, rest).prop_map(
        |((intended, ready, sent, arrived, completed), (seq, op, phase, outcome, retries))| {
            let outcome = Outcome::ALL[outcome];
            Sample {
                intended,
                ready,
                sent,
                arrived,
                completed,
                seq,
                op,
                phase,
                outcome,
                retries,
                ..made::request(0, 0)
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_panics_and_nothing_is_lost(
        samples in prop::collection::vec(sample(), 0..200),
        model in 0usize..4,
    ) {
        let phases = vec![
            phase("warm-up", PhaseKind::WarmUp, 0, 5 * S, None),
            phase("one", PhaseKind::Measured, 5 * S, 10 * S, None),
            phase("two", PhaseKind::Measured, 10 * S, u64::MAX, None),
        ];
        let mut run = Run::with_phases(LoadModel::ALL[model], phases);
        run.samples = samples;
        let found = run.analyse();
        let counted: u64 = found.clients.iter().map(|c| c.counts.total).sum();
        // Two operations, three phases, and a completion: what has them is counted.
        let known = |s: &&Sample| s.op < 2 && s.phase < 3 && s.completed.is_some();
        prop_assert_eq!(counted, run.samples.iter().filter(known).count() as u64);
        let measured = run.samples.iter().filter(known).filter(|s| s.phase > 0).count() as u64;
        prop_assert_eq!(found.total.counts.total, measured);
        for scope in std::iter::once(&found.total).chain(&found.scopes) {
            for measure in &scope.measures {
                let ordered = measure.quantiles.iter().all(|(_, e)| {
                    e.low() <= e.point && e.point <= e.high() && e.n_effective <= e.n as f64
                });
                prop_assert!(ordered, "{:?}", measure.quantiles);
                prop_assert!(measure.mean.low() <= measure.mean.point && measure.mean.point <= measure.mean.high());
                prop_assert!(measure.min <= measure.max && measure.censored <= measure.n);
                prop_assert!(measure.spectrum.windows(2).all(|p| p[0].value_ns <= p[1].value_ns));
            }
        }
    }
}
