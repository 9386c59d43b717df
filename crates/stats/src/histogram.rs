//! Counts over the whole range of `u64` with a bounded relative error.
//!
//! A fixed layout, the same for every histogram, so that merging is adding: values below 4,096 have a bucket
//! each; above, every octave [2^e, 2^(e+1)) is cut into 4,096 equal buckets, 2^−12 of their lower limit wide
//! at most. There is no range to configure and so no value that falls outside of it.
//!
//! Counters are allocated 512 at a time when first needed: response times of one run touch a few hundred
//! kilobytes of the 1.7 MB that the full range would take.

const SUB_BITS: u32 = 12;
const SUB_COUNT: usize = 1 << SUB_BITS;
const CHUNK_BITS: u32 = 9;
const CHUNK_LEN: usize = 1 << CHUNK_BITS;
const BUCKETS: usize = (64 - SUB_BITS as usize + 1) * SUB_COUNT;
const CHUNKS: usize = BUCKETS / CHUNK_LEN;

/// A bucket's number; monotone in `value`.
#[inline(always)]
fn bucket_of(value: u64) -> usize {
    if value < SUB_COUNT as u64 {
        return value as usize;
    }
    let exponent = 63 - value.leading_zeros();
    let page = (exponent - SUB_BITS + 1) as usize;
    (page << SUB_BITS) + ((value >> (exponent - SUB_BITS)) as usize & (SUB_COUNT - 1))
}

/// The smallest and the largest value of a bucket.
fn limits_of(bucket: usize) -> (u64, u64) {
    let page = bucket >> SUB_BITS;
    if page == 0 {
        return (bucket as u64, bucket as u64);
    }
    let shift = page - 1;
    let low = ((SUB_COUNT + (bucket & (SUB_COUNT - 1))) as u64) << shift;
    (low, low + ((1u64 << shift) - 1))
}

/// A histogram of `u64` values, such as nanoseconds, with buckets no wider than 2^−12 of their value.
///
/// Minimum, maximum, count, sum and sum of squares are exact (the sum of squares saturates at 2^128).
/// Merging is exact, commutative and associative: the same samples give the same histogram, however they
/// were divided among threads.
#[derive(Clone, Debug)]
pub struct LogHistogram {
    chunks: Vec<Option<Box<[u64; CHUNK_LEN]>>>,
    count: u64,
    min: u64,
    max: u64,
    sum: u128,
    squares: u128,
}

impl Default for LogHistogram {
    fn default() -> LogHistogram {
        LogHistogram::new()
    }
}

impl PartialEq for LogHistogram {
    /// Equal when they hold the same counts; which memory is allocated does not matter.
    fn eq(&self, other: &LogHistogram) -> bool {
        (self.count, self.min(), self.max(), self.sum, self.squares)
            == (other.count, other.min(), other.max(), other.sum, other.squares)
            && self.buckets().eq(other.buckets())
    }
}

impl LogHistogram {
    /// An empty histogram; allocates 3.4 kB.
    pub fn new() -> LogHistogram {
        LogHistogram { chunks: vec![None; CHUNKS], count: 0, min: u64::MAX, max: 0, sum: 0, squares: 0 }
    }

    /// Adds one value; ≈ 3 ns when its counters are in the cache.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = bucket_of(value);
        let chunk = self.chunks[bucket >> CHUNK_BITS].get_or_insert_with(|| Box::new([0; CHUNK_LEN]));
        chunk[bucket & (CHUNK_LEN - 1)] += 1;
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += u128::from(value);
        self.squares = self.squares.saturating_add(u128::from(value) * u128::from(value));
    }

    /// Adds everything that `other` holds; linear in the counters that `other` has allocated.
    pub fn merge(&mut self, other: &LogHistogram) {
        for (mine, theirs) in self.chunks.iter_mut().zip(&other.chunks) {
            let Some(theirs) = theirs else { continue };
            match mine {
                Some(mine) => mine.iter_mut().zip(theirs.iter()).for_each(|(a, b)| *a += b),
                None => *mine = Some(theirs.clone()),
            }
        }
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest value, exact; `None` when empty.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest value, exact; `None` when empty.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The sum of all values, exact.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The sum of all squared values, exact below 2^128.
    pub fn squares(&self) -> u128 {
        self.squares
    }

    /// The buckets that hold something, ascending: (smallest value, largest value, count).
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.occupied().map(|(bucket, count)| {
            let (low, high) = limits_of(bucket);
            (low, high, count)
        })
    }

    fn occupied(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.chunks.iter().enumerate().filter_map(|(c, chunk)| Some((c, chunk.as_ref()?))).flat_map(
            |(c, chunk)| {
                let first = c << CHUNK_BITS;
                chunk.iter().enumerate().filter(|(_, n)| **n > 0).map(move |(i, n)| (first + i, *n))
            },
        )
    }

    /// Values in buckets above that of `limit`: the number of values > `limit`, short of those that share its
    /// bucket (within 2^−12 of it). Exact for limits below 4,096. Linear; [`Ranks`] answers many questions.
    pub fn count_above(&self, limit: u64) -> u64 {
        let bucket = bucket_of(limit);
        self.occupied().filter(|(b, _)| *b > bucket).map(|(_, n)| n).sum()
    }

    /// Smallest and largest value of the bucket that holds the value of rank `rank` (1 is the smallest);
    /// narrowed to the exact extremes; `None` when there is no such rank. Linear, as above.
    pub fn value_at_rank(&self, rank: u64) -> Option<(u64, u64)> {
        Ranks::new(self).at(rank)
    }
}

