//! Text of the specification's kinds, made in place: no row and no request allocates for it.

use units::Rng;

/// Text of at most `N` characters (ASCII).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    /// No characters.
    pub(crate) const EMPTY: Text<N> = Text { bytes: [0; N], length: 0 };

    /// The text.
    #[inline]
    pub(crate) fn as_str(&self) -> &str {
        // Only ASCII, or whole texts that were UTF-8, were ever written; a cut through a character gives nothing.
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    /// Appends as much of `text` as there is room for.
    #[inline]
    pub(crate) fn push(&mut self, text: &str) {
        let taken = text.len().min(N - self.length);
        self.bytes[self.length..self.length + taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
    }

    /// Appends a number in decimal.
    pub(crate) fn push_number(&mut self, mut number: u64) {
        let mut digits = [b'0'; 20];
        let mut first = digits.len();
        while number > 0 || first == digits.len() {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.push(std::str::from_utf8(&digits[first..]).unwrap_or_default());
    }

    /// The same text at most `N` long, from another.
    pub(crate) fn of(text: &str) -> Text<N> {
        let mut made = Text::EMPTY;
        made.push(text);
        made
    }

    fn fill(&mut self, rng: &mut Rng, length: usize, alphabet: &[u8]) {
        let (mut left, mut bits) = (0, 0u64);
        self.length = length.min(N);
        for byte in &mut self.bytes[..self.length] {
            if left == 0 {
                (left, bits) = (8, rng.next_u64());
            }
            // The high part of a product with a 64-bit fraction is uniform to 2^-10 after eight draws.
            let product = u128::from(bits) * alphabet.len() as u128;
            *byte = alphabet[(product >> 64) as usize];
            bits = product as u64;
            left -= 1;
        }
    }
}

const ALPHANUMERIC: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &[u8] = b"0123456789";

/// An `a-string`: `least` … `most` characters, letters and digits (4.3.2.2).
pub(crate) fn alphanumeric<const N: usize>(rng: &mut Rng, least: u64, most: u64) -> Text<N> {
    drawn(rng, least, most, ALPHANUMERIC)
}

/// Capital letters: a state.
pub(crate) fn letters<const N: usize>(rng: &mut Rng, least: u64, most: u64) -> Text<N> {
    drawn(rng, least, most, LETTERS)
}

/// An `n-string`: digits (4.3.2.2).
pub(crate) fn digits<const N: usize>(rng: &mut Rng, least: u64, most: u64) -> Text<N> {
    drawn(rng, least, most, DIGITS)
}

fn drawn<const N: usize>(rng: &mut Rng, least: u64, most: u64, alphabet: &[u8]) -> Text<N> {
    let length = between(rng, least, most) as usize;
    let mut text = Text::EMPTY;
    text.fill(rng, length, alphabet);
    text
}

/// Uniform in [least, most].
#[inline]
pub(crate) fn between(rng: &mut Rng, least: u64, most: u64) -> u64 {
    least + rng.below(most - least + 1)
}

/// What one row in ten of items and stock holds.
pub(crate) const ORIGINAL: &str = "ORIGINAL";

/// `least` … 50 characters; in 10 % of the rows, `ORIGINAL` at a drawn place (4.3.3.1).
pub(crate) fn data(rng: &mut Rng, least: u64, most: u64) -> Text<50> {
    let mut text: Text<50> = alphanumeric(rng, least, most);
    if rng.below(10) == 0 {
        let at = rng.below((text.length - ORIGINAL.len()) as u64 + 1) as usize;
        text.bytes[at..at + ORIGINAL.len()].copy_from_slice(ORIGINAL.as_bytes());
    }
    text
}

/// Four drawn digits and `11111` (4.3.2.7).
pub(crate) fn zip(rng: &mut Rng) -> Text<9> {
    let mut text = digits(rng, 4, 4);
    text.push("11111");
    text
}

/// The longest last name.
pub(crate) const LONGEST_NAME: usize = 16;

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// The last name of a number in 0 … 999: a syllable for each of its digits (4.3.2.3).
pub(crate) fn last_name(number: u64) -> Text<LONGEST_NAME> {
    let mut name = Text::EMPTY;
    for digit in [number / 100 % 10, number / 10 % 10, number % 10] {
        name.push(SYLLABLES[digit as usize]);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn last_names_are_made_of_three_syllables() {
        for (number, name) in
            [(0, "BARBARBAR"), (371, "PRICALLYOUGHT"), (999, "EINGEINGEING"), (40, "BARPRESBAR")]
        {
            assert_eq!(last_name(number).as_str(), name);
        }
        assert!((0..1_000).all(|number| last_name(number).length <= LONGEST_NAME));
    }

    #[test]
    fn texts_have_their_lengths_and_characters() {
        let (mut shortest, mut longest, mut original) = (50, 0, 0);
        for index in 0..2_000 {
            let mut rng = Seed(1).at(index);
            let text: Text<24> = alphanumeric(&mut rng, 14, 24);
            assert!((14..=24).contains(&text.as_str().len()));
            assert!(text.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric()));
            let zip = zip(&mut rng);
            assert!(zip.as_str().len() == 9 && zip.as_str().ends_with("11111"));
            assert!(zip.as_str().bytes().all(|byte| byte.is_ascii_digit()));
            let data = data(&mut rng, 26, 50);
            (shortest, longest) = (shortest.min(data.length), longest.max(data.length));
            original += u32::from(data.as_str().contains(ORIGINAL));
        }
        assert_eq!((shortest, longest), (26, 50));
        // Binomial(2000, 0.1): five standard deviations are 67.
        assert!((133..=267).contains(&original), "{original}");
    }

    #[test]
    fn every_character_is_as_likely_as_another() {
        let mut counts = [0u32; 62];
        let mut rng = Seed(2).rng();
        for _ in 0..2_000 {
            let text: Text<500> = alphanumeric(&mut rng, 500, 500);
            for byte in text.as_str().bytes() {
                counts[ALPHANUMERIC.iter().position(|letter| *letter == byte).unwrap()] += 1;
            }
        }
        let expected = 1_000_000.0 / 62.0;
        let chi: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
        // 61 degrees of freedom: 107.3 is the 0.9998 quantile.
        assert!(chi < 107.3, "{chi}");
    }

    #[test]
    fn what_has_no_room_is_cut() {
        let mut text: Text<8> = Text::of("number ");
        text.push_number(120);
        assert_eq!(text.as_str(), "number 1");
        let mut text: Text<8> = Text::EMPTY;
        text.push_number(0);
        assert_eq!(text.as_str(), "0");
    }
}
