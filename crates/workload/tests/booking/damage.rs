//! Each check fails when its defect is planted, and no other does.

use crate::support::{Database, broken, epinions, load, seats, smallbank, tatp};
use driver::Administration;
use workload::dataset::DataSet;

/// Plants each defect in a loaded data set; the copy before is brought back from a backup of the tables concerned.
fn plant(dataset: &dyn DataSet, defects: &[(&str, &str)]) {
    let database = Database::new();
    load(&database.target, dataset, 1);
    assert_eq!(broken(&database.target, dataset), [] as [String; 0]);
    for (defect, expected) in defects {
        let copy = Database::new();
        copy_into(&database, &copy);
        copy.administer().script(&format!("PRAGMA foreign_keys = OFF; {defect}")).unwrap();
        let broken = broken(&copy.target, dataset);
        assert_eq!(broken.len(), 1, "{defect}: {broken:?}");
        assert!(broken[0].starts_with(expected), "{defect}: {broken:?}");
    }
}

fn copy_into(from: &Database, to: &Database) {
    let file = |administration: &mut dyn Administration| {
        let rows = administration.query("SELECT file FROM pragma_database_list WHERE name = 'main'").unwrap();
        rows[0][0].clone().unwrap()
    };
    let target = file(&mut *to.administer());
    std::fs::remove_file(&target).unwrap();
    for log in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{target}{log}"));
    }
    from.administer().script(&format!("VACUUM INTO '{target}'")).unwrap();
}

#[test]
fn of_epinions() {
    let existing = "rowid = (SELECT min(rowid) FROM review)";
    let cases = [
        ("DELETE FROM trust WHERE rowid = 1".to_owned(), "no table grew or shrank"),
        ("INSERT INTO review_rating VALUES (1, 1, 1, 1, NULL, NULL, 1, 1)".to_owned(), "no table grew"),
        (format!("UPDATE review SET u_id = 999999 WHERE {existing}"), "every reference"),
        ("UPDATE trust SET target_u_id = -1 WHERE rowid = 3".to_owned(), "every reference"),
        (format!("UPDATE review SET rating = 1000 WHERE {existing}"), "every rating"),
        (format!("UPDATE review SET rating = NULL WHERE {existing}"), "every rating"),
        (format!("UPDATE review SET rating = -1 WHERE {existing}"), "every rating"),
        ("UPDATE trust SET trust = 2 WHERE rowid = 3".to_owned(), "every trust"),
        ("UPDATE useracct SET name = 'short' WHERE u_id = 0".to_owned(), "names and titles"),
        ("UPDATE item SET title = title || 'x' WHERE i_id = 0".to_owned(), "names and titles"),
        (
            "UPDATE review SET u_id = (SELECT o.u_id FROM review o WHERE o.i_id = review.i_id \
             AND o.rowid <> review.rowid LIMIT 1) WHERE rowid = (SELECT min(rowid) FROM review WHERE i_id IN \
             (SELECT i_id FROM review GROUP BY i_id HAVING count(*) > 1))"
                .to_owned(),
            "nobody reviews",
        ),
        (
            // A review of the only one goes to an item that its user has not reviewed.
            "UPDATE review SET i_id = (SELECT i.i_id FROM item i WHERE NOT EXISTS (SELECT 1 FROM review o WHERE \
             o.i_id = i.i_id AND o.u_id = review.u_id) LIMIT 1) WHERE rowid = (SELECT min(rowid) FROM review \
             WHERE i_id IN (SELECT i_id FROM review GROUP BY i_id HAVING count(*) = 1))"
                .to_owned(),
            "every item has a review",
        ),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(sql, name)| (sql.as_str(), *name)).collect();
    plant(&epinions(0.2, &[]), &cases);
}

