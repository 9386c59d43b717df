//! Pure statistics: no I/O, no clock, no thread; the same input and seed give the same bits.
//!
//! Everything leaves as a [`units::Estimate`], and every interval respects that requests close in time are
//! alike. `docs/statistics.md` says in plain words what each method assumes and when it misleads.
#![deny(missing_docs)]

mod association;
mod blocks;
mod comparison;
mod correlation;
mod distribution;
mod drift;
mod goodness;
mod histogram;
mod longrun;
mod meetings;
mod moments;
mod order;
mod rounds;
mod settling;

pub use association::{Association, IntervalSeries, METHOD_SHIFTS, association};
pub use blocks::{MAX_BLOCKS, TimeBlocks};
pub use comparison::{Difference, METHOD_RATIO, METHOD_REPEATS, across_runs, equivalent, ratio};
pub use correlation::{FEWEST_PAIRS, RankCorrelation, rank_correlation};
pub use distribution::{Distribution, METHOD_NO_INTERVAL, METHOD_ORDER, View};
pub use drift::Drift;
pub use goodness::{TestResult, anderson_darling_exponential, kolmogorov_smirnov_exponential};
pub use histogram::{LogHistogram, Ranks};
pub use meetings::{Meetings, Round, meetings};
pub use moments::{METHOD_BOOTSTRAP, METHOD_FEW, METHOD_NO_BLOCKS, Moments};
pub use rounds::{METHOD_ROUNDS, Points, RoundsRatio, carried_scatter, holm, ratio_of_rounds};
pub use settling::{FEWEST_WINDOWS, Recovery, Settled, Settling, Window, recovery};
