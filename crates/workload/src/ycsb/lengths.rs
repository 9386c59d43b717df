//! Lengths of fields and of scans.

use super::choices::{FieldLength, LengthShape};
use super::config::YcsbConfig;
use crate::distribution::GrayZipf;
use std::sync::Arc;
use units::Rng;

/// A length between two limits.
#[derive(Clone, Debug)]
pub(crate) enum LengthDraw {
    Constant(u32),
    Uniform { least: u32, span: u64 },
    Zipfian { least: u32, above: GrayZipf },
    Histogram(Arc<LengthHistogram>),
}

impl LengthDraw {
    pub(crate) fn new(least: u32, most: u32, shape: LengthShape) -> LengthDraw {
        let span = u64::from(most.saturating_sub(least)) + 1;
        match shape {
            LengthShape::Constant | LengthShape::Histogram => LengthDraw::Constant(most),
            LengthShape::Uniform => LengthDraw::Uniform { least, span },
            LengthShape::Zipfian => LengthDraw::Zipfian { least, above: GrayZipf::new(span, 0.99) },
        }
    }

    /// The law of field lengths.
    pub(crate) fn of_fields(config: &YcsbConfig) -> LengthDraw {
        let FieldLength { least, most, shape } = config.field_length;
        match &config.histogram {
            Some(histogram) if shape == LengthShape::Histogram => LengthDraw::Histogram(histogram.clone()),
            _ => LengthDraw::new(least, most, shape),
        }
    }

    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng) -> u32 {
        match self {
            LengthDraw::Constant(length) => *length,
            LengthDraw::Uniform { least, span } => least + rng.below(*span) as u32,
            LengthDraw::Zipfian { least, above } => least + above.draw(rng) as u32,
            LengthDraw::Histogram(histogram) => histogram.draw(rng),
        }
    }
}

/// Lengths as often as a file of YCSB's form says: a line `BlockSize` and a number, then lines of a block's number and how
/// often it occurs, with tabs between. Values of block n are (n + 1) × block size long.
///
/// YCSB gives the last block the length of the one before, and each block one draw too many; not so here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LengthHistogram {
    /// Lengths, and how many of all draws are of it or a shorter one.
    cumulative: Vec<(u32, u64)>,
}

/// As long as a field can be at most.
const LONGEST: u64 = 65_536;

impl LengthHistogram {
    /// Reads a file's text.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn parse(text: &str) -> Result<LengthHistogram, String> {
        let mut lines = text.lines().enumerate();
        let numbers = |line: &str| -> Option<(String, u64)> {
            let (name, number) = line.split_once('\t')?;
            Some((name.trim().to_owned(), number.trim().parse().ok()?))
        };
        let block = match lines.next().and_then(|(_, line)| numbers(line)) {
            Some((name, block)) if name == "BlockSize" && (1..=LONGEST).contains(&block) => block,
            _ => return Err("line 1: expected `BlockSize`, a tab and a number".to_owned()),
        };
        let mut counts = Vec::new();
        for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let pair = numbers(line).and_then(|(bucket, count)| Some((bucket.parse::<u64>().ok()?, count)));
            let Some((bucket, count)) = pair.filter(|(_, count)| *count <= u64::from(u32::MAX)) else {
                return Err(format!(
                    "line {}: expected a block's number, a tab and how often it occurs",
                    at + 1
                ));
            };
            let length = bucket.checked_add(1).and_then(|n| n.checked_mul(block)).filter(|n| *n <= LONGEST);
            let Some(length) = length else {
                return Err(format!("line {}: block {bucket} is of values longer than {LONGEST}", at + 1));
            };
            counts.push((length as u32, count));
        }
        counts.sort_unstable();
        let mut total = 0;
        let cumulative: Vec<(u32, u64)> = counts
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(length, count)| {
                total += count;
                (length, total)
            })
            .collect();
        if cumulative.is_empty() {
            return Err("no block occurs".to_owned());
        }
        Ok(LengthHistogram { cumulative })
    }

    /// The shortest length.
    pub fn least(&self) -> u32 {
        self.cumulative.first().map_or(1, |(length, _)| *length)
    }

    /// The longest length.
    pub fn most(&self) -> u32 {
        self.cumulative.last().map_or(1, |(length, _)| *length)
    }

    #[inline]
    fn draw(&self, rng: &mut Rng) -> u32 {
        let total = self.cumulative.last().map_or(0, |(_, total)| *total);
        let drawn = rng.below(total);
        let at = self.cumulative.partition_point(|(_, upto)| *upto <= drawn);
        self.cumulative.get(at).map_or(1, |(length, _)| *length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::chi_square::assert_law;

    #[test]
    fn histograms_have_their_law() {
        let text = "BlockSize\t10\n0\t5\n2\t0\n3\t15\n1\t80\n";
        let histogram = Arc::new(LengthHistogram::parse(text).unwrap());
        assert_eq!((histogram.least(), histogram.most()), (10, 40));
        let draw = LengthDraw::Histogram(histogram);
        let mut law = vec![0.0; 41];
        (law[10], law[20], law[40]) = (0.05, 0.8, 0.15);
        assert_law("length histogram", 100_000, &law, |rng| u64::from(draw.draw(rng)));
    }

    #[test]
    fn what_is_no_histogram_is_said() {
        let fail = |text: &str| LengthHistogram::parse(text).unwrap_err();
        for text in ["", "BlockSize 10", "Blocksize\t10", "BlockSize\t0", "BlockSize\tx"] {
            assert!(fail(text).contains("`BlockSize`"), "{text}");
        }
        assert!(fail("BlockSize\t10\n").contains("no block occurs"));
        assert!(fail("BlockSize\t10\n0\t0\n").contains("no block occurs"));
        assert!(fail("BlockSize\t10\n\n1 5\n").starts_with("line 3:"));
        assert!(fail("BlockSize\t10\n18446744073709551615\t5\n").contains("longer than 65536"));
    }
}
