//! Counts over time × logarithm of a measure.

use crate::HeatMap;
use record::Measure;
use std::ops::Range;
use units::{Instant, Nanos};

const MOST_COLUMNS: usize = 512;
/// Columns start at 2^14 ns ≈ 16 µs.
const FIRST_SHIFT: u32 = 14;
const ROWS_PER_OCTAVE: usize = 8;
const MANTISSA_BITS: u32 = 12;

/// Which row of its octave a value is in, by the 12 bits after its leading one: row r begins at 2^(r/8), to
/// one part in 4,096.
fn row_table() -> Box<[u8; 1 << MANTISSA_BITS]> {
    let mut table = Box::new([0u8; 1 << MANTISSA_BITS]);
    for (bits, row) in table.iter_mut().enumerate() {
        let octave = (1.0 + bits as f64 / f64::from(1 << MANTISSA_BITS)).log2();
        // A hair up, so that a limit itself is in the row that it begins.
        *row = ((octave * ROWS_PER_OCTAVE as f64 + 1e-9) as u8).min(ROWS_PER_OCTAVE as u8 - 1);
    }
    table
}

/// A heat map while it is made; rows of the whole range of `u64`, columns as pyramids have them.
#[derive(Clone, Debug)]
pub(crate) struct HeatBuilder {
    shift: u32,
    table: Box<[u8; 1 << MANTISSA_BITS]>,
    /// Columns grow as far as their highest row.
    columns: Vec<Vec<u32>>,
}

impl HeatBuilder {
    pub(crate) fn new() -> HeatBuilder {
        HeatBuilder { shift: FIRST_SHIFT, table: row_table(), columns: Vec::new() }
    }

    /// Zero counts as one nanosecond.
    #[inline]
    pub(crate) fn add(&mut self, at: u64, value: u64) {
        let value = value.max(1);
        let exponent = 63 - value.leading_zeros();
        let mantissa =
            ((value << (63 - exponent)) >> (63 - MANTISSA_BITS)) as usize & ((1 << MANTISSA_BITS) - 1);
        let row = exponent as usize * ROWS_PER_OCTAVE + usize::from(self.table[mantissa]);
        let mut index = (at >> self.shift) as usize;
        if index >= self.columns.len() {
            index = self.make_room(at);
        }
        let column = &mut self.columns[index];
        if row >= column.len() {
            column.resize(row + 1, 0);
        }
        column[row] = column[row].saturating_add(1);
    }

    #[cold]
    fn make_room(&mut self, at: u64) -> usize {
        while (at >> self.shift) as usize >= MOST_COLUMNS {
            self.coarsen();
        }
        let index = (at >> self.shift) as usize;
        if index >= self.columns.len() {
            self.columns.resize(index + 1, Vec::new());
        }
        index
    }

    fn coarsen(&mut self) {
        let pairs = self.columns.chunks(2).map(|pair| {
            let mut sum = pair[0].clone();
            if let Some(second) = pair.get(1) {
                add_column(&mut sum, second);
            }
            sum
        });
        self.columns = pairs.collect();
        self.shift += 1;
    }

    pub(crate) fn merge(&mut self, mut other: HeatBuilder) {
        while self.shift < other.shift {
            self.coarsen();
        }
        while other.shift < self.shift {
            other.coarsen();
        }
        if self.columns.len() < other.columns.len() {
            self.columns.resize(other.columns.len(), Vec::new());
        }
        self.columns.iter_mut().zip(&other.columns).for_each(|(a, b)| add_column(a, b));
    }

    /// The column that a time is in.
    pub(crate) fn column(&self, at: u64) -> usize {
        (at >> self.shift) as usize
    }

