//! The statements, written once for all SQL databases.

use driver::{Dialect, StatementSpec, ValueType};

/// Indexes into the list of [`statements`].
pub(crate) const REVIEWS_OF_ITEM: usize = 0;
pub(crate) const REVIEWS_BY_USER: usize = 1;
pub(crate) const TRUSTED_AVERAGE: usize = 2;
pub(crate) const AVERAGE: usize = 3;
pub(crate) const ALL_REVIEWS: usize = 4;
pub(crate) const TRUST_OF_USER: usize = 5;
pub(crate) const SET_NAME: usize = 6;
pub(crate) const SET_TITLE: usize = 7;
pub(crate) const SET_RATING: usize = 8;
pub(crate) const SET_TRUST: usize = 9;

const TEMPLATES: [(&str, &[ValueType]); 10] = {
    use ValueType::{Int, Text};
    [
        (
            "SELECT r.*, i.* FROM review r, item i WHERE i.i_id = r.i_id AND r.i_id = ? \
             ORDER BY r.rating DESC, r.creation_date DESC LIMIT 10",
            &[Int],
        ),
        (
            "SELECT r.*, u.* FROM review r, useracct u WHERE u.u_id = r.u_id AND r.u_id = ? \
             ORDER BY r.rating DESC, r.creation_date DESC LIMIT 10",
            &[Int],
        ),
        (
            "SELECT avg(r.rating) FROM review r, trust t WHERE r.u_id = t.target_u_id AND r.i_id = ? \
             AND t.source_u_id = ?",
            &[Int, Int],
        ),
        ("SELECT avg(rating) FROM review r WHERE r.i_id = ?", &[Int]),
        ("SELECT * FROM review r WHERE r.i_id = ? ORDER BY r.creation_date DESC", &[Int]),
        ("SELECT * FROM trust t WHERE t.source_u_id = ?", &[Int]),
        ("UPDATE useracct SET name = ? WHERE u_id = ?", &[Text, Int]),
        ("UPDATE item SET title = ? WHERE i_id = ?", &[Text, Int]),
        ("UPDATE review SET rating = ? WHERE i_id = ? AND u_id = ?", &[Int, Int, Int]),
        ("UPDATE trust SET trust = ? WHERE source_u_id = ? AND target_u_id = ?", &[Int, Int, Int]),
    ]
};

/// All of them; rows are received and counted, and nothing depends on what is in them.
pub(crate) fn statements(dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
    if dialect == Dialect::KeyValue {
        return Err("epinions: needs SQL; this target has only key-value operations".to_owned());
    }
    Ok(TEMPLATES
        .iter()
        .map(|(template, parameters)| StatementSpec::counted(dialect.sql(template), parameters))
        .collect())
}