#[test]
fn of_seats() {
    let one = "rowid = (SELECT min(rowid) FROM reservation)";
    let cases = [
        ("DELETE FROM frequent_flyer WHERE rowid = 1".to_owned(), "no table but reservation"),
        ("DELETE FROM airport_distance WHERE rowid = 1".to_owned(), "no table but reservation"),
        // A reservation that is gone, or a seat that was not given back.
        (format!("DELETE FROM reservation WHERE {one}"), "seats left and reservations"),
        ("UPDATE flight SET f_seats_left = f_seats_left - 1 WHERE rowid = 4".to_owned(), "seats left and"),
        // One flight without any reservation.
        (
            "UPDATE flight SET f_seats_left = 149 WHERE rowid = (SELECT min(rowid) FROM flight WHERE NOT EXISTS \
             (SELECT 1 FROM reservation WHERE r_f_id = f_id))"
                .to_owned(),
            "seats left and",
        ),
        (
            "UPDATE flight SET f_seats_left = f_seats_left + 1, f_seats_total = 151 WHERE rowid = 4".to_owned(),
            "every flight has its seats",
        ),
        (
            format!(
                "DROP INDEX reservation_seat; UPDATE reservation SET r_seat = (SELECT r_seat FROM reservation o \
                 WHERE o.r_f_id = reservation.r_f_id AND o.rowid <> reservation.rowid LIMIT 1) WHERE {}",
                TWO
            ),
            "no seat is reserved twice",
        ),
        (
            format!(
                "DROP INDEX reservation_customer_flight; UPDATE reservation SET r_c_id = (SELECT r_c_id FROM \
                 reservation o WHERE o.r_f_id = reservation.r_f_id AND o.rowid <> reservation.rowid LIMIT 1) WHERE {}",
                TWO
            ),
            "nobody is on a flight twice",
        ),
        (format!("UPDATE reservation SET r_seat = 150 WHERE {one}"), "every reservation is of a seat"),
        (format!("UPDATE reservation SET r_seat = -1 WHERE {one}"), "every reservation is of a seat"),
        (format!("UPDATE reservation SET r_c_id = 'nobody' WHERE {one}"), "every reference"),
        ("UPDATE customer SET c_base_ap_id = NULL WHERE rowid = 1".to_owned(), "every reference"),
        ("UPDATE flight SET f_al_id = 9999 WHERE rowid = 1".to_owned(), "every reference"),
        ("UPDATE frequent_flyer SET ff_al_id = 9999 WHERE rowid = 1".to_owned(), "every reference"),
        ("UPDATE airport SET ap_co_id = 0 WHERE ap_id = 1".to_owned(), "every reference"),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(sql, name)| (sql.as_str(), *name)).collect();
    plant(&seats(&[]), &cases);
}

/// A reservation of a flight that has another one.
const TWO: &str = "rowid = (SELECT min(rowid) FROM reservation WHERE r_f_id IN (SELECT r_f_id FROM reservation \
                   GROUP BY r_f_id HAVING count(*) > 1))";

#[test]
fn a_null_in_the_seats_left_is_seen() {
    let seats = seats(&[]);
    let database = Database::new();
    load(&database.target, &seats, 1);
    // The column takes no null: a table made anew does.
    database
        .administer()
        .script(
            "PRAGMA foreign_keys = OFF; CREATE TABLE copied AS SELECT * FROM flight; DROP TABLE flight; \
             ALTER TABLE copied RENAME TO flight; UPDATE flight SET f_seats_left = NULL WHERE rowid = 4",
        )
        .unwrap();
    let broken = broken(&database.target, &seats);
    assert!(broken.iter().any(|line| line.starts_with("seats left and")), "{broken:?}");
}

#[test]
fn of_smallbank() {
    let cases = [
        ("DELETE FROM savings WHERE custid = 3", "no table grew or shrank"),
        ("DELETE FROM checking WHERE custid = 3", "no table grew or shrank"),
        (
            "DELETE FROM accounts WHERE custid = 599; INSERT INTO accounts VALUES (700, printf('%064d', 700))",
            "every reference",
        ),
        ("UPDATE accounts SET name = printf('%064d', 4) WHERE custid = 3", "every account has its name"),
        ("UPDATE accounts SET name = '3' WHERE custid = 3", "every account has its name"),
        ("UPDATE savings SET bal = -10 WHERE custid = 3", "no savings are negative"),
        ("UPDATE checking SET bal = bal + 1 WHERE custid = 3", "money moves in steps"),
        ("UPDATE savings SET bal = bal - 1005 WHERE custid = 3", "money moves in steps"),
    ];
    plant(&smallbank(&[]), &cases);
}