    /// The limits of the row that the median of these columns is in; `None` of fewer than `least` values.
    pub(crate) fn median(&self, columns: Range<usize>, least: u64) -> Option<(u64, u64)> {
        let columns = columns.start.min(self.columns.len())..columns.end.min(self.columns.len());
        let mut rows = Vec::new();
        self.columns[columns].iter().for_each(|column| add_column(&mut rows, column));
        let count: u64 = rows.iter().map(|n| u64::from(*n)).sum();
        let mut left = (count >= least.max(1)).then(|| count.div_ceil(2))?;
        let row = rows.iter().position(|n| {
            let found = u64::from(*n) >= left;
            left = left.saturating_sub(u64::from(*n));
            found
        })?;
        let limit = |row: usize| (row as f64 / ROWS_PER_OCTAVE as f64).exp2() as u64;
        Some((limit(row), limit(row + 1)))
    }

    /// Cut to the rows between the lowest and the highest that hold something.
    pub(crate) fn heat_map(&self, measure: Measure) -> HeatMap {
        let lowest = self.columns.iter().filter_map(|c| c.iter().position(|n| *n > 0)).min().unwrap_or(0);
        let rows = self.columns.iter().map(Vec::len).max().unwrap_or(0).max(lowest);
        let limit = |row: usize| (row as f64 / ROWS_PER_OCTAVE as f64).exp2();
        let column = |c: &Vec<u32>| (lowest..rows).map(|r| c.get(r).copied().unwrap_or(0)).collect();
        HeatMap {
            measure,
            begin: Instant::EPOCH,
            column_width: Nanos(1 << self.shift),
            row_limits: (lowest..=rows).map(limit).collect(),
            columns: self.columns.iter().map(column).collect(),
        }
    }
}

fn add_column(sum: &mut Vec<u32>, other: &[u32]) {
    if sum.len() < other.len() {
        sum.resize(other.len(), 0);
    }
    sum.iter_mut().zip(other).for_each(|(a, b)| *a = a.saturating_add(*b));
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn a_median_is_of_the_columns_that_are_asked_for() {
        let mut heat = HeatBuilder::new();
        let width = 1 << FIRST_SHIFT;
        (0..1_000).for_each(|i| heat.add(i % 10 * width, if i % 10 < 5 { 1_000 } else { 64_000 }));
        let near =
            |found: Option<(u64, u64)>, value: u64| found.is_some_and(|f| f.0 <= value && value <= f.1);
        assert!(near(heat.median(0..5, 1), 1_000) && near(heat.median(0..10, 1), 1_000));
        assert!(near(heat.median(5..10, 500), 64_000) && near(heat.median(9..900, 100), 64_000));
        assert_eq!([heat.median(5..10, 501), heat.median(10..20, 0), heat.median(3..3, 0)], [None; 3]);
        assert_eq!(heat.column(9 * width + 5), 9);
    }

    #[test]
    fn each_sample_is_in_its_cell() {
        let mut rng = Seed(5).rng();
        let mut parts = [HeatBuilder::new(), HeatBuilder::new()];
        let samples: Vec<(u64, u64)> =
            (0..20_000u64).map(|i| (i * 777_777, (rng.exponential() * 1e6) as u64 + 1)).collect();
        samples.iter().enumerate().for_each(|(i, (at, v))| parts[i % 2].add(*at, *v));
        let [mut all, other] = parts;
        all.merge(other);
        let map = all.heat_map(Measure::Response);
        assert!(map.columns.len() <= MOST_COLUMNS);
        let mut exact = vec![vec![0u32; map.row_limits.len() - 1]; map.columns.len()];
        let mut borderline = 0;
        for (at, value) in &samples {
            let row = map.row_limits.partition_point(|l| *l <= *value as f64) - 1;
            // Closer than one part in 4,096 to a limit, either row will do.
            let near = |l: &f64| (*value as f64 / l - 1.0).abs() < 1.0 / 4096.0;
            borderline += u32::from(map.row_limits.iter().any(near));
            exact[(at / map.column_width.0) as usize][row] += 1;
        }
        let differences =
            exact.iter().flatten().zip(map.columns.iter().flatten()).map(|(a, b)| a.abs_diff(*b));
        assert!(differences.sum::<u32>() <= 2 * borderline, "borderline {borderline}");
        assert_eq!(map.columns.iter().flatten().sum::<u32>(), 20_000);
    }
}
