//! The requests around the worst one, for a figure over time.

use crate::overlay::{OverlayMoment, OverlayPoint};
use record::Measure;
use units::{Instant, Nanos};

/// Points at most.
const MOST: usize = 2_000;
/// Requests on each side at least, where there are so many.
const MARGIN: usize = 100;
/// The span of the worst moment: around the worst request, until as many requests in a row …
const CALM: usize = 100;
/// … took less than this share of what it took.
const SHARE: u64 = 10;

/// A request that was compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    pub(super) at: i64,
    pub(super) truth: u64,
    pub(super) measured: u64,
}

/// The moment of some requests, unless one that is known already is worse.
pub(super) fn worse(
    known: Option<OverlayMoment>,
    measure: Measure,
    mut requests: Vec<Compared>,
) -> Option<OverlayMoment> {
    requests.sort_unstable_by_key(|request| request.at);
    let worst = (0..requests.len()).max_by_key(|&index| (requests[index].truth, std::cmp::Reverse(index)));
    let Some(worst) = worst else { return known };
    let before = known.iter().flat_map(|moment| &moment.points).map(|point| point.truth.0).max();
    if before.is_some_and(|before| before >= requests[worst].truth) {
        return known;
    }
    let (begin, end) = span(&requests, worst);
    let thinned = (end - begin).div_ceil(MOST - 1).max(1);
    let kept = (begin..end).filter(|index| (index - begin) % thinned == 0 || *index == worst);
    let point = |request: &Compared| OverlayPoint {
        at: instant(request.at),
        truth: Nanos(request.truth),
        measured: Nanos(request.measured),
    };
    Some(OverlayMoment {
        measure,
        worst: instant(requests[worst].at),
        points: kept.map(|index| point(&requests[index])).collect(),
        thinned: thinned as u64,
    })
}

/// An instant of the axis as others have it; what came before its epoch is at the epoch.
pub(super) fn instant(at: i64) -> Instant {
    Instant(at.max(0).cast_unsigned())
}

/// First and behind the last of the requests of a slow time, with half as many on each side.
fn span(requests: &[Compared], worst: usize) -> (usize, usize) {
    let limit = requests[worst].truth / SHARE;
    let slow = |index: &usize| requests[*index].truth >= limit;
    let (mut begin, mut end) = (worst, worst + 1);
    while let Some(index) = (begin.saturating_sub(CALM)..begin).find(slow) {
        begin = index;
    }
    while let Some(index) = (end..requests.len().min(end + CALM)).rfind(slow) {
        end = index + 1;
    }
    let margin = ((end - begin) / 2).max(MARGIN);
    (begin.saturating_sub(margin), requests.len().min(end + margin))
}
