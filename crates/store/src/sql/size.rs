//! How much memory a statement and its plan take, beyond the text that they came from: a few bytes of text can stand for
//! a thousand columns.

use super::access::Access;
use super::catalog::Column;
use super::datum::Datum;
use super::expression::{Node, Step, Typed};
use super::plan::{Aggregate, OutputColumn, Plan, ResultRows, Select};
use super::syntax::{
    Cell, Conflict, CreateTable, Expr, FromTable, Insert, NewColumn, Order, Output, Select as SelectSyntax,
    Statement, TableName,
};

/// What an allocation costs besides its bytes.
const ALLOCATION: usize = 16;

/// What lies behind pointers.
pub(crate) trait Heap {
    /// Bytes, about. Costs a walk over all of it, as making it did.
    fn heap(&self) -> usize;
}

/// A thing with all that it points to.
pub(crate) fn size_of_all<T: Heap>(thing: &T) -> usize {
    size_of::<T>() + thing.heap()
}

impl Heap for String {
    fn heap(&self) -> usize {
        self.capacity() + ALLOCATION
    }
}

impl<T: Heap> Heap for Option<T> {
    fn heap(&self) -> usize {
        self.as_ref().map_or(0, Heap::heap)
    }
}

impl<T: Heap> Heap for Vec<T> {
    fn heap(&self) -> usize {
        let all: usize = self.iter().map(Heap::heap).sum();
        all + self.capacity() * size_of::<T>() + ALLOCATION
    }
}

impl<T: Heap> Heap for Box<T> {
    fn heap(&self) -> usize {
        size_of::<T>() + ALLOCATION + (**self).heap()
    }
}

impl<A: Heap, B: Heap> Heap for (A, B) {
    fn heap(&self) -> usize {
        self.0.heap() + self.1.heap()
    }
}

macro_rules! nothing_behind {
    ($($name:ty),*) => {
        $(impl Heap for $name {
            fn heap(&self) -> usize {
                0
            }
        })*
    };
}

nothing_behind!(bool, usize, super::syntax::Operator);

impl Heap for TableName {
    fn heap(&self) -> usize {
        self.schema.heap() + self.name.heap()
    }
}

impl Heap for FromTable {
    fn heap(&self) -> usize {
        self.table.heap() + self.alias.heap()
    }
}

impl Heap for Cell {
    fn heap(&self) -> usize {
        match self {
            Cell::Default => 0,
            Cell::Value(expr) => expr.heap(),
        }
    }
}

impl Heap for Expr {
    fn heap(&self) -> usize {
        match self {
            Expr::Null | Expr::Bool(_) | Expr::Parameter(_) => 0,
            Expr::Number(text) | Expr::Text(text) => text.heap(),
            Expr::Column { table, name } => table.heap() + name.heap(),
            Expr::Chain(first, steps) => first.heap() + steps.heap(),
            Expr::Compare(left, _, right) => left.heap() + right.heap(),
            Expr::And(all) | Expr::Or(all) => all.heap(),
            Expr::Not(expr) | Expr::Negative(expr) | Expr::Cast(expr, _) | Expr::Is { expr, .. } => {
                expr.heap()
            }
            Expr::Between { expr, low, high, .. } => expr.heap() + low.heap() + high.heap(),
            Expr::In { expr, list, .. } => expr.heap() + list.heap(),
            Expr::Call { name, arguments, .. } => name.heap() + arguments.heap(),
        }
    }
}

impl Heap for Output {
    fn heap(&self) -> usize {
        match self {
            Output::All(table) => table.heap(),
            Output::Value { expr, alias } => expr.heap() + alias.heap(),
        }
    }
}

impl Heap for Order {
    fn heap(&self) -> usize {
        self.expr.heap()
    }
}

impl Heap for SelectSyntax {
    fn heap(&self) -> usize {
        let rows = self.from.heap() + self.condition.heap() + self.order.heap();
        self.outputs.heap() + rows + self.limit.heap() + self.offset.heap()
    }
}

impl Heap for Conflict {
    fn heap(&self) -> usize {
        self.target.heap() + self.assignments.heap() + self.condition.heap()
    }
}

impl Heap for Insert {
    fn heap(&self) -> usize {
        self.table.heap() + self.columns.heap() + self.rows.heap() + self.conflict.heap()
    }
}

impl Heap for NewColumn {
    fn heap(&self) -> usize {
        self.name.heap() + self.default.heap()
    }
}

