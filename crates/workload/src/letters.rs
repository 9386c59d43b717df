//! Random letters that text values are cut from, so that neither planning nor loading makes bytes one by one.

use units::{Rng, Seed};

/// A text of random letters, made once.
pub(crate) struct Letters {
    text: String,
}

/// Where a value lies in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    offset: u32,
    length: u32,
}

/// Far more than any page or compression window.
const BYTES: usize = 1 << 18;

impl Letters {
    /// Letters of this seed.
    pub(crate) fn new(seed: Seed) -> Letters {
        let mut rng = seed.derive("letters").rng();
        Letters { text: (0..BYTES).map(|_| char::from(b'a' + rng.below(26) as u8)).collect() }
    }

    /// A drawn place for a value of `length` letters, at most 65,536.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng, length: u32) -> Span {
        Span { offset: rng.below(self.text.len() as u64 - u64::from(length) + 1) as u32, length }
    }

    /// The value there.
    #[inline]
    pub(crate) fn text(&self, span: Span) -> &str {
        // ASCII: every offset is a character's boundary.
        &self.text[span.offset as usize..(span.offset + span.length) as usize]
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}+{}", self.offset, self.length)
    }
}
