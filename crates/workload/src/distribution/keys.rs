//! Which record of a population that may grow.

use crate::distribution::{GrayZipf, ScrambledZipf, Zipf};
use units::Rng;

/// A share of the draws goes to a share of the keys, the lowest ones; uniform within both parts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hotspot {
    /// Share of the keys that are hot, in [0, 1].
    pub data_fraction: f64,
    /// Share of the draws that go to them, in [0, 1].
    pub draw_fraction: f64,
}

impl Hotspot {
    /// A key below `population`.
    #[inline]
    pub fn draw(&self, rng: &mut Rng, population: u64) -> u64 {
        let hot = ((population as f64 * self.data_fraction) as u64).min(population);
        if hot == population || (hot > 0 && rng.unit() < self.draw_fraction) {
            rng.below(hot)
        } else {
            hot + rng.below(population - hot)
        }
    }
}

/// Distances from the newest key, exponentially distributed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Exponential {
    mean: f64,
}

impl Exponential {
    /// `percentile` (in (0, 100)) per cent of the draws are closer than `distance` keys.
    pub fn new(percentile: f64, distance: f64) -> Exponential {
        Exponential { mean: distance / -(-percentile / 100.0).ln_1p() }
    }

    /// A distance; unbounded.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        (rng.exponential() * self.mean) as u64
    }
}

/// A record number below the present population.
#[derive(Clone, Copy, Debug)]
pub enum KeyDraw {
    /// Each with the same probability.
    Uniform,
    /// Low numbers are hot, exactly Zipf.
    Zipf(Zipf),
    /// Low numbers are hot, by YCSB's and BenchBase's approximation.
    Gray(GrayZipf),
    /// Hot numbers are scattered, by YCSB's scrambling.
    Scrambled(ScrambledZipf),
    /// The newest are hot: the newest number less a Zipfian rank. YCSB lets the number of ranks grow with each
    /// insert; here it stays that of the start, so that a draw needs no history.
    Latest(GrayZipf),
    /// See [`Hotspot`].
    Hotspot(Hotspot),
    /// The newest are hot: see [`Exponential`].
    Exponential(Exponential),
    /// Request *n* takes record *n* modulo the population.
    Sequential,
}

/// Draws past the population are thrown again, at most this often; then the draw is uniform. With a population of
/// half the drawn range, the last resort is reached once in 2⁶⁴ draws.
const REDRAWS: u32 = 64;

impl KeyDraw {
    /// A number in [0, population); 0 when the population is empty. `seq` is the request's number.
    #[inline]
    pub fn draw(&self, rng: &mut Rng, seq: u64, population: u64) -> u64 {
        match self {
            KeyDraw::Uniform => rng.below(population),
            KeyDraw::Zipf(zipf) => within(rng, population, |rng| Some(zipf.draw(rng))),
            KeyDraw::Gray(gray) => within(rng, population, |rng| Some(gray.draw(rng))),
            KeyDraw::Scrambled(zipf) => within(rng, population, |rng| Some(zipf.draw(rng))),
            KeyDraw::Latest(gray) => within(rng, population, |rng| from_newest(population, gray.draw(rng))),
            KeyDraw::Hotspot(hotspot) => hotspot.draw(rng, population),
            KeyDraw::Exponential(law) => {
                within(rng, population, |rng| from_newest(population, law.draw(rng)))
            }
            KeyDraw::Sequential => seq.checked_rem(population).unwrap_or(0),
        }
    }
}

fn from_newest(population: u64, distance: u64) -> Option<u64> {
    population.checked_sub(1)?.checked_sub(distance)
}

