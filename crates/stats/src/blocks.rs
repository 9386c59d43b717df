//! What each stretch of time contributed: the raw material of every interval.
//!
//! Requests that are close in time are alike: they share a queue, a checkpoint, a stall. An interval that
//! takes each of them for new information is too narrow, often by a factor of ten. So each distribution keeps
//! at most [`MAX_BLOCKS`] blocks of equal time with coarse histograms, and dependence is read off how much the
//! blocks differ.
//!
//! The width is a power of two and doubles when the run outgrows the blocks; which block a sample is in
//! depends on its time alone, so that merging the parts of several threads gives the same blocks as one.

/// The most blocks that are kept; between half as many and as many for a long run.
pub const MAX_BLOCKS: usize = 128;
/// Blocks start at 2^14 ns ≈ 16 µs.
const FIRST_SHIFT: u32 = 14;

const COARSE_BITS: u32 = 6;
const COARSE_LEN: usize = 1 << COARSE_BITS;

/// Page and slot of a value in a block's histogram.
#[inline(always)]
fn coarse_of(value: u64) -> (usize, usize) {
    if value < COARSE_LEN as u64 {
        return (0, value as usize);
    }
    let exponent = 63 - value.leading_zeros();
    let slot = (value >> (exponent - COARSE_BITS)) as usize & (COARSE_LEN - 1);
    ((exponent - COARSE_BITS + 1) as usize, slot)
}

/// Smallest and largest value that share a block's bucket with `value`: 2^−6 of it apart at most.
pub(crate) fn coarse_limits(value: u64) -> (u64, u64) {
    let (page, slot) = coarse_of(value);
    if page == 0 {
        return (value, value);
    }
    let shift = page - 1;
    let low = ((COARSE_LEN + slot) as u64) << shift;
    (low, low + ((1u64 << shift) - 1))
}

/// One stretch of time.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) count: u64,
    pub(crate) sum: u128,
    pub(crate) squares: u128,
    /// Counts by octave; a counter saturates at 2^32 − 1.
    pages: Vec<Option<Box<[u32; COARSE_LEN]>>>,
}

impl Block {
    fn new() -> Block {
        Block { count: 0, sum: 0, squares: 0, pages: Vec::new() }
    }

    #[inline]
    fn record(&mut self, value: u64) {
        let (page, slot) = coarse_of(value);
        if page >= self.pages.len() {
            self.pages.resize(page + 1, None);
        }
        let counts = self.pages[page].get_or_insert_with(|| Box::new([0; COARSE_LEN]));
        counts[slot] = counts[slot].saturating_add(1);
        self.count += 1;
        self.sum += u128::from(value);
        self.squares = self.squares.saturating_add(u128::from(value) * u128::from(value));
    }

    fn merge(&mut self, other: &Block) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
        if self.pages.len() < other.pages.len() {
            self.pages.resize(other.pages.len(), None);
        }
        for (mine, theirs) in self.pages.iter_mut().zip(&other.pages) {
            let Some(theirs) = theirs else { continue };
            match mine {
                Some(mine) => {
                    mine.iter_mut().zip(theirs.iter()).for_each(|(a, b)| *a = a.saturating_add(*b));
                }
                None => *mine = Some(theirs.clone()),
            }
        }
    }

    /// Values ≥ `limit`, which must be the smallest value of a coarse bucket.
    pub(crate) fn from(&self, limit: u64) -> u64 {
        let (page, slot) = coarse_of(limit);
        let mut total = 0u64;
        for (index, counts) in self.pages.iter().enumerate().skip(page) {
            let Some(counts) = counts else { continue };
            let first = if index == page { slot } else { 0 };
            total += counts[first..].iter().map(|n| u64::from(*n)).sum::<u64>();
        }
        total
    }
}

/// Blocks of equal time from an origin on.
#[derive(Clone, Debug)]
pub struct TimeBlocks {
    origin: u64,
    shift: u32,
    blocks: Vec<Block>,
}

