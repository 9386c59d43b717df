//! What a run can choose.

use crate::distribution::NuRand;
use crate::names::suggestion;
use crate::transaction::Roundtrips;
use units::{Rng, Seed};

/// How a subscriber is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keys {
    /// By the specification's non-uniform law: some subscribers are asked for far more often than others.
    NonUniform,
    /// All alike.
    Uniform,
}

impl Keys {
    fn name(self) -> &'static str {
        match self {
            Keys::NonUniform => "nurand",
            Keys::Uniform => "uniform",
        }
    }
}

/// Parameters of the workload.
#[derive(Clone, PartialEq, Debug)]
pub struct TatpConfig {
    /// 100,000 subscribers each.
    pub scale: f64,
    /// Where values, and the requests' draws, come from.
    pub seed: Seed,
    /// Subscribers, at least 1.
    pub subscribers: u64,
    /// How a subscriber is drawn.
    pub keys: Keys,
    /// How many statements go out together.
    pub roundtrips: Roundtrips,
    /// Behave as BenchBase does; docs/tatp.md says in what.
    pub benchbase: bool,
    /// Whether the mix inserts as often as it deletes, so that as many call forwardings stay.
    pub balanced: bool,
    /// Which load machine this is, of how many.
    pub client: (u16, u16),
}

/// Subscribers at scale 1.
const SUBSCRIBERS: f64 = 100_000.0;
/// Ids are 32 bits.
const MOST_SUBSCRIBERS: u64 = 2_000_000_000;

const PROPERTIES: [&str; 4] = ["keys", "roundtrips", "subscribers", "compat"];

impl TatpConfig {
    /// The workload of this scale with parameters by name.
    ///
    /// # Errors
    /// One line: an unknown name with the nearest valid one, or a value with its limits.
    pub fn new(scale: f64, seed: Seed, parameters: &[(String, String)]) -> Result<TatpConfig, String> {
        let subscribers = (SUBSCRIBERS * scale).round();
        if !(1.0..=MOST_SUBSCRIBERS as f64).contains(&subscribers) {
            return Err(format!("tatp: scale {scale} must be in [0.00001, 20000]: 1 is 100,000 subscribers"));
        }
        let mut config = TatpConfig {
            scale,
            seed,
            subscribers: subscribers as u64,
            keys: Keys::NonUniform,
            roundtrips: Roundtrips::Batched,
            benchbase: false,
            balanced: true,
            client: (0, 1),
        };
        // What it changes are defaults: they come before what was asked for by name.
        let (compat, named): (Vec<_>, Vec<_>) = parameters.iter().partition(|(name, _)| name == "compat");
        for (name, value) in compat.into_iter().chain(named) {
            config.set(name, value)?;
        }
        Ok(config)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let refused = |expected: &str| Err(format!("tatp: {name}={value}: expected {expected}"));
        match name {
            "subscribers" => match value.parse() {
                Ok(subscribers @ 1..=MOST_SUBSCRIBERS) => self.subscribers = subscribers,
                _ => return refused("a number in [1, 2000000000]"),
            },
            "keys" => match [Keys::NonUniform, Keys::Uniform].into_iter().find(|keys| keys.name() == value) {
                Some(keys) => self.keys = keys,
                None => return refused("`nurand` or `uniform`"),
            },
            "roundtrips" => match Roundtrips::named(value) {
                Some(roundtrips) => self.roundtrips = roundtrips,
                None => return refused("`batched` or `single`"),
            },
            "compat" => match value {
                "none" => self.benchbase = false,
                "benchbase" => {
                    (self.benchbase, self.keys, self.roundtrips) = (true, Keys::Uniform, Roundtrips::Single);
                }
                _ => return refused("`none` or `benchbase`"),
            },
            _ => return Err(format!("tatp: unknown property `{name}`{}", suggestion(name, &PROPERTIES))),
        }
        Ok(())
    }

    /// The data set's name: one of another size or of BenchBase's shape is another one.
    pub(crate) fn data_name(&self) -> String {
        let mut name = "tatp".to_owned();
        if self.subscribers != (SUBSCRIBERS * self.scale).round() as u64 {
            name += &format!(" subscribers={}", self.subscribers);
        }
        if self.benchbase {
            name += " compat=benchbase";
        }
        name
    }

    /// What a recording states.
    pub(crate) fn parameters(&self) -> Vec<(String, String)> {
        let compat = if self.benchbase { "benchbase" } else { "none" };
        let stated = [
            ("subscribers", self.subscribers.to_string()),
            ("keys", self.keys.name().to_owned()),
            ("roundtrips", self.roundtrips.name().to_owned()),
            ("compat", compat.to_owned()),
        ];
        stated.map(|(name, value)| (name.to_owned(), value)).into()
    }
}

/// The law by which subscribers are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Subscribers {
    keys: Keys,
    population: u64,
    /// The law spreads by a number of so many bits, all of them ones.
    bits: u32,
}

impl Subscribers {
    pub(crate) fn new(keys: Keys, population: u64) -> Subscribers {
        let bits = match population {
            ..=1_000_000 => 16,
            1_000_001..=10_000_000 => 20,
            _ => 21,
        };
        Subscribers { keys, population, bits }
    }