#[inline]
fn within(rng: &mut Rng, population: u64, draw: impl Fn(&mut Rng) -> Option<u64>) -> u64 {
    for _ in 0..REDRAWS {
        if let Some(key) = draw(rng).filter(|key| *key < population) {
            return key;
        }
    }
    rng.below(population)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::chi_square::assert_law;
    use crate::distribution::zeta;
    use units::Seed;

    #[test]
    fn uniform_and_hotspot_have_their_laws() {
        assert_law("uniform", 100_000, &[0.01; 100], |rng| KeyDraw::Uniform.draw(rng, 0, 100));
        let hotspot = KeyDraw::Hotspot(Hotspot { data_fraction: 0.2, draw_fraction: 0.8 });
        let law: Vec<f64> = (0..100).map(|k| if k < 20 { 0.8 / 20.0 } else { 0.2 / 80.0 }).collect();
        assert_law("hotspot", 100_000, &law, |rng| hotspot.draw(rng, 0, 100));
        for (data, draws, limit) in [(0.0, 1.0, 100), (1.0, 0.0, 100), (0.001, 0.5, 100)] {
            let edge = Hotspot { data_fraction: data, draw_fraction: draws };
            assert!((0..500).all(|i| edge.draw(&mut Seed(1).at(i), limit) < limit));
        }
    }

    #[test]
    fn exponential_has_its_law_and_its_percentile() {
        let law = Exponential::new(95.0, 857.142_857_1);
        let n = 200_000;
        let closer = (0..n).filter(|i| law.draw(&mut Seed(2).at(*i)) < 857).count() as f64;
        // Four standard errors of the share.
        assert!((closer / n as f64 - 0.95).abs() < 4.0 * (0.95f64 * 0.05 / n as f64).sqrt() + 1e-4);
        let rate = -(0.05f64.ln()) / 857.142_857_1;
        let all = 1.0 - (-rate * 1_000.0).exp();
        let cells: Vec<f64> = (0..1_000)
            .map(|k| ((-rate * f64::from(999 - k)).exp() - (-rate * f64::from(1_000 - k)).exp()) / all)
            .collect();
        assert_law("exponential", 300_000, &cells, |rng| KeyDraw::Exponential(law).draw(rng, 0, 1_000));
    }

    #[test]
    fn latest_is_zipf_from_the_newest_on() {
        let draw = KeyDraw::Latest(GrayZipf::new(100, 0.5));
        let newest = (0..200_000).filter(|i| draw.draw(&mut Seed(3).at(*i), 0, 250) == 249).count();
        let share = newest as f64 / 200_000.0;
        assert!((share - 1.0 / zeta(100, 0.5)).abs() < 0.002, "{share}");
        assert!((0..1_000).all(|i| draw.draw(&mut Seed(3).at(i), 0, 250) >= 150));
    }

    #[test]
    fn draws_stay_within_a_population_smaller_than_their_range() {
        let draws = [
            KeyDraw::Zipf(Zipf::new(1_000, 0.99)),
            KeyDraw::Gray(GrayZipf::new(1_000, 0.99)),
            KeyDraw::Scrambled(ScrambledZipf::new(1_000, 0.99)),
            KeyDraw::Latest(GrayZipf::new(1_000, 0.99)),
            KeyDraw::Exponential(Exponential::new(95.0, 857.0)),
            KeyDraw::Sequential,
            KeyDraw::Uniform,
        ];
        for draw in draws {
            for population in [1, 2, 17] {
                assert!(
                    (0..500).all(|i| draw.draw(&mut Seed(4).at(i), i, population) < population),
                    "{draw:?}"
                );
            }
            assert_eq!(draw.draw(&mut Seed(4).at(1), 5, 0), 0, "{draw:?}");
        }
        let zipf = KeyDraw::Zipf(Zipf::new(1_000, 1.0));
        let sum = zeta(17, 1.0);
        let law: Vec<f64> = (1..=17).map(|k| 1.0 / f64::from(k) / sum).collect();
        assert_law("redrawn", 100_000, &law, |rng| zipf.draw(rng, 0, 17));
    }

    #[test]
    fn sequential_wraps() {
        let keys: Vec<u64> = (0..5).map(|n| KeyDraw::Sequential.draw(&mut Seed(1).rng(), n, 3)).collect();
        assert_eq!(keys, [0, 1, 2, 0, 1]);
    }
}
