//! TPC-C's non-uniform random numbers.

use units::Rng;

/// NURand(A, x, y) = (((random(0, A) | random(x, y)) + C) mod (y − x + 1)) + x: TPC-C 2.1.6.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NuRand {
    a: u64,
    x: u64,
    y: u64,
    c: u64,
}

impl NuRand {
    /// Draws from `x` … `y`, both included (`x ≤ y`), spread by `a`, shifted by the run's constant `c`.
    pub fn new(a: u64, x: u64, y: u64, c: u64) -> NuRand {
        debug_assert!(x <= y);
        NuRand { a, x, y, c }
    }

    /// A value in [x, y].
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let span = self.y - self.x + 1;
        let spread = rng.below(self.a + 1) | (self.x + rng.below(span));
        (spread + self.c) % span + self.x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::chi_square::assert_law;

    #[test]
    fn draws_have_the_exact_law() {
        for (a, x, y, c) in [(255u64, 0u64, 999u64, 123u64), (7, 1, 30, 5), (1_023, 1, 3_000, 259)] {
            let span = y - x + 1;
            let mut law = vec![0.0; span as usize];
            for first in 0..=a {
                for second in x..=y {
                    law[(((first | second) + c) % span) as usize] += 1.0;
                }
            }
            let pairs = ((a + 1) * span) as f64;
            law.iter_mut().for_each(|p| *p /= pairs);
            let nurand = NuRand::new(a, x, y, c);
            assert_law(&format!("nurand {a}"), 200_000, &law, |rng| nurand.draw(rng) - x);
        }
    }
}
