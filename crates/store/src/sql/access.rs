//! Which records a condition needs to look at: one, some, a range of keys, or all.

use super::catalog::{Table, encode_key};
use super::datum::Datum;
use super::error::SqlError;
use super::expression::{Context, Node, Row, Typed};
use super::syntax::Comparison;
use super::types::{Family, Type};

/// How records are found, as planned.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Access {
    All,
    /// The key is this.
    One(Typed),
    /// The key is one of these.
    Some(Vec<Typed>),
    /// The key lies between; `true`: the limit itself belongs to it.
    Range {
        low: Option<(Typed, bool)>,
        high: Option<(Typed, bool)>,
    },
}

/// How records are found, with the keys in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Keys {
    One(Box<[u8]>),
    /// In order, each once.
    Some(Vec<Box<[u8]>>),
    /// From the first one on, up to but without the second; `None`: to the end.
    Range(Box<[u8]>, Option<Box<[u8]>>),
}

/// Splits a condition into the part that finds records and the rest, which every record has to pass.
pub(crate) fn plan(table: &Table, condition: Option<Typed>) -> (Access, Option<Typed>) {
    let Some(condition) = condition else { return (Access::All, None) };
    // The rows of a system catalog are made anew and passed through one by one.
    let Some(key) = table.key.filter(|_| table.system.is_none()) else {
        return (Access::All, Some(condition));
    };
    let mut conjuncts = match condition.node {
        Node::And(all) => all,
        _ => vec![condition],
    };
    let kind = table.columns[key].column_type.kind;
    let access = equal(&mut conjuncts, key, kind)
        .or_else(|| listed(&mut conjuncts, key, kind))
        .or_else(|| range(&mut conjuncts, key, kind))
        .unwrap_or(Access::All);
    let rest = match conjuncts.len() {
        0 => None,
        1 => conjuncts.pop(),
        _ => Some(Typed { node: Node::And(conjuncts), kind: Type::Bool.into() }),
    };
    (access, rest)
}

fn is_key(typed: &Typed, key: usize) -> bool {
    typed.node == Node::Column(key)
}

/// Whether the key's encoding can be made of this value.
fn fits(value: &Typed, kind: Type) -> bool {
    let found = value.kind.kind;
    let alike = match kind.family() {
        Family::Number => found.is_integer(),
        // Blanks count in the one and not in the other.
        Family::Text => found.family() == Family::Text && (found == Type::Bpchar) == (kind == Type::Bpchar),
        family => found.family() == family,
    };
    alike && value.is_free_of_columns()
}

/// A comparison of the key with a value, the key on the left.
fn compared(conjunct: &Typed, key: usize, kind: Type) -> Option<(Comparison, &Typed)> {
    let Node::Compare(left, comparison, right) = &conjunct.node else { return None };
    if is_key(left, key) && fits(right, kind) {
        return Some((*comparison, right));
    }
    (is_key(right, key) && fits(left, kind)).then(|| (comparison.mirrored(), &**left))
}

fn equal(conjuncts: &mut Vec<Typed>, key: usize, kind: Type) -> Option<Access> {
    let at = conjuncts
        .iter()
        .position(|conjunct| matches!(compared(conjunct, key, kind), Some((Comparison::Equal, _))))?;
    let value = compared(&conjuncts[at], key, kind).map(|(_, value)| value.clone())?;
    conjuncts.remove(at);
    Some(Access::One(value))
}

fn listed(conjuncts: &mut Vec<Typed>, key: usize, kind: Type) -> Option<Access> {
    let at = conjuncts.iter().position(|conjunct| match &conjunct.node {
        Node::In { inner, list, negated: false } => {
            is_key(inner, key) && list.iter().all(|item| fits(item, kind))
        }
        _ => false,
    })?;
    match conjuncts.remove(at).node {
        Node::In { list, .. } => Some(Access::Some(list)),
        _ => None,
    }
}

fn range(conjuncts: &mut Vec<Typed>, key: usize, kind: Type) -> Option<Access> {
    let (mut low, mut high) = (None, None);
    conjuncts.retain(|conjunct| {
        if let Node::Between { inner, low: least, high: most, negated: false } = &conjunct.node {
            let usable = is_key(inner, key) && fits(least, kind) && fits(most, kind);
            if usable && low.is_none() && high.is_none() {
                low = Some(((**least).clone(), true));
                high = Some(((**most).clone(), true));
                return false;
            }
        }
        let Some((comparison, value)) = compared(conjunct, key, kind) else { return true };
        let (limit, inclusive) = match comparison {
            Comparison::Greater => (&mut low, false),
            Comparison::GreaterOrEqual => (&mut low, true),
            Comparison::Less => (&mut high, false),
            Comparison::LessOrEqual => (&mut high, true),
            Comparison::Equal | Comparison::NotEqual => return true,
        };
        if limit.is_some() {
            return true;
        }
        *limit = Some((value.clone(), inclusive));
        false
    });
    (low.is_some() || high.is_some()).then_some(Access::Range { low, high })
}

impl Access {
    /// The keys themselves; `None` when a null makes the condition true for nothing.
    pub(crate) fn keys(&self, table: &Table, context: &Context<'_>) -> Result<Option<Keys>, SqlError> {
        let everything = || Some(Keys::Range(Box::default(), None));
        let Some(key) = table.key else { return Ok(everything()) };
        let kind = table.columns[key].column_type.kind;
        let encoded = |value: &Typed| -> Result<Option<Box<[u8]>>, SqlError> {
            Ok(encode_key(&value.value(Row::NONE, context)?, kind))
        };
        Ok(match self {
            Access::All => everything(),
            Access::One(value) => encoded(value)?.map(Keys::One),
            Access::Some(values) => {
                let mut keys = Vec::with_capacity(values.len());
                for value in values {
                    keys.extend(encoded(value)?);
                }
                keys.sort_unstable();
                keys.dedup();
                Some(Keys::Some(keys))
            }
            Access::Range { low, high } => {
                let from = match low {
                    None => Box::default(),
                    Some((value, inclusive)) => match encoded(value)? {
                        None => return Ok(None),
                        Some(key) if *inclusive => key,
                        Some(key) => next(key),
                    },
                };
                let to = match high {
                    None => None,
                    Some((value, inclusive)) => match encoded(value)? {
                        None => return Ok(None),
                        Some(key) if *inclusive => Some(next(key)),
                        Some(key) => Some(key),
                    },
                };
                Some(Keys::Range(from, to))
            }
        })
    }

    /// The value that stands for the whole: the key, the first of the keys, or where the range begins.
    pub(crate) fn leading(&self) -> Option<&Typed> {
        match self {
            Access::All => None,
            Access::One(value) => Some(value),
            Access::Some(values) => values.first(),
            Access::Range { low, high } => low.as_ref().or(high.as_ref()).map(|(value, _)| value),
        }
    }
}

/// The least key that is greater.
fn next(key: Box<[u8]>) -> Box<[u8]> {
    let mut longer = key.into_vec();
    longer.push(0);
    longer.into_boxed_slice()
}

/// The key of a row that is given by its values.
pub(crate) fn key_of_row(table: &Table, key: &Datum<'_>) -> Option<Box<[u8]>> {
    let column = table.key?;
    encode_key(key, table.columns[column].column_type.kind)
}
