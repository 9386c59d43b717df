//! The few system catalogs that tools ask before they begin.

use super::catalog::Table;
use super::expression::Context;
use super::types::Type;
use std::sync::Arc;

/// A catalog whose rows are made when somebody asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    /// pg_class: the tables.
    Class,
    /// pg_settings.
    Settings,
}

/// The catalogs as tables; the first column is the key, by which the rows are in order.
pub(crate) fn relations() -> Vec<Arc<Table>> {
    let class = [("oid", Type::Oid), ("relname", Type::Name), ("relkind", Type::Bpchar)];
    let settings = [("name", Type::Text), ("setting", Type::Text)];
    vec![
        Arc::new(Table::system("pg_class", 1259, &class, Relation::Class)),
        Arc::new(Table::system("pg_settings", 12_070, &settings, Relation::Settings)),
    ]
}

/// All rows of a catalog, in order.
pub(crate) fn rows(relation: Relation, context: &Context<'_>) -> Vec<Vec<Option<Vec<u8>>>> {
    let cell = |text: &str| Some(text.as_bytes().to_vec());
    match relation {
        Relation::Class => {
            let mut tables: Vec<_> = context.catalog.tables().collect();
            tables.sort_by_key(|table| table.oid);
            let row = |table: &&Arc<Table>| vec![cell(&table.oid.to_string()), cell(&table.name), cell("r")];
            tables.iter().map(row).collect()
        }
        Relation::Settings => {
            let row = |(name, value): (&str, &str)| vec![cell(name), cell(value)];
            context.settings.all().map(row).collect()
        }
    }
}
