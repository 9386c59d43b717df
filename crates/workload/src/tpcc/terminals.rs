//! The specification's terminals: ten for each warehouse, with keying and think times (5.2.5), dealing from decks (5.2.4.2).

use super::config::TpccConfig;
use super::plan::TERMINALS;
use crate::OpId;
use crate::users::{Turn, Users};
use units::{Nanos, Seed};

/// Cards of each transaction in a deck.
const CARDS: [u8; 5] = [10, 10, 1, 1, 1];
/// All cards of a deck.
const DECK: usize = 23;
/// Seconds that it takes to key a transaction in.
const KEYING: [u64; 5] = [18, 3, 2, 2, 2];
/// Mean seconds of thinking after a transaction.
const THINKING: [f64; 5] = [12.0, 12.0, 10.0, 5.0, 5.0];
/// Thinking ends after so many times its mean.
const CUT: f64 = 10.0;

/// All terminals of a run.
pub(crate) struct Terminals {
    seed: Seed,
    /// How many turns each has had.
    turns: Vec<u32>,
}

impl Terminals {
    pub(crate) fn new(config: &TpccConfig) -> Terminals {
        let seed = config.seed.derive("tpcc/terminals");
        Terminals {
            seed: if config.client == 0 { seed } else { seed.derive(&format!("client {}", config.client)) },
            turns: vec![0; (config.warehouses * TERMINALS) as usize],
        }
    }

    /// The transaction of a turn: the card at its place in a shuffled deck.
    fn operation(&self, user: u32, turn: u32) -> u8 {
        let own = u64::from(user) << 32;
        let (deck, place) = (turn / DECK as u32, turn as usize % DECK);
        let mut rng = self.seed.derive("deck").at(own | u64::from(deck));
        let mut cards = [0u8; DECK];
        let mut dealt = 0;
        for (operation, count) in CARDS.iter().enumerate() {
            for _ in 0..*count {
                cards[dealt] = operation as u8;
                dealt += 1;
            }
        }
        // Fisher & Yates, from the front, as far as the card that is asked for.
        for at in 0..=place {
            cards.swap(at, at + rng.below((DECK - at) as u64) as usize);
        }
        cards[place]
    }
}

impl Users for Terminals {
    fn count(&self) -> u32 {
        self.turns.len() as u32
    }

    fn next(&mut self, user: u32) -> Turn {
        let turn = self.turns[user as usize];
        self.turns[user as usize] += 1;
        let operation = self.operation(user, turn);
        let mut rng = self.seed.derive("thinking").at(u64::from(user) << 32 | u64::from(turn));
        let thinking = THINKING[usize::from(operation)] * rng.exponential().min(CUT);
        Turn {
            op: OpId(operation),
            keying: Nanos::from_secs(KEYING[usize::from(operation)]),
            thinking: Nanos((thinking * 1e9) as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminals(warehouses: f64) -> Terminals {
        Terminals::new(&TpccConfig::new(warehouses, Seed(3), &[]).unwrap())
    }

    #[test]
    fn every_deck_holds_its_cards_in_an_order_of_its_own() {
        let mut terminals = terminals(2.0);
        assert_eq!(terminals.count(), 20);
        let mut seen = Vec::new();
        for _ in 0..50 {
            for user in [0, 7, 19] {
                let deck: Vec<u8> = (0..DECK).map(|_| terminals.next(user).op.0).collect();
                let count = |operation| deck.iter().filter(|card| **card == operation).count();
                assert_eq!([0, 1, 2, 3, 4].map(count), [10, 10, 1, 1, 1]);
                assert!(!seen.contains(&deck), "a deck comes twice");
                seen.push(deck);
            }
        }
        // The one Delivery is anywhere in the deck: 23 places, 150 decks; none is missed by more than chance.
        let places: std::collections::BTreeSet<usize> =
            seen.iter().map(|deck| deck.iter().position(|card| *card == 3).unwrap()).collect();
        assert!(places.len() > 18, "{places:?}");
    }

    #[test]
    fn times_have_their_means_and_are_cut() {
        let mut terminals = terminals(1.0);
        let (mut sums, mut counts, mut longest) = ([0.0; 5], [0.0; 5], [0.0_f64; 5]);
        for turn in 0..200_000 {
            let Turn { op, keying, thinking } = terminals.next(turn % 10);
            let op = usize::from(op.0);
            assert_eq!(keying, Nanos::from_secs(KEYING[op]));
            let seconds = thinking.0 as f64 / 1e9;
            sums[op] += seconds;
            counts[op] += 1.0;
            longest[op] = longest[op].max(seconds);
        }
        for op in 0..5 {
            let (mean, of) = (sums[op] / counts[op], THINKING[op]);
            // An exponential's standard deviation is its mean: five standard errors.
            assert!((mean - of).abs() < 5.0 * of / f64::sqrt(counts[op]), "{op}: {mean} for {of}");
            assert!(longest[op] <= CUT * of && longest[op] > 5.0 * of, "{op}: {}", longest[op]);
        }
    }

    #[test]
    fn a_terminal_s_turns_do_not_depend_on_the_others() {
        let (mut alone, mut among) = (terminals(3.0), terminals(3.0));
        for _ in 0..100 {
            for other in 0..29 {
                among.next(other);
            }
            assert_eq!(alone.next(29), among.next(29));
        }
    }
}
