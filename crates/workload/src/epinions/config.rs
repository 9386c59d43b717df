//! What a run can choose.

use crate::names::suggestion;
use units::Seed;

/// Where the two updates by pair take their pairs from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pairs {
    /// Any user and any item, or any two users: most pairs have no row, as published.
    Random,
    /// Those of a review, or of a statement of trust, that is there.
    Existing,
}

impl Pairs {
    fn name(self) -> &'static str {
        match self {
            Pairs::Random => "random",
            Pairs::Existing => "existing",
        }
    }
}

/// Parameters of the workload.
#[derive(Clone, PartialEq, Debug)]
pub struct EpinionsConfig {
    /// 2,000 users and 1,000 items each.
    pub scale: f64,
    /// Where values, and the requests' draws, come from.
    pub seed: Seed,
    /// See [`Pairs`].
    pub pairs: Pairs,
    /// Whether `compat=benchbase` was asked for: it changes nothing, and refuses `pairs=existing`.
    pub benchbase: bool,
    /// Which load machine this is, of how many.
    pub client: (u16, u16),
}

/// Above, user ids and row numbers would not fit 32 bits.
const MOST_SCALE: f64 = 100_000.0;
/// Below, an item would have no choice of reviewers.
const LEAST_SCALE: f64 = 0.01;

const PROPERTIES: [&str; 2] = ["pairs", "compat"];

impl EpinionsConfig {
    /// The workload of this scale with parameters by name.
    ///
    /// # Errors
    /// One line: an unknown name with the nearest valid one, or a value with its limits.
    pub fn new(scale: f64, seed: Seed, parameters: &[(String, String)]) -> Result<EpinionsConfig, String> {
        if !(LEAST_SCALE..=MOST_SCALE).contains(&scale) {
            return Err(format!(
                "epinions: scale {scale} must be in [{LEAST_SCALE}, {MOST_SCALE}]: 1 is 2,000 users and 1,000 items"
            ));
        }
        let mut config =
            EpinionsConfig { scale, seed, pairs: Pairs::Random, benchbase: false, client: (0, 1) };
        for (name, value) in parameters {
            config.set(name, value)?;
        }
        if config.benchbase && config.pairs == Pairs::Existing {
            return Err(
                "epinions: pairs=existing is not what compat=benchbase does; leave one out".to_owned()
            );
        }
        Ok(config)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let unknown =
            |valid: &[&str]| format!("epinions: {name}: unknown value `{value}`{}", suggestion(value, valid));
        match name {
            "pairs" => {
                let all = [Pairs::Random, Pairs::Existing];
                self.pairs = all
                    .into_iter()
                    .find(|pairs| pairs.name() == value)
                    .ok_or_else(|| unknown(&all.map(Pairs::name)))?;
            }
            "compat" => {
                let valid = ["none", "benchbase"];
                self.benchbase = match valid.iter().position(|name| *name == value) {
                    Some(position) => position == 1,
                    None => return Err(unknown(&valid)),
                };
            }
            _ => {
                return Err(format!("epinions: unknown property `{name}`{}", suggestion(name, &PROPERTIES)));
            }
        }
        Ok(())
    }

    pub(crate) fn users(&self) -> u64 {
        (2_000.0 * self.scale).round() as u64
    }

    pub(crate) fn items(&self) -> u64 {
        (1_000.0 * self.scale).round() as u64
    }

    /// What a recording states.
    pub(crate) fn parameters(&self) -> Vec<(String, String)> {
        let compat = if self.benchbase { "benchbase" } else { "none" };
        vec![("pairs".to_owned(), self.pairs.name().to_owned()), ("compat".to_owned(), compat.to_owned())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(parameters: &[(&str, &str)]) -> Result<EpinionsConfig, String> {
        let parameters: Vec<_> = parameters.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        EpinionsConfig::new(1.0, Seed(1), &parameters)
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(config(&[("pairs", "existing")]).unwrap().pairs, Pairs::Existing);
        let refused = |parameters: &[(&str, &str)], words: &str| {
            let error = config(parameters).unwrap_err();
            assert!(error.contains(words), "{error}");
        };
        refused(&[("pair", "existing")], "did you mean `pairs`?");
        refused(&[("pairs", "existin")], "did you mean `existing`?");
        refused(&[("pairs", "existing"), ("compat", "benchbase")], "leave one out");
        assert!(EpinionsConfig::new(0.0, Seed(1), &[]).unwrap_err().contains("scale 0 must be in"));
        assert!(EpinionsConfig::new(f64::NAN, Seed(1), &[]).is_err());
    }
}
