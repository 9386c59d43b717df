//! The statements, written once for all SQL databases.

use driver::{Dialect, StatementSpec, ValueType};

/// Indexes into the list of [`statements`].
pub(crate) const SUBSCRIBER: usize = 0;
pub(crate) const ACCESS: usize = 1;
pub(crate) const DESTINATION: usize = 2;
pub(crate) const SET_LOCATION: usize = 3;
pub(crate) const SET_LOCATION_BY_ID: usize = 4;
pub(crate) const SET_BIT: usize = 5;
pub(crate) const SET_FACILITY: usize = 6;
pub(crate) const NUMBERED: usize = 7;
pub(crate) const FACILITIES: usize = 8;
pub(crate) const FORWARD: usize = 9;
pub(crate) const UNFORWARD: usize = 10;

/// `bit_1, …, bit_10, hex_1, …, byte2_10`.
pub(crate) fn attributes() -> Vec<String> {
    let of = |kind: &'static str| (1..=10).map(move |number| format!("{kind}_{number}"));
    of("bit").chain(of("hex")).chain(of("byte2")).collect()
}

/// All of them.
pub(crate) fn statements(dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
    use ValueType::{Int, Text};
    if dialect == Dialect::KeyValue {
        return Err("tatp: needs SQL; this target has only key-value operations".to_owned());
    }
    let counted =
        |template: &str, parameters: &[ValueType]| StatementSpec::counted(dialect.sql(template), parameters);
    let subscriber = format!(
        "SELECT s_id, sub_nbr, {}, msc_location, vlr_location FROM subscriber WHERE s_id = ?",
        attributes().join(", ")
    );
    Ok(vec![
        counted(&subscriber, &[Int]),
        counted(
            "SELECT data1, data2, data3, data4 FROM access_info WHERE s_id = ? AND ai_type = ?",
            &[Int; 2],
        ),
        counted(
            "SELECT cf.numberx FROM special_facility sf, call_forwarding cf WHERE sf.s_id = ? AND sf.sf_type = ? \
             AND sf.is_active = 1 AND cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type AND cf.start_time <= ? \
             AND cf.end_time > ?",
            &[Int; 4],
        ),
        counted("UPDATE subscriber SET vlr_location = ? WHERE sub_nbr = ?", &[Int, Text]),
        counted("UPDATE subscriber SET vlr_location = ? WHERE s_id = ?", &[Int; 2]),
        counted("UPDATE subscriber SET bit_1 = ? WHERE s_id = ?", &[Int; 2]),
        counted("UPDATE special_facility SET data_a = ? WHERE s_id = ? AND sf_type = ?", &[Int; 3]),
        StatementSpec::kept(dialect.sql("SELECT s_id FROM subscriber WHERE sub_nbr = ?"), &[Text], &[Int]),
        counted("SELECT sf_type FROM special_facility WHERE s_id = ?", &[Int]),
        counted(
            "INSERT INTO call_forwarding (s_id, sf_type, start_time, end_time, numberx) VALUES (?, ?, ?, ?, ?)",
            &[Int, Int, Int, Int, Text],
        ),
        counted("DELETE FROM call_forwarding WHERE s_id = ? AND sf_type = ? AND start_time = ?", &[Int; 3]),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_name_their_statements() {
        let all = statements(Dialect::Postgres).unwrap();
        for (index, words) in [
            (SUBSCRIBER, "hex_10, byte2_1,"),
            (ACCESS, "FROM access_info"),
            (DESTINATION, "SELECT cf.numberx"),
            (SET_LOCATION, "WHERE sub_nbr = $2"),
            (SET_LOCATION_BY_ID, "SET vlr_location = $1 WHERE s_id = $2"),
            (SET_BIT, "SET bit_1"),
            (SET_FACILITY, "SET data_a"),
            (NUMBERED, "SELECT s_id FROM subscriber"),
            (FACILITIES, "SELECT sf_type"),
            (FORWARD, "INSERT INTO call_forwarding"),
            (UNFORWARD, "DELETE FROM call_forwarding"),
        ] {
            assert!(all[index].sql.contains(words), "{index}: {}", all[index].sql);
        }
        assert_eq!(all.len(), UNFORWARD + 1);
        assert!(statements(Dialect::KeyValue).unwrap_err().contains("needs SQL"));
    }
}
