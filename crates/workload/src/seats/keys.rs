//! The composite ids: numbers, padded with zeros, one after the other.

/// A key of so many digits; written without allocating.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Digits<const N: usize>([u8; N]);

/// Airline, airports of departure and arrival, hours since the first day of flights: 19 digits each.
pub(crate) type FlightKey = Digits<76>;
/// The customer's number (10 digits) and the airport where he is at home (19 digits).
pub(crate) type CustomerKey = Digits<29>;
/// The customer's number alone, which is his other key.
pub(crate) type CustomerText = Digits<64>;

impl<const N: usize> Digits<N> {
    /// All zeros.
    pub(crate) const ZEROS: Digits<N> = Digits([b'0'; N]);

    /// The numbers, each with its width; the widths add up to `N`.
    #[inline]
    pub(crate) fn of(parts: &[(u64, usize)]) -> Digits<N> {
        let mut digits = Digits::ZEROS;
        let mut end = 0;
        for &(mut number, width) in parts {
            end += width;
            let mut at = end;
            while number > 0 && at > end - width {
                at -= 1;
                digits.0[at] = b'0' + (number % 10) as u8;
                number /= 10;
            }
        }
        digits
    }

    /// The same digits from a database; `None` where there are not exactly as many.
    pub(crate) fn read(text: &str) -> Option<Digits<N>> {
        let bytes: [u8; N] = text.as_bytes().try_into().ok()?;
        bytes.iter().all(u8::is_ascii_digit).then_some(Digits(bytes))
    }

    pub(crate) fn as_str(&self) -> &str {
        // Nothing but digits is ever written.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The number that its first `width` digits are.
    pub(crate) fn first(&self, width: usize) -> u64 {
        self.0[..width].iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
    }
}

impl<const N: usize> std::fmt::Debug for Digits<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The key of a customer.
pub(crate) fn customer_key(customer: u64, airport: u64) -> CustomerKey {
    Digits::of(&[(customer, 10), (airport, 19)])
}

/// A customer's other key.
pub(crate) fn customer_text(customer: u64) -> CustomerText {
    Digits::of(&[(customer, 64)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_padded_and_read_back() {
        let key = customer_key(1_234_567, 286);
        assert_eq!(key.as_str(), "00012345670000000000000000286");
        assert_eq!((key.first(10), Digits::read(key.as_str())), (1_234_567, Some(key)));
        assert_eq!(CustomerKey::read("12"), None);
        assert_eq!(CustomerKey::read("0001234567000000000000000028x"), None);
        let flight = FlightKey::of(&[(1_250, 19), (1, 19), (286, 19), (1_247, 19)]);
        assert_eq!(flight.as_str().len(), 76);
        assert!(flight.as_str().starts_with("00000000000000012500000000000000000001"));
        assert!(customer_text(7).as_str().ends_with("0007"));
    }
}
