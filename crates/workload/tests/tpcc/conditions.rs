//! Each condition fails when its defect is planted, and all hold otherwise.

use crate::support::{Database, assert_sound, broken, check, number, small};
use driver::Target;
use workload::tpcc::Tpcc;

/// A defect, and the conditions that must tell, by the beginnings of their names.
pub type Defect = (&'static str, &'static [&'static str]);

/// Wrong sums, missing rows, nulls, rows too much. What holds a null or a row too much is one of many alike.
pub const DEFECTS: [Defect; 38] = [
    ("UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 2", &["1:", "8:"]),
    ("UPDATE warehouse SET w_ytd = NULL WHERE w_id = 1", &["1:", "8:"]),
    ("UPDATE district SET d_ytd = d_ytd - 1 WHERE d_w_id = 1 AND d_id = 4", &["1:", "9:"]),
    ("UPDATE district SET d_ytd = NULL WHERE d_w_id = 1 AND d_id = 4", &["1:", "9:"]),
    ("DELETE FROM warehouse WHERE w_id = 2", &["1:", "8:", "every table", "every warehouse"]),
    ("DELETE FROM district WHERE d_w_id = 1 AND d_id = 10", &["1:", "2:", "9:", "every table"]),
    ("INSERT INTO district (d_w_id, d_id, d_ytd, d_next_o_id) VALUES (1, 11, 0, 1)", &["every"]),
    ("INSERT INTO warehouse (w_id, w_ytd) VALUES (3, 0)", &["every table"]),
    ("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 2 AND d_id = 1", &["2:"]),
    ("UPDATE district SET d_next_o_id = NULL WHERE d_w_id = 2 AND d_id = 1", &["2:"]),
    (
        "DELETE FROM oorder WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = 20",
        &["2:", "4:", "5:", "6:", "7:", "11:"],
    ),
    ("DELETE FROM oorder WHERE o_w_id = 1 AND o_d_id = 2", &["2:", "4:", "5:", "6:", "7:", "11:"]),
    ("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 20", &["2:", "5:", "11:"]),
    ("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 17", &["3:", "5:", "11:"]),
    ("INSERT INTO new_order VALUES (1, 1, 21)", &["2:", "5:", "11:"]),
    ("INSERT INTO new_order VALUES (1, 1, 13)", &["3:", "5:", "11:"]),
    ("INSERT INTO new_order VALUES (1, 11, 1)", &["2:", "5:", "11:"]),
    ("UPDATE oorder SET o_ol_cnt = o_ol_cnt + 1 WHERE o_w_id = 2 AND o_d_id = 3 AND o_id = 9", &["4:", "6:"]),
    ("UPDATE oorder SET o_ol_cnt = NULL WHERE o_w_id = 2 AND o_d_id = 3 AND o_id = 9", &["4:", "6:"]),
    (
        "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 5 AND ol_number = 2",
        &["4:", "6:"],
    ),
    ("DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 5", &["4:", "6:"]),
    (
        "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, \
         ol_amount) VALUES (1, 1, 77, 1, 1, 1, 5, 0)",
        &["4:", "6:", "7:"],
    ),
    ("UPDATE oorder SET o_carrier_id = NULL WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = 3", &["5:", "7:"]),
    ("UPDATE oorder SET o_carrier_id = 5 WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = 18", &["5:", "7:"]),
    (
        "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 3 AND ol_number = 1",
        &["7:"],
    ),
    (
        "UPDATE order_line SET ol_delivery_d = (SELECT min(o_entry_d) FROM oorder) \
         WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 18 AND ol_number = 1",
        &["7:", "10:", "12:"],
    ),
    (
        "UPDATE history SET h_amount = h_amount + 1 WHERE h_c_w_id = 1 AND h_c_d_id = 1 AND h_c_id = 7",
        &["8:", "9:", "10:"],
    ),
    (
        "UPDATE history SET h_amount = NULL WHERE h_c_w_id = 1 AND h_c_d_id = 1 AND h_c_id = 7",
        &["8:", "9:", "10:"],
    ),
    ("DELETE FROM history WHERE h_c_w_id = 1 AND h_c_d_id = 1 AND h_c_id = 7", &["8:", "9:", "10:"]),
    ("DELETE FROM history", &["8:", "9:", "10:"]),
    (
        "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_amount) VALUES (1, 1, 1, 1, 9, 5)",
        &["8:", "9:", "10:"],
    ),
    (
        "UPDATE customer SET c_balance = c_balance + 1 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 7",
        &["10:", "12:"],
    ),
    ("UPDATE customer SET c_balance = NULL WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 7", &["10:", "12:"]),
    ("UPDATE customer SET c_ytd_payment = NULL WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 7", &["12:"]),
    ("UPDATE customer SET c_ytd_payment = 0 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 7", &["12:"]),
    (
        "DELETE FROM customer WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 7",
        &["10:", "12:", "every table", "every order has"],
    ),
    ("UPDATE customer SET c_delivery_cnt = NULL WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 7", &["11:"]),
    (
        "DELETE FROM stock WHERE s_w_id = 1 AND s_i_id = (SELECT min(ol_i_id) FROM order_line WHERE ol_supply_w_id = 1)",
        &["every order line", "every table"],
    ),
];

/// Plants each defect in data that holds, as loaded; undoes it with `restore`.
pub fn assert_defects_are_found<T: Target>(target: &T, tpcc: &Tpcc, defects: &[Defect]) {
    assert_sound(target, tpcc);
    let mut seen: Vec<String> = Vec::new();
    for (defect, expected) in defects {
        // One connection, so that a transaction can take the defect back.
        let found = with_defect(target, tpcc, defect);
        for condition in *expected {
            assert!(
                found.iter().any(|name| name.starts_with(condition)),
                "{defect}: {condition} holds; {found:?}"
            );
        }
        seen.extend(found);
    }
    // Nothing of what is checked is left without a defect that it finds.
    for result in check(target, tpcc).iter().skip(1) {
        let told = seen.contains(&result.name) || result.name.starts_with("S_YTD");
        assert!(told, "no defect was planted for `{}`", result.name);
    }
}

/// The conditions that are broken by a defect, which is taken back.
fn with_defect<T: Target>(target: &T, tpcc: &Tpcc, defect: &str) -> Vec<String> {
    let mut administration = target.administer().unwrap();
    let tables: Vec<&str> =
        ["warehouse", "district", "oorder", "new_order", "order_line", "history", "customer", "stock"]
            .into_iter()
            .filter(|table| defect.contains(table))
            .collect();
    for table in &tables {
        administration.script(&format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}")).unwrap();
    }
    administration.script(defect).unwrap();
    let found = broken(target, tpcc);
    for table in &tables {
        administration
            .script(&format!(
                "DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table}; DROP TABLE kept_{table}"
            ))
            .unwrap();
    }
    assert!(broken(target, tpcc).is_empty(), "{defect} was not taken back");
    found
}

#[test]
fn every_condition_finds_its_defects_on_sqlite() {
    let tpcc = small(2, 5, &[]);
    let database = Database::loaded(&tpcc);
    assert_defects_are_found(&database.target, &tpcc, &DEFECTS);
}

#[test]
fn defects_are_found_after_a_run_as_well() {
    let tpcc = small(2, 5, &[]);
    let database = Database::loaded(&tpcc);
    database.run(&tpcc, 500);
    assert_sound(&database.target, &tpcc);
    let results = check(&database.target, &tpcc);
    let eleventh = results.iter().find(|result| result.name.starts_with("11:")).unwrap();
    assert!(eleventh.detail.contains("skipped as the specification has it"), "{}", eleventh.detail);
    let defects: [Defect; 7] = [
        ("UPDATE stock SET s_ytd = s_ytd + 1 WHERE s_w_id = 1 AND s_i_id = 3", &["S_YTD"]),
        ("UPDATE stock SET s_order_cnt = NULL WHERE s_w_id = 1 AND s_i_id = 3", &["S_YTD"]),
        (
            "UPDATE order_line SET ol_amount = ol_amount + 1 WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_number = 1 \
             AND ol_delivery_d IS NOT NULL",
            &["10:", "12:"],
        ),
        (
            "UPDATE order_line SET ol_amount = NULL WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_number = 1 \
             AND ol_delivery_d IS NOT NULL",
            &["10:", "12:"],
        ),
        (
            "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = 1 AND c_d_id = 3 AND c_id = 3",
            &["11:"],
        ),
        (
            "DELETE FROM order_line WHERE ol_w_id = 2 AND ol_d_id = 2 AND ol_o_id > 20 AND ol_number = 1",
            &["4:", "6:", "S_YTD"],
        ),
        (
            "UPDATE oorder SET o_c_id = NULL WHERE o_w_id = 2 AND o_d_id = 2 AND o_id = 1",
            &["every order has"],
        ),
    ];
    for (defect, expected) in defects {
        let found = with_defect(&database.target, &tpcc, defect);
        for condition in expected {
            assert!(found.iter().any(|name| name.starts_with(condition)), "{defect}: {condition}; {found:?}");
        }
    }
}

#[test]
fn what_offends_is_named_and_the_snapshot_is_ended() {
    let tpcc = small(2, 5, &[]);
    let database = Database::loaded(&tpcc);
    let mut administration = database.administer();
    administration.script("UPDATE district SET d_ytd = 0 WHERE d_w_id = 2").unwrap();
    let results = check(&database.target, &tpcc);
    let detail =
        |number: &str| results.iter().find(|result| result.name.starts_with(number)).unwrap().detail.clone();
    assert_eq!(detail("1:"), "offended by warehouse 2");
    assert_eq!(
        detail("9:"),
        "offended by warehouse 2, district 1; warehouse 2, district 2; warehouse 2, district 3, and more"
    );
    assert_eq!(detail("12:"), "no group offends");
    assert_eq!(number(&mut *administration, "SELECT count(*) FROM warehouse"), 2);
}
