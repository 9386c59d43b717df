//! Parquet files that can be trusted before they are parsed.
//!
//! A Parquet library may panic on bytes that are not what it expects, or read numbers that nobody wrote. So nothing is
//! handed to it that is not, byte for byte, what was once written: each file carries CRC-32 sums of its own, in the
//! key-values of its footer, where every other reader ignores them:
//!
//! - `truetail.footer_crc32` is of the footer itself, computed with its own eight digits as zeros. It is found
//!   by its text, without parsing anything.
//! - `truetail.column_crc32` has one sum for each column chunk, checked when that column is read.
//!
//! Rejected: a checksum file beside the parts (a kill between the two writes would lose a part, and copied
//! files would lose their sums), and page checksums of Parquet's own (they leave the footer open).
//!
//! Sums match in a file that was written wrong, too. Hence the limits on what a file may say of itself, and the guard
//! around all that decodes.

use crate::error::one_line;
use crate::guard::guarded;
use crate::thrift;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::column::reader::get_column_reader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr, WriterVersion};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, TypePtr};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// What a part says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PartFacts {
    /// `samples`, `noise`, `events`, `anchors`, `truth`.
    pub(crate) table: String,
    /// The run that it belongs to.
    pub(crate) run_id: String,
    /// The load machine that it comes from.
    pub(crate) client: u16,
    /// The first of the consecutive part numbers that it stands for.
    pub(crate) first: u32,
    /// The last one; merged parts stand for several.
    pub(crate) last: u32,
}

/// A file whose footer has been checked.
#[derive(Debug)]
pub(crate) struct SealedFile {
    file: File,
    pub(crate) facts: PartFacts,
    pub(crate) rows: u64,
    metadata: ParquetMetaData,
    column_sums: Vec<u32>,
    /// Where the footer begins; all columns end before.
    body_end: u64,
}

const FOOTER_KEY: &str = "truetail.footer_crc32";
const FOOTER_MARK: &str = "footer-crc32:";
const DIGITS: usize = 8;
const COLUMNS_KEY: &str = "truetail.column_crc32";
const FORMAT_KEY: &str = "truetail.format";
const TABLE_KEY: &str = "truetail.table";
const RUN_KEY: &str = "truetail.run_id";
const CLIENT_KEY: &str = "truetail.client";
const PARTS_KEY: &str = "truetail.parts";
const MAGIC: &[u8; 4] = b"PAR1";
/// Length and magic behind the footer.
const TAIL: u64 = 8;
/// Rows of a part at most: a row group of the size that readers like, ≈ 12 MB.
pub(crate) const ROWS_MAX: usize = 1 << 20;
/// No footer of ours comes near; a length above is damage, and not worth an allocation.
const FOOTER_MAX: u64 = 4 << 20;

/// Parses one of our own schemas.
///
/// # Panics
/// When the text is not a schema: only an edit of this crate can cause that, and every test would show it.
pub(crate) fn schema(text: &str) -> TypePtr {
    Arc::new(parse_message_type(text).expect("the schemas of this crate are valid"))
}

