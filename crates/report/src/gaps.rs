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
    /// Gaps from each length of [`FROM`] on.
    pub counted: Vec<GapFigures>,
    /// The longest; `None` without any.
    pub longest: Option<Nanos>,
}

/// Gaps from a length on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GapFigures {
    /// The length.
    pub from: Nanos,
    /// How many there were in a second.
    pub per_second: f64,
    /// Share of the time that was lost in them, in [0, 1].
    pub lost: f64,
}

impl CpuGaps {
    /// Share of the time that was lost in any gap, in [0, 1].
    pub(crate) fn lost(&self) -> f64 {
        self.counted.iter().map(|counted| counted.lost).fold(0.0, f64::max)
    }
}

/// The page of `truetail gaps`.
pub fn text(seen: &[CpuGaps], options: &TextOptions) -> String {
    gaps_table(seen, options)
}

/// The document of `truetail gaps`: schema `truetail.gaps/1`.
pub fn json(seen: &[CpuGaps]) -> Value {
    let one = |gaps: &CpuGaps| {
        let counted = gaps.counted.iter();
        let counted = counted.map(|c| json!({"from": c.from.0, "per_second": c.per_second, "lost": c.lost}));
        json!({
            "cpu": gaps.cpu,
            "together": gaps.together,
            "watched": gaps.watched.0,
            "gaps": counted.collect::<Vec<_>>(),
            "longest": gaps.longest.map(|longest| longest.0),
            "lost": gaps.lost(),
        })
    };
    json!({"schema": "truetail.gaps/1", "cpus": seen.iter().map(one).collect::<Vec<_>>()})
}
