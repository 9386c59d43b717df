//! Draws against oracles: shares within bounds that a right generator leaves once in a million times, and golden values.

use super::*;
use crate::expression::Scope;
use crate::read;
use workload::distribution::zeta;

/// The draw of the value `x` that is written so.
fn draw(written: &str) -> Draw {
    try_draw(written).unwrap()
}

fn try_draw(written: &str) -> Result<Draw, String> {
    let text = format!("[values]\nx = {written}\n[[transaction]]\nname = \"t\"\nsql = \"SELECT :x\"\n");
    let definition = read::definition(&text, &mut |_| Err("none".to_owned()))?;
    let scope =
        Scope { names: [("n".to_owned(), crate::expression::Number::Int(1_000))].into(), ..Scope::default() };
    Compiler { scope: &scope, seed: Seed(1), client: (0, 1) }.draw(&definition.values[0])
}

/// The first values, as text.
fn shown(draw: &Draw, count: u64) -> Vec<String> {
    let list = DrawList { draws: vec![draw.clone()] };
    let mut drawn = Drawn::default();
    let show = |index| {
        list.draw(Position { index, ticket: index }, &mut drawn);
        match list.value(&drawn, 0) {
            Value::Int(n) => n.to_string(),
            Value::Float(x) => format!("{x:.3}"),
            Value::Decimal(decimal) => decimal.to_string(),
            Value::Text(text) => text.to_owned(),
            Value::Timestamp(micros) => format!("@{micros}"),
            Value::Null => "NULL".to_owned(),
        }
    };
    (0..count).map(show).collect()
}

/// How often each text comes, of 200,000, against its probability.
fn assert_shares(written: &str, expected: &[(&str, f64)]) {
    let n = 200_000;
    let values = shown(&draw(written), n);
    for (text, probability) in expected {
        let seen = values.iter().filter(|value| value == text).count() as f64 / n as f64;
        let sigma = (probability * (1.0 - probability) / n as f64).sqrt();
        assert!((seen - probability).abs() <= 4.9 * sigma, "{written}: {text} is {seen}, not {probability}");
    }
}

#[test]
fn whole_numbers_have_their_shares() {
    assert_shares(
        "{ draw = \"uniform\", from = -2, to = 2 }",
        &[("-2", 0.2), ("0", 0.2), ("2", 0.2), ("3", 0.0)],
    );
    let sum = zeta(100, 1.2);
    let p = |rank: f64| rank.powf(-1.2) / sum;
    assert_shares(
        "{ draw = \"zipf\", from = 5, to = 104, theta = 1.2 }",
        &[("5", p(1.0)), ("6", p(2.0)), ("104", p(100.0)), ("4", 0.0), ("105", 0.0)],
    );
    // YCSB's method is exact for its first two ranks.
    let sum = zeta(1_000, 0.99);
    assert_shares(
        "{ draw = \"zipf-ycsb\", from = 1, to = \"n\" }",
        &[("1", 1.0 / sum), ("2", 2f64.powf(-0.99) / sum), ("0", 0.0), ("1001", 0.0)],
    );
    assert_shares(
        "{ draw = \"hotspot\", from = 0, to = 9, hot = 0.2, share = 0.8 }",
        &[("0", 0.4), ("9", 0.025)],
    );
    assert_shares("{ draw = \"uniform\", from = 1, to = 3, type = \"text\" }", &[("2", 1.0 / 3.0)]);
}

#[test]
fn nurand_has_the_law_of_the_specification() {
    let (a, x, y, c) = (7u64, 1u64, 30u64, 5u64);
    let mut law = vec![0.0; 31];
    for first in 0..=a {
        for second in x..=y {
            law[((((first | second) + c) % (y - x + 1)) + x) as usize] +=
                1.0 / ((a + 1) * (y - x + 1)) as f64;
        }
    }
    let texts: Vec<String> = (x..=y).map(|n| n.to_string()).collect();
    let expected: Vec<(&str, f64)> =
        (x..=y).map(|n| (texts[(n - x) as usize].as_str(), law[n as usize])).collect();
    assert_shares("{ draw = \"nurand\", a = 7, from = 1, to = 30, c = 5 }", &expected);
    // Without C it is a constant of the seed.
    let drawn = draw("{ draw = \"nurand\", a = 7, from = 1, to = 30 }");
    assert_eq!(shown(&drawn, 50), shown(&draw("{ draw = \"nurand\", a = 7, from = 1, to = 30 }"), 50));
}

#[test]
fn scrambled_keys_are_ycsb_s() {
    use workload::distribution::ScrambledZipf;
    let drawn = draw("{ draw = \"zipf-scrambled\", from = 0, to = 999, hash = true, prefix = \"user\" }");
    let seed = Seed(1).derive("x");
    // YCSB ranges over one number more than there are records, and draws that one again.
    let ycsb = ScrambledZipf::new(1_001, 0.99);
    let number = |i: u64| {
        let mut rng = seed.at(i);
        std::iter::repeat_with(|| ycsb.draw(&mut rng)).find(|number| *number < 1_000).expect("without end")
    };
    let expected: Vec<String> = (0..1_000).map(|i| format!("user{}", ycsb_hash(number(i)))).collect();
    assert_eq!(shown(&drawn, 1_000), expected);
}

#[test]
fn choices_have_their_weights_and_a_weight_of_nothing_is_never_chosen() {
    assert_shares(
        "{ draw = \"choice\", of = [\"a\", \"b\", \"c\"], weights = [1, 0, 3] }",
        &[("a", 0.25), ("b", 0.0), ("c", 0.75)],
    );
    assert_shares("{ draw = \"choice\", of = [1, 2] }", &[("1", 0.5), ("2", 0.5)]);
    assert_eq!(shown(&draw("{ draw = \"choice\", of = [1, 2.5], weights = [1, 0] }"), 2), ["1.000", "1.000"]);
}