/// The distribution function of a [`LogHistogram`], for questions in logarithmic time.
#[derive(Clone, Debug, Default)]
pub struct Ranks {
    /// (bucket, values in it and below), ascending in both.
    steps: Vec<(usize, u64)>,
    min: u64,
    max: u64,
}

impl Ranks {
    /// Linear in the counters that are allocated.
    pub fn new(histogram: &LogHistogram) -> Ranks {
        let mut below = 0;
        let steps = histogram.occupied().map(|(bucket, n)| {
            below += n;
            (bucket, below)
        });
        Ranks { steps: steps.collect(), min: histogram.min, max: histogram.max }
    }

    /// Of `whole` without the values of `part`, which must all be in `whole`: the values that are known
    /// when `part` holds the censored ones. The extremes are bucket limits at worst.
    pub fn without(whole: &LogHistogram, part: &LogHistogram) -> Ranks {
        let mut taken = part.occupied().peekable();
        let mut below = 0;
        let mut steps = Vec::new();
        for (bucket, n) in whole.occupied() {
            let mut left = n;
            while let Some((_, m)) = taken.next_if(|(b, _)| *b <= bucket) {
                left = left.saturating_sub(m);
            }
            if left > 0 {
                below += left;
                steps.push((bucket, below));
            }
        }
        Ranks { steps, min: whole.min, max: whole.max }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.steps.last().map_or(0, |(_, n)| *n)
    }

    /// As [`LogHistogram::value_at_rank`].
    pub fn at(&self, rank: u64) -> Option<(u64, u64)> {
        if rank == 0 || rank > self.count() {
            return None;
        }
        let step = self.steps.partition_point(|(_, below)| *below < rank);
        let (low, high) = limits_of(self.steps[step].0);
        Some((low.max(self.min), high.min(self.max)))
    }

    /// As [`LogHistogram::count_above`].
    pub fn above(&self, limit: u64) -> u64 {
        self.count() - self.up_to(limit)
    }

    /// Values in the bucket of `limit` and below.
    pub fn up_to(&self, limit: u64) -> u64 {
        let bucket = bucket_of(limit);
        let step = self.steps.partition_point(|(b, _)| *b <= bucket);
        if step == 0 { 0 } else { self.steps[step - 1].1 }
    }

    /// The smallest value in a bucket at or above that of `limit` (its bucket's lower limit, not below the
    /// minimum).
    pub fn first_from(&self, limit: u64) -> Option<u64> {
        let step = self.steps.partition_point(|(b, _)| *b < bucket_of(limit));
        self.steps.get(step).map(|(b, _)| limits_of(*b).0.max(self.min))
    }

    /// The largest value in a bucket at or below that of `limit` (its bucket's upper limit, not above the
    /// maximum).
    pub fn last_to(&self, limit: u64) -> Option<u64> {
        let step = self.steps.partition_point(|(b, _)| *b <= bucket_of(limit));
        let (bucket, _) = self.steps.get(step.checked_sub(1)?)?;
        Some(limits_of(*bucket).1.min(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_the_range() {
        let mut expected = 0u64;
        for bucket in 0..BUCKETS {
            let (low, high) = limits_of(bucket);
            assert_eq!((low, bucket_of(low), bucket_of(high)), (expected, bucket, bucket));
            assert!((high - low) as f64 <= low as f64 / 4096.0);
            expected = high.wrapping_add(1);
        }
        assert_eq!(expected, 0, "the last bucket ends at u64::MAX");
    }
}