impl TimeBlocks {
    /// Samples before `origin_ns` count as being at it. Blocks of distributions that will be merged should
    /// share their origin.
    pub fn new(origin_ns: u64) -> TimeBlocks {
        TimeBlocks { origin: origin_ns, shift: FIRST_SHIFT, blocks: Vec::new() }
    }

    /// Adds a value at a time; ≈ 4 ns.
    #[inline]
    pub fn record(&mut self, at_ns: u64, value: u64) {
        let mut index = (at_ns.saturating_sub(self.origin) >> self.shift) as usize;
        if index >= self.blocks.len() {
            index = self.make_room(at_ns);
        }
        self.blocks[index].record(value);
    }

    /// The block of this time, made and, where there are too many, the others made coarser.
    #[cold]
    fn make_room(&mut self, at_ns: u64) -> usize {
        let since = at_ns.saturating_sub(self.origin);
        while (since >> self.shift) as usize >= MAX_BLOCKS {
            self.coarsen();
        }
        let index = (since >> self.shift) as usize;
        if index >= self.blocks.len() {
            self.blocks.resize_with(index + 1, Block::new);
        }
        index
    }

    fn coarsen(&mut self) {
        let merged = self.blocks.chunks(2).map(|pair| {
            let mut first = pair[0].clone();
            if let Some(second) = pair.get(1) {
                first.merge(second);
            }
            first
        });
        self.blocks = merged.collect();
        self.shift += 1;
    }

    /// Adds the blocks of `other`. Exact when both share the origin; else a block goes to the one that its
    /// middle falls into, which is as good for the purpose.
    pub fn merge(&mut self, other: &TimeBlocks) {
        while self.shift < other.shift {
            self.coarsen();
        }
        for (index, block) in other.blocks.iter().enumerate() {
            if block.count == 0 {
                continue;
            }
            let middle = (index as u64 * 2 + 1) << (other.shift - 1);
            let target = self.make_room(other.origin.saturating_add(middle));
            self.blocks[target].merge(block);
        }
    }

    /// From the first block that holds something to the last one.
    pub(crate) fn span(&self) -> &[Block] {
        let first = self.blocks.iter().position(|b| b.count > 0).unwrap_or(self.blocks.len());
        let last = self.blocks.iter().rposition(|b| b.count > 0).map_or(first, |i| i + 1);
        &self.blocks[first..last]
    }

    /// Number of blocks from the first that holds something to the last one.
    pub fn len(&self) -> usize {
        self.span().len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Samples per block.
    pub(crate) fn counts(&self) -> Vec<f64> {
        self.span().iter().map(|b| b.count as f64).collect()
    }

    /// Samples ≥ `limit` per block; `limit` is the smallest value of a coarse bucket.
    pub(crate) fn counts_from(&self, limit: u64) -> Vec<f64> {
        self.span().iter().map(|b| b.from(limit) as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_among_threads_does_not_matter() {
        let samples: Vec<(u64, u64)> =
            (0..20_000u64).map(|i| (i * 7_919 % 90_000_000, i * 31 % 5_000)).collect();
        let mut whole = TimeBlocks::new(1_000);
        samples.iter().for_each(|(at, v)| whole.record(*at, *v));
        let mut parts = TimeBlocks::new(1_000);
        for chunk in samples.chunks(777) {
            let mut part = TimeBlocks::new(1_000);
            chunk.iter().for_each(|(at, v)| part.record(*at, *v));
            parts.merge(&part);
        }
        assert_eq!((whole.shift, whole.counts()), (parts.shift, parts.counts()));
        let (limit, _) = coarse_limits(2_500);
        assert_eq!(whole.counts_from(limit), parts.counts_from(limit));
        let exact = samples.iter().filter(|(_, v)| *v >= limit).count() as f64;
        assert_eq!(whole.counts_from(limit).iter().sum::<f64>(), exact);
        assert!((MAX_BLOCKS / 2..=MAX_BLOCKS).contains(&whole.len()));
    }
}
