//! What a run can choose.

use crate::names::suggestion;
use crate::transaction::Roundtrips;
use units::{Rng, Seed};

/// Few customers to whom a share of the requests goes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hotspot {
    /// How many: those of the lowest numbers.
    pub customers: u64,
    /// Share of the draws that are theirs, in [0, 1].
    pub share: f64,
}

/// Parameters of the workload.
#[derive(Clone, PartialEq, Debug)]
pub struct SmallBankConfig {
    /// A million customers each.
    pub scale: f64,
    /// Where balances, and the requests' draws, come from.
    pub seed: Seed,
    /// Customers, at least 2.
    pub customers: u64,
    /// `None`: all customers are alike.
    pub hotspot: Option<Hotspot>,
    /// How many statements go out together.
    pub roundtrips: Roundtrips,
    /// Behave as BenchBase does; docs/smallbank.md says in what.
    pub benchbase: bool,
    /// Which load machine this is, of how many.
    pub client: (u16, u16),
}

/// Customers at scale 1.
const CUSTOMERS: f64 = 1_000_000.0;
const MOST_CUSTOMERS: u64 = 1_000_000_000;
/// A second customer who is the first is drawn again, at most this often; then it is his neighbour.
const REDRAWS: u32 = 64;

const PROPERTIES: [&str; 4] = ["hotspot", "roundtrips", "customers", "compat"];

impl SmallBankConfig {
    /// The workload of this scale with parameters by name.
    ///
    /// # Errors
    /// One line: an unknown name with the nearest valid one, or a value with its limits.
    pub fn new(scale: f64, seed: Seed, parameters: &[(String, String)]) -> Result<SmallBankConfig, String> {
        let customers = (CUSTOMERS * scale).round();
        if !(2.0..=MOST_CUSTOMERS as f64).contains(&customers) {
            return Err(format!(
                "smallbank: scale {scale} must be in [0.000002, 1000]: 1 is a million customers"
            ));
        }
        let mut config = SmallBankConfig {
            scale,
            seed,
            customers: customers as u64,
            hotspot: None,
            roundtrips: Roundtrips::Batched,
            benchbase: false,
            client: (0, 1),
        };
        // What they change comes before what depends on it.
        let rank = |name: &str| PROPERTIES.iter().rev().position(|known| *known == name);
        let mut ordered: Vec<&(String, String)> = parameters.iter().collect();
        ordered.sort_by_key(|(name, _)| rank(name));
        for (name, value) in ordered {
            config.set(name, value)?;
        }
        if config.benchbase && config.hotspot.is_some() {
            return Err("smallbank: hotspot is not what compat=benchbase does; leave one out".to_owned());
        }
        Ok(config)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let refused = |expected: &str| Err(format!("smallbank: {name}={value}: expected {expected}"));
        match name {
            "customers" => match value.parse() {
                Ok(customers @ 2..=MOST_CUSTOMERS) => self.customers = customers,
                _ => return refused("a number in [2, 1000000000]"),
            },
            "roundtrips" => match Roundtrips::named(value) {
                Some(roundtrips) => self.roundtrips = roundtrips,
                None => return refused("`batched` or `single`"),
            },
            "compat" => match value {
                "none" => self.benchbase = false,
                "benchbase" => (self.benchbase, self.roundtrips) = (true, Roundtrips::Single),
                _ => return refused("`none` or `benchbase`"),
            },
            "hotspot" => match self.hotspot_named(value) {
                Some(hotspot) => self.hotspot = hotspot,
                None => {
                    return refused(
                        "`none`, or the hot customers (a number, or a share of all) and their share of the requests, \
                         such as `100,90%` or `1%,90%`; with 100% at least two must be hot",
                    );
                }
            },
            _ => {
                return Err(format!("smallbank: unknown property `{name}`{}", suggestion(name, &PROPERTIES)));
            }
        }
        Ok(())
    }

    /// `None` where the text names none that can be.
    fn hotspot_named(&self, text: &str) -> Option<Option<Hotspot>> {
        if text == "none" {
            return Some(None);
        }
        let (customers, share) = text.split_once(',')?;
        let share = percent(share)?;
        let customers = match percent(customers) {
            Some(of_all) => (of_all * self.customers as f64).round() as u64,
            None => customers.parse().ok()?,
        };
        let least = if share == 1.0 { 2 } else { 1 };
        (least..=self.customers).contains(&customers).then_some(Some(Hotspot { customers, share }))
    }

    /// A customer.
    #[inline]
    pub(crate) fn customer(&self, rng: &mut Rng) -> u64 {
        match self.hotspot {
            Some(hot) if hot.customers < self.customers => {
                if rng.unit() < hot.share {
                    rng.below(hot.customers)
                } else {
                    hot.customers + rng.below(self.customers - hot.customers)
                }
            }
            _ => rng.below(self.customers),
        }
    }

