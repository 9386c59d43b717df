//! What a file says, taken apart and not yet computed: parameters may still be set otherwise.

use crate::document::Place;
use crate::expression::Expression;
use driver::{Dialect, Isolation, ValueType};

/// A plain value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Scalar {
    Int(i64),
    Float(f64),
    Text(String),
    /// Microseconds since 1970.
    Timestamp(i64),
}

/// A number that may be written with parameters.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Amount {
    pub(crate) expression: Expression,
    /// It was written as a number with a point.
    pub(crate) has_point: bool,
    pub(crate) place: Place,
}

/// SQL for all dialects, or for each its own.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Variants {
    pub(crate) any: Option<String>,
    pub(crate) of: Vec<(Dialect, String)>,
    pub(crate) place: Place,
}

/// The dialects that SQL can be written for, by their keys.
pub(crate) const DIALECTS: [(&str, Dialect); 4] = [
    ("postgres", Dialect::Postgres),
    ("mysql", Dialect::MySql),
    ("sqlite", Dialect::Sqlite),
    ("duckdb", Dialect::DuckDb),
];

impl Variants {
    /// The SQL for a dialect, and whether it is the one for all. A target that understands nothing gets any.
    pub(crate) fn get(&self, dialect: Dialect) -> Option<(&str, bool)> {
        let own = self.of.iter().find(|(of, _)| *of == dialect).map(|(_, sql)| (sql.as_str(), false));
        let first = || self.of.first().filter(|_| !dialect.is_sql()).map(|(_, sql)| (sql.as_str(), false));
        own.or_else(|| self.any.as_deref().map(|sql| (sql, true))).or_else(first)
    }

    /// The same, or why there is none.
    pub(crate) fn require(&self, dialect: Dialect) -> Result<(&str, bool), String> {
        self.get(dialect).ok_or_else(|| {
            let has: Vec<String> = self.of.iter().map(|(of, _)| format!("`{}`", key(*of))).collect();
            let wanted = key(dialect);
            self.place.error(format!("there is SQL for {} alone; add `{wanted}` or `any`", has.join(", ")))
        })
    }

    /// All of it.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, Dialect)> {
        let any = self.any.as_deref().map(|sql| (sql, Dialect::Null));
        any.into_iter().chain(self.of.iter().map(|(dialect, sql)| (sql.as_str(), *dialect)))
    }
}

fn key(dialect: Dialect) -> &'static str {
    DIALECTS.iter().find(|(_, of)| *of == dialect).map_or("any", |(key, _)| *key)
}

/// How ranks of a Zipf distribution are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ZipfShape {
    Exact,
    Ycsb,
    Scrambled,
}

/// How a value is drawn.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Kind {
    Constant(Scalar),
    /// A constant that is computed.
    Computed(Amount),
    Uniform {
        from: Amount,
        to: Amount,
    },
    Zipf {
        shape: ZipfShape,
        from: Amount,
        to: Amount,
        theta: Option<Amount>,
    },
    Nurand {
        a: Amount,
        from: Amount,
        to: Amount,
        c: Option<Amount>,
    },
    Hotspot {
        from: Amount,
        to: Amount,
        hot: Amount,
        share: Amount,
    },
    Sequence {
        from: Option<Amount>,
        after: Option<(String, String)>,
    },
    Text {
        alphabet: Vec<char>,
        least: Amount,
        most: Amount,
    },
    Choice {
        of: Vec<Scalar>,
        weights: Option<Vec<Amount>>,
    },
    Timestamp {
        from: i64,
        to: i64,
    },
    Now,
}

/// How numbers become text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TextForm {
    pub(crate) prefix: String,
    /// At least so many digits, with zeros in front.
    pub(crate) width: usize,
}

/// A value and how it is drawn.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ValueDefinition {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The type, where it is stated.
    pub(crate) stated: Option<ValueType>,
    pub(crate) form: Option<TextForm>,
    /// YCSB's hash instead of the number.
    pub(crate) hash: bool,
    /// Drawn again as long as it is the same as this one.
    pub(crate) unlike: Option<String>,
    pub(crate) place: Place,
}

/// A table of the data set.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TableDefinition {
    pub(crate) name: String,
    pub(crate) rows: Option<Amount>,
    pub(crate) columns: Vec<ValueDefinition>,
    pub(crate) place: Place,
}

/// Scripts around the data set.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Setup {
    pub(crate) create: Option<Variants>,
    pub(crate) finish: Option<Variants>,
    pub(crate) drop: Option<Variants>,
}

impl Setup {
    pub(crate) fn scripts(&self) -> impl Iterator<Item = &Variants> {
        [&self.create, &self.finish, &self.drop].into_iter().flatten()
    }
}

/// A query that must give 0, or no rows.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CheckDefinition {
    pub(crate) name: String,
    pub(crate) sql: Variants,
    pub(crate) is_slow: bool,
}

/// What a step's answer must be, or the request is a miss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Expect {
    #[default]
    Any,
    /// Exactly one row.
    Row,
    /// At least one row.
    Rows,
    /// At least one row was changed.
    Affected,
}

/// A statement of a transaction.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct StepDefinition {
    pub(crate) sql: Variants,
    pub(crate) expect: Expect,
    pub(crate) abort_if_empty: bool,
    /// Sent with the step before it.
    pub(crate) together: Option<bool>,
    /// The kept row's name and its columns.
    pub(crate) keep: Option<(String, Vec<(String, ValueType)>)>,
    pub(crate) place: Place,
}

/// A kind of request.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TransactionDefinition {
    pub(crate) name: String,
    pub(crate) weight: f64,
    pub(crate) isolation: Option<Isolation>,
    pub(crate) autocommit: Option<bool>,
    pub(crate) together: bool,
    pub(crate) values: Vec<ValueDefinition>,
    pub(crate) steps: Vec<StepDefinition>,
    pub(crate) place: Place,
}

/// A whole file.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Definition {
    pub(crate) name: Option<(String, Place)>,
    pub(crate) parameters: Vec<(String, Scalar)>,
    pub(crate) setup: Setup,
    pub(crate) tables: Vec<TableDefinition>,
    pub(crate) checks: Vec<CheckDefinition>,
    pub(crate) values: Vec<ValueDefinition>,
    pub(crate) transactions: Vec<TransactionDefinition>,
}
