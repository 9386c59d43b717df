//! The subset of SQL that the PostgreSQL protocol offers.
//!
//! It is what load tools ask: one table, its primary key, ranges of it. Everything else is refused by name, with
//! SQLSTATE 0A000, so that nobody measures something else than was asked for.
//!
//! ```text
//!  text ─► lexer ─► parser ─► Statement ─► plan ─► Plan ─► execute ─► rows, CommandComplete
//!                    syntax                 │ expression, access        │ transaction (own writes)
//!                                        catalog                       data
//! ```
//!
//! The parser is ours. A general one makes a tree of everything that SQL knows, of which nearly all would have to be
//! looked at in order to refuse it; here, what is not known can't get in. Chains of operators are lists, so that a statement
//! may be long but never nests deeper than [`parser::DEPTH_MAX`].

mod access;
mod bind;
#[cfg(test)]
#[path = "sql/bounds_tests.rs"]
mod bounds_tests;
mod cache;
mod catalog;
mod copy;
mod datum;
mod error;
mod execute;
mod expression;
mod functions;
mod lexer;
mod modify;
mod moment;
mod parser;
mod plan;
mod rows;
mod schema;
mod session;
mod settings;
mod size;
mod syntax;
mod system;
mod transaction;
mod types;

pub(crate) use cache::{PlanCache, prepare_one, prepare_text, renewed};
pub(crate) use catalog::{Catalog, Table};
pub(crate) use copy::CopyIn;
pub(crate) use datum::Datum;
pub(crate) use error::{SqlError, state};
pub(crate) use parser::parse;
pub(crate) use plan::{OutputColumn, Plan, Prepared, prepare};
pub(crate) use rows::{Format, RowBuffer};
pub(crate) use session::{Call, Completion, Notice, Session, Tag};
pub(crate) use size::size_of_all;
pub(crate) use syntax::Statement;
pub(crate) use types::{Type, text_of};
