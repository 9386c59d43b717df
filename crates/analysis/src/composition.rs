//! Where the time goes: sums of the parts for requests of like length.
//!
//! One pass cannot know the quantiles in advance. So the parts are summed per bucket of the whole, 2^−7 of it
//! wide, and the requests around a quantile are those of the buckets there.

use crate::cell::{NONE, Times};
use crate::limits::{ANATOMY_FEWEST, ANATOMY_HALF_WIDTH};
use crate::{Anatomy, AnatomyRow};
use stats::View;
use units::Quantile;

const SUB_BITS: u32 = 7;
const PAGE_LEN: usize = 1 << SUB_BITS;
const PAGES: usize = 64 - SUB_BITS as usize + 1;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Parts {
    requests: u64,
    stamped: u64,
    /// Sums in ns; wrapping at 584 request-years per bucket.
    pool_wait: u64,
    lag: u64,
    /// Of completed − sent: pick-up is part of it.
    service: u64,
    /// Of the stamped ones.
    pick_up: u64,
}

impl Parts {
    #[inline]
    fn of(times: &Times, has_response: bool) -> Parts {
        let present = |value: u64| if value == NONE { 0 } else { value };
        Parts {
            requests: 1,
            stamped: u64::from(times.pick_up() != NONE),
            pool_wait: if has_response { present(times.pool_wait()) } else { 0 },
            // Service time begins when it is sent: lag is no part of a closed loop's whole.
            lag: if has_response { present(times.lag()) } else { 0 },
            service: present(times.service()),
            pick_up: present(times.pick_up()),
        }
    }

    #[inline]
    fn add(&mut self, other: &Parts) {
        self.requests += other.requests;
        self.stamped += other.stamped;
        self.pool_wait = self.pool_wait.wrapping_add(other.pool_wait);
        self.lag = self.lag.wrapping_add(other.lag);
        self.service = self.service.wrapping_add(other.service);
        self.pick_up = self.pick_up.wrapping_add(other.pick_up);
    }

    fn row(&self, quantile: Quantile, whole_ns: f64) -> AnatomyRow {
        let mean = |sum: u64| sum as f64 / self.requests.max(1) as f64;
        // A request without a stamp was picked up, too: nobody knows when, and it is not zero.
        let pick_up_ns = (self.stamped > 0).then(|| self.pick_up as f64 / self.stamped as f64);
        AnatomyRow {
            quantile,
            whole_ns,
            pool_wait_ns: mean(self.pool_wait),
            lag_ns: mean(self.lag),
            service_ns: (mean(self.service) - pick_up_ns.unwrap_or(0.0)).max(0.0),
            pick_up_ns,
            requests: self.requests,
            stamped: self.stamped,
        }
    }
}

/// The sums while they are made.
#[derive(Clone, Debug)]
pub(crate) struct CompositionBuilder {
    pages: Vec<Option<Box<[Parts; PAGE_LEN]>>>,
    /// The longest request; the smaller number of equals.
    longest: Option<(u64, std::cmp::Reverse<u64>, Parts)>,
}

impl CompositionBuilder {
    pub(crate) fn new() -> CompositionBuilder {
        CompositionBuilder { pages: vec![None; PAGES], longest: None }
    }

    #[inline]
    pub(crate) fn add(&mut self, times: &Times, has_response: bool) {
        let whole = times.whole(has_response);
        if whole == NONE {
            return;
        }
        let parts = Parts::of(times, has_response);
        let (page, slot) = place(whole);
        let buckets = self.pages[page].get_or_insert_with(|| Box::new([Parts::default(); PAGE_LEN]));
        buckets[slot].add(&parts);
        if self.longest.as_ref().is_none_or(|(most, ..)| whole >= *most) {
            self.offer((whole, std::cmp::Reverse(times.seq), parts));
        }
    }

    fn offer(&mut self, candidate: (u64, std::cmp::Reverse<u64>, Parts)) {
        if self.longest.is_none_or(|(whole, seq, _)| (candidate.0, candidate.1) > (whole, seq)) {
            self.longest = Some(candidate);
        }
    }

    pub(crate) fn merge(&mut self, other: CompositionBuilder) {
        for (mine, theirs) in self.pages.iter_mut().zip(other.pages) {
            match (mine, theirs) {
                (_, None) => {}
                (mine @ None, theirs) => *mine = theirs,
                (Some(mine), Some(theirs)) => mine.iter_mut().zip(theirs.iter()).for_each(|(a, b)| a.add(b)),
            }
        }
        if let Some(candidate) = other.longest {
            self.offer(candidate);
        }
    }

    /// A row for each of the quantiles that the samples carry, and the maximum. `view` is of the same whole.
    pub(crate) fn anatomy(&self, view: &View<'_>, quantiles: &[Quantile]) -> Anatomy {
        let buckets: Vec<(u64, Parts)> =
            self.pages.iter().flatten().flat_map(|p| p.iter()).fold(Vec::new(), |mut list, parts| {
                if parts.requests > 0 {
                    let before = list.last().map_or(0, |(n, _)| *n);
                    list.push((before + parts.requests, *parts));
                }
                list
            });
        let n = buckets.last().map_or(0, |(n, _)| *n);
        let carried = quantiles.iter().filter(|q| q.get() < 1.0 && n >= q.samples_needed());
        let mut rows: Vec<AnatomyRow> =
            carried.filter_map(|q| Some(around(&buckets, n, q.get()).row(*q, view.value(*q)?))).collect();
        if let (Some((whole, _, parts)), Some(max)) = (&self.longest, Quantile::new(1.0)) {
            rows.push(parts.row(max, *whole as f64));
        }
        Anatomy { rows }
    }
}

fn place(value: u64) -> (usize, usize) {
    if value < PAGE_LEN as u64 {
        return (0, value as usize);
    }
    let exponent = 63 - value.leading_zeros();
    let slot = (value >> (exponent - SUB_BITS)) as usize & (PAGE_LEN - 1);
    ((exponent - SUB_BITS + 1) as usize, slot)
}

/// The parts of the requests around a quantile: ranks within half a per cent, or half of what is left above
/// it, and at least [`ANATOMY_FEWEST`]; whole buckets.
fn around(buckets: &[(u64, Parts)], n: u64, q: f64) -> Parts {
    let rank = q * n as f64;
    let width = (ANATOMY_HALF_WIDTH.min((1.0 - q) / 2.0) * n as f64).max(ANATOMY_FEWEST as f64 / 2.0);
    let (from, to) = ((rank - width).max(0.0), (rank + width).min(n as f64));
    let first = buckets.partition_point(|(below, _)| (*below as f64) <= from);
    let mut sum = Parts::default();
    for (index, (_, parts)) in buckets.iter().enumerate().skip(first.min(buckets.len().saturating_sub(1))) {
        let before = if index == 0 { 0 } else { buckets[index - 1].0 };
        if before as f64 >= to && sum.requests >= ANATOMY_FEWEST.min(n) {
            break;
        }
        sum.add(parts);
    }
    sum
}
