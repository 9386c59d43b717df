//! The timing against formulas: what a queue must show that nobody needs to simulate.

use store::{Model, Operation, Rules, Timed, Timing};
use units::{Nanos, Seed};

fn model(settings: &[(&str, &str)]) -> Model {
    let mut model = Model::default();
    for (name, text) in settings {
        match *name {
            "service" => model.service.push(text.parse().unwrap()),
            "servers" => model.servers = Some(text.parse().unwrap()),
            "capacity" => model.capacity = Some(units::parse_rate(text).unwrap()),
            "hiccup" => model.hiccups.push(text.parse().unwrap()),
            "slow key" => model.slow_keys.push(text.parse().unwrap()),
            "delay" => model.delay = text.parse().unwrap(),
            "join" => model.join = Some(text.parse().unwrap()),
            _ => panic!("{name}"),
        }
    }
    model.check().unwrap();
    model
}

/// Arrival and times of `n` reads, one each `gap` from `gap` / 2 on.
fn run(model: &Model, n: u64, gap: Nanos) -> Vec<(Nanos, Timed)> {
    let mut timing = Timing::new(model, Seed(1));
    let arrivals = (0..n).map(|i| Nanos(gap.0 / 2 + i * gap.0));
    arrivals.map(|at| (at, timing.admit(at, Operation::Read, b"k"))).collect()
}

fn mean_ms(times: &[(Nanos, Timed)]) -> f64 {
    times.iter().map(|(at, timed)| (timed.due.0 - at.0) as f64 / 1e6).sum::<f64>() / times.len() as f64
}

#[test]
fn default_answers_at_once() {
    for (at, timed) in run(&Model::default(), 1_000, Nanos(10)) {
        assert_eq!(timed, Timed { begun: at, due: at, rules: Rules::default() });
    }
}

/// An open D/D/1 with one hiccup: the backlog grows by λ while it lasts and falls by μ − λ afterwards; the area of the
/// triangle over n requests is λH²/(2n(1 − ρ)).
#[test]
fn one_hiccup_costs_what_the_closed_form_says() {
    let (n, rate, hiccup) = (90_000, 1000.0, 1.0);
    for capacity in [1053.0, 1111.0, 1250.0, 1333.0, 1430.0, 1666.0, 2000.0, 10_000.0] {
        let text = format!("{capacity}/s");
        // The triangle's sum over whole requests is its area if the first of them comes half a step of the falling wait
        // after the hiccup's begin.
        let ahead = 0.5e9 / rate - 0.5e9 / capacity;
        let hiccup_text = format!("1s@{}ns", 30_000_000_000 - ahead as u64);
        let times = run(&model(&[("capacity", &text), ("hiccup", &hiccup_text)]), n, Nanos::from_millis(1));
        let expected = rate * hiccup * hiccup / (2.0 * n as f64 * (1.0 - rate / capacity)) * 1e3;
        let mean = mean_ms(&times);
        assert!((mean / expected - 1.0).abs() < 1e-5, "μ = {capacity}: {mean} ms, expected {expected} ms");
    }
}

/// A capacity of 2000/s with a hiccup of 200 ms each 2 s, under 1000/s: each hiccup is a triangle of its own.
#[test]
fn periodic_hiccups_add_up() {
    let (n, rate, hiccup, capacity) = (60_000, 1000.0, 0.2, 2000.0);
    let model = model(&[("capacity", "2000/s"), ("hiccup", "200ms@0.99975s every 2s")]);
    let triangles = 30.0;
    let expected = triangles * rate * hiccup * hiccup / (2.0 * n as f64 * (1.0 - rate / capacity)) * 1e3;
    let mean = mean_ms(&run(&model, n, Nanos::from_millis(1)));
    assert!((mean / expected - 1.0).abs() < 1e-5, "{mean} ms, expected {expected} ms");
}

/// Two hiccups that overlap are one.
#[test]
fn hiccups_are_united() {
    let split = model(&[("capacity", "2000/s"), ("hiccup", "600ms@1s"), ("hiccup", "600ms@1.4s")]);
    let one = model(&[("capacity", "2000/s"), ("hiccup", "1s@1s")]);
    assert_eq!(run(&split, 5_000, Nanos::from_millis(1)), run(&one, 5_000, Nanos::from_millis(1)));
}

/// Under overload the n-th begins at n/μ, to the nanosecond, however large n is.
#[test]
fn overload_does_not_drift() {
    for capacity in [1053u64, 1111, 30_000, 999_983] {
        let mut timing = Timing::new(&model(&[("capacity", &format!("{capacity}/s"))]), Seed(1));
        for n in 0..1_000_000u64 {
            let timed = timing.admit(Nanos::ZERO, Operation::Read, b"");
            assert_eq!(timed.begun.0, n * 1_000_000_000 / capacity, "{n} at {capacity}/s");
        }
    }
}

