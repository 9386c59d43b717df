//! Airports, the routes between them and the hours of departure.
//!
//! BenchBase reads these from data files whose licence is not stated. Here they are made, from a seed of their own, with
//! the published totals: 286 airports, 4,137 pairs with 1,983,627 flights together, of which 127,335, 100,753 and 85,884
//! leave from the three largest, and 94 quarters of an hour at which flights depart. Where an airport lies is invented.

use super::STRUCTURE;
use units::Rng;

/// Airports; their ids are 1 … 286, the one with most departures first.
pub(crate) const AIRPORTS: usize = 286;
const PAIRS: usize = 4_137;
const FLIGHTS: u64 = 1_983_627;
const LARGEST: [u64; 3] = [127_335, 100_753, 85_884];
/// Quarters of an hour at which flights depart: all of a day but two.
const SLOTS: usize = 94;

const EARTH_RADIUS_MILES: f64 = 3_958.8;

/// A number that stands for a weight below the sum of all.
struct Weights {
    below: Vec<u64>,
}

impl Weights {
    fn new(weights: impl Iterator<Item = u64>) -> Weights {
        let sums = weights.scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Weights { below: sums.collect() }
    }

    fn total(&self) -> u64 {
        self.below.last().copied().unwrap_or(0)
    }

    fn draw(&self, rng: &mut Rng) -> usize {
        let drawn = rng.below(self.total());
        self.below.partition_point(|sum| *sum <= drawn)
    }
}

/// The map. Airports are counted from 0 here.
pub(crate) struct Airports {
    /// (latitude, longitude) in degrees.
    places: Vec<(f64, f64)>,
    departures: Vec<u64>,
    pairs: Vec<(u16, u16)>,
    routes: Weights,
    slots: Weights,
}

impl Airports {
    pub(crate) fn new() -> Airports {
        let departures = departures();
        let (pairs, weights) = pairs(&departures);
        Airports {
            places: places(),
            departures,
            pairs,
            routes: Weights::new(weights.into_iter()),
            slots: Weights::new((0..SLOTS).map(slot_weight)),
        }
    }

    /// (latitude, longitude) in degrees.
    pub(crate) fn place(&self, airport: usize) -> (f64, f64) {
        self.places[airport]
    }

    /// Great-circle distance in miles (haversine).
    pub(crate) fn miles(&self, a: usize, b: usize) -> f64 {
        let radians = |(latitude, longitude): (f64, f64)| (latitude.to_radians(), longitude.to_radians());
        let ((lat_a, lon_a), (lat_b, lon_b)) = (radians(self.places[a]), radians(self.places[b]));
        let half = |difference: f64| (difference / 2.0).sin().powi(2);
        let h = half(lat_b - lat_a) + lat_a.cos() * lat_b.cos() * half(lon_b - lon_a);
        2.0 * EARTH_RADIUS_MILES * h.sqrt().min(1.0).asin()
    }

    /// Flights that leave from each airport.
    pub(crate) fn departures(&self) -> &[u64] {
        &self.departures
    }

    /// A pair (from, to), as often as flights go there.
    pub(crate) fn draw_pair(&self, rng: &mut Rng) -> (usize, usize) {
        let (from, to) = self.pairs[self.routes.draw(rng)];
        (usize::from(from), usize::from(to))
    }

    /// Minutes since midnight.
    pub(crate) fn draw_minute(&self, rng: &mut Rng) -> u64 {
        15 * self.slots.draw(rng) as u64
    }
}

/// Over a country as large as the contiguous United States; one in four is a neighbour of an earlier one.
fn places() -> Vec<(f64, f64)> {
    let mut rng = STRUCTURE.derive("airports").rng();
    let mut places: Vec<(f64, f64)> = Vec::with_capacity(AIRPORTS);
    let rounded = |degrees: f64| (degrees * 1e4).round() / 1e4;
    for airport in 0..AIRPORTS {
        let place = if airport % 4 == 3 {
            let (latitude, longitude) = places[rng.below(airport as u64) as usize];
            (latitude + 1.2 * (rng.unit() - 0.5), longitude + 1.4 * (rng.unit() - 0.5))
        } else {
            (25.0 + 24.0 * rng.unit(), -124.0 + 57.0 * rng.unit())
        };
        places.push((rounded(place.0), rounded(place.1)));
    }
    places
}

