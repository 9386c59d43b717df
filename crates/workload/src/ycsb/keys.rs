//! Key text of the CoreWorkload.

use super::choices::KeyOrder;
use super::config::YcsbConfig;
use crate::distribution::ycsb_hash;

/// `user` and a decimal number, in place: formatting a key allocates nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyText {
    bytes: [u8; KeyText::LONGEST],
    length: u8,
}

const PREFIX: &[u8] = b"user";
const DIGITS: usize = 20;

impl KeyText {
    /// The prefix and 32 digits of padding.
    pub(crate) const LONGEST: usize = 36;

    /// An empty key.
    pub(crate) const EMPTY: KeyText = KeyText { bytes: [0; KeyText::LONGEST], length: 0 };

    /// The key of record `number`.
    pub(crate) fn of(config: &YcsbConfig, number: u64) -> KeyText {
        let shown = match config.key_order {
            KeyOrder::Hashed => ycsb_hash(number),
            KeyOrder::Ordered => number,
        };
        KeyText::format(shown, config.zero_padding)
    }

    /// The key of the mix's record `number`, where keys are text.
    pub(crate) fn of_mix(number: u64) -> KeyText {
        KeyText::format(number, 10)
    }

    /// The number behind a key of the mix, or one that is ordered.
    pub(crate) fn number_of(key: &str) -> Option<u64> {
        std::str::from_utf8(PREFIX).ok().and_then(|prefix| key.strip_prefix(prefix))?.parse().ok()
    }

    fn format(mut number: u64, padding: usize) -> KeyText {
        let mut digits = [b'0'; DIGITS];
        let mut first = DIGITS;
        while number > 0 || first == DIGITS {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        let mut key = KeyText::EMPTY;
        let zeros = padding.min(KeyText::LONGEST - PREFIX.len()).saturating_sub(DIGITS - first);
        let start = PREFIX.len() + zeros;
        let end = start + DIGITS - first;
        key.bytes[..PREFIX.len()].copy_from_slice(PREFIX);
        key.bytes[PREFIX.len()..start].fill(b'0');
        key.bytes[start..end].copy_from_slice(&digits[first..]);
        key.length = end as u8;
        key
    }

    /// The text.
    #[inline]
    pub(crate) fn as_str(&self) -> &str {
        // Only ASCII was ever written.
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::Seed;

    #[test]
    fn keys_are_ycsb_s() {
        let mut config = YcsbConfig::from_name("ycsb-a", 1.0, Seed(1), &[]).unwrap();
        assert_eq!(KeyText::of(&config, 0).as_str(), "user6284781860667377211");
        assert_eq!(KeyText::of(&config, 1).as_str(), "user8517097267634966620");
        config.key_order = KeyOrder::Ordered;
        assert_eq!(KeyText::of(&config, 0).as_str(), "user0");
        config.zero_padding = 8;
        assert_eq!(KeyText::of(&config, 1234).as_str(), "user00001234");
    }

    /// What YCSB's own code gives; `bindings/ycsb` has the program that wrote it.
    const GOLDEN: &str = include_str!("../../tests/golden/ycsb.txt");

    #[test]
    fn hashes_and_keys_are_golden() {
        let mut seen = (0, 0);
        for line in GOLDEN.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["hash", number, hash] => {
                    assert_eq!(ycsb_hash(number.parse().unwrap()).to_string(), hash);
                    seen.0 += 1;
                }
                ["key", order, padding, number, key] => {
                    let overrides = [("insertorder", order), ("zeropadding", padding)];
                    let overrides = overrides.map(|(name, value)| (name.to_owned(), value.to_owned()));
                    let config = YcsbConfig::from_name("ycsb-a", 1.0, Seed(1), &overrides).unwrap();
                    assert_eq!(KeyText::of(&config, number.parse().unwrap()).as_str(), key);
                    seen.1 += 1;
                }
                _ => {}
            }
        }
        assert_eq!(seen, (15, 12));
    }

    proptest! {
        #[test]
        fn formatting_is_the_standard_library_s(number: u64, padding in 0usize..=32) {
            let padding_or_one = padding.max(1);
            let key = KeyText::format(number, padding);
            prop_assert_eq!(key.as_str(), format!("user{number:0padding_or_one$}"));
            prop_assert_eq!(KeyText::number_of(key.as_str()), Some(number));
        }
    }
}