/// Lindley 1952: W′ = max(0, W + S − A). Service times are drawn, and seen as due − begun.
#[test]
fn one_server_follows_lindley() {
    let mut timing = Timing::new(&model(&[("servers", "1"), ("service", "exp:1ms")]), Seed(4));
    let mut rng = Seed(9).rng();
    let (mut at, mut waiting, mut service, mut waited) = (0u64, 0u64, 0u64, 0);
    for _ in 0..100_000 {
        let gap = (1.1e6 * rng.exponential()) as u64;
        at += gap;
        waiting = (waiting + service).saturating_sub(gap);
        let timed = timing.admit(Nanos(at), Operation::Read, b"");
        assert_eq!(timed.begun.0 - at, waiting);
        assert_eq!(timed.rules.has(Rules::QUEUED), waiting > 0);
        service = timed.due.0 - timed.begun.0;
        waited += u64::from(waiting > 0);
    }
    // ρ = 0.91 of all requests of an M/M/1 wait.
    assert!((88_000..94_000).contains(&waited), "{waited}");
}

/// Poisson arrivals with mean gap 1.25 ms: mean time from arrival to answer, in ms.
fn mean_with_poisson(model: &Model, n: u64) -> f64 {
    let mut timing = Timing::new(model, Seed(2));
    let mut rng = Seed(3).rng();
    let (mut at, mut sum) = (0.0, 0.0);
    for _ in 0..n {
        at += 1.25e6 * rng.exponential();
        let arrival = Nanos(at as u64);
        sum += (timing.admit(arrival, Operation::Read, b"").due.0 - arrival.0) as f64;
    }
    sum / n as f64 / 1e6
}

/// Queues with known means: M/D/1 and M/G/1 (Pollaczek & Khinchine), M/M/1, M/M/3 (Erlang C). The limits are five times the
/// spread that other seeds show.
#[test]
fn queues_have_the_means_of_the_theory() {
    let rho = 0.8;
    // 1/(1 + (1 − ρ)·3!/(cρ)³·Σ (cρ)ᵏ/k!): the share that waits with c = 3 servers.
    let load = 3.0 * rho;
    let series = 1.0 + load + load * load / 2.0;
    let waits = 1.0 / (1.0 + (1.0 - rho) * 6.0 / (load * load * load) * series);
    for (servers, service, expected, limit) in [
        ("1", "1ms", 1.0 + rho / (2.0 * (1.0 - rho)), 0.03),
        ("1", "exp:1ms", 1.0 / (1.0 - rho), 0.06),
        ("1", "uniform:0s..2ms", 1.0 + rho * (1.0 + 1.0 / 3.0) / (2.0 * (1.0 - rho)), 0.03),
        ("3", "exp:3ms", 3.0 + waits * 3.0 / (3.0 * (1.0 - rho)), 0.03),
    ] {
        let mean = mean_with_poisson(&model(&[("servers", servers), ("service", service)]), 1_000_000);
        assert!((mean / expected - 1.0).abs() < limit, "{servers} × {service}: {mean}, expected {expected}");
    }
}

/// The delay comes after everything, stops nobody, and no hiccup stretches it.
#[test]
fn delays_are_real_time() {
    let settings = [("capacity", "1000/s"), ("hiccup", "100ms@50.5ms"), ("service", "300us")];
    let plain = run(&model(&settings), 1_000, Nanos::from_millis(1));
    let delayed = model(&[&settings[..], &[("delay", "30ms")]].concat());
    for ((at, plain), (_, late)) in plain.into_iter().zip(run(&delayed, 1_000, Nanos::from_millis(1))) {
        assert_eq!(late, Timed { due: plain.due + Nanos::from_millis(30), ..plain }, "{at}");
    }
}

#[test]
fn slow_keys_take_longer_and_hold_a_server() {
    let settings =
        [("servers", "1"), ("service", "1ms"), ("slow key", "user1=9ms"), ("slow key", "user*=4ms")];
    let mut timing = Timing::new(&model(&settings), Seed(1));
    let mut due = |key: &[u8]| {
        let timed = timing.admit(Nanos::ZERO, Operation::Read, key);
        (timed.due.0 / 1_000_000, timed.rules.has(Rules::SLOW_KEY))
    };
    assert_eq!(due(b"user1"), (10, true));
    assert_eq!(due(b"user12"), (15, true));
    assert_eq!(due(b"other"), (16, false));
    assert_eq!(due(b""), (17, false));
}

