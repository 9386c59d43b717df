//! What a thread that never sleeps saw of each CPU: the table, and the document.

use crate::text::{TextOptions, gaps_table};
use serde_json::{Value, json};
use units::Nanos;

/// Gaps from these lengths on are counted.
pub const FROM: [Nanos; 4] =
    [Nanos::from_micros(1), Nanos::from_micros(10), Nanos::from_micros(100), Nanos::from_millis(1)];

/// What was seen of one CPU.
#[derive(Clone, PartialEq, Debug)]
pub struct CpuGaps {
    /// Which.
    pub cpu: usize,
    /// Whether all CPUs were watched at the same time, or this one alone.
    pub together: bool,
    /// How long it was watched.
    pub watched: Nanos,
    /// Gaps per second, from each length of [`FROM`] on.
    pub per_second: [f64; 4],
    /// The longest; `None` without any.
    pub longest: Option<Nanos>,
    /// Share of the time that was lost in gaps from 1 µs on, in [0, 1].
    pub lost: f64,
    /// Gaps that were too many to be kept: they are in none of the figures but this one.
    pub untold: u64,
}

/// The page of `truetail gaps`.
pub fn text(seen: &[CpuGaps], options: &TextOptions) -> String {
    gaps_table(seen, options)
}

/// The document of `truetail gaps`: schema `truetail.gaps/1`.
pub fn json(seen: &[CpuGaps]) -> Value {
    let one = |gaps: &CpuGaps| {
        let lengths = FROM.iter().zip(gaps.per_second);
        json!({
            "cpu": gaps.cpu,
            "together": gaps.together,
            "watched": gaps.watched.0,
            "gaps": lengths.map(|(from, per_second)| json!({"from": from.0, "per_second": per_second})).collect::<Vec<_>>(),
            "longest": gaps.longest.map(|longest| longest.0),
            "lost": gaps.lost,
            "untold": gaps.untold,
        })
    };
    json!({"schema": "truetail.gaps/1", "cpus": seen.iter().map(one).collect::<Vec<_>>()})
}
