//! Parts whose checksums match whatever their bytes say: what a buggy or a hostile writer could make, and what a flipped
//! bit can't. Only behind matching sums does damage reach the Parquet decoder.

use parquet::basic::{Compression, Encoding};
use parquet::column::reader::{ColumnReader, get_typed_column_reader};
use parquet::data_type::{ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnPath;
use std::ops::Range;
use std::sync::Arc;

const COLUMN_SUMS: &[u8] = b"truetail.column_crc32";
const FOOTER_MARK: &[u8] = b"footer-crc32:";
const SUM_DIGITS: usize = 8;
/// Length and magic behind the footer.
const TAIL: usize = 8;

/// A sound part, and where its columns lie.
pub struct Sealed {
    pub bytes: Vec<u8>,
    pub columns: Vec<Range<usize>>,
}

impl Sealed {
    pub fn new(bytes: Vec<u8>) -> Sealed {
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
        let group = reader.metadata().row_group(0);
        let range = |(start, length): (u64, u64)| start as usize..(start + length) as usize;
        let columns = group.columns().iter().map(|column| range(column.byte_range())).collect();
        Sealed { bytes, columns }
    }

    /// Where the footer lies.
    pub fn footer(&self) -> Range<usize> {
        let end = self.bytes.len() - TAIL;
        let length = u32::from_le_bytes(self.bytes[end..end + 4].try_into().unwrap());
        end - length as usize..end
    }

    /// The same rows written by somebody else's rules: no compression, so that damage lies in the encoded values, and
    /// an encoding for each integer column.
    pub fn rewritten(&self, integers: Encoding, dictionary: bool) -> Sealed {
        let reader = SerializedFileReader::new(bytes::Bytes::from(self.bytes.clone())).unwrap();
        let metadata = reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let mut properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_compression(Compression::UNCOMPRESSED)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_dictionary_enabled(dictionary);
        for column in schema.columns().iter().filter(|column| column.physical_type().to_string() == "INT64") {
            properties = properties.set_column_encoding(ColumnPath::from(column.name()), integers);
        }
        let root = schema.root_schema_ptr();
        let mut writer = SerializedFileWriter::new(Vec::new(), root, Arc::new(properties.build())).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let (rows, source) = (metadata.row_group(0).num_rows() as usize, reader.get_row_group(0).unwrap());
        for index in 0..schema.num_columns() {
            match source.get_column_reader(index).unwrap() {
                column @ ColumnReader::Int32ColumnReader(_) => copy::<Int32Type>(column, &mut group, rows),
                column @ ColumnReader::Int64ColumnReader(_) => copy::<Int64Type>(column, &mut group, rows),
                column @ ColumnReader::DoubleColumnReader(_) => copy::<DoubleType>(column, &mut group, rows),
                column => copy::<ByteArrayType>(column, &mut group, rows),
            }
        }
        group.close().unwrap();
        for pair in metadata.file_metadata().key_value_metadata().unwrap() {
            writer.append_key_value_metadata(pair.clone());
        }
        let rewritten = Sealed::new(writer.into_inner().unwrap());
        let bytes = rewritten.resealed(rewritten.bytes.clone());
        Sealed { bytes, ..rewritten }
    }

    /// `damaged`, made of these bytes, with the checksums that it should have; pieces that can't be found any more
    /// keep theirs.
    pub fn resealed(&self, mut damaged: Vec<u8>) -> Vec<u8> {
        let sums: Vec<String> = self
            .columns
            .iter()
            .map(|range| format!("{:08x}", crc32fast::hash(damaged.get(range.clone()).unwrap_or_default())))
            .collect();
        if let Some(key) = last(&damaged, COLUMN_SUMS) {
            // A list's text lies behind the key's, and a few bytes that say what follows.
            let text = sums.join(",");
            let from = (key..key + 8).find(|&at| damaged.get(at).is_some_and(u8::is_ascii_hexdigit));
            if let Some(room) = from.and_then(|from| damaged.get_mut(from..from + text.len())) {
                room.copy_from_slice(text.as_bytes());
            }
        }
        self.reseal_footer(&mut damaged);
        damaged
    }

    /// The same file, in which the first page of a column says that it takes `bytes` in memory. The column keeps its
    /// length: what the number takes goes from the end of the page, which must be the only one.
    pub fn claiming(&self, column: usize, bytes: u64) -> Vec<u8> {
        let range = self.columns[column].clone();
        let chunk = &self.bytes[range.clone()];
        // Fields 1 to 3 of the header: its type, which takes a byte, and the sizes in memory and on disk.
        assert_eq!((chunk[0], chunk[2]), (0x15, 0x15), "a page header");
        let (unpacked, after) = varint(&chunk[3..]);
        let (packed, rest) = varint(&after[1..]);
        let longer = number(bytes * 2).len() - number(unpacked).len();
        let header = [&chunk[..3], &number(bytes * 2), &[0x15], &number(packed - 2 * longer as u64)].concat();
        let mut made = [&header, rest].concat();
        made.resize(chunk.len(), 0);
        let mut damaged = self.bytes.clone();
        damaged[range].copy_from_slice(&made);
        self.resealed(damaged)
    }

    fn reseal_footer(&self, damaged: &mut [u8]) -> Option<()> {
        let end = damaged.len().checked_sub(TAIL)?;
        let length = u32::from_le_bytes(damaged[end..end + 4].try_into().ok()?) as usize;
        let footer = damaged.get_mut(end.checked_sub(length)?..end)?;
        let digits = last(footer, FOOTER_MARK)?;
        footer.get_mut(digits..digits + SUM_DIGITS)?.fill(b'0');
        let sum = format!("{:08x}", crc32fast::hash(footer));
        footer[digits..digits + SUM_DIGITS].copy_from_slice(sum.as_bytes());
        Some(())
    }
}

/// A number in seven bits a byte, the lowest first, and what follows it.
fn varint(bytes: &[u8]) -> (u64, &[u8]) {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let value = bytes[..length].iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7F));
    (value, &bytes[length..])
}

fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Behind the last occurrence of `words`.
fn last(bytes: &[u8], words: &[u8]) -> Option<usize> {
    Some(bytes.windows(words.len()).rposition(|window| window == words)? + words.len())
}

fn copy<T: DataType>(column: ColumnReader, group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, rows: usize) {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut reader = get_typed_column_reader::<T>(column);
    reader.read_records(rows, Some(&mut levels), None, &mut values).unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let levels = (!levels.is_empty()).then_some(&levels[..]);
    column.typed::<T>().write_batch(&values, levels, None).unwrap();
    column.close().unwrap();
}
