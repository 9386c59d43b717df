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

#[test]
fn requests_load_what_a_bulk_load_does() {
    let layouts: [&[(&str, &str)]; 3] = [
        &[],
        &[("fieldlengthdistribution", "uniform"), ("insertorder", "ordered"), ("table", "mine")],
        &[("dataintegrity", "true"), ("fieldnameprefix", "f"), ("fieldcount", "3")],
    ];
    for layout in layouts {
        let contents = |database: &Database, table: &str| {
            database.administer().query(&format!("SELECT * FROM {table} ORDER BY ycsb_key")).unwrap()
        };
        let whole = ycsb("ycsb-core", 0.3, 4, layout);
        let in_bulk = Database::new();
        in_bulk.load(&whole);
        let by_requests = Database::new();
        // Two halves, as of two machines.
        for (part, range) in [["0", "100"], ["100", "200"]].into_iter().enumerate() {
            let more = [("dotransactions", "false"), ("insertstart", range[0]), ("insertcount", range[1])];
            let mut part_of_it = ycsb("ycsb-core", 0.3, 4, &[layout, &more].concat());
            let count: u64 = range[1].parse().unwrap();
            if part == 0 {
                let dataset = part_of_it.dataset().unwrap();
                workload::dataset::begin(&mut *by_requests.administer(), dataset, Dialect::Sqlite).unwrap();
            }
            part_of_it.observe(&mut *by_requests.administer()).unwrap();
            assert_eq!(run(&by_requests, &part_of_it, count, 1), Counts { ok: count, missed: 0 });
            let again = part_of_it.observe(&mut *by_requests.administer()).unwrap_err();
            assert!(again.contains(&format!("{count} of the {count} records")), "{again}");
        }
        workload::dataset::complete(
            &mut *by_requests.administer(),
            whole.dataset().unwrap(),
            Dialect::Sqlite,
        )
        .unwrap();
        assert_sound(&by_requests, &whole);
        let table = whole.config().table;
        assert!(contents(&in_bulk, table) == contents(&by_requests, table), "{layout:?}");
    }
}

#[test]
fn requests_keep_to_their_range_and_inserts_come_behind_all_records() {
    for distribution in ["uniform", "zipfian", "latest", "hotspot", "exponential", "sequential"] {
        let overrides = [
            ("requestdistribution", distribution),
            ("insertstart", "100"),
            ("insertcount", "50"),
            ("insertproportion", "0.2"),
        ];
        let ranged = ycsb("ycsb-a", 0.3, 1, &overrides);
        let database = Database::new();
        database.load(&ranged);
        assert_eq!(run(&database, &ranged, 3_000, 3).missed, 0, "{distribution}");
        // An update leaves another value than the load did: only of the range.
        let untouched = ycsb("ycsb-a", 0.3, 1, &[]);
        let other = Database::new();
        other.load(&untouched);
        let rows = |database: &Database| -> std::collections::BTreeMap<String, Vec<Option<String>>> {
            contents(database).into_iter().map(|row| (row[0].clone().unwrap(), row)).collect()
        };
        let (before, after) = (rows(&other), rows(&database));
        let changed = before.iter().filter(|(key, row)| after[*key] != **row).count();
        assert!((1..=50).contains(&changed), "{distribution}: {changed} records changed");
        assert!(after.len() > 300 + 400, "{distribution}: {} records", after.len());
    }
}

#[test]
fn reads_are_verified() {
    let overrides = [("dataintegrity", "true"), ("fieldcount", "4"), ("fieldlength", "60")];
    for more in [&[][..], &[("readallfields", "false")], &[("writeallfields", "true")]] {
        let verified = ycsb("ycsb-f", 0.1, 1, &[&overrides[..], more].concat());
        let database = Database::new();
        database.load(&verified);
        assert_eq!(run(&database, &verified, 2_000, 3).missed, 0);
        assert_eq!(
            verified.counts()[..],
            [("reads verified", 2_000), ("reads of something else than was written", 0)]
        );
        assert_sound(&database, &verified);
        // As long as it was, and another one: only a read sees it.
        database
            .administer()
            .script("UPDATE usertable SET field2 = replace(field2, 'user', 'USER')")
            .unwrap();
        run(&database, &verified, 500, 4);
        let results =
            check_dataset(&mut *database.administer(), verified.dataset().unwrap(), Dialect::Sqlite).unwrap();
        let failed: Vec<&str> = results.iter().filter(|r| !r.passed).map(|r| r.name.as_str()).collect();
        assert_eq!(failed, ["every read gave what had been written"]);
    }
}
