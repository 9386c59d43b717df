//! What was usual before something stood still: a backlog behind it is over when requests take no longer again.
//!
//! The median of the whole run does not do where the service becomes slower for good: no request is usual by it ever again,
//! and everything that stood still since would have a backlog to the end.

use crate::heat::HeatBuilder;
use std::collections::HashMap;

/// Columns of the heat map that are looked at before a stall, of 256 to 512 in a run, …
const COLUMNS: usize = 16;
/// … and no less than so many times the stall's length: the backlog of the one before is then no more than a part of them.
const TIMES_LENGTH: u64 = 20;
/// Requests that a median is taken of.
const LEAST: u64 = 100;

/// Ends of all that blocks in one recording, and what was usual before each.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    /// Ascending.
    pub(super) at: Vec<u64>,
    /// By operation: the longest that counts as usual from each end on, ns.
    usual: Vec<Vec<u64>>,
    /// By operation: the longest of them.
    most: Vec<u64>,
}

impl Ends {
    /// `spans` are the (end, begin) of all that blocks. `medians` are those of the whole run by operation, ns, and `over_time` the requests that were answered, likewise.
    pub(super) fn new(mut spans: Vec<(u64, u64)>, medians: &[u64], over_time: &[HeatBuilder]) -> Ends {
        spans.sort_unstable();
        spans.dedup_by_key(|span| span.0);
        let mut known: HashMap<(usize, usize, usize), Option<(u64, u64)>> = HashMap::new();
        let mut usual_before = |operation: usize, median: u64, (end, begin): (u64, u64)| {
            let Some(heat) = over_time.get(operation) else { return median };
            let until = heat.column(begin);
            let wanted =
                heat.column(TIMES_LENGTH.saturating_mul(end - begin)).max(COLUMNS).next_power_of_two();
            let from = until.saturating_sub(wanted);
            let before =
                known.entry((operation, from, until)).or_insert_with(|| heat.median(from..until, LEAST));
            // Where the row's lower limit is above the run's median, it has become slower: by the upper one, so that of
            // constant times all are usual.
            before.filter(|(low, _)| *low > median).map_or(median, |(_, high)| high)
        };
        let mut of_operation = |(operation, median): (usize, &u64)| -> Vec<u64> {
            spans.iter().map(|span| usual_before(operation, *median, *span)).collect()
        };
        let usual: Vec<Vec<u64>> = medians.iter().enumerate().map(&mut of_operation).collect();
        let most = usual.iter().map(|list| list.iter().copied().max().unwrap_or(0)).collect();
        Ends { at: spans.into_iter().map(|span| span.0).collect(), usual, most }
    }

    /// The end before `at`, if a request of the operation that begins then and takes `whole` shows that nothing is left of the
    /// backlog behind it.
    pub(super) fn over(&self, operation: usize, at: u64, whole: u64) -> Option<usize> {
        if whole > self.most[operation] {
            return None;
        }
        let last = self.at.partition_point(|end| *end <= at).checked_sub(1)?;
        (whole <= self.usual[operation][last]).then_some(last)
    }
}
