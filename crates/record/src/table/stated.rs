//! The table of what a tool stated: one row for each figure, so that any program can read it.

use super::column::{ColumnSink, ColumnSource};
use super::small::{Row, column, instant, texts};
use crate::sealed::{self, PartFacts, SealedFile};
use crate::{Stated, StatedFrom, StatedRounding};
use parquet::data_type::{DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use units::{Instant, Nanos, Quantile};

/// The name of the table in footers, and of its file and directory.
pub(crate) const STATED: &str = "stated";

/// The figure that says how the others were rounded.
const ROUNDED_DOWN: &str = "rounded-down";

/// One figure of one statement.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Figure {
    /// Which statement, from 0.
    row: i32,
    operation: String,
    measure: String,
    counted_from: String,
    begin: Instant,
    end: Instant,
    /// `statement` (that there is one), `count`, `mean`, `min`, `max`, `quantile`, `cumulative`, `resolution`,
    /// `relative-resolution`, `rounded-down` (that they are).
    figure: String,
    /// The quantile, or the relative resolution; 0 elsewhere.
    share: f64,
    value_ns: Option<u64>,
    count: Option<u64>,
}

/// All figures of all statements.
pub(crate) fn figures(all: &[Stated]) -> Vec<Figure> {
    let mut found = Vec::new();
    for (row, stated) in all.iter().enumerate() {
        let (begin, end) = stated.interval.unwrap_or((Instant::NONE, Instant::NONE));
        let mut push = |figure: &str, share: f64, value: Option<Nanos>, count: Option<u64>| {
            found.push(Figure {
                row: i32::try_from(row).unwrap_or(i32::MAX),
                operation: stated.operation.clone(),
                measure: stated.measure.clone(),
                counted_from: stated.counted_from.name().to_owned(),
                begin,
                end,
                figure: figure.to_owned(),
                share,
                value_ns: value.map(|value| value.0),
                count,
            });
        };
        push("statement", 0.0, None, None);
        stated.count.iter().for_each(|count| push("count", 0.0, None, Some(*count)));
        let single = [
            ("mean", stated.mean),
            ("min", stated.min),
            ("max", stated.max),
            ("resolution", stated.resolution),
        ];
        for (name, value) in single.into_iter().filter(|(_, value)| value.is_some()) {
            push(name, 0.0, value, None);
        }
        stated.relative_resolution.iter().for_each(|width| push("relative-resolution", *width, None, None));
        if stated.rounding == StatedRounding::Down {
            push(ROUNDED_DOWN, 0.0, None, None);
        }
        stated.quantiles.iter().for_each(|(q, value)| push("quantile", q.get(), Some(*value), None));
        stated.cumulative.iter().for_each(|(value, n)| push("cumulative", 0.0, Some(*value), Some(*n)));
    }
    found
}

/// The statements of figures; a kind of figure that this truetail does not know is left out.
pub(crate) fn statements(figures: &[Figure]) -> Vec<Stated> {
    let mut all: Vec<(i32, Stated)> = Vec::new();
    for figure in figures {
        if all.last().is_none_or(|(row, _)| *row != figure.row) {
            let from = StatedFrom::ALL.into_iter().find(|from| from.name() == figure.counted_from);
            let interval = figure.begin.is_some() && figure.end.is_some();
            let stated = Stated {
                operation: figure.operation.clone(),
                measure: figure.measure.clone(),
                counted_from: from.unwrap_or_default(),
                interval: interval.then_some((figure.begin, figure.end)),
                ..Stated::default()
            };
            all.push((figure.row, stated));
        }
        if let Some((_, stated)) = all.last_mut() {
            take(stated, figure);
        }
    }
    all.into_iter().map(|(_, stated)| stated).collect()
}