/// The properties of all our files: page version 2, zstd-1, no page statistics, DELTA_BINARY_PACKED
/// integers, and a dictionary only on the columns named (it costs 8 bytes of memory per value elsewhere).
pub(crate) fn properties(delta: &[&str], dictionary: &[&str]) -> WriterPropertiesPtr {
    let level = ZstdLevel::try_new(1).unwrap_or_default();
    let mut builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_created_by(concat!("truetail ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false)
        .set_write_batch_size(16 << 10)
        .set_data_page_row_count_limit(128 << 10);
    for name in delta {
        builder = builder.set_column_encoding(ColumnPath::from(*name), Encoding::DELTA_BINARY_PACKED);
    }
    for name in dictionary {
        builder = builder.set_column_dictionary_enabled(ColumnPath::from(*name), true);
    }
    Arc::new(builder.build())
}

/// Starts a file in memory; a part holds at most a million rows, ≈ 12 MB.
pub(crate) fn begin(
    schema: TypePtr,
    properties: WriterPropertiesPtr,
) -> Result<SerializedFileWriter<Vec<u8>>, ParquetError> {
    SerializedFileWriter::new(Vec::new(), schema, properties)
}

/// Closes a file with its facts and sums, and gives its bytes.
pub(crate) fn seal(
    mut writer: SerializedFileWriter<Vec<u8>>,
    facts: &PartFacts,
) -> Result<Vec<u8>, ParquetError> {
    writer.flush()?;
    let mut sums = Vec::new();
    for column in writer.flushed_row_groups().iter().flat_map(|group| group.columns()) {
        let (start, length) = column.byte_range();
        let chunk = writer.inner().get(start as usize..(start + length) as usize);
        let chunk = chunk.ok_or_else(|| ParquetError::General("a column lies outside of its file".into()))?;
        sums.push(format!("{:08x}", crc32fast::hash(chunk)));
    }
    let pairs = [
        (FORMAT_KEY, crate::wire::FORMAT.to_string()),
        (TABLE_KEY, facts.table.clone()),
        (RUN_KEY, facts.run_id.clone()),
        (CLIENT_KEY, facts.client.to_string()),
        (PARTS_KEY, format!("{}-{}", facts.first, facts.last)),
        (COLUMNS_KEY, sums.join(",")),
        (FOOTER_KEY, format!("{FOOTER_MARK}{:0DIGITS$}", 0)),
    ];
    for (key, value) in pairs {
        writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
    }
    let body_end = writer.bytes_written();
    let mut bytes = writer.into_inner()?;
    let footer_end = bytes.len() - TAIL as usize;
    let footer = bytes
        .get_mut(body_end..footer_end)
        .ok_or_else(|| ParquetError::General("the footer is not where it was written".into()))?;
    let digits = find_digits(footer).ok_or_else(|| ParquetError::General("the footer has no sum".into()))?;
    let sum = format!("{:08x}", crc32fast::hash(footer));
    footer[digits..digits + DIGITS].copy_from_slice(sum.as_bytes());
    Ok(bytes)
}

fn find_digits(footer: &[u8]) -> Option<usize> {
    let mark = FOOTER_MARK.as_bytes();
    let at = footer.windows(mark.len()).rposition(|window| window == mark)? + mark.len();
    (at + DIGITS <= footer.len()).then_some(at)
}

/// Opens a file and checks its footer; the columns are checked when they are read. ≈ 50 µs.
///
/// `Err` says in a few words why the file can't be used.
pub(crate) fn open(path: &Path) -> Result<SealedFile, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let length = file.metadata().map_err(|e| e.to_string())?.len();
    if length < 4 + TAIL {
        return Err(format!("cut off: {length} bytes"));
    }
    let tail = read_at(&file, length - TAIL, TAIL)?;
    let footer_length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    if &tail[4..] != MAGIC {
        return Err("cut off or overwritten: it does not end as a Parquet file does".to_owned());
    }
    if footer_length > FOOTER_MAX.min(length - TAIL - 4) {
        return Err(format!("damaged: a footer of {footer_length} bytes in a file of {length}"));
    }
    let body_end = length - TAIL - footer_length;
    let footer = read_at(&file, body_end, footer_length)?;
    check_footer(footer.clone())?;
    let metadata = guarded(|| ParquetMetaDataReader::decode_metadata(&footer).map_err(one_line))?;
    let (facts, column_sums) = read_facts(&metadata)?;
    let rows = u64::try_from(metadata.file_metadata().num_rows()).map_err(|_| "negative row count")?;
    if rows > ROWS_MAX as u64 {
        return Err(format!("damaged: it claims {rows} rows, and a part has at most {ROWS_MAX}"));
    }
    Ok(SealedFile { file, facts, rows, metadata, column_sums, body_end })
}

fn read_at(file: &File, start: u64, length: u64) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, start).map_err(|e| e.to_string())?;
    Ok(bytes)
}

