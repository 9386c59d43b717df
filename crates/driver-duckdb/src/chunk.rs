//! Rows as DuckDB hands them over: chunks of columns.

use crate::api::{Api, Handle, Kind, RawResult, kind};
use std::ffi::c_uint;

/// A chunk of rows; destroyed on drop.
pub(crate) struct Chunk<'a> {
    api: &'a Api,
    raw: Handle,
}

impl<'a> Chunk<'a> {
    /// The next chunk of a result; `None` at its end.
    ///
    /// # Safety
    /// The result is alive as long as the chunk.
    pub(crate) unsafe fn next(api: &'a Api, result: RawResult) -> Option<Chunk<'a>> {
        // SAFETY: as the caller promises.
        let raw = unsafe { (api.fetch_chunk)(result) };
        (!raw.is_null()).then_some(Chunk { api, raw })
    }

    /// Rows in it.
    pub(crate) fn rows(&self) -> usize {
        // SAFETY: alive, as in all calls below.
        unsafe { (self.api.data_chunk_get_size)(self.raw) as usize }
    }

    /// One of its columns, which must be there and of this kind.
    pub(crate) fn column(&self, index: usize, kind: Kind) -> Column<'_> {
        // SAFETY: alive; the vector lives as long as the chunk, which the result borrows.
        unsafe {
            let vector = (self.api.data_chunk_get_vector)(self.raw, index as u64);
            let data: *const u8 = (self.api.vector_get_data)(vector).cast();
            Column {
                data,
                validity: (self.api.vector_get_validity)(vector),
                kind,
                rows: self.rows(),
                chunk: self,
            }
        }
    }
}

impl Drop for Chunk<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it afterwards.
        unsafe { (self.api.destroy_data_chunk)(&mut self.raw) };
    }
}

/// A column of a chunk.
pub(crate) struct Column<'a> {
    data: *const u8,
    /// A bit for each row that is not NULL; null when none is.
    validity: *const u64,
    kind: Kind,
    rows: usize,
    #[expect(dead_code, reason = "keeps the memory that the pointers lead to")]
    chunk: &'a Chunk<'a>,
}

impl Column<'_> {
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn is_null(&self, row: usize) -> bool {
        assert!(row < self.rows);
        // SAFETY: a bit for each row, in words of 64.
        !self.validity.is_null() && unsafe { *self.validity.add(row / 64) } >> (row % 64) & 1 == 0
    }

    /// The value at `row`, which the kind says is a `T`.
    fn at<T: Copy>(&self, row: usize) -> T {
        assert!(row < self.rows && width(self.kind.held_as) == size_of::<T>());
        // SAFETY: the column has so many values of this width; its memory may be aligned to less.
        unsafe { self.data.cast::<T>().add(row).read_unaligned() }
    }

    /// A whole number, or the digits of a decimal; `None` for other kinds.
    pub(crate) fn whole(&self, row: usize) -> Option<i128> {
        Some(match self.kind.held_as {
            kind::BOOLEAN | kind::UTINYINT => self.at::<u8>(row).into(),
            kind::TINYINT => self.at::<i8>(row).into(),
            kind::SMALLINT => self.at::<i16>(row).into(),
            kind::USMALLINT => self.at::<u16>(row).into(),
            kind::INTEGER | kind::DATE => self.at::<i32>(row).into(),
            kind::UINTEGER => self.at::<u32>(row).into(),
            kind::BIGINT | kind::TIMESTAMP | kind::TIMESTAMP_TZ => self.at::<i64>(row).into(),
            kind::UBIGINT => self.at::<u64>(row).into(),
            // Two words, the lower one first, on the machines that this runs on.
            kind::HUGEINT => self.at::<i128>(row),
            _ => return None,
        })
    }

    /// A floating-point number; `None` for other kinds.
    pub(crate) fn float(&self, row: usize) -> Option<f64> {
        match self.kind.held_as {
            kind::FLOAT => Some(self.at::<f32>(row).into()),
            kind::DOUBLE => Some(self.at::<f64>(row)),
            _ => None,
        }
    }

    /// The bytes of a text; `None` for other kinds.
    pub(crate) fn text(&self, row: usize) -> Option<&[u8]> {
        if !matches!(self.kind.id, kind::VARCHAR | kind::BLOB) {
            return None;
        }
        assert!(row < self.rows);
        // SAFETY: 16 bytes a value: the length, then the bytes themselves (up to 12), or four of them and a pointer to all.
        unsafe {
            let value = self.data.add(row * TEXT);
            let length = value.cast::<u32>().read_unaligned() as usize;
            let start =
                if length <= 12 { value.add(4) } else { value.add(8).cast::<*const u8>().read_unaligned() };
            Some(std::slice::from_raw_parts(start, length))
        }
    }

    /// Loads a value of each cache line, and of texts all lines, as receiving them would; gives something that depends on it.
    pub(crate) fn touch(&self) -> u64 {
        let mut sum = 0_u64;
        if matches!(self.kind.id, kind::VARCHAR | kind::BLOB) {
            for row in (0..self.rows).filter(|row| !self.is_null(*row)) {
                let bytes = self.text(row).unwrap_or(&[]);
                sum = bytes.iter().step_by(64).fold(sum, |sum, byte| sum.wrapping_add(u64::from(*byte)));
            }
            return sum;
        }
        for offset in (0..self.rows * width(self.kind.held_as)).step_by(64) {
            // SAFETY: within the column's values.
            sum = sum.wrapping_add(u64::from(unsafe { *self.data.add(offset) }));
        }
        sum
    }
}

/// Bytes of a text's value.
const TEXT: usize = 16;

/// Bytes of a value; 0 for kinds that are not looked into.
fn width(id: c_uint) -> usize {
    match id {
        kind::BOOLEAN | kind::TINYINT | kind::UTINYINT => 1,
        kind::SMALLINT | kind::USMALLINT => 2,
        kind::INTEGER | kind::UINTEGER | kind::FLOAT | kind::DATE => 4,
        kind::BIGINT | kind::UBIGINT | kind::DOUBLE | kind::TIMESTAMP | kind::TIMESTAMP_TZ => 8,
        kind::HUGEINT | kind::VARCHAR | kind::BLOB => 16,
        _ => 0,
    }
}