    /// In 1 … population.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng) -> u64 {
        match self.keys {
            Keys::Uniform => 1 + rng.below(self.population),
            Keys::NonUniform => NuRand::new((1 << self.bits) - 1, 1, self.population, 0).draw(rng),
        }
    }

    /// The sum of the squares of all subscribers' probabilities: one over the number of subscribers who, all alike, would make
    /// a share of requests vary as much from one population to another.
    ///
    /// The law is ((a | b) mod P) + 1 with a of `bits` bits and b in 1 … P. Of numbers below 2^bits whose b may be any, v comes
    /// of 3^ones(v) pairs; for the last numbers, which not every b reaches, the pairs are summed over subsets of bits.
    pub(crate) fn concentration(&self) -> f64 {
        let (population, bits) = (self.population, self.bits);
        if self.keys == Keys::Uniform {
            return 1.0 / population as f64;
        }
        let size = 1_u64 << bits;
        let (whole, rest) = (population >> bits, population & (size - 1));
        // b = 0 is not drawn; where there are whole blocks it belongs to the first of them.
        let mut last: Vec<f64> = (0..size)
            .map(|low| {
                if low <= rest && (whole > 0 || low > 0) { 2_f64.powi(low.count_ones() as i32) } else { 0.0 }
            })
            .collect();
        for bit in 0..bits {
            for low in 0..size as usize {
                if low >> bit & 1 == 1 {
                    last[low] += last[low & !(1 << bit)];
                }
            }
        }
        let of_block = |low: u64| 3_f64.powi(low.count_ones() as i32);
        // Numbers from P on come round to the first ones.
        let mut first = vec![0.0; size.min(population) as usize];
        let folded = first.len() as u64;
        let mut squares = 0.0;
        for low in 0..size {
            if whole > 0 {
                first[low as usize] += of_block(low) - 1.0;
            }
            let value = whole * size + low;
            if value >= population || whole == 0 {
                first[((value % population) % folded) as usize] += last[low as usize];
            } else {
                squares += last[low as usize].powi(2);
            }
        }
        squares += first.iter().map(|pairs| pairs * pairs).sum::<f64>();
        squares += whole.saturating_sub(1) as f64 * 10_f64.powi(bits as i32);
        squares / (size as f64 * population as f64).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(parameters: &[(&str, &str)]) -> Result<TatpConfig, String> {
        let parameters: Vec<_> = parameters.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        TatpConfig::new(1.0, Seed(1), &parameters)
    }

    #[test]
    fn mistakes_are_named() {
        let refused = |parameters: &[(&str, &str)], words: &str| {
            let error = config(parameters).unwrap_err();
            assert!(error.contains(words), "{error}");
        };
        refused(&[("key", "uniform")], "did you mean `keys`?");
        refused(&[("keys", "zipf")], "`nurand` or `uniform`");
        refused(&[("roundtrips", "two")], "`batched` or `single`");
        refused(&[("compat", "oltpbench")], "`none` or `benchbase`");
        refused(&[("subscribers", "0")], "[1, 2000000000]");
        for scale in [0.0, -1.0, 1e-9, 1e9, f64::NAN, f64::INFINITY] {
            assert!(TatpConfig::new(scale, Seed(1), &[]).unwrap_err().contains("must be in"), "{scale}");
        }
        let named = config(&[("keys", "nurand"), ("compat", "benchbase")]).unwrap();
        assert_eq!(
            (named.keys, named.roundtrips),
            (Keys::NonUniform, Roundtrips::Single),
            "what is named wins"
        );
    }

    #[test]
    fn the_spread_is_the_specification_s() {
        let bits = |population| Subscribers::new(Keys::NonUniform, population).bits;
        let expected = [(1, 16), (1_000_000, 16), (1_000_001, 20), (10_000_000, 20), (10_000_001, 21)];
        for (population, expected) in expected {
            assert_eq!(bits(population), expected, "{population}");
        }
    }

    /// By all pairs, one by one.
    #[test]
    fn the_concentration_is_that_of_the_law() {
        for (bits, population) in
            [(4, 1), (4, 5), (4, 15), (4, 16), (4, 17), (4, 31), (4, 32), (5, 117), (6, 1000)]
        {
            let mut pairs = vec![0_u64; population as usize];
            for a in 0..1_u64 << bits {
                for b in 1..=population {
                    pairs[((a | b) % population) as usize] += 1;
                }
            }
            let all = ((1_u64 << bits) * population) as f64;
            let expected: f64 = pairs.iter().map(|n| (*n as f64 / all).powi(2)).sum();
            let law = Subscribers { keys: Keys::NonUniform, population, bits };
            let found = law.concentration();
            assert!((found / expected - 1.0).abs() < 1e-9, "{bits} {population}: {found}, {expected}");
        }
        assert_eq!(Subscribers::new(Keys::Uniform, 50).concentration(), 0.02);
    }

    #[test]
    fn draws_are_within_the_population() {
        for keys in [Keys::Uniform, Keys::NonUniform] {
            for population in [1, 2, 3, 1000] {
                let law = Subscribers::new(keys, population);
                let drawn: Vec<u64> = (0..20_000).map(|n| law.draw(&mut Seed(1).at(n))).collect();
                assert!(drawn.iter().all(|id| (1..=population).contains(id)), "{keys:?} {population}");
                assert!((1..=population.min(3)).all(|id| drawn.contains(&id)), "{keys:?} {population}");
            }
        }
    }
}
