//! Numbers as texts of a fixed width, made where they are needed without allocating.

/// A number, left padded with zeros to `N` digits; its last `N` digits where it has more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digits<const N: usize>([u8; N]);

impl<const N: usize> Digits<N> {
    /// The text of a number.
    #[inline]
    pub(crate) fn of(mut number: u64) -> Digits<N> {
        let mut digits = [b'0'; N];
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
        Digits(digits)
    }

    /// The text.
    #[inline]
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_padded() {
        assert_eq!(Digits::<15>::of(42).as_str(), "000000000000042");
        assert_eq!(Digits::<3>::of(0).as_str(), "000");
        assert_eq!(Digits::<64>::of(u64::MAX).as_str(), format!("{:064}", u64::MAX));
        assert_eq!(Digits::<2>::of(1234).as_str(), "34");
    }
}