#[test]
fn operations_have_their_own_service() {
    let mut timing = Timing::new(&model(&[("service", "1ms"), ("service", "scan=7ms")]), Seed(1));
    let mut due = |operation| timing.admit(Nanos::ZERO, operation, b"").due;
    assert_eq!(due(Operation::Read), Nanos::from_millis(1));
    assert_eq!(due(Operation::Scan), Nanos::from_millis(7));
}

/// 1000/s offered; 2000/s possible, 500/s while a node joins from 1 s to 3 s, 4000/s from then on: a backlog of 1000 that
/// is gone after 1000/(4000 − 1000) s.
#[test]
fn a_join_is_a_triangle() {
    let join = "at=1s streaming=2s dip=75% then=4000/s";
    let times = run(&model(&[("capacity", "2000/s"), ("join", join)]), 6_000, Nanos::from_millis(1));
    let waited: Vec<f64> = times.iter().map(|(at, timed)| (timed.due.0 - at.0) as f64 / 1e9).collect();
    let last = waited.iter().rposition(|&wait| wait > 0.0).unwrap() as f64 / 1000.0;
    assert!((last - (3.0 + 1.0 / 3.0)).abs() < 0.002, "the backlog was gone at {last} s");
    // The request that came at 3 s stands behind 1000 others; its wait is 1000/4000 s.
    assert!((waited[2_999] - 0.25).abs() < 0.002, "{}", waited[2_999]);
    // Of all that came at t in the dip, t/2 were served: the wait at 1.5 s, with 250 before it at 500/s, is 0.5 s.
    assert!((waited[1_500] - 0.5).abs() < 0.002, "{}", waited[1_500]);
    let joining = times.iter().filter(|(_, timed)| timed.rules.has(Rules::JOINING)).count();
    assert_eq!(joining, 2_000);
}

/// What is drawn follows from the seed alone, and every stream is one of its own.
#[test]
fn seeds_decide() {
    let settings = [("service", "exp:1ms"), ("servers", "2"), ("hiccup", "exp:50ms@1s every exp:500ms")];
    let (model, gap) = (model(&settings), Nanos::from_millis(1));
    assert_eq!(run(&model, 5_000, gap), run(&model, 5_000, gap));
    let other = |seed| {
        let mut timing = Timing::new(&model, Seed(seed));
        (0..5_000).map(|n| timing.admit(Nanos(n * gap.0), Operation::Read, b"")).collect::<Vec<_>>()
    };
    assert_ne!(other(1), other(2));
}

/// Mean share of time in hiccups with exponential lengths L (1 s) and periods P (2 s), where one that outlasts its period is
/// followed by the next: cycles of mean length E[max(P, L)], of which E[L] stands still. Were they to overlap instead, the
/// share would be 1 − e^(−1/2), 8 % less.
#[test]
fn drawn_hiccups_take_their_share() {
    let mut timing = Timing::new(&model(&[("hiccup", "exp:1s@0s every exp:2s")]), Seed(5));
    let n = 2_000_000u64;
    let times = (0..n).map(|i| timing.admit(Nanos(i * 100_000_000), Operation::Read, b""));
    let share = times.filter(|timed| timed.rules.has(Rules::HICCUP)).count() as f64 / n as f64;
    // E[max] of two exponentials: a + b − 1/(1/a + 1/b).
    let expected = 1.0 / (1.0 + 2.0 - 1.0 / (1.0 + 1.0 / 2.0));
    // About 85,000 cycles: five standard errors are 2.1 %.
    assert!((share / expected - 1.0).abs() < 0.021, "{share}, expected {expected}");
}

/// Settings that `check` refuses make no sense, and no panic.
#[test]
fn settings_without_sense_do_no_harm() {
    let forever: store::Hiccup = "1s@0s every 2s".parse().unwrap();
    let mut models = [
        Model { capacity: units::PerSecond::new(0.0), ..Model::default() },
        Model { servers: Some(0), ..Model::default() },
        Model {
            hiccups: vec![store::Hiccup { every: Some("1s".parse().unwrap()), ..forever }],
            ..Model::default()
        },
        Model { join: Some("at=0s then=1/s".parse().unwrap()), ..Model::default() },
    ];
    models[3].capacity = units::PerSecond::new(1e-300);
    models[0].hiccups = vec!["0s@0s every 10ms".parse().unwrap()];
    for model in models {
        let mut timing = Timing::new(&model, Seed(1));
        for at in [0, 0, 1, 1_000_000_000_000, 0].map(Nanos) {
            let timed = timing.admit(at, Operation::Read, b"");
            assert!(timed.due >= timed.begun);
            timing.freeze(at, Nanos(u64::MAX));
        }
        assert!(timing.admit(Nanos(u64::MAX), Operation::Read, b"").due == Nanos(u64::MAX));
    }
}

