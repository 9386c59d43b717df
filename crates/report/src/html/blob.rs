//! Arrays of numbers as the page carries them: one zlib stream in base64, and a directory of what is where.
//!
//! ```text
//!  push(array) ──► bytes, directory ──finish──► zlib ──► base64 ──► <script id="numbers">
//! ```
//!
//! Times of requests are kept as 16-bit logarithms, 1,024 steps to the octave: 0.07 %, a twentieth of a pixel
//! on any axis that shows a decade. Exact values travel beside them as text where a page prints them.

use flate2::{Compression, write::ZlibEncoder};
use serde_json::{Value, json};
use std::io::Write;

/// Code of an absent value.
pub(super) const ABSENT: u16 = u16::MAX;
/// Steps to the octave.
const STEPS: f64 = 1024.0;

/// Arrays in the order of their numbers.
#[derive(Default)]
pub(super) struct Blob {
    bytes: Vec<u8>,
    directory: Vec<Value>,
}

/// A duration's code: 1,024 · log₂(ns + 1), rounded; `u64::MAX` is absent.
pub(super) fn code(ns: u64) -> u16 {
    match ns {
        u64::MAX => ABSENT,
        ns => ((ns as f64 + 1.0).log2() * STEPS).round().min(f64::from(ABSENT - 1)) as u16,
    }
}

impl Blob {
    fn add(&mut self, kind: &str, length: usize, bytes: impl IntoIterator<Item = u8>) -> usize {
        let begin = self.bytes.len();
        self.bytes.extend(bytes);
        self.directory.push(json!([kind, begin, length]));
        self.directory.len() - 1
    }

    /// 16-bit numbers as two planes, low bytes first, each as differences to the byte before: neighbours are
    /// alike, which zlib sees only this way. The array's number.
    pub(super) fn u16s(&mut self, values: &[u16]) -> usize {
        let plane = |shift: u32| {
            let mut before = 0u8;
            values.iter().map(move |v| {
                let byte = (v >> shift) as u8;
                let step = byte.wrapping_sub(before);
                // Low bytes are noise: their differences would be more of it.
                before = if shift == 8 { byte } else { 0 };
                step
            })
        };
        let planes: Vec<u8> = plane(0).chain(plane(8)).collect();
        self.add("u16", values.len(), planes)
    }

    /// Whole numbers of 32 bits.
    pub(super) fn u32s(&mut self, values: &[u32]) -> usize {
        self.add("u32", values.len(), values.iter().flat_map(|v| v.to_le_bytes()))
    }

    /// Numbers of 64 bits.
    pub(super) fn f64s(&mut self, values: &[f64]) -> usize {
        self.add("f64", values.len(), values.iter().flat_map(|v| v.to_le_bytes()))
    }

    /// (base64 of the zlib stream, directory of `[type, offset, count]`).
    pub(super) fn finish(self) -> (String, Value) {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(7));
        // Writing to memory cannot fail; were it to, the page would say that its figures are missing.
        let compressed = encoder.write_all(&self.bytes).and_then(|()| encoder.finish()).unwrap_or_default();
        (base64(&compressed), Value::Array(self.directory))
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 4648 §4, with padding.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) as usize & 63;
            text.push(if digit <= group.len() { char::from(DIGITS[index]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let shown: Vec<String> =
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|t| base64(t.as_bytes())).to_vec();
        assert_eq!(shown, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn codes_keep_times_to_a_part_in_a_thousand() {
        assert_eq!((code(0), code(u64::MAX)), (0, ABSENT));
        assert!(code(u64::MAX - 1) < ABSENT);
        let mut ns = 1u64;
        while ns < u64::MAX / 3 {
            let read = (f64::from(code(ns)) / STEPS).exp2() - 1.0;
            assert!((read - ns as f64).abs() <= 0.000_7 * ns as f64 + 0.001, "{ns}: {read}");
            ns = ns * 3 / 2 + 1;
        }
    }
}