fn take(stated: &mut Stated, figure: &Figure) {
    let value = figure.value_ns.map(Nanos);
    match (figure.figure.as_str(), value) {
        ("count", _) => stated.count = figure.count,
        ("mean", _) => stated.mean = value,
        ("min", _) => stated.min = value,
        ("max", _) => stated.max = value,
        ("resolution", _) => stated.resolution = value,
        ("relative-resolution", _) => stated.relative_resolution = Some(figure.share),
        (ROUNDED_DOWN, _) => stated.rounding = StatedRounding::Down,
        ("quantile", Some(value)) => {
            stated.quantiles.extend(Quantile::new(figure.share).map(|q| (q, value)));
        }
        ("cumulative", Some(value)) => stated.cumulative.extend(figure.count.map(|count| (value, count))),
        _ => {}
    }
}

impl Row for Figure {
    fn encode(rows: &[Figure], facts: &PartFacts) -> Result<Vec<u8>, ParquetError> {
        let schema = sealed::schema(
            "message stated {
                REQUIRED INT32 row;
                REQUIRED BYTE_ARRAY operation (STRING);
                REQUIRED BYTE_ARRAY measure (STRING);
                REQUIRED BYTE_ARRAY counted_from (STRING);
                OPTIONAL INT64 begin_ns;
                OPTIONAL INT64 end_ns;
                REQUIRED BYTE_ARRAY figure (STRING);
                REQUIRED DOUBLE share;
                OPTIONAL INT64 value_ns;
                OPTIONAL INT64 count;
            }",
        );
        let delta = ["begin_ns", "end_ns", "value_ns", "count"];
        let properties =
            sealed::properties(&delta, &["row", "operation", "measure", "counted_from", "figure"]);
        let mut file = sealed::begin(schema, properties)?;
        let mut sink = ColumnSink::new(file.next_row_group()?);
        sink.small(rows.iter().map(|row| row.row))?;
        sink.text(rows.iter().map(|row| row.operation.as_str()))?;
        sink.text(rows.iter().map(|row| row.measure.as_str()))?;
        sink.text(rows.iter().map(|row| row.counted_from.as_str()))?;
        sink.optional(rows.iter().map(|row| column(row.begin)))?;
        sink.optional(rows.iter().map(|row| column(row.end)))?;
        sink.text(rows.iter().map(|row| row.figure.as_str()))?;
        sink.real(&rows.iter().map(|row| row.share).collect::<Vec<_>>())?;
        sink.optional(rows.iter().map(|row| row.value_ns.map(u64::cast_signed)))?;
        sink.optional(rows.iter().map(|row| row.count.map(u64::cast_signed)))?;
        sink.close()?;
        sealed::seal(file, facts)
    }

    fn decode(file: &SealedFile) -> Result<Vec<Figure>, String> {
        let rows = usize::try_from(file.rows).map_err(|e| e.to_string())?;
        let mut row = ColumnSource::<Int32Type>::new("row", file.column("row")?)?;
        row.advance(rows)?;
        let mut share = ColumnSource::<DoubleType>::new("share", file.column("share")?)?;
        share.advance(rows)?;
        let long = |name: &'static str| -> Result<Vec<Option<u64>>, String> {
            let mut source = ColumnSource::<Int64Type>::new(name, file.column(name)?)?;
            source.advance(rows)?;
            Ok(source.options(rows).map(|value| value.map(i64::cast_unsigned)).collect())
        };
        let (begin, end) = (long("begin_ns")?, long("end_ns")?);
        let (value, count) = (long("value_ns")?, long("count")?);
        let words = texts(file, "operation", rows)?.into_iter().zip(texts(file, "measure", rows)?);
        let words = words.zip(texts(file, "counted_from", rows)?).zip(texts(file, "figure", rows)?);
        Ok(words
            .enumerate()
            .map(|(at, (((operation, measure), counted_from), figure))| Figure {
                row: row.values()[at],
                operation,
                measure,
                counted_from,
                begin: instant(begin[at].map(u64::cast_signed)),
                end: instant(end[at].map(u64::cast_signed)),
                figure,
                share: share.values()[at],
                value_ns: value[at],
                count: count[at],
            })
            .collect())
    }
}
