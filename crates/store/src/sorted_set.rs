//! Members with scores, in the order of both.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// RESP's sorted set. It is found by member and walked by score: YCSB keeps all its keys in one and scans by it, so that
/// neither may cost the whole set.
///
/// Invariant: both indexes hold the same pairs; no score is NaN.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SortedSet {
    scores: BTreeMap<Arc<[u8]>, f64>,
    order: BTreeSet<(Score, Arc<[u8]>)>,
}

/// A score that is not NaN. −0 and 0 are equal.
#[derive(Clone, Copy, Debug)]
struct Score(f64);

impl PartialEq for Score {
    fn eq(&self, other: &Score) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Score) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Score) -> Ordering {
        self.0.partial_cmp(&other.0).unwrap_or(Ordering::Equal)
    }
}

impl SortedSet {
    /// An empty one.
    pub fn new() -> SortedSet {
        SortedSet::default()
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// A member's score.
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        self.scores.get(member).copied()
    }

    /// Gives a member its score; O(log n). A score that is not a number is not taken: `false`.
    pub fn insert(&mut self, member: &[u8], score: f64) -> bool {
        if score.is_nan() {
            return false;
        }
        let member: Arc<[u8]> = match self.scores.get_key_value(member) {
            Some((known, old)) => {
                let (known, old) = (known.clone(), *old);
                self.order.remove(&(Score(old), known.clone()));
                known
            }
            None => member.into(),
        };
        self.order.insert((Score(score), member.clone()));
        self.scores.insert(member, score);
        true
    }

    /// Takes a member out; whether it was in; O(log n).
    pub fn remove(&mut self, member: &[u8]) -> bool {
        let Some((member, score)) = self.scores.remove_entry(member) else { return false };
        self.order.remove(&(Score(score), member));
        true
    }

    /// All members, by score and then by their bytes.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&[u8], f64)> {
        self.order.iter().map(|(score, member)| (&**member, score.0))
    }

    /// Those with scores from `lowest` to `highest`, both included; O(log n) and what is taken of it. To leave a bound
    /// out, give its neighbour ([`f64::next_up`], [`f64::next_down`]).
    pub fn between(&self, lowest: f64, highest: f64) -> impl DoubleEndedIterator<Item = (&[u8], f64)> {
        let empty: Arc<[u8]> = Arc::from(&b""[..]);
        // Nothing is above infinity, and its neighbour is itself.
        let above = (highest < f64::INFINITY).then(|| (Score(highest.next_up()), empty.clone()));
        let ordered = lowest <= highest;
        let begin = (Score(lowest), empty);
        let range = match (ordered, above) {
            (true, Some(end)) => Some(self.order.range(begin..end)),
            (true, None) => Some(self.order.range(begin..)),
            (false, _) => None,
        };
        range.into_iter().flatten().map(|(score, member)| (&**member, score.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(pairs: &[(&str, f64)]) -> SortedSet {
        let mut set = SortedSet::new();
        for (member, score) in pairs {
            assert!(set.insert(member.as_bytes(), *score));
        }
        set
    }

    fn names<'a>(pairs: impl Iterator<Item = (&'a [u8], f64)>) -> String {
        pairs.map(|(member, _)| String::from_utf8_lossy(member).into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn order_is_by_score_and_then_by_member() {
        let mut set = set(&[("b", 1.0), ("a", 1.0), ("z", -1.0), ("n", -0.0), ("m", 0.0)]);
        assert_eq!(names(set.iter()), "z m n a b");
        set.insert(b"z", 2.0);
        assert!(set.remove(b"a") && !set.remove(b"a"));
        assert_eq!(names(set.iter()), "m n b z");
        assert!(!set.insert(b"x", f64::NAN));
        assert_eq!(set.len(), 4);
    }

    #[test]
    fn infinite_bounds_and_members_are_within_reach() {
        let set = set(&[("low", f64::NEG_INFINITY), ("mid", 5.0), ("top", f64::INFINITY)]);
        assert_eq!(names(set.between(f64::NEG_INFINITY, f64::INFINITY)), "low mid top");
        assert_eq!(names(set.between(5.0, 5.0)), "mid");
        assert_eq!(names(set.between(6.0, 5.0)), "");
        assert_eq!(names(set.between(f64::MAX, f64::INFINITY)), "top");
    }

    proptest! {
        #[test]
        fn ranges_are_those_of_a_sorted_list(
            changes in prop::collection::vec((0u8..12, prop::option::of(-4i8..4)), 0..60),
            (lowest, highest) in (-5i8..5, -5i8..5),
        ) {
            let (mut set, mut list) = (SortedSet::new(), BTreeMap::new());
            for (member, score) in changes {
                match score {
                    Some(score) => {
                        set.insert(&[member], f64::from(score));
                        list.insert(vec![member], f64::from(score));
                    }
                    None => prop_assert_eq!(set.remove(&[member]), list.remove(&vec![member]).is_some()),
                }
            }
            let mut sorted: Vec<(f64, Vec<u8>)> = list.into_iter().map(|(m, s)| (s, m)).collect();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
            let all: Vec<(f64, Vec<u8>)> = set.iter().map(|(m, s)| (s, m.to_vec())).collect();
            prop_assert_eq!(&all, &sorted);
            let (lowest, highest) = (f64::from(lowest), f64::from(highest));
            let found: Vec<(f64, Vec<u8>)> =
                set.between(lowest, highest).map(|(m, s)| (s, m.to_vec())).collect();
            sorted.retain(|(score, _)| (lowest..=highest).contains(score));
            prop_assert_eq!(found, sorted);
        }
    }
}