/// The three largest as published; the others fall as (rank + 10)^−1.5.
fn departures() -> Vec<u64> {
    let left = FLIGHTS - LARGEST.iter().sum::<u64>();
    let weight = |rank: usize| (rank as f64 + 10.0).powf(-1.5);
    let sum: f64 = (LARGEST.len() + 1..=AIRPORTS).map(weight).sum();
    let mut departures = LARGEST.to_vec();
    departures
        .extend((LARGEST.len() + 1..=AIRPORTS).map(|rank| (left as f64 * weight(rank) / sum).floor() as u64));
    let missing = FLIGHTS - departures.iter().sum::<u64>();
    departures[LARGEST.len()] += missing;
    departures
}

/// Destinations of an airport grow with the root of its departures, and large airports are drawn first.
fn pairs(departures: &[u64]) -> (Vec<(u16, u16)>, Vec<u64>) {
    let roots: f64 = departures.iter().map(|n| (*n as f64).sqrt()).sum();
    let mut degrees: Vec<usize> = departures
        .iter()
        .map(|n| ((PAIRS as f64 * (*n as f64).sqrt() / roots).floor() as usize).max(1))
        .collect();
    let mut missing = PAIRS - degrees.iter().sum::<usize>();
    for degree in &mut degrees {
        *degree += usize::from(missing > 0);
        missing = missing.saturating_sub(1);
    }
    let attraction = Weights::new(departures.iter().copied());
    let mut rng = STRUCTURE.derive("routes").rng();
    let (mut pairs, mut weights) = (Vec::with_capacity(PAIRS), Vec::with_capacity(PAIRS));
    for (from, degree) in degrees.into_iter().enumerate() {
        let first = pairs.len();
        while pairs.len() < first + degree {
            let pair = (from as u16, attraction.draw(&mut rng) as u16);
            if pair.0 != pair.1 && !pairs[first..].contains(&pair) {
                pairs.push(pair);
            }
        }
        weights.extend(shares(departures[from], degree));
    }
    (pairs, weights)
}

/// `all`, parted into `count` that fall as rank^−0.7 and are at least 1.
fn shares(all: u64, count: usize) -> Vec<u64> {
    let weight = |rank: usize| (rank as f64).powf(-0.7);
    let sum: f64 = (1..=count).map(weight).sum();
    let mut shares: Vec<u64> =
        (1..=count).map(|rank| ((all as f64 * weight(rank) / sum).floor() as u64).max(1)).collect();
    shares[0] += all - shares.iter().sum::<u64>();
    shares
}

/// Few flights at night, most in the morning and in the late afternoon.
fn slot_weight(slot: usize) -> u64 {
    let hour = slot as f64 / 4.0;
    let peak = |at: f64, width: f64| (-((hour - at) / width).powi(2)).exp();
    (20.0 + 1_000.0 * (peak(8.0, 2.5) + 0.8 * peak(13.0, 3.0) + peak(17.5, 2.5))).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_the_published_ones() {
        let airports = Airports::new();
        assert_eq!(airports.pairs.len(), 4_137);
        assert_eq!(airports.routes.total(), 1_983_627);
        assert_eq!(airports.departures[..3], [127_335, 100_753, 85_884]);
        assert!(airports.departures.windows(2).all(|two| two[0] >= two[1]), "{:?}", airports.departures);
        assert_eq!(airports.slots.below.len(), 94);
        let different: std::collections::HashSet<_> = airports.pairs.iter().collect();
        assert_eq!(different.len(), 4_137);
        let mut from = vec![0; AIRPORTS];
        let mut before = 0;
        for (pair, below) in airports.pairs.iter().zip(&airports.routes.below) {
            from[usize::from(pair.0)] += below - before;
            before = *below;
        }
        assert_eq!(from, airports.departures);
    }

    #[test]
    fn distances_are_those_of_a_sphere() {
        let mut airports = Airports::new();
        // A degree of latitude, a quarter of the equator, and the way around the pole.
        airports.places[..4].copy_from_slice(&[(0.0, 0.0), (1.0, 0.0), (0.0, 90.0), (80.0, 180.0)]);
        assert!((airports.miles(0, 1) - 69.094).abs() < 0.001, "{}", airports.miles(0, 1));
        assert!((airports.miles(2, 0) - 6_218.4).abs() < 0.2, "{}", airports.miles(2, 0));
        assert!((airports.miles(0, 3) - 100.0 * 69.094).abs() < 0.2, "{}", airports.miles(0, 3));
        assert_eq!(airports.miles(7, 9), airports.miles(9, 7));
    }

    #[test]
    fn some_airports_have_neighbours_within_each_distance() {
        let airports = Airports::new();
        for limit in [25.0, 50.0, 100.0] {
            let near = (0..AIRPORTS)
                .filter(|a| (0..AIRPORTS).any(|b| b != *a && airports.miles(*a, b) <= limit))
                .count();
            assert!(near > 20, "{near} within {limit} miles");
        }
    }
}
