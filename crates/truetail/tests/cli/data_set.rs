//! `load`, `check`, `cleanup`, on a file and on a server.

use crate::program::{Scratch, brief};
use driver::{Target, TargetUrl};
use driver_mysql::MySqlTarget;
use driver_postgres::PostgresTarget;
use driver_sqlite::SqliteTarget;
use testkit::{mariadb, postgres};

/// Runs SQL behind the program's back.
type Meddle<'a> = &'a dyn Fn(&str);

fn life_of_a_data_set(scratch: &Scratch, url: &str, sql: Meddle<'_>) {
    let truetail = |verb: &str| scratch.truetail(&[verb, url, "-p", "fieldlength=20"]);
    let missing = truetail("check").with_code(1);
    assert!(missing.stdout.contains("BROKEN") && missing.stdout.contains("load it first"), "{missing:?}");
    let loaded = truetail("load").well();
    assert!(loaded.stdout.contains("loaded") && loaded.stderr.contains("1000 rows"), "{loaded:?}");
    assert!(truetail("load").well().stdout.contains("already there"));
    let checked = truetail("check").well();
    assert!(checked.stdout.contains("holds ") && !checked.stdout.contains("BROKEN"), "{checked:?}");

    let run = scratch.truetail(&brief(&[url, "-p", "fieldlength=20", "-o", "run"])).judged();
    assert!(!run.stderr.contains("loaded ycsb"), "{run:?}");
    truetail("check").well();

    sql("DELETE FROM usertable WHERE ycsb_key = (SELECT min(ycsb_key) FROM usertable)");
    let broken = truetail("check").with_code(1);
    assert!(broken.stdout.contains("BROKEN  no loaded key is missing"), "{broken:?}");
    let json = scratch.truetail(&["check", url, "-p", "fieldlength=20", "--json"]).with_code(1).json();
    assert_eq!(json["passed"], false);

    assert!(truetail("cleanup").well().stdout.contains("dropped"));
    truetail("check").with_code(1);
    // A run loads what is missing, and says so.
    let run = scratch.truetail(&brief(&[url, "-p", "fieldlength=20", "-o", "again"])).judged();
    assert!(run.stderr.contains("loaded ycsb fieldlength=20 (scale 1): 1000 rows"), "{run:?}");
    truetail("cleanup").well();
    truetail("cleanup").well();
}

#[test]
fn on_sqlite() {
    let scratch = Scratch::new("data-sqlite");
    let path = scratch.path("data.db");
    scratch.write("data.db", ""); // an empty file is an empty database
    let sql = |text: &str| {
        let url = TargetUrl::parse(&format!("sqlite:{}", path.display())).expect("a URL");
        let target = SqliteTarget::from_url(&url).expect("a target");
        target.administer().expect("a connection").script(text).expect("the statement");
    };
    life_of_a_data_set(&scratch, "sqlite:data.db", &sql);
}

#[test]
fn on_postgres() {
    let Some(server) = postgres::server(&postgres::Options::default()) else { return };
    let scratch = Scratch::new("data-postgres");
    for url in [server.unix_url(), server.tcp_url()] {
        let sql = |text: &str| {
            let target = PostgresTarget::from_url(&TargetUrl::parse(&url).expect("a URL")).expect("a target");
            target.administer().expect("a connection").script(text).expect("the statement");
        };
        life_of_a_data_set(&scratch, &url, &sql);
        for recording in ["run", "again"] {
            std::fs::remove_dir_all(scratch.path(recording)).expect("a recording");
        }
    }
}

#[test]
fn on_mariadb() {
    let Some(server) = mariadb::server(&mariadb::Options::default()) else { return };
    let scratch = Scratch::new("data-mariadb");
    let url = server.tcp_url();
    let sql = |text: &str| {
        let target = MySqlTarget::from_url(&TargetUrl::parse(&url).expect("a URL")).expect("a target");
        target.administer().expect("a connection").script(text).expect("the statement");
    };
    life_of_a_data_set(&scratch, &url, &sql);
}

#[test]
fn nothing_to_do_is_said() {
    let scratch = Scratch::new("data-none");
    for verb in ["load", "check", "cleanup"] {
        let ended = scratch.truetail(&[verb, "null:"]).well();
        assert!(ended.stdout.contains("data set: none"), "{ended:?}");
    }
    scratch.truetail(&["load", "sqlite:data.db", "-w", "noop"]).well();
}
