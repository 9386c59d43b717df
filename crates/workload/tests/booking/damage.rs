//! Each check fails when its defect is planted, and no other does.

use crate::support::{Database, broken, epinions, load, seats};
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
