//! Distributions: their texts, and that what is drawn follows them.

use proptest::prelude::*;
use store::Draw;
use units::{Nanos, Seed};

fn draw(text: &str) -> Draw {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn sample(text: &str, n: u64) -> Vec<f64> {
    let draw = draw(text);
    (0..n).map(|index| draw.at(Seed(11), index).0 as f64).collect()
}

const TEXTS: [&str; 11] = [
    "0s",
    "1ms",
    "1.5ms",
    "250us",
    "3600s",
    "exp:1ms",
    "uniform:1ms..2ms",
    "lognormal:1ms,2.3",
    "pareto:1ms,1.5",
    "99% 1ms + 1% 100ms",
    "33.3% exp:1ms + 33.3% pareto:2us,3 + 33.4% uniform:0s..1ns",
];

#[test]
fn display_gives_the_text_back() {
    for text in TEXTS {
        assert_eq!(draw(text).to_string(), text);
    }
    for (text, same) in [
        (" 0.001 s", "1ms"),
        ("1h", "3600s"),
        ("exp: 1000us", "exp:1ms"),
        ("50%1ms+50% 2ms", "50% 1ms + 50% 2ms"),
    ] {
        assert_eq!(draw(text).to_string(), same);
    }
}

#[test]
fn errors_name_the_text_and_what_is_expected() {
    let kinds = "such as `1ms`, `exp:1ms` (mean), `uniform:1ms..2ms`, `lognormal:1ms,0.5` (mean, sigma), \
         `pareto:1ms,1.5` (minimum, index), or a mix such as `99% 1ms + 1% 100ms`";
    let duration = "expected a number with ns, us, ms, s, m or h, such as `15s`";
    for (text, why) in [
        ("fast", format!("`fast` is not a duration: {duration}; or a distribution {kinds}")),
        ("gauss:1ms,2", format!("expected a distribution {kinds}")),
        ("exp:0", "`0` is zero, expected more".to_owned()),
        ("exp:2h", "`2h` is too long, at most 3600s is possible".to_owned()),
        ("uniform:2ms..1ms", "the first limit is above the second".to_owned()),
        ("uniform:2ms", "expected `uniform:1ms..2ms`".to_owned()),
        ("lognormal:1ms", "expected `lognormal:MEAN,SIGMA`".to_owned()),
        ("lognormal:1ms,0", "sigma `0` is not a number from 0.000001 to 10".to_owned()),
        ("pareto:1ms,NaN", "index `NaN` is not a number from 0.1 to 100".to_owned()),
        ("50% 1ms + 49% 2ms", "the shares make 99%, they must make 100%".to_owned()),
        ("150% 1ms + -50% 2ms", "`150%` is not a share, expected a number from 0% to 100%".to_owned()),
        ("100% 1ms + 2ms", "`2ms` has no share, such as `1% 100ms`".to_owned()),
    ] {
        let message = text.parse::<Draw>().unwrap_err().to_string();
        assert_eq!(message, format!("`{text}` is not a distribution of times: {why}"));
    }
}

/// The mean of a million draws, within five standard errors of `mean`; the deviation is known for each.
#[test]
fn means_are_those_of_the_distributions() {
    let n = 1_000_000;
    for (text, mean, deviation) in [
        ("1ms", 1e6, 0.0),
        ("exp:1ms", 1e6, 1e6),
        ("uniform:1ms..2ms", 1.5e6, 1e6 / 12f64.sqrt()),
        // √(e^σ² − 1) times the mean
        ("lognormal:1ms,0.5", 1e6, 1e6 * (0.25f64.exp() - 1.0).sqrt()),
        // α·m/(α − 1), m·√(α/((α − 1)²(α − 2)))
        ("pareto:1ms,3", 1.5e6, 1e6 * 0.75f64.sqrt()),
        ("99% 1ms + 1% 100ms", 1.99e6, 99e6 * 0.0099f64.sqrt()),
    ] {
        assert!((draw(text).mean().0 as f64 / mean - 1.0).abs() < 1e-6, "{text}: {}", draw(text).mean());
        let seen = sample(text, n).iter().sum::<f64>() / n as f64;
        let error = 5.0 * deviation / (n as f64).sqrt();
        assert!((seen - mean).abs() <= error, "{text}: {seen}, expected {mean} ± {error}");
    }
}

/// Where the hour cuts much away, the mean is that of what is left: E[min(X, c)].
#[test]
fn means_know_of_the_cap() {
    let n = 400_000;
    let hour = 3.6e12;
    for text in ["exp:1h", "pareto:1s,0.5", "pareto:1s,1", "pareto:10m,1.5", "lognormal:30m,2"] {
        let (seen, mean) = (sample(text, n), draw(text).mean().0 as f64);
        let cut = seen.iter().filter(|&&value| value == hour).count();
        assert!(cut > 100 && seen.iter().all(|&value| value <= hour), "{text}: {cut} at the cap");
        let average = seen.iter().sum::<f64>() / n as f64;
        let variance = seen.iter().map(|v| (v - average).powi(2)).sum::<f64>() / n as f64;
        let error = 5.0 * (variance / n as f64).sqrt();
        assert!((average - mean).abs() < error, "{text}: {average}, expected {mean} ± {error}");
    }
}

/// Kolmogorov & Smirnov: √n·D is below 1.95 with probability 0.999.
#[test]
fn draws_follow_their_distribution_functions() {
    let n = 100_000u32;
    type Cdf = fn(f64) -> f64;
    let tests: [(&str, Cdf); 4] = [
        ("exp:1ms", |x| -(-x / 1e6).exp_m1()),
        ("uniform:1ms..3ms", |x| ((x - 1e6) / 2e6).clamp(0.0, 1.0)),
        ("pareto:1ms,1.5", |x| 1.0 - (1e6 / x).powf(1.5)),
        ("25% exp:1ms + 75% uniform:1ms..3ms", |x| {
            0.25 * -(-x / 1e6).exp_m1() + 0.75 * ((x - 1e6) / 2e6).clamp(0.0, 1.0)
        }),
    ];
    for (text, cdf) in tests {
        let mut seen = sample(text, n.into());
        seen.sort_by(f64::total_cmp);
        let n = f64::from(n);
        let distance = seen.iter().zip(1u32..).map(|(x, rank)| {
            let (below, above) = (f64::from(rank - 1) / n, f64::from(rank) / n);
            (cdf(*x) - below).abs().max((above - cdf(*x)).abs())
        });
        let statistic = distance.fold(0.0, f64::max) * n.sqrt();
        assert!(statistic < 1.95, "{text}: √n·D = {statistic}");
    }
    // A log-normal's quantiles are those of the normal: 1.0 below the median's e^(−σ²/2) each half.
    let seen = sample("lognormal:1ms,2.3", 100_000);
    let median = 1e6 * (-2.3f64 * 2.3 / 2.0).exp();
    for (z, share) in [(-1.0, 0.158_655), (0.0, 0.5), (1.0, 0.841_345), (2.0, 0.977_250)] {
        let below = seen.iter().filter(|&&x| x < median * f64::exp(2.3 * z)).count() as f64 / 1e5;
        let error = 5.0 * (share * (1.0 - share) / 1e5f64).sqrt();
        assert!((below - share).abs() < error, "z = {z}: {below}, expected {share} ± {error}");
    }
}

#[test]
fn a_draw_is_a_function_of_seed_and_index() {
    for text in TEXTS {
        let draw = draw(text);
        let forward: Vec<Nanos> = (0..50).map(|index| draw.at(Seed(5), index)).collect();
        let mut backward: Vec<Nanos> = (0..50).rev().map(|index| draw.at(Seed(5), index)).collect();
        backward.reverse();
        assert_eq!(forward, backward, "{text}");
        let other: Vec<Nanos> = (0..50).map(|index| draw.at(Seed(6), index)).collect();
        assert_eq!(forward == other, draw.as_constant().is_some(), "{text}");
    }
}

fn simple() -> impl Strategy<Value = String> {
    // Whole nanoseconds up to an hour, as they are written.
    let time = prop_oneof![1u64..2_000, 1u64..2_000_000_000, 1u64..3_600_000_000_000];
    let time = time.prop_map(|nanos| Draw::constant(Nanos(nanos)).to_string());
    (time.clone(), time, 0.1f64..10.0, 0u8..5).prop_map(|(time, other, number, kind)| match kind {
        0 => time,
        1 => format!("exp:{time}"),
        2 => format!("lognormal:{time},{number}"),
        3 => format!("pareto:{time},{number}"),
        _ => {
            let (low, high) =
                (draw(&time).mean().min(draw(&other).mean()), draw(&time).mean().max(draw(&other).mean()));
            format!("uniform:{}..{}", Draw::constant(low), Draw::constant(high))
        }
    })
}

proptest! {
    #[test]
    fn what_is_shown_is_read_back(one in simple(), other in simple(), share in 0u32..=1000) {
        prop_assert_eq!(&draw(&one).to_string(), &one);
        let share = f64::from(share) / 10.0;
        let mix = format!("{share}% {one} + {}% {other}", 100.0 - share);
        prop_assert_eq!(draw(&mix).to_string(), mix);
    }

    #[test]
    fn constants_are_exact(nanos in 0u64..=3_600_000_000_000) {
        let constant = Draw::constant(Nanos(nanos));
        prop_assert_eq!(draw(&constant.to_string()), constant);
    }

    #[test]
    fn draws_stay_within_the_hour(text in simple(), seed: u64, index: u64) {
        let draw = draw(&text);
        prop_assert!(draw.at(Seed(seed), index) <= Draw::LONGEST);
        prop_assert!(draw.mean() <= Draw::LONGEST);
    }
}
