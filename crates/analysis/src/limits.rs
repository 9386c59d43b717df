//! Every limit that the verdict applies, in one place.
//!
//! They are conventions, not laws: each says what it protects, so that who disagrees knows what to change.

use units::Quantile;

/// Nominal coverage of all intervals.
pub const LEVEL: f64 = 0.95;

/// Completed / intended below which the offered rate counts as not reached. One per cent is what requests in
/// flight at the end can explain in a short run.
pub const RATE_REACHED: f64 = 0.99;
/// The same, below which the run measures its own length and not the database.
pub const RATE_HOPELESS: f64 = 0.95;
/// By how many standard deviations of a Poisson process the schedule of another tool can differ from the requests that its rate
/// asks for: whether it is drawn, the tool's files do not tell.
pub const ARRIVALS_CHANCE: f64 = 3.0;
/// A backlog that grew from half-time to three quarters to the end of the measured time is a growing one when
/// it is this many times that of half-time (a steady growth makes it twice), …
pub const BACKLOG_GROWTH: f64 = 1.5;
/// … and more than this share of all arrivals (and than the sessions can hold).
pub const BACKLOG_SHARE: f64 = 0.002;

/// Largest share of lag + pick-up in a quantile that is still called the database's.
pub const HARNESS_SHARE: f64 = 0.05;
/// A stall of the host matters to a quantile when it is longer than this share of its value, …
pub const STALL_SHARE: f64 = 0.05;
/// … and decides it when requests hit by such stalls make up this share of those beyond the quantile.
pub const STALL_REACH: f64 = 0.5;
/// Noise sources whose values are time, ns, in which the host did not run, somewhere within their windows. Where
/// hiccups were watched, these say nothing that is not known better.
pub const STALL_SOURCES: [&str; 3] = ["hiccup", "steal", "throttled"];
/// How the names of sources begin whose observations are stalls of one CPU, ns, as intervals whose place is known; the
/// CPU's number follows.
pub const STALLS_OF_CPU: &str = "hiccup cpu ";
/// Sources that see a stall whatever its cause: a host without the others' causes can stall, too. The second tells
/// that the threads of [`STALLS_OF_CPU`] did watch.
pub const STALL_WATCH: [&str; 2] = ["hiccup", "hiccup watched"];

/// Share of a window for which hiccup threads have not accounted, from which somebody should have told a stall.
pub const UNWATCHED_SHARE: f64 = 0.5;
/// Measured time after the last window of hiccup threads, ns, from which they were not watching any more.
pub const UNWATCHED_END_NS: u64 = 1_000_000_000;

/// CPUs' cycle counters that certainly differ by more than this (beyond the measurement's own uncertainty) make
/// the verdict suspect: a request that moves between CPUs is wrong by as much. A cache line takes a tenth of it.
pub const CLOCK_SKEW_NS: f64 = 1_000.0;
/// The same, from which no time can be used.
pub const CLOCK_SKEW_INVALID_NS: f64 = 1_000_000.0;

/// Share of client CPU time from which the client counts as saturated, in the mean of the measured time …
pub const CLIENT_CPU_MEAN: f64 = 0.9;
/// … or as the least share of …
pub const CLIENT_CPU_HIGH: f64 = 0.98;
/// … this much of the measured time.
pub const CLIENT_CPU_HIGH_TIME: f64 = 0.05;

/// Stolen time as a share of the CPUs' time from which the verdict is suspect; any at all is noted.
pub const STEAL_SHARE: f64 = 0.01;
/// Throttled time as a share of the CPUs' time from which the verdict is suspect; any at all is noted.
pub const THROTTLED_SHARE: f64 = 0.001;

/// Share of misses from which the requests are not those that were meant.
pub const MISSES_SUSPECT: f64 = 0.01;
/// Share of aborts from which the work is not the one that was meant.
pub const ABORTS_SUSPECT: f64 = 0.01;
/// Share of errors from which failures colour the times.
pub const ERRORS_SUSPECT: f64 = 0.01;
/// Share of misses, aborts or errors from which nothing else was measured.
pub const FAILURES_INVALID: f64 = 0.5;

/// Measured requests below which a run says nothing of a tail: fewer do not tell the slowest tenth.
pub const FEWEST_REQUESTS: u64 = 100;

/// Probability below which a difference between the halves of a run is not chance, …
pub const DRIFT_P_VALUE: f64 = 0.001;
/// … and the relative difference of their medians from which it matters.
pub const DRIFT_CHANGE: f64 = 0.1;

/// Offered rates that differ by more than this are different loads to a comparison.
pub const SAME_RATE: f64 = 0.01;
/// Numbers of requests that differ by more than this make the extremes of two sides incomparable.
pub const SAME_LENGTH: f64 = 0.1;
/// The quantile by which a comparison is decided, unless another is asked.
pub const HEADLINE: f64 = 0.99;

/// Limits of the extremes (Fruth et al., TPCTC 2021): all requests beyond these quantiles.
pub const EXTREMES: (f64, f64) = (0.000_25, 0.999_75);
/// Most extremes, and most sampled points, of a series.
pub const MOST_POINTS: usize = 5_000;
/// Requests in the window of the sliding mean (Fruth et al., TPCTC 2021).
pub const SLIDING_WINDOW: f64 = 1_000.0;
/// Points of the sliding mean, at most.
pub const SLIDING_POINTS: u64 = 2_000;
/// Most steps of the load over time.
pub const LOAD_POINTS: usize = 2_000;
/// Most events that are kept.
pub const MOST_EVENTS: usize = 10_000;

/// The quantiles of the anatomy, and half the width in ranks of what is averaged around each.
pub const ANATOMY_HALF_WIDTH: f64 = 0.005;
/// The fewest requests that are averaged.
pub const ANATOMY_FEWEST: u64 = 20;

/// Probability of as much overlap by chance, up to which something may explain slow requests.
pub const ASSOCIATION_P: f64 = 0.05;
/// Most slow requests that are looked at one by one.
pub const MOST_SLOW: usize = 1_000_000;
/// Most requests behind stalls that a thread looks at one by one; of more, the time that the backlogs took counts.
pub const MOST_BEHIND: usize = 1_000_000;
/// Slow requests that are kept with their pieces, unless more are asked for.
pub const MOST_WORST: usize = 50;
/// Most intervals of a cause that are kept to be drawn.
pub const MOST_DRAWN: usize = 500;
/// Most moments that are named of one slow request.
pub const MOST_MARKS: usize = 20;

/// The share of an operation's requests, its slowest, that the parts of a slow one are averaged over.
pub const SLOW_STATEMENTS: f64 = 0.01;
/// The fewest requests of which that is said.
pub const SLOW_STATEMENTS_REQUESTS: u64 = 1_000;

/// The headline quantile.
pub fn headline() -> Quantile {
    Quantile::new(HEADLINE).unwrap_or(Quantile::PRINTED[4])
}