    /// Two customers who are not the same.
    #[inline]
    pub(crate) fn pair(&self, rng: &mut Rng) -> (u64, u64) {
        let first = self.customer(rng);
        let other = (0..REDRAWS).map(|_| self.customer(rng)).find(|second| *second != first);
        (first, other.unwrap_or((first + 1) % self.customers))
    }

    /// The data set's name: one of another size is another one.
    pub(crate) fn data_name(&self) -> String {
        if self.customers == (CUSTOMERS * self.scale).round() as u64 {
            "smallbank".to_owned()
        } else {
            format!("smallbank customers={}", self.customers)
        }
    }

    /// What a recording states.
    pub(crate) fn parameters(&self) -> Vec<(String, String)> {
        let hotspot = self.hotspot.map_or("none".to_owned(), |Hotspot { customers, share }| {
            format!("{customers},{}%", share * 100.0)
        });
        let compat = if self.benchbase { "benchbase" } else { "none" };
        let stated = [
            ("customers", self.customers.to_string()),
            ("hotspot", hotspot),
            ("roundtrips", self.roundtrips.name().to_owned()),
            ("compat", compat.to_owned()),
        ];
        stated.map(|(name, value)| (name.to_owned(), value)).into()
    }
}

/// A share such as `2.5%`, in (0, 1].
fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.trim().strip_suffix('%')?.parse().ok()?;
    (number > 0.0 && number <= 100.0).then_some(number / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::chi_square::assert_law;

    fn config(parameters: &[(&str, &str)]) -> Result<SmallBankConfig, String> {
        let parameters: Vec<_> = parameters.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        SmallBankConfig::new(1.0, Seed(1), &parameters)
    }

    #[test]
    fn mistakes_are_named() {
        let refused = |parameters: &[(&str, &str)], words: &str| {
            let error = config(parameters).unwrap_err();
            assert!(error.contains(words), "{error}");
        };
        refused(&[("hotspots", "100,90%")], "did you mean `hotspot`?");
        for bad in
            ["", "100", "100,", "0,90%", "100,0%", "100,101%", "2000000,50%", "-1%,5%", "1,100%", "a,b"]
        {
            refused(&[("hotspot", bad)], "hotspot=");
        }
        refused(&[("customers", "1")], "[2, 1000000000]");
        refused(&[("roundtrips", "one")], "`batched` or `single`");
        refused(&[("compat", "bench")], "`none` or `benchbase`");
        refused(&[("hotspot", "100,90%"), ("compat", "benchbase")], "leave one out");
        for scale in [0.0, -1.0, 1e-7, 1e9, f64::NAN, f64::INFINITY] {
            assert!(SmallBankConfig::new(scale, Seed(1), &[]).unwrap_err().contains("must be in"), "{scale}");
        }
    }

    #[test]
    fn parameters_do_not_depend_on_their_order() {
        let one = config(&[("hotspot", "10%,90%"), ("customers", "50")]).unwrap();
        let other = config(&[("customers", "50"), ("hotspot", "10%,90%")]).unwrap();
        assert_eq!((one.hotspot, one), (Some(Hotspot { customers: 5, share: 0.9 }), other));
        let single = [("roundtrips", "batched"), ("compat", "benchbase")];
        assert_eq!(config(&single).unwrap().roundtrips, Roundtrips::Batched, "what is named wins");
    }

    #[test]
    fn customers_have_their_law_and_pairs_are_of_two() {
        let hot = config(&[("customers", "50"), ("hotspot", "5,90%")]).unwrap();
        let law: Vec<f64> = (0..50).map(|k| if k < 5 { 0.9 / 5.0 } else { 0.1 / 45.0 }).collect();
        assert_law("hot customers", 100_000, &law, |rng| hot.customer(rng));
        let uniform = config(&[("customers", "50")]).unwrap();
        assert_law("customers", 100_000, &[0.02; 50], |rng| uniform.customer(rng));
        assert_law("second customers", 100_000, &[0.02; 50], |rng| uniform.pair(rng).1);
        for hotspot in ["none", "1,99%", "2,100%", "50,50%"] {
            let config = config(&[("customers", "50"), ("hotspot", hotspot)]).unwrap();
            let pairs = (0..5_000).map(|n| config.pair(&mut Seed(3).at(n)));
            assert!(pairs.into_iter().all(|(a, b)| a != b && a.max(b) < 50), "{hotspot}");
        }
        let two = config(&[("customers", "2")]).unwrap();
        assert!((0..5_000).map(|n| two.pair(&mut Seed(3).at(n))).all(|(a, b)| a + b == 1));
    }
}
