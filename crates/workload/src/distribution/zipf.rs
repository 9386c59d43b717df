//! Exact Zipf draws for any exponent.

use units::Rng;

/// Ranks 0 … n − 1 with probability proportional to (rank + 1)^−theta, exactly.
///
/// Rejection-inversion: Hörmann & Derflinger, *Rejection-inversion to generate variates from monotone discrete
/// distributions*, TOMACS 6(3), 1996. Fewer than 1.2 rounds are expected, whatever the parameters; ≈ 60–100 ns.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    items: f64,
    theta: f64,
    integral_first: f64,
    integral_last: f64,
    // Draws this close below an integer are accepted without evaluating the density.
    squeeze: f64,
}

impl Zipf {
    /// `items` ranks, at least 1 (0 counts as 1); `theta` finite and ≥ 0, 0 being uniform.
    pub fn new(items: u64, theta: f64) -> Zipf {
        let items = items.max(1) as f64;
        let mut zipf = Zipf { items, theta, integral_first: 0.0, integral_last: 0.0, squeeze: 0.0 };
        zipf.integral_first = zipf.integral(1.5) - 1.0;
        zipf.integral_last = zipf.integral(items + 0.5);
        zipf.squeeze = 2.0 - zipf.integral_inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// A rank, 0 being the most frequent.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.integral_last + rng.unit() * (self.integral_first - self.integral_last);
            let position = self.integral_inverse(area);
            let rank = position.round().clamp(1.0, self.items);
            if rank - position <= self.squeeze || area >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64 - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    // ∫ x^−theta, fixed to 0 at x = 1; through exp_m1 so that theta near 1 loses no digits.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        log * ratio(((1.0 - self.theta) * log).exp_m1(), (1.0 - self.theta) * log)
    }

    fn integral_inverse(&self, area: f64) -> f64 {
        // Rounding may push the argument just below the pole of the logarithm.
        let t = (area * (1.0 - self.theta)).max(-1.0);
        (area * ratio(t.ln_1p(), t)).exp()
    }
}

// f(t)/t for the two functions above, whose limit at 0 is 1.
fn ratio(value: f64, t: f64) -> f64 {
    if t.abs() < 1e-12 { 1.0 } else { value / t }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::chi_square::assert_law;
    use crate::distribution::zeta;
    use units::Seed;

    #[test]
    fn every_exponent_has_its_exact_law() {
        for theta in [0.0, 0.3, 0.99, 1.0, 1.000001, 1.5, 3.0] {
            for items in [1u64, 2, 10, 1_000] {
                let sum = zeta(items, theta);
                let law: Vec<f64> = (1..=items).map(|k| (k as f64).powf(-theta) / sum).collect();
                let zipf = Zipf::new(items, theta);
                if items > 1 {
                    assert_law(&format!("zipf {theta} {items}"), 200_000, &law, |rng| zipf.draw(rng));
                } else {
                    assert_eq!(zipf.draw(&mut Seed(1).rng()), 0);
                }
            }
        }
    }

    #[test]
    fn huge_populations_stay_in_range() {
        for theta in [0.0, 0.5, 1.0, 2.0, 50.0] {
            let zipf = Zipf::new(1 << 50, theta);
            for index in 0..2_000 {
                assert!(zipf.draw(&mut Seed(9).at(index)) < 1 << 50);
            }
        }
        assert_eq!(Zipf::new(0, 0.99).draw(&mut Seed(1).rng()), 0);
    }
}
