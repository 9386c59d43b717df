//! Planned requests against a real database: each family keeps its data sound, and a seed decides everything.

use crate::support::{Counts, Database, run, ycsb};
use driver::Dialect;
use workload::Workload;
use workload::dataset::{check_dataset, drop_dataset};
use workload::ycsb::Ycsb;

fn contents(database: &Database) -> Vec<Vec<Option<String>>> {
    database.administer().query("SELECT * FROM usertable ORDER BY ycsb_key").unwrap()
}

fn assert_sound(database: &Database, ycsb: &Ycsb) {
    for result in
        check_dataset(&mut *database.administer(), ycsb.dataset().unwrap(), Dialect::Sqlite).unwrap()
    {
        assert!(result.passed, "{}: {}", result.name, result.detail);
    }
}

#[test]
fn every_family_runs_without_a_miss_and_stays_sound() {
    for name in ["ycsb", "ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f"] {
        let ycsb = ycsb(name, 0.5, 1, &[]);
        let database = Database::new();
        database.load(&ycsb);
        assert_sound(&database, &ycsb);
        assert_eq!(run(&database, &ycsb, 20_000, 7), Counts { ok: 20_000, missed: 0 }, "{name}");
        assert_sound(&database, &ycsb);
    }
}

#[test]
fn single_fields_and_varying_lengths_run_as_well() {
    let overrides = [
        ("fieldcount", "12"),
        ("fieldlength", "30"),
        ("fieldlengthdistribution", "uniform"),
        ("readallfields", "false"),
        ("insertorder", "ordered"),
        ("zeropadding", "9"),
        ("scanlengthdistribution", "zipfian"),
        ("readproportion", "1"),
        ("updateproportion", "1"),
        ("insertproportion", "1"),
        ("scanproportion", "1"),
        ("readmodifywriteproportion", "1"),
    ];
    for distribution in
        ["uniform", "zipfian", "zipfian-exact", "latest", "hotspot", "exponential", "sequential"]
    {
        let mut overrides = overrides.to_vec();
        overrides.push(("requestdistribution", distribution));
        let ycsb = ycsb("ycsb-a", 0.2, 3, &overrides);
        let database = Database::new();
        database.load(&ycsb);
        assert_eq!(run(&database, &ycsb, 2_000, 5).missed, 0, "{distribution}");
        assert_sound(&database, &ycsb);
    }
}

#[test]
fn the_same_seed_leaves_the_same_table() {
    for name in ["ycsb", "ycsb-a", "ycsb-d"] {
        let tables = [1, 1, 2].map(|seed| {
            let (database, ycsb) = (Database::new(), ycsb(name, 0.2, seed, &[]));
            database.load(&ycsb);
            run(&database, &ycsb, 3_000, seed);
            contents(&database)
        });
        assert!(tables[0] == tables[1], "{name}: two runs of seed 1 differ");
        assert!(tables[0] != tables[2], "{name}: seeds 1 and 2 do not differ");
    }
}

#[test]
fn a_second_run_takes_over_where_the_first_ended() {
    for (name, most) in [("ycsb", 500 + 160), ("ycsb-d", 500 + 2 * 3_000)] {
        let mut ycsb = ycsb(name, 0.5, 1, &[]);
        let database = Database::new();
        database.load(&ycsb);
        for round in 0..2 {
            ycsb.observe(&mut *database.administer()).unwrap();
            assert_eq!(run(&database, &ycsb, 20_000, round).missed, 0, "{name}, run {round}");
            assert_sound(&database, &ycsb);
        }
        let rows = contents(&database).len();
        assert!((500..most).contains(&rows), "{name}: {rows} rows");
    }
}

#[test]
fn numbers_whose_insert_failed_do_not_stop_the_search_for_the_next_one() {
    let mut ycsb = ycsb("ycsb-d", 0.5, 1, &[]);
    let database = Database::new();
    database.load(&ycsb);
    let inserted = (run(&database, &ycsb, 20_000, 1), contents(&database).len() - 500).1;
    assert!(inserted > 900, "{inserted}");
    // The newest stays; of the others above the loaded ones, nine in ten are lost.
    let lose = "DELETE FROM usertable WHERE rowid > 500 AND rowid % 10 > 0 AND rowid < (SELECT max(rowid) FROM usertable)";
    database.administer().script(lose).unwrap();
    ycsb.observe(&mut *database.administer()).unwrap();
    // An insert of a number that exists would be a constraint violation, on which `run` panics.
    run(&database, &ycsb, 20_000, 2);
}

#[test]
fn decay_is_counted_as_misses_and_only_with_compat() {
    let ycsb = ycsb("ycsb", 1.0, 1, &[("compat", "benchbase")]);
    let database = Database::new();
    database.load(&ycsb);
    let counts = run(&database, &ycsb, 5_000, 3);
    assert!(counts.missed > 1_000, "{counts:?}");
    assert_sound(&database, &ycsb);
}

#[test]
fn a_broken_data_set_does_not_pass() {
    let damages = [
        (
            "DELETE FROM usertable WHERE ycsb_key = (SELECT min(ycsb_key) FROM usertable)",
            "no loaded key is missing",
        ),
        (
            "UPDATE usertable SET field3 = NULL WHERE ycsb_key = (SELECT max(ycsb_key) FROM usertable)",
            "every field",
        ),
        ("UPDATE usertable SET field3 = 'short'", "every field"),
    ];
    for name in ["ycsb", "ycsb-a"] {
        for (damage, expected) in damages {
            let ycsb = ycsb(name, 0.1, 1, &[]);
            let database = Database::new();
            database.load(&ycsb);
            database.administer().script(damage).unwrap();
            let results =
                check_dataset(&mut *database.administer(), ycsb.dataset().unwrap(), Dialect::Sqlite).unwrap();
            let failed: Vec<_> = results.iter().filter(|result| !result.passed).collect();
            assert!(
                failed.iter().any(|result| result.name.starts_with(expected)),
                "{name} {damage}: {failed:?}"
            );
        }
    }
    let ycsb = ycsb("ycsb", 0.1, 1, &[]);
    let database = Database::new();
    database.load(&ycsb);
    let grow = "INSERT INTO usertable SELECT ycsb_key + 10000 * (1 + value), field1, field2, field3, field4, field5, \
                field6, field7, field8, field9, field10 FROM usertable, json_each('[1,2,3,4,5,6,7,8,9,10,11,12]')";
    database.administer().script(grow).unwrap();
    let results =
        check_dataset(&mut *database.administer(), ycsb.dataset().unwrap(), Dialect::Sqlite).unwrap();
    assert!(
        results.iter().any(|result| !result.passed && result.name.starts_with("usertable has")),
        "{results:?}"
    );
    drop_dataset(&mut *database.administer(), ycsb.dataset().unwrap()).unwrap();
    assert!(!database.administer().table_exists("usertable").unwrap());
    assert!(!database.administer().table_exists("truetail_dataset").unwrap());
}
