//! YCSB's Zipf generators, distortion included.

use units::Rng;

/// Gray's constant-time approximation of Zipf over 0 … n − 1, as YCSB and BenchBase use it.
///
/// Gray, Sundaresan, Englert, Baclawski & Weinberger, *Quickly generating billion-record synthetic databases*,
/// SIGMOD 1994, section 3. Ranks 0 and 1 are exact; the others follow a continuous curve: near rank 2 their
/// probability is up to 17 % too high (theta 0.99), from rank 100 on it is within 4 %. ≈ 30 ns.
#[derive(Clone, Copy, Debug)]
pub struct GrayZipf {
    items: u64,
    zeta: f64,
    alpha: f64,
    eta: f64,
    second: f64,
}

impl GrayZipf {
    /// `items` ranks, at least 1 (0 counts as 1); `theta` in (0, 1), where the method is defined.
    pub fn new(items: u64, theta: f64) -> GrayZipf {
        let items = items.max(1);
        GrayZipf::with_zeta(items, theta, zeta(items, theta))
    }

    fn with_zeta(items: u64, theta: f64, zeta_items: f64) -> GrayZipf {
        debug_assert!(0.0 < theta && theta < 1.0);
        let beyond_two = 1.0 - zeta(2, theta) / zeta_items;
        let eta = (1.0 - (2.0 / items as f64).powf(1.0 - theta)) / beyond_two;
        GrayZipf {
            items,
            zeta: zeta_items,
            alpha: 1.0 / (1.0 - theta),
            // With one or two items the curve has no part; any finite value does.
            eta: if eta.is_finite() { eta } else { 0.0 },
            second: 1.0 + 0.5f64.powf(theta),
        }
    }

    /// A rank, 0 being the most frequent.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let u = rng.unit();
        let scaled = u * self.zeta;
        if scaled < 1.0 {
            return 0;
        }
        if scaled < self.second {
            return 1.min(self.items - 1);
        }
        let position = (self.eta * u - self.eta + 1.0).powf(self.alpha);
        ((self.items as f64 * position) as u64).min(self.items - 1)
    }
}

/// YCSB's "scrambled Zipfian" over 0 … n − 1.
///
/// It draws a rank among 10,000,000,000 items, hashes it and takes the remainder by `n`. The result is spread over
/// the keys but is **not** Zipf over `n`: with theta 0.99 the hottest key gets 1/26.47 = 3.8 % of the draws (plus
/// whatever hashes onto it) whatever `n` is, where Zipf over 1,000 gives it 12.9 %; and most of the mass beyond
/// the hot ranks is practically uniform. It is kept because every published YCSB number was drawn by it.
#[derive(Clone, Copy, Debug)]
pub struct ScrambledZipf {
    ranks: GrayZipf,
    items: u64,
}

const SCRAMBLED_RANKS: u64 = 10_000_000_000;
const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02;

impl ScrambledZipf {
    /// `items` keys, at least 1 (0 counts as 1); `theta` in (0, 1).
    pub fn new(items: u64, theta: f64) -> ScrambledZipf {
        let zeta = if theta == 0.99 { SCRAMBLED_ZETA } else { zeta(SCRAMBLED_RANKS, theta) };
        ScrambledZipf { ranks: GrayZipf::with_zeta(SCRAMBLED_RANKS, theta, zeta), items: items.max(1) }
    }

    /// A key.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        ycsb_hash(self.ranks.draw(rng)) % self.items
    }
}

/// YCSB's 64-bit hash: FNV-1a over the eight octets of `value`, lowest first, without its sign.
#[inline]
pub fn ycsb_hash(value: u64) -> u64 {
    let hash = value
        .to_le_bytes()
        .into_iter()
        .fold(0xCBF2_9CE4_8422_2325u64, |h, octet| (h ^ u64::from(octet)).wrapping_mul(1_099_511_628_211));
    (hash as i64).unsigned_abs()
}

