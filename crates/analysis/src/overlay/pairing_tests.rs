//! Whatever store and client do, a connection is paired with its own session or with none.

use super::clocks::Clocks;
use super::pairing::{Known, Paired, pair, sample_of};
use super::window::{Loaded, Windows};
use planted::{MS, Planted, S, Scenario, Scratch, US};
use proptest::prelude::*;
use record::LoadModel;

#[path = "../../tests/planted/mod.rs"]
mod planted;

const TOLERANCE: i64 = 50_000;

/// Of the rows that belong to samples: how many there are, and how many were matched.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    of_samples: usize,
    matched: usize,
}

/// Pairs what was planted, in windows of `window` samples.
///
/// # Panics
/// When anything was paired with what it does not belong to.
fn check(planted: &Planted, window: usize) -> Score {
    let scratch = Scratch::new("pairing");
    let (recording, truth) = planted.open(&scratch);
    let recordings = [recording];
    let clocks = Clocks::new(&recordings, &truth).unwrap();
    let windows = Windows::plan(&recordings, &clocks, TOLERANCE, window).unwrap();
    let mut known = Known::default();
    let mut score = Score { of_samples: planted.sample_of.iter().flatten().count(), ..Score::default() };
    for window in windows.list() {
        let loaded = window.load(&recordings, &truth, &clocks).unwrap();
        let paired = pair(&loaded, TOLERANCE, &mut known);
        score.matched += matched(planted, &loaded, &paired);
    }
    score
}

fn matched(planted: &Planted, loaded: &Loaded, paired: &[Paired]) -> usize {
    let mut matched = 0;
    for (connection, paired) in loaded.connections.iter().zip(paired) {
        let Paired::With(session) = paired else { continue };
        let session = &loaded.sessions[*session];
        let own = planted.session_of[connection.number as usize];
        assert_eq!(
            Some(session.number),
            own,
            "connection {} of {:?}",
            connection.number,
            connection.rows.len()
        );
        for row in &connection.rows {
            let Some(index) = sample_of(&session.flown, row, TOLERANCE) else { continue };
            let sample = &session.flown[index];
            assert_eq!(Some(sample.seq), planted.sample_of[row.seq as usize], "{row:?} in {sample:?}");
            matched += usize::from(sample.own);
        }
    }
    matched
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let shape = (
        any::<u64>(),
        prop_oneof![1..8_u16, Just(64)],
        50..3_000_u64,
        prop_oneof![Just(0), 100 * US..10 * MS],
        20 * US..2 * MS,
        any::<bool>(),
    );
    let store = (
        prop_oneof![Just(0), 2 * US..100 * US],
        1..6_u64,
        prop_oneof![2 => Just(None), 1 => (50 * MS..S, MS..40 * MS).prop_map(Some)],
        prop_oneof![2 => Just(0), 1 => 20..500_u64],
        0..5_u64,
        any::<bool>(),
    );
    let around = (
        prop_oneof![2 => Just(0), 1 => 1..5_u32],
        US..300 * US,
        prop_oneof![Just(0), 5..500_u64],
        prop_oneof![Just(0), 3 * MS..60 * S],
        prop_oneof![Just(0), 1..60_u64],
        prop_oneof![2 => Just(0), 1 => 5 * MS..20 * MS],
    );
    (shape, store, around).prop_map(|(shape, store, around)| {
        let (seed, sessions, requests, think, service, exponential) = shape;
        let (gate, rows, hiccup, lost_each, set_up, marks_reconnects) = store;
        let (strangers, network, held_up_each, offset, drift_ppm, timeout) = around;
        Scenario {
            seed,
            sessions,
            requests,
            think,
            service,
            exponential,
            gate,
            rows,
            hiccup,
            lost_each,
            set_up,
            marks_reconnects,
            strangers,
            network,
            held_up_each,
            offset,
            drift_ppm,
            timeout,
            model: LoadModel::Open,
        }
    })
}

/// 64 sessions that are nearly always busy, and a stranger whose hundred rows fit into most of them: when others are known to
/// have 63, the one that is left is not his because his rows are five times as many. Found by the property below.
#[test]
fn what_others_leave_is_not_a_strangers() {
    let scenario = Scenario {
        seed: 3_031_617_956_295_460_303,
        sessions: 64,
        requests: 2_899,
        think: 820_311,
        service: 795_298,
        exponential: false,
        gate: 91_082,
        rows: 2,
        set_up: 0,
        marks_reconnects: false,
        strangers: 3,
        network: 62_211,
        held_up_each: 0,
        offset: 0,
        ..Scenario::calm(0)
    };
    let score = check(&scenario.play(), 100);
    assert!(score.matched > score.of_samples / 2, "{score:?}");
}

/// A stranger of 126 rows among connections that are lost each 25 requests and have too few for their delays to be compared:
/// his own spread by chance less with one session than with others. Found likewise.
#[test]
fn delays_that_nobody_else_can_show_are_not_the_strangers() {
    let scenario = Scenario {
        seed: 5_754_740_701_213_866_849,
        sessions: 7,
        requests: 835,
        think: 0,
        service: 644_585,
        exponential: false,
        rows: 5,
        lost_each: 25,
        set_up: 3,
        marks_reconnects: false,
        strangers: 1,
        network: 168_563,
        held_up_each: 5,
        offset: 0,
        ..Scenario::calm(0)
    };
    check(&scenario.play(), 372);
}

/// Connections that were given up before their set-up had ended: its two rows lie in another session's sample. Found likewise.
#[test]
fn set_up_alone_belongs_to_nobody() {
    let scenario = Scenario {
        seed: 12_014_734_359_509_300_849,
        sessions: 6,
        requests: 741,
        think: 4_141_071,
        service: 1_510_728,
        gate: 4_192,
        rows: 4,
        set_up: 3,
        marks_reconnects: false,
        network: 275_712,
        held_up_each: 0,
        offset: 0,
        timeout: 6_066_381,
        ..Scenario::calm(0)
    };
    check(&scenario.play(), 704);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_ever_paired_with_what_it_does_not_belong_to(scenario in scenarios(), window in 100..5_000_usize) {
        let score = check(&scenario.play(), window);
        prop_assert!(score.matched <= score.of_samples, "{score:?}");
    }
}
