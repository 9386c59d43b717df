//! Plans by text: repeated statements are parsed once.

use super::catalog::Catalog;
use super::error::SqlError;
use super::parser;
use super::plan::{self, Prepared};
use super::syntax::Statement;
use super::types::Type;
use std::collections::HashMap;
use std::sync::Arc;

/// Texts in each of the two generations.
const GENERATION: usize = 512;
/// Bytes of their plans, texts included.
const GENERATION_BYTES: usize = 16 << 20;
/// Larger plans are not kept: a short text may stand for very many columns.
const PLAN_MAX: usize = 512 * 1024;
/// Longer texts are not kept: they are bulk loads and checks, which do not come again.
const TEXT_MAX: usize = 8 * 1024;

/// Two generations: what was not asked for while the younger one filled up is forgotten.
#[derive(Debug, Default)]
pub(crate) struct PlanCache {
    young: HashMap<Box<str>, Arc<Prepared>>,
    /// Bytes of the young ones, and of those that they replaced.
    bytes: usize,
    old: HashMap<Box<str>, Arc<Prepared>>,
    /// The catalog's, of all of them.
    version: u64,
}

impl PlanCache {
    /// The plan of a text that is one statement, if it is known and still true.
    pub(crate) fn find(
        &mut self,
        text: &str,
        declared: &[Option<Type>],
        catalog: &Catalog,
    ) -> Option<Arc<Prepared>> {
        let fits = |found: &&Arc<Prepared>| found.declared == declared && found.version == catalog.version;
        if let Some(found) = self.young.get(text).filter(fits) {
            return Some(Arc::clone(found));
        }
        let found = self.old.get(text).filter(fits).map(Arc::clone)?;
        self.insert(text, &found);
        Some(found)
    }

    /// Remembers a plan.
    pub(crate) fn insert(&mut self, text: &str, prepared: &Arc<Prepared>) {
        if text.len() > TEXT_MAX || prepared.bytes > PLAN_MAX {
            return;
        }
        if prepared.version != self.version {
            // No plan of an earlier catalog is found any more; each may keep a table that is gone.
            *self = PlanCache { version: prepared.version, ..PlanCache::default() };
        }
        let size = text.len() + prepared.bytes;
        if self.young.len() >= GENERATION || self.bytes + size > GENERATION_BYTES {
            (self.old, self.bytes) = (std::mem::take(&mut self.young), 0);
        }
        self.bytes += size;
        self.young.insert(text.into(), Arc::clone(prepared));
    }
}

/// The plan of one statement's text; `None` for an empty one.
///
/// # Errors
/// What [`parser::parse`] and [`plan::prepare`] refuse, and texts of several statements.
pub(crate) fn prepare_text(
    text: &str,
    declared: Vec<Option<Type>>,
    catalog: &Catalog,
    cache: &mut PlanCache,
) -> Result<Option<Arc<Prepared>>, SqlError> {
    if let Some(found) = cache.find(text, &declared, catalog) {
        return Ok(Some(found));
    }
    let mut statements = parser::parse(text)?;
    let Some(statement) = statements.pop() else { return Ok(None) };
    if !statements.is_empty() {
        let message = "cannot insert multiple commands into a prepared statement";
        return Err(SqlError::new(super::error::state::SYNTAX, message));
    }
    prepare_one(text, statement, declared, catalog, cache).map(Some)
}

/// The plan of a statement, kept under its text.
///
/// # Errors
/// What [`plan::prepare`] refuses.
pub(crate) fn prepare_one(
    text: &str,
    statement: Statement,
    declared: Vec<Option<Type>>,
    catalog: &Catalog,
    cache: &mut PlanCache,
) -> Result<Arc<Prepared>, SqlError> {
    let prepared = Arc::new(plan::prepare(Arc::new(statement), declared, catalog)?);
    cache.insert(text, &prepared);
    Ok(prepared)
}

/// The plan, made again if tables have changed since.
pub(crate) fn renewed(prepared: &Arc<Prepared>, catalog: &Catalog) -> Result<Arc<Prepared>, SqlError> {
    if prepared.version == catalog.version {
        return Ok(Arc::clone(prepared));
    }
    let declared = prepared.declared.clone();
    plan::prepare(Arc::clone(&prepared.statement), declared, catalog).map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_found_until_it_is_old() {
        let (catalog, mut cache) = (Catalog::new(), PlanCache::default());
        let mut plan = |n: usize| {
            let text = format!("SELECT {n}");
            prepare_text(&text, Vec::new(), &catalog, &mut cache).unwrap().unwrap()
        };
        let first = plan(0);
        assert!(Arc::ptr_eq(&first, &plan(0)), "kept");
        (1..GENERATION).for_each(|n| drop(plan(n)));
        assert!(Arc::ptr_eq(&first, &plan(0)), "still young");
        (GENERATION..3 * GENERATION).for_each(|n| drop(plan(n)));
        assert!(!Arc::ptr_eq(&first, &plan(0)), "forgotten");
        assert!(cache.young.len() <= GENERATION && cache.old.len() <= GENERATION);
    }

    #[test]
    fn declared_types_and_tables_are_part_of_the_key() {
        let (mut catalog, mut cache) = (Catalog::new(), PlanCache::default());
        let text = "SELECT $1";
        let open = prepare_text(text, Vec::new(), &catalog, &mut cache).unwrap().unwrap();
        let int = prepare_text(text, vec![Some(Type::Int4)], &catalog, &mut cache).unwrap().unwrap();
        assert_eq!(
            (open.parameters.as_slice(), int.parameters.as_slice()),
            (&[Type::Text][..], &[Type::Int4][..])
        );
        catalog.create("t", Vec::new(), None).unwrap();
        assert!(cache.find(text, &int.declared, &catalog).is_none());
    }
}