/// The generalized harmonic number Σ i^−theta for i = 1 … n.
///
/// The first 1,000 terms are added up; the rest is Euler and Maclaurin's formula with three correction terms, whose
/// error is below one unit in the last place. O(1).
pub fn zeta(n: u64, theta: f64) -> f64 {
    let head = n.min(1_000);
    // Smallest terms first: nothing is lost to rounding.
    let sum: f64 = (1..=head).rev().map(|i| (i as f64).powf(-theta)).sum();
    if n == head {
        return sum;
    }
    let (from, to) = (head as f64, n as f64);
    let f = |x: f64| x.powf(-theta);
    let first = |x: f64| -theta * f(x) / x;
    let third = |x: f64| -theta * (theta + 1.0) * (theta + 2.0) * f(x) / (x * x * x);
    let log = (to / from).ln();
    let power = (1.0 - theta) * log;
    let integral = if power.abs() < 1e-12 {
        f(from) * from * log
    } else {
        f(from) * from * log * (power.exp_m1() / power)
    };
    sum + integral + (f(to) - f(from)) / 2.0 + (first(to) - first(from)) / 12.0
        - (third(to) - third(from)) / 720.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::chi_square::assert_law;
    use units::Seed;

    #[test]
    fn zeta_is_the_sum_that_it_stands_for() {
        for theta in [0.1, 0.5, 0.99, 1.0, 1.7] {
            for n in [1u64, 2, 1_000, 1_001, 54_321, 1_000_000] {
                let slow: f64 = (1..=n).rev().map(|i| (i as f64).powf(-theta)).sum();
                let fast = zeta(n, theta);
                assert!((fast / slow - 1.0).abs() < 1e-13, "{theta} {n}: {fast} {slow}");
            }
        }
        // YCSB's own constant, which it summed term by term.
        assert!((zeta(SCRAMBLED_RANKS, 0.99) / SCRAMBLED_ZETA - 1.0).abs() < 1e-9);
    }

    /// Where the method's curve puts each rank: the exact law of the approximation.
    fn gray_law(items: u64, theta: f64) -> Vec<f64> {
        let gray = GrayZipf::new(items, theta);
        let curve_from = gray.second / gray.zeta;
        let below = |k: u64| {
            let u = ((k as f64 / items as f64).powf(1.0 / gray.alpha) + gray.eta - 1.0) / gray.eta;
            if k >= items { 1.0 } else { u.clamp(curve_from, 1.0) }
        };
        let mut law: Vec<f64> = (0..items).map(|k| below(k + 1) - below(k)).collect();
        law[0] += 1.0 / gray.zeta;
        law[1] += (gray.second - 1.0) / gray.zeta;
        law
    }

    #[test]
    fn gray_draws_follow_the_law_of_the_method() {
        for theta in [0.2, 0.5, 0.99] {
            for items in [3u64, 100, 1_000] {
                let gray = GrayZipf::new(items, theta);
                let name = format!("gray {theta} {items}");
                assert_law(&name, 300_000, &gray_law(items, theta), |rng| gray.draw(rng));
            }
        }
        assert_eq!(GrayZipf::new(1, 0.99).draw(&mut Seed(1).rng()), 0);
        assert!((0..100).all(|i| GrayZipf::new(2, 0.99).draw(&mut Seed(1).at(i)) < 2));
    }

    #[test]
    fn gray_is_off_from_zipf_by_what_the_documentation_says() {
        let law = gray_law(1_000, 0.99);
        let sum = zeta(1_000, 0.99);
        let error = |k: usize| law[k] / (((k + 1) as f64).powf(-0.99) / sum) - 1.0;
        assert!(error(0).abs() < 1e-9 && error(1).abs() < 1e-9);
        let worst = (2..1_000).map(|k| error(k).abs()).fold(0.0, f64::max);
        assert!((0.16..0.175).contains(&worst) && worst == error(2), "worst {worst}, at 2: {}", error(2));
        let far = (100..1_000).map(|k| error(k).abs()).fold(0.0, f64::max);
        assert!(far < 0.04, "{far}");
    }

    #[test]
    fn scrambling_distorts_as_documented() {
        let (items, n) = (1_000u64, 400_000u64);
        let scrambled = ScrambledZipf::new(items, 0.99);
        let mut counts = vec![0u32; items as usize];
        for index in 0..n {
            counts[scrambled.draw(&mut Seed(5).at(index)) as usize] += 1;
        }
        let share = |key: u64| f64::from(counts[key as usize]) / n as f64;
        let hottest = ycsb_hash(0) % items;
        // 1/26.469 = 3.78 % plus the uniform rest; Zipf over 1,000 would give 12.9 %.
        assert!((0.0378..0.0395).contains(&share(hottest)), "hottest {}", share(hottest));
        // Zipf would give the last half of the ranks 9 % of the draws; here they keep a third.
        counts.sort_unstable();
        let cold: u32 = counts[..500].iter().sum();
        assert!((0.30..0.40).contains(&(f64::from(cold) / n as f64)), "cold half {cold}");
    }

    /// Keys and draws decide which row is hot: they must never change.
    #[test]
    fn golden_draws() {
        assert_eq!(ycsb_hash(0), 6_284_781_860_667_377_211);
        assert_eq!(ycsb_hash(1), 8_517_097_267_634_966_620);
        let gray = GrayZipf::new(1_000, 0.99);
        let scrambled = ScrambledZipf::new(1_000, 0.99);
        let draws: Vec<u64> = (0..8).map(|i| gray.draw(&mut Seed(42).at(i))).collect();
        assert_eq!(draws, GOLDEN_GRAY);
        let draws: Vec<u64> = (0..8).map(|i| scrambled.draw(&mut Seed(42).at(i))).collect();
        assert_eq!(draws, GOLDEN_SCRAMBLED);
    }
    const GOLDEN_GRAY: [u64; 8] = [561, 372, 56, 9, 0, 249, 0, 1];
    const GOLDEN_SCRAMBLED: [u64; 8] = [707, 130, 48, 708, 620, 305, 769, 81];
}