impl Heap for CreateTable {
    fn heap(&self) -> usize {
        self.name.heap() + self.columns.heap() + self.key.heap()
    }
}

impl Heap for Statement {
    fn heap(&self) -> usize {
        match self {
            Statement::CreateTable(create) => create.heap(),
            Statement::DropTables { names, .. } | Statement::Truncate { names } => names.heap(),
            Statement::CreateIndex { table, columns, .. } | Statement::Copy { table, columns } => {
                table.heap() + columns.heap()
            }
            Statement::Insert(insert) => insert.heap(),
            Statement::Select(select) => select.heap(),
            Statement::Update { table, assignments, condition } => {
                table.heap() + assignments.heap() + condition.heap()
            }
            Statement::Delete { table, condition } => table.heap() + condition.heap(),
            Statement::Set { name, value, .. } => name.heap() + value.heap(),
            Statement::Show { name } => name.heap(),
            Statement::Maintenance { tables, .. } => tables.heap(),
            Statement::Begin { .. }
            | Statement::Commit
            | Statement::Rollback
            | Statement::SetTransaction { .. }
            | Statement::ResetAll
            | Statement::ShowAll => 0,
        }
    }
}

impl Heap for Datum<'static> {
    fn heap(&self) -> usize {
        match self {
            Datum::Text(text) => text.len() + ALLOCATION,
            Datum::Bytes(bytes) => bytes.len() + ALLOCATION,
            Datum::Null | Datum::Bool(_) | Datum::Int(_) | Datum::Float(_) | Datum::Moment(_) => 0,
        }
    }
}

impl Heap for Step {
    fn heap(&self) -> usize {
        self.operand.heap()
    }
}

impl Heap for Typed {
    fn heap(&self) -> usize {
        match &self.node {
            Node::Constant(datum) => datum.heap(),
            Node::Parameter(_) | Node::Column(_) => 0,
            Node::Chain(first, steps) => first.heap() + steps.heap(),
            Node::Compare(left, _, right) => left.heap() + right.heap(),
            Node::And(all) | Node::Or(all) | Node::Call(_, all) => all.heap(),
            Node::Not(inner)
            | Node::Is { inner, .. }
            | Node::Negative(inner)
            | Node::Convert { inner, .. } => inner.heap(),
            Node::Between { inner, low, high, .. } => inner.heap() + low.heap() + high.heap(),
            Node::In { inner, list, .. } => inner.heap() + list.heap(),
        }
    }
}

impl Heap for Access {
    fn heap(&self) -> usize {
        match self {
            Access::All => 0,
            Access::One(value) => value.heap(),
            Access::Some(values) => values.heap(),
            Access::Range { low, high } => low.heap() + high.heap(),
        }
    }
}

impl Heap for Aggregate {
    fn heap(&self) -> usize {
        self.argument.heap()
    }
}

impl Heap for Select {
    fn heap(&self) -> usize {
        let result = match &self.result {
            ResultRows::Each(all) => all.heap(),
            ResultRows::Aggregated(all) => all.heap(),
        };
        self.access.heap() + self.filter.heap() + result + self.limit.heap() + self.offset.heap()
    }
}

impl Heap for Column {
    fn heap(&self) -> usize {
        self.name.heap() + self.default.heap()
    }
}

impl Heap for OutputColumn {
    fn heap(&self) -> usize {
        self.name.heap()
    }
}

impl Heap for Plan {
    /// Without tables, which belong to the catalog.
    fn heap(&self) -> usize {
        match self {
            Plan::Select(select) => select.heap(),
            Plan::Control(command) => command.heap(),
            Plan::Insert(insert) => insert.heap(),
            Plan::Update(update) => update.heap(),
            Plan::Delete(delete) => delete.heap(),
            Plan::CopyIn { columns, .. } => columns.heap(),
            Plan::CreateTable { name, columns, .. } => name.heap() + columns.heap(),
            Plan::DropTables { names, .. } => names.heap(),
            Plan::Truncate(tables) => tables.capacity() * size_of::<usize>(),
            Plan::Set { name, value, .. } => name.heap() + value.heap(),
            Plan::Show(name) => name.heap(),
            Plan::CreateIndex
            | Plan::Begin { .. }
            | Plan::Commit
            | Plan::Rollback
            | Plan::SetTransaction { .. }
            | Plan::ResetAll
            | Plan::ShowAll
            | Plan::Maintenance(_) => 0,
        }
    }
}
