//! The distributions against what YCSB's own generators drew: their random numbers can't be chosen, so that laws are
//! compared, by a chi-square test of two samples. `tests/golden/ycsb.txt` was written by `Golden.java` in `bindings/ycsb`.

use units::{Rng, Seed};
use workload::distribution::{Exponential, GrayZipf, Hotspot, KeyDraw, ScrambledZipf};

/// So many draws of each number from 0 on.
fn golden(law: &str) -> Vec<u64> {
    let text = include_str!("golden/ycsb.txt");
    let line = text.lines().find(|line| line.starts_with(&format!("law\t{law}\t"))).expect(law);
    let numbers: Vec<u64> = line.split('\t').skip(2).map(|word| word.parse().unwrap()).collect();
    assert_eq!(numbers[0], numbers[1..].iter().sum::<u64>(), "{law}");
    numbers[1..].to_vec()
}

/// The statistic over its 0.9999 quantile (Wilson & Hilferty 1931): above 1 the two samples are of different laws.
fn difference(theirs: &[u64], ours: &[u64]) -> f64 {
    let (mut statistic, mut cells) = (0.0, 0.0);
    let (mut a, mut b) = (0.0, 0.0);
    for (x, y) in theirs.iter().zip(ours) {
        (a, b) = (a + *x as f64, b + *y as f64);
        if a + b >= 10.0 {
            statistic += (a - b) * (a - b) / (a + b);
            cells += 1.0;
            (a, b) = (0.0, 0.0);
        }
    }
    let c = 2.0 / (9.0 * (cells - 1.0));
    let limit: f64 = 1.0 - c + 3.719 * f64::sqrt(c);
    statistic / ((cells - 1.0) * limit.powi(3))
}

fn compare(law: &str, draw: impl Fn(&mut Rng) -> u64) -> f64 {
    let theirs = golden(law);
    let mut ours = vec![0; theirs.len()];
    let seed = Seed(20_261_121).derive(law);
    for index in 0..theirs.iter().sum() {
        ours[draw(&mut seed.at(index)) as usize] += 1;
    }
    difference(&theirs, &ours)
}

#[test]
fn draws_have_ycsb_s_laws() {
    // Over 1000 records and without inserts, YCSB scrambles over one number more.
    let scrambled = ScrambledZipf::new(1001, 0.99);
    let zipf = GrayZipf::new(1000, 0.99);
    let lengths = GrayZipf::new(100, 0.99);
    let hotspot = Hotspot { data_fraction: 0.2, draw_fraction: 0.8 };
    let latest = KeyDraw::Latest(GrayZipf::new(999, 0.99));
    let exponential = KeyDraw::Exponential(Exponential::new(95.0, 1000.0 * 0.857_142_857_1));
    type Draw<'a> = Box<dyn Fn(&mut Rng) -> u64 + 'a>;
    let laws: [(&str, Draw<'_>); 6] = [
        ("scrambled 0..1000", Box::new(|rng| scrambled.draw(rng))),
        ("zipfian 0..999", Box::new(|rng| zipf.draw(rng))),
        ("zipfian 1..100", Box::new(|rng| 1 + lengths.draw(rng))),
        ("hotspot 0..999", Box::new(|rng| hotspot.draw(rng, 1000))),
        ("latest of 1000", Box::new(|rng| latest.draw(rng, 0, 1000))),
        ("exponential of 1000", Box::new(|rng| exponential.draw(rng, 0, 1000))),
    ];
    for (law, draw) in &laws {
        let found = compare(law, draw);
        assert!(found < 1.0, "{law}: {found:.2} times the limit");
    }
}

/// What the test is for: one number too few is seen.
#[test]
fn another_law_is_seen() {
    let scrambled = ScrambledZipf::new(1000, 0.99);
    assert!(compare("scrambled 0..1000", |rng| scrambled.draw(rng)) > 2.0);
    let zipf = GrayZipf::new(1000, 0.95);
    assert!(compare("zipfian 0..999", |rng| zipf.draw(rng)) > 2.0);
}
