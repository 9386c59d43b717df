//! Who reviewed what and who trusts whom: a function of the scale alone, so that a run knows every pair that is there
//! whatever seed the data was loaded with.

use super::config::EpinionsConfig;
use crate::distribution::{GrayZipf, ScrambledZipf, Zipf};
use units::{Rng, Seed};

/// Every data set of a scale has the same pairs.
const STRUCTURE: Seed = Seed(0x4550_494E_494F_4E53);

/// Lists of users, one for each owner (the item of a review, the user who trusts).
pub(crate) struct Pairs {
    /// Where an owner's list begins; one more than there are owners.
    first: Vec<u32>,
    others: Vec<u32>,
}

impl Pairs {
    /// `count` gives the length of a list, `draw` one of its members; members of a list differ.
    fn new(
        owners: u64,
        label: &str,
        count: impl Fn(&mut Rng) -> u64,
        draw: impl Fn(&mut Rng) -> u64,
    ) -> Pairs {
        let seed = STRUCTURE.derive(label);
        let mut pairs = Pairs { first: vec![0], others: Vec::new() };
        let mut taken = std::collections::HashSet::new();
        for owner in 0..owners {
            let mut rng = seed.at(owner);
            let count = count(&mut rng);
            taken.clear();
            while (taken.len() as u64) < count {
                let other = draw(&mut rng) as u32;
                if taken.insert(other) {
                    pairs.others.push(other);
                }
            }
            pairs.first.push(pairs.others.len() as u32);
        }
        pairs
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        self.others.len() as u64
    }

    /// The users of an owner's list, and the number of its first pair.
    pub(crate) fn of(&self, owner: u64) -> (u64, &[u32]) {
        let (from, to) = (self.first[owner as usize], self.first[owner as usize + 1]);
        (u64::from(from), &self.others[from as usize..to as usize])
    }

    /// (owner, other) of the pair of this number.
    pub(crate) fn pair(&self, number: u64) -> (i64, i64) {
        let owner = self.first.partition_point(|first| u64::from(*first) <= number) - 1;
        (owner as i64, i64::from(self.others[number as usize]))
    }

    /// Owners `from..to` have so many pairs.
    pub(crate) fn between(&self, from: u64, to: u64) -> u64 {
        u64::from(self.first[to as usize] - self.first[from as usize])
    }
}

/// The pairs of a scale.
pub(crate) struct Population {
    /// Items and their reviewers.
    pub(crate) reviews: Pairs,
    /// Users and those whom they trust or not.
    pub(crate) trust: Pairs,
}

impl Population {
    pub(crate) fn new(config: &EpinionsConfig) -> Population {
        let users = config.users();
        // BenchBase's ranges at this scale: 500 × scale reviews more of an item, 200 × scale statements of a user.
        let more_reviews = Zipf::new((500.0 * config.scale).round() as u64, 1.8);
        let statements = Zipf::new((200.0 * config.scale).round() as u64, 1.95);
        let (reviewer, target) = (GrayZipf::new(users, 0.99), ScrambledZipf::new(users, 0.99));
        Population {
            reviews: Pairs::new(
                config.items(),
                "reviews",
                |rng| 1 + more_reviews.draw(rng),
                |rng| reviewer.draw(rng),
            ),
            trust: Pairs::new(users, "trust", |rng| statements.draw(rng), |rng| target.draw(rng)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_their_numbers_and_do_not_repeat() {
        let config = EpinionsConfig::new(1.0, Seed(1), &[]).unwrap();
        let population = Population::new(&config);
        let golden = (population.reviews.len(), population.trust.len());
        assert!((5_000..10_000).contains(&golden.0), "{golden:?}");
        assert!((3_000..9_000).contains(&golden.1), "{golden:?}");
        for pairs in [&population.reviews, &population.trust] {
            let all: std::collections::HashSet<_> = (0..pairs.len()).map(|n| pairs.pair(n)).collect();
            assert_eq!(all.len() as u64, pairs.len());
            let owners = pairs.first.len() as u64 - 1;
            assert_eq!(pairs.between(0, owners), pairs.len());
            for owner in 0..owners {
                let (first, others) = pairs.of(owner);
                for (number, other) in (first..).zip(others) {
                    assert_eq!(pairs.pair(number), (owner as i64, i64::from(*other)));
                }
            }
        }
        assert!((0..config.items()).all(|item| !population.reviews.of(item).1.is_empty()));
    }
}