/// What one customer has is lost: no step of 10 cents is broken, and a run that looked before sees it.
#[test]
fn of_a_bank_that_was_looked_at() {
    use workload::Workload;
    let mut bank = smallbank(&[]);
    let database = Database::new();
    load(&database.target, &bank, 1);
    bank.observe(&mut *database.administer()).unwrap();
    let defects = [
        "UPDATE checking SET bal = 0 WHERE custid = 3",
        "UPDATE checking SET bal = bal + 10 WHERE custid = 4",
        // As many rows, and one customer's money is gone.
        "DELETE FROM savings WHERE custid = 5; INSERT INTO savings VALUES (5, 0)",
    ];
    for defect in defects {
        let copy = Database::new();
        copy_into(&database, &copy);
        assert_eq!(broken(&copy.target, &bank), [] as [String; 0]);
        copy.administer().script(&format!("PRAGMA foreign_keys = OFF; {defect}")).unwrap();
        let found = broken(&copy.target, &bank);
        assert!(found.len() == 1 && found[0].starts_with("money is conserved"), "{defect}: {found:?}");
    }
}

/// The columns take no null: tables made anew do.
#[test]
fn nulls_are_seen() {
    let without_keys = |table: &str, defect: &str| {
        format!(
            "PRAGMA foreign_keys = OFF; CREATE TABLE copied AS SELECT * FROM {table}; DROP TABLE {table}; \
             ALTER TABLE copied RENAME TO {table}; {defect}"
        )
    };
    let cases: [(&dyn DataSet, &str, &str, &str); 10] = [
        (
            &smallbank(&[]),
            "savings",
            "UPDATE savings SET bal = NULL WHERE custid = 3",
            "every balance is a number",
        ),
        (
            &smallbank(&[]),
            "checking",
            "UPDATE checking SET bal = NULL WHERE custid = 3",
            "every balance is a number",
        ),
        (
            &smallbank(&[]),
            "accounts",
            "UPDATE accounts SET name = NULL WHERE custid = 3",
            "every account has its",
        ),
        (&smallbank(&[]), "savings", "UPDATE savings SET custid = NULL WHERE custid = 3", "every reference"),
        (&tatp(&[]), "subscriber", "UPDATE subscriber SET hex_7 = NULL WHERE s_id = 3", "attributes are in"),
        (
            &tatp(&[]),
            "subscriber",
            "UPDATE subscriber SET sub_nbr = NULL WHERE s_id = 3",
            "subscribers are numbered",
        ),
        (
            &tatp(&[]),
            "access_info",
            "UPDATE access_info SET data4 = NULL WHERE s_id = 3",
            "access and facilities",
        ),
        (
            &tatp(&[]),
            "special_facility",
            "UPDATE special_facility SET is_active = NULL WHERE s_id = 3",
            "access and",
        ),
        (
            &tatp(&[]),
            "call_forwarding",
            "UPDATE call_forwarding SET end_time = NULL",
            "call forwardings have",
        ),
        (&tatp(&[]), "call_forwarding", "UPDATE call_forwarding SET sf_type = NULL", "every reference"),
    ];
    for (dataset, table, defect, expected) in cases {
        let database = Database::new();
        load(&database.target, dataset, 1);
        database.administer().script(&without_keys(table, defect)).unwrap();
        let found = broken(&database.target, dataset);
        assert!(found.iter().any(|line| line.starts_with(expected)), "{defect}: {found:?}");
    }
}

