//! Whatever is asked for: an answer or one line, never a panic.

use super::*;
use proptest::prelude::*;
use workload::Operation;

fn operations() -> [Operation; 2] {
    [Operation { name: "ReadRecord", weight: 90.0 }, Operation { name: "UpdateRecord", weight: 10.0 }]
}

/// Text that is sometimes what an option expects, sometimes close to it, sometimes anything.
fn text(expected: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        4 => Just(None),
        4 => prop::sample::select(expected).prop_map(|s| Some(s.to_owned())),
        2 => (prop::sample::select(expected), any::<prop::sample::Index>(), any::<char>())
            .prop_map(|(s, at, c)| Some(planted(s, at, c))),
        1 => any::<String>().prop_map(Some),
    ]
}

/// `text` with one character replaced.
fn planted(text: &str, at: prop::sample::Index, c: char) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    if let Some(index) = (!characters.is_empty()).then(|| at.index(characters.len())) {
        characters[index] = c;
    }
    characters.into_iter().collect()
}

const TIMES: &[&str] = &["10s", "1ms", "0", "500us", "1h", "99999999999h", "0.5s", "1e3s", "-1s", "1ns"];
const RATES: &[&str] = &["2000/s", "0", "60/min", "1e9/s", "1e-9/s", "5", "-3/s", "1e999/s"];

fn options() -> impl Strategy<Value = RunOptions> {
    let load = (
        text(RATES),
        text(&[
            "poisson",
            "constant",
            "pareto:1.5",
            "hyperexp:4",
            "lognormal:2",
            "gamma:0.5",
            "trace:/nowhere",
        ]),
        prop::option::of(any::<bool>()),
        text(&["none", "exp:5ms", "constant:1s", "pareto:1s:1.5", "hyperexp:2s:4"]),
        prop::option::of(prop_oneof![Just(3.0), any::<f64>()]),
        text(&[
            "1s@5/s",
            "1s@5/s, 2s@5..10/s sessions=3 mix=ReadRecord=1",
            "1s",
            "5s@1..2/s sessions=0",
            ",",
        ]),
    );
    let sizes = (
        prop::option::of(prop_oneof![1u32..20, any::<u32>()]),
        prop::option::of(prop_oneof![1u32..20, any::<u32>()]),
        text(TIMES),
        text(TIMES),
        prop::option::of(any::<u64>()),
        text(TIMES),
        text(TIMES),
    );
    let rest = (
        text(&["ReadRecord=90,UpdateRecord=10", "readrecord=1", "ReadRecord=0", "A=1", "ReadRecord=nan"]),
        text(&["auto", "spin", "sleep"]),
        text(&["0", "0-1", "1-0", "0,0", "4096", "18446744073709551615", "0-4294967295"]),
        prop::option::of(
            (any::<u16>(), prop::option::of(1u16..))
                .prop_map(|(number, of)| ClientNumber { number: of.map_or(number, |of| number % of), of }),
        ),
        text(TIMES),
        text(&["99", "p99.5,98", "max", "101", ",", "50,,", "1e9"]),
    );
    (load, sizes, rest).prop_map(|(load, sizes, rest)| RunOptions {
        rate: load.0,
        arrivals: load.1,
        closed: load.2,
        think: load.3,
        visit: load.4,
        phases: load.5,
        sessions: sizes.0,
        threads: sizes.1,
        duration: sizes.2,
        warmup: sizes.3,
        requests: sizes.4,
        timeout: sizes.5,
        drain: sizes.6,
        mix: rest.0,
        pacing: rest.1,
        cpus: rest.2,
        client: rest.3,
        report_interval: rest.4,
        percentiles: rest.5,
        ..RunOptions::default()
    })
}

fn is_one_line(text: &str) -> bool {
    !text.is_empty() && !text.trim_end().contains('\n')
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_configuration_text_is_read_or_refused_in_one_line(text in any::<String>()) {
        if let Err(reason) = RunOptions::from_toml(&text) {
            prop_assert!(is_one_line(&reason), "{reason:?}");
        }
    }

    #[test]
    fn so_is_text_that_looks_like_one(
        key in prop::sample::select(&["rate", "closed", "param", "sessions", "visit", "raet", "[load]"][..]),
        value in prop_oneof![
            Just("\"5/s\"".to_owned()), Just("5".to_owned()), Just("true".to_owned()),
            Just("[\"a=b\"]".to_owned()), Just("-1".to_owned()), Just("1e400".to_owned()), any::<String>(),
        ],
        tail in any::<String>(),
    ) {
        if let Err(reason) = RunOptions::from_toml(&format!("{key} = {value}\n{tail}")) {
            prop_assert!(is_one_line(&reason), "{reason:?}");
        }
    }

    #[test]
    fn any_options_make_a_load_or_are_refused(options in options()) {
        let effective = options.clone().effective(Execution::Polled);
        match effective.load_spec(&operations()) {
            Ok(spec) => {
                prop_assert!(spec.sessions >= 1 && spec.duration() > Nanos::ZERO);
                prop_assert!(spec.phases.iter().all(|p| spec.phase_mix(p).is_ok()));
            }
            Err(error) => prop_assert!(is_one_line(&crate::output::one_line(&error)), "{:?}", error),
        }
        let _ = effective.report_interval(); // an answer or an error, both are fine
        if let Err(error) = options.check() {
            prop_assert!(is_one_line(&crate::output::one_line(&error)), "{:?}", error);
        }
    }

    #[test]
    fn printed_options_are_read_back_as_they_were(options in options()) {
        // NaN is not equal to itself.
        prop_assume!(options.visit.is_none_or(|v| !v.is_nan()));
        let text = options.to_toml().expect("options without a target");
        prop_assert_eq!(RunOptions::from_toml(&text).expect("its own text"), options);
    }
}

#[test]
fn a_flag_wins_and_the_rest_comes_from_the_file() {
    let file = RunOptions::from_toml("rate = \"5/s\"\nseed = 3\nparam = [\"a=1\"]").expect("a file");
    let flags = RunOptions { rate: Some("9/s".to_owned()), ..RunOptions::default() };
    let both = flags.over(file);
    assert_eq!((both.rate.as_deref(), both.seed), (Some("9/s"), Some(3)));
    assert_eq!(both.param, ["a=1"]);
}

#[test]
fn a_refusal_names_the_key_and_never_the_value() {
    let error = RunOptions::from_toml("seed = 1\ntarget = [\"postgres://u:hush@h/d\"]").expect_err("a list");
    assert!(error.starts_with("line 2, `target`: "), "{error}");
    assert!(!error.contains("hush"), "{error}");
}

#[test]
fn a_phase_may_have_more_sessions_than_the_others() {
    let phases = Some("1s@5/s, 1s@5/s sessions=16, 1s@5/s sessions=2".to_owned());
    let options = RunOptions { phases, ..RunOptions::default() }.effective(Execution::Polled);
    let spec = options.load_spec(&operations()).expect("a load");
    assert_eq!(spec.sessions, 16);
    // The warm-up is the first phase's.
    let of_phases: Vec<Option<u32>> = spec.phases.iter().map(|p| p.sessions).collect();
    assert_eq!(of_phases, [Some(8), Some(8), Some(16), Some(2)]);
    let phases = Some("1s@5/s sessions=65001".to_owned());
    let options = RunOptions { phases, ..RunOptions::default() }.effective(Execution::Polled);
    assert!(options.load_spec(&operations()).is_err());
}