fn check_footer(mut footer: Vec<u8>) -> Result<(), String> {
    let at = find_digits(&footer).ok_or("it carries no checksum: not a part that truetail wrote")?;
    let digits = &mut footer[at..at + DIGITS];
    let stored = std::str::from_utf8(digits).ok().and_then(|d| u32::from_str_radix(d, 16).ok());
    digits.fill(b'0');
    let found = crc32fast::hash(&footer);
    if stored == Some(found) { Ok(()) } else { Err("damaged: the footer's checksum is wrong".to_owned()) }
}

fn read_facts(metadata: &ParquetMetaData) -> Result<(PartFacts, Vec<u32>), String> {
    let pairs = metadata.file_metadata().key_value_metadata();
    let value = |key: &str| {
        let pair = pairs.iter().copied().flatten().find(|pair| pair.key == key);
        pair.and_then(|pair| pair.value.as_deref()).ok_or_else(|| format!("its footer has no `{key}`"))
    };
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is not a number"));
    let format = number(value(FORMAT_KEY)?)?;
    if i64::from(format) > crate::wire::FORMAT {
        return Err(format!("format {format} is of a later truetail"));
    }
    let (first, last) = value(PARTS_KEY)?.split_once('-').ok_or("its part numbers are damaged")?;
    let facts = PartFacts {
        table: value(TABLE_KEY)?.to_owned(),
        run_id: value(RUN_KEY)?.to_owned(),
        client: u16::try_from(number(value(CLIENT_KEY)?)?).map_err(|_| "its client is out of range")?,
        first: number(first)?,
        last: number(last)?,
    };
    let sums = value(COLUMNS_KEY)?
        .split(',')
        .map(|sum| u32::from_str_radix(sum, 16).map_err(|_| format!("`{sum}` is not a checksum")))
        .collect::<Result<Vec<_>, _>>()?;
    let groups = metadata.row_groups();
    match groups {
        [group] if group.num_columns() == sums.len() => Ok((facts, sums)),
        _ => Err("it does not have one row group with a checksum for each column".to_owned()),
    }
}

impl SealedFile {
    /// Whether there is a column of this name: tables grow with versions.
    pub(crate) fn has_column(&self, name: &str) -> bool {
        self.metadata.row_group(0).columns().iter().any(|c| c.column_descr().name() == name)
    }

    /// A reader of the column named, after its bytes have been read and checked.
    pub(crate) fn column(&self, name: &str) -> Result<ColumnReader, String> {
        let group = self.metadata.row_group(0);
        let index = group.columns().iter().position(|c| c.column_descr().name() == name);
        let index = index.ok_or_else(|| format!("it has no column `{name}`"))?;
        let chunk = group.column(index);
        let (start, length) = guarded(|| Ok(chunk.byte_range()))?;
        if start.checked_add(length).is_none_or(|end| end > self.body_end) {
            return Err(format!("damaged: column `{name}` lies outside of the file"));
        }
        let bytes = read_at(&self.file, start, length)?;
        if crc32fast::hash(&bytes) != self.column_sums[index] {
            return Err(format!("damaged: the checksum of column `{name}` is wrong"));
        }
        thrift::check_pages(name, &bytes)?;
        let window = Arc::new(Window { start, bytes: bytes.into() });
        guarded(|| {
            let pages =
                SerializedPageReader::new(window, chunk, self.rows as usize, None).map_err(one_line)?;
            Ok(get_column_reader(chunk.column_descr_ptr(), Box::new(pages)))
        })
    }
}

/// A checked piece of a file, addressed by the file's own offsets.
struct Window {
    start: u64,
    bytes: Bytes,
}

impl Window {
    fn from(&self, start: u64) -> Result<Bytes, ParquetError> {
        let skip = start.checked_sub(self.start).filter(|&skip| skip <= self.bytes.len() as u64);
        let skip =
            skip.ok_or_else(|| ParquetError::EOF(format!("offset {start} is outside of the column")))?;
        Ok(self.bytes.slice(skip as usize..))
    }
}

impl Length for Window {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for Window {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(bytes::Buf::reader(self.from(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let rest = self.from(start)?;
        if length > rest.len() {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} reach past the column")));
        }
        Ok(rest.slice(..length))
    }
}
