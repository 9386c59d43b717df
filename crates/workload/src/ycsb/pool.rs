//! The text that field values are cut from.

use units::{Rng, Seed};

/// Random printable ASCII, made once; values are slices of it, so that no request generates bytes.
///
/// Values of one run repeat text of each other at other offsets. A database that compresses across rows could
/// profit from that once its window exceeds the pool; the pool is far larger than any page.
pub(crate) struct Pool {
    text: String,
    offsets: u64,
}

/// Where a value lies in the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) offset: u32,
    pub(crate) length: u32,
}

const POOL_BYTES: usize = 1 << 20;

impl Pool {
    /// Enough text for values of up to `longest` characters.
    pub(crate) fn new(seed: Seed, longest: u32) -> Pool {
        let mut rng = seed.derive("ycsb/text").rng();
        let bytes = POOL_BYTES.max(16 * longest as usize);
        // Code points 32 … 126, as the original's.
        let text = (0..bytes).map(|_| char::from(32 + rng.below(95) as u8)).collect();
        Pool { text, offsets: bytes as u64 - u64::from(longest) + 1 }
    }

    /// A drawn place for a value of `length` characters, at most the pool's `longest`.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng, length: u32) -> Span {
        Span { offset: rng.below(self.offsets) as u32, length }
    }

    /// The value at `span`.
    #[inline]
    pub(crate) fn text(&self, span: Span) -> &str {
        // The text is ASCII, so every offset is a character's boundary.
        &self.text[span.offset as usize..(span.offset + span.length) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_printable_repeatable_and_of_the_asked_length() {
        for longest in [1u32, 100, 65_536] {
            let (pool, again) = (Pool::new(Seed(3), longest), Pool::new(Seed(3), longest));
            for index in 0..200 {
                let length = 1 + index % longest;
                let span = pool.draw(&mut Seed(4).at(u64::from(index)), length);
                assert_eq!(pool.text(span).len(), length as usize);
                assert_eq!(pool.text(span), again.text(span));
            }
            assert!(pool.text.bytes().all(|b| (32..=126).contains(&b)));
        }
    }
}