#[test]
fn of_tatp() {
    let forwarding = "rowid = (SELECT min(rowid) FROM call_forwarding)";
    // Of one facility that has two call forwardings.
    let two = "rowid = (SELECT min(rowid) FROM call_forwarding WHERE (s_id, sf_type) IN (SELECT s_id, sf_type \
               FROM call_forwarding GROUP BY s_id, sf_type HAVING count(*) > 1))";
    let cases = [
        ("DELETE FROM access_info WHERE rowid = (SELECT max(rowid) FROM access_info WHERE s_id IN (SELECT s_id FROM \
          access_info GROUP BY s_id HAVING count(*) > 1))".to_owned(), "no table but"),
        ("UPDATE access_info SET s_id = 401 WHERE rowid = (SELECT max(rowid) FROM access_info WHERE s_id IN \
          (SELECT s_id FROM access_info GROUP BY s_id HAVING count(*) > 1))".to_owned(), "every reference"),
        (format!("UPDATE call_forwarding SET s_id = 401 WHERE {forwarding}"), "every reference"),
        // The subscriber is there, and has no such facility.
        (
            "INSERT INTO call_forwarding SELECT s_id, 1, 0, 5, '000000000000000' FROM subscriber WHERE s_id NOT IN \
             (SELECT s_id FROM special_facility WHERE sf_type = 1) LIMIT 1".to_owned(),
            "every reference",
        ),
        ("UPDATE subscriber SET sub_nbr = '000000000000999' WHERE s_id = 4".to_owned(), "subscribers are numbered"),
        ("UPDATE subscriber SET sub_nbr = '4' WHERE s_id = 4".to_owned(), "subscribers are numbered"),
        ("UPDATE subscriber SET bit_10 = 2 WHERE s_id = 4".to_owned(), "attributes are in"),
        ("UPDATE subscriber SET hex_1 = 16 WHERE s_id = 4".to_owned(), "attributes are in"),
        ("UPDATE subscriber SET byte2_10 = -1 WHERE s_id = 4".to_owned(), "attributes are in"),
        ("UPDATE subscriber SET vlr_location = 0 WHERE s_id = 4".to_owned(), "attributes are in"),
        ("UPDATE access_info SET data1 = 256 WHERE rowid = 4".to_owned(), "access and facilities"),
        ("UPDATE access_info SET data3 = 'AB' WHERE rowid = 4".to_owned(), "access and facilities"),
        ("UPDATE special_facility SET is_active = 2 WHERE rowid = 4".to_owned(), "access and facilities"),
        (format!("UPDATE call_forwarding SET start_time = 7 WHERE {forwarding}"), "call forwardings have"),
        (format!("UPDATE call_forwarding SET end_time = 25 WHERE {forwarding}"), "call forwardings have"),
        (format!("UPDATE call_forwarding SET numberx = '12' WHERE {forwarding}"), "call forwardings have"),
        (
            format!(
                "CREATE TABLE copied AS SELECT * FROM call_forwarding; DROP TABLE call_forwarding; \
                 ALTER TABLE copied RENAME TO call_forwarding; INSERT INTO call_forwarding SELECT * FROM \
                 call_forwarding WHERE {two}"
            ),
            "no facility forwards twice",
        ),
        (
            // As many rows: what one subscriber has only one of goes to another.
            "UPDATE access_info SET s_id = (SELECT s.s_id FROM subscriber s WHERE NOT EXISTS (SELECT 1 FROM \
             access_info o WHERE o.s_id = s.s_id AND o.ai_type = access_info.ai_type) LIMIT 1) WHERE rowid = \
             (SELECT min(rowid) FROM access_info WHERE s_id IN (SELECT s_id FROM access_info GROUP BY s_id \
             HAVING count(*) = 1))".to_owned(),
            "every subscriber has access",
        ),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(sql, name)| (sql.as_str(), *name)).collect();
    plant(&tatp(&[]), &cases);
}

#[test]
fn of_a_network_that_was_looked_at() {
    use workload::Workload;
    let mut tatp = tatp(&[]);
    let database = Database::new();
    load(&database.target, &tatp, 1);
    tatp.observe(&mut *database.administer()).unwrap();
    assert_eq!(broken(&database.target, &tatp), [] as [String; 0]);
    let one = "DELETE FROM call_forwarding WHERE rowid = (SELECT min(rowid) FROM call_forwarding)";
    database.administer().script(one).unwrap();
    let found = broken(&database.target, &tatp);
    assert!(found.len() == 1 && found[0].starts_with("call forwardings are those"), "{found:?}");
}
