//! Seeds and the random stream that everything seeded draws from.
//!
//! Request *n* of a run must be the same whatever the number of threads, and the same in ten years: so the
//! generator is our own, fixed by golden tests, and a stream is addressed by (seed, label, index) instead of
//! being passed from hand to hand.
//!
//! Xoshiro256++ (Blackman & Vigna, *Scrambled linear pseudorandom number generators*, TOMS 2021, fig. 3),
//! seeded by SplitMix64 (Steele, Lea & Flood, OOPSLA 2014) as its authors advise.

/// The start of a random stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seed(pub u64);

const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Seed {
    /// An independent seed for the purpose named by `label`, e.g. `"arrivals"`.
    pub fn derive(self, label: &str) -> Seed {
        // FNV-1a over the label, then mixed with the seed: labels differ, so streams differ.
        let hash = label
            .bytes()
            .fold(0xCBF2_9CE4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3));
        Seed(mix(self.0.wrapping_add(GOLDEN_GAMMA) ^ mix(hash)))
    }

    /// The generator of item `index` of this stream; cost ≈ 3 ns.
    #[inline]
    pub fn at(self, index: u64) -> Rng {
        Rng::from_state(mix(self.0 ^ mix(index.wrapping_add(GOLDEN_GAMMA))))
    }

    /// The generator of the stream's start.
    pub fn rng(self) -> Rng {
        self.at(0)
    }
}

/// Xoshiro256++. Period 2²⁵⁶ − 1; ≈ 1 ns a draw; not for secrets.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    fn from_state(seed: u64) -> Rng {
        let mut s = seed;
        let mut next = || {
            s = s.wrapping_add(GOLDEN_GAMMA);
            mix(s)
        };
        Rng { state: [next(), next(), next(), next()] }
    }

    /// A uniform 64-bit value.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1), with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in (0, 1]: safe to take the logarithm of.
    #[inline]
    pub fn unit_positive(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Uniform in [0, bound), without bias (Lemire, TOMACS 2019). `bound` 0 gives 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Exponential with mean 1 (inversion).
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -self.unit_positive().ln()
    }

    /// Standard normal (Box & Muller 1958, one of the pair; the other is thrown away to stay stateless).
    #[inline]
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit_positive().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recordings name their seed; a change here would silently change every load.
    #[test]
    fn streams_are_golden() {
        let mut rng = Seed(42).derive("arrivals").rng();
        let first: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        let mut item = Seed(42).derive("arrivals").at(7);
        let golden = [GOLDEN[0], GOLDEN[1], GOLDEN[2]];
        assert_eq!((first, item.next_u64()), (golden.to_vec(), GOLDEN[3]));
    }
    const GOLDEN: [u64; 4] =
        [11190068641116734053, 8446985117818354620, 11428350988786698277, 194114471034700068];

    #[test]
    fn xoshiro_matches_the_reference_implementation() {
        // First outputs of the authors' C code for the state {1, 2, 3, 4}.
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let outputs: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        assert_eq!(outputs, [41943041, 58720359, 3588806011781223, 3591011842654386]);
    }

    #[test]
    fn below_is_uniform() {
        let mut rng = Seed(1).rng();
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[rng.below(7) as usize] += 1;
        }
        // Chi-square with 6 degrees of freedom: 22.46 is its 0.999 quantile.
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 22.46, "chi-square {chi}, counts {counts:?}");
    }

    #[test]
    fn normal_and_exponential_have_their_moments() {
        let mut rng = Seed(3).rng();
        let n = 200_000;
        let (mut sum, mut squares, mut exponential) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let x = rng.normal();
            sum += x;
            squares += x * x;
            exponential += rng.exponential();
        }
        let n = f64::from(n);
        // Five standard errors of each mean.
        assert!((sum / n).abs() < 5.0 / n.sqrt());
        assert!((squares / n - 1.0).abs() < 5.0 * 2f64.sqrt() / n.sqrt());
        assert!((exponential / n - 1.0).abs() < 5.0 / n.sqrt());
    }
}