#[test]
fn decimals_and_floats_stay_in_their_ranges() {
    let values =
        shown(&draw("{ draw = \"uniform\", from = 0.01, to = 5.00, type = \"decimal(2)\" }"), 20_000);
    let cents: Vec<i64> = values.iter().map(|v| v.replace('.', "").parse().unwrap()).collect();
    assert_eq!((cents.iter().min(), cents.iter().max()), (Some(&1), Some(&500)));
    let values = shown(&draw("{ draw = \"uniform\", from = 0.0, to = 1.0 }"), 20_000);
    let mean = values.iter().map(|v| v.parse::<f64>().unwrap()).sum::<f64>() / 20_000.0;
    assert!((mean - 0.5).abs() < 4.9 * (1.0f64 / 12.0 / 20_000.0).sqrt(), "{mean}");
    assert_eq!(
        draw("{ draw = \"uniform\", from = 0, to = 1, type = \"float\" }").value_type,
        ValueType::Float
    );
    assert_eq!(shown(&draw("{ draw = \"constant\", value = 12.5, type = \"decimal(2)\" }"), 1), ["12.50"]);
    assert_eq!(shown(&draw("{ draw = \"constant\", value = \"n * 2\", type = \"int\" }"), 1), ["2000"]);
    assert_eq!(shown(&draw("7"), 1), ["7"]);
    assert_eq!(shown(&draw("\"n\""), 1), ["n"]);
}

#[test]
fn strings_have_their_lengths_and_characters() {
    let values = shown(&draw("{ draw = \"string\", length = [2, 4], alphabet = \"aé\" }"), 10_000);
    for length in 2..=4 {
        let share = values.iter().filter(|v| v.chars().count() == length).count() as f64 / 10_000.0;
        assert!((share - 1.0 / 3.0).abs() < 4.9 * (2.0f64 / 9.0 / 10_000.0).sqrt(), "{length}: {share}");
    }
    assert!(values.iter().all(|v| v.chars().all(|c| c == 'a' || c == 'é')));
    let digits = shown(&draw("{ draw = \"digits\", length = 16 }"), 100);
    assert!(digits.iter().all(|v| v.len() == 16 && v.bytes().all(|b| b.is_ascii_digit())), "{digits:?}");
    assert_eq!(shown(&draw("{ draw = \"string\", length = 0 }"), 1), [""]);
}

#[test]
fn numbers_are_written_with_prefix_and_width() {
    let values = shown(&draw("{ draw = \"sequence\", from = 8, prefix = \"k\", width = 3 }"), 3);
    assert_eq!(values, ["k008", "k009", "k010"]);
    for number in [0, 7, -7, i64::MIN, i64::MAX] {
        let mut text = String::new();
        push_digits(&mut text, number, 1);
        assert_eq!(text, number.to_string());
    }
}

#[test]
fn moments_lie_in_their_range() {
    let drawn = draw("{ draw = \"timestamp\", from = 2000-02-29, to = 2000-02-29T00:00:00.000002Z }");
    let day = 951_782_400_000_000_i64;
    let values = shown(&drawn, 1_000);
    for micros in day..=day + 2 {
        assert!(values.contains(&format!("@{micros}")), "{micros}");
    }
    assert!(values.iter().all(|v| v[1..].parse::<i64>().unwrap() <= day + 2));
    let zoned =
        draw("{ draw = \"timestamp\", from = \"2000-02-29 01:00:00+01:00\", to = 2000-02-29T00:00:00Z }");
    assert_eq!(shown(&zoned, 1), [format!("@{day}")]);
    assert_eq!(draw("{ draw = \"now\" }").value_type, ValueType::Timestamp);
}

/// A recording names its seed; a change here would silently change every load from a file.
#[test]
fn draws_are_golden() {
    let golden = [
        ("{ draw = \"uniform\", from = 1, to = 1000 }", GOLDEN[0]),
        ("{ draw = \"zipf\", from = 1, to = 1000 }", GOLDEN[1]),
        ("{ draw = \"zipf-ycsb\", from = 1, to = 1000 }", GOLDEN[2]),
        ("{ draw = \"zipf-scrambled\", from = 1, to = 1000 }", GOLDEN[3]),
        ("{ draw = \"nurand\", a = 255, from = 0, to = 999 }", GOLDEN[4]),
        ("{ draw = \"hotspot\", from = 1, to = 1000, hot = 0.1, share = 0.9 }", GOLDEN[5]),
        ("{ draw = \"string\", length = 5 }", GOLDEN[6]),
        ("{ draw = \"choice\", of = [\"a\", \"b\", \"c\"] }", GOLDEN[7]),
        ("{ draw = \"uniform\", from = 0.0, to = 1.0 }", GOLDEN[8]),
    ];
    let found: Vec<String> = golden.iter().map(|(written, _)| shown(&draw(written), 5).join(" ")).collect();
    let expected: Vec<&str> = golden.iter().map(|(_, expected)| *expected).collect();
    assert_eq!(found, expected);
}
const GOLDEN: [&str; 9] = [
    "581 771 135 666 80",
    "14 3 376 7 564",
    "42 177 2 80 1",
    "744 911 185 928 680",
    "440 227 975 655 288",
    "20 94 75 40 5",
    "mGNti 5VOtN U6zL8 yKrjM cNkqm",
    "b c a b a",
    "0.580 0.770 0.135 0.665 0.079",
];
