//! What a statement says, before any table is looked at.

use super::types::ColumnType;

/// A table's name as written; names are in the case in which they are looked up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TableName {
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
}

/// One statement.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Statement {
    CreateTable(CreateTable),
    DropTables {
        names: Vec<TableName>,
        if_exists: bool,
    },
    Truncate {
        names: Vec<TableName>,
    },
    CreateIndex {
        table: TableName,
        columns: Vec<String>,
        unique: bool,
    },
    Insert(Insert),
    Select(Select),
    Update {
        table: FromTable,
        assignments: Vec<(String, Cell)>,
        condition: Option<Expr>,
    },
    Delete {
        table: FromTable,
        condition: Option<Expr>,
    },
    Copy {
        table: TableName,
        columns: Vec<String>,
    },
    /// `start` is whether the words were START TRANSACTION, which the answer repeats.
    Begin {
        start: bool,
        modes: Modes,
    },
    Commit,
    Rollback,
    /// `session`: of all transactions to come; otherwise of this one.
    SetTransaction {
        session: bool,
        modes: Modes,
    },
    /// No value: the default. The tag is SET or RESET.
    Set {
        name: String,
        value: Option<String>,
        local: bool,
        tag: &'static str,
    },
    ResetAll,
    Show {
        name: String,
    },
    ShowAll,
    /// VACUUM, ANALYZE, CHECKPOINT: there is nothing to do for them.
    Maintenance {
        tag: &'static str,
        tables: Vec<TableName>,
    },
}

/// How a transaction is to be; what is `None` was not said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Modes {
    pub(crate) isolation: Option<&'static str>,
    pub(crate) read_only: Option<bool>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CreateTable {
    pub(crate) name: TableName,
    pub(crate) if_not_exists: bool,
    pub(crate) columns: Vec<NewColumn>,
    /// The columns of PRIMARY KEY (…); empty where there is none.
    pub(crate) key: Vec<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct NewColumn {
    pub(crate) name: String,
    pub(crate) column_type: ColumnType,
    pub(crate) not_null: bool,
    pub(crate) default: Option<Expr>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Insert {
    pub(crate) table: TableName,
    /// Empty: all, in the table's order.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) conflict: Option<Conflict>,
}

/// A value in VALUES or SET.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cell {
    Default,
    Value(Expr),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Conflict {
    /// The columns whose uniqueness is meant; empty: any.
    pub(crate) target: Vec<String>,
    /// Empty: nothing is done.
    pub(crate) assignments: Vec<(String, Cell)>,
    pub(crate) condition: Option<Expr>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FromTable {
    pub(crate) table: TableName,
    pub(crate) alias: Option<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Select {
    pub(crate) outputs: Vec<Output>,
    pub(crate) from: Option<FromTable>,
    pub(crate) condition: Option<Expr>,
    pub(crate) order: Vec<Order>,
    pub(crate) limit: Option<Expr>,
    pub(crate) offset: Option<Expr>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Output {
    /// `*` or `t.*`.
    All(Option<String>),
    Value {
        expr: Expr,
        alias: Option<String>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Order {
    pub(crate) expr: Expr,
    pub(crate) descending: bool,
}

/// An expression. Chains of one level are lists, not trees: a statement may be long, but it is never deep.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expr {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    /// From 1.
    Parameter(usize),
    Column {
        table: Option<String>,
        name: String,
    },
    Chain(Box<Expr>, Vec<(Operator, Expr)>),
    Compare(Box<Expr>, Comparison, Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    Is {
        expr: Box<Expr>,
        what: Truth,
        negated: bool,
    },
    Between {
        expr: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        negated: bool,
    },
    In {
        expr: Box<Expr>,
        list: Vec<Expr>,
        negated: bool,
    },
    Negative(Box<Expr>),
    Cast(Box<Expr>, ColumnType),
    Call {
        name: String,
        arguments: Vec<Expr>,
        /// `count(*)`
        star: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Truth {
    Null,
    True,
    False,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Concatenate,
}

impl Operator {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Remainder => "%",
            Operator::Concatenate => "||",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "<>",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }

    /// Whether it holds of two values in this order.
    pub(crate) fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        }
    }

    /// The same with its sides exchanged.
    pub(crate) fn mirrored(self) -> Comparison {
        match self {
            Comparison::Equal | Comparison::NotEqual => self,
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        }
    }
}