/// However long nobody has asked anything, the hiccups go on.
#[test]
fn hiccups_outlast_a_silence() {
    let mut timing = Timing::new(&model(&[("hiccup", "9ms@0s every 10ms")]), Seed(1));
    timing.admit(Nanos::ZERO, Operation::Read, b"");
    let hour = 3_600_000_000_000;
    for hours in [4, 30] {
        let at = hours * hour + 3_000_000;
        assert_eq!(timing.admit(Nanos(at), Operation::Read, b"").due.0, hours * hour + 9_000_000);
    }
}

/// Skipping what has passed comes to what going through it comes to: an arrival in each second has nothing to skip, one
/// after a day has millions. The times are those of the closed form, and the way there is no longer.
#[test]
fn a_silence_of_days_is_skipped_and_not_walked_through() {
    let walked = |hiccup: &str, at: &[u64]| -> Vec<Timed> {
        let mut timing = Timing::new(&model(&[("hiccup", hiccup), ("capacity", "1000/s")]), Seed(1));
        at.iter().map(|&at| timing.admit(Nanos(at), Operation::Read, b"")).collect()
    };
    for hiccup in ["3ms@7ms every 10ms", "0s@0s every 10ms", "9ms@1ms every 10ms"] {
        let ends: Vec<u64> = (0..40).map(|n| 200_000_000_000 + n * 1_700_001).collect();
        let mut steps: Vec<u64> = (0..200).map(|n| n * 1_000_000_003).collect();
        let (behind, skipping) = (steps.len(), [&[0][..], &ends].concat());
        steps.extend(&ends);
        assert_eq!(walked(hiccup, &steps)[behind..], walked(hiccup, &skipping)[1..], "{hiccup}");
    }
    // 3·10⁹ of them, which would take minutes.
    let year = 365 * 24 * 3_600_000_000_000;
    let last = walked("3ms@7ms every 10ms", &[0, year + 8_000_000])[1];
    assert_eq!((last.begun.0, last.rules.has(Rules::HICCUP)), (year + 10_000_000, true));
}

/// What a client asks about the server before its load begins starts nothing: neither a join nor a hiccup, however early.
#[test]
fn instants_count_from_the_load() {
    let settings =
        [("capacity", "1000/s"), ("join", "at=1s streaming=1s dip=50% then=2000/s"), ("hiccup", "10ms@3s")];
    let model = model(&settings);
    let (mut asked, mut plain) = (Timing::new(&model, Seed(1)), Timing::new(&model, Seed(1)));
    for second in 0..10 {
        asked.admit(Nanos::from_secs(second), Operation::Other, b"");
    }
    for at in (0..10_000).map(|half| Nanos(20_000_000_000 + half * 500_000)) {
        assert_eq!(asked.admit(at, Operation::Read, b""), plain.admit(at, Operation::Read, b""), "{at}");
    }
}

/// After a restart the same load has the same times, as far after its first request as at first.
#[test]
fn a_restart_begins_anew() {
    let settings = [("servers", "1"), ("service", "exp:1ms"), ("hiccup", "exp:50ms@100ms every exp:300ms")];
    let model = model(&settings);
    let times = |timing: &mut Timing, origin: u64| -> Vec<Timed> {
        let arrivals = (0..2_000).map(|n| Nanos(origin + n * 1_100_000));
        arrivals.map(|at| timing.admit(at, Operation::Read, b"")).collect()
    };
    let mut timing = Timing::new(&model, Seed(1));
    let first = times(&mut timing, 0);
    let later = 60_000_000_000;
    let mut timing = timing.restarted(&model, Seed(1));
    let second: Vec<Timed> = times(&mut timing, later)
        .into_iter()
        .map(|timed| Timed { begun: Nanos(timed.begun.0 - later), due: Nanos(timed.due.0 - later), ..timed })
        .collect();
    assert_eq!(first, second);
    assert_eq!(timing.admitted(), 4_000);
}

/// What was promised before a restart is still ahead; turns do not go back behind it.
#[test]
fn a_restart_keeps_the_order() {
    let model = model(&[("capacity", "10/s")]);
    let mut timing = Timing::new(&model, Seed(1));
    let last = (0..50).map(|_| timing.admit(Nanos::ZERO, Operation::Read, b"")).last().unwrap();
    let next = timing.restarted(&model, Seed(1)).admit(Nanos(1), Operation::Read, b"");
    assert!(next.begun >= last.begun && next.due >= next.begun, "{next:?} after {last:?}");
}
