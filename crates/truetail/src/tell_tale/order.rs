//! In which order cells are run, and how long the rest takes.

use units::Seed;

/// All cells once, in an order that is another one for each round: what changes on a host with time meets each of them.
pub(crate) fn shuffled(cells: &[usize], seed: Seed, round: u32) -> Vec<usize> {
    let mut order = cells.to_vec();
    let mut rng = seed.derive(&format!("tell-tale round {round}")).rng();
    for last in (1..order.len()).rev() {
        // Fisher and Yates.
        order.swap(last, rng.below(last as u64 + 1) as usize);
    }
    order
}

/// Seconds that the runs from `next` on will take, by what they were expected to and by how those before kept to it.
pub(crate) fn left(expected: &[f64], next: usize, taken: f64) -> f64 {
    let (done, rest) = expected.split_at(next.min(expected.len()));
    let done: f64 = done.iter().sum();
    // A few runs say little of the others.
    let pace = if done > 30.0 { (taken / done).clamp(0.2, 5.0) } else { 1.0 };
    rest.iter().sum::<f64>() * pace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_all_cells_in_an_order_of_its_own_that_the_seed_decides() {
        let cells: Vec<usize> = (0..50).collect();
        let orders = [1, 2].map(|round| shuffled(&cells, Seed(1), round));
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, cells);
        }
        assert_ne!(orders[0], orders[1]);
        assert_eq!(orders[0], shuffled(&cells, Seed(1), 1));
        assert_ne!(orders[0], shuffled(&cells, Seed(2), 1));
    }

    #[test]
    fn what_is_left_follows_the_pace_so_far() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(left(&[10.0, 10.0], 0, 0.0), 20.0));
        assert!(near(left(&[40.0, 10.0], 1, 80.0), 20.0), "twice as slow as expected");
        assert!(near(left(&[10.0], 1, 99.0), 0.0));
    }
}
