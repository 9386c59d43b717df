//! What BenchBase reads and writes, so that who has its configurations and scripts can go on with them.
//!
//! [`Configuration::read`] takes BenchBase's XML: its elements, their defaults and its rules for several benchmarks in one file
//! (attributes `bench`). An element that BenchBase does not know is refused with the nearest name that it does know. What truetail
//! can't do is refused by [`Configuration::require_honoured`], and what has no effect is told; nothing is passed over in silence.
//!
//! ```
//! use benchbase::{Benchmark, Configuration};
//!
//! let text = "<parameters><type>SQLITE</type><url>jdbc:sqlite:a.db</url><terminals>1</terminals>
//!     <works><work><time>60</time><rate>1000</rate><weights>100</weights></work></works>
//!     <transactiontypes><transactiontype><name>NoOp</name></transactiontype></transactiontypes></parameters>";
//! let read = Configuration::read(text, Benchmark::named("noop").expect("there is one"))?;
//! assert_eq!((read.target.url.as_str(), read.isolation), ("sqlite:a.db", "serializable"));
//!
//! let error = Configuration::read(&text.replace("terminals", "terminal"), read.benchmark).unwrap_err();
//! assert_eq!(error.to_string(), "line 1: there is no element <terminal> in <parameters>; did you mean `terminals`?");
//! # Ok::<(), benchbase::ConfigurationError>(())
//! ```
#![deny(missing_docs)]

mod benchmark;
mod configuration;
mod element;
mod error;
mod honoured;
mod jdbc;
mod redacted;
mod results;
mod transactions;
mod works;

pub use benchmark::{Benchmark, Support};
pub use configuration::{Configuration, Dbms};
pub use error::ConfigurationError;
pub use honoured::Unhonoured;
pub use jdbc::Target;
pub use redacted::redacted;
pub use results::{Described, Distribution, End, Results, Row, Totals, Window};
pub use transactions::TransactionType;
pub use works::{Rate, Work};
