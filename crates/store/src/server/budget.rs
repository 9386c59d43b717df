//! What all connections together make the server keep.

/// Bytes held, by connection and in all. A list of numbers beside the connections, so that looking for the largest of
/// 20,000 takes some microseconds and not 20,000 misses of the cache.
#[derive(Debug, Default)]
pub(super) struct Budget {
    total: usize,
    by_slot: Vec<usize>,
}

impl Budget {
    /// Bytes that all of them hold.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// The connection in this slot holds so many bytes now.
    pub(super) fn set(&mut self, slot: usize, holds: usize) {
        if slot >= self.by_slot.len() {
            self.by_slot.resize(slot + 1, 0);
        }
        let had = std::mem::replace(&mut self.by_slot[slot], holds);
        self.total = self.total - had + holds;
    }

    /// The slot whose connection holds most, if any holds something.
    pub(super) fn largest(&self) -> Option<usize> {
        let (slot, holds) = self.by_slot.iter().enumerate().max_by_key(|(_, holds)| **holds)?;
        (*holds > 0).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_let_go_counts_no_more() {
        let mut budget = Budget::default();
        assert_eq!((budget.total(), budget.largest()), (0, None));
        budget.set(3, 100);
        budget.set(1, 40);
        budget.set(3, 10);
        assert_eq!((budget.total(), budget.largest()), (50, Some(1)));
        budget.set(1, 0);
        budget.set(3, 0);
        assert_eq!((budget.total(), budget.largest()), (0, None));
    }
}
