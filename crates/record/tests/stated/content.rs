//! Statements as tools make them.

use record::{Stated, StatedFrom, StatedRounding};
use units::{Instant, Nanos, Quantile};

pub fn stated() -> Vec<Stated> {
    let quantile = |share: f64, ns: u64| (Quantile::new(share).unwrap(), Nanos(ns));
    vec![
        Stated {
            operation: "READ".into(),
            measure: "Intended-READ: latency, µs".into(),
            counted_from: StatedFrom::Schedule,
            interval: None,
            count: Some(10_000),
            mean: Some(Nanos(1_203_417)),
            min: Some(Nanos(98_000)),
            max: Some(Nanos(403_711_000)),
            quantiles: vec![quantile(0.5, 311_000), quantile(0.99, 25_503_000)],
            cumulative: Vec::new(),
            resolution: Some(Nanos(1_000)),
            relative_resolution: None,
            rounding: StatedRounding::Unsaid,
        },
        Stated {
            measure: "latency histogram".into(),
            counted_from: StatedFrom::Send,
            interval: Some((Instant(0), Instant(5_000_000_000))),
            cumulative: vec![(Nanos(100_000), 40), (Nanos(200_000), 90), (Nanos(u64::MAX), 91)],
            relative_resolution: Some(0.022),
            ..Stated::default()
        },
        Stated { operation: "nothing was said but a name".into(), ..Stated::default() },
    ]
}
