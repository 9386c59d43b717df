//! `<transactiontypes>`: which transactions there are, and how long a terminal waits around them.

use crate::element::Element;
use crate::{Benchmark, ConfigurationError};
use workload::names::suggestion;

/// One transaction type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransactionType {
    /// Its name.
    pub name: String,
    /// Its index in result files, from 1.
    pub id: u32,
    /// Milliseconds that a terminal waits before it.
    pub before_ms: u64,
    /// Milliseconds that a terminal waits after it.
    pub after_ms: u64,
}

/// A day.
const WAIT_MOST: u64 = 86_400_000;

fn attributes(_: &str) -> &'static [&'static str] {
    &[]
}

/// Reads those of a benchmark, in the order of the file.
pub(crate) fn read(
    parameters: Element<'_>,
    benchmark: &Benchmark,
) -> Result<Vec<TransactionType>, ConfigurationError> {
    let Some(list) = parameters.of_bench("transactiontypes", benchmark.name)? else {
        return Err(ConfigurationError::whole(format!(
            "there is no <transactiontypes> for {}: it names the transactions that weights are given for",
            benchmark.name
        )));
    };
    list.require_known(&["transactiontype", "groupings"], attributes)?;
    let mut types: Vec<TransactionType> = Vec::new();
    for element in list.children().filter(|element| element.name() == "transactiontype") {
        let next = read_one(element, benchmark, types.len())?;
        if types.iter().any(|other| other.name == next.name || other.id == next.id) {
            return Err(
                element.error(format!("{} or its id {} is there twice; leave one", next.name, next.id))
            );
        }
        types.push(next);
    }
    if types.is_empty() || types.len() > 255 {
        return Err(list.error(format!("<transactiontypes> has {} of them: must be in 1..255", types.len())));
    }
    Ok(types)
}

fn read_one(
    element: Element<'_>,
    benchmark: &Benchmark,
    before: usize,
) -> Result<TransactionType, ConfigurationError> {
    element.require_known(&["name", "id", "preExecutionWait", "postExecutionWait"], attributes)?;
    let Some(name) = element.only("name")? else {
        return Err(element.error("<transactiontype> has no <name>"));
    };
    let given = name.text()?;
    let known = benchmark.transactions();
    let name = match known.iter().find(|known| known.eq_ignore_ascii_case(&given)) {
        Some(known) => (*known).to_owned(),
        // Of benchmarks that are refused, names are not known.
        None if known.is_empty() && !given.is_empty() => given,
        None => {
            let nearest = suggestion(&given, known);
            return Err(name.error(format!("{} has no transaction `{given}`{nearest}", benchmark.name)));
        }
    };
    let wait = |name: &str| element.only(name)?.map_or(Ok(0), |element| element.whole(0, WAIT_MOST));
    let id = match element.only("id")? {
        Some(id) => id.whole(1, 1_000_000)?,
        None => before as u64 + 1,
    };
    Ok(TransactionType {
        name,
        id: u32::try_from(id).unwrap_or(u32::MAX),
        before_ms: wait("preExecutionWait")?,
        after_ms: wait("postExecutionWait")?,
    })
}
